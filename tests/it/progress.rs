//! Requests that take long report their progress where the client asked for it.

use crate::support::runtime::{Options, Step};
use crate::support::{WORKSPACE, with_runtime};
use serde_json::{Value, json};

fn with_token(mut params: Value, token: &str) -> Value {
    params["_meta"] = json!({ "progressToken": token });
    params
}

#[test]
fn a_request_that_waits_for_a_runtime_reports_progress() {
    let options = Options::main("main-1", WORKSPACE).on("Mend", [Step::Hold("mending".into())]);
    let (runtime, mut server) = with_runtime(options);

    runtime.suspend();
    let attach = server.ask("runtime/attach", with_token(json!({ "runtimeId": "main-1" }), "attach"));
    let progress = server.expect_notification("$/progress");
    assert_eq!(
        progress,
        json!({ "token": "attach", "value": { "message": "runtime/attach is still running", "done": 0 } })
    );
    runtime.resume();
    let attachment = server.answer(attach).result()["attachment"].take();

    let params = with_token(json!({ "attachment": attachment, "prompt": "Mend it" }), "submit");
    let submit = server.ask("runtime/submit", params);
    server.expect_params("$/progress", |progress| progress["token"] == "submit");
    // It goes on for as long as the request does.
    server.expect_params("$/progress", |progress| progress["token"] == "submit");
    runtime.release("mending");
    server.answer(submit).result();

    runtime.suspend();
    let close = server.ask("runtime/close", with_token(json!({ "attachment": attachment }), "close"));
    server.expect_params("$/progress", |progress| progress["token"] == "close");
    runtime.resume();
    server.answer(close).result();
}
