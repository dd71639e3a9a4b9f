//! What sources say of each other's sessions, over stores that the programs wrote.

use crate::harness::testing::fixture;
use crate::harness::{Homes, Patient, store_of};
use crate::protocol::{Harness, Parent, Relation, RootOrigin};
use crate::registry::Registry;
use crate::registry::inventory::Row;
use std::fs;
use std::path::Path;

/// What is asked of the row of a session.
fn row<T>(harness: Harness, home: &Path, session: &str, ask: impl Fn(&Row) -> T) -> T {
    let mut homes = Homes::default();
    homes.add_named(harness, home, RootOrigin::Flag);
    let snapshot = Registry::new(homes, "test".to_owned(), crate::runtime::testing::none()).snapshot(&Patient).unwrap();
    ask(&snapshot.stored.rows[snapshot.stored.find(harness, session).unwrap()])
}

#[test]
fn a_parent_tells_whose_a_subagent_is() {
    let child = "01a22ba3-53b7-7f61-b8a3-65cfb02e16e7";
    let parent = row(Harness::Grok, &fixture("grok/.grok"), child, |row| row.parent.clone().unwrap());
    let expected = "01a22ba3-535d-7690-8703-ab51b9cc435a".to_owned();
    assert_eq!(parent, Parent { session_id: Some(expected), relation: Relation::Subagent });
    // What a session says itself stands.
    let fork = "01a22b97-b2a7-7ce2-baea-9ede2461edba";
    let relation = row(Harness::Grok, &fixture("grok/.grok"), fork, |row| row.parent.clone().unwrap().relation);
    assert_eq!(relation, Relation::Fork);
}

#[test]
fn an_index_tells_how_a_session_is_opened() {
    let home = fixture("openclaw/v2026.5.7/.openclaw");
    let resume = row(Harness::OpenClaw, &home, "6c90e29a-6106-4da5-8ad7-0de7e42563fa", |row| {
        store_of(row.harness).unwrap().resume(&row.root, &row.session).unwrap()
    });
    assert_eq!(resume.argv, ["openclaw", "tui", "--session", "agent:main:main"]);
}

#[test]
fn the_newest_form_counts_before_the_newest_message() {
    let session = "1cecd97c-764c-49fd-97fb-89258360081d";
    let home = tempfile::tempdir().unwrap();
    let database = home.path().join("agents/main/agent/openclaw-agent.sqlite");
    let left = home.path().join("agents/main/sessions").join(format!("{session}.jsonl"));
    for file in [&database, &left] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    let later = r#"{"type":"message","message":{"role":"user","content":"later","timestamp":1999999999999}}"#;
    fs::write(&left, format!("{{\"type\":\"session\",\"id\":\"{session}\"}}\n{later}\n")).unwrap();
    let location = || row(Harness::OpenClaw, home.path(), session, |row| row.session.location.to_path_buf());
    assert_eq!(location(), left);
    fs::copy(fixture("openclaw/v2026.9.6/.openclaw/agents/main/agent/openclaw-agent.sqlite"), &database).unwrap();
    assert_eq!(location(), database);
}
