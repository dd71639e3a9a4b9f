//! Clients that do not read what a runtime tells, or not fast enough, and what is told after an end.

use crate::support::runtime::{Options, Runtime};
use crate::support::{DRIVER, Home, MIB, Server, Spawn, WORKSPACE, receipts, with_runtime};
use serde_json::{Value, json};
use std::sync::mpsc;
use std::thread;

/// A runtime, and a server whose client has attached and reads nothing of it.
fn unread(mut options: Options) -> (Runtime, Server) {
    options.ring_size = 1 << 20;
    let runtime = Runtime::start(options);
    let home = Home::new();
    runtime.publish(&receipts(&home));
    let mut server = Spawn::new(home).args(["--allow", DRIVER]).unread().start();
    server.ask("initialize", crate::support::initialize_params());
    let id = server.ask_attach(&runtime, json!({ "clientId": "anna" }));
    assert_eq!(id, 2);
    runtime.wait_seen("lease", 1);
    (runtime, server)
}

/// Publishes until nobody listens any more.
fn flood(runtime: &Runtime) {
    let mut count = 0;
    while !runtime.streams().is_empty() {
        runtime.stream(count, 256);
        count += 256;
        assert!(count < 1_000_000, "a million events wait for a client that reads none");
    }
}

#[test]
fn who_does_not_read_lags_and_gets_the_rest_after_the_cursor() {
    for options in [Options::main("main-1", WORKSPACE), Options::hosted("gemini", "main-1", WORKSPACE)] {
        let (runtime, mut server) = unread(options);
        flood(&runtime);
        let last = runtime.last_sequence();
        assert!(server.peak_memory() < 60 * MIB, "{} KiB", server.peak_memory());
        server.read();
        let attachment = server.answer(2).result()["attachment"].take();
        let mut events = server.events_to(&attachment, "lagged");
        let lagged = events.pop().unwrap();
        let told: Vec<u64> = events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
        let cursor = told.len() as u64;
        assert!(told.into_iter().eq(1..=cursor));
        assert_eq!(lagged, json!({ "kind": "lagged", "cursor": cursor }));
        server.at(&attachment, "lease", json!({})).error().is(-32001, "not_found");
        // Under the same name, and without what was told.
        let joined = server.attach(&runtime, json!({ "clientId": "anna", "after": cursor }));
        let replay = joined["replay"].as_array().unwrap();
        assert!(replay.iter().map(|event| event["sequence"].as_u64().unwrap()).eq(cursor + 1..=last));
        runtime.emit("text_delta", json!({ "text": "live" }));
        assert_eq!(server.event(&joined["attachment"])["sequence"], last + 1);
    }
}

#[test]
fn large_events_that_nobody_reads_cost_bounded_memory() {
    let (runtime, mut server) = unread(Options::main("main-1", WORKSPACE));
    for _ in 0..50 {
        if runtime.streams().is_empty() {
            break;
        }
        runtime.emit_sized(8 << 20);
        runtime.wait_drained();
    }
    assert_eq!(runtime.streams(), [""; 0], "400 MB were taken");
    assert!(server.peak_memory() < 100 * MIB, "{} KiB", server.peak_memory());
    server.read();
    let attachment = server.answer(2).result()["attachment"].take();
    server.events_to(&attachment, "lagged");
    server.request("ping", json!({})).result();
}

#[test]
fn a_fast_runtime_delays_nobody() {
    let (fast, mut server) = with_runtime(Options::main("main-1", WORKSPACE));
    let other = server.publish(Options::main("main-2", WORKSPACE));
    let flooded = server.attach(&fast, json!({}))["attachment"].take();
    let calm = server.attach(&other, json!({}))["attachment"].take();
    let fast = &fast;
    thread::scope(|scope| {
        let (answered, goes_on) = mpsc::channel();
        scope.spawn(move || {
            fast.stream(0, 25_000);
            // It is not over before all is answered.
            goes_on.recv().unwrap();
            fast.stream(25_000, 25_000);
        });
        server.event(&flooded);
        for number in 0..20 {
            let ping = server.ask("ping", json!({}));
            server.at(&calm, "lease", json!({})).result();
            server.request("runtime/describe", json!({ "runtimeId": "main-2" })).result();
            other.emit("text_delta", json!({ "text": number.to_string() }));
            assert_eq!(server.event(&calm)["payload"]["text"], number.to_string());
            server.answer(ping).result();
        }
        answered.send(()).unwrap();
        for number in 2..=50_000 {
            assert_eq!(server.event(&flooded)["sequence"], number);
        }
    });
}

#[test]
fn nothing_is_told_after_the_answer_to_detach_or_to_narrowing_the_scope() {
    for narrow in [false, true, false, true, false, true] {
        let (runtime, mut server) = unread(Options::main("main-1", WORKSPACE));
        let attachment = server.read_to(2)["attachment"].take();
        // More than the pipe and the outbox hold: some wait before them.
        runtime.stream(0, 6_000);
        let id = match narrow {
            true => server.ask("authority/narrow", json!({ "authority": { "workspaces": ["/elsewhere"] } })),
            false => server.ask_at(&attachment, "detach", json!({})),
        };
        runtime.wait_streams(0);
        runtime.wait_observers(0);
        while server.untaken() > 0 {
            thread::yield_now();
        }
        server.read();
        let mut frames = std::iter::from_fn(|| server.next_frame()).skip_while(|frame: &Value| frame["id"] != id);
        frames.next().unwrap();
        drop(frames);
        if narrow {
            // But that it is over, which the answer does not say.
            let last = server.expect_notification("runtime/event");
            assert_eq!((&last["attachment"], &last["event"]["kind"]), (&attachment, &json!("disconnected")));
        }
        server.pong();
    }
}
