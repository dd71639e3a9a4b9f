//! What lives takes part in rows and folds: a list and a watch have the same entries under the same ids.

use super::*;
use crate::harness::Live;
use crate::protocol::{Actions, ActivitySource, ActivityStatus, AuthorityRequest, Entry, Receipt, State};
use crate::registry::Snapshot;
use crate::registry::item::same_except_timestamps;
use crate::runtime::{Observed, Runtime};
use std::collections::BTreeMap as Map;
use std::sync::Arc;

fn live(harness: Harness, session: &str, pid: i32, workspace: Option<&str>, status: Option<ActivityStatus>) -> Live {
    let workspace = workspace.map(Box::from);
    Live { workspace, status, ..Live::new(harness, session, ActivitySource::Lock, pid) }
}

fn runtime(harness: Harness, session: &str, id: &str, at: u64) -> Runtime {
    let receipt: Receipt = serde_json::from_value(json!({
        "endpoint": format!("supercode-live://{at:032x}"), "runtimeId": id, "pid": 9, "createdAtMs": at, "metadata": {},
        "source": {"harness": harness, "sessionId": session, "workspace": "/in"},
    }))
    .unwrap();
    Runtime {
        receipt,
        state: State::Idle,
        waiting_for: None,
        question: None,
        since_ms: None,
        title: None,
        agent: None,
        model: None,
        profile: None,
        actions: Actions::default(),
        lease: None,
    }
}

/// Stored sessions of two roots that share an id, and what lives and runs of them and beside them.
fn snapshot() -> Snapshot {
    let of = |id: &str, created: i64, workspace: &str| json!({"id": id, "created": created, "updated": created, "workspace": workspace});
    let world = world(&[
        &[sessions(&[of("1", 1, "/in"), of("2", 2, "/out"), of("3", 3, "/in")])],
        &[sessions(&[of("1", 4, "/in"), of("4", 5, "/in")])],
    ]);
    let (busy, waiting) = (Some(ActivityStatus::Busy), Some(ActivityStatus::Waiting));
    let living = vec![
        live(Harness::Goose, "1", 11, Some("/in"), busy),
        live(Harness::Goose, "2", 12, Some("/in"), waiting),
        live(Harness::Goose, "3", 13, None, None),
        live(Harness::Goose, "4", 14, Some("/in"), busy),
        live(Harness::Goose, "4", 15, Some("/in"), waiting),
        live(Harness::Goose, "new", 16, Some("/in"), None),
        live(Harness::Codex, "1", 17, Some("/in"), busy),
        live(Harness::ClaudeCode, "new", 18, Some("/out"), None),
    ];
    let runtimes = vec![
        runtime(Harness::Goose, "4", "newer", 9),
        runtime(Harness::Goose, "4", "older", 8),
        runtime(Harness::Codex, "1", "alone", 7),
        runtime(Harness::Codex, "none", "none", 6),
    ];
    let observed = Arc::new(Observed { runtimes, ..Observed::default() });
    Snapshot { stored: Arc::new(join(&world)), live: Arc::new(living), observed, ..Snapshot::default() }
}

/// What a list has, by id: what is out of scope is filtered from the items.
fn entries(snapshot: &Snapshot, query: &Query, grant: &Grant) -> Map<String, Entry> {
    let mut items = snapshot.items(query, grant);
    items.retain(|item| item.is_in_scope(grant));
    let entries: Map<_, _> = items.iter().map(|item| (item.id(), snapshot.entry(item, grant))).collect();
    assert_eq!(entries.len(), items.len(), "an id twice");
    entries
}

#[test]
fn under_every_id_a_watch_has_what_a_list_has() {
    let snapshot = snapshot();
    let narrow = |request| Grant::all().narrow(&request).unwrap();
    let workspaces = |path: &str| AuthorityRequest { workspaces: Some(vec![path.to_owned()]), ..Default::default() };
    let harnesses = AuthorityRequest { harnesses: Some(vec![Harness::Goose]), ..Default::default() };
    let grants = [Grant::all(), narrow(workspaces("/in")), narrow(workspaces("/out")), narrow(harnesses)];
    let all = entries(&snapshot, &Query { twins: Some(true), ..Query::default() }, &Grant::all());
    for grant in &grants {
        for (looks, twins) in [(None, None), (None, Some(true)), (Some(false), None)] {
            let query = Query { live: looks, twins, ..Query::default() };
            let listed = entries(&snapshot, &query, grant);
            for id in all.keys().chain(listed.keys()) {
                let item = snapshot.item_for_query(id, &query, grant).filter(|item| item.is_in_scope(grant));
                let watched = item.map(|item| snapshot.entry(&item, grant));
                let same = match (&watched, listed.get(id)) {
                    (Some(watched), Some(list)) => same_except_timestamps(watched, list),
                    (watched, list) => watched.is_none() && list.is_none(),
                };
                assert!(same, "{id} in {query:?}: {watched:#?}");
            }
        }
    }
}

