//! HTTP as the real one speaks it, byte by byte: one thread a connection.

use super::bad::{Bad, Hand};
use super::fault::Fault;
use super::state::{Seen, Shared};
use super::{rpc, stream};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::sync::Arc;

/// The longest line of a head, and the longest body.
const LINE: u64 = 8 << 10;
const BODY: u64 = 16 << 20;
const HEADERS: usize = 200;

const PERMISSIONS: [&str; 4] = ["observe", "interact", "approve", "terminate"];

/// A request as it came.
pub struct Request {
    pub method: String,
    pub path: String,
    query: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    fn read(from: &mut BufReader<TcpStream>) -> Option<Self> {
        let first = line(from)?;
        let mut words = first.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut headers = vec![];
        while headers.len() < HEADERS {
            let header = line(from)?;
            if header.is_empty() {
                break;
            }
            let (name, value) = header.split_once(':')?;
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
        let (path, query) = (path.to_owned(), query.to_owned());
        let mut request = Self { method, path, query, headers, body: vec![] };
        let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        if length > BODY {
            return None;
        }
        request.body.resize(length as usize, 0);
        from.read_exact(&mut request.body).ok()?;
        Some(request)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    fn seen(&self, connection: u64) -> Seen {
        let header = |name: &str| self.header(name).map(str::to_owned);
        Seen {
            connection,
            line: format!("{} {}", self.method, self.path),
            rpc: rpc::method_of(&self.body),
            client: header("x-supercode-client-id"),
            permissions: header("x-supercode-permissions"),
            authorization: self.header("authorization").is_some(),
            headers: self.headers.iter().filter(|(name, _)| name != "authorization").cloned().collect(),
            body: self.body.clone(),
        }
    }
}

fn line(from: &mut BufReader<TcpStream>) -> Option<String> {
    let mut bytes = vec![];
    from.by_ref().take(LINE).read_until(b'\n', &mut bytes).ok()?;
    (bytes.pop()? == b'\n').then_some(())?;
    bytes.pop_if(|byte| *byte == b'\r');
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Who asks, and what of the token's rights is left.
pub struct Caller {
    pub client: String,
    permissions: Vec<String>,
}

impl Caller {
    pub fn may(&self, permission: &str) -> bool {
        self.permissions.iter().any(|own| own == permission)
    }

    pub fn require(&self, permission: &str) -> Result<(), Fault> {
        self.may(permission).then_some(()).ok_or_else(|| Fault::unauthorized(permission))
    }
}

/// A whole answer.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub is_last: bool,
}

impl Answer {
    pub fn json(status: u16, body: &Value) -> Self {
        Self { status, headers: vec![], body: body.to_string().into_bytes(), is_last: status != 200 }
    }

    pub fn head(&self) -> String {
        let connection = if self.is_last { "close" } else { "keep-alive" };
        let mut head =
            format!("HTTP/1.1 {} {}\r\nContent-Type: application/json\r\n", self.status, reason(self.status));
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head + &format!("Content-Length: {}\r\nConnection: {connection}\r\n\r\n", self.body.len())
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        _ => "Internal Server Error",
    }
}

/// Serves one connection to its end.
pub fn serve(shared: &Arc<Shared>, number: u64, socket: &TcpStream) {
    let Ok(reading) = socket.try_clone() else { return };
    let mut from = BufReader::new(reading);
    loop {
        let request = Request::read(&mut from);
        // A stopped process has read nothing, whatever the system took for it.
        let goes_on = shared.wait(|state| (!state.is_suspended).then_some(!state.is_ending));
        let (Some(request), Some(true)) = (request, goes_on) else { break };
        let seen = request.seen(number);
        let bad = shared.change(|state| {
            let bad = super::bad::take(&mut state.rules, &seen);
            state.seen.push(seen);
            bad
        });
        let hand = Hand { shared, socket, bad: bad.as_ref() };
        if !hand.misact(&request) || !respond(shared, number, &request, &hand) {
            break;
        }
    }
    if shared.change(|state| state.is_ending) {
        shared.shut_down();
    }
}

/// Answers one request; says whether the connection goes on.
fn respond(shared: &Arc<Shared>, number: u64, request: &Request, hand: &Hand) -> bool {
    let answer = match hand.instead(request) {
        Some(answer) => answer,
        None => match authenticate(shared, request) {
            Err(answer) => answer,
            Ok(caller) => match (request.method.as_str(), request.path.as_str()) {
                ("POST", "/rpc") => Answer::json(200, &rpc::call(shared, &caller, &request.body)),
                ("GET", path) if path == "/frontend/events" || (path == "/events" && shared.is_main()) => {
                    match caller.require("observe") {
                        Ok(()) => return stream::serve(hand, number, &caller, path == "/events"),
                        Err(fault) => Answer::json(403, &fault.answer(Value::Null)),
                    }
                }
                _ => Answer::json(404, &json!({ "error": "not found" })),
            },
        },
    };
    let mut answer = hand.reshape(answer);
    answer.is_last |= request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    if let Some(Bad::Held(name)) = hand.bad {
        shared.hold(name, false);
    }
    let is_sent = hand.send(&answer);
    // What was cut off is the last of it, and who closed the runtime has its answer now.
    is_sent && !answer.is_last && !shared.change(|state| state.is_ending)
}

fn authenticate(shared: &Shared, request: &Request) -> Result<Caller, Answer> {
    let (options, is_main) = (&shared.options, shared.is_main());
    let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let in_query = request.query.split('&').find_map(|pair| pair.strip_prefix("token="));
    if bearer.or(in_query) != Some(&options.token) {
        return Err(refusal(is_main, 401, Fault::unauthenticated(), "missing or invalid bearer token"));
    }
    let client = request.header("x-supercode-client-id").unwrap_or("legacy-owner");
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if !(1..=128).contains(&client.len()) || !client.bytes().all(is_word) {
        let status = if is_main { 403 } else { 400 };
        return Err(refusal(is_main, status, Fault::unauthorized("client_id"), "invalid runtime client id"));
    }
    let narrowed: Vec<_> = match request.header("x-supercode-permissions") {
        None => PERMISSIONS.to_vec(),
        Some("") => vec![],
        Some(list) => list.split(',').collect(),
    };
    if !narrowed.iter().all(|permission| PERMISSIONS.contains(permission)) {
        let status = if is_main { 403 } else { 400 };
        let text = "invalid runtime authorization grant";
        return Err(refusal(is_main, status, Fault::unauthorized("authorization"), text));
    }
    let permissions = narrowed.into_iter().map(str::to_owned).collect();
    Ok(Caller { client: client.to_owned(), permissions })
}

/// The two listeners refuse in different words.
pub fn refusal(is_main: bool, status: u16, fault: Fault, text: &str) -> Answer {
    let body = if is_main { fault.answer(Value::Null) } else { json!({ "error": text }) };
    Answer::json(status, &body)
}
