//! Joining a runtime: which one, as whom, with what, and what is left where it fails.

use crate::support::runtime::{Bad, Options, Receipt, Route, Runtime, Step};
use crate::support::{DRIVER, Home, Server, Spawn, WORKSPACE, plain, receipts, serve, with_runtime};
use serde_json::{Value, json};

const SESSION: &str = "0b7a3a1e-0000-4000-9000-00000000c0de";

fn main(id: &str) -> Options {
    Options::main(id, WORKSPACE)
}

/// The source of a runtime as a client says it.
fn source(runtime: &Runtime) -> Value {
    let source = &runtime.options().source;
    json!({ "harness": source.harness, "sessionId": source.session_id, "workspace": source.workspace })
}

fn endpoint(server: &mut Server, at: usize) -> Value {
    server.request("runtime/receipts", json!({})).result()["receipts"][at]["endpoint"].take()
}

fn cancel(server: &mut Server, id: i64) {
    server.notify("$/cancelRequest", json!({ "id": id }));
    server.answer(id).error().is(-32800, "cancelled");
}

#[test]
fn the_answer_is_all_that_a_client_needs() {
    let hosted = Options::hosted("gemini", "hosted-1", WORKSPACE);
    for (name, mut options) in [("main", main("main-1")), ("hosted", hosted)] {
        options.history = vec![json!({ "role": "user", "content": "before" })];
        let (runtime, mut server) = with_runtime(options);
        runtime.prompt("hello");
        runtime.wait_turns(1);
        runtime.emit("text_delta", json!({ "text": "later" }));
        insta::assert_json_snapshot!(name, plain(server.attach(&runtime, json!({ "clientId": "anna" }))));
        assert!(plain(server.attach(&runtime, json!({})))["clientId"] == "[minted]");
    }
}

#[test]
fn a_runtime_has_several_names() {
    let home = Home::new();
    home.project("-home-dev-demo", WORKSPACE).session(SESSION, "Mend the roof", 60);
    let mut server = serve(home);
    let mut options = Options::hosted("claude-code", "hosted-1", WORKSPACE);
    options.source.session_id = SESSION.to_owned();
    let runtime = server.publish(options);
    let (endpoint, source) = (endpoint(&mut server, 0), source(&runtime));
    for name in [
        json!({ "id": "hosted-1" }),
        json!({ "id": format!("claude-code:{SESSION}") }),
        json!({ "runtimeId": "hosted-1" }),
        json!({ "endpoint": endpoint, "source": source }),
        json!({ "endpoint": endpoint, "source": source, "id": null }),
    ] {
        let joined = server.request_unchecked("runtime/attach", name).result();
        assert_eq!(joined["descriptor"]["session_id"], "hosted-1");
    }
    assert_eq!(runtime.observers().len(), 5);
    for wrong in [
        json!({}),
        json!({ "id": "hosted-1", "runtimeId": "hosted-1" }),
        json!({ "endpoint": endpoint }),
        json!({ "source": source }),
        json!({ "id": "hosted-1", "source": source }),
        json!({ "runtimeId": "hosted-1", "endpoint": endpoint, "source": source }),
        json!({ "id": 1 }),
        json!({ "endpoint": 1, "source": source }),
        json!({ "endpoint": endpoint, "source": [] }),
        json!({ "endpoint": endpoint, "source": { "harness": "gemini" } }),
        json!({ "endpoint": endpoint, "source": { "harness": "emacs", "sessionId": "s", "workspace": "/" } }),
    ] {
        server.request_unchecked("runtime/attach", wrong).error().is(-32602, "invalid_params");
    }
    for malformed in ["", "supercode-live://", "supercode-live://../../x", "SUPERCODE-LIVE://0", &"0".repeat(32)] {
        let params = json!({ "endpoint": malformed, "source": source });
        server.request("runtime/attach", params).error().is(-32018, "invalid_endpoint");
    }
    let capital = endpoint.as_str().unwrap().to_uppercase().replace("SUPERCODE-LIVE", "supercode-live");
    let longer = format!("{}0", endpoint.as_str().unwrap());
    for malformed in [capital, longer] {
        let params = json!({ "endpoint": malformed, "source": source });
        server.request("runtime/attach", params).error().is(-32018, "invalid_endpoint");
    }
}