#[test]
fn a_live_session_is_in_its_row_and_with_its_runtime() {
    let snapshot = snapshot();
    let told = |query: &Query, grant: &Grant| -> Map<String, (State, Option<i32>)> {
        let entries = entries(&snapshot, query, grant);
        entries.into_iter().map(|(id, entry)| (id, (entry.state, entry.activity.and_then(|one| one.pid)))).collect()
    };
    let all = told(&Query::default(), &Grant::all());
    assert_eq!(all["goose:1"], (State::Busy, Some(11)));
    // Its id is that of another one in an earlier root, and nobody knows which of both lives.
    let others: Vec<_> = all.iter().filter(|(id, _)| id.starts_with("goose:1@")).map(|(_, told)| *told).collect();
    assert_eq!(others, [(State::Persisted, None)]);
    assert_eq!(all["goose:2"], (State::Waiting, Some(12)));
    assert_eq!(all["goose:3"], (State::Live, Some(13)));
    assert_eq!(all["goose:new"], (State::Live, Some(16)));
    assert_eq!(all["claude-code:new"], (State::Live, Some(18)));
    // Their runtimes are idle, and the records of their programs say more.
    assert_eq!((all["newer"], all["alone"]), ((State::Waiting, Some(15)), (State::Busy, Some(17))));
    assert_eq!((all["older"], all["none"]), ((State::Idle, Some(9)), (State::Idle, Some(9))));
    assert!(!all.contains_key("goose:4") && !all.contains_key("codex:1"));
    let twins = told(&Query { twins: Some(true), ..Query::default() }, &Grant::all());
    // Of several processes the one that waits for a person counts.
    assert_eq!((twins["goose:4"], twins["codex:1"]), ((State::Waiting, Some(15)), (State::Busy, Some(17))));
    let stored = told(&Query { live: Some(false), ..Query::default() }, &Grant::all());
    assert!(stored.values().all(|told| *told == (State::Persisted, None)) && stored.len() == 5);
}

#[test]
fn a_runtime_is_as_busy_as_the_records_of_its_program_say() {
    let (busy, idle, waiting) = (ActivityStatus::Busy, ActivityStatus::Idle, ActivityStatus::Waiting);
    for (state, record, expected) in [
        (State::Idle, Some(busy), (State::Busy, Some(busy), ActivitySource::Lock)),
        (State::Idle, Some(waiting), (State::Waiting, Some(waiting), ActivitySource::Lock)),
        (State::Busy, Some(waiting), (State::Waiting, Some(waiting), ActivitySource::Lock)),
        (State::Live, Some(busy), (State::Busy, Some(busy), ActivitySource::Lock)),
        (State::Waiting, Some(busy), (State::Waiting, Some(waiting), ActivitySource::Runtime)),
        (State::Busy, Some(idle), (State::Busy, Some(busy), ActivitySource::Runtime)),
        (State::Live, Some(idle), (State::Live, None, ActivitySource::Runtime)),
        (State::Idle, None, (State::Idle, Some(idle), ActivitySource::Runtime)),
        (State::ShuttingDown, Some(busy), (State::ShuttingDown, None, ActivitySource::Runtime)),
    ] {
        let runtimes = vec![Runtime { state, ..runtime(Harness::Codex, "1", "r", 1) }];
        let snapshot = Snapshot {
            live: Arc::new(vec![live(Harness::Codex, "1", 17, Some("/in"), record)]),
            observed: Arc::new(Observed { runtimes, ..Observed::default() }),
            ..Snapshot::default()
        };
        let entry = entries(&snapshot, &Query::default(), &Grant::all()).remove("r").unwrap();
        let activity = entry.activity.unwrap();
        assert_eq!((entry.state, activity.status, activity.source), expected, "{state:?} {record:?}");
    }
}
