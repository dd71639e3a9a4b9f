//! The events of an attachment: in order, none lost, none twice, and an end that is told.

use crate::support::runtime::{Bad, Options, Route, Runtime, Step};
use crate::support::{Server, WORKSPACE, with_runtime};
use serde_json::{Value, json};
use std::thread;

fn main(id: &str) -> Options {
    Options::main(id, WORKSPACE)
}

fn flavours() -> [Options; 2] {
    [main("main-1"), Options::hosted("gemini", "main-1", WORKSPACE)]
}

fn sequence(event: &Value) -> u64 {
    event["sequence"].as_u64().unwrap_or_else(|| panic!("no number: {event}"))
}

fn sequences(events: &Value) -> Vec<u64> {
    events.as_array().unwrap().iter().map(sequence).collect()
}

fn event(sequence: u64, text: &str) -> Value {
    json!({ "sequence": sequence, "kind": "text_delta", "payload": { "type": "text_delta", "text": text } })
}

/// Attaches, and gets the attachment's name.
fn attach(server: &mut Server, runtime: &Runtime) -> Value {
    server.attach(runtime, json!({}))["attachment"].take()
}

#[test]
fn a_replay_and_a_stream_that_overlap_are_one() {
    for options in flavours() {
        let (runtime, mut server) = with_runtime(options);
        thread::scope(|scope| {
            // No more than the ring holds.
            let emitting = scope.spawn(|| (0..250).for_each(|round| runtime.stream(16 * round, 16)));
            let joined: Vec<Value> = (0..20).map(|_| server.attach(&runtime, json!({}))).collect();
            emitting.join().unwrap();
            runtime.emit("text_delta", json!({ "text": "last" }));
            for joined in joined {
                let mut seen = sequences(&joined["replay"]);
                while seen.last() != Some(&4_001) {
                    seen.push(sequence(&server.event(&joined["attachment"])));
                }
                assert!(seen.iter().copied().eq(1..=4_001), "{seen:?}");
            }
        });
        server.pong();
    }
}

#[test]
fn what_comes_while_the_snapshot_is_on_its_way_is_not_lost() {
    for options in flavours() {
        let (runtime, mut server) = with_runtime(options);
        runtime.emit("text_delta", json!({ "text": "before" }));
        for method in ["attach", "lease"] {
            runtime.misbehave_times(Route::Rpc(method.to_owned()), 1, Bad::Held(method.to_owned()));
            let id = server.ask_attach(&runtime, json!({}));
            runtime.wait_held(method);
            runtime.emit("text_delta", json!({ "text": method }));
            runtime.release(method);
            let joined = server.answer(id).result();
            let told = server.event(&joined["attachment"]);
            assert_eq!(
                (&told["payload"]["text"], sequences(&joined["replay"]).len() as u64),
                (&json!(method), sequence(&told) - 1)
            );
            server.at(&joined["attachment"], "detach", json!({})).result();
        }
    }
}

#[test]
fn a_runtime_that_lies_about_numbers_is_told_in_order_and_once() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    let replay = json!([
        event(1, "old"),
        event(5, "a"),
        event(5, "again"),
        event(4, "late"),
        event(7, "b"),
        event(u64::MAX, "synthetic")
    ]);
    let lies = vec![("/result/history_cursor".to_owned(), Some(json!(3))), ("/result/replay".to_owned(), Some(replay))];
    runtime.misbehave_times(Route::Rpc("attach".to_owned()), 1, Bad::Lie(lies));
    let joined = server.attach(&runtime, json!({}));
    assert_eq!(sequences(&joined["replay"]), [5, 7]);
    for number in [7, 2, 8, 8, 3, 12, 11, u64::MAX - 1] {
        runtime.send_event(event(number, "x"));
    }
    let told: Vec<u64> = (0..3).map(|_| sequence(&server.event(&joined["attachment"]))).collect();
    assert_eq!(told, [8, 12, u64::MAX - 1]);
    // The number that a runtime's own client invents never leaves; what it stands for does.
    let end = json!({ "sequence": u64::MAX, "kind": "runtime_disconnected", "payload": { "message": "it crashed" } });
    runtime.send_event(end);
    assert_eq!(server.event(&joined["attachment"]), json!({ "kind": "disconnected", "reason": "it crashed" }));
    runtime.misbehave_times(Route::Rpc("attach".to_owned()), 1, Bad::lie("/result/history_cursor", u64::MAX));
    let id = server.ask_attach(&runtime, json!({}));
    server.answer(id).error().is(-32013, "transport");
}

