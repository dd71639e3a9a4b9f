//! Claude Code: `<home>/projects/<directory>/<session id>.jsonl`, its subagents below `<session id>/subagents/`.

mod details;
mod live;
mod load;
mod message;
mod moved;
mod names;
mod record;
mod repeated;
mod row;
mod side;
mod tags;
#[cfg(test)]
mod tests;
mod titles;
mod transcript;

use super::backward::end_of_lines;
use super::ids::is_uuid;
use super::jsonl::HeadTail;
use super::walk::stamp;
use super::{
    Activities, Details, End, Environment, Finder, Found, Page, PageRequest, Progress, ReadError, Reading, Root,
    Session, Source, Store, Wanted,
};
use crate::limits;
use crate::platform::files::{Stamp, open_regular};
use crate::protocol::{Harness, Relation, Resume, RootOrigin};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use transcript::Facts;

/// The store of Claude Code.
pub(super) struct ClaudeCode;

impl Store for ClaudeCode {
    fn harness(&self) -> Harness {
        Harness::ClaudeCode
    }

    fn roots(&self, environment: &Environment<'_>) -> Vec<Root> {
        let home = environment.home_of("CLAUDE_CONFIG_DIR", ".claude");
        home.iter().map(|home| home.root(Harness::ClaudeCode, PROJECTS)).collect()
    }

    fn named_root(&self, path: &Path) -> Root {
        let is_home = || [PROJECTS, "sessions"].iter().any(|name| path.join(name).is_dir());
        let (path, home) = match path.parent() {
            Some(parent) if path.ends_with(PROJECTS) => (path.to_owned(), parent.to_owned()),
            _ if is_home() => (path.join(PROJECTS), path.to_owned()),
            _ => (path.to_owned(), path.to_owned()),
        };
        Root { harness: Harness::ClaudeCode, path, home, origin: RootOrigin::Flag, usual: false }
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        let projects = finder.entries(&root.path).into_iter().filter(Found::is_dir);
        let projects: Vec<_> = projects.map(|project| project.path).collect();
        finder.each(&projects, walk_project);
    }

    fn read(&self, source: &Source, ends: &mut HeadTail) -> Result<Reading, ReadError> {
        let file = ends.open(&source.path)?;
        Facts::gather(&file, source, ends)?.into_session(source).map(Reading::from)
    }

    fn late_title(&self, session: &Session, progress: &dyn Progress) -> Option<Box<str>> {
        let source = Source {
            path: session.location.to_path_buf(),
            stamp: stamp(&session.location)?,
            beside: None,
            parts: Box::default(),
        };
        let mut ends = HeadTail::default();
        let file = ends.open(&source.path).ok()?;
        let mut facts = Facts::gather(&file, &source, &mut ends).ok()?;
        facts.take_late(names::of(&file, &source.path, progress).ok()?.titles);
        facts.into_session(&source).ok()?.title
    }

    fn details(&self, _: &[Root], session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
        let file = open_regular(&session.location)?;
        let mut found = Details::default();
        if wanted.topics || wanted.last_message {
            let mut ends = HeadTail::default();
            ends.load(&file)?;
            if wanted.topics {
                found.topics = details::topics(&file, is_subagent(session), &mut ends)?;
            }
            if wanted.last_message {
                found.last_message = details::last_message(&file, &mut ends)?;
            }
        }
        if wanted.message_count {
            found.message_count = details::count(&file, is_subagent(session), &wanted)?;
        }
        Ok(found)
    }

    fn load(&self, _: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        load::page(&open_regular(&session.location)?, is_subagent(session), request)
    }

    fn end(&self, session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
        let end = end_of_lines(&open_regular(&session.location)?, progress)?;
        Ok(End { cursor: load::cursor(end), count: None })
    }

    fn live(&self, root: &Root, _: &mut dyn Iterator<Item = &Session>) -> Activities {
        live::read(root)
    }

    fn resume(&self, root: &Root, session: &Session) -> Option<Resume> {
        let env = BTreeMap::from([("CLAUDE_CONFIG_DIR".to_owned(), root.home.to_str()?.to_owned())]);
        Some(Resume {
            argv: vec!["claude".to_owned(), "--resume".to_owned(), session.id.to_string()],
            cwd: session.workspace.as_deref().map(str::to_owned),
            env: (!root.usual).then_some(env),
        })
    }
}

/// The sessions of one project, and the subagents of each.
fn walk_project(finder: &mut Finder, project: &Path) {
    let entries = finder.entries(project);
    let companions: Vec<_> = entries.iter().filter(|entry| is_uuid(&entry.name) && entry.is_dir()).collect();
    let mut beside = HashMap::new();
    for companion in companions {
        let stamp = walk_companion(finder, &companion.path);
        beside.insert(companion.name.clone(), stamp);
    }
    for entry in entries {
        let Some(stem) = entry.name.strip_suffix(".jsonl") else { continue };
        if !is_uuid(stem) && !is_agent(stem) {
            finder.skip(entry, ReadError::Name);
            continue;
        }
        let beside = beside.remove(stem).flatten();
        finder.source(entry, beside);
    }
}

/// Walks the directory that a session keeps beside its transcript, and returns the stamp of the files in it that change
/// what the session is.
fn walk_companion(finder: &mut Finder, companion: &Path) -> Option<Stamp> {
    let mut beside: Option<Stamp> = None;
    for entry in finder.entries(companion) {
        if [TITLE_FILE, ARCHIVED_FILE].contains(&&*entry.name) {
            let stamp = stamp(&entry.path);
            beside = beside.zip(stamp).map(|(one, other)| one.and(other)).or(beside).or(stamp);
        } else if entry.name == SUBAGENTS && entry.is_dir() {
            walk_subagents(finder, &entry.path, limits::SUBAGENT_DEPTH);
        }
    }
    beside
}

/// The subagents of a session: those of a workflow lie in a directory of their own below the others.
fn walk_subagents(finder: &mut Finder, directory: &Path, depth: usize) {
    for entry in finder.entries(directory) {
        if let Some(stem) = entry.name.strip_suffix(".jsonl") {
            if is_agent(stem) {
                finder.source(entry, None);
            }
        } else if depth > 0 && entry.is_dir() {
            walk_subagents(finder, &entry.path, depth - 1);
        }
    }
}

/// The directory of a home that holds the sessions.
const PROJECTS: &str = "projects";
/// The directory of a session that holds its subagents.
const SUBAGENTS: &str = "subagents";
/// What `/rename` leaves beside a session.
const TITLE_FILE: &str = "custom-title.json";
/// What archiving a session leaves beside it.
const ARCHIVED_FILE: &str = "archived.json";

fn is_agent(name: &str) -> bool {
    name.strip_prefix("agent-").is_some_and(|id| !id.is_empty())
}

/// Whether all rows of a session's file are a subagent's.
fn is_subagent(session: &Session) -> bool {
    session.parent.as_ref().is_some_and(|parent| parent.relation == Relation::Subagent)
}
