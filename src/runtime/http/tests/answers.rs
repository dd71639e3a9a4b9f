use super::*;
use crate::limits;
use crate::runtime::Error;
use serde_json::value::RawValue;

const RESULT: &str = r#"{"id":1,"result":{"a":1}}"#;

/// What a call makes of this answer, after which the runtime closes the connection.
async fn answer(bytes: impl Into<Vec<u8>>) -> Result<String, String> {
    let bytes = bytes.into();
    let server = Server::play(move |mut peer, _| {
        peer.request();
        peer.send(&bytes);
    });
    call(&server.client()).await
}

#[tokio::test]
async fn every_way_to_end_a_body() {
    let length = RESULT.len();
    for whole in [
        format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{RESULT}"),
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nConnection: close\r\n\r\n{RESULT}"),
        format!("HTTP/1.1 200 OK\r\n\r\n{RESULT}"),
        format!("HTTP/1.0 200 OK\r\n\r\n{RESULT}"),
        format!("HTTP/1.1 200 OK\nContent-Length: {length}\n\n{RESULT}"),
        format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}\r\n{:x}\r\n{}\r\n0\r\n\r\n",
            &RESULT[..5],
            length - 5,
            &RESULT[5..]
        ),
        format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x};ext=1\r\n{RESULT}\r\n0\r\nTrailer: x\r\n\r\n"
        ),
        format!(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{RESULT}"
        ),
    ] {
        assert_eq!(answer(&*whole).await.as_deref(), Ok(r#"{"a":1}"#), "{whole}");
        let server = Server::play({
            let whole = whole.clone();
            move |mut peer, _| {
                peer.request();
                whole.as_bytes().chunks(1).all(|byte| peer.send(byte));
            }
        });
        assert_eq!(call(&server.client()).await.as_deref(), Ok(r#"{"a":1}"#), "byte by byte: {whole}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_is_none() {
    for cut in [
        "",
        "HTTP/1.1 20",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n{\"id\":1,\"result\":{\"a\":1}}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n19\r\n{\"id\":1,\"result\":{\"a\":1}}\r\n",
    ] {
        assert_eq!(answer(cut).await.unwrap_err(), "Closed", "{cut}");
    }
    let server = Server::play(|_, _| {});
    assert_eq!(call(&server.client()).await.unwrap_err(), "Closed", "closed before the request was read");
}

#[tokio::test]
async fn what_is_no_answer_says_why() {
    let nested = |depth: usize| format!(r#"{{"id":1,"result":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(answer(ok(&nested(limits::NESTING - 1))).await.is_ok());
    for (bytes, why) in [
        (ok(&nested(limits::NESTING)), "nested"),
        (ok(&nested(200_000)), "nested"),
        (ok("{"), "JSON"),
        (ok(r#"{"id":1,"result":{}} x"#), "JSON"),
        (ok("{\"id\":1,\"result\":\"a\nb\"}"), "JSON"),
        (ok(r#"{"id":1,"result":{},"result":{}}"#), "duplicate"),
        (ok("[1,{}]"), "object"),
        (ok("{}"), "neither"),
        (ok(r#"{"id":1,"error":5}"#), "object"),
        (ok(r#"{"id":1,"error":{}}"#), "code"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n{\"\xff\":1}".to_vec(), "UTF-8"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{\"id\":1,\"result\":{}}".to_vec(), "JSON"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000000000000000000\r\n\r\n".to_vec(), "HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}".to_vec(), "HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".to_vec(), "HTTP"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n".to_vec(), "HTTP"),
        (b"HTTP/1.1 99999 OK\r\n\r\n".to_vec(), "HTTP"),
        (b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(), "HTTP"),
        (b"HTTP/0.9 200 OK\r\n\r\n".to_vec(), "HTTP"),
        (b"HTTP/2.0 200 OK\r\n\r\n".to_vec(), "HTTP"),
    ] {
        let error = answer(bytes.clone()).await.unwrap_err();
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(100)]).into_owned();
        assert!(error.starts_with("Malformed") && error.contains(why), "{shown}: {error}");
    }
}

#[tokio::test]
async fn upgrades_are_refused() {
    let error = answer("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n").await;
    assert!(error.as_ref().unwrap_err().contains("101"), "{error:?}");
    assert!(answer("HTTP/1.1 204 No Content\r\n\r\n").await.unwrap_err().contains("204"));
}

#[tokio::test]
async fn nothing_is_read_or_stored_over_its_bound() {
    let endless = |head: &'static str, more: &'static [u8]| async move {
        let server = Server::play(move |mut peer, _| {
            peer.request();
            peer.send(head.as_bytes());
            let more = more.repeat(1000);
            while peer.send(&more) {}
        });
        call(&server.client()).await.unwrap_err()
    };
    let line = b"X: 0123456789abcdef\r\n";
    assert!(endless("HTTP/1.1 200 OK\r\n", line).await.starts_with("Malformed"));
    assert!(endless("HTTP/1.1 200 OK\r\nX: ", b"xxxxxxxxxx").await.contains("too large"));
    assert!(endless("HTTP/1.1 200 ", b"xxxxxxxxxx").await.contains("too large"));
    let too_large = "TooLarge(\"the runtime's answer\")";
    assert_eq!(endless("HTTP/1.1 200 OK\r\n\r\n", b"          ").await, too_large);
    let chunk = b"a\r\n0123456789\r\n";
    assert_eq!(endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk).await, too_large);
    assert!(endless("HTTP/1.1 500 X\r\n\r\n", b"          ").await.contains("500"));
    for claim in ["1048577", "1000000000000000000", "18446744073709551600"] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {claim}\r\n\r\n");
        assert_eq!(answer(head).await.unwrap_err(), too_large, "{claim}");
    }
}

#[tokio::test]
async fn a_head_has_so_many_headers_and_no_more() {
    let head = |count: usize| format!("HTTP/1.1 200 OK\r\n{}\r\n{RESULT}", "X: y\r\n".repeat(count));
    assert!(answer(head(limits::RUNTIME_HEADERS)).await.is_ok());
    assert!(answer(head(limits::RUNTIME_HEADERS + 1)).await.unwrap_err().starts_with("Malformed"));
}

#[tokio::test]
async fn each_method_has_its_bound() {
    let long = |bytes: usize| ok(&format!(r#"{{"id":1,"result":{{"reply":"{}"}}}}"#, "x".repeat(bytes)));
    let server = Server::answering([long(limits::RUNTIME_SHORT_ANSWER), long(limits::RUNTIME_ANSWER), long(20 << 20)]);
    let api = server.api();
    assert!(matches!(within(api.describe()).await, Err(Error::TooLarge(_))));
    assert!(matches!(within(api.submit("p", &[])).await, Err(Error::TooLarge(_))));
    let Reply::Text(reply) = within(api.submit("p", &[])).await.unwrap() else { panic!("a number") };
    assert_eq!(reply.len(), 20 << 20);

    let prompt = "x".repeat(limits::RUNTIME_REQUEST);
    assert!(matches!(within(api.submit(&prompt, &[])).await, Err(Error::TooLarge(_))));
    assert_eq!(server.connections(), 3, "what no runtime takes is not sent");
}

#[tokio::test]
async fn a_result_comes_on_one_line_and_otherwise_as_it_was() {
    let spread = "{\r\n \"id\": 1,\n \"result\": {\n  \"b\": 18446744073709551615,\n  \"a\": 1.0e0, \"t\": \"\\n\\u00e9é\"\r\n }\n}\n";
    let expected = "{   \"b\": 18446744073709551615,   \"a\": 1.0e0, \"t\": \"\\n\\u00e9é\"   }";
    assert_eq!(answer(ok(spread)).await.unwrap(), expected);
}

#[tokio::test]
async fn a_long_explanation_is_cut() {
    let error = answer(ok(&format!(r#"{{"error":{{"code":"{}"}}}}"#, "x".repeat(100_000)))).await.unwrap_err();
    assert!(error.starts_with("Malformed") && error.len() < 1_000, "{}", error.len());
}

#[tokio::test]
async fn the_request_is_what_the_contract_wants() {
    let server = Server::answering([ok(RESULT), ok(RESULT)]);
    let client = server.client();
    let narrow = |permissions: &[Permission]| Caller { client_id: "a.B_c-9".into(), permissions: permissions.to_vec() };
    let params = RawValue::from_string(r#"{"limit":18446744073709551615}"#.into()).unwrap();
    let granted = [Permission::Start, Permission::Terminate, Permission::Observe, Permission::Message];
    within(client.call(&narrow(&granted), "frontend.v2.lease", &params, 99)).await.unwrap();
    let seen = server.seen();
    assert!(seen.head.starts_with("POST /rpc HTTP/1.1\r\n"), "{}", seen.head);
    for (name, value) in [
        ("host", "127.0.0.1:1"),
        ("authorization", &format!("Bearer {TOKEN}")),
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("x-supercode-client-id", "a.B_c-9"),
        ("x-supercode-permissions", "observe,terminate"),
    ] {
        assert_eq!(seen.header(name), Some(value), "{name}");
    }
    assert_eq!(seen.head.matches(TOKEN).count(), 1);
    let body = br#"{"id":1,"method":"frontend.v2.lease","params":{"limit":18446744073709551615}}"#;
    assert_eq!(seen.body, body);

    within(client.call(&narrow(&[]), "m", &(), 99)).await.unwrap();
    assert_eq!(server.seen().header("x-supercode-permissions"), Some(""), "the header is there and empty");
}

#[tokio::test]
async fn what_cannot_stand_in_a_header_is_refused_before_anything_is_sent() {
    let server = Server::answering([ok(RESULT)]);
    let caller = Caller { client_id: "a\r\nx: y".into(), permissions: Vec::new() };
    let error = within(server.client().call(&caller, "m", &(), 99)).await.unwrap_err();
    assert!(matches!(error, Error::Unsendable(_)), "{error:?}");
    assert_eq!(server.connections(), 0);
    for token in ["a\nb", "é\u{7f}"] {
        let client = Client::new(vec![server.address], "127.0.0.1:1".into(), Token::new(token.into()));
        let Err(Error::Unsendable(why)) = client else { panic!("{token:?} is no header") };
        assert!(!why.contains(token));
    }
}
