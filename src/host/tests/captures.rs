//! What was captured of a real runtime is sent again, and the answers must have the same shape: status, members in their
//! order, types.

use super::*;
use std::fs;
use std::path::Path;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runtime").join(name);
    fs::read_to_string(path).expect("a fixture")
}

/// A captured request and its answer.
struct Exchange {
    title: String,
    request: String,
    answer: String,
}

fn exchanges(name: &str) -> Vec<Exchange> {
    let text = format!("\n{}", fixture(name));
    let whole = text.split("\n### ").skip(1).filter_map(|part| {
        let (title, rest) = part.split_once('\n')?;
        let (request, answer) = rest.strip_prefix(">>> request\n")?.split_once("\n<<< response\n")?;
        let (head, body) = request.split_once("\n\n").unwrap_or((request.trim_end(), ""));
        let head: Vec<_> = head.lines().map(authorized).collect();
        let request = format!("{}\r\n\r\n{body}", head.join("\r\n"));
        Some(Exchange { title: title.to_owned(), request, answer: answer.to_owned() })
    });
    whole.collect()
}

/// With our own token instead of the captured one.
fn authorized(line: &str) -> String {
    match line.strip_prefix("Authorization: Bearer ") {
        Some(token) if token.len() == 64 && !token.starts_with("<") => bearer(),
        _ => line.to_owned(),
    }
}

