//! A person joins a running agent, in a real terminal; and so does a program.

use super::{Home, Reading, Run, WAITER};
use crate::support::Pty;
use crate::support::runtime::{Options, Runtime, Step};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

const ID: &str = "runtime-of-the-demo";

/// A runtime with an agent loop of its own.
fn options() -> Options {
    let bash = |command: &str| Step::Tool {
        id: "t1".into(),
        name: "bash".into(),
        arguments: json!({ "command": command }).to_string(),
        output: "exit code: 0\nroof.txt\n".into(),
        asks: true,
    };
    Options::main(ID, "/home/dev/demo")
        .on("slow", [Step::Hold("slow".into()), Step::Text("done at last".into())])
        .on("ask", [bash("rm -rf roof"), Step::Text("it said {output}".into())])
        .on(
            "form",
            [Step::Elicitation { message: "Which port?".into(), schema: json!({}) }, Step::Text("{output}".into())],
        )
        .on("fail", [Step::Fail("no more money".into())])
        .on("attack", [Step::Text("a\x1b[2J\x1b]0;evil\x07b\u{9b}31m\u{202e}c\rd".into())])
}

fn start(home: &Home, options: Options) -> Runtime {
    let runtime = Runtime::start(options);
    runtime.publish(&home.path().join(".config/supercode/live-runtimes"));
    runtime
}

fn attach(home: &Home, words: &[&str]) -> Command {
    home.command(&[&["attach", ID, "--client-id", "me"], words].concat())
}

/// The terminal of a person who has joined.
fn joined(home: &Home, words: &[&str]) -> Pty {
    let pty = Pty::start(attach(home, words), 20, 72);
    pty.expect_part(" idle - ");
    pty
}

const OPENED: &str = "\
-- You are an agent of the tests.
-- attached to runtime-of-the-demo (fake-model) as me
-- approvals now come to you; with no client attached they are denied
-- /help lists commands; Ctrl-D detaches and leaves the runtime running
";

#[test]
fn a_person_talks_steers_interrupts_and_leaves() {
    let home = Home::new();
    let runtime = start(&home, options());
    let mut pty = joined(&home, &[]);
    assert!(pty.is_raw());
    pty.expect(&format!("{OPENED}-- idle - no client has control; typing takes it\n>"));

    pty.type_in("東京 e\u{301}x\x1b[D\x7f!\x1b[F?");
    pty.expect_part("> 東京 !x?");
    pty.type_in("\x15hello\r");
    let talked = format!("{OPENED}> hello\necho: hello\n");
    pty.expect(&format!("{talked}-- idle - you have control\n>"));
    assert_eq!(runtime.controller().as_deref(), Some("me"));

    pty.type_in("slow\r");
    pty.expect_part("-- busy - you have control - Ctrl-C interrupts");
    pty.type_in("faster\r");
    pty.expect_part("-- steered: faster");
    assert_eq!(runtime.steered(), ["faster"]);
    pty.type_in("\x03");
    let interrupted = format!("{talked}> slow\n-- steered: faster\n-- the turn was interrupted\n");
    pty.expect(&format!("{interrupted}-- idle - you have control\n>"));

    pty.type_in("fail\r/nonsense\r");
    pty.expect_part("! the turn failed: no more money");
    pty.expect_part("-- unknown command /nonsense");
    pty.type_in("\x04");
    let (status, screen) = pty.end();
    assert_eq!(status.code(), Some(0), "{screen}");
    assert!(screen.starts_with(&interrupted) && !screen.contains("you have control"), "{screen}");
    assert_eq!(runtime.observers(), [""; 0]);
    assert_eq!(runtime.controller(), None);
}

