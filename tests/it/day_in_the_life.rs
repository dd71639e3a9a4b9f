//! A day in the life of a watching client: sessions of several harnesses start, work, wait, crash and are deleted, and
//! after each step its view is what a list answers.

use crate::peer_list::{Sleeper, record};
use crate::support::folded::listed;
use crate::support::runtime::{Options, Process};
use crate::support::{DEADLINE, Folded, Home, Server, Spawn, stores, uuid};
use nix::sys::signal::Signal;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const DEMO: &str = "/home/dev/demo";
const CODEX: &str = "codex:01a22b99-1497-7823-892b-1bc4d693a950";

struct Day {
    server: Server,
    view: Folded,
}

impl Day {
    /// Takes events until this entry is in this state, or is not there; then all of the view must be right.
    #[track_caller]
    fn sees(&mut self, id: &str, state: Option<&str>) {
        while self.view.entries.get(id).map(|entry| entry["state"].as_str().unwrap()) != state {
            match self.server.notification_within("registry/event", DEADLINE) {
                Some(params) => drop(self.view.fold(&params)),
                None => panic!("never told; a list says {:?}", listed(&mut self.server, json!({})).get(id)),
            }
        }
        self.is_right();
    }

    /// Takes events until a member of this entry is so; then all of the view must be right.
    #[track_caller]
    fn reads(&mut self, id: &str, member: &str, value: &str) {
        while self.view.entries.get(id).is_none_or(|entry| entry[member] != value) {
            self.view.take(&mut self.server);
        }
        self.is_right();
    }

    #[track_caller]
    fn is_right(&mut self) {
        let begin = Instant::now();
        loop {
            let list = listed(&mut self.server, json!({}));
            while let Some(params) = self.server.notification_within("registry/event", Duration::from_millis(50)) {
                self.view.fold(&params);
            }
            if self.view.entries == list {
                return;
            }
            let differs = |id: &&String| self.view.entries.get(*id) != list.get(*id);
            let ids: Vec<_> = self.view.entries.keys().chain(list.keys()).filter(differs).collect();
            let told = ids.iter().map(|id| (self.view.entries.get(*id), list.get(*id))).collect::<Vec<_>>();
            assert!(begin.elapsed() < DEADLINE, "{told:#?}");
        }
    }
}

fn says(file: &Path, session: &str, text: &str, second: u32) {
    let line = json!({ "type": "user", "uuid": text, "sessionId": session, "cwd": DEMO,
        "timestamp": format!("2027-01-02T05:00:{second:02}.000Z"), "message": { "role": "user", "content": text } });
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    writeln!(OpenOptions::new().create(true).append(true).open(file).unwrap(), "{line}").unwrap();
}

#[test]
fn sessions_start_work_wait_crash_and_are_deleted() {
    let home = Home::with(&[stores::CODEX, stores::GOOSE]);
    let (claude, path) = (home.claude(), home.path().to_owned());
    let receipts = path.join(".config/supercode/live-runtimes");
    let mut server = Spawn::new(home).open();
    let view = Folded::watch(&mut server, json!({}));
    let mut day = Day { server, view };
    day.is_right();

    // Somebody starts Claude Code where it never ran, and says something.
    let (first, id) = (uuid(1), format!("claude-code:{}", uuid(1)));
    let transcript = claude.join(format!("projects/-home-dev-demo/{first}.jsonl"));
    let peer = Sleeper::start();
    let status = |status: Value| {
        let mut fields = json!({ "sessionId": first, "cwd": DEMO, "name": "demo-1f" });
        fields.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
        record(&claude, peer.pid(), fields);
    };
    status(json!({ "status": "idle" }));
    day.sees(&id, Some("idle"));
    says(&transcript, &first, "Fix the tests", 1);
    status(json!({ "status": "busy" }));
    day.reads(&id, "title", "Fix the tests");
    day.sees(&id, Some("busy"));
    status(json!({ "status": "waiting", "waitingFor": "permission" }));
    day.sees(&id, Some("waiting"));

    // A runtime takes up a session of Codex: it is one entry.
    let mut options = Options::hosted("codex", "run", "/proj/demo");
    options.source.session_id = CODEX.split_once(':').unwrap().1.to_owned();
    let mut runtime = Process::start(options, &receipts);
    day.sees("run", Some("idle"));
    day.sees(CODEX, None);
    day.reads("run", "persistedId", CODEX);
    runtime.set_busy(true);
    day.sees("run", Some("busy"));

    // Goose names a session, in a database that is written beside us.
    let goose = path.join(".local/share/goose/sessions/sessions.db");
    let database = Connection::open(&goose).unwrap();
    database.execute_batch("pragma foreign_keys = off").unwrap();
    let (session, other) = ("20260901_1", "20260902_2");
    let named = "update sessions set name = 'Evening', description = 'Evening', user_set_name = 1 where id = ?1";
    assert_eq!(database.execute(named, [session]).unwrap(), 1, "{session}");
    day.reads(&format!("goose:{session}"), "title", "Evening");
    database.execute_batch("pragma wal_checkpoint(truncate)").unwrap();
    day.is_right();
    database.execute("delete from sessions where id = ?1", [other]).unwrap();
    day.sees(&format!("goose:{other}"), None);

    // Claude Code crashes, and so does the runtime: both are gone at once, what they wrote stays.
    drop(peer);
    day.sees(&id, Some("persisted"));
    runtime.end_unreaped(Signal::SIGKILL);
    day.sees("run", None);
    day.sees(CODEX, Some("persisted"));

    // The session is resumed by another process, ends in order, and is deleted.
    let again = Sleeper::start();
    record(&claude, again.pid(), json!({ "sessionId": first, "cwd": DEMO, "status": "busy" }));
    day.sees(&id, Some("busy"));
    fs::remove_file(claude.join(format!("sessions/{}.json", again.pid()))).unwrap();
    day.sees(&id, Some("persisted"));
    fs::remove_file(&transcript).unwrap();
    day.sees(&id, None);
    fs::remove_dir_all(path.join(".codex")).unwrap();
    day.sees(CODEX, None);
    assert!(day.view.entries.keys().all(|id| id.starts_with("goose:")), "{:?}", day.view.ids());
}
