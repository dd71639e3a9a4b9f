//! What costs more to know of a chat.

use super::chat::{Reader, form};
use super::page::slots;
use super::record::Kind;
use crate::harness::jsonl::HeadTail;
use crate::harness::{Details, ReadError, Session, Wanted, text};
use crate::limits;
use crate::protocol::LastMessage;

/// Reads what is wanted of a session.
pub(super) fn read(session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
    let mut ends = HeadTail::default();
    let mut reader = Reader::open(&session.location, &mut ends)?;
    let mut details = Details::default();
    if wanted.message_count {
        let slots = slots(&reader.file, form(&session.location), wanted.progress)?;
        let spoken = slots.iter().filter(|slot| matches!(slot.kind, Kind::Prompt | Kind::Answer));
        details.message_count = spoken.count() as u64;
    }
    if wanted.topics {
        details.topics = topics(&mut reader)?;
    }
    if wanted.last_message {
        details.last_message = last_message(&mut reader)?;
    }
    Ok(details)
}

fn topics(reader: &mut Reader<'_>) -> Result<Vec<String>, ReadError> {
    loop {
        let head = reader.head();
        let topics: Vec<_> = head.prompts().filter_map(|text| text::excerpt(&text)).take(limits::TOPICS).collect();
        if topics.len() == limits::TOPICS || !reader.grow_head()? {
            return Ok(topics);
        }
    }
}

fn last_message(reader: &mut Reader<'_>) -> Result<Option<LastMessage>, ReadError> {
    loop {
        let last = reader.tail().unwrap_or_else(|| reader.head()).last_message();
        if last.is_some() || !reader.grow_tail()? {
            return Ok(last);
        }
    }
}
