//! Where sessions come from, what they hold, roots, and how to get back in.

use super::*;
use crate::harness::testing::Gone;
use crate::harness::{Environment, PageRequest};

#[test]
fn old_databases_are_read_with_what_they_keep() {
    let own = Own::new();
    let database = own.database("profiles/old/state.db", "", "");
    database.session("20260101_000000_aaaaaa", json!({"model": "m"}));
    database.message("20260101_000000_aaaaaa", "user", 1_796_027_773.225_333, "asked\nin two lines");
    database.message("20260101_000000_aaaaaa", "tool", 1_796_027_779.0, "{}");
    let listing = own.list();
    let session = listing.of("20260101_000000_aaaaaa");
    assert_eq!((session.title.as_deref(), session.model.as_deref()), (Some("asked in two lines"), Some("m")));
    assert_eq!((session.profile.as_deref(), session.workspace.as_ref()), (Some("old"), None));
    assert_eq!((session.created_at_ms, session.updated_at_ms), (Some(10_500), Some(1_796_027_773_225)));
    assert!(!session.archived);
    assert_eq!(listing.details(&session.id).message_count, 1);
    assert_eq!(listing.load(&session.id).len(), 2);
}

#[test]
fn how_a_session_came_from_another_is_told_by_marks_and_by_how_that_one_ended() {
    let own = Own::new();
    let database = own.later();
    let ended = |reason: &str| json!({"end_reason": reason, "ended_at": 20.0, "cwd": "/proj/alpha"});
    for reason in ["branched", "compression", "cli_close"] {
        database.session(reason, ended(reason));
    }
    let marked = |name: &str, of: &str| format!("{{\"{name}\": \"{of}\"}}");
    let of = |parent: &str, at: f64| json!({"parent_session_id": parent, "started_at": at});
    let with = |mut row: Value, name: &str, value: &str| {
        row[name] = value.into();
        row
    };
    for (id, row) in [
        ("marked-branch", with(of("compression", 30.0), "model_config", &marked("_branched_from", "compression"))),
        ("marked-subagent", with(of("branched", 30.0), "model_config", &marked("_delegate_from", "branched"))),
        ("lost-subagent", json!({"model_config": marked("_delegate_from", "__orphaned__")})),
        ("named-subagent", with(of("compression", 30.0), "source", "subagent")),
        ("old-branch", of("branched", 30.0)),
        ("before-the-branch", of("branched", 15.0)),
        ("continuation", of("compression", 30.0)),
        ("early-continuation", of("compression", 15.0)),
        ("tool", with(of("compression", 30.0), "source", "tool")),
        ("old-subagent", of("cli_close", 30.0)),
        ("orphan", of("gone", 30.0)),
        ("grandchild", of("continuation", 40.0)),
    ] {
        database.session(id, row);
        database.message(id, "user", 50.0, "asked");
    }
    let listing = own.list();
    let came = |id: &str| listing.of(id).parent.clone();
    assert_eq!(came("marked-branch"), parent("compression", Relation::Branch));
    assert_eq!(came("marked-subagent"), parent("branched", Relation::Subagent));
    assert_eq!(came("lost-subagent"), Some(Parent { session_id: None, relation: Relation::Subagent }));
    assert_eq!(came("named-subagent"), parent("compression", Relation::Subagent));
    assert_eq!(came("old-branch"), parent("branched", Relation::Branch));
    assert_eq!(came("before-the-branch"), parent("branched", Relation::Subagent));
    assert_eq!(came("continuation"), parent("compression", Relation::Continuation));
    assert_eq!(came("early-continuation"), parent("compression", Relation::Continuation));
    assert_eq!(came("tool"), parent("compression", Relation::Subagent));
    assert_eq!(came("old-subagent"), parent("cli_close", Relation::Subagent));
    assert_eq!(came("orphan"), None);
    assert_eq!(listing.of("grandchild").workspace.as_deref(), Some("/proj/alpha"));
    assert_eq!(listing.of("orphan").workspace, None);
}

/// A conversation that was cut twice, the second time in a circle that no program would make.
fn cut(own: &Own) -> Database {
    let database = own.later();
    let cut = |parent: &str| json!({"parent_session_id": parent, "end_reason": "compression", "ended_at": 20.0});
    database.session("first", cut("third"));
    database.session("second", cut("first"));
    database.session("third", cut("second"));
    for (session, role, text) in [
        ("first", "user", "one"),
        ("first", "assistant", "two"),
        ("second", "user", "[CONTEXT COMPACTION — REFERENCE ONLY] one, two"),
        ("second", "user", "three"),
        ("third", "assistant", "four"),
    ] {
        database.message(session, role, 30.0, text);
    }
    database
}

