//! What real runtimes sent, replayed.

use super::*;
use crate::protocol::{Decision, Elicited, ElicitedAction, Reason, RuntimeEvent, RuntimeResponse, State};
use crate::runtime::{Api, Error, Snapshot};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fs;

fn fixture(name: &str) -> String {
    fs::read_to_string(format!("{}/tests/fixtures/runtime/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// One captured request with its answer.
struct Exchange {
    name: String,
    request: Seen,
    /// As it came over the wire.
    answer: Vec<u8>,
    answer_body: String,
}

/// The exchanges of a file, whose heads are kept with plain line feeds.
fn exchanges(file: &str) -> Vec<Exchange> {
    let text = fixture(file);
    let parts = text.split("### ").skip(1).filter_map(|part| {
        let (name, rest) = part.split_once("\n>>> request\n")?;
        let (request, answer) = rest.split_once("<<< response\n")?;
        let (head, body) = request.split_once("\n\n")?;
        let request = Seen { head: head.to_owned(), body: body.trim().as_bytes().to_vec() };
        let (head, body) = answer.split_once("\n\n")?;
        let answer = format!("{}\r\n\r\n{}", head.replace('\n', "\r\n"), body.trim_end()).into_bytes();
        Some(Exchange { name: format!("{file}: {name}"), request, answer, answer_body: body.trim_end().to_owned() })
    });
    parts.collect()
}

/// Those of them that call a method and were answered.
fn calls() -> Vec<Exchange> {
    let files = ["basic", "turns", "after"].map(|name| format!("http_serve_{name}.txt")).into_iter();
    let files = files.chain(["approval", "hosted", "lease_expiry"].map(|name| format!("http_{name}.txt")));
    let mut all: Vec<_> = files.flat_map(|file| exchanges(&file)).collect();
    // Two were never answered.
    all.retain(|exchange| exchange.request.head.starts_with("POST /rpc ") && exchange.answer.starts_with(b"HTTP/1.1 "));
    assert!(all.len() > 70, "{}", all.len());
    all
}

fn replay(answer: Vec<u8>, at_once: bool) -> Server {
    Server::play(move |mut peer, _| {
        if peer.request() {
            let size = if at_once { answer.len() } else { 1 };
            answer.chunks(size).all(|part| peer.send(part));
        }
    })
}

#[tokio::test]
async fn every_captured_answer_is_read_in_one_go_and_byte_by_byte() {
    for exchange in calls() {
        let Exchange { name, answer, answer_body, .. } = &exchange;
        let claim = String::from_utf8_lossy(answer)
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
        let whole = claim == Some(answer_body.len());
        for at_once in [true, false] {
            let server = replay(answer.clone(), at_once);
            let found = within(server.client().call(&caller(), "m", &(), 1 << 20)).await;
            let body = serde_json::from_str::<Value>(answer_body).unwrap_or_default();
            match found {
                // Some long texts were left out of the captures, so that they are cut.
                Err(Error::Closed) => assert!(!whole, "{name}"),
                Ok(result) => {
                    assert_eq!(serde_json::from_str::<Value>(result.get()).unwrap(), body["result"], "{name}")
                }
                Err(Error::Remote(error)) => {
                    assert_eq!(body["error"]["code"], error.code, "{name}");
                    assert_eq!(body["error"]["message"], error.message, "{name}");
                    assert_eq!(body["error"]["name"].as_str(), error.name.as_deref(), "{name}");
                    assert_eq!(body["error"]["operation"].as_str(), error.operation.as_deref(), "{name}");
                    assert_eq!(body["error"]["permission"].as_str(), error.permission.as_deref(), "{name}");
                    assert_eq!(body["error"]["holder"].as_str(), error.holder.as_deref(), "{name}");
                    assert_eq!(body["error"]["expiresAtMs"].as_u64(), error.expires_at_ms, "{name}");
                }
                Err(Error::Http { message, .. }) => assert_eq!(body["error"].as_str(), message.as_deref(), "{name}"),
                Err(error) => panic!("{name}: {error:?}"),
            }
        }
    }
}

/// Replays the captured exchange of this name, and checks that what is asked is what was asked then.
async fn replayed<T, F: Future<Output = Result<T, Error>>>(name: &str, ask: impl FnOnce(Api) -> F) -> Result<T, Error> {
    let exchange = calls().into_iter().find(|exchange| exchange.name == name).unwrap();
    let server = replay(exchange.answer, true);
    let found = within(ask(server.api())).await;
    let asked: Value = serde_json::from_slice(&server.seen().body).unwrap();
    let then: Value = serde_json::from_slice(&exchange.request.body).unwrap();
    assert_eq!((&asked["method"], &asked["params"]), (&then["method"], &then["params"]), "{name}");
    found
}

#[tokio::test]
async fn typed_calls_ask_and_understand_what_was_captured() {
    let described =
        replayed("http_serve_basic.txt: describe", |api| async move { api.describe().await }).await.unwrap();
    assert_eq!((described.source_harness, described.model.as_deref()), (None, Some("fake-model")));
    assert_eq!((described.state, described.profile), (State::Idle, None));
    assert!(described.actions.submit && described.actions.close);
    let busy = "http_serve_turns.txt: describe while busy";
    assert_eq!(replayed(busy, |api| async move { api.describe().await }).await.unwrap().state, State::Busy);
    let hosted = replayed("http_hosted.txt: hosted describe", |api| async move { api.describe().await }).await.unwrap();
    assert_eq!((hosted.source_harness.as_deref(), hosted.session_id.as_str()), (Some("grok"), "acp-sess-1796028094"));
    assert!(hosted.actions.interrupt && !hosted.actions.steer && !hosted.actions.close);

    let acquired =
        replayed("http_lease_expiry.txt: acquire", |api| async move { api.acquire_control().await }).await.unwrap();
    assert_eq!((acquired.controller.unwrap().expires_at_ms, acquired.lease_ttl_ms), (1796028129247, 800));
    let lapsed = "http_lease_expiry.txt: heartbeat after expiry";
    assert_eq!(replayed(lapsed, |api| async move { api.heartbeat().await }).await.unwrap().controller, None);
    let taken = "http_lease_expiry.txt: take after expiry";
    assert!(replayed(taken, |api| async move { api.take_control().await }).await.unwrap().controller.is_some());
    let left = replayed("http_lease_expiry.txt: detach e2", |api| async move { api.detach().await }).await.unwrap();
    assert_eq!((left.observers[0].client_id.as_str(), left.observers[0].last_seen_ms), ("e1", 1796028129449));
    replayed("http_serve_basic.txt: lease", |api| async move { api.lease().await }).await.unwrap();

    let reply =
        replayed("http_serve_turns.txt: submit", |api| async move { api.submit("hello world", &[]).await }).await;
    assert_eq!(reply.unwrap(), Reply::Text("echo: hello world".to_owned()));
    let slow = "SLOW 0.6 and so on, a longer prompt text";
    assert!(
        replayed("http_serve_turns.txt: send_input slow", |api| async move { api.send_input(slow, &[]).await })
            .await
            .unwrap()
    );
    let steered = "http_serve_turns.txt: steer while busy";
    assert!(replayed(steered, |api| async move { api.steer("steered text").await }).await.unwrap());
    assert!(replayed("http_serve_turns.txt: interrupt", |api| async move { api.interrupt().await }).await.unwrap());
    assert!(
        !replayed("http_serve_basic.txt: interrupt idle", |api| async move { api.interrupt().await }).await.unwrap()
    );
    assert!(replayed("http_approval.txt: close", |api| async move { api.close().await }).await.unwrap());
    let switch = r#"{"kind": "model", "operation_id": "model:switch", "model": ""}"#;
    let switch = RawValue::from_string(switch.into()).unwrap();
    let refused =
        replayed("http_serve_turns.txt: invoke model switch?", |api| async move { api.invoke(&switch).await }).await;
    assert_eq!(refused.unwrap_err().reason(), Reason::UnsupportedAction);
}

#[tokio::test]
async fn answers_to_requests_are_spelled_as_the_runtime_spells_them() {
    let allow = RuntimeResponse::Approval { request_id: 1, decision: Decision::Allow };
    assert!(replayed("http_approval.txt: allow", |api| async move { api.respond(&allow).await }).await.unwrap());
    let empty = Elicited { request_id: 1, action: ElicitedAction::Accept, content: None };
    let wrong = RuntimeResponse::Elicitation(empty.clone());
    let refused = replayed("http_approval.txt: wrong kind", |api| async move { api.respond(&wrong).await }).await;
    assert_eq!(refused.unwrap_err().reason(), Reason::InvalidArgument);

    let server = Server::answering([ok(r#"{"result":{"accepted":true}}"#), ok(r#"{"result":{"accepted":true}}"#)]);
    let other = RuntimeResponse::Other(Elicited { request_id: u64::MAX, content: Some(Value::from("x")), ..empty });
    let session = RuntimeResponse::Approval { request_id: 2, decision: Decision::AllowForSession };
    within(server.api().respond(&other)).await.unwrap();
    within(server.api().respond(&session)).await.unwrap();
    for expected in [
        r#"{"kind":"other","request_id":18446744073709551615,"action":"accept","content":"x"}"#,
        r#"{"kind":"approval","request_id":2,"decision":"allow_for_session"}"#,
    ] {
        let body = String::from_utf8(server.seen().body).unwrap();
        assert!(body.contains(&format!(r#""params":{{"response":{expected}}}"#)), "{body}");
    }
}

/// The snapshot that a runtime gives as this text.
async fn attached(snapshot: &str) -> Result<Snapshot, Error> {
    let server = Server::answering([ok(&format!(r#"{{"id":1,"result":{snapshot}}}"#))]);
    within(server.api().attach(50)).await
}

#[tokio::test]
async fn captured_snapshots() {
    for (name, messages, cursor, sequences) in [
        ("empty", 1, 0, &[][..]),
        ("busy", 2, 6, &[7, 8, 9]),
        ("after", 4, 25, &[26]),
        ("after_approval", 2, 27, &[28, 29, 30]),
    ] {
        let text = fixture(&format!("attach_{name}.json"));
        let snapshot = attached(&text).await.unwrap();
        let found: Vec<_> = snapshot.replay.iter().filter_map(|event| event.sequence).collect();
        assert_eq!(
            (snapshot.history.len(), snapshot.history_cursor, &found[..]),
            (messages, cursor, sequences),
            "{name}"
        );
        let whole: Value = serde_json::from_str(&text).unwrap();
        let raw = snapshot.history.iter().map(|message| message.get()).chain([snapshot.descriptor.raw.get()]);
        for (raw, whole) in raw.zip(whole["history"].as_array().unwrap().iter().chain([&whole["descriptor"]])) {
            assert!(!raw.contains('\n'), "{raw}");
            assert_eq!(&serde_json::from_str::<Value>(raw).unwrap(), whole);
        }
    }
}

#[tokio::test]
async fn numbers_of_a_snapshot_are_exact_and_the_synthetic_event_stays_out() {
    let descriptor = r#"{"session_id":"s","turn_state":"thinking","connection_state":"connected","new":1}"#;
    let event = |sequence: &str| format!(r#"{{"sequence":{sequence},"kind":"k","payload":{{"n":{sequence}}}}}"#);
    let replay = format!("[{},{}]", event("9007199254740993"), event("18446744073709551615"));
    let rest = r#""history":[{"n":1e999}],"history_cursor":18446744073709551614"#;
    let snapshot = attached(&format!(r#"{{"descriptor":{descriptor},{rest},"replay":{replay}}}"#)).await.unwrap();
    assert_eq!(snapshot.history_cursor, u64::MAX - 1);
    assert_eq!(snapshot.history[0].get(), r#"{"n":1e999}"#);
    let [RuntimeEvent { sequence: Some(9_007_199_254_740_993), .. }] = &snapshot.replay[..] else {
        panic!("{:?}", snapshot.replay)
    };
    assert_eq!(snapshot.descriptor.state, State::Live);
    assert_eq!(snapshot.descriptor.raw.get(), descriptor);
    assert_eq!(snapshot.descriptor.actions, Default::default());
}

#[tokio::test]
async fn a_descriptor_needs_its_session_and_its_states() {
    let descriptor = |members: &str| {
        let server = Server::answering([ok(&format!(r#"{{"result":{{{members}}}}}"#))]);
        async move { within(server.api().describe()).await }
    };
    let states = r#""turn_state":"busy","connection_state":"shutting_down""#;
    let found = descriptor(&format!(r#""session_id":"s",{states}"#)).await.unwrap();
    assert_eq!(found.state, State::ShuttingDown);
    for lacking in
        [states, r#""session_id":"s","turn_state":"busy""#, r#""session_id":"s","connection_state":"connected""#]
    {
        assert!(matches!(descriptor(lacking).await, Err(Error::Malformed(_))), "{lacking}");
    }
}

#[tokio::test]
async fn captured_streams_in_one_go_and_byte_by_byte() {
    for file in ["sse_frontend_events.txt", "sse_approval.txt", "sse_hosted.txt"] {
        let text = fixture(file);
        let (head, body) = text.split_once("\n\n").unwrap();
        let wire = format!("{}\r\n\r\n{body}", head.replace('\n', "\r\n")).into_bytes();
        let expected: Vec<Value> = body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect();
        for at_once in [true, false] {
            let server = replay(wire.clone(), at_once);
            let mut stream = within(server.api().events()).await.unwrap();
            let mut found = Vec::new();
            while let Some(event) = within(stream.next()).await.unwrap() {
                found.push(serde_json::to_value(event).unwrap());
            }
            assert_eq!(found, expected, "{file}");
        }
    }
}
