//! `tackroom message`: a text into a live session, through a courier that is a script here.

use super::{Home, Reading, Run, Sleeper, WAITER};
use crate::peer_message::{gone, write_courier};
use crate::support::{DEADLINE, Pty};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::time::Instant;
use tackroom::platform::process::alive;

const HOLDS: &str = "call; sent; notice held; stay";
/// One that never says anything. Its note tells its pid, whole or not at all.
const SILENT: &str = "echo $$ >\"$HOME/at-work.part\"; mv \"$HOME/at-work.part\" \"$HOME/at-work\"; stay; sleep 600";

/// A home with a courier and a session that can be reached.
struct World {
    home: Home,
    _session: Sleeper,
    _listener: UnixListener,
}

impl World {
    fn new(courier: &str) -> Self {
        let home = Home::new();
        write_courier(home.path(), courier);
        let socket = home.path().join("a.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let session = home.live(WAITER, json!({ "messagingSocketPath": socket, "status": "idle" }));
        Self { home, _session: session, _listener: listener }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.home.command(&["message", "--courier-program", "./courier"]);
        command.args(words).env("PATH", std::env::var_os("PATH").unwrap());
        command
    }

    fn run(&self, words: &[&str]) -> Run {
        self.home.told(self.command(words).stdin(Stdio::null()).output().unwrap())
    }

    /// Gives it a text to read.
    fn run_with(&self, words: &[&str], text: &[u8]) -> Run {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(text);
        self.home.told(child.wait_with_output().unwrap())
    }

    /// The courier's pid, once it is at work.
    fn at_work(&self) -> i32 {
        let begin = Instant::now();
        loop {
            if let Ok(pid) = fs::read_to_string(self.home.path().join("at-work")) {
                return pid.trim().parse().unwrap();
            }
            assert!(begin.elapsed() < DEADLINE, "no courier is at work");
            std::thread::yield_now();
        }
    }

    /// What the only courier so far was told to send.
    fn delivered(&self) -> String {
        let notes = fs::read_dir(self.home.path()).unwrap().map(|entry| entry.unwrap().path());
        let notes: Vec<_> = notes.filter(|path| path.file_stem().unwrap() == "stdin").collect();
        let [note] = &notes[..] else { panic!("{notes:?}") };
        let order: Value = serde_json::from_str(&fs::read_to_string(note).unwrap()).unwrap();
        fs::remove_file(note).unwrap();
        let prompt = order["message"]["content"][0]["text"].as_str().unwrap();
        let (_, fenced) = prompt.split_once("\nBEGIN ").unwrap();
        let (fenced, _) = fenced.rsplit_once("\nEND ").unwrap();
        fenced.split_once('\n').unwrap().1.to_owned()
    }
}

#[test]
fn what_became_of_a_message_is_a_line_and_an_exit_code() {
    let run = World::new("call; sent; result SENT; stay").run(&["reviewer", "Hello"]);
    let accepted = "accepted  reviewer  in its inbox\n";
    assert_eq!((run.code, &*run.out, &*run.err), (0, accepted, ""));
    let run = World::new("call; sent; notice held; stay").run(&["REVIEWER", "Hello"]);
    let held = "held  reviewer  Cross-session message held (recipient: uds:$HOME/a.sock). So it is.\n";
    assert_eq!((run.code, &*run.out, &*run.err), (4, held, ""));
    let run = World::new("call; sent; notice refused; stay").run(&["reviewer", "Hello"]);
    assert_eq!((run.code, &run.out[..19]), (5, "refused  reviewer  "));
    let run = World::new("echo 'not logged in' >&2; exit 1").run(&["reviewer", "Hello"]);
    let failed = "tackroom: the courier did not deliver the message: it ended with 1: not logged in\n";
    assert_eq!((run.code, &*run.out, &*run.err), (1, "", failed));
}

#[test]
fn json_is_the_result_of_the_method() {
    let run = World::new(HOLDS).run(&["reviewer", "Hello", "--json"]);
    let told: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.code, &told["outcome"], &told["messageId"]), (4, &json!("held"), &json!("m-1")));
    assert_eq!(told["peer"]["name"], "reviewer");
}

