//! Codex: `sessions/YYYY/MM/DD/rollout-<local time>-<id>.jsonl`, `archived_sessions/` beside it, an index of names and a
//! database that caches what the files say. Which files make up a thread: see [`files`].

mod details;
mod files;
mod item;
mod lineage;
mod list;
mod live;
mod load;
mod names;
mod pieces;
mod record;
mod rollout;
mod tally;
#[cfg(test)]
mod tests;

use super::{
    Activities, Details, End, Environment, Finder, Found, Home, Page, PageRequest, Progress, ReadError, Reading, Root,
    Session, Source, Store, Wanted, jsonl,
};
use crate::platform::sqlite;
use crate::protocol::{Harness, Resume, RootOrigin};
use std::collections::BTreeMap;
use std::path::Path;

const ACTIVE: &str = "sessions";
const ARCHIVED: &str = "archived_sessions";
const INDEX: &str = "session_index.jsonl";
/// Directories for the year, the month and the day.
const DEPTH: usize = 3;

/// The store of Codex.
pub(super) struct Codex;

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
                files::walk_below(finder, found.path);
            } else if found.name == INDEX {
                finder.source(found, None);
            } else if let Some(generation) = generation(&found.name)
                && newest.as_ref().is_none_or(|(newest, _)| generation > *newest)
            {
                newest = Some((generation, found));
            }
        }
        files::group(finder);
        if let Some((_, database)) = newest {
            let log = sqlite::log_stamp(&database.path);
            finder.source(database, log);
        }
    }

    fn read(&self, source: &Source, ends: &mut jsonl::HeadTail) -> Result<Reading, ReadError> {
        let name = source.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name == INDEX {
            Ok(Reading { names: names::index(&source.path)?, ..Reading::default() })
        } else if generation(name).is_some() {
            names::database(source)
        } else {
            list::read(source, ends)
        }
    }

    fn details(&self, roots: &[Root], session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
        details::read(roots, session, wanted)
    }

    fn load(&self, roots: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        load::page(roots, session, request)
    }

    fn live(&self, root: &Root, sessions: &mut dyn Iterator<Item = &Session>) -> Activities {
        live::read(root, sessions)
    }

    fn end(&self, session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
        load::end(session, progress)
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

/// The generation of a name cache: the number in `state_<number>.sqlite`.
fn generation(name: &str) -> Option<u32> {
    name.strip_prefix("state_")?.strip_suffix(".sqlite")?.parse().ok()
}
