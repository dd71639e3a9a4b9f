//! When a receipt is given up: only after failures that last, never for silence, and not across a success.

use crate::support::inventory::{files_in, hosting, list, listed, receipts_in};
use crate::support::runtime::{Bad, Options, Route, Runtime};
use crate::support::{DEADLINE, Home, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::time::Instant;
use tackroom::limits::OUTAGE;

const WORKSPACE: &str = "/home/dev/demo";

/// Asks again and again until only so many receipts are left; how often that was.
fn ask_until(server: &mut Server, left: usize, mut ask: impl FnMut(&mut Server)) -> usize {
    let begin = Instant::now();
    let mut asked = 0;
    while files_in(server.home.path()).len() > left {
        assert!(begin.elapsed() < DEADLINE, "asked {asked} times");
        ask(server);
        asked += 1;
    }
    assert!(begin.elapsed() >= OUTAGE, "given up too soon");
    asked
}

fn states(server: &mut Server) -> Value {
    let ids = ["refusing", "silent", "erring"];
    let sources: Vec<Value> = ids.map(|id| json!({ "harness": "supercode", "sessionId": id })).into();
    server.request("registry/states", json!({ "sources": sources })).result()
}

#[test]
fn one_that_refuses_for_long_is_given_up_and_a_silent_one_never() {
    for ask in [|server: &mut Server| drop(list(server, json!({}))), |server: &mut Server| drop(states(server))] {
        let home = Home::new();
        let receipts = receipts_in(home.path());
        let [refusing, silent, erring] =
            ["refusing", "silent", "erring"].map(|id| Runtime::start(Options::main(id, WORKSPACE)));
        for runtime in [&refusing, &silent, &erring] {
            runtime.publish(&receipts);
        }
        silent.suspend();
        // What answers in the words of the contract is there.
        let error = json!({ "code": -32002, "name": "execution", "operation": null, "message": "no" });
        erring.misbehave(Route::Any, Bad::Error(error));
        refusing.refuse();
        let mut server = Spawn::new(home).open();
        assert!(ask_until(&mut server, 2, ask) >= 3);
        let receipts = server.request("runtime/receipts", json!({})).result();
        let mut left: Vec<&str> =
            receipts["receipts"].as_array().unwrap().iter().map(|one| one["runtimeId"].as_str().unwrap()).collect();
        left.sort_unstable();
        assert_eq!(left, ["erring", "silent"]);
        // It would have to publish itself anew.
        refusing.listen();
        assert_eq!(states(&mut server)["states"][0].get("state"), None);
    }
}

#[test]
fn what_answers_with_something_else_is_given_up_too() {
    for bad in [Bad::Close, Bad::lie("/result/session_id", "another"), Bad::Bytes(b"SSH-2.0-x\r\n".to_vec())] {
        let home = Home::new();
        let runtime = Runtime::start(Options::main("one", WORKSPACE));
        runtime.publish(&receipts_in(home.path()));
        runtime.misbehave(Route::Any, bad);
        let mut server = Spawn::new(home).open();
        assert!(ask_until(&mut server, 0, |server| drop(list(server, json!({})))) >= 3);
        assert!(runtime.seen().len() >= 3);
    }
}

/// While one runtime is given up, another one fails as often, but is reached in another way each time.
fn reached_between(reach: impl Fn(&mut Server)) {
    let home = Home::new();
    let receipts = receipts_in(home.path());
    let [kept, given_up] = ["kept", "given-up"].map(|id| Runtime::start(Options::main(id, WORKSPACE)));
    kept.publish(&receipts);
    given_up.publish(&receipts);
    given_up.refuse();
    let mut server = Spawn::new(home).open();
    ask_until(&mut server, 1, |server| {
        kept.refuse();
        kept.cut();
        assert_eq!(listed(server, json!({})), Vec::<String>::new());
        kept.listen();
        reach(server);
    });
    assert_eq!(listed(&mut server, json!({})), ["kept"]);
}

#[test]
fn a_probe_that_succeeds_between_keeps_it() {
    reached_between(|server| assert_eq!(listed(server, json!({})), ["kept"]));
}

#[test]
fn an_attach_that_succeeds_between_keeps_it() {
    reached_between(|server| {
        let attached = server.request("runtime/attach", json!({ "runtimeId": "kept" })).result();
        server.request("runtime/detach", json!({ "attachment": attached["attachment"] })).result();
    });
}

#[test]
fn the_conversation_stays_when_its_runtime_is_given_up() {
    let home = Home::new();
    home.project("-home-dev-demo", WORKSPACE).session(&uuid(1), "kept", 60);
    let runtime = Runtime::start(hosting(&uuid(1), "one", WORKSPACE));
    runtime.publish(&receipts_in(home.path()));
    runtime.refuse();
    let mut server = Spawn::new(home).open();
    ask_until(&mut server, 0, |server| drop(list(server, json!({}))));
    let answer = list(&mut server, json!({}));
    assert_eq!((&answer["total"], answer.get("problems")), (&json!(1), None));
    assert_eq!(answer["entries"][0]["id"], format!("claude-code:{}", uuid(1)));
}
