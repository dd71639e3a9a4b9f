//! Starting a turn, and what a runtime's errors become.

use crate::support::runtime::{Bad, Options, Route};
use crate::support::{WORKSPACE, with_runtime};
use serde_json::json;

#[test]
fn the_answer_comes_when_the_turn_begins() {
    let hold = crate::support::runtime::Step::Hold("turn".into());
    for options in [Options::main("main-1", WORKSPACE), Options::hosted("gemini", "main-1", WORKSPACE)] {
        let (runtime, mut server) = with_runtime(options.on("wait", [hold.clone()]));
        let at = server.attach(&runtime, json!({ "clientId": "anna" }))["attachment"].take();
        assert_eq!(server.at(&at, "sendInput", json!({ "prompt": "wait" })).result(), json!({ "accepted": true }));
        assert_eq!(runtime.controller().as_deref(), Some("anna"));
        runtime.wait_held("turn");
        runtime.release("turn");
        server.events_to(&at, "turn_succeeded");
    }
}

#[test]
fn prompt_without_an_answer_may_still_run() {
    let (runtime, mut server) = with_runtime(Options::main("main-1", WORKSPACE));
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    runtime.misbehave(Route::Rpc("send_input".into()), Bad::Silent);
    let silent = server.at(&at, "sendInput", json!({ "prompt": "x" })).error();
    assert!(silent.is(-32012, "timeout").message.contains("may still run"), "{}", silent.message);
}

/// Every error of the contract, by its name, and by its code where it has none.
#[test]
fn what_a_runtime_refuses_has_a_reason_and_says_what_to_do() {
    let (runtime, mut server) = with_runtime(Options::main("main-1", WORKSPACE));
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    let mut told = vec![];
    for error in [
        json!({ "code": -32700, "message": "said" }),
        json!({ "code": -32601, "message": "said" }),
        json!({ "code": -32602, "message": "said" }),
        json!({ "code": -32000, "name": "busy", "operation": "input", "message": "said" }),
        json!({ "code": -32000, "message": "said" }),
        json!({ "code": -32001, "name": "execution", "operation": null, "message": "said" }),
        json!({ "code": -32002, "name": "execution", "message": "said" }),
        json!({ "code": -32002, "name": "transport", "message": "said" }),
        json!({ "code": -32002, "message": "said" }),
        json!({ "code": -32010, "name": "transport", "message": "said" }),
        json!({ "code": -32010, "message": "said" }),
        json!({ "code": -32020, "name": "unsupported_action", "operation": "steer", "message": "said" }),
        json!({ "code": -32020, "message": "said" }),
        json!({ "code": -32021, "message": "said" }),
        json!({ "code": -32022, "name": "not_found", "message": "said" }),
        json!({ "code": -32022, "name": "invalid_argument", "message": "said" }),
        json!({ "code": -32023, "name": "unsupported_action", "operation": null, "message": "said" }),
        json!({ "code": -32030, "name": "unauthenticated", "message": "said" }),
        json!({ "code": -32031, "name": "unauthorized", "permission": "interact", "message": "said" }),
        json!({ "code": -32031, "name": "unauthorized", "message": "said" }),
        json!({ "code": -32032, "name": "controller_required", "holder": "ben", "expiresAtMs": 1_u64 << 53, "message": "said" }),
        json!({ "code": -32032, "name": "controller_required", "message": "said" }),
        json!({ "code": -32033, "name": "lease_expired", "message": "said" }),
        json!({ "code": -32099, "name": "on_fire", "message": "said" }),
        json!({ "code": 1, "message": "a\nb\u{1b}[2J" }),
    ] {
        runtime.misbehave_times(Route::Rpc("send_input".to_owned()), 1, Bad::Error(error.clone()));
        let refused = server.at(&at, "sendInput", json!({ "prompt": "x" })).error();
        assert!(!refused.message.contains(char::is_control));
        told.push(json!([error["code"], error["name"], refused.code, refused.data, refused.message]));
    }
    insta::assert_json_snapshot!(told);
}
