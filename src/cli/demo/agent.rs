//! The agent that the demo hosts: it speaks the Agent Client Protocol, says the same to everybody, and runs nothing.

use crate::cli::output::{self, Failure};
use serde_json::{Value, json};
use std::io::{BufRead, StdinLock};
use std::process::ExitCode;

const SESSION: &str = "demo-session";

/// Answers what it is asked until nobody asks any more.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    let mut agent = Agent { input: std::io::stdin().lock(), turns: 0 };
    while let Some(message) = agent.next()? {
        agent.answer(&message)?;
    }
    Ok(ExitCode::SUCCESS)
}

struct Agent {
    input: StdinLock<'static>,
    turns: usize,
}

impl Agent {
    fn next(&mut self) -> Result<Option<Value>, Failure> {
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        Ok(Some(serde_json::from_str(&line)?))
    }

    fn answer(&mut self, message: &Value) -> Result<(), Failure> {
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": 1,
                "agentInfo": { "name": "tackroom-demo", "title": "Demo agent", "version": env!("CARGO_PKG_VERSION") },
            }),
            Some("session/new") => json!({ "sessionId": SESSION }),
            Some("session/prompt") => json!({ "stopReason": self.turn()? }),
            // A notification is not answered, and nothing else is asked of an agent that can do nothing else.
            _ if message.get("id").is_none() => return Ok(()),
            _ => return send(&json!({ "id": message["id"], "error": { "code": -32601, "message": "not in a demo" } })),
        };
        send(&json!({ "id": message["id"], "result": result }))
    }

    /// Why the turn ended.
    fn turn(&mut self) -> Result<&'static str, Failure> {
        for piece in ["I am the demo's ", "own agent: no model ", "answers here. "] {
            update(&json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": piece } }))?;
        }
        self.turns += 1;
        let id = format!("demo-tool-{}", self.turns);
        let tool = json!({ "toolCallId": id, "title": "Water the tomatoes", "kind": "execute", "status": "pending",
            "rawInput": { "litres": 2 } });
        update(&merged(json!({ "sessionUpdate": "tool_call" }), &tool))?;
        let options = json!([
            { "optionId": "yes", "name": "Allow", "kind": "allow_once" },
            { "optionId": "no", "name": "Reject", "kind": "reject_once" },
        ]);
        let asked = json!({ "sessionId": SESSION, "toolCall": tool, "options": options });
        send(&json!({ "id": 1, "method": "session/request_permission", "params": asked }))?;
        let Some(allowed) = self.decision()? else { return Ok("cancelled") };
        let (status, said) = match allowed {
            true => ("completed", "Watered, in this demo at least."),
            false => ("failed", "Not watered, then."),
        };
        let text = json!({ "type": "text", "text": said });
        let done = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
            "content": [{ "type": "content", "content": text }] });
        update(&done)?;
        update(&json!({ "sessionUpdate": "agent_message_chunk", "content": text }))?;
        Ok("end_turn")
    }

    /// What was decided; `None` where the turn was cancelled.
    fn decision(&mut self) -> Result<Option<bool>, Failure> {
        while let Some(message) = self.next()? {
            if message["method"] == "session/cancel" {
                return Ok(None);
            }
            if message["id"] == 1 && message.get("method").is_none() {
                let outcome = &message["result"]["outcome"];
                return Ok((outcome["outcome"] == "selected").then(|| outcome["optionId"] == "yes"));
            }
        }
        Ok(None)
    }
}

fn merged(mut into: Value, more: &Value) -> Value {
    if let (Some(members), Some(more)) = (into.as_object_mut(), more.as_object()) {
        members.extend(more.clone());
    }
    into
}

fn update(update: &Value) -> Result<(), Failure> {
    send(&json!({ "method": "session/update", "params": { "sessionId": SESSION, "update": update } }))
}

fn send(message: &Value) -> Result<(), Failure> {
    output::write(&format!("{}\n", merged(json!({ "jsonrpc": "2.0" }), message)))
}
