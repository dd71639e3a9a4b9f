use super::*;
use std::fmt::Write as _;

async fn refused(host: &Host, request: String, status_: u16) -> Value {
    let answer = exchange(host, &request).await;
    assert_eq!(status(&answer), status_, "{request}\n{answer}");
    assert!(answer.contains("Connection: close\r\n"), "{answer}");
    body(&answer)
}

fn call(headers: &[&str]) -> String {
    request("POST /rpc", headers, r#"{"id":1,"method":"status"}"#)
}

#[tokio::test]
async fn every_route_and_no_other() {
    let (host, _script) = host().await;
    let own = bearer();
    for line in [
        "GET /",
        "GET /rpc",
        "PUT /rpc",
        "DELETE /rpc",
        "OPTIONS /rpc",
        "OPTIONS *",
        "POST /rpc/",
        "POST //rpc",
        "POST /frontend/events",
        "GET /events",
        "GET /observer",
        "GET /observer/app.mjs",
        "GET /frontend/client.mjs",
        "GET /frontend/v2",
        "GET /_supercode/frontend-credentials/mint",
        "POST /_supercode",
        "PATCH /nope",
    ] {
        assert_eq!(refused(&host, request(line, &[&own], ""), 404).await, json!({ "error": "not found" }), "{line}");
        assert_eq!(refused(&host, request(line, &[], ""), 401).await["error"]["name"], "unauthenticated", "{line}");
    }
    let head = exchange(&host, request("HEAD /rpc", &[&own], "")).await;
    assert_eq!(status(&head), 404);
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    assert_eq!(status(&exchange(&host, call(&[&own])).await), 200);
    assert_eq!(status(&exchange(&host, call(&[&own]).replace("/rpc", "/rpc?a=b")).await), 200);
}

#[tokio::test]
async fn independent_client_sees_statuses_credentials_and_no_redirect() {
    let (host, _script) = host().await;
    let owner = Client::new(&host, "o");
    for (method, path, status) in [
        (Method::GET, "/", StatusCode::NOT_FOUND),
        (Method::HEAD, "/rpc", StatusCode::NOT_FOUND),
        (Method::PUT, "/rpc", StatusCode::NOT_FOUND),
        (Method::OPTIONS, "/rpc", StatusCode::NOT_FOUND),
    ] {
        assert_eq!(soon(owner.ask(method, path).send()).await.unwrap().status(), status, "{path}");
    }
    let unknown = owner.http.post(format!("{}/rpc", host.base_url())).body("{}").send();
    assert_eq!(soon(unknown).await.unwrap().status(), StatusCode::UNAUTHORIZED);

    let credentials = |action: &str, asked: Value| {
        owner.ask(Method::POST, &format!("/_supercode/frontend-credentials/{action}")).json(&asked).send()
    };
    let minted = soon(credentials("mint", json!({ "clientId": "m", "grant": "observer" }))).await.unwrap();
    let token = minted.text().await.unwrap();
    let theirs = async || {
        let asked = json!({ "id": 1, "method": "frontend.v2.lease" });
        let request = owner.http.post(format!("{}/rpc", host.base_url())).bearer_auth(&token).header(CLIENT_ID, "m");
        soon(request.json(&asked).send()).await.unwrap().status()
    };
    assert_eq!(theirs().await, StatusCode::OK);
    soon(credentials("revoke", json!({ "clientId": "m" }))).await.unwrap().error_for_status().unwrap();
    assert_eq!(theirs().await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_token_counts_in_its_header_alone_and_whole() {
    let (host, _script) = host().await;
    for header in [
        "X-A: b".to_owned(),
        "Authorization:".to_owned(),
        format!("Authorization: {TOKEN}"),
        format!("Authorization: bearer {TOKEN}"),
        format!("Authorization: Bearer  {TOKEN}"),
        format!("Authorization: Bearer {}", &TOKEN[1..]),
        format!("Authorization: Bearer {TOKEN}0"),
        format!("Authorization: Bearer {}", TOKEN.to_uppercase()),
        format!("Authorization: Basic {TOKEN}"),
        format!("Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer {TOKEN}"),
    ] {
        let answer = refused(&host, call(&[&header]), 401).await;
        let expected = json!({ "id": null, "error": { "code": -32030, "name": "unauthenticated", "operation": null,
            "message": "SDK runtime authentication required" } });
        assert_eq!(answer.to_string(), expected.to_string(), "{header}");
    }
    let query = call(&[]).replace("/rpc", &format!("/rpc?token={TOKEN}"));
    refused(&host, query, 401).await;
    let cased = exchange(&host, call(&[&format!("aUTHORIZATION: Bearer {TOKEN}")])).await;
    assert_eq!(status(&cased), 200);
}

#[tokio::test]
async fn client_ids_and_permissions_are_what_they_may_be() {
    let (host, _script) = host().await;
    let own = bearer();
    let long = "a".repeat(129);
    for id in ["", "bad id!", "a/b", "ä", &long, "a\r\nx-supercode-client-id: a"] {
        let answer = refused(&host, call(&[&own, &format!("x-supercode-client-id: {id}")]), 403).await;
        assert_eq!(answer["error"]["permission"], "client_id", "{id}");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32031)));
    }
    for words in [
        "observe, interact",
        "observe,",
        ",",
        "Observe",
        "message",
        "observe,nope",
        "observe\r\nx-supercode-permissions: observe",
    ] {
        let answer = refused(&host, call(&[&own, &format!("x-supercode-permissions: {words}")]), 403).await;
        assert_eq!(answer["error"]["permission"], "authorization", "{words}");
    }
    let longest = format!("x-supercode-client-id: {}", "a".repeat(128));
    assert_eq!(
        status(&exchange(&host, call(&[&own, &longest, "x-supercode-permissions: observe,terminate"])).await),
        200
    );
    let anonymous = request("POST /rpc", &[&own], r#"{"id":1,"method":"frontend.acquire_control"}"#);
    assert_eq!(body(&exchange(&host, anonymous).await)["result"]["controller"]["client_id"], "legacy-owner");
}

#[tokio::test]
async fn no_web_page_is_let_in_whatever_name_it_uses() {
    let (host, _script) = host().await;
    let (own, address) = (bearer(), address(&host));
    let port = address.rsplit(':').next().unwrap();
    for origin in ["null", "http://evil.example", "http://127.0.0.1", ""] {
        let answer = refused(&host, call(&[&own, &format!("Origin: {origin}")]), 403).await;
        assert_eq!(answer["error"]["permission"], "origin");
    }
    let named = |name: &str| call(&[&own]).replace("Host: 127.0.0.1", &format!("Host: {name}"));
    for name in [
        "evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil",
        "127.0.0.1:1",
        "127.0.0.2",
        "[::1",
        "[::1]:1",
        "::1",
        "localhostx",
        &format!("evil:{port}"),
        &format!("127.0.0.1:{port}0"),
        &format!("127.0.0.1\r\nHost: 127.0.0.1:{port}"),
        "",
    ] {
        refused(&host, named(name), 403).await;
    }
    for name in ["127.0.0.1", "localhost", "LocalHost", "[::1]"] {
        assert_eq!(status(&exchange(&host, named(name)).await), 200, "{name}");
        assert_eq!(status(&exchange(&host, named(&format!("{name}:{port}"))).await), 200, "{name}");
    }
    let nameless = call(&[&own]).replace("Host: 127.0.0.1\r\n", "");
    refused(&host, nameless.clone(), 403).await;
    assert_eq!(status(&exchange(&host, nameless.replace("HTTP/1.1", "HTTP/1.0")).await), 200);
    let page = call(&["Origin: null"]);
    refused(&host, page, 403).await;
}

#[tokio::test]
async fn envelopes_are_read_as_others_read_them() {
    let (host, _script) = host().await;
    let own = bearer();
    let ask = async |text: &str| body(&exchange(&host, request("POST /rpc", &[&own], text)).await);
    for id in ["1", "-1.5", "null", "\"x\"", "{\"a\":[1]}", "123456789012345678901234567890", "1e400"] {
        let answer = exchange(
            &host,
            request("POST /rpc", &[&own], &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"status"}}"#)),
        )
        .await;
        assert!(answer.contains(&format!("\r\n\r\n{{\"id\":{id},\"result\":{{")), "{answer}");
    }
    for text in [
        "",
        r#"[7,"status",null]"#,
        r#"[1,"frontend.v2.take_control",{"id":3}]"#,
        "null",
        "{nope",
        "[]",
        r#"[{"id":1,"method":"status"}]"#,
        r#"{"method":"status"}"#,
        r#"{"id":1}"#,
        r#"{"id":1,"method":2}"#,
        "7",
        &"[".repeat(200),
    ] {
        let answer = ask(text).await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32700)), "{text}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("parse error: ") && !message.contains("Request"), "{message}");
        assert_eq!(answer["error"].as_object().unwrap().len(), 2);
    }
    assert_eq!(
        ask(r#"{"id":1,"method":"frontend.v2.nope"}"#).await["error"],
        json!({ "code": -32601, "message": "unknown method `frontend.v2.nope`" })
    );
    let mut lossy = request("POST /rpc", &[&own], r#"{"id":"~","method":"status"}"#).into_bytes();
    let at = lossy.iter().position(|byte| *byte == b'~').unwrap();
    lossy[at] = 0xff;
    assert_eq!(body(&exchange(&host, lossy).await)["id"], "\u{fffd}");
}

#[tokio::test]
async fn params_are_what_the_method_takes_or_refused_and_nothing_is_built_of_the_rest() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    for (method, params) in [
        ("frontend.v2.lease", json!("x")),
        ("frontend.v2.take_control", json!(["a"])),
        ("status", json!(7)),
        ("frontend.v2.attach", json!({ "limit": -1 })),
        ("frontend.v2.attach", json!({ "limit": "x" })),
        ("frontend.v2.attach", json!({ "limit": 1.5 })),
        ("frontend.v2.attach", json!({ "limit": 1e30 })),
        ("history", json!({ "limit": [] })),
        ("submit", json!(["say it"])),
        ("submit", json!({ "prompt": " \n" })),
        ("frontend.v2.send_input", json!({ "prompt": "" })),
        ("frontend.v2.respond", json!({ "response": ["approval", 1, "allow"] })),
        ("frontend.v2.invoke", json!({ "operation": ["model", "model:switch", "", "other"] })),
    ] {
        assert_eq!(client.error(method, params.clone()).await["code"], -32602, "{method} {params}");
    }
    assert!(script.asks.try_recv().is_err(), "the agent was asked nothing");
    assert_eq!(client.ok("frontend.v2.lease", Value::Null).await["controller"], json!(null));
    for limit in [json!(null), json!(0), json!(u64::MAX)] {
        client.ok("frontend.v2.attach", json!({ "limit": limit })).await;
    }
    // Nothing can be built that is nested so deep.
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let asked = format!(r#"{{"id":1,"method":"status","params":{{"x":{deep},"prompt":{deep}}}}}"#);
    assert_eq!(body(&exchange(&host, client.write("POST /rpc", &asked)).await)["result"]["busy"], false);
}

#[tokio::test]
async fn bodies_come_in_every_form_that_http_knows() {
    let (host, _script) = host().await;
    let head = format!("POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\n{}\r\nConnection: close\r\n", bearer());
    let asked = r#"{"id":5,"method":"status"}"#;
    let chunked = format!(
        "{head}Transfer-Encoding: chunked\r\n\r\n5;a=b\r\n{}\r\n{:x}\r\n{}\r\n0\r\nX-T: u\r\n\r\n",
        &asked[..5],
        asked.len() - 5,
        &asked[5..]
    );
    assert_eq!(body(&exchange(&host, chunked).await)["id"], 5);
    let expecting = format!("{head}Expect: 100-continue\r\nContent-Length: {}\r\n\r\n{asked}", asked.len());
    assert!(exchange(&host, expecting).await.contains("HTTP/1.1 200 OK"));
    let kind =
        format!("{head}Content-Type: text/plain; charset=utf-16\r\nContent-Length: {}\r\n\r\n{asked}", asked.len());
    assert_eq!(body(&exchange(&host, kind).await)["id"], 5);
    let coded = format!("{head}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n{asked}", asked.len());
    assert_eq!(status(&exchange(&host, coded).await), 415);
    for bad in
        ["Content-Length: x", "Content-Length: -1", "Content-Length: 1\r\nContent-Length: 2", "Transfer-Encoding: gzip"]
    {
        assert_eq!(status(&exchange(&host, format!("{head}{bad}\r\n\r\n{asked}")).await), 400, "{bad}");
    }
    let chunks = format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n");
    assert_eq!(status(&exchange(&host, chunks).await), 400);
    for nonsense in [
        "nonsense\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/3.0\r\n\r\n",
        "\u{1}\u{2}\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
    ] {
        assert_eq!(status(&exchange(&host, nonsense).await), 400, "{nonsense}");
    }
}

#[tokio::test]
async fn a_connection_carries_one_request_after_the_other_and_several_at_once() {
    let (host, _script) = host().await;
    let mut socket = dial(&host).await;
    let one = |id: usize, last: bool| {
        let asked = json!({ "id": id, "method": "status" }).to_string();
        let close = if last { "Connection: close\r\n" } else { "" };
        format!(
            "POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\n{}\r\n{close}Content-Length: {}\r\n\r\n{asked}",
            bearer(),
            asked.len()
        )
    };
    let mut all = String::new();
    for id in 0..20 {
        let _ = write!(all, "{}", one(id, id == 19));
    }
    socket.write_all(all.as_bytes()).await.unwrap();
    let answers = to_end(&mut socket).await;
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 20, "{answers}");
    let at: Vec<_> = (0..20).map(|id| answers.find(&format!("{{\"id\":{id},")).unwrap()).collect();
    assert!(at.is_sorted(), "in their order");
    // Who says that nothing follows is answered all the same.
    let mut half = dial(&host).await;
    half.write_all(one(1, false).as_bytes()).await.unwrap();
    half.shutdown().await.unwrap();
    assert_eq!(status(&to_end(&mut half).await), 200);
}

