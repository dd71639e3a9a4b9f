//! The join, over a store that does what stores may do.

use super::inventory::Stored;
use super::scan::{RootScan, refresh_all};
use crate::harness::pages::testing::Patient;
use crate::harness::{
    Details, Environment, Finder, Name, Page, PageRequest, Reading, Root, Session, Skip, Source, Store, Wanted,
    jsonl::Ends,
};
use crate::protocol::{Harness, Parent, Relation, Resume, RootOrigin};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A store of files that say in JSON what is to be read of them, with ids that are counters.
struct Counters;

impl Store for Counters {
    fn harness(&self) -> Harness {
        Harness::Goose
    }

    fn roots(&self, _: &Environment<'_>) -> Vec<Root> {
        Vec::new()
    }

    fn named_root(&self, path: &Path) -> Root {
        let (path, home) = (path.to_owned(), path.to_owned());
        Root { harness: Harness::Goose, path, home, origin: RootOrigin::Flag, usual: false }
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        for found in finder.entries(&root.path) {
            finder.source(found, None);
        }
    }

    fn read(&self, source: &Source, _: &mut Ends) -> Result<Reading, Skip> {
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
        })
    }

    fn details(&self, _: &[Root], _: &Session, _: Wanted) -> Result<Details, Skip> {
        Err(Skip::Vanished)
    }

    fn load(&self, _: &[Root], _: &Session, _: &PageRequest<'_>) -> Result<Page, Skip> {
        Err(Skip::Vanished)
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
    _home: TempDir,
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
        paths.iter().map(|root| RootScan::with_store(Counters.named_root(root), Some(&Counters))).collect();
    refresh_all(&mut scans, &Patient).unwrap();
    World { _home: home, roots: paths, scans }
}

fn sessions(sessions: &[Value]) -> Value {
    json!({ "sessions": sessions })
}

fn join(world: &World) -> Stored {
    Stored::join(&world.scans, &[])
}

/// Ids behind the harness, and titles.
fn told(stored: &Stored) -> Vec<(String, Option<&str>)> {
    stored.rows.iter().map(|row| (row.id().to_owned(), row.title.as_deref())).collect()
}

#[test]
fn different_sessions_of_one_id_are_told_apart_by_the_later_root() {
    let of = |title: &str, created: i64, updated: i64| json!({"id": "1", "title": title, "created": created, "updated": updated});
    let world = world(&[
        &[sessions(&[of("first", 10, 50)])],
        &[sessions(&[of("second", 20, 40)])],
        // A copy of the second, gone on, and one more.
        &[sessions(&[of("second, later", 20, 60)]), sessions(&[of("third", 30, 30)])],
    ]);
    let stored = join(&world);
    let id = |root: usize| format!("1@{}", world.roots[root].display());
    assert_eq!(
        told(&stored),
        [(id(1), Some("second, later")), ("1".to_owned(), Some("first")), (id(2), Some("third"))]
    );
    for row in 0..3 {
        assert_eq!(stored.find(Harness::Goose, stored.rows[row].id()), Some(row));
        assert_eq!(&*stored.rows[row].session.id, "1");
    }
    assert_eq!(stored.find(Harness::Goose, "1@/elsewhere"), None);
}

#[test]
fn different_sessions_of_one_id_in_one_root_are_told_apart_too() {
    let of = |created: i64| json!({"id": "1", "created": created, "updated": created});
    let world = world(&[&[], &[sessions(&[of(1)]), sessions(&[of(2)]), sessions(&[of(3)])]]);
    let stored = join(&world);
    let mut ids: Vec<_> = stored.rows.iter().map(|row| row.id().to_owned()).collect();
    ids.sort();
    let root = world.roots[1].display();
    assert_eq!(ids, ["1".to_owned(), format!("1@{root}"), format!("1@{root}/2")]);
}

#[test]
fn parents_and_names_are_those_of_the_own_root() {
    let file = |title: &str, created: i64| {
        json!({
            "sessions": [
                {"id": "1", "created": created, "updated": created},
                {"id": format!("child of {created}"), "parent": "1", "created": 3, "updated": 3},
            ],
            "names": [{"id": "1", "title": title}]
        })
    };
    let world = world(&[&[file("one", 1)], &[file("two", 2)]]);
    let stored = join(&world);
    let of = |child: &str| stored.find(Harness::Goose, child).unwrap();
    for (parent, child, title) in
        [("1".to_owned(), "child of 1", "one"), (format!("1@{}", world.roots[1].display()), "child of 2", "two")]
    {
        let parent = of(&parent);
        assert_eq!(stored.children(parent).collect::<Vec<_>>(), [of(child)]);
        assert_eq!(stored.related(&stored.rows[of(child)], "1"), Some(parent));
        assert_eq!(stored.rows[parent].title.as_deref(), Some(title));
    }
}

#[test]
fn a_mark_is_resolved_against_every_directory_that_is_known() {
    let marked = |id: &str, of: &str| json!({"id": id, "mark": format!("mark of {of}"), "updated": 1});
    let world = world(&[
        &[
            sessions(&[marked("a", "/session"), marked("b", "/told"), marked("c", "/live"), marked("d", "/unknown")]),
            json!({"workspaces": ["/told"]}),
        ],
        &[sessions(&[
            json!({"id": "e", "workspace": "/session"}),
            json!({"id": "f", "workspace": "/own", "mark": "mark of /told"}),
        ])],
    ]);
    let resolved = |directories: &[String]| {
        let stored = Stored::join(&world.scans, directories);
        assert!(stored.has_marks);
        ["a", "b", "c", "d", "e", "f"].map(|id| {
            let row = stored.find(Harness::Goose, id).unwrap();
            stored.rows[row].workspace().map(str::to_owned)
        })
    };
    let expected = |live: Option<&str>| {
        [Some("/session"), Some("/told"), live, None, Some("/session"), Some("/own")]
            .map(|path| path.map(str::to_owned))
    };
    assert_eq!(resolved(&[]), expected(None));
    assert_eq!(resolved(&["/live".to_owned()]), expected(Some("/live")));
}

#[test]
fn without_marks_no_directory_matters() {
    let world = world(&[&[sessions(&[json!({"id": "a", "workspace": "/w", "mark": "m"}), json!({"id": "b"})])]]);
    assert!(!join(&world).has_marks);
}
