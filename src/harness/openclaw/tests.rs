//! Against stores that both eras of the program wrote; the values were read off the raw records.

mod changed;
mod fixtures;

use super::*;
use crate::harness::{Attendant, Name, Remark};
use crate::protocol::{Block, Message, Parent, Relation, Role};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What a store says of everything below a root.
struct Listing {
    sessions: Vec<Session>,
    names: Vec<Name>,
    remarks: Vec<Remark>,
    skipped: Vec<(String, &'static str)>,
}

fn fixture(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/openclaw").join(version).join(".openclaw")
}

fn list(home: &Path) -> Listing {
    let mut finder = Finder::default();
    OpenClaw.walk(&OpenClaw.named_root(home), &mut finder);
    let name = |path: &Path| path.strip_prefix(home).unwrap_or(path).display().to_string();
    let mut listing = Listing {
        sessions: Vec::new(),
        names: Vec::new(),
        remarks: Vec::new(),
        skipped: finder.skipped.iter().map(|(path, skip)| (name(path), skip.reason())).collect(),
    };
    let mut ends = Ends::default();
    for source in &finder.sources {
        match OpenClaw.read(source, &mut ends) {
            Ok(reading) => {
                listing.sessions.extend(reading.sessions);
                listing.names.extend(reading.names);
                listing.remarks.extend(reading.remarks);
            }
            Err(skip) => listing.skipped.push((name(&source.path), skip.reason())),
        }
    }
    listing.sessions.sort_by(|a, b| a.id.cmp(&b.id));
    listing.remarks.sort_by(|a, b| a.session.cmp(&b.session));
    listing.skipped.sort();
    listing
}

impl Listing {
    fn of(&self, id: &str) -> &Session {
        self.sessions.iter().find(|session| session.id.starts_with(id)).unwrap()
    }
}

fn details(session: &Session) -> Details {
    OpenClaw
        .details(&[], session, Wanted { topics: true, last_message: true, message_count: true, ..Wanted::default() })
        .unwrap()
}

struct Attending(bool);

impl Attendant for Attending {
    fn cancelled(&self) -> bool {
        self.0
    }

    fn progress(&self, _: &str, _: u64, _: Option<u64>) {}
}

fn page(session: &Session, cursor: Option<&str>, limit: usize) -> Result<Page, Skip> {
    OpenClaw.load(&[], session, &PageRequest { cursor, limit, attendant: &Attending(false), own_only: false })
}

/// All messages, read in pages of a size.
fn load(session: &Session, limit: usize) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = page(session, cursor.as_deref(), limit).unwrap();
        assert!(page.messages.len() == limit || page.next.is_none());
        messages.splice(0..0, page.messages);
        cursor = page.next;
        if cursor.is_none() {
            return messages;
        }
    }
}

fn ids(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.id.as_deref().unwrap()).collect()
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

/// All fixtures were written within minutes of this time.
const EPOCH: i64 = 1_796_028_000_000;

fn message(id: &str, parent: &str, role: Role, at: i64, content: Block) -> Message {
    Message {
        id: Some(id.to_owned()),
        role,
        timestamp_ms: Some(EPOCH + at),
        model: (role == Role::Assistant).then(|| "fake-model".to_owned()),
        parent_id: Some(parent.to_owned()),
        content: vec![content],
        raw: None,
    }
}

/// A state directory that a test may change.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn copied(version: &str) -> Self {
        let home = Self::new();
        crate::harness::untouched::copy(&fixture(version), &home.path());
        home
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("state")
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn list(&self) -> Listing {
        list(&self.path())
    }

    fn database(&self) -> Connection {
        Connection::open(self.path().join(MAIN)).unwrap()
    }
}

const MAIN: &str = "agents/main/agent/openclaw-agent.sqlite";
const FILE: &str = "agents/main/sessions/6c90e29a-6106-4da5-8ad7-0de7e42563fa.jsonl";
const TOOL: &str = "1cecd97c-764c-49fd-97fb-89258360081d";
const SIDE: &str = "8fe64170-22d0-47a7-b3a5-0736ac81ae36";