/// Names, order and types, without values; of a list its first item.
fn shape(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(items) => format!("[{}]", items.first().map(shape).unwrap_or_default()),
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(name, value)| format!("{name}: {}", shape(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

/// An agent that does as the captured one did.
async fn act(mut script: Script) {
    while let Some(ask) = script.asks.recv().await {
        let end = match ask {
            Ask::Prompt(prompt) if prompt.text.starts_with("SLOW") => continue,
            Ask::Prompt(prompt) if prompt.text.starts_with("ERR") => TurnEnd::Failed("fake failure".to_owned()),
            Ask::Prompt(prompt) if prompt.text.starts_with("TOOL") => {
                let call = json!({ "id": "1", "name": "bash", "arguments": "{}" });
                script.event("tool_call_started", call).await;
                let _ = script.ask(&[Decision::Allow, Decision::Deny]).await.await;
                let done = json!({ "id": "1", "name": "bash", "output": "out", "is_error": false });
                script.event("tool_call_completed", done).await;
                script.say("tool said").await;
                TurnEnd::Done("end_turn".to_owned())
            }
            Ask::Prompt(prompt) => {
                script.say(&format!("echo: {}", prompt.text)).await;
                TurnEnd::Done("end_turn".to_owned())
            }
            _ => TurnEnd::Interrupted,
        };
        script.tell(Told::TurnEnded(end)).await;
    }
}

/// What the capture's runtime has and ours has not is left out of both.
fn comparable(answer: &str) -> String {
    let (head, text) = answer.split_once("\r\n\r\n").or_else(|| answer.split_once("\n\n")).expect("a head");
    let headers: Vec<_> = head
        .lines()
        .map(|line| if line.starts_with("Content-Length") { "Content-Length" } else { line.trim_end() })
        .filter(|line| !line.starts_with("Connection"))
        .collect();
    let Ok(mut body) = serde_json::from_str::<Value>(text.trim()) else { return format!("{headers:?}") };
    let result = &mut body["result"];
    for at in ["", "/descriptor"] {
        if let Some(descriptor) = result.pointer_mut(at).filter(|value| value.get("schema_version").is_some()) {
            for (name, value) in [("active_modules", json!([])), ("source_harness", json!(null))] {
                descriptor[name] = value;
            }
            descriptor["commands"] = json!(descriptor["commands"].as_array().map(|commands| !commands.is_empty()));
            descriptor["operations"][0]["command"]["description"] = json!(null);
            descriptor.as_object_mut().unwrap().shift_remove("extensions");
        }
    }
    for lists in ["history", "replay", "messages", "observers"] {
        if let Some(list) = result.get_mut(lists) {
            *list = json!([]);
        }
    }
    if result.get("controller").is_some() {
        result["controller"] = json!(null);
    }
    if result.is_null() {
        body.as_object_mut().unwrap().shift_remove("result");
    }
    format!("{headers:?} {}", shape(&body))
}

/// In place of a status: its answer, or its end, was not captured.
const NOT_SENT: u16 = 0;

/// Sends a capture's requests one after the other; those that are told apart in `others` are answered otherwise here.
async fn replay(host: &Host, name: &str, others: &[(&str, u16)]) {
    let mut minted = String::new();
    for Exchange { title, request, answer } in exchanges(name) {
        if others.contains(&(title.as_str(), NOT_SENT)) {
            continue;
        }
        let request = request.replace("<MINTED>", &minted);
        let got = exchange(host, &request).await;
        if title.starts_with("mint interactive") {
            minted = got.split_once("\r\n\r\n").unwrap().1.to_owned();
        }
        match others.iter().find(|(other, _)| title == *other) {
            Some((_, code)) => assert_eq!(status(&got), *code, "{name}: {title}: {got}"),
            None => {
                assert!(answer.starts_with("HTTP/1.1"), "{name}: {title}: nothing was captured");
                assert_eq!(comparable(&got), comparable(&answer), "{name}: {title}: {got}");
            }
        }
    }
}

#[tokio::test]
async fn what_was_asked_of_a_runtime_without_turns() {
    let (host, script) = host().await;
    tokio::spawn(act(script));
    let others = [
        ("token in query", 401),
        ("empty permissions: history (leak?)", 200),
        ("empty permissions: status", 200),
        ("invoke context", 200),
        ("body over 16 MiB announced", 413),
        ("header over 8 KiB", NOT_SENT),
        ("chunked body", NOT_SENT),
    ];
    replay(&host, "http_serve_basic.txt", &others).await;
}

#[tokio::test]
async fn what_was_asked_of_a_runtime_in_its_turns() {
    let (host, script) = host().await;
    tokio::spawn(act(script));
    let _one = Client::new(&host, "cap-1").listen().await;
    let _legacy = Client::new(&host, "legacy-1").listen().await;
    Client::new(&host, "cap-1").ok("frontend.v2.acquire_control", json!({})).await;
    let others = [("steer while busy", 200), ("tool turn", NOT_SENT), ("invoke model switch?", 200)];
    replay(&host, "http_serve_turns.txt", &others).await;
    // Both are refused here.
    let stricter = [("attach limit as string", 200), ("positional array request", 200)];
    replay(&host, "http_serve_after.txt", &stricter).await;
}

#[tokio::test]
async fn what_was_asked_about_approvals() {
    let (host, script) = host().await;
    tokio::spawn(act(script));
    let all = exchanges("http_approval.txt");
    let client = Client::new(&host, "a1");
    let mut listening = None;
    for Exchange { title, request, answer } in all {
        if title == "observer may not respond" {
            let listening: &mut Listening = listening.as_mut().unwrap();
            listening.event("request").await;
        }
        if title == "attach after approval" {
            let listening: &mut Listening = listening.as_mut().unwrap();
            listening.event("turn_succeeded").await;
        }
        if title == "send tool turn" {
            listening = Some(client.listen().await);
        }
        let got = exchange(&host, &request).await;
        assert_eq!(comparable(&got), comparable(&answer), "{title}: {got}");
    }
    let events = listening.unwrap().rest().await;
    let captured: Vec<Value> = fixture("sse_approval.txt")
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).expect("an event"))
        .collect();
    for kind in [
        "user_message",
        "turn_started",
        "tool_call_started",
        "request",
        "request_resolved",
        "tool_call_completed",
        "text_delta",
        "turn_succeeded",
    ] {
        let of = |events: &[Value]| {
            let event = events.iter().find(|event| event["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"));
            shape(event)
        };
        assert_eq!(of(&events), of(&captured));
    }
}

#[tokio::test]
async fn what_who_attaches_is_told() {
    let (host, script) = host().await;
    tokio::spawn(act(script));
    let client = Client::new(&host, "a");
    client.ok("submit", json!({ "prompt": "TOOL x" })).await;
    let attached = client.ok("frontend.v2.attach", json!({})).await;
    let captured: Value = serde_json::from_str(&fixture("attach_after.json")).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&attached), keys(&captured));
    assert_eq!(shape(&attached["history"][1]), shape(&captured["history"][1]), "a call");
    assert_eq!(shape(&attached["history"][2]), shape(&captured["history"][2]), "what it gave");
    assert_eq!(shape(&attached["history"][3]), shape(&captured["history"][3]), "what was answered");
    assert_eq!(shape(&attached["replay"]), shape(&captured["replay"]));
    let captured = fixture("sse_frontend_events.txt");
    for kind in ["turn_interrupted", "turn_failed"] {
        let line = captured.lines().find(|line| line.contains(kind)).unwrap();
        let captured: Value = serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap();
        let mut listening = client.listen().await;
        client
            .ok("frontend.v2.send_input", json!({ "prompt": if kind == "turn_failed" { "ERR" } else { "SLOW" } }))
            .await;
        client.ok("interrupt", json!({})).await;
        assert_eq!(shape(&listening.event(kind).await), shape(&captured));
    }
}
