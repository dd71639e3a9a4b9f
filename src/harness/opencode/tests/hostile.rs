//! What happens to databases and files.

use super::*;
use proptest::prelude::*;

#[test]
fn a_database_that_is_broken_or_unknown_costs_only_itself() {
    let data = Data::new();
    let database = data.database("opencode.db");
    database.session("ses_1", "t");
    database.message("ses_1", "msg_1", 1, user(), &[]);
    data.write("opencode-noise.db", "no database at all, and long enough to be looked at ".repeat(20));
    data.write("opencode-nul.db", [0; 4_096]);
    data.write("opencode-empty.db", "");
    Connection::open(data.0.path().join("opencode-other.db"))
        .unwrap()
        .execute_batch("create table session (key)")
        .unwrap();
    data.write("opencode.db.bak", "not looked at");
    fs::create_dir(data.0.path().join("opencode-dir.db")).unwrap();
    let listing = data.list();
    assert_eq!(listing.ids(), ["ses_1"]);
    let expected = [
        ("opencode-dir.db", "not_regular"),
        ("opencode-empty.db", "empty"),
        ("opencode-noise.db", "malformed"),
        ("opencode-nul.db", "malformed"),
        ("opencode-other.db", "malformed"),
    ];
    assert_eq!(listing.skipped(), expected.map(|(name, reason)| (name.to_owned(), reason)));
}

#[test]
fn rows_of_odd_kinds_cost_only_themselves() {
    let data = Data::new();
    let database = data.database("opencode.db");
    for id in ["ses_1", "ses_2"] {
        database.session(id, "t");
        database.message(id, &format!("msg_{id}"), 1, user(), &[said("asked")]);
    }
    database
        .0
        .execute("update session set title = x'ff', directory = 'relative', time_created = 'x' where id = 'ses_1'", [])
        .unwrap();
    database.0.execute("insert into session (id, title) values (null, 't')", []).unwrap();
    database.0.execute("insert into message values (null, 'ses_2', null, x'00')", []).unwrap();
    database.0.execute("insert into message values ('msg_3', 'ses_2', 'never', '{}')", []).unwrap();
    let listing = data.list();
    assert_eq!(listing.ids(), ["ses_1", "ses_2"]);
    assert_eq!(listing.of("ses_2").updated_at_ms, Some(1_000), "no session is older than itself");
    let odd = listing.of("ses_1");
    assert_eq!((odd.title.as_deref(), odd.workspace.as_deref(), odd.created_at_ms), (Some("\u{fffd}"), None, None));
    assert_eq!(listing.load("ses_2").len(), 2, "one without a time has no place");
    listing.assert_pages_agree("ses_2");
}

#[test]
fn the_log_is_part_of_what_is_walked() {
    let mut finder = Finder::default();
    let path = fixture("opencode/v1.18.33-wal-only");
    OpenCode.walk(&OpenCode.named_root(&path), &mut finder);
    let beside: Vec<_> = finder.sources.iter().map(|source| source.beside.map(|log| log.size)).collect();
    assert_eq!(beside, [Some(fs::metadata(path.join("opencode.db-wal")).unwrap().len())]);
}

#[test]
fn files_that_are_torn_empty_or_alone_cost_only_themselves() {
    let data = Data::new();
    let message = &[("msg_1", user(), "asked")];
    for id in ["ses_ok", "ses_torn", "ses_empty", "ses_nul"] {
        data.session(id, json!({"title": "t"}), message);
    }
    data.session("ses_alone", json!({"title": "t"}), &[]);
    let sessions = "storage/session/global/";
    data.write(&format!("{sessions}ses_torn.json"), "{\"title\": \"t");
    data.write(&format!("{sessions}ses_empty.json"), "");
    data.write(&format!("{sessions}ses_nul.json"), [0; 64]);
    data.write(&format!("{sessions}other.txt"), "");
    data.write("storage/message/ses_ok/msg_2.json", "{\"role\": \"assist");
    let listing = data.list();
    assert_eq!(listing.ids(), ["ses_ok"]);
    let expected = [
        ("other.txt", "not_a_session"),
        ("ses_alone.json", "no_messages"),
        ("ses_empty.json", "empty"),
        ("ses_nul.json", "unreadable"),
        ("ses_torn.json", "unreadable"),
    ];
    assert_eq!(listing.skipped(), expected.map(|(name, reason)| (name.to_owned(), reason)));
    assert_eq!(listing.load("ses_ok").len(), 2);
    assert_eq!(listing.details("ses_ok").message_count, 1);
}

#[test]
fn a_message_more_changes_what_is_walked() {
    let data = Data::new();
    data.session("ses_1", json!({"title": "t"}), &[("msg_1", user(), "asked")]);
    let walk = || {
        let mut finder = Finder::default();
        OpenCode.walk(&OpenCode.named_root(data.0.path()), &mut finder);
        finder.sources
    };
    let before = walk();
    let directory = data.0.path().join("storage/message/ses_1");
    fs::write(directory.join("msg_2.json"), "{}").unwrap();
    // Both may fall into one tick of the file system's clock.
    fs::File::open(&directory).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_ne!(walk(), before);
}

