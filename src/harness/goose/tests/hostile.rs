//! What happens to databases and files.

use super::*;
use proptest::prelude::*;

#[test]
fn a_database_that_is_broken_or_unknown_costs_only_itself() {
    let content: [(&[u8], &str); 3] = [(b"", "empty"), (&[0; 4_096], "malformed"), (&[b'x'; 4_096], "malformed")];
    for (content, reason) in content {
        let sessions = Sessions::new();
        sessions.write(DATABASE, content);
        sessions.write("of_before.jsonl", json!({"role": "user", "created": 1, "content": said("asked")}).to_string());
        let listing = sessions.list();
        assert_eq!((listing.ids(), listing.skipped()), (vec!["of_before"], vec![(DATABASE.to_owned(), reason)]));
    }
    let sessions = Sessions::new();
    Connection::open(sessions.0.path().join(DATABASE)).unwrap().execute_batch("create table sessions (id)").unwrap();
    assert_eq!(sessions.list().skipped(), [(DATABASE.to_owned(), "malformed")]);
}

#[test]
fn rows_of_odd_kinds_cost_only_themselves() {
    let sessions = Sessions::new();
    let database = sessions.database(16);
    let row =
        json!({"id": "20260901_1", "working_dir": "relative", "created_at": "yesterday", "model_config_json": "{torn"});
    database.session(row);
    database.0.execute("insert into sessions (id, name) values (null, 'no id')", []).unwrap();
    database.message("20260901_1", "user", 1, said("asked"));
    let odd = json!({"session_id": "20260901_1", "role": "user", "created_timestamp": "never", "content_json": "[]"});
    database.insert("messages", odd);
    let torn = json!({"session_id": "20260901_1", "role": "user", "created_timestamp": 2, "content_json": "[]", "metadata_json": "{torn"});
    database.insert("messages", torn);
    let listing = sessions.list();
    let session = listing.of("20260901_1");
    assert_eq!((session.workspace.as_ref(), session.created_at_ms, session.model.as_ref()), (None, None, None));
    assert_eq!(session.updated_at_ms, Some(2_000));
    assert_eq!(listing.load("20260901_1").len(), 3);
}

