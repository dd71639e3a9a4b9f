//! A runtime that is told to misbehave does, exactly so, and no longer than it is told.

use super::client::{Client, Reply, raw, read_reply};
use crate::support::DEADLINE;
use crate::support::runtime::{Bad, Flavour, Options, Route, Runtime, SENTINEL_TOKEN};
use serde_json::{Value, json};
use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;

fn runtime() -> Runtime {
    Runtime::start(Options::main("main-1", "/home/dev/demo"))
}

/// What `describe` gets back, to the end of the connection.
fn answered(runtime: &Runtime, bad: Bad) -> Vec<u8> {
    runtime.misbehave_times(Route::Rpc("describe".to_owned()), 1, bad);
    let client = Client::new(runtime, "c");
    let got = client_raw(&client);
    client.result("describe", json!({}));
    got
}

/// Asks over a connection that is the answer's alone.
fn client_raw(client: &Client) -> Vec<u8> {
    let request = String::from_utf8(client.request("describe", json!({}))).unwrap();
    raw(client.address, request.replacen("\r\n", "\r\nConnection: close\r\n", 1).as_bytes())
}

#[test]
fn answers_break_off() {
    let runtime = runtime();
    let whole = client_raw(&Client::new(&runtime, "c"));
    let head = Reply::parse(&whole).map(|reply| whole.len() - reply.body.len()).expect("an answer");
    assert_eq!(answered(&runtime, Bad::Close), b"");
    assert_eq!(answered(&runtime, Bad::HalfHead), whole[..head / 2]);
    assert_eq!(answered(&runtime, Bad::HalfBody), whole[..head + (whole.len() - head) / 2]);
    assert_eq!(answered(&runtime, Bad::Bytes(b"SSH-2.0".to_vec())), b"SSH-2.0");
}

#[test]
fn answers_are_of_another_status() {
    let runtime = runtime();
    for (status, main, hosted) in [
        (401, "SDK runtime authentication required", "missing or invalid bearer token"),
        (403, "SDK runtime permission `authorization` is required", "failed "),
        (400, "failed ", "failed "),
        (404, "failed ", "failed "),
        (500, "failed ", "failed "),
    ] {
        for flavour in [Flavour::Main, Flavour::Hosted] {
            let reply = Reply::parse(&answered(&runtime, Bad::Status(status, flavour))).expect("an answer");
            assert!(reply.status.starts_with(&format!("HTTP/1.1 {status} ")));
            let error = reply.json()["error"].take();
            match flavour {
                Flavour::Main => assert_eq!(error["message"], main),
                Flavour::Hosted if status == 401 => assert!(error.is_string()),
                Flavour::Hosted => assert_eq!(error, hosted),
            }
        }
    }
    let reply = Reply::parse(&answered(&runtime, Bad::Redirect(307, "http://127.0.0.2:1/".to_owned()))).unwrap();
    assert_eq!(reply.status, "HTTP/1.1 307 Temporary Redirect");
    assert!(reply.headers.contains(&"Location: http://127.0.0.2:1/".to_owned()));
}

#[test]
fn bodies_are_wrong() {
    let runtime = runtime();
    let body = |bad| Reply::parse(&answered(&runtime, bad)).expect("an answer").body;
    assert!(serde_json::from_slice::<Value>(&body(Bad::InvalidJson)).is_err());
    assert!(String::from_utf8(body(Bad::InvalidUtf8)).is_err());
    assert_eq!(body(Bad::Body(b"null".to_vec())), b"null");
    let error = json!({ "code": -1, "name": "odd", "message": "no" });
    assert_eq!(body(Bad::Error(error.clone())), json!({ "id": 1, "error": error }).to_string().as_bytes());
    assert_eq!(body(Bad::Oversize(100_000)).len(), 100_000);
    assert_eq!(runtime.excess(), 100_000);
}

#[test]
fn descriptors_lie() {
    let runtime = runtime();
    let told = |bad| Reply::parse(&answered(&runtime, bad)).expect("an answer").json()["result"].take();
    assert_eq!(told(Bad::lie("/result/session_id", "other"))["session_id"], "other");
    assert_eq!(told(Bad::lie("/result/actions/submit", 7))["actions"]["submit"], 7);
    assert_eq!(told(Bad::lack("/result/model")).get("model"), None);
    let edits = vec![("/result/source_harness".to_owned(), Some(json!("x"))), ("/result/model".to_owned(), None)];
    let told = told(Bad::Lie(edits));
    assert_eq!((told["source_harness"].as_str(), told.get("model")), (Some("x"), None));
}

#[test]
fn one_method_fails_and_the_others_do_not() {
    let runtime = runtime();
    let client = Client::new(&runtime, "c");
    runtime.misbehave(Route::Rpc("lease".to_owned()), Bad::Error(json!({ "code": -32000, "message": "no" })));
    for _ in 0..2 {
        client.result("describe", json!({}));
        client.error("lease", json!({}));
    }
    runtime.behave();
    client.result("lease", json!({}));
}

