//! What costs more to know of a session.

use super::branch::{Branch, Place};
use super::record::Record;
use crate::harness::{Details, NoProgress, Progress, ReadError, Session, Wanted, text};
use crate::limits;
use crate::platform::files::open_regular;
use crate::protocol::{LastMessage, Role};
use std::collections::VecDeque;
use std::fs::File;

/// Reads what is wanted of a session.
pub(super) fn read(session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
    let file = open_regular(&session.location)?;
    let mut details = Details::default();
    if wanted.topics || wanted.message_count {
        whole_branch(&file, wanted.progress.unwrap_or(&NoProgress), &mut details)?;
    }
    if wanted.last_message {
        details.last_message = last_message(&file)?;
    }
    Ok(details)
}

/// Counts what people and models wrote on the current branch, and takes its opening prompts: what hangs on other
/// branches is not loaded either. Which entries are on it only the way from its end tells.
fn whole_branch(file: &File, progress: &dyn Progress, details: &mut Details) -> Result<(), ReadError> {
    let mut branch = Branch::new(file, Place::end(file.metadata()?.len()), progress)?;
    let mut topics = VecDeque::new();
    while let Some((_, line)) = branch.next_entry()? {
        let Some((role, spoken)) = Record::parse(&line).and_then(|record| record.spoken()) else { continue };
        details.message_count += 1;
        let topic = || text::excerpt(&spoken.text()?);
        if let Some(topic) = (role == Role::User).then(topic).flatten() {
            topics.push_front(topic);
            topics.truncate(limits::TOPICS);
        }
    }
    details.topics = topics.into();
    Ok(())
}

/// The newest message of the current branch that has text, within the bounds of a tail.
fn last_message(file: &File) -> Result<Option<LastMessage>, ReadError> {
    let size = file.metadata()?.len();
    let mut branch = Branch::new(file, Place::end(size), &NoProgress)?;
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
