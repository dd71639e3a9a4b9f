//! The values of the fixture sessions were read off their rows.

use super::*;

/// Id, title, workspace, creation, newest message, messages; times since [`EPOCH`].
type Expected = (&'static str, &'static str, &'static str, i64, i64, u64);

const EPOCH: i64 = 1_796_027_000_000;

const EXPECTED: &[Expected] = &[
    ("20261130_083519_6d705a", "say hello to hermes", "/proj/alpha", 735_441, 736_328, 2),
    ("20261130_083608_e70d93", "My hermes title", "/proj/alpha", 773_218, 779_469, 5),
    ("20261130_083621_8d8680", "other folder", "/proj/beta", 787_460, 788_244, 2),
    ("20261130_083705_605f1c", "profile question", "/proj/beta", 830_390, 830_909, 2),
    (
        "20261130_084443_b38e5d",
        "Fake answer 18 to: User: hello from interactive hermes Assistant:",
        "/proj/alpha",
        1_293_684,
        1_294_211,
        2,
    ),
    ("20261130_084455_f28443", "side-idea", "/proj/alpha", 1_295_906, 1_299_110, 4),
    ("20261130_084808_3374f1", "please SPAWN a helper", "/proj/alpha", 1_492_951, 1_493_780, 3),
    ("20261130_084813_22dcd8", "a delegated task", "/proj/alpha", 1_493_733, 1_493_738, 1),
];

#[test]
fn every_session_of_every_profile_has_its_values() {
    let listing = list(&fixture("hermes/.hermes"));
    assert_eq!(listing.ids(), EXPECTED.iter().map(|row| row.0).collect::<Vec<_>>());
    assert_eq!(listing.skipped(), []);
    for (id, title, workspace, created, updated, count) in EXPECTED {
        let session = listing.of(id);
        assert_eq!(session.title.as_deref(), Some(*title), "{id}");
        assert_eq!(session.workspace.as_deref(), Some(*workspace), "{id}");
        assert_eq!(session.created_at_ms, Some(EPOCH + created), "{id}");
        assert_eq!(session.updated_at_ms, Some(EPOCH + updated), "{id}");
        assert_eq!(listing.details(id).message_count, *count, "{id}");
        assert_eq!(session.model.as_deref(), Some("fake-model"), "{id}");
        assert_eq!(session.profile.as_deref(), (*id == "20261130_083705_605f1c").then_some("coder"), "{id}");
        assert!(!session.archived && session.resumable && !session.old_form, "{id}");
        let expected = match *id {
            "20261130_084455_f28443" => parent("20261130_084443_b38e5d", Relation::Branch),
            "20261130_084813_22dcd8" => parent("20261130_084808_3374f1", Relation::Subagent),
            _ => None,
        };
        assert_eq!(session.parent, expected, "{id}");
    }
}

#[test]
fn details_are_what_was_said() {
    let details = list(&fixture("hermes/.hermes")).details("20261130_083608_e70d93");
    assert_eq!(details.topics, ["please run TOOL now", "a second question"]);
    let last = details.last_message.unwrap();
    assert_eq!((last.role, last.text.as_str()), (Role::Assistant, "Fake answer 49 to: a second question"));
    assert_eq!(last.timestamp_ms, Some(EPOCH + 779_469));
}

#[test]
fn a_conversation_is_loaded_whole() {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let expected = json!([
        {"id": "3", "role": "user", "timestampMs": EPOCH + 773_225, "content": text("please run TOOL now")},
        {"id": "4", "role": "assistant", "timestampMs": EPOCH + 773_746, "content": [
            {"type": "toolCall", "id": "call_fake47", "name": "terminal", "arguments": {"command": "echo tool-says-hello"}}]},
        {"id": "5", "role": "tool", "timestampMs": EPOCH + 773_831, "content": [
            {"type": "toolResult", "id": "call_fake47", "name": "terminal",
             "content": text("{\"output\": \"tool-says-hello\", \"exit_code\": 0, \"error\": null}")}]},
        {"id": "6", "role": "assistant", "timestampMs": EPOCH + 773_911, "content": text("Tool finished; the answer is 42.")},
        {"id": "7", "role": "user", "timestampMs": EPOCH + 778_813, "content": text("a second question")},
        {"id": "8", "role": "assistant", "timestampMs": EPOCH + 779_469, "content": text("Fake answer 49 to: a second question")},
    ]);
    assert_eq!(list(&fixture("hermes/.hermes")).loaded("20261130_083608_e70d93"), expected);
}

#[test]
fn a_branch_holds_what_it_was_branched_from_once() {
    let listing = list(&fixture("hermes/.hermes"));
    let ids: Vec<_> = listing.load("20261130_084455_f28443").into_iter().filter_map(|message| message.id).collect();
    assert_eq!(ids, ["13", "14", "15", "16"]);
}

#[test]
fn pages_of_every_size_make_up_one_conversation() {
    let listing = list(&fixture("hermes/.hermes"));
    listing.ids().iter().for_each(|id| listing.assert_pages_agree(id));
}

#[test]
#[cfg(unix)]
fn reading_touches_nothing() {
    crate::harness::testing::assert_untouched(&Hermes, &fixture("hermes/.hermes"));
}

/// Beginning of the id, title, messages, what was said in them.
type Conversation = (&'static str, &'static str, u64, &'static [&'static str]);

