//! What costs more to know of a session.

use super::load::Slice;
use super::message::text_of;
use super::{LOGS, Log};
use crate::harness::jsonl::{self, HeadTail};
use crate::harness::{Details, NoProgress, PageRequest, ReadError, Wanted, text};
use crate::limits;
use crate::platform::files::open_regular;
use crate::protocol::{LastMessage, Role};
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;

/// Behind the last text there may be calls of tools and their answers: how many messages are looked at, step by step.
const LAST_STEPS: [usize; 3] = [1, 16, 256];

/// Reads what is wanted, of the first log that holds a message.
pub(super) fn read(directory: &Path, wanted: Wanted) -> Result<Details, ReadError> {
    let mut outcome = Err(ReadError::Vanished);
    for log in &LOGS {
        let opened = open_regular(&directory.join(log.name)).map_err(ReadError::from);
        match opened.and_then(|file| read_log(&file, log, wanted)) {
            Ok(details) if details != Details::default() => return Ok(details),
            Err(ReadError::Vanished) => {}
            Ok(details) => outcome = Ok(details),
            Err(skip) => return Err(skip),
        }
    }
    outcome
}

fn read_log(file: &File, log: &Log, wanted: Wanted<'_>) -> Result<Details, ReadError> {
    let mut details = Details::default();
    if wanted.topics {
        details.topics = topics(file, log)?;
    }
    if wanted.last_message {
        details.last_message = last_message(file, log)?;
    }
    if wanted.message_count {
        details.message_count = count(wanted.attended(file), log)?;
    }
    Ok(details)
}

/// The opening prompts.
fn topics(file: &File, log: &Log) -> Result<Vec<String>, ReadError> {
    let mut ends = HeadTail::default();
    match ends.load(file) {
        Err(ReadError::Empty) => return Ok(Vec::new()),
        loaded => loaded?,
    }
    loop {
        let prompts = ends.head().filter_map(log.parse).filter_map(|part| text::excerpt(&part.prompt()?));
        let topics: Vec<String> = prompts.take(limits::TOPICS).collect();
        if topics.len() == limits::TOPICS || !ends.grow_head(file)? {
            return Ok(topics);
        }
    }
}

/// The newest message with text.
fn last_message(file: &File, log: &Log) -> Result<Option<LastMessage>, ReadError> {
    let mut place = None;
    for limit in LAST_STEPS {
        let slice = Slice::read(
            file,
            log,
            place,
            &PageRequest { cursor: None, limit, progress: &NoProgress, own_only: false },
        )?;
        let last = slice.messages.iter().find_map(|message| {
            let spoken = matches!(message.role, Role::User | Role::Assistant);
            let text = text_of(&message.content).filter(|_| spoken)?;
            let text = text::excerpt(&text)?;
            Some(LastMessage { role: message.role, text, timestamp_ms: message.timestamp_ms })
        });
        place = slice.older;
        if last.is_some() || place.is_none() {
            return Ok(last);
        }
    }
    Ok(None)
}

/// How many messages people and models wrote.
fn count(file: impl Read, log: &Log) -> Result<u64, ReadError> {
    let (mut count, mut last) = (0, None);
    jsonl::stream(BufReader::with_capacity(1 << 16, file), |line| {
        if let Some(part) = (log.parse)(line) {
            count += u64::from(part.is_spoken() && !part.belongs_to(last.as_deref()));
            last = part.mark;
        }
        ControlFlow::Continue(())
    })?;
    Ok(count)
}
