//! Messages in the one normal form.

use super::record::Record;
use crate::harness::text::{self, member};
use crate::protocol::{Block, Message, Role};
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// The message that an entry is; `None` where it only changes how the session goes on.
pub(super) fn of(record: &Record<'_>) -> Option<Message> {
    let summary = || member(record.summary).map(|text| vec![Block::Text { text: text.into_owned() }]);
    let own = |content| Some((Role::System, content));
    let (role, content, inner) = match record.kind().as_ref() {
        "message" => {
            let inner: Object = serde_json::from_str(record.message?.get()).ok()?;
            let (role, content) = said(&inner, member(record.id).as_deref().unwrap_or_default());
            (role, content, inner)
        }
        "compaction" | "branch_summary" => own(summary()?).map(|(role, content)| (role, content, Object::new()))?,
        "custom_message" => {
            let content: Value = serde_json::from_str(record.content?.get()).ok()?;
            (Role::System, blocks(&content), Object::new())
        }
        _ => return None,
    };
    Some(Message {
        id: member(record.id).map(String::from),
        role,
        timestamp_ms: inner.get("timestamp").and_then(Value::as_i64).or_else(|| record.time()),
        model: string(&inner, "model").filter(|_| role == Role::Assistant),
        parent_id: member(record.parent_id).map(String::from),
        content,
        raw: None,
    })
}

/// Who says what in a message.
fn said(message: &Object, id: &str) -> (Role, Vec<Block>) {
    let content = message.get("content").map(blocks).unwrap_or_default();
    let role = string(message, "role").unwrap_or_default();
    match role.as_str() {
        "user" => (Role::User, content),
        "assistant" => {
            let error = message.get("errorMessage").filter(|error| error.is_string());
            let error = error.map(|error| Block::Other { kind: "error".to_owned(), raw: error.clone() });
            (Role::Assistant, content.into_iter().chain(error).collect())
        }
        "toolResult" => (
            Role::Tool,
            vec![Block::ToolResult {
                id: string(message, "toolCallId").unwrap_or_default(),
                name: string(message, "toolName"),
                is_error: message.get("isError").and_then(Value::as_bool),
                content,
            }],
        ),
        "bashExecution" => (Role::User, bash(message, id)),
        "custom" | "hookMessage" => (Role::System, content),
        "branchSummary" | "compactionSummary" => {
            let text = string(message, "summary").unwrap_or_default();
            (Role::System, vec![Block::Text { text }])
        }
        // The prompt of a newer program stands in sections beside an empty content.
        _ => (Role::System, vec![Block::Other { kind: role, raw: Value::Object(message.clone()) }]),
    }
}

/// A command that a person ran from within the session.
fn bash(message: &Object, id: &str) -> Vec<Block> {
    let text = |name: &str| string(message, name).unwrap_or_default();
    let arguments = json!({ "command": text("command") });
    let failed = message.get("exitCode").and_then(Value::as_i64).map(|code| code != 0);
    vec![
        Block::ToolCall { id: id.to_owned(), name: "bash".to_owned(), arguments },
        Block::ToolResult {
            id: id.to_owned(),
            name: Some("bash".to_owned()),
            is_error: failed,
            content: vec![Block::Text { text: text("output") }],
        },
    ]
}

/// The blocks of a content: a text, or a list of blocks.
fn blocks(content: &Value) -> Vec<Block> {
    match content {
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![Block::Text { text: text.clone() }],
        Value::Array(blocks) => blocks.iter().map(block).collect(),
        other => vec![Block::Other { kind: "unknown".to_owned(), raw: other.clone() }],
    }
}

fn block(raw: &Value) -> Block {
    let empty = Object::new();
    let object = raw.as_object().unwrap_or(&empty);
    let text = |name: &str| string(object, name).unwrap_or_default();
    let kind = text("type");
    match kind.as_str() {
        "text" => Block::Text { text: text("text") },
        "thinking" => Block::Thinking { text: text("thinking") },
        "toolCall" => Block::ToolCall {
            id: text("id"),
            name: text("name"),
            arguments: object.get("arguments").cloned().unwrap_or_default(),
        },
        "image" => Block::Image {
            media_type: string(object, "mimeType"),
            bytes: string(object, "data").map(|data| text::base64_bytes(&data)),
            uri: None,
        },
        _ => Block::Other { kind, raw: raw.clone() },
    }
}

fn string(object: &Object, name: &str) -> Option<String> {
    object.get(name).and_then(Value::as_str).map(str::to_owned)
}