#[test]
fn what_is_said_is_seen_while_it_is_said() {
    let home = Home::new();
    let runtime = start(&home, options());
    let mut pty = joined(&home, &[]);
    pty.type_in("and I");
    runtime.emit("text_delta", json!({ "text": "It goes" }));
    pty.expect(&format!("{OPENED}It goes\n-- idle - no client has control; typing takes it\n> and I"));
    runtime.emit("text_delta", json!({ "text": " on\nand" }));
    pty.expect(&format!("{OPENED}It goes on\nand\n-- idle - no client has control; typing takes it\n> and I"));
    runtime.emit("reasoning", json!({ "text": "why?" }));
    pty.expect(&format!("{OPENED}It goes on\nand\n~ why?\n-- idle - no client has control; typing takes it\n> and I"));
    pty.type_in("\x1b[200~ paste\nthis\x1b[201~");
    pty.expect_part("> and I paste⏎this");
    runtime.wait_turns(0);
    pty.resize(6, 40);
    pty.expect("   running\nIt goes on\nand\n~ why?\n-- idle - no client has control; typin…\n> and I paste⏎this");
    pty.type_in("\x03/quit\r");
    assert_eq!(pty.end().0.code(), Some(0));
}

#[test]
fn approvals_are_answered_on_purpose() {
    let home = Home::new();
    let runtime = start(&home, options());
    let mut pty = joined(&home, &[]);
    for (key, word, said) in
        [("y", "allowed", "it said"), ("a", "allowed for this session", "it said"), ("n", "denied", "Error")]
    {
        pty.type_in("ask\r");
        pty.expect_part("bash: y allows it, n denies it, a allows it for this session");
        pty.type_in("yes\r");
        pty.expect_part("-- answer the request first, or use /steer TEXT");
        pty.type_in(&format!("{key}\r"));
        pty.expect_part(&format!(": {word}\n"));
        pty.expect_part(said);
        pty.expect_part("-- idle - you have control");
        pty.type_in("\x0c");
    }
    let shown = pty.contents();
    assert!(shown.contains("? request 3: allow bash?\n  {\"command\":\"rm -rf roof\"}\n"), "{shown}");
    assert!(shown.contains("* bash {\"command\":\"rm -rf roof\"}\n"), "{shown}");
    assert!(shown.contains("  | Error: tool `bash` was not approved"), "{shown}");

    // What was being typed when the question came is no answer to it.
    pty.type_in("y");
    pty.expect_part("> y");
    runtime.prompt("ask");
    pty.expect_part("bash: y allows it");
    pty.type_in("\r");
    assert!(runtime.wait_request() > 3);
    pty.type_in("n\r");
    pty.expect_part("> y");
    pty.expect_part("-- idle");
    // Nor is the rest of a word.
    pty.type_in("\x15please deplo");
    pty.expect_part("> please deplo");
    runtime.prompt("ask");
    pty.expect_part("bash: y allows it");
    pty.type_in("y\r");
    pty.expect_part("you were typing when the request arrived");
    pty.type_in("n\r");
    pty.expect_part("> please deplo");
    let last: Value = serde_json::from_slice(&runtime.seen_rpc("respond").last().unwrap().body).unwrap();
    assert_eq!(last["params"]["response"]["decision"], "deny");
    pty.type_in("\x15\x04");
    assert_eq!(pty.end().0.code(), Some(0));
}

#[test]
fn questions_are_answered_declined_and_dropped() {
    let home = Home::new();
    let runtime = start(&home, options());
    let mut pty = joined(&home, &[]);
    for (number, (line, said)) in
        [("{\"port\": 80}", "answered"), ("/decline", "declined"), ("/cancel", "dropped")].into_iter().enumerate()
    {
        pty.type_in("form\r");
        pty.expect_part("Which port?: type an answer, /decline or /cancel");
        pty.type_in(&format!("{line}\r"));
        pty.expect_part(&format!("-- request {}: {said}", number + 1));
        pty.expect_part("-- idle - you have control");
    }
    let answers = runtime.seen_rpc("respond");
    let first: Value = serde_json::from_slice(&answers[0].body).unwrap();
    assert_eq!(first["params"]["response"]["content"], json!({ "port": 80 }));
    pty.type_in("\x04");
    pty.end();
}

