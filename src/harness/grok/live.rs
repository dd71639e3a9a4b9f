//! Which sessions a running Grok shows: `active_sessions.json` in its home, with a process for each. A record is left
//! behind where one is killed, so it counts only if its process was there when the session was opened. What a session
//! does is written nowhere. Headless runs write no record.

use crate::harness::{Activities, Live, ReadError, Root, ids, text};
use crate::limits;
use crate::platform::files::read_small;
use crate::platform::process;
use crate::protocol::{ActivitySource, Harness};
use serde_json::Value;

const RECORDS: &str = "active_sessions.json";

pub(super) fn read(root: &Root) -> Activities {
    let path = root.home.join(RECORDS);
    let mut activities = Activities::at(path.clone());
    let records: Vec<Value> = match read_small(&path, limits::SIDE_FILE) {
        Ok(bytes) if bytes.trim_ascii().is_empty() => return activities,
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(records) => records,
            Err(error) => {
                activities.fail(root.harness, &path, ReadError::Malformed(format!("not a list of sessions: {error}")));
                return activities;
            }
        },
        Err(error) => {
            activities.fail(root.harness, &path, error);
            return activities;
        }
    };
    let records = records.iter().take(limits::LIVE_RECORDS);
    activities.sessions = records.filter_map(live).filter(|live| process::is_of_owner(live.pid, &path)).collect();
    activities
}

fn live(record: &Value) -> Option<Live> {
    let word = |name: &str| record.get(name)?.as_str();
    let id = word("session_id").filter(|id| ids::is_part_of_name(id))?;
    let pid = i32::try_from(record.get("pid")?.as_i64()?).ok()?;
    let opened_at_ms = text::time(word("opened_at")?)?;
    process::ran_at(pid, opened_at_ms).then(|| Live {
        workspace: word("cwd").and_then(text::workspace),
        started_at_ms: Some(opened_at_ms),
        ..Live::new(Harness::Grok, id, ActivitySource::Process, pid)
    })
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::harness::Store;
    use crate::harness::grok::Grok;
    use crate::harness::testing::Tree;
    use crate::platform::testing::Sleeper;
    use serde_json::json;
    use std::path::Path;

    const ID: &str = "01a22b97-5e73-7d53-aeb8-8df6b15a2f58";
    const LATER: &str = "2126-11-30T08:36:22.123456789Z";

    fn read_at(home: &Path) -> Activities {
        read(&Grok.named_root(home))
    }

    fn record(pid: impl Into<Value>) -> Value {
        json!({"session_id": ID, "pid": pid.into(), "cwd": "/proj/alpha", "opened_at": LATER})
    }

    #[test]
    fn a_session_lives_while_the_process_does_that_opened_it() {
        let home = Tree::new();
        let mut sleeper = Sleeper::start();
        let put = |records: Value| drop(home.write(RECORDS, records.to_string()));
        put(json!([record(sleeper.pid())]));
        let expected = Live {
            workspace: Some("/proj/alpha".into()),
            started_at_ms: text::time(LATER),
            ..Live::new(Harness::Grok, ID, ActivitySource::Process, sleeper.pid())
        };
        assert_eq!(read_at(home.path()).sessions, [expected]);
        // Opened before this process began: another one had its pid.
        let mut reused = record(sleeper.pid());
        reused["opened_at"] = json!("2020-01-01T00:00:00Z");
        put(json!([reused]));
        assert_eq!(read_at(home.path()).sessions, []);
        put(json!([record(sleeper.pid())]));
        sleeper.kill();
        assert_eq!(read_at(home.path()).sessions, []);
    }

    #[test]
    fn a_process_of_another_user_is_not_meant() {
        use std::os::unix::process::CommandExt;
        if !nix::unistd::geteuid().is_root() {
            // Only root can start one.
            return;
        }
        let home = Tree::new();
        let mut other = std::process::Command::new("sleep").arg("600").uid(65_534).spawn().unwrap();
        home.write(RECORDS, json!([record(other.id())]).to_string());
        let live = read_at(home.path()).sessions;
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(live, []);
    }

    #[test]
    fn odd_records_are_passed_over_and_the_others_stand() {
        let home = Tree::new();
        let sleeper = Sleeper::start();
        let pid = sleeper.pid();
        let without = |name: &str| {
            let mut record = record(pid);
            record.as_object_mut().unwrap().remove(name);
            record
        };
        let mut records: Vec<Value> = [0, -1, i64::MAX].into_iter().map(record).collect();
        records.extend([record("7"), record(1.5), without("pid"), without("session_id"), without("opened_at")]);
        records.extend([json!(null), json!({"session_id": "../x", "pid": pid, "opened_at": LATER}), without("cwd")]);
        home.write(RECORDS, json!(records).to_string());
        let live = read_at(home.path());
        assert_eq!((live.sessions.len(), &live.sessions[0].workspace, live.problems.len()), (1, &None, 0));
    }

    #[test]
    fn a_file_that_is_no_list_costs_one_problem() {
        let home = Tree::new();
        assert!(read_at(home.path()).problems.is_empty());
        for (content, problems) in [("", 0), ("[]", 0), ("[{\"session_id\":", 1), ("{}", 1), ("null", 1)] {
            home.write(RECORDS, content);
            assert_eq!(read_at(home.path()).problems.len(), problems, "{content}");
        }
        let path = home.write(RECORDS, "[".repeat(2 << 20));
        assert_eq!(read_at(home.path()).problems.len(), 1);
        std::fs::remove_file(&path).unwrap();
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(read_at(home.path()).problems.len(), 1);
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert_eq!(read_at(home.path()).problems.len(), 1);
    }
}
