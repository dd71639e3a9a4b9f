use super::*;
use crate::limits;
use crate::runtime::Error;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use tokio::sync::oneshot;

const RESULT: &str = r#"{"id":1,"result":{}}"#;

#[tokio::test]
async fn one_connection_serves_calls_in_turn() {
    let server = Server::answering(vec![ok(RESULT); 3]);
    let client = server.client();
    for _ in 0..3 {
        assert_eq!(call(&client).await.unwrap(), "{}");
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_connection_that_the_runtime_closed_meanwhile_is_replaced() {
    let (close, may_close) = mpsc::channel();
    let (closed, was_closed) = mpsc::channel();
    let may_close = Mutex::new(may_close);
    let server = Server::play(move |mut peer, _| {
        peer.request();
        peer.send(&ok(RESULT));
        may_close.lock().unwrap().recv().unwrap();
        drop(peer);
        closed.send(()).unwrap();
    });
    let client = server.client();
    for count in 1..4 {
        call(&client).await.unwrap();
        // Nothing else runs on this thread meanwhile: the client finds out when it wants to use the connection.
        close.send(()).unwrap();
        was_closed.recv().unwrap();
        assert_eq!(server.connections(), count);
    }
}

#[tokio::test]
async fn a_connection_whose_request_was_answered_unread_is_closed() {
    let (closed, was_closed) = oneshot::channel();
    let closed = Mutex::new(Some(closed));
    let server = Server::play(move |mut peer, _| {
        peer.head().unwrap();
        peer.send(&ok(RESULT));
        while peer.send(b" ") {}
        closed.lock().unwrap().take().unwrap().send(()).unwrap();
    });
    let client = server.client();
    let long = "x".repeat(limits::RUNTIME_REQUEST - 100);
    within(client.call(&caller(), "m", &long, 99)).await.unwrap();
    assert!(client.idle().is_empty());
    within(was_closed).await.unwrap();
}

#[tokio::test]
async fn a_request_that_may_have_been_carried_out_is_not_repeated() {
    let server = Server::play(|mut peer, _| {
        peer.request();
        peer.send(&ok(RESULT));
        peer.request();
    });
    let client = server.client();
    call(&client).await.unwrap();
    assert_eq!(call(&client).await.unwrap_err(), "Closed");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn neither_an_old_connection_nor_one_with_unasked_bytes_is_used_again() {
    let (sent, was_sent) = mpsc::channel();
    let server = Server::play(move |mut peer, before| {
        while peer.request() {
            peer.send(&ok(RESULT));
            if before == 1 {
                peer.send(&ok(r#"{"id":1,"result":"of nothing"}"#));
            }
            sent.send(()).unwrap();
        }
    });
    let client = server.client();
    for connections in [1, 1, 2, 3] {
        if connections == 2 {
            client.idle()[0].since -= limits::RUNTIME_IDLE;
        }
        assert_eq!(call(&client).await.unwrap(), "{}");
        was_sent.recv().unwrap();
        assert_eq!(server.connections(), connections);
    }
}

#[tokio::test]
async fn held_requests_have_connections_of_their_own_and_few_are_kept() {
    let together = Arc::new(Barrier::new(limits::RUNTIME_IDLE_CONNECTIONS + 2));
    let server = Server::play(move |mut peer, _| {
        peer.request();
        together.wait();
        peer.send(&ok(RESULT));
        peer.wait_closed();
    });
    let client = server.client();
    let (a, b, c, d, e, f) =
        tokio::join!(call(&client), call(&client), call(&client), call(&client), call(&client), call(&client));
    for result in [a, b, c, d, e, f] {
        result.unwrap();
    }
    assert_eq!(server.connections(), 6);
    assert_eq!(client.idle().len(), limits::RUNTIME_IDLE_CONNECTIONS);
}

#[tokio::test]
async fn a_dropped_call_closes_its_connection() {
    let (arrived, has_arrived) = oneshot::channel();
    let (closed, was_closed) = oneshot::channel();
    let signals = Mutex::new(Some((arrived, closed)));
    let server = Server::play(move |mut peer, _| {
        peer.request();
        let (arrived, closed) = signals.lock().unwrap().take().unwrap();
        arrived.send(()).unwrap();
        // The head and a half of the body have come when the caller gives up.
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
        peer.wait_closed();
        closed.send(()).unwrap();
    });
    let client = server.client();
    tokio::select! {
        _ = call(&client) => panic!("nothing answers"),
        arrived = has_arrived => arrived.unwrap(),
    }
    within(was_closed).await.unwrap();
    assert!(client.idle().is_empty());
}

#[tokio::test]
async fn a_dropped_client_closes_what_it_kept() {
    let (closed, was_closed) = oneshot::channel();
    let closed = Mutex::new(Some(closed));
    let server = Server::play(move |mut peer, _| {
        peer.request();
        peer.send(&ok(RESULT));
        peer.wait_closed();
        closed.lock().unwrap().take().unwrap().send(()).unwrap();
    });
    let client = server.client();
    call(&client).await.unwrap();
    drop(client);
    within(was_closed).await.unwrap();
}

#[tokio::test]
async fn candidates_are_dialled_in_their_order() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(matches!(within(client_of(vec![gone]).call(&caller(), "m", &(), 9)).await, Err(Error::Refused(_))));
    assert!(call(&client_of(vec![])).await.unwrap_err().starts_with("Refused"));

    let (first, second) = (Server::answering([ok(RESULT)]), Server::answering([ok(RESULT)]));
    call(&client_of(vec![gone, first.address, second.address])).await.unwrap();
    assert_eq!((first.connections(), second.connections()), (1, 0));
}

#[tokio::test]
async fn no_redirect_is_followed() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Server::answering([ok(RESULT)]);
        let location =
            format!("HTTP/1.1 {status} X\r\nLocation: http://{}/rpc\r\nContent-Length: 0\r\n\r\n", elsewhere.address);
        let server = Server::answering([location.into_bytes()]);
        let error = within(server.client().call(&caller(), "m", &(), 9)).await.unwrap_err();
        assert!(matches!(error, Error::Http { status: found, .. } if found == status), "{error:?}");
        assert!(error.to_string().contains("redirect"), "{error}");
        assert_eq!(elsewhere.connections(), 0, "{status}");
    }
}

#[test]
fn no_proxy_of_the_environment_is_used() {
    let (runtime, proxy) = (Server::answering([ok(RESULT)]), Server::answering([ok(RESULT)]));
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "runtime::http::tests::connections::behind_a_proxy", "--ignored"]);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        child.env(name, format!("http://{}", proxy.address));
    }
    let mut child = child
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{}", runtime.address).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!((runtime.connections(), proxy.connections()), (1, 0));
}