#[tokio::test]
async fn the_owner_makes_credentials_that_are_bound_and_takes_them_back() {
    let (host, _script) = host().await;
    let own = bearer();
    let mint = |headers: &[&str], text: &str| request("POST /_supercode/frontend-credentials/mint", headers, text);
    let revoke = |text: &str| request("POST /_supercode/frontend-credentials/revoke", &[&own], text);
    for (text, error) in [
        ("{", None),
        (r#"{"grant":"observer"}"#, Some("mint request omitted clientId")),
        (r#"{"clientId":"m","grant":"owner"}"#, Some("grant must be observer or interactive")),
        (r#"{"clientId":"m"}"#, Some("grant must be observer or interactive")),
        (r#"{"clientId":"m n","grant":"observer"}"#, None),
    ] {
        let answer = refused(&host, mint(&[&own], text), 400).await;
        assert!(error.is_none_or(|error| answer == json!({ "error": error })), "{answer}");
    }
    let made = exchange(&host, mint(&[&own], r#"{"clientId":"m","grant":"interactive"}"#)).await;
    assert!(
        made.contains("Content-Type: application/octet-stream\r\n") && made.contains("Connection: close\r\n"),
        "{made}"
    );
    let token = made.split_once("\r\n\r\n").unwrap().1;
    assert!(token.len() == 64 && token.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{made}");
    let theirs = format!("Authorization: Bearer {token}");
    let named = "x-supercode-client-id: m";
    let ask = |headers: &[&str], method: &str| {
        request("POST /rpc", headers, &json!({ "id": 1, "method": method }).to_string())
    };
    assert_eq!(body(&exchange(&host, ask(&[&theirs, named], "status")).await)["result"]["busy"], false);
    assert_eq!(refused(&host, ask(&[&theirs], "status"), 403).await["error"]["permission"], "client_id");
    assert_eq!(
        refused(&host, ask(&[&theirs, "x-supercode-client-id: n"], "status"), 403).await["error"]["permission"],
        "client_id"
    );
    let closing = body(&exchange(&host, ask(&[&theirs, named], "frontend.v2.close")).await);
    assert_eq!(closing["error"]["permission"], "terminate");
    let all = "x-supercode-permissions: observe,interact,approve,terminate";
    let closing = body(&exchange(&host, ask(&[&theirs, named, all], "frontend.v2.close")).await);
    assert_eq!(closing["error"]["permission"], "terminate", "a header never widens");
    let observer = r#"{"clientId":"o","grant":"observer"}"#;
    assert_eq!(refused(&host, mint(&[&theirs, named], observer), 403).await["error"]["permission"], "bootstrap");
    let narrowed = mint(&[&own, "x-supercode-permissions: observe,interact"], observer);
    assert_eq!(refused(&host, narrowed, 403).await["error"]["permission"], "bootstrap", "narrowed, it is no owner");
    refused(&host, mint(&[], observer), 401).await;

    let mut stream = dial(&host).await;
    stream.write_all(request("GET /frontend/events", &[&theirs, named], "").as_bytes()).await.unwrap();
    let mut listening = Listening { socket: stream, read: String::new() };
    listening.until("\r\n\r\n").await;
    let owner = Client::new(&host, "owner");
    until_lease(&owner, |lease| lease["observers"][0]["client_id"] == "m").await;
    assert_eq!(body(&exchange(&host, revoke(r#"{"clientId":"m"}"#)).await), json!({ "revoked": true }));
    assert_eq!(owner.ok("frontend.v2.lease", json!({})).await["observers"], json!([]), "it was waited for");
    assert!(listening.rest().await.is_empty(), "the stream has ended");
    refused(&host, ask(&[&theirs, named], "status"), 401).await;
    assert_eq!(body(&exchange(&host, revoke(r#"{"clientId":"m"}"#)).await), json!({ "revoked": false }));
    assert_eq!(refused(&host, revoke("{}"), 400).await, json!({ "error": "revoke request omitted clientId" }));
}

#[tokio::test]
async fn a_request_that_was_begun_with_a_credential_is_not_carried_out_without_it() {
    let (host, mut script) = host().await;
    let own = bearer();
    let door =
        |name: &str, text: &str| request(&format!("POST /_supercode/frontend-credentials/{name}"), &[&own], text);
    let made = exchange(&host, door("mint", r#"{"clientId":"m","grant":"interactive"}"#)).await;
    let theirs = format!("Authorization: Bearer {}", made.split_once("\r\n\r\n").unwrap().1);
    let asked = r#"{"id":1,"method":"frontend.v2.send_input","params":{"prompt":"x"}}"#;
    let whole = request("POST /rpc", &[&theirs, "x-supercode-client-id: m", "Expect: 100-continue"], asked);
    let (head, rest) = whole.split_at(whole.len() - 5);
    let mut socket = dial(&host).await;
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut begun = [0; 25];
    socket.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(body(&exchange(&host, door("revoke", r#"{"clientId":"m"}"#)).await)["revoked"], true);
    socket.write_all(rest.as_bytes()).await.unwrap();
    assert_eq!(status(&to_end(&mut socket).await), 401);
    assert!(script.asks.try_recv().is_err(), "the agent was asked nothing");
}
