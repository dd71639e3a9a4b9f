//! `registry/coverage`: where was looked, what was found, what was passed over and why.

use crate::support::{Home, Spawn, uuid};
use serde_json::{Value, json};
use std::fs;

#[test]
fn every_root_is_told_with_what_was_found_and_passed_over() {
    let home = Home::new();
    let project = home.project("-p", "/p");
    project.session(&uuid(1), "fine", 10);
    fs::write(project.file(&uuid(2)), "").unwrap();
    fs::write(project.path().join("notes.jsonl"), "{}").unwrap();
    home.peer("writer", &uuid(1), "/p");
    let parked = home.claude().join("sessions/1.json");
    fs::write(parked, "{}").unwrap();
    let nowhere = home.path().join("nowhere");
    let flag = format!("codex={}", nowhere.display());
    let mut server = Spawn::new(home).args(["--root", &flag]).open();
    let params = json!({ "harnesses": ["codex", "claude-code"] });
    let answer = server.request("registry/coverage", params).result();
    let text = answer.to_string().replace(server.home.path().to_str().unwrap(), "[home]");
    let mut answer: Value = serde_json::from_str(&text).unwrap();
    for harness in answer["harnesses"].as_array_mut().unwrap() {
        assert!(harness["elapsedMs"].is_u64());
        harness["elapsedMs"] = json!(0);
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&answer).unwrap());
}

#[test]
fn only_the_harnesses_that_are_asked_for_are_told() {
    let mut server = Spawn::empty().open();
    let answer = server.request("registry/coverage", json!({ "harnesses": ["codex"] })).result();
    let ids: Vec<&str> =
        answer["harnesses"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["codex"]);
    server
        .request_unchecked("registry/coverage", json!({ "harnesses": ["emacs"] }))
        .error()
        .is(-32602, "invalid_params");
}

#[test]
fn an_agent_that_keeps_no_sessions_here_has_no_root_and_can_be_given_none() {
    let mut server = Spawn::empty().args(["--allow-homes"]).start();
    let params = json!({ "clientInfo": { "name": "test" }, "homes": { "acp": ["/somewhere"] } });
    let refused = server.request("initialize", params).error();
    assert!(refused.is(-32602, "invalid_params").message.contains("homes.acp"), "{}", refused.message);
    let known = server.initialize(json!({}))["harnesses"].take();
    let last = known.as_array().unwrap().last().unwrap();
    assert_eq!(last, &json!({ "id": "acp", "name": "ACP agent", "roots": [] }));
    let told = server.request("registry/coverage", json!({ "harnesses": ["acp"] })).result();
    assert_eq!((&told["harnesses"][0]["id"], &told["harnesses"][0]["roots"]), (&json!("acp"), &json!([])));
    let listed = server.request("registry/list", json!({ "query": { "harnesses": ["acp"] } })).result();
    assert_eq!(listed["total"], 0);
    let wrong = std::process::Command::new(env!("CARGO_BIN_EXE_tackroom")).args(["list", "--root", "acp=/x"]).output();
    let wrong = wrong.unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("ACP agent keeps no sessions that Tackroom can read"));
}
