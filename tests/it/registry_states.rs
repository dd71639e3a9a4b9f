//! `registry/states`: what the runtimes of given sources do, asking only those.

use crate::support::inventory::{hosting, receipts_in};
use crate::support::runtime::{Bad, Options, Route, Runtime};
use crate::support::{Home, Server, Spawn, uuid};
use serde_json::{Value, json};

const WORKSPACE: &str = "/home/dev/demo";

fn source(harness: &str, session: &str) -> Value {
    json!({ "harness": harness, "sessionId": session })
}

/// The states of these sources, which must come in their order.
#[track_caller]
fn states(server: &mut Server, sources: &[Value]) -> Vec<Option<String>> {
    let answer = server.request("registry/states", json!({ "sources": sources })).result();
    let mut told = Vec::new();
    let states = answer["states"].as_array().unwrap();
    assert_eq!(states.len(), sources.len());
    for (state, source) in states.iter().zip(sources) {
        assert_eq!((&state["harness"], &state["sessionId"]), (&source["harness"], &source["sessionId"]));
        told.push(state.get("state").map(|state| state.as_str().unwrap().to_owned()));
    }
    told
}

fn words<const N: usize>(words: [&str; N]) -> Vec<Option<String>> {
    words.map(|word| (!word.is_empty()).then(|| word.to_owned())).into()
}

#[test]
fn only_the_runtimes_of_the_sources_are_asked_and_answers_come_in_order() {
    let home = Home::new();
    home.project("-home-dev-demo", WORKSPACE).session(&uuid(3), "stored alone", 60);
    let receipts = receipts_in(home.path());
    let [busy, idle, other] = [
        hosting(&uuid(1), "busy", WORKSPACE),
        Options::main("idle", WORKSPACE),
        // The same session id at another harness.
        Options::hosted("codex", &uuid(1), WORKSPACE),
    ]
    .map(Runtime::start);
    for runtime in [&busy, &idle, &other] {
        runtime.publish(&receipts);
    }
    busy.set_busy(true);
    let mut server = Spawn::new(home).open();
    let sources = [
        source("supercode", "idle"),
        source("claude-code", "nobody"),
        source("claude-code", &uuid(1)),
        source("claude-code", &uuid(3)),
        source("supercode", "idle"),
        source("gemini", "idle"),
    ];
    assert_eq!(states(&mut server, &sources), words(["idle", "", "busy", "", "idle", ""]));
    assert_eq!((other.connections(), idle.seen_rpc("describe").len()), (0, 1));
    assert_eq!(states(&mut server, &[]), words([]));
    assert_eq!(states(&mut server, &[source("claude-code", "nobody")]), words([""]));
    assert_eq!(idle.seen_rpc("describe").len(), 1);
    assert!(idle.observers().is_empty());
}

#[test]
fn newest_runtime_that_answers_counts_and_silent_ones_are_live() {
    let home = Home::new();
    let receipts = receipts_in(home.path());
    let older = Runtime::start(hosting(&uuid(1), "older", WORKSPACE));
    older.publish(&receipts);
    older.set_busy(true);
    let newer = Runtime::start(hosting(&uuid(1), "newer", WORKSPACE));
    let created = older.receipt().members()["created_at_ms"].as_u64().unwrap() + 5_000;
    newer.receipt().with("/created_at_ms", created).write(&receipts);
    let mut server = Spawn::new(home).open();
    let asked = [source("claude-code", &uuid(1))];
    assert_eq!(states(&mut server, &asked), words(["idle"]));
    newer.misbehave(Route::Any, Bad::Silent);
    assert_eq!(states(&mut server, &asked), words(["busy"]));
    older.misbehave(Route::Any, Bad::Silent);
    assert_eq!(states(&mut server, &asked), words(["live"]));
    let lie = Bad::lie("/result/connection_state", "shutting_down");
    older.behave();
    older.misbehave(Route::Rpc("describe".into()), lie);
    // It is listened to again once it is heard.
    while states(&mut server, &asked) != words(["shutting_down"]) {}
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let mut server = Spawn::empty().open();
    let thousand = vec![source("codex", "x"); 1_000];
    assert_eq!(states(&mut server, &thousand).len(), 1_000);
    let more = [thousand, vec![source("codex", "x")]].concat();
    server.request("registry/states", json!({ "sources": more })).error().is(-32602, "invalid_params");
    for sources in [
        json!(null),
        json!({}),
        json!([source("emacs", "x")]),
        json!([{ "harness": "codex" }]),
        json!([{ "sessionId": "x" }]),
        json!([["codex", "x"]]),
        json!(["codex:x"]),
    ] {
        let answer = server.request_unchecked("registry/states", json!({ "sources": sources }));
        answer.error().is(-32602, "invalid_params");
    }
}
