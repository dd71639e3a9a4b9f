//! The methods of the contract.

use super::descriptor::{descriptor, supports};
use super::door::Caller;
use super::fault::Fault;
use super::script::Outcome;
use super::state::{Shared, State};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The envelope. Its derived reading gives the same messages as the real one, and takes an array as the real one does.
#[derive(Deserialize)]
struct RpcRequest {
    id: Value,
    method: String,
    #[serde(default)]
    params: Value,
}

/// The method of an envelope, without its prefix.
pub fn method_of(body: &[u8]) -> Option<String> {
    let request: RpcRequest = serde_json::from_slice(body).ok()?;
    Some(canonical(&request.method).unwrap_or(&request.method).to_owned())
}

/// The name that all spellings of a method share.
fn canonical(method: &str) -> Option<&str> {
    const BARE: [&str; 7] = ["submit", "interrupt", "steer", "respond", "shutdown", "status", "history"];
    const SECOND: [&str; 4] = ["submit", "interrupt", "steer", "respond"];
    const BOTH: [&str; 10] = [
        "describe",
        "attach",
        "send_input",
        "invoke",
        "lease",
        "acquire_control",
        "take_control",
        "heartbeat",
        "detach",
        "close",
    ];
    if let Some(name) = method.strip_prefix("frontend.v2.") {
        return (SECOND.contains(&name) || BOTH.contains(&name)).then_some(name);
    }
    if let Some(name) = method.strip_prefix("frontend.") {
        return BOTH.contains(&name).then_some(name);
    }
    BARE.contains(&method).then_some(method)
}

/// The answer to an envelope.
pub fn call(shared: &Arc<Shared>, caller: &Caller, body: &[u8]) -> Value {
    let request: RpcRequest = match serde_json::from_str(&String::from_utf8_lossy(body)) {
        Ok(request) => request,
        Err(error) => return Fault::plain(-32700, format!("parse error: {error}")).answer(Value::Null),
    };
    match (Call { shared, caller, params: &request.params }).method(&request.method) {
        Ok(result) => {
            let members = [("id".to_owned(), request.id), ("result".to_owned(), result)];
            Map::from_iter(members).into()
        }
        Err(fault) => fault.answer(request.id),
    }
}

struct Call<'a> {
    shared: &'a Arc<Shared>,
    caller: &'a Caller,
    params: &'a Value,
}

type Answer = Result<Value, Fault>;

