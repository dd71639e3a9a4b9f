//! Who is not sent to, and who may not send.

use super::{ACCEPTS, SILENT, Target, World, note, ready, send, spawn};
use crate::peer_list::record;
use crate::support::{Home, Server, uuid};
use serde_json::{Value, json};
use std::fs;

/// No courier was started.
fn none_started(server: &Server) {
    let started = fs::read_dir(server.home.path()).unwrap().any(|entry| {
        let name = entry.unwrap().file_name();
        name.to_str().unwrap().starts_with("argv")
    });
    assert!(!started);
}

#[test]
fn sending_needs_its_own_permission() {
    let World { home, target: _target } = World::new(ACCEPTS);
    let mut server = spawn(home, &[]).open();
    let params =
        json!({ "name": "reviewer", "text": "Hello", "_meta": { "authority": { "permissions": ["observe"] } } });
    let error = server.request("peer/message", params).error();
    assert_eq!(error.is(-32000, "unauthorized").data["permission"], "message");
    // It is asked for before the params are looked at.
    server.request("authority/narrow", json!({ "authority": { "permissions": ["observe"] } })).result();
    server.request_unchecked("peer/message", json!({ "text": 7 })).error().is(-32000, "unauthorized");
    none_started(&server);
}

#[test]
fn what_is_out_of_scope_is_not_there() {
    for scope in [json!({ "workspaces": ["/elsewhere"] }), json!({ "harnesses": ["codex"] })] {
        let (mut server, _target) = World::new(ACCEPTS).open(&[]);
        let out = json!({ "name": "reviewer", "text": "Hello", "_meta": { "authority": scope } });
        let nobody = json!({ "name": "nobody", "text": "Hello" });
        let (out, nobody) =
            (server.request("peer/message", out).error(), server.request("peer/message", nobody).error());
        out.is(-32003, "not_live");
        assert_eq!(out.message, nobody.message);
        none_started(&server);
    }
}

#[test]
fn a_name_that_is_unique_in_scope_reaches_who_has_it_there() {
    let world = World::new("call; sent; notice held; stay");
    let twin = Target::start(&world.home, json!({ "name": "Reviewer", "cwd": "/elsewhere" }));
    let (mut server, _target) = world.open(&[]);
    send(&mut server, "Hello").error().is(-32004, "identity_mismatch");
    let narrowed =
        json!({ "name": "reviewer", "text": "Hello", "_meta": { "authority": { "workspaces": ["/elsewhere"] } } });
    assert_eq!(server.request("peer/message", narrowed).result()["peer"]["pid"], twin.process.pid());
}

#[test]
fn params_say_exactly_one_session_and_a_text() {
    let (mut server, _target) = World::new(ACCEPTS).open(&[]);
    for params in [
        json!({ "text": "Hello" }),
        json!({ "name": "reviewer", "id": "claude-code:x", "text": "Hello" }),
        json!({ "name": "reviewer" }),
        json!({ "name": "reviewer", "text": 7 }),
        json!({ "name": 7, "text": "Hello" }),
    ] {
        server.request_unchecked("peer/message", params).error().is(-32602, "invalid_params");
    }
    let endpoint = json!({ "endpoint": "nonsense", "text": "Hello" });
    server.request("peer/message", endpoint).error().is(-32018, "invalid_endpoint");
    none_started(&server);
}

#[test]
fn a_session_that_is_not_what_it_was_gets_nothing() {
    let (mut server, target) = World::new(ACCEPTS).open(&[]);
    let endpoint = server.request("peer/resolve", json!({ "name": "reviewer" })).result()["peer"]["endpoint"].clone();
    // It was renamed.
    target.record(&server.home, json!({ "name": "other" }));
    let params = json!({ "endpoint": endpoint, "text": "Hello" });
    server.request("peer/message", params.clone()).error().is(-32004, "identity_mismatch");
    send(&mut server, "Hello").error().is(-32003, "not_live");
    // Its pid belongs to another process by now.
    target.record(&server.home, json!({ "procStart": "1" }));
    server.request("peer/message", params.clone()).error().is(-32003, "not_live");
    // It is parked.
    target.record(&server.home, json!({ "parkedJobId": "3f1bcd9e" }));
    server.request("peer/message", params).error().is(-32003, "not_live");
    none_started(&server);
}

#[test]
fn a_session_without_a_socket_that_answers_cannot_be_reached() {
    let (mut server, target) = World::new(ACCEPTS).open(&[]);
    let why = |server: &mut Server| {
        let error = send(server, "Hello").error();
        error.is(-32003, "not_live");
        error.message
    };
    let pid = target.process.pid();
    record(&server.home.claude(), pid, json!({ "name": "reviewer" }));
    assert_eq!(why(&mut server), "no message can reach the session `reviewer`: it has no socket");
    record(&server.home.claude(), pid, json!({ "name": "reviewer", "messagingSocketPath": "/no/such.sock" }));
    assert_eq!(why(&mut server), "no message can reach the session `reviewer`: its socket does not answer");
    none_started(&server);
}

