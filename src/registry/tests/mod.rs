//! What the tests share: a store that does what stores may do, and its world.

mod fixtures;
mod follow;
mod list;
mod live;
mod marks;
mod stored;
mod update;

use super::roots::RootSlot;
use super::scan::RootScan;
use super::stored::Stored;
use super::{Registry, Request};
use crate::authority::Grant;
use crate::harness::{
    Details, Environment, Finder, Homes, Name, NoProgress, Page, PageRequest, ReadError, Reading, Root, Session,
    Source, Store, Wanted, jsonl::HeadTail,
};
use crate::protocol::{Harness, Parent, Query, Relation, Resume, RootOrigin};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A store of files that say in JSON what is to be read of them, with ids that are counters.
struct Counters(Harness);

const GOOSE: &Counters = &Counters(Harness::Goose);
const OPENCODE: &Counters = &Counters(Harness::OpenCode);

impl Store for Counters {
    fn harness(&self) -> Harness {
        self.0
    }

    fn roots(&self, _: &Environment<'_>) -> Vec<Root> {
        Vec::new()
    }

    fn named_root(&self, path: &Path) -> Root {
        let (path, home) = (path.to_owned(), path.to_owned());
        Root { harness: self.0, path, home, origin: RootOrigin::Flag, usual: false }
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        for found in finder.entries(&root.path) {
            finder.source(found, None);
        }
    }

    fn read(&self, source: &Source, _: &mut HeadTail) -> Result<Reading, ReadError> {
        let value: Value = serde_json::from_slice(&fs::read(&source.path)?).unwrap();
        let text = |of: &Value, name: &str| of[name].as_str().map(Box::from);
        let list = |name: &str| value[name].as_array().cloned().unwrap_or_default();
        let session = |of: &Value| Session {
            title: text(of, "title"),
            workspace: text(of, "workspace"),
            workspace_mark: text(of, "mark"),
            profile: text(of, "profile"),
            created_at_ms: of["created"].as_i64(),
            updated_at_ms: of["updated"].as_i64(),
            parent: of["parent"]
                .as_str()
                .map(|id| Parent { session_id: Some(id.to_owned()), relation: Relation::Subagent }),
            ..Session::new(of["id"].as_str().unwrap(), source)
        };
        let name = |of: &Value| Name { session: text(of, "id").unwrap(), title: text(of, "title").unwrap(), rank: 1 };
        Ok(Reading {
            sessions: list("sessions").iter().map(session).collect(),
            names: list("names").iter().map(name).collect(),
            workspaces: list("workspaces").iter().map(|path| path.as_str().unwrap().into()).collect(),
            ..Reading::default()
        })
    }

    fn details(&self, _: &[Root], _: &Session, _: Wanted) -> Result<Details, ReadError> {
        Err(ReadError::Vanished)
    }

    fn load(&self, _: &[Root], _: &Session, _: &PageRequest<'_>) -> Result<Page, ReadError> {
        Err(ReadError::Vanished)
    }

    fn workspace_mark(&self, directory: &str) -> Option<String> {
        Some(format!("mark of {directory}"))
    }

    fn ids_are_unique(&self) -> bool {
        false
    }

    fn resume(&self, _: &Root, _: &Session) -> Option<Resume> {
        None
    }
}

/// Roots in order, each with files of this content.
struct World {
    home: TempDir,
    roots: Vec<PathBuf>,
    scans: Vec<RootScan>,
}

fn world(roots: &[&[Value]]) -> World {
    let home = TempDir::new().unwrap();
    let mut paths = Vec::new();
    for (index, files) in roots.iter().enumerate() {
        let root = home.path().join(index.to_string());
        fs::create_dir(&root).unwrap();
        for (index, file) in files.iter().enumerate() {
            fs::write(root.join(index.to_string()), file.to_string()).unwrap();
        }
        paths.push(root);
    }
    let mut scans: Vec<_> =
        paths.iter().map(|root| RootScan::with_store(GOOSE.named_root(root), Some(GOOSE))).collect();
    scans.iter_mut().for_each(|scan| scan.refresh(&NoProgress).unwrap());
    World { home, roots: paths, scans }
}

fn sessions(sessions: &[Value]) -> Value {
    json!({ "sessions": sessions })
}

fn join(world: &World) -> Stored {
    Stored::join(&world.scans.iter().collect::<Vec<_>>(), &[], &[])
}

/// Ids behind the harness, and titles.
fn told(stored: &Stored) -> Vec<(String, Option<&str>)> {
    stored.rows.iter().map(|row| (row.id().to_owned(), row.title.as_deref())).collect()
}

/// What a list of all pages of one entry gives: ids and workspaces.
fn listed(registry: &Registry, query: &Query) -> Vec<(String, Option<String>)> {
    let snapshot = registry.snapshot(&NoProgress).unwrap();
    let (mut found, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let request =
            Request { query, cursor: cursor.as_deref(), limit: 1, grant: &Grant::all(), roots: &registry.roots() };
        let page = snapshot.list(&request, &NoProgress).unwrap();
        found.extend(page.entries.into_iter().map(|entry| (entry.id, entry.workspace)));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return found;
        }
    }
}

fn registry_of(world: World, homes: Homes) -> (TempDir, Registry) {
    let registry = Registry::new(homes, "test".to_owned(), crate::runtime::testing::none());
    registry.state().slots.extend(world.scans.into_iter().map(RootSlot::new));
    (world.home, registry)
}
