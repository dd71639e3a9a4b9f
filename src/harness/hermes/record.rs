//! A row of messages.

use super::database::milliseconds;
use crate::harness::database::{integer, real, text as column};
use crate::harness::messages::{arguments, image, kind, other, unknown};
use crate::harness::text;
use crate::protocol::{Block, LastMessage, Message, Role};
use rusqlite::Row;
use serde_json::{Value, json};
use std::borrow::Cow;

/// How texts begin that stand for what was summed up.
pub const SUMMARIES: [&str; 2] = ["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:"];
/// How a content begins that is no text but JSON.
const STRUCTURED: &str = "\0json:";

/// A message as it is kept.
pub struct Stored {
    pub number: i64,
    role: String,
    content: Content,
    call_id: Option<String>,
    calls: Option<String>,
    tool: Option<String>,
    time_ms: Option<i64>,
    thoughts: Option<String>,
    thought_records: Option<String>,
}

/// What a message says.
pub enum Content {
    Text(String),
    Parts(Value),
}

impl Content {
    pub fn of(stored: String) -> Self {
        let parts = stored.strip_prefix(STRUCTURED).and_then(text::value);
        parts.map_or(Self::Text(stored), Self::Parts)
    }

    /// The text, without what stands beside it.
    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => {
                let texts = parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
                Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
            }
        }
    }

    fn is_summary(&self) -> bool {
        let text = self.text();
        SUMMARIES.iter().any(|opening| text.starts_with(opening))
    }

    /// The text, if it was said and is not what the program made of earlier messages.
    pub fn spoken(&self) -> Option<String> {
        let text = self.text();
        (!text.trim().is_empty() && !self.is_summary()).then(|| text.into_owned())
    }
}

impl Stored {
    /// The columns that [`Self::of`] takes.
    pub const COLUMNS: [&str; 10] = [
        "id",
        "role",
        "content",
        "tool_call_id",
        "tool_calls",
        "tool_name",
        "timestamp",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
    ];

    pub fn of(row: &Row<'_>) -> Self {
        let member = |at| column(row, at).map(Cow::into_owned);
        Self {
            number: integer(row, 0).unwrap_or_default(),
            role: member(1).unwrap_or_default(),
            content: Content::of(member(2).unwrap_or_default()),
            call_id: member(3),
            calls: member(4),
            tool: member(5),
            time_ms: real(row, 6).map(milliseconds),
            thoughts: member(7).or_else(|| member(8)),
            thought_records: member(9),
        }
    }

    /// What a person or a model said.
    fn spoken(&self) -> Option<String> {
        if self.role == "user" || self.role == "assistant" { self.content.spoken() } else { None }
    }

    /// What a person asked.
    pub fn prompt(&self) -> Option<String> {
        if self.role == "user" { self.spoken() } else { None }
    }

    /// The same for an inventory; `None` without text.
    pub fn last_message(&self) -> Option<LastMessage> {
        let role = if self.role == "user" { Role::User } else { Role::Assistant };
        Some(LastMessage { role, text: text::excerpt(&self.spoken()?)?, timestamp_ms: self.time_ms })
    }

    /// The normal form.
    pub fn into_message(self) -> Message {
        let role = match self.role.as_str() {
            _ if self.content.is_summary() => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::System,
        };
        let known = ["user", "assistant", "tool", "system"].contains(&self.role.as_str());
        let raw = (!known).then(|| json!({"role": self.role}));
        let mut content = thoughts(self.thoughts, self.thought_records);
        match (role, self.call_id) {
            (Role::Tool, Some(id)) => {
                let content_of_result = blocks(self.content);
                content.push(Block::ToolResult { id, name: self.tool, is_error: None, content: content_of_result });
            }
            _ => content.extend(blocks(self.content)),
        }
        content.extend(self.calls.map(calls).into_iter().flatten());
        Message {
            id: Some(self.number.to_string()),
            role,
            timestamp_ms: self.time_ms,
            model: None,
            parent_id: None,
            content,
            raw,
        }
    }
}

fn thoughts(text: Option<String>, records: Option<String>) -> Vec<Block> {
    match (text, records) {
        (Some(text), _) => vec![Block::Thinking { text }],
        (None, Some(records)) => {
            let raw = text::value(&records).unwrap_or(Value::String(records));
            vec![other("reasoning_details", raw)]
        }
        (None, None) => Vec::new(),
    }
}

fn blocks(content: Content) -> Vec<Block> {
    match content {
        Content::Text(text) if text.is_empty() => Vec::new(),
        Content::Text(text) => vec![Block::Text { text }],
        Content::Parts(Value::Array(parts)) => parts.into_iter().map(part).collect(),
        Content::Parts(odd) => vec![other("unknown", odd)],
    }
}

fn part(raw: Value) -> Block {
    let url = raw["image_url"]["url"].as_str().or_else(|| raw["image_url"].as_str());
    match (kind(&raw), raw["text"].as_str(), url) {
        ("text" | "input_text", Some(text), _) => Block::Text { text: text.to_owned() },
        ("image_url" | "input_image", _, Some(url)) => image(url, None),
        _ => unknown(raw),
    }
}

/// The calls that an answer ends with.
fn calls(stored: String) -> Vec<Block> {
    match text::value(&stored) {
        Some(Value::Array(calls)) => calls.into_iter().map(call).collect(),
        odd => vec![other("tool_calls", odd.unwrap_or(Value::String(stored)))],
    }
}

fn call(raw: Value) -> Block {
    let id = raw["id"].as_str().or_else(|| raw["call_id"].as_str());
    let function = &raw["function"];
    match (id, function["name"].as_str()) {
        (Some(id), Some(name)) => {
            Block::ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments(&function["arguments"]) }
        }
        _ => other("tool_calls", raw),
    }
}
