//! OpenCode: `opencode*.db`, one for each channel of the program; before that `storage/`, one file a record; and before
//! that `project/<directory>/storage/`.

mod database;
mod engine;
mod files;
mod first_form;
mod record;
#[cfg(test)]
mod tests;

use super::jsonl::HeadTail;
use super::walk::stamp;
use super::{
    Details, End, Environment, Finder, Found, Home, Page, PageRequest, Progress, ReadError, Reading, Root, Session,
    Source, Store, Wanted, ids,
};
use crate::limits;
use crate::platform::{files::Stamp, sqlite};
use crate::protocol::{Harness, Resume, RootOrigin};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory in the user's data that holds everything.
const DIRECTORY: &str = "opencode";
/// The database of the channel that nearly everyone has.
const DATABASE: &str = "opencode.db";

/// The store of OpenCode.
pub(super) struct OpenCode;

impl Store for OpenCode {
    fn harness(&self) -> Harness {
        Harness::OpenCode
    }

    fn roots(&self, environment: &Environment<'_>) -> Vec<Root> {
        let Some(data) = environment.home_of("XDG_DATA_HOME", ".local/share") else {
            return environment.path("OPENCODE_DB").iter().map(|path| database_root(path)).collect();
        };
        let directory = data.root(Harness::OpenCode, DIRECTORY);
        // A relative name is meant below the directory; one that is found there anyway needs no root of its own.
        let named = environment.value("OPENCODE_DB").filter(|name| !name.as_os_str().eq(":memory:"));
        let named = named.map(|name| directory.path.join(name)).filter(|path| !is_found_in(&directory.path, path));
        named.iter().map(|path| database_root(path)).chain([directory.clone()]).collect()
    }

    fn named_root(&self, path: &Path) -> Root {
        if path.is_file() {
            return Root { origin: RootOrigin::Flag, ..database_root(path) };
        }
        let is_home = !path.ends_with(DIRECTORY) && path.join(DIRECTORY).is_dir();
        let path = if is_home { path.join(DIRECTORY) } else { path.to_owned() };
        let home = path.parent().unwrap_or(&path).to_owned();
        Root { harness: Harness::OpenCode, path, home, origin: RootOrigin::Flag, usual: false }
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        if root.path.is_file() {
            finder.exists = true;
            finder.known(root.path.clone(), sqlite::log_stamp(&root.path));
            return;
        }
        for found in finder.entries(&root.path) {
            if is_database(&found.name) {
                let log = sqlite::log_stamp(&found.path);
                finder.source(found, log);
            } else if found.name == "storage" && found.is_dir() {
                walk_storage(finder, &found.path);
            } else if found.name == "project" && found.is_dir() {
                for project in finder.entries(&found.path).into_iter().filter(Found::is_dir) {
                    let kept = project.path.join("storage/session");
                    walk_sessions(finder, &kept.join("info"), &kept.join("message"));
                }
            }
        }
    }

    fn read(&self, source: &Source, _: &mut HeadTail) -> Result<Reading, ReadError> {
        if is_file(&source.path) { files::read(source).map(Reading::from) } else { database::read(source) }
    }

    fn details(&self, _: &[Root], session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
        if is_file(&session.location) { files::details(session, wanted) } else { database::details(session, wanted) }
    }

    fn load(&self, _: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        if is_file(&session.location) { files::load(session, request) } else { database::load(session, request) }
    }

    fn end(&self, session: &Session, _: &dyn Progress) -> Result<End, ReadError> {
        if is_file(&session.location) { files::end(session) } else { database::end(session) }
    }

    fn stamps(&self, session: &Session) -> Vec<Option<Stamp>> {
        // A part that is written anew changes nothing but itself.
        let location = &session.location;
        if is_file(location) { Vec::new() } else { vec![stamp(location), sqlite::log_stamp(location)] }
    }

    fn unsettled(&self, _: &Session) -> usize {
        limits::FOLLOW_ROWS
    }

    fn resume(&self, root: &Root, session: &Session) -> Option<Resume> {
        let location = session.location.to_str()?;
        let (in_files, database) = (is_file(&session.location), root.path.join(DATABASE));
        let in_data = root.usual || root.path.ends_with(DIRECTORY);
        let is_found = in_data && *session.location == *database;
        // A program that has a database does not look into the files any more.
        if (in_files && (!in_data || database.is_file())) || !ids::is_usable(&session.id) {
            return None;
        }
        let mut env = BTreeMap::new();
        if in_data && !root.usual {
            env.insert("XDG_DATA_HOME".to_owned(), root.home.to_str()?.to_owned());
        }
        if !in_files && !is_found {
            env.insert("OPENCODE_DB".to_owned(), location.to_owned());
        }
        Some(Resume {
            argv: ["opencode", "--session", &session.id].map(str::to_owned).to_vec(),
            cwd: session.workspace.as_deref().map(str::to_owned),
            env: (!env.is_empty()).then_some(env),
        })
    }
}

/// The root that is one database.
fn database_root(path: &Path) -> Root {
    let home = path.parent().unwrap_or(path).to_owned();
    Root {
        path: path.to_owned(),
        ..Home { path: home, origin: RootOrigin::Environment, usual: false }.root(Harness::OpenCode, "")
    }
}

fn is_database(name: &str) -> bool {
    name.strip_prefix(DIRECTORY)
        .and_then(|rest| rest.strip_suffix(".db"))
        .is_some_and(|channel| channel.is_empty() || channel.starts_with('-'))
}

fn is_found_in(directory: &Path, path: &Path) -> bool {
    path.parent() == Some(directory) && path.file_name().and_then(|name| name.to_str()).is_some_and(is_database)
}

/// Whether a session is kept in files.
fn is_file(location: &Path) -> bool {
    location.extension().is_some_and(|ending| ending == "json")
}

/// The sessions of every project. Their messages lie in a directory of their own.
fn walk_storage(finder: &mut Finder, storage: &Path) {
    let projects = finder.entries(&storage.join("session")).into_iter().filter(Found::is_dir);
    let projects: Vec<PathBuf> = projects.map(|project| project.path).collect();
    finder.each(&projects, |finder, project| walk_sessions(finder, project, &storage.join("message")));
}

fn walk_sessions(finder: &mut Finder, sessions: &Path, messages: &Path) {
    for found in finder.entries(sessions) {
        match found.name.strip_suffix(".json").filter(|id| id.starts_with("ses_")) {
            Some(id) => {
                // A message more changes the directory that it is in, and not the session's own file.
                let beside = fs::metadata(messages.join(id)).ok().map(|metadata| Stamp::of(&metadata));
                finder.source(found, beside);
            }
            None => finder.skip(found, ReadError::Name),
        }
    }
}
