//! What lives, by real processes that delegations name.

use super::*;
use crate::harness::testing::Tree;
use crate::platform::process;
use crate::platform::testing::Sleeper;

const PARENT: &str = "20261130_084808_3374f1";

fn live(tree: &Tree) -> Vec<Live> {
    list(tree.path()).live().sessions
}

/// Lets a process own the delegation of the fixture.
fn own(tree: &Tree, pid: i32, start: &str, state: &str) {
    let connection = Connection::open(tree.path().join(DATABASE)).unwrap();
    let query = "update async_delegations set owner_pid = ?1, owner_started_at = cast(?2 as integer), state = ?3";
    assert_eq!(connection.execute(query, rusqlite::params![pid, start, state]).unwrap(), 1);
}

#[test]
fn a_session_lives_while_the_process_does_that_waits_for_its_subagent() {
    let tree = Tree::copy_of(&fixture("hermes/.hermes"));
    assert_eq!(live(&tree), [], "the process that the program wrote down is gone");
    let mut sleeper = Sleeper::start();
    let (pid, mark) = (sleeper.pid(), process::start_mark(sleeper.pid()).unwrap());
    own(&tree, pid, &mark, "running");
    let workspace = list(tree.path()).of(PARENT).workspace.clone();
    assert!(workspace.is_some());
    let expected = Live { workspace, ..Live::new(Harness::Hermes, PARENT, ActivitySource::Process, pid) };
    assert_eq!(live(&tree), [expected]);
    own(&tree, pid, "1", "running");
    assert_eq!(live(&tree), [], "another process has its pid");
    own(&tree, pid, &mark, "completed");
    assert_eq!(live(&tree), []);
    own(&tree, pid, &mark, "running");
    sleeper.kill();
    assert_eq!(live(&tree), []);
}

#[test]
fn odd_rows_are_passed_over() {
    let home = Own::new();
    let database = home.later();
    database.session("s", json!({}));
    database.message("s", "user", 11.0, "ask");
    let sleeper = Sleeper::start();
    let mark = process::start_mark(sleeper.pid()).unwrap();
    database.0.execute_batch("create table async_delegations (parent_session_id, state, owner_pid)").unwrap();
    assert_eq!(home.list().live().sessions, []);
    database
        .0
        .execute_batch(&format!(
            "alter table async_delegations add column owner_started_at;
             insert into async_delegations values (null, 'running', 1, 1), ('s', 'running', null, null),
               ('s', 'running', 'x', 'y'), ('s', 'running', 1e18, 7), ('none', 'running', {0}, {mark}),
               ('s', 'running', {0}, {mark})",
            sleeper.pid()
        ))
        .unwrap();
    let live = home.list().live().sessions;
    assert_eq!(live.iter().map(|live| (&*live.session_id, live.pid)).collect::<Vec<_>>(), [("s", sleeper.pid())]);
}
