//! `terminal/reveal`, and the terminal that `registry/describe` adds, in real multiplexers.

use crate::support::multiplexer::{Tmux, live, shell, wait_for};
use crate::support::{Home, Pty, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::process::Command;

fn open(home: Home) -> Server {
    Spawn::new(home).args(["--allow", "observe,reveal"]).open()
}

fn id(number: usize) -> String {
    format!("claude-code:{}", uuid(number))
}

fn terminal(server: &mut Server, number: usize) -> Value {
    let params = json!({ "id": id(number), "include": ["terminal"] });
    server.request("registry/describe", params).result()["entry"]["terminal"].clone()
}

#[test]
fn pane_of_a_live_session_is_described_and_revealed() {
    let home = Home::new();
    let Some(tmux) = Tmux::new(&home, "own.sock") else { return };
    let ((first, first_pid), (second, second_pid)) = (shell(&home, "first"), shell(&home, "second"));
    tmux.run(&["new-session", "-d", "-s", "main", "-x", "80", "-y", "24", &first]);
    tmux.run(&["split-window", "-d", "-t", "main", &second]);
    tmux.run(&["new-window", "-t", "main", "sleep 600"]);
    live(&home, "first", &uuid(1), &first_pid);
    let pid = live(&home, "second", &uuid(2), &second_pid);
    let socket = home.path().join("own.sock");
    let tty = tmux.run(&["display-message", "-p", "-t", "main:0.1", "#{pane_tty}"]);
    let mut server = open(home);
    let expected = json!({
        "pid": pid, "tty": tty, "attached": false,
        "multiplexer": {
            "kind": "tmux", "target": "main:0.1", "argv": ["tmux", "-S", socket, "attach-session", "-t", "main:0.1"],
        },
    });
    assert_eq!(terminal(&mut server, 2), expected);
    // Without being asked for, it is not determined.
    let entry = server.request("registry/describe", json!({ "id": id(2) })).result()["entry"].clone();
    assert_eq!(entry.get("terminal"), None);

    // With no client attached the pane is selected, and nothing shows it.
    let answer = server.request("terminal/reveal", json!({ "id": id(2) })).result();
    assert_eq!((&answer["revealed"], &answer["terminal"]), (&json!(false), &expected));
    let (_client, tty) = tmux.attach("main");
    assert_eq!(tmux.shown_by(&tty), "main:0.1");
    for (number, pane) in [(1, "main:0.0"), (2, "main:0.1")] {
        tmux.run(&["select-window", "-t", "main:1"]);
        let answer = server.request("terminal/reveal", json!({ "id": id(number) })).result();
        assert_eq!((&answer["revealed"], &answer["terminal"]["attached"]), (&json!(true), &json!(true)));
        assert_eq!(tmux.shown_by(&tty), pane);
    }
}

#[test]
fn only_the_named_client_is_switched_to_another_session() {
    let home = Home::new();
    let Some(tmux) = Tmux::new(&home, "own.sock") else { return };
    let (command, file) = shell(&home, "agent");
    tmux.run(&["new-session", "-d", "-s", "agents", &command]);
    tmux.run(&["new-session", "-d", "-s", "work", "sleep 600"]);
    live(&home, "agent", &uuid(1), &file);
    let (_one, one) = tmux.attach("work");
    let (_two, two) = tmux.attach("work");
    let own_pane = tmux.run(&["display-message", "-p", "-t", "work:0.0", "#{pane_tty}"]);
    let mut server = open(home);
    let answer = server.request("terminal/reveal", json!({ "id": id(1) })).result();
    assert_eq!(answer["revealed"], false);
    // A terminal that is none of tmux's switches nothing.
    server.request("terminal/reveal", json!({ "id": id(1), "clientTty": "/dev/pts/99999" })).result();
    assert_eq!((tmux.shown_by(&one), tmux.shown_by(&two)), ("work:0.0".into(), "work:0.0".into()));
    let answer = server.request("terminal/reveal", json!({ "id": id(1), "clientTty": two })).result();
    assert_eq!(answer["revealed"], true);
    assert_eq!((tmux.shown_by(&one), tmux.shown_by(&two)), ("work:0.0".into(), "agents:0.0".into()));
    // A program in a pane names the pane's terminal: the client that shows the pane is meant.
    let answer = server.request("terminal/reveal", json!({ "id": id(1), "clientTty": own_pane })).result();
    assert_eq!(answer["revealed"], true);
    assert_eq!(tmux.shown_by(&one), "agents:0.0");
}

#[test]
fn session_in_a_nested_tmux_is_revealed_in_both() {
    let home = Home::new();
    let (Some(outer), Some(inner)) = (Tmux::new(&home, "outer.sock"), Tmux::new(&home, "inner.sock")) else { return };
    let (command, file) = shell(&home, "agent");
    inner.run(&["new-session", "-d", "-s", "in", &command]);
    inner.run(&["new-window", "-t", "in", "sleep 600"]);
    live(&home, "agent", &uuid(1), &file);
    let attach = format!("env -u TMUX tmux -f /dev/null -S {}/inner.sock attach -t in", home.path().display());
    outer.run(&["new-session", "-d", "-s", "out", &attach]);
    wait_for("the inner client", || (!inner.run(&["list-clients"]).is_empty()).then_some(()));
    outer.run(&["new-window", "-t", "out", "sleep 600"]);
    let (_client, tty) = outer.attach("out");
    assert_eq!(outer.shown_by(&tty), "out:1.0");
    let mut server = open(home);
    let answer = server.request("terminal/reveal", json!({ "id": id(1) })).result();
    assert_eq!((&answer["revealed"], &answer["terminal"]["multiplexer"]["target"]), (&json!(true), &json!("in:0.0")));
    assert_eq!(outer.shown_by(&tty), "out:0.0");
    assert_eq!(inner.run(&["display-message", "-p", "-t", "in:", "#{window_index}"]), "0");
}

#[test]
fn session_without_a_pane_reports_why() {
    let home = Home::new();
    let (command, file) = shell(&home, "agent");
    // A terminal, but of no multiplexer.
    let mut terminal_of_its_own = Command::new("sh");
    terminal_of_its_own.args(["-c", &command]);
    let _pty = Pty::start(terminal_of_its_own, 24, 80);
    let pid = live(&home, "agent", &uuid(1), &file);
    let mut server = open(home);
    let found = terminal(&mut server, 1);
    assert_eq!((&found["pid"], &found["attached"], found.get("multiplexer")), (&json!(pid), &json!(false), None));
    assert!(found["tty"].as_str().unwrap().starts_with("/dev/pts/"), "{found}");
    server.request("terminal/reveal", json!({ "id": id(1) })).error().is(-32036, "no_terminal");
    server.request("terminal/reveal", json!({ "id": id(2) })).error().is(-32001, "not_found");
}

#[test]
fn stored_session_has_no_terminal() {
    let home = Home::new();
    home.project("-p", "/p").session(&uuid(1), "stored", 1);
    let mut server = open(home);
    assert_eq!(terminal(&mut server, 1), Value::Null);
    server.request("terminal/reveal", json!({ "id": id(1) })).error().is(-32003, "not_live");
}

#[test]
fn revealing_needs_its_own_permission() {
    let home = Home::new();
    let mut server = Spawn::new(home).args(["--allow", "observe"]).open();
    server.request("terminal/reveal", json!({ "id": id(1) })).error().is(-32000, "unauthorized");
}

#[test]
fn window_of_screen_is_described_and_revealed() {
    let home = Home::new();
    if Command::new("screen").arg("-v").output().is_err() {
        eprintln!("GNU screen is not installed, so its windows are not tested");
        return;
    }
    let directory = home.path().join("screens");
    std::fs::create_dir(&directory).unwrap();
    std::fs::set_permissions(&directory, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let screen = |words: &[&str]| {
        let mut command = Command::new("screen");
        command.env("SCREENDIR", &directory).env_remove("STY").args(words);
        command
    };
    let (command, file) = shell(&home, "agent");
    let other = "echo the other window; exec sleep 600";
    assert!(screen(&["-d", "-m", "-S", "deck", "sh", "-c", other]).status().unwrap().success());
    wait_for("a window", || {
        screen(&["-S", "deck", "-X", "screen", "sh", "-c", &format!("echo \"the agent's window\"; {command}")])
            .status()
            .unwrap()
            .success()
            .then_some(())
    });
    let pid = live(&home, "agent", &uuid(1), &file);
    let mut server = open(home);
    let found = terminal(&mut server, 1);
    let target = found["multiplexer"]["target"].as_str().unwrap().to_owned();
    let (name, window) = target.split_once(':').unwrap();
    assert!(name.ends_with(".deck") && window == "1", "{found}");
    assert_eq!(
        (&found["pid"], &found["multiplexer"]["kind"], &found["attached"]),
        (&json!(pid), &json!("screen"), &json!(false))
    );
    assert_eq!(found["multiplexer"]["argv"], json!(["screen", "-x", name, "-p", "1"]));
    let client = Pty::start(screen(&["-x", "deck", "-p", "0"]), 24, 80);
    client.expect_part("the other window");
    let answer = server.request("terminal/reveal", json!({ "id": id(1) })).result();
    assert_eq!((&answer["revealed"], &answer["terminal"]["attached"]), (&json!(true), &json!(true)));
    client.expect_part("the agent's window");
    assert!(screen(&["-S", "deck", "-X", "quit"]).status().unwrap().success());
}
