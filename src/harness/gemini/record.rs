//! A record of a chat: its header, a change of it, or a message. All of their members in one, as a log mixes them.

use super::replay;
use crate::harness::text::{self, member};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The elements in which the program puts what no person wrote into a prompt: the session's context and that of files,
/// extensions and editors, what hooks add (`<hook_context>`), the summary of what was compressed.
fn is_injected(element: &str) -> bool {
    element.ends_with("_context") || matches!(element, "state_snapshot" | "system-reminder" | "activated_skill")
}

/// What stands before and behind the files that a prompt refers to, in parts of their own.
const FILES: [&str; 2] = ["--- Content from referenced files ---", "--- End of content ---"];

/// A record, as far as it matters here. Every member may be of any kind.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Record<'a> {
    #[serde(rename = "sessionId")]
    pub session_id: Option<&'a RawValue>,
    #[serde(rename = "projectHash")]
    pub project_hash: Option<&'a RawValue>,
    #[serde(rename = "startTime")]
    pub start_time: Option<&'a RawValue>,
    #[serde(rename = "lastUpdated")]
    pub last_updated: Option<&'a RawValue>,
    pub summary: Option<&'a RawValue>,
    pub messages: Option<&'a RawValue>,
    #[serde(rename = "$set")]
    pub set: Option<&'a RawValue>,
    #[serde(rename = "$rewindTo")]
    pub rewind_to: Option<&'a RawValue>,
    pub id: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    timestamp: Option<&'a RawValue>,
    pub content: Option<&'a RawValue>,
    #[serde(rename = "displayContent")]
    display: Option<&'a RawValue>,
    model: Option<&'a RawValue>,
    pub thoughts: Option<&'a RawValue>,
    #[serde(rename = "toolCalls")]
    pub tool_calls: Option<&'a RawValue>,
}

/// What a record does to a chat.
pub(super) enum Change<'a> {
    /// Drops a message and all after it.
    Rewind(u64),
    /// Changes members of the header, and perhaps all messages.
    Set(Box<Record<'a>>),
    /// Adds a message, or puts it in the place of the one that has its id.
    Put(u64, Kind),
    /// Begins a chat, or goes on with it.
    Header,
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What a person wrote.
    Prompt,
    /// What the model answered.
    Answer,
    /// Tools' results, sent to the model in the user's place.
    Results,
    /// Context, notices and errors of the program.
    Notice,
}

impl<'a> Record<'a> {
    pub(super) fn parse(json: &'a [u8]) -> Option<Self> {
        serde_json::from_str(std::str::from_utf8(json).ok()?).ok()
    }

    pub(super) fn of(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    /// What it does to the chat.
    pub(super) fn change(&self) -> Change<'a> {
        if let Some(id) = member(self.rewind_to) {
            return Change::Rewind(replay::key(&id));
        }
        if let Some(set) = self.set.and_then(Self::of) {
            return Change::Set(Box::new(set));
        }
        match (self.key(), self.kind()) {
            (Some(key), Some(kind)) => Change::Put(key, kind),
            _ => Change::Header,
        }
    }

    /// What stands for its id where messages are replayed.
    pub(super) fn key(&self) -> Option<u64> {
        member(self.id).map(|id| replay::key(&id))
    }

    /// What kind of message it is; `None` where it is none.
    pub(super) fn kind(&self) -> Option<Kind> {
        Some(match member(self.kind)?.as_ref() {
            "gemini" => Kind::Answer,
            "user" => self.user_kind(),
            _ => Kind::Notice,
        })
    }

    fn user_kind(&self) -> Kind {
        let parts = self.content.map(parts).unwrap_or_default();
        let result = |part: &Part<'_>| part.result.is_some();
        let texts: Vec<_> = parts.iter().filter_map(|part| member(part.text)).collect();
        let is_context = |text: &Cow<'_, str>| text::without_elements(text, is_injected).is_empty();
        let says_nothing = !texts.is_empty() && texts.len() == parts.len() && texts.iter().all(is_context);
        // The session's context may stand before more of the same kind.
        if says_nothing || texts.first().is_some_and(|text| text.trim_start().starts_with("<session_context>")) {
            Kind::Notice
        } else if !parts.is_empty() && parts.iter().all(result) {
            Kind::Results
        } else {
            Kind::Prompt
        }
    }

    /// The text that a person wrote: as it was typed, where the program kept that too.
    pub(super) fn prompt(&self) -> Option<String> {
        let text = || self.display.and_then(content_text).or_else(|| content_text(self.content?));
        (self.kind() == Some(Kind::Prompt)).then(text).flatten()
    }

    /// The text of a prompt or an answer.
    pub(super) fn spoken(&self) -> Option<String> {
        match self.kind()? {
            Kind::Prompt => self.prompt(),
            Kind::Answer => content_text(self.content?),
            Kind::Results | Kind::Notice => None,
        }
    }

    pub(super) fn time(&self) -> Option<i64> {
        time(self.timestamp)
    }

    /// The model that answered.
    pub(super) fn model(&self) -> Option<Cow<'a, str>> {
        member(self.model).filter(|model| !model.is_empty())
    }
}

pub(super) fn time(raw: Option<&RawValue>) -> Option<i64> {
    member(raw).and_then(|time| text::time(&time))
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Part<'a> {
    text: Option<&'a RawValue>,
    thought: Option<&'a RawValue>,
    #[serde(rename = "functionResponse")]
    result: Option<&'a RawValue>,
}

/// The parts of a content: a text, a part, or a list of either.
fn parts(content: &RawValue) -> Vec<Part<'_>> {
    fn part(raw: &RawValue) -> Option<Part<'_>> {
        if raw.get().starts_with('"') {
            return Some(Part { text: Some(raw), thought: None, result: None });
        }
        serde_json::from_str(raw.get()).ok()
    }
    match serde_json::from_str::<Vec<&RawValue>>(content.get()) {
        Ok(parts) => parts.into_iter().filter_map(part).collect(),
        Err(_) => part(content).into_iter().collect(),
    }
}

/// The text of a content, without what the model only thought, and what the program put beside a prompt.
fn content_text(content: &RawValue) -> Option<String> {
    let parts = parts(content);
    let said = parts.iter().filter(|part| !text::is_true(part.thought));
    let mut in_files = false;
    let mut texts = Vec::new();
    for part in said.filter_map(|part| member(part.text)) {
        let text = text::without_elements(&part, is_injected);
        in_files |= text == FILES[0];
        if !in_files && !text.is_empty() {
            texts.push(text.to_owned());
        }
        in_files &= text != FILES[1];
    }
    (!texts.is_empty()).then(|| texts.join("\n"))
}