#[test]
fn what_is_out_of_scope_is_answered_exactly_as_what_is_not_there() {
    let home = Home::new();
    home.project("-home-dev-demo", WORKSPACE).session(SESSION, "Mend the roof", 60);
    let mut inside = serve(home);
    let runtime = inside.publish(main("main-1"));
    let (known, source) = (endpoint(&mut inside, 0), source(&runtime));
    let unknown = json!(format!("supercode-live://{}", "0".repeat(32)));
    let environment = [("HOME".into(), inside.home.path().into())];
    let outside = Spawn::empty().only_env(environment).args(["--allow", DRIVER, "--workspace", "/elsewhere"]);
    let mut outside = outside.open();
    let mut answer = |params: Value, name: &str| {
        let refused = outside.request("runtime/attach", params).error();
        (refused.code, refused.reason, refused.message.replace(name, "[name]"))
    };
    let session = format!("claude-code:{SESSION}");
    for (there, nowhere) in [
        (json!({ "id": "main-1" }), json!({ "id": "main-2" })),
        (json!({ "runtimeId": "main-1" }), json!({ "runtimeId": "main-2" })),
        (json!({ "id": session }), json!({ "id": "claude-code:main-2" })),
        (json!({ "endpoint": known, "source": source }), json!({ "endpoint": unknown, "source": source })),
    ] {
        let name = |params: &Value| params.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned();
        let (a, b) = (name(&there), name(&nowhere));
        assert_eq!(answer(there, &a), answer(nowhere, &b));
    }
    assert_eq!(answer(json!({ "runtimeId": "main-1" }), "x").1, "not_found");
    // A source in scope does not open a receipt out of it.
    let mut lie = source.clone();
    lie["workspace"] = json!("/elsewhere");
    let lied = answer(json!({ "endpoint": known, "source": lie }), known.as_str().unwrap());
    assert_eq!(lied, answer(json!({ "endpoint": unknown, "source": lie }), unknown.as_str().unwrap()));
    assert!(runtime.observers().is_empty() && runtime.seen_rpc("attach").is_empty());
    inside.attach(&runtime, json!({}));
}

#[test]
fn an_id_that_two_claim_is_refused_and_each_is_there_by_its_endpoint() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    let twin = server.publish(main("main-1"));
    for params in [json!({ "id": "main-1" }), json!({ "runtimeId": "main-1" })] {
        server.request("runtime/attach", params).error().is(-32005, "ambiguous_runtime");
    }
    for at in 0..2 {
        let params = json!({ "endpoint": endpoint(&mut server, at), "source": source(&runtime), "clientId": "anna" });
        server.request("runtime/attach", params).result();
    }
    assert_eq!((runtime.observers(), twin.observers()), (vec!["anna".to_owned()], vec!["anna".to_owned()]));
}

#[test]
fn what_answers_must_be_what_is_meant() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    let endpoint = endpoint(&mut server, 0);
    for (member, other) in [("sessionId", "main-2"), ("harness", "gemini"), ("workspace", "/home/dev/other")] {
        let mut source = source(&runtime);
        source[member] = json!(other);
        let params = json!({ "endpoint": endpoint, "source": source });
        server.request("runtime/attach", params).error().is(-32004, "identity_mismatch");
    }
    assert_eq!(runtime.connections(), 0, "nothing was dialled");
    let lies = [("/result/descriptor/session_id", json!("main-2")), ("/result/descriptor/source_harness", json!("pi"))];
    for (pointer, lie) in lies {
        runtime.misbehave_times(Route::Rpc("attach".to_owned()), 1, Bad::lie(pointer, lie));
        let id = server.ask_attach(&runtime, json!({ "clientId": "anna" }));
        server.answer(id).error().is(-32004, "identity_mismatch");
        runtime.wait_streams(0);
        runtime.wait_observers(0);
    }
    for harness in [json!(null), json!("supercode")] {
        let bad = Bad::lie("/result/descriptor/source_harness", harness);
        runtime.misbehave_times(Route::Rpc("attach".to_owned()), 1, bad);
        let joined = server.attach(&runtime, json!({ "clientId": "anna" }));
        server.at(&joined["attachment"], "detach", json!({})).result();
    }
}

