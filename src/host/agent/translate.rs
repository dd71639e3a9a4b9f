//! What an agent tells of its session, in the words of the runtime's API.

use super::Event;
use super::content::{output, text};
use super::message::value;
use super::tools::Tools;
use super::words::{cut, raw};
use crate::limits;
use agent_client_protocol_schema::v1::{
    ContentChunk, SessionUpdate, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// When something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// While a session is loaded: it was said before.
    History,
    /// While a turn runs.
    Turn,
    /// While none does: background work goes on, or a message of another session came in.
    Between,
}

/// An event with what the agent itself sent.
pub(super) fn event(
    kind: &'static str,
    members: impl IntoIterator<Item = (&'static str, Value)>,
    sent: &Value,
) -> Event {
    let mut payload: Map<_, _> = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    if let Some(raw) = raw(sent) {
        payload.insert("raw".to_owned(), raw);
    }
    Event { kind, payload }
}

/// What has no other word, by its own.
pub(super) fn native(kind: &str, sent: &Value) -> Event {
    event("native_event", [("kind", cut(kind.to_owned(), limits::AGENT_WORDS).into())], sent)
}

/// The events that an update makes, in order; one at least, so that nothing is lost.
pub(super) fn events(sent: &Value, when: When, tools: &mut Tools) -> Vec<Event> {
    let kind = sent.get("sessionUpdate").and_then(Value::as_str).unwrap_or("unknown");
    let native = || vec![native(kind, sent)];
    let Ok(update) = SessionUpdate::deserialize(sent) else { return native() };
    let said = |kind, chunk: &ContentChunk| match text(&chunk.content) {
        Some(text) => vec![event(kind, [("text", cut(text, limits::AGENT_TEXT).into())], sent)],
        None => native(),
    };
    let events = match (update, when) {
        (SessionUpdate::AgentMessageChunk(chunk), _) => said("text_delta", &chunk),
        (SessionUpdate::AgentThoughtChunk(chunk), _) => said("reasoning", &chunk),
        // In a turn it repeats the prompt, which clients have seen.
        (SessionUpdate::UserMessageChunk(chunk), When::History | When::Between) => said("user_message", &chunk),
        (SessionUpdate::ToolCall(call), _) => tool(&call.into(), sent, tools),
        (SessionUpdate::ToolCallUpdate(update), _) => tool(&update, sent, tools),
        _ => native(),
    };
    if events.is_empty() { native() } else { events }
}

/// A tool call begins when it is first heard of, and is done once.
pub(super) fn tool(update: &ToolCallUpdate, sent: &Value, tools: &mut Tools) -> Vec<Event> {
    let (id, fields) = (update.tool_call_id.0.as_ref(), &update.fields);
    let mut events = Vec::new();
    let is_new = !tools.is_known(id);
    let is_end = fields.status.and_then(failed);
    let said = (fields.content.is_some() || fields.raw_output.is_some())
        .then(|| output(fields.content.as_deref().unwrap_or_default(), fields.raw_output.as_ref()));
    let kept = said.clone().filter(|_| is_end.is_none()).map(|said| cut(said, limits::AGENT_TOOL_BYTES));
    tools.learn(id, name(fields), arguments(fields), kept);
    if is_new && name(fields).is_some() {
        let (name, arguments) = tools.started(id);
        let members = [("id", id.into()), ("name", name.into()), ("arguments", arguments.into())];
        events.push(event("tool_call_started", members, sent));
    }
    if let Some(is_error) = is_end
        && let Some(done) = tools.done(id)
    {
        // What an update does not say is as it was.
        let output = said.or(done.output).unwrap_or_default();
        let mut members = vec![("id", id.into()), ("name", done.name.into())];
        members.extend(done.arguments.map(|arguments| ("arguments", arguments.into())));
        members.extend([("output", output.into()), ("is_error", is_error.into())]);
        events.push(event("tool_call_completed", members, sent));
    }
    events
}

/// Whether a status that ends a call says that it failed.
fn failed(status: ToolCallStatus) -> Option<bool> {
    match status {
        ToolCallStatus::Completed => Some(false),
        ToolCallStatus::Failed => Some(true),
        _ => None,
    }
}

/// What a person calls it: its title, else its name, else what kind it is.
pub(super) fn name(fields: &ToolCallUpdateFields) -> Option<String> {
    let words = [fields.title.clone(), fields.name.clone()];
    let kind = || Some(value(&fields.kind?).as_str()?.to_owned());
    let name = words.into_iter().flatten().find(|word| !word.trim().is_empty()).or_else(kind)?;
    Some(cut(name, limits::AGENT_WORDS))
}

fn arguments(fields: &ToolCallUpdateFields) -> Option<String> {
    let input = fields.raw_input.as_ref().filter(|input| !input.is_null())?;
    Some(cut(input.to_string(), limits::AGENT_TOOL_BYTES))
}

/// What is known of a tool call that somebody must allow, which may be the first that is heard of it.
pub(super) fn asked(update: &ToolCallUpdate, tools: &mut Tools) -> Vec<Event> {
    if tools.is_known(update.tool_call_id.0.as_ref()) { Vec::new() } else { tool(update, &value(update), tools) }
}
