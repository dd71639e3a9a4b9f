//! What an agent does outside of a turn.

use super::bad::{scripted, submit};
use super::{allow, entry, join};
use crate::support::agent::Setup;
use crate::support::{Home, beside, serve};
use serde_json::{Value, json};

/// The contents of the messages of a history, by who said them.
fn said(joined: &Value) -> Vec<(&str, &str)> {
    let messages = joined["history"].as_array().unwrap().iter();
    messages.map(|one| (one["role"].as_str().unwrap(), one["content"].as_str().unwrap_or_default())).collect()
}

#[test]
fn what_is_said_outside_a_turn_is_told_live_and_stays_in_the_history() {
    let home = Home::new();
    let host = scripted(&home, &[], &Setup::default());
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    assert_eq!(submit(&mut anna, &at, "say:in then begin-tool:b say:out"), "in");
    let told = anna.events_to(&at, "turn_succeeded");
    assert_eq!(told.last().unwrap()["payload"]["reply"], "in");
    let told = anna.events_to(&at, "text_delta");
    let kinds: Vec<&str> = told.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_call_started", "text_delta"]);
    assert_eq!(told[1]["payload"]["text"], "out");
    let busy = entry(&mut anna);
    assert_eq!((&busy["state"], &busy["activity"]["status"]), (&json!("busy"), &json!("busy")));
    let replay = beside(&anna).request("runtime/attach", json!({ "runtimeId": host.id() })).result()["replay"].take();
    assert!(replay.to_string().contains(r#""text":"out""#), "{replay}");

    assert_eq!(submit(&mut anna, &at, "say:two then end-tool:b result"), "two");
    let told = anna.events_to(&at, "turn_completed");
    let completed = told.iter().find(|event| event["kind"] == "tool_call_completed").unwrap();
    assert_eq!((&completed["payload"]["id"], &completed["payload"]["output"]), (&json!("b"), &json!("built")));
    assert_eq!(entry(&mut anna)["state"], "idle");
    let joined = beside(&anna).request("runtime/attach", json!({ "runtimeId": host.id() })).result();
    let expected = [
        ("user", "say:in then begin-tool:b say:out"),
        ("assistant", "in"),
        ("assistant", ""),
        ("assistant", "out"),
        ("user", "say:two then end-tool:b result"),
        ("assistant", "two"),
        ("tool", "built"),
    ];
    assert_eq!(said(&joined), expected);
}

#[test]
fn a_question_outside_a_turn_waits_and_survives_a_turn() {
    let home = Home::new();
    let host = scripted(&home, &[], &Setup::default());
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    submit(&mut anna, &at, "then ask");
    let asked = anna.events_to(&at, "request").pop().unwrap();
    let id = &asked["payload"]["request"]["id"];
    let waiting = entry(&mut anna);
    assert_eq!((&waiting["state"], &waiting["activity"]["status"]), (&json!("waiting"), &json!("waiting")));
    let tool = asked["payload"]["request"]["payload"]["tool"].as_str().unwrap();
    assert_eq!(waiting["activity"]["waitingFor"], format!("approval of {tool}"));

    assert_eq!(submit(&mut anna, &at, "say:two"), "two");
    let told = anna.events_to(&at, "turn_succeeded");
    assert!(!told.iter().any(|event| event["kind"] == "request_resolved"), "{told:?}");
    assert_eq!(entry(&mut anna)["state"], "waiting");
    let joined = beside(&anna).request("runtime/attach", json!({ "runtimeId": host.id() })).result();
    let open = joined["replay"].as_array().unwrap().iter().filter(|event| event["kind"] == "request").count();
    assert_eq!(open, 1);

    anna.at(&at, "respond", allow(id)).result();
    let told = anna.events_to(&at, "text_delta");
    assert!(!told.iter().any(|event| event["kind"] == "request"), "it is sent once to those who listen: {told:?}");
    let answered = told.last().unwrap();
    assert!(answered["payload"]["text"].as_str().unwrap().contains("selected"), "{answered}");
}

#[test]
fn token_split_between_two_pieces_of_text_is_replaced() {
    let home = Home::new();
    let host = scripted(&home, &[], &Setup::default());
    let receipt = host.receipt();
    let token = receipt["token"].as_str().unwrap();
    let (start, end) = token.split_at(token.len() / 2);
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    submit(&mut anna, &at, &format!("say:_{start} usage say:{end} then say:_{start} say:{end}_end"));
    for end in ["turn_succeeded", "turn_completed"] {
        let told = anna.events_to(&at, end);
        let pieces = told.iter().filter(|event| event["kind"] == "text_delta");
        let said: String = pieces.map(|event| event["payload"]["text"].as_str().unwrap()).collect();
        assert!(said.starts_with(" <token>"), "{end}");
        assert!(!told.iter().any(|event| event.to_string().contains(token)), "{end}");
    }
}

#[test]
fn work_outside_a_turn_can_be_interrupted() {
    let home = Home::new();
    let host = scripted(&home, &[], &Setup::default());
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    submit(&mut anna, &at, "then begin-tool:b ask");
    anna.events_to(&at, "request");
    assert_eq!(anna.at(&at, "interrupt", json!({})).result()["interrupted"], true);
    let told = anna.events_to(&at, "turn_completed");
    let resolved = told.iter().find(|event| event["kind"] == "request_resolved").unwrap();
    assert_eq!(resolved["payload"]["reason"], "interrupted");
}

#[test]
fn call_that_nobody_allowed_does_not_keep_the_agent_busy() {
    let home = Home::new();
    let host = scripted(&home, &[], &Setup::default());
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    for prompt in ["then ask", "then ask-withdraw"] {
        submit(&mut anna, &at, prompt);
        let asked = anna.events_to(&at, "request").pop().unwrap();
        if prompt == "then ask" {
            let id = &asked["payload"]["request"]["id"];
            let deny = json!({ "response": { "kind": "approval", "requestId": id, "decision": "deny" } });
            anna.at(&at, "respond", deny).result();
        }
        // The agent reports nothing more of the call, so its silence ends the work.
        anna.events_to(&at, "turn_completed");
        assert_eq!(entry(&mut anna)["state"], "idle");
    }
}
