//! Running one of a runtime's own operations.

use crate::support::runtime::{Options, Step};
use crate::support::{WORKSPACE, with_runtime};
use serde_json::{Value, json};

#[test]
fn operations_go_as_they_came_and_their_results_likewise() {
    let options = Options::main("main-1", WORKSPACE).on("/code-review", [Step::Text("reviewed {prompt}".into())]);
    let (runtime, mut server) = with_runtime(options);
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    let operation =
        json!({ "kind": "prompt", "operation_id": "prompt:code-review", "arguments": "src", "more": [1.50, null] });
    let prompted = server.at(&at, "invoke", json!({ "operation": operation })).result();
    assert_eq!(prompted, json!({ "result": { "kind": "prompt", "reply": "reviewed /code-review src" } }));
    let body: Value = serde_json::from_slice(&runtime.seen_rpc("invoke")[0].body).unwrap();
    assert_eq!(body["params"], json!({ "operation": operation }));
    let usage =
        server.at(&at, "invoke", json!({ "operation": { "kind": "context", "operation_id": "context:usage" } }));
    assert_eq!(usage.result()["result"]["usage"]["context_limit"], 200_000);
    for (wrong, code, reason) in [
        (json!({ "kind": "prompt", "operation_id": "prompt:dance", "arguments": "" }), -32009, "unsupported_action"),
        (json!({ "kind": "prompt" }), -32015, "invalid_argument"),
        (json!({}), -32015, "invalid_argument"),
    ] {
        server.at(&at, "invoke", json!({ "operation": wrong })).error().is(code, reason);
    }
    for wrong in [
        json!({ "attachment": at }),
        json!({ "attachment": at, "operation": 1 }),
        json!({ "attachment": at, "operation": [] }),
    ] {
        server.request_unchecked("runtime/invoke", wrong).error().is(-32602, "invalid_params");
    }
}

#[test]
fn a_result_waits_for_the_turn_that_runs() {
    let options = Options::main("main-1", WORKSPACE).on("wait", [Step::Hold("turn".into())]);
    let (runtime, mut server) = with_runtime(options);
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    server.at(&at, "sendInput", json!({ "prompt": "wait" })).result();
    runtime.wait_held("turn");
    let usage =
        server.ask_at(&at, "invoke", json!({ "operation": { "kind": "context", "operation_id": "context:usage" } }));
    runtime.wait_seen("invoke", 1);
    server.at(&at, "lease", json!({})).result();
    runtime.release("turn");
    assert_eq!(server.answer(usage).result()["result"]["kind"], "context");
}
