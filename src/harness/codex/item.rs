//! The records of a rollout in the one normal form.
//!
//! What went to the model and came back is told in every generation, so it is what is loaded; the same as events is told
//! only where that is missing.

use super::record::{Base, Family, Record};
use crate::harness::messages::image;
use crate::harness::pages::long_block;
use crate::harness::text::{self, member};
use crate::protocol::{Block, Message, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// What a line says to somebody who reads a conversation backwards.
pub(super) enum Told {
    /// A message; whether a person began a turn with it.
    Message(Box<Message>, bool),
    /// The turn before it ran with this model.
    Turn(Option<Box<str>>),
    /// The last so many turns before it were taken back.
    RolledBack(u64),
}

/// A line: the record around an item, or in the oldest generation the item itself.
#[derive(Default, Deserialize)]
#[serde(default)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Line<'a> {
    timestamp: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    payload: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Item<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    role: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    call_id: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
    arguments: Option<&'a RawValue>,
    input: Option<&'a RawValue>,
    action: Option<&'a RawValue>,
    output: Option<&'a RawValue>,
    tools: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    summary: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
    num_turns: Option<&'a RawValue>,
    model: Option<&'a RawValue>,
}

/// The form in which a line tells of the conversation.
pub(super) fn family(text: &str) -> Option<Family> {
    let response = || text.contains("\"response_item\"").then_some(Family::Response);
    response().or_else(|| Some(Record::parse(text.as_bytes())?.message()?.family))
}

/// Reads a line; `None` where it says nothing of the conversation in this form.
pub(super) fn read(text: &str, family: Family) -> Option<Told> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    let kind = member(line.kind)?;
    let raw: &RawValue = match line.payload {
        Some(payload) => payload,
        None => serde_json::from_str(text).ok()?,
    };
    let item: Item<'_> = serde_json::from_str(raw.get()).ok()?;
    let item_kind = member(item.kind).unwrap_or_default();
    let is_response = kind == "response_item" || (line.payload.is_none() && line.timestamp.is_none());
    let is_item = is_response && family == Family::Response;
    let mut opens_turn = false;
    let (role, content) = match (&*kind, &*item_kind) {
        ("turn_context", _) => return Some(Told::Turn(member(item.model).and_then(|model| text::title(&model)))),
        ("event_msg", "thread_rolled_back") => {
            return Some(Told::RolledBack(serde_json::from_str(item.num_turns?.get()).ok()?));
        }
        ("compacted", _) => (Role::System, vec![compacted(&item)]),
        (_, "message") if is_item => {
            let (role, content) = spoken(text, &item)?;
            opens_turn = role == Role::User;
            (role, content)
        }
        (_, known) if is_item => item.block(known, raw)?,
        ("event_msg", _) if family != Family::Response => {
            let (role, content) = event(text, family)?;
            opens_turn = role == Role::User;
            (role, content)
        }
        _ => return None,
    };
    let id = member(item.id).filter(|id| !id.is_empty()).map(|id| id.into_owned());
    let time = member(line.timestamp).and_then(|time| text::time(&time));
    Some(Told::Message(Box::new(message(id, role, time, content)), opens_turn))
}

fn message(id: Option<String>, role: Role, timestamp_ms: Option<i64>, content: Vec<Block>) -> Message {
    Message { id, role, timestamp_ms, model: None, parent_id: None, content, raw: None }
}

/// What stands where an ancestor's part of the conversation cannot be read.
pub(super) fn gone(base: &Base) -> Message {
    let raw = json!({ "thread_id": base.segment, "end_byte_offset": base.end });
    message(None, Role::System, None, vec![Block::Other { kind: "history_base".to_owned(), raw }])
}

/// What is read of a line that is too long to be held.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Long {
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    payload: LongItem,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LongItem {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    role: Option<String>,
    call_id: Option<String>,
}

impl Long {
    /// Whether it is a message of a person or a model.
    pub(super) fn is_spoken(&self) -> bool {
        let is_message = self.payload.kind.as_deref() == Some("message");
        let role = self.payload.role.as_deref();
        self.kind.as_deref() == Some("response_item") && is_message && matches!(role, Some("user" | "assistant"))
    }

    /// The message that stands for such a line; `None` where it says nothing of the conversation.
    pub(super) fn message(self, bytes: u64) -> Option<Message> {
        let kind = match self.kind.as_deref() {
            Some("response_item") => self.payload.kind.as_deref().unwrap_or("record"),
            Some(kind @ "compacted") => kind,
            Some(_) => return None,
            None => "record",
        };
        let block = long_block(kind, bytes);
        let (role, block) = match (self.payload.role.as_deref(), self.payload.call_id) {
            (Some("user"), _) => (Role::User, block),
            (Some("assistant"), _) => (Role::Assistant, block),
            (_, Some(id)) if kind.ends_with("_output") => {
                (Role::Tool, Block::ToolResult { id, name: None, is_error: None, content: vec![block] })
            }
            (_, Some(_)) => (Role::Assistant, block),
            _ => (Role::System, block),
        };
        let time = self.timestamp.as_deref().and_then(text::time);
        Some(message(self.payload.id, role, time, vec![block]))
    }
}

