//! Live sessions: they come with their records and go with their processes.

use super::world::demo;
use crate::peer_list::{Sleeper, record};
use crate::support::{Folded, Home, Spawn, uuid};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

/// The record of a process in another home.
fn record_aside(home: &Home, pid: u32, change: Value) -> PathBuf {
    record(&home.claude(), pid, change);
    home.claude().join(format!("sessions/{pid}.json"))
}

#[test]
fn a_session_lives_as_long_as_its_process() {
    let home = Home::new();
    demo(&home).session(&uuid(1), "First", 60);
    let (claude, id) = (home.claude(), format!("claude-code:{}", uuid(1)));
    let mut server = Spawn::new(home).open();
    let mut folded = Folded::watch(&mut server, json!({}));
    assert_eq!(folded.states(), [(&*id, "persisted")]);

    // The registry is not there yet.
    let peer = Sleeper::start();
    let pid = Pid::from_raw(peer.pid() as i32);
    let aside = Home::new();
    fs::create_dir_all(claude.join("sessions")).unwrap();
    let place = claude.join(format!("sessions/{pid}.json"));
    let tell = |change: Value| {
        let mut fields = json!({ "sessionId": uuid(1), "cwd": "/home/dev/demo" });
        fields.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let path = record_aside(&aside, peer.pid(), fields);
        // The program writes over the older text, and cuts it to length afterwards.
        let text = fs::read(path).unwrap();
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(&place).unwrap();
        file.write_all(&text).unwrap();
        file.set_len(text.len() as u64).unwrap();
    };
    for (status, state) in [("idle", "idle"), ("busy", "busy"), ("waiting", "waiting"), ("shell", "idle")] {
        tell(json!({ "status": status, "waitingFor": "approval" }));
        while folded.states() != [(&*id, state)] {
            assert_eq!(folded.take(&mut server)["kind"], "updated");
        }
    }
    // A stopped process has not exited, but its activity is unknown.
    kill(pid, Signal::SIGSTOP).unwrap();
    waitid(Id::Pid(pid), WaitPidFlag::WSTOPPED | WaitPidFlag::WNOWAIT).unwrap();
    tell(json!({ "status": "busy" }));
    assert_eq!(folded.take(&mut server)["entry"]["state"], "live");
    // It is killed, and nobody waits for it: a zombie is no session.
    kill(pid, Signal::SIGKILL).unwrap();
    let event = folded.take(&mut server);
    assert_eq!((&event["kind"], &event["entry"]["state"]), (&json!("updated"), &json!("persisted")));
    assert_eq!(event["entry"].get("peer"), None);
}

#[test]
fn stopping_and_continuing_a_process_is_reported() {
    let mut server = Spawn::empty().open();
    let peer = Sleeper::start();
    let pid = Pid::from_raw(peer.pid() as i32);
    record(&server.home.claude(), peer.pid(), json!({ "sessionId": uuid(1), "status": "idle" }));
    let mut folded = Folded::watch(&mut server, json!({}));
    let id = format!("claude-code:{}", uuid(1));
    assert_eq!(folded.states(), [(&*id, "idle")]);
    for (signal, state) in [(Signal::SIGSTOP, "live"), (Signal::SIGCONT, "idle")] {
        kill(pid, signal).unwrap();
        // Another change of the entry may be reported first.
        while folded.take(&mut server)["entry"]["state"] != state {}
    }
}

#[test]
fn one_without_a_transcript_comes_and_goes_whole() {
    let mut server = Spawn::empty().open();
    let claude = server.home.claude();
    let mut folded = Folded::watch(&mut server, json!({}));
    for number in 1..=3 {
        let peer = Sleeper::start();
        record(&claude, peer.pid(), json!({ "sessionId": uuid(number) }));
        assert_eq!(folded.take(&mut server)["kind"], "added");
        assert_eq!(folded.ids(), [format!("claude-code:{}", uuid(number))]);
        drop(peer);
        assert_eq!(
            folded.take(&mut server),
            json!({ "kind": "removed", "id": format!("claude-code:{}", uuid(number)) })
        );
    }
}

#[test]
fn a_live_session_is_told_to_be_one_with_its_first_message() {
    let mut server = Spawn::empty().open();
    let claude = server.home.claude();
    let mut folded = Folded::watch(&mut server, json!({}));
    let peer = Sleeper::start();
    record(&claude, peer.pid(), json!({ "sessionId": uuid(1), "cwd": "/home/dev/demo" }));
    folded.take(&mut server);
    demo(&server.home).session(&uuid(1), "First", 60);
    let event = folded.take(&mut server);
    assert_eq!((&event["kind"], &event["entry"]["title"]), (&json!("updated"), &json!("First")));
    assert_eq!(event["entry"]["state"], "idle");
}
