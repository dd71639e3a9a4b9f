use super::{Home, MINUTE, WAITER, now_ms};
use serde_json::json;
use std::os::unix::net::UnixListener;
use tackroom::protocol::PeerListResult;

#[test]
fn live_sessions_are_shown_with_what_they_wait_for_first() {
    let home = Home::new();
    let busy = home.live(WAITER, json!({"name": "a-builder", "status": "busy", "updatedAt": now_ms() - 90 * MINUTE}));
    let waiting = home.live(WAITER, json!({"status": "waiting", "waitingFor": "permission prompt"}));
    let width = busy.pid().to_string().len().max(waiting.pid().to_string().len()).max(3);
    let expected = format!(
        "\
STATUS   {:width$}  AGE  REACHABLE  NAME                          DIRECTORY
waiting  {:width$}  5m   no socket  reviewer [permission prompt]  ~/proj
busy     {:width$}  1h   no socket  a-builder                     ~/proj
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

#[test]
fn who_cannot_be_reached_is_shown_with_the_reason() {
    let home = Home::new();
    let (open, stale) = (home.path().join("open.sock"), home.path().join("stale.sock"));
    let _listener = UnixListener::bind(&open).unwrap();
    drop(UnixListener::bind(&stale).unwrap());
    let _live = [("a", json!(open)), ("b", json!(stale)), ("c", json!("/no/such.sock")), ("d", json!(null))]
        .map(|(name, socket)| home.live(WAITER, json!({ "name": name, "messagingSocketPath": socket })));
    let out = home.run(&["peers"]).out;
    let reason = |name: &str| {
        let row = out.lines().find(|row| row.contains(&format!("  {name}  "))).unwrap();
        row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).nth(3).unwrap().to_owned()
    };
    assert_eq!(["a", "b", "c", "d"].map(reason), ["yes", "socket is silent", "socket is silent", "no socket"]);
}

#[test]
fn what_the_users_settings_do_with_messages_is_said_once() {
    let home = Home::new();
    let _live = [home.live(WAITER, json!({})), home.live(WAITER, json!({ "name": "other" }))];
    for (policy, words) in [
        ("\"hold\"", Some("make these sessions hold messages back")),
        ("\"refuse\"", Some("make these sessions refuse messages (~/.claude/settings.json)")),
        ("\"accept\"", None),
        ("7", Some("settings.json cannot be understood: `crossSessionInbound` is none of accept, hold, refuse; ")),
        ("\"ask\"", Some("is none of accept, hold, refuse, so messages are held back; ")),
    ] {
        home.put(".claude/settings.json", &format!("{{\"crossSessionInbound\": {policy}}}"));
        let run = home.run(&["peers"]);
        assert_eq!((run.code, run.err.lines().count()), (0, usize::from(words.is_some())), "{policy}: {}", run.err);
        assert!(run.err.contains(words.unwrap_or_default()), "{}", run.err);
    }
}
