//! The runtime's HTTP API, on a loopback port.
//!
//! hyper's own server speaks HTTP; four routes need no framework above it. What hyper leaves to others is here: how long a
//! client may take for its requests and its answers, how many there may be, and that none of them is a web page. Every
//! refusal has a body `{"error": ...}` but 400, 414 and 431, which hyper itself answers with none.
//!
//! Half of the connections may be streams of events, 8 of one client; one more is refused with 429. For a connection over
//! the bound the oldest silent one is closed, else the oldest that works for a client whose credential the owner made: only
//! the owner's own clients can keep the owner out, with 503.

mod admit;
mod answer;
mod credentials;
mod events;
mod params;
mod rpc;
mod socket;

#[cfg(test)]
pub(super) use rpc::{METHODS, Method};

use super::conversation::Conversation;
use crate::limits;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use socket::{Io, Phase, Socket};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// What is behind the door.
#[derive(Debug)]
struct Door {
    conversation: Arc<Conversation>,
    port: u16,
}

/// Lets clients in until the runtime has ended, and then waits a while until they have heard so.
pub(super) async fn open(listener: TcpListener, port: u16, conversation: Arc<Conversation>) {
    let over = conversation.over().clone();
    let door = Arc::new(Door { conversation, port });
    let mut connections = JoinSet::new();
    let mut sockets = Sockets::default();
    loop {
        let accepted = tokio::select! {
            () = over.cancelled() => break,
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        let Ok((stream, _)) = accepted else {
            // There is no room for it now; it waits at the listener.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        if sockets.make_room() {
            let socket = Arc::new(Socket::new(stream, over.child_token()));
            sockets.add(&socket);
            connections.spawn(serve(Arc::clone(&door), socket));
        } else {
            connections.spawn(refuse(stream));
        }
    }
    drop(listener);
    let _ = timeout(limits::HOST_FAREWELL * 2, async { while connections.join_next().await.is_some() {} }).await;
}

/// The open sockets, oldest first.
#[derive(Default)]
struct Sockets {
    last: u64,
    open: BTreeMap<u64, Weak<Socket>>,
}

impl Sockets {
    fn add(&mut self, socket: &Arc<Socket>) {
        self.last += 1;
        self.open.insert(self.last, Arc::downgrade(socket));
    }

    /// Makes room for one more, at the cost of who has been silent for the longest time, else of who is at work for a guest
    /// for the longest time: no guest keeps the owner out. False: all are at work for the owner.
    fn make_room(&mut self) -> bool {
        self.open.retain(|_, socket| socket.strong_count() > 0);
        if self.open.len() < limits::HOST_CONNECTIONS {
            return true;
        }
        let yielding = self.open.iter().filter_map(|(id, socket)| {
            let socket = socket.upgrade()?;
            let is_busy = !socket.is_silent();
            (!is_busy || socket.is_of_guest()).then(|| ((is_busy, socket.phase().1, *id), socket))
        });
        let Some(((.., id), socket)) = yielding.min_by_key(|(order, _)| *order) else { return false };
        socket.stop.cancel();
        self.open.remove(&id);
        true
    }
}

/// Speaks HTTP over one connection until it ends.
async fn serve(door: Arc<Door>, socket: Arc<Socket>) {
    let mut http = hyper::server::conn::http1::Builder::new();
    http.half_close(true)
        .auto_date_header(false)
        .title_case_headers(true)
        .max_headers(limits::HOST_HEADERS)
        .max_buf_size(limits::HOST_HEAD_BYTES);
    let answer = service_fn(|request| {
        let (door, socket) = (Arc::clone(&door), Arc::clone(&socket));
        async move { Ok::<_, Infallible>(door.answer(&socket, request).await) }
    });
    let mut connection = pin!(http.serve_connection(TokioIo::new(Io(Arc::clone(&socket))), answer));
    let mut farewell: Option<Instant> = None;
    let mut patience = pin!(sleep_until(socket.deadline()));
    loop {
        // What the connection is about changes while it is driven, and with it how long that may take.
        let late = poll_fn(|context| {
            let deadline = farewell.unwrap_or_else(|| socket.deadline());
            if patience.deadline() != deadline {
                patience.as_mut().reset(deadline);
            }
            patience.as_mut().poll(context)
        });
        tokio::select! {
            biased;
            _ = connection.as_mut() => break,
            () = socket.stop.cancelled(), if farewell.is_none() => {
                if socket.is_silent() && !door.conversation.over().is_cancelled() {
                    break;
                }
            }
            () = late => {
                if socket.phase().0 == Phase::Head {
                    socket.say("408 Request Timeout", "the request took too long");
                }
                break;
            }
        }
        farewell = Some(Instant::now() + limits::HOST_FAREWELL);
        connection.as_mut().graceful_shutdown();
    }
    // Nothing is owed any more, so it may be closed for another.
    socket.enter(Phase::Idle);
    tokio::select! {
        biased;
        () = socket.linger() => {}
        () = socket.stop.cancelled() => {}
    }
}

/// Turns a client away.
async fn refuse(stream: TcpStream) {
    let socket = Socket::new(stream, Default::default());
    socket.say("503 Service Unavailable", "all connections are at work");
    socket.linger().await;
}
