//! Who drives: taking control, keeping it, losing it, letting it go.

use crate::support::runtime::{Options, Process, Runtime};
use crate::support::{DEADLINE, Server, WORKSPACE, beside, plain, receipts, with_runtime};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::time::Instant;

fn main() -> Options {
    Options::main("main-1", WORKSPACE)
}

/// A runtime at which control lapses soon.
fn hasty() -> Options {
    Options { lease_ttl_ms: 300, ..main() }
}

fn attach(server: &mut Server, runtime: &Runtime, client: &str, more: Value) -> Value {
    let mut params = json!({ "clientId": client });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    server.attach(runtime, params)["attachment"].take()
}

fn controller(server: &mut Server, attachment: &Value) -> Value {
    server.at(attachment, "lease", json!({})).result()["lease"]["controller"]["clientId"].take()
}

/// Waits until so many more heartbeats came.
fn heartbeats(runtime: &Runtime, more: usize) {
    let count = runtime.seen_rpc("heartbeat").len();
    runtime.wait_seen("heartbeat", count + more);
}

#[test]
fn leases_in_full() {
    let (runtime, mut server) = with_runtime(main());
    let anna = attach(&mut server, &runtime, "anna", json!({}));
    let ben = attach(&mut server, &runtime, "ben", json!({}));
    let mut told = vec![];
    for (client, method) in [
        (&anna, "lease"),
        (&anna, "heartbeat"),
        (&anna, "acquireControl"),
        (&anna, "acquireControl"),
        (&ben, "acquireControl"),
        (&ben, "heartbeat"),
        (&ben, "takeControl"),
        (&anna, "acquireControl"),
        (&ben, "detach"),
        (&anna, "acquireControl"),
        (&anna, "detach"),
        (&anna, "detach"),
        (&anna, "takeControl"),
    ] {
        let mut whole = plain(server.at(client, method, json!({})).whole());
        whole.as_object_mut().unwrap().retain(|name, _| name == "result" || name == "error");
        told.push(json!({ method: whole }));
    }
    insta::assert_json_snapshot!(told);
    runtime.wait_observers(0);
}

#[test]
fn control_is_kept_while_it_is_held() {
    let (runtime, mut server) = with_runtime(hasty());
    let anna = attach(&mut server, &runtime, "anna", json!({}));
    assert!(runtime.seen_rpc("heartbeat").is_empty());
    server.at(&anna, "acquireControl", json!({})).result();
    for _ in 0..12 {
        heartbeats(&runtime, 1);
        assert_eq!(runtime.controller().as_deref(), Some("anna"));
    }
    // What failed for want of another permission changes nothing.
    let narrow = attach(&mut server, &runtime, "cleo", json!({ "permissions": ["observe", "interact"] }));
    server.at(&narrow, "takeControl", json!({})).result();
    let response = json!({ "kind": "approval", "requestId": 1, "decision": "deny" });
    let refused = server.at(&narrow, "respond", json!({ "response": response })).error();
    assert_eq!(refused.is(-32000, "unauthorized").data["permission"], "approve");
    for _ in 0..12 {
        heartbeats(&runtime, 1);
        assert_eq!(runtime.controller().as_deref(), Some("cleo"));
    }
    // Driving takes it, too, and it is kept from then on.
    server.at(&narrow, "detach", json!({})).result();
    server.at(&anna, "sendInput", json!({ "prompt": "hello" })).result();
    for _ in 0..12 {
        heartbeats(&runtime, 1);
        assert_eq!(runtime.controller().as_deref(), Some("anna"));
    }
}

#[test]
fn asking_who_drives_again_and_again_does_not_put_off_the_renewal() {
    let (runtime, mut server) = with_runtime(hasty());
    let anna = attach(&mut server, &runtime, "anna", json!({}));
    server.at(&anna, "takeControl", json!({})).result();
    let began = Instant::now();
    while runtime.seen_rpc("heartbeat").len() < 3 {
        assert!(began.elapsed() < DEADLINE, "control is not renewed");
        controller(&mut server, &anna);
    }
}

#[test]
fn control_that_is_not_renewed_lapses_and_only_taking_it_helps() {
    let (runtime, mut server) = with_runtime(Options { manual_clock: true, ..main() });
    let anna = attach(&mut server, &runtime, "anna", json!({ "autoRenew": false }));
    server.at(&anna, "acquireControl", json!({})).result();
    runtime.advance(29_999);
    assert_eq!(controller(&mut server, &anna), "anna");
    server.at(&anna, "heartbeat", json!({})).result();
    runtime.advance(29_999);
    assert_eq!(controller(&mut server, &anna), "anna", "who asks for it renews it");
    runtime.advance(1);
    assert_eq!(controller(&mut server, &anna), Value::Null);
    for (method, more) in
        [("acquireControl", json!({})), ("sendInput", json!({ "prompt": "x" })), ("submit", json!({ "prompt": "x" }))]
    {
        let lapsed = server.at(&anna, method, more).error();
        lapsed.is(-32007, "lease_expired");
        assert!(lapsed.message.contains("`runtime/takeControl`"), "{}", lapsed.message);
    }
    server.at(&anna, "heartbeat", json!({})).result();
    assert_eq!(controller(&mut server, &anna), Value::Null);
    server.at(&anna, "takeControl", json!({})).result();
    server.at(&anna, "sendInput", json!({ "prompt": "x" })).result();
    assert!(runtime.seen_rpc("heartbeat").len() == 2, "none but the client's own");
}

