use super::*;

#[tokio::test]
async fn a_stream_is_headed_as_others_are_and_ends_when_its_client_says_anything() {
    let (host, _script) = host().await;
    let client = Client::new(&host, "a");
    for last in [&b""[..], b"x", b"GET / HTTP/1.1\r\n\r\n"] {
        let mut socket = dial(&host).await;
        socket.write_all(client.write("GET /frontend/events?after_sequence=7", "").as_bytes()).await.unwrap();
        let mut listening = Listening { socket, read: String::new() };
        listening.until("\r\n\r\n").await;
        for header in ["Content-Type: text/event-stream\r\n", "Cache-Control: no-cache\r\n", "Connection: close\r\n"] {
            assert!(listening.read.contains(header), "{}", listening.read);
        }
        until_lease(&Client::new(&host, "b"), |lease| lease["observers"][0]["client_id"] == "a").await;
        client.ok("frontend.v2.acquire_control", json!({})).await;
        match last {
            b"" => listening.socket.shutdown().await.unwrap(),
            bytes => listening.socket.write_all(bytes).await.unwrap(),
        }
        assert!(listening.rest().await.is_empty());
        let lease = Client::new(&host, "b").ok("frontend.v2.lease", json!({})).await;
        assert_eq!((&lease["controller"], &lease["observers"]), (&json!(null), &json!([])), "forgotten with control");
    }
}

#[tokio::test]
async fn independent_client_reads_events_beside_calls() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let mut stream = soon(client.ask(Method::GET, "/frontend/events").send()).await.unwrap();
    assert_eq!(
        (stream.status(), stream.headers()["content-type"].as_bytes()),
        (StatusCode::OK, &b"text/event-stream"[..])
    );
    client.ok("frontend.v2.send_input", json!({ "prompt": "hello" })).await;
    script.prompted().await;
    script.say("hi").await;
    script.end().await;
    let mut read = String::new();
    soon(async {
        while !read.contains("\"hi\"") {
            let chunk = stream.chunk().await.unwrap().expect("the stream is open");
            read.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    })
    .await;
    // The observer is forgotten when its stream is dropped.
    assert_eq!(client.ok("frontend.v2.lease", json!({})).await["observers"][0]["client_id"], "a");
    drop(stream);
    until_lease(&Client::new(&host, "b"), |lease| lease["observers"] == json!([])).await;
}

#[tokio::test]
async fn a_client_is_forgotten_with_its_last_stream() {
    let (host, _script) = host().await;
    let (client, other) = (Client::new(&host, "a"), Client::new(&host, "b"));
    let (one, two) = (client.listen().await, client.listen().await);
    client.ok("frontend.v2.acquire_control", json!({})).await;
    let refused = other.error("submit", json!({ "prompt": "x" })).await;
    assert_eq!((&refused["name"], &refused["holder"]), (&json!("controller_required"), &json!("a")));
    assert!(refused["expiresAtMs"].is_u64());
    assert_eq!(
        refused.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["code", "name", "operation", "message", "holder", "expiresAtMs"]
    );
    drop(one);
    assert_eq!(other.ok("frontend.v2.lease", json!({})).await["controller"]["client_id"], "a");
    drop(two);
    until_lease(&other, |lease| lease["controller"].is_null()).await;
    other.ok("frontend.v2.send_input", json!({ "prompt": "x" })).await;
    assert_eq!(other.ok("frontend.v2.lease", json!({})).await["controller"]["client_id"], "b");
    client.ok("frontend.v2.take_control", json!({})).await;
    let left = client.ok("frontend.v2.detach", json!({})).await;
    assert_eq!((&left["controller"], &left["lease_ttl_ms"]), (&json!(null), &json!(30_000)));
}

