//! What Claude Code's own files say of a session: where it went, what it is called, whether it is archived.

use crate::support::{Folded, Home, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

/// A home with the projects of a case.
fn case(name: &str) -> Home {
    let home = Home::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code/cases").join(name);
    copy(&from.join("projects"), &home.claude().join("projects"));
    home
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to)
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn append(path: &Path, text: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[track_caller]
fn list(server: &mut Server, query: Value) -> Vec<Value> {
    let answer = server.request("registry/list", json!({ "query": query, "limit": 100 })).result();
    answer["entries"].as_array().unwrap().clone()
}

/// The last digit of each id, in order.
fn numbers(entries: &[Value]) -> Vec<u32> {
    let number = |entry: &Value| entry["sessionId"].as_str().unwrap().chars().last().unwrap().to_digit(10).unwrap();
    let mut numbers: Vec<u32> = entries.iter().map(number).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn moved_session_is_found_where_it_is_now() {
    let mut server = Spawn::new(case("relocated")).open();
    for (workspace, expected) in [
        ("/proj/repo", vec![1, 5]),
        ("/proj/other", vec![2, 3]),
        ("/proj/repo/.claude/worktrees/v", vec![4]),
        ("/proj/repo/.claude/worktrees/w", vec![]),
    ] {
        assert_eq!(numbers(&list(&mut server, json!({ "workspace": workspace }))), expected, "{workspace}");
    }
    let mut server = Spawn::new(case("worktree-removed")).open();
    assert_eq!(list(&mut server, json!({}))[0]["resume"]["cwd"], "/proj/repo");
}

#[test]
fn archived_session_is_found_by_the_filter() {
    let mut server = Spawn::new(case("archived")).open();
    assert_eq!(numbers(&list(&mut server, json!({ "archived": true }))), [1]);
    assert_eq!(numbers(&list(&mut server, json!({ "archived": false }))), [2, 3]);
}

#[test]
fn archiving_is_noticed_by_a_watch() {
    let home = Home::new();
    let project = home.project("-p", "/p");
    project.session(&uuid(1), "asked", 60);
    let companion = project.path().join(uuid(1));
    fs::create_dir(&companion).unwrap();
    let mut server = Spawn::new(home).open();
    let mut watch = Folded::watch(&mut server, json!({}));
    let id = format!("claude-code:{}", uuid(1));
    for archived in [true, false] {
        fs::write(
            companion.join("archived.json"),
            json!({ "archived": archived, "at": "2026-01-03T00:00:00Z" }).to_string(),
        )
        .unwrap();
        while watch.entries[&id]["archived"].as_bool().unwrap_or_default() != archived {
            watch.take(&mut server);
        }
    }
}

#[test]
fn name_in_the_middle_of_a_transcript_is_listed_searched_and_watched() {
    let home = Home::new();
    let file = home.project("-p", "/p").session(&uuid(1), "asked", 60);
    let bulk = |count| format!("{}\n", json!({ "type": "api-request-blob", "data": "x".repeat(1_000) })).repeat(count);
    let title = |name: &str| format!("{}\n", json!({ "type": "custom-title", "customTitle": name }));
    let text = fs::read_to_string(&file).unwrap();
    let (prompt, answer) = text.split_once('\n').unwrap();
    fs::write(&file, [prompt, "\n", &bulk(500), &title("Given by me"), &bulk(500), answer].concat()).unwrap();
    let mut server = Spawn::new(home).open();
    assert_eq!(list(&mut server, json!({}))[0]["title"], "Given by me");
    assert_eq!(list(&mut server, json!({ "text": "given by" })).len(), 1);
    let mut watch = Folded::watch(&mut server, json!({}));
    let id = format!("claude-code:{}", uuid(1));
    assert_eq!(watch.entries[&id]["title"], "Given by me");
    append(&file, &["\n", &title("Given again"), &bulk(300), answer, "\n"].concat());
    while watch.entries[&id]["title"] != "Given again" {
        watch.take(&mut server);
    }
}

#[test]
fn teammates_are_children_of_the_lead_of_their_team() {
    let home = case("teammates");
    let lead = json!({ "type": "user", "uuid": "l", "parentUuid": null, "cwd": "/proj/alpha", "teamName": "barn",
        "timestamp": "2026-09-01T09:00:00Z", "message": { "content": "Tidy the barn" } });
    fs::write(home.project("-proj-alpha", "/proj/alpha").file(&uuid(9)), lead.to_string()).unwrap();
    let mut server = Spawn::new(home).open();
    let plain = list(&mut server, json!({}));
    assert_eq!((numbers(&plain), plain[0]["childCount"].as_u64()), (vec![9], Some(1)));
    let all = list(&mut server, json!({ "includeChildren": true }));
    let titles: Vec<&str> = all.iter().map(|entry| entry["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Sort the shelf", "Sort the shelf", "Tidy the barn"]);
}

#[test]
fn workflow_subagents_are_counted_and_known_to_coverage() {
    let mut server = Spawn::new(case("workflow-subagents")).open();
    let entries = list(&mut server, json!({}));
    let parent = entries.iter().find(|entry| entry["sessionId"].as_str().unwrap().ends_with('1')).unwrap();
    assert_eq!(parent["childCount"], 2);
    let coverage = server.request("registry/coverage", json!({ "harnesses": ["claude-code"] })).result();
    let root = &coverage["harnesses"][0]["roots"][0];
    assert_eq!((&root["files"], &root["sessions"]), (&json!(7), &json!(7)));
}

#[test]
fn two_conversations_under_one_id_are_both_listed_and_copies_are_one() {
    let home = Home::new();
    let half = |project: &str, uuid_of: &str, text: &str, second: u32| {
        let row = json!({ "type": "user", "uuid": uuid_of, "parentUuid": null, "sessionId": uuid(1), "cwd": format!("/{project}"),
            "timestamp": format!("2026-01-02T00:00:{second:02}Z"), "message": { "content": text } });
        fs::write(home.project(&format!("-{project}"), "").file(&uuid(1)), row.to_string()).unwrap();
    };
    half("p", "a", "first half", 1);
    half("q", "b", "second half", 2);
    // A copy of the second.
    half("r", "b", "second half", 2);
    let mut server = Spawn::new(home).open();
    let answer = server.request("registry/list", json!({})).result();
    let titles: Vec<&str> =
        answer["entries"].as_array().unwrap().iter().map(|entry| entry["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["second half", "first half"]);
    assert_eq!(answer["entries"][0]["id"], format!("claude-code:{}", uuid(1)));
    let reasons: Vec<&str> =
        answer["problems"].as_array().unwrap().iter().map(|problem| problem["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["duplicate_id"]);
    for (entry, text) in answer["entries"].as_array().unwrap().iter().zip(["second half", "first half"]) {
        let loaded = server.request("session/load", json!({ "id": entry["id"] })).result();
        assert_eq!(loaded["messages"][0]["content"][0]["text"], text);
    }
    let coverage = server.request("registry/coverage", json!({ "harnesses": ["claude-code"] })).result();
    let root = &coverage["harnesses"][0]["roots"][0];
    assert_eq!((&root["files"], &root["sessions"]), (&json!(3), &json!(2)));
    assert_eq!(root["skipped"][0]["reason"], "another file holds the same session and is listed instead");
}

#[test]
fn follower_hears_a_second_compaction_and_goes_along_when_the_session_moves() {
    let home = Home::new();
    let project = home.project("-proj-alpha", "/proj/alpha");
    let from = case("second-compaction");
    let source = from.claude().join("projects/-proj-alpha/bbbbbbbb-0000-4000-8000-000000000001.jsonl");
    let lines: Vec<String> = fs::read_to_string(source).unwrap().lines().map(|line| format!("{line}\n")).collect();
    let file = project.file(&uuid(1));
    // Before the second compaction, which repeats two rows.
    fs::write(&file, lines[..8].concat()).unwrap();
    let other = home.project("-proj-other", "/proj/other").file(&uuid(1));
    let mut server = Spawn::new(home).open();
    let id = format!("claude-code:{}", uuid(1));
    server.request("session/follow", json!({ "id": id })).result();
    append(&file, &lines[8..].concat());
    let mut heard: Vec<String> = Vec::new();
    while heard.last().map(String::as_str) != Some("Lilies planted.") {
        let event = server.expect_notification("session/event")["event"].clone();
        assert_eq!(event["kind"], "appended", "{event}");
        let messages = event["messages"].as_array().unwrap().iter();
        let spoken = messages.filter(|message| message["role"] == "user" || message["role"] == "assistant");
        heard.extend(spoken.map(|message| message["content"][0]["text"].as_str().unwrap().to_owned()));
    }
    assert_eq!(heard, ["Finally lilies", "Lilies planted."]);

    fs::rename(&file, &other).unwrap();
    let moved = json!({ "type": "relocated", "relocatedCwd": "/proj/other", "sessionId": uuid(1) });
    let row = json!({ "type": "user", "uuid": "there", "parentUuid": "0fa674a4-b4cc-4fe6-89e9-4d7bd9a8e382", "cwd": "/proj/other",
        "timestamp": "2026-09-01T11:00:00Z", "message": { "content": "Over there" } });
    append(&other, &format!("{moved}\n{row}\n"));
    let mut last = Value::Null;
    while last["content"][0]["text"] != "Over there" {
        let event = server.expect_notification("session/event")["event"].clone();
        last = match event["kind"].as_str() {
            Some("appended") => event["messages"].as_array().unwrap().last().unwrap().clone(),
            Some("rewritten") => {
                let loaded = server.request("session/load", json!({ "id": id, "cursor": event["cursor"] })).result();
                loaded["messages"].as_array().unwrap().last().unwrap().clone()
            }
            _ => Value::Null,
        };
    }
}
