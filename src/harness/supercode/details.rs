//! What costs more to know of a session.

use super::message::Line;
use crate::harness::jsonl::{self, HeadTail};
use crate::harness::{Details, ReadError, Session, Wanted, text};
use crate::limits;
use crate::protocol::{LastMessage, Role};
use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;

/// Reads what is wanted of a session.
pub(super) fn read(session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
    let mut ends = HeadTail::default();
    let file = ends.open(&session.location)?;
    let mut details = Details::default();
    if wanted.topics {
        details.topics = topics(&file, &mut ends)?;
    }
    if wanted.last_message {
        details.last_message = last_message(&file, &mut ends)?;
    }
    if wanted.message_count {
        jsonl::stream(BufReader::with_capacity(limits::SCAN_BYTES, wanted.attended(file)), |line| {
            details.message_count += u64::from(Line::parse(line).is_some_and(|line| line.role().is_some()));
            ControlFlow::Continue(())
        })?;
    }
    Ok(details)
}

fn topics(file: &File, ends: &mut HeadTail) -> Result<Vec<String>, ReadError> {
    loop {
        let prompts = ends.head().filter_map(Line::parse).filter(|line| line.role() == Some(Role::User));
        let topics: Vec<_> = prompts.filter_map(|line| text::excerpt(&line.text()?)).take(limits::TOPICS).collect();
        if topics.len() == limits::TOPICS || !ends.grow_head(file)? {
            return Ok(topics);
        }
    }
}

fn last_message(file: &File, ends: &mut HeadTail) -> Result<Option<LastMessage>, ReadError> {
    loop {
        let last = ends.tail_reversed().filter_map(Line::parse).find_map(|line| {
            Some(LastMessage { role: line.role()?, text: text::excerpt(&line.text()?)?, timestamp_ms: None })
        });
        if last.is_some() || !ends.grow_tail(file)? {
            return Ok(last);
        }
    }
}
