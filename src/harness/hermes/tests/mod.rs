//! Against a home that the program wrote, and against what happens to databases.

mod conversations;
mod fixtures;
mod hostile;
#[cfg(target_os = "linux")]
mod live;

use super::*;
use crate::harness::testing::{Listing, fixture};
use crate::protocol::{Parent, Relation, Role};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

fn list(path: &Path) -> Listing {
    crate::harness::testing::list(&Hermes, path)
}

/// A home of one's own.
struct Own(TempDir);

impl Own {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A database with the columns of the first versions, and more.
    fn database(&self, name: &str, sessions: &str, messages: &str) -> Database {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(&format!(
                "create table sessions (id text primary key, source text not null, model text, parent_session_id text,
                   started_at real not null, ended_at real, end_reason text, title text {sessions});
                 create table messages (id integer primary key autoincrement, session_id text not null,
                   role text not null, content text, tool_call_id text, tool_calls text, tool_name text,
                   timestamp real not null {messages})"
            ))
            .unwrap();
        Database(connection)
    }

    /// One with what later versions added.
    fn later(&self) -> Database {
        self.database(
            DATABASE,
            ", model_config text, cwd text, profile_name text, display_name text, archived integer not null default 0",
            ", reasoning text, reasoning_content text, reasoning_details text, active integer not null default 1",
        )
    }

    fn list(&self) -> Listing {
        list(self.0.path())
    }
}

struct Database(Connection);

impl Database {
    fn session(&self, id: &str, values: Value) {
        let mut row = json!({"id": id, "source": "cli", "started_at": 10.5});
        row.as_object_mut().unwrap().extend(values.as_object().unwrap().clone());
        self.insert("sessions", row);
    }

    fn message(&self, session: &str, role: &str, at: f64, content: &str) {
        self.insert("messages", json!({"session_id": session, "role": role, "timestamp": at, "content": content}));
    }

    fn insert(&self, table: &str, values: Value) {
        let values = values.as_object().unwrap();
        let names = values.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let marks = vec!["?"; values.len()].join(", ");
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let row = rusqlite::params_from_iter(values.values().map(plain));
        self.0.execute(&format!("insert into {table} ({names}) values ({marks})"), row).unwrap();
    }
}

fn parent(id: &str, relation: Relation) -> Option<Parent> {
    Some(Parent { session_id: Some(id.to_owned()), relation })
}
