//! `peer/resolve`: exactly one live session, read again at each call.

use crate::peer_list::{Sleeper, record};
use crate::support::{Home, Spawn, uuid};
use serde_json::json;
use std::fs;

#[test]
fn a_session_is_found_by_each_of_its_names() {
    let home = Home::new();
    let sleeper = Sleeper::start();
    let pid = sleeper.pid();
    record(&home.claude(), pid, json!({ "name": "Reviewer" }));
    let mut server = Spawn::new(home).open();
    let session = uuid(pid as usize);
    for selector in [
        json!({ "name": "Reviewer" }),
        json!({ "name": "rEVIEWER" }),
        json!({ "sessionId": session }),
        json!({ "id": format!("claude-code:{session}") }),
    ] {
        let peer = server.request("peer/resolve", selector).result()["peer"].clone();
        assert_eq!((&peer["pid"], &peer["sessionId"]), (&json!(pid), &json!(session)));
    }
    for selector in [json!({ "name": "nobody" }), json!({ "sessionId": uuid(1) }), json!({ "id": "codex:1" })] {
        server.request("peer/resolve", selector).error().is(-32003, "not_live");
    }
    for selector in [json!({}), json!({ "name": "a", "id": "b" }), json!({ "name": 7 })] {
        server.request_unchecked("peer/resolve", selector).error().is(-32602, "invalid_params");
    }
    server.request("peer/resolve", json!({ "endpoint": "nonsense" })).error().is(-32018, "invalid_endpoint");
    // It is read again: what was true a moment ago is not remembered.
    fs::remove_file(server.home.claude().join(format!("sessions/{pid}.json"))).unwrap();
    server.request("peer/resolve", json!({ "name": "Reviewer" })).error().is(-32003, "not_live");
}

#[test]
fn a_name_that_two_sessions_hold_names_neither() {
    let home = Home::new();
    let (one, two) = (Sleeper::start(), Sleeper::start());
    record(&home.claude(), one.pid(), json!({ "name": "twin" }));
    record(&home.claude(), two.pid(), json!({ "name": "TWIN", "cwd": "/elsewhere" }));
    let mut server = Spawn::new(home).open();
    server.request("peer/resolve", json!({ "name": "twin" })).error().is(-32004, "identity_mismatch");
    // What is out of scope does not exist, so there the name is unique.
    let narrowed = json!({ "name": "twin", "_meta": { "authority": { "workspaces": ["/p"] } } });
    assert_eq!(server.request("peer/resolve", narrowed).result()["peer"]["pid"], one.pid());
}

#[test]
fn a_name_in_two_homes_names_neither() {
    let (home, other) = (Home::new(), Home::new());
    let (one, two) = (Sleeper::start(), Sleeper::start());
    record(&home.claude(), one.pid(), json!({ "name": "twin" }));
    record(&other.claude(), two.pid(), json!({ "name": "twin" }));
    let flag = format!("claude-code={}", other.claude().join("projects").display());
    let mut server = Spawn::new(home).args(["--root", &flag]).open();
    assert_eq!(server.request("peer/list", json!({})).result()["peers"].as_array().unwrap().len(), 2);
    server.request("peer/resolve", json!({ "name": "twin" })).error().is(-32004, "identity_mismatch");
}
