//! What lives, by real processes that gateway files name.

use super::*;
use crate::harness::Live;
use crate::platform::process;
use crate::platform::testing::Sleeper;
use crate::protocol::{ActivitySource, ActivityStatus};

impl Home {
    fn gateway(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        self.write(&format!("tmp/openclaw-0/{name}"), content)
    }

    /// What the program writes of a process.
    fn record(&self, pid: i32, change: Value) -> String {
        let mut record = json!({"pid": pid, "ownerId": "o", "createdAt": "2126-11-30T00:00:00Z", "configPath": "/c",
            "stateDir": self.path(), "port": 18_789, "startTime": start(pid)});
        record.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        format!("{record}{}", " ".repeat(64))
    }

    /// Marks a conversation as the program does.
    fn mark(&self, session: &str, status: &str, updated_at: i64) {
        let query = "update session_nodes set status = ?2, updated_at = ?3 where current_session_id = ?1";
        assert_eq!(self.database().execute(query, params![session, status, updated_at]).unwrap(), 1);
    }

    fn live(&self) -> Vec<Live> {
        let live = self.list().live();
        assert!(live.problems.is_empty(), "{:?}", live.problems);
        live.sessions
    }
}

/// In clock ticks.
fn start(pid: i32) -> Option<u64> {
    process::start_mark(pid)?.parse().ok()
}

const LATER: i64 = 4_000_000_000_000;

#[test]
fn a_conversation_is_busy_while_a_live_gateway_is_at_it() {
    let home = Home::copied("v2026.9.6");
    let mut sleeper = Sleeper::start();
    let pid = sleeper.pid();
    home.mark(TOOL, "running", LATER);
    assert_eq!(home.live(), [], "nobody is at it");
    home.gateway("gateway.0011aabb.lock", home.record(pid, json!({})));
    let expected = Live {
        status: Some(ActivityStatus::Busy),
        since_ms: Some(LATER),
        workspace: home.list().of(TOOL).workspace.clone(),
        ..Live::new(Harness::OpenClaw, TOOL, ActivitySource::Lock, pid)
    };
    assert!(expected.workspace.is_some());
    assert_eq!(home.live(), std::slice::from_ref(&expected));
    home.mark(TOOL, "done", LATER);
    assert_eq!(home.live(), []);
    // Marked before this gateway began: the one before it was killed.
    home.mark(TOOL, "running", 1_000);
    assert_eq!(home.live(), []);
    home.mark(TOOL, "running", LATER);
    assert_eq!(home.live(), [expected]);
    sleeper.kill();
    assert_eq!(home.live(), []);
}

#[test]
fn a_gateway_file_counts_only_for_the_process_and_the_directory_that_it_means() {
    let home = Home::copied("v2026.9.6");
    let sleeper = Sleeper::start();
    let pid = sleeper.pid();
    home.mark(TOOL, "running", LATER);
    for (change, lives) in [
        (json!({"startTime": 1}), false),
        (json!({"startTime": null}), true),
        (json!({"startTime": null, "createdAt": "2020-01-01T00:00:00Z"}), false),
        (json!({"stateDir": "/elsewhere"}), false),
        (json!({"stateDir": null}), true),
        (json!({"pid": i32::MAX}), false),
        (json!({"pid": 0}), false),
        (json!({"pid": -1}), false),
    ] {
        home.gateway("gateway.state.lock", home.record(pid, change.clone()));
        assert_eq!(!home.live().is_empty(), lives, "{change}");
    }
    // That of the state directory counts before those of settings.
    let other = Sleeper::start();
    home.gateway("gateway.state.lock", home.record(pid, json!({})));
    home.gateway("gateway.0011aabb.lock", home.record(other.pid(), json!({})));
    assert_eq!(home.live()[0].pid, pid);
}

#[test]
fn a_gateway_file_that_is_none_costs_one_problem() {
    let home = Home::copied("v2026.9.6");
    let sleeper = Sleeper::start();
    home.mark(TOOL, "running", LATER);
    home.gateway("gateway.state.lock", home.record(sleeper.pid(), json!({})));
    let path = home.gateway("gateway.0011aabb.lock", "  ");
    assert_eq!(home.live().len(), 1, "it is being written");
    for content in ["{", "[]", "{\"pid\": 1e9, \"createdAt\": 7}", &" ".repeat(70_000)] {
        fs::write(&path, content).unwrap();
        let live = home.list().live();
        assert_eq!((live.sessions.len(), live.problems.len()), (1, 1), "{content:.9}");
    }
    fs::remove_file(&path).unwrap();
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(home.live().len(), 1);
    fs::write(home.path().join("tmp/openclaw-1"), "a file").unwrap();
    assert_eq!(home.live().len(), 1);
}
