//! Stopping the turn that runs.

use crate::support::runtime::{Options, Step};
use crate::support::{WORKSPACE, with_runtime};
use serde_json::json;

#[test]
fn it_says_whether_a_turn_ran() {
    let hold = Step::Hold("turn".into());
    for options in [Options::main("main-1", WORKSPACE), Options::hosted("gemini", "main-1", WORKSPACE)] {
        let (runtime, mut server) = with_runtime(options.on("wait", [hold.clone()]));
        let at = server.attach(&runtime, json!({ "clientId": "anna" }))["attachment"].take();
        assert_eq!(server.at(&at, "interrupt", json!({})).result(), json!({ "interrupted": false }));
        runtime.prompt("wait");
        runtime.wait_held("turn");
        assert_eq!(server.at(&at, "interrupt", json!({})).result(), json!({ "interrupted": true }));
        server.events_to(&at, "turn_interrupted");
        assert_eq!(runtime.controller().as_deref(), Some("anna"));
        runtime.wait_turns(1);
    }
}
