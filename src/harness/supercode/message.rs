//! A line of a conversation, in the form in which models are asked, and in the one normal form.

use crate::harness::backward::{Backward, end_of_lines};
use crate::harness::messages::image;
use crate::harness::pages::Gathered;
use crate::harness::text::{self, member};
use crate::harness::{End, Page, PageRequest, Progress, ReadError, Session};
use crate::platform::files::open_regular;
use crate::protocol::{Block, Message, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

type Object = Map<String, Value>;

/// A line, as far as a list needs it.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Line<'a> {
    role: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
}

impl<'a> Line<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        serde_json::from_str(std::str::from_utf8(line).ok()?).ok()
    }

    /// Whose message it is; `None` where it is neither a person's nor the model's.
    pub(super) fn role(&self) -> Option<Role> {
        match member(self.role)?.as_ref() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            _ => None,
        }
    }

    /// The text, of its own or of its parts.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        let content = self.content?;
        if let Some(text) = text::string(content) {
            return Some(text);
        }
        let parts: Vec<Value> = serde_json::from_str(content.get()).ok()?;
        let texts: Vec<_> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
        (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n")))
    }
}

/// The place behind all lines that are whole.
pub(super) fn end(session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
    let end = end_of_lines(&open_regular(&session.location)?, progress)?;
    Ok(End { cursor: end.to_string(), count: None })
}

/// Reads one page.
pub(super) fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let file = open_regular(&session.location)?;
    let end = request.cursor.map(|cursor| cursor.parse().map_err(|_| ReadError::Cursor)).transpose()?;
    let mut lines = Backward::of(&file, end, request.progress)?;
    let mut gathered = Gathered::new(request);
    while !gathered.is_full()
        && let Some((at, line)) = lines.record()?
    {
        if let Some(message) = serde_json::from_slice(line).ok().and_then(|line| message(&line)) {
            gathered.push(message, 0, at);
        }
    }
    let ended = !gathered.is_full();
    Ok(gathered.into_page(ended, u64::to_string))
}

fn message(line: &Object) -> Option<Message> {
    let (role, content) = match string(line, "role")?.as_str() {
        "user" => (Role::User, content(line)),
        "assistant" => (Role::Assistant, answer(line)),
        "tool" => (
            Role::Tool,
            vec![Block::ToolResult {
                id: string(line, "tool_call_id").unwrap_or_default(),
                name: string(line, "name"),
                is_error: None,
                content: content(line),
            }],
        ),
        "system" | "developer" => (Role::System, content(line)),
        other => (Role::System, vec![Block::Other { kind: other.to_owned(), raw: Value::Object(line.clone()) }]),
    };
    Some(Message { id: None, role, timestamp_ms: None, model: None, parent_id: None, content, raw: None })
}

/// What the model thought and said, and the tools that it calls.
fn answer(line: &Object) -> Vec<Block> {
    let thought = string(line, "reasoning_content").filter(|text| !text.is_empty());
    let calls = line.get("tool_calls").and_then(Value::as_array);
    let thought = thought.map(|text| Block::Thinking { text });
    thought.into_iter().chain(content(line)).chain(calls.into_iter().flatten().map(call)).collect()
}

fn call(raw: &Value) -> Block {
    let named = |name: &str| raw.pointer(name).and_then(Value::as_str);
    let (Some(id), Some(name)) = (named("/id"), named("/function/name")) else {
        return Block::Other { kind: "tool_call".to_owned(), raw: raw.clone() };
    };
    let arguments = raw.pointer("/function/arguments").cloned().unwrap_or_default();
    // They are JSON in a string, and stay a string where they are not JSON.
    let parsed = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
    Block::ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: parsed.unwrap_or(arguments) }
}

fn content(line: &Object) -> Vec<Block> {
    match line.get("content") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        Some(Value::String(text)) => vec![Block::Text { text: text.clone() }],
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        Some(other) => vec![Block::Other { kind: "unknown".to_owned(), raw: other.clone() }],
    }
}

fn part(raw: &Value) -> Block {
    let kind = raw.get("type").and_then(Value::as_str).unwrap_or_default();
    if let Some(text) = raw.get("text").and_then(Value::as_str) {
        return Block::Text { text: text.to_owned() };
    }
    match raw.pointer("/image_url/url").and_then(Value::as_str) {
        Some(url) => image(url, None),
        None => Block::Other { kind: kind.to_owned(), raw: raw.clone() },
    }
}

fn string(object: &Object, name: &str) -> Option<String> {
    object.get(name).and_then(Value::as_str).map(str::to_owned)
}
