//! However a message ends, nothing that was started for it is left.

use super::{SILENT, World, gone, no_directory, ready, send, spawn};
use crate::support::{DEADLINE, Server};
use nix::sys::signal::Signal;
use serde_json::json;
use std::path::Path;
use std::time::Instant;
use tackroom::limits::COURIERS;
use tackroom::platform::process::alive;

/// One that starts another program, and waits for ever.
const WITH_CHILD: &str = "sleep 600 & ready $!; stay; wait";
/// The same, and it does not end when it is told to.
const STUBBORN: &str = "trap '' TERM HUP INT; sleep 600 & ready $!; while :; do wait; done";

/// A server with a message on its way, the request's id, and the processes of its courier.
fn on_its_way(courier: &str) -> (Server, super::Target, i64, Vec<i32>) {
    let (mut server, target) = World::new(courier).open(&[]);
    let id = server.ask("peer/message", json!({ "name": "reviewer", "text": "Hello" }));
    let pids = ready(server.home.path());
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| alive(*pid)));
    (server, target, id, pids)
}

/// How many couriers were started.
fn started(home: &Path) -> usize {
    let is_note = |name: std::ffi::OsString| name.to_str().unwrap().starts_with("argv.");
    std::fs::read_dir(home).unwrap().filter(|entry| is_note(entry.as_ref().unwrap().file_name())).count()
}

/// Directories go after processes.
fn wait_for_no_directory(home: &Path) {
    let begin = Instant::now();
    while std::fs::read_dir(home.join("tmp")).unwrap().count() > 0 {
        assert!(begin.elapsed() < DEADLINE, "a directory is left");
        std::thread::yield_now();
    }
}

#[test]
fn a_cancelled_message_ends_its_courier_and_all_that_it_started() {
    for (courier, cancel) in [(WITH_CHILD, "$/cancelRequest"), (STUBBORN, "$/cancel_request")] {
        let (mut server, _target, id, pids) = on_its_way(courier);
        let member = if cancel == "$/cancelRequest" { "id" } else { "requestId" };
        server.notify(cancel, json!({ member: id }));
        server.answer(id).error().is(-32800, "cancelled");
        pids.into_iter().for_each(gone);
        wait_for_no_directory(server.home.path());
        server.pong();
    }
}

#[test]
fn a_signal_leaves_nothing_behind() {
    for (courier, signal) in [
        (WITH_CHILD, Signal::SIGTERM),
        (STUBBORN, Signal::SIGTERM),
        (WITH_CHILD, Signal::SIGINT),
        (WITH_CHILD, Signal::SIGHUP),
    ] {
        let (mut server, _target, _, pids) = on_its_way(courier);
        server.signal(signal);
        assert_eq!(server.exit_code(), 128 + signal as i32);
        // They were gone before the server was.
        assert!(!pids.iter().any(|pid| alive(*pid)), "{signal}");
        no_directory(server.home.path());
    }
}

#[test]
fn a_client_that_is_gone_leaves_nothing_behind() {
    let (mut server, _target, _, pids) = on_its_way(STUBBORN);
    server.close_output();
    assert_eq!(server.exit_code(), 0);
    assert!(!pids.iter().any(|pid| alive(*pid)));
    no_directory(server.home.path());

    let (mut server, _target, _, pids) = on_its_way(WITH_CHILD);
    server.notify("exit", json!({}));
    server.exit_code();
    assert!(!pids.iter().any(|pid| alive(*pid)));
    no_directory(server.home.path());
}

#[test]
fn a_killed_server_takes_its_courier_with_it_which_may_put_something_in_order() {
    let courier = "trap 'echo >\"$HOME/tidy\"; exit' TERM; ready $$; stay; sleep 600";
    let (mut server, _target, _, pids) = on_its_way(courier);
    server.kill();
    gone(pids[0]);
    assert!(server.home.path().join("tidy").exists());
}

#[test]
fn what_a_courier_leaves_behind_ends_with_it() {
    let (mut server, _target) = World::new("sleep 600 & echo $! >\"$HOME/left\"; call; sent; notice held").open(&[]);
    assert_eq!(send(&mut server, "Hello").result()["outcome"], "held");
    let left = std::fs::read_to_string(server.home.path().join("left")).unwrap();
    gone(left.trim().parse().unwrap());
}

#[test]
fn after_the_end_of_input_a_message_on_its_way_is_still_answered() {
    // Longer than other requests are given.
    let (mut server, _target) = World::new("ready; call; sleep 7; sent; notice refused; stay").open(&[]);
    let id = server.ask("peer/message", json!({ "name": "reviewer", "text": "Hello" }));
    ready(server.home.path());
    server.close_input();
    assert_eq!(server.answer(id).result()["outcome"], "refused");
    server.expect_end(0);
    no_directory(server.home.path());
}

#[test]
fn after_the_end_of_input_a_message_takes_no_longer_than_it_may() {
    let (mut server, _target) = World::new("ready; stay; sleep 600").open(&["--limit", "courierMs=6500"]);
    let id = server.ask("peer/message", json!({ "name": "reviewer", "text": "Hello" }));
    ready(server.home.path());
    server.close_input();
    assert_eq!(server.answer(id).error().is(-32032, "delivery_failed").data["cause"], "timeout");
    server.expect_end(0);
}

#[test]
fn only_so_many_are_at_work_at_a_time_and_the_next_waits_its_turn() {
    let (mut server, _target) = World::new("call; sent; notice held; stay").open(&[]);
    let ids: Vec<i64> =
        (0..2 * COURIERS).map(|_| server.ask("peer/message", json!({ "name": "reviewer", "text": "Hello" }))).collect();
    for id in ids {
        assert_eq!(server.answer(id).result()["outcome"], "held");
    }

    let World { home, target: _target } = World::new(SILENT);
    let mut server = spawn(home, &["--limit", "courierMs=20000"]).open();
    let ids: Vec<i64> = (0..COURIERS)
        .map(|_| {
            let id = server.ask("peer/message", json!({ "name": "reviewer", "text": "Hello" }));
            ready(server.home.path());
            id
        })
        .collect();
    let next = server.ask("peer/message", json!({ "name": "reviewer", "text": "Hello" }));
    server.notify("$/cancelRequest", json!({ "id": next }));
    server.answer(next).error().is(-32800, "cancelled");
    assert_eq!(started(server.home.path()), COURIERS);
    server.notify("$/cancelRequest", json!({ "id": ids[0] }));
    let turn = server.ask("peer/message", json!({ "name": "reviewer", "text": "Hello" }));
    ready(server.home.path());
    for id in ids.into_iter().chain([turn]) {
        server.notify("$/cancelRequest", json!({ "id": id }));
        server.answer(id).error().is(-32800, "cancelled");
    }
}

#[test]
fn other_requests_are_answered_while_a_message_is_on_its_way() {
    let (mut server, _target, id, _) = on_its_way(WITH_CHILD);
    server.pong();
    assert_eq!(server.request("peer/list", json!({})).result()["peers"][0]["name"], "reviewer");
    server.notify("$/cancelRequest", json!({ "id": id }));
    server.answer(id).error().is(-32800, "cancelled");
}
