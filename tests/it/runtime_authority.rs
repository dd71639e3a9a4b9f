//! What a client may do at a runtime: never more than it may do here, and the runtime is told no more.

use crate::support::runtime::{Bad, Options, Route, Runtime};
use crate::support::{DRIVER, Server, Spawn, WORKSPACE, with_runtime};
use serde_json::{Value, json};

fn main(id: &str) -> Options {
    Options::main(id, WORKSPACE)
}

/// The permissions that came with each request of a method.
fn told(runtime: &Runtime, method: &str) -> Vec<String> {
    runtime.seen_rpc(method).into_iter().map(|seen| seen.permissions.expect("the header")).collect()
}

fn attach(server: &mut Server, runtime: &Runtime, more: Value) -> Value {
    server.attach(runtime, more)["attachment"].take()
}

#[test]
fn an_attachment_has_what_is_granted_and_asked_for() {
    let all = json!(["observe", "interact", "approve", "terminate"]);
    for (allowed, asked, expected) in [
        (DRIVER, json!(null), DRIVER),
        (DRIVER, all.clone(), DRIVER),
        (DRIVER, json!(["approve", "observe"]), "observe,approve"),
        (DRIVER, json!(["observe"]), "observe"),
        ("observe", json!(null), "observe"),
        ("observe", all, "observe"),
        ("observe,interact,message,configure,register,start", json!(null), "observe,interact"),
    ] {
        let mut server = Spawn::empty().args(["--allow", allowed]).open();
        let runtime = server.publish(main("main-1"));
        let params = json!({ "id": "main-1", "permissions": asked });
        let joined = server.request_unchecked("runtime/attach", params).result();
        server.at(&joined["attachment"], "lease", json!({})).result();
        server.at(&joined["attachment"], "detach", json!({})).result();
        let stream = runtime.seen().into_iter().find(|seen| seen.line == "GET /frontend/events").unwrap();
        assert_eq!(stream.permissions.as_deref(), Some(expected));
        for method in ["attach", "lease", "detach"] {
            assert!(told(&runtime, method).iter().all(|one| one == expected), "{method}: {:?}", told(&runtime, method));
        }
        let can = &joined["descriptor"]["actions"];
        assert_eq!(can["submit"], expected.contains("interact"));
        assert_eq!(can["close"], expected.contains("terminate"));
    }
}

#[test]
fn what_cannot_be_permitted_is_refused() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    for wrong in [
        json!([]),
        json!(["interact"]),
        json!(["observe", "message"]),
        json!(["observe", "fly"]),
        json!("observe"),
        json!([1]),
    ] {
        let params = json!({ "id": "main-1", "permissions": wrong });
        server.request_unchecked("runtime/attach", params).error().is(-32602, "invalid_params");
    }
    assert_eq!(runtime.connections(), 0);
    let mut blind = Spawn::empty().args(["--allow", "interact,approve,terminate"]).open();
    blind.publish(main("main-1"));
    let refused = blind.request("runtime/attach", json!({ "id": "main-1" })).error();
    assert_eq!(refused.is(-32000, "unauthorized").data["permission"], "observe");
}

#[test]
fn one_request_may_be_narrower() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    let at = attach(&mut server, &runtime, json!({ "permissions": ["observe", "interact"] }));
    let narrowed = |permissions: Value| json!({ "_meta": { "authority": { "permissions": permissions } } });
    server.at(&at, "lease", narrowed(json!(["observe"]))).result();
    server.at(&at, "lease", narrowed(json!(["observe", "interact", "approve", "terminate"]))).result();
    server.at(&at, "lease", json!({})).result();
    assert_eq!(told(&runtime, "lease")[1..], ["observe", "observe,interact", "observe,interact"]);
    let mut params = narrowed(json!(["observe"]));
    params["prompt"] = json!("x");
    let refused = server.at(&at, "sendInput", params).error();
    assert_eq!(refused.is(-32000, "unauthorized").data["permission"], "interact");
    assert!(runtime.seen_rpc("send_input").is_empty());
    // And out of the scope of one request an attachment is not there.
    let scope = json!({ "_meta": { "authority": { "workspaces": ["/elsewhere"] } } });
    for method in ["lease", "detach", "describe", "heartbeat"] {
        let hidden = server.at(&at, method, scope.clone()).error();
        let mut unknown = server.at(&json!("attachment-9"), method, json!({})).error();
        unknown.message = unknown.message.replace("attachment-9", at.as_str().unwrap());
        assert_eq!((hidden.code, hidden.message), (unknown.code, unknown.message));
    }
    let mut params = scope;
    params["id"] = json!("main-1");
    server.request("runtime/attach", params).error().is(-32001, "not_found");
    // What a narrowed request opened stays narrow.
    let mut params = narrowed(json!(["observe"]));
    params["id"] = json!("main-1");
    let narrow = server.request("runtime/attach", params).result()["attachment"].take();
    let refused = server.at(&narrow, "sendInput", json!({ "prompt": "x" })).error();
    assert_eq!(refused.is(-32000, "unauthorized").data["permission"], "interact");
    assert_eq!(told(&runtime, "send_input"), ["observe"]);
}

