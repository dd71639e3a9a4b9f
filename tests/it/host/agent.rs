//! What an agent says of itself and of its work, and what it asks, as every client sees it.

use super::bad::{scripted, submit};
use super::{entry, join};
use crate::support::agent::Setup;
use crate::support::{Home, beside, serve};
use serde_json::{Value, json};

fn answer(request: &Value, action: &str, content: Value) -> Value {
    json!({ "response": { "kind": "elicitation", "requestId": request, "action": action, "content": content } })
}

#[test]
fn form_is_answered_from_any_client_and_checked() {
    let home = Home::new();
    let host = scripted(&home, &[], &Setup::default());
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    anna.at(&at, "sendInput", json!({ "prompt": "form" })).result();
    let asked = anna.events_to(&at, "request").pop().unwrap()["payload"]["request"].take();
    assert_eq!((&asked["kind"], &asked["payload"]["message"]), (&json!("elicitation"), &json!("Which port?")));
    assert_eq!(asked["payload"]["requested_schema"]["required"], json!(["port"]));
    assert_eq!(asked["payload"]["field_order"], json!(["port"]));
    let waiting = entry(&mut anna);
    assert_eq!(
        (&waiting["state"], &waiting["activity"]["waitingFor"]),
        (&json!("waiting"), &json!("answer to: Which port?"))
    );
    for (content, why) in [
        (json!({}), "port is required"),
        (json!({ "port": "many" }), "port: must be a number"),
        (json!({ "port": 0 }), "port: must have a value of 1 or more"),
        (json!({ "port": 1, "host": "x" }), "no field"),
        (json!("many"), "must be a number"),
    ] {
        let error = anna.at(&at, "respond", answer(&asked["id"], "accept", content)).error();
        assert!(error.message.contains(why), "{error:?}");
    }
    let mut ben = beside(&anna);
    let of_ben = join(&mut ben, host.id(), "ben");
    ben.at(&of_ben, "takeControl", json!({})).result();
    ben.at(&of_ben, "respond", answer(&asked["id"], "accept", json!({ "port": 8080 }))).result();
    let told = anna.events_to(&at, "turn_succeeded");
    let resolved = told.iter().find(|event| event["kind"] == "request_resolved").unwrap();
    let response =
        json!({ "kind": "elicitation", "request_id": asked["id"], "action": "accept", "content": { "port": 8080 } });
    assert_eq!(resolved["payload"]["response"], response);
    let reply = told.last().unwrap()["payload"]["reply"].as_str().unwrap();
    assert!(reply.contains(r#""content":{"port":8080}"#), "{reply}");
}

#[test]
fn form_with_one_field_takes_text_and_form_can_be_declined() {
    let home = Home::new();
    let host = scripted(&home, &[], &Setup::default());
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    for (action, content, expected) in [
        ("accept", json!("8080"), r#""result":{"action":"accept","content":{"port":8080}}"#),
        ("decline", Value::Null, r#""result":{"action":"decline"}"#),
        ("cancel", Value::Null, r#""result":{"action":"cancel"}"#),
    ] {
        anna.at(&at, "sendInput", json!({ "prompt": "form" })).result();
        let asked = anna.events_to(&at, "request").pop().unwrap()["payload"]["request"]["id"].take();
        anna.at(&at, "respond", answer(&asked, action, content)).result();
        let told = anna.events_to(&at, "turn_succeeded").pop().unwrap();
        assert!(told["payload"]["reply"].as_str().unwrap().contains(expected), "{told}");
    }
}

#[test]
fn title_agent_and_usage_are_described() {
    let home = Home::new();
    let setup = Setup { name: Some("My Agent".to_owned()), ..Setup::default() };
    let host = scripted(&home, &[], &setup);
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    submit(&mut anna, &at, "usage say:hi");
    let of = |server: &mut crate::support::Server| {
        let entry = entry(server);
        (entry["harness"].clone(), entry["agent"].clone(), entry["title"].clone(), entry["model"].clone())
    };
    let first = (json!("acp"), json!("My Agent"), json!("usage say:hi"), json!("small"));
    assert_eq!(of(&mut anna), first);
    submit(&mut anna, &at, "title:Of_its_own");
    assert_eq!(of(&mut anna).2, "Of its own");
    let described = anna.request("runtime/describe", json!({ "runtimeId": host.id() })).result();
    let ours = &described["descriptor"]["extensions"]["tackroom"];
    assert_eq!(ours["agent"], json!({ "name": "My Agent", "version": "1" }));
    assert_eq!(ours["usage"], json!({ "contextTokens": 10 }));
}

#[test]
fn command_is_in_history_as_last_said() {
    let home = Home::new();
    let host = scripted(&home, &[], &Setup::default());
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    submit(&mut anna, &at, "tool terminal:terminal_output_delta");
    let joined = beside(&anna).request("runtime/attach", json!({ "runtimeId": host.id() })).result();
    let messages = joined["history"].as_array().unwrap();
    let calls: Vec<&Value> = messages
        .iter()
        .filter_map(|one| one["tool_calls"].as_array())
        .flatten()
        .map(|call| &call["function"])
        .collect();
    let call = |name: &str, arguments: &str| json!({ "name": name, "arguments": arguments });
    assert_eq!(calls, [&call("Run ls", r#"{"command":"ls"}"#), &call("make", r#"{"command":"make"}"#)]);
    let outputs: Vec<&Value> = messages.iter().filter(|one| one["role"] == "tool").map(|one| &one["content"]).collect();
    assert_eq!(outputs, ["ran\n--- /w/a\n+++ /w/a\n-2\n+3", "one\ntwo\nexit code 2"]);
}