#[test]
fn after_replays_what_is_above_it() {
    for options in flavours() {
        let (runtime, mut server) = with_runtime(options);
        (0..5).for_each(|number| runtime.emit("text_delta", json!({ "text": number.to_string() })));
        for (after, replayed) in
            [(json!(0), &[1, 2, 3, 4, 5][..]), (json!(3), &[4, 5]), (json!(5), &[]), (json!(u64::MAX), &[])]
        {
            let joined = server.attach(&runtime, json!({ "after": after }));
            assert_eq!(sequences(&joined["replay"]), replayed);
        }
        for wrong in [json!(-1), json!(1.5), json!("1")] {
            let params = json!({ "runtimeId": "main-1", "after": wrong });
            server.request_unchecked("runtime/attach", params).error().is(-32602, "invalid_params");
        }
    }
}

#[test]
fn gaps_are_passed_on_as_they_are() {
    let approval = Step::Approval { tool: "bash".into(), arguments: json!({ "command": "ls" }) };
    let options = main("main-1").on("ask", [approval, Step::Text("done".into())]);
    let (runtime, mut server) = with_runtime(options);
    let attachment = attach(&mut server, &runtime);
    let turn = server.ask_at(&attachment, "submit", json!({ "prompt": "ask" }));
    let request = server.events_to(&attachment, "request").pop().unwrap()["payload"]["request"]["id"].take();
    let response = json!({ "kind": "approval", "requestId": request, "decision": "allow" });
    server.at(&attachment, "respond", json!({ "response": response })).result();
    server.answer(turn).result();
    let rest = server.events_to(&attachment, "turn_succeeded");
    let [.., before, last] = &rest[..] else { panic!("{rest:?}") };
    assert_eq!(sequence(last), sequence(before) + 3, "the two that are in the replay alone");
    // Who comes now has what was asked and answered in the replay, and nothing twice.
    let joined = server.attach(&runtime, json!({}));
    let replay = joined["replay"].as_array().unwrap();
    let kinds: Vec<&str> = replay.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["request", "request_resolved", "turn_succeeded"]);
    assert_eq!(joined["historyCursor"], sequence(before));
    runtime.skip(1_000);
    runtime.emit("text_delta", json!({ "text": "later" }));
    let told = server.event(&joined["attachment"]);
    assert_eq!(sequence(&told), sequence(last) + 1_001);
}

