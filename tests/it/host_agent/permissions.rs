//! What a person is asked.

use super::*;
use serde_json::json;
use tackroom::host::agent::FormAnswer;
use tackroom::protocol::Decision;

async fn decide(offered: &str, decision: Decision) -> String {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt(&format!("ask:{offered}")).await;
    let approval = hosted.approval().await;
    approval.answer.send(decision).unwrap();
    let (told, _) = hosted.rest().await;
    let outcome: Value = serde_json::from_str(&texts(&told.into_iter().filter_map(event).collect::<Vec<_>>())).unwrap();
    outcome["optionId"].as_str().or(outcome["outcome"].as_str()).unwrap().to_owned()
}

#[tokio::test]
async fn a_question_says_what_it_is_about_and_begins_its_tool_call() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("ask").await;
    let started = event(hosted.told().await).unwrap();
    let members = json!({"id": "p", "name": "Run p", "arguments": r#"{"command":"rm x"}"#, "status": "pending"});
    assert_eq!(plain(&started), ("tool_call_started", members));
    let mut approval = hosted.approval().await;
    assert_eq!(approval.decisions, [Decision::Deny, Decision::Allow, Decision::AllowForSession]);
    let raw = approval.payload.remove("raw").unwrap();
    assert_eq!(raw["options"][2]["optionId"], "option-reject_once");
    let expected = json!({"tool": "Run p", "subject": "/w/x", "raw_args": {"command": "rm x"},
        "decisions": ["deny", "allow", "allow_for_session"]});
    assert_eq!(Value::from(approval.payload), expected);
}

#[tokio::test]
async fn a_decision_becomes_the_option_that_was_offered_for_it() {
    assert_eq!(decide("", Decision::Allow).await, "option-allow_once");
    assert_eq!(decide("", Decision::AllowForSession).await, "option-allow_always");
    assert_eq!(decide("", Decision::Deny).await, "option-reject_once");
}

#[tokio::test]
async fn no_option_is_chosen_that_was_not_offered() {
    assert_eq!(decide("allow_once", Decision::Deny).await, "cancelled");
    assert_eq!(decide("allow_once,reject_always", Decision::Deny).await, "cancelled");
    assert_eq!(decide("allow_always,reject_once", Decision::Allow).await, "cancelled");
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("ask:allow_always,reject_always").await;
    let approval = hosted.approval().await;
    assert_eq!(approval.decisions, [Decision::Deny, Decision::AllowForSession]);
    // Nobody decides.
    drop(approval);
    let (told, _) = hosted.rest().await;
    assert_eq!(texts(&told.into_iter().filter_map(event).collect::<Vec<_>>()), r#"{"outcome":"cancelled"}"#);
}

#[tokio::test]
async fn several_questions_are_asked_at_once_and_answered_in_any_order() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("ask-two").await;
    let (one, two) = (hosted.approval().await, hosted.approval().await);
    two.answer.send(Decision::Deny).unwrap();
    one.answer.send(Decision::Allow).unwrap();
    let (told, _) = hosted.rest().await;
    let said = texts(&told.into_iter().filter_map(event).collect::<Vec<_>>());
    assert_eq!(said, "one: option-allow_once two: option-reject_once ");
}

#[tokio::test]
async fn a_question_is_taken_back_when_the_agent_or_the_host_no_longer_asks() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("ask-withdraw").await;
    let mut withdrawn = hosted.approval().await;
    soon(withdrawn.answer.closed()).await;
    let (told, _) = hosted.rest().await;
    assert_eq!(texts(&told.into_iter().filter_map(event).collect::<Vec<_>>()), "-32800");
    hosted.prompt("ask slow").await;
    let mut cancelled = hosted.approval().await;
    hosted.ask(Ask::Cancel).await;
    soon(cancelled.answer.closed()).await;
    let (told, end) = hosted.rest().await;
    let said = texts(&told.into_iter().filter_map(event).collect::<Vec<_>>());
    assert_eq!((said.as_str(), end), (r#"{"outcome":"cancelled"}stopping"#, TurnEnd::Interrupted));
}

#[tokio::test]
async fn an_option_of_which_nothing_is_known_does_no_harm() {
    assert_eq!(decide("wat,allow_once", Decision::Allow).await, "option-allow_once");
}

#[tokio::test]
async fn a_question_is_answered_that_has_no_id_or_is_of_another_session() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let ask = |session: &str| {
        let params = json!({"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": []});
        json!({"id": null, "method": "session/request_permission", "params": params})
            .to_string()
            .replace('_', "\\u005f")
    };
    let other = hosted.says(&format!("call-by:{}", ask("other"))).await;
    assert!(other.contains("-32602"), "{other}");
    hosted.prompt(&format!("call-by:{}", ask("test-session"))).await;
    drop(hosted.approval().await);
    let (told, _) = hosted.rest().await;
    let said = texts(&told.into_iter().filter_map(event).collect::<Vec<_>>());
    assert!(said.contains(r#""outcome":"cancelled""#) && said.contains(r#""id":null"#), "{said}");
}

#[tokio::test]
async fn open_questions_keep_nothing_from_being_done() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let file = hosted.workspace().join("file");
    hosted.prompt(&format!("ask-many:65 call:write={}", json!({"path": file, "content": "x"}))).await;
    let mut open = vec![];
    while open.len() < 64 {
        open.push(hosted.approval().await);
    }
    let (told, _) = hosted.rest().await;
    let said = texts(&told.into_iter().filter_map(event).collect::<Vec<_>>());
    assert_eq!(said, r#""too many requests for a person wait; let some be answered first"{}"#);
}

#[tokio::test]
async fn form_is_answered_declined_or_cancelled() {
    let mut hosted = Hosted::start(Setup::default()).await;
    for (answer, expected) in [
        (
            Some(FormAnswer::Accept(json!({"port": 80}).as_object().unwrap().clone())),
            json!({"action": "accept", "content": {"port": 80}}),
        ),
        (Some(FormAnswer::Decline), json!({"action": "decline"})),
        (Some(FormAnswer::Cancel), json!({"action": "cancel"})),
        (None, json!({"action": "cancel"})),
    ] {
        hosted.prompt("form").await;
        let asked = hosted.elicitation().await;
        let schema =
            json!({"type": "object", "properties": {"port": {"type": "integer", "minimum": 1}}, "required": ["port"]});
        assert_eq!(
            Value::from(asked.payload),
            json!({"message": "Which port?", "requested_schema": schema, "field_order": ["port"]})
        );
        assert!(asked.of_turn);
        match answer {
            Some(answer) => asked.answer.send(answer).unwrap(),
            None => drop(asked.answer),
        }
        let (told, _) = hosted.rest().await;
        let said = texts(&told.into_iter().filter_map(event).collect::<Vec<_>>());
        assert_eq!(serde_json::from_str::<Value>(&said).unwrap()["result"], expected);
    }
}

#[tokio::test]
async fn form_is_cancelled_with_its_turn() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("form slow").await;
    let mut asked = hosted.elicitation().await;
    hosted.ask(Ask::Cancel).await;
    soon(asked.answer.closed()).await;
    let (told, end) = hosted.rest().await;
    assert_eq!(end, TurnEnd::Interrupted);
    let said = texts(&told.into_iter().filter_map(event).collect::<Vec<_>>());
    assert!(said.contains(r#""action":"cancel""#), "{said}");
}

#[tokio::test]
async fn malformed_form_is_refused() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let form = |more: &str| {
        format!(r#"{{"id":0,"method":"elicitation/create","params":{{"sessionId":"test-session",{more}}}}}"#)
    };
    for bad in [
        r#""mode":"url","message":"m","url":"https://a.invalid","elicitationId":"e""#,
        r#""mode":"form","requestedSchema":{}"#,
        r#""mode":"form","message":"m""#,
        r#""mode":"form","message":"m","requestedSchema":[]"#,
    ] {
        let answer: Value = serde_json::from_str(&hosted.says(&format!("call-by:{}", form(bad))).await).unwrap();
        assert_eq!(answer["error"]["code"], -32602, "{bad}: {answer}");
    }
}
