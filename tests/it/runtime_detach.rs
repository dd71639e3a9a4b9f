//! Leaving a runtime.

use crate::support::runtime::{Bad, Options, Route, Step};
use crate::support::{WORKSPACE, with_runtime};
use serde_json::json;

fn options() -> Options {
    Options::main("main-1", WORKSPACE).on("wait", [Step::Hold("turn".into()), Step::Text("waited".into())])
}

#[test]
fn the_answer_says_who_is_left() {
    let (runtime, mut server) = with_runtime(options());
    let anna = server.attach(&runtime, json!({ "clientId": "anna" }))["attachment"].take();
    let ben = server.attach(&runtime, json!({ "clientId": "ben" }))["attachment"].take();
    let left = server.at(&anna, "detach", json!({})).result()["lease"].take();
    assert_eq!(left["observers"][0]["clientId"], "ben");
    assert_eq!(left["observers"].as_array().unwrap().len(), 1);
    runtime.wait_streams(1);
    server.at(&anna, "detach", json!({})).error().is(-32001, "not_found");
    for wrong in [json!({}), json!({ "attachment": null }), json!({ "attachment": 1 })] {
        server.request_unchecked("runtime/detach", wrong).error().is(-32602, "invalid_params");
    }
    // Where the runtime does not say who is left, the client is gone all the same.
    for bad in [Bad::Close, Bad::InvalidJson, Bad::Error(json!({ "code": -32002, "message": "no" }))] {
        runtime.misbehave_times(Route::Rpc("detach".to_owned()), 1, bad);
        let at = server.attach(&runtime, json!({ "clientId": "anna" }))["attachment"].take();
        assert_eq!(server.at(&at, "detach", json!({})).result(), json!({}));
        runtime.wait_observers(1);
    }
    runtime.refuse();
    runtime.cut();
    assert_eq!(server.event(&ben)["kind"], "disconnected");
}

#[test]
fn a_turn_goes_on_without_who_began_it() {
    let (runtime, mut server) = with_runtime(options());
    let at = server.attach(&runtime, json!({ "clientId": "anna" }))["attachment"].take();
    let turn = server.ask_at(&at, "submit", json!({ "prompt": "wait" }));
    runtime.wait_held("turn");
    server.at(&at, "detach", json!({})).result();
    assert_eq!((runtime.controller(), runtime.observers().len()), (None, 0));
    runtime.release("turn");
    assert_eq!(server.answer(turn).result(), json!({ "reply": "waited" }));
    assert!(runtime.observers().is_empty());
}

#[test]
fn two_that_leave_at_once_are_both_answered() {
    let (runtime, mut server) = with_runtime(options());
    for _ in 0..20 {
        let at = server.attach(&runtime, json!({ "clientId": "anna" }))["attachment"].take();
        let asked: Vec<i64> = (0..3).map(|_| server.ask_at(&at, "detach", json!({}))).collect();
        let done = asked.into_iter().filter(|id| server.answer(*id).whole().get("result").is_some()).count();
        assert!(done >= 1);
        assert!(runtime.observers().is_empty());
    }
}
