use super::*;

const BOTH: [Decision; 2] = [Decision::Allow, Decision::Deny];

fn answer(id: u64, decision: &str) -> Value {
    json!({ "response": { "kind": "approval", "request_id": id, "decision": decision } })
}

/// A turn that runs.
async fn busy(client: &Client<'_>, script: &mut Script) {
    client.ok("frontend.v2.send_input", json!({ "prompt": "x" })).await;
    script.prompted().await;
}

#[tokio::test]
async fn one_answer_counts_and_the_first_that_fits() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let mut listening = client.listen().await;
    busy(&client, &mut script).await;
    let decided = script.ask(&BOTH).await;
    let told = listening.event("request").await;
    let request = json!({ "id": 1, "kind": "approval", "payload": { "tool": "bash", "subject": "echo", "raw_args": { "command": "echo" } } });
    assert_eq!(told["payload"].to_string(), json!({ "type": "request", "request": request }).to_string());
    let ours = client.ok("frontend.v2.describe", json!({})).await["extensions"]["tackroom"].clone();
    assert_eq!(ours["waitingFor"], "approval of bash");

    let wrong = json!({ "response": { "kind": "elicitation", "request_id": 1, "action": "accept", "content": null } });
    let message = "invalid SDK response: request 1 expects Approval, got Elicitation";
    let refused = json!({ "code": -32022, "name": "invalid_argument", "operation": "respond", "message": message });
    assert_eq!(client.error("respond", wrong).await, refused);
    let unoffered = client.error("respond", answer(1, "allow_for_session")).await;
    assert_eq!((&unoffered["code"], &unoffered["name"]), (&json!(-32022), &json!("invalid_argument")));
    for bad in [
        json!({}),
        json!({ "response": { "kind": "x" } }),
        answer(1, "perhaps"),
        json!({ "response": { "kind": "approval", "request_id": -1, "decision": "allow" } }),
    ] {
        assert_eq!(client.error("respond", bad).await, json!({ "code": -32602, "message": "invalid response" }));
    }
    assert_eq!(client.error("respond", answer(2, "allow")).await["name"], "not_found");

    assert_eq!(client.ok("frontend.v2.respond", answer(1, "allow")).await, json!({ "accepted": true }));
    assert_eq!(soon(decided).await, Ok(Decision::Allow));
    let message = "SDK request 1 is not pending";
    let again = json!({ "code": -32022, "name": "not_found", "operation": "respond", "message": message });
    assert_eq!(client.error("respond", answer(1, "deny")).await, again);
    let resolved = listening.event("request_resolved").await;
    let response = json!({ "kind": "approval", "request_id": 1, "decision": "allow" });
    assert_eq!(resolved["payload"], json!({ "type": "request_resolved", "request_id": 1, "response": response }));

    script.end().await;
    let ended = listening.event("turn_succeeded").await;
    assert_eq!(ended["sequence"], 7, "numbers were left out for what only the ring has");
    let attached = client.ok("frontend.v2.attach", json!({})).await;
    assert_eq!(kinds(attached["replay"].as_array().unwrap()), ["request", "request_resolved", "turn_succeeded"]);
    assert_eq!((&attached["history_cursor"], &attached["replay"][0]["sequence"]), (&json!(4), &json!(5)));
    busy(&client, &mut script).await;
    script.end().await;
    until_idle(&client).await;
    let attached = client.ok("frontend.v2.attach", json!({})).await;
    assert_eq!(kinds(attached["replay"].as_array().unwrap()), ["turn_succeeded"]);
}

#[tokio::test]
async fn two_who_answer_at_once_are_not_both_heard() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let mut listening = client.listen().await;
    busy(&client, &mut script).await;
    let decided = script.ask(&BOTH).await;
    listening.event("request").await;
    let (one, other) =
        tokio::join!(client.call("respond", answer(1, "allow")), client.call("respond", answer(1, "deny")));
    let accepted = [&one, &other].iter().filter(|answer| answer["result"]["accepted"] == true).count();
    assert_eq!(accepted, 1, "{one} {other}");
    let expected = if one["result"].is_object() { Decision::Allow } else { Decision::Deny };
    assert_eq!(soon(decided).await, Ok(expected));
}

#[tokio::test]
async fn where_nobody_may_approve_it_is_denied_at_once_and_nobody_is_asked() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    busy(&client, &mut script).await;
    assert_eq!(soon(script.ask(&BOTH).await).await, Ok(Decision::Deny));
    let looks = Client { permissions: Some("observe,interact"), ..Client::new(&host, "looks") };
    let mut listening = looks.listen().await;
    assert_eq!(soon(script.ask(&BOTH).await).await, Ok(Decision::Deny));
    script.end().await;
    listening.event("turn_succeeded").await;
    assert_eq!(kinds(&listening.events()), ["turn_succeeded"]);
}