const RESETS_AND_COMPACTION: &[Conversation] = &[
    (
        "20260901_100000_aaaaaa",
        "Paint the kitchen",
        6,
        &[
            "Paint the kitchen",
            "Kitchen painted.",
            "Then the hall",
            "Hall painted.",
            "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. Kitchen, hall.",
            "Now the bath",
            "Bath painted.",
        ],
    ),
    ("20260901_110000_bbbbbb", "Water plants", 4, &["Water plants", "Watered.", "Feed plants", "Fed."]),
    ("20260901_120000_cccccc", "Before the reset", 2, &["Before the reset", "ok"]),
    ("20260901_130000_dddddd", "After the reset", 2, &["After the reset", "ok"]),
    ("20260901_140000_eeeeee", "Old before", 2, &["Old before", "ok"]),
    ("20260901_150000_ffffff", "Old after", 2, &["Old after", "ok"]),
    ("20260901_160000_abcdef", "Closed by compression", 2, &["Closed by compression", "ok"]),
    ("20260901_170000_111111", "Root", 2, &["Root prompt", "ok"]),
    ("20260901_180000_222222", "Tip", 4, &["Root prompt", "ok", "Tip prompt", "ok"]),
    ("20260901_190000_333333", "Sibling", 2, &["Sibling prompt", "ok"]),
];

#[test]
fn compacted_rows_are_history_and_resets_are_conversations_of_their_own() {
    let listing = list(&fixture("hermes/resets-and-compaction/.hermes"));
    assert_eq!(listing.ids(), RESETS_AND_COMPACTION.iter().map(|row| row.0).collect::<Vec<_>>());
    for (id, title, count, said) in RESETS_AND_COMPACTION {
        let session = listing.of(id);
        assert_eq!(session.title.as_deref(), Some(*title), "{id}");
        let tip_of = |root| parent(root, Relation::Continuation);
        let expected = if id.ends_with("222222") { tip_of("20260901_170000_111111") } else { None };
        assert_eq!(session.parent, expected, "{id}");
        let messages = listing.load(id);
        let texts = messages.iter().map(|message| match &message.content[..] {
            [crate::protocol::Block::Text { text }] => text.as_str(),
            other => panic!("{other:?}"),
        });
        assert_eq!(texts.collect::<Vec<_>>(), *said, "{id}");
        assert_eq!(listing.details(id).message_count, *count, "{id}");
        listing.assert_pages_agree(id);
    }
    assert_eq!(
        listing.details("20260901_100000_aaaaaa").topics,
        ["Paint the kitchen", "Then the hall", "Now the bath"]
    );
}

#[test]
fn first_prompt_beside_a_huge_picture_is_the_title() {
    let own = Own::new();
    let database = own.later();
    database.session("s1", json!({}));
    let url = format!("data:image/png;base64,{}", "A".repeat(3 << 20));
    let parts = json!([{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "look at this"}]);
    database.message("s1", "user", 11.0, &format!("\0json:{parts}"));
    database.message("s1", "user", 12.0, "and then");
    assert_eq!(own.list().of("s1").title.as_deref(), Some("look at this"));
}
