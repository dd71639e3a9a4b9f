use super::super::door::{METHODS, Method};
use super::*;

const WORDS: [&str; 4] = ["observe", "interact", "approve", "terminate"];

/// Params with which a method goes as far as it can.
fn params(method: Method) -> Value {
    match method {
        Method::Respond => json!({ "response": { "kind": "approval", "request_id": 99, "decision": "deny" } }),
        Method::Invoke => json!({ "operation": { "kind": "context", "operation_id": "context:usage" } }),
        _ => json!({ "prompt": "x" }),
    }
}

#[tokio::test]
async fn every_method_is_refused_for_every_permission_that_it_lacks() {
    for row in METHODS.iter().filter(|row| !matches!(row.method, Method::Close | Method::Shutdown | Method::Submit)) {
        let (host, _script) = host().await;
        for set in 0..1 << WORDS.len() {
            let held: Vec<_> =
                WORDS.iter().enumerate().filter(|(at, _)| set & (1 << at) != 0).map(|(_, word)| *word).collect();
            let words = held.join(",");
            let client = Client { permissions: Some(&words), ..Client::new(&host, "a") };
            let lacking = row.needs.iter().map(|needed| needed.id()).find(|needed| !held.contains(needed));
            for name in row.names {
                let answer = client.call(name, params(row.method)).await;
                match lacking {
                    Some(lacking) => {
                        let message = format!("SDK runtime permission `{lacking}` is required");
                        let error = json!({ "code": -32031, "name": "unauthorized", "operation": null,
                            "message": message, "permission": lacking });
                        assert_eq!(
                            answer.to_string(),
                            json!({ "id": 1, "error": error }).to_string(),
                            "{name} with {words:?}"
                        );
                    }
                    None => assert_ne!(answer["error"]["name"], "unauthorized", "{name} with {words:?}: {answer}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn what_ends_the_runtime_or_waits_for_a_turn_is_refused_too() {
    let (host, mut script) = host().await;
    for (method, permissions, lacking) in [
        ("frontend.v2.close", "observe,interact,approve", "terminate"),
        ("frontend.close", "", "terminate"),
        ("shutdown", "observe", "terminate"),
        ("submit", "interact", "observe"),
        ("frontend.v2.submit", "observe,approve,terminate", "interact"),
    ] {
        let client = Client { permissions: Some(permissions), ..Client::new(&host, "a") };
        assert_eq!(client.error(method, json!({ "prompt": "x" })).await["permission"], lacking);
    }
    assert!(script.asks.try_recv().is_err(), "the agent was asked nothing");
    let blind = Client { permissions: Some("interact,approve,terminate"), ..Client::new(&host, "a") };
    let answer = exchange(&host, blind.write("GET /frontend/events", "")).await;
    assert_eq!(status(&answer), 403);
    assert_eq!(body(&answer)["error"]["permission"], "observe");
}

#[tokio::test]
async fn the_descriptor_is_masked_by_what_the_caller_may_do() {
    let (host, _script) = host().await;
    for (permissions, actions) in [
        ("", [false; 6]),
        ("observe", [false, false, false, false, true, false]),
        ("observe,interact", [true, true, false, false, true, false]),
        ("observe,approve", [false, false, false, false, true, false]),
        ("observe,interact,approve", [true, true, false, true, true, false]),
        ("observe,interact,approve,terminate", [true, true, false, true, true, true]),
    ] {
        let client = Client { permissions: Some(permissions), ..Client::new(&host, "a") };
        let answer = client.call("frontend.v2.describe", json!({})).await;
        if permissions.is_empty() {
            assert_eq!(answer["error"]["permission"], "observe");
            continue;
        }
        let told = answer["result"]["actions"].as_object().unwrap();
        assert_eq!(told.keys().collect::<Vec<_>>(), ["submit", "interrupt", "steer", "respond", "detach", "close"]);
        assert_eq!(told.values().map(|may| may.as_bool().unwrap()).collect::<Vec<_>>(), actions, "{permissions}");
    }
}
