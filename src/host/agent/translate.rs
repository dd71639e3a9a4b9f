//! What an agent tells of its session, in the words of the runtime's API.

use super::Event;
use super::content::text;
use super::message::value;
use super::terminal::Terminals;
use super::tools::{Tool, Tools};
use super::words::{cut, raw};
use crate::limits;
use agent_client_protocol_schema::v1::{ContentChunk, SessionUpdate, ToolCallStatus, ToolCallUpdate};
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
pub(super) fn events(sent: &Value, when: When, tools: &mut Tools, terminals: &Terminals) -> Vec<Event> {
    let kind = sent.get("sessionUpdate").and_then(Value::as_str).unwrap_or("unknown");
    let native = || vec![native(kind, sent)];
    let Ok(update) = SessionUpdate::deserialize(sent) else { return native() };
    let said = |kind, chunk: &ContentChunk| match text(&chunk.content) {
        // An empty piece only carries something in `_meta`.
        Some(text) if !text.is_empty() => vec![event(kind, [("text", cut(text, limits::AGENT_TEXT).into())], sent)],
        Some(_) | None => native(),
    };
    let events = match (update, when) {
        (SessionUpdate::AgentMessageChunk(chunk), _) => said("text_delta", &chunk),
        (SessionUpdate::AgentThoughtChunk(chunk), _) => said("reasoning", &chunk),
        // In a turn it repeats the prompt, which clients have seen.
        (SessionUpdate::UserMessageChunk(chunk), When::History | When::Between) => said("user_message", &chunk),
        (SessionUpdate::ToolCall(call), _) => tool(&call.into(), sent, tools, terminals),
        (SessionUpdate::ToolCallUpdate(update), _) => tool(&update, sent, tools, terminals),
        _ => native(),
    };
    if events.is_empty() { native() } else { events }
}

/// What an update says of a tool call: it is started when it is first heard of, updated when more is known of it, and
/// completed once. Each event has all that is known of the call.
fn tool(update: &ToolCallUpdate, sent: &Value, tools: &mut Tools, terminals: &Terminals) -> Vec<Event> {
    let (id, fields) = (update.tool_call_id.0.as_ref(), &update.fields);
    let Some((tool, change)) = tools.learn(id, fields, &sent["_meta"]) else { return Vec::new() };
    let members = |tool: &Tool| {
        vec![("id", id.into()), ("name", tool.name.as_str().into()), ("arguments", tool.arguments.as_str().into())]
    };
    let status = fields.status.filter(|status| failed(*status).is_none()).map(|status| ("status", value(&status)));
    let output = || ("output", Value::from(tool.output(terminals)));
    let piece = || change.piece.clone().map(|piece| ("output_delta", piece.into()));
    let mut events = Vec::new();
    if change.is_new {
        let members = members(tool).into_iter().chain(status.clone());
        events.push(event("tool_call_started", members, sent));
    }
    match fields.status.and_then(failed) {
        Some(is_error) => {
            let members: Vec<_> = members(tool).into_iter().chain([output(), ("is_error", is_error.into())]).collect();
            // One that had ended before may say more of what it gave, but does not end again.
            match (tool.end(), change.call || change.content) {
                (true, _) => events.push(event("tool_call_completed", members, sent)),
                (false, true) => events.push(event("tool_call_updated", members, sent)),
                (false, false) => {}
            }
        }
        None => {
            let output = change.content.then(|| tool.output(terminals)).filter(|output| !output.is_empty());
            if (change.call && !change.is_new) || output.is_some() || change.piece.is_some() {
                let output = output.map(|output| ("output", output.into()));
                let members = members(tool).into_iter().chain(status).chain(output).chain(piece());
                events.push(event("tool_call_updated", members, sent));
            }
            tool.shrink();
        }
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

/// What is known of a tool call that somebody must allow: the request may be the first that is heard of it, or say first what
/// it is given. It may also say less than was known, which is no news.
pub(super) fn asked(update: &ToolCallUpdate, tools: &mut Tools, terminals: &Terminals) -> Vec<Event> {
    let is_known = tools.get(update.tool_call_id.0.as_ref()).is_some_and(Tool::has_input);
    if is_known { Vec::new() } else { tool(update, &value(update), tools, terminals) }
}
