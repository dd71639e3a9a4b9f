//! `registry/list`: the fixture sessions of Claude Code and Codex with their right values, pages, live sessions.

use crate::support::{Framing, Home, Server, Spawn, stores, uuid};
use serde_json::{Value, json};
use std::fs;

/// A home that holds the fixture stores of both harnesses.
pub fn fixture_home() -> Home {
    Home::with(&[stores::CLAUDE_CODE, stores::CODEX])
}

/// Id, title, workspace, model, relation to its parent, message count: read off the raw records.
type Row = (&'static str, &'static str, Option<&'static str>, Option<&'static str>, Option<&'static str>, u64);

const OPUS: Option<&str> = Some("claude-opus-5-5");
const FAKE: Option<&str> = Some("fake-model");
const PROJ: Option<&str> = Some("/proj/proj");
const DEMO: Option<&str> = Some("/proj/demo");
const FORK: Option<&str> = Some("fork");
const SUBAGENT: Option<&str> = Some("subagent");

const ROWS: &[Row] = &[
    ("claude-code:016a644c", "what is in this picture", PROJ, OPUS, None, 2),
    ("claude-code:2579430d", "sub-agents", PROJ, OPUS, None, 10),
    ("claude-code:2a3d4df5", "plain question", PROJ, OPUS, FORK, 6),
    ("claude-code:5ea77ff7", "plain question", PROJ, OPUS, None, 6),
    ("claude-code:990cebda", "use tools", PROJ, OPUS, None, 13),
    ("claude-code:a12645b5", "hang please", PROJ, OPUS, None, 7),
    ("claude-code:a5e753c3", "fresh after clear", PROJ, OPUS, None, 3),
    ("claude-code:aa9ed7a3", "in a subdirectory", Some("/proj/proj/sub"), OPUS, None, 3),
    ("claude-code:ab24f0c3", "agents-demo", PROJ, OPUS, None, 6),
    ("claude-code:agent-a188", "first look", PROJ, OPUS, SUBAGENT, 2),
    ("claude-code:agent-af3c", "bg look", PROJ, OPUS, SUBAGENT, 2),
    ("claude-code:agent-afb5", "second look", PROJ, OPUS, SUBAGENT, 2),
    ("codex:01a22b99-1497", "Plain session: say hello to the demo", DEMO, FAKE, None, 2),
    ("codex:01a22b99-17e7", "USE_TOOL please run a command", DEMO, FAKE, None, 2),
    ("codex:01a22b99-1afc", "Resumed session: first prompt", DEMO, FAKE, None, 4),
    ("codex:01a22b99-1f30", "Subdirectory session: where am I", Some("/proj/demo/sub"), FAKE, None, 2),
    ("codex:01a22b99-21d8", "My chosen name", DEMO, FAKE, None, 2),
    ("codex:01a22b99-2414", "Archived session: to be archived", DEMO, FAKE, None, 2),
    ("codex:01a22b99-2671", "USE_SUBAGENT spawn one please", DEMO, FAKE, None, 2),
    ("codex:01a22b99-272c", "Say hi from the child", DEMO, FAKE, SUBAGENT, 2),
    ("codex:01a22b99-2a97", "Extra plain session number 1", DEMO, FAKE, None, 2),
    ("codex:01a22b99-2ddf", "Extra plain session number 2", DEMO, FAKE, None, 2),
    ("codex:01a22b99-3084", "Extra plain session number 3", DEMO, FAKE, None, 2),
    ("codex:01a22b99-3342", "Forked: a new prompt in the fork", DEMO, FAKE, FORK, 4),
    ("codex:01a22ba2-6e85", "Plain old session", DEMO, FAKE, None, 2),
    ("codex:01a22ba2-7026", "USE_TOOL please old", DEMO, FAKE, None, 2),
    ("codex:01a22ba4-d6f4", "SLOW live evidence session", DEMO, FAKE, None, 2),
    ("codex:2c7edb82", "Plain old session", None, None, None, 2),
    ("codex:66e6ba12", "USE_TOOL please old", None, None, None, 2),
];

fn list(server: &mut Server, params: Value) -> Value {
    server.request("registry/list", params).result()
}

fn ids(answer: &Value) -> Vec<String> {
    answer["entries"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_fixture_session_of_both_stores_has_its_right_values_in_both_framings() {
    for framing in [Framing::Lines, Framing::Headers] {
        let mut server = Spawn::new(fixture_home()).framing(framing).open();
        let query = json!({ "includeChildren": true, "include": ["messageCount"] });
        let answer = list(&mut server, json!({ "query": query, "limit": 1000 }));
        assert_eq!((answer["total"].as_u64(), answer.get("nextCursor")), (Some(ROWS.len() as u64), None));
        assert_eq!(answer.get("problems"), None);
        let entries = answer["entries"].as_array().unwrap();
        for (id, title, workspace, model, relation, count) in ROWS {
            let entry = entries.iter().find(|entry| entry["id"].as_str().unwrap().starts_with(id)).expect(id);
            assert!(entry["title"].as_str().unwrap().starts_with(title), "{id}: {}", entry["title"]);
            assert_eq!(entry["workspace"].as_str(), *workspace, "{id}");
            assert_eq!(entry["model"].as_str(), *model, "{id}");
            assert_eq!(entry["parent"]["relation"].as_str(), *relation, "{id}");
            assert_eq!(entry["messageCount"].as_u64(), Some(*count), "{id}");
            assert_eq!(entry["archived"].as_bool(), id.ends_with("2414").then_some(true), "{id}");
            assert_eq!(entry["state"], "persisted", "{id}");
            let resumable = *relation != SUBAGENT && workspace.is_some();
            if id.starts_with("claude-code") || workspace.is_none() {
                assert_eq!(entry.get("resume").is_some(), resumable, "{id}");
            }
        }
        assert!(entries.is_sorted_by_key(|entry| std::cmp::Reverse(entry["updatedAtMs"].as_i64())));
    }
}

#[test]
fn entries_whole_as_they_go_out() {
    let mut server = Spawn::new(fixture_home()).open();
    let home = server.home.path().display().to_string();
    for text in ["agents-demo", "my chosen name", "forked: a new prompt"] {
        let query = json!({ "text": text, "include": ["topics", "lastMessage", "messageCount"] });
        let answer = list(&mut server, json!({ "query": query }));
        let shown = serde_json::to_string_pretty(&answer["entries"]).unwrap().replace(&home, "[home]");
        insta::assert_snapshot!(text.split([' ', ':']).next().unwrap(), shown);
    }
}

#[test]
fn pages_lead_through_all_of_it_in_one_order() {
    let mut server = Spawn::new(fixture_home()).open();
    let whole = ids(&list(&mut server, json!({ "limit": 1000 })));
    for limit in [1, 3, 7, 25] {
        let (mut seen, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let page = list(&mut server, json!({ "limit": limit, "cursor": cursor }));
            assert_eq!(page["total"].as_u64(), Some(whole.len() as u64));
            seen.extend(ids(&page));
            match page.get("nextCursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
        assert_eq!(seen, whole, "{limit}");
    }
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let mut server = Spawn::new(fixture_home()).open();
    let cursor = list(&mut server, json!({ "limit": 1 }))["nextCursor"].clone();
    for params in [
        json!({ "limit": -1 }),
        json!({ "limit": 1001 }),
        json!({ "limit": "many" }),
        json!({ "cursor": "nonsense" }),
        json!({ "cursor": cursor, "query": { "text": "other" } }),
        json!({ "query": { "harnesses": ["emacs"] } }),
        json!({ "query": { "states": ["sleeping"] } }),
        json!({ "query": { "include": ["everything"] } }),
        json!({ "query": { "workspace": "relative" } }),
        json!({ "query": { "updatedAfterMs": "yesterday" } }),
    ] {
        server.request_unchecked("registry/list", params).error().is(-32602, "invalid_params");
    }
    let nothing = list(&mut server, json!({ "limit": 0 }));
    assert_eq!((ids(&nothing).len(), nothing.get("nextCursor")), (0, None));
    assert!(nothing["total"].as_u64() > Some(0) && nothing["revision"].is_string());
    // `null` is absent, and members that nobody knows are ignored.
    let params = json!({ "query": { "text": null, "live": null, "unknown": 1 }, "cursor": null, "limit": null });
    assert_eq!(server.request_unchecked("registry/list", params).result()["total"], nothing["total"]);
}

#[test]
fn a_live_session_is_joined_with_its_transcript_and_one_without_is_an_entry_too() {
    let home = Home::new();
    home.project("-p", "/p").session(&uuid(1), "stored and live", 10);
    let record = home.peer("writer", &uuid(1), "/p");
    let mut server = Spawn::new(home).open();
    let set = |change: Value| {
        let mut fields: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
        fields.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        fs::write(&record, fields.to_string()).unwrap();
    };
    let mut one = |query: Value| {
        let answer = list(&mut server, json!({ "query": query }));
        assert_eq!(answer["total"], 1);
        answer["entries"][0].clone()
    };
    for (status, state) in [("idle", "idle"), ("busy", "busy"), ("shell", "idle"), ("unheard of", "live")] {
        set(json!({ "status": status }));
        let entry = one(json!({ "states": [state] }));
        assert_eq!((&entry["title"], &entry["peer"]["name"]), (&json!("stored and live"), &json!("writer")));
        assert_eq!(entry["activity"]["source"], "claude-registry");
        assert_eq!(entry["activity"]["pid"], std::process::id());
    }
    set(json!({ "status": "waiting", "waitingFor": "permission prompt" }));
    let entry = one(json!({ "persisted": false }));
    assert_eq!((&entry["state"], &entry["activity"]["waitingFor"]), (&json!("waiting"), &json!("permission prompt")));
    assert_eq!(entry.get("doors"), None, "without a socket nothing can reach it");
    let entry = one(json!({ "live": false }));
    assert_eq!((&entry["state"], entry.get("activity"), entry.get("peer")), (&json!("persisted"), None, None));

    set(json!({ "sessionId": uuid(2), "startedAt": 1_796_000_000_000_i64, "cwd": "/q" }));
    let entry = one(json!({ "persisted": false }));
    assert_eq!(entry["id"], format!("claude-code:{}", uuid(2)));
    assert_eq!((&entry["workspace"], &entry["startedAtMs"]), (&json!("/q"), &json!(1_796_000_000_000_i64)));
    assert_eq!((entry.get("updatedAtMs"), entry.get("location"), entry.get("resume")), (None, None, None));
}

#[test]
fn the_revision_moves_with_the_inventory_and_not_without() {
    let home = Home::new();
    let project = home.project("-p", "/p");
    project.session(&uuid(1), "one", 10);
    let record = home.peer("writer", &uuid(1), "/p");
    let mut server = Spawn::new(home).open();
    let mut revision = || list(&mut server, json!({ "limit": 0 }))["revision"].as_str().unwrap().to_owned();
    let first = revision();
    assert_eq!(revision(), first, "nothing changed");
    project.session(&uuid(2), "two", 20);
    let second = revision();
    assert_ne!(second, first, "a session came");
    fs::remove_file(record).unwrap();
    assert_ne!(revision(), second, "a live session went");
}

#[test]
fn one_session_in_two_homes_is_one_entry_and_its_newest_file_counts() {
    let home = Home::new();
    home.project("-p", "/p").session(&uuid(1), "old", 10);
    let other = Home::new();
    other.project("-p", "/p").session(&uuid(1), "new", 20);
    let flag = format!("claude-code={}", other.claude().display());
    let mut server = Spawn::new(home).args(["--root", &flag]).open();
    let answer = list(&mut server, json!({}));
    assert_eq!((&answer["total"], &answer["entries"][0]["title"]), (&json!(1), &json!("new")));
    let env = &answer["entries"][0]["resume"]["env"];
    assert_eq!(env["CLAUDE_CONFIG_DIR"].as_str(), other.claude().to_str(), "the other home must be named");
}
