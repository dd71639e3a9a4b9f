//! pi: `<home>/sessions/<directory>/<time>_<id>.jsonl`, a tree of entries; in a directory of the user's choice the files
//! lie flat.

mod branch;
mod details;
mod list;
mod message;
mod record;
#[cfg(test)]
mod tests;

use super::jsonl::HeadTail;
use super::{
    Details, End, Environment, Finder, Found, Home, Page, PageRequest, Progress, ReadError, Reading, Root, Session,
    Source, Store, Wanted, ids,
};
use crate::limits;
use crate::platform::files::read_small;
use crate::protocol::{Harness, Resume, RootOrigin};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The directory of a home that holds the sessions.
const SESSIONS: &str = "sessions";
const HOME: &str = "PI_CODING_AGENT_DIR";
const DIRECTORY: &str = "PI_CODING_AGENT_SESSION_DIR";

/// The store of pi.
pub(super) struct Pi;

impl Store for Pi {
    fn harness(&self) -> Harness {
        Harness::Pi
    }

    fn roots(&self, environment: &Environment<'_>) -> Vec<Root> {
        if let Some(path) = environment.path(DIRECTORY) {
            let home = Home { path, origin: RootOrigin::Environment, usual: false };
            return vec![home.root(Harness::Pi, "")];
        }
        let Some(home) = environment.home_of(HOME, ".pi/agent") else { return Vec::new() };
        let own = home.root(Harness::Pi, SESSIONS);
        let chosen = chosen_directory(&home.path, environment.home().as_deref());
        chosen.map(|path| Root { path, ..own.clone() }).into_iter().chain([own.clone()]).collect()
    }

    fn named_root(&self, path: &Path) -> Root {
        let home = [path.to_owned(), path.join("agent")].into_iter().find(|home| home.join(SESSIONS).is_dir());
        let home = home.or_else(|| path.parent().filter(|_| path.ends_with(SESSIONS)).map(Path::to_owned));
        let named = |path: PathBuf| Home { path, origin: RootOrigin::Flag, usual: false };
        match home {
            Some(home) => named(home).root(Harness::Pi, SESSIONS),
            None => named(path.to_owned()).root(Harness::Pi, ""),
        }
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        let (directories, files): (Vec<_>, Vec<_>) = finder.entries(&root.path).into_iter().partition(Found::is_dir);
        files.into_iter().for_each(|found| source(finder, found));
        let directories: Vec<_> = directories.into_iter().map(|directory| directory.path).collect();
        finder.each(&directories, |finder, directory| {
            for found in finder.entries(directory) {
                source(finder, found);
            }
        });
    }

    fn read(&self, source: &Source, ends: &mut HeadTail) -> Result<Reading, ReadError> {
        list::session(source, ends).map(Reading::from)
    }

    fn late_title(&self, session: &Session, progress: &dyn Progress) -> Option<Box<str>> {
        list::late_title(session, progress)
    }

    fn details(&self, _: &[Root], session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
        details::read(session, wanted)
    }

    fn load(&self, _: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        branch::load(session, request)
    }

    fn end(&self, session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
        branch::end(session, progress)
    }

    fn resume(&self, root: &Root, session: &Session) -> Option<Resume> {
        // An id is looked for in the sessions of one directory, a file is found anywhere.
        let file = session.location.to_str().filter(|file| session.resumable && ids::is_usable(file))?;
        let (variable, place) = if root.path == root.home { (DIRECTORY, &root.path) } else { (HOME, &root.home) };
        let env = BTreeMap::from([(variable.to_owned(), place.to_str()?.to_owned())]);
        Some(Resume {
            argv: ["pi", "--session", file].map(String::from).to_vec(),
            cwd: session.workspace.as_deref().map(String::from),
            env: (!root.usual).then_some(env),
        })
    }
}

fn source(finder: &mut Finder, found: Found) {
    if found.name.ends_with(".jsonl") { finder.source(found, None) } else { finder.skip(found, ReadError::Name) }
}

/// The directory that the user's settings name for sessions.
fn chosen_directory(home: &Path, user: Option<&Path>) -> Option<PathBuf> {
    let settings = read_small(&home.join("settings.json"), limits::SIDE_FILE).ok()?;
    let settings: serde_json::Value = serde_json::from_slice(&settings).ok()?;
    let named = settings.get("sessionDir")?.as_str()?;
    let path = match named.strip_prefix('~') {
        Some(below) => user?.join(below.trim_start_matches(['/', '\\'])),
        None => PathBuf::from(named),
    };
    path.is_absolute().then_some(path)
}
