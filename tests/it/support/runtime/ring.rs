//! The numbered events, of which the newest are kept for those who attach.

use super::fault::Fault;
use serde_json::{Value, json};
use std::collections::VecDeque;

pub struct Ring {
    capacity: usize,
    last: u64,
    /// What the history covers.
    cursor: u64,
    /// The number of the newest event that was pushed out.
    lost: u64,
    events: VecDeque<Value>,
}

impl Ring {
    pub fn new(capacity: usize) -> Self {
        Self { capacity, last: 0, cursor: 0, lost: 0, events: VecDeque::new() }
    }

    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    pub fn last(&self) -> u64 {
        self.last
    }

    /// Numbers an event and keeps it.
    pub fn push(&mut self, kind: &str, payload: Value) -> Value {
        self.last += 1;
        let event = json!({ "sequence": self.last, "kind": kind, "payload": payload });
        self.events.push_back(event.clone());
        if self.events.len() > self.capacity {
            self.lost = self.events.pop_front().map_or(0, |event| sequence(&event));
        }
        event
    }

    /// Leaves numbers out.
    pub fn skip(&mut self, count: u64) {
        self.last += count;
    }

    /// The history covers all now; of the events only requests and their answers are kept, under new numbers.
    pub fn compact(&mut self) {
        self.cursor = self.last;
        for event in std::mem::take(&mut self.events) {
            if let Some(kind @ ("request" | "request_resolved")) = event["kind"].as_str() {
                self.push(kind, event["payload"].clone());
            }
        }
    }

    /// What came after the cursor.
    pub fn replay(&self) -> Result<Vec<&Value>, Fault> {
        if self.lost > self.cursor {
            let message = format!("event replay gap: {}", self.lost - self.cursor);
            return Err(Fault::typed(-32010, "transport", Some("events"), message));
        }
        Ok(self.events.iter().filter(|event| sequence(event) > self.cursor).collect())
    }
}

fn sequence(event: &Value) -> u64 {
    event["sequence"].as_u64().expect("a number")
}
