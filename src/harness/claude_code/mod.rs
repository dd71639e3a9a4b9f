//! Claude Code: `<home>/projects/<directory>/<session id>.jsonl`, its subagents below `<session id>/subagents/`.

mod details;
mod load;
mod message;
mod record;
mod row;
#[cfg(test)]
mod tests;
mod transcript;

use super::backward::end_of_lines;
use super::ids::is_uuid;
use super::jsonl::Ends;
use super::walk::stamp;
use super::{
    Details, End, Environment, Finder, Found, Page, PageRequest, Reading, Root, Session, Skip, Source, Store, Wanted,
};
use crate::platform::files::open_regular;
use crate::protocol::{Harness, Resume, RootOrigin};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use transcript::Facts;

/// The store of Claude Code.
pub struct ClaudeCode;

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

    fn read(&self, source: &Source, ends: &mut Ends) -> Result<Reading, Skip> {
        let file = ends.open(&source.path)?;
        let facts = Facts::gather(&file, ends)?;
        facts.into_session(source).map(Reading::from)
    }

    fn details(&self, _: &[Root], session: &Session, wanted: Wanted) -> Result<Details, Skip> {
        let file = open_regular(&session.location)?;
        let mut found = Details::default();
        if wanted.topics || wanted.last_message {
            let mut ends = Ends::default();
            ends.load(&file)?;
            if wanted.topics {
                found.topics = details::topics(&file, &mut ends)?;
            }
            if wanted.last_message {
                found.last_message = details::last_message(&file, &mut ends)?;
            }
        }
        if wanted.message_count {
            found.message_count = details::count(wanted.attended(file))?;
        }
        Ok(found)
    }

    fn load(&self, _: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, Skip> {
        load::page(&open_regular(&session.location)?, is_agent(&session.id), request)
    }

    fn end(&self, session: &Session) -> Result<End, Skip> {
        let end = end_of_lines(&open_regular(&session.location)?)?;
        Ok(End { cursor: load::cursor(end), count: None })
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
    let companions: HashSet<String> =
        entries.iter().filter(|entry| is_uuid(&entry.name) && entry.is_dir()).map(|entry| entry.name.clone()).collect();
    for entry in entries {
        let Some(stem) = entry.name.strip_suffix(".jsonl") else { continue };
        if !is_uuid(stem) && !is_agent(stem) {
            finder.skip(entry, Skip::Name);
            continue;
        }
        // A rename is kept beside the session too, where the transcript's own ends may not show it.
        let beside = companions.contains(stem).then(|| stamp(&project.join(stem).join(TITLE_FILE))).flatten();
        finder.source(entry, beside);
    }
    for companion in companions {
        let transcript = |entry: &Found| entry.name.strip_suffix(".jsonl").is_some_and(is_agent);
        for agent in finder.entries(&project.join(companion).join("subagents")) {
            if transcript(&agent) {
                finder.source(agent, None);
            }
        }
    }
}

/// The directory of a home that holds the sessions.
const PROJECTS: &str = "projects";
/// What `/rename` leaves beside a session.
const TITLE_FILE: &str = "custom-title.json";

fn is_agent(name: &str) -> bool {
    name.strip_prefix("agent-").is_some_and(|id| !id.is_empty())
}
