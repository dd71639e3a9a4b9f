//! What a runtime may do wrong.

use super::door::{Answer, Request, refusal};
use super::fault::Fault;
use super::options::Flavour;
use super::state::{Seen, Shared};
use serde_json::Value;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;

/// Which requests are answered badly.
#[derive(Clone, Debug)]
pub enum Route {
    Any,
    /// A method of the envelope, without `frontend.v2.`.
    Rpc(String),
    /// The stream of events.
    Events,
}

/// One way to answer badly.
#[derive(Clone, Debug)]
pub enum Bad {
    /// Nothing comes until the client leaves.
    Silent,
    /// The connection is closed instead.
    Close,
    /// Half of the head, then the end.
    HalfHead,
    /// Half of the body, or of a stream's next event, then the end.
    HalfBody,
    /// A status in the words of one of the listeners.
    Status(u16, Flavour),
    Redirect(u16, String),
    InvalidJson,
    InvalidUtf8,
    /// A body of so many bytes; of a stream, one line of so many.
    Oversize(u64),
    /// Headers without end.
    EndlessHead,
    /// Byte by byte, as [`super::Runtime::let_through`] lets them.
    Slow,
    /// The answer is made, and kept until the test releases this name.
    Held(String),
    /// An error of the contract, with status 200.
    Error(Value),
    /// The right answer with members replaced or removed, by JSON pointer from the envelope.
    Lie(Vec<(String, Option<Value>)>),
    /// Another body, with status 200.
    Body(Vec<u8>),
    /// These bytes instead of head and body, then the end.
    Bytes(Vec<u8>),
}

impl Bad {
    /// One member is another.
    pub fn lie(pointer: &str, value: impl Into<Value>) -> Self {
        Self::Lie(vec![(pointer.to_owned(), Some(value.into()))])
    }

    /// One member is missing.
    pub fn lack(pointer: &str) -> Self {
        Self::Lie(vec![(pointer.to_owned(), None)])
    }
}

/// What to do wrong where, and how often.
pub struct Rule {
    pub route: Route,
    pub times: Option<usize>,
    pub bad: Bad,
}

/// The first rule that fits, if any.
pub fn take(rules: &mut Vec<Rule>, seen: &Seen) -> Option<Bad> {
    let at = rules.iter().position(|rule| match &rule.route {
        Route::Any => true,
        Route::Rpc(method) => seen.rpc.as_ref() == Some(method),
        Route::Events => seen.line == "GET /frontend/events",
    })?;
    let bad = rules[at].bad.clone();
    match &mut rules[at].times {
        Some(1) => drop(rules.remove(at)),
        Some(times) => *times -= 1,
        None => {}
    }
    Some(bad)
}

/// Replaces what a JSON pointer names, or removes it.
pub fn edit(document: &mut Value, pointer: &str, to: Option<Value>) {
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        *document = to.unwrap_or_default();
        return;
    };
    let members = document.pointer_mut(parent).and_then(Value::as_object_mut);
    let members = members.unwrap_or_else(|| panic!("there is no object at `{parent}`"));
    match to {
        Some(value) => drop(members.insert(name.to_owned(), value)),
        None => drop(members.shift_remove(name)),
    }
}

/// What writes the answer to one request, rightly or not.
pub struct Hand<'a> {
    pub shared: &'a Arc<Shared>,
    pub socket: &'a TcpStream,
    pub bad: Option<&'a Bad>,
}

