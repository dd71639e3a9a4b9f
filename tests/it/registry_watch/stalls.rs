//! A client that does not read for long: what waits for it is bounded, and then it is told how things are.

use super::world::{demo, write_session};
use super::{append, message};
use crate::support::folded::listed;
use crate::support::{Folded, Home, MIB, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::fs;

/// A server whose client does not read, and a first state that fills its pipe.
fn stalled(home: Home) -> Server {
    let mut server = Spawn::new(home).unread().start();
    let initialize = crate::support::initialize_params();
    server.send(&json!({ "jsonrpc": "2.0", "id": 100, "method": "initialize", "params": initialize }));
    server.send(&json!({ "jsonrpc": "2.0", "id": 101, "method": "registry/watch", "params": {} }));
    while server.unread_bytes() < 40_000 {
        std::thread::yield_now();
    }
    server
}

/// Reads the answers to both, and folds until the view is what a list answers.
fn read_on(server: &mut Server, mut check: impl FnMut(&Value)) -> Folded {
    server.read();
    server.answer(100).result();
    let opened = server.answer(101).result();
    let mut folded = Folded::opened(&opened);
    let list = listed(server, json!({}));
    while !folded.synced || folded.entries != list {
        check(&folded.take(server));
    }
    folded
}

#[test]
fn what_waits_is_told_once_as_it_is_at_last() {
    let home = Home::new();
    let project = demo(&home);
    project.many(600);
    let mut server = stalled(home);
    // One changes a thousand times; some come and some go.
    for second in 0..1_000 {
        append(&project.file(&uuid(1)), &message(&uuid(1), "/home/dev/demo", "more", 80_000 + second));
    }
    (600..700).for_each(|number| write_session(project.path(), number, "/home/dev/demo", 60));
    (500..550).for_each(|number| fs::remove_file(project.file(&uuid(number))).unwrap());
    let mut told = 0;
    read_on(&mut server, |event| {
        told += usize::from(event.pointer("/entry/id") == Some(&json!(format!("claude-code:{}", uuid(1)))));
    });
    // Once when it was first told, and for what came while that was on its way; never a thousand times.
    assert!((1..=200).contains(&told), "{told}");
}

#[test]
fn more_than_can_wait_begins_anew_in_bounded_memory() {
    let home = Home::new();
    let project = demo(&home);
    project.many(600);
    let mut server = stalled(home);
    let before = server.peak_memory();
    let count = tackroom::limits::CHANGES_PENDING + 200;
    (1_000..1_000 + count).for_each(|number| write_session(project.path(), number, "/home/dev/demo", 60));
    // The server has seen them all once it answers this; the answer waits.
    let params = json!({ "limit": 0 });
    server.send(&json!({ "jsonrpc": "2.0", "id": 102, "method": "registry/list", "params": params }));
    while server.untaken() > 0 {
        std::thread::yield_now();
    }
    let mut resyncs = 0;
    let folded = read_on(&mut server, |event| resyncs += usize::from(event["kind"] == "resync"));
    assert_eq!(folded.entries.len(), 600 + count);
    assert!(server.peak_memory() < before + 60 * MIB, "{} KiB after {before}", server.peak_memory());
    assert!(resyncs <= 2, "{resyncs}");
}

#[test]
fn a_thousand_subscriptions_are_told_and_end() {
    let home = Home::new();
    let project = demo(&home);
    project.session(&uuid(1), "First", 60);
    let mut server = Spawn::new(home).open();
    let mut folded: Vec<Folded> = (0..1_000).map(|_| Folded::begin(&mut server, json!({}))).collect();
    let at = |folded: &[Folded], event: &Value| {
        folded.iter().position(|one| one.subscription == event["subscription"]).expect("a subscription")
    };
    while folded.iter().any(|one| !one.synced) {
        let event = server.expect_notification("registry/event");
        let at = at(&folded, &event);
        folded[at].fold(&event);
    }
    project.session(&uuid(2), "Second", 60);
    while folded.iter().any(|one| one.entries.len() < 2) {
        let event = server.expect_notification("registry/event");
        let at = at(&folded, &event);
        folded[at].fold(&event);
    }
    // They end while events flow.
    project.session(&uuid(3), "Third", 60);
    let asked: Vec<i64> =
        folded.iter().map(|one| server.ask("registry/unwatch", json!({ "subscription": one.subscription }))).collect();
    for id in asked {
        let answer = server.answer(id).whole();
        assert!(answer.get("result").is_some() || answer["error"]["data"]["reason"] == "busy", "{answer}");
    }
}

#[test]
fn nothing_is_told_after_the_answer_that_it_is_over() {
    let home = Home::new();
    let project = demo(&home);
    project.many(300);
    let mut server = Spawn::new(home).open();
    for _ in 0..5 {
        let folded = Folded::begin(&mut server, json!({}));
        server.request("registry/unwatch", json!({ "subscription": folded.subscription })).result();
        server.forget_notifications();
        project.session(&uuid(1), "First", 60);
        server.pong();
    }
}

#[test]
fn no_more_than_so_many_may_watch() {
    let mut server = Spawn::empty().args(["--limit", "subscriptions=2"]).open();
    let asked: Vec<i64> = (0..8).map(|_| server.ask("registry/watch", json!({}))).collect();
    let answers: Vec<Value> = asked.into_iter().map(|id| server.answer(id).whole()).collect();
    assert_eq!(answers.iter().filter(|answer| answer.get("result").is_some()).count(), 2);
    let refused = answers.iter().filter_map(|answer| answer.pointer("/error/data/reason"));
    assert!(refused.into_iter().all(|reason| reason == "limit"));
}
