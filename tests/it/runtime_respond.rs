//! Answering what a runtime asks.

use crate::support::runtime::{Bad, Options, Route, Runtime, Step};
use crate::support::{Server, WORKSPACE, beside, with_runtime};
use serde_json::{Value, json};

fn options() -> Options {
    let approval = Step::Approval { tool: "bash".into(), arguments: json!({ "command": "ls" }) };
    let form = Step::Elicitation { message: "Which?".into(), schema: json!({ "type": "object" }) };
    Options::main("main-1", WORKSPACE)
        .on("approve", [approval, Step::Text("{output}".into())])
        .on("ask", [form, Step::Text("{output}".into())])
}

/// Begins a turn that asks: its id, and the number of what it asks.
fn begin(server: &mut Server, runtime: &Runtime, at: &Value, prompt: &str) -> (i64, u64) {
    let turn = server.ask_at(at, "submit", json!({ "prompt": prompt }));
    (turn, runtime.wait_request())
}

fn respond(server: &mut Server, at: &Value, response: Value) -> crate::support::Answer {
    server.at(at, "respond", json!({ "response": response }))
}

#[test]
fn each_decision_and_each_action() {
    let (runtime, mut server) = with_runtime(options());
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    for decision in ["deny", "allow", "allow_for_session"] {
        let (turn, id) = begin(&mut server, &runtime, &at, "approve");
        let response = json!({ "kind": "approval", "requestId": id, "decision": decision });
        assert_eq!(respond(&mut server, &at, response).result(), json!({ "accepted": true }));
        assert_eq!(server.answer(turn).result()["reply"], decision);
        let resolved = server.events_to(&at, "request_resolved").pop().unwrap()["payload"]["response"].take();
        assert_eq!(resolved, json!({ "kind": "approval", "request_id": id, "decision": decision }));
    }
    let content = json!({ "which": "ä", "n": 9_007_199_254_740_993_u64, "deep": [{ "x": null }] });
    for (action, content) in [("accept", content), ("decline", json!(null)), ("cancel", json!(null))] {
        let (turn, id) = begin(&mut server, &runtime, &at, "ask");
        let response = json!({ "kind": "elicitation", "requestId": id, "action": action, "content": content });
        respond(&mut server, &at, response).result();
        assert_eq!(server.answer(turn).result()["reply"], action);
        let resolved = server.events_to(&at, "request_resolved").pop().unwrap()["payload"]["response"].take();
        assert_eq!(resolved, json!({ "kind": "elicitation", "request_id": id, "action": action, "content": content }));
    }
}

#[test]
fn exactly_one_answer_wins() {
    let (runtime, mut server) = with_runtime(options());
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    for _ in 0..10 {
        let (turn, id) = begin(&mut server, &runtime, &at, "approve");
        let response = json!({ "kind": "approval", "requestId": id, "decision": "allow" });
        let asked: Vec<i64> = (0..4).map(|_| server.ask_at(&at, "respond", json!({ "response": response }))).collect();
        let answers: Vec<Value> = asked.into_iter().map(|id| server.answer(id).whole()).collect();
        let (won, lost): (Vec<&Value>, Vec<&Value>) = answers.iter().partition(|answer| answer.get("result").is_some());
        assert_eq!((won.len(), lost.len()), (1, 3));
        assert!(lost.iter().all(|answer| answer["error"]["data"]["reason"] == "not_found"), "{lost:?}");
        server.answer(turn).result();
    }
}

#[test]
fn what_does_not_fit_leaves_the_request_open() {
    let (runtime, mut server) = with_runtime(options());
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    let (turn, id) = begin(&mut server, &runtime, &at, "approve");
    let wrong_kind = json!({ "kind": "elicitation", "requestId": id, "action": "accept", "content": {} });
    respond(&mut server, &at, wrong_kind).error().is(-32015, "invalid_argument");
    let unknown = json!({ "kind": "approval", "requestId": id + 1, "decision": "allow" });
    respond(&mut server, &at, unknown).error().is(-32001, "not_found");
    for wrong in [
        json!({ "kind": "approval", "requestId": id }),
        json!({ "kind": "approval", "requestId": id, "decision": "perhaps" }),
        json!({ "kind": "approval", "requestId": -1, "decision": "allow" }),
        json!({ "kind": "approval", "requestId": 1.5, "decision": "allow" }),
        json!({ "kind": "dance", "requestId": id, "decision": "allow" }),
        json!({ "requestId": id, "decision": "allow" }),
        json!(["approval", id, "allow"]),
        json!(null),
    ] {
        let params = json!({ "attachment": at, "response": wrong });
        server.request_unchecked("runtime/respond", params).error().is(-32602, "invalid_params");
    }
    // Another editor may answer, once it has taken control.
    let mut other = beside(&server);
    let theirs = other.attach(&runtime, json!({}))["attachment"].take();
    let response = json!({ "kind": "approval", "requestId": id, "decision": "allow" });
    respond(&mut other, &theirs, response.clone()).error().is(-32006, "controller_required");
    other.at(&theirs, "takeControl", json!({})).result();
    respond(&mut other, &theirs, response).result();
    assert_eq!(server.answer(turn).result()["reply"], "allow");
}

#[test]
fn numbers_of_requests_are_exact() {
    let (runtime, mut server) = with_runtime(options());
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    for id in [0, (1 << 53) + 1, 1 << 63, u64::MAX] {
        runtime.misbehave_times(
            Route::Rpc("respond".to_owned()),
            1,
            Bad::Body(br#"{"id":1,"result":{"accepted":true}}"#.to_vec()),
        );
        respond(&mut server, &at, json!({ "kind": "other", "requestId": id, "action": "accept" })).result();
        let body: Value = serde_json::from_slice(&runtime.seen_rpc("respond").pop().unwrap().body).unwrap();
        let response = json!({ "kind": "other", "request_id": id, "action": "accept", "content": null });
        assert_eq!(body["params"]["response"], response);
    }
}

#[test]
fn a_hosted_runtime_of_another_harness_takes_no_answers() {
    let (runtime, mut server) = with_runtime(Options::hosted("gemini", "main-1", WORKSPACE));
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    let response = json!({ "kind": "approval", "requestId": 1, "decision": "allow" });
    respond(&mut server, &at, response).error().is(-32009, "unsupported_action");
}

#[test]
fn who_leaves_leaves_nothing_open() {
    let (runtime, mut server) = with_runtime(options());
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    let (turn, _) = begin(&mut server, &runtime, &at, "approve");
    server.at(&at, "detach", json!({})).result();
    assert_eq!(server.answer(turn).result()["reply"], "deny", "a runtime denies what nobody can answer");
}
