use super::Home;
use crate::support::host::wait_gone;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The demo, with a directory of its own for temporary files, which is empty again at the end.
fn demo(home: &Home) -> Command {
    let temporary = home.path().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = home.command(&["demo"]);
    command.env("TMPDIR", temporary);
    command
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn the_real_conversation_is_shown_and_nothing_is_left_behind() {
    let home = Home::new();
    home.session("99999999-aaaa-4000-8000-000000000009", "mine", "My own secret session", 0);
    let run = home.told(demo(&home).output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
    let in_order = [
        r#"--> {"jsonrpc":"2.0","id":1,"method":"initialize""#,
        r#""authority": {"permissions": ["observe"]}"#,
        r#""method":"registry/list","params":{"query":{"states":["waiting"]}}}"#,
        r#""title": "Calibrate the rain gauge""#,
        r#""waitingFor": "permission prompt""#,
        r#""relation": "fork""#,
        r#""method":"peer/list""#,
        r#""name": "rain-gauge""#,
        r#""method":"authority/narrow""#,
        r#""data": {"reason": "not_found"}"#,
        r#""method":"shutdown""#,
        "The server exited: exit status: 0.",
        "\nSTATE ",
        "\nwaiting  claude-code  6513270e-269e-4d37-b2a7-4de452e6b438  1m   /home/demo/weather-station  [permission prompt] Calibrate the rain gauge\n",
        "stored   codex        01a22b8c-5f20-7c41-9a3e-6d1f08b2c47a  33m  /home/demo/weather-station  Why does the wind log skip every tenth line?\n",
        "[fork] Shopping list for paper\n",
    ];
    let mut rest = run.out.as_str();
    for expected in in_order {
        let at = rest.find(expected).unwrap_or_else(|| panic!("no {expected:?} in {rest}"));
        rest = &rest[at + expected.len()..];
    }
    assert!(!run.out.contains("secret"), "{}", run.out);
    assert!(is_empty(&home.path().join("tmp")));
}

#[test]
fn a_signal_ends_it_and_nothing_is_left_behind() {
    let home = Home::new();
    let temporary = home.path().join("tmp");
    let (_reader, mut full) = std::io::pipe().unwrap();
    fcntl(&full, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    while full.write(&[b' '; 4096]).is_ok() {}
    fcntl(&full, FcntlArg::F_SETFL(OFlag::empty())).unwrap();

    // Its first word does not fit into the pipe, so it waits, with the sample unpacked.
    let mut child = demo(&home).stdout(full).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while is_empty(&temporary) {
        assert!(Instant::now() < deadline, "the sample is not unpacked");
        std::thread::yield_now();
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + Signal::SIGTERM as i32));
    assert!(is_empty(&temporary));
}

#[test]
fn killed_it_leaves_no_host() {
    let home = Home::new();
    let (mut said, small) = std::io::pipe().unwrap();
    fcntl(&small, FcntlArg::F_SETPIPE_SZ(4096)).unwrap();
    let mut child = demo(&home).stdout(small).spawn().unwrap();
    // What comes behind this does not fit into the pipe, so it goes no further.
    let (mut read, mut byte) = (Vec::new(), [0]);
    while !read.ends_with(b"Ben attaches.") {
        said.read_exact(&mut byte).unwrap();
        read.push(byte[0]);
    }
    let sample = fs::read_dir(home.path().join("tmp")).unwrap().next().unwrap().unwrap().path();
    let receipts = sample.join(".config/supercode/live-runtimes");
    let receipt = fs::read_dir(&receipts).unwrap().next().unwrap().unwrap().path();
    let receipt: serde_json::Value = serde_json::from_slice(&fs::read(receipt).unwrap()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    for pid in [&receipt["pid"], &receipt["metadata"]["child_pid"]] {
        wait_gone(pid.as_i64().unwrap() as i32);
    }
    assert!(is_empty(&receipts));
}
