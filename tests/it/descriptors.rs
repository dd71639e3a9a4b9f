//! The server's descriptors: what they may be, and how they are left.

use crate::support::{Home, Spawn, Transport, bytes_in, initialize_params, uuid};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::ptr::null_mut;

fn flags(descriptor: impl AsFd) -> OFlag {
    OFlag::from_bits_retain(fcntl(descriptor, FcntlArg::F_GETFL).unwrap())
}

#[test]
fn flags_of_shared_descriptions_are_put_back() {
    for transport in [Transport::Pipes, Transport::Sockets, Transport::OneSocket] {
        for end in ["exit", "input", "signal"] {
            let mut server = Spawn::empty().transport(transport).keep_ends().start();
            server.initialize(json!({}));
            // While it runs it has changed them, or there were nothing to test.
            let kept = server.kept.take().unwrap();
            assert!(kept.iter().all(|end| flags(end).contains(OFlag::O_NONBLOCK)), "{transport:?}");
            match end {
                "exit" => server.notify("exit", json!({})),
                "input" => server.close_input(),
                _ => server.signal(Signal::SIGTERM),
            }
            let code = server.exit_code();
            assert_eq!(
                code,
                match end {
                    "exit" => 1,
                    "input" => 0,
                    _ => 143,
                }
            );
            assert!(kept.iter().all(|end| !flags(end).contains(OFlag::O_NONBLOCK)), "{transport:?} after {end}");
        }
    }
}

#[test]
fn flags_that_were_set_before_stay_set() {
    let (stdin, input) = std::os::unix::net::UnixStream::pair().unwrap();
    stdin.set_nonblocking(true).unwrap();
    let home = Home::new();
    let mut child =
        serve(&home).stdin(OwnedFd::from(stdin.try_clone().unwrap())).stdout(Stdio::null()).spawn().unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    assert!(flags(&stdin).contains(OFlag::O_NONBLOCK));
}

/// The program, for descriptors that no driver of ours can speak over.
fn serve(home: &Home) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tackroom"));
    command.arg("serve").env_clear().env("HOME", home.path());
    command
}

fn call(id: u64, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string() + "\n"
}

/// A conversation of an `initialize`, some lists and a ping, as lines.
fn conversation() -> String {
    let mut lines = call(0, "initialize", initialize_params());
    for id in 1..9 {
        lines += &call(id, "registry/list", json!({}));
    }
    lines + &call(9, "ping", json!({}))
}

fn ids(output: impl AsRef<[u8]>) -> Vec<u64> {
    let lines = output.as_ref().lines().map(Result::unwrap);
    let mut ids: Vec<u64> =
        lines.map(|line| serde_json::from_str::<Value>(&line).unwrap()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn files_and_dev_null() {
    let home = Home::new();
    home.project("-w", "/w").many(100);
    let (asked, answered) = (home.path().join("in"), home.path().join("out"));
    fs::write(&asked, conversation()).unwrap();
    let everything: Vec<u64> = (0..10).collect();

    let output = serve(&home).stdin(File::open(&asked).unwrap()).output().unwrap();
    assert!(output.status.success());
    assert_eq!(ids(output.stdout), everything);

    // Several times, as the last answers are written by a thread that the end must wait for.
    for _ in 0..10 {
        let stdout = File::create(&answered).unwrap();
        let status = serve(&home).stdin(File::open(&asked).unwrap()).stdout(stdout).status().unwrap();
        assert!(status.success());
        assert_eq!(ids(fs::read(&answered).unwrap()), everything);
    }

    let output = serve(&home).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"");

    let status = serve(&home).stdin(File::open(&asked).unwrap()).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
}

/// The response to a follow of the only session, by a server that may open `limit` descriptors; `None` if so few are not
/// enough to start.
fn follow_within(home: &Home, limit: u32) -> Option<Value> {
    let frames = home.path().join("frames");
    let id = format!("claude-code:{}", uuid(1));
    fs::write(&frames, call(0, "initialize", initialize_params()) + &call(1, "session/follow", json!({ "id": id })))
        .unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n $0; exec \"$1\" serve", &limit.to_string(), env!("CARGO_BIN_EXE_tackroom")]);
    let output = command.env_clear().env("HOME", home.path()).stdin(File::open(&frames).unwrap()).output().unwrap();
    let mut responses = output.stdout.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    responses.find(|response| response["id"] == 1)
}