impl Hand<'_> {
    /// Does what needs no answer; says whether one is still wanted.
    pub fn misact(&self, request: &Request) -> bool {
        let is_stream = request.method == "GET";
        match self.bad {
            Some(Bad::Silent) => self.read_to_end(),
            Some(Bad::Close) => {}
            Some(Bad::Bytes(bytes)) => drop(self.write(bytes)),
            Some(Bad::EndlessHead) => {
                let head = format!("HTTP/1.1 200 OK\r\n{}", self.echo_header());
                self.pour(&head, "X-Filler: filler\r\n", u64::MAX);
            }
            Some(Bad::Oversize(length)) if is_stream => {
                self.pour("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ", "xxxxxxxx", *length);
            }
            Some(Bad::Oversize(length)) => {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:";
                self.pour(&format!("{head} {length}\r\n\r\n"), "[[[[[[[[", *length);
            }
            _ => return true,
        }
        false
    }

    /// An answer that has nothing to do with the request.
    pub fn instead(&self, request: &Request) -> Option<Answer> {
        let echo = self.echo();
        let body = |bytes: Vec<u8>| Answer { status: 200, headers: vec![], body: bytes, is_last: false };
        Some(match self.bad? {
            Bad::Status(status, flavour) => {
                let fault = match status {
                    401 => Fault::unauthenticated(),
                    403 => Fault::unauthorized("authorization"),
                    _ => Fault::plain(-32002, format!("failed {echo}")),
                };
                let mut answer = refusal(*flavour == Flavour::Main, *status, fault, &format!("failed {echo}"));
                answer.is_last = true;
                answer
            }
            Bad::Redirect(status, to) => {
                let headers = vec![("Location".to_owned(), format!("{to}{echo}"))];
                Answer { status: *status, headers, body: vec![], is_last: true }
            }
            Bad::InvalidJson => body(format!("{{\"id\":1,\"result\":{{{echo}").into_bytes()),
            Bad::InvalidUtf8 => body([b"{\"id\":1,\"result\":\"\xff\xfe", echo.as_bytes(), b"\"}"].concat()),
            Bad::Body(bytes) => body(bytes.clone()),
            Bad::Error(error) => {
                let envelope: Value = serde_json::from_slice(&request.body).unwrap_or_default();
                let mut error = error.clone();
                if let Some(Value::String(message)) = error.get_mut("message") {
                    message.push_str(&echo);
                }
                Answer::json(200, &Fault(error).answer(envelope["id"].clone()))
            }
            _ => return None,
        })
    }

    /// The right answer, made wrong.
    pub fn reshape(&self, mut answer: Answer) -> Answer {
        if let Some(Bad::Lie(edits)) = self.bad {
            let mut envelope: Value = serde_json::from_slice(&answer.body).expect("a body of ours");
            for (pointer, to) in edits {
                edit(&mut envelope, pointer, to.clone());
            }
            answer.body = envelope.to_string().into_bytes();
        }
        let echo = self.echo();
        if !echo.is_empty() {
            answer.headers.push(("X-Echo".to_owned(), echo));
        }
        answer
    }

    /// Writes an answer; says whether all of it was.
    pub fn send(&self, answer: &Answer) -> bool {
        let sent = self.send_head(&answer.head()).and_then(|()| match self.bad {
            Some(Bad::HalfBody) => self.write(&answer.body[..answer.body.len() / 2]).and(None),
            _ => self.write(&answer.body),
        });
        sent.is_some()
    }

    pub fn send_head(&self, head: &str) -> Option<()> {
        match self.bad {
            Some(Bad::HalfHead) => self.write(&head.as_bytes()[..head.len() / 2]).and(None),
            _ => self.write(head.as_bytes()),
        }
    }

    /// `None` where the client is gone.
    pub fn write(&self, bytes: &[u8]) -> Option<()> {
        let mut socket = self.socket;
        if !matches!(self.bad, Some(Bad::Slow)) {
            return socket.write_all(bytes).ok();
        }
        for byte in bytes {
            self.shared.wait(|state| {
                let allowed = state.allowance.checked_sub(1)?;
                state.allowance = allowed;
                Some(())
            })?;
            socket.write_all(&[*byte]).ok()?;
        }
        Some(())
    }

    /// A header that gives the client's token back, where that is asked for.
    pub fn echo_header(&self) -> String {
        let echo = self.echo();
        if echo.is_empty() { echo } else { format!("X-Echo: {echo}\r\n") }
    }

    fn echo(&self) -> String {
        let echoes = self.shared.change(|state| state.echoes_token);
        if echoes { self.shared.options.token.clone() } else { String::new() }
    }

    /// Writes the same again and again until so many bytes are written or the client is gone.
    fn pour(&self, head: &str, again: &str, length: u64) {
        let block = again.repeat(64 * 1024 / again.len());
        let mut left = length;
        let mut sent = self.write(head.as_bytes());
        while sent.is_some() && left > 0 {
            let size = left.min(block.len() as u64);
            sent = self.write(&block.as_bytes()[..size as usize]);
            left -= size;
            self.shared.change(|state| state.excess += size);
        }
    }

    fn read_to_end(&self) {
        let mut socket = self.socket;
        let _ = std::io::copy(&mut socket, &mut std::io::sink());
    }
}
