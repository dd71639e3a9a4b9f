//! `registry/resolve`: the one entry that a person means.

use crate::support::{Failure, Home, Server, Spawn, uuid};
use serde_json::{Value, json};

/// Sessions whose ids share a beginning, one of them live under a name that its user chose.
fn home() -> Home {
    let home = Home::new();
    let project = home.project("-p", "/p");
    project.session(&uuid(1), "Fix the parser for rain data", 10);
    project.session(&uuid(2), "fix the lexer", 20);
    project.session("abcd0000-0000-4000-8000-000000000001", "Write the release notes", 30);
    home.peer("reviewer", &uuid(2), "/p");
    home
}

fn resolve(server: &mut Server, reference: &str) -> Value {
    server.request("registry/resolve", json!({ "ref": reference })).result()
}

fn failure(server: &mut Server, params: Value) -> Failure {
    server.request("registry/resolve", params).error()
}

#[test]
fn reference_matches_ids_then_prefixes_and_names_then_titles() {
    let mut server = Spawn::new(home()).open();
    let (first, second) = (format!("claude-code:{}", uuid(1)), format!("claude-code:{}", uuid(2)));
    for (reference, id, by) in [
        (first.as_str(), &first, "id"),
        (&uuid(2), &second, "id"),
        (&format!("  {first} "), &first, "id"),
        ("reviewer", &second, "name"),
        ("REVIEWER", &second, "name"),
        ("the Parser", &first, "title"),
        ("lexer", &second, "title"),
        ("abcd", &"claude-code:abcd0000-0000-4000-8000-000000000001".to_owned(), "prefix"),
        ("claude-code:abcd0", &"claude-code:abcd0000-0000-4000-8000-000000000001".to_owned(), "prefix"),
    ] {
        assert_eq!(resolve(&mut server, reference), json!({ "id": id, "by": by }), "{reference}");
    }
}

#[test]
fn reference_that_matches_several_lists_them_newest_first() {
    let mut server = Spawn::new(home()).open();
    let error = failure(&mut server, json!({ "ref": "fix the" }));
    error.is(-32035, "ambiguous");
    let candidate = |number, title: &str, state| {
        json!({ "id": format!("claude-code:{}", uuid(number)), "harness": "claude-code", "title": title,
            "workspace": "/p", "state": state })
    };
    let expected = json!({
        "reason": "ambiguous", "total": 2,
        "candidates": [candidate(2, "fix the lexer", "idle"), candidate(1, "Fix the parser for rain data", "persisted")],
    });
    assert_eq!(error.data, expected);
    let error = failure(&mut server, json!({ "ref": "0000", "limit": 1 }));
    assert_eq!((&error.data["total"], error.data["candidates"].as_array().unwrap().len()), (&json!(2), 1));
}

#[test]
fn name_does_not_capture_the_short_id_of_another_session() {
    let home = home();
    home.peer("abcd", &uuid(2), "/p");
    let mut server = Spawn::new(home).open();
    let error = failure(&mut server, json!({ "ref": "abcd" }));
    error.is(-32035, "ambiguous");
    assert_eq!(error.data["total"], 2);
}

#[test]
fn short_or_unknown_or_out_of_scope_reference_is_not_found() {
    let mut server = Spawn::new(home()).open();
    for reference in ["", " ", "abc", "parse", "nothing of this kind", "!?"] {
        failure(&mut server, json!({ "ref": reference })).is(-32001, "not_found");
    }
    let mut scoped = Spawn::new(home()).args(["--workspace", "/elsewhere"]).open();
    for reference in [&uuid(1), "reviewer", "abcd", "the parser"] {
        failure(&mut scoped, json!({ "ref": reference })).is(-32001, "not_found");
    }
    for limit in [0, 101, -1] {
        let params = json!({ "ref": "abcd", "limit": limit });
        server.request_unchecked("registry/resolve", params).error().is(-32602, "invalid_params");
    }
    let params = json!({ "ref": "x".repeat(5_000) });
    server.request_unchecked("registry/resolve", params).error().is(-32602, "invalid_params");
}

#[test]
fn subagents_take_part() {
    let home = Home::new();
    let project = home.project("-p", "/p");
    project.session(&uuid(1), "lead", 10);
    let below = project.path().join(uuid(1)).join("subagents");
    std::fs::create_dir_all(&below).unwrap();
    let row = json!({ "type": "user", "uuid": "a", "sessionId": uuid(1), "isSidechain": true, "agentId": "a1b2c3",
        "cwd": "/p", "timestamp": "2026-01-02T00:00:20.000Z", "message": { "role": "user", "content": "Count the words" } });
    std::fs::write(below.join("agent-a1b2c3.jsonl"), format!("{row}\n")).unwrap();
    let mut server = Spawn::new(home).open();
    let found = resolve(&mut server, "count the words");
    let listed = server.request("registry/list", json!({ "query": { "includeChildren": true, "text": "Count the" } }));
    assert_eq!(found["id"], listed.result()["entries"][0]["id"]);
}