#[test]
fn follow_without_descriptors_names_the_cause() {
    let home = Home::new();
    home.project("-p", "/p").session(&uuid(1), "the only session", 10);
    let responses: Vec<Value> = (6..24).filter_map(|limit| follow_within(&home, limit)).collect();
    let refused: Vec<&Value> = responses.iter().filter_map(|response| response.get("error")).collect();
    for error in &refused {
        assert_eq!(error["data"]["reason"], "unavailable", "{error}");
        assert!(error["message"].as_str().unwrap().contains("descriptor"), "{error}");
    }
    assert!(!refused.is_empty() && refused.len() < responses.len(), "{responses:#?}");
}

#[test]
fn a_full_disk_ends_it_and_a_directory_says_nothing() {
    let home = Home::new();
    let asked = home.path().join("in");
    fs::write(&asked, conversation()).unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = serve(&home).stdin(File::open(&asked).unwrap()).stdout(full).output().unwrap();
    assert!(output.status.code().is_some());
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));

    let output = serve(&home).stdin(File::open(home.path()).unwrap()).output().unwrap();
    assert!(output.status.code().is_some());
    assert_eq!(output.stdout, b"");
}

#[test]
fn a_terminal_as_output_gets_all_before_the_end() {
    let home = Home::new();
    home.project("-w", "/w").many(1_000);
    let (ours, theirs) = terminal();
    let mut child = serve(&home).stdin(Stdio::piped()).stdout(theirs).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines = call(0, "initialize", initialize_params()) + &call(1, "registry/list", json!({ "limit": 1_000 }));
    input.write_all(lines.as_bytes()).unwrap();
    // A terminal takes 4 KiB at a time. Once it is full of the list, a thread is stuck with the rest of it.
    while bytes_in(ours.as_fd(), libc::FIONREAD) < 3_000 {
        std::thread::yield_now();
    }
    drop(input);
    let mut answers = Vec::new();
    let mut ours = File::from(ours);
    let mut part = [0; 4096];
    // The end shows as an error: nobody has the other side any more.
    while let Ok(count @ 1..) = ours.read(&mut part) {
        answers.extend_from_slice(&part[..count]);
    }
    assert_eq!(ids(answers), [0, 1]);
    assert!(child.wait().unwrap().success());
}

/// The two ends of a new pseudo terminal: ours, and what a program takes for a terminal.
fn terminal() -> (OwnedFd, OwnedFd) {
    let (mut ours, mut theirs) = (-1, -1);
    // SAFETY: both descriptors are written before success is answered, and nothing else may be null but is.
    let result = unsafe { libc::openpty(&mut ours, &mut theirs, null_mut(), null_mut(), null_mut()) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both were just opened, and nobody else has them.
    unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) }
}

#[test]
fn a_terminal_as_input() {
    let home = Home::new();
    let (ours, theirs) = terminal();
    let before = flags(&theirs);
    let shared = theirs.try_clone().unwrap();
    let mut child = serve(&home).stdin(theirs).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ours = File::from(ours);
    ours.write_all(conversation().as_bytes()).unwrap();
    let mut answers = String::new();
    for _ in 0..10 {
        output.read_line(&mut answers).unwrap();
    }
    assert_eq!(ids(&answers), (0..10).collect::<Vec<_>>());
    // Blocking all the while: a shell shares it.
    assert_eq!(flags(&shared), before);
    // What a person types to end the input.
    ours.write_all(&[4]).unwrap();
    assert!(child.wait().unwrap().success());

    // A signal ends it too, though a thread waits for the terminal.
    let (ours, theirs) = terminal();
    let mut child = serve(&home).stdin(theirs).stdout(Stdio::piped()).spawn().unwrap();
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ours = File::from(ours);
    ours.write_all(conversation().as_bytes()).unwrap();
    output.read_line(&mut answers).unwrap();
    nix::sys::signal::kill(pid, Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
}