#[test]
fn a_conversation_that_goes_on_is_read_from_its_beginning() {
    let own = Own::new();
    let _database = cut(&own);
    let listing = own.list();
    let roles: Vec<_> = listing.load("third").into_iter().map(|message| (message.id.unwrap(), message.role)).collect();
    let expected =
        [("1", Role::User), ("2", Role::Assistant), ("3", Role::System), ("4", Role::User), ("5", Role::Assistant)];
    assert_eq!(roles, expected.map(|(id, role)| (id.to_owned(), role)));
    listing.assert_pages_agree("third");
    let details = listing.details("third");
    assert_eq!((details.message_count, details.topics), (4, vec!["one".to_owned(), "three".to_owned()]));
    assert_eq!(listing.of("second").title.as_deref(), Some("three"));
}

#[test]
fn what_was_taken_back_is_gone() {
    let own = Own::new();
    let database = own.later();
    database.session("20261130_000000_aaaaaa", json!({"archived": 1}));
    database.session("20261130_000000_bbbbbb", json!({}));
    for id in ["20261130_000000_aaaaaa", "20261130_000000_bbbbbb"] {
        database.message(id, "user", 11.0, "kept");
        database.message(id, "user", 12.0, "taken back");
    }
    database.0.execute_batch("update messages set active = 0 where content = 'taken back'; update messages set active = 0 where session_id like '%b'").unwrap();
    let listing = own.list();
    assert_eq!(listing.ids(), ["20261130_000000_aaaaaa"]);
    let session = listing.of("20261130_000000_aaaaaa");
    assert_eq!((session.updated_at_ms, session.archived), (Some(11_000), true));
    assert_eq!(listing.details(&session.id).message_count, 1);
    assert_eq!(listing.load(&session.id).len(), 1);
}

