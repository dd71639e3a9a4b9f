//! The Supercode orchestrator: `<home>/state.db`, and one more in each `profiles/<name>/`. A row binds a place where people
//! write (a channel, a thread) to a session of a worker: it points to a conversation and holds none.

mod binding;
#[cfg(test)]
mod tests;

use super::jsonl::HeadTail;
use super::{
    Details, End, Environment, Finder, Found, Home, Page, PageRequest, Progress, ReadError, Reading, Root, Session,
    Source, Store, Wanted,
};
use crate::platform::sqlite;
use crate::protocol::{Harness, Resume, RootOrigin};
use std::path::Path;

const DATABASE: &str = "state.db";
const PROFILES: &str = "profiles";
/// The profile that the home itself is.
const DEFAULT_PROFILE: &str = "default";

/// The store of the Supercode orchestrator.
pub(super) struct Orchestrator;

impl Store for Orchestrator {
    fn harness(&self) -> Harness {
        Harness::Orchestrator
    }

    fn ids_are_unique(&self) -> bool {
        // A key is unique within its home only.
        false
    }

    fn roots(&self, environment: &Environment<'_>) -> Vec<Root> {
        let home = environment.home_of("SUPERCODE_ORCHESTRATOR_HOME", ".supercode/orchestrator");
        home.iter().map(|home| home.root(Harness::Orchestrator, "")).collect()
    }

    fn named_root(&self, path: &Path) -> Root {
        let home = path.parent().filter(|_| path.ends_with(DATABASE)).unwrap_or(path);
        Home { path: home.to_owned(), origin: RootOrigin::Flag, usual: false }.root(Harness::Orchestrator, "")
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        database(finder, &root.path);
        // What was thrown away lies in a directory with a dot before its name.
        let profiles = finder.entries(&root.path.join(PROFILES)).into_iter();
        for profile in profiles.filter(|profile| !profile.name.starts_with('.') && profile.is_dir()) {
            database(finder, &profile.path);
        }
    }

    fn read(&self, source: &Source, _: &mut HeadTail) -> Result<Reading, ReadError> {
        Ok(Reading { sessions: binding::read(source)?, ..Reading::default() })
    }

    fn details(&self, _: &[Root], _: &Session, _: Wanted) -> Result<Details, ReadError> {
        Ok(Details::default())
    }

    fn load(&self, _: &[Root], _: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        // The messages are the worker's, under the worker's own id.
        if request.cursor.is_some() { Err(ReadError::Cursor) } else { Ok(Page::default()) }
    }

    fn end(&self, _: &Session, _: &dyn Progress) -> Result<End, ReadError> {
        Err(ReadError::NoMessages)
    }

    fn resume(&self, _: &Root, _: &Session) -> Option<Resume> {
        None
    }
}

fn database(finder: &mut Finder, profile: &Path) {
    let found = finder.entries(profile).into_iter().find(|found: &Found| found.name == DATABASE);
    if let Some(found) = found {
        let log = sqlite::log_stamp(&found.path);
        finder.source(found, log);
    }
}