#[test]
fn no_more_history_than_asked_for() {
    for mut options in [main("main-1"), Options::hosted("gemini", "main-1", WORKSPACE)] {
        options.history = (0..300).map(|number| json!({ "role": "user", "content": number.to_string() })).collect();
        let (runtime, mut server) = with_runtime(options);
        for (limit, count) in [(json!(0), 0), (json!(1), 1), (json!(200), 200), (json!(null), 50)] {
            let params = json!({ "runtimeId": "main-1", "historyLimit": limit });
            let history = server.request_unchecked("runtime/attach", params).result()["history"].take();
            let history = history.as_array().unwrap();
            assert_eq!(history.len(), count);
            assert!(history.last().is_none_or(|newest| newest["content"] == "299"));
        }
        for limit in [json!(201), json!(-1), json!(1.5), json!("1"), json!(1_u64 << 63)] {
            let params = json!({ "runtimeId": "main-1", "historyLimit": limit });
            server.request_unchecked("runtime/attach", params).error().is(-32602, "invalid_params");
        }
        assert_eq!(runtime.streams().len(), 4);
    }
}

#[test]
fn a_name_is_used_once_at_a_runtime() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    let other = server.publish(main("main-2"));
    for wrong in ["", "a b", "ä", "a/b", &"a".repeat(129), "a\r\nx-evil: 1"] {
        let params = json!({ "runtimeId": "main-1", "clientId": wrong });
        server.request("runtime/attach", params).error().is(-32602, "invalid_params");
    }
    for right in ["a", "A-Z.0_9", &"a".repeat(128)] {
        assert_eq!(server.attach(&runtime, json!({ "clientId": right }))["clientId"], right);
    }
    let busy = |server: &mut Server| {
        let id = server.ask_attach(&runtime, json!({ "clientId": "anna" }));
        server.answer(id).error().is(-32008, "busy");
    };
    let first = server.attach(&runtime, json!({ "clientId": "anna" }));
    server.attach(&other, json!({ "clientId": "anna" }));
    busy(&mut server);
    // Free after detaching, after the end of the stream, and after an attach that failed.
    server.at(&first["attachment"], "detach", json!({})).result();
    let second = server.attach(&runtime, json!({ "clientId": "anna" }));
    busy(&mut server);
    runtime.cut();
    assert_eq!(server.event(&second["attachment"])["kind"], "disconnected");
    for method in ["attach", "lease"] {
        for bad in [Bad::Close, Bad::Status(500, crate::support::runtime::Flavour::Main), Bad::InvalidJson] {
            runtime.misbehave_times(Route::Rpc(method.to_owned()), 1, bad);
            let id = server.ask_attach(&runtime, json!({ "clientId": "anna" }));
            server.answer(id).error();
        }
    }
    runtime.misbehave_times(Route::Events, 1, Bad::Close);
    let id = server.ask_attach(&runtime, json!({ "clientId": "anna" }));
    server.answer(id).error().is(-32013, "transport");
    server.attach(&runtime, json!({ "clientId": "anna" }));
    assert_eq!(runtime.streams().len(), 1, "those of the others were cut");
    assert_eq!(runtime.observers(), ["anna"]);
}

#[test]
fn a_cancelled_attach_leaves_nothing() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    let anna = json!({ "clientId": "anna" });
    // While the stream opens.
    runtime.misbehave_times(Route::Events, 1, Bad::Silent);
    let id = server.ask_attach(&runtime, anna.clone());
    runtime
        .wait("the stream's request", |state| state.seen.iter().any(|seen| seen.line.starts_with("GET")).then_some(()));
    cancel(&mut server, id);
    // While the snapshot is on its way, and while the lease is.
    for (number, method) in ["attach", "lease"].into_iter().enumerate() {
        let name = format!("held-{number}");
        runtime.misbehave_times(Route::Rpc(method.to_owned()), 1, Bad::Held(name.clone()));
        let id = server.ask_attach(&runtime, anna.clone());
        runtime.wait_held(&name);
        assert_eq!((runtime.streams(), runtime.observers()), (vec!["anna".to_owned()], vec!["anna".to_owned()]));
        cancel(&mut server, id);
        runtime.wait_streams(0);
        runtime.wait_observers(0);
        runtime.release(&name);
    }
    // The name is free at once, and nobody is told anything of what never came to be.
    let joined = server.attach(&runtime, anna);
    runtime.emit("text_delta", json!({ "text": "hello" }));
    assert_eq!(server.event(&joined["attachment"])["payload"]["text"], "hello");
    assert_eq!(runtime.observers(), ["anna"]);
    server.pong();
}

#[test]
fn a_notification_cannot_attach() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    server.send(
        &json!({ "jsonrpc": "2.0", "method": "runtime/attach", "params": { "id": "main-1", "clientId": "anna" } }),
    );
    runtime.wait_seen("detach", 1);
    runtime.wait_observers(0);
    server.attach(&runtime, json!({ "clientId": "anna" }));
}