#[test]
fn kinds_and_members_that_nobody_knows_are_passed_on_as_they_are() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    let attachment = attach(&mut server, &runtime);
    let payload = json!({ "type": "weather", "n": 9_007_199_254_740_993_u64, "f": 1.50, "deep": [{ "ä\n\u{2028}": null }], "_meta": {} });
    runtime.send_event(json!({ "sequence": 1, "kind": "weather", "payload": payload, "more": 1 }));
    assert_eq!(server.event(&attachment), json!({ "sequence": 1, "kind": "weather", "payload": payload }));
    // Numbers beyond what a program can hold cross letter by letter, and so does an event over several lines.
    runtime.send_bytes(
        "data: {\"sequence\":2,\"kind\":\"k\",\ndata: \"payload\":{\"n\":12345678901234567890123, \"x\":1.10}}\r\n\r\n",
    );
    loop {
        let bytes = server.next_bytes().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        if text.contains("runtime/event") {
            assert!(text.contains(r#""payload":{"n":12345678901234567890123, "x":1.10}"#), "{text}");
            break;
        }
    }
    for _ in 0..3 {
        runtime.keep_alive();
    }
    runtime.send_bytes("event: x\nid: 7\nretry: 1\n\n\n\n");
    runtime.emit("text_delta", json!({ "text": "first" }));
    runtime.skip(2);
    runtime.emit("text_delta", json!({ "text": "second" }));
    // The first has a number that was told.
    assert_eq!(server.event(&attachment)["payload"]["text"], "second");
    server.pong();
}

#[test]
fn a_gap_in_the_replay_is_an_error() {
    for mut options in flavours() {
        options.ring_size = 8;
        let (runtime, mut server) = with_runtime(options);
        (0..8).for_each(|_| runtime.emit("text_delta", json!({ "text": "x" })));
        assert_eq!(sequences(&server.attach(&runtime, json!({}))["replay"]), (1..=8).collect::<Vec<_>>());
        runtime.emit("text_delta", json!({ "text": "x" }));
        let id = server.ask_attach(&runtime, json!({ "clientId": "anna" }));
        let refused = server.answer(id).error();
        refused.is(-32013, "transport");
        assert!(refused.message.contains("event replay gap: 1"), "{}", refused.message);
        runtime.wait_streams(1);
        // At the end of a turn a main runtime's history covers all; a hosted one's never does.
        runtime.prompt("hello");
        runtime.wait_turns(1);
        let id = server.ask_attach(&runtime, json!({ "clientId": "anna" }));
        match runtime.options().history.is_empty() {
            true => drop(server.answer(id).error().is(-32013, "transport")),
            false => drop(server.answer(id).result()),
        }
    }
}

#[test]
fn the_end_of_the_stream_is_told_with_its_reason_once() {
    let half = "data: {\"sequence\":1,\"kind\":\"text_de";
    let ends: [(&str, Option<Vec<u8>>); 9] = [
        ("ended", None),
        ("half a line", Some(half.into())),
        ("no json", Some("data: nothing of the kind\n\n".into())),
        ("an array", Some("data: [1,\"k\",{}]\n\n".into())),
        ("no number", Some("data: {\"kind\":\"k\",\"payload\":{}}\n\n".into())),
        ("a fraction", Some("data: {\"sequence\":1.5,\"kind\":\"k\",\"payload\":{}}\n\n".into())),
        ("no UTF-8", Some(b"data: {\"sequence\":1,\"kind\":\"\xff\",\"payload\":{}}\n\n".to_vec())),
        ("too deep", Some(format!("data: {}\n\n", "[".repeat(200)).into())),
        ("too large", Some([b"data: ", &b"x".repeat(20 << 20)[..], b"\n\n"].concat())),
    ];
    let (runtime, mut server) = with_runtime(main("main-1"));
    let mut reasons = vec![];
    for (what, bytes) in ends {
        let attachment = server.attach(&runtime, json!({ "clientId": "anna" }))["attachment"].take();
        let cut = bytes.is_none() || what == "half a line";
        if let Some(bytes) = bytes {
            runtime.send_bytes(bytes);
        }
        if cut {
            runtime.wait_drained();
            runtime.cut();
        }
        let end = server.event(&attachment);
        assert_eq!(end["kind"], "disconnected");
        if what == "half a line" {
            // The end may overtake what the runtime was still writing; then it is an end like any other.
            let reason = end["reason"].as_str().unwrap();
            assert!(reason.contains("before its answer was whole") || reason.contains("ended the stream"), "{reason}");
        } else {
            reasons.push(json!([what, end["reason"]]));
        }
        server.at(&attachment, "lease", json!({})).error().is(-32001, "not_found");
        runtime.wait_streams(0);
        runtime.wait_observers(0);
        server.pong();
    }
    insta::assert_json_snapshot!(reasons);
}

#[test]
fn a_large_event_is_passed_on() {
    let (runtime, mut server) = with_runtime(main("main-1"));
    let attachment = attach(&mut server, &runtime);
    for _ in 0..2 {
        runtime.emit_sized(10 << 20);
        assert_eq!(server.event(&attachment)["payload"]["text"].as_str().unwrap().len(), 10 << 20);
    }
}

#[test]
fn a_burst_makes_nobody_lag() {
    // More than may wait, and no more than that and what is on its way to the client may be.
    const BURST: u64 = 5_000;
    let (runtime, mut server) = with_runtime(main("main-1"));
    let attachment = attach(&mut server, &runtime);
    let block = |number| format!("data: {}\n\n", event(number, ""));
    runtime.send_bytes((1..=BURST).map(block).collect::<String>());
    (1..=BURST).for_each(|number| assert_eq!(server.event(&attachment), event(number, "")));
}

#[test]
fn many_attachments_to_one_and_to_many_at_once() {
    let (first, mut server) = with_runtime(main("main-1"));
    let second = server.publish(Options::hosted("gemini", "hosted-1", WORKSPACE));
    let third = server.publish(main("main-2"));
    let runtimes = [&first, &second, &third];
    let asked: Vec<(usize, i64)> = (0..24).map(|at| (at % 3, server.ask_attach(runtimes[at % 3], json!({})))).collect();
    let joined: Vec<(usize, Value)> =
        asked.into_iter().map(|(at, id)| (at, server.answer(id).result()["attachment"].take())).collect();
    for (at, runtime) in runtimes.iter().enumerate() {
        assert_eq!(runtime.observers().len(), 8);
        (0..100).for_each(|number| runtime.emit("text_delta", json!({ "text": format!("{at}.{number}") })));
    }
    for (at, attachment) in &joined {
        for number in 0..100 {
            assert_eq!(server.event(attachment)["payload"]["text"], format!("{at}.{number}"));
        }
    }
    // The end of one is not that of the others.
    first.cut();
    for (_, attachment) in joined.iter().filter(|(at, _)| *at == 0) {
        assert_eq!(server.event(attachment)["kind"], "disconnected");
    }
    second.emit("text_delta", json!({ "text": "still" }));
    for (_, attachment) in joined.iter().filter(|(at, _)| *at == 1) {
        assert_eq!(server.event(attachment)["payload"]["text"], "still");
    }
    server.pong();
}

#[test]
fn a_runtime_that_gives_its_token_back_everywhere_gives_it_to_nobody() {
    for mut options in flavours() {
        let token = options.token.clone();
        options = options.on("say", [Step::Text(format!("the token is {token}"))]);
        options.history.push(json!({ "role": "user", "content": token }));
        let (runtime, mut server) = with_runtime(options);
        runtime.echo_token();
        let joined = server.attach(&runtime, json!({ "clientId": "anna" }));
        assert!(joined["history"].to_string().contains("<token>"));
        let attachment = &joined["attachment"];
        let reply = server.at(attachment, "submit", json!({ "prompt": format!("say {token}") })).result();
        assert_eq!(reply["reply"], "the token is <token>");
        server.events_to(attachment, "turn_succeeded");
        for (bad, reason) in [
            (Bad::Error(json!({ "code": -32002, "name": "execution", "message": "failed with " })), "execution"),
            (Bad::Status(500, crate::support::runtime::Flavour::Hosted), "execution"),
            (Bad::Status(404, crate::support::runtime::Flavour::Hosted), "transport"),
            (Bad::Redirect(302, "http://127.0.0.1:1/".to_owned()), "transport"),
            (Bad::InvalidJson, "transport"),
            (Bad::Body(format!("{{\"id\":1,\"result\":{{\"{token}\":1}}}}").into()), "transport"),
            (Bad::Bytes(token.clone().into()), "transport"),
        ] {
            runtime.misbehave_times(Route::Rpc("lease".to_owned()), 1, bad);
            assert_eq!(server.at(attachment, "lease", json!({})).error().reason, reason);
        }
        runtime.send_event(json!({ "sequence": u64::MAX, "kind": "k", "payload": { "message": token } }));
        assert_eq!(server.events_to(attachment, "disconnected").pop().unwrap()["reason"], "<token>");
        server.request("registry/list", json!({})).result();
    }
}
