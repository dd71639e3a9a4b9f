mod answers;
mod captures;
mod connections;
mod errors;
mod events;
mod secrets;

use super::{Caller, Client};
use crate::protocol::{Permission, Token};
use crate::runtime::{Api, Reply};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// The token in the captured exchanges.
const TOKEN: &str = "5e475e475e475e475e475e475e475e475e475e475e475e475e475e475e475e47";

/// A request as it came over the wire.
struct Seen {
    head: String,
    body: Vec<u8>,
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// A runtime that is played: each connection is a thread that runs the given play.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    seen: Mutex<mpsc::Receiver<Seen>>,
}

impl Server {
    /// `play` gets the connection and how many there were before.
    fn play(play: impl Fn(Peer, usize) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let (sender, seen) = mpsc::channel();
        let (counter, play) = (Arc::clone(&connections), Arc::new(play));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let peer = Peer { stream: stream.unwrap(), seen: sender.clone() };
                peer.stream.set_nodelay(true).unwrap();
                let (before, play) = (counter.fetch_add(1, Ordering::SeqCst), Arc::clone(&play));
                std::thread::spawn(move || play(peer, before));
            }
        });
        Self { address, connections, seen: Mutex::new(seen) }
    }

    /// Gives each request the next of `answers`, and closes the connection when there are no more.
    fn answering(answers: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let answers = Mutex::new(answers.into_iter().collect::<Vec<_>>().into_iter());
        Self::play(move |mut peer, _| {
            while peer.request() {
                let next = answers.lock().unwrap().next();
                let Some(answer) = next else { return };
                peer.send(&answer);
            }
        })
    }

    fn client(&self) -> Client {
        client_of(vec![self.address])
    }

    fn api(&self) -> Api {
        Api::new(Arc::new(self.client()), caller())
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The next request that came.
    fn seen(&self) -> Seen {
        self.seen.lock().unwrap().recv().unwrap()
    }
}

/// The runtime's end of a connection.
struct Peer {
    stream: TcpStream,
    seen: mpsc::Sender<Seen>,
}

impl Peer {
    /// Reads the head of a request; `None` where the client hung up.
    fn head(&mut self) -> Option<String> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            self.stream.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        Some(String::from_utf8(head).unwrap())
    }

    /// Reads one request; false where the client hung up.
    fn request(&mut self) -> bool {
        let Some(head) = self.head() else { return false };
        let mut seen = Seen { head, body: Vec::new() };
        let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
        seen.body.resize(length, 0);
        let whole = self.stream.read_exact(&mut seen.body).is_ok();
        let _ = self.seen.send(seen);
        whole
    }

    /// Sends all of it; false where the client hung up.
    fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Waits until the client hangs up.
    fn wait_closed(mut self) {
        while self.stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {}
    }
}

fn client_of(candidates: Vec<SocketAddr>) -> Client {
    Client::new(candidates, "127.0.0.1:1".to_owned(), Token::new(TOKEN.to_owned())).unwrap()
}

fn caller() -> Caller {
    Caller { client_id: "cap-1".to_owned(), permissions: Permission::ALL.to_vec() }
}

/// A whole answer of this status, on a connection that stays open.
fn http(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .into()
}

fn ok(body: &str) -> Vec<u8> {
    http("200 OK", body)
}

/// Fails where it would hang.
async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("it hangs")
}

/// Calls a method of no meaning and gives its result, or the error's `Debug` form.
async fn call(client: &Client) -> Result<String, String> {
    let result = within(client.call(&caller(), "m", &(), 1 << 20)).await;
    result.map(|raw| raw.get().to_owned()).map_err(|error| format!("{error:?}"))
}
