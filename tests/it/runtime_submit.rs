//! Running a turn and waiting for its end.

use crate::support::runtime::{Bad, Options, Route, Runtime, Step};
use crate::support::{Server, WORKSPACE, with_runtime};
use serde_json::{Value, json};

fn options() -> Options {
    Options::main("main-1", WORKSPACE)
        .on("wait", [Step::Hold("turn".into()), Step::Text("waited".into())])
        .on("fail", [Step::Fail("no model answers".into())])
        .on("review", [Step::Hold("turn".into()), Step::Text("reviewed".into())])
}

#[test]
fn the_answer_waits_for_the_end_of_the_turn() {
    for (name, options) in [
        ("main", options()),
        ("hosted", {
            let mut hosted = Options::hosted("gemini", "main-1", WORKSPACE);
            hosted.scripts = options().scripts;
            hosted
        }),
    ] {
        let (runtime, mut server) = with_runtime(options);
        let at = server.attach(&runtime, json!({}))["attachment"].take();
        let turn = server.ask_at(&at, "submit", json!({ "prompt": "wait" }));
        runtime.wait_held("turn");
        // Others are answered meanwhile, and a second turn is refused.
        server.at(&at, "lease", json!({})).result();
        for method in ["submit", "sendInput"] {
            let refused = server.at(&at, method, json!({ "prompt": "again" })).error();
            refused.is(-32008, "busy");
            assert!(refused.message.contains("`runtime/steer`"), "{}", refused.message);
        }
        let kinds = |events: Vec<Value>| events.into_iter().map(|mut event| event["kind"].take()).collect::<Vec<_>>();
        assert_eq!(kinds(server.events_to(&at, "turn_started")), ["user_message", "turn_started"]);
        server.pong();
        runtime.release("turn");
        assert_eq!(server.answer(turn).result(), json!({ "reply": "waited" }), "{name}");
        assert!(kinds(server.events_to(&at, "turn_succeeded")).contains(&json!("text_delta")));
        // An empty prompt is the runtime's to judge.
        assert_eq!(server.at(&at, "submit", json!({ "prompt": "" })).result(), json!({ "reply": "echo: " }));
    }
}

/// A runtime that answers each submit immediately with a number, as one of Supercode 0.5.150 that an ACP agent backs.
fn answering_with(number: Value) -> (Runtime, Server) {
    let text = |text: &str| Step::Text(text.into());
    let options = Options::hosted("gemini", "main-1", WORKSPACE)
        .on("work", [text("part0 "), Step::Hold("turn".into()), text("part1")])
        .on("fail", [text("part0 "), Step::Fail("no model answers".into())]);
    let (runtime, server) = with_runtime(options);
    let body = json!({ "id": 1, "result": { "reply": number } }).to_string();
    runtime.misbehave(Route::Rpc("submit".into()), Bad::Body(body.into_bytes()));
    (runtime, server)
}

#[test]
fn number_as_an_answer_waits_for_the_end_of_the_turn() {
    for number in [json!("7"), json!(7)] {
        let (runtime, mut server) = answering_with(number);
        let at = server.attach(&runtime, json!({}))["attachment"].take();
        let turn = server.ask_at(&at, "submit", json!({ "prompt": "work" }));
        runtime.wait_seen("submit", 1);
        runtime.prompt("work");
        runtime.wait_held("turn");
        server.events_to(&at, "text_delta");
        server.pong();
        runtime.release("turn");
        assert_eq!(server.answer(turn).result(), json!({ "reply": "part0 part1" }));
        // The next turn may end before it was answered that it began.
        let turn = server.ask_at(&at, "submit", json!({ "prompt": "fail" }));
        runtime.wait_seen("submit", 2);
        runtime.prompt("fail");
        let failed = server.answer(turn).error();
        assert!(failed.is(-32014, "execution").message.contains("no model answers"), "{}", failed.message);
        let turn = server.ask_at(&at, "submit", json!({ "prompt": "work" }));
        runtime.wait_seen("submit", 3);
        runtime.prompt("other");
        assert_eq!(server.answer(turn).result(), json!({ "reply": "echo: other" }));
    }
}

#[test]
fn number_as_an_answer_fails_where_the_stream_ends_within_the_turn() {
    let (runtime, mut server) = answering_with(json!("7"));
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    let turn = server.ask_at(&at, "submit", json!({ "prompt": "work" }));
    runtime.wait_seen("submit", 1);
    runtime.prompt("work");
    server.events_to(&at, "text_delta");
    runtime.refuse();
    runtime.cut();
    server.answer(turn).error().is(-32013, "transport");
}

