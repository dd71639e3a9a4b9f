//! The values of the fixture sessions were read off their rows and lines.

use super::*;

/// Id, title, workspace, creation, newest message, messages.
type Expected = (&'static str, &'static str, &'static str, i64, i64, u64);

const EXPECTED: &[Expected] = &[
    ("20250801_101500", "Imported legacy chat", "/proj/beta", 1_754_043_300_000, 1_754_043_302_000, 2),
    ("20260901_1", "Say hello to goose", "/proj/alpha", 1_788_249_600_000, 1_788_249_602_000, 2),
    ("20260901_2", "My named goose session", "/proj/alpha", 1_788_250_200_000, 1_788_253_205_000, 5),
    ("20260901_3", "Delegated child", "/proj/alpha", 1_788_250_320_000, 1_788_250_325_000, 2),
    ("20260902_1", "Archived beta chat", "/proj/beta", 1_788_343_200_000, 1_788_343_204_000, 2),
    ("20260902_2", "My named goose session (copy)", "/proj/alpha", 1_788_346_800_000, 1_788_250_202_000, 3),
];

#[test]
fn every_session_of_the_database_has_its_values() {
    let listing = list(&fixture("goose/xdg-data"));
    assert_eq!(listing.ids(), EXPECTED.iter().map(|row| row.0).collect::<Vec<_>>());
    assert_eq!(listing.skipped(), []);
    for (id, title, workspace, created, updated, count) in EXPECTED {
        let session = listing.of(id);
        assert_eq!(session.title.as_deref(), Some(*title), "{id}");
        assert_eq!(session.workspace.as_deref(), Some(*workspace), "{id}");
        assert_eq!(session.created_at_ms, Some(*created), "{id}");
        assert_eq!(session.updated_at_ms, Some(*updated), "{id}");
        assert_eq!(listing.details(id).message_count, *count, "{id}");
        assert_eq!(session.model.as_deref(), (*id != "20250801_101500").then_some("fake-model"), "{id}");
        assert_eq!(session.archived, *id == "20260902_1", "{id}");
        let parent = Parent { session_id: Some("20260901_2".to_owned()), relation: Relation::Subagent };
        assert_eq!(session.parent, (*id == "20260901_3").then_some(parent), "{id}");
        assert!(session.resumable && !session.old_form && session.profile.is_none(), "{id}");
    }
}

#[test]
fn a_file_of_before_has_its_values() {
    let listing = list(&fixture("goose/legacy-jsonl"));
    assert_eq!((listing.ids(), listing.skipped()), (vec!["20250801_101500"], vec![]));
    let session = listing.of("20250801_101500");
    assert_eq!((session.title.as_deref(), session.workspace.as_deref()), (Some("Legacy chat"), Some("/proj/beta")));
    assert_eq!((session.created_at_ms, session.updated_at_ms), (Some(1_754_043_300_000), Some(1_754_043_303_000)));
    assert!(session.old_form && session.model.is_none());
    let details = listing.details("20250801_101500");
    assert_eq!((details.message_count, details.topics), (3, vec!["please run a tool".to_owned()]));
    let last = details.last_message.unwrap();
    assert_eq!(
        (last.role, last.text.as_str(), last.timestamp_ms),
        (Role::Assistant, "legacy answer", session.updated_at_ms)
    );
}

#[test]
fn details_are_what_was_said() {
    let details = list(&fixture("goose/xdg-data")).details("20260901_2");
    assert_eq!(details.topics, ["please run TOOL now", "a second question, resumed"]);
    let last = details.last_message.unwrap();
    assert_eq!((last.role, last.text.as_str()), (Role::Assistant, "Fake answer: second."));
    assert_eq!(last.timestamp_ms, Some(1_788_253_205_000));
}

#[test]
fn a_conversation_is_loaded_whole() {
    let id = |number: u32| format!("msg_20260901_2_{number:08}-0000-4000-8000-000000000000");
    let said = |text: &str| json!([{"type": "text", "text": text}]);
    let expected = json!([
        {"id": id(3), "role": "user", "timestampMs": 1_788_250_200_000_i64, "content": said("please run TOOL now")},
        {"id": id(4), "role": "assistant", "timestampMs": 1_788_250_201_000_i64, "content": [
            {"type": "toolCall", "id": "call_fake1", "name": "developer__shell", "arguments": {"command": "echo tool-says-hello"}}]},
        {"id": id(5), "role": "tool", "timestampMs": 1_788_250_201_000_i64, "content": [
            {"type": "toolResult", "id": "call_fake1", "name": "developer__shell", "isError": false, "content": said("tool-says-hello\n")}]},
        {"id": id(6), "role": "assistant", "timestampMs": 1_788_250_202_000_i64, "content": said("Tool finished; the answer is 42.")},
        {"id": id(8), "role": "user", "timestampMs": 1_788_253_204_000_i64, "content": said("a second question, resumed")},
        {"id": id(9), "role": "assistant", "timestampMs": 1_788_253_205_000_i64, "content": said("Fake answer: second.")},
    ]);
    assert_eq!(list(&fixture("goose/xdg-data")).loaded("20260901_2"), expected);

    let expected = json!([
        {"role": "user", "timestampMs": 1_754_043_300_000_i64, "content": said("please run a tool")},
        {"role": "assistant", "timestampMs": 1_754_043_301_000_i64, "content": [
            {"type": "toolCall", "id": "call_fake1", "name": "developer__shell", "arguments": {"command": "echo hi"}}]},
        {"role": "tool", "timestampMs": 1_754_043_302_000_i64, "content": [
            {"type": "toolResult", "id": "call_fake1", "name": "developer__shell", "isError": false, "content": said("hi\n")}]},
        {"role": "assistant", "timestampMs": 1_754_043_303_000_i64, "content": said("legacy answer")},
    ]);
    assert_eq!(list(&fixture("goose/legacy-jsonl")).loaded("20250801_101500"), expected);
}

#[test]
fn pages_of_every_size_make_up_one_conversation() {
    for name in ["xdg-data", "legacy-jsonl"] {
        let listing = list(&fixture("goose").join(name));
        listing.ids().iter().for_each(|id| listing.assert_pages_agree(id));
    }
}

#[test]
#[cfg(unix)]
fn reading_touches_nothing() {
    for name in ["xdg-data", "legacy-jsonl"] {
        crate::harness::testing::assert_untouched(&Goose, &fixture("goose").join(name).join("goose/sessions"));
    }
}

#[test]
fn placeholder_title_gives_way_to_the_first_prompt() {
    let listing = list(&fixture("goose/placeholder-titles"));
    for (id, title) in [
        ("20250801_101500", "legacy hello"),
        ("20260901_1", "say hello to goose"),
        ("20260901_2", "My named goose session"),
        ("20260901_3", "Delegated child"),
        ("20260902_1", "Archived beta chat"),
        ("20260902_2", "please run TOOL now"),
    ] {
        assert_eq!(listing.of(id).title.as_deref(), Some(title), "{id}");
    }
}

#[test]
fn chosen_name_is_no_placeholder() {
    let sessions = Sessions::new();
    let database = sessions.database(17);
    for (id, name, chosen) in [("1", "CLI Session", 1), ("2", "New session 7", 0), ("3", "New session plan", 0)] {
        database.session(json!({"id": id, "name": name, "user_set_name": chosen}));
        database.message(id, "user", 1_754_043_300, said("asked"));
    }
    let listing = sessions.list();
    let titles = ["1", "2", "3"].map(|id| listing.of(id).title.as_deref());
    assert_eq!(titles, [Some("CLI Session"), Some("asked"), Some("New session plan")]);
}

#[test]
fn first_prompt_beside_a_huge_picture_is_the_title() {
    let sessions = Sessions::new();
    let database = sessions.database(17);
    database.session(json!({"id": "1", "name": "CLI Session"}));
    let picture = json!({"type": "image", "mimeType": "image/png", "data": "A".repeat(3 << 20)});
    database.message("1", "user", 1_754_043_300, json!([picture, {"type": "text", "text": "look at this"}]));
    database.message("1", "user", 1_754_043_301, said("and then"));
    assert_eq!(sessions.list().of("1").title.as_deref(), Some("look at this"));
}
