use super::{Home, NEWEST, OLDER, WAITER, copy, three};
use crate::support::Pty;
use crate::support::inventory::{hosting, receipts_in};
use crate::support::runtime::Runtime;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A `claude` that tells how it was run, and ends with 7.
fn fake_claude(home: &Home) -> String {
    let script =
        "#!/bin/sh\necho \"pid $$\"\npwd\necho \"args $*\"\necho \"config ${CLAUDE_CONFIG_DIR-none}\"\nexit 7\n";
    let path = home.put("bin/claude", script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.parent().unwrap().display().to_string()
}

#[test]
fn the_program_takes_over_process_directory_and_exit_code() {
    let (home, _live) = three();
    let child = home
        .command(&["resume", "22222222-b"])
        .env("PATH", fake_claude(&home))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let run = home.told(child.wait_with_output().unwrap());
    assert_eq!(run.out, format!("pid {pid}\n$HOME/proj\nargs --resume {OLDER}\nconfig none\n"));
    assert_eq!((run.code, run.err.as_str()), (7, ""));
}

#[test]
fn a_live_session_is_resumed_only_when_forced_or_confirmed() {
    let (home, live) = three();
    let resume = |words: &[&str]| {
        let mut command = home.command(&[&["resume", WAITER], words].concat());
        command.env("PATH", fake_claude(&home));
        command
    };
    let run = home.told(resume(&[]).output().unwrap());
    let open = format!("claude-code:{WAITER} is open in process {}", live.pid());
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.contains(&open) && run.err.contains("--force"), "{}", run.err);
    let run = home.told(resume(&["--force"]).output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (7, ""));

    for (answer, code) in [("n\r", 1), ("\r", 1), ("y\r", 7)] {
        let mut pty = Pty::start(resume(&[]), 10, 100);
        pty.expect_part("[y/N]");
        pty.type_in(answer);
        assert_eq!(pty.end().0.code(), Some(code), "{answer:?}");
    }
}

#[test]
fn print_gives_the_line_for_a_shell() {
    let (home, _live) = three();
    let run = home.run(&["resume", "--print", &format!("claude-code:{NEWEST}")]);
    assert_eq!(run.out, format!("cd $HOME/other/deep && claude --resume {NEWEST}\n"));

    let elsewhere = Home::new();
    let root = format!("claude-code={}", home.path().join(".claude").display());
    let run = elsewhere.run(&["resume", "--print", NEWEST, "--root", &root]);
    let home = home.path().display();
    let expected = format!("cd {home}/other/deep && CLAUDE_CONFIG_DIR={home}/.claude claude --resume {NEWEST}\n");
    assert_eq!(run.out, expected);
}

#[test]
fn a_beginning_that_several_have_lists_them() {
    let (home, _live) = three();
    let run = home.run(&["resume", "2222"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    let expected = format!(
        "tackroom: `2222` matches 2 sessions; give more of one id:\n  claude-code:{NEWEST}  東京の天気を取得する\n  \
         claude-code:{OLDER}  Turn \u{fffd}around\n"
    );
    assert_eq!(run.err, expected);
}

#[test]
fn what_is_not_there_or_too_short_is_told_apart() {
    let (home, _live) = three();
    let run = home.run(&["resume", "9999"]);
    assert_eq!(run.err, "tackroom: there is no session `9999`; `tackroom list` shows the sessions of this machine\n");
    assert_eq!(run.code, 3);
    // Without a terminal to ask in, a title is not enough.
    assert_eq!(home.run(&["resume", "database"]).code, 2);
    let run = home.run(&["resume", "222"]);
    assert_eq!((run.code, run.err.as_str()), (2, "tackroom: `222` is too short: give 4 characters or more\n"));
    assert_eq!(home.run(&["resume", ""]).code, 2);
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let home = Home::with_fixture();
    let run = home.run(&["resume", "agent-af3c"]);
    assert_eq!(run.code, 1);
    assert!(run.err.ends_with(
        "subagent and continues only with its parent: run `tackroom resume ab24f0c3-6990-4357-a817-d9f01cc2ac32`\n"
    ));

    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/codex/v0.20.0");
    copy(&fixture, &home.path().join(".codex"));
    let run = home.run(&["resume", "2c7edb82"]);
    assert_eq!(run.code, 1);
    assert!(run.err.ends_with("has a format that Codex no longer opens\n"), "{}", run.err);

    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gemini/v0.20.0");
    copy(&fixture, &home.path().join(".gemini"));
    let run = home.run(&["resume", "0114ae5f"]);
    assert_eq!(run.code, 1);
    assert!(run.err.ends_with("opens only in its own directory, which is unknown\n"), "{}", run.err);
    // What Gemini CLI keeps of a directory is found again among those that are known.
    home.put(".gemini/projects.json", r#"{"projects": {"/proj/demo": "demo"}}"#);
    let run = home.run(&["resume", "--print", "0114ae5f"]);
    assert_eq!(run.out, "cd /proj/demo && gemini --resume 0114ae5f-7b06-4574-8af4-fc90d34fa390\n", "{}", run.err);

    let home = Home::new();
    let _live = home.live(WAITER, json!({"status": "idle"}));
    let run = home.run(&["resume", WAITER]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("is running and has written nothing yet"), "{}", run.err);

    let runtime = Runtime::start(hosting("no-file-of-it", "hosted-1", "/w"));
    runtime.publish(&receipts_in(home.path()));
    let run = home.run(&["resume", "hosted-1"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("`tackroom attach hosted-1`"), "{}", run.err);
}

#[test]
fn a_missing_directory_or_program_says_what_to_do() {
    let (home, _live) = three();
    let run = home.run(&["resume", OLDER]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (1, "tackroom: `claude` is not in PATH; install Claude Code, or use --print\n")
    );
    fs::remove_dir_all(home.path().join("proj")).unwrap();
    let run = home.run(&["resume", OLDER]);
    let expected = "tackroom: the session's directory $HOME/proj does not exist; create it, or use --print\n";
    assert_eq!((run.code, run.err.as_str()), (1, expected));
}
