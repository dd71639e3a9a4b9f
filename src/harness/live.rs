//! What lives, as files and processes tell it: what a store answers, and how processes are judged.

use super::ReadError;
use crate::peer;
use crate::platform::process;
use crate::protocol::{ActivitySource, ActivityStatus, EntryPeer, Harness, Problem};
use std::path::{Path, PathBuf};

/// A session that a live process has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// Whose session it is.
    pub harness: Harness,
    /// The harness's own id of it.
    pub session_id: Box<str>,
    /// What tells that it lives.
    pub source: ActivitySource,
    /// The process.
    pub pid: i32,
    /// What it is doing; `None` where that cannot be known.
    pub status: Option<ActivityStatus>,
    /// Whether the process is stopped, and so does nothing.
    pub stopped: bool,
    /// What it waits for, in its own words.
    pub waiting_for: Option<String>,
    /// When its status began, in epoch milliseconds, as its harness records it.
    pub since_ms: Option<i64>,
    /// The directory that it works in.
    pub workspace: Option<Box<str>>,
    /// When the process took it up, in epoch milliseconds.
    pub started_at_ms: Option<i64>,
    /// When what tells of it changed last, in epoch milliseconds.
    pub updated_at_ms: Option<i64>,
    /// Its address among its peers, where it has one.
    pub peer: Option<EntryPeer>,
    /// Whether its id leads a message to it.
    pub has_door: bool,
}

impl Live {
    /// A session of which nothing is known but the process that has it.
    pub fn new(harness: Harness, session_id: &str, source: ActivitySource, pid: i32) -> Self {
        Self {
            harness,
            session_id: session_id.into(),
            source,
            pid,
            status: None,
            stopped: false,
            waiting_for: None,
            since_ms: None,
            workspace: None,
            started_at_ms: None,
            updated_at_ms: None,
            peer: None,
            has_door: false,
        }
    }

    /// The same, with nothing told of what it does where its process is stopped.
    pub fn unless_stopped(self) -> Self {
        match process::is_stopped(self.pid) {
            true => Self { stopped: true, status: None, waiting_for: None, since_ms: None, has_door: false, ..self },
            false => self,
        }
    }
}

/// What lives below one root.
#[derive(Debug, Default)]
pub struct Activities {
    /// The sessions that live, in no order.
    pub sessions: Vec<Live>,
    /// What could not be read, and why.
    pub problems: Vec<Problem>,
    /// The files and directories that this was read from: a change in one of them may change which sessions are live.
    pub locations: Vec<PathBuf>,
    /// The process registries among them, which coverage reports.
    pub registries: Vec<peer::Registry>,
}

impl Activities {
    /// No live session, read from this location.
    pub fn at(location: PathBuf) -> Self {
        Self { locations: vec![location], ..Self::default() }
    }

    /// Adds a problem where a file of this harness could not be read, unless it does not exist.
    pub fn fail(&mut self, harness: Harness, path: &Path, error: impl Into<ReadError>) {
        let error = error.into();
        if error.is_problem() {
            self.problems.push(error.problem(harness, path));
        }
    }
}

/// What a store says of a session that runs. It stays when its process is killed, so it is held against that process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// This process runs it.
    By {
        /// Its pid.
        pid: i32,
        /// When it started, as [`process::start_mark`] spells it.
        start_mark: Box<str>,
    },
    /// Whoever has the store runs it, and said so at this time, in epoch milliseconds.
    Since(i64),
}

impl Run {
    /// The process that it names, if that lives and is still the same.
    pub fn owner(&self) -> Option<i32> {
        match self {
            Self::By { pid, start_mark } => process::is_still(*pid, start_mark).then_some(*pid),
            Self::Since(_) => None,
        }
    }
}
