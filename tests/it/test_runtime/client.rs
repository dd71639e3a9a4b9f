//! A client of plain sockets, and the captured exchanges.

use crate::support::DEADLINE;
use crate::support::runtime::{Runtime, SENTINEL_TOKEN};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

/// An answer as it came.
pub struct Reply {
    pub status: String,
    pub headers: Vec<String>,
    pub body: Vec<u8>,
}

impl Reply {
    /// `None` of bytes that are not even a whole head.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..end]);
        let mut lines = head.split("\r\n").map(str::to_owned);
        Some(Self { status: lines.next()?, headers: lines.collect(), body: bytes[end + 4..].to_vec() })
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }
}

/// Who asks, and with which rights.
#[derive(Clone, Copy)]
pub struct Client<'a> {
    pub address: SocketAddr,
    pub id: &'a str,
    pub permissions: Option<&'a str>,
}

impl<'a> Client<'a> {
    pub fn new(runtime: &Runtime, id: &'a str) -> Self {
        Self { address: runtime.address(), id, permissions: None }
    }

    pub fn narrowed(self, permissions: &'a str) -> Self {
        Self { permissions: Some(permissions), ..self }
    }

    fn head(&self, line: &str, length: usize) -> String {
        let narrowed = self.permissions.map(|list| format!("x-supercode-permissions: {list}\r\n")).unwrap_or_default();
        let id = self.id;
        format!(
            "{line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {SENTINEL_TOKEN}\r\nx-supercode-client-id: {id}\r\n\
            {narrowed}Content-Length: {length}\r\n\r\n"
        )
    }

    pub fn request(&self, method: &str, params: Value) -> Vec<u8> {
        let body = json!({ "id": 1, "method": format!("frontend.v2.{method}"), "params": params }).to_string();
        [self.head("POST /rpc", body.len()).as_bytes(), body.as_bytes()].concat()
    }

    /// Calls a method: the whole envelope of its answer.
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Value {
        let mut socket = self.connect();
        socket.write_all(&self.request(method, params)).expect("a runtime that reads");
        read_reply(&mut BufReader::new(socket)).json()
    }

    #[track_caller]
    pub fn result(&self, method: &str, params: Value) -> Value {
        let mut envelope = self.call(method, params);
        assert!(envelope.get("error").is_none(), "{envelope}");
        envelope["result"].take()
    }

    #[track_caller]
    pub fn error(&self, method: &str, params: Value) -> Value {
        let mut envelope = self.call(method, params);
        assert!(envelope.get("result").is_none(), "{envelope}");
        envelope["error"].take()
    }

    /// All that comes back before the end of the connection; a reset is an end, too.
    pub fn raw(&self, method: &str) -> Vec<u8> {
        raw(self.address, &self.request(method, json!({})))
    }

    pub fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    /// Opens a stream; its head must be right.
    #[track_caller]
    pub fn listen(&self, path: &str) -> Events {
        let mut socket = self.connect();
        socket.write_all(self.head(&format!("GET {path}"), 0).as_bytes()).expect("a runtime that reads");
        let mut events = Events(BufReader::new(socket));
        let head = "HTTP/1.1 200 OK\nContent-Type: text/event-stream\nCache-Control: no-cache\nConnection: close\n\n";
        let lines: Vec<_> = std::iter::from_fn(|| events.line()).take(5).collect();
        assert_eq!(lines.concat(), head.replace('\n', "\r\n"));
        events
    }
}

/// One answer of a connection that may go on.
#[track_caller]
pub fn read_reply(from: &mut BufReader<TcpStream>) -> Reply {
    let mut bytes = vec![];
    while !bytes.ends_with(b"\r\n\r\n") {
        let length = from.read_until(b'\n', &mut bytes).expect("a head");
        assert_ne!(length, 0, "the connection ended: {:?}", String::from_utf8_lossy(&bytes));
    }
    let mut reply = Reply::parse(&bytes).expect("a head");
    let length = reply.headers.iter().find_map(|header| header.strip_prefix("Content-Length: ")).expect("a length");
    reply.body.resize(length.parse().expect("a number"), 0);
    from.read_exact(&mut reply.body).expect("a body");
    reply
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).expect("a runtime that listens");
    socket.set_read_timeout(Some(DEADLINE)).expect("an option");
    socket
}

pub fn raw(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut socket = connect(address);
    let _ = socket.write_all(request);
    let mut bytes = vec![];
    if let Err(error) = socket.read_to_end(&mut bytes) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
    }
    bytes
}

/// An open stream.
pub struct Events(pub BufReader<TcpStream>);

impl Events {
    pub fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.0.read_line(&mut line).ok().filter(|length| *length > 0)?;
        Some(line)
    }

    /// The text of the next event, or `None` at the end.
    pub fn text(&mut self) -> Option<String> {
        let began = Instant::now();
        loop {
            let line = self.line()?;
            // Comments come for ever, and each puts off the socket's own time limit.
            assert!(began.elapsed() < DEADLINE, "no event came");
            if let Some(text) = line.strip_prefix("data: ") {
                assert_eq!(self.line().as_deref(), Some("\n"));
                return Some(text.trim_end().to_owned());
            }
        }
    }

    #[track_caller]
    pub fn event(&mut self) -> Value {
        serde_json::from_str(&self.text().expect("an event")).expect("JSON")
    }

    #[track_caller]
    pub fn expect(&mut self, kind: &str) -> Value {
        let event = self.event();
        assert_eq!(event["kind"], kind, "{event}");
        event
    }
}

/// One captured exchange.
pub struct Exchange {
    pub title: String,
    pub request: Vec<u8>,
    /// `None` where the connection was dropped without an answer.
    pub reply: Option<Reply>,
}

pub fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/runtime/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(path).expect("a fixture")
}

pub fn exchanges(name: &str) -> Vec<Exchange> {
    let text = fixture(name);
    text.trim_start_matches("### ").split("\n### ").map(exchange).collect()
}

fn exchange(text: &str) -> Exchange {
    let (title, rest) = text.split_once("\n>>> request\n").expect("a request");
    let (request, reply) = rest.split_once("\n<<< response\n").expect("a response");
    let (head, body) = request.split_once("\n\n").unwrap_or((request, ""));
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let length = length.map_or(0, |length| length.parse().expect("a number"));
    let crlf = |head: &str| format!("{}\r\n\r\n", head.trim_end().replace('\n', "\r\n"));
    let request = [crlf(head).as_bytes(), body.get(..length).unwrap_or("").as_bytes()].concat();
    let (head, body) = reply.split_once("\n\n").unwrap_or((reply, ""));
    let reply = Reply::parse(&[crlf(head).as_bytes(), body.trim_end().as_bytes()].concat());
    Exchange { title: title.to_owned(), request, reply: reply.filter(|reply| reply.status.starts_with("HTTP/")) }
}

/// The texts of a captured stream's events.
pub fn events(name: &str) -> Vec<String> {
    fixture(name).lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
}
