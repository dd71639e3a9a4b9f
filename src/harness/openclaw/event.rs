//! An event of a conversation, in the database or on a line of a transcript: the form is the same.

use super::prompt;
use crate::harness::text::{self, member};
use crate::protocol::{Block, Message, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// An event, as far as it matters here. Every member may be of any kind.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Fields<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    #[serde(rename = "parentId")]
    parent: Option<&'a RawValue>,
    timestamp: Option<&'a RawValue>,
    cwd: Option<&'a RawValue>,
    #[serde(rename = "targetId")]
    target: Option<&'a RawValue>,
    #[serde(rename = "appendMode")]
    append_mode: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
    summary: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    #[serde(rename = "traceSchema")]
    trace: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Body<'a> {
    role: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    summary: Option<&'a RawValue>,
    timestamp: Option<&'a RawValue>,
    provider: Option<&'a RawValue>,
    model: Option<&'a RawValue>,
    #[serde(rename = "toolCallId")]
    call: Option<&'a RawValue>,
    #[serde(rename = "toolName")]
    tool: Option<&'a RawValue>,
    #[serde(rename = "isError")]
    is_error: Option<&'a RawValue>,
}

/// An event.
pub(super) struct Event<'a> {
    raw: &'a RawValue,
    fields: Fields<'a>,
}

impl<'a> Event<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        let raw: &RawValue = serde_json::from_str(std::str::from_utf8(line).ok()?).ok()?;
        Some(Self { raw, fields: serde_json::from_str(raw.get()).ok()? })
    }

    /// How long it is.
    pub(super) fn bytes(&self) -> u64 {
        self.raw.get().len() as u64
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        member(self.fields.kind).is_some_and(|own| own == kind)
    }

    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        member(self.fields.id)
    }

    pub(super) fn parent(&self) -> Option<Cow<'a, str>> {
        member(self.fields.parent)
    }

    /// The event that a `leaf` makes the end of the conversation.
    pub(super) fn target(&self) -> Option<Cow<'a, str>> {
        member(self.fields.target)
    }

    /// Whether it was written beside the conversation.
    pub(super) fn is_aside(&self) -> bool {
        member(self.fields.append_mode).is_some_and(|mode| mode == "side")
    }

    /// Whether it is a line of a trace, not of a conversation.
    pub(super) fn is_trace(&self) -> bool {
        self.fields.trace.is_some()
    }

    pub(super) fn workspace(&self) -> Option<Box<str>> {
        member(self.fields.cwd).and_then(|cwd| text::workspace(&cwd))
    }

    /// When it was written down.
    pub(super) fn time(&self) -> Option<i64> {
        time(self.fields.timestamp)
    }

    /// Who wrote it, if a person or a model did, and when.
    pub(super) fn spoken(&self) -> Option<Spoken<'a>> {
        let body = self.body()?;
        let role = match &*member(body.role)? {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => return None,
        };
        // The program's own notices name a model that none is.
        let own = member(body.provider).is_some_and(|provider| provider == "openclaw");
        let model = member(body.model).filter(|model| role == Role::Assistant && !own && !model.is_empty());
        let timestamp_ms = time(body.timestamp).or_else(|| self.time());
        Some(Spoken { role, model, timestamp_ms, content: body.content })
    }

    /// The text that a person wrote.
    pub(super) fn prompt(&self) -> Option<String> {
        let spoken = self.spoken().filter(|spoken| spoken.role == Role::User)?;
        prompt::written(&spoken.text()?).map(str::to_owned)
    }

    /// The message that it is, if it is one.
    pub(super) fn message(&self) -> Option<Message> {
        let (role, content, timestamp_ms) = match &*member(self.fields.kind)? {
            "message" => {
                let body = self.body()?;
                let (role, content) = body.told(self.fields.message?)?;
                (role, content, time(body.timestamp))
            }
            "compaction" | "branch_summary" => (Role::System, vec![self.text_or_all(self.fields.summary)], None),
            "custom_message" => (Role::System, self.fields.content.map(blocks).unwrap_or_default(), None),
            "reset" => (Role::System, vec![other("reset", self.raw)], None),
            _ => return None,
        };
        Some(Message {
            id: self.id().map(String::from),
            role,
            timestamp_ms: timestamp_ms.or_else(|| self.time()),
            model: self.spoken().and_then(|spoken| spoken.model).map(String::from),
            parent_id: self.parent().map(String::from),
            content,
            raw: None,
        })
    }

    fn body(&self) -> Option<Body<'a>> {
        if !self.is("message") {
            return None;
        }
        serde_json::from_str(self.fields.message?.get()).ok()
    }

    fn text_or_all(&self, raw: Option<&RawValue>) -> Block {
        match member(raw) {
            Some(text) => Block::Text { text: text.into_owned() },
            None => other(&member(self.fields.kind).unwrap_or_default(), self.raw),
        }
    }
}

