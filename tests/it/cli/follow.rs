//! The messages of a session as they are written.

use super::{Home, MINUTE, NEWEST, OLDER, Reading, WAITER, three};
use crate::support::Pty;
use crate::support::inventory::{hosting, receipts_in};
use crate::support::runtime::Runtime;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

/// A row of a transcript.
fn row(role: &str, uuid: &str, content: Value) -> String {
    let time = "2026-01-02T05:00:00.000Z";
    let message = json!({ "role": role, "content": content });
    json!({ "type": role, "uuid": uuid, "sessionId": OLDER, "cwd": "/p", "timestamp": time, "message": message })
        .to_string()
        + "\n"
}

fn append(file: &Path, row: &str) {
    OpenOptions::new().append(true).open(file).unwrap().write_all(row.as_bytes()).unwrap();
}

/// A home with one session of three prompts, and its file.
fn prompts() -> (Home, std::path::PathBuf) {
    let home = Home::new();
    let file = home.session(OLDER, "proj", "first", MINUTE);
    append(&file, &row("user", "u2", json!("second")));
    append(&file, &row("user", "u3", json!("third")));
    (home, file)
}

fn follow(home: &Home, words: &[&str]) -> Reading {
    Reading::start(home.command(&[&["follow", "2222"], words].concat()))
}

/// The next line, without a time before it.
#[track_caller]
fn said(reading: &mut Reading) -> String {
    let line = reading.line();
    let role = ["user", "assistant", "tool"].into_iter().find(|role| line.ends_with(&format!(":00 {role}")));
    role.map_or(line.clone(), str::to_owned)
}

#[track_caller]
fn expect(reading: &mut Reading, lines: &[&str]) {
    for line in lines {
        assert_eq!(said(reading), *line);
    }
}

#[test]
fn the_last_messages_come_and_then_each_as_it_is_written() {
    let (home, file) = prompts();
    let mut reading = follow(&home, &["--tail", "2"]);
    let opening = format!("-- following claude-code:{OLDER}: first");
    expect(&mut reading, &[&opening, "user", "> second", "user", "> third"]);
    let calls = json!([
        { "type": "text", "text": "I look.\x1b[2J" },
        { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "ls" } },
    ]);
    append(&file, &row("assistant", "a1", calls));
    expect(&mut reading, &["assistant", "I look.", "* Bash {\"command\":\"ls\"}"]);
    let result = json!([{ "type": "tool_result", "tool_use_id": "t1", "content": "roof.txt\nwall.txt" }]);
    append(&file, &row("user", "u4", result));
    expect(&mut reading, &["tool", "  | roof.txt", "  | wall.txt"]);

    // Another program writes it anew.
    fs::write(&file, row("user", "u9", json!("begun again"))).unwrap();
    let mut line = said(&mut reading);
    while line != "> begun again" {
        line = said(&mut reading);
    }
    fs::remove_file(&file).unwrap();
    assert_eq!(said(&mut reading), "-- the session was removed; if it returns, following continues");
    reading.signal(Signal::SIGINT);
    let run = reading.rest(&home);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (130, "", ""));
}

#[test]
fn what_was_rewritten_is_shown_anew_and_a_session_that_comes_back_goes_on() {
    let (home, file) = prompts();
    let mut reading = follow(&home, &["--tail", "1"]);
    said(&mut reading);
    expect(&mut reading, &["user", "> third"]);
    // At once, as programs that compact do.
    fs::rename(home.put("new", &row("user", "u9", json!("begun again"))), &file).unwrap();
    expect(&mut reading, &["-- the transcript was rewritten; its newest messages are:", "user", "> begun again"]);
    let aside = home.path().join("aside");
    fs::rename(&file, &aside).unwrap();
    expect(&mut reading, &["-- the session was removed; if it returns, following continues"]);
    fs::rename(&aside, &file).unwrap();
    expect(&mut reading, &["-- the transcript was rewritten; its newest messages are:", "user", "> begun again"]);
    append(&file, &row("user", "u10", json!("and on")));
    expect(&mut reading, &["user", "> and on"]);
    let run = reading.close(&home);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}

