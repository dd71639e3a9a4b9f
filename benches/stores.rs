//! What a session costs the first list, store by store, beside what reading the same bytes costs.
//!
//!     cargo bench --bench stores                 every store
//!     cargo bench --bench stores -- codex pi     some of them
//!
//! The corpora are made once, below `target/stores`, from sessions that the real programs wrote: the files of one, and the
//! rows of one, many times under new ids. The floor of files is walking them, with one `stat` each, and reading 32 KiB of
//! each one's head and 16 KiB of its tail. The floor of a database is a plain `select` over the rows that the list is
//! made of, each value fetched and dropped: reading the whole file, which is told beside it, reads what no list needs.
#![allow(unreachable_pub, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use rusqlite::{Connection, OpenFlags};
use serde_json::json;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::{Server, files, median, read_ends, target, timed};

const ROUNDS: usize = 9;
const FILE_SESSIONS: usize = 1_000;
const DATABASE_SESSIONS: usize = 10_000;

struct Store {
    name: &'static str,
    /// The program's variable that names its place.
    variable: &'static str,
    kind: Kind,
}

enum Kind {
    /// The id of a session, what stands for it, and its files: where they lie in the fixtures and in the corpus. `{id}` is
    /// the new id, `{n}` the session's number, `{place}` that of the directory that it works in.
    Files { id: &'static str, new_id: &'static str, copies: &'static [(&'static str, &'static str)] },
    /// The fixture, where it lies in the corpus, the rows of the session, each table with its condition, and what the
    /// floor selects.
    Database {
        fixture: &'static str,
        place: &'static str,
        rows: &'static [(&'static str, &'static str)],
        floor: &'static [&'static str],
    },
}

