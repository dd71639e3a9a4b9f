//! What lives, by real locks of real processes.

use super::*;
use crate::harness::Live;
use crate::platform::process;
use crate::platform::testing::Holder;
use crate::protocol::{ActivitySource, ActivityStatus};
use std::time::{SystemTime, UNIX_EPOCH};

impl Home {
    /// The lock file of a session, as it is while it is loaded and after a crash.
    fn lock(&self, id: &str) -> PathBuf {
        self.write(&format!("thread-writer-locks/{id}.lock"), "")
    }

    fn live(&self) -> Vec<Live> {
        let live = self.list().live();
        assert!(live.problems.is_empty(), "{:?}", live.problems);
        live.sessions
    }

    /// What the one live session is doing while its rollout says this.
    fn doing(&self, records: &[Value]) -> Option<ActivityStatus> {
        self.write(FILE, lines(records));
        self.live()[0].status
    }
}

/// An event of a time that is by so much later than now.
fn now(kind: &str, seconds: i64) -> Value {
    let ms = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let time = jiff::Timestamp::from_millisecond(ms + seconds * 1_000).unwrap();
    json!({"timestamp": time.to_string(), "type": "event_msg", "payload": {"type": kind}})
}

const BUSY: Option<ActivityStatus> = Some(ActivityStatus::Busy);
const IDLE: Option<ActivityStatus> = Some(ActivityStatus::Idle);

#[test]
fn a_session_lives_as_long_as_its_lock_is_held() {
    let home = Home::new();
    home.write(FILE, lines(&[meta(ID), user(1, "ask")]));
    home.write("thread-writer-locks/.coordination.lock", "");
    assert_eq!(home.live(), []);
    let path = home.lock(ID);
    assert_eq!(home.live(), [], "left by a crash");
    let mut holder = Holder::start("flock", &path);
    let expected = Live {
        status: IDLE,
        workspace: Some("/proj/demo".into()),
        ..Live::new(Harness::Codex, ID, ActivitySource::Lock, holder.pid())
    };
    assert_eq!(home.live(), [expected]);
    // A zombie holds nothing, and the file stays.
    holder.kill();
    assert_eq!(home.live(), []);
    // A tool that it started may keep the lock, and is not it.
    let _heir = Holder::start("inherited", &path);
    assert_eq!(home.live(), []);
}

#[test]
fn it_is_busy_while_a_turn_is_open() {
    let home = Home::new();
    let _holder = Holder::start("flock", &home.lock(ID));
    let begun = [meta(ID), user(1, "ask"), now("task_started", 0)];
    let with = |more: &[Value]| begun.iter().chain(more).cloned().collect::<Vec<_>>();
    assert_eq!(home.doing(&begun[..2]), IDLE);
    assert_eq!(home.doing(&begun), BUSY);
    assert_eq!(home.doing(&with(&[agent(2, "task_complete"), response(2, "user", &["\"task_complete\""])])), BUSY);
    for end in ["task_complete", "turn_aborted"] {
        assert_eq!(home.doing(&with(&[now(end, 1)])), IDLE, "{end}");
        assert_eq!(home.doing(&with(&[now(end, 1), now("task_started", 2)])), BUSY, "{end}");
    }
    // The end of the turn is still being written.
    let torn = now("task_complete", 1).to_string();
    home.write(FILE, lines(&begun) + &torn[..torn.len() - 1]);
    assert_eq!(home.live()[0].status, BUSY);
    // Far back, and too far to be looked for.
    assert_eq!(home.doing(&with(&[filler(1_000_000)])), BUSY);
    assert_eq!(home.doing(&with(&vec![filler(1_000_000); 5])), None);
}

#[test]
fn a_turn_of_a_process_that_is_gone_is_open_no_more() {
    let home = Home::new();
    let holder = Holder::start("flock", &home.lock(ID));
    let began = process::started_at_ms(holder.pid()).unwrap();
    assert_eq!(home.doing(&[meta(ID), user(1, "ask"), now("task_started", -60)]), IDLE, "{began}");
}

#[test]
fn of_a_session_without_a_rollout_nothing_but_its_id_is_known() {
    let home = Home::new();
    let holder = Holder::start("flock", &home.lock(ID));
    assert_eq!(home.live(), [Live::new(Harness::Codex, ID, ActivitySource::Lock, holder.pid())]);
}

#[test]
fn what_is_no_lock_file_of_a_session_is_none() {
    let home = Home::new();
    let odd = ["not-an-id.lock", &format!("{ID}.lock.bak"), ID].map(|name| home.write(name, ""));
    let _holders = odd.each_ref().map(|path| Holder::start("flock", path));
    let directory = home.0.path().join("thread-writer-locks");
    fs::create_dir(&directory).unwrap();
    for path in &odd {
        fs::rename(path, directory.join(path.file_name().unwrap())).unwrap();
    }
    let locked = home.write("elsewhere", "");
    let _holder = Holder::start("flock", &locked);
    std::os::unix::fs::symlink(locked, directory.join(format!("{ID}.lock"))).unwrap();
    nix::unistd::mkfifo(&directory.join(format!("{OTHER}.lock")), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(home.live(), []);
    fs::remove_dir_all(&directory).unwrap();
    fs::write(&directory, "a file").unwrap();
    assert_eq!(home.list().live().sessions, []);
}

#[test]
fn of_several_copies_the_one_that_is_written_to_counts() {
    let home = Home::new();
    let _holder = Holder::start("flock", &home.lock(ID));
    let archived = format!("archived_sessions/{}", Path::new(FILE).file_name().unwrap().to_str().unwrap());
    home.write(&archived, lines(&[meta(ID), user(1, "ask")]));
    assert_eq!(home.doing(&[meta(ID), user(1, "ask"), user(2, "more"), now("task_started", 0)]), BUSY);
}
