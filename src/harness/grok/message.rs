//! What both logs tell, in one form.

use crate::harness::text;
use crate::protocol::{Block, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A message, or a piece of one.
pub(super) struct Part {
    pub role: Role,
    pub timestamp_ms: Option<i64>,
    /// The model that wrote it; of a prompt the one that it was for.
    pub model: Option<String>,
    /// Neighbours with the same mark are one message.
    pub mark: Option<String>,
    pub content: Vec<Block>,
}

impl Part {
    /// Whether a person or a model wrote it.
    pub(super) fn is_spoken(&self) -> bool {
        matches!(self.role, Role::User | Role::Assistant)
    }

    /// Whether it is the same message as its neighbour.
    pub(super) fn belongs_to(&self, neighbour: Option<&str>) -> bool {
        self.mark.is_some() && self.mark.as_deref() == neighbour
    }

    /// Whether it is a piece of what a model says or thinks, which may come in many.
    pub(super) fn is_piece(&self) -> bool {
        let spoken = |block: &Block| matches!(block, Block::Text { .. } | Block::Thinking { .. });
        self.mark.is_some() && self.role == Role::Assistant && self.content.iter().all(spoken)
    }

    /// The text that a person wrote.
    pub(super) fn prompt(&self) -> Option<String> {
        if self.role == Role::User { text_of(&self.content) } else { None }
    }
}

/// The text of a message.
pub(super) fn text_of(content: &[Block]) -> Option<String> {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|block| match block {
            Block::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The blocks of a message: its text, one block, or a list of them.
pub(super) fn blocks(raw: &RawValue) -> Vec<Block> {
    if let Some(text) = text::string(raw) {
        return if text.is_empty() { Vec::new() } else { vec![Block::Text { text: text.into_owned() }] };
    }
    match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        Ok(list) => list.into_iter().map(block).collect(),
        Err(_) => vec![block(raw)],
    }
}

fn block(raw: &RawValue) -> Block {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Fields<'a> {
        #[serde(rename = "type")]
        kind: Option<&'a RawValue>,
        text: Option<&'a RawValue>,
        content: Option<&'a RawValue>,
        #[serde(rename = "mimeType")]
        media_type: Option<&'a RawValue>,
        data: Option<&'a RawValue>,
        uri: Option<&'a RawValue>,
    }
    let Ok(fields) = serde_json::from_str::<Fields<'_>>(raw.get()) else { return other("unknown", raw) };
    let kind = text::member(fields.kind).unwrap_or_default();
    let text = || text::member(fields.text).map(|text| text.into_owned());
    match &*kind {
        "text" => text().map(|text| Block::Text { text }),
        // What a tool answered wraps its blocks once more.
        "content" => fields.content.map(block),
        "image" => Some(Block::Image {
            media_type: text::member(fields.media_type).map(|kind| kind.into_owned()),
            bytes: text::member(fields.data).map(|data| text::base64_bytes(&data)),
            uri: text::member(fields.uri).map(|uri| uri.into_owned()),
        }),
        _ => None,
    }
    .unwrap_or_else(|| other(&kind, raw))
}

/// What is not understood, as it is.
pub(super) fn other(kind: &str, raw: &RawValue) -> Block {
    Block::Other { kind: kind.to_owned(), raw: text::raw_value(raw) }
}
