//! Databases that were made to harm, in the place of each store's own.

use crate::harness::testing::{Listing, list};
use crate::harness::{Store, codex, goose, hermes, openclaw, opencode, orchestrator};
use crate::platform::testing::make_endless;
use rusqlite::Connection;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A store, where it keeps its database, and the tables that a list reads: the first has a row a session.
type Case = (&'static dyn Store, &'static str, &'static [(&'static str, &'static [&'static str])]);

const CASES: &[Case] = &[
    (
        &goose::Goose,
        "sessions.db",
        &[
            ("sessions", &["id", "name", "description", "working_dir"]),
            ("messages", &["id", "session_id", "role", "content_json", "created_timestamp"]),
        ],
    ),
    (
        &opencode::OpenCode,
        "opencode.db",
        &[
            ("session", &["id", "title", "directory"]),
            ("message", &["id", "session_id", "time_created", "data"]),
            ("part", &["id", "message_id", "data"]),
            ("session_message", &["id", "session_id", "type", "seq", "time_created", "data"]),
        ],
    ),
    (
        &hermes::Hermes,
        "state.db",
        &[
            ("sessions", &["id", "title", "source", "started_at"]),
            ("messages", &["id", "session_id", "role", "content", "timestamp"]),
        ],
    ),
    (
        &openclaw::OpenClaw,
        "agents/main/agent/openclaw-agent.sqlite",
        &[
            ("session_windows", &["session_id", "session_key", "model"]),
            ("transcript_events", &["session_id", "seq", "event_json"]),
        ],
    ),
    (&codex::Codex, "state_5.sqlite", &[("threads", &["id", "name", "title", "preview", "first_user_message"])]),
    (&orchestrator::Orchestrator, "state.db", &[("gateway_routing", &["scope", "session_key", "entry_json"])]),
];

struct World {
    directory: TempDir,
    case: &'static Case,
}

impl World {
    fn new(case: &'static Case) -> Self {
        Self { directory: tempfile::tempdir().unwrap(), case }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join(self.case.1)
    }

    /// The database with what each table of it is created by.
    fn create(self, create: impl Fn(&str, &[&str]) -> String) -> Self {
        fs::create_dir_all(self.path().parent().unwrap()).unwrap();
        let connection = Connection::open(self.path()).unwrap();
        for (table, columns) in self.case.2 {
            connection.execute_batch(&create(table, columns)).unwrap();
        }
        self
    }

    /// Real tables, each with one row of ones.
    fn plain(self) -> Self {
        self.create(|table, columns| {
            let ones = vec!["1"; columns.len()].join(", ");
            format!("create table {table} ({}); insert into {table} values ({ones})", columns.join(", "))
        })
    }

    fn list(&self) -> Listing {
        list(self.case.0, self.directory.path())
    }

    /// Nothing is made of it, and that is told.
    fn assert_refused(&self) {
        let listing = self.list();
        assert_eq!((listing.sessions.len(), listing.names.len()), (0, 0), "{}", self.case.1);
        assert!(listing.reasons().contains(&"malformed"), "{}: {:?}", self.case.1, listing.skipped);
    }
}

fn each_column(columns: &[&str], is: &str) -> String {
    columns.iter().map(|column| format!("{is} as {column}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn endless_views_in_place_of_tables_are_refused() {
    for case in CASES {
        let view = |table: &str, columns: &[&str]| {
            let endless = "with recursive c(x) as (select 1 union all select x + 1 from c)";
            format!("create view {table} as {endless} select {} from c", each_column(columns, "'' || x"))
        };
        World::new(case).create(view).assert_refused();
    }
}

#[test]
fn views_that_claim_to_be_tables_are_refused() {
    for case in CASES {
        let world = World::new(case).plain();
        let connection = Connection::open(world.path()).unwrap();
        connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
        connection.pragma_update(None, "writable_schema", true).unwrap();
        for (table, columns) in case.2 {
            let endless = "with recursive c(x) as (select 1 union all select x + 1 from c)";
            let view = format!("create view {table} as {endless} select {} from c", each_column(columns, "'' || x"));
            let forge = "update sqlite_schema set sql = ?1 where name = ?2";
            connection.execute(forge, [view.as_str(), table]).unwrap();
        }
        drop(connection);
        world.assert_refused();
    }
}

#[test]
fn computed_columns_and_virtual_tables_are_refused() {
    for case in CASES {
        let computed = |table: &str, columns: &[&str]| {
            let computed = columns.iter().map(|column| format!("{column} text as (printf('%.*c', 30000000, 'x'))"));
            let columns = computed.collect::<Vec<_>>().join(", ");
            format!("create table {table} (own_, {columns}); insert into {table} (own_) values (1)")
        };
        World::new(case).create(computed).assert_refused();
        let searched =
            |table: &str, columns: &[&str]| format!("create virtual table {table} using fts5({})", columns.join(", "));
        World::new(case).create(searched).assert_refused();
    }
}

#[test]
fn more_sessions_than_the_file_can_hold_are_refused() {
    for case in CASES.iter().filter(|case| case.2[0].0 != "gateway_routing") {
        let world = World::new(case).plain();
        make_endless(&world.path(), case.2[0].0);
        world.assert_refused();
    }
}

#[test]
fn endless_messages_of_a_session_are_refused() {
    let world = World::new(&CASES[0]).plain();
    make_endless(&world.path(), "messages");
    world.assert_refused();
}