#[test]
fn who_does_not_drive_is_told_who_does_and_until_when() {
    let (runtime, mut server) = with_runtime(main());
    let anna = attach(&mut server, &runtime, "anna", json!({}));
    let ben = attach(&mut server, &runtime, "ben", json!({}));
    let lease = server.at(&anna, "acquireControl", json!({})).result()["lease"].take();
    let response = json!({ "kind": "approval", "requestId": 1, "decision": "deny" });
    let operation = json!({ "kind": "context", "operation_id": "context:usage" });
    for (method, more) in [
        ("acquireControl", json!({})),
        ("submit", json!({ "prompt": "x" })),
        ("sendInput", json!({ "prompt": "x" })),
        ("steer", json!({ "prompt": "x" })),
        ("interrupt", json!({})),
        ("respond", json!({ "response": response })),
        ("invoke", json!({ "operation": operation })),
    ] {
        let refused = server.at(&ben, method, more).error();
        refused.is(-32006, "controller_required");
        assert_eq!(
            (&refused.data["holder"], &refused.data["expiresAtMs"]),
            (&json!("anna"), &lease["controller"]["expiresAtMs"])
        );
        assert!(refused.message.contains("`anna`") && refused.message.contains("`runtime/takeControl`"));
    }
}

#[test]
fn renewal_stops_when_control_is_lost_or_given_up() {
    for how in ["taken", "narrowed", "detached", "cut"] {
        let (runtime, mut server) = with_runtime(hasty());
        let watcher = attach(&mut server, &runtime, "watcher", json!({ "autoRenew": false }));
        let anna = attach(&mut server, &runtime, "anna", json!({}));
        server.at(&anna, "acquireControl", json!({})).result();
        heartbeats(&runtime, 3);
        match how {
            "taken" => drop(server.at(&watcher, "takeControl", json!({})).result()),
            "narrowed" => {
                let kept = json!({ "authority": { "permissions": ["observe"] } });
                server.request("authority/narrow", kept).result();
            }
            "detached" => drop(server.at(&anna, "detach", json!({})).result()),
            _ => {
                runtime.cut();
                assert_eq!(server.event(&anna)["kind"], "disconnected");
            }
        }
        // One may have been on its way, and one more tells that control is another's. Another client's renewals measure
        // that no more come.
        let last =
            || runtime.seen_rpc("heartbeat").iter().filter(|seen| seen.client.as_deref() == Some("anna")).count();
        let other = beside(&server);
        let mut other = other;
        let cleo = attach(&mut other, &runtime, "cleo", json!({}));
        other.at(&cleo, "takeControl", json!({})).result();
        heartbeats(&runtime, 6);
        let settled = last();
        heartbeats(&runtime, 6);
        assert_eq!(last(), settled, "{how}");
        assert_eq!(runtime.controller().as_deref(), Some("cleo"));
    }
}

#[test]
fn control_goes_at_once_when_its_holder_does() {
    for how in ["detach", "end of input", "output closed", "SIGKILL", "SIGTERM", "exit"] {
        let (runtime, mut server) = with_runtime(main());
        let anna = attach(&mut server, &runtime, "anna", json!({}));
        server.at(&anna, "takeControl", json!({})).result();
        assert_eq!((runtime.controller().as_deref(), runtime.observers().len()), (Some("anna"), 1));
        match how {
            "detach" => {
                let lease = server.at(&anna, "detach", json!({})).result()["lease"].take();
                assert_eq!(lease, json!({ "observers": [], "leaseTtlMs": 30_000 }));
                assert_eq!((runtime.controller(), runtime.observers().len()), (None, 0));
            }
            "end of input" => server.close_input(),
            "output closed" => server.close_output(),
            "SIGKILL" => server.signal(Signal::SIGKILL),
            "SIGTERM" => server.signal(Signal::SIGTERM),
            _ => server.notify("exit", json!({})),
        }
        runtime.wait_observers(0);
        runtime.wait_streams(0);
        assert_eq!(runtime.controller(), None, "{how}");
    }
}

#[test]
fn a_request_on_its_way_is_not_heard_after_the_leave() {
    for _ in 0..30 {
        let (runtime, mut server) = with_runtime(main());
        let anna = attach(&mut server, &runtime, "anna", json!({}));
        let params = json!({ "attachment": anna });
        let call = |id: i64, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut batch: Vec<Value> = (901..908).map(|id| call(id, "runtime/takeControl")).collect();
        batch.push(call(908, "runtime/heartbeat"));
        batch.push(call(909, "runtime/detach"));
        server.send(&batch.into());
        server.expect_frame();
        assert_eq!((runtime.controller(), runtime.observers()), (None, vec![]));
    }
}

#[test]
fn a_runtime_that_is_killed_ends_its_attachments() {
    let home = crate::support::Home::new();
    let mut server = crate::support::serve(home);
    let options = main().on("wait", [crate::support::runtime::Step::Hold("for-ever".into())]);
    let mut runtime = Process::start(options, &receipts(&server.home));
    let anna = server.request("runtime/attach", json!({ "id": "main-1" })).result()["attachment"].take();
    let turn = server.ask_at(&anna, "submit", json!({ "prompt": "wait" }));
    assert_eq!(server.event(&anna)["kind"], "user_message");
    (0..50).for_each(|_| runtime.emit("text_delta", json!({ "text": "x" })));
    runtime.kill();
    server.answer(turn).error().is(-32013, "transport");
    let events = server.events_to(&anna, "disconnected");
    let told = events[..events.len() - 1].iter().map(|event| event["sequence"].as_u64().unwrap());
    assert!(told.eq(2..=events.len() as u64), "as far as it came, without a gap: {events:?}");
    server.at(&anna, "submit", json!({ "prompt": "x" })).error().is(-32001, "not_found");
    server.request("runtime/attach", json!({ "id": "main-1" })).error().is(-32001, "not_found");
}
