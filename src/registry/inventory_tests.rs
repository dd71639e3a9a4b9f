//! The join, over a store that does what stores may do.

use super::inventory::Stored;
use super::scan::{RootScan, refresh_all};
use super::{Registry, Request};
use crate::authority::Grant;
use crate::harness::Patient;
use crate::harness::{
    Details, Environment, Finder, Homes, Name, Page, PageRequest, Reading, Root, Session, Skip, Source, Store, Wanted,
    jsonl::Ends,
};
use crate::platform::process;
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
            ..Reading::default()
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
    refresh_all(&mut scans, &Patient).unwrap();
    World { home, roots: paths, scans }
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

/// What a list of all pages of one entry gives: ids and workspaces.
fn listed(registry: &Registry, query: &Query) -> Vec<(String, Option<String>)> {
    let snapshot = registry.snapshot(&Patient).unwrap();
    let (mut found, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let request =
            Request { query, cursor: cursor.as_deref(), limit: 1, grant: &Grant::all(), roots: &registry.roots() };
        let page = snapshot.list(&request, &Patient).unwrap();
        found.extend(page.entries.into_iter().map(|entry| (entry.id, entry.workspace)));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return found;
        }
    }
}

fn registry_of(world: World, homes: Homes) -> (TempDir, Registry) {
    let registry = Registry::new(homes, "test".to_owned());
    registry.state().scans.extend(world.scans);
    (world.home, registry)
}

#[test]
fn entries_of_one_time_are_listed_once_each_whatever_their_harness() {
    let one = || sessions(&[json!({"id": "1", "updated": 7})]);
    let mut world = world(&[&[one()], &[one()]]);
    world.scans[0] = RootScan::with_store(OPENCODE.named_root(&world.roots[0]), Some(OPENCODE));
    let (_home, registry) = registry_of(world, Homes::default());
    let ids: Vec<_> = listed(&registry, &Query::default()).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["goose:1", "opencode:1"]);
}

#[test]
fn an_entry_in_a_later_root_is_found_by_its_id_and_a_profile_by_its_name() {
    let of = |profile: Option<&str>, created: i64| {
        sessions(&[json!({"id": "1", "created": created, "updated": created, "profile": profile})])
    };
    let world = world(&[&[of(None, 1)], &[of(Some("work"), 2)]]);
    let id = format!("goose:1@{}", world.roots[1].display());
    let (_home, registry) = registry_of(world, Homes::default());
    let of = |profile: &str| listed(&registry, &Query { profile: Some(profile.to_owned()), ..Query::default() });
    assert_eq!((of("work"), of("other")), (vec![(id.clone(), None)], vec![]));
    let entry = registry.snapshot(&Patient).unwrap().describe(&id, &Grant::all(), &[], &Patient).unwrap();
    assert_eq!((entry.id, entry.session_id, entry.profile), (id, "1".to_owned(), Some("work".to_owned())));
}

#[test]
fn where_something_lives_now_is_known_too() {
    let marked = world(&[&[sessions(&[json!({"id": "1", "mark": "mark of /live", "updated": 1})])]]);
    let claude = TempDir::new().unwrap();
    let registrations = claude.path().join("sessions");
    fs::create_dir(&registrations).unwrap();
    let mut homes = Homes::default();
    homes.add_named(Harness::ClaudeCode, claude.path(), RootOrigin::Flag);
    let (_home, registry) = registry_of(marked, homes);
    let query = Query { harnesses: Some(vec![Harness::Goose]), ..Query::default() };
    assert_eq!(listed(&registry, &query), [("goose:1".to_owned(), None)]);
    let pid = i32::try_from(std::process::id()).unwrap();
    let record = json!({"pid": pid, "sessionId": "s", "cwd": "/live", "name": "live", "kind": "interactive",
        "procStart": process::start_mark(pid).unwrap().to_string()});
    fs::write(registrations.join(format!("{pid}.json")), record.to_string()).unwrap();
    assert_eq!(listed(&registry, &query), [("goose:1".to_owned(), Some("/live".to_owned()))]);
}
