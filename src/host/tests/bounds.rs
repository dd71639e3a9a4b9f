//! How long and how much. The clock is the runtime's own and jumps while everybody waits.

use super::*;
use crate::limits;

#[tokio::test(start_paused = true)]
async fn who_dribbles_a_head_or_a_body_is_told_so() {
    let (host, _script) = host().await;
    let mut head = dial(&host).await;
    head.write_all(b"POST /rpc HTTP/1.1\r\nHost: 127").await.unwrap();
    let answer = to_end(&mut head).await;
    assert_eq!((status(&answer), body(&answer)), (408, json!({ "error": "the request took too long" })));
    let mut begun = dial(&host).await;
    let asked = request("POST /rpc", &[&bearer(), "Content-Length: 100"], "");
    begun.write_all(format!("{asked}{{\"id\":").as_bytes()).await.unwrap();
    let answer = to_end(&mut begun).await;
    assert_eq!(status(&answer), 408);
    assert!(answer.contains("Connection: close\r\n"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn dribbling_on_buys_no_time() {
    let (host, _script) = host().await;
    let mut socket = dial(&host).await;
    let began = tokio::time::Instant::now();
    socket.write_all(b"POST /rpc HTTP/1.1\r\n").await.unwrap();
    while began.elapsed() < limits::HOST_HEAD * 3 {
        if socket.write_all(b"X-A: b\r\n").await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    panic!("it was let to go on");
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_closed_and_a_stream_is_not() {
    let (host, _script) = host().await;
    let mut silent = dial(&host).await;
    let mut listening = Client::new(&host, "a").listen().await;
    assert_eq!(silent.read(&mut [0]).await.unwrap(), 0, "it is closed without a word");
    listening.until(": keep-alive\n\n").await;
    assert!(listening.events().is_empty());
    for _ in 0..30 {
        listening.read.clear();
        listening.until(": keep-alive\n\n").await;
    }
}

#[tokio::test]
async fn heads_and_bodies_have_bounds_and_say_so() {
    let (host, _script) = host().await;
    let own = bearer();
    let asked = r#"{"id":1,"method":"status"}"#;
    let header = |bytes: usize| format!("X-A: {}", "a".repeat(bytes));
    assert_eq!(status(&exchange(&host, request("POST /rpc", &[&own, &header(8 << 10)], asked)).await), 200);
    assert_eq!(status(&exchange(&host, request("POST /rpc", &[&own, &header(128 << 10)], asked)).await), 431);
    assert_eq!(status(&exchange(&host, request("POST /rpc", &[&own, &header(8 << 20)], asked)).await), 431);
    let many = vec!["X-A: b"; limits::HOST_HEADERS + 1];
    assert_eq!(status(&exchange(&host, request("POST /rpc", &many, asked)).await), 431);
    let path = format!("GET /{}", "a".repeat(70 << 10));
    assert!(matches!(status(&exchange(&host, request(&path, &[&own], "")).await), 414 | 431));

    let large = " ".repeat(limits::HOST_BODY_BYTES - asked.len());
    let whole = exchange(&host, request("POST /rpc", &[&own], &format!("{large}{asked}"))).await;
    assert_eq!(body(&whole)["id"], 1);
    let over = exchange(&host, request("POST /rpc", &[&own], &format!(" {large}{asked}"))).await;
    assert_eq!(status(&over), 413);
    let claimed = exchange(&host, request("POST /rpc", &[&own, "Content-Length: 17825792"], "")).await;
    assert_eq!(status(&claimed), 413, "nothing was waited for");
    let head = format!("POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\n{own}\r\nTransfer-Encoding: chunked\r\n\r\n");
    let chunks = format!("100000\r\n{}\r\n", " ".repeat(1 << 20)).repeat(17);
    assert_eq!(status(&exchange(&host, format!("{head}{chunks}0\r\n\r\n")).await), 413);
    let stranger = exchange(&host, request("POST /rpc", &[], &format!(" {large}{asked}"))).await;
    assert_eq!(status(&stranger), 401, "and its body is not kept");
}

#[tokio::test]
async fn many_connections_are_bounded_at_the_cost_of_the_silent_ones() {
    let (host, mut script) = host().await;
    let mut silent = Vec::new();
    for at in 0..limits::HOST_CONNECTIONS * 2 {
        let mut socket = dial(&host).await;
        // Some have begun to ask, and some do not close after their answer.
        let begun = [&b""[..], b"POST /rpc HT", b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"][at % 3];
        socket.write_all(begun).await.unwrap();
        silent.push(socket);
    }
    let client = Client::new(&host, "a");
    client.ok("status", json!({})).await;
    let mut first = silent.swap_remove(0);
    assert_eq!(to_end(&mut first).await, "");
    let mut streams = Vec::new();
    let names: Vec<_> = (0..limits::HOST_STREAMS).map(|at| at.to_string()).collect();
    for name in &names {
        streams.push(Client::new(&host, name).listen().await);
    }
    let asked = client.write("POST /rpc", r#"{"id":1,"method":"status"}"#);
    assert_eq!(status(&exchange(&host, &asked).await), 200, "streams leave room");
    let answer = exchange(&host, client.write("GET /frontend/events", "")).await;
    assert_eq!((status(&answer), &body(&answer)["error"]["name"]), (429, &json!("busy")));
    // The agent is asked, and does not answer.
    let (mut held, mut unanswered) = (Vec::new(), Vec::new());
    let switch = json!({ "operation": { "kind": "model", "operation_id": "model:switch", "model": "other" } });
    let switch = json!({ "id": 1, "method": "frontend.v2.invoke", "params": switch }).to_string();
    for _ in limits::HOST_STREAMS..limits::HOST_CONNECTIONS {
        let mut socket = dial(&host).await;
        socket.write_all(client.write("POST /rpc", &switch).as_bytes()).await.unwrap();
        held.push(socket);
        unanswered.push(script.asked().await);
    }
    let answer = exchange(&host, &asked).await;
    assert_eq!((status(&answer), body(&answer)), (503, json!({ "error": "all connections are at work" })));
    drop((streams, held));
    until(async || status(&exchange(&host, &asked).await) == 200).await;
}

#[tokio::test]
async fn no_client_that_the_owner_let_in_keeps_the_owner_out() {
    let (host, mut script) = host().await;
    let own = bearer();
    let door =
        |name: &str, text: &str| request(&format!("POST /_supercode/frontend-credentials/{name}"), &[&own], text);
    let made = exchange(&host, door("mint", r#"{"clientId":"m","grant":"interactive"}"#)).await;
    let theirs = format!("Authorization: Bearer {}", made.split_once("\r\n\r\n").unwrap().1);
    let guest = |line: &str, text: &str| request(line, &[&theirs, "x-supercode-client-id: m"], text);
    let mut held = Vec::new();
    for _ in 0..limits::HOST_STREAMS_OF_ONE {
        let mut socket = dial(&host).await;
        socket.write_all(guest("GET /frontend/events", "").as_bytes()).await.unwrap();
        let mut listening = Listening { socket, read: String::new() };
        listening.until("\r\n\r\n").await;
        assert!(listening.read.starts_with("HTTP/1.1 200 OK\r\n"), "{}", listening.read);
        held.push(listening.socket);
    }
    let answer = exchange(&host, guest("GET /frontend/events", "")).await;
    assert_eq!((status(&answer), &body(&answer)["error"]["operation"]), (429, &json!("events")));
    let other = Client::new(&host, "other").listen().await;
    let switch = json!({ "operation": { "kind": "model", "operation_id": "model:switch", "model": "other" } });
    let switch = json!({ "id": 1, "method": "frontend.v2.invoke", "params": switch }).to_string();
    let mut unanswered = Vec::new();
    while held.len() < limits::HOST_CONNECTIONS {
        let mut socket = dial(&host).await;
        socket.write_all(guest("POST /rpc", &switch).as_bytes()).await.unwrap();
        held.push(socket);
        unanswered.push(script.asked().await);
    }
    assert_eq!(body(&exchange(&host, door("revoke", r#"{"clientId":"m"}"#)).await), json!({ "revoked": true }));
    let closed = Client::new(&host, "owner").ok("frontend.v2.close", json!({})).await;
    assert_eq!(closed, json!({ "closed": true }));
    assert_eq!(other.rest().await.last().unwrap()["kind"], "runtime_disconnected", "the owner's own stream stood");
}

#[tokio::test]
async fn a_client_that_reads_no_answer_is_given_up() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    client.ok("frontend.v2.send_input", json!({ "prompt": "x" })).await;
    script.prompted().await;
    for _ in 0..60 {
        script.event("reasoning", json!({ "text": "x".repeat(256 << 10) })).await;
    }
    until_replayed(&client, 62).await;
    let mut deaf = dial(&host).await;
    deaf.write_all(client.write("POST /rpc", r#"{"id":1,"method":"frontend.v2.attach"}"#).as_bytes()).await.unwrap();
    tokio::time::pause();
    tokio::time::sleep(limits::HOST_ANSWER * 3).await;
    let mut rest = Vec::new();
    let _ = deaf.read_to_end(&mut rest).await;
    assert!(rest.len() < 15 << 20, "the answer was cut: {}", rest.len());
}
