//! OpenClaw: `<state directory>/agents/<agent>/`, in which new versions keep a database and old ones a directory of
//! transcripts with an index of them. Databases that lie elsewhere are registered in the state's own database.
//!
//! A migration leaves the transcripts that it took over, so one session may lie in up to three places. It is told of
//! each, and the database counts.

mod chain;
mod database;
mod details;
mod event;
mod index;
mod live;
mod load;
mod parts;
mod position;
mod prompt;
mod registered;
#[cfg(test)]
mod tests;
mod transcript;

use super::jsonl::HeadTail;
use super::walk::stamp;
use super::{
    Activities, Details, End, Environment, Finder, Found, Home, Page, PageRequest, Progress, ReadError, Reading, Root,
    Session, Source, Store, Wanted, ids,
};
use crate::platform::directory::entries;
use crate::platform::files::Stamp;
use crate::platform::sqlite;
use crate::protocol::{Harness, Resume, RootOrigin};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const AGENTS: &str = "agents";
const DATABASE: &str = "agent/openclaw-agent.sqlite";
const TRANSCRIPTS: &str = "sessions";
const INDEX: &str = "sessions.json";
/// Where a migration puts the transcripts that it took over.
const TAKEN_OVER: &str = "session-sqlite-import-archive";
/// What the program and its kin were called.
const OTHER_NAMES: [&str; 4] = [".clawdbot", ".moltbot", ".moldbot", ".qclaw"];

/// The store of OpenClaw.
pub(super) struct OpenClaw;

impl Store for OpenClaw {
    fn harness(&self) -> Harness {
        Harness::OpenClaw
    }

    fn roots(&self, environment: &Environment<'_>) -> Vec<Root> {
        homes(environment).iter().map(|home| home.root(Harness::OpenClaw, "")).collect()
    }

    fn named_root(&self, path: &Path) -> Root {
        let home = path.parent().filter(|_| path.ends_with(AGENTS)).unwrap_or(path);
        Home { path: home.to_owned(), origin: RootOrigin::Flag, usual: false }.root(Harness::OpenClaw, "")
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        if finder.entries(&root.path).is_empty() {
            return;
        }
        let agents = finder.entries(&root.path.join(AGENTS)).into_iter().filter(Found::is_dir);
        let agents: Vec<PathBuf> = agents.map(|agent| agent.path).collect();
        for agent in &agents {
            take_database(finder, agent.join(DATABASE));
        }
        registered::walk(&root.path, finder);
        let transcripts: Vec<PathBuf> = agents.iter().map(|agent| agent.join(TRANSCRIPTS)).collect();
        finder.each(&transcripts, walk_transcripts);
        for place in agents.iter().chain(&transcripts) {
            walk_taken_over(finder, &place.join(TAKEN_OVER));
        }
    }

    fn read(&self, source: &Source, ends: &mut HeadTail) -> Result<Reading, ReadError> {
        if source.path.ends_with(INDEX) {
            index::read(&source.path)
        } else if is_transcript(&source.path) {
            transcript::read(source, ends).map(Reading::from)
        } else {
            database::read(source)
        }
    }

    fn details(&self, _: &[Root], session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
        details::read(session, wanted)
    }

    fn load(&self, _: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        load::page(session, request)
    }

    /// The program writes the topics of a conversation to files of their own, beside the bare one.
    fn is_part(&self, a: &Session, b: &Session) -> bool {
        let of_transcript = |session: &Session| is_transcript(&session.location) && !session.archived;
        of_transcript(a) && of_transcript(b) && a.location.parent() == b.location.parent()
    }

    fn stamps(&self, session: &Session) -> Vec<Option<Stamp>> {
        let log = sqlite::log_stamp(&session.location);
        parts::files(session).map(stamp).chain([log]).collect()
    }

    fn live(&self, root: &Root, sessions: &mut dyn Iterator<Item = &Session>) -> Activities {
        live::read(root, sessions)
    }

    fn end(&self, session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
        load::end(session, progress)
    }