#[test]
fn files_that_are_torn_empty_or_silent_cost_only_themselves() {
    let sessions = Sessions::new();
    let asked = json!({"role": "user", "created": 1, "content": said("asked")}).to_string();
    sessions.write("torn.jsonl", format!("{{\"working_dir\": \"/pr\n{asked}\n{{\"role\": \"assi"));
    sessions.write("empty.jsonl", "");
    sessions.write("nul.jsonl", [0; 64]);
    sessions.write("silent.jsonl", r#"{"working_dir": "/proj/alpha", "description": "d"}"#);
    sessions.write("notes.txt", "");
    sessions.write("sessions.db-shm", "");
    let hidden = json!({"role": "user", "created": 2, "content": said("hidden"), "metadata": {"userVisible": false}});
    sessions.write("late.jsonl", format!("{asked}\n{hidden}"));
    let listing = sessions.list();
    assert_eq!(listing.ids(), ["late", "torn"]);
    assert_eq!(listing.of("torn").title.as_deref(), Some("asked"));
    assert_eq!(listing.details("torn").message_count, 1);
    assert_eq!(listing.of("late").updated_at_ms, Some(1_000));
    let expected = [
        ("empty.jsonl", "empty"),
        ("notes.txt", "not_a_session"),
        ("nul.jsonl", "unreadable"),
        ("silent.jsonl", "no_messages"),
    ];
    assert_eq!(listing.skipped(), expected.map(|(name, reason)| (name.to_owned(), reason)));
}

#[test]
fn rows_that_are_only_in_the_log_are_read() {
    let live = Sessions::new();
    let database = live.database(16);
    database.0.pragma_update(None, "journal_mode", "wal").unwrap();
    database.0.execute_batch("pragma wal_checkpoint(truncate); pragma wal_autocheckpoint = 0").unwrap();
    database.session(json!({"id": "20260901_1", "name": "in the log"}));
    database.message("20260901_1", "user", 1, said("asked"));
    let left = Sessions::new();
    for name in [DATABASE, "sessions.db-wal"] {
        left.write(name, fs::read(live.0.path().join(name)).unwrap());
    }
    assert_eq!(left.list().of("20260901_1").title.as_deref(), Some("in the log"));
    let mut finder = Finder::default();
    Goose.walk(&Goose.named_root(left.0.path()), &mut finder);
    assert!(finder.sources[0].beside.is_some_and(|log| log.size > 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn no_damage_to_a_database_is_worse_than_its_loss(at in 0_usize..69_000, noise in prop::collection::vec(any::<u8>(), 1..200)) {
        let mut content = fs::read(fixture("goose/xdg-data/goose/sessions/sessions.db")).unwrap();
        let end = (at + noise.len()).min(content.len());
        content[at..end].copy_from_slice(&noise[..end - at]);
        let sessions = Sessions::new();
        sessions.write(DATABASE, content);
        let listing = sessions.list();
        prop_assert!(listing.sessions.len() <= 6);
        for session in &listing.sessions {
            // Damage may be met at any time; it is told, and it is no panic.
            let _ = listing.page(&session.id, None, 200);
        }
    }
}

#[test]
fn cells_of_any_size_are_told_by_their_size() {
    const SIZE: usize = 40 << 20;
    let sessions = Sessions::new();
    let database = sessions.database(17);
    for id in ["20260901_1", "20260901_2"] {
        database.session(json!({"id": id}));
    }
    database.message("20260901_1", "user", 1, said("prompt"));
    database.message("20260901_1", "assistant", 2, said("answer"));
    database.message("20260901_1", "assistant", 3, said("y"));
    database.message("20260901_2", "user", 4, said("z"));
    let long = "x".repeat(SIZE);
    database.0.execute("update messages set content_json = ? where created_timestamp = 3", [&long]).unwrap();
    database.0.execute("update messages set metadata_json = ? where created_timestamp = 3", [&long]).unwrap();
    database.0.execute("update sessions set name = ?, working_dir = ? where id like '%2'", (&long, &long)).unwrap();
    let listing = sessions.list();
    assert_eq!(listing.of("20260901_1").title.as_deref(), Some("prompt"));
    assert_eq!(listing.of("20260901_2").title.as_deref(), Some("z"));
    let details = listing.details("20260901_1");
    assert_eq!((details.message_count, &*details.last_message.unwrap().text), (3, "answer"));
    let loaded = listing.loaded("20260901_1");
    assert_eq!(loaded[2]["content"], json!([{"type": "other", "kind": "unknown", "raw": {"bytes": SIZE}}]));
    assert!(loaded.to_string().len() < 10_000);
}

#[test]
fn a_page_ends_where_messages_are_large() {
    let sessions = Sessions::new();
    let database = sessions.database(17);
    database.session(json!({"id": "20260901_1"}));
    for at in 0..5 {
        database.message("20260901_1", "user", at, said(&"x".repeat(3 << 20)));
    }
    let page = sessions.list().page("20260901_1", None, 100).unwrap();
    assert_eq!((page.messages.len(), page.next.as_deref()), (2, Some("3:4")));
    assert_eq!(sessions.list().paged("20260901_1", 100).len(), 5);
}

#[test]
fn messages_with_times_of_any_kind_are_told() {
    let sessions = Sessions::new();
    let database = sessions.database(17);
    database.session(json!({"id": "20260901_1"}));
    for time in ["-1e300", "-9e18", "7", "7.5", "7.5", "1e300", "'x'", "x'00'"] {
        database.message("20260901_1", "user", 0, said(time));
        database
            .0
            .execute(&format!("update messages set created_timestamp = {time} where created_timestamp = 0"), [])
            .unwrap();
    }
    let times: Vec<_> = sessions.list().load("20260901_1").iter().map(|message| message.timestamp_ms).collect();
    assert_eq!(times, [None, None, Some(7_000), Some(7_000), Some(7_000), None, None, None]);
}
