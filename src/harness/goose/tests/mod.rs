//! Against stores of several versions, and against what happens to databases and files.

mod conversations;
mod fixtures;
mod hostile;

use super::*;
use crate::harness::testing::{Listing, fixture};
use crate::protocol::{Parent, Relation, Role};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

fn list(path: &Path) -> Listing {
    crate::harness::testing::list(&Goose, path)
}

/// A directory of sessions of one's own.
struct Sessions(TempDir);

impl Sessions {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), content).unwrap();
    }

    /// A database of a version, with the columns that it had.
    fn database(&self, version: u32) -> Database {
        let of = |columns: &[(u32, &str)]| {
            let there = columns.iter().filter(|(since, _)| *since <= version).map(|(_, column)| *column);
            there.collect::<Vec<_>>().join(", ")
        };
        let connection = Connection::open(self.0.path().join(DATABASE)).unwrap();
        connection
            .execute_batch(&format!(
                "create table schema_version (version integer primary key);
                 insert into schema_version values ({version});
                 create table sessions ({});
                 create table messages ({});
                 create index idx_messages_session on messages(session_id)",
                of(SESSIONS),
                of(MESSAGES)
            ))
            .unwrap();
        Database(connection)
    }

    fn list(&self) -> Listing {
        list(self.0.path())
    }
}

/// Columns, and the version of the schema that brought them.
const SESSIONS: &[(u32, &str)] = &[
    (1, "id text primary key"),
    (1, "description text not null default ''"),
    (1, "working_dir text not null default '/proj/alpha'"),
    (1, "created_at timestamp default '2026-09-01 08:00:00'"),
    (1, "updated_at timestamp default '2026-09-01 08:00:00'"),
    (1, "schedule_id text"),
    (1, "recipe_json text"),
    (4, "name text not null default ''"),
    (4, "user_set_name boolean default false"),
    (5, "session_type text not null default 'user'"),
    (6, "provider_name text"),
    (6, "model_config_json text"),
    (8, "goose_mode text"),
    (10, "thread_id text"),
    (12, "archived_at timestamp"),
    (12, "project_id text"),
    (13, "accumulated_cost real"),
    (15, "parent_session_id text"),
    (17, "parent_delegation text"),
];

const MESSAGES: &[(u32, &str)] = &[
    (1, "id integer primary key autoincrement"),
    (1, "session_id text not null"),
    (1, "role text not null"),
    (1, "content_json text not null"),
    (1, "created_timestamp integer not null"),
    (1, "timestamp timestamp default current_timestamp"),
    (1, "tokens integer"),
    (3, "metadata_json text"),
    (7, "message_id text"),
];

/// The tables of one version.
struct Database(Connection);

impl Database {
    fn session(&self, values: Value) {
        self.insert("sessions", values);
    }

    fn message(&self, session: &str, role: &str, at: i64, content: Value) {
        let row =
            json!({"session_id": session, "role": role, "created_timestamp": at, "content_json": content.to_string()});
        self.insert("messages", row);
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

fn said(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn called(id: &str) -> Value {
    json!([{"type": "toolRequest", "id": id, "toolCall": {"status": "success", "value": {"name": "shell", "arguments": {"a": 1}}}}])
}

fn answered(id: &str) -> Value {
    let value = json!({"content": [{"type": "text", "text": "out"}], "isError": false});
    json!([{"type": "toolResponse", "id": id, "toolResult": {"status": "success", "value": value}}])
}
