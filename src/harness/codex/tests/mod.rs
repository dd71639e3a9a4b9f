//! Against files that three generations of the program wrote, and against what happens to files.

mod agreement;
mod details;
mod files;
mod fixtures;
#[cfg(target_os = "linux")]
mod live;
mod load;
mod names;
mod reverted;

use super::*;
use crate::harness::testing::{self, Listing, Tree};
use crate::protocol::Relation;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn list(path: &Path) -> Listing {
    testing::list(&Codex, path)
}

fn fixture(version: &str) -> PathBuf {
    testing::fixture("codex").join(version)
}

/// A home that a test writes.
struct Home(Tree);

impl Home {
    fn new() -> Self {
        Self(Tree::new())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        self.0.write(name, content)
    }

    fn list(&self) -> Listing {
        list(self.0.path())
    }

    /// The one session that its files hold.
    fn one(&self) -> Session {
        self.list().one().clone()
    }
}

const ID: &str = "01a22b99-1497-7823-892b-1bc4d693a950";
const OTHER: &str = "01a22b99-3342-79f2-9dc6-b256af1670c4";
const FILE: &str = "sessions/2026/11/30/rollout-2026-11-30T08-36-22-01a22b99-1497-7823-892b-1bc4d693a950.jsonl";

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// A time on the day of these tests.
fn at(minute: u32) -> String {
    format!("2026-11-30T08:{minute:02}:00.000Z")
}

fn at_ms(minute: u32) -> Option<i64> {
    Some(1_796_025_600_000 + i64::from(minute) * 60_000)
}

fn meta(id: &str) -> Value {
    json!({"timestamp": at(0), "type": "session_meta", "payload": {"id": id, "timestamp": at(0), "cwd": "/proj/demo"}})
}

fn turn(minute: u32, model: &str) -> Value {
    json!({"timestamp": at(minute), "type": "turn_context", "payload": {"cwd": "/proj/turn", "model": model}})
}

fn event(minute: u32, kind: &str, text: &str) -> Value {
    json!({"timestamp": at(minute), "type": "event_msg", "payload": {"type": kind, "message": text}})
}

fn user(minute: u32, text: &str) -> Value {
    event(minute, "user_message", text)
}

fn agent(minute: u32, text: &str) -> Value {
    event(minute, "agent_message", text)
}

fn response(minute: u32, role: &str, texts: &[&str]) -> Value {
    let content: Vec<Value> = texts.iter().map(|text| json!({"type": "input_text", "text": text})).collect();
    json!({"timestamp": at(minute), "type": "response_item",
        "payload": {"type": "message", "role": role, "content": content}})
}

/// Records of the harness that fill a file, and are no messages.
fn filler(bytes: usize) -> Value {
    json!({"timestamp": at(1), "type": "event_msg", "payload": {"type": "token_count", "info": "x".repeat(bytes)}})
}
