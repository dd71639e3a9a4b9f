//! Our own client of the same API.

use super::*;
use crate::protocol::{Permission, RuntimeResponse, State};
use crate::runtime::{Api, Caller, Client as HttpClient, Reply};
use std::sync::Arc;

fn api(host: &Host, client_id: &str, permissions: &[Permission]) -> Api {
    let authority = address(host);
    let candidates = vec![authority.parse().expect("an address")];
    let client = HttpClient::new(candidates, authority, Token::new(TOKEN.to_owned())).expect("a client");
    Api::new(Arc::new(client), Caller { client_id: client_id.to_owned(), permissions: permissions.to_vec() })
}

#[tokio::test]
async fn it_attaches_drives_answers_and_closes() {
    let (host, mut script) = host().await;
    let api = api(&host, "us", &Permission::ALL);
    let mut events = api.events().await.unwrap();
    let snapshot = api.attach(50).await.unwrap();
    assert_eq!((snapshot.history_cursor, snapshot.replay.len()), (0, 0));
    let descriptor = api.describe().await.unwrap();
    assert_eq!((descriptor.session_id.as_str(), descriptor.state), ("native", State::Idle));
    assert_eq!(descriptor.source_harness.as_deref(), Some("gemini"));
    assert!(descriptor.actions.submit && descriptor.actions.close && !descriptor.actions.steer);
    let (reply, ()) = tokio::join!(api.submit("hello", &[]), async {
        assert_eq!(script.prompted().await, "hello");
        let decided = script.ask(&[Decision::Allow, Decision::AllowForSession, Decision::Deny]).await;
        while events.next().await.unwrap().unwrap().kind != "request" {}
        assert_eq!(api.describe().await.unwrap().state, State::Waiting);
        let response = RuntimeResponse::Approval { request_id: 1, decision: Decision::AllowForSession };
        assert!(api.respond(&response).await.unwrap());
        assert_eq!(decided.await, Ok(Decision::AllowForSession));
        script.say("hi").await;
        script.end().await;
    });
    assert_eq!(reply.unwrap(), Reply::Text("hi".to_owned()));
    let lease = api.heartbeat().await.unwrap();
    assert_eq!(lease.controller.unwrap().client_id, "us");
    assert!(api.steer("x").await.is_err());
    assert!(api.close().await.unwrap());
    let mut last = String::new();
    while let Some(event) = events.next().await.unwrap() {
        last = event.kind;
    }
    assert_eq!(last, "runtime_disconnected");
    host.ended().await;
}

#[tokio::test]
async fn the_largest_snapshot_is_within_its_bounds() {
    let (host, mut script) = host().await;
    let api = api(&host, "us", &[Permission::Observe, Permission::Interact]);
    // A line feed is one byte that takes two, and an escape takes six.
    for text in ["o", "\n", "\u{1b}"] {
        assert!(api.send_input("go", &[]).await.unwrap());
        script.prompted().await;
        for at in 0..60 {
            let output = text.repeat(400 << 10);
            script.event("tool_call_completed", json!({ "id": at.to_string(), "name": "n", "output": output })).await;
        }
        script.event("native_event", json!({ "kind": "mark", "raw": null })).await;
        until(async || api.attach(200).await.unwrap().replay.last().unwrap().kind == "native_event").await;
        script.end().await;
        until(async || api.describe().await.unwrap().state == State::Idle).await;
        api.attach(200).await.unwrap();
    }
}

#[tokio::test]
async fn a_descriptor_of_an_agent_with_much_to_offer_is_within_its_bounds() {
    let (host, script) = host().await;
    let api = api(&host, "us", &Permission::ALL);
    let (name, description) = ("n".repeat(250), "d".repeat(10_000));
    let command = Command { name: name.clone(), description: description.clone(), hint: Some(description.clone()) };
    let choice = Choice { id: name.clone(), name: description.clone() };
    let long = Command { name: description.clone(), ..command.clone() };
    let commands = [vec![long], vec![command; 500]].concat();
    let (models, modes) = (vec![choice.clone(); 500], vec![choice; 500]);
    script.tell(Told::Facts(Box::new(Facts { commands, models, modes, title: Some(description), ..facts() }))).await;
    let operations = loop {
        let descriptor: Value = serde_json::from_str(api.describe().await.unwrap().raw.get()).unwrap();
        if !descriptor["extensions"]["tackroom"]["title"].is_null() {
            break descriptor["operations"].clone();
        }
    };
    assert_eq!(operations.as_array().unwrap().len(), 256 + 1 + 256);
}