#[test]
fn who_drives_is_said_and_changes_hands() {
    let home = Home::new();
    let runtime = start(&home, options());
    let mut anna = joined(&home, &[]);
    let mut ben = Pty::start(home.command(&["attach", ID, "--client-id", "ben"]), 20, 72);
    anna.type_in("hello\r");
    anna.expect_part("-- idle - you have control");
    ben.expect_part("-- idle - me has control, /take for control");
    ben.type_in("mine\r");
    ben.expect_part("! me has control of this runtime; /take for control");
    ben.expect_part("> mine");
    ben.type_in("\x15/take\r");
    ben.expect_part("-- you have control");
    assert_eq!(runtime.controller().as_deref(), Some("ben"));
    anna.expect_part("-- idle - ben has control, /take for control");
    ben.type_in("/release\r");
    ben.expect_part("-- released control");
    assert_eq!(runtime.controller(), None);
    runtime.emit("cache_warning", json!({ "message": "still here" }));
    ben.expect_part("-- still here");
    ben.type_in("\x04");
    anna.type_in("\x04");
    assert_eq!((ben.end().0.code(), anna.end().0.code()), (Some(0), Some(0)));
}

#[test]
fn who_only_looks_sends_nothing() {
    let home = Home::new();
    let runtime = start(&home, options());
    let mut pty = joined(&home, &["--observe"]);
    pty.type_in("hello\r/take\r");
    pty.expect_part("-- attached with --observe; attach without it to send input");
    pty.type_in("\x03\x04");
    assert_eq!(pty.end().0.code(), Some(0));
    let asked: Vec<_> = runtime.seen().into_iter().filter_map(|seen| seen.rpc).collect();
    assert!(
        asked.iter().all(|method| ["describe", "attach", "lease", "detach"].contains(&method.as_str())),
        "{asked:?}"
    );
    assert!(runtime.seen_rpc("attach").iter().all(|seen| seen.permissions.as_deref() == Some("observe")));
}

#[test]
fn no_text_of_a_runtime_acts_on_the_terminal() {
    let home = Home::new();
    let _runtime = start(&home, options());
    let mut pty = joined(&home, &[]);
    pty.type_in("attack\r");
    // The interpreter shows nothing for the letter that stands for what was taken out.
    pty.expect(&format!("{OPENED}> attack\nabc\nd\n-- idle - you have control\n>"));
    pty.type_in("\x04");
    pty.end();
}

#[test]
fn every_way_out_leaves_the_terminal_as_it_was() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129), (Signal::SIGINT, 130)] {
        let home = Home::new();
        let runtime = start(&home, options());
        let pty = joined(&home, &[]);
        pty.signal(signal);
        assert_eq!(pty.end().0.code(), Some(code));
        assert_eq!(runtime.observers(), [""; 0]);
    }

    // The runtime crashes.
    let home = Home::new();
    let runtime = start(&home, options());
    let pty = joined(&home, &[]);
    drop(runtime);
    let (status, screen) = pty.end();
    assert_eq!(status.code(), Some(1));
    assert!(screen.contains("\ntackroom: "), "{screen}");

    // The window is closed.
    let runtime = start(&home, options());
    let pty = joined(&home, &[]);
    let status = pty.close();
    assert_eq!(status.code(), Some(129));
    assert_eq!(runtime.observers(), [""; 0]);
}

#[test]
fn a_stopped_program_goes_on_where_it_was() {
    let home = Home::new();
    let _runtime = start(&home, options());
    let mut pty = joined(&home, &[]);
    pty.type_in("half a word");
    pty.expect_part("> half a word");
    let before = pty.contents();
    pty.stop();
    pty.disturb();
    pty.expect_part("written over");
    pty.signal(Signal::SIGCONT);
    pty.expect(&before);
    assert!(pty.is_raw());
    // Its session has no job control, so Ctrl-Z stops nothing, and draws anew.
    pty.type_in("\x1as");
    pty.expect(&before.replace("half a word", "half a words"));
    pty.type_in("\x15\x04");
    pty.end();
}