#[test]
fn every_method_needs_its_permission_here_and_there() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    let at = attach(&mut server, &runtime, json!({ "permissions": ["observe"] }));
    let response = json!({ "kind": "approval", "requestId": 1, "decision": "deny" });
    let operation = json!({ "kind": "context", "operation_id": "context:usage" });
    let calls = [
        ("acquireControl", json!({}), "interact"),
        ("takeControl", json!({}), "interact"),
        ("submit", json!({ "prompt": "x" }), "interact"),
        ("sendInput", json!({ "prompt": "x" }), "interact"),
        ("steer", json!({ "prompt": "x" }), "interact"),
        ("interrupt", json!({}), "interact"),
        ("invoke", json!({ "operation": operation }), "interact"),
        ("respond", json!({ "response": response }), "interact"),
        ("close", json!({}), "terminate"),
    ];
    for (method, more, permission) in &calls {
        let refused = server.at(&at, method, more.clone()).error();
        assert_eq!(refused.is(-32000, "unauthorized").data["permission"], *permission);
    }
    let there = runtime.seen().len();
    server.request("authority/narrow", json!({ "authority": { "permissions": ["observe"] } })).result();
    for (method, more, permission) in &calls {
        let refused = server.at(&at, method, more.clone()).error();
        assert_eq!(refused.is(-32000, "unauthorized").data["permission"], *permission);
    }
    assert_eq!(runtime.seen().len(), there, "what is not permitted here is not asked there");
    assert_eq!((runtime.controller(), runtime.observers().len()), (None, 1));
}

#[test]
fn narrowing_ends_what_is_out_of_scope_and_takes_from_the_rest() {
    let (inside, mut server) = with_runtime(main("main-1"));
    let outside = server.publish(Options::main("main-2", "/home/dev/other"));
    let kept = attach(&mut server, &inside, json!({}));
    let ended = attach(&mut server, &outside, json!({}));
    server.at(&ended, "takeControl", json!({})).result();
    server.at(&kept, "takeControl", json!({})).result();
    let narrower = json!({ "authority": { "permissions": ["observe", "approve"], "workspaces": [WORKSPACE] } });
    server.request("authority/narrow", narrower).result();
    assert_eq!(server.event(&ended)["kind"], "disconnected");
    outside.wait_observers(0);
    outside.wait_streams(0);
    assert_eq!(outside.controller(), None);
    server.at(&ended, "lease", json!({})).error().is(-32001, "not_found");
    server.at(&kept, "lease", json!({})).result();
    assert_eq!(told(&inside, "lease").last().unwrap(), "observe,approve");
    inside.emit("text_delta", json!({ "text": "still" }));
    assert_eq!(server.event(&kept)["payload"]["text"], "still");
    server.request("authority/narrow", json!({ "authority": { "permissions": ["approve"] } })).result();
    assert_eq!(server.event(&kept)["kind"], "disconnected");
    inside.wait_observers(0);
    server.pong();
}

#[test]
fn narrowing_counts_for_an_attach_on_its_way() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    for (narrower, is_there) in
        [(json!({ "permissions": ["observe"] }), true), (json!({ "workspaces": ["/elsewhere"] }), false)]
    {
        let name = narrower.to_string();
        runtime.misbehave_times(Route::Rpc("attach".to_owned()), 1, Bad::Held(name.clone()));
        let id = server.ask_attach(&runtime, json!({ "clientId": "anna" }));
        runtime.wait_held(&name);
        server.request("authority/narrow", json!({ "authority": narrower })).result();
        runtime.release(&name);
        let answer = server.answer(id);
        if !is_there {
            answer.error().is(-32001, "not_found");
            runtime.wait_observers(0);
            continue;
        }
        let at = answer.result()["attachment"].take();
        server.at(&at, "lease", json!({})).result();
        assert_eq!(told(&runtime, "lease").last().unwrap(), "observe");
        server.at(&at, "detach", json!({})).result();
        // What the server does of its own for the attachment is as narrow.
        assert_eq!(told(&runtime, "detach").last().unwrap(), "observe");
    }
}
