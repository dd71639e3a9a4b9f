//! Which conversations a running OpenClaw is at: its database marks them as running, and `tmp/openclaw-<user>/` in its state
//! directory tells which gateway has that. The mark stays when a gateway is killed, so it counts only if it was made
//! since the one that lives began. Old versions kept those files in a directory of all users, and no such marks.

use crate::harness::{Activities, Live, ReadError, Root, Run, Session, text};
use crate::limits;
use crate::platform::directory::{Kind, entries};
use crate::platform::files::{read_small, resolve};
use crate::platform::process;
use crate::protocol::{ActivitySource, ActivityStatus, Harness};
use serde::Deserialize;
use std::path::{Path, PathBuf};

const TEMPORARY: &str = "tmp";
const OF_USER: &str = "openclaw-";

/// Who has the state directory.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gateway {
    pid: i32,
    /// In the clock ticks of Linux; absent elsewhere.
    start_time: Option<u64>,
    created_at: String,
    state_dir: Option<PathBuf>,
}

pub(super) fn read(root: &Root, sessions: &mut dyn Iterator<Item = &Session>) -> Activities {
    let temporary = root.path.join(TEMPORARY);
    let mut activities = Activities::at(temporary.clone());
    let users = match names(&temporary, Kind::Directory, |name| name.starts_with(OF_USER)) {
        Ok(users) => users,
        Err(error) => {
            activities.fail(root.harness, &temporary, error);
            return activities;
        }
    };
    let mut owners = Vec::new();
    for directory in users {
        match names(&directory, Kind::File, |name| name.starts_with("gateway.") && name.ends_with(".lock")) {
            Ok(locks) => owners.extend(locks.into_iter().filter_map(|path| owner(root, path, &mut activities))),
            Err(error) => activities.fail(root.harness, &directory, error),
        }
        activities.locations.push(directory);
    }
    if !owners.is_empty() {
        activities.sessions = sessions.filter_map(|session| live(session, &owners)).collect();
    }
    activities
}

fn names(directory: &Path, kind: Kind, meant: impl Fn(&str) -> bool) -> std::io::Result<Vec<PathBuf>> {
    let found = entries(directory)?.into_iter().filter(|entry| entry.kind == kind);
    let found = found.filter(|entry| entry.name.to_str().is_some_and(&meant)).take(limits::LIVE_RECORDS);
    let mut found: Vec<PathBuf> = found.map(|entry| directory.join(entry.name)).collect();
    // That of the whole state directory stands behind those of its settings, and counts before them.
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

/// The live process that a lock file names.
fn owner(root: &Root, path: PathBuf, activities: &mut Activities) -> Option<i32> {
    let gateway: Gateway = match read_small(&path, limits::PEER_RECORD) {
        // It is made empty, and then written.
        Ok(bytes) if bytes.trim_ascii().is_empty() => return None,
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(gateway) => gateway,
            Err(error) => {
                activities.fail(root.harness, &path, ReadError::Malformed(format!("it names no gateway: {error}")));
                return None;
            }
        },
        Err(error) => {
            activities.fail(root.harness, &path, error);
            return None;
        }
    };
    let Gateway { pid, start_time, created_at, state_dir } = gateway;
    let here = state_dir.is_none_or(|directory| resolve(&directory) == resolve(&root.path));
    let lives = match start_time {
        Some(ticks) => process::is_still(pid, &ticks.to_string()),
        None => text::time(&created_at).is_some_and(|created| process::ran_at(pid, created)),
    };
    (here && lives).then_some(pid)
}

fn live(session: &Session, owners: &[i32]) -> Option<Live> {
    let (pid, since_ms) = session.runs.iter().find_map(|run| match run {
        Run::Since(time) => Some((owners.iter().copied().find(|pid| process::ran_at(*pid, *time))?, *time)),
        Run::By { .. } => None,
    })?;
    Some(Live {
        status: Some(ActivityStatus::Busy),
        since_ms: Some(since_ms),
        workspace: session.workspace.clone(),
        ..Live::new(Harness::OpenClaw, &session.id, ActivitySource::Lock, pid)
    })
}