const STORES: &[Store] = &[
    Store {
        name: "claude-code",
        variable: "CLAUDE_CONFIG_DIR",
        kind: Kind::Files {
            id: "990cebda-6561-469d-88b4-03a913c4535d",
            new_id: "{n}-6561-469d-88b4-03a913c4535d",
            copies: &[("claude-code/projects/-proj-proj/{id}.jsonl", "projects/-proj-{place}/{id}.jsonl")],
        },
    },
    Store {
        name: "codex",
        variable: "CODEX_HOME",
        kind: Kind::Files {
            id: "01a22b99-1497-7823-892b-1bc4d693a950",
            new_id: "{n}-1497-7823-892b-1bc4d693a950",
            copies: &[(
                "codex/v0.171.0/sessions/2026/11/30/rollout-2026-11-30T08-36-22-{id}.jsonl",
                "sessions/2026/11/{place}/rollout-2026-11-{place}T08-36-22-{id}.jsonl",
            )],
        },
    },
    Store {
        name: "gemini",
        variable: "GEMINI_CLI_HOME",
        kind: Kind::Files {
            id: "7e8866fe-e85f-4d7b-a6dd-47044ad316d8",
            new_id: "{n}-e85f-4d7b-a6dd-47044ad316d8",
            copies: &[
                (
                    "gemini/v0.61.0/tmp/demo/chats/session-2026-11-30T08-40-7e8866fe.jsonl",
                    ".gemini/tmp/demo-{place}/chats/session-2026-11-30T08-40-{n}.jsonl",
                ),
                ("gemini/v0.61.0/tmp/demo/.project_root", ".gemini/tmp/demo-{place}/.project_root"),
            ],
        },
    },
    Store {
        name: "pi",
        variable: "PI_CODING_AGENT_DIR",
        kind: Kind::Files {
            id: "01a22b97-c19b-7283-b6e9-d232154819cd",
            new_id: "{n}-c19b-7283-b6e9-d232154819cd",
            copies: &[(
                "pi/v1.6.0/sessions/--proj-alpha--/2026-11-30T08-34-55-522Z_{id}.jsonl",
                "sessions/--proj-{place}--/2026-11-30T08-34-55-522Z_{id}.jsonl",
            )],
        },
    },
    Store {
        name: "grok",
        variable: "GROK_HOME",
        kind: Kind::Files {
            id: "01a22b97-5e73-7d53-aeb8-8df6b15a2f58",
            new_id: "{n}-5e73-7d53-aeb8-8df6b15a2f58",
            copies: &[
                (
                    "grok/.grok/sessions/%2Fproj%2Falpha/{id}/updates.jsonl",
                    "sessions/%2Fproj%2F{place}/{id}/updates.jsonl",
                ),
                (
                    "grok/.grok/sessions/%2Fproj%2Falpha/{id}/chat_history.jsonl",
                    "sessions/%2Fproj%2F{place}/{id}/chat_history.jsonl",
                ),
                (
                    "grok/.grok/sessions/%2Fproj%2Falpha/{id}/summary.json",
                    "sessions/%2Fproj%2F{place}/{id}/summary.json",
                ),
            ],
        },
    },
    Store {
        name: "supercode",
        variable: "SUPERCODE_HOME",
        kind: Kind::Files {
            id: "88675a32e3fcb6f9-brave-moose",
            new_id: "88675a32e3fcb6{place}-brave-{n}",
            copies: &[
                ("supercode/.config/supercode/sessions/{id}.jsonl", "sessions/{id}.jsonl"),
                ("supercode/.config/supercode/sessions/{id}.meta.json", "sessions/{id}.meta.json"),
                ("supercode/.config/supercode/sessions/{id}.usage.jsonl", "sessions/{id}.usage.jsonl"),
                ("supercode/.config/supercode/sessions/{id}.events.jsonl", "sessions/{id}.events.jsonl"),
            ],
        },
    },
    Store {
        name: "opencode",
        variable: "XDG_DATA_HOME",
        kind: Kind::Database {
            fixture: "opencode/v1.18.33-checkpointed/opencode.db",
            place: "opencode/opencode.db",
            rows: &[
                ("session", "id = 'ses_dd4627a7dffe8ZEYXzgu1lwA5w'"),
                ("message", "session_id = 'ses_dd4627a7dffe8ZEYXzgu1lwA5w'"),
                ("part", "session_id = 'ses_dd4627a7dffe8ZEYXzgu1lwA5w'"),
            ],
            floor: &["select * from session", "select session_id, time_created from message"],
        },
    },
    Store {
        name: "goose",
        variable: "GOOSE_PATH_ROOT",
        kind: Kind::Database {
            fixture: "goose/xdg-data/goose/sessions/sessions.db",
            place: "data/sessions/sessions.db",
            rows: &[("sessions", "id = '20260902_2'"), ("messages", "session_id = '20260902_2'")],
            floor: &[
                "select * from sessions",
                "select session_id, created_timestamp, role, metadata_json from messages",
            ],
        },
    },
    Store {
        name: "openclaw",
        variable: "OPENCLAW_STATE_DIR",
        kind: Kind::Database {
            fixture: "openclaw/v2026.9.6/.openclaw/agents/main/agent/openclaw-agent.sqlite",
            place: "agents/main/agent/openclaw-agent.sqlite",
            rows: &[
                ("session_nodes", "current_session_id = '8fe64170-22d0-47a7-b3a5-0736ac81ae36'"),
                ("session_windows", "session_id = '8fe64170-22d0-47a7-b3a5-0736ac81ae36'"),
                ("transcript_events", "session_id = '8fe64170-22d0-47a7-b3a5-0736ac81ae36'"),
            ],
            floor: &[
                "select * from session_nodes",
                "select * from session_windows",
                "select session_id, event_json from transcript_events",
            ],
        },
    },
    Store {
        name: "hermes",
        variable: "HERMES_HOME",
        kind: Kind::Database {
            fixture: "hermes/.hermes/state.db",
            place: "state.db",
            rows: &[
                ("sessions", "id = '20261130_084808_3374f1'"),
                ("messages", "session_id = '20261130_084808_3374f1'"),
            ],
            floor: &["select * from sessions", "select session_id, timestamp, role, content, active from messages"],
        },
    },
    Store {
        name: "orchestrator",
        variable: "SUPERCODE_ORCHESTRATOR_HOME",
        kind: Kind::Database {
            fixture: "orchestrator/.supercode/orchestrator/state.db",
            place: "state.db",
            rows: &[("gateway_routing", "session_key = 'agent:main:slack:channel:C1'")],
            floor: &["select * from gateway_routing"],
        },
    },
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    println!("microseconds a session; goal: a ratio of 3 at most\n");
    println!(
        "{:<13} {:>9} {:>8} {:>8} {:>7} {:>11} {:>10} {:>11} {:>9}",
        "", "sessions", "ours", "floor", "ratio", "whole file", "later", "later floor", "peak KiB"
    );
    for store in STORES.iter().filter(|store| wanted.is_empty() || wanted.iter().any(|name| name == store.name)) {
        store.measure();
    }
}

