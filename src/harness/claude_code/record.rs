//! A line of a transcript.

use super::tags;
use crate::harness::text::{self, member};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A record, as far as it matters here. Every member may be of any kind.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Record<'a> {
    #[serde(rename = "type")]
    pub kind: Option<&'a RawValue>,
    pub timestamp: Option<&'a RawValue>,
    pub cwd: Option<&'a RawValue>,
    pub uuid: Option<&'a RawValue>,
    #[serde(rename = "parentUuid")]
    pub parent: Option<&'a RawValue>,
    #[serde(rename = "logicalParentUuid")]
    pub logical_parent: Option<&'a RawValue>,
    #[serde(rename = "isSidechain")]
    pub is_sidechain: Option<&'a RawValue>,
    pub content: Option<&'a RawValue>,
    pub attachment: Option<&'a RawValue>,
    #[serde(rename = "sessionId")]
    pub session_id: Option<&'a RawValue>,
    #[serde(rename = "isMeta")]
    pub is_meta: Option<&'a RawValue>,
    #[serde(rename = "isCompactSummary")]
    pub is_compact_summary: Option<&'a RawValue>,
    #[serde(rename = "turnOrigin")]
    pub turn_origin: Option<&'a RawValue>,
    pub origin: Option<&'a RawValue>,
    pub message: Option<&'a RawValue>,
    #[serde(rename = "customTitle")]
    pub custom_title: Option<&'a RawValue>,
    #[serde(rename = "aiTitle")]
    pub ai_title: Option<&'a RawValue>,
    pub summary: Option<&'a RawValue>,
    #[serde(rename = "continuedInSessionId")]
    pub continued_in: Option<&'a RawValue>,
    #[serde(rename = "relocatedCwd")]
    pub relocated_cwd: Option<&'a RawValue>,
    #[serde(rename = "worktreeSession")]
    pub worktree: Option<&'a RawValue>,
    #[serde(rename = "forkedFrom")]
    pub forked_from: Option<&'a RawValue>,
    #[serde(rename = "teamName")]
    pub team: Option<&'a RawValue>,
    #[serde(rename = "agentName")]
    pub agent: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct MessageBody<'a> {
    pub id: Option<&'a RawValue>,
    pub model: Option<&'a RawValue>,
    pub stop_reason: Option<&'a RawValue>,
    pub content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Block<'a> {
    #[serde(rename = "type")]
    pub kind: Option<&'a RawValue>,
    pub text: Option<&'a RawValue>,
}

impl<'a> Record<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        serde_json::from_str(std::str::from_utf8(line).ok()?).ok()
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        member(self.kind).is_some_and(|own| own == kind)
    }

    pub(super) fn is_message(&self) -> bool {
        self.message.is_some() && (self.is("user") || self.is("assistant"))
    }

    pub(super) fn time(&self) -> Option<i64> {
        member(self.timestamp).and_then(|time| text::time(&time))
    }

    pub(super) fn body(&self) -> Option<MessageBody<'a>> {
        serde_json::from_str(self.message?.get()).ok()
    }

    /// The text that a person wrote; `None` for tool results and for what the program put there itself.
    pub(super) fn prompt(&self) -> Option<String> {
        if self.is_marked_injected() || !self.is("user") {
            return None;
        }
        written_text(self.body()?.content?)
    }

    /// What another agent asked for in this row.
    pub(super) fn relayed(&self) -> Option<String> {
        if !self.is("user") {
            return None;
        }
        let texts = texts(self.body()?.content?);
        texts.iter().find_map(|text| tags::relayed(text)).map(Cow::into_owned)
    }

    /// Whether the lead of a team wrote a row.
    pub(super) fn is_from_lead(&self) -> bool {
        let texts = self.body().and_then(|body| body.content).map(texts).unwrap_or_default();
        texts.iter().any(|text| text.contains("<teammate-message teammate_id=\"team-lead\""))
    }

    /// Whether the program says of a row that it put it there itself.
    pub(super) fn is_marked_injected(&self) -> bool {
        #[derive(Deserialize)]
        struct Origin<'a> {
            #[serde(borrow)]
            kind: Option<&'a RawValue>,
        }
        let origin = || serde_json::from_str::<Origin<'_>>(self.origin?.get()).ok()?.kind.and_then(text::string);
        text::is_true(self.is_meta)
            || text::is_true(self.is_compact_summary)
            || member(self.turn_origin).is_some_and(|origin| !["human", "sdk", "unknown"].contains(&&*origin))
            || origin().is_some_and(|kind| kind != "human")
    }

    /// The session that a row was copied from by `/branch`.
    pub(super) fn forked_from(&self) -> Option<Box<str>> {
        #[derive(Deserialize)]
        struct Forked<'a> {
            #[serde(borrow, rename = "sessionId")]
            session_id: &'a RawValue,
        }
        let forked: Forked<'_> = serde_json::from_str(self.forked_from?.get()).ok()?;
        text::string(forked.session_id).map(|id| id.as_ref().into())
    }

    /// The model that answered; the program's own notices name none.
    pub(super) fn model(&self) -> Option<Cow<'a, str>> {
        if !self.is("assistant") {
            return None;
        }
        member(self.body()?.model).filter(|model| model != "<synthetic>" && !model.is_empty())
    }
}

/// The text of a message: its own, or that of its text blocks.
pub(super) fn content_text(content: &RawValue) -> Option<String> {
    joined(texts(content).into_iter())
}

/// What a person wrote of a message's text.
pub(super) fn written_text(content: &RawValue) -> Option<String> {
    let texts = texts(content);
    joined(texts.iter().map(|text| tags::written(text)).filter(|text| !text.is_empty()))
}

fn joined(texts: impl Iterator<Item = impl AsRef<str>>) -> Option<String> {
    let mut all: Option<String> = None;
    for text in texts {
        match &mut all {
            Some(all) => *all = format!("{all}\n{}", text.as_ref()),
            None => all = Some(text.as_ref().to_owned()),
        }
    }
    all
}

fn texts(content: &RawValue) -> Vec<Cow<'_, str>> {
    if let Some(text) = text::string(content) {
        return vec![text];
    }
    let blocks: Vec<Block<'_>> = serde_json::from_str(content.get()).unwrap_or_default();
    let texts = blocks.iter().filter(|block| member(block.kind).is_some_and(|kind| kind == "text"));
    texts.filter_map(|block| member(block.text)).collect()
}

/// The slash command that a user row holds: what a session is called that has nothing else.
pub(super) fn command(record: &Record<'_>) -> Option<Box<str>> {
    let body = record.body()?;
    let content = text::string(body.content?)?;
    let tag = |name: &str| {
        let rest = content.split_once(&format!("<{name}>"))?.1;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim().to_owned())
    };
    let name = tag("command-name").filter(|name| !name.is_empty())?;
    text::title(&format!("{name} {}", tag("command-args").unwrap_or_default()))
}