#[test]
fn an_endless_head_ends_with_its_reader() {
    let runtime = runtime();
    runtime.misbehave(Route::Any, Bad::EndlessHead);
    let client = Client::new(&runtime, "c");
    let mut socket = client.connect();
    socket.write_all(&client.request("describe", json!({}))).unwrap();
    let mut bytes = vec![0; 1 << 20];
    socket.read_exact(&mut bytes).unwrap();
    assert!(String::from_utf8(bytes).unwrap().ends_with("X-Filler: filler\r\n") || runtime.excess() > 0);
    drop(socket);
    runtime.wait_open_connections(0);
}

#[test]
fn silence_lasts_until_the_client_leaves() {
    let runtime = runtime();
    runtime.misbehave(Route::Events, Bad::Silent);
    let mut socket = Client::new(&runtime, "c").connect();
    let request = format!("GET /frontend/events HTTP/1.1\r\nAuthorization: Bearer {SENTINEL_TOKEN}\r\n\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    runtime.wait("the request", |state| (state.seen.len() == 1).then_some(()));
    socket.set_nonblocking(true).unwrap();
    assert_eq!(socket.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(socket);
    runtime.wait_open_connections(0);
    assert_eq!(runtime.observers(), Vec::<String>::new());
}

#[test]
fn slow_answers_come_as_they_are_let() {
    let runtime = runtime();
    runtime.misbehave(Route::Any, Bad::Slow);
    let client = Client::new(&runtime, "c");
    let mut socket = client.connect();
    socket.write_all(&client.request("describe", json!({}))).unwrap();
    runtime.let_through(3);
    let mut bytes = [0; 3];
    socket.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"HTT");
    socket.set_nonblocking(true).unwrap();
    assert_eq!(socket.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    socket.set_nonblocking(false).unwrap();
    runtime.let_through(u64::MAX);
    assert_eq!(read_reply(&mut BufReader::new(socket)).status, "P/1.1 200 OK");
}

#[test]
fn a_held_answer_is_older_than_what_came_meanwhile() {
    let runtime = runtime();
    runtime.misbehave(Route::Rpc("attach".to_owned()), Bad::Held("snapshot".to_owned()));
    let client = Client::new(&runtime, "c");
    std::thread::scope(|scope| {
        let attach = scope.spawn(|| client.result("attach", json!({})));
        runtime.wait_held("snapshot");
        runtime.emit("text_delta", json!({ "text": "later" }));
        runtime.release("snapshot");
        assert_eq!(attach.join().unwrap()["replay"], json!([]));
    });
}

#[test]
fn streams_break_off_and_overflow() {
    let runtime = runtime();
    let client = Client::new(&runtime, "c");
    runtime.misbehave_times(Route::Events, 1, Bad::HalfBody);
    let mut stream = client.listen("/frontend/events");
    runtime.emit("text_delta", json!({ "text": "x" }));
    let half = stream.line().expect("half a line");
    assert!(half.starts_with("data: {") && !half.ends_with('\n'), "{half}");
    assert_eq!(stream.line(), None);
    runtime.wait_observers(0);
    let mut stream = client.listen("/frontend/events");
    runtime.emit_sized(3 << 20);
    assert_eq!(stream.event()["payload"]["text"].as_str().map(str::len), Some(3 << 20));
}

#[test]
fn the_token_comes_back_everywhere() {
    let runtime = runtime();
    runtime.echo_token();
    let cases = [
        Bad::Status(500, Flavour::Main),
        Bad::Status(404, Flavour::Hosted),
        Bad::Redirect(302, "http://127.0.0.1:1/".to_owned()),
        Bad::InvalidJson,
        Bad::InvalidUtf8,
        Bad::Error(json!({ "code": -1, "message": "no " })),
        Bad::lie("/result/model", "x"),
    ];
    for bad in cases {
        let got = String::from_utf8_lossy(&answered(&runtime, bad.clone())).into_owned();
        assert!(got.contains(SENTINEL_TOKEN), "{bad:?}: {got}");
    }
}

#[test]
fn a_closed_door_keeps_its_port_and_opens_again() {
    let runtime = runtime();
    let client = Client::new(&runtime, "c");
    let kept = client.connect();
    runtime.wait_open_connections(1);
    for _ in 0..3 {
        runtime.refuse();
        assert_eq!(TcpStream::connect(runtime.address()).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        runtime.listen();
        client.result("describe", json!({}));
    }
    runtime.cut();
    assert_eq!((&kept).read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_suspended_runtime_takes_connections_and_says_nothing() {
    let runtime = runtime();
    let client = Client::new(&runtime, "c");
    let mut stream = client.listen("/frontend/events");
    runtime.suspend();
    let mut socket = client.connect();
    socket.write_all(&client.request("lease", json!({}))).unwrap();
    runtime.emit("text_delta", json!({ "text": "x" }));
    // Meanwhile another one answers many times.
    let other = self::runtime();
    (0..20).for_each(|_| drop(Client::new(&other, "c").result("lease", json!({}))));
    for socket in [&socket, stream.0.get_ref()] {
        socket.set_nonblocking(true).unwrap();
        assert_eq!(socket.peek(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        socket.set_nonblocking(false).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
    }
    assert_eq!(runtime.seen_rpc("lease").len(), 0);
    runtime.resume();
    stream.expect("text_delta");
    assert_eq!(read_reply(&mut BufReader::new(socket)).status, "HTTP/1.1 200 OK");
    runtime.wait_seen("lease", 1);
}
