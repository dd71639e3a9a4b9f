//! Which sessions a running Codex has: it keeps `thread-writer-locks/<id>.lock` locked as long as it has a session loaded.
//! A file that is not locked was left by a crash. Whether a turn is open, the session's own rollout tells; that a person is
//! waited for is written nowhere.

use super::record::{NEEDLES, Record, TurnMark};
use crate::harness::backward::{Backward, Text, end_of_lines};
use crate::harness::{Activities, Live, NoProgress, ReadError, Root, Session, ids};
use crate::limits;
use crate::platform::directory::{Kind, entries};
use crate::platform::files::open_regular;
use crate::platform::locks::Locks;
use crate::platform::process;
use crate::protocol::{ActivitySource, ActivityStatus, Harness};
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

const LOCKS: &str = "thread-writer-locks";

pub(super) fn read(root: &Root, sessions: &mut dyn Iterator<Item = &Session>) -> Activities {
    let directory = root.path.join(LOCKS);
    let mut activities = Activities::at(directory.clone());
    let locked = match entries(&directory) {
        Ok(entries) => entries,
        Err(error) => {
            activities.fail(root.harness, &directory, error);
            return activities;
        }
    };
    let files = locked.into_iter().filter(|entry| entry.kind == Kind::File);
    let names = files.filter_map(|entry| entry.name.into_string().ok()?.strip_suffix(".lock").map(str::to_owned));
    let ids: Vec<String> = names.filter(|name| ids::is_uuid(name)).take(limits::LIVE_RECORDS).collect();
    if ids.is_empty() {
        return activities;
    }
    let locks = Locks::now();
    let mut held: HashMap<&str, i32> = HashMap::new();
    for id in &ids {
        held.extend(locks.holder(&directory.join(format!("{id}.lock"))).map(|pid| (id.as_str(), pid)));
    }
    if held.is_empty() {
        return activities;
    }
    // Of several copies of a rollout the newest is the one that is written to.
    let mut rollouts: HashMap<&str, &Session> = HashMap::new();
    for session in sessions.filter(|session| held.contains_key(&*session.id)) {
        let known = rollouts.entry(&session.id).or_insert(session);
        if session.updated_at_ms > known.updated_at_ms {
            *known = session;
        }
    }
    activities.sessions = held.into_iter().map(|(id, pid)| live(id, pid, rollouts.get(id).copied())).collect();
    activities
}

fn live(id: &str, pid: i32, rollout: Option<&Session>) -> Live {
    // A rollout that cannot be read now leaves the status unknown.
    let known = rollout.and_then(|rollout| status(&rollout.location, pid).ok().flatten());
    let (status, since_ms) = known.map_or((None, None), |(status, since_ms)| (Some(status), since_ms));
    Live {
        status,
        since_ms,
        workspace: rollout.and_then(|rollout| rollout.workspace.clone()),
        ..Live::new(Harness::Codex, id, ActivitySource::Lock, pid)
    }
}

/// Whether the process works on a turn of the session in this rollout, and since when; `None` where that is too far back to
/// be seen.
fn status(rollout: &Path, pid: i32) -> Result<Option<(ActivityStatus, Option<i64>)>, ReadError> {
    if rollout.extension().is_none_or(|extension| extension != "jsonl") {
        return Ok(None);
    }
    let file = open_regular(rollout)?;
    let end = end_of_lines(&file, &NoProgress)?;
    let tail = Tail { from: end.saturating_sub(limits::LOOK_BACK), file };
    let mut lines = Backward::new(&tail, end - tail.from, &NoProgress);
    while let Some((_, line)) = lines.record()? {
        if NEEDLES.task.find(line).is_none() && NEEDLES.aborted.find(line).is_none() {
            continue;
        }
        let Some(record) = Record::parse(line) else { continue };
        // One that a process began which is gone was never ended.
        let ours = || record.time().is_none_or(|time| process::ran_at(pid, time));
        match record.turn_mark() {
            Some(TurnMark::Began) if ours() => return Ok(Some((ActivityStatus::Busy, record.time()))),
            Some(TurnMark::Began) => return Ok(Some((ActivityStatus::Idle, None))),
            Some(_) => return Ok(Some((ActivityStatus::Idle, record.time()))),
            None => {}
        }
    }
    Ok((tail.from == 0).then_some((ActivityStatus::Idle, None)))
}

/// A file from a place on.
struct Tail {
    file: File,
    from: u64,
}

impl Text for Tail {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, ReadError> {
        self.file.read_at(buffer, self.from + offset)
    }
}