#[tokio::test]
async fn control_that_lapses_comes_back_by_taking_it() {
    let (host, _script) = with(Options { lease_ttl: Duration::from_millis(1), ..options() }).await;
    let client = Client::new(&host, "a");
    client.ok("frontend.v2.acquire_control", json!({})).await;
    until_lease(&Client::new(&host, "b"), |lease| lease["controller"].is_null()).await;
    client.ok("frontend.v2.heartbeat", json!({})).await;
    for method in ["frontend.v2.acquire_control", "submit", "interrupt"] {
        let error = client.error(method, json!({ "prompt": "x" })).await;
        assert_eq!(
            error,
            json!({ "code": -32033, "name": "lease_expired", "operation": null, "message": "controller lease expired" })
        );
    }
    client.ok("frontend.v2.take_control", json!({})).await;
}

#[tokio::test]
async fn a_hundred_observers_see_every_event_once_and_in_order() {
    let (host, mut script) = host().await;
    let names: Vec<_> = (0..100).map(|at| format!("o{at}")).collect();
    let mut listening = Vec::new();
    for name in &names {
        listening.push(Client::new(&host, name).listen().await);
    }
    let client = Client::new(&host, "driver");
    client.ok("frontend.v2.send_input", json!({ "prompt": "go" })).await;
    script.prompted().await;
    for at in 0..300 {
        // The space ends it: a digit alone could be the start of the token and would wait for the next piece.
        script.say(&format!("{at} ")).await;
    }
    script.end().await;
    for mut one in listening {
        one.event("turn_succeeded").await;
        let seen: Vec<_> = one.events().iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
        assert_eq!(seen, (1..=303).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn who_reads_nothing_costs_the_others_nothing_and_is_left_behind() {
    let (host, mut script) = host().await;
    let asleep = Client::new(&host, "asleep").listen().await;
    let client = Client::new(&host, "awake");
    let mut awake = client.listen().await;
    client.ok("frontend.v2.send_input", json!({ "prompt": "go" })).await;
    script.prompted().await;
    for at in 3..=202 {
        script.event("reasoning", json!({ "text": "x".repeat(256 << 10) })).await;
        awake.until(&format!("{{\"sequence\":{at},")).await;
        awake.read.clear();
    }
    script.end().await;
    assert_eq!(awake.event("turn_succeeded").await["sequence"], 203);
    let last = asleep.rest().await.last().map(|event| event["sequence"].clone());
    assert!(last.is_none_or(|last| last.as_u64() < Some(203)), "its stream ended before the turn did");
    until_lease(&client, |lease| lease["observers"].as_array().unwrap().len() == 1).await;
}

#[tokio::test]
async fn who_attaches_in_the_middle_of_a_long_turn_misses_nothing() {
    let (host, mut script) = host().await;
    let driver = Client::new(&host, "driver");
    driver.ok("frontend.v2.send_input", json!({ "prompt": "go" })).await;
    script.prompted().await;
    for at in 0..10_000 {
        script.event("text_delta", json!({ "text": "w ", "raw": { "at": at } })).await;
    }
    let late = Client::new(&host, "late");
    let mut listening = late.listen().await;
    let attached = late.ok("frontend.v2.attach", json!({})).await;
    script.say("end").await;
    script.end().await;
    listening.event("turn_succeeded").await;
    let number = |event: &Value| event["sequence"].as_u64().unwrap();
    let replay: Vec<_> = attached["replay"].as_array().unwrap().iter().map(number).collect();
    let known = replay.last().copied().unwrap();
    let live: Vec<_> = listening.events().iter().map(number).filter(|live| *live > known).collect();
    assert_eq!([replay, live].concat(), (1..=10_004).collect::<Vec<_>>());
}

#[tokio::test]
async fn reconnecting_again_and_again_leaves_nothing_behind() {
    let (host, _script) = host().await;
    for _ in 0..300 {
        drop(Client::new(&host, "a").listen().await);
    }
    let other = Client::new(&host, "b");
    until_lease(&other, |lease| lease["observers"] == json!([])).await;
}