#[test]
fn a_client_has_so_many_attachments_at_most() {
    let mut server = Spawn::empty().args(["--allow", DRIVER, "--limit", "attachments=2"]).open();
    let runtime = server.publish(main("main-1"));
    for _ in 0..20 {
        let attach =
            |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "runtime/attach", "params": { "id": "main-1" } });
        server.send(&json!([attach(901), attach(902), attach(903)]));
        let answers = server.expect_frame();
        let (joined, refused): (Vec<&Value>, Vec<&Value>) =
            answers.as_array().unwrap().iter().partition(|answer| answer.get("result").is_some());
        assert_eq!((joined.len(), refused.len()), (2, 1), "{answers}");
        assert_eq!(refused[0]["error"]["data"]["reason"], "limit");
        for answer in joined {
            server.at(&answer["result"]["attachment"], "detach", json!({})).result();
        }
    }
    // One that failed does not count.
    runtime.misbehave_times(Route::Rpc("attach".to_owned()), 2, Bad::Close);
    for _ in 0..2 {
        let id = server.ask_attach(&runtime, json!({}));
        server.answer(id).error();
    }
    server.attach(&runtime, json!({}));
    server.attach(&runtime, json!({}));
}

#[test]
fn the_answer_precedes_the_first_event_also_in_a_batch() {
    for mut options in [main("main-1"), Options::hosted("gemini", "main-1", WORKSPACE)] {
        options = options.on("many", [Step::Flood(500)]);
        let (runtime, mut server) = with_runtime(options);
        runtime.misbehave(Route::Rpc("lease".to_owned()), Bad::Held("lease".to_owned()));
        let id = server.ask_attach(&runtime, json!({}));
        let batch = json!([
            { "jsonrpc": "2.0", "id": 901, "method": "runtime/attach", "params": { "id": "main-1" } },
            { "jsonrpc": "2.0", "id": 902, "method": "registry/list" },
        ]);
        server.send(&batch);
        runtime.wait_streams(2);
        // The list asks, too.
        runtime.wait_seen("lease", 3);
        runtime.prompt("many");
        runtime.wait_turns(1);
        runtime.release("lease");
        let mut known = vec![];
        let mut last = vec![];
        while last.len() < 2 {
            let frame = server.expect_frame();
            if frame["method"] == "runtime/event" {
                let at = known.iter().position(|one| one == &frame["params"]["attachment"]);
                assert!(at.is_some(), "an event before its attachment: {frame}");
                if frame["params"]["event"]["kind"] == "turn_succeeded" {
                    last.push(at);
                }
                continue;
            }
            let answers = frame.as_array().cloned().unwrap_or_else(|| vec![frame.clone()]);
            assert_eq!(answers.len() == 1, answers[0]["id"] == id);
            known.extend(
                answers.into_iter().map(|mut answer| answer["result"]["attachment"].take()).filter(Value::is_string),
            );
        }
    }
}

#[test]
fn a_runtime_that_cannot_be_reached_is_told_so() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    runtime.refuse();
    let id = server.ask_attach(&runtime, json!({}));
    server.answer(id).error().is(-32013, "transport");
    runtime.listen();
    for (route, bad, code, reason) in [
        (Route::Events, Bad::Status(401, crate::support::runtime::Flavour::Main), -32016, "unauthenticated"),
        (Route::Events, Bad::Status(401, crate::support::runtime::Flavour::Hosted), -32016, "unauthenticated"),
        (Route::Events, Bad::Redirect(307, "http://127.0.0.1:1/".to_owned()), -32013, "transport"),
        (Route::Rpc("attach".to_owned()), Bad::Oversize(1 << 40), -32033, "too_large"),
        (Route::Rpc("attach".to_owned()), Bad::HalfBody, -32013, "transport"),
        (
            Route::Rpc("attach".to_owned()),
            Bad::Error(json!({ "code": -32010, "name": "transport", "message": "event replay gap: 1" })),
            -32013,
            "transport",
        ),
    ] {
        runtime.misbehave_times(route, 1, bad);
        let id = server.ask_attach(&runtime, json!({ "clientId": "anna" }));
        server.answer(id).error().is(code, reason);
        runtime.wait_streams(0);
        runtime.wait_observers(0);
    }
    let elsewhere = Receipt::new(runtime.options(), &runtime.base_url()).with("/token", "another-token-of-some-length");
    runtime.retract();
    elsewhere.write(&receipts(&server.home));
    let id = server.ask_attach(&runtime, json!({}));
    server.answer(id).error().is(-32016, "unauthenticated");
}
