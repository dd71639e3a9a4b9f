//! What is out of a subscription's scope is never named in it.

use super::world::write_session;
use super::{append, message};
use crate::peer_list::{Sleeper, record};
use crate::support::folded::listed;
use crate::support::runtime::{Options, Runtime};
use crate::support::{Folded, Home, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::fs;

const INSIDE: &str = "/w/inside";
const OUTSIDE: &str = "/w/outside";

fn id(number: usize) -> String {
    format!("claude-code:{}", uuid(number))
}

fn scoped(since: Option<&Value>) -> Value {
    let mut params = json!({ "_meta": { "authority": { "workspaces": [INSIDE] } } });
    if let Some(since) = since {
        params["since"] = since.clone();
    }
    params
}

/// A session inside, one outside, and a server.
fn opened() -> Server {
    let home = Home::new();
    write_session(home.project("in", INSIDE).path(), 1, INSIDE, 60);
    write_session(home.project("out", OUTSIDE).path(), 2, OUTSIDE, 60);
    Spawn::new(home).open()
}

fn revision(server: &mut Server) -> Value {
    server.request("registry/list", json!({ "limit": 0 })).result()["revision"].clone()
}

/// Every event to the one that a session inside makes.
fn told(server: &mut Server, folded: &mut Folded, marker: usize) -> Vec<Value> {
    write_session(server.home.project("in", INSIDE).path(), marker, INSIDE, 90);
    let mut events = Vec::new();
    while !folded.entries.contains_key(&id(marker)) {
        events.push(folded.take(server));
    }
    events.pop();
    events
}

#[test]
fn what_happens_outside_is_not_told() {
    let mut server = opened();
    let mut folded = Folded::watch(&mut server, scoped(None));
    assert_eq!(folded.ids(), [id(1)]);
    let outside = server.home.project("out", OUTSIDE);
    append(&outside.file(&uuid(2)), &message(&uuid(2), OUTSIDE, "more", 90));
    write_session(outside.path(), 3, OUTSIDE, 60);
    fs::remove_file(outside.file(&uuid(2))).unwrap();
    // A problem that cannot be placed is outside, too.
    fs::create_dir_all(server.home.claude().join("sessions")).unwrap();
    fs::write(server.home.claude().join(format!("sessions/{}.json", std::process::id())), "{").unwrap();
    let runtime = Runtime::start(Options::hosted("claude-code", "run", OUTSIDE));
    runtime.publish(&server.home.path().join(".config/supercode/live-runtimes"));
    // All of that has been read.
    while listed(&mut server, json!({})).len() < 3 {}
    assert_eq!(told(&mut server, &mut folded, 9), [json!(null); 0]);
}

#[test]
fn one_that_leaves_is_removed_and_not_named_again() {
    let mut server = opened();
    let mut folded = Folded::watch(&mut server, scoped(None));
    let before = revision(&mut server);
    let project = server.home.project("in", INSIDE);
    write_session(project.path(), 1, OUTSIDE, 70);
    assert_eq!(folded.take(&mut server), json!({ "kind": "removed", "id": id(1) }));
    let gone = revision(&mut server);
    // What it does out there is nobody's business, also not that of one who comes later.
    append(&project.file(&uuid(1)), &message(&uuid(1), OUTSIDE, "more", 90));
    let last = listed(&mut server, json!({}));
    assert_eq!(last[&id(1)]["workspace"], OUTSIDE);
    assert_eq!(told(&mut server, &mut folded, 9), [json!(null); 0]);
    let kinds = |server: &mut Server, since: &Value| {
        let mut late = Folded::begin(server, scoped(Some(since)));
        let mut told = Vec::new();
        while !late.synced {
            let event = late.take(server);
            let named = event.get("id").or_else(|| event.pointer("/entry/id")).cloned();
            told.push((event["kind"].clone(), named.unwrap_or_default()));
        }
        server.request("registry/unwatch", json!({ "subscription": late.subscription })).result();
        told
    };
    let expected = |kind: &str, number: usize| (json!(kind), json!(id(number)));
    let synced = || (json!("synced"), Value::Null);
    assert_eq!(kinds(&mut server, &before), [expected("removed", 1), expected("added", 9), synced()]);
    assert_eq!(kinds(&mut server, &gone), [expected("added", 9), synced()]);
    // In and out again meanwhile: one who was not told of it has nothing to remove.
    write_session(project.path(), 1, INSIDE, 100);
    folded.take(&mut server);
    let inside = revision(&mut server);
    write_session(project.path(), 1, OUTSIDE, 110);
    folded.take(&mut server);
    assert_eq!(kinds(&mut server, &gone), [expected("added", 9), synced()]);
    assert_eq!(kinds(&mut server, &inside), [expected("removed", 1), synced()]);
}

#[test]
fn a_runtime_outside_does_not_hide_its_session_inside() {
    let mut server = opened();
    let mut folded = Folded::watch(&mut server, scoped(None));
    let mut all = Folded::watch(&mut server, json!({}));
    let mut options = Options::hosted("claude-code", "run", OUTSIDE);
    options.source.session_id = uuid(1);
    let runtime = Runtime::start(options);
    runtime.publish(&server.home.path().join(".config/supercode/live-runtimes"));
    while !all.entries.contains_key("run") || all.entries.contains_key(&id(1)) {
        all.take(&mut server);
    }
    server.request("registry/unwatch", json!({ "subscription": all.subscription })).result();
    server.forget_notifications();
    let before = revision(&mut server);
    // It goes on, and who sees it alone is told.
    let file = server.home.project("in", INSIDE).file(&uuid(1));
    append(&file, &message(&uuid(1), INSIDE, "more", 90));
    let event = folded.take(&mut server);
    assert_eq!((&event["kind"], &event["entry"]["id"]), (&json!("updated"), &json!(id(1))));
    assert_eq!(event["entry"].get("runtimeIds"), None);
    let mut late = Folded::begin(&mut server, scoped(Some(&before)));
    assert_eq!(late.take(&mut server)["entry"]["id"], id(1));
    assert_eq!(late.take(&mut server)["kind"], "synced");
}

#[test]
fn live_session_is_reported_at_the_runtime_in_scope() {
    // Unscoped, only the newest of both runtimes shows the live session.
    for workspaces in [[INSIDE, OUTSIDE], [OUTSIDE, INSIDE]] {
        let mut server = opened();
        let _runtimes = workspaces.map(|workspace| {
            let id = if workspace == INSIDE { "inside" } else { "outside" };
            let mut options = Options::hosted("claude-code", id, workspace);
            options.source.session_id = uuid(1);
            let runtime = Runtime::start(options);
            runtime.publish(&server.home.path().join(".config/supercode/live-runtimes"));
            runtime
        });
        while !["inside", "outside"].iter().all(|id| listed(&mut server, json!({})).contains_key(*id)) {}
        let mut folded = Folded::watch(&mut server, scoped(None));
        assert_eq!(folded.ids(), ["inside"]);
        let peer = Sleeper::start();
        record(&server.home.claude(), peer.pid(), json!({ "sessionId": uuid(1), "cwd": INSIDE }));
        while folded.entries["inside"].get("peer").is_none() {
            folded.take(&mut server);
        }
    }
}

#[test]
fn narrowing_begins_anew_or_ends() {
    let mut server = opened();
    let mut folded = Folded::watch(&mut server, json!({}));
    assert_eq!(folded.ids().len(), 2);
    server.request("authority/narrow", json!({ "authority": { "workspaces": [INSIDE] } })).result();
    assert_eq!(folded.take(&mut server)["kind"], "resync");
    folded.until(&mut server, "synced");
    assert_eq!(folded.ids(), [id(1)]);
    // To be told nothing new is no news.
    server.request("authority/narrow", json!({ "authority": { "workspaces": [INSIDE] } })).result();
    server.pong();
    server.request("authority/narrow", json!({ "authority": { "permissions": [] } })).result();
    write_session(server.home.project("in", INSIDE).path(), 3, INSIDE, 60);
    server.pong();
    let params = json!({ "subscription": folded.subscription });
    server.request("registry/unwatch", params).error().is(-32000, "unauthorized");
}

#[test]
fn what_waited_when_the_authority_was_narrowed_is_not_told_any_more() {
    let home = Home::new();
    let outside = home.project("out", OUTSIDE);
    (100..900).for_each(|number| write_session(outside.path(), number, OUTSIDE, 60));
    write_session(home.project("in", INSIDE).path(), 1, INSIDE, 60);
    let mut server = Spawn::new(home).unread().start();
    let watch = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "registry/watch", "params": {} });
    let mut params = crate::support::initialize_params();
    params["authority"] = json!({});
    server.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
    (1..4).for_each(|id| server.send(&watch(id)));
    // Its pipe is full: events wait in the server.
    while server.unread_bytes() < 40_000 {
        std::thread::yield_now();
    }
    let authority = json!({ "authority": { "workspaces": [INSIDE] } });
    server.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "authority/narrow", "params": authority }));
    while server.untaken() > 0 {
        std::thread::yield_now();
    }
    server.read();
    server.answer(9).result();
    // What came before the answer does not count; of what comes now nothing is outside.
    server.forget_notifications();
    let mut synced = 0;
    while synced < 3 {
        let event = server.expect_notification("registry/event");
        let kind = &event["event"]["kind"];
        synced += usize::from(kind == "synced");
        assert!(kind != "added" || event["event"]["entry"]["id"] == id(1), "{event}");
    }
}
