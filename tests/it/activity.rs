//! What lives, of every harness that tells: real processes and real locks, files as the programs write them.

use crate::peer_list::{Sleeper, record as claude_record};
use crate::support::runtime::{Options, Runtime};
use crate::support::{Home, Server, Spawn, stores, uuid};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use tackroom::platform::process;

/// The time of the last `task_complete` in the Codex fixture: 2026-11-30T08:36:22.510Z.
const COMPLETED_MS: i64 = 1_796_027_782_510;

const CODEX: &str = "01a22b99-1497-7823-892b-1bc4d693a950";
const ROLLOUT: &str =
    ".codex/sessions/2026/11/30/rollout-2026-11-30T08-36-22-01a22b99-1497-7823-892b-1bc4d693a950.jsonl";
const GROK: &str = "01a22b97-5e73-7d53-aeb8-8df6b15a2f58";
const OPENCLAW: &str = "1cecd97c-764c-49fd-97fb-89258360081d";
const HERMES: &str = "20261130_084808_3374f1";

/// A time that is after the start of every process of these tests, and is written as the programs do.
const LATER: &str = "2126-11-30T08:36:22.000Z";

fn codex_lock(home: &Path, id: &str) -> std::path::PathBuf {
    let directory = home.join(".codex/thread-writer-locks");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join(format!("{id}.lock"));
    fs::write(&path, "").unwrap();
    path
}

