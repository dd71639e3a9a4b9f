use super::*;
use crate::protocol::RuntimeEvent;
use crate::runtime::{Error, EventStream};
use tokio::sync::oneshot;

const HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n";

/// A stream of this text, which the runtime then ends.
async fn open(text: impl Into<Vec<u8>>) -> EventStream {
    let text = text.into();
    let server = Server::play(move |mut peer, _| {
        peer.request();
        peer.send(HEAD.as_bytes());
        peer.send(&text);
    });
    within(server.api().events()).await.unwrap()
}

fn event(sequence: u64) -> String {
    format!("data: {{\"sequence\":{sequence},\"kind\":\"k\",\"payload\":{{}}}}\n\n")
}

async fn next(stream: &mut EventStream) -> Result<Option<RuntimeEvent>, Error> {
    within(stream.next()).await
}

#[tokio::test]
async fn an_end_is_told_and_so_is_a_cut() {
    let mut stream = open(event(7) + ": keep-alive\n\n").await;
    assert_eq!(next(&mut stream).await.unwrap().unwrap().sequence, Some(7));
    assert!(next(&mut stream).await.unwrap().is_none());
    assert!(next(&mut stream).await.unwrap().is_none());

    for cut in ["data: {\"sequence\":8", "data: {\"sequence\":8,\"kind\":\"k\"}\n"] {
        let mut stream = open(event(7) + cut).await;
        assert!(next(&mut stream).await.unwrap().is_some());
        assert!(matches!(next(&mut stream).await, Err(Error::Closed)), "{cut}");
        assert!(next(&mut stream).await.unwrap().is_none(), "nothing follows an error");
    }
}

#[tokio::test]
async fn numbers_are_exact_and_the_synthetic_one_is_an_end() {
    let last = r#"{"sequence":18446744073709551615,"kind":"runtime_disconnected","payload":{"message":"it is gone"}}"#;
    let mut stream = open(format!("{}data: {last}\n\n{}", event(u64::MAX - 1), event(1))).await;
    assert_eq!(next(&mut stream).await.unwrap().unwrap().sequence, Some(u64::MAX - 1));
    assert_eq!(stream.reason(), None);
    assert!(next(&mut stream).await.unwrap().is_none());
    assert_eq!(stream.reason(), Some("it is gone"));
    assert!(next(&mut stream).await.unwrap().is_none());
}

#[tokio::test]
async fn what_is_no_event_ends_the_stream() {
    for bad in [
        "data: {\n\n".to_owned(),
        "data: [1,\"k\",{}]\n\n".into(),
        "data: {\"kind\":\"k\",\"payload\":{}}\n\n".into(),
        "data: {\"sequence\":1.5,\"kind\":\"k\"}\n\n".into(),
        "data: {\"sequence\":-1,\"kind\":\"k\"}\n\n".into(),
        format!("data: {{\"sequence\":1,\"kind\":\"k\",\"payload\":{}{}}}\n\n", "[".repeat(128), "]".repeat(128)),
    ] {
        let mut stream = open(bad.clone() + &event(1)).await;
        assert!(matches!(next(&mut stream).await, Err(Error::Malformed(_))), "{bad}");
        assert!(next(&mut stream).await.unwrap().is_none());
    }
    let mut stream = open(b"data: {\"sequence\":1,\"kind\":\"\xff\"}\n\n".to_vec()).await;
    assert!(matches!(next(&mut stream).await, Err(Error::Malformed(_))));
}

#[tokio::test]
async fn an_event_of_many_lines_goes_on_as_one() {
    let mut stream = open(
        "data: {\"sequence\":1,\ndata: \"kind\":\"k\",\"cursor\":9,\ndata: \"payload\":{\"a\":\ndata: 1}}\n\ndata:\n\n",
    )
    .await;
    let event = next(&mut stream).await.unwrap().unwrap();
    assert_eq!(event.payload.as_ref().unwrap().get(), "{\"a\": 1}");
    assert_eq!((event.cursor, &event.reason), (None, &None), "members that are ours alone");
    assert!(next(&mut stream).await.unwrap().is_none(), "no data is no event");
}

#[tokio::test]
async fn a_large_event_passes_and_a_larger_one_does_not() {
    let event =
        |bytes: usize| format!("data: {{\"sequence\":1,\"kind\":\"k\",\"payload\":\"{}\"}}\n\n", "x".repeat(bytes));
    let mut stream = open(event(15 << 20) + &event(20_000_000)).await;
    let large = next(&mut stream).await.unwrap().unwrap();
    assert_eq!(large.payload.unwrap().get().len(), (15 << 20) + 2);
    assert!(matches!(next(&mut stream).await, Err(Error::TooLarge(_))));
}

#[tokio::test]
async fn a_stream_that_is_refused() {
    for (answer, found) in [
        (http("404 Not Found", r#"{"error":"not found"}"#), "Http"),
        (
            http(
                "403 Forbidden",
                r#"{"id":null,"error":{"code":-32031,"name":"unauthorized","permission":"observe"}}"#,
            ),
            "Remote",
        ),
        (ok("{}"), "Malformed"),
        (Vec::new(), "Closed"),
    ] {
        let server = Server::play(move |mut peer, _| {
            peer.request();
            peer.send(&answer);
        });
        let Err(error) = within(server.api().events()).await else { panic!("{found} is a stream") };
        assert!(format!("{error:?}").starts_with(found), "{error:?}");
    }
}

#[tokio::test]
async fn a_stream_lives_beside_calls_until_it_is_dropped() {
    let (closed, was_closed) = oneshot::channel();
    let closed = Mutex::new(Some(closed));
    let server = Server::play(move |mut peer, before| {
        while peer.request() {
            if before == 0 {
                peer.send(&ok(r#"{"result":{"controller":null,"observers":[],"lease_ttl_ms":5}}"#));
            } else {
                peer.send((HEAD.to_owned() + &event(1)).as_bytes());
                peer.wait_closed();
                closed.lock().unwrap().take().unwrap().send(()).unwrap();
                return;
            }
        }
    });
    let api = server.api();
    within(api.lease()).await.unwrap();
    let mut stream = within(api.events()).await.unwrap();
    within(api.lease()).await.unwrap();
    assert!(next(&mut stream).await.unwrap().is_some());
    assert_eq!(server.connections(), 2);
    drop(stream);
    within(was_closed).await.unwrap();

    server.seen();
    let seen = server.seen();
    assert!(seen.head.starts_with("GET /frontend/events HTTP/1.1\r\n"), "{}", seen.head);
    assert_eq!(seen.header("accept"), Some("text/event-stream"));
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
}
