//! The same runtime as a process of its own.

use super::client::Client;
use crate::support::Home;
use crate::support::runtime::{Options, Process, Step};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;

fn start(home: &Home) -> (Process, PathBuf) {
    let options = Options::main("apart", "/home/dev/demo").on("wait", [Step::Hold("here".to_owned())]);
    let receipts = home.path().join("live-runtimes");
    (Process::start(options, &receipts), receipts)
}

fn client(process: &Process) -> Client<'static> {
    let address = process.base_url.strip_prefix("http://").expect("a URL").parse().expect("an address");
    Client { address, id: "c", permissions: None }
}

#[test]
fn it_publishes_itself_and_takes_orders() {
    let home = Home::new();
    let (mut process, receipts) = start(&home);
    let file = receipts.join(format!("{}.json", process.endpoint.strip_prefix("supercode-live://").unwrap()));
    let receipt: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!((&receipt["pid"], &receipt["base_url"]), (&json!(process.pid()), &json!(process.base_url)));
    let client = client(&process);
    let mut stream = client.listen("/frontend/events");
    process.emit("cache_warning", json!({ "message": "x" }));
    stream.expect("cache_warning");
    process.prompt("wait");
    stream.expect("user_message");
    stream.expect("turn_started");
    process.release("here");
    stream.expect("turn_succeeded");
    process.set_busy(true);
    assert_eq!(client.result("describe", json!({}))["turn_state"], "busy");
    process.close();
    assert!(!file.exists());
}

#[test]
fn a_killed_one_leaves_its_receipt() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let home = Home::new();
        let (mut process, receipts) = start(&home);
        let mut stream = client(&process).listen("/frontend/events");
        process.end_unreaped(signal);
        assert_eq!(stream.text(), None);
        let state = fs::read_to_string(format!("/proc/{}/stat", process.pid())).expect("a zombie");
        assert!(state.contains(") Z "), "{state}");
        process.kill();
        assert_eq!(fs::read_dir(receipts).unwrap().count(), 1);
    }
}

#[test]
fn a_stopped_one_takes_connections_and_says_nothing() {
    let home = Home::new();
    let (process, _) = start(&home);
    process.stop();
    let client = client(&process);
    let mut socket = client.connect();
    socket.write_all(&client.request("lease", json!({}))).unwrap();
    socket.set_nonblocking(true).unwrap();
    assert_eq!(socket.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    process.cont();
    client.result("describe", json!({}));
}
