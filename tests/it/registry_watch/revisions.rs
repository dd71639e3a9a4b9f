//! One numbering for lists and watches: `since` replays exactly what came after, or answers `resync`.

use super::world::demo;
use super::{append, message};
use crate::support::folded::{listed, number};
use crate::support::runtime::{Options, Runtime};
use crate::support::{Folded, Home, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::fs;

fn revision(server: &mut Server) -> Value {
    server.request("registry/list", json!({ "limit": 0 })).result()["revision"].clone()
}

/// The events from a revision on, to the one that says that it was all.
fn replayed(server: &mut Server, since: &Value) -> Vec<Value> {
    let mut folded = Folded::begin(server, json!({ "since": since }));
    let mut events = Vec::new();
    while !folded.synced {
        events.push(folded.take(server));
    }
    server.request("registry/unwatch", json!({ "subscription": folded.subscription })).result();
    events
}

#[test]
fn each_change_has_a_revision_of_its_own_and_since_replays_what_came_after() {
    let home = Home::new();
    let project = demo(&home);
    let file = project.session(&uuid(1), "First", 60);
    let mut server = Spawn::new(home).open();
    let mut folded = Folded::watch(&mut server, json!({}));
    let mut steps = vec![(revision(&mut server), folded.entries.clone())];
    for step in 0..12_u32 {
        match step % 4 {
            0 => append(&file, &message(&uuid(1), "/home/dev/demo", "more", 100 + step)),
            1 => drop(project.session(&uuid(2), "Second", 200 + step)),
            2 => append(&project.file(&uuid(2)), &message(&uuid(2), "/home/dev/demo", "more", 300 + step)),
            _ => fs::remove_file(project.file(&uuid(2))).unwrap(),
        }
        folded.take(&mut server);
        let last = revision(&mut server);
        assert_eq!(last, folded.revision, "after step {step}");
        assert!(number(&last) > number(&steps.last().unwrap().0), "step {step}");
        steps.push((last, folded.entries.clone()));
    }
    let now = listed(&mut server, json!({}));
    for (revision, entries) in steps {
        let mut known = entries;
        for event in replayed(&mut server, &revision) {
            let id = |entry: &Value| entry["id"].as_str().unwrap().to_owned();
            match event["kind"].as_str().unwrap() {
                "added" => assert!(known.insert(id(&event["entry"]), event["entry"].clone()).is_none(), "{event}"),
                "updated" => assert!(known.insert(id(&event["entry"]), event["entry"].clone()).is_some(), "{event}"),
                "removed" => assert!(known.remove(&id(&event)).is_some(), "{event}"),
                kind => assert_eq!(kind, "synced"),
            }
        }
        assert_eq!(known, now, "since {revision}");
    }
}

#[test]
fn an_empty_inventory_has_a_revision_to_go_on_from() {
    let home = Home::new();
    let mut server = Spawn::new(home).open();
    let empty = revision(&mut server);
    demo(&server.home).session(&uuid(1), "First", 60);
    revision(&mut server);
    let kinds: Vec<Value> = replayed(&mut server, &empty).into_iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(kinds, ["added", "synced"]);
}

#[test]
fn a_revision_that_is_none_of_ours_begins_anew() {
    let home = Home::new();
    demo(&home).session(&uuid(1), "First", 60);
    let mut other = Spawn::empty().open();
    let foreign = revision(&mut other);
    let mut server = Spawn::new(home).open();
    let own = revision(&mut server);
    let (instance, at) = own.as_str().unwrap().split_once('.').unwrap();
    let future = format!("{instance}.{}", at.parse::<u64>().unwrap() + 1);
    let padded = [format!("{instance}.0{at}"), format!("{instance}.+{at}"), format!("{own}.0"), instance.to_owned()];
    for since in [foreign, json!(future), json!(""), json!("nonsense"), json!(format!("{instance}.{}", u128::MAX))]
        .into_iter()
        .chain(padded.into_iter().map(Value::from))
    {
        let kinds: Vec<Value> = replayed(&mut server, &since).into_iter().map(|event| event["kind"].clone()).collect();
        assert_eq!(kinds, ["resync", "added", "synced"], "{since}");
    }
    let kinds: Vec<Value> = replayed(&mut server, &own).into_iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(kinds, ["synced"]);
}

#[test]
fn heartbeats_and_clocks_are_no_changes() {
    let home = Home::new();
    let receipts = home.path().join(".config/supercode/live-runtimes");
    let record = home.peer("me", &uuid(1), "/home/dev/demo");
    let runtime = Runtime::start(Options::main("run", "/home/dev/demo"));
    runtime.publish(&receipts);
    let mut server = Spawn::new(home).args(["--allow", "observe,interact"]).open();
    let mut folded = Folded::watch(&mut server, json!({}));
    let attached = server.request("runtime/attach", json!({ "id": "run", "clientId": "c" })).result();
    // The observer is a change, that it is seen again and again is none.
    while folded.entries["run"].get("observers").is_none_or(|observers| observers == &json!([])) {
        folded.take(&mut server);
    }
    let before = revision(&mut server);
    for beat in 0..3 {
        server.request("runtime/heartbeat", json!({ "attachment": attached["attachment"] })).result();
        let mut text: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
        text["updatedAt"] = json!(1_796_000_000_000_i64 + beat);
        let aside = record.with_extension("new");
        fs::write(&aside, text.to_string()).unwrap();
        fs::rename(aside, &record).unwrap();
        assert_eq!(revision(&mut server), before);
    }
    // What is told next is the next change.
    demo(&server.home).session(&uuid(7), "Marker", 60);
    assert_eq!(folded.take(&mut server)["entry"]["id"], format!("claude-code:{}", uuid(7)));
}
