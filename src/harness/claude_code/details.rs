//! What costs more to know of a session.

use super::record::{Record, content_text};
use super::{load, message};
use crate::harness::jsonl::HeadTail;
use crate::harness::text::{self, member};
use crate::harness::{NoProgress, PageRequest, ReadError, Wanted};
use crate::limits;
use crate::protocol::{LastMessage, Role};
use std::collections::{HashMap, HashSet};
use std::fs::File;

/// The opening prompts of the current branch.
pub(super) fn topics(file: &File, is_agent: bool, ends: &mut HeadTail) -> Result<Vec<String>, ReadError> {
    loop {
        let topics = opening(ends.head(), is_agent);
        if topics.len() == limits::TOPICS || !ends.grow_head(file)? {
            return Ok(topics);
        }
    }
}

fn opening<'a>(lines: impl Iterator<Item = &'a [u8]>, is_agent: bool) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut rows: HashMap<String, usize> = HashMap::new();
    let mut topics: Vec<(usize, String)> = Vec::new();
    for (at, line) in lines.enumerate() {
        let line = String::from_utf8_lossy(line);
        let record = Record::parse(line.as_bytes()).filter(|record| is_agent || !text::is_true(record.is_sidechain));
        let Some(record) = record else { continue };
        if let Some(uuid) = member(record.uuid) {
            // A row that stands there again is the first one.
            if !seen.insert((uuid.to_string(), record.time())) {
                continue;
            }
            rows.insert(uuid.into_owned(), at);
        }
        let Some(topic) = message::prompt(&record).and_then(|prompt| text::excerpt(&prompt)) else { continue };
        // A prompt goes on from the row that it hangs on: what came since was taken back.
        match member(record.parent) {
            Some(parent) => {
                let tip = rows.get(&*parent).copied().unwrap_or(at);
                topics.retain(|(before, _)| *before <= tip);
            }
            None if record.parent.is_some() && record.logical_parent.is_none() => topics.clear(),
            None => {}
        }
        topics.push((at, topic));
    }
    topics.into_iter().map(|(_, topic)| topic).take(limits::TOPICS).collect()
}

/// The newest prompt or answer.
pub(super) fn last_message(file: &File, ends: &mut HeadTail) -> Result<Option<LastMessage>, ReadError> {
    loop {
        let last = ends.tail_reversed().filter_map(Record::parse).find_map(|record| {
            let (role, text) = if record.is("assistant") {
                (Role::Assistant, content_text(record.body()?.content?)?)
            } else {
                (Role::User, message::prompt(&record)?)
            };
            Some(LastMessage { role, text: text::excerpt(&text)?, timestamp_ms: record.time() })
        });
        if last.is_some() || !ends.grow_tail(file)? {
            return Ok(last);
        }
    }
}

/// The messages of people and of the model that loading gives.
pub(super) fn count(file: &File, is_agent: bool, wanted: &Wanted<'_>) -> Result<u64, ReadError> {
    let progress = wanted.progress.unwrap_or(&NoProgress);
    let mut count = 0;
    let mut cursor: Option<String> = None;
    loop {
        let request =
            PageRequest { cursor: cursor.as_deref(), limit: limits::MESSAGES_COUNTED, own_only: false, progress };
        let page = load::page(file, is_agent, &request)?;
        count += page.messages.iter().filter(|message| matches!(message.role, Role::User | Role::Assistant)).count();
        cursor = page.next;
        if cursor.is_none() {
            return Ok(count as u64);
        }
    }
}
