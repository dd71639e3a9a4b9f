//! Against files that three generations of the program wrote, and against what happens to files.

mod details;
mod files;
mod fixtures;
mod load;
mod names;

use super::*;
use crate::harness::Name;
use crate::protocol::{Relation, RootOrigin};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// What a store says of everything below a root.
struct Listing {
    root: Root,
    sessions: Vec<Session>,
    names: Vec<Name>,
    skipped: Vec<(PathBuf, Skip)>,
}

fn root(path: &Path) -> Root {
    Root {
        harness: Harness::Codex,
        path: path.to_owned(),
        home: path.to_owned(),
        origin: RootOrigin::Flag,
        usual: false,
    }
}

fn list(path: &Path) -> Listing {
    let root = root(path);
    let mut finder = Finder::default();
    Codex.walk(&root, &mut finder);
    let mut listing = Listing { root, sessions: Vec::new(), names: Vec::new(), skipped: finder.skipped };
    let mut ends = jsonl::Ends::default();
    finder.sources.sort_by(|a, b| a.path.cmp(&b.path));
    for source in finder.sources {
        match Codex.read(&source, &mut ends) {
            Ok(reading) => {
                listing.sessions.extend(reading.sessions);
                listing.names.extend(reading.names);
            }
            Err(skip) => listing.skipped.push((source.path, skip)),
        }
    }
    listing
}

impl Listing {
    fn of(&self, id: &str) -> &Session {
        self.sessions.iter().find(|session| &*session.id == id).unwrap()
    }

    fn details(&self, id: &str) -> Details {
        let all = Wanted { topics: true, last_message: true, message_count: true, ..Wanted::default() };
        Codex.details(std::slice::from_ref(&self.root), self.of(id), all).unwrap()
    }

    fn reasons(&self) -> Vec<&'static str> {
        self.skipped.iter().map(|(_, skip)| skip.reason()).collect()
    }
}

fn fixture(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/codex").join(version)
}

/// A home that a test writes.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn list(&self) -> Listing {
        list(self.0.path())
    }

    /// The one session that its files hold.
    fn one(&self) -> Session {
        let mut sessions = self.list().sessions;
        assert_eq!(sessions.len(), 1);
        sessions.remove(0)
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
