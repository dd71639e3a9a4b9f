//! The numbered events: kept for who attaches, told to who listens, and in the end part of the history.
//!
//! `history` is what the events up to `cursor` come to, and the ring holds every one above it. So who attaches is never
//! told that something is missing: what the ring cannot hold goes into the history.

use super::agent::Event;
use super::history::{History, Message, Step, append, written};
use crate::limits;
use crate::runtime::Scrub;
use hyper::body::Bytes;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};
use tokio::sync::mpsc;

const BEFORE: &[u8] = b"data: ";
const AFTER: &[u8] = b"\n\n";

/// The events of one runtime.
#[derive(Debug, Default)]
pub(super) struct Feed {
    history: History,
    /// The number of the newest event that the history holds.
    cursor: u64,
    /// The number of the newest event.
    last: u64,
    ring: VecDeque<Kept>,
    ring_bytes: usize,
    /// Requests that left the ring for the history, which does not hold them.
    lost: Vec<u64>,
    subscribers: Vec<Subscriber>,
    scrub: Scrub,
}

#[derive(Debug)]
struct Kept {
    sequence: u64,
    frame: Frame,
    step: Option<Step>,
    request: Option<u64>,
}

/// An event, written once and shared by all who are told of it.
#[derive(Clone, Debug)]
struct Frame(Bytes);

#[derive(Debug)]
struct Subscriber {
    id: u64,
    sender: mpsc::Sender<Bytes>,
    waiting: Arc<AtomicUsize>,
}

/// The events that are told to one who listens, as they stand in a stream of events.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) id: u64,
    receiver: mpsc::Receiver<Bytes>,
    waiting: Arc<AtomicUsize>,
}

impl Subscription {
    /// The next event; `None`: there is no more.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.receiver.poll_recv(context).map(|frame| {
            frame.inspect(|frame| {
                self.waiting.fetch_sub(frame.len(), Relaxed);
            })
        })
    }
}

impl Feed {
    /// A feed whose history is what was said before. No event tells what `scrub` takes out.
    pub(super) fn new(history: &[Event], scrub: Scrub) -> Self {
        let mut feed = Self { scrub, ..Self::default() };
        for event in history {
            if let Some(step) = Step::of(event.kind, &event.payload) {
                feed.history.take(step);
            }
        }
        feed
    }

    /// Numbers an event, keeps it and tells it. False: somebody who listened was left behind, or was gone.
    pub(super) fn publish(&mut self, kind: &str, payload: Map<String, Value>) -> bool {
        let frame = self.keep(kind, payload);
        let before = self.subscribers.len();
        self.subscribers.retain(|subscriber| subscriber.tell(&frame));
        self.subscribers.len() == before
    }

    /// Numbers an event and keeps it, for those who attach later alone.
    pub(super) fn keep(&mut self, kind: &str, payload: Map<String, Value>) -> Bytes {
        self.last += 1;
        let step = Step::of(kind, &payload);
        let request = payload.get("request").and_then(|request| request.get("id")).and_then(Value::as_u64);
        let frame = Frame::new(self.last, kind, payload, &self.scrub);
        let bytes = frame.0.clone();
        self.ring_bytes += bytes.len();
        self.ring.push_back(Kept { sequence: self.last, frame, step, request });
        while self.ring.len() > limits::HOST_RING || self.ring_bytes > limits::HOST_RING_BYTES {
            self.fold_one();
        }
        bytes
    }

    /// The history takes all events.
    pub(super) fn fold(&mut self) {
        while !self.ring.is_empty() {
            self.fold_one();
        }
        self.ring.shrink_to_fit();
        self.cursor = self.last;
    }

