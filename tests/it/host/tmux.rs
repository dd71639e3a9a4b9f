//! `tackroom host --tmux`.

use super::entry;
use crate::support::host::{DEMO_AGENT, host, published, wait_gone};
use crate::support::{Home, serve};
use serde_json::{Value, json};
use std::process::{Command, Output};

/// A tmux server of its own, which ends with the test.
struct Tmux<'a>(&'a Home);

impl Tmux<'_> {
    fn command(&self, mut command: Command) -> Command {
        command.env("TMUX_TMPDIR", self.0.path()).env_remove("TMUX");
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = self.command(Command::new("tmux"));
        command.args(words).output().unwrap()
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

/// Says so where there is none.
fn is_missing() -> bool {
    let missing = Command::new("tmux").arg("-V").output().is_err();
    if missing {
        eprintln!("tmux is not installed, so hosting in it is not tested");
    }
    missing
}

#[test]
fn it_runs_in_a_session_of_its_own_that_ends_with_it() {
    if is_missing() {
        return;
    }
    let home = Home::new();
    let tmux = Tmux(&home);
    let run = tmux.command(host(home.path(), &["--tmux", "roof", "--json"], &DEMO_AGENT)).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let ready: Value = serde_json::from_slice(&run.stdout).unwrap();
    let environment = [("HOME".into(), home.path().into())];
    let mut server = crate::support::Spawn::empty().only_env(environment).args(["--allow", "observe,terminate"]).open();
    let live = entry(&mut server);
    assert_eq!(live["endpoint"], ready["endpoint"]);
    assert_eq!(live["supervisor"], json!({ "kind": "tmux", "sessionName": "roof" }));
    let shown = tmux.run(&["capture-pane", "-p", "-t", "=roof:"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("hosting ACP agent in"), "{shown:?}");

    // The name is taken now.
    let again = tmux.command(host(home.path(), &["--tmux", "roof"], &DEMO_AGENT)).output().unwrap();
    let said = String::from_utf8(again.stderr).unwrap();
    assert_eq!(again.status.code(), Some(2), "{said}");
    assert!(said.contains("tmux has a session `roof` already"), "{said}");

    // Closing the session ends the host as a terminal that is closed does.
    let pid = ready["pid"].as_i64().unwrap() as i32;
    tmux.run(&["kill-session", "-t", "=roof"]);
    wait_gone(pid);
    assert_eq!(published(&home), Vec::<String>::new());
}

#[test]
fn what_fails_there_is_told_here() {
    if is_missing() {
        return;
    }
    let home = Home::new();
    let tmux = Tmux(&home);
    let run = tmux.command(host(home.path(), &["--tmux", "roof"], &["no-such-agent"])).output().unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert!(said.contains("no-such-agent cannot be started"), "{said}");
}

#[test]
fn without_tmux_and_with_a_name_that_means_something_to_it_it_refuses() {
    let home = Home::new();
    let nowhere = host(home.path(), &["--tmux", "roof"], &DEMO_AGENT).env("PATH", "/nowhere").output().unwrap();
    let said = String::from_utf8(nowhere.stderr).unwrap();
    assert_eq!(nowhere.status.code(), Some(1), "{said}");
    assert!(said.contains("tmux is not installed"), "{said}");
    for name in ["a:b", "a.b", "=a", "", "-a", "a b"] {
        let refused = host(home.path(), &["--tmux", name], &DEMO_AGENT).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{name}");
    }
    let both = host(home.path(), &["--tmux", "roof", "--detach"], &DEMO_AGENT).output().unwrap();
    assert_eq!(both.status.code(), Some(2), "it is where a person sees it, or it is in the background");
    drop(serve(home));
}
