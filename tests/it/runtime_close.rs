//! Ending a runtime.

use crate::support::runtime::{Options, Step};
use crate::support::{WORKSPACE, with_runtime};
use serde_json::json;

#[test]
fn a_main_runtime_ends_and_its_attachments_are_told() {
    let options = Options::main("main-1", WORKSPACE).on("wait", [Step::Hold("turn".into())]);
    let (runtime, mut server) = with_runtime(options);
    let anna = server.attach(&runtime, json!({}))["attachment"].take();
    let ben = server.attach(&runtime, json!({ "clientId": "ben" }))["attachment"].take();
    let turn = server.ask_at(&anna, "submit", json!({ "prompt": "wait" }));
    runtime.wait_held("turn");
    // Nobody needs control for it.
    assert_eq!(server.at(&ben, "close", json!({})).result(), json!({ "closed": true }));
    server.answer(turn).error();
    for at in [&anna, &ben] {
        let events = server.events_to(at, "disconnected");
        assert_eq!(events[events.len() - 2]["kind"], "turn_interrupted");
        let by = events[events.len() - 1]["reason"].as_str().unwrap().contains("`ben` closed");
        assert_eq!(by, at == &anna, "{events:?}");
        server.at(at, "close", json!({})).error().is(-32001, "not_found");
    }
    assert_eq!(server.request("registry/list", json!({})).result()["entries"], json!([]));
    server.request("runtime/attach", json!({ "id": "main-1" })).error().is(-32001, "not_found");
}

#[test]
fn a_hosted_runtime_does_not() {
    let (runtime, mut server) = with_runtime(Options::hosted("gemini", "main-1", WORKSPACE));
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    server.at(&at, "close", json!({})).error().is(-32009, "unsupported_action");
    server.at(&at, "lease", json!({})).result();
}