impl Call<'_> {
    fn method(&self, method: &str) -> Answer {
        let is_main = self.shared.is_main();
        match canonical(method) {
            Some("describe") => self.observing(|state| Ok(self.descriptor(state))),
            Some("attach") => self.observing(|state| self.attach(state)),
            Some("lease") => self.observing(|state| Ok(self.lease(state))),
            Some("heartbeat") => self.observing(|state| {
                let now = self.shared.now_ms(state);
                state.leases.heartbeat(&self.caller.client, now, self.caller.may("interact"));
                Ok(self.lease(state))
            }),
            Some("acquire_control") => self.driving(|state| Ok(self.lease(state))),
            Some("take_control") => self.take_control(),
            Some("detach") => self.shared.change(|state| {
                state.leases.detach(&self.caller.client);
                Ok(self.lease(state))
            }),
            Some("send_input") => self.send_input(),
            Some("submit") => self.submit(self.prompt("submit")?),
            Some("interrupt") => self.driving(|state| {
                let interrupted = state.turn.as_mut().map(|turn| turn.is_interrupted = true);
                Ok(json!({ "interrupted": interrupted.is_some() }))
            }),
            Some("steer") => self.steer(),
            Some("respond") => self.respond(),
            Some("invoke") => self.invoke(),
            Some("close") => self.close(json!({ "closed": true })),
            Some("shutdown") => self.close(json!({ "shutting_down": true })),
            Some("status") if is_main => self.shared.change(|state| {
                let (options, busy) = (&self.shared.options, state.turn.is_some() || state.is_busy);
                let status = json!({ "session_id": options.runtime_id, "model": options.model });
                Ok(joined(status, json!({ "busy": busy, "shutting_down": state.is_ending })))
            }),
            Some("history") if is_main => {
                self.shared.change(|state| Ok(json!({ "messages": self.last_messages(state) })))
            }
            _ => Err(Fault::plain(-32601, format!("unknown method `{method}`"))),
        }
    }

    fn observing(&self, then: impl FnOnce(&mut State) -> Answer) -> Answer {
        self.caller.require("observe")?;
        self.shared.change(then)
    }

    /// What drives the runtime claims control first.
    fn driving<R>(&self, then: impl FnOnce(&mut State) -> Result<R, Fault>) -> Result<R, Fault> {
        self.caller.require("observe")?;
        self.caller.require("interact")?;
        self.shared.change(|state| {
            let now = self.shared.now_ms(state);
            state.leases.acquire(&self.caller.client, now)?;
            then(state)
        })
    }

    fn take_control(&self) -> Answer {
        self.caller.require("observe")?;
        self.caller.require("interact")?;
        self.shared.change(|state| {
            let now = self.shared.now_ms(state);
            state.leases.take(&self.caller.client, now);
            Ok(self.lease(state))
        })
    }

    fn lease(&self, state: &mut State) -> Value {
        let now = self.shared.now_ms(state);
        state.leases.snapshot(now)
    }

    fn descriptor(&self, state: &State) -> Value {
        let is_busy = state.turn.is_some() || state.is_busy;
        descriptor(&self.shared.options, |permission| self.caller.may(permission), is_busy, state.is_ending)
    }

    fn attach(&self, state: &mut State) -> Answer {
        let now = self.shared.now_ms(state);
        let replay = json!(state.ring.replay()?);
        state.leases.observe(&self.caller.client, now);
        let is_main = self.shared.is_main();
        let history = if is_main { self.last_messages(state) } else { self.shared.options.history.clone() };
        let snapshot = json!({ "descriptor": self.descriptor(state), "history": history });
        Ok(joined(snapshot, json!({ "history_cursor": state.ring.cursor(), "replay": replay })))
    }

    fn last_messages(&self, state: &State) -> Vec<Value> {
        let limit = self.params["limit"].as_u64().unwrap_or(50).clamp(1, 200) as usize;
        state.snapshot[state.snapshot.len().saturating_sub(limit)..].to_vec()
    }

    fn prompt(&self, method: &str) -> Result<&str, Fault> {
        let message = || Fault::plain(-32602, format!("{method} requires a string `params.prompt`"));
        self.params["prompt"].as_str().ok_or_else(message)
    }

    fn send_input(&self) -> Answer {
        let prompt = self.prompt("frontend.send_input")?;
        let images = self.params["image_urls"].as_array().map_or(&[][..], Vec::as_slice);
        if images.len() > 4 {
            return Err(Fault::plain(-32602, "frontend.send_input accepts at most 4 images"));
        }
        let is_image = |url: &str| ["data:image/", "https://", "http://"].iter().any(|begin| url.starts_with(begin));
        if !images.iter().all(|url| url.as_str().is_some_and(is_image)) {
            return Err(Fault::plain(-32602, "frontend.send_input images must be image data or http URLs"));
        }
        self.driving(|state| self.shared.begin_turn(state, prompt))?;
        Ok(json!({ "accepted": true }))
    }

    /// Answers once the turn has ended.
    fn submit(&self, prompt: &str) -> Answer {
        let number = self.driving(|state| self.shared.begin_turn(state, prompt))?;
        let fault = |code, message: &str| Fault::typed(code, "execution", Some("input"), message);
        match self.shared.outcome(number) {
            Outcome::Succeeded(reply) => Ok(json!({ "reply": reply })),
            Outcome::Interrupted => Err(fault(-32001, "the turn was interrupted")),
            Outcome::Failed(message) => Err(fault(-32002, &message)),
        }
    }

    fn steer(&self) -> Answer {
        let prompt = self.prompt("steer")?;
        self.driving(|state| match &mut state.turn {
            Some(turn) if supports(&self.shared.options, "steer") => {
                turn.steered.push(prompt.to_owned());
                Ok(json!({ "queued": true }))
            }
            _ => Err(Fault::unsupported(-32020, "steer")),
        })
    }

    fn respond(&self) -> Answer {
        let response = &self.params["response"];
        let word = |member: &str| response[member].as_str().unwrap_or_default();
        let is_valid = match word("kind") {
            "approval" => matches!(word("decision"), "deny" | "allow" | "allow_for_session"),
            "elicitation" | "other" => matches!(word("action"), "accept" | "decline" | "cancel"),
            _ => false,
        };
        let id = response["request_id"].as_u64().filter(|_| is_valid);
        let id = id.ok_or_else(|| Fault::plain(-32602, "invalid response"))?;
        self.caller.require("observe")?;
        self.caller.require("interact")?;
        self.caller.require("approve")?;
        self.driving(|state| {
            if !supports(&self.shared.options, "respond") {
                return Err(Fault::unsupported(-32020, "respond"));
            }
            self.shared.respond(state, id, response.clone())
        })?;
        Ok(json!({ "accepted": true }))
    }

    fn invoke(&self) -> Answer {
        let operation = &self.params["operation"];
        let word = |member: &str| operation[member].as_str();
        let is_valid = match word("kind") {
            Some("prompt") => word("arguments").is_some(),
            Some("model") => word("model").is_some(),
            kind => kind == Some("context"),
        };
        let id = word("operation_id").filter(|_| is_valid);
        let id = id.ok_or_else(|| Fault::plain(-32602, "invalid frontend operation"))?;
        self.driving(|_| match (id, self.shared.is_main()) {
            ("prompt:code-review" | "context:usage", true) => Ok(()),
            _ => {
                let message = format!("SDK operation `{id}` is not supported by this runtime");
                Err(Fault::typed(-32023, "unsupported_action", None, message))
            }
        })?;
        if id == "context:usage" {
            return Ok(self.usage());
        }
        let reply = self.submit(&format!("/code-review {}", word("arguments").unwrap_or_default()))?;
        Ok(joined(json!({ "kind": "prompt" }), reply))
    }

    /// Waits while a turn runs, as the real one does.
    fn usage(&self) -> Value {
        let messages = self.shared.wait(|state| state.turn.is_none().then_some(state.history.len()));
        json!({ "kind": "context", "usage": {
            "model": self.shared.options.model, "messages": messages, "message_tokens": 125, "tool_count": 10,
            "tool_schema_tokens": 1472, "request_tokens": 1597, "projected_tokens": 1997,
            "response_reserve_tokens": 16384, "context_limit": 200_000, "remaining_tokens": 181_619, "used_pct": 1,
            "fits": true,
        }})
    }

    /// The door shuts the runtime down once this is answered.
    fn close(&self, result: Value) -> Answer {
        self.caller.require("terminate")?;
        if !supports(&self.shared.options, "close") {
            return Err(Fault::unsupported(-32002, "close"));
        }
        self.shared.change(|state| {
            state.is_ending = true;
            if let Some(turn) = &mut state.turn {
                turn.is_interrupted = true;
            }
        });
        Ok(result)
    }
}

fn joined(mut object: Value, more: Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}
