//! A row of messages.

use crate::harness::database::{Columns, bounded, integer, left_out, real, size, text as column, text_or_size};
use crate::harness::messages::{arguments, image, kind, other, unknown};
use crate::harness::text;
use crate::limits;
use crate::protocol::{Block, LastMessage, Message, Role};
use rusqlite::Row;
use serde_json::{Value, json};
use std::borrow::Cow;

/// How texts begin that stand for what was summed up.
pub(super) const SUMMARIES: [&str; 2] = ["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:"];
/// How a content begins that is no text but JSON.
const STRUCTURED: &str = "\0json:";

/// A time in seconds, in milliseconds. A float holds microseconds exactly enough, milliseconds alone it may miss.
pub(super) fn milliseconds(seconds: f64) -> i64 {
    ((seconds * 1e6).round() as i64).div_euclid(1_000)
}

/// A message as it is kept.
pub(super) struct Stored {
    pub number: i64,
    role: String,
    content: Content,
    call_id: Option<String>,
    calls: Option<String>,
    tool: Option<String>,
    time_ms: Option<i64>,
    thoughts: Option<String>,
    thought_records: Option<String>,
    /// How many bytes of it were loaded.
    pub bytes: u64,
}

/// What a message says.
pub(super) enum Content {
    Text(String),
    Parts(Value),
}

impl Content {
    pub(super) fn of(stored: String) -> Self {
        let parts = stored.strip_prefix(STRUCTURED).and_then(text::value);
        parts.map_or(Self::Text(stored), Self::Parts)
    }

    /// What stands for one of so many bytes that was left out.
    fn left_out(bytes: u64) -> Self {
        Self::Parts(size(bytes))
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
    pub(super) fn spoken(&self) -> Option<String> {
        let text = self.text();
        (!text.trim().is_empty() && !self.is_summary()).then(|| text.into_owned())
    }
}

impl Stored {
    /// The columns that [`Self::of`] takes.
    const COLUMNS: [&str; 10] = [
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

    /// The same, so far as they are there and texts have room.
    pub(super) fn columns(here: &Columns, room: usize) -> String {
        let column = |name| match name {
            "id" | "timestamp" => here.or_null(name).to_owned(),
            // Names, of which nothing is told that is so long.
            "role" | "tool_call_id" | "tool_name" => bounded(here.or_null(name), room.min(limits::HEAD_MAX)),
            _ => bounded(here.or_null(name), room),
        };
        Self::COLUMNS.map(column).join(", ")
    }

    pub(super) fn of(row: &Row<'_>) -> Self {
        let member = |at| column(row, at).map(Cow::into_owned);
        // Thoughts that were left out are told by their size, as a record is.
        let size_of = |at| left_out(row, at).map(|bytes| size(bytes).to_string().into());
        let thought_records = size_of(7).or_else(|| size_of(8)).or_else(|| text_or_size(row, 9));
        Self {
            number: integer(row, 0).unwrap_or_default(),
            role: member(1).unwrap_or_default(),
            content: left_out(row, 2).map_or_else(|| Content::of(member(2).unwrap_or_default()), Content::left_out),
            call_id: member(3),
            calls: text_or_size(row, 4).map(Cow::into_owned),
            tool: member(5),
            time_ms: real(row, 6).map(milliseconds),
            thoughts: member(7).or_else(|| member(8)),
            thought_records: thought_records.map(Cow::into_owned),
            bytes: [2, 4, 7, 8, 9].into_iter().filter_map(|at| column(row, at)).map(|text| text.len() as u64).sum(),
        }
    }

    /// What a person or a model said.
    fn spoken(&self) -> Option<String> {
        if self.role == "user" || self.role == "assistant" { self.content.spoken() } else { None }
    }

    /// What a person asked.
    pub(super) fn prompt(&self) -> Option<String> {
        if self.role == "user" { self.spoken() } else { None }
    }

    /// The same for an inventory; `None` without text.
    pub(super) fn last_message(&self) -> Option<LastMessage> {
        let role = if self.role == "user" { Role::User } else { Role::Assistant };
        Some(LastMessage { role, text: text::excerpt(&self.spoken()?)?, timestamp_ms: self.time_ms })
    }

    /// The normal form.
    pub(super) fn into_message(self) -> Message {
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
