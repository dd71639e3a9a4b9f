use super::{Home, MINUTE, WAITER, now_ms};
use serde_json::json;
use tackroom::protocol::PeerListResult;

#[test]
fn live_sessions_are_shown_with_what_they_wait_for_first() {
    let home = Home::new();
    let busy = home.live(WAITER, json!({"name": "a-builder", "status": "busy", "updatedAt": now_ms() - 90 * MINUTE}));
    let waiting = home.live(WAITER, json!({"status": "waiting", "waitingFor": "permission prompt"}));
    let width = busy.pid().to_string().len().max(waiting.pid().to_string().len()).max(3);
    let expected = format!(
        "\
STATUS   {:width$}  AGE  ADDRESSABLE  NAME                          DIRECTORY
waiting  {:width$}  5m   no           [permission prompt] reviewer  ~/proj
busy     {:width$}  1h   no           a-builder                     ~/proj
",
        "PID",
        waiting.pid(),
        busy.pid()
    );
    let run = home.run(&["peers"]);
    // Numbers are aligned as texts are.
    assert_eq!(run.out.replace("  ", " "), expected.replace("  ", " "));
    assert_eq!((run.code, run.err.as_str()), (0, ""));

    let peers: PeerListResult = serde_json::from_str(&home.run(&["peers", "--json"]).out).unwrap();
    assert_eq!(peers.peers.iter().map(|peer| peer.pid).collect::<Vec<_>>(), [busy.pid(), waiting.pid()]);
}

#[test]
fn when_nothing_lives_it_says_so() {
    let home = Home::new();
    let live = home.live(WAITER, json!({"status": "busy"}));
    drop(live);
    let run = home.run(&["peers"]);
    assert_eq!((run.code, run.out.as_str()), (0, ""));
    assert!(run.err.starts_with("No Claude Code session is running."), "{}", run.err);
}