#[test]
fn without_a_tail_a_rewritten_session_is_shown_all_the_same() {
    let (home, file) = prompts();
    let mut reading = follow(&home, &["--tail", "0"]);
    said(&mut reading);
    append(&file, &row("user", "u4", json!("fourth")));
    expect(&mut reading, &["user", "> fourth"]);
    fs::rename(home.put("new", &row("user", "u9", json!("begun again"))), &file).unwrap();
    expect(&mut reading, &["-- the transcript was rewritten; its newest messages are:", "user", "> begun again"]);
    let run = reading.close(&home);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}

#[test]
fn a_session_that_nobody_has_written_to_is_waited_for() {
    let home = Home::new();
    let _live = home.live(OLDER, json!({ "status": "idle" }));
    let mut reading = follow(&home, &[]);
    assert_eq!(said(&mut reading), format!("-- following claude-code:{OLDER}"));
    fs::rename(
        home.put("new", &row("user", "u1", json!("hello"))),
        home.put(&format!(".claude/projects/proj/{OLDER}.jsonl"), ""),
    )
    .unwrap();
    expect(&mut reading, &["user", "> hello"]);
    reading.close(&home);
}

#[test]
fn json_is_a_message_a_line_and_all_else_is_said_on_standard_error() {
    let (home, file) = prompts();
    let mut reading = follow(&home, &["--json", "--tail", "1"]);
    let text = |line: String| -> Value { serde_json::from_str::<Value>(&line).unwrap()["content"][0]["text"].clone() };
    assert_eq!(text(reading.line()), "third");
    append(&file, &row("user", "u4", json!("a\u{202e}b")));
    let line = reading.line();
    assert!(line.contains(r"a\u202eb"), "{line}");
    assert_eq!(text(line), "a\u{202e}b");
    fs::rename(home.put("new", &row("user", "u9", json!("begun again"))), &file).unwrap();
    assert_eq!(text(reading.line()), "begun again");
    reading.signal(Signal::SIGTERM);
    let run = reading.rest(&home);
    let expected = "tackroom: the transcript was rewritten; its newest messages are:\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (143, "", expected));
}

#[test]
fn sessions_are_named_as_everywhere() {
    let (home, _live) = three();
    let receipts = receipts_in(home.path());
    let runtime = Runtime::start(hosting(NEWEST, "runtime-of-the-newest", "/w"));
    runtime.publish(&receipts);
    for name in [NEWEST, "22222222-a", "runtime-of", &format!("claude-code:{NEWEST}")] {
        let mut reading = Reading::start(home.command(&["follow", name]));
        assert_eq!(said(&mut reading), format!("-- following claude-code:{NEWEST}: 東京の天気を取得する"), "{name}");
        reading.close(&home);
    }
    let run = home.run(&["follow", "nothing"]);
    let expected = "tackroom: there is no session `nothing`; `tackroom list` shows the sessions of this machine\n";
    assert_eq!((run.code, run.err.as_str()), (3, expected));
    assert_eq!(home.run(&["follow", "22"]).code, 2);
    assert_eq!(home.run(&["follow", "2222"]).code, 2);
    assert_eq!(home.run(&["follow", WAITER, "--tail", "many"]).code, 2);
}

#[test]
fn in_a_terminal_ctrl_c_ends_it() {
    let (home, _file) = prompts();
    let mut pty = Pty::start(home.command(&["follow", "2222", "--tail", "1"]), 12, 80);
    pty.expect_part("> third");
    assert!(!pty.is_raw());
    pty.type_in("\x03");
    let (status, screen) = pty.end();
    assert_eq!(status.code(), Some(130), "{screen}");
    assert!(screen.ends_with("> third\n^C"), "{screen}");
}
