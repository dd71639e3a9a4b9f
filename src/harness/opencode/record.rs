//! A message and its parts, as both forms of the storage keep them.

use super::first_form::in_first_form;
use crate::harness::messages::{image, kind, other, unknown};
use crate::harness::pages::long_block;
use crate::harness::text;
use crate::protocol::{Block, LastMessage, Message, Role};
use serde_json::{Value, json};

/// A message as it is kept.
pub(super) struct Stored {
    pub id: String,
    /// The whole number that orders it, where one does.
    pub at: Option<i64>,
    pub created_ms: Option<i64>,
    /// Its own record: JSON, or what was left of it.
    pub record: String,
    /// The size of the record where it is too long to be told.
    pub left_out: Option<u64>,
    /// Its parts, each as an id and a record.
    pub parts: Vec<(String, String)>,
    /// The number and the kind of a message of the second engine.
    pub second: Option<(i64, String)>,
}

/// A message that was looked into.
pub(super) struct Opened {
    id: String,
    created_ms: Option<i64>,
    record: Value,
    left_out: Option<u64>,
    parts: Vec<Value>,
}

/// From where on a person took the conversation back.
pub(super) struct Revert {
    message: String,
    part: Option<String>,
}

impl Revert {
    pub(super) fn of(revert: &Value) -> Option<Self> {
        let member = |name: &str| revert[name].as_str().map(str::to_owned);
        Some(Self { message: member("messageID")?, part: member("partID") })
    }

    /// The condition that a message still counts, where `?2` is what [`Self::before`] says.
    pub(super) const CONDITION: &'static str = "(?2 is null or id < ?2)";

    /// The id before which all messages count: that of the message, or the one behind it where a part of it counts.
    pub(super) fn before(&self) -> String {
        self.message.clone() + if self.part.is_some() { " " } else { "" }
    }

    /// Whether a message still counts.
    pub(super) fn keeps(&self, id: &str) -> bool {
        id < self.message.as_str() || (id == self.message && self.part.is_some())
    }

    /// Whether a part still counts.
    pub(super) fn keeps_part(&self, message: &str, part: &str) -> bool {
        message != self.message || self.part.as_deref().is_none_or(|first| part < first)
    }
}

impl Stored {
    /// The name of its place in the order of all.
    pub(super) fn place(&self) -> String {
        match &self.second {
            Some((seq, _)) => format!("{seq}/{}", self.id),
            None => format!("{}:{}", self.at.map(|at| at.to_string()).unwrap_or_default(), self.id),
        }
    }

    /// How many bytes of it were loaded.
    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(|(_, part)| part.len()).chain([self.record.len()]).sum::<usize>() as u64
    }

    /// Looks into it. What is no JSON is kept as the text that it is.
    pub(super) fn open(self) -> Opened {
        let value = |record: String| text::value(&record).unwrap_or(Value::String(record));
        let record = value(self.record);
        let (record, parts) = match &self.second {
            Some((_, kind)) if record.is_object() => in_first_form(kind, record),
            Some((_, kind)) => (json!({"role": kind}), vec![record]),
            None => (record, self.parts.into_iter().map(|(_, part)| value(part)).collect()),
        };
        let created_ms = record["time"]["created"].as_i64().or(self.created_ms);
        Opened { id: self.id, created_ms, record, left_out: self.left_out, parts }
    }
}

impl Opened {
    pub(super) fn created_ms(&self) -> Option<i64> {
        self.created_ms
    }

    pub(super) fn is_user(&self) -> bool {
        self.record["role"] == "user"
    }

    /// Whether the model is still at it.
    pub(super) fn is_unfinished(&self) -> bool {
        let time = &self.record["time"];
        self.is_assistant() && time.is_object() && time["completed"].is_null() && self.record["error"].is_null()
    }

    pub(super) fn is_assistant(&self) -> bool {
        self.record["role"] == "assistant"
    }

    /// The model that answered, or that a person asked.
    pub(super) fn model(&self) -> Option<Box<str>> {
        let model = self.record["modelID"].as_str().or_else(|| self.record["model"]["modelID"].as_str());
        model.filter(|model| !model.is_empty()).map(Box::from)
    }

