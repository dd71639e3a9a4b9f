//! Event streams.

use super::bad::{Bad, Hand};
use super::door::Caller;
use super::state::Shared;
use serde_json::Value;
use std::collections::VecDeque;
use std::io::Read;
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A subscriber that is so many events behind loses its stream.
const LAG: usize = 1024;

/// One client that listens.
pub struct Stream {
    pub client: String,
    /// Bare events of the agent, without numbers.
    pub is_raw: bool,
    queue: VecDeque<Vec<u8>>,
    lags: bool,
    /// The client has said something, or is gone.
    is_left: bool,
}

impl Stream {
    /// Sends an event, where this stream carries such.
    pub fn tell(&mut self, event: &Value) {
        if !self.is_raw {
            return self.push(format!("data: {event}\n\n").into_bytes());
        }
        let kinds =
            ["text_delta", "usage", "turn_completed", "tool_call_started", "tool_call_completed", "cache_warning"];
        if event["kind"].as_str().is_some_and(|kind| kinds.contains(&kind)) {
            self.push(format!("data: {}\n\n", event["payload"]).into_bytes());
        }
    }

    /// Sends bytes as they are.
    pub fn push(&mut self, bytes: Vec<u8>) {
        self.queue.push_back(bytes);
        if self.queue.len() > LAG {
            self.queue.pop_front();
            self.lags |= !self.is_raw;
        }
    }
}

impl Stream {
    /// Whether all that it was told is on its way.
    pub fn is_drained(&self) -> bool {
        self.queue.is_empty()
    }
}

/// What a stream does next.
enum Next {
    Send(Vec<u8>),
    End,
}

/// Serves a stream to its end, which is always the end of the connection.
pub fn serve(hand: &Hand, number: u64, caller: &Caller, is_raw: bool) -> bool {
    let shared = hand.shared;
    shared.change(|state| {
        let now = shared.now_ms(state);
        state.leases.observe(&caller.client, now);
        let client = caller.client.clone();
        state.streams.insert(number, Stream { client, is_raw, queue: VecDeque::new(), lags: false, is_left: false });
    });
    if let Ok(socket) = hand.socket.try_clone() {
        watch(shared, number, socket);
        write(hand, number);
    }
    shared.change(|state| {
        state.streams.remove(&number);
        state.leases.detach(&caller.client);
        if state.subscribers() == 0 {
            shared.deny_all(state);
        }
    });
    false
}

/// A client that says anything, or leaves, has no stream any more.
fn watch(shared: &Arc<Shared>, number: u64, mut socket: TcpStream) {
    let shared = shared.clone();
    thread::spawn(move || {
        let _ = socket.read(&mut [0]);
        shared.change(|state| state.streams.get_mut(&number).map(|stream| stream.is_left = true));
    });
}

fn write(hand: &Hand, number: u64) -> Option<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n";
    hand.send_head(&format!("{head}{}Connection: close\r\n\r\n", hand.echo_header()))?;
    let interval = Duration::from_millis(hand.shared.options.keep_alive_ms);
    let mut comment_due = Instant::now() + interval;
    loop {
        match next(hand.shared, number, comment_due) {
            Some(Next::Send(bytes)) if matches!(hand.bad, Some(Bad::HalfBody)) => {
                return hand.write(&bytes[..bytes.len() / 2]);
            }
            Some(Next::Send(bytes)) => hand.write(&bytes)?,
            Some(Next::End) => return None,
            None => {
                comment_due += interval;
                hand.write(b": keep-alive\n\n")?;
            }
        }
    }
}

/// `None` where a comment is due first.
fn next(shared: &Shared, number: u64, comment_due: Instant) -> Option<Next> {
    let next = shared.wait_for(comment_due.saturating_duration_since(Instant::now()), |state| {
        if state.is_suspended {
            return None;
        }
        let is_ending = state.is_ending && state.turn.is_none();
        let stream = state.streams.get_mut(&number)?;
        if stream.is_left || stream.lags {
            return Some(Next::End);
        }
        let bytes = stream.queue.pop_front();
        bytes.map(Next::Send).or_else(|| is_ending.then_some(Next::End))
    });
    let (is_stopped, is_suspended) = shared.change(|state| (state.is_stopped, state.is_suspended));
    if is_suspended && next.is_none() {
        // A stopped process sends no comment either.
        shared.wait(|state| (!state.is_suspended).then_some(()));
    }
    next.or(is_stopped.then_some(Next::End))
}
