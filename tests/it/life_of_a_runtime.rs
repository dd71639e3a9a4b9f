//! The whole life of a runtime, as two editors see it.

use crate::support::runtime::{Options, Process, Step};
use crate::support::{DRIVER, Home, Server, Spawn, WORKSPACE, beside, receipts};
use serde_json::{Value, json};

const SESSION: &str = "0b7a3a1e-0000-4000-9000-00000000c0de";
const ID: &str = "runtime-of-the-demo";

fn entries(server: &mut Server) -> Vec<Value> {
    server.request("registry/list", json!({})).result()["entries"].as_array().unwrap().clone()
}

/// The next event of an attachment: its kind and its payload.
fn event(server: &mut Server, attachment: &Value) -> (String, Value) {
    let params = server.expect_notification("runtime/event");
    assert_eq!(&params["attachment"], attachment);
    (params["event"]["kind"].as_str().unwrap().to_owned(), params["event"]["payload"].clone())
}

fn attach(server: &mut Server, client: &str) -> Value {
    server.request("runtime/attach", json!({ "id": format!("claude-code:{SESSION}"), "clientId": client })).result()
}

#[test]
fn it_appears_is_joined_by_two_changes_hands_works_asks_crashes_and_is_gone() {
    let home = Home::new();
    home.project("-home-dev-demo", WORKSPACE).session(SESSION, "Mend the roof", 60);
    let receipts = receipts(&home);
    let mut anna = Spawn::new(home).args(["--allow", DRIVER]).open();
    let mut ben = beside(&anna);

    // Before: a stored session, and no more.
    let [stored] = <[Value; 1]>::try_from(entries(&mut anna)).unwrap();
    assert_eq!(stored["id"], format!("claude-code:{SESSION}"));
    assert_eq!(stored["state"], "persisted");
    let nobody = anna.request("runtime/attach", json!({ "id": stored["id"] })).error();
    nobody.is(-32003, "not_live");

    // A runtime of that session appears: one row, which is both.
    let mut options = Options::hosted("claude-code", ID, WORKSPACE)
        .on(
            "ask",
            [
                Step::Approval { tool: "Bash".into(), arguments: json!({ "command": "ls" }) },
                Step::Text("{output}".into()),
            ],
        )
        .on("work", [Step::Hold("work".into()), Step::Text("worked".into())]);
    options.source.session_id = SESSION.to_owned();
    let mut runtime = Process::start(options, &receipts);
    let [live] = <[Value; 1]>::try_from(entries(&mut anna)).unwrap();
    assert_eq!((&live["id"], &live["state"]), (&json!(ID), &json!("idle")));
    assert_eq!((&live["persistedId"], &live["title"]), (&stored["id"], &json!("Mend the roof")));
    assert_eq!((&live["endpoint"], &live["owner"]["pid"]), (&json!(runtime.endpoint), &json!(runtime.pid())));
    assert_eq!(live["doors"], json!(["runtime"]));

    // Two editors join it, each through a server of its own.
    let joined = attach(&mut anna, "anna");
    let of_anna = joined["attachment"].clone();
    let of_ben = attach(&mut ben, "ben")["attachment"].clone();
    let lease = anna.request("runtime/lease", json!({ "attachment": of_anna })).result();
    let observers: Vec<&Value> =
        lease["lease"]["observers"].as_array().unwrap().iter().map(|one| &one["clientId"]).collect();
    assert_eq!(observers, ["anna", "ben"]);

    // Anna drives. Ben sees what happens, and cannot drive until he takes control.
    anna.request("runtime/sendInput", json!({ "attachment": of_anna, "prompt": "work" })).result();
    for (server, attachment) in [(&mut anna, &of_anna), (&mut ben, &of_ben)] {
        assert_eq!(
            event(server, attachment),
            ("user_message".into(), json!({ "type": "user_message", "text": "work" }))
        );
        assert_eq!(event(server, attachment).0, "turn_started");
    }
    assert_eq!(entries(&mut ben)[0]["state"], "busy");
    let refused = ben.request("runtime/sendInput", json!({ "attachment": of_ben, "prompt": "stop" })).error();
    refused.is(-32006, "controller_required");
    assert_eq!(refused.data["holder"], "anna");
    let taken = ben.request("runtime/takeControl", json!({ "attachment": of_ben })).result();
    assert_eq!(taken["lease"]["controller"]["clientId"], "ben");
    let lost = anna.request("runtime/steer", json!({ "attachment": of_anna, "prompt": "faster" })).error();
    assert_eq!(lost.data["holder"], "ben");

    // The turn goes on to its end.
    runtime.release("work");
    for (server, attachment) in [(&mut anna, &of_anna), (&mut ben, &of_ben)] {
        assert_eq!(event(server, attachment).1["text"], "worked");
        assert_eq!(event(server, attachment).0, "turn_succeeded");
        assert_eq!(event(server, attachment).0, "turn_completed");
    }

    // A turn of Ben's asks; he answers, once.
    let turn = ben.ask("runtime/submit", json!({ "attachment": of_ben, "prompt": "ask" }));
    let request = loop {
        let (kind, payload) = event(&mut ben, &of_ben);
        if kind == "request" {
            break payload["request"]["id"].clone();
        }
    };
    let answer =
        json!({ "attachment": of_ben, "response": { "kind": "approval", "requestId": request, "decision": "allow" } });
    assert_eq!(ben.request("runtime/respond", answer.clone()).result(), json!({ "accepted": true }));
    ben.request("runtime/respond", answer).error().is(-32001, "not_found");
    assert_eq!(ben.answer(turn).result(), json!({ "reply": "allow" }));

    // Anna leaves and is told nothing more; Ben is there when it crashes.
    let left = anna.request("runtime/detach", json!({ "attachment": of_anna })).result();
    assert_eq!(left["lease"]["observers"].as_array().unwrap().len(), 1);
    runtime.kill();
    loop {
        let params = ben.expect_notification("runtime/event");
        if params["event"]["kind"] == "disconnected" {
            assert!(params["event"]["reason"].is_string() && params["event"].get("sequence").is_none());
            break;
        }
    }
    ben.request("runtime/lease", json!({ "attachment": of_ben })).error().is(-32001, "not_found");

    // After: the stored session is there as before, and nothing else.
    for server in [&mut anna, &mut ben] {
        assert_eq!(entries(server), std::slice::from_ref(&stored));
    }
}