#[test]
fn the_session_is_looked_at_again_right_before_it_is_written_to() {
    // As many couriers as there may be are at work, so the next message waits.
    let (mut server, target) = World::new(SILENT).open(&[]);
    let mut at_work = Vec::new();
    for _ in 0..tackroom::limits::COURIERS {
        at_work.push(server.ask("peer/message", json!({ "name": "reviewer", "text": "Hello" })));
        ready(server.home.path());
    }
    let session = uuid(target.process.pid() as usize);
    let waits = |server: &mut Server, mut params: serde_json::Value, token: &str| {
        params["text"] = json!("Hello");
        params["_meta"] = json!({ "progressToken": token });
        let id = server.ask("peer/message", params);
        let told = server.expect_params("$/progress", |params| params["token"] == token);
        assert_eq!(told["value"]["message"], "waiting for other messages");
        id
    };
    let renamed = waits(&mut server, json!({ "name": "reviewer" }), "renamed");
    let moved = waits(&mut server, json!({ "sessionId": session }), "moved");
    let other = Target::start(&server.home, json!({ "name": "other", "sessionId": session }));
    target.record(&server.home, json!({ "name": "another", "sessionId": uuid(1) }));
    for id in at_work {
        server.notify("$/cancelRequest", json!({ "id": id }));
    }
    server.answer(renamed).error().is(-32003, "not_live");
    server.answer(moved).error().is(-32004, "identity_mismatch");
    drop(other);
}

#[test]
fn homes_that_a_client_names_have_no_couriers() {
    let world = World::new(ACCEPTS);
    let other = Home::new();
    let _there = Target::start(&other, json!({ "name": "theirs" }));
    let World { home, target: _target } = world;
    let mut server = spawn(home, &["--allow-homes"]).start();
    server.initialize(json!({ "homes": { "claude-code": [other.claude()] } }));
    assert_eq!(server.request("peer/resolve", json!({ "name": "theirs" })).result()["peer"]["name"], "theirs");
    let error = server.request("peer/message", json!({ "name": "theirs", "text": "Hello" })).error();
    error.is(-32003, "not_live");
    assert!(error.message.contains("`theirs` is in a home that the client named"), "{}", error.message);
    // A name that nobody has there either is looked for in vain.
    let error = server.request("peer/message", json!({ "name": "nobody", "text": "Hello" })).error();
    assert!(error.message.contains("no live Claude Code session"), "{}", error.message);
    assert_eq!(doors(&mut server), [("reviewer".to_owned(), json!(["peer"])), ("theirs".to_owned(), json!(null))]);
    none_started(&server);
    send(&mut server, "Hello").result();
    note(server.home.path(), "argv");
}

/// Whether each live session is said to be reached, by name.
fn doors(server: &mut Server) -> Vec<(String, Value)> {
    let list = server.request("registry/list", json!({})).result();
    let door = |entry: &Value| (entry["peer"]["name"].as_str().unwrap().to_owned(), entry["doors"].clone());
    let mut doors: Vec<_> = list["entries"].as_array().unwrap().iter().map(door).collect();
    doors.sort_by(|one, other| one.0.cmp(&other.0));
    doors
}

#[test]
fn an_id_that_two_processes_have_is_no_door() {
    let world = World::new(ACCEPTS);
    let session = uuid(world.target.process.pid() as usize);
    let twin = Target::start(&world.home, json!({ "name": "reviewer", "sessionId": session }));
    let (mut server, _target) = world.open(&[]);
    assert_eq!(doors(&mut server), [("reviewer".to_owned(), json!(null))]);
    let params = json!({ "sessionId": session, "text": "Hello" });
    server.request("peer/message", params).error().is(-32004, "identity_mismatch");
    drop(twin);
    assert_eq!(doors(&mut server), [("reviewer".to_owned(), json!(["peer"]))]);
}

#[test]
fn what_the_client_gave_up_while_it_waited_is_not_sent() {
    let (mut server, _target) = World::new(SILENT).open(&[]);
    let mut at_work = Vec::new();
    for _ in 0..tackroom::limits::COURIERS {
        at_work.push(server.ask("peer/message", json!({ "name": "reviewer", "text": "Hello" })));
        ready(server.home.path());
    }
    let meta = json!({ "progressToken": "waits" });
    let waits = server.ask("peer/message", json!({ "name": "reviewer", "text": "Hello", "_meta": meta }));
    server.expect_params("$/progress", |params| params["token"] == "waits");
    server.request("authority/narrow", json!({ "authority": { "permissions": ["observe"] } })).result();
    for id in at_work {
        server.notify("$/cancelRequest", json!({ "id": id }));
    }
    server.answer(waits).error().is(-32000, "unauthorized");
}