#[test]
fn the_oldest_files_lie_in_a_directory_for_each_project() {
    let data = Data::new();
    let kept = "project/home-dev-demo/storage/session";
    let info = json!({"id": "ses_1", "title": "old", "parentID": "ses_0", "time": {"created": 1, "updated": 2}});
    data.write(&format!("{kept}/info/ses_1.json"), info.to_string());
    let answer = json!({"role": "assistant", "modelID": "m", "path": {"cwd": "/proj/demo"}, "time": {"created": 7}});
    data.write(&format!("{kept}/message/ses_1/msg_1.json"), answer.to_string());
    data.write(&format!("{kept}/part/ses_1/msg_1/prt_1.json"), said("answered").to_string());
    let listing = data.list();
    let session = listing.of("ses_1");
    assert_eq!((session.workspace.as_deref(), session.model.as_deref()), (Some("/proj/demo"), Some("m")));
    assert_eq!((session.created_at_ms, session.updated_at_ms), (Some(1), Some(7)));
    assert_eq!(session.parent.as_ref().unwrap().session_id.as_deref(), Some("ses_0"));
    assert_eq!(listing.details("ses_1").last_message.unwrap().text, "answered");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn no_damage_to_a_database_is_worse_than_its_loss(at in 0_usize..487_000, noise in prop::collection::vec(any::<u8>(), 1..200)) {
        let mut content = fs::read(fixture("opencode/v1.18.33-checkpointed/opencode.db")).unwrap();
        let end = (at + noise.len()).min(content.len());
        content[at..end].copy_from_slice(&noise[..end - at]);
        let data = Data::new();
        data.write("opencode.db", content);
        let listing = data.list();
        prop_assert!(listing.sessions.len() <= 13);
        for session in &listing.sessions {
            // Damage may be met at any time; it is told, and it is no panic.
            let _ = listing.page(&session.id, None, 200);
        }
    }
}

#[test]
fn cells_of_any_size_are_told_by_their_size() {
    const SIZE: usize = 40 << 20;
    let data = Data::new();
    let database = data.database("opencode.db");
    database.session("ses_1", "New session - 2026-11-30T08:46:00.000Z");
    database.session("ses_2", "t");
    database.message("ses_1", "msg_1", 1, user(), &[said("prompt"), said("x")]);
    database.message("ses_1", "msg_2", 2, assistant(), &[said("answer")]);
    database.message("ses_1", "msg_3", 3, user(), &[said("y")]);
    database.message("ses_2", "msg_4", 4, user(), &[said("z")]);
    let long = "x".repeat(SIZE);
    database.0.execute("update part set data = ? where id = 'prt_msg_1_1'", [&long]).unwrap();
    database.0.execute("update message set data = ? where id = 'msg_3'", [&long]).unwrap();
    database.0.execute("update session set title = ?, directory = ? where id = 'ses_2'", (&long, &long)).unwrap();
    let listing = data.list();
    assert_eq!(listing.of("ses_1").title.as_deref(), Some("prompt"));
    assert_eq!(listing.of("ses_2").title.as_deref(), Some("z"));
    let details = listing.details("ses_1");
    assert_eq!((details.message_count, &*details.last_message.unwrap().text), (2, "y"));
    let loaded = listing.loaded("ses_1");
    assert_eq!(loaded[0]["content"][1], json!({"type": "other", "kind": "unknown", "raw": {"bytes": SIZE}}));
    assert_eq!(loaded[2]["content"][1], json!({"type": "other", "kind": "message", "raw": {"bytes": SIZE}}));
    assert!(loaded.to_string().len() < 10_000);
}

#[test]
fn a_page_ends_where_messages_are_large() {
    let data = Data::new();
    let database = data.database("opencode.db");
    database.session("ses_1", "t");
    for at in 0..6 {
        let parts = [said(&"x".repeat(9 << 20)), said(&"y".repeat(9 << 20))];
        database.message("ses_1", &format!("msg_{at}"), at, user(), &parts);
    }
    let page = data.list().page("ses_1", None, 100).unwrap();
    assert_eq!((page.messages.len(), page.next.as_deref()), (1, Some("5:msg_5")));
    assert_eq!(data.list().paged("ses_1", 100).len(), 6);
}

#[test]
fn messages_with_times_of_any_kind_are_told() {
    let data = Data::new();
    let database = data.database("opencode.db");
    database.session("ses_1", "t");
    for (id, time) in
        [("a", "-1e300"), ("b", "7"), ("c", "7.5"), ("d", "7.5"), ("e", "1e300"), ("f", "'x'"), ("g", "x'00'")]
    {
        database.message("ses_1", id, 0, user(), &[said(id)]);
        database.0.execute(&format!("update message set time_created = {time} where id = ?"), [id]).unwrap();
    }
    let loaded = data.list().load("ses_1");
    let times: Vec<_> = loaded.iter().map(|message| message.timestamp_ms).collect();
    assert_eq!(times, [None, Some(7), Some(7), Some(7), None, None, None]);
}
