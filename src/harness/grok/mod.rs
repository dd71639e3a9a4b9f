//! Grok: `<home>/sessions/<encoded directory>/<session id>/`, in which the model's log, the display's log and a summary
//! lie beside each other.
//!
//! The display's log is read first: it is what the program itself shows again, it alone has times, and compaction does
//! not rewrite it. The model's log stands in where there is no other.

mod details;
mod facts;
mod history;
mod live;
mod load;
mod message;
mod summary;
#[cfg(test)]
mod tests;
mod update;

use super::jsonl::HeadTail;
use super::walk::stamp;
use super::{
    Activities, Details, End, Environment, Finder, Found, Home, Page, PageRequest, Progress, ReadError, Reading, Root,
    Session, Source, Store, Wanted, ids,
};
use crate::platform::files::Stamp;
use crate::protocol::{Harness, Resume, RootOrigin};
use message::Part;
use std::collections::BTreeMap;
use std::path::Path;

const SESSIONS: &str = "sessions";
const SUMMARY: &str = "summary.json";
/// The name of the directory where the encoded name would be too long for a file system.
const DIRECTORY: &str = ".cwd";

/// The two logs of a session, the one that tells more first.
const LOGS: [Log; 2] =
    [Log { name: "updates.jsonl", parse: update::parse }, Log { name: "chat_history.jsonl", parse: history::parse }];

/// A file of messages.
struct Log {
    name: &'static str,
    parse: fn(&[u8]) -> Option<Part>,
}

/// The store of Grok.
pub(super) struct Grok;

impl Store for Grok {
    fn harness(&self) -> Harness {
        Harness::Grok
    }

    fn roots(&self, environment: &Environment<'_>) -> Vec<Root> {
        let home = environment.home_of("GROK_HOME", ".grok");
        home.iter().map(|home| home.root(Harness::Grok, SESSIONS)).collect()
    }

    fn named_root(&self, path: &Path) -> Root {
        let home = path.parent().filter(|_| path.ends_with(SESSIONS)).unwrap_or(path);
        Home { path: home.to_owned(), origin: RootOrigin::Flag, usual: false }.root(Harness::Grok, SESSIONS)
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        let mut workspaces = Vec::new();
        for found in finder.entries(&root.path) {
            if found.is_dir() { workspaces.push(found.path) } else { finder.skip(found, ReadError::Name) }
        }
        finder.each(&workspaces, |finder, workspace| {
            for found in finder.entries(workspace) {
                if found.is_dir() {
                    session(finder, found);
                } else if found.name != DIRECTORY {
                    finder.skip(found, ReadError::Name);
                }
            }
        });
    }

    fn read(&self, source: &Source, ends: &mut HeadTail) -> Result<Reading, ReadError> {
        let directory = directory_of(&source.path);
        let session = facts::read(source, directory, ends)?;
        Ok(Reading { remarks: summary::subagents(directory), ..session.into() })
    }

    fn details(&self, _: &[Root], session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
        details::read(directory_of(&session.location), wanted)
    }

    fn load(&self, _: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        load::page(directory_of(&session.location), request)
    }

    fn live(&self, root: &Root, _: &mut dyn Iterator<Item = &Session>) -> Activities {
        live::read(root)
    }

    fn end(&self, session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
        load::end(directory_of(&session.location), progress)
    }

    fn stamps(&self, session: &Session) -> Vec<Option<Stamp>> {
        let directory = directory_of(&session.location);
        LOGS.iter().map(|log| stamp(&directory.join(log.name))).collect()
    }

    fn resume(&self, root: &Root, session: &Session) -> Option<Resume> {
        let home = (!root.usual).then(|| root.home.to_str()).flatten();
        Some(Resume {
            argv: ["grok", "--resume", &session.id].map(String::from).to_vec(),
            cwd: session.workspace.as_deref().map(String::from),
            env: home.map(|home| BTreeMap::from([("GROK_HOME".to_owned(), home.to_owned())])),
        })
    }
}

/// Takes a directory as a session if one of the logs is in it. The summary beside it is rewritten with every message.
fn session(finder: &mut Finder, found: Found) {
    let log = LOGS.iter().rev().map(|log| found.path.join(log.name)).find(|path| stamp(path).is_some());
    match log.filter(|_| ids::is_usable(&found.name)) {
        Some(log) => finder.known(log, stamp(&found.path.join(SUMMARY))),
        None => finder.skip(found, ReadError::Name),
    }
}

fn directory_of(log: &Path) -> &Path {
    log.parent().unwrap_or(log)
}
