//! What prompts do: turns, played from scripts.

use super::fault::Fault;
use super::state::{Shared, State};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::thread;

/// One thing that happens in a turn. In texts `{prompt}` is the prompt and `{output}` what the last tool said.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Step {
    /// The model says something.
    Text(String),
    /// The model thinks; of a hosted harness only.
    Reasoning(String),
    /// The model runs a tool, which may need an approval: one that is denied says so instead of its output.
    Tool { id: String, name: String, arguments: String, output: String, asks: bool },
    /// Somebody must approve something; denied at once where nobody listens. `{output}` is the decision.
    Approval { tool: String, arguments: Value },
    /// Somebody must fill in a form; `{output}` is the action.
    Elicitation { message: String, schema: Value },
    /// Waits until the test releases it, or the turn is interrupted.
    Hold(String),
    /// An event of the foreign harness.
    Native(String, Value),
    /// Any event.
    Event(String, Value),
    /// So many small events.
    Flood(usize),
    /// All of the history but its first message and so many of the last gives way to a remark.
    Compact(usize),
    /// The turn fails.
    Fail(String),
    /// The turn ends, with another reply than the last text.
    Succeed(String),
}

/// A running turn.
pub struct Turn {
    pub number: u64,
    pub is_interrupted: bool,
    /// What was said while it ran.
    pub steered: Vec<String>,
}

/// How a turn ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    Succeeded(String),
    Interrupted,
    Failed(String),
}

/// What somebody must answer.
pub struct Request {
    pub kind: String,
    pub response: Option<Value>,
}

/// The model's texts come in pieces of so many letters.
const PIECE: usize = 12;

impl Shared {
    /// Begins a turn, unless one runs.
    pub fn begin_turn(self: &Arc<Self>, state: &mut State, prompt: &str) -> Result<u64, Fault> {
        if state.turn.is_some() || state.is_busy {
            return Err(Fault::typed(-32000, "busy", Some("input"), "a turn is already in progress"));
        }
        state.turns += 1;
        let number = state.turns;
        state.turn = Some(Turn { number, is_interrupted: false, steered: vec![] });
        state.history.push(json!({ "role": "user", "content": prompt }));
        self.publish(state, "user_message", json!({ "text": prompt }));
        let started = if self.is_main() { json!({ "schema_version": 1 }) } else { json!({}) };
        self.publish(state, "turn_started", started);
        let script = state.scripts.iter().find(|(begin, _)| prompt.starts_with(begin)).map(|(_, steps)| steps.clone());
        let steps = script.unwrap_or_else(|| vec![Step::Text("echo: {prompt}".to_owned())]);
        let player =
            Player { shared: self.clone(), prompt: prompt.to_owned(), reply: String::new(), output: String::new() };
        thread::spawn(move || player.play(number, steps));
        Ok(number)
    }

    /// Waits for the end of a turn.
    pub fn outcome(&self, number: u64) -> Outcome {
        self.wait(|state| state.outcomes.get(&number).cloned()).unwrap_or(Outcome::Interrupted)
    }

    /// Gives a request its answer, if it waits for one of this kind.
    pub fn respond(&self, state: &mut State, id: u64, response: Value) -> Result<(), Fault> {
        let capital = |kind: &str| match kind {
            "approval" => "Approval",
            "elicitation" => "Elicitation",
            _ => "Other",
        };
        let kind = response["kind"].as_str().unwrap_or_default();
        let Some(request) = state.requests.get_mut(&id).filter(|request| request.response.is_none()) else {
            let message = format!("SDK request {id} is not pending");
            return Err(Fault::typed(-32022, "not_found", Some("respond"), message));
        };
        if request.kind != kind {
            let (expected, got) = (capital(&request.kind), capital(kind));
            let message = format!("invalid SDK response: request {id} expects {expected}, got {got}");
            return Err(Fault::typed(-32022, "invalid_argument", Some("respond"), message));
        }
        request.response = Some(response.clone());
        self.publish(state, "request_resolved", json!({ "request_id": id, "response": response }));
        Ok(())
    }

    /// Denies what nobody can answer any more.
    pub fn deny_all(&self, state: &mut State) {
        let pending: Vec<_> = state.requests.iter().filter(|(_, request)| request.response.is_none()).collect();
        let denials: Vec<_> = pending.iter().map(|(id, request)| (**id, denial(&request.kind, **id))).collect();
        for (id, denial) in denials {
            let _ = self.respond(state, id, denial);
        }
    }
}

