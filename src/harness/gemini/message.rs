//! Messages in the one normal form.

use super::record::{Kind, Record};
use crate::harness::text::{self, member};
use crate::protocol::{Block, Message, Role};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The messages that a record makes: an answer that called tools makes one more of their results. Results that the
/// record before has told already, by the ids of their calls, are not told again.
pub(super) fn messages(record: &Record<'_>, told: &[String]) -> Vec<Message> {
    let Some(kind) = record.kind() else { return Vec::new() };
    let mut content = record.content.map(blocks).unwrap_or_default();
    content.retain(|block| !matches!(block, Block::ToolResult { id, .. } if told.contains(id)));
    let calls = calls(record);
    if kind == Kind::Answer {
        content.splice(0..0, thoughts(record));
        content.extend(calls.iter().map(call));
    }
    if content.is_empty() && kind == Kind::Results {
        return Vec::new();
    }
    let role = match kind {
        Kind::Prompt => Role::User,
        Kind::Answer => Role::Assistant,
        Kind::Results => Role::Tool,
        Kind::Notice => Role::System,
    };
    let message = Message {
        id: member(record.id).map(String::from),
        role,
        timestamp_ms: record.time(),
        model: record.model().map(String::from),
        parent_id: None,
        content,
        raw: None,
    };
    let results: Vec<Block> = calls.iter().filter_map(result).collect();
    let answered = (!results.is_empty()).then(|| Message {
        id: None,
        role: Role::Tool,
        timestamp_ms: calls.iter().filter_map(|call| text::time(call.get("timestamp")?.as_str()?)).max(),
        model: None,
        parent_id: None,
        content: results,
        raw: None,
    });
    [Some(message), answered].into_iter().flatten().collect()
}

/// The ids of the calls whose results a record tells.
pub(super) fn told(record: &Record<'_>) -> Vec<String> {
    calls(record).iter().filter(|call| result(call).is_some()).map(|call| string(call, "id")).collect()
}

fn calls(record: &Record<'_>) -> Vec<Map<String, Value>> {
    record.tool_calls.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

fn call(call: &Map<String, Value>) -> Block {
    Block::ToolCall {
        id: string(call, "id"),
        name: string(call, "name"),
        arguments: call.get("args").cloned().unwrap_or_default(),
    }
}

/// What a tool answered to a call; `None` while it runs.
fn result(call: &Map<String, Value>) -> Option<Block> {
    let parts = call.get("result").filter(|result| !result.is_null())?;
    let mut content = Vec::new();
    for block in value_blocks(parts) {
        match block {
            Block::ToolResult { content: own, .. } => content.extend(own),
            other => content.push(other),
        }
    }
    Some(Block::ToolResult {
        id: string(call, "id"),
        name: call.get("name").and_then(Value::as_str).map(str::to_owned),
        is_error: call.get("status").and_then(Value::as_str).map(|status| status == "error"),
        content,
    })
}

fn thoughts(record: &Record<'_>) -> Vec<Block> {
    let thoughts: Vec<Value> = record.thoughts.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let text = |thought: &Value| {
        let lines = ["subject", "description"].map(|name| thought.get(name).and_then(Value::as_str));
        lines.into_iter().flatten().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    thoughts.iter().map(|thought| Block::Thinking { text: text(thought) }).collect()
}

fn blocks(content: &RawValue) -> Vec<Block> {
    serde_json::from_str(content.get()).map(|content| value_blocks(&content)).unwrap_or_default()
}

/// The blocks of a content: a text, a part, or a list of either.
fn value_blocks(content: &Value) -> Vec<Block> {
    match content {
        Value::Array(parts) => parts.iter().flat_map(value_blocks).collect(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![Block::Text { text: text.clone() }],
        Value::Object(part) => vec![block(part)],
        other => vec![Block::Other { kind: "unknown".to_owned(), raw: other.clone() }],
    }
}

fn block(part: &Map<String, Value>) -> Block {
    let object = |name: &str| part.get(name).and_then(Value::as_object);
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        let text = text.to_owned();
        return if part.get("thought") == Some(&Value::Bool(true)) {
            Block::Thinking { text }
        } else {
            Block::Text { text }
        };
    }
    if let Some(called) = object("functionCall") {
        return call(called);
    }
    if let Some(response) = object("functionResponse") {
        return response_block(response);
    }
    let media = ["inlineData", "fileData"].into_iter().find_map(object);
    if let Some(media) = media.filter(|media| string(media, "mimeType").starts_with("image/")) {
        let encoded = media.get("data").and_then(Value::as_str);
        return Block::Image {
            media_type: Some(string(media, "mimeType")),
            bytes: encoded.map(text::base64_bytes),
            uri: media.get("fileUri").and_then(Value::as_str).map(str::to_owned),
        };
    }
    let kind = part.keys().next().cloned().unwrap_or_default();
    Block::Other { kind, raw: Value::Object(part.clone()) }
}

/// A tool's result as it is sent to the model: an output, an error, or an object of the tool's own.
fn response_block(response: &Map<String, Value>) -> Block {
    let body = response.get("response").cloned().unwrap_or_default();
    let text = |name: &str| body.get(name).and_then(Value::as_str).map(|text| Block::Text { text: text.to_owned() });
    let error = text("error");
    let is_error = error.is_some().then_some(true);
    let other = || Block::Other { kind: "response".to_owned(), raw: body.clone() };
    Block::ToolResult {
        id: string(response, "id"),
        name: response.get("name").and_then(Value::as_str).map(str::to_owned),
        is_error,
        content: vec![text("output").or(error).unwrap_or_else(other)],
    }
}

fn string(object: &Map<String, Value>, name: &str) -> String {
    object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
