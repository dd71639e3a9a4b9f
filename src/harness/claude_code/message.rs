//! A row of a transcript in the one normal form.

use super::record::{Record, written_text};
use super::tags::is_injected;
use crate::harness::text::{self, member};
use crate::protocol::{Block, Message, Role};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// What a row is to those around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A part of an answer of the model. The parts of one answer share an id.
    Answer(Option<Box<str>>),
    /// What tools answered.
    Results,
    /// Anything that stands alone.
    Alone,
}

/// The message that a row is; `None` for a row that the program does not show.
pub(super) fn of(record: &Record<'_>) -> Option<(Kind, Message)> {
    let (kind, role, content) = if record.is("assistant") {
        let body = record.body()?;
        let id = member(body.id).map(|id| id.as_ref().into());
        (Kind::Answer(id), Role::Assistant, blocks(body.content))
    } else if record.is("user") {
        let content = Some(blocks(record.body()?.content)).filter(|content| !content.is_empty())?;
        let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
        let role = if content.iter().any(is_result) { Role::Tool } else { author(record, &content) };
        (if role == Role::Tool { Kind::Results } else { Kind::Alone }, role, content)
    } else if record.is("system") {
        let text = member(record.content).filter(|text| !text.trim().is_empty())?;
        (Kind::Alone, Role::System, vec![Block::Text { text: text.into_owned() }])
    } else {
        let content = queued(record.attachment?)?;
        (Kind::Alone, author(record, &content), content)
    };
    let message = Message {
        id: member(record.uuid).map(|id| id.into_owned()),
        role,
        timestamp_ms: record.time(),
        model: record.model().map(|model| model.into_owned()),
        parent_id: None,
        content,
        raw: None,
    };
    Some((kind, message))
}

/// Whether a person wrote a row, or the program in a person's name. Commands are typed, what they print is not.
fn author(record: &Record<'_>, content: &[Block]) -> Role {
    const TYPED: &[&str] = &["<command-name>", "<command-message>", "<bash-input>"];
    let typed = |text: &str| TYPED.iter().any(|opening| text.trim_start().starts_with(opening));
    let by_program = |block: &Block| matches!(block, Block::Text { text } if is_injected(text) && !typed(text));
    if record.is_marked_injected() || (!content.is_empty() && content.iter().all(by_program)) {
        Role::System
    } else {
        Role::User
    }
}

/// What a person wrote in a row: a prompt, or one that was typed while the model was at work.
pub(super) fn prompt(record: &Record<'_>) -> Option<String> {
    let queued = || queued_content(record.attachment?).and_then(written_text).filter(|_| !record.is_marked_injected());
    record.prompt().or_else(queued)
}

/// What a person typed while the model was at work: it is kept beside the rows, and shown among them.
fn queued(attachment: &RawValue) -> Option<Vec<Block>> {
    let content = blocks(Some(queued_content(attachment)?));
    (!content.is_empty()).then_some(content)
}

fn queued_content(attachment: &RawValue) -> Option<&RawValue> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Queued<'a> {
        #[serde(rename = "type")]
        kind: &'a RawValue,
        #[serde(default)]
        prompt: Option<&'a RawValue>,
        #[serde(default, rename = "commandMode")]
        mode: Option<&'a RawValue>,
    }
    let queued: Queued<'_> = serde_json::from_str(attachment.get()).ok()?;
    let is_typed =
        text::string(queued.kind)? == "queued_command" && member(queued.mode).is_none_or(|mode| mode == "prompt");
    queued.prompt.filter(|_| is_typed)
}

/// The blocks of a content, which may be a text alone.
fn blocks(content: Option<&RawValue>) -> Vec<Block> {
    let Some(content) = content else { return Vec::new() };
    if let Some(text) = text::string(content) {
        return vec![Block::Text { text: text.into_owned() }];
    }
    match serde_json::from_str::<Vec<&RawValue>>(content.get()) {
        Ok(blocks) => blocks.into_iter().map(block).collect(),
        Err(_) => vec![other("content", content)],
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Parts<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    text: Option<&'a RawValue>,
    thinking: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
    input: Option<&'a RawValue>,
    tool_use_id: Option<&'a RawValue>,
    is_error: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    source: Option<&'a RawValue>,
}

fn block(raw: &RawValue) -> Block {
    let parts: Parts<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    let kind = member(parts.kind).unwrap_or_default();
    let text = |raw| member(raw).map(|text| text.into_owned());
    let known = match &*kind {
        "text" => text(parts.text).map(|text| Block::Text { text }),
        "thinking" => text(parts.thinking).map(|text| Block::Thinking { text }),
        "redacted_thinking" => Some(Block::Thinking { text: String::new() }),
        "image" => parts.source.and_then(image),
        kind if kind.ends_with("tool_use") => text(parts.name).map(|name| Block::ToolCall {
            id: text(parts.id).unwrap_or_default(),
            name,
            arguments: parts.input.map_or(Value::Null, text::raw_value),
        }),
        kind if kind.ends_with("tool_result") => text(parts.tool_use_id).map(|id| Block::ToolResult {
            id,
            name: None,
            is_error: parts.is_error.and_then(|flag| serde_json::from_str(flag.get()).ok()),
            content: blocks(parts.content),
        }),
        _ => None,
    };
    known.unwrap_or_else(|| other(if kind.is_empty() { "block" } else { &kind }, raw))
}

/// What is not understood, but for the bytes of a file in it, which do not travel.
fn other(kind: &str, raw: &RawValue) -> Block {
    let mut raw = text::raw_value(raw);
    if let Some(data) = raw.pointer_mut("/source/data") {
        let bytes = data.as_str().map(text::base64_bytes);
        *data = serde_json::json!({ "bytes": bytes });
    }
    Block::Other { kind: kind.to_owned(), raw }
}

fn image(source: &RawValue) -> Option<Block> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Source<'a> {
        #[serde(default)]
        media_type: Option<&'a RawValue>,
        #[serde(default)]
        data: Option<&'a RawValue>,
        #[serde(default)]
        url: Option<&'a RawValue>,
    }
    let source: Source<'_> = serde_json::from_str(source.get()).ok()?;
    let uri = member(source.url).map(|url| url.into_owned());
    let bytes = member(source.data).map(|data| text::base64_bytes(&data));
    let media_type = member(source.media_type).map(|media_type| media_type.into_owned());
    (uri.is_some() || bytes.is_some()).then_some(Block::Image { media_type, bytes, uri })
}