impl Body<'_> {
    fn told(&self, raw: &RawValue) -> Option<(Role, Vec<Block>)> {
        let role = member(self.role)?;
        let content = || self.content.map(blocks).unwrap_or_default();
        Some(match &*role {
            "user" => (Role::User, content()),
            "assistant" => (Role::Assistant, content()),
            "toolResult" => (Role::Tool, vec![self.result(content()).unwrap_or_else(|| other(&role, raw))]),
            _ => match (self.content, member(self.summary)) {
                (Some(content), _) => (Role::System, blocks(content)),
                (None, Some(text)) => (Role::System, vec![Block::Text { text: text.into_owned() }]),
                (None, None) => (Role::System, vec![other(&role, raw)]),
            },
        })
    }

    fn result(&self, content: Vec<Block>) -> Option<Block> {
        Some(Block::ToolResult {
            id: member(self.call)?.into_owned(),
            name: member(self.tool).map(String::from),
            is_error: self.is_error.and_then(|raw| raw.get().parse().ok()),
            content,
        })
    }
}

/// What a person or a model wrote.
pub(super) struct Spoken<'a> {
    pub role: Role,
    pub model: Option<Cow<'a, str>>,
    pub timestamp_ms: Option<i64>,
    content: Option<&'a RawValue>,
}

impl Spoken<'_> {
    /// Its text, without what is no text.
    pub(super) fn text(&self) -> Option<String> {
        let texts: Vec<String> = blocks(self.content?)
            .into_iter()
            .filter_map(|block| match block {
                Block::Text { text } if !text.trim().is_empty() => Some(text),
                _ => None,
            })
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}

/// A time in epoch milliseconds or in RFC 3339.
fn time(raw: Option<&RawValue>) -> Option<i64> {
    let raw = raw?;
    raw.get().parse().ok().or_else(|| text::time(&text::string(raw)?))
}

/// The blocks of a message: its text, or a list of them.
fn blocks(raw: &RawValue) -> Vec<Block> {
    if let Some(text) = text::string(raw) {
        return if text.is_empty() { Vec::new() } else { vec![Block::Text { text: text.into_owned() }] };
    }
    match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        Ok(list) => list.into_iter().map(block).collect(),
        Err(_) => vec![other("content", raw)],
    }
}

fn block(raw: &RawValue) -> Block {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Fields<'a> {
        #[serde(rename = "type")]
        kind: Option<&'a RawValue>,
        text: Option<&'a RawValue>,
        thinking: Option<&'a RawValue>,
        id: Option<&'a RawValue>,
        name: Option<&'a RawValue>,
        arguments: Option<&'a RawValue>,
        data: Option<&'a RawValue>,
        #[serde(rename = "mimeType")]
        media_type: Option<&'a RawValue>,
    }
    let Ok(fields) = serde_json::from_str::<Fields<'_>>(raw.get()) else { return other("unknown", raw) };
    let owned = |raw| member(raw).map(String::from);
    let kind = member(fields.kind).unwrap_or_default();
    match &*kind {
        "text" => owned(fields.text).map(|text| Block::Text { text }),
        "thinking" => owned(fields.thinking).map(|text| Block::Thinking { text }),
        "toolCall" => owned(fields.id).zip(owned(fields.name)).map(|(id, name)| {
            let arguments = fields.arguments.map(text::raw_value).unwrap_or_default();
            Block::ToolCall { id, name, arguments }
        }),
        "image" => Some(Block::Image {
            media_type: owned(fields.media_type),
            bytes: member(fields.data).map(|data| text::base64_bytes(&data)),
            uri: None,
        }),
        _ => None,
    }
    .unwrap_or_else(|| other(&kind, raw))
}

/// What is not understood, as it is.
fn other(kind: &str, raw: &RawValue) -> Block {
    Block::Other { kind: kind.to_owned(), raw: text::raw_value(raw) }
}
