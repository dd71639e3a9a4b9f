//! Cancelling requests, and being told how far they are.

use crate::support::runtime::Options;
use crate::support::{Framing, Home, Server, Spawn, WORKSPACE, uuid, with_runtime};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::FileExt;

/// Files in the home of [`slow_home`].
const FILES: usize = 3_000;

/// A home whose first list is so much work that nothing else can take as long: each file is one and the same large one
/// by another name, without a record in what is read of its ends.
fn slow_home() -> Home {
    let home = Home::new();
    let project = home.project("-w", "/w");
    let large = home.path().join("large");
    let file = fs::File::create(&large).unwrap();
    for part in 0..2 {
        file.write_all_at("{\"type\":\"progress\"}\n".repeat(20_000).as_bytes(), part << 29).unwrap();
    }
    for number in 0..FILES {
        fs::hard_link(&large, project.file(&uuid(number))).unwrap();
    }
    home
}

fn list(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "registry/list" })
}

fn cancel(spelling: &str, id: impl Into<Value>) -> Value {
    let member = if spelling == "$/cancelRequest" { "id" } else { "requestId" };
    json!({ "jsonrpc": "2.0", "method": spelling, "params": { member: id.into() } })
}

const SPELLINGS: [&str; 2] = ["$/cancelRequest", "$/cancel_request"];

/// Sends frames at once, so that the server has all of them before it begins to work on any.
fn send_at_once(server: &mut Server, messages: &[Value]) {
    let bytes: Vec<u8> = messages.iter().flat_map(|message| server.encode(message)).collect();
    assert!(bytes.len() <= 4096, "one write that no pipe divides");
    server.raw(bytes);
}

#[test]
fn a_cancelled_request_answers_so_exactly_once() {
    for (framing, spelling) in Framing::BOTH.into_iter().zip(SPELLINGS) {
        let mut server = Spawn::empty().framing(framing).open();
        for id in [json!(41), json!("a"), json!(-1.5), Value::Null] {
            send_at_once(&mut server, &[list(id.clone()), cancel(spelling, id.clone()), cancel(spelling, id.clone())]);
            server.answer(id).error().is(-32800, "cancelled");
            server.pong();
        }
    }
}