    /// The program opens conversations, which it calls by keys; of the sessions of one only the current can be opened.
    fn resume(&self, root: &Root, session: &Session) -> Option<Resume> {
        let key = session.handle.as_deref().filter(|key| session.resumable && ids::is_usable(key))?;
        let home = (!root.usual).then(|| root.home.to_str()).flatten();
        Some(Resume {
            argv: ["openclaw", "tui", "--session", key].map(String::from).to_vec(),
            cwd: session.workspace.as_deref().map(String::from),
            env: home.map(|home| BTreeMap::from([("OPENCLAW_STATE_DIR".to_owned(), home.to_owned())])),
        })
    }
}

/// The state directories: what the variables name, else the default one, those of profiles, and those of old names.
fn homes(environment: &Environment<'_>) -> Vec<Home> {
    let named = |path| Home { path, origin: RootOrigin::Environment, usual: false };
    if let Some(path) = environment.path("OPENCLAW_STATE_DIR") {
        let usual = environment.home().is_some_and(|home| home.join(".openclaw") == path);
        return vec![Home { usual, ..named(path) }];
    }
    let moved = environment.path("OPENCLAW_HOME");
    let origin = if moved.is_some() { RootOrigin::Environment } else { RootOrigin::Default };
    let usual = moved.is_none();
    let Some(home) = moved.or_else(|| environment.home()) else { return Vec::new() };
    let unset = ["undefined", "null", "default"];
    if let Some(profile) = environment.word("OPENCLAW_PROFILE").filter(|profile| !unset.contains(&profile.as_str())) {
        return vec![named(home.join(format!(".openclaw-{profile}")))];
    }
    let mut homes = vec![Home { path: home.join(".openclaw"), origin, usual }];
    let others = profiles(&home).into_iter().chain(OTHER_NAMES.map(|name| home.join(name)));
    homes.extend(others.map(|path| Home { path, origin, usual: false }));
    homes
}

/// The state directories of the profiles that there are.
fn profiles(home: &Path) -> Vec<PathBuf> {
    let names = entries(home).unwrap_or_default().into_iter().filter_map(|entry| entry.name.into_string().ok());
    let profiles = names.filter(|name| name.starts_with(".openclaw-")).map(|name| home.join(name));
    let mut profiles: Vec<PathBuf> = profiles.filter(|path| path.join(AGENTS).is_dir()).collect();
    profiles.sort();
    profiles
}

/// Takes a database as a source, if it is there and not yet one.
fn take_database(finder: &mut Finder, path: PathBuf) {
    if stamp(&path).is_some() && !finder.sources.iter().any(|source| source.path == path) {
        let log = sqlite::log_stamp(&path);
        finder.known(path, log);
    }
}

/// Takes the transcripts of an agent, and the index of them. Traces, locks, and what was deleted or reset stay out.
fn walk_transcripts(finder: &mut Finder, directory: &Path) {
    for found in finder.entries(directory) {
        if found.is_dir() {
            continue;
        }
        if found.name == INDEX || is_transcript(&found.path) {
            finder.source(found, None);
        } else {
            finder.skip(found, ReadError::Name);
        }
    }
}

/// Takes the transcripts that a migration took over, of each migration.
fn walk_taken_over(finder: &mut Finder, directory: &Path) {
    let mut directories = vec![directory.to_owned()];
    for found in finder.entries(directory) {
        if found.is_dir() {
            directories.push(found.path);
        }
    }
    finder.each(&directories, |finder, directory| {
        for found in finder.entries(directory) {
            if is_transcript(&found.path) && !found.is_dir() {
                finder.source(found, None);
            }
        }
    });
}

/// Whether a file has the name of a transcript. The names of what is kept beside it have more parts.
fn is_transcript(path: &Path) -> bool {
    let stem = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".jsonl"));
    stem.is_some_and(|stem| !stem.contains('.'))
}

/// The agent whose file it is.
fn agent_of(path: &Path) -> Option<&str> {
    let agent = path.ancestors().find(|path| path.parent().is_some_and(|parent| parent.ends_with(AGENTS)))?;
    agent.file_name()?.to_str()
}
