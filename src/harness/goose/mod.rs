//! Goose: `sessions.db`, and beside it the files of one message a line that were there before.

mod database;
mod lines;
mod record;
#[cfg(test)]
mod tests;

use super::jsonl::HeadTail;
use super::{
    Details, End, Environment, Finder, Page, PageRequest, Progress, ReadError, Reading, Root, Session, Source, Store,
    Wanted, ids,
};
use crate::limits;
use crate::platform::sqlite;
use crate::protocol::{Harness, Resume, RootOrigin};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const DATABASE: &str = "sessions.db";
/// Where sessions are below what the program's own variable names.
const BELOW_ROOT: &str = "data/sessions";
/// Where they are below the user's data.
const BELOW_DATA: &str = "goose/sessions";

/// The store of Goose.
pub(super) struct Goose;

impl Store for Goose {
    fn harness(&self) -> Harness {
        Harness::Goose
    }

    fn roots(&self, environment: &Environment<'_>) -> Vec<Root> {
        if let Some(named) = environment.path("GOOSE_PATH_ROOT") {
            return vec![root(named.join(BELOW_ROOT), RootOrigin::Environment, false)];
        }
        let mut roots = Vec::new();
        // Only Windows has this variable, and there the program looks nowhere else.
        let roaming = environment.path("APPDATA").map(|data| data.join("Block"));
        if let Some(block) = &roaming {
            roots.push(root(block.join("goose").join(BELOW_ROOT), RootOrigin::Default, true));
        }
        if let Some(data) = environment.home_of("XDG_DATA_HOME", ".local/share") {
            roots.push(root(data.path.join(BELOW_DATA), data.origin, data.usual && roaming.is_none()));
        }
        let library = environment.home().map(|home| home.join("Library/Application Support/Block"));
        let older = library.into_iter().chain(roaming);
        roots.extend(older.map(|block| root(block.join(BELOW_DATA), RootOrigin::Default, false)));
        roots
    }

    fn named_root(&self, path: &Path) -> Root {
        let path = path.parent().filter(|_| path.ends_with(DATABASE)).unwrap_or(path);
        let below = [BELOW_ROOT, BELOW_DATA, "sessions"].map(|below| path.join(below));
        let sessions = below.into_iter().find(|sessions| sessions.is_dir()).unwrap_or_else(|| path.to_owned());
        root(sessions, RootOrigin::Flag, false)
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        for found in finder.entries(&root.path) {
            if found.name == DATABASE {
                let log = sqlite::log_stamp(&found.path);
                finder.source(found, log);
            } else if found.name.ends_with(".jsonl") {
                finder.source(found, None);
            } else if !found.name.starts_with("sessions.db-") {
                finder.skip(found, ReadError::Name);
            }
        }
    }

    fn read(&self, source: &Source, ends: &mut HeadTail) -> Result<Reading, ReadError> {
        if is_file(&source.path) { lines::read(source, ends).map(Reading::from) } else { database::read(source) }
    }

    fn details(&self, _: &[Root], session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
        if is_file(&session.location) { lines::details(session, wanted) } else { database::details(session, wanted) }
    }

    fn load(&self, _: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        if is_file(&session.location) { lines::load(session, request) } else { database::load(session, request) }
    }

    fn end(&self, session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
        if is_file(&session.location) { lines::end(session, progress) } else { database::end(session) }
    }

    fn unsettled(&self, _: &Session) -> usize {
        limits::FOLLOW_ROWS
    }

    /// An id is a day and a number: each machine, and each data directory, begins at 1.
    fn ids_are_unique(&self) -> bool {
        false
    }

    fn resume(&self, root: &Root, session: &Session) -> Option<Resume> {
        let variable = match &root.path {
            _ if root.usual => None,
            path if path.ends_with(BELOW_ROOT) => Some("GOOSE_PATH_ROOT"),
            path if path.ends_with(BELOW_DATA) => Some("XDG_DATA_HOME"),
            _ => return None,
        };
        let home = root.home.to_str()?;
        let mut argv: Vec<String> = ["goose", "session", "--resume"].map(str::to_owned).to_vec();
        if is_file(&session.location) {
            argv.extend(["--path".to_owned(), session.location.to_str()?.to_owned()]);
        } else {
            argv.extend(["--session-id".to_owned(), session.id.to_string()]);
        }
        ids::is_usable(argv.last()?).then(|| Resume {
            argv,
            cwd: session.workspace.as_deref().map(str::to_owned),
            env: variable.map(|variable| BTreeMap::from([(variable.to_owned(), home.to_owned())])),
        })
    }
}

/// The root that is a directory of sessions. Its home is what a variable would name.
fn root(path: PathBuf, origin: RootOrigin, usual: bool) -> Root {
    let is_below = [BELOW_ROOT, BELOW_DATA].iter().any(|below| path.ends_with(below));
    let home = path.ancestors().nth(if is_below { 2 } else { 0 }).unwrap_or(&path).to_owned();
    Root { harness: Harness::Goose, path, home, origin, usual }
}

/// Whether a session is in a file of its own.
fn is_file(location: &Path) -> bool {
    location.extension().is_some_and(|ending| ending == "jsonl")
}
