//! What a list needs of a session: its summary, and the two ends of its log.

use super::message::text_of;
use super::summary::Summary;
use super::{LOGS, Log};
use crate::harness::jsonl::HeadTail;
use crate::harness::{ReadError, Session, Source, beginning, text};
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// What the ends of a log tell.
#[derive(Default)]
struct Facts {
    records: bool,
    messages: bool,
    /// Whether all of it was seen.
    whole: bool,
    prompt: Option<Box<str>>,
    beginning: Option<u64>,
    created_at_ms: Option<i64>,
    updated_at_ms: Option<i64>,
    model: Option<Box<str>>,
}

/// Reads a session; of its logs the first that holds a message counts.
pub(super) fn read(source: &Source, directory: &Path, ends: &mut HeadTail) -> Result<Session, ReadError> {
    let mut facts = Err(ReadError::Vanished);
    for log in &LOGS {
        let gathered = Facts::gather(directory, log, ends);
        let found = gathered.as_ref().is_ok_and(|facts| facts.messages || !facts.whole);
        if found || !matches!(gathered, Err(ReadError::Vanished)) {
            facts = gathered;
        }
        if found {
            break;
        }
    }
    let facts = facts?;
    if !facts.records {
        return Err(ReadError::NoRecords);
    }
    if !facts.messages && facts.whole {
        return Err(ReadError::NoMessages);
    }
    let summary = Summary::read(directory);
    let mut session =
        Session::new(directory.file_name().and_then(|name| name.to_str()).ok_or(ReadError::Name)?, source);
    session.title = summary.title().or(facts.prompt);
    session.beginning = facts.beginning;
    session.workspace = summary.workspace(directory);
    session.model = facts.model.or_else(|| summary.model());
    session.created_at_ms = summary.created_at_ms().or(facts.created_at_ms);
    session.updated_at_ms = facts.updated_at_ms.or_else(|| summary.active_at_ms()).or(session.updated_at_ms);
    session.parent = summary.parent();
    Ok(session)
}

impl Facts {
    fn gather(directory: &Path, log: &Log, ends: &mut HeadTail) -> Result<Self, ReadError> {
        let file = ends.open(&directory.join(log.name))?;
        let mut facts = Self::default();
        facts.take_head(&file, log, ends)?;
        facts.take_tail(&file, log, ends)?;
        facts.whole = ends.whole();
        facts.records = facts.messages || ends.head().any(is_record);
        Ok(facts)
    }

    fn take_head(&mut self, file: &File, log: &Log, ends: &mut HeadTail) -> Result<(), ReadError> {
        loop {
            for part in ends.head().filter_map(log.parse) {
                if part.is_spoken() {
                    self.messages = true;
                    self.beginning.get_or_insert_with(|| beginning((text_of(&part.content), part.timestamp_ms)));
                }
                self.created_at_ms = self.created_at_ms.or(part.timestamp_ms);
                self.prompt = part.prompt().and_then(|prompt| text::title(&prompt));
                if self.prompt.is_some() {
                    return Ok(());
                }
            }
            if !ends.grow_head(file)? {
                return Ok(());
            }
        }
    }

    fn take_tail(&mut self, file: &File, log: &Log, ends: &mut HeadTail) -> Result<(), ReadError> {
        loop {
            let mut spoken = false;
            for part in ends.tail_reversed().filter_map(log.parse) {
                if !spoken && part.is_spoken() {
                    spoken = true;
                    self.updated_at_ms = part.timestamp_ms;
                }
                self.model = self.model.take().or(part.model.filter(|model| !model.is_empty()).map(Box::from));
                if spoken && self.model.is_some() {
                    break;
                }
            }
            self.messages |= spoken;
            if spoken || !ends.grow_tail(file)? {
                return Ok(());
            }
        }
    }
}

fn is_record(line: &[u8]) -> bool {
    serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(line).is_ok()
}
