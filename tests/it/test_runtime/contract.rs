//! What the captures do not show of the contract.

use super::client::{Client, Reply, read_reply};
use crate::support::runtime::{Options, Runtime, SENTINEL_TOKEN, Step};
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::thread;

const APPROVE: &str = "approval";

fn main_runtime() -> Options {
    Options::main("main-1", "/home/dev/demo")
}

fn approval() -> Step {
    Step::Approval { tool: "bash".to_owned(), arguments: json!({ "command": "ls" }) }
}

fn answer(id: u64, decision: &str) -> Value {
    json!({ "response": { "kind": APPROVE, "request_id": id, "decision": decision } })
}

#[test]
fn a_connection_carries_many_requests_and_is_told_of() {
    let runtime = Runtime::start(main_runtime());
    let client = Client::new(&runtime, "c-1").narrowed("observe");
    let mut socket = BufReader::new(client.connect());
    for method in ["describe", "lease"] {
        socket.get_mut().write_all(&client.request(method, json!({}))).unwrap();
        assert!(read_reply(&mut socket).headers.contains(&"Connection: keep-alive".to_owned()));
    }
    let seen = runtime.seen();
    let told: Vec<_> = seen.iter().map(|seen| (seen.connection, seen.rpc.as_deref().unwrap())).collect();
    assert_eq!(told, [(1, "describe"), (1, "lease")]);
    let seen = &runtime.seen_rpc("lease")[0];
    assert_eq!((seen.client.as_deref(), seen.permissions.as_deref()), (Some("c-1"), Some("observe")));
    assert!(seen.authorization && seen.line == "POST /rpc");
    assert!(!format!("{seen:?}").contains(SENTINEL_TOKEN));
    assert_eq!((runtime.connections(), runtime.open_connections()), (1, 1));
    drop(socket);
    runtime.wait_open_connections(0);
}

#[test]
fn it_listens_on_the_other_loopback_too() {
    let runtime = Runtime::start(Options { ipv6: true, ..main_runtime() });
    assert!(runtime.base_url().starts_with("http://[::1]:"));
    Client::new(&runtime, "c").result("describe", json!({}));
}

#[test]
fn a_stream_makes_an_observer_and_its_end_takes_all_that_the_client_had() {
    let runtime = Runtime::start(main_runtime());
    let client = Client::new(&runtime, "c");
    let mut stream = client.listen("/frontend/events");
    client.result("acquire_control", json!({}));
    assert_eq!((runtime.streams(), runtime.observers()), (vec!["c".to_owned()], vec!["c".to_owned()]));
    assert_eq!(runtime.controller().as_deref(), Some("c"));
    // Whatever a client says on a stream ends it.
    stream.0.get_mut().write_all(b"x").unwrap();
    assert_eq!(stream.text(), None);
    runtime.wait_streams(0);
    runtime.wait_observers(0);
    assert_eq!(runtime.controller(), None);
}

#[test]
fn a_stream_without_the_right_to_look_is_refused() {
    let runtime = Runtime::start(main_runtime());
    let mut socket = Client::new(&runtime, "c").connect();
    let head = format!("GET /frontend/events HTTP/1.1\r\nAuthorization: Bearer {SENTINEL_TOKEN}\r\n");
    socket.write_all(format!("{head}x-supercode-permissions: interact\r\n\r\n").as_bytes()).unwrap();
    let reply = read_reply(&mut BufReader::new(socket));
    assert_eq!(reply.status, "HTTP/1.1 403 Forbidden");
    assert_eq!(reply.json()["error"]["permission"], "observe");
    assert_eq!(runtime.observers(), Vec::<String>::new());
}

#[test]
fn streams_are_kept_alive() {
    let runtime = Runtime::start(Options { keep_alive_ms: 1, ..main_runtime() });
    let mut stream = Client::new(&runtime, "c").listen("/frontend/events");
    assert_eq!(stream.line().as_deref(), Some(": keep-alive\n"));
    let runtime = Runtime::start(main_runtime());
    let mut stream = Client::new(&runtime, "c").listen("/frontend/events");
    runtime.keep_alive();
    assert_eq!(stream.line().as_deref(), Some(": keep-alive\n"));
}

#[test]
fn a_subscriber_that_lags_loses_its_stream() {
    let runtime = Runtime::start(main_runtime());
    let mut stream = Client::new(&runtime, "c").listen("/frontend/events");
    let events = 1500;
    (0..events).for_each(|_| runtime.emit_sized(16 << 10));
    let got = std::iter::from_fn(|| stream.text()).count();
    assert!(got < events, "{got}");
    runtime.wait_observers(0);
}