/// A process that holds a file locked as long as it lives.
fn holder(path: &Path) -> Sleeper {
    let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
    let lock = move || {
        // SAFETY: system calls alone, on a descriptor that is opened here and that the process keeps.
        let locked = unsafe { libc::flock(libc::open(name.as_ptr(), libc::O_RDWR), libc::LOCK_EX | libc::LOCK_NB) };
        if locked == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    let mut command = Command::new("sleep");
    // SAFETY: between fork and exec it makes system calls and allocates nothing.
    Sleeper(unsafe { command.arg("1000").pre_exec(lock) }.spawn().unwrap())
}

/// An event of the rollout of the Codex session.
fn codex_event(home: &Path, kind: &str) {
    let event = json!({ "timestamp": LATER, "type": "event_msg", "payload": { "type": kind, "turn_id": "t" } });
    writeln!(OpenOptions::new().append(true).open(home.join(ROLLOUT)).unwrap(), "{event}").unwrap();
}

fn grok(home: &Path, pid: u32, opened_at: &str, id: &str, cwd: &str) {
    let records = json!([{ "session_id": id, "pid": pid, "cwd": cwd, "opened_at": opened_at }]);
    fs::create_dir_all(home.join(".grok")).unwrap();
    fs::write(home.join(".grok/active_sessions.json"), records.to_string()).unwrap();
}

fn openclaw(home: &Path, pid: u32, start: Option<i64>) {
    let state = home.join(".openclaw");
    let directory = state.join("tmp/openclaw-0");
    fs::create_dir_all(&directory).unwrap();
    let record = json!({ "pid": pid, "ownerId": "o", "createdAt": LATER, "configPath": state.join("openclaw.json"),
        "stateDir": state, "port": 18_789, "startTime": start });
    fs::write(directory.join("gateway.state.lock"), format!("{record}{}", " ".repeat(100))).unwrap();
}

fn openclaw_runs(home: &Path, status: &str) {
    let database = Connection::open(home.join(".openclaw/agents/main/agent/openclaw-agent.sqlite")).unwrap();
    let query = "update session_nodes set status = ?1, updated_at = 4000000000000 where current_session_id = ?2";
    assert_eq!(database.execute(query, [status, OPENCLAW]).unwrap(), 1);
}

fn hermes(home: &Path, pid: u32, start: Option<i64>) {
    let database = Connection::open(home.join(".hermes/state.db")).unwrap();
    let query = "update async_delegations set owner_pid = ?1, owner_started_at = ?2";
    assert_eq!(database.execute(query, rusqlite::params![pid, start]).unwrap(), 1);
}

fn start(pid: u32) -> Option<i64> {
    process::start_mark(pid as i32)?.parse().ok()
}

/// Lets a session of each of four harnesses live, in a home that holds their stores; the processes.
pub fn enliven(place: &Path) -> [Sleeper; 4] {
    let processes = [holder(&codex_lock(place, CODEX)), Sleeper::start(), Sleeper::start(), Sleeper::start()];
    let [_, in_grok, in_openclaw, in_hermes] = processes.each_ref().map(Sleeper::pid);
    grok(place, in_grok, LATER, GROK, "/proj/alpha");
    openclaw(place, in_openclaw, start(in_openclaw));
    openclaw_runs(place, "running");
    hermes(place, in_hermes, start(in_hermes));
    processes
}

/// The entries of a list, by id.
fn entries(server: &mut Server, query: Value) -> Value {
    let answer = server.request("registry/list", json!({ "query": query, "limit": 1000 })).result();
    assert_eq!(answer.get("problems"), None);
    answer["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["id"].as_str().unwrap().to_owned(), entry.clone()))
        .collect()
}

/// What lives: ids, states, and the rest of the activity.
pub fn live(server: &mut Server) -> Value {
    let all = entries(server, json!({ "persisted": false, "includeChildren": true }));
    let told = all.as_object().unwrap().iter().map(|(id, entry)| {
        let mut activity = entry["activity"].clone();
        assert!(activity.as_object_mut().unwrap().remove("observedAtMs").unwrap().is_i64(), "{entry}");
        activity["state"] = entry["state"].clone();
        (id.clone(), activity)
    });
    told.collect()
}

#[test]
fn sessions_of_every_harness_live_as_long_as_their_processes_do() {
    let home = Home::with(&[stores::CODEX, stores::GROK, stores::OPENCLAW, stores::HERMES]);
    let place = home.path().to_owned();
    let [mut in_codex, mut in_grok, mut in_openclaw, mut in_hermes] = enliven(&place);
    let mut in_claude = Sleeper::start();
    let waiting = json!({ "sessionId": uuid(7), "status": "waiting", "waitingFor": "permission prompt" });
    claude_record(&home.claude(), in_claude.pid(), waiting);
    let mut server = Spawn::new(home).open();
    let [codex, grok, openclaw, hermes, claude] = [
        format!("codex:{CODEX}"),
        format!("grok:{GROK}"),
        format!("openclaw:{OPENCLAW}"),
        format!("hermes:{HERMES}"),
        format!("claude-code:{}", uuid(7)),
    ];
    let mut expected = json!({
        &codex: { "state": "idle", "status": "idle", "sinceMs": COMPLETED_MS, "source": "lock", "pid": in_codex.pid() },
        &grok: { "state": "live", "source": "process", "pid": in_grok.pid() },
        &openclaw: { "state": "busy", "status": "busy", "sinceMs": 4_000_000_000_000_i64, "source": "lock", "pid": in_openclaw.pid() },
        &hermes: { "state": "live", "source": "process", "pid": in_hermes.pid() },
        &claude: { "state": "waiting", "status": "waiting", "waitingFor": "permission prompt", "source": "claude-registry",
            "pid": in_claude.pid() },
    });
    assert_eq!(live(&mut server), expected);
    codex_event(&place, "task_started");
    assert_eq!(live(&mut server)[&codex]["state"], "busy");
    codex_event(&place, "turn_aborted");
    // The time of that record: [`LATER`].
    expected[&codex]["sinceMs"] = json!(4_951_701_382_000_i64);
    assert_eq!(live(&mut server), expected);

    // Killed, and not waited for: zombies. All files stay as they were.
    for sleeper in [&mut in_codex, &mut in_grok, &mut in_openclaw, &mut in_hermes, &mut in_claude] {
        sleeper.zombie();
    }
    assert_eq!(live(&mut server), json!({}));
    let all = entries(&mut server, json!({ "includeChildren": true }));
    for id in [&codex, &grok, &openclaw, &hermes] {
        assert_eq!((&all[id]["state"], &all[id].get("activity")), (&json!("persisted"), &None), "{id}");
    }
    assert_eq!(all.get(&claude), None);
}

#[test]
fn a_live_session_s_entry_is_that_of_the_stored_one_and_what_lives() {
    let home = Home::with(&[stores::CODEX, stores::GROK]);
    let place = home.path().to_owned();
    let sleeper = Sleeper::start();
    let mut server = Spawn::new(home).open();
    let [codex, stored] = [format!("codex:{CODEX}"), format!("grok:{GROK}")];
    let before = entries(&mut server, json!({}));
    let holder = holder(&codex_lock(&place, CODEX));
    let new = uuid(1);
    let unwritten = self::holder(&codex_lock(&place, &new));
    grok(&place, sleeper.pid(), LATER, GROK, "/proj/elsewhere");
    let mut after = entries(&mut server, json!({}));
    let seen = |entry: &mut Value| entry["activity"].as_object_mut().unwrap().remove("observedAtMs").unwrap();
    let mut expected = before[&codex].clone();
    expected["state"] = json!("idle");
    expected["activity"] = json!({ "status": "idle", "sinceMs": COMPLETED_MS, "source": "lock", "pid": holder.pid() });
    seen(&mut after[&codex]);
    assert_eq!(after[&codex], expected);
    // What its transcript says of its place counts, and when it was opened is known besides.
    let mut expected = before[&stored].clone();
    expected["state"] = json!("live");
    expected["activity"] = json!({ "source": "process", "pid": sleeper.pid() });
    expected["startedAtMs"] = json!(4_951_701_382_000_i64);
    seen(&mut after[&stored]);
    assert_eq!(after[&stored], expected);
    // One that nothing is written of yet is known by its id alone.
    let id = format!("codex:{new}");
    seen(&mut after[&id]);
    let activity = json!({ "source": "lock", "pid": unwritten.pid() });
    let expected = json!({ "id": id, "harness": "codex", "sessionId": new, "state": "live", "activity": activity });
    assert_eq!(after[&id], expected);
    // Who looks at no live evidence sees what is stored.
    assert_eq!(entries(&mut server, json!({ "live": false })), before);
    let described = server.request("registry/describe", json!({ "id": codex })).result();
    assert_eq!(described["entry"]["state"], "idle");
}

#[test]
fn reused_pids_and_pids_of_elsewhere_are_nobody() {
    let home = Home::with(&[stores::GROK, stores::OPENCLAW, stores::HERMES]);
    let place = home.path().to_owned();
    let stranger = Sleeper::start();
    // A process of another pid namespace has another start, seen from here; so has one that the pid went to.
    grok(&place, stranger.pid(), "2020-01-01T00:00:00Z", GROK, "/proj/alpha");
    openclaw(&place, stranger.pid(), Some(1));
    openclaw_runs(&place, "running");
    hermes(&place, stranger.pid(), Some(1));
    let mut server = Spawn::new(home).open();
    assert_eq!(live(&mut server), json!({}));
    // Of the harnesses' processes none is meant: these pids cannot be.
    openclaw(&place, 0, None);
    grok(&place, u32::MAX, LATER, GROK, "/proj/alpha");
    assert_eq!(live(&mut server), json!({}));
}

#[test]
fn what_cannot_be_read_costs_one_problem_and_the_rest_stands() {
    let home = Home::with(&[stores::CODEX, stores::GROK]);
    let place = home.path().to_owned();
    let _holder = holder(&codex_lock(&place, CODEX));
    let records = place.join(".grok/active_sessions.json");
    let mut server = Spawn::new(home).open();
    let mut problems = || {
        let answer =
            server.request("registry/list", json!({ "limit": 1000, "query": { "persisted": false } })).result();
        assert_eq!(answer["entries"][0]["id"], format!("codex:{CODEX}"));
        answer.get("problems").cloned().unwrap_or(json!([]))
    };
    fs::write(&records, "[{\"session_id\":").unwrap();
    let told = problems();
    assert_eq!(told.as_array().unwrap().len(), 1, "{told}");
    let expected = [json!("grok"), json!("malformed"), json!(records)];
    assert_eq!([&told[0]["harness"], &told[0]["reason"], &told[0]["path"]], expected.each_ref());
    fs::remove_file(&records).unwrap();
    nix::unistd::mkfifo(&records, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(problems().as_array().unwrap().len(), 1);
    fs::remove_file(&records).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &records).unwrap();
    assert_eq!(problems().as_array().unwrap().len(), 1);
    fs::remove_file(&records).unwrap();
    assert_eq!(problems(), json!([]));
}

#[test]
fn what_lives_out_of_scope_does_not_exist() {
    let home = Home::with(&[stores::CODEX, stores::GROK]);
    let place = home.path().to_owned();
    let sleeper = Sleeper::start();
    let _holders = [holder(&codex_lock(&place, CODEX)), holder(&codex_lock(&place, &uuid(1)))];
    grok(&place, sleeper.pid(), LATER, GROK, "/proj/demo");
    let seen = |args: &[&str], home: Home| {
        let mut server = Spawn::new(home).args(args).open();
        let mut ids: Vec<String> = live(&mut server).as_object().unwrap().keys().cloned().collect();
        ids.sort();
        (ids, std::mem::replace(&mut server.home, Home::new()))
    };
    let [codex, unwritten, stored] = [format!("codex:{CODEX}"), format!("codex:{}", uuid(1)), format!("grok:{GROK}")];
    let (ids, home) = seen(&["--workspace", "/proj/demo"], home);
    // The Grok session's transcript is elsewhere: what lives stands alone. Of the unwritten one no place is known.
    assert_eq!(ids, [codex.clone(), stored.clone()]);
    let (ids, home) = seen(&["--workspace", "/proj/other"], home);
    assert_eq!(ids, Vec::<String>::new());
    let (ids, home) = seen(&["--harness", "codex"], home);
    assert_eq!(ids, [unwritten.clone(), codex.clone()]);
    assert_eq!(seen(&[], home).0, [unwritten, codex, stored]);
}

#[test]
fn a_live_session_is_folded_into_its_runtime() {
    let home = Home::with(&[stores::CODEX]);
    let place = home.path().to_owned();
    let _holder = holder(&codex_lock(&place, CODEX));
    let mut options = Options::hosted("codex", "run", "/proj/demo");
    options.source.session_id = CODEX.to_owned();
    let runtime = Runtime::start(options);
    runtime.publish(&place.join(".config/supercode/live-runtimes"));
    let mut server = Spawn::new(home).open();
    let told = live(&mut server);
    assert_eq!(told.as_object().unwrap().keys().collect::<Vec<_>>(), ["run"]);
    assert_eq!((&told["run"]["source"], &told["run"]["state"]), (&json!("runtime"), &json!("idle")));
    let twins = entries(&mut server, json!({ "persisted": false, "twins": true }));
    assert_eq!(twins[format!("codex:{CODEX}")]["activity"]["source"], "lock");
}

#[test]
fn who_watches_is_told_what_begins_and_ends() {
    let home = Home::with(&[stores::CODEX, stores::GROK, stores::OPENCLAW, stores::HERMES]);
    let place = home.path().to_owned();
    let mut server = Spawn::new(home).open();
    server.request("registry/watch", json!({ "query": { "includeChildren": true } })).result();
    let mut event = |kind: &str| loop {
        let event = server.expect_notification("registry/event")["event"].take();
        if event["kind"] == kind || event["kind"] == "updated" {
            return event;
        }
    };
    while event("synced")["kind"] != "synced" {}
    let mut state = |id: &str| {
        let entry = event("updated")["entry"].take();
        assert_eq!(entry["id"], id);
        entry["state"].as_str().unwrap().to_owned()
    };
    let [codex, stored, claw, herm] =
        [format!("codex:{CODEX}"), format!("grok:{GROK}"), format!("openclaw:{OPENCLAW}"), format!("hermes:{HERMES}")];
    // Codex: the lock's directory and the lock, a turn, its end, a crash.
    let in_codex = holder(&codex_lock(&place, CODEX));
    codex_event(&place, "task_started");
    while state(&codex) != "busy" {}
    codex_event(&place, "task_complete");
    while state(&codex) != "idle" {}
    drop(in_codex);
    assert_eq!(state(&codex), "persisted");
    // Grok: its list comes, and its process goes.
    let sleeper = Sleeper::start();
    grok(&place, sleeper.pid(), LATER, GROK, "/proj/alpha");
    assert_eq!(state(&stored), "live");
    drop(sleeper);
    assert_eq!(state(&stored), "persisted");
    // OpenClaw: a mark of before counts once a gateway is there.
    openclaw_runs(&place, "running");
    let sleeper = Sleeper::start();
    openclaw(&place, sleeper.pid(), start(sleeper.pid()));
    assert_eq!(state(&claw), "busy");
    drop(sleeper);
    assert_eq!(state(&claw), "persisted");
    let sleeper = Sleeper::start();
    hermes(&place, sleeper.pid(), start(sleeper.pid()));
    assert_eq!(state(&herm), "live");
    drop(sleeper);
    assert_eq!(state(&herm), "persisted");
}

#[test]
fn of_several_processes_the_one_that_needs_most_stands_for_the_session() {
    let home = Home::new();
    let processes: [Sleeper; 4] = std::array::from_fn(|_| Sleeper::start());
    let pids = processes.each_ref().map(Sleeper::pid);
    let root = home.claude();
    let record = |index: usize, status: &str, updated: i64| {
        let fields = json!({ "sessionId": uuid(9), "status": status, "updatedAt": 1_796_000_000_000_i64 + updated });
        claude_record(&root, pids[index], fields);
    };
    record(0, "busy", 1);
    record(1, "idle", 2);
    record(2, "idle", 3);
    record(3, "of the future", 4);
    let mut server = Spawn::new(home).open();
    let id = format!("claude-code:{}", uuid(9));
    let mut expect = |state: &str, pid: u32| {
        let described = server.request("registry/describe", json!({ "id": id })).result();
        let activity = &described["entry"]["activity"];
        assert_eq!((&described["entry"]["state"], &activity["pid"]), (&json!(state), &json!(pid)));
        let mut all = pids;
        all.sort_unstable();
        assert_eq!(activity["pids"], json!(all));
    };
    expect("busy", pids[0]);
    record(1, "waiting", 0);
    expect("waiting", pids[1]);
    record(1, "idle", 0);
    record(0, "idle", 0);
    expect("idle", pids[2]);
}

#[test]
fn stopped_process_is_neither_idle_nor_reachable() {
    let home = Home::new();
    let (sleeper, socket) = (Sleeper::start(), home.path().join("s"));
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    claude_record(&home.claude(), sleeper.pid(), json!({ "sessionId": uuid(8), "messagingSocketPath": socket }));
    let lock = holder(&codex_lock(home.path(), CODEX));
    let mut server = Spawn::new(home).args(["--allow", "observe,message"]).open();
    let ids = [format!("claude-code:{}", uuid(8)), format!("codex:{CODEX}")];
    let told = |server: &mut Server| {
        let all = entries(server, json!({ "persisted": false }));
        ids.each_ref().map(|id| (all[id]["state"].clone(), all[id]["activity"]["stopped"].clone()))
    };
    let running = told(&mut server);
    assert_eq!(running[0], (json!("idle"), Value::Null));
    for process in [&sleeper, &lock] {
        let pid = nix::unistd::Pid::from_raw(process.pid() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).unwrap();
        nix::sys::wait::waitpid(pid, Some(nix::sys::wait::WaitPidFlag::WUNTRACED)).unwrap();
    }
    assert_eq!(told(&mut server), [(json!("live"), json!(true)), (json!("live"), json!(true))]);
    let peer = server.request("peer/list", json!({})).result()["peers"][0].take();
    assert_eq!((&peer["stopped"], &peer["addressable"]), (&json!(true), &json!(false)));
    assert_eq!((peer.get("status"), peer.get("endpoint")), (None, None));
    let failure = server.request("peer/message", json!({ "sessionId": uuid(8), "text": "hello" })).error();
    assert!(failure.is(-32003, "not_live").message.contains("is stopped"), "{}", failure.message);
    let pid = nix::unistd::Pid::from_raw(sleeper.pid() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGCONT).unwrap();
    nix::sys::wait::waitpid(pid, Some(nix::sys::wait::WaitPidFlag::WCONTINUED)).unwrap();
    assert_eq!(told(&mut server)[0], running[0]);
}
