//! A row of a transcript: where it hangs in the tree, and what it says.

use super::message::{self, Kind};
use super::record::Record;
use crate::harness::backward::{Line, Text, parse_long};
use crate::harness::pages::long_block;
use crate::harness::text::{self, member};
use crate::protocol::{Block, Message, Role};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A longer text is the name of no row.
const NAME_BYTES: usize = 128;

/// Where a row's branch goes on upwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// With the row of this name.
    To(Box<str>),
    /// Nowhere: here it begins.
    Root,
    /// The row does not tell.
    Untold,
}

/// A row, as far as it was read.
pub(super) enum Row<'a> {
    /// One that can be held.
    Whole(Box<Record<'a>>),
    /// One that is too long, and its length in bytes.
    Long(Long, u64),
}

/// What is read of a row that is too long to be held.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Long {
    #[serde(rename = "type")]
    kind: Option<String>,
    uuid: Option<String>,
    parent_uuid: Option<String>,
    logical_parent_uuid: Option<String>,
    is_sidechain: bool,
    is_meta: bool,
    timestamp: Option<String>,
    #[serde(rename = "sourceToolAssistantUUID")]
    source_tool: Option<IgnoredAny>,
    message: LongBody,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LongBody {
    id: Option<String>,
}

impl<'a> Row<'a> {
    /// The row of a line; `None` where it holds none that matters here.
    pub(super) fn read(source: &impl Text, line: &Line<'_>, text: &'a str) -> Option<Self> {
        if line.text.is_none() {
            return Some(Self::Long(parse_long(source, line).unwrap_or_default(), line.length));
        }
        // Most of a transcript's bytes are records that are no rows.
        let holds = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        let row = holds("\"uuid\"") || holds("\"message\"");
        row.then(|| Record::parse(text.as_bytes())).flatten().map(|record| Self::Whole(Box::new(record)))
    }

    /// Its own name in the tree.
    pub(super) fn uuid(&self) -> Option<Box<str>> {
        match self {
            Self::Whole(record) => name(record.uuid),
            Self::Long(long, _) => short(long.uuid.as_deref()?),
        }
    }

    /// When it was written, as it says.
    pub(super) fn timestamp(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Whole(record) => member(record.timestamp),
            Self::Long(long, _) => long.timestamp.as_deref().map(Cow::Borrowed),
        }
    }

    /// The row that it hangs on.
    pub(super) fn parent(&self) -> Option<Box<str>> {
        match self {
            Self::Whole(record) => name(record.parent),
            Self::Long(long, _) => short(long.parent_uuid.as_deref()?),
        }
    }

    /// The row that a compaction cut it off from.
    fn logical_parent(&self) -> Option<Box<str>> {
        match self {
            Self::Whole(record) => name(record.logical_parent),
            Self::Long(long, _) => short(long.logical_parent_uuid.as_deref()?),
        }
    }

    /// Whether a compaction lies between it and what came before.
    pub(super) fn is_boundary(&self) -> bool {
        self.parent().is_none() && self.logical_parent().is_some()
    }

    /// Where the branch goes on upwards: across a compaction, which begins a tree of its own, too.
    pub(super) fn link(&self, text: &str) -> Link {
        match self.parent().or_else(|| self.logical_parent()) {
            Some(name) => Link::To(name),
            // In a text within the row its quotes would be escaped.
            None if matches!(self, Self::Long(..)) || text.contains("\"parentUuid\"") => Link::Root,
            None => Link::Untold,
        }
    }

    /// Whether it belongs to a subagent's conversation.
    pub(super) fn is_sidechain(&self) -> bool {
        match self {
            Self::Whole(record) => text::is_true(record.is_sidechain),
            Self::Long(long, _) => long.is_sidechain,
        }
    }

    /// What it is to those around it, without reading all of it: an answer, results, or nothing of these.
    pub(super) fn part(&self, text: &str) -> Option<Kind> {
        match self {
            Self::Whole(record) if record.is("assistant") => {
                Some(Kind::Answer(member(record.body()?.id).map(|id| id.as_ref().into())))
            }
            Self::Whole(record) => (record.is("user") && text.contains("\"tool_result\"")).then_some(Kind::Results),
            Self::Long(long, _) => long.message(0).map(|(kind, _)| kind).filter(|kind| *kind != Kind::Alone),
        }
    }

    /// Whether it is a part of an answer that more parts follow: a thought, or a text before the call of a tool.
    pub(super) fn goes_on(&self, message: &Message) -> bool {
        if message.role != Role::Assistant {
            return false;
        }
        let calls = || match self {
            Self::Whole(record) => {
                record.body().and_then(|body| member(body.stop_reason)).is_some_and(|reason| reason == "tool_use")
            }
            Self::Long(..) => false,
        };
        match message.content.last() {
            Some(Block::Thinking { .. }) => true,
            Some(Block::Text { .. }) => calls(),
            _ => false,
        }
    }

    /// The message that it is.
    pub(super) fn message(&self) -> Option<(Kind, Message)> {
        match self {
            Self::Whole(record) => message::of(record),
            Self::Long(long, bytes) => long.message(*bytes),
        }
    }
}

impl Long {
    fn message(&self, bytes: u64) -> Option<(Kind, Message)> {
        let word = self.kind.as_deref().unwrap_or("record");
        let (kind, role) = match word {
            "assistant" => (Kind::Answer(self.message.id.as_deref().map(Box::from)), Role::Assistant),
            "user" if self.source_tool.is_some() => (Kind::Results, Role::Tool),
            "user" => (Kind::Alone, if self.is_meta { Role::System } else { Role::User }),
            "system" | "record" => (Kind::Alone, Role::System),
            _ => return None,
        };
        let message = Message {
            id: self.uuid.clone(),
            role,
            timestamp_ms: self.timestamp.as_deref().and_then(text::time),
            model: None,
            parent_id: None,
            content: vec![long_block(word, bytes)],
            raw: None,
        };
        Some((kind, message))
    }
}

fn name(raw: Option<&RawValue>) -> Option<Box<str>> {
    short(&member(raw)?)
}

fn short(name: &str) -> Option<Box<str>> {
    (!name.is_empty() && name.len() <= NAME_BYTES).then(|| name.into())
}

/// The text of a line, which may be no UTF-8.
pub(super) fn text_of<'a>(line: &Line<'a>) -> Cow<'a, str> {
    String::from_utf8_lossy(line.text.unwrap_or_default())
}
