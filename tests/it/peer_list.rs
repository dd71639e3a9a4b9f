//! `peer/list`: live Claude Code sessions, judged by real processes.

use crate::support::{Home, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tackroom::platform::process;

/// A process that lives until it is killed.
pub struct Sleeper(pub Child);

impl Sleeper {
    pub fn start() -> Self {
        Self(Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap())
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Ends it, and waits until it is a zombie.
    pub fn zombie(&mut self) {
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        self.0.kill().unwrap();
        let pid = nix::unistd::Pid::from_raw(self.pid() as i32);
        waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT).unwrap();
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Writes the record of a process, as the program would.
pub fn record(claude: &Path, pid: u32, change: Value) {
    let mut fields = json!({
        "pid": pid, "sessionId": uuid(pid as usize), "cwd": "/p", "startedAt": 1_796_000_000_000_i64,
        "procStart": process::start_mark(pid as i32), "version": "2.1.332", "kind": "interactive", "entrypoint": "cli",
        "pidDomain": process::own_pid_domain(), "name": format!("name-{pid}"), "status": "idle",
    });
    fields.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    fs::create_dir_all(claude.join("sessions")).unwrap();
    fs::write(claude.join(format!("sessions/{pid}.json")), fields.to_string()).unwrap();
}

fn names(server: &mut Server) -> Vec<String> {
    let answer = server.request("peer/list", json!({})).result();
    assert_eq!(answer.get("problems"), None);
    answer["peers"].as_array().unwrap().iter().map(|peer| peer["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_session_is_listed_as_long_as_its_very_process_lives() {
    let home = Home::new();
    let mut alive = Sleeper::start();
    let (pid, other) = (alive.pid(), Sleeper::start());
    record(&home.claude(), pid, json!({ "name": "alive" }));
    // The pid was given to another process since: its start does not match.
    record(&home.claude(), other.pid(), json!({ "name": "reused", "procStart": "1" }));
    let mut server = Spawn::new(home).open();
    assert_eq!(names(&mut server), ["alive"]);

    // Killed but not waited for, it is a zombie; waited for, it is gone. Its record stays all the while.
    alive.zombie();
    assert_eq!(names(&mut server), Vec::<String>::new());
    alive.0.wait().unwrap();
    assert_eq!(names(&mut server), Vec::<String>::new());
    assert_eq!(server.request("registry/list", json!({ "query": { "persisted": false } })).result()["total"], 0);
}

#[test]
fn all_that_a_record_tells_goes_out() {
    let home = Home::new();
    let sleeper = Sleeper::start();
    let socket = home.path().join("a:b%.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    let change = json!({
        "name": "re:view%er", "kind": "bg", "status": "waiting", "waitingFor": "permission prompt", "tmux": "b:@1.%1",
        "messagingSocketPath": socket, "updatedAt": 1_796_000_000_500_i64,
    });
    record(&home.claude(), sleeper.pid(), change);
    let mut server = Spawn::new(home).open();
    let answer = server.request("peer/list", json!({})).result();
    let home = server.home.path().to_str().unwrap().to_owned();
    let escaped = socket.to_str().unwrap().replace('%', "%25").replace(':', "%3A");
    let expected = json!({ "peers": [{
        "pid": sleeper.pid(), "sessionId": uuid(sleeper.pid() as usize), "name": "re:view%er", "home": format!("{home}/.claude"),
        "cwd": "/p", "status": "waiting", "waitingFor": "permission prompt", "kind": "background", "entrypoint": "cli",
        "updatedAtMs": 1_796_000_000_500_i64, "version": "2.1.332", "tmux": "b:@1.%1", "socketPath": socket,
        "addressable": true, "endpoint": format!("cc-peer:v1:{}:re%3Aview%25er:{escaped}", sleeper.pid()),
    }] });
    assert_eq!(answer, expected);
    let entry = server.request("registry/list", json!({})).result()["entries"][0].clone();
    assert_eq!((&entry["doors"], &entry["peer"]["endpoint"]), (&json!(["peer"]), &expected["peers"][0]["endpoint"]));
}

#[test]
fn records_that_are_no_live_sessions_are_told_by_coverage_alone() {
    let home = Home::new();
    let sleeper = Sleeper::start();
    record(&home.claude(), sleeper.pid(), json!({ "parkedJobId": "3f1bcd9e" }));
    fs::write(home.claude().join("sessions/999999.json"), "{}").unwrap();
    fs::write(home.claude().join("sessions/1234.0123.key"), "secret").unwrap();
    let mut server = Spawn::new(home).open();
    assert_eq!(names(&mut server), Vec::<String>::new());
    let coverage = server.request("registry/coverage", json!({ "harnesses": ["claude-code"] })).result();
    let rows = coverage["harnesses"][0]["roots"].as_array().unwrap();
    let registry = rows.iter().find(|row| row["path"].as_str().unwrap().ends_with("/sessions")).unwrap();
    assert_eq!(registry["skipped"].as_array().unwrap().len(), 2);
    assert!(!coverage.to_string().contains(".key"));
}

#[test]
fn a_record_that_cannot_be_read_is_a_problem_and_the_rest_stands() {
    let home = Home::new();
    let (good, bad) = (Sleeper::start(), Sleeper::start());
    record(&home.claude(), good.pid(), json!({ "name": "good" }));
    fs::write(home.claude().join(format!("sessions/{}.json", bad.pid())), "{\"pid\":").unwrap();
    let mut server = Spawn::new(home).open();
    let answer = server.request("peer/list", json!({})).result();
    assert_eq!(answer["peers"][0]["name"], "good");
    assert_eq!(answer["problems"].as_array().unwrap().len(), 1);
    assert_eq!(answer["problems"][0]["harness"], "claude-code");
}