#[test]
fn who_falls_behind_is_attached_again_and_misses_nothing() {
    let home = Home::new();
    let runtime = start(&home, options());
    let mut reading = reading(attach(&home, &[]));
    // More than waits within the server, the program and a pipe, and no more than the runtime keeps for who is slow.
    for number in 0..900 {
        runtime.emit("text_delta", json!({ "text": format!("line {number} {}\n", "x".repeat(6_000)) }));
    }
    runtime.wait_seen("detach", 1);
    for number in 0..900 {
        let line = reading.line();
        assert!(line.starts_with(&format!("line {number} x")), "{number}: {:.40}", line);
    }
    let run = reading.end(&home);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", "tackroom: fell behind; attached again\n"));
}

#[test]
fn runtime_that_dies_within_a_line_leaves_what_it_said() {
    let home = Home::new();
    let runtime = start(&home, options());
    let reading = reading(attach(&home, &[]));
    runtime.emit("text_delta", json!({ "text": "whole\nhalf a li" }));
    runtime.wait_drained();
    runtime.refuse();
    runtime.cut();
    let run = reading.rest(&home);
    assert_eq!((run.code, run.out.as_str()), (1, "whole\nhalf a li\n"), "{}", run.err);
}

#[test]
fn signal_within_a_line_leaves_what_was_said() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129), (Signal::SIGINT, 130)] {
        let home = Home::new();
        let runtime = start(&home, options());
        let mut reading = reading(attach(&home, &[]));
        runtime.emit("text_delta", json!({ "text": "whole\nhalf a li" }));
        assert_eq!(reading.line(), "whole");
        reading.signal(signal);
        let run = reading.rest(&home);
        assert_eq!((run.code, run.out.as_str()), (code, "half a li\n"), "{}", run.err);
    }
}

/// A program that is attached and read line by line.
fn reading(command: Command) -> Reading {
    let mut reading = Reading::start(command);
    let opening = ["-- approvals now", "{\"attachment\""];
    loop {
        let line = reading.line();
        if opening.iter().any(|begin| line.starts_with(begin)) {
            return reading;
        }
    }
}

/// Attaches without a terminal.
fn piped(home: &Home, words: &[&str], input: &str) -> Run {
    let mut command = attach(home, words);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    home.told(child.wait_with_output().unwrap())
}

const PIPED: &str = "\
-- You are an agent of the tests.
-- attached to runtime-of-the-demo (fake-model) as me
-- approvals now come to you; with no client attached they are denied
";

#[test]
fn each_line_of_a_pipe_is_a_prompt() {
    let home = Home::new();
    let runtime = start(&home, options());
    let run = piped(&home, &[], "one\n\ntwo\r\nask\nlast without end");
    let expected = format!(
        "{PIPED}> one\necho: one\n> two\necho: two\n> ask\n* bash {{\"command\":\"rm -rf roof\"}}\n\
         ? request 1: allow bash?\n  {{\"command\":\"rm -rf roof\"}}\n-- request 1: denied\n  \
         | Error: tool `bash` was not approved for execution\nit said Error: tool `bash` was not approved for execution\n\
         > last without end\necho: last without end\n"
    );
    assert_eq!(run.out, expected);
    assert_eq!(run.err, "tackroom: request 1 is denied: nobody can answer it here\n");
    assert_eq!(run.code, 0);
    assert_eq!(runtime.observers(), [""; 0]);

    let run = piped(&home, &[], "fail\n");
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert!(run.out.ends_with("> fail\n! the turn failed: no more money\n"), "{}", run.out);
    let run = piped(&home, &["--observe"], "hello\n");
    assert_eq!((run.code, run.err.as_str()), (1, "tackroom: --observe sends nothing to the agent\n"));
    assert_eq!(piped(&home, &[], "\u{0}\n").code, 0);
}

#[test]
fn the_end_of_a_pipe_waits_for_the_turn_that_runs() {
    let home = Home::new();
    let runtime = start(&home, options());
    runtime.prompt("slow");
    runtime.wait_held("slow");
    let mut reading = reading(attach(&home, &[]));
    drop(reading.child.stdin.take());
    runtime.emit("cache_warning", json!({ "message": "still here" }));
    assert_eq!(reading.line(), "-- still here");
    runtime.release("slow");
    let run = reading.end(&home);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "done at last\n", ""));
}

