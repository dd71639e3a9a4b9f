//! Against stores that both eras of the program wrote; the values were read off the raw records.

mod changed;
mod fixtures;
#[cfg(target_os = "linux")]
mod live;

use super::*;
use crate::harness::testing::{self, Gone, Listing, Tree};
use crate::harness::{Name, Remark};
use crate::protocol::{Block, Message, Parent, Relation, Role};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::fs;

fn fixture(version: &str) -> PathBuf {
    testing::fixture("openclaw").join(version).join(".openclaw")
}

fn list(home: &Path) -> Listing {
    testing::list(&OpenClaw, home)
}

/// What was passed over below a home, and why.
fn skipped(listing: &Listing) -> Vec<(String, &'static str)> {
    let name = |path: &Path| path.strip_prefix(&listing.root.home).unwrap_or(path).display().to_string();
    let mut skipped: Vec<_> = listing.skipped.iter().map(|(path, skip)| (name(path), skip.reason())).collect();
    skipped.sort();
    skipped
}

fn details(session: &Session) -> Details {
    testing::details(&OpenClaw, &[], session)
}

fn page(session: &Session, cursor: Option<&str>, limit: usize) -> Result<Page, ReadError> {
    testing::page(&OpenClaw, &[], session, cursor, limit)
}

/// All messages, read in pages of a size.
fn load(session: &Session, limit: usize) -> Vec<Message> {
    testing::paged(&OpenClaw, &[], session, limit)
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
struct Home(Tree);

impl Home {
    fn new() -> Self {
        Self(Tree::new())
    }

    fn copied(version: &str) -> Self {
        Self(Tree::copy_of(&fixture(version)))
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        self.0.write(name, content)
    }

    fn list(&self) -> Listing {
        list(self.0.path())
    }

    fn database(&self) -> Connection {
        Connection::open(self.path().join(MAIN)).unwrap()
    }
}

const MAIN: &str = "agents/main/agent/openclaw-agent.sqlite";
const FILE: &str = "agents/main/sessions/6c90e29a-6106-4da5-8ad7-0de7e42563fa.jsonl";
const TOOL: &str = "1cecd97c-764c-49fd-97fb-89258360081d";
const SIDE: &str = "8fe64170-22d0-47a7-b3a5-0736ac81ae36";
