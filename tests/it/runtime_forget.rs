//! `runtime/forget`: exactly one stale receipt goes.

use crate::support::inventory::{files_in, listed, receipts_in};
use crate::support::runtime::{Bad, Options, Process, Receipt, Route, Runtime};
use crate::support::{Home, Server, Spawn};
use serde_json::{Value, json};
use std::fs;

const WORKSPACE: &str = "/home/dev/demo";

fn open(home: Home) -> Server {
    Spawn::new(home).args(["--allow", "observe,register"]).open()
}

#[track_caller]
fn forget(server: &mut Server, endpoint: &str, force: Value) -> Value {
    let params = json!({ "endpoint": endpoint, "force": force });
    server.request_unchecked("runtime/forget", params).result()["removed"].clone()
}

#[test]
fn one_that_answers_goes_only_by_force() {
    let home = Home::new();
    let [one, two] = ["one", "two"].map(|id| Runtime::start(Options::main(id, WORKSPACE)));
    let [endpoint, _] = [&one, &two].map(|runtime| runtime.publish(&receipts_in(home.path())));
    let mut server = open(home);
    for params in [json!({ "endpoint": endpoint }), json!({ "endpoint": endpoint, "force": false })] {
        server.request("runtime/forget", params).error().is(-32008, "busy");
    }
    assert_eq!(two.connections(), 0, "only the one that is meant is asked");
    assert_eq!(listed(&mut server, json!({})).len(), 2);
    assert_eq!(forget(&mut server, &endpoint, json!(true)), true);
    assert_eq!(listed(&mut server, json!({})), ["two"]);
    assert_eq!(forget(&mut server, &endpoint, json!(true)), false, "it is gone");
    assert!(one.observers().is_empty());
}

#[test]
fn one_that_does_not_answer_goes() {
    let home = Home::new();
    let receipts = receipts_in(home.path());
    let kept = Runtime::start(Options::main("kept", WORKSPACE));
    kept.publish(&receipts);
    let [refusing, another] = ["refusing", "another"].map(|id| Runtime::start(Options::main(id, WORKSPACE)));
    let endpoints = [&refusing, &another].map(|runtime| runtime.publish(&receipts));
    refusing.refuse();
    another.misbehave(Route::Any, Bad::lie("/result/session_id", "another one"));
    let mut dead = Process::start(Options::main("dead", WORKSPACE), &receipts);
    dead.kill();
    let mut server = open(home);
    for endpoint in endpoints.iter().chain([&dead.endpoint]) {
        assert_eq!(forget(&mut server, endpoint, Value::Null), true);
        assert_eq!(forget(&mut server, endpoint, Value::Null), false);
    }
    assert_eq!(listed(&mut server, json!({})), ["kept"]);
    assert_eq!(files_in(server.home.path()).len(), 1);
}

#[test]
fn receipt_of_a_stopped_process_goes_only_by_force() {
    let home = Home::new();
    let runtime = Process::start(Options::main("one", WORKSPACE), &receipts_in(home.path()));
    runtime.stop();
    let mut server = open(home);
    let refused = server.request("runtime/forget", json!({ "endpoint": runtime.endpoint })).error();
    refused.is(-32008, "busy");
    assert!(refused.message.contains(&format!("process {}", runtime.pid())), "{}", refused.message);
    assert_eq!(files_in(server.home.path()).len(), 1);
    assert_eq!(forget(&mut server, &runtime.endpoint, json!(true)), true);
    assert_eq!(files_in(server.home.path()).len(), 0);
    runtime.cont();
}

#[test]
fn what_is_no_endpoint_leads_nowhere() {
    let home = Home::new();
    let receipts = receipts_in(home.path());
    let runtime = Runtime::start(Options::main("one", WORKSPACE));
    let endpoint = runtime.publish(&receipts);
    let id = endpoint.strip_prefix("supercode-live://").unwrap().to_owned();
    fs::write(home.path().join(".config/supercode/x.json"), "{}").unwrap();
    let before = files_in(home.path());
    let mut server = open(home);
    for text in [
        "",
        &id,
        "supercode-live://",
        "supercode-live://../x",
        "supercode-live://../../x.json",
        &format!("supercode-live://../live-runtimes/{id}"),
        &format!("{endpoint}.json"),
        &format!("{endpoint}\0"),
        &format!(" {endpoint}"),
        &format!("{endpoint}/"),
        &endpoint.to_uppercase(),
        &format!("supercode-live://{}", id[..31].to_owned() + "G"),
        &format!("supercode-live://{}", &id[..31]),
    ] {
        for force in [false, true] {
            let params = json!({ "endpoint": text, "force": force });
            server.request("runtime/forget", params).error().is(-32018, "invalid_endpoint");
        }
    }
    for params in [json!({}), json!({ "endpoint": 7 }), json!({ "endpoint": endpoint, "force": "yes" })] {
        server.request_unchecked("runtime/forget", params).error().is(-32602, "invalid_params");
    }
    let unknown = format!("supercode-live://{}", "0".repeat(32));
    assert_eq!(forget(&mut server, &unknown, json!(true)), false);
    assert_eq!(files_in(server.home.path()), before);
    assert!(server.home.path().join(".config/supercode/x.json").exists());
}

#[test]
fn what_is_no_receipt_stays() {
    let home = Home::new();
    let receipts = receipts_in(home.path());
    let receipt =
        |id: char| Receipt::new(&Options::main("one", WORKSPACE), "http://127.0.0.1:9").id(&id.to_string().repeat(32));
    let crooked = [
        receipt('a').without("/token"),
        receipt('b').with("/base_url", "http://127.0.0.1:9@example.org/"),
        receipt('c').mode(0o644),
        receipt('d').with("/receipt_id", "e".repeat(32)),
    ];
    crooked.iter().for_each(|receipt| drop(receipt.write(&receipts)));
    let before = files_in(home.path());
    assert_eq!(before.len(), 4);
    let mut server = open(home);
    for id in ["a", "b", "c", "d"] {
        for force in [false, true] {
            let params = json!({ "endpoint": format!("supercode-live://{}", id.repeat(32)), "force": force });
            server.request("runtime/forget", params).error().is(-32019, "invalid_receipt");
        }
    }
    assert_eq!(files_in(server.home.path()), before);
}