#[test]
fn a_turn_that_fails_or_is_interrupted_says_so() {
    let (runtime, mut server) = with_runtime(options());
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    let failed = server.at(&at, "submit", json!({ "prompt": "fail" })).error();
    failed.is(-32014, "execution");
    assert!(failed.message.contains("no model answers"), "{}", failed.message);
    assert_eq!(server.at(&at, "interrupt", json!({})).result(), json!({ "interrupted": false }));
    let turn = server.ask_at(&at, "submit", json!({ "prompt": "wait" }));
    runtime.wait_held("turn");
    assert_eq!(server.at(&at, "interrupt", json!({})).result(), json!({ "interrupted": true }));
    let interrupted = server.answer(turn).error();
    interrupted.is(-32014, "execution");
    assert!(interrupted.message.contains("interrupted"), "{}", interrupted.message);
    server.events_to(&at, "turn_interrupted");
}

#[test]
fn cancelling_stops_the_waiting_and_not_the_turn() {
    let operation = json!({ "kind": "prompt", "operation_id": "prompt:code-review", "arguments": "x" });
    for (method, more) in [("submit", json!({ "prompt": "wait" })), ("invoke", json!({ "operation": operation }))] {
        let (runtime, mut server) = with_runtime(options().on("/code-review", [Step::Hold("turn".into())]));
        let at = server.attach(&runtime, json!({}))["attachment"].take();
        let open = runtime.open_connections();
        let turn = server.ask_at(&at, method, more);
        runtime.wait_held("turn");
        server.notify("$/cancelRequest", json!({ "id": turn }));
        server.answer(turn).error().is(-32800, "cancelled");
        server.at(&at, "lease", json!({})).result();
        assert_eq!(runtime.open_connections(), open + 1, "the runtime sees nobody leave");
        runtime.release("turn");
        server.events_to(&at, "turn_succeeded");
        runtime.wait_turns(1);
        server.pong();
    }
}

#[test]
fn the_end_of_input_answers_who_waits_at_once() {
    let operation = json!({ "kind": "prompt", "operation_id": "prompt:code-review", "arguments": "x" });
    for (method, more) in [("submit", json!({ "prompt": "wait" })), ("invoke", json!({ "operation": operation }))] {
        let (runtime, mut server) = with_runtime(options().on("/code-review", [Step::Hold("turn".into())]));
        let at = server.attach(&runtime, json!({}))["attachment"].take();
        let turn = server.ask_at(&at, method, more);
        runtime.wait_held("turn");
        server.close_input();
        let cancelled = server.answer(turn).error();
        cancelled.is(-32800, "cancelled");
        runtime.wait_observers(0);
        assert_eq!(runtime.controller(), None);
        assert_eq!(server.exit_code(), 0);
        runtime.release("turn");
        runtime.wait_turns(1);
    }
}

#[test]
fn the_end_of_input_answers_all_else_that_was_read() {
    for asked in [
        json!({ "method": "runtime/describe", "params": { "id": "main-1" } }),
        json!({ "method": "runtime/attach", "params": { "id": "main-1" } }),
    ] {
        let (runtime, mut server) = with_runtime(options());
        let route = asked["method"].as_str().unwrap().trim_start_matches("runtime/").to_owned();
        runtime.misbehave_times(Route::Rpc(route.clone()), 1, Bad::Held(route.clone()));
        let id = server.ask(asked["method"].as_str().unwrap(), asked["params"].clone());
        runtime.wait_held(&route);
        server.close_input();
        runtime.release(&route);
        server.answer(id).result();
        assert_eq!(server.exit_code(), 0);
        runtime.wait_observers(0);
        runtime.wait_streams(0);
    }
}

#[test]
fn images_go_as_they_came() {
    let (runtime, mut server) = with_runtime(options());
    let at = server.attach(&runtime, json!({}))["attachment"].take();
    let images = json!(["data:image/png;base64,AAAA", "https://example.org/a.png"]);
    for method in ["submit", "sendInput"] {
        server.at(&at, method, json!({ "prompt": "look", "images": images })).result();
        runtime.wait_turns(if method == "submit" { 1 } else { 2 });
    }
    for method in ["submit", "send_input"] {
        let body: Value = serde_json::from_slice(&runtime.seen_rpc(method)[0].body).unwrap();
        assert_eq!(body["params"], json!({ "prompt": "look", "image_urls": images }));
    }
    // Only sending checks them at the runtime.
    for wrong in
        [json!(["file:///etc/passwd"]), json!(["https://a", "https://a", "https://a", "https://a", "https://a"])]
    {
        let refused = server.at(&at, "sendInput", json!({ "prompt": "look", "images": wrong })).error();
        refused.is(-32015, "invalid_argument");
    }
    let huge = "x".repeat(15 << 20);
    server.at(&at, "sendInput", json!({ "prompt": huge })).result();
    for wrong in
        [json!({ "prompt": 1 }), json!({}), json!({ "prompt": "x", "images": "https://a" }), json!({ "prompt": null })]
    {
        let mut params = wrong;
        params["attachment"] = at.clone();
        server.request_unchecked("runtime/submit", params).error().is(-32602, "invalid_params");
    }
}
