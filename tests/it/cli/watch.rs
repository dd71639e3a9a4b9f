//! The sessions as they change, in a real terminal and line by line.

use super::{Home, MINUTE, NEWEST, OLDER, Reading, Sleeper, WAITER, three};
use crate::support::Pty;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// Lets a live session say something else of itself, at once.
fn says(home: &Home, live: &Sleeper, status: Value) {
    let path = home.path().join(format!(".claude/sessions/{}.json", live.pid()));
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    record.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
    fs::rename(home.put("record", &record.to_string()), path).unwrap();
}

fn one() -> Home {
    let home = Home::new();
    home.session(NEWEST, "other/deep", "東京の天気を取得する", 30 * MINUTE + MINUTE / 2);
    home
}

/// The terminal of a person who watches, once all is told.
fn watched(home: &Home, words: &[&str], rows: u16, columns: u16) -> Pty {
    let pty = Pty::start(home.command(&[&["watch"], words].concat()), rows, columns);
    pty.expect_part(" idle - ");
    pty
}

#[test]
fn a_table_keeps_itself_true() {
    let home = one();
    let mut pty = watched(&home, &[], 12, 91);
    assert!(pty.is_raw() && pty.has_other_screen());
    let newest = "stored  claude-code  22222222  30m  ~/other/deep  東京の天気を取得する";
    pty.expect(&format!(
        "\
-- 0 waiting, 0 busy, 0 idle - q quits
STATE   HARNESS      ID        AGE  WORKSPACE     TITLE
{newest}"
    ));
    // A session appears, works, waits for somebody, and ends.
    home.session(WAITER, "proj", "Mend the \u{1b}[2Jroof", 60 * MINUTE + MINUTE / 2);
    let stored = "stored  claude-code  11111111  1h   ~/proj        Mend the";
    pty.expect_part(&format!("{newest}\n{stored}"));
    let live = home.live(WAITER, json!({ "status": "busy" }));
    pty.expect_part("-- 0 waiting, 1 busy, 0 idle - q quits\n");
    pty.expect_part("TITLE\nbusy    claude-code  11111111  1h   ~/proj        Mend the");
    says(&home, &live, json!({ "status": "waiting", "waitingFor": "permission prompt" }));
    pty.expect_part("-- 1 waiting, 0 busy, 0 idle - q quits\n");
    pty.expect_part("waiting  claude-code  11111111  1h   ~/proj        [permission prompt] Mend the");
    // The column of states grows with the widest one.
    pty.expect_part(&format!("roof\n{}", newest.replacen("stored  ", "stored   ", 1)));
    drop(live);
    pty.expect_part("-- 0 waiting, 0 busy, 0 idle - q quits\n");
    pty.expect_part(&format!("{newest}\n{stored}"));

    // What cannot be read is counted while that is so.
    let bad = home.put(".claude/projects/proj/33333333-aaaa-4000-8000-000000000004.jsonl", "this is no record\n");
    pty.expect_part("-- 0 waiting, 0 busy, 0 idle - 1 problem: `tackroom doctor` - q quits\n");
    fs::remove_file(bad).unwrap();
    pty.expect_part("-- 0 waiting, 0 busy, 0 idle - q quits\n");
    pty.type_in("xq");
    assert_eq!(pty.end(), (Default::default(), String::new()));
}

#[test]
fn as_much_as_fits_is_shown_whatever_the_size() {
    let (home, _waiting) = three();
    let _idle = home.live(OLDER, json!({ "status": "idle" }));
    let mut pty = watched(&home, &[], 20, 80);
    pty.expect_part("stored   claude-code  22222222-a");
    pty.resize(4, 46);
    pty.expect(
        "\
-- 1 waiting, 0 busy, 1 idle - q quits
STATE    HARNESS      ID        AGE  …SPACE
waiting  claude-code  11111111  5d   ~/proj
idle     claude-code  22222222  2h   ~/proj",
    );
    pty.resize(2, 12);
    pty.expect("-- 1 waiti…\nwaiting  c…");
    pty.resize(1, 3);
    pty.expect("-…");
    pty.resize(20, 80);
    pty.expect(
        "\
-- 1 waiting, 0 busy, 1 idle - q quits
STATE    HARNESS      ID          AGE  WORKSPACE     TITLE
waiting  claude-code  11111111    5d   ~/proj        [permission prompt] Move …
idle     claude-code  22222222-b  2h   ~/proj        Turn around
stored   claude-code  22222222-a  30m  ~/other/deep  東京の天気を取得する",
    );
    pty.type_in("q");
    pty.end();

    let mut pty = watched(&home, &["--live"], 20, 80);
    pty.expect_part("idle     claude-code  22222222  2h");
    assert!(!pty.contents().contains("persisted"), "{}", pty.contents());
    pty.type_in("q");
    pty.end();
}