#[test]
fn a_session_is_named_by_name_id_beginning_or_endpoint() {
    let world = World::new(HOLDS);
    let peers: Value = serde_json::from_str(&world.home.run(&["peers", "--json"]).out).unwrap();
    let endpoint =
        peers["peers"][0]["endpoint"].as_str().unwrap().replace("$HOME", world.home.path().to_str().unwrap());
    let id = format!("claude-code:{WAITER}");
    for name in ["Reviewer", WAITER, &WAITER[..8], &id, &endpoint] {
        assert_eq!(world.run(&[name, "Hello"]).code, 4, "{name}");
    }
    let _twin = world.home.live("11111111-bbbb-4000-8000-000000000009", json!({ "name": "REVIEWER" }));
    for (name, code) in
        [("nobody", 3), ("reviewer", 2), ("11111111", 2), ("cc-peer:x", 2), ("claude-code:x", 3), ("zz", 3)]
    {
        let run = world.run(&[name, "Hello"]);
        assert_eq!((run.code, &*run.out), (code, ""), "{name}: {}", run.err);
        assert!(!run.err.contains("peer/list"), "{}", run.err);
    }
}

#[test]
fn a_text_is_a_word_or_comes_over_standard_input() {
    let world = World::new(HOLDS);
    for (words, input, delivered) in [
        (&["reviewer", "--", "--json"][..], "", "--json"),
        (&["reviewer", "-v two words"], "", "-v two words"),
        (&["reviewer"], "from a pipe\n", "from a pipe"),
        (&["reviewer", "-"], "two\nlines\n\n", "two\nlines\n"),
        (&["reviewer", "-"], "dos\r\n", "dos"),
        (&["reviewer", "-"], "no end", "no end"),
    ] {
        let run = world.run_with(words, input.as_bytes());
        assert_eq!(run.code, 4, "{words:?}: {}", run.err);
        assert_eq!(world.delivered(), delivered, "{words:?}");
    }
    for (input, code, words) in [
        (b"".to_vec(), 1, "there is no text to deliver"),
        (b"\xff".to_vec(), 2, "not UTF-8"),
        (vec![b'a'; 65_537], 1, "more than 65536 bytes"),
        (vec![b'a'; 1 << 20], 1, "more than 65536 bytes"),
    ] {
        let run = world.run_with(&["reviewer"], &input);
        assert_eq!(run.code, code, "{}", run.err);
        assert!(run.err.contains(words), "{}", run.err);
    }
    let mut longest = vec![b'a'; 65_536];
    longest.push(b'\n');
    assert_eq!(world.run_with(&["reviewer"], &longest).code, 4);
}

#[test]
fn a_signal_ends_the_courier_first() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let world = World::new(SILENT);
        let message = Reading::start(world.command(&["reviewer", "Hello"]));
        let courier = world.at_work();
        message.signal(signal);
        let run = message.rest(&world.home);
        assert_eq!((run.code, &*run.out), (128 + signal as i32, ""));
        assert!(!alive(courier), "{signal}");
    }
}

#[test]
fn the_directory_that_a_killed_one_left_is_removed_by_a_later_one() {
    let world = World::new(HOLDS);
    let left = world.home.path().join("tackroom-courier-old");
    fs::create_dir(&left).unwrap();
    let two_hours_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7_200);
    fs::File::open(&left).unwrap().set_modified(two_hours_ago).unwrap();
    let mut command = world.command(&["reviewer", "Hello"]);
    let run = world.home.told(command.env("TMPDIR", world.home.path()).stdin(Stdio::null()).output().unwrap());
    assert_eq!((run.code, left.exists()), (4, false), "{}", run.err);
}

#[test]
fn where_nobody_reads_the_exit_code_still_says_it() {
    let world = World::new(HOLDS);
    let run = Reading::start(world.command(&["reviewer", "Hello"])).close(&world.home);
    assert_eq!((run.code, &*run.err), (4, ""));
}

#[test]
fn in_a_terminal_a_text_is_typed_and_a_key_ends_it() {
    let world = World::new(HOLDS);
    let mut terminal = Pty::start(world.command(&["reviewer"]), 10, 100);
    terminal.type_in("typed here\n\x04");
    terminal.expect_part("held  reviewer");
    assert_eq!(terminal.end().0.code(), Some(4));
    assert_eq!(world.delivered(), "typed here");

    let world = World::new(SILENT);
    let mut terminal = Pty::start(world.command(&["reviewer", "Hello"]), 10, 100);
    let courier = world.at_work();
    terminal.type_in("\x03");
    assert_eq!(terminal.end().0.code(), Some(130));
    gone(courier);
}