impl Store {
    fn measure(&self) {
        let home = target("stores").join(self.name);
        if !home.exists() {
            eprintln!("writing {} ...", home.display());
            let begun = home.with_extension("begun");
            let _ = fs::remove_dir_all(&begun);
            self.make(&begun, &home);
            fs::rename(&begun, &home).expect("it can be renamed");
        }
        let sessions = self.sessions();
        let (mut first, mut floors, mut wholes) = (vec![], vec![], vec![]);
        let (mut later, mut walks) = (vec![], vec![]);
        let mut memory = 0;
        for _ in 0..ROUNDS {
            let mut server = Server::start(self.variable, &home);
            let mut list = || {
                let (time, answer) = timed(|| server.request("registry/list", json!({ "limit": 50 })));
                assert_eq!(answer["result"]["total"], sessions, "{}: {answer}", self.name);
                time
            };
            first.push(list());
            floors.push(timed(|| self.floor(&home)).0);
            if let Kind::Database { place, .. } = self.kind {
                wholes.push(timed(|| fs::read(home.join(place)).expect("it is there").len()).0);
            }
            for _ in 0..3 {
                later.push(list());
                walks.push(timed(|| files(&home)).0);
            }
            memory = memory.max(server.peak_kib());
        }
        let each = |time: Duration| time.as_secs_f64() * 1e6 / sessions as f64;
        let (ours, floor) = (each(median(first)), each(median(floors)));
        let whole = if wholes.is_empty() { String::new() } else { format!("{:.2}", each(median(wholes))) };
        println!(
            "{:<13} {sessions:>9} {ours:>8.2} {floor:>8.2} {:>7.2} {whole:>11} {:>10} {:>11} {memory:>9}",
            self.name,
            ours / floor,
            format!("{:.1?}", median(later)),
            format!("{:.1?}", median(walks)),
        );
    }

    fn sessions(&self) -> usize {
        if matches!(self.kind, Kind::Files { .. }) { FILE_SESSIONS } else { DATABASE_SESSIONS }
    }

    fn floor(&self, home: &Path) {
        match self.kind {
            Kind::Files { .. } => _ = black_box(read_ends(&files(home))),
            Kind::Database { place, floor, .. } => select(&home.join(place), floor),
        }
    }

    /// Makes the corpus in one directory, for another that it will be renamed to.
    fn make(&self, home: &Path, final_home: &Path) {
        match self.kind {
            Kind::Files { id, new_id, copies } => {
                for (from, to) in copies {
                    let content = fs::read_to_string(fixture(&from.replace("{id}", id))).expect("a fixture");
                    for number in 0..FILE_SESSIONS {
                        let fill = |text: &str| {
                            text.replace("{n}", &format!("{:08x}", 0x1000_0000 + number))
                                .replace("{place}", &(10 + number % 20).to_string())
                        };
                        let new_id = fill(new_id);
                        let to = home.join(fill(&to.replace("{id}", &new_id)));
                        fs::create_dir_all(to.parent().expect("a directory")).expect("it can be made");
                        fs::write(to, content.replace(id, &new_id)).expect("it can be written");
                    }
                }
            }
            Kind::Database { fixture: from, place, rows, .. } => {
                let to = home.join(place);
                fs::create_dir_all(to.parent().expect("a directory")).expect("it can be made");
                fs::copy(fixture(from), &to).expect("a fixture");
                let scope = final_home.join("sessions");
                multiply(&to, rows, scope.to_str().expect("a name")).expect("it can be written");
            }
        }
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Leaves of these tables the rows of one session, many times.
fn multiply(database: &Path, rows: &[(&str, &str)], scope: &str) -> rusqlite::Result<()> {
    // What ties rows together, besides their keys.
    const TIES: [&str; 4] = ["session_id", "message_id", "session_key", "current_session_id"];
    let connection = Connection::open(database)?;
    connection.execute_batch("pragma journal_mode = delete; pragma foreign_keys = off; begin")?;
    let mut triggers = connection.prepare("select name from sqlite_master where type = 'trigger'")?;
    let triggers = triggers.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    for trigger in triggers {
        connection.execute_batch(&format!("drop trigger {trigger}"))?;
    }
    for (table, condition) in rows {
        let mut columns = connection.prepare("select name, type, pk from pragma_table_info(?)")?;
        let columns = columns
            .query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<rusqlite::Result<Vec<(String, String, bool)>>>()?;
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (name, kind, is_key) in &columns {
            if *is_key && kind.eq_ignore_ascii_case("integer") && name == "id" {
                continue;
            }
            let is_text_key = *is_key && kind.eq_ignore_ascii_case("text") && name != "scope";
            let is_new = is_text_key || TIES.contains(&name.as_str());
            names.push(name.as_str());
            values.push(if is_new { format!("{name} || '-' || i") } else { name.clone() });
        }
        let (names, values) = (names.join(", "), values.join(", "));
        connection.execute_batch(&format!(
            "create temp table made as
               with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < {DATABASE_SESSIONS})
               select {values} from numbers, {table} where {condition};
             delete from {table};
             insert into {table} ({names}) select * from made;
             drop table made;"
        ))?;
        if names.starts_with("scope") {
            connection.execute(&format!("update {table} set scope = ?"), [scope])?;
        }
    }
    connection.execute_batch("commit; vacuum")
}

/// Fetches every value of every row.
fn select(database: &Path, queries: &[&str]) {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("a database");
    for query in queries {
        let mut statement = connection.prepare(query).expect("a query");
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect("it runs");
        while let Some(row) = rows.next().expect("a row") {
            for column in 0..columns {
                black_box(row.get_ref(column).expect("a value"));
            }
        }
    }
}
