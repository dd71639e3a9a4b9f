//! Every captured request is sent again, and the answer must be the real one's but for times and the model's words.

use super::client::{Client, Events, Exchange, Reply, connect, events, exchanges, fixture, raw};
use crate::support::Home;
use crate::support::runtime::{Options, Receipt, Runtime, Step};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

fn tool(id: &str, command: &str, output: &str, asks: bool) -> Step {
    let arguments = format!("{{\"command\": \"{command}\"}}");
    Step::Tool { id: id.to_owned(), name: "bash".to_owned(), arguments, output: output.to_owned(), asks }
}

fn text(text: &str) -> Step {
    Step::Text(text.to_owned())
}

fn hold(name: &str) -> Step {
    Step::Hold(name.to_owned())
}

/// What differs from run to run is made the same.
fn normalize(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Object(members) => {
            if members.get("role") == Some(&json!("system")) {
                members["content"] = json!("(elided)");
            }
            for (name, value) in members {
                let is_time = matches!(name.as_str(), "last_seen_ms" | "expires_at_ms" | "expiresAtMs");
                if is_time && value.is_u64() {
                    *value = json!(0);
                }
                normalize(value);
            }
        }
        _ => {}
    }
}

/// As one text, members in their order.
fn comparable(reply: &Reply) -> String {
    let headers = reply.headers.iter().map(|header| match header.split_once(": ") {
        Some(("Content-Length", _)) => "Content-Length",
        _ => header.as_str(),
    });
    let mut body = reply.json();
    normalize(&mut body);
    format!("{}\n{}\n{body}", reply.status, headers.collect::<Vec<_>>().join("\n"))
}

fn replay(runtime: &Runtime, exchange: &Exchange) {
    let got = Reply::parse(&raw(runtime.address(), &exchange.request));
    let [got, expected] = [got.as_ref(), exchange.reply.as_ref()].map(|reply| reply.map(comparable));
    assert_eq!(got, expected, "{}", exchange.title);
}

/// What comes over a stream must be what came over the real one.
fn expect_events(stream: &mut Events, name: &str) {
    for expected in events(name) {
        assert_eq!(stream.text(), Some(expected));
    }
}

/// Credentials of other clients are no matter of ours.
fn is_of_credentials(exchange: &Exchange) -> bool {
    let request = String::from_utf8_lossy(&exchange.request);
    request.contains("/_supercode/") || request.contains("<MINTED>")
}

#[test]
fn a_main_runtime_answers_as_the_real_one() {
    let failure =
        r#"provider returned status 400: {"error": {"message": "fake failure", "type": "invalid_request_error"}}"#;
    let tool = tool("call_1796027978145", "echo hi-from-tool", "exit code: 0\nhi-from-tool\n", false);
    let options = Options::main("162cb503b728713e-jolly-finch", "/home/dev/demo")
        .on("SLOW", [hold("slow")])
        .on("ERR", [Step::Compact(2), Step::Fail(failure.to_owned())])
        .on("TOOL", [hold("tool"), tool, Step::Compact(2), text("tool said: {output}")]);
    let runtime = Runtime::start(Options { manual_clock: true, ..options });
    for mut exchange in exchanges("http_serve_basic.txt") {
        if exchange.title == "header over 8 KiB" {
            // The capture cuts long requests.
            exchange.request = [exchange.request.trim_ascii_end(), "a".repeat(8192).as_bytes(), b"\r\n\r\n"].concat();
        }
        replay(&runtime, &exchange);
    }
    let mut stream = Client::new(&runtime, "cap-1").listen("/frontend/events");
    let mut raw_stream = Client::new(&runtime, "legacy-1").listen("/events");
    let turns = exchanges("http_serve_turns.txt");
    let (last, turns) = turns.split_last().expect("exchanges");
    for exchange in turns.iter().filter(|exchange| !is_of_credentials(exchange)) {
        if exchange.title == "tool turn" {
            // The real client gave up waiting; the turn went on.
            connect(runtime.address()).write_all(&exchange.request).expect("a runtime that reads");
            runtime.wait_held("tool");
            continue;
        }
        replay(&runtime, exchange);
        if exchange.title == "interrupt" {
            runtime.wait_turns(2);
        }
    }
    runtime.release("tool");
    expect_events(&mut stream, "sse_frontend_events.txt");
    expect_events(&mut raw_stream, "sse_legacy_events.txt");
    runtime.wait_turns(4);
    drop(stream);
    runtime.wait_observers(1);
    replay(&runtime, last);
    for exchange in exchanges("http_serve_after.txt") {
        replay(&runtime, &exchange);
    }
}