/// Who wrote a message, and what it says. What the harness puts around a person's words is left out; what it wrote in a
/// person's name is the system's.
fn spoken(text: &str, item: &Item<'_>) -> Option<(Role, Vec<Block>)> {
    let by = match &*member(item.role)? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => Role::System,
    };
    let all = |role| Some((role, blocks(item.content)));
    if by == Role::System {
        return all(by);
    }
    let record = Record::parse(text.as_bytes())?;
    let Some(message) = record.message().filter(|message| message.is_genuine()) else { return all(Role::System) };
    match message.parts() {
        Some(parts) => Some((by, parts.into_iter().filter(|(_, own)| *own).map(|(raw, _)| part(raw)).collect())),
        None => all(by),
    }
}

/// A message as it was told to people.
fn event(text: &str, family: Family) -> Option<(Role, Vec<Block>)> {
    let record = Record::parse(text.as_bytes())?;
    let message = record.message().filter(|message| message.family == family)?;
    let text = message.text()?;
    Some((message.role, vec![Block::Text { text }]))
}

/// What the program went on with after it had shortened the conversation.
fn compacted(item: &Item<'_>) -> Block {
    match member(item.message).filter(|text| !text.trim().is_empty()) {
        Some(text) => Block::Text { text: text.into_owned() },
        None => Block::Other { kind: "compacted".to_owned(), raw: json!({}) },
    }
}

impl Item<'_> {
    /// An item that is no message of anybody; `None` for what only the program itself needs.
    fn block(&self, kind: &str, raw: &RawValue) -> Option<(Role, Vec<Block>)> {
        let call = |name: &str, arguments: Value| {
            let id = member(self.call_id).or_else(|| member(self.id)).unwrap_or_default().into_owned();
            (Role::Assistant, vec![Block::ToolCall { id, name: name.to_owned(), arguments }])
        };
        let name = || member(self.name).unwrap_or_default();
        let value = |raw: Option<&RawValue>| raw.map_or(Value::Null, text::raw_value);
        Some(match kind {
            "reasoning" => (Role::Assistant, vec![self.thinking()]),
            "function_call" => call(&name(), arguments(self.arguments)),
            "custom_tool_call" => call(&name(), value(self.input)),
            "tool_search_call" => call("tool_search", value(self.arguments)),
            "local_shell_call" => call("local_shell", value(self.action)),
            "web_search_call" => call("web_search", value(self.action)),
            "image_generation_call" => {
                let bytes = member(self.result).map(|data| text::base64_bytes(&data));
                (Role::Assistant, vec![Block::Image { media_type: None, bytes, uri: None }])
            }
            "tool_search_output" => (Role::Tool, vec![self.answer(self.tools)]),
            kind if kind.ends_with("_output") => (Role::Tool, vec![self.answer(self.output)]),
            "ghost_snapshot" | "" => return None,
            other => (Role::System, vec![Block::Other { kind: other.to_owned(), raw: text::raw_value(raw) }]),
        })
    }

    /// What the model thought, or the summary of it that the program was given.
    fn thinking(&self) -> Block {
        let joined = |raw: Option<&RawValue>| -> String {
            let of = |block: Block| if let Block::Text { text } = block { Some(text) } else { None };
            blocks(raw).into_iter().filter_map(of).collect::<Vec<_>>().join("\n\n")
        };
        let summary = joined(self.summary);
        Block::Thinking { text: if summary.is_empty() { joined(self.content) } else { summary } }
    }

    /// What a tool answered: a text, parts, or an object with either.
    fn answer(&self, output: Option<&RawValue>) -> Block {
        #[derive(Deserialize)]
        #[serde(bound(deserialize = "'de: 'a"))]
        struct Wrapped<'a> {
            content: &'a RawValue,
            #[serde(default)]
            success: Option<&'a RawValue>,
        }
        let object = output.filter(|output| output.get().starts_with('{'));
        let wrapped: Option<Wrapped<'_>> = object.and_then(|output| serde_json::from_str(output.get()).ok());
        let succeeded = wrapped.as_ref().and_then(|wrapped| serde_json::from_str::<bool>(wrapped.success?.get()).ok());
        let content = blocks(wrapped.map(|wrapped| wrapped.content).or(output));
        let id = member(self.call_id).unwrap_or_default().into_owned();
        Block::ToolResult { id, name: None, is_error: succeeded.map(|succeeded| !succeeded), content }
    }
}

/// A function's arguments are JSON in a string.
fn arguments(raw: Option<&RawValue>) -> Value {
    match member(raw) {
        Some(text) => serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text)),
        None => raw.map_or(Value::Null, text::raw_value),
    }
}

/// The parts of a content, which may be a text alone.
fn blocks(content: Option<&RawValue>) -> Vec<Block> {
    let Some(content) = content else { return Vec::new() };
    if let Some(text) = text::string(content) {
        return vec![Block::Text { text: text.into_owned() }];
    }
    match serde_json::from_str::<Vec<&RawValue>>(content.get()) {
        Ok(parts) => parts.into_iter().map(part).collect(),
        Err(_) => vec![Block::Other { kind: "content".to_owned(), raw: text::raw_value(content) }],
    }
}

fn part(raw: &RawValue) -> Block {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Part<'a> {
        #[serde(rename = "type")]
        kind: Option<&'a RawValue>,
        text: Option<&'a RawValue>,
        image_url: Option<&'a RawValue>,
    }
    let part: Part<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    let kind = member(part.kind).unwrap_or_default();
    match (member(part.text), member(part.image_url)) {
        (Some(text), _) => Block::Text { text: text.into_owned() },
        (_, Some(url)) if kind == "input_image" => image(&url, None),
        _ => Block::Other { kind: if kind.is_empty() { "part" } else { &kind }.to_owned(), raw: text::raw_value(raw) },
    }
}