#[test]
fn what_the_ring_lost_is_told() {
    for (options, forgives) in [(main_runtime(), true), (Options::hosted("codex", "h-1", "/home/dev/demo"), false)] {
        let runtime = Runtime::start(Options { ring_size: 8, ..options });
        let client = Client::new(&runtime, "c");
        (0..8).for_each(|_| runtime.emit("text_delta", json!({ "text": "x" })));
        let snapshot = client.result("attach", json!({}));
        assert_eq!((snapshot["history_cursor"].as_u64(), snapshot["replay"].as_array().unwrap().len()), (Some(0), 8));
        runtime.emit("text_delta", json!({ "text": "x" }));
        let error = client.error("attach", json!({}));
        assert_eq!((error["code"].as_i64(), error["name"].as_str()), (Some(-32010), Some("transport")));
        // A main runtime's next turn puts all of it into the history.
        client.result("submit", json!({ "prompt": "hi" }));
        assert_eq!(client.call("attach", json!({})).get("result").is_some(), forgives);
    }
}

#[test]
fn who_is_refused_control_looks_on_all_the_same() {
    let runtime = Runtime::start(main_runtime());
    let (first, second) = (Client::new(&runtime, "a"), Client::new(&runtime, "b"));
    first.result("acquire_control", json!({}));
    let error = second.error("acquire_control", json!({}));
    assert_eq!((error["name"].as_str(), error["holder"].as_str()), (Some("controller_required"), Some("a")));
    assert_eq!(runtime.observers(), ["a", "b"]);
}

#[test]
fn exactly_one_answer_wins() {
    let options = main_runtime().on("ask", [approval(), Step::Succeed("{output}".to_owned())]);
    let runtime = Runtime::start(options);
    let client = Client::new(&runtime, "c");
    let _stream = client.listen("/frontend/events");
    client.result("send_input", json!({ "prompt": "ask" }));
    let id = runtime.wait_request();
    let answers: Vec<_> = thread::scope(|scope| {
        let asked: Vec<_> = (0..8).map(|_| scope.spawn(|| client.call("respond", answer(id, "allow")))).collect();
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|answer| answer.get("result").is_some()).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer["error"]["name"] == "not_found").count(), 7);
}

#[test]
fn the_last_subscriber_to_leave_denies_what_waits() {
    let options = main_runtime().on("ask", [approval(), Step::Succeed("{output}".to_owned())]);
    let runtime = Runtime::start(options);
    let client = Client::new(&runtime, "c");
    let (first, second) = (client.listen("/frontend/events"), Client::new(&runtime, "d").listen("/frontend/events"));
    runtime.prompt("ask");
    runtime.wait_request();
    drop(first);
    runtime.wait_streams(1);
    assert_eq!(client.result("describe", json!({}))["turn_state"], "busy");
    drop(second);
    runtime.wait_turns(1);
    let replay = client.result("attach", json!({}))["replay"].take();
    assert_eq!(replay[1]["payload"]["response"]["decision"], "deny");
    assert_eq!(replay[2]["payload"]["reply"], "deny");
}

#[test]
fn forms_are_asked_for_and_filled_in() {
    let form = Step::Elicitation { message: "which?".to_owned(), schema: json!({ "type": "object" }) };
    let runtime = Runtime::start(main_runtime().on("form", [form, Step::Succeed("{output}".to_owned())]));
    let client = Client::new(&runtime, "c");
    let mut stream = client.listen("/frontend/events");
    client.result("send_input", json!({ "prompt": "form" }));
    let id = runtime.wait_request();
    let response =
        json!({ "kind": "elicitation", "request_id": id, "action": "accept", "content": { "which": "that" } });
    client.result("respond", json!({ "response": response }));
    stream.expect("user_message");
    stream.expect("turn_started");
    let asked = stream.expect("request")["payload"]["request"].take();
    let payload = json!({ "message": "which?", "requested_schema": { "type": "object" } });
    assert_eq!(asked, json!({ "id": id, "kind": "elicitation", "payload": payload }));
    assert_eq!(stream.expect("request_resolved")["payload"]["response"], response);
    assert_eq!(stream.expect("turn_succeeded")["payload"]["reply"], "accept");
}

#[test]
fn a_hosted_claude_asks_with_great_numbers() {
    let runtime = Runtime::start(Options::hosted("claude-code", "h-1", "/home/dev/demo").on("ask", [approval()]));
    let client = Client::new(&runtime, "c");
    assert_eq!(client.result("describe", json!({}))["actions"]["respond"], true);
    let mut stream = client.listen("/frontend/events");
    client.result("send_input", json!({ "prompt": "ask" }));
    let id = runtime.wait_request();
    assert!((1 << 52..1 << 53).contains(&id));
    client.result("respond", answer(id, "deny"));
    let kinds: Vec<_> = (0..6).map(|_| stream.event()["kind"].as_str().unwrap().to_owned()).collect();
    let expected = ["user_message", "turn_started", "request", "request_resolved", "turn_succeeded", "turn_completed"];
    assert_eq!(kinds, expected);
}