fn denial(kind: &str, id: u64) -> Value {
    match kind {
        "approval" => json!({ "kind": kind, "request_id": id, "decision": "deny" }),
        _ => json!({ "kind": kind, "request_id": id, "action": "cancel", "content": null }),
    }
}

/// Who plays one turn.
struct Player {
    shared: Arc<Shared>,
    prompt: String,
    reply: String,
    output: String,
}

impl Player {
    fn play(mut self, number: u64, steps: Vec<Step>) {
        let mut outcome = None;
        for step in steps {
            if self.shared.change(|state| state.is_stopped || state.is_interrupted()) {
                break;
            }
            outcome = self.step(step);
            if outcome.is_some() {
                break;
            }
        }
        self.shared.change(|state| {
            let outcome = match outcome {
                _ if state.is_interrupted() => Outcome::Interrupted,
                Some(outcome) => outcome,
                None => Outcome::Succeeded(self.reply.clone()),
            };
            self.end(state, &outcome);
            state.turn = None;
            state.outcomes.insert(number, outcome);
        });
    }

    /// The end as a client sees it: history first, then the event.
    fn end(&self, state: &mut State, outcome: &Outcome) {
        let is_main = self.shared.is_main();
        if is_main {
            state.snapshot = state.history.iter().rev().take(200).rev().cloned().collect();
            state.ring.compact();
        }
        let (kind, members) = match (outcome, is_main) {
            (Outcome::Succeeded(reply), true) => ("turn_succeeded", json!({ "schema_version": 1, "reply": reply })),
            (Outcome::Interrupted, true) => ("turn_interrupted", json!({ "schema_version": 1 })),
            (Outcome::Failed(message), true) => ("turn_failed", json!({ "schema_version": 1, "message": message })),
            (Outcome::Succeeded(_), false) => ("turn_succeeded", json!({})),
            (Outcome::Interrupted, false) => ("turn_interrupted", json!({})),
            (Outcome::Failed(message), false) => ("turn_failed", json!({ "message": message })),
        };
        self.shared.publish(state, kind, members);
        if !is_main {
            self.shared.publish(state, "turn_completed", json!({}));
        }
    }

    fn publish(&self, kind: &str, members: Value) {
        self.shared.change(|state| self.shared.publish(state, kind, members));
    }

    /// The turn's end, where the step is one.
    fn step(&mut self, step: Step) -> Option<Outcome> {
        match step {
            Step::Text(text) => self.say(&self.fill(&text)),
            Step::Reasoning(text) => self.publish("reasoning", self.chunk("agent_thought_chunk", &text)),
            Step::Tool { id, name, arguments, output, asks } if self.shared.is_main() => {
                self.run_tool(&id, &name, &arguments, output, asks);
            }
            Step::Tool { id, name, arguments, output, asks } => {
                self.run_native_tool(&id, &name, &arguments, output, asks)
            }
            Step::Approval { tool, arguments } => self.output = self.approve(&tool, &arguments),
            Step::Elicitation { message, schema } => {
                let payload = json!({ "message": message, "requested_schema": schema });
                self.output = self.ask("elicitation", payload)["action"].as_str().unwrap_or_default().to_owned();
            }
            Step::Hold(name) => drop(self.shared.hold(&name, true)),
            Step::Native(kind, raw) => self.publish("native_event", json!({ "kind": kind, "raw": raw })),
            Step::Event(kind, members) => self.publish(&kind, members),
            Step::Flood(count) => {
                for number in 0..count {
                    self.publish("text_delta", json!({ "text": number.to_string() }));
                }
            }
            Step::Compact(kept) => self.shared.change(|state| compact(&mut state.history, kept)),
            Step::Fail(message) => return Some(Outcome::Failed(message)),
            Step::Succeed(reply) => return Some(Outcome::Succeeded(self.fill(&reply))),
        }
        None
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{prompt}", &self.prompt).replace("{output}", &self.output)
    }

    fn say(&mut self, text: &str) {
        if !self.shared.is_main() {
            self.reply.push_str(text);
            return self.publish("text_delta", self.chunk("agent_message_chunk", text));
        }
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(PIECE) {
            self.publish("text_delta", json!({ "text": String::from_iter(piece) }));
        }
        self.complete(5);
        self.shared.change(|state| state.history.push(json!({ "role": "assistant", "content": text })));
        self.reply = text.to_owned();
    }

    /// One call of the model is over.
    fn complete(&self, tokens: u64) {
        let usage = json!({ "prompt_tokens": tokens, "completion_tokens": tokens, "total_tokens": 2 * tokens, "cached_tokens": null });
        self.publish("usage", usage);
        self.publish("turn_completed", json!({}));
    }

