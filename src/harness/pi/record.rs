//! A line of a session: its header, or an entry of its tree.

use crate::harness::text::{self, member};
use crate::protocol::Role;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A line, as far as it matters here. Every member may be of any kind.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Record<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    pub id: Option<&'a RawValue>,
    #[serde(rename = "parentId")]
    pub parent_id: Option<&'a RawValue>,
    timestamp: Option<&'a RawValue>,
    version: Option<&'a RawValue>,
    pub cwd: Option<&'a RawValue>,
    #[serde(rename = "parentSession")]
    pub parent_session: Option<&'a RawValue>,
    pub name: Option<&'a RawValue>,
    #[serde(rename = "modelId")]
    pub model_id: Option<&'a RawValue>,
    pub summary: Option<&'a RawValue>,
    pub content: Option<&'a RawValue>,
    pub message: Option<&'a RawValue>,
}

/// What a person or a model said.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Spoken<'a> {
    role: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    timestamp: Option<&'a RawValue>,
    pub model: Option<&'a RawValue>,
}

impl<'a> Record<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        serde_json::from_str(std::str::from_utf8(line).ok()?).ok()
    }

    pub(super) fn kind(&self) -> Cow<'a, str> {
        member(self.kind).unwrap_or_default()
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind() == kind
    }

    pub(super) fn time(&self) -> Option<i64> {
        member(self.timestamp).and_then(|time| text::time(&time))
    }

    /// Whether this is the header of a session from before entries had ids: each follows the one before it.
    pub(super) fn begins_a_list(&self) -> bool {
        self.is("session") && self.version.is_none_or(|version| version.get() == "1")
    }

    /// What a person or a model said, by which of them.
    pub(super) fn spoken(&self) -> Option<(Role, Spoken<'a>)> {
        let spoken: Spoken<'a> =
            self.message.filter(|_| self.is("message")).and_then(|raw| serde_json::from_str(raw.get()).ok())?;
        match member(spoken.role)?.as_ref() {
            "user" => Some((Role::User, spoken)),
            "assistant" => Some((Role::Assistant, spoken)),
            _ => None,
        }
    }
}

impl<'a> Spoken<'a> {
    /// The text, of its own or of text blocks.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        #[derive(Deserialize)]
        #[serde(bound(deserialize = "'de: 'a"))]
        struct Block<'a> {
            #[serde(rename = "type")]
            kind: Option<&'a RawValue>,
            text: Option<&'a RawValue>,
        }
        let content = self.content?;
        if let Some(text) = text::string(content) {
            return Some(text);
        }
        let blocks: Vec<&RawValue> = serde_json::from_str(content.get()).ok()?;
        let blocks = blocks.iter().filter_map(|raw| serde_json::from_str::<Block<'_>>(raw.get()).ok());
        let texts = blocks.filter(|block| member(block.kind).is_some_and(|kind| kind == "text"));
        let texts: Vec<_> = texts.filter_map(|block| member(block.text)).collect();
        (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n")))
    }

    pub(super) fn time(&self) -> Option<i64> {
        self.timestamp?.get().parse().ok()
    }
}
