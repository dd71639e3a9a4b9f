//! What a runtime says of itself, to a caller who may do this much.

use super::Unattended;
use super::agent::{Choice, Command, Facts, Usage};
use super::credentials::Grants;
use crate::limits;
use crate::protocol::Permission::{Approve, Interact, Observe, Terminate};
use crate::protocol::Question;
use crate::runtime::wire::{AGENT, OURS, QUESTION, SINCE, TITLE, WAITING_FOR, WAITS, WORKING};
use serde_json::{Map, Value, json};

/// What the id of an operation begins with that runs a command of the agent.
pub(super) const PROMPT: &str = "prompt:";
/// The same where it switches the mode.
pub(super) const MODE: &str = "mode:";
/// The id of the operation that switches the model.
pub(super) const MODEL: &str = "model:switch";

/// The kinds of events that are told.
const EVENT_KINDS: [&str; 19] = [
    "user_message",
    "turn_started",
    "turn_succeeded",
    "turn_interrupted",
    "turn_failed",
    "text_delta",
    "turn_completed",
    "reasoning",
    "tool_call_started",
    "tool_call_updated",
    "tool_call_completed",
    "request",
    "request_resolved",
    "model_changed",
    "mode_changed",
    "title_changed",
    "operations_changed",
    "native_event",
    "runtime_disconnected",
];

/// What there is to say.
pub(super) struct Described<'a> {
    pub(super) facts: &'a Facts,
    /// The title: the agent's own, else the first prompt.
    pub(super) title: Option<&'a str>,
    pub(super) runtime_id: &'a str,
    pub(super) profile: Option<&'a str>,
    pub(super) is_busy: bool,
    pub(super) is_working: bool,
    pub(super) has_ended: bool,
    pub(super) waiting_for: Option<String>,
    pub(super) question: Option<Question>,
    /// When the current state began, in epoch milliseconds.
    pub(super) since_ms: u64,
    pub(super) unattended: Unattended,
}

impl Described<'_> {
    /// The descriptor, its actions masked by what the caller may do.
    pub(super) fn to(&self, grants: Grants) -> Value {
        let facts = self.facts;
        let drives = grants.has(Interact);
        let mut descriptor = json!({
            "schema_version": 2,
            "session_id": self.runtime_id,
            "source_harness": facts.harness,
            "emulation_profile": self.profile,
            "active_modules": [],
            "commands": listed(&facts.commands, |command| &command.name).map(command_name).collect::<Vec<_>>(),
            "operations": operations(facts),
            "actions": {
                "submit": drives,
                "interrupt": drives,
                "steer": false,
                "respond": drives && grants.has(Approve),
                "detach": grants.has(Observe),
                "close": grants.has(Terminate),
            },
            "display": { "event_kinds": EVENT_KINDS, "opaque_fallback": true },
            "model": model(facts),
            "turn_state": if self.is_busy { "busy" } else { "idle" },
            "connection_state": if self.has_ended { "shutting_down" } else { "connected" },
        });
        let ours = self.ours();
        if !ours.is_empty() {
            descriptor["extensions"] = json!({ OURS: ours });
        }
        descriptor
    }

    /// What only runtimes of ours say.
    fn ours(&self) -> Map<String, Value> {
        let facts = self.facts;
        let mut ours = Map::new();
        ours.extend(self.waiting_for.as_ref().map(|what| (WAITING_FOR.to_owned(), what.as_str().into())));
        ours.extend(self.question.as_ref().map(|question| (QUESTION.to_owned(), json!(question))));
        ours.insert(SINCE.to_owned(), self.since_ms.into());
        if self.unattended == Unattended::Wait {
            ours.insert(WAITS.to_owned(), true.into());
        }
        if self.is_working {
            ours.insert(WORKING.to_owned(), true.into());
        }
        ours.extend(self.title.map(|title| (TITLE.to_owned(), brief(title).into())));
        if !facts.agent.is_empty() {
            ours.insert(AGENT.to_owned(), json!({ "name": brief(&facts.agent), "version": facts.version }));
        }
        if facts.usage != Usage::default() {
            ours.insert("usage".to_owned(), json!(facts.usage));
        }
        ours.extend(facts.mode.as_ref().map(|mode| ("mode".to_owned(), mode.as_str().into())));
        if !facts.models.is_empty() {
            ours.insert("models".to_owned(), listed(&facts.models, |model| &model.id).map(choice).collect());
        }
        ours
    }
}

/// The model as it is told: the agent's own word, or that of its harness.
pub(super) fn model(facts: &Facts) -> String {
    let harness = || facts.harness.map_or("unknown", |harness| harness.id());
    facts.model.clone().unwrap_or_else(|| harness().to_owned())
}

fn operations(facts: &Facts) -> Vec<Value> {
    let commands = listed(&facts.commands, |command| &command.name).map(|command| {
        let (name, hint) = (&command.name, &command.hint);
        let mut told = command_name(command);
        if let Some(hint) = hint {
            told["argument_hint"] = brief(hint).into();
        }
        json!({ "id": format!("{PROMPT}{name}"), "kind": "prompt", "command": told })
    });
    let model = json!({ "id": MODEL, "kind": "model", "command": null });
    let modes = listed(&facts.modes, |mode| &mode.id).map(|mode| {
        let command = json!({ "name": format!("{MODE}{}", mode.id), "description": brief(&mode.name) });
        json!({ "id": format!("{MODE}{}", mode.id), "kind": "session", "command": command })
    });
    commands.chain((!facts.models.is_empty()).then_some(model)).chain(modes).collect()
}

fn command_name(command: &Command) -> Value {
    json!({ "name": command.name, "description": brief(&command.description) })
}

fn choice(choice: &Choice) -> Value {
    json!({ "id": choice.id, "name": brief(&choice.name) })
}

/// What of a list is told. What must be said again as it is cannot be shortened, so the unreasonably long is left out.
fn listed<T>(all: &[T], id: fn(&T) -> &str) -> impl Iterator<Item = &T> {
    all.iter().filter(move |one| id(one).len() <= limits::RUNTIME_NAME_CHARS).take(limits::HOST_OPERATIONS)
}

fn brief(text: &str) -> String {
    text.chars().take(limits::TITLE_CHARS).collect()
}