#[test]
fn other_hosted_harnesses_take_no_answers() {
    let runtime = Runtime::start(Options::hosted("codex", "h-1", "/home/dev/demo"));
    let client = Client::new(&runtime, "c");
    for (method, params) in [("respond", answer(1, "deny")), ("steer", json!({ "prompt": "x" }))] {
        let error = client.error(method, params);
        assert_eq!((error["code"].as_i64(), error["operation"].as_str()), (Some(-32020), Some(method)));
    }
    let narrowed = client.narrowed("observe,admin").raw("lease");
    let reply = Reply::parse(&narrowed).expect("an answer");
    assert_eq!(reply.status, "HTTP/1.1 400 Bad Request");
    assert_eq!(reply.json(), json!({ "error": "invalid runtime authorization grant" }));
}

#[test]
fn a_held_turn_can_be_steered_and_interrupted_under_its_submit() {
    let runtime = Runtime::start(main_runtime().on("wait", [Step::Hold("here".to_owned())]));
    let client = Client::new(&runtime, "c");
    thread::scope(|scope| {
        let submit = scope.spawn(|| client.error("submit", json!({ "prompt": "wait" })));
        runtime.wait_held("here");
        client.result("steer", json!({ "prompt": "left" }));
        assert_eq!(runtime.steered(), ["left"]);
        assert_eq!(client.result("interrupt", json!({})), json!({ "interrupted": true }));
        let error = submit.join().unwrap();
        assert_eq!((error["code"].as_i64(), error["name"].as_str()), (Some(-32001), Some("execution")));
    });
}

#[test]
fn an_operation_may_be_a_turn() {
    let runtime = Runtime::start(main_runtime());
    let operation = json!({ "kind": "prompt", "operation_id": "prompt:code-review", "arguments": "all" });
    let result = Client::new(&runtime, "c").result("invoke", json!({ "operation": operation }));
    assert_eq!(result, json!({ "kind": "prompt", "reply": "echo: /code-review all" }));
}

#[test]
fn closing_ends_the_turn_then_the_streams_then_the_door() {
    let runtime = Runtime::start(main_runtime().on("wait", [Step::Hold("here".to_owned())]));
    let client = Client::new(&runtime, "c");
    let mut stream = client.listen("/frontend/events");
    let idle = client.connect();
    client.result("send_input", json!({ "prompt": "wait" }));
    client.result("close", json!({}));
    stream.expect("user_message");
    stream.expect("turn_started");
    stream.expect("turn_interrupted");
    assert_eq!(stream.text(), None);
    runtime.wait_open_connections(0);
    drop(idle);
    assert!(TcpStream::connect(runtime.address()).is_err());
}

#[test]
fn events_of_any_kind_and_number() {
    let native = Step::Native("session/new".to_owned(), json!({ "a": 1 }));
    let event = Step::Event("model_changed".to_owned(), json!({ "from": "a", "to": "b" }));
    let thought = Step::Reasoning("hm".to_owned());
    let options = Options::hosted("codex", "h-1", "/home/dev/demo");
    let runtime = Runtime::start(options.on("all", [native, event, thought, Step::Flood(3)]));
    let mut stream = Client::new(&runtime, "c").listen("/frontend/events");
    runtime.prompt("all");
    let expected = ["user_message", "turn_started", "native_event", "model_changed", "reasoning"];
    expected.iter().for_each(|kind| drop(stream.expect(kind)));
    (0..3).for_each(|_| drop(stream.expect("text_delta")));
    stream.expect("turn_succeeded");
    assert_eq!(stream.expect("turn_completed")["sequence"], 10);
    runtime.skip(5);
    runtime.set_busy(true);
    assert_eq!(Client::new(&runtime, "c").error("submit", json!({ "prompt": "x" }))["name"], "busy");
    runtime.emit("cache_warning", json!({ "message": "x" }));
    let payload = json!({ "type": "cache_warning", "message": "x" });
    assert_eq!(stream.event(), json!({ "sequence": 16, "kind": "cache_warning", "payload": payload }));
    // What was sent without a number is kept for nobody.
    let odd = json!({ "sequence": 3, "kind": "odd", "payload": {} });
    runtime.send_event(odd.clone());
    runtime.send_bytes("data: not json\n\n");
    assert_eq!(stream.event(), odd);
    assert_eq!(stream.text().as_deref(), Some("not json"));
    let replay = Client::new(&runtime, "d").result("attach", json!({}))["replay"].take();
    assert_eq!(replay.as_array().unwrap().len(), 11);
    runtime.on("all", [Step::Fail("no".to_owned())]);
    runtime.set_busy(false);
    let error = Client::new(&runtime, "c").error("submit", json!({ "prompt": "all" }));
    assert_eq!((error["code"].as_i64(), error["message"].as_str()), (Some(-32002), Some("no")));
}