    fn run_tool(&mut self, id: &str, name: &str, arguments: &str, output: String, asks: bool) {
        self.complete(0);
        self.publish("tool_call_started", json!({ "id": id, "name": name, "arguments": arguments }));
        let parsed = serde_json::from_str(arguments).unwrap_or_default();
        let is_denied = asks && self.approve(name, &parsed) == "deny";
        self.output = if is_denied { format!("Error: tool `{name}` was not approved for execution") } else { output };
        let completed = json!({ "id": id, "name": name, "output": self.output, "is_error": is_denied });
        self.publish("tool_call_completed", completed);
        let call = json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
        self.shared.change(|state| {
            state.history.push(json!({ "role": "assistant", "tool_calls": [call] }));
            let result = json!({ "role": "tool", "content": self.output, "tool_call_id": id, "name": name });
            state.history.push(result);
        });
    }

    /// A foreign harness asks in its own words, and its owner answers.
    fn run_native_tool(&mut self, id: &str, name: &str, arguments: &str, output: String, asks: bool) {
        let input: Value = serde_json::from_str(arguments).unwrap_or_default();
        let update = json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": name, "kind": "execute",
            "status": "pending", "rawInput": input });
        let started = json!({ "id": id, "name": name, "arguments": input.to_string(), "output": "", "is_error": false,
            "raw": self.update(update) });
        self.publish("tool_call_started", started);
        if asks && self.shared.options.source.harness == "claude-code" {
            self.approve(name, &input);
        } else if asks {
            let options = json!([{ "optionId": "a", "name": "Allow", "kind": "allow_once" },
                { "optionId": "r", "name": "Reject", "kind": "reject_once" }]);
            let params = json!({ "sessionId": self.shared.options.source.session_id,
                "toolCall": { "toolCallId": id, "title": name }, "options": options });
            let kind = "session/request_permission";
            let raw = json!({ "jsonrpc": "2.0", "id": "perm-1", "method": kind, "params": params });
            self.publish("native_event", json!({ "kind": kind, "raw": raw }));
        }
        let content = json!([{ "type": "content", "content": { "type": "text", "text": output } }]);
        let update =
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed", "content": content });
        let completed = json!({ "id": id, "name": null, "arguments": "null", "output": output, "is_error": false,
            "raw": self.update(update) });
        self.publish("tool_call_completed", completed);
        self.output = output;
    }

    fn chunk(&self, kind: &str, text: &str) -> Value {
        let update = json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
        json!({ "text": text, "raw": self.update(update) })
    }

    fn update(&self, update: Value) -> Value {
        let params = json!({ "sessionId": self.shared.options.source.session_id, "update": update });
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
    }

    /// The decision.
    fn approve(&self, tool: &str, arguments: &Value) -> String {
        let payload = if self.shared.is_main() {
            json!({ "tool": tool, "subject": arguments["command"], "raw_args": arguments })
        } else {
            json!({ "tool": tool, "arguments": arguments, "native_request_id": "native-1", "decisions": ["allow", "deny"] })
        };
        self.ask("approval", payload)["decision"].as_str().unwrap_or_default().to_owned()
    }

    /// The answer; a denial where nobody listens, or where the turn is interrupted meanwhile.
    fn ask(&self, kind: &str, payload: Value) -> Value {
        let asked = self.shared.change(|state| {
            state.last_request += 1;
            let id = if self.shared.is_main() { state.last_request } else { (1 << 52) + state.last_request };
            if state.subscribers() == 0 {
                state.last_request -= 1;
                return Err(denial(kind, id));
            }
            state.requests.insert(id, Request { kind: kind.to_owned(), response: None });
            self.shared.publish(state, "request", json!({ "request": { "id": id, "kind": kind, "payload": payload } }));
            Ok(id)
        });
        let id = match asked {
            Ok(id) => id,
            Err(denial) => return denial,
        };
        let answer = self.shared.wait(|state| {
            let response = state.requests.get(&id).and_then(|request| request.response.clone());
            response.or_else(|| state.is_interrupted().then(|| denial(kind, id)))
        });
        self.shared.change(|state| state.requests.remove(&id));
        answer.unwrap_or_else(|| denial(kind, id))
    }
}

fn compact(history: &mut Vec<Value>, kept: usize) {
    let end = history.len().saturating_sub(kept);
    let remark = json!({ "role": "system", "content": format!("[earlier conversation compacted: {end} message(s)]") });
    history.splice(1.min(end)..end, [remark]);
}
