//! Requests at work: ids, bounds, and clients that do not read.

use crate::support::{Framing, Home, MIB, Spawn, Transport, initialize_params};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::collections::HashMap;

/// A home whose list of 1,000 is more than a pipe or a socket takes.
fn full_home() -> Home {
    let home = Home::new();
    home.project("-w", "/w").many(1_000);
    home
}

fn call(id: impl Into<Value>, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": { "limit": 1_000 } })
}

#[test]
fn an_id_that_is_in_flight_is_refused_and_free_again_once_answered() {
    for id in [json!(1), json!("1"), json!(1.5), Value::Null] {
        let mut server = Spawn::empty().open();
        let both = [call(id.clone(), "registry/list"), call(id.clone(), "ping")];
        // In one write, so that the server has the second before it works on the first.
        let bytes: Vec<u8> = both.iter().flat_map(|message| server.encode(message)).collect();
        server.raw(bytes);
        let answers = [server.expect_frame(), server.expect_frame()];
        assert_eq!(answers.iter().filter(|answer| answer["error"]["code"] == -32600).count(), 1, "{answers:?}");
        assert_eq!(answers.iter().filter(|answer| answer["result"]["total"] == 0).count(), 1, "{answers:?}");
        server.send(&call(id.clone(), "ping"));
        assert_eq!(server.expect_frame(), json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    }
    // 1 and "1" are two ids.
    let mut server = Spawn::empty().open();
    let both = [call(1, "registry/list"), call("1", "registry/list")];
    let bytes: Vec<u8> = both.iter().flat_map(|message| server.encode(message)).collect();
    server.raw(bytes);
    server.answer(1).result();
    server.answer("1").result();
}

#[test]
fn beyond_the_bound_there_is_busy_while_the_client_does_not_read() {
    for (framing, transport) in Framing::BOTH.into_iter().zip([Transport::Pipes, Transport::OneSocket]) {
        let spawn = Spawn::new(full_home()).framing(framing).transport(transport).unread();
        let mut server = spawn.args(["--limit", "requestsInFlight=4"]).start();
        server.ask("initialize", initialize_params());
        // The first answer fills the descriptor, so that no other is ever taken off the bound.
        for id in 100..104 {
            server.send(&call(id, "registry/list"));
        }
        for id in 104..150 {
            server.send(&call(id, if id % 2 == 0 { "ping" } else { "registry/list" }));
        }
        server.send(&(150..160).map(|id| call(id, "ping")).collect());
        while server.untaken() > 0 {
            std::thread::yield_now();
        }
        server.read();
        server.answer(1).result();
        let mut answers = HashMap::new();
        while answers.len() < 60 {
            let frame = server.expect_frame();
            for answer in frame.as_array().map_or(std::slice::from_ref(&frame), Vec::as_slice) {
                let (id, code) = (answer["id"].as_i64().unwrap(), answer["error"]["code"].as_i64());
                assert_eq!(answers.insert(id, code), None, "{id} was answered twice");
            }
        }
        for (id, code) in answers {
            assert_eq!(code, (id >= 104).then_some(-32008), "{id}");
        }
        // All is read: all is well.
        server.pong();
        assert_eq!(server.request("registry/list", json!({})).result()["total"], 1_000);
    }
}

#[test]
fn a_client_that_keeps_to_the_bound_is_never_busy() {
    let mut server = Spawn::empty().open();
    for id in 0..64 {
        server.send(&call(id, "ping"));
    }
    for id in 0..10_000 {
        assert_eq!(server.expect_frame(), json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        server.send(&call(id + 64, "ping"));
    }
}

#[test]
fn sixty_thousand_pings_at_once_are_each_answered_once() {
    const COUNT: usize = 60_000;
    for framing in Framing::BOTH {
        let mut server = Spawn::empty().framing(framing).open();
        let ping = |id: usize| framing.encode(format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, id + 10));
        let all: Vec<u8> = (0..COUNT).flat_map(ping).collect();
        server.raw(all);
        let mut answered = vec![false; COUNT];
        for _ in 0..COUNT {
            let answer = server.expect_frame();
            let id = answer["id"].as_u64().unwrap() as usize - 10;
            assert!(!std::mem::replace(&mut answered[id], true), "{id} was answered twice");
            // A reader that falls behind is one that does not read.
            assert!(answer["result"] == json!({}) || answer["error"]["code"] == -32008, "{answer}");
        }
        server.pong();
    }
}

/// Sends `message` again and again to a server whose client never reads, until it takes no more.
fn memory_bounded_under(message: &Value, transport: Transport) {
    let mut server = Spawn::new(full_home()).transport(transport).unread().start();
    server.ask("initialize", initialize_params());
    server.send(&call(100, "registry/list"));
    let frames = server.framing.encode(message.to_string()).repeat(1 + 60_000 / message.to_string().len());
    server.set_nonblocking();
    let mut sent = 0;
    loop {
        match server.send_some(&frames[sent % frames.len()..]) {
            Some(count) => sent += count,
            None => {
                // Full, and still so after the server was seen asleep: it has chosen not to read.
                let full = server.untaken();
                if server.sleeps() && server.untaken() == full {
                    break;
                }
                std::thread::yield_now();
            }
        }
        assert!(sent < 200 << 20, "200 MB were taken, and never an answer");
    }
    assert!(server.peak_memory() < 80 * MIB, "{} KiB after {message:.60}", server.peak_memory());
    server.signal(Signal::SIGTERM);
    assert_eq!(server.exit_code(), 143);
}

#[test]
fn a_client_that_never_reads_costs_bounded_memory() {
    memory_bounded_under(&call(7, "ping"), Transport::Pipes);
    memory_bounded_under(&json!(1), Transport::Sockets);
    memory_bounded_under(&json!([call(7, "ping"), call(8, "nothing/such"), 5]), Transport::Pipes);
    memory_bounded_under(&Value::Array(vec![json!(1); 64]), Transport::OneSocket);
    memory_bounded_under(&call("x".repeat(4_000), "nothing/such"), Transport::Pipes);
}

#[test]
fn a_client_that_reads_after_all_gets_all() {
    let mut server = Spawn::new(full_home()).unread().start();
    server.ask("initialize", initialize_params());
    let lists: Vec<i64> = (0..8).map(|_| server.ask("registry/list", json!({ "limit": 1_000 }))).collect();
    for _ in 0..100 {
        server.send(&call(7_000, "nothing/such"));
    }
    while server.untaken() > 0 {
        std::thread::yield_now();
    }
    server.read();
    server.answer(1).result();
    for id in lists {
        assert_eq!(server.answer(id).result()["entries"].as_array().unwrap().len(), 1_000);
    }
    for _ in 0..100 {
        server.answer(7_000).error().is(-32601, "method_not_found");
    }
    server.pong();
}
