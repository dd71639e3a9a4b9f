//! `tackroom go`, in real tmux.

use crate::support::multiplexer::{Tmux, live, shell};
use crate::support::{Home, Pty, uuid};
use std::process::Command;

fn go(home: &Home, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tackroom"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.arg("go").args(words).env_clear().env("HOME", home.path()).env("PATH", path);
    command
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn go_without_a_reference_shows_the_session_that_waits() {
    let home = Home::new();
    let Some(tmux) = Tmux::new(&home, "own.sock") else { return };
    let (command, file) = shell(&home, "agent");
    tmux.run(&["new-session", "-d", "-s", "main", "sleep 600"]);
    tmux.run(&["new-window", "-d", "-t", "main", &command]);
    live(&home, "agent", &uuid(1), &file);
    let (_client, tty) = tmux.attach("main");
    assert_eq!(tmux.shown_by(&tty), "main:0.0");
    let run = go(&home, &[]).output().unwrap();
    assert_eq!(text(run.stderr), format!("claude-code:{} is shown in main:1.0\n", uuid(1)));
    assert!(run.status.success());
    assert_eq!(tmux.shown_by(&tty), "main:1.0");
}

#[test]
fn go_outside_tmux_attaches_to_a_detached_session() {
    let home = Home::new();
    let Some(tmux) = Tmux::new(&home, "own.sock") else { return };
    let (command, file) = shell(&home, "agent");
    let command = format!("echo the agent; {command}");
    tmux.run(&["new-session", "-d", "-s", "main", &command]);
    live(&home, "agent", &uuid(1), &file);
    // Without a terminal there is nothing to attach.
    let run = go(&home, &["agent"]).output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    let socket = home.path().join("own.sock").display().to_string();
    let expected = format!("tackroom: no terminal shows main:0.0; run: tmux -S {socket} attach-session -t main:0.0\n");
    assert_eq!(text(run.stderr), expected);
    let terminal = Pty::start(go(&home, &["agent"]), 24, 80);
    terminal.expect_part("the agent");
    assert_eq!(tmux.run(&["list-clients", "-F", "#{session_name}"]), "main");
}

#[test]
fn go_prints_where_a_session_runs_that_no_multiplexer_shows() {
    let home = Home::new();
    let (command, file) = shell(&home, "agent");
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]);
    let _pty = Pty::start(shell, 24, 80);
    let pid = live(&home, "agent", &uuid(1), &file);
    let tty = std::fs::read_link(format!("/proc/{pid}/fd/1")).unwrap();
    let run = go(&home, &["--print", "agent"]).output().unwrap();
    let place = format!("process    {pid}\nterminal   {}\ndirectory  /p\n", tty.display());
    assert_eq!((text(run.stdout), run.status.code()), (place.clone(), Some(0)));
    let run = go(&home, &["agent"]).output().unwrap();
    let expected = format!(
        "tackroom: process {pid} runs in {}, which no tmux or screen of this user displays; it runs here:\n{place}",
        tty.display()
    );
    assert_eq!((text(run.stderr), run.status.code()), (expected, Some(1)));
}

#[test]
fn go_says_what_else_can_be_done() {
    let home = Home::new();
    let run = go(&home, &[]).output().unwrap();
    let none = "tackroom: no session waits for you; `tackroom list` shows the sessions of this machine\n";
    assert_eq!((text(run.stderr).as_str(), run.status.code()), (none, Some(3)));
    home.project("-p", "/p").session(&uuid(1), "a stored session", 1);
    let run = go(&home, &["stored session"]).output().unwrap();
    let id = format!("claude-code:{}", uuid(1));
    let expected = format!("tackroom: {id} is not running; `tackroom resume {id}` resumes it\n");
    assert_eq!((text(run.stderr), run.status.code()), (expected, Some(3)));
}
