//! Receipts held against the processes that they name.

use super::*;
use crate::platform::testing::Sleeper;

/// A receipt of a process, with our mark.
fn marked(number: u64, pid: i32) -> Value {
    let mut receipt = receipt(number);
    receipt["pid"] = json!(pid);
    receipt["metadata"]["tackroom"] = mark_of(pid);
    receipt
}

fn unmarked(number: u64, pid: i32) -> Value {
    let mut receipt = receipt(number);
    receipt["pid"] = json!(pid);
    receipt
}

fn assert_silently_gone(place: &Place, number: u64, removed: bool) {
    let error = place.receipts.resolve(&endpoint(number)).unwrap_err();
    assert_eq!(error.reason().word(), "not_live");
    assert_eq!((place.listed(), place.problems()), (vec![], vec![]));
    assert_eq!(place.path(number).exists(), !removed);
}

#[test]
fn a_living_owner_is_listed_and_a_dead_one_is_not() {
    let place = Place::made();
    let (marked_owner, other_owner) = (Sleeper::start(), Sleeper::start());
    place.put(1, &marked(1, marked_owner.pid()));
    place.put(2, &unmarked(2, other_owner.pid()));
    assert_eq!(place.listed(), ["runtime-2", "runtime-1"]);
    drop((marked_owner, other_owner));
    let error = place.receipts.resolve(&endpoint(1)).unwrap_err();
    assert_eq!(error.reason().word(), "not_live");
    assert_eq!((place.listed(), place.problems()), (vec![], vec![]));
    assert!(!place.path(1).exists(), "its pid domain is ours");
    assert!(place.path(2).exists(), "its pid may be of another namespace");
}

#[test]
fn a_zombie_is_dead() {
    for (marks, removed) in [(true, true), (false, false)] {
        let place = Place::made();
        let mut owner = Sleeper::start();
        place.put(1, &if marks { marked(1, owner.pid()) } else { unmarked(1, owner.pid()) });
        let ended = process::exited(owner.pid());
        owner.kill();
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(ended);
        assert!(process::start_mark(owner.pid()).is_some(), "it is still in the table");
        assert_silently_gone(&place, 1, removed);
    }
}

#[test]
fn pids_that_are_no_processes_are_refused() {
    for (pid, word) in [(0, "pid"), (-1, "pid"), (4_294_967_295_i64, "pid"), (2_147_483_648, "pid")] {
        let place = Place::made();
        let mut receipt = receipt(1);
        receipt["pid"] = json!(pid);
        place.put(1, &receipt);
        assert_eq!(place.refusal(1), word, "{pid}");
        assert!(place.path(1).exists());
    }
    let place = Place::made();
    place.put(1, &unmarked(1, i32::MAX));
    assert_silently_gone(&place, 1, false);
}

#[test]
fn a_pid_that_was_given_away_is_no_owner() {
    let owner = Sleeper::start();
    // By the start mark it is certain.
    let place = Place::made();
    let mut reused = marked(1, owner.pid());
    reused["metadata"]["tackroom"]["start_mark"] = json!("1");
    place.put(1, &reused);
    assert_silently_gone(&place, 1, true);
    // By the clock it is not.
    let place = Place::made();
    let mut reused = unmarked(1, owner.pid());
    reused["created_at_ms"] = json!(now_ms() - 60_000);
    place.put(1, &reused);
    assert_eq!(place.refusal(1), "pid_reused");
    assert!(place.path(1).exists());
}

#[test]
fn a_receipt_goes_with_the_server_that_kept_it() {
    let owner = Sleeper::start();
    let server = Sleeper::start();
    let place = Place::made();
    let mut receipt = marked(1, owner.pid());
    receipt["metadata"]["tackroom"]["server_pid"] = json!(server.pid());
    receipt["metadata"]["tackroom"]["server_start_mark"] = json!(process::start_mark(server.pid()).unwrap());
    place.put(1, &receipt);
    assert_eq!(place.listed(), ["runtime-1"]);
    drop(server);
    place.receipts.sweep().unwrap();
    assert!(!place.path(1).exists());
}

#[test]
fn a_receipt_of_another_pid_namespace_is_neither_counted_nor_removed() {
    let place = Place::made();
    let mut receipt = marked(1, own_pid());
    receipt["metadata"]["tackroom"]["pid_domain"] = json!("linux::pid:[1]");
    place.put(1, &receipt);
    assert_eq!(place.refusal(1), "pid_domain");
    receipt["pid"] = json!(i32::MAX);
    place.put(1, &receipt);
    assert_eq!(place.refusal(1), "pid_domain");
    place.receipts.sweep().unwrap();
    assert!(place.path(1).exists());
    assert!(place.forget(1).unwrap(), "unless somebody says so");
}
