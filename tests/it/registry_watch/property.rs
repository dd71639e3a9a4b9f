//! After whatever happened, each view that a client keeps is what a list of another server answers, which has no watch.

use super::world::World;
use crate::support::folded::{Folded, listed};
use crate::support::{DEADLINE, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long to wait for an event before listing again.
const RELIST: Duration = Duration::from_millis(200);

/// Queries of every kind, with the authority that they are asked under.
fn views(world: &World) -> Vec<(Value, Value)> {
    let (a, b) = (world.workspace(0), world.workspace(2));
    let all = json!({});
    let root = format!("claude-code:{}", uuid(1));
    let mut views: Vec<(Value, Value)> = [
        json!({}),
        json!({ "states": ["idle", "busy"] }),
        json!({ "states": ["persisted"], "includeChildren": true }),
        json!({ "harnesses": ["codex", "goose", "opencode"] }),
        json!({ "workspace": a }),
        json!({ "workspace": a, "workspaceSubtree": true, "twins": true }),
        json!({ "workspaceFamily": a }),
        json!({ "text": "more" }),
        json!({ "text": "more", "searchPreviews": true }),
        json!({ "updatedAfterMs": 1_767_399_000_000_i64 }),
        json!({ "includeChildren": true }),
        json!({ "rootId": root }),
        json!({ "rootId": "run-1", "includeChildren": true }),
        json!({ "twins": true }),
        json!({ "live": false }),
        json!({ "persisted": false }),
        json!({ "include": ["lastMessage", "messageCount", "topics"], "includeChildren": true }),
        json!({ "archived": true }),
    ]
    .into_iter()
    .map(|query| (query, all.clone()))
    .collect();
    for authority in [
        json!({ "workspaces": [a] }),
        json!({ "workspaces": [b] }),
        json!({ "workspaces": [world.workspace(1)] }),
        json!({ "harnesses": ["claude-code", "pi"] }),
    ] {
        for query in [json!({}), json!({ "twins": true, "includeChildren": true }), json!({ "rootId": root })] {
            views.push((query, authority.clone()));
        }
    }
    views
}

fn params(query: &Value, authority: &Value) -> Value {
    json!({ "query": query, "_meta": { "authority": authority } })
}

/// Takes events until each view is as it should be.
fn catch_up(server: &mut Server, folded: &mut [Folded], views: &[(Value, Value)], fresh: &mut Server, told: &[String]) {
    let begin = Instant::now();
    for (at, (query, authority)) in views.iter().enumerate() {
        // A file that was cut counts for a moment as what it was, so what is listed may still change.
        let mut list = listed(fresh, params(query, authority));
        while folded[at].entries != list || !folded[at].synced {
            let difference = difference(&folded[at].entries, &list);
            assert!(begin.elapsed() < DEADLINE, "after {told:#?}: {query} under {authority}: {difference:#?}");
            let Some(event) = server.notification_within("registry/event", RELIST) else {
                list = listed(fresh, params(query, authority));
                continue;
            };
            let of = folded.iter_mut().find(|one| one.subscription == event["subscription"]);
            of.expect("a subscription").fold(&event);
        }
    }
}

fn difference(folded: &BTreeMap<String, Value>, list: &BTreeMap<String, Value>) -> Vec<String> {
    let ids = folded.keys().chain(list.keys());
    let different = ids.filter(|id| folded.get(*id) != list.get(*id));
    different.map(|id| format!("{id}: told {:?}, is {:?}", folded.get(id), list.get(id))).collect()
}

fn holds(seed: u64, steps: usize) {
    let (home, mut world) = World::new(seed);
    let views = views(&world);
    let mut fresh = Spawn::empty().only_env([("HOME".into(), home.path().into())]).open();
    let mut server = Spawn::new(home).open();
    let mut folded: Vec<Folded> =
        views.iter().map(|(query, authority)| Folded::begin(&mut server, params(query, authority))).collect();
    let mut told = Vec::new();
    for _ in 0..steps {
        for _ in 0..1 + world.chance.below(4) {
            told.push(world.edit());
        }
        catch_up(&mut server, &mut folded, &views, &mut fresh, &told);
    }
    // Nothing more comes.
    let list = listed(&mut server, params(&views[0].0, &views[0].1));
    assert_eq!(folded[0].entries, list);
}

/// More than usual where somebody asks for it.
fn seeds() -> u64 {
    std::env::var("TACKROOM_TEST_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(2)
}

#[test]
fn every_view_is_what_a_list_answers() {
    for seed in 1..=seeds() {
        holds(seed, 30);
    }
}
