//! Gemini CLI: `<home>/.gemini/tmp/<project>/chats/session-<time>-<part of the id>.jsonl`, a log to be replayed; before
//! that `.json`, written anew with each change. A project is named by a word, with a file that says which directory it
//! stands for, or by the hash of the directory's path.

mod chat;
mod details;
mod follow;
mod list;
mod message;
mod page;
mod record;
mod replay;
mod scan;
#[cfg(test)]
mod tests;

use super::jsonl::HeadTail;
use super::{
    Details, Environment, Finder, Found, Home, Page, PageRequest, ReadError, Reading, Root, Session, Source, Store,
    Tail, Wanted, ids, text, walk,
};
use crate::limits;
use crate::platform::files::read_small;
use crate::protocol::{Harness, Resume, RootOrigin};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// What a home has for the program.
const DATA: &str = ".gemini";
/// The directory of projects.
const PROJECTS: &str = "tmp";
const CHATS: &str = "chats";
/// The directory that a project stands for.
const PROJECT_ROOT: &str = ".project_root";
/// The files whose members' names are directories, and what of them holds those members.
const DIRECTORIES: [(&str, Option<&str>); 2] = [("projects.json", Some("projects")), ("trustedFolders.json", None)];

/// The store of Gemini CLI.
pub(super) struct Gemini;

impl Store for Gemini {
    fn harness(&self) -> Harness {
        Harness::Gemini
    }

    fn roots(&self, environment: &Environment<'_>) -> Vec<Root> {
        // The variable stands in for the user's own home.
        let home = environment.home_of("GEMINI_CLI_HOME", "");
        home.iter().map(|home| home.root(Harness::Gemini, DATA)).collect()
    }

    fn named_root(&self, path: &Path) -> Root {
        let data = path.parent().filter(|_| path.ends_with(PROJECTS)).unwrap_or(path);
        let below = data.join(DATA);
        let data = if below.is_dir() { &below } else { data };
        let home = data.parent().filter(|_| data.ends_with(DATA)).unwrap_or(data);
        let home = Home { path: home.to_owned(), origin: RootOrigin::Flag, usual: false };
        Root { path: data.to_owned(), ..home.root(Harness::Gemini, "") }
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        for found in finder.entries(&root.path) {
            if DIRECTORIES.iter().any(|(name, _)| found.name == *name) {
                finder.source(found, None);
            }
        }
        let projects = finder.entries(&root.path.join(PROJECTS)).into_iter().filter(Found::is_dir);
        let projects: Vec<_> = projects.map(|project| project.path).collect();
        finder.each(&projects, walk_project);
    }

    fn read(&self, source: &Source, ends: &mut HeadTail) -> Result<Reading, ReadError> {
        let name = source.path.file_name();
        match DIRECTORIES.iter().find(|(directories, _)| name.is_some_and(|name| name == *directories)) {
            Some((_, member)) => Ok(Reading { workspaces: directories(&source.path, *member)?, ..Reading::default() }),
            None => list::session(source, ends).map(Reading::from),
        }
    }

    fn details(&self, _: &[Root], session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
        details::read(session, wanted)
    }

    fn load(&self, _: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        page::load(session, request)
    }

    fn tail(&self) -> Option<Box<dyn Tail>> {
        Some(Box::<follow::Log>::default())
    }

    fn workspace_mark(&self, directory: &str) -> Option<String> {
        let folded = cfg!(windows).then(|| directory.to_lowercase());
        let hash = Sha256::digest(folded.as_deref().unwrap_or(directory));
        Some(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn resume(&self, root: &Root, session: &Session) -> Option<Resume> {
        // The program knows only the sessions of the project that it is started in, and only in a home of its form.
        let cwd = session.workspace.as_deref()?.to_owned();
        if !session.resumable || root.path != root.home.join(DATA) {
            return None;
        }
        let env = BTreeMap::from([("GEMINI_CLI_HOME".to_owned(), root.home.to_str()?.to_owned())]);
        Some(Resume {
            argv: ["gemini", "--resume", &session.id].map(String::from).to_vec(),
            cwd: Some(cwd),
            env: (!root.usual).then_some(env),
        })
    }
}

/// The chats of one project, and those of each one's subagents.
fn walk_project(finder: &mut Finder, project: &Path) {
    // Its directory is part of what every chat says.
    let directory = walk::stamp(&project.join(PROJECT_ROOT));
    for found in finder.entries(&project.join(CHATS)) {
        if found.is_dir() {
            for agent in finder.entries(&found.path) {
                if is_chat(&agent.name) { finder.source(agent, directory) } else { finder.skip(agent, ReadError::Name) }
            }
        } else if found.name.starts_with("session-") && is_chat(&found.name) {
            finder.source(found, directory);
        } else {
            finder.skip(found, ReadError::Name);
        }
    }
}

/// Whether a file has the ending of a chat: before logs, chats and those of subagents were one record.
fn is_chat(name: &str) -> bool {
    [".jsonl", ".json"].iter().any(|ending| name.ends_with(ending))
}

/// The directories that a file's members are named by.
fn directories(path: &Path, member: Option<&str>) -> Result<Vec<Box<str>>, ReadError> {
    let json: serde_json::Value = serde_json::from_slice(&read_small(path, limits::SIDE_FILE)?)
        .map_err(|error| ReadError::Malformed(error.to_string()))?;
    let named = member.map_or(Some(&json), |member| json.get(member)).and_then(|named| named.as_object());
    Ok(named.into_iter().flat_map(|named| named.keys()).filter_map(|directory| text::workspace(directory)).collect())
}