    /// The requests that went into the history since this was last asked.
    pub(super) fn lost_requests(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.lost)
    }

    /// Begins to tell a listener what comes from now on.
    pub(super) fn subscribe(&mut self, id: u64) -> Subscription {
        let (sender, receiver) = mpsc::channel(limits::HOST_LAG);
        let waiting = Arc::new(AtomicUsize::new(0));
        self.subscribers.push(Subscriber { id, sender, waiting: Arc::clone(&waiting) });
        Subscription { id, receiver, waiting }
    }

    /// Tells a listener no more.
    pub(super) fn unsubscribe(&mut self, id: u64) {
        self.subscribers.retain(|subscriber| subscriber.id != id);
    }

    /// Tells nobody any more: every stream ends once what is under way is read.
    pub(super) fn end(&mut self) {
        self.subscribers.clear();
    }

    /// Who is told of events.
    pub(super) fn listeners(&self) -> impl Iterator<Item = u64> {
        self.subscribers.iter().map(|subscriber| subscriber.id)
    }

    /// The newest `limit` messages of the history, oldest first.
    pub(super) fn history(&self, limit: usize) -> Vec<&Message> {
        self.history.newest(limit).collect()
    }

    /// Writes what an attachment is told of the conversation: history, how far it reaches, and the events since, as
    /// members of an object.
    pub(super) fn write(&self, to: &mut Vec<u8>, limit: usize) -> serde_json::Result<()> {
        to.extend_from_slice(b"\"history\":");
        serde_json::to_writer(&mut *to, &self.history(limit))?;
        to.extend_from_slice(format!(",\"history_cursor\":{},\"replay\":[", self.cursor).as_bytes());
        to.reserve(self.ring_bytes);
        for (at, kept) in self.ring.iter().enumerate() {
            if at > 0 {
                to.push(b',');
            }
            to.extend_from_slice(kept.frame.json());
        }
        to.push(b']');
        Ok(())
    }

    fn fold_one(&mut self) {
        let Some(kept) = self.ring.pop_front() else { return };
        self.ring_bytes -= kept.frame.0.len();
        self.cursor = kept.sequence;
        self.lost.extend(kept.request);
        if let Some(step) = kept.step {
            self.history.take(step);
        }
    }
}

impl Subscriber {
    /// Puts an event before the listener. False: it is gone, or too far behind.
    fn tell(&self, frame: &Bytes) -> bool {
        let behind = self.waiting.fetch_add(frame.len(), Relaxed);
        behind.saturating_add(frame.len()) <= limits::HOST_LAG_BYTES && self.sender.try_send(frame.clone()).is_ok()
    }
}

impl Frame {
    fn new(sequence: u64, kind: &str, payload: Map<String, Value>, scrub: &Scrub) -> Self {
        let event = json!({ "sequence": sequence, "kind": kind, "payload": payload });
        Self([BEFORE, &scrub.clean(event.to_string().into_bytes()), AFTER].concat().into())
    }

    fn json(&self) -> &[u8] {
        json(&self.0)
    }
}

/// The event of a frame.
pub(super) fn json(frame: &[u8]) -> &[u8] {
    frame.get(BEFORE.len()..frame.len().saturating_sub(AFTER.len())).unwrap_or_default()
}

/// An event's payload: its type first, and bounded.
pub(super) fn payload(kind: &str, members: Map<String, Value>) -> Map<String, Value> {
    let mut payload = Map::with_capacity(members.len() + 1);
    payload.insert("type".to_owned(), kind.into());
    payload.extend(bounded(members, limits::HOST_EVENT));
    payload
}

/// Members of which no text takes more than a quarter of `max` bytes, and what the agent itself sent no more than an
/// eighth. Of those that are too long all the same only the small ones stay.
pub(super) fn bounded(members: Map<String, Value>, max: usize) -> Map<String, Value> {
    let mut members: Map<_, _> = members.into_iter().map(|(name, value)| (name, shortened(value, max / 4))).collect();
    if let Some(raw) = members.get_mut("raw")
        && bytes(raw) > max / 8
    {
        *raw = json!({ "omitted_bytes": bytes(raw) });
    }
    let all: usize = members.values().map(bytes).sum();
    if all > max {
        members.retain(|_, value| bytes(value) < max / 64);
        members.insert("omitted_bytes".to_owned(), all.into());
    }
    members
}

fn bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => written(text),
        value => value.to_string().len(),
    }
}

fn shortened(value: Value, max: usize) -> Value {
    match value {
        Value::String(text) if text.len() > max => {
            let mut short = String::new();
            append(&mut short, &text, max);
            short.push('…');
            Value::String(short)
        }
        value => value,
    }
}