#[tokio::test]
async fn when_the_last_who_may_approve_leaves_it_is_denied_and_the_others_see_it() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let looks = Client { permissions: Some("observe"), ..Client::new(&host, "looks") };
    let mut watching = looks.listen().await;
    let (one, two) = (Client::new(&host, "b").listen().await, Client::new(&host, "c").listen().await);
    busy(&client, &mut script).await;
    let mut decided = script.ask(&BOTH).await;
    watching.event("request").await;
    drop(one);
    until_lease(&client, |lease| lease["observers"].as_array().unwrap().len() == 2).await;
    assert!(decided.try_recv().is_err(), "one is left");
    drop(two);
    assert_eq!(soon(decided).await, Ok(Decision::Deny));
    let resolved = watching.event("request_resolved").await;
    assert_eq!(resolved["payload"]["response"]["decision"], "deny");
    assert_eq!(resolved["payload"]["reason"], "unattended");
}

#[tokio::test]
async fn a_runtime_that_waits_asks_who_comes_later() {
    let (host, mut script) = with(Options { unattended: Unattended::Wait, ..options() }).await;
    let client = Client::new(&host, "a");
    busy(&client, &mut script).await;
    let mut decided = script.ask(&BOTH).await;
    until_replayed(&client, 3).await;
    drop(client.listen().await);
    until_lease(&client, |lease| lease["observers"] == json!([])).await;
    assert!(decided.try_recv().is_err());
    client.ok("respond", answer(1, "deny")).await;
    assert_eq!(soon(decided).await, Ok(Decision::Deny));
}

#[tokio::test]
async fn what_is_over_is_resolved_whatever_ended_it() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let mut listening = client.listen().await;
    let resolved = async |listening: &mut Listening, id: u64| loop {
        let told = listening.events();
        if let Some(found) = told.iter().find(|event| event["payload"]["request_id"] == id) {
            return found["payload"]["reason"].clone();
        }
        assert!(listening.more().await);
    };
    busy(&client, &mut script).await;
    drop(script.ask(&BOTH).await);
    assert_eq!(resolved(&mut listening, 1).await, "withdrawn");
    let decided = script.ask(&BOTH).await;
    script.end().await;
    assert_eq!(resolved(&mut listening, 2).await, "turn_ended");
    assert!(soon(decided).await.is_err());
    busy(&client, &mut script).await;
    let decided = script.ask(&BOTH).await;
    listening.until("\"id\":3").await;
    let (_, ()) = tokio::join!(client.ok("interrupt", json!({})), async {
        assert!(matches!(script.asked().await, Ask::Cancel));
        script.tell(Told::TurnEnded(TurnEnd::Interrupted)).await;
    });
    assert_eq!(resolved(&mut listening, 3).await, "interrupted");
    assert!(soon(decided).await.is_err());
}

#[tokio::test]
async fn what_is_asked_is_still_replayed_when_the_ring_ran_over() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let mut listening = client.listen().await;
    busy(&client, &mut script).await;
    let _decided = script.ask(&BOTH).await;
    listening.event("request").await;
    tokio::spawn(async move {
        while listening.more().await {
            listening.read.clear();
        }
    });
    for _ in 0..80 {
        script.event("reasoning", json!({ "text": "x".repeat(400 << 10) })).await;
    }
    let attached = loop {
        let attached = client.ok("frontend.v2.attach", json!({})).await;
        let last = attached["replay"].as_array().unwrap().last().unwrap()["sequence"].as_u64();
        if last >= Some(83) {
            break attached;
        }
    };
    assert!(attached["history_cursor"].as_u64().unwrap() > 3, "the event that asked has left the ring");
    let replay = attached["replay"].as_array().unwrap();
    let asked: Vec<_> = replay.iter().filter(|event| event["kind"] == "request").collect();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["payload"]["request"]["id"], 1);
}

#[tokio::test]
async fn there_are_only_so_many_questions_at_once() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let _listening = client.listen().await;
    busy(&client, &mut script).await;
    let mut open = Vec::new();
    for _ in 0..crate::limits::HOST_APPROVALS {
        open.push(script.ask(&BOTH).await);
    }
    assert_eq!(soon(script.ask(&BOTH).await).await, Ok(Decision::Deny));
    assert!(open.iter_mut().all(|open| open.try_recv().is_err()), "the others are still open");
}
