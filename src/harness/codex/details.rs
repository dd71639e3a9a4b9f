//! What costs more to know of a session. A fork's file holds only its own turns, so those of its ancestors come before.

use super::lineage::Lineage;
use super::record::{Message, NEEDLES, Record};
use super::rollout::Rollout;
use crate::harness::{Attendant, Details, Root, Session, Skip, Wanted, jsonl::Ends, text};
use crate::limits;
use crate::protocol::{LastMessage, Role};
use std::ops::ControlFlow;

/// Reads what is wanted of a session.
pub fn read(roots: &[Root], session: &Session, wanted: Wanted<'_>) -> Result<Details, Skip> {
    let (own, ancestors) = Lineage::of(roots, session, wanted.own_only)?;
    // An ancestor that is gone takes its own with it.
    let mut lineage: Vec<Rollout> = std::iter::once(own).chain(ancestors.map_while(Result::ok)).collect();
    lineage.reverse();
    let mut details = Details::default();
    for rollout in &lineage {
        if wanted.topics && details.topics.len() < limits::TOPICS {
            details.topics.extend(topics(rollout)?);
        }
        if wanted.message_count {
            details.message_count += message_count(rollout, wanted.attendant)?;
        }
    }
    details.topics.truncate(limits::TOPICS);
    if wanted.last_message {
        details.last_message = last_message(&lineage)?;
    }
    Ok(details)
}

/// The opening user texts of one rollout, within the bound of a head.
fn topics(rollout: &Rollout) -> Result<Vec<String>, Skip> {
    let mut topics: [Vec<String>; 3] = Default::default();
    each_message(rollout, limits::HEAD_MAX as u64, None, |message| {
        let prompt = message.prompt().and_then(|prompt| text::excerpt(&prompt));
        topics[message.family as usize].extend(prompt);
        let full = topics.iter().find(|topics| !topics.is_empty()).is_some_and(|topics| topics.len() >= limits::TOPICS);
        if full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(topics.into_iter().find(|topics| !topics.is_empty()).unwrap_or_default())
}

/// The messages of one rollout. Each is told in several families, of which one counts.
fn message_count(rollout: &Rollout, attendant: Option<&dyn Attendant>) -> Result<u64, Skip> {
    let mut counts = [0; 3];
    each_message(rollout, u64::MAX, attendant, |message| {
        counts[message.family as usize] += u64::from(message.is_genuine());
        ControlFlow::Continue(())
    })?;
    Ok(counts.into_iter().find(|count| *count > 0).unwrap_or_default())
}

fn each_message(
    rollout: &Rollout,
    max: u64,
    attendant: Option<&dyn Attendant>,
    mut each: impl FnMut(&Message<'_>) -> ControlFlow<()>,
) -> Result<(), Skip> {
    Ok(rollout.lines(max, attendant, |line| {
        let record = NEEDLES.message.find(line).and_then(|_| Record::parse(line));
        match record.and_then(|record| record.message()) {
            Some(message) => each(&message),
            None => ControlFlow::Continue(()),
        }
    })?)
}

/// The newest message with text. An ancestor is asked only where all that came after it was seen and holds none.
fn last_message(lineage: &[Rollout]) -> Result<Option<LastMessage>, Skip> {
    let mut ends = Ends::default();
    for rollout in lineage.iter().rev() {
        rollout.load(&mut ends)?;
        let mut last = ends.tail_reversed().find_map(spoken);
        while last.is_none() && rollout.grow_tail(&mut ends)? {
            last = ends.tail_reversed().find_map(spoken);
        }
        if last.is_some() || !ends.whole() {
            return Ok(last);
        }
        let last = ends.head().rev().find_map(spoken);
        if last.is_some() {
            return Ok(last);
        }
    }
    Ok(None)
}

fn spoken(line: &[u8]) -> Option<LastMessage> {
    NEEDLES.message.find(line)?;
    let record = Record::parse(line)?;
    let message = record.message()?;
    let text = if message.role == Role::User { message.prompt() } else { message.text() };
    Some(LastMessage { role: message.role, text: text::excerpt(&text?)?, timestamp_ms: message.time() })
}
