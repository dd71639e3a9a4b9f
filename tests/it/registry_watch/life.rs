//! The first state, then each change.

use super::append;
use crate::support::runtime::{Options, Runtime};
use crate::support::{Folded, Home, Spawn, uuid};
use serde_json::{Value, json};
use std::fs;

#[test]
fn sessions_and_runtimes_come_change_and_go() {
    let home = Home::new();
    let receipts = home.path().join(".config/supercode/live-runtimes");
    let project = home.project("-home-dev-demo", "/home/dev/demo");
    let file = project.session(&uuid(1), "First", 60);
    let mut server = Spawn::new(home).open();
    let id = |number: usize| format!("claude-code:{}", uuid(number));
    let mut folded = Folded::watch(&mut server, json!({}));
    assert_eq!(folded.states(), [(id(1).as_str(), "persisted")]);

    // A message is written.
    append(
        &file,
        &json!({ "type": "user", "uuid": "u", "sessionId": uuid(1), "cwd": "/home/dev/demo",
        "timestamp": "2026-01-02T05:00:00.000Z", "message": { "role": "user", "content": "More" } }),
    );
    let event = folded.take(&mut server);
    assert_eq!((&event["kind"], &event["entry"]["updatedAtMs"]), (&json!("updated"), &json!(1_767_330_000_000_u64)));

    // Another session begins, in a project that was not there.
    let other = server.home.project("-home-dev-other", "/home/dev/other");
    other.session(&uuid(2), "Second", 120);
    let event = folded.take(&mut server);
    assert_eq!((&event["kind"], &event["entry"]["id"]), (&json!("added"), &json!(id(2))));

    // A runtime takes the first one up: the fold comes.
    let mut options = Options::hosted("claude-code", "run", "/home/dev/demo");
    options.source.session_id = uuid(1);
    let runtime = Runtime::start(options);
    runtime.publish(&receipts);
    let kinds: Vec<Value> = (0..2).map(|_| folded.take(&mut server)["kind"].clone()).collect();
    assert!(kinds.contains(&json!("added")) && kinds.contains(&json!("removed")), "{kinds:?}");
    assert_eq!(folded.states(), [(id(2).as_str(), "persisted"), ("run", "idle")]);
    runtime.set_busy(true);
    assert_eq!(folded.take(&mut server)["entry"]["state"], "busy");

    // It goes, and so does the second session.
    drop(runtime);
    folded.take(&mut server);
    folded.take(&mut server);
    assert_eq!(folded.states(), [(id(1).as_str(), "persisted"), (id(2).as_str(), "persisted")]);
    fs::remove_file(other.file(&uuid(2))).unwrap();
    assert_eq!(folded.take(&mut server), json!({ "kind": "removed", "id": id(2) }));

    // A list has the revision of the last event, and who goes on from there is told nothing again.
    let list = server.request("registry/list", json!({})).result();
    assert_eq!(list["revision"], folded.revision);
    let result = server.request("registry/watch", json!({ "since": list["revision"] })).result();
    let params = server.expect_notification("registry/event");
    assert_eq!((&params["subscription"], &params["event"]["kind"]), (&result["subscription"], &json!("synced")));
    server.request("registry/unwatch", json!({ "subscription": folded.subscription })).result();
    server.request("registry/unwatch", json!({ "subscription": folded.subscription })).error().is(-32001, "not_found");
    server.pong();
}
