//! The process registries of the Claude Code homes: which of their records tell of a session that lives.

use super::record::{Record, make_addressable};
use super::selector::{fold, parse_pid};
use crate::limits;
use crate::platform::directory::entries;
use crate::platform::{files, process, socket::Listeners};
use crate::protocol::{Harness, Peer, Problem, Skipped};
use std::cell::LazyCell;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A live session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// As it crosses the wire.
    pub peer: Peer,
    /// When it started, in epoch milliseconds.
    pub started_at_ms: Option<i64>,
    /// When its status began, in epoch milliseconds; `None` without a status.
    pub since_ms: Option<i64>,
}

/// What was found in one home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    /// `<home>/sessions`.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
    /// Files that could be records.
    pub files: usize,
    /// Live sessions among them.
    pub sessions: usize,
    /// Records that tell of no live session, and why. Those that could not be read are problems instead.
    pub hidden: Vec<Skipped>,
    /// Whether there were more files than are looked at.
    pub truncated: bool,
}

/// Every live session of some homes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// By name, whatever its case, and then pid.
    pub peers: Vec<Found>,
    /// What could not be read; the rest stands.
    pub problems: Vec<Problem>,
    /// One a home, in the order given; a second spelling of a home is left out.
    pub registries: Vec<Registry>,
}

/// Reads the process registry of each home. A home is a directory such as `~/.claude`.
///
/// A session is addressable when somebody listens on the socket that its record names. Nothing is written to it.
pub fn list(homes: &[PathBuf]) -> Listing {
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
    list_at(now_ms, homes)
}

pub(super) fn list_at(now_ms: i64, homes: &[PathBuf]) -> Listing {
    let pid_domain = process::own_pid_domain();
    let scene = Scene { now_ms, pid_domain, listeners: LazyCell::new(Listeners::now) };
    let mut listing = Listing::default();
    let mut known = HashSet::new();
    for home in homes {
        let path = home.join("sessions");
        // Read twice under two spellings, every name of a home would be ambiguous.
        if known.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            listing.read(home, path, &scene);
        }
    }
    listing.peers.sort_by_cached_key(|found| (fold(&found.peer.name), found.peer.pid));
    listing
}

impl Listing {
    fn read(&mut self, home: &Path, path: PathBuf, scene: &Scene) {
        let mut registry = Registry { exists: true, path, files: 0, sessions: 0, hidden: vec![], truncated: false };
        match record_files(&registry.path) {
            Ok(names) => {
                registry.truncated = names.len() > limits::PEER_RECORDS;
                registry.files = names.len().min(limits::PEER_RECORDS);
                for name in names.into_iter().take(limits::PEER_RECORDS) {
                    self.judge(home, &mut registry, &name, scene);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => registry.exists = false,
            Err(error) => self.problems.push(problem(&registry.path, &error)),
        }
        if registry.truncated {
            let message = format!("only the first {} records are read", limits::PEER_RECORDS);
            self.problems.push(problem_of(&registry.path, "limit", message));
        }
        self.registries.push(registry);
    }

    fn judge(&mut self, home: &Path, registry: &mut Registry, name: &str, scene: &Scene) {
        let path = registry.path.join(name);
        match scene.judge(home, &path, name) {
            Ok(found) => {
                registry.sessions += 1;
                self.peers.push(found);
            }
            Err(Refusal::Hidden(reason)) => {
                registry.hidden.push(Skipped { path: path.to_string_lossy().into_owned(), reason: reason.to_owned() });
            }
            // It is nobody's session, and gone in a moment.
            Err(Refusal::Courier) => registry.files -= 1,
            Err(Refusal::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err(Refusal::Unreadable(error)) => self.problems.push(problem(&path, &error)),
        }
    }
}

/// Names of the records, sorted, and one more than are looked at where there are too many. The keys beside them do not
/// end in `.json`.
fn record_files(directory: &Path) -> io::Result<Vec<String>> {
    let names = entries(directory)?
        .into_iter()
        .map(|entry| entry.name.to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".json"));
    let mut names: Vec<String> = names.take(limits::PEER_RECORDS + 1).collect();
    names.sort_unstable();
    Ok(names)
}

/// What every record of one listing is held against.
struct Scene {
    now_ms: i64,
    pid_domain: Option<String>,
    listeners: LazyCell<Listeners>,
}

/// Why a record gives no session.
enum Refusal {
    Hidden(&'static str),
    Courier,
    Unreadable(io::Error),
}

impl Scene {
    /// Holds a record against the process it names. Of a process that is gone only whether it was a courier matters.
    fn judge(&self, home: &Path, path: &Path, name: &str) -> Result<Found, Refusal> {
        let hidden = |reason| Err(Refusal::Hidden(reason));
        let Some(pid) = name.strip_suffix(".json").and_then(parse_pid) else {
            return hidden("its name is no pid");
        };
        let is_alive = process::alive(pid);
        let record = Record::read(|| files::read_small(path, limits::PEER_RECORD));
        if record.as_ref().is_ok_and(Record::is_courier) {
            return Err(Refusal::Courier);
        }
        if !is_alive {
            return hidden("no running process has its pid");
        }
        let record = match record {
            // Its program has made it and is about to write it.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return hidden("nothing stands in it yet"),
            record => record.map_err(Refusal::Unreadable)?,
        };
        if record.contradicts(pid) {
            return hidden("it names another pid than its file does");
        }
        if differ(record.pid_domain(), self.pid_domain.as_deref()) {
            return hidden("its process is in another pid namespace");
        }
        // Read after the record: if the pid went to another process meanwhile, this is the other's.
        if differ(record.start_mark().as_deref(), process::start_mark(pid).as_deref()) {
            return hidden("its process is gone, and another has its pid");
        }
        if let Some(reason) = record.set_aside() {
            return hidden(reason);
        }
        let mut peer = record.peer(pid, home, self.now_ms).map_err(Refusal::Hidden)?;
        if process::is_stopped(pid) {
            // Its record says what it did before.
            (peer.stopped, peer.status, peer.waiting_for) = (Some(true), None, None);
        } else if peer.socket_path.as_ref().is_some_and(|socket| self.listeners.accept_at(Path::new(socket))) {
            make_addressable(&mut peer);
        }
        let since_ms = record.since_ms(self.now_ms).filter(|_| peer.status.is_some());
        Ok(Found { peer, started_at_ms: record.started_at_ms(self.now_ms), since_ms })
    }
}

/// Whether both are known and not the same.
fn differ(recorded: Option<&str>, actual: Option<&str>) -> bool {
    recorded.zip(actual).is_some_and(|(recorded, actual)| recorded != actual)
}

fn problem(path: &Path, error: &io::Error) -> Problem {
    let reason = match error.kind() {
        io::ErrorKind::FileTooLarge => "too_large",
        io::ErrorKind::InvalidData => "invalid_record",
        _ => "io",
    };
    problem_of(path, reason, error.to_string())
}

fn problem_of(path: &Path, reason: &str, message: String) -> Problem {
    Problem {
        harness: Some(Harness::ClaudeCode),
        path: Some(path.to_string_lossy().into_owned()),
        id: None,
        endpoint: None,
        reason: reason.to_owned(),
        message,
    }
}