#[tokio::test]
#[ignore = "the process with a proxy in its environment"]
async fn behind_a_proxy() {
    let mut address = String::new();
    if std::io::stdin().read_line(&mut address).unwrap() > 0 {
        call(&client_of(vec![address.trim().parse().unwrap()])).await.unwrap();
    }
}

#[tokio::test]
async fn dropped_call_closes_its_connection_and_sends_no_more_in_every_state() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
    for (state, reads_request, answer) in [
        ("the request is not read", false, ""),
        ("the answer begins before the request is read", false, head),
        ("nothing is answered", true, ""),
        ("the head is incomplete", true, &head[..20]),
        ("the body is incomplete", true, head),
    ] {
        let (arrived, has_arrived) = oneshot::channel();
        let (dropped, was_dropped) = mpsc::channel();
        let (ended, has_ended) = oneshot::channel();
        let signals = Mutex::new(Some((arrived, was_dropped, ended)));
        let server = Server::play(move |mut peer, _| {
            let (arrived, was_dropped, ended) = signals.lock().unwrap().take().unwrap();
            let seen = Seen { head: peer.head().unwrap(), body: Vec::new() };
            let mut body = vec![0; seen.header("content-length").unwrap().parse().unwrap()];
            if reads_request {
                peer.stream.read_exact(&mut body).unwrap();
            }
            peer.send(answer.as_bytes());
            arrived.send(()).unwrap();
            was_dropped.recv().unwrap();
            let all_came = !reads_request && peer.stream.read_exact(&mut body).is_ok();
            peer.wait_closed();
            ended.send(all_came).unwrap();
        });
        let client = server.client();
        let long = "x".repeat(limits::RUNTIME_REQUEST - 100);
        let caller = caller();
        tokio::select! {
            _ = client.call(&caller, "m", &long, 1 << 20) => panic!("nothing answers"),
            arrived = has_arrived => arrived.unwrap(),
        }
        dropped.send(()).unwrap();
        assert!(!within(has_ended).await.unwrap(), "{state}: the rest of the request was sent");
    }
}
