//! Opening and ending the conversation.

use crate::support::{Framing, Home, Spawn, Transport, initialize_params};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::process::Command;

#[test]
fn what_initialize_answers() {
    let mut server = Spawn::empty().start();
    let home = server.home.path().display().to_string();
    let mut answer = server.initialize(json!({}));
    let instance = answer["instanceId"].as_str().unwrap().to_owned();
    assert!(instance.len() >= 16, "{instance}");
    assert_eq!(answer["harnesses"][0]["roots"], json!([format!("{home}/.claude/projects")]));
    assert_eq!(answer["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    answer["instanceId"] = json!("[random]");
    answer["serverInfo"]["version"] = json!("[version]");
    // These grow; the schema's tests hold them against the table.
    for growing in ["methods", "notifications", "harnesses"] {
        answer[growing] = json!("[list]");
    }
    insta::assert_json_snapshot!(answer);

    let mut other = Spawn::empty().start();
    assert_ne!(other.initialize(json!({}))["instanceId"], instance);
}

#[test]
fn before_initialize_requests_are_refused_and_notifications_dropped() {
    for framing in Framing::BOTH {
        let mut server = Spawn::empty().framing(framing).start();
        for method in ["ping", "shutdown", "registry/list", "rpc.discover", "authority/narrow", "nothing/such"] {
            server.request_unchecked(method, json!({})).error().is(-32002, "not_initialized");
        }
        server.notify("initialized", json!({}));
        server.notify("$/cancelRequest", json!({ "id": 1 }));
        server.frame(r#"{"jsonrpc":"2.0","method":"authority/narrow","params":{"authority":{"permissions":[]}}}"#);
        server.frame(r#"{"jsonrpc":"2.0","method":"initialize","params":{"clientInfo":{"name":"nobody"}}}"#);
        server.request("ping", json!({})).error().is(-32002, "not_initialized");
        assert_eq!(server.initialize(json!({}))["authority"], json!({ "permissions": ["observe"] }));
        server.notify("initialized", json!({}));
        server.pong();
    }
}

#[test]
fn exit_before_initialize_ends_with_1() {
    let mut server = Spawn::empty().start();
    server.frame(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    server.expect_end(1);
}

#[test]
fn initialize_counts_once_and_may_be_tried_again_after_it_failed() {
    let mut server = Spawn::empty().start();
    let failing = [
        json!({}),
        Value::Null,
        json!({ "clientInfo": {} }),
        json!({ "clientInfo": { "name": null } }),
        json!({ "clientInfo": { "name": 5 } }),
        json!({ "clientInfo": { "name": "x" }, "protocolVersion": "1" }),
        json!({ "clientInfo": { "name": "x" }, "authority": { "permissions": ["everything"] } }),
        json!({ "clientInfo": { "name": "x" }, "authority": { "workspaces": ["relative"] } }),
        json!({ "clientInfo": { "name": "x" }, "homes": { "unheard-of": [] } }),
        json!({ "clientInfo": { "name": "x" }, "homes": { "claude-code": ["relative"] } }),
    ];
    for params in failing {
        server.request_unchecked("initialize", params.clone()).error().is(-32602, "invalid_params");
        // It changed nothing.
        server.request("ping", json!({})).error().is(-32002, "not_initialized");
    }
    assert_eq!(server.initialize(json!({}))["authority"]["permissions"], json!(["observe"]));
    server.request("initialize", initialize_params()).error().is(-32600, "invalid_request");
    server.pong();
}

#[test]
fn process_ids_that_are_none_are_refused() {
    let mut server = Spawn::empty().start();
    let with = |pid: Value| json!({ "clientInfo": { "name": "x" }, "processId": pid });
    for pid in [json!(0), json!(-1), json!(2_147_483_648_u64), json!(i64::MAX), json!("1"), json!(1.5)] {
        server.request_unchecked("initialize", with(pid)).error().is(-32602, "invalid_params");
    }
    server.request_unchecked("initialize", with(Value::Null)).result();
    server.pong();
}

#[test]
fn another_protocol_version_is_answered_with_ours() {
    for version in [json!(7), json!(0), json!(-3)] {
        let mut server = Spawn::empty().start();
        assert_eq!(server.initialize(json!({ "protocolVersion": version }))["protocolVersion"], 1);
        server.pong();
    }
}

#[test]
fn initialize_in_a_batch_opens_it_for_what_follows() {
    let mut server = Spawn::empty().start();
    let call =
        |id, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    server.send(&json!([
        call(1, "ping", json!({})),
        call(2, "initialize", initialize_params()),
        call(3, "ping", json!({})),
        call(4, "initialize", initialize_params()),
    ]));
    let answers = server.expect_frame();
    let codes: Vec<_> = answers.as_array().unwrap().iter().map(|a| a["error"]["code"].as_i64()).collect();
    assert_eq!(codes, [Some(-32002), None, None, Some(-32600)]);
}

#[test]
fn after_shutdown_only_exit_follows() {
    let mut server = Spawn::empty().open();
    assert_eq!(server.request("shutdown", json!({})).result(), Value::Null);
    for method in ["ping", "shutdown", "registry/list", "initialize", "nothing/such"] {
        server.request_unchecked(method, json!({})).error().is(-32600, "invalid_request");
    }
    server.frame("{");
    server.expect_refusal().is(-32700, "parse_error");
    server.notify("exit", json!({}));
    server.expect_end(0);
}

#[test]
fn exit_without_shutdown_ends_with_1() {
    let mut server = Spawn::empty().open();
    server.notify("exit", json!({}));
    server.expect_end(1);
}

#[test]
fn exit_in_a_batch_counts_and_what_was_answered_goes_out() {
    let mut server = Spawn::empty().open();
    let exit = json!({ "jsonrpc": "2.0", "method": "exit" });
    server.send(&json!([{ "jsonrpc": "2.0", "id": 7, "method": "shutdown" }, exit]));
    assert_eq!(server.expect_frame(), json!([{ "jsonrpc": "2.0", "id": 7, "result": null }]));
    server.expect_end(0);
}

#[test]
fn unknown_notifications_are_ignored_and_unknown_methods_refused() {
    let mut server = Spawn::empty().open();
    for name in ["$/setTrace", "textDocument/didOpen", "notifications/cancelled", "", "initialize"] {
        server.frame(json!({ "jsonrpc": "2.0", "method": name, "params": { "x": 1 } }).to_string());
    }
    server.pong();
    for name in ["$/nothing", "exit", "initialized", "$/cancelRequest", "", "Ping", "registry"] {
        server.request_unchecked(name, json!({})).error().is(-32601, "method_not_found");
    }
}

#[test]
fn the_end_of_input_is_the_end_once_all_is_answered() {
    let transports = [Transport::Pipes, Transport::Sockets, Transport::OneSocket];
    for (framing, transport) in
        Framing::BOTH.into_iter().zip(transports.into_iter().cycle()).chain([(Framing::Lines, Transport::OneSocket)])
    {
        let home = Home::new();
        home.project("-w", "/w").many(200);
        let mut server = Spawn::new(home).framing(framing).transport(transport).open();
        let lists: Vec<i64> = (0..20).map(|_| server.ask("registry/list", json!({}))).collect();
        let batch: Value =
            (100..110).map(|id| json!({ "jsonrpc": "2.0", "id": id, "method": "registry/list" })).collect();
        server.send(&batch);
        server.close_input();
        for id in lists {
            assert_eq!(server.answer(id).result()["total"], 200);
        }
        let answers = server.expect_frame();
        assert!(answers.as_array().unwrap().iter().all(|answer| answer["result"]["total"] == 200));
        assert_eq!(answers.as_array().unwrap().len(), 10);
        server.expect_end(0);
    }
    // Nothing was ever said.
    let mut server = Spawn::empty().start();
    server.close_input();
    server.expect_end(0);
    // After `shutdown` too, without `exit`.
    let mut server = Spawn::empty().open();
    server.request("shutdown", json!({})).result();
    server.close_input();
    server.expect_end(0);
}

#[test]
fn a_client_that_does_not_read_cannot_keep_it() {
    for end in ["exit", "input"] {
        let home = Home::new();
        home.project("-w", "/w").many(1_000);
        let mut server = Spawn::new(home).unread().start();
        server.ask("initialize", initialize_params());
        server.ask("registry/list", json!({ "limit": 1_000 }));
        while server.unread_bytes() < 60_000 {
            std::thread::yield_now();
        }
        match end {
            "exit" => server.notify("exit", json!({})),
            _ => server.close_input(),
        }
        assert_eq!(server.exit_code(), i32::from(end == "exit"));
    }
}

#[test]
fn the_end_of_the_client_s_process_is_the_end() {
    for transport in [Transport::Pipes, Transport::Sockets] {
        let mut client = Command::new("sleep").arg("1000").spawn().unwrap();
        let mut server = Spawn::empty().transport(transport).start();
        server.initialize(json!({ "processId": client.id() }));
        server.pong();
        client.kill().unwrap();
        server.expect_end(0);
        client.wait().unwrap();
    }
}

#[test]
fn a_client_s_process_that_is_gone_already_ends_it_after_the_answer() {
    let mut client = Command::new("true").spawn().unwrap();
    client.wait().unwrap();
    let mut server = Spawn::empty().start();
    server.initialize(json!({ "processId": client.id() }));
    server.expect_end(0);
}

#[test]
fn signals_end_it() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129), (Signal::SIGINT, 130)] {
        let mut server = Spawn::empty().open();
        server.signal(signal);
        server.expect_end(code);
    }
}

#[test]
fn a_closed_output_is_noticed_by_an_idle_server() {
    for transport in [Transport::Pipes, Transport::Sockets] {
        let mut server = Spawn::empty().transport(transport).open();
        server.pong();
        server.close_output();
        assert_eq!(server.exit_code(), 0, "{transport:?}");
    }
}

#[test]
fn a_closed_output_is_noticed_while_writing() {
    for transport in [Transport::Pipes, Transport::Sockets] {
        let home = Home::new();
        home.project("-w", "/w").many(1_000);
        let mut server = Spawn::new(home).transport(transport).unread().start();
        server.ask("initialize", initialize_params());
        server.ask("registry/list", json!({ "limit": 1_000 }));
        // The descriptor is full once the server has more to write than it takes.
        while !(server.untaken() == 0 && server.unread_bytes() > 60_000 && server.sleeps()) {
            std::thread::yield_now();
        }
        server.close_output();
        assert_eq!(server.exit_code(), 0, "{transport:?}");
    }
}
