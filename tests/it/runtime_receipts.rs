//! `runtime/receipts`: what is published, without asking any runtime; and ids that several claim.

use crate::support::inventory::{files_in, hosting, ids, list, problems, receipts_in};
use crate::support::runtime::{Options, Process, Runtime, SENTINEL_TOKEN};
use crate::support::{Home, Server, Spawn, uuid};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;

const WORKSPACE: &str = "/home/dev/demo";

#[track_caller]
fn receipts(server: &mut Server) -> Value {
    let answer = server.request("runtime/receipts", json!({})).result();
    assert!(!answer.to_string().contains(SENTINEL_TOKEN));
    answer
}

fn endpoints(answer: &Value) -> Vec<&str> {
    answer["receipts"].as_array().unwrap().iter().map(|one| one["endpoint"].as_str().unwrap()).collect()
}

#[test]
fn every_receipt_is_told_whole_and_no_runtime_is_asked() {
    let home = Home::new();
    let place = receipts_in(home.path());
    let runtime = Runtime::start(Options::main("one", WORKSPACE));
    let one = runtime
        .receipt()
        .with("/metadata/profile", "night")
        .with("/metadata/persistence_location", "/kept")
        .with("/metadata/endpoint_capabilities", json!(["acp", "telepathy"]))
        .with("/metadata/supervisor", json!({ "kind": "tmux", "session_name": "demo", "more": 1 }));
    one.write(&place);
    let created = one.members()["created_at_ms"].as_u64().unwrap();
    let bare = Runtime::start(hosting(&uuid(2), "bare", WORKSPACE));
    let two = bare.receipt().without("/metadata").with("/created_at_ms", created + 1);
    two.write(&place);
    let mut server = Spawn::new(home).open();
    let pid = std::process::id();
    let expected = json!({ "receipts": [
        {
            "endpoint": two.endpoint(), "runtimeId": "bare", "pid": pid, "createdAtMs": created + 1,
            "source": { "harness": "claude-code", "sessionId": uuid(2), "workspace": WORKSPACE },
            "metadata": { "endpointCapabilities": ["http", "acp"] },
        },
        {
            "endpoint": one.endpoint(), "runtimeId": "one", "pid": pid, "createdAtMs": created,
            "source": { "harness": "supercode", "sessionId": "one", "workspace": WORKSPACE },
            "metadata": {
                "profile": "night", "persistenceLocation": "/kept", "endpointCapabilities": ["acp"],
                "supervisor": { "kind": "tmux", "sessionName": "demo" },
            },
        },
    ] });
    assert_eq!(receipts(&mut server), expected);
    assert_eq!((runtime.connections(), bare.connections()), (0, 0));
    // Once they were asked, it is known whether they answer.
    bare.refuse();
    list(&mut server, json!({}));
    let answer = receipts(&mut server);
    assert_eq!(
        (&answer["receipts"][0]["reachable"], &answer["receipts"][1]["reachable"]),
        (&json!(false), &json!(true))
    );
}

#[test]
fn one_that_is_gone_is_not_told_and_a_stopped_one_is() {
    let home = Home::new();
    let place = receipts_in(home.path());
    let stopped = Process::start(Options::main("stopped", WORKSPACE), &place);
    let zombie = Process::start(Options::main("zombie", WORKSPACE), &place);
    let mut killed = Process::start(Options::main("killed", WORKSPACE), &place);
    stopped.stop();
    zombie.end_unreaped(Signal::SIGKILL);
    killed.kill();
    let mut server = Spawn::new(home).open();
    let answer = receipts(&mut server);
    assert_eq!((endpoints(&answer), problems(&answer)), (vec![stopped.endpoint.as_str()], vec![]));
    // They carry no mark of ours, so they may be meant for another pid namespace: they stay.
    assert_eq!(files_in(server.home.path()).len(), 3);
}