#[test]
fn a_cancellation_is_understood_however_it_is_spelled() {
    let (runtime, mut server) = with_runtime(Options::main("main-1", WORKSPACE));
    runtime.suspend();
    for params in
        [r#"{"id":"slow"}"#, r#"{"id":"slow","\u0061bc":1}"#, r#"{"\u0069d":"slow"}"#, r#"{"id":"slo\u0077"}"#]
    {
        server.send(&json!({ "jsonrpc": "2.0", "id": "slow", "method": "runtime/describe", "params": { "runtimeId": "main-1" } }));
        server.frame(format!(r#"{{"jsonrpc":"2.0","method":"$/cancelRequest","params":{params}}}"#));
        server.answer("slow").error().is(-32800, "cancelled");
    }
    runtime.resume();
}

#[test]
fn a_cancelled_request_in_a_batch_leaves_the_others() {
    let mut server = Spawn::empty().open();
    send_at_once(&mut server, &[json!([list(41), list(42)]), cancel(SPELLINGS[0], 41)]);
    let answers = server.expect_frame();
    for answer in answers.as_array().unwrap() {
        let cancelled = answer["id"] == 41;
        assert_eq!(answer["error"]["code"] == -32800, cancelled, "{answers:#}");
    }
    assert_eq!(answers.as_array().unwrap().len(), 2);
    // Cancelled from within the batch itself.
    send_at_once(&mut server, &[json!([list(41), cancel(SPELLINGS[1], 41)])]);
    assert_eq!(server.expect_frame()[0]["error"]["code"], -32800);
    server.pong();
}

#[test]
fn only_the_one_that_is_named_is_cancelled() {
    let mut server = Spawn::empty().open();
    // The number is not the string, and each spelling has its own member.
    let mut sent = vec![list(1), cancel(SPELLINGS[0], "1"), cancel(SPELLINGS[1], "1"), cancel(SPELLINGS[0], 2)];
    sent.push(json!({ "jsonrpc": "2.0", "method": SPELLINGS[0], "params": { "requestId": 1 } }));
    sent.push(json!({ "jsonrpc": "2.0", "method": SPELLINGS[1], "params": { "id": 1 } }));
    sent.push(json!({ "jsonrpc": "2.0", "method": SPELLINGS[0], "params": [1] }));
    sent.push(json!({ "jsonrpc": "2.0", "method": SPELLINGS[0], "params": { "id": { "id": 1 } } }));
    sent.push(json!({ "jsonrpc": "2.0", "method": SPELLINGS[0] }));
    send_at_once(&mut server, &sent);
    assert_eq!(server.answer(1).result()["total"], 0);
    // Done already, and never there.
    for spelling in SPELLINGS {
        server.send(&cancel(spelling, 1));
        server.send(&cancel(spelling, "never"));
    }
    server.pong();
    // A cancelled id may be used again at once.
    send_at_once(&mut server, &[list(5), cancel(SPELLINGS[0], 5), list(5)]);
    let answers = [server.expect_frame(), server.expect_frame()];
    assert_eq!(answers.iter().filter(|answer| answer["error"]["reason"].is_null()).count(), 2);
    assert!(answers.iter().any(|answer| answer["error"]["code"] == -32800 || answer["error"]["code"] == -32600));
    server.pong();
}

/// Reads frames until one that `wanted` wants; the `done` of each progress before it that came for `token`.
fn progress_until(server: &mut Server, token: &str, wanted: impl Fn(&Value) -> bool) -> (Vec<u64>, Value) {
    let mut done = Vec::new();
    loop {
        let frame = server.expect_frame();
        if wanted(&frame) {
            return (done, frame);
        }
        assert_eq!((&frame["method"], &frame["params"]["token"]), (&json!("$/progress"), &json!(token)), "{frame}");
        done.push(frame["params"]["value"]["done"].as_u64().unwrap());
    }
}

#[test]
fn a_long_list_tells_its_progress_delays_nobody_and_stops_when_it_is_cancelled() {
    let mut server = Spawn::new(slow_home()).open();
    let slow = server.ask("registry/list", json!({ "_meta": { "progressToken": "first" } }));
    // It takes many seconds of work, a ping none: were one request served after the other, its answer came later.
    let ping = server.ask("ping", json!({}));
    server.answer(ping).result();
    let (_, first) = progress_until(&mut server, "first", |_| true);
    assert_eq!(first["params"]["token"], "first", "{first}");
    assert_eq!(first["params"]["value"]["total"], FILES);
    server.notify("$/cancelRequest", json!({ "id": slow }));
    let (before, answer) = progress_until(&mut server, "first", |frame| frame.get("id").is_some());
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(slow), &json!(-32800)), "{answer}");
    // One reading at a time: the next begins when the first has really ended. Had it gone on, it would have told.
    let next = server.ask("registry/list", json!({ "_meta": { "progressToken": "second" } }));
    let (after, _) = progress_until(&mut server, "first", |frame| frame["params"]["token"] == "second");
    let last = before.into_iter().chain(after).max().unwrap_or_default();
    assert!(last < FILES as u64 / 2, "it went on to {last} of {FILES}");
    server.notify("$/cancelRequest", json!({ "id": next }));
    server.answer(next).error().is(-32800, "cancelled");
}

#[test]
fn progress_is_told_only_where_it_was_asked_for() {
    let mut server = Spawn::new(slow_home()).open();
    let asked = server.ask("registry/list", json!({ "_meta": { "progressToken": 7 } }));
    assert_eq!(server.expect_frame()["params"]["token"], 7);
    let other = server.ask("registry/list", json!({}));
    for _ in 0..3 {
        assert_eq!(server.expect_frame()["params"]["token"], 7);
    }
    server.notify("$/cancelRequest", json!({ "id": asked }));
    server.notify("$/cancel_request", json!({ "requestId": other }));
    server.answer(asked).error().is(-32800, "cancelled");
    server.answer(other).error().is(-32800, "cancelled");
    server
        .request_unchecked("registry/list", json!({ "_meta": { "progressToken": [] } }))
        .error()
        .is(-32602, "invalid_params");
}

#[test]
fn what_runs_is_dropped_at_a_signal() {
    let mut server = Spawn::new(slow_home()).open();
    server.ask("registry/list", json!({ "_meta": { "progressToken": 7 } }));
    assert_eq!(server.expect_frame()["method"], "$/progress");
    server.signal(nix::sys::signal::Signal::SIGTERM);
    while server.next_frame().is_some() {}
    assert_eq!(server.exit_code(), 143);
}
