//! The values of the fixture bindings were read off the raw rows.

use super::*;
use crate::harness::testing::{Listing, Tree, fixture, list, seen};
use crate::protocol::{Parent, Relation};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A copy of the fixture that says of itself that it lies where it lies.
fn home() -> Tree {
    let tree = Tree::copy_of(&fixture("orchestrator/.supercode/orchestrator"));
    for profile in ["", "profiles/coder"] {
        let profile = tree.path().join(profile);
        let scope = std::fs::canonicalize(profile.join("sessions")).unwrap();
        let database = Connection::open(profile.join(DATABASE)).unwrap();
        database.execute("update gateway_routing set scope = ?1", [scope.to_str().unwrap()]).unwrap();
    }
    tree
}

fn orchestrator(tree: &Tree) -> Listing {
    list(&Orchestrator, tree.path())
}

fn link(id: &str) -> Option<Parent> {
    Some(Parent { session_id: Some(id.to_owned()), relation: Relation::Continuation })
}

#[test]
fn every_fixture_binding_has_its_right_values() {
    let tree = home();
    let listing = orchestrator(&tree);
    let expected = [
        (
            "default/agent:main:slack:channel:C1",
            "slack/channel/C1",
            "default",
            "2026-09-01T08:00:00Z",
            "2026-09-01T08:30:00Z",
            link("claude-code:11111111-1111-4111-8111-111111111111"),
        ),
        (
            "default/agent:main:telegram:dm:7",
            "telegram/dm/7",
            "default",
            "2026-09-02T08:00:00Z",
            "2026-09-02T08:00:00Z",
            None,
        ),
        (
            "coder/agent:coder:discord:thread:D1:T1",
            "discord/thread/D1/T1",
            "coder",
            "2026-09-03T08:00:00Z",
            "2026-09-03T09:00:00Z",
            link("pi:my-own-id-1"),
        ),
    ];
    assert_eq!(listing.sessions.len(), expected.len());
    for (id, title, profile, created, updated, parent) in expected {
        let session = listing.of(id);
        assert_eq!(&*session.id, id);
        assert_eq!(session.title.as_deref(), Some(title));
        assert_eq!(session.profile.as_deref(), Some(profile));
        assert_eq!(session.created_at_ms, super::super::text::time(created));
        assert_eq!(session.updated_at_ms, super::super::text::time(updated));
        assert_eq!(session.parent, parent);
        assert_eq!((session.workspace.as_deref(), session.model.as_deref(), session.archived), (None, None, false));
        assert_eq!((listing.details(id), listing.load(id)), (Details::default(), Vec::new()));
        assert!(Orchestrator.resume(&listing.root, session).is_none() && !session.resumable);
        assert!(matches!(listing.page(id, Some("1"), 1), Err(ReadError::Cursor)));
    }
    assert_eq!(listing.skipped(), []);
}

#[test]
#[cfg(unix)]
fn nothing_is_touched() {
    let tree = home();
    let before = seen(tree.path());
    let listing = orchestrator(&tree);
    for session in &listing.sessions {
        listing.details(&session.id);
        listing.load(&session.id);
    }
    assert_eq!(seen(tree.path()), before);
}

#[test]
fn a_home_that_was_moved_says_so() {
    let tree = Tree::copy_of(&fixture("orchestrator/.supercode/orchestrator"));
    let listing = orchestrator(&tree);
    assert_eq!(listing.sessions, []);
    let skipped = listing.skipped();
    let reasons: Vec<_> = skipped.iter().map(|(name, reason)| (name.as_str(), *reason)).collect();
    assert_eq!(reasons, [(DATABASE, "malformed"), (DATABASE, "malformed")], "and nothing of what was thrown away");
}

fn entry(binding: Value) -> Value {
    json!({"metadata": {"supercode": {"slot": "a/b", "binding": binding}}})
}

/// A home with these rows, of its own scope or another.
fn bound(tree: &Tree, rows: &[(&str, Value)], sessions: &str) -> PathBuf {
    std::fs::create_dir_all(tree.path().join("sessions")).unwrap();
    let path = tree.path().join(DATABASE);
    let database = Connection::open(&path).unwrap();
    let scope = std::fs::canonicalize(tree.path()).unwrap().join(sessions);
    database
        .execute_batch("create table if not exists gateway_routing (scope text, session_key text, entry_json text)")
        .unwrap();
    for (key, entry) in rows {
        let text = entry.as_str().map_or_else(|| entry.to_string(), str::to_owned);
        let row = params![scope.to_str().unwrap(), key, text];
        database.execute("insert into gateway_routing values (?1, ?2, ?3)", row).unwrap();
    }
    path
}

#[test]
fn a_row_that_is_odd_costs_only_itself() {
    let tree = Tree::new();
    let unknown_words = json!({"worker": {"harness": "brand-new", "session_id": "x"}, "trigger": "brand-new"});
    let option = json!({"worker": {"harness": "codex", "session_id": "--yolo"}, "last_activity_at": 7});
    bound(
        &tree,
        &[
            ("new", entry(unknown_words)),
            ("option", entry(option)),
            ("none", entry(json!(null))),
            ("torn", "{torn".into()),
            ("line\nbreak", entry(json!({}))),
        ],
        "sessions",
    );
    bound(&tree, &[("elsewhere", entry(json!({})))], "other");
    let database = Connection::open(tree.path().join(DATABASE)).unwrap();
    let scope = std::fs::canonicalize(tree.path()).unwrap().join("sessions");
    database.execute("insert into gateway_routing values (?1, 'blob', x'ff')", [scope.to_str().unwrap()]).unwrap();
    let listing = orchestrator(&tree);
    let ids: Vec<_> = listing.sessions.iter().map(|session| (&*session.id, session.parent.is_some())).collect();
    assert_eq!(ids, [("default/new", false), ("default/option", false)]);
    assert_eq!(listing.skipped(), []);
}

#[test]
fn a_database_that_cannot_be_read_is_told_and_costs_only_itself() {
    let tree = home();
    tree.write("profiles/corrupt/state.db", vec![7; 9_000]);
    tree.write("profiles/empty/state.db", "");
    tree.write("profiles/none/other.txt", "");
    std::fs::create_dir_all(tree.path().join("profiles/strange")).unwrap();
    let strange = Connection::open(tree.path().join("profiles/strange/state.db")).unwrap();
    strange.execute_batch("create table gateway_routing (a)").unwrap();
    let listing = orchestrator(&tree);
    assert_eq!(listing.sessions.len(), 3);
    let reasons = listing.reasons();
    assert_eq!(reasons, ["empty", "malformed", "malformed"]);
}

#[test]
fn rows_that_are_only_in_the_log_count() {
    let tree = home();
    let path = tree.path().join(DATABASE);
    let owner = Connection::open(&path).unwrap();
    owner.pragma_update(None, "journal_mode", "wal").unwrap();
    let scope = std::fs::canonicalize(tree.path()).unwrap().join("sessions");
    let row = params![scope.to_str().unwrap(), "late", entry(json!({})).to_string()];
    owner.execute("insert into gateway_routing values (?1, ?2, ?3, 0)", row).unwrap();
    assert_eq!(orchestrator(&tree).sessions.len(), 4);
}

#[test]
fn a_home_can_be_named_by_its_database() {
    let root = Orchestrator.named_root(Path::new("/h/state.db"));
    assert_eq!((root.path.as_path(), root.home.as_path()), (Path::new("/h"), Path::new("/h")));
}
