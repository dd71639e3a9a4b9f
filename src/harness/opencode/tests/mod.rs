//! Against stores that two generations of the program wrote, and against what happens to databases and files.

mod conversations;
mod engine;
mod fixtures;
mod hostile;

use super::*;
use crate::harness::testing::{Listing, fixture};
use crate::protocol::{Parent, Relation};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

fn list(path: &Path) -> Listing {
    crate::harness::testing::list(&OpenCode, path)
}

/// A data directory of one's own.
struct Data(TempDir);

impl Data {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// A session in files, with messages of one text each.
    fn session(&self, id: &str, info: Value, messages: &[(&str, Value, &str)]) {
        self.write(&format!("storage/session/global/{id}.json"), info.to_string());
        for (message, record, text) in messages {
            self.write(&format!("storage/message/{id}/{message}.json"), record.to_string());
            let part = json!({"type": "text", "text": text}).to_string();
            self.write(&format!("storage/part/{message}/prt_1.json"), part);
        }
    }

    fn database(&self, name: &str) -> Database {
        let connection = Connection::open(self.0.path().join(name)).unwrap();
        connection
            .execute_batch(
                "create table session (id text primary key, parent_id text, directory text, title text, revert text,
                   time_created integer, time_updated integer, time_archived integer);
                 create table message (id text primary key, session_id text, time_created integer, data text);
                 create table part (id text primary key, message_id text, session_id text, data text)",
            )
            .unwrap();
        Database(connection)
    }

    fn list(&self) -> Listing {
        list(self.0.path())
    }
}

/// The tables of a version that kept less.
struct Database(Connection);

impl Database {
    fn session(&self, id: &str, title: &str) {
        let row = (id, "/proj/demo", title, 1_000, 9_000);
        self.0
            .execute(
                "insert into session (id, directory, title, time_created, time_updated) values (?, ?, ?, ?, ?)",
                row,
            )
            .unwrap();
    }

    fn message(&self, session: &str, id: &str, at: i64, record: Value, parts: &[Value]) {
        self.0.execute("insert into message values (?, ?, ?, ?)", (id, session, at, record.to_string())).unwrap();
        for (index, part) in parts.iter().enumerate() {
            let row = (format!("prt_{id}_{index}"), id, session, part.to_string());
            self.0.execute("insert into part values (?, ?, ?, ?)", row).unwrap();
        }
    }
}

fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn user() -> Value {
    json!({"role": "user", "model": {"providerID": "p", "modelID": "asked"}})
}

fn assistant() -> Value {
    json!({"role": "assistant", "modelID": "answered", "providerID": "p", "path": {"cwd": "/proj/answered"}})
}
