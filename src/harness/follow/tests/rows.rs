//! Databases, grown row by row as their programs write them.

use super::*;
use crate::harness::{goose::Goose, hermes::Hermes, openclaw::OpenClaw, opencode::OpenCode};
use proptest::prelude::*;
use rusqlite::{Connection, params};

/// A store in a database: its fixture, the database in it, and the statements that write one row more. Each takes the
/// session; the rows are those of the same database as it was, under the name `whole`.
struct Kind {
    store: &'static dyn Store,
    fixture: &'static str,
    database: &'static str,
    /// The table of messages, and its column of an order.
    rows: (&'static str, &'static str),
    /// What else is written in the same transaction.
    beside: &'static [&'static str],
}

const KINDS: [Kind; 6] = [
    Kind {
        store: &Goose,
        fixture: "goose/xdg-data",
        database: "goose/sessions/sessions.db",
        rows: ("messages", "id"),
        beside: &[],
    },
    Kind { store: &Hermes, fixture: "hermes/.hermes", database: "state.db", rows: ("messages", "id"), beside: &[] },
    // Parts come one by one behind their message.
    Kind {
        store: &OpenCode,
        fixture: "opencode/v1.18.33-checkpointed",
        database: "opencode.db",
        rows: ("part", "id"),
        beside: &["insert or ignore into message select * from whole.message
             where id = (select message_id from whole.part where id = ?2) and session_id = ?1"],
    },
    Kind {
        store: &OpenClaw,
        fixture: "openclaw/v2026.9.6/.openclaw",
        database: "agents/main/agent/openclaw-agent.sqlite",
        rows: ("transcript_events", "seq"),
        beside: &["update session_transcript_index_state set needs_rebuild = 1 where session_id = ?1 and ?2 >= 0"],
    },
    Kind {
        store: &OpenClaw,
        fixture: "openclaw/v2026.9.6/.openclaw",
        database: "agents/main/agent/openclaw-agent.sqlite",
        rows: ("transcript_events", "seq"),
        beside: &[
            "insert into session_transcript_active_events select * from whole.session_transcript_active_events
             where session_id = ?1 and event_seq = ?2",
            "update session_transcript_index_state set indexed_seq = ?2, needs_rebuild = 0 where session_id = ?1",
        ],
    },
    Kind {
        store: &OpenCode,
        fixture: "opencode/v1.18.33-second-engine",
        database: "opencode.db",
        rows: ("session_message", "seq"),
        beside: &[],
    },
];

/// A session's database that its program writes to.
pub(super) struct Writer {
    _tree: Tree,
    pub root: Root,
    pub session: Session,
    pub program: Connection,
    kind: &'static Kind,
    /// The rows that are still to be written.
    rows: Vec<rusqlite::types::Value>,
}

impl Writer {
    /// The program of a session of which nothing is written yet.
    fn begin(kind: &'static Kind, index: usize) -> Option<Self> {
        let tree = Tree::new();
        copy(&fixture(kind.fixture), tree.path());
        let listing = list(kind.store, tree.path());
        let location = tree.path().join(kind.database);
        let mut sessions = listing.sessions.into_iter().filter(|session| *session.location == *location);
        let session = sessions.nth(index)?;
        let whole = tree.path().join("whole.db");
        let program = Connection::open(&location).unwrap();
        program.execute("vacuum into ?1", [whole.to_str().unwrap()]).unwrap();
        program.execute("attach ?1 as whole", [whole.to_str().unwrap()]).unwrap();
        let triggers: Vec<String> = {
            let mut names = program.prepare("select name from main.sqlite_master where type = 'trigger'").unwrap();
            names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        program.pragma_update(None, "foreign_keys", false).unwrap();
        for trigger in triggers {
            program.execute(&format!("drop trigger main.{trigger}"), []).unwrap();
        }
        let (table, order) = kind.rows;
        for table in [table, "message", "session_transcript_active_events"] {
            let known = program.prepare(&format!("select 1 from main.{table}")).is_ok();
            if known {
                program.execute(&format!("delete from main.{table} where session_id = ?1"), [&session.id]).unwrap();
            }
        }
        let query = format!("select {order} from whole.{table} where session_id = ?1 order by {order} desc");
        let rows = {
            let mut rows = program.prepare(&query).unwrap();
            rows.query_map([&session.id], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        program.pragma_update(None, "journal_mode", "wal").unwrap();
        Some(Self { _tree: tree, root: listing.root, session, program, kind, rows })
    }

    /// Writes one row more; false when all are written.
    fn write(&mut self) -> bool {
        let Some(row) = self.rows.pop() else { return false };
        let (table, order) = self.kind.rows;
        let write = self.program.unchecked_transaction().unwrap();
        let insert = format!("insert into {table} select * from whole.{table} where session_id = ?1 and {order} = ?2");
        write.execute(&insert, params![&self.session.id, &row]).unwrap();
        for statement in self.kind.beside {
            write.execute(statement, params![&self.session.id, &row]).unwrap();
        }
        write.commit().unwrap();
        true
    }

    /// Whether the session has such rows at all.
    fn has_rows(&self) -> bool {
        let query = format!("select 1 from whole.{} where session_id = ?1", self.kind.rows.0);
        self.program.prepare(&query).unwrap().exists([&self.session.id]).unwrap()
    }

    fn follow(&self) -> Client {
        Client::begin(self.kind.store, self.root.clone(), self.session.clone())
    }
}

fn writers() -> impl Iterator<Item = Writer> {
    KINDS.iter().flat_map(|kind| (0..).map_while(|index| Writer::begin(kind, index)))
}

#[test]
fn every_fixture_is_told_row_by_row() {
    for mut writer in writers() {
        writer.write();
        let mut client = writer.follow();
        while writer.write() {
            client.check();
        }
        client.finish();
        let is_of_first_engine = writer.kind.rows.0 == "session_message" && !writer.has_rows();
        assert!(is_of_first_engine || !client.told.is_empty(), "{}", writer.session.id);
        let in_place = writer.kind.rows.0 == "part";
        assert!(in_place || client.rewritten == 0, "{}", writer.session.id);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn rows_that_were_there_and_that_were_told_are_all(steps in prop::collection::vec(0_u8..4, 0..24)) {
        for mut writer in writers() {
            writer.write();
            let mut client = writer.follow();
            for step in &steps {
                match step {
                    0 => drop(client.check()),
                    1 => writer.program.pragma_update(None, "wal_checkpoint", "truncate").unwrap(),
                    _ => drop(writer.write()),
                }
            }
            while writer.write() {}
            client.finish();
        }
    }
}

#[test]
fn rows_that_go_or_change_are_loaded_anew() {
    let changes: [(usize, &[&str]); 4] = [
        (
            0,
            &[
                "update messages set content_json = '[]' where id = (select max(id) from messages where session_id = ?1)",
                "delete from messages where id = (select min(id) from messages where session_id = ?1)",
            ],
        ),
        (
            1,
            &[
                "update messages set active = 0 where id = (select min(id) from messages where session_id = ?1)",
                "update messages set active = 0 where id = (select max(id) from messages where session_id = ?1 and active = 1)",
            ],
        ),
        (
            2,
            &[
                "update part set data = json_set(data, '$.text', 'changed') where session_id = ?1",
                "delete from message where id = (select max(id) from message where session_id = ?1)",
            ],
        ),
        (
            3,
            &["delete from transcript_events where session_id = ?1 and seq =
               (select max(seq) from transcript_events where session_id = ?1)"],
        ),
    ];
    for (kind, statements) in changes {
        let mut writer = Writer::begin(&KINDS[kind], 0).unwrap();
        while writer.write() {}
        let mut client = writer.follow();
        for statement in statements {
            writer.program.execute(statement, [&writer.session.id]).unwrap();
            assert!(matches!(client.check(), Followed::Rewritten(_)), "{statement}");
        }
        client.finish();
    }
}

#[test]
fn a_row_that_goes_long_before_the_newest_is_missed() {
    let filled = [
        (
            0,
            "insert into messages (session_id, role, content_json, created_timestamp)
             values (?1, 'user', '[{\"type\":\"text\",\"text\":\"x\"}]', 4000000000)",
            "messages",
        ),
        (
            1,
            "insert into messages (session_id, role, content, timestamp) values (?1, 'user', 'x', 4000000000)",
            "messages",
        ),
        (
            2,
            "insert into message values (lower(hex(randomblob(8))), ?1, 4000000000000, 0, '{\"role\":\"user\"}')",
            "message",
        ),
    ];
    for (kind, statement, table) in filled {
        let mut writer = Writer::begin(&KINDS[kind], 0).unwrap();
        while writer.write() {}
        let mut insert = writer.program.prepare(statement).unwrap();
        (0..200).for_each(|_| assert_eq!(insert.execute([&writer.session.id]), Ok(1)));
        let mut client = writer.follow();
        let first = format!("delete from {table} where rowid = (select min(rowid) from {table} where session_id = ?1)");
        writer.program.execute(&first, [&writer.session.id]).unwrap();
        assert!(matches!(client.check(), Followed::Rewritten(_)), "{table}");
        // One goes and one comes: as many as before.
        writer.program.execute(&first, [&writer.session.id]).unwrap();
        if kind < 2 {
            insert.execute([&writer.session.id]).unwrap();
            assert!(matches!(client.check(), Followed::Rewritten(_)), "{table}");
        }
    }
}

#[test]
fn a_session_that_is_deleted_is_gone_and_may_come_back() {
    for (kind, table) in [(0, "sessions"), (1, "sessions"), (2, "session")] {
        let mut writer = Writer::begin(&KINDS[kind], 0).unwrap();
        while writer.write() {}
        let mut client = writer.follow();
        let id = &writer.session.id;
        writer.program.execute(&format!("delete from {table} where id = ?1"), [id]).unwrap();
        assert!(matches!(client.read(), Followed::Removed));
        assert!(matches!(client.read(), Followed::Nothing));
        let back = format!("insert into {table} select * from whole.{table} where id = ?1");
        writer.program.execute(&back, [id]).unwrap();
        assert!(matches!(client.check(), Followed::Rewritten(_)));
        client.finish();
    }
}

#[test]
fn a_database_that_its_program_keeps_to_itself_is_tried_later() {
    let mut writer = Writer::begin(&KINDS[0], 0).unwrap();
    writer.write();
    writer.program.pragma_update(None, "journal_mode", "delete").unwrap();
    let mut client = writer.follow();
    // Larger than what is kept in mind, the transaction is in the main file before it is committed.
    writer.program.pragma_update(None, "cache_size", 1).unwrap();
    writer.program.execute_batch("begin exclusive; create table filler (x)").unwrap();
    for _ in 0..200 {
        writer.program.execute("insert into filler values (zeroblob(4000))", []).unwrap();
    }
    for _ in 0..3 {
        let followed = client.read();
        assert!(matches!(followed, Followed::Nothing), "{followed:?}");
    }
    writer.program.execute_batch("commit").unwrap();
    assert!(writer.write());
    assert!(matches!(client.check(), Followed::Appended(_)));
    client.finish();
}

#[test]
#[cfg(unix)]
fn following_touches_nothing() {
    for kind in &KINDS {
        let tree = Tree::new();
        copy(&fixture(kind.fixture), tree.path());
        let listing = list(kind.store, tree.path());
        for session in &listing.sessions {
            let before = crate::harness::testing::seen(tree.path());
            let mut client = Client::begin(kind.store, listing.root.clone(), session.clone());
            client.check();
            assert_eq!(crate::harness::testing::seen(tree.path()), before);
        }
    }
}