#[test]
fn json_is_the_answer_and_then_the_events() {
    let home = Home::new();
    let runtime = start(&home, options());
    let run = piped(&home, &["--json", "--history", "0"], "attack\n");
    let lines: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["clientId"], &lines[0]["history"]), (&json!("me"), &json!([])));
    let kinds: Vec<&str> = lines[1..].iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[1], *kinds.last().unwrap()), ("user_message", "turn_started", "turn_succeeded"));
    assert!(lines[1]["sequence"].is_u64());
    assert!(run.out.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')), "{:?}", run.out);
    assert_eq!((run.code, run.err.as_str()), (0, ""));

    let reading = reading(attach(&home, &["--json"]));
    drop(runtime);
    let run = reading.rest(&home);
    let last: Value = serde_json::from_str(run.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["kind"], run.code), (&json!("disconnected"), 1));
}

#[test]
fn who_is_not_read_any_more_leaves() {
    let home = Home::new();
    let runtime = start(&home, options());
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = attach(&home, &[]);
    let mut child = command.stdin(Stdio::piped()).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    drop(command);
    let input = child.stdin.take();
    runtime.wait_streams(1);
    drop(reader);
    let run = home.told(child.wait_with_output().unwrap());
    drop(input);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(runtime.observers(), [""; 0]);
}

#[test]
fn a_runtime_is_named_in_many_ways() {
    let home = Home::new();
    let session = "0b7a3a1e-0000-4000-9000-00000000c0de";
    home.session(session, "proj", "Mend the roof", 60_000);
    let mut hosted = Options::hosted("claude-code", "hosted-1", home.path().join("proj").to_str().unwrap());
    hosted.source.session_id = session.to_owned();
    let runtime = start(&home, hosted);
    let other = start(&home, options());
    for name in ["hosted-1", "host", session, "0b7a", &format!("claude-code:{session}")] {
        let run = home.run(&["attach", name, "--client-id", "x"]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{name}");
        assert!(run.out.contains(&format!("attached to {name} (claude-code) as x")), "{}", run.out);
    }
    assert_eq!(home.run(&["attach", "0b"]).err, "tackroom: `0b` is too short: give 4 characters or more\n");
    // Only a person at a terminal can confirm that a title means this session.
    let run = home.run(&["attach", "the ROOF"]);
    let expected = "tackroom: only a title matches: Mend the roof; name the session by its id, hosted-1\n";
    assert_eq!((run.code, run.err.as_str()), (2, expected));
    let run = home.run(&["attach", "nothing"]);
    let expected = "tackroom: there is no session `nothing`; `tackroom list` shows the sessions of this machine\n";
    assert_eq!((run.code, run.err.as_str()), (3, expected));
    let run = home.run(&["attach", "supercode-live://"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.starts_with("tackroom: `supercode-live://` matches 2 runtimes; name one by its endpoint:\n"),
        "{}",
        run.err
    );
    drop(runtime);
    let run = home.run(&["attach", session]);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("`tackroom resume claude-code:"), "{}", run.err);
    // A live session that is not a runtime takes messages where it can, and is not to be resumed.
    let socket = home.path().join("a.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (fields, hint) in [
        (json!({ "name": "deaf" }), " shows its terminal".to_owned()),
        (
            json!({ "name": "deaf", "messagingSocketPath": socket }),
            format!("`tackroom message claude-code:{WAITER} TEXT`"),
        ),
    ] {
        let live = home.live(WAITER, fields);
        let run = home.run(&["attach", WAITER]);
        assert_eq!(run.code, 3);
        assert!(run.err.contains(&format!("is open in process {}", live.pid())), "{}", run.err);
        assert!(run.err.contains(&hint) && !run.err.contains("resume"), "{}", run.err);
    }

    // One that refuses connections is there, and says why it cannot be joined.
    other.refuse();
    other.cut();
    let run = home.run(&["attach", ID]);
    assert_eq!(run.code, 1);
    assert!(run.err.starts_with("tackroom: the runtime takes no connection"), "{}", run.err);
}
