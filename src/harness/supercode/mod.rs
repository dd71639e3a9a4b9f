//! Supercode: `<home>/sessions/<name>.*`, a family of files for each session: `.jsonl` is the conversation, without times;
//! `.meta.json` names it; `.usage.jsonl` and `.events.jsonl` know when and by which model. Archiving moves a family.

mod details;
mod list;
mod message;
#[cfg(test)]
mod tests;

use super::jsonl::HeadTail;
use super::{
    Details, End, Environment, Finder, Home, Page, PageRequest, Progress, ReadError, Reading, Root, Session, Source,
    Store, Wanted, walk,
};
use crate::protocol::{Harness, Resume, RootOrigin};
use siphasher::sip::SipHasher13;
use std::collections::{BTreeMap, HashSet};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// The directory of a home that holds the sessions, and the one in it for those that were put away.
const SESSIONS: &str = "sessions";
const ARCHIVED: &str = "archived";
const HOME: &str = "SUPERCODE_HOME";
/// What only sessions have: other files of a family end like a conversation too.
const META: &str = ".meta.json";

/// The store of Supercode.
pub(super) struct Supercode;

/// Where Supercode keeps what it keeps.
pub(super) fn home(environment: &Environment<'_>) -> Option<Home> {
    let own = environment.home_of(HOME, ".config/supercode");
    let moved = || {
        let path = environment.path("XDG_CONFIG_HOME")?.join("supercode");
        Some(Home { path, origin: RootOrigin::Environment, usual: false })
    };
    // A directory for all configuration stands behind the variable of this program, and before the default.
    match own {
        Some(home) if home.origin == RootOrigin::Environment => Some(home),
        Some(home) => moved().filter(|moved| moved.path != home.path).or(Some(home)),
        None => moved(),
    }
}

impl Store for Supercode {
    fn harness(&self) -> Harness {
        Harness::Supercode
    }

    fn roots(&self, environment: &Environment<'_>) -> Vec<Root> {
        home(environment).iter().map(|home| home.root(Harness::Supercode, SESSIONS)).collect()
    }

    fn named_root(&self, path: &Path) -> Root {
        let home = path.parent().filter(|_| path.ends_with(SESSIONS)).unwrap_or(path);
        Home { path: home.to_owned(), origin: RootOrigin::Flag, usual: false }.root(Harness::Supercode, SESSIONS)
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        walk_directory(finder, &root.path);
        walk_directory(finder, &root.path.join(ARCHIVED));
    }

    fn read(&self, source: &Source, ends: &mut HeadTail) -> Result<Reading, ReadError> {
        list::session(source, ends).map(Reading::from)
    }

    fn details(&self, _: &[Root], session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
        details::read(session, wanted)
    }

    fn load(&self, _: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        message::load(session, request)
    }

    fn end(&self, session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
        message::end(session, progress)
    }

    fn workspace_mark(&self, directory: &str) -> Option<String> {
        // Supercode names directories by Rust's `DefaultHasher`, which a later Rust may change; Supercode's names stay.
        let mut hasher = SipHasher13::new();
        PathBuf::from(directory).hash(&mut hasher);
        Some(format!("{:016x}", hasher.finish()))
    }

    fn resume(&self, root: &Root, session: &Session) -> Option<Resume> {
        let env = BTreeMap::from([(HOME.to_owned(), root.home.to_str()?.to_owned())]);
        Some(Resume {
            argv: ["supercode", "resume", &session.id].map(String::from).to_vec(),
            cwd: session.workspace.as_deref().map(String::from),
            env: (!root.usual).then_some(env),
        })
    }
}

/// The conversations of the families in a directory. What belongs to no family is told.
fn walk_directory(finder: &mut Finder, directory: &Path) {
    let entries = finder.entries(directory);
    let metas = entries.iter().filter_map(|found| found.name.strip_suffix(META).map(str::to_owned));
    let families: HashSet<String> = metas.collect();
    let mut lost = families.clone();
    for found in entries {
        let transcript = found.name.strip_suffix(".jsonl").filter(|name| families.contains(*name)).map(str::to_owned);
        if let Some(name) = transcript {
            lost.remove(&name);
            let meta = walk::stamp(&directory.join(name + META));
            finder.source(found, meta);
        } else if !is_member(&found.name, &families) && !found.is_dir() {
            finder.skip(found, ReadError::Name);
        }
    }
    finder.skipped.extend(lost.into_iter().map(|name| (directory.join(name + META), ReadError::NoMessages)));
}

fn is_member(name: &str, families: &HashSet<String>) -> bool {
    name.match_indices('.').any(|(dot, _)| families.contains(&name[..dot]))
}
