//! A message, as the database and the older files keep it.

use crate::harness::messages::{kind, other, unknown};
use crate::harness::text;
use crate::protocol::{Block, LastMessage, Message, Role};
use serde_json::{Value, json};

/// Later times than this are not in seconds.
const SECONDS_MAX: i64 = 10_000_000_000;

/// A message as it is kept.
pub(super) struct Stored {
    /// Its number in the order of the store.
    pub number: i64,
    /// Its time as it is kept.
    pub time: Option<i64>,
    pub id: Option<String>,
    pub role: String,
    /// Its blocks; where they are no JSON, their text.
    pub content: Value,
    /// How many bytes of it were loaded.
    pub bytes: u64,
}

/// A time as it is kept, in milliseconds; `None` for what is no time.
pub(super) fn milliseconds(time: i64) -> Option<i64> {
    if time > SECONDS_MAX { Some(time) } else { time.checked_mul(1_000) }
}

impl Stored {
    pub(super) fn time(&self) -> Option<i64> {
        milliseconds(self.time?)
    }

    pub(super) fn is_user(&self) -> bool {
        self.role == "user"
    }

    fn is_assistant(&self) -> bool {
        self.role == "assistant"
    }

    fn blocks(&self) -> &[Value] {
        self.content.as_array().map_or(&[], Vec::as_slice)
    }

    /// Whether it is what tools answered, which is kept in the user's name.
    fn is_result(&self) -> bool {
        let blocks = self.blocks();
        self.is_user() && !blocks.is_empty() && blocks.iter().all(|block| kind(block) == "toolResponse")
    }

    /// Whether a person or a model wrote it.
    pub(super) fn is_genuine(&self) -> bool {
        (self.is_user() && !self.is_result()) || self.is_assistant()
    }

    fn spoken(&self) -> Option<String> {
        let texts = self.blocks().iter().filter(|block| kind(block) == "text");
        let texts: Vec<&str> =
            texts.filter_map(|block| block["text"].as_str()).filter(|text| !text.trim().is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// What a person asked.
    pub(super) fn prompt(&self) -> Option<String> {
        if self.is_user() { self.spoken() } else { None }
    }

    /// The same for an inventory; `None` without text.
    pub(super) fn last_message(&self) -> Option<LastMessage> {
        let role = if self.is_user() { Role::User } else { Role::Assistant };
        let text = self.spoken().filter(|_| self.is_genuine())?;
        Some(LastMessage { role, text: text::excerpt(&text)?, timestamp_ms: self.time() })
    }

    /// The normal form.
    pub(super) fn into_message(self) -> Message {
        let (timestamp_ms, known) = (self.time(), self.is_user() || self.is_assistant());
        let role = match known {
            true if self.is_result() => Role::Tool,
            true if self.is_user() => Role::User,
            true => Role::Assistant,
            false => Role::System,
        };
        let raw = (!known).then(|| json!({"role": self.role}));
        let content = match self.content {
            Value::Array(blocks) => blocks.into_iter().map(block).collect(),
            odd => vec![other("unknown", odd)],
        };
        Message { id: self.id, role, timestamp_ms, model: None, parent_id: None, content, raw }
    }
}

fn block(raw: Value) -> Block {
    let text = |name: &str| raw[name].as_str().map(str::to_owned);
    let made = match kind(&raw) {
        "text" => text("text").map(|text| Block::Text { text }),
        "thinking" => text("thinking").map(|text| Block::Thinking { text }),
        "reasoning" => text("text").map(|text| Block::Thinking { text }),
        "image" => image(&raw),
        "toolRequest" | "frontendToolRequest" => call(&raw),
        "toolResponse" => result(&raw),
        _ => None,
    };
    made.unwrap_or_else(|| unknown(raw))
}

fn image(raw: &Value) -> Option<Block> {
    let bytes = Some(text::base64_bytes(raw["data"].as_str()?));
    Some(Block::Image { media_type: raw["mimeType"].as_str().map(str::to_owned), bytes, uri: None })
}

fn call(raw: &Value) -> Option<Block> {
    let call = &raw["toolCall"]["value"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Some(Block::ToolCall { id: text(&raw["id"])?, name: text(&call["name"])?, arguments: call["arguments"].clone() })
}

/// The answer is a list in old versions, and then an object with one.
fn result(raw: &Value) -> Option<Block> {
    let (result, id) = (&raw["toolResult"], raw["id"].as_str()?.to_owned());
    if let Some(error) = result["error"].as_str() {
        let content = vec![Block::Text { text: error.to_owned() }];
        return Some(Block::ToolResult { id, name: None, is_error: Some(true), content });
    }
    let value = &result["value"];
    let content = value.as_array().or_else(|| value["content"].as_array())?;
    let is_error = value["isError"].as_bool().or(Some(false));
    Some(Block::ToolResult { id, name: None, is_error, content: content.iter().cloned().map(block).collect() })
}
