//! What happens to databases.

use super::*;
use proptest::prelude::*;

#[test]
fn a_database_that_is_broken_or_unknown_costs_only_itself() {
    let own = Own::new();
    let database = own.later();
    database.session("s", json!({}));
    database.message("s", "user", 11.0, "asked");
    for (profile, content) in [("empty", &b""[..]), ("nul", &[0; 4_096]), ("noise", &[b'x'; 4_096])] {
        let directory = own.0.path().join(PROFILES).join(profile);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(DATABASE), content).unwrap();
    }
    let other = own.0.path().join(PROFILES).join("other");
    fs::create_dir_all(other.join("sub").join(DATABASE)).unwrap();
    Connection::open(other.join(DATABASE)).unwrap().execute_batch("create table sessions (key)").unwrap();
    fs::write(own.0.path().join("config.yaml"), "").unwrap();
    let listing = own.list();
    assert_eq!(listing.ids(), ["s"]);
    let reasons = listing.skipped().into_iter().map(|(_, reason)| reason).collect::<Vec<_>>();
    assert_eq!(reasons, ["empty", "malformed", "malformed", "malformed"]);
}

#[test]
fn rows_of_odd_kinds_cost_only_themselves() {
    let own = Own::new();
    let database = own.later();
    let row = json!({"started_at": "never", "cwd": "relative", "model_config": "{torn", "parent_session_id": "s"});
    database.session("s", row);
    database.0.execute("insert into sessions (id, source, started_at) values (null, 'cli', 1)", []).unwrap();
    database.message("s", "user", 11.0, "asked");
    let odd = json!({"session_id": "s", "role": "user", "timestamp": "never"});
    database.insert("messages", odd);
    let listing = own.list();
    let session = listing.of("s");
    assert_eq!((session.created_at_ms, session.workspace.as_ref(), session.updated_at_ms), (None, None, Some(11_000)));
    assert_eq!(listing.load("s").len(), 2);
    listing.assert_pages_agree("s");
}

#[test]
fn rows_that_are_only_in_the_log_are_read() {
    let live = Own::new();
    let database = live.later();
    database.0.pragma_update(None, "journal_mode", "wal").unwrap();
    database.0.execute_batch("pragma wal_checkpoint(truncate); pragma wal_autocheckpoint = 0").unwrap();
    database.session("s", json!({"title": "in the log"}));
    database.message("s", "user", 11.0, "asked");
    let left = Own::new();
    for name in [DATABASE, "state.db-wal"] {
        fs::copy(live.0.path().join(name), left.0.path().join(name)).unwrap();
    }
    assert_eq!(left.list().of("s").title.as_deref(), Some("in the log"));
    let mut finder = Finder::default();
    Hermes.walk(&Hermes.named_root(left.0.path()), &mut finder);
    assert!(finder.sources[0].beside.is_some_and(|log| log.size > 0));
}

proptest! {
    #[test]
    fn milliseconds_are_those_that_were_meant(milliseconds in 0_i64..4_000_000_000_000, micros in 0_i64..1_000) {
        let seconds = (milliseconds * 1_000 + micros) as f64 / 1e6;
        prop_assert_eq!(super::record::milliseconds(seconds), milliseconds);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn no_damage_to_a_database_is_worse_than_its_loss(at in 0_usize..208_000, noise in prop::collection::vec(any::<u8>(), 1..200)) {
        let mut content = fs::read(fixture("hermes/.hermes/state.db")).unwrap();
        let end = (at + noise.len()).min(content.len());
        content[at..end].copy_from_slice(&noise[..end - at]);
        let own = Own::new();
        fs::write(own.0.path().join(DATABASE), content).unwrap();
        let listing = own.list();
        prop_assert!(listing.sessions.len() <= 7);
        for session in &listing.sessions {
            // Damage may be met at any time; it is told, and it is no panic.
            let _ = listing.page(&session.id, None, 200);
        }
    }
}

#[test]
fn cells_of_any_size_are_told_by_their_size() {
    const SIZE: usize = 40 << 20;
    let own = Own::new();
    let database = own.later();
    for id in ["s1", "s2"] {
        database.session(id, json!({}));
    }
    database.message("s1", "user", 1.0, "x");
    database.message("s1", "user", 2.0, "prompt");
    database.message("s1", "assistant", 3.0, "answer");
    database.message("s2", "user", 4.0, "z");
    let long = "x".repeat(SIZE);
    database.0.execute("update messages set content = ? where id = 1", [&long]).unwrap();
    database.0.execute("update messages set tool_calls = ?, reasoning = ? where id = 3", (&long, &long)).unwrap();
    database.0.execute("update sessions set title = ?, cwd = ? where id = 's2'", (&long, &long)).unwrap();
    let listing = own.list();
    assert_eq!(listing.of("s1").title.as_deref(), Some("prompt"));
    assert_eq!(listing.of("s2").title.as_deref(), Some("z"));
    let details = listing.details("s1");
    assert_eq!((details.message_count, &*details.last_message.unwrap().text), (3, "answer"));
    let loaded = listing.loaded("s1");
    let other = |kind: &str| json!({"type": "other", "kind": kind, "raw": {"bytes": SIZE}});
    assert_eq!(loaded[0]["content"], json!([other("unknown")]));
    let answer = json!([other("reasoning_details"), {"type": "text", "text": "answer"}, other("tool_calls")]);
    assert_eq!(loaded[2]["content"], answer);
    assert!(loaded.to_string().len() < 10_000);
}

#[test]
fn a_page_ends_where_messages_are_large() {
    let own = Own::new();
    let database = own.later();
    database.session("s1", json!({}));
    for _ in 0..5 {
        database.message("s1", "user", 1.0, &"x".repeat(3 << 20));
    }
    let page = own.list().page("s1", None, 100).unwrap();
    assert_eq!((page.messages.len(), page.next.as_deref()), (2, Some("4")));
    assert_eq!(own.list().paged("s1", 100).len(), 5);
}
