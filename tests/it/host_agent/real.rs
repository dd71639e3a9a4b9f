//! A real agent, for `tests/real/host`, which says by the environment what is to be done and judges what is told.

use super::*;
use serde_json::json;
use tackroom::host::agent::Decision;

fn variable(name: &str) -> Option<String> {
    std::env::var(format!("TACKROOM_REAL_{name}")).ok()
}

fn tell(what: &str, value: Value) {
    println!("\ntold: {}", json!([what, value]));
}

/// Plays prompts: `!` before one cancels it at its first event, a decision and `!` answers what is asked in it.
#[tokio::test]
#[ignore = "is driven by tests/real/host, and nothing without it"]
async fn plays() {
    let Some(command) = variable("AGENT") else { return };
    let words: Vec<String> = serde_json::from_str(&command).unwrap();
    let options = Options {
        command: words.into_iter().map(Into::into).collect(),
        workspace: variable("WORKSPACE").unwrap().into(),
        load: variable("LOAD"),
        files: true,
        terminals: true,
    };
    let mut agent = match start(&options).await {
        Ok(agent) => agent,
        Err(error) => return tell("error", error.to_string().into()),
    };
    tell("facts", format!("{:?}", agent.facts).into());
    tell("session", agent.facts.session_id.clone().into());
    for event in &agent.history {
        tell("history", json!([event.kind, event.payload]));
    }
    let prompts: Vec<String> = serde_json::from_str(&variable("PROMPTS").unwrap()).unwrap();
    for prompt in prompts {
        let (how, text) = prompt.split_once('!').unwrap_or(("allow", &prompt));
        let text = text.to_owned();
        tell("prompt", text.clone().into());
        agent.asks.send(Ask::Prompt(Prompt { text, images: vec![] })).await.unwrap();
        if how == "cancel" {
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
            agent.asks.send(Ask::Cancel).await.unwrap();
        }
        loop {
            match agent.told.recv().await.unwrap() {
                Told::Event(event) => tell("event", json!([event.kind, event.payload])),
                Told::Facts(facts) => tell("facts", format!("{facts:?}").into()),
                Told::Approval(approval) => {
                    tell("approval", approval.payload.into());
                    let decision = if how == "deny" { Decision::Deny } else { Decision::Allow };
                    approval.answer.send(decision).unwrap();
                }
                Told::TurnEnded(end) => break tell("end", format!("{end:?}").into()),
                Told::Gone(gone) => return tell("gone", format!("{gone:?}").into()),
            }
        }
    }
    drop(agent.asks);
    while let Some(told) = agent.told.recv().await {
        tell("afterwards", format!("{told:?}").into());
    }
}