#[test]
fn mirrors_are_left_out_and_names_of_chats_stand_where_nobody_asked() {
    let own = Own::new();
    let database = own.later();
    database.session("mirror", json!({"model_config": r#"{"_supercode_mirror": {"harness": "codex"}}"#}));
    database.session("chat", json!({"display_name": "A chat", "profile_name": "default"}));
    for id in ["mirror", "chat"] {
        database.message(id, "assistant", 11.0, "said");
    }
    let listing = own.list();
    assert_eq!(listing.ids(), ["chat"]);
    assert_eq!(
        (listing.of("chat").title.as_deref(), listing.of("chat").profile.as_deref()),
        (Some("A chat"), Some("default"))
    );
}

#[test]
fn every_kind_of_content_is_kept() {
    let own = Own::new();
    let database = own.later();
    database.session("all", json!({}));
    let parts = json!([
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0K"}},
        {"type": "input_audio", "data": "x"},
    ]);
    let row = |role: &str, values: Value| {
        let mut row = json!({"session_id": "all", "role": role, "timestamp": 11.5});
        row.as_object_mut().unwrap().extend(values.as_object().unwrap().clone());
        database.insert("messages", row);
    };
    row("user", json!({"content": format!("\0json:{parts}")}));
    row(
        "assistant",
        json!({"reasoning_content": "hm", "tool_calls": r#"[{"id": "c1", "function": {"name": "look", "arguments": "{torn"}}, 7]"#}),
    );
    row("tool", json!({"content": "seen", "tool_call_id": "c1"}));
    row("tool", json!({"content": "of nobody"}));
    row("assistant", json!({"content": "\0json:{torn", "reasoning_details": "[1]", "tool_calls": "{torn"}));
    row("assistant", json!({"content": "\0json:{\"a\": 1}", "reasoning": "so", "reasoning_details": "[1]"}));
    row("session_meta", json!({"content": "about"}));
    let text = |text: &str| json!({"type": "text", "text": text});
    let other = |kind: &str, raw: Value| json!({"type": "other", "kind": kind, "raw": raw});
    let expected = json!([
        {"id": "1", "role": "user", "timestampMs": 11_500, "content": [
            text("see"), {"type": "image", "mediaType": "image/png", "bytes": 6}, other("input_audio", parts[2].clone())]},
        {"id": "2", "role": "assistant", "timestampMs": 11_500, "content": [
            {"type": "thinking", "text": "hm"},
            {"type": "toolCall", "id": "c1", "name": "look", "arguments": "{torn"},
            other("tool_calls", json!(7))]},
        {"id": "3", "role": "tool", "timestampMs": 11_500, "content": [
            {"type": "toolResult", "id": "c1", "name": "look", "content": [text("seen")]}]},
        {"id": "4", "role": "tool", "timestampMs": 11_500, "content": [text("of nobody")]},
        {"id": "5", "role": "assistant", "timestampMs": 11_500, "content": [
            other("reasoning_details", json!([1])), text("\0json:{torn"), other("tool_calls", json!("{torn"))]},
        {"id": "6", "role": "assistant", "timestampMs": 11_500, "content": [
            {"type": "thinking", "text": "so"}, other("unknown", json!({"a": 1}))]},
        {"id": "7", "role": "system", "timestampMs": 11_500, "content": [text("about")], "raw": {"role": "session_meta"}},
    ]);
    let listing = own.list();
    assert_eq!(listing.loaded("all"), expected);
    assert_eq!(listing.of("all").title.as_deref(), Some("see"));
    listing.assert_pages_agree("all");
}

#[test]
fn a_cursor_does_not_shift_and_no_other_is_taken() {
    let own = Own::new();
    let database = own.later();
    database.session("s", json!({}));
    for text in ["one", "two", "three"] {
        database.message("s", "user", 11.0, text);
    }
    let listing = own.list();
    let first = listing.page("s", None, 1).unwrap();
    database.message("s", "user", 11.0, "four");
    let next = listing.page("s", first.next.as_deref(), 2).unwrap();
    let ids = |page: &Page| page.messages.iter().filter_map(|message| message.id.clone()).collect::<Vec<_>>();
    assert_eq!(
        (ids(&first), ids(&next), &next.next),
        (vec!["3".to_owned()], vec!["1".to_owned(), "2".to_owned()], &None)
    );
    assert!(matches!(listing.page("s", Some("x"), 1), Err(ReadError::Cursor)));
    let gone = PageRequest { cursor: None, limit: 1, progress: &Gone, own_only: false };
    assert!(matches!(Hermes.load(&[], listing.of("s"), &gone), Err(ReadError::Cancelled)));
}

#[test]
fn roots_come_from_the_environment_which_may_name_a_profile() {
    let roots = |variables: &[(&str, &str)]| {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        let roots = Hermes.roots(&Environment::of(&lookup));
        roots.into_iter().map(|root| (root.path.display().to_string(), root.usual)).collect::<Vec<_>>()
    };
    let of = |path: &str, usual| vec![(path.to_owned(), usual)];
    let home = ("HOME", "/home/dev");
    assert_eq!(roots(&[home]), of("/home/dev/.hermes", true));
    assert_eq!(roots(&[home, ("LOCALAPPDATA", "/local")]), of("/local/hermes", true));
    assert_eq!(roots(&[home, ("HERMES_HOME", "/own")]), of("/own", false));
    assert_eq!(roots(&[("HERMES_HOME", "/own/profiles/coder")]), of("/own", false));
    assert_eq!(roots(&[home, ("HERMES_HOME", "/home/dev/.hermes/profiles/coder")]), of("/home/dev/.hermes", true));
    assert_eq!(roots(&[]), []);
    for named in ["/own", "/own/state.db", "/own/profiles/coder", "/own/profiles/coder/state.db"] {
        assert_eq!(Hermes.named_root(Path::new(named)).path, Path::new("/own"));
    }
}

#[test]
fn the_way_back_names_the_profile_and_an_unusual_home() {
    let own = Own::new();
    for (name, id) in [("state.db", "root"), ("profiles/coder/state.db", "coded"), ("profiles/-x/state.db", "odd")] {
        let database = own.database(name, "", "");
        for id in [id, "--help"] {
            database.session(id, json!({}));
            database.message(id, "user", 1.0, "asked");
        }
    }
    let listing = own.list();
    let argv = |id: &str| Hermes.resume(&listing.root, listing.of(id)).map(|resume| resume.argv.join(" "));
    assert_eq!(argv("root").as_deref(), Some("hermes --resume root"));
    assert_eq!(argv("coded").as_deref(), Some("hermes --profile coder --resume coded"));
    assert_eq!(argv("odd"), None);
    let options: Vec<_> = listing.sessions.iter().filter(|session| &*session.id == "--help").collect();
    assert_eq!(options.len(), 3);
    assert!(options.iter().all(|session| Hermes.resume(&listing.root, session).is_none()));
    fs::write(own.0.path().join("active_profile"), "coder").unwrap();
    assert_eq!(argv("root").as_deref(), Some("hermes --profile default --resume root"));
    let env = |usual| Hermes.resume(&Root { usual, ..listing.root.clone() }, listing.of("coded")).unwrap().env;
    assert_eq!(env(true), None);
    assert_eq!(env(false).unwrap()["HERMES_HOME"], own.0.path().to_str().unwrap());
}