#[test]
fn an_id_that_two_claim_is_nobodys_and_the_rest_stands() {
    let home = Home::new();
    home.project("-home-dev-demo", WORKSPACE).session(&uuid(1), "claimed", 60);
    let place = receipts_in(home.path());
    let [first, second, third] =
        [hosting(&uuid(1), "twice", WORKSPACE), Options::main("twice", WORKSPACE), Options::main("once", WORKSPACE)]
            .map(Runtime::start);
    let published = [&first, &second, &third].map(|runtime| runtime.publish(&place));
    let mut server = Spawn::new(home).open();
    let check = |server: &mut Server, more: usize| {
        let answer = list(server, json!({}));
        assert_eq!(ids(&answer), ["once".to_owned(), format!("claude-code:{}", uuid(1))]);
        assert_eq!(answer["entries"][1]["state"], "persisted");
        let told = problems(&answer);
        assert_eq!(told.len(), 1 + more, "{told:?}");
        let double = told.iter().find(|problem| problem["reason"] == "ambiguous_runtime").unwrap();
        assert_eq!((&double["id"], double.get("endpoint")), (&json!("twice"), None));
        server.request("registry/describe", json!({ "id": "twice" })).error().is(-32001, "not_found");
        server.request("runtime/attach", json!({ "runtimeId": "twice" })).error().is(-32005, "ambiguous_runtime");
        let answer = receipts(server);
        assert!(published.iter().all(|endpoint| endpoints(&answer).contains(&endpoint.as_str())));
    };
    check(&mut server, 0);
    // Whether both answer makes no difference: which of them is meant is as open as before.
    second.suspend();
    check(&mut server, 1);
    second.resume();
    // By endpoint and source each can be joined.
    let source = json!({ "harness": "claude-code", "sessionId": uuid(1), "workspace": WORKSPACE });
    let params = json!({ "endpoint": published[0], "source": source });
    server.request("runtime/attach", params).result();
    // With one of them gone the other is itself again.
    second.retract();
    let answer = list(&mut server, json!({}));
    assert_eq!((ids(&answer), problems(&answer)), (vec!["once".to_owned(), "twice".to_owned()], vec![]));
}

#[test]
fn a_copied_receipt_is_a_problem_of_its_own() {
    let home = Home::new();
    let place = receipts_in(home.path());
    let runtime = Runtime::start(Options::main("one", WORKSPACE));
    let receipt = runtime.receipt();
    let file = receipt.write(&place);
    let mut server = Spawn::new(home).open();
    for copy in ["x.json".to_owned(), format!("{}.json", "0".repeat(32))] {
        fs::copy(&file, place.join(&copy)).unwrap();
        for answer in [receipts(&mut server), list(&mut server, json!({}))] {
            let [problem] = <[Value; 1]>::try_from(problems(&answer)).unwrap();
            assert_eq!((&problem["reason"], &problem["path"]), (&json!("name"), &json!(place.join(&copy))));
        }
        assert_eq!(endpoints(&receipts(&mut server)), [receipt.endpoint()]);
        assert_eq!(ids(&list(&mut server, json!({}))), ["one"]);
        fs::remove_file(place.join(&copy)).unwrap();
    }
    assert_eq!(runtime.seen().iter().filter(|seen| !seen.authorization).count(), 0);
}

#[test]
fn files_that_do_not_count_are_told_and_stay() {
    let home = Home::new();
    let place = receipts_in(home.path());
    let runtime = Runtime::start(Options::main("good", WORKSPACE));
    runtime.publish(&place);
    let decoy = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
    decoy.set_nonblocking(true).unwrap();
    let smuggled = format!("{}@{}", runtime.base_url(), decoy.local_addr().unwrap());
    for (receipt, reason) in [
        (runtime.receipt().with("/base_url", smuggled), "address"),
        (runtime.receipt().with("/base_url", "http://example.org:80"), "address"),
        (runtime.receipt().with("/token", ""), "token"),
        (runtime.receipt().with("/token", "two\nlines"), "token"),
        (runtime.receipt().with("/pid", 0), "pid"),
        (runtime.receipt().with("/pid", 4_294_967_295_u32), "pid"),
        (runtime.receipt().with("/schema", "supercode.live-runtime.v2"), "schema"),
        (runtime.receipt().with("/source/harness", "emacs"), "harness_unsupported"),
        (runtime.receipt().with("/source/workspace", "relative"), "workspace"),
        (runtime.receipt().with("/created_at_ms", 1), "pid_reused"),
        (runtime.receipt().without("/token"), "malformed"),
        (runtime.receipt().mode(0o644), "loose_mode"),
    ] {
        let file = receipt.write(&place);
        // A server that has not given anything up.
        let mut server = crate::support::inventory::beside(&home, &[]);
        let (told, listed) = (receipts(&mut server), list(&mut server, json!({})));
        for answer in [&told, &listed] {
            let [problem] = <[Value; 1]>::try_from(problems(answer)).unwrap();
            assert_eq!((&problem["path"], &problem["endpoint"]), (&json!(file), &json!(receipt.endpoint())));
            assert_eq!(problem["reason"], reason);
            assert!(!problem.to_string().contains(SENTINEL_TOKEN));
        }
        assert_eq!((endpoints(&told).len(), ids(&listed)), (1, vec!["good".to_owned()]));
        fs::remove_file(file).unwrap();
    }
    assert!(decoy.accept().is_err());
}
