//! What sources say of each other's sessions, over stores that the programs wrote.

use crate::harness::testing::{Tree, details, fixture, whole};
use crate::harness::{Followed, Follower, Homes, NoProgress, Root, Session, store_of};
use crate::protocol::{Block, Harness, Message, Parent, Relation, RootOrigin};
use crate::registry::Registry;
use crate::registry::stored::Row;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::Path;

/// What is asked of the row of a session.
fn row<T>(harness: Harness, home: &Path, session: &str, ask: impl Fn(&Row) -> T) -> T {
    let mut homes = Homes::default();
    homes.add_named(harness, home, RootOrigin::Flag);
    let snapshot =
        Registry::new(homes, "test".to_owned(), crate::runtime::testing::none()).snapshot(&NoProgress).unwrap();
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

#[test]
fn transcripts_of_one_id_are_one_session_with_all_messages() {
    let home = Tree::copy_of(&fixture("openclaw/one-id-several-files/.openclaw"));
    let (id, store) = ("22222222-2222-4333-8444-555555555555", store_of(Harness::OpenClaw).unwrap());
    let (session, root) =
        row(Harness::OpenClaw, home.path(), id, |row| (Session::clone(&row.session), Root::clone(&row.root)));
    assert_eq!(session.title.as_deref(), Some("Topic: sow the carrots"));
    assert_eq!((session.created_at_ms, session.updated_at_ms), (Some(1_788_256_800_000), Some(1_788_256_980_000)));
    let roots = [root];
    let texts = |messages: Vec<Message>| -> Vec<String> {
        let text = |message: Message| match &message.content[..] {
            [Block::Text { text }] => text.clone(),
            other => panic!("{other:?}"),
        };
        messages.into_iter().map(text).collect()
    };
    let expected = ["Topic: sow the carrots", "Carrots sown.", "Announcement written to the bare file"];
    assert_eq!(texts(whole(store, &roots, &session)), expected);
    let details = details(store, &roots, &session);
    assert_eq!((details.message_count, &*details.topics), (3, &[expected[0].to_owned()][..]));
    assert_eq!(details.last_message.unwrap().text, expected[2]);

    let (mut follower, _) = Follower::begin(store, &roots, session.clone(), false, &NoProgress).unwrap();
    for part in [&session.location, &session.parts[0].path] {
        let text = part.file_stem().unwrap().to_str().unwrap();
        let time = "2026-09-01T10:09:00.000Z";
        let content = json!([{ "type": "text", "text": text }]);
        let message = json!({ "role": "user", "content": content });
        let parent = if text.contains("topic") { "db817101" } else { "41f4c74b" };
        let event = json!({ "type": "message", "id": text, "parentId": parent, "timestamp": time, "message": message });
        let mut file = fs::File::options().append(true).open(part).unwrap();
        writeln!(file, "{event}").unwrap();
        let Followed::Appended(messages) = follower.read(&roots, &NoProgress).unwrap() else { panic!("{text}") };
        assert_eq!(texts(messages), [text]);
    }
}

#[test]
fn coverage_names_the_files_of_a_session_that_is_listed_with_another_one() {
    let home = Tree::copy_of(&fixture("openclaw/one-id-several-files/.openclaw"));
    let transcripts = home.path().join("agents/main/sessions");
    let id = "11111111-2222-4333-8444-555555555555";
    let copy = home.write(
        &format!("agents/main/sessions/session-sqlite-import-archive/{id}.jsonl"),
        fs::read(transcripts.join(format!("{id}.jsonl"))).unwrap(),
    );
    let mut homes = Homes::default();
    homes.add_named(Harness::OpenClaw, home.path(), RootOrigin::Flag);
    let snapshot =
        Registry::new(homes, "test".to_owned(), crate::runtime::testing::none()).snapshot(&NoProgress).unwrap();
    let report = &snapshot.stored.reports[0];
    let skipped = |path: &Path| {
        let path = path.display().to_string();
        report.skipped.iter().find(|skipped| skipped.path == path).map(|skipped| skipped.reason.clone())
    };
    assert!(skipped(&copy).is_some());
    let part = transcripts.join("22222222-2222-4333-8444-555555555555.jsonl");
    assert!(skipped(&part).is_some());
    assert_eq!(report.sessions, snapshot.stored.rows.len());
}
