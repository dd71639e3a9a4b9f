//! Saying something to the turn that runs.

use crate::support::runtime::{Options, Step};
use crate::support::{WORKSPACE, with_runtime};
use serde_json::json;

#[test]
fn only_while_a_turn_runs_and_where_the_runtime_can() {
    let hold = Step::Hold("turn".into());
    for options in [Options::main("main-1", WORKSPACE), Options::hosted("gemini", "main-1", WORKSPACE)] {
        let can = options.source.harness == "supercode";
        let (runtime, mut server) = with_runtime(options.on("wait", [hold.clone()]));
        let at = server.attach(&runtime, json!({}))["attachment"].take();
        server.at(&at, "steer", json!({ "prompt": "left" })).error().is(-32009, "unsupported_action");
        server.at(&at, "sendInput", json!({ "prompt": "wait" })).result();
        runtime.wait_held("turn");
        let steered = server.at(&at, "steer", json!({ "prompt": "left" }));
        if can {
            assert_eq!(steered.result(), json!({ "queued": true }));
            assert_eq!(runtime.steered(), ["left"]);
        } else {
            let refused = steered.error();
            assert!(refused.is(-32009, "unsupported_action").message.contains("`actions`"));
        }
        server.request_unchecked("runtime/steer", json!({ "attachment": at })).error().is(-32602, "invalid_params");
        runtime.release("turn");
        server.events_to(&at, "turn_succeeded");
    }
}
