//! Codex: `sessions/YYYY/MM/DD/rollout-<local time>-<id>.jsonl`, `archived_sessions/` beside it, an index of names and a
//! database that caches what the files say.

mod details;
mod item;
mod lineage;
mod live;
mod load;
mod names;
mod record;
mod rollout;
#[cfg(test)]
mod tests;

use super::{
    Activities, Details, End, Environment, Finder, Found, Home, Page, PageRequest, Reading, Root, Session, Skip,
    Source, Store, Wanted, ids, jsonl, walk,
};
use crate::platform::sqlite;
use crate::protocol::{Harness, Resume, RootOrigin};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const ACTIVE: &str = "sessions";
const ARCHIVED: &str = "archived_sessions";
const INDEX: &str = "session_index.jsonl";
/// Directories for the year, the month and the day.
const DEPTH: usize = 3;

/// The store of Codex.
pub struct Codex;

impl Store for Codex {
    fn harness(&self) -> Harness {
        Harness::Codex
    }

    fn roots(&self, environment: &Environment<'_>) -> Vec<Root> {
        let home = environment.home_of("CODEX_HOME", ".codex");
        home.iter().map(|home| home.root(Harness::Codex, "")).collect()
    }

    fn named_root(&self, path: &Path) -> Root {
        let home = path.parent().filter(|_| path.ends_with(ACTIVE)).unwrap_or(path);
        Home { path: home.to_owned(), origin: RootOrigin::Flag, usual: false }.root(Harness::Codex, "")
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        let mut newest: Option<(u32, Found)> = None;
        for found in finder.entries(&root.path) {
            if found.name == ACTIVE || found.name == ARCHIVED {
                walk_below(finder, found.path);
            } else if found.name == INDEX {
                finder.source(found, None);
            } else if let Some(generation) = generation(&found.name)
                && newest.as_ref().is_none_or(|(newest, _)| generation > *newest)
            {
                newest = Some((generation, found));
            }
        }
        if let Some((_, database)) = newest {
            let log = sqlite::log_stamp(&database.path);
            finder.source(database, log);
        }
    }

    fn read(&self, source: &Source, ends: &mut jsonl::Ends) -> Result<Reading, Skip> {
        let name = source.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name == INDEX {
            Ok(Reading { names: names::index(&source.path)?, ..Reading::default() })
        } else if generation(name).is_some() {
            Ok(Reading { names: names::database(source)?, ..Reading::default() })
        } else {
            rollout::read(source, ends).map(Reading::from)
        }
    }

    fn details(&self, roots: &[Root], session: &Session, wanted: Wanted) -> Result<Details, Skip> {
        details::read(roots, session, wanted)
    }

    fn load(&self, roots: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, Skip> {
        load::page(roots, session, request)
    }

    fn live(&self, root: &Root, sessions: &mut dyn Iterator<Item = &Session>) -> Activities {
        live::read(root, sessions)
    }

    fn end(&self, session: &Session) -> Result<End, Skip> {
        load::end(session)
    }

    fn resume(&self, root: &Root, session: &Session) -> Option<Resume> {
        let home = (!root.usual).then(|| root.home.to_str()).flatten();
        session.resumable.then(|| Resume {
            argv: ["codex", "resume", &session.id].map(String::from).to_vec(),
            cwd: session.workspace.as_deref().map(String::from),
            env: home.map(|home| BTreeMap::from([("CODEX_HOME".to_owned(), home.to_owned())])),
        })
    }
}

/// Takes the rollouts of a directory and of those in it, level by level.
fn walk_below(finder: &mut Finder, directory: PathBuf) {
    let mut level = vec![directory];
    for _ in 0..=DEPTH {
        finder.each(&level, |finder, directory| {
            for found in finder.entries(directory) {
                if found.is_dir() { finder.deeper.push(found.path) } else { source(finder, found) }
            }
        });
        level = std::mem::take(&mut finder.deeper);
    }
}

/// Goes through the files of a directory and of those in it, to a depth.
fn each_file(finder: &mut Finder, directory: &Path, depth: usize, each: &mut dyn FnMut(&mut Finder, Found)) {
    for found in finder.entries(directory) {
        if !found.is_dir() {
            each(finder, found);
        } else if depth > 0 {
            each_file(finder, &found.path, depth - 1, each);
        }
    }
}

/// Takes a file as a source if it is a rollout, and the one that the program itself would read.
fn source(finder: &mut Finder, found: Found) {
    if stem(&found.name).is_none() {
        finder.skip(found, Skip::Name);
    } else if found.name.ends_with(".zst") && walk::stamp(&found.path.with_extension("")).is_some() {
        finder.skip(found, Skip::Twin);
    } else {
        finder.source(found, None);
    }
}

/// The rollout of a session, wherever it lies.
fn locate(roots: &[Root], id: &str) -> Option<PathBuf> {
    let ending = format!("-{id}");
    let mut best: Option<PathBuf> = None;
    for directory in roots.iter().flat_map(|root| [ACTIVE, ARCHIVED].map(|name| root.path.join(name))) {
        each_file(&mut Finder::default(), &directory, DEPTH, &mut |_, found| {
            let packed = || best.as_ref().is_none_or(|best| best.extension().is_some_and(|ending| ending == "zst"));
            if stem(&found.name).is_some_and(|stem| stem.ends_with(&ending)) && packed() {
                best = Some(found.path);
            }
        });
    }
    best
}

/// The name of a rollout without its endings; `None` for other names.
fn stem(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".zst").unwrap_or(name);
    name.strip_suffix(".jsonl").filter(|stem| stem.starts_with("rollout-"))
}

/// The UUID with which the name of a rollout ends.
fn id_in_name(path: &Path) -> Option<&str> {
    let stem = stem(path.file_name()?.to_str()?)?;
    stem.get(stem.len().checked_sub(36)?..).filter(|id| ids::is_uuid(id))
}

/// Archiving moves a file.
fn is_archived(path: &Path) -> bool {
    let mut names = path.ancestors().skip(1).filter_map(Path::file_name);
    names.find(|name| *name == ACTIVE || *name == ARCHIVED).is_some_and(|name| name == ARCHIVED)
}

/// The generation of a name cache: the number in `state_<number>.sqlite`.
fn generation(name: &str) -> Option<u32> {
    name.strip_prefix("state_")?.strip_suffix(".sqlite")?.parse().ok()
}
