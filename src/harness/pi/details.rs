//! What costs more to know of a session.

use super::branch::{Branch, Place};
use super::record::Record;
use crate::harness::jsonl::{self, Ends};
use crate::harness::{Details, Patient, Session, Skip, Wanted, text};
use crate::limits;
use crate::platform::files::open_regular;
use crate::protocol::{LastMessage, Role};
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;

/// Reads what is wanted of a session.
pub fn read(session: &Session, wanted: Wanted) -> Result<Details, Skip> {
    let file = open_regular(&session.location)?;
    let mut details = Details::default();
    if wanted.topics {
        details.topics = topics(&file)?;
    }
    if wanted.last_message {
        details.last_message = last_message(&file)?;
    }
    if wanted.message_count {
        details.message_count = count(wanted.attended(file))?;
    }
    Ok(details)
}

fn topics(file: &File) -> Result<Vec<String>, Skip> {
    let mut ends = Ends::default();
    ends.load(file)?;
    loop {
        let spoken = ends.head().filter_map(Record::parse).filter_map(|record| record.spoken());
        let prompts = spoken.filter(|(role, _)| *role == Role::User);
        let topics: Vec<_> =
            prompts.filter_map(|(_, spoken)| text::excerpt(&spoken.text()?)).take(limits::TOPICS).collect();
        if topics.len() == limits::TOPICS || !ends.grow_head(file)? {
            return Ok(topics);
        }
    }
}

/// The newest message of the current branch that has text, within the bounds of a tail.
fn last_message(file: &File) -> Result<Option<LastMessage>, Skip> {
    let size = file.metadata()?.len();
    let mut branch = Branch::new(file, Place::end(size), &Patient)?;
    while let Some((at, line)) = branch.next_entry()? {
        let last = Record::parse(&line).and_then(|record| {
            let (role, spoken) = record.spoken()?;
            let timestamp_ms = spoken.time().or_else(|| record.time());
            Some(LastMessage { role, text: text::excerpt(&spoken.text()?)?, timestamp_ms })
        });
        if last.is_some() || size - at > limits::TAIL_MAX as u64 {
            return Ok(last);
        }
    }
    Ok(None)
}

/// What people and models wrote, on all branches: so its own program counts too.
fn count(file: impl Read) -> Result<u64, Skip> {
    let mut count = 0;
    jsonl::stream(BufReader::with_capacity(limits::SCAN_BYTES, file), |line| {
        count += u64::from(Record::parse(line).is_some_and(|record| record.spoken().is_some()));
        ControlFlow::Continue(())
    })?;
    Ok(count)
}