#[test]
fn approvals_go_as_with_the_real_one() {
    let tool = tool("call_1796028126382", "echo approved", "exit code: 0\napproved\n", true);
    let options = Options::main("162cb503b728713e-gentle-eagle", "/home/dev/demo");
    let runtime = Runtime::start(options.on("TOOL", [tool, text("tool said: {output}")]));
    let exchanges = exchanges("http_approval.txt");
    let (denied, asked) = exchanges.split_first().expect("exchanges");
    replay(&runtime, denied);
    let mut stream = Client::new(&runtime, "watcher").listen("/frontend/events");
    for exchange in asked {
        replay(&runtime, exchange);
        match exchange.title.as_str() {
            "send tool turn" => assert_eq!(runtime.wait_request(), 1),
            "allow" => runtime.wait_turns(2),
            _ => {}
        }
    }
    expect_events(&mut stream, "sse_approval.txt");
    assert_eq!(stream.text(), None, "a closed runtime ends its streams");
}

#[test]
fn leases_lapse_as_with_the_real_one() {
    let options = Options::main("162cb503b728713e-merry-robin", "/home/dev/demo");
    let mut options = Options { lease_ttl_ms: 800, manual_clock: true, ..options };
    options.source_harness = Some("supercode".to_owned());
    options.history.push(json!({ "role": "assistant", "content": "tool said: exit code: 0\napproved\n" }));
    let runtime = Runtime::start(options);
    for exchange in exchanges("http_lease_expiry.txt") {
        if matches!(exchange.title.as_str(), "heartbeat after expiry" | "other client acquires after expiry") {
            runtime.advance(800);
        }
        replay(&runtime, &exchange);
    }
}

#[test]
fn a_hosted_runtime_answers_as_the_real_one() {
    let (id, name, arguments) = ("t1".to_owned(), "do it".to_owned(), r#"{"command":"x"}"#.to_owned());
    let tool = Step::Tool { id, name, arguments, output: "done".to_owned(), asks: true };
    let options = Options::hosted("grok", "acp-sess-1796028094", "/home/dev/demo");
    let runtime = Runtime::start(options.on("hello TOOL", [text("part0 "), text("part1 "), tool]));
    let mut stream = Client::new(&runtime, "watcher").listen("/frontend/events");
    let holder = Client::new(&runtime, "http-a9b8470494e06636a4e8a9f6a4f9a641");
    let reply = holder.result("submit", json!({ "prompt": "hello TOOL" }));
    assert_eq!(reply, json!({ "reply": "part0 part1 " }));
    expect_events(&mut stream, "sse_hosted.txt");
    for exchange in exchanges("http_hosted.txt") {
        replay(&runtime, &exchange);
    }
}

/// A receipt with its values replaced by the names of their types, members in their order.
fn shape(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(name, value)| format!("{name}: {}", shape(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        other => other.to_string(),
    }
}

#[test]
fn receipts_are_written_as_the_real_ones() {
    let home = Home::new();
    let directory = home.path().join("live-runtimes");
    let main = Runtime::start(Options::main("one", "/home/dev/demo"));
    let hosted = Runtime::start(Options::hosted("grok", "two", "/home/dev/demo"));
    let stored = main.receipt().with("/metadata/persistence_location", "/home/dev/x.jsonl");
    let cases: [(Receipt, &str); 3] = [
        (stored.clone(), "receipt_serve.json"),
        (stored.id(&"0".repeat(32)), "receipt_resume_serve.json"),
        (hosted.receipt(), "receipt_hosted.json"),
    ];
    for (receipt, name) in cases {
        let path = receipt.write(&directory);
        let text = fs::read_to_string(&path).expect("a receipt");
        let written: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(text, written.to_string(), "compact, and no line end");
        let real: Value = serde_json::from_str(&fixture(name)).expect("JSON");
        assert_eq!(shape(&written), shape(&real), "{name}");
        let id = written["receipt_id"].as_str().expect("an id");
        assert_eq!(path.file_name().unwrap().to_str(), Some(format!("{id}.json").as_str()));
        assert_eq!(receipt.endpoint(), format!("supercode-live://{id}"));
        let mode = |path| fs::metadata(path).expect("a file").permissions().mode() & 0o7777;
        assert_eq!((mode(directory.as_path()), mode(path.as_path())), (0o700, 0o600));
        assert_eq!(hosted.receipt().members()["metadata"]["child_pid"], std::process::id());
    }
}

#[test]
fn published_receipts_last_as_long_as_their_runtime() {
    let home = Home::new();
    let directory = home.path().join("live-runtimes");
    let count = || fs::read_dir(&directory).expect("a directory").count();
    let runtime = Runtime::start(Options::main("one", "/home/dev/demo"));
    let endpoints = [runtime.publish(&directory), runtime.publish(&directory)];
    assert_ne!(endpoints[0], endpoints[1]);
    assert_eq!(count(), 2);
    runtime.retract();
    assert_eq!(count(), 0);
    runtime.publish(&directory);
    drop(runtime);
    assert_eq!(count(), 0);
    let runtime = Runtime::start(Options::main("one", "/home/dev/demo"));
    runtime.publish(&directory);
    Client::new(&runtime, "c").result("close", json!({}));
    runtime.wait("the receipt's removal", |_| (count() == 0).then_some(()));
}