    /// The directory in which it was answered.
    pub(super) fn workspace(&self) -> Option<Box<str>> {
        self.record["path"]["cwd"].as_str().and_then(text::workspace)
    }

    /// What was said, without what the program put there.
    fn spoken(&self) -> Option<String> {
        let said = self.parts.iter().filter(|part| part["type"] == "text" && !is_injected(part));
        let texts: Vec<&str> =
            said.filter_map(|part| part["text"].as_str()).filter(|text| !text.trim().is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// What a person asked.
    pub(super) fn prompt(&self) -> Option<String> {
        if self.is_user() { self.spoken() } else { None }
    }

    /// Whether a person or a model wrote it.
    pub(super) fn is_genuine(&self) -> bool {
        let attached = || self.parts.iter().any(|part| part["type"] == "file");
        self.is_assistant() || (self.is_user() && (self.spoken().is_some() || attached()))
    }

    /// The same for an inventory; `None` without text.
    pub(super) fn last_message(&self) -> Option<LastMessage> {
        let role = if self.is_user() { Role::User } else { Role::Assistant };
        Some(LastMessage { role, text: text::excerpt(&self.spoken()?)?, timestamp_ms: self.created_ms })
    }

    /// The normal form.
    pub(super) fn into_message(self) -> Message {
        let known = self.is_user() || self.is_assistant();
        let role = match known {
            true if self.is_user() => Role::User,
            true => Role::Assistant,
            false => Role::System,
        };
        let model = self.record["modelID"].as_str().map(str::to_owned);
        let parent_id = self.record["parentID"].as_str().map(str::to_owned);
        let mut content: Vec<Block> = self.parts.into_iter().flat_map(blocks).collect();
        content.extend(self.left_out.map(|bytes| long_block("message", bytes)));
        if let Some(error) = self.record.get("error") {
            content.push(other("error", error.clone()));
        }
        let raw = (!known && self.left_out.is_none()).then_some(self.record);
        Message { id: Some(self.id), role, timestamp_ms: self.created_ms, model, parent_id, content, raw }
    }
}

/// Whether the program put a text there: for the model alone, or for nobody any more.
fn is_injected(part: &Value) -> bool {
    part["synthetic"] == true || part["ignored"] == true
}

fn blocks(part: Value) -> Vec<Block> {
    let text = part["text"].as_str();
    match (kind(&part), text) {
        ("text", Some(_)) if is_injected(&part) => vec![other("synthetic", part)],
        ("text", Some(text)) => vec![Block::Text { text: text.to_owned() }],
        ("reasoning", Some(text)) => vec![Block::Thinking { text: text.to_owned() }],
        ("tool", _) => tool(part),
        ("file", _) => vec![file(part)],
        _ => vec![unknown(part)],
    }
}

/// A call, and its answer where there is one yet.
fn tool(part: Value) -> Vec<Block> {
    let (Some(id), Some(name)) = (part["callID"].as_str(), part["tool"].as_str()) else {
        return vec![other("tool", part)];
    };
    let state = &part["state"];
    let call = Block::ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: state["input"].clone() };
    let (is_error, answer) = match state["status"].as_str() {
        Some("completed") => (false, &state["output"]),
        Some("error") => (true, &state["error"]),
        _ => return vec![call],
    };
    let said = answer.as_str().or_else(|| answer["message"].as_str());
    let mut content: Vec<Block> = said.map(|text| Block::Text { text: text.to_owned() }).into_iter().collect();
    // So the second engine keeps what was answered.
    content.extend(state["content"].as_array().into_iter().flatten().cloned().flat_map(blocks));
    content.extend(state["attachments"].as_array().into_iter().flatten().cloned().map(file));
    let result =
        Block::ToolResult { id: id.to_owned(), name: Some(name.to_owned()), is_error: Some(is_error), content };
    vec![call, result]
}

fn file(part: Value) -> Block {
    let media_type = part["mime"].as_str();
    match part["url"].as_str().or_else(|| part["uri"].as_str()) {
        Some(url) if media_type.is_some_and(|media_type| media_type.starts_with("image/")) => image(url, media_type),
        _ => other("file", part),
    }
}