#[test]
fn every_way_out_leaves_the_terminal_as_it_was() {
    let home = one();
    for key in ["q", "\x03", "\x04"] {
        let mut pty = watched(&home, &[], 12, 80);
        pty.type_in(key);
        let (status, screen) = pty.end();
        assert_eq!((status.code(), screen.as_str()), (Some(0), ""), "{key:?}");
    }
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129), (Signal::SIGINT, 130)] {
        let pty = watched(&home, &[], 12, 80);
        pty.signal(signal);
        let (status, screen) = pty.end();
        assert_eq!((status.code(), screen.as_str()), (Some(code), ""));
    }
    let status = watched(&home, &[], 12, 80).close();
    assert_eq!(status.code(), Some(129));

    // What was there before is there again.
    let mut shell = Command::new("sh");
    shell.args(["-c", "echo before; \"$0\" watch; echo left $?", env!("CARGO_BIN_EXE_tackroom")]);
    shell.env_clear().env("HOME", home.path());
    let mut pty = Pty::start(shell, 12, 80);
    pty.expect_part(" idle - ");
    assert!(!pty.contents().contains("before"));
    pty.type_in("q");
    assert_eq!(pty.end().1, "before\nleft 0");
}

#[test]
fn a_stopped_program_goes_on_with_what_is_true_then() {
    let home = one();
    let mut pty = watched(&home, &[], 12, 80);
    let before = pty.contents();
    pty.stop();
    pty.disturb();
    pty.expect_part("written over");
    pty.signal(Signal::SIGCONT);
    pty.expect(&before);
    assert!(pty.is_raw());
    // Its session has no job control, so Ctrl-Z stops nothing, and draws anew.
    pty.type_in("\x1a");
    home.session(OLDER, "proj", "Another", 60 * MINUTE);
    pty.expect_part("Another");
    assert!(pty.is_raw() && pty.has_other_screen());
    pty.type_in("\x0cq");
    assert_eq!(pty.end().1, "");
}

/// Starts to watch line by line.
fn reading(home: &Home, words: &[&str]) -> Reading {
    Reading::start(home.command(&[&["watch"], words].concat()))
}

/// The next line, behind its time.
#[track_caller]
fn said(reading: &mut Reading) -> String {
    let line = reading.line();
    let (clock, said) = line.split_once(' ').unwrap();
    assert!(clock.len() == 8 && clock.split(':').all(|part| part.parse::<u8>().is_ok()), "{line}");
    said.to_owned()
}

#[test]
fn each_change_is_a_line() {
    let home = one();
    let mut reading = reading(&home, &[]);
    let newest = format!("stored claude-code {NEWEST}  ~/other/deep  \"東京の天気を取得する\"");
    assert_eq!(said(&mut reading), newest);
    assert_eq!(said(&mut reading), "synced");
    let file = home.session(WAITER, "proj", "Turn \u{202e}around", MINUTE);
    let row = format!("claude-code {WAITER}  ~/proj  \"Turn \u{fffd}around\"");
    assert_eq!(said(&mut reading), format!("stored {row}"));
    let live = home.live(WAITER, json!({ "status": "busy" }));
    assert_eq!(said(&mut reading), format!("busy {row}"));
    says(&home, &live, json!({ "status": "waiting", "waitingFor": "permission prompt" }));
    assert_eq!(said(&mut reading), format!("waiting {row}  permission prompt"));
    drop(live);
    assert_eq!(said(&mut reading), format!("stored {row}"));
    fs::remove_file(file).unwrap();
    assert_eq!(said(&mut reading), format!("removed {row}"));
    reading.signal(Signal::SIGTERM);
    let run = reading.rest(&home);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (143, "", ""));
}

#[test]
fn json_is_the_events_with_their_revisions() {
    let (home, waiting) = three();
    let mut all = reading(&home, &["--json", "--live"]);
    let mut event = |kind: &str| -> Value {
        let line = all.line();
        assert!(line.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{line:?}");
        let told: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(told["event"]["kind"], kind);
        told
    };
    assert_eq!(event("added")["event"]["entry"]["sessionId"], WAITER);
    let revision = event("synced")["revision"].as_str().unwrap().to_owned();
    drop(waiting);
    let removed = event("removed");
    assert_eq!(removed["event"]["id"], format!("claude-code:{WAITER}"));
    assert_ne!(removed["revision"], revision);

    // Of what another process knew nothing is known: all of it begins anew.
    let mut again = reading(&home, &["--since", &revision]);
    assert_eq!(said(&mut again), "resync");
    assert!((0..3).all(|_| said(&mut again).starts_with("stored ")));
    assert_eq!(said(&mut again), "synced");
    assert_eq!(again.close(&home), all.close(&home));
}

#[test]
fn filters_filter_and_who_is_not_read_any_more_leaves() {
    let (home, _live) = three();
    let mut reading = reading(&home, &["--workspace", "proj", "--state", "persisted"]);
    assert!(said(&mut reading).contains(OLDER));
    assert_eq!(said(&mut reading), "synced");
    let run = reading.close(&home);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(home.run(&["watch", "--state", "sleeping"]).code, 2);
}
