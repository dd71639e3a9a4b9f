//! What costs more to know of a session.

use super::database::{Events, event_text};
use super::event::Event;
use super::{is_transcript, load, prompt};
use crate::harness::database::read_session;
use crate::harness::jsonl::HeadTail;
use crate::harness::{Details, NoProgress, Progress, ReadError, Session, Wanted, text};
use crate::limits;
use crate::protocol::{LastMessage, Role};
use rusqlite::params;
use std::ops::ControlFlow;

/// Reads what is wanted of a session.
pub(super) fn read(session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
    let progress = wanted.progress.unwrap_or(&NoProgress);
    let mut details = Details::default();
    if wanted.topics {
        let of_file = is_transcript(&session.location);
        details.topics = if of_file { transcript_topics(session)? } else { database_topics(session, wanted)? };
    }
    if wanted.last_message {
        details.last_message = last_message(session, progress)?;
    }
    if wanted.message_count {
        details.message_count = load::backwards(session, None, progress, u64::default, |count, event, _| {
            *count += u64::from(is_counted(event));
            ControlFlow::Continue(())
        })?;
    }
    Ok(details)
}

/// Whether a person or a model wrote it; a message that is nothing but context was written by neither.
fn is_counted(event: &Event<'_>) -> bool {
    event.spoken().is_some_and(|spoken| {
        spoken.role == Role::Assistant || spoken.text().is_none_or(|text| prompt::written(&text).is_some())
    })
}

fn transcript_topics(session: &Session) -> Result<Vec<String>, ReadError> {
    let mut ends = HeadTail::default();
    let file = ends.open(&session.location)?;
    loop {
        let prompts = ends.head().filter_map(|line| text::excerpt(&Event::parse(line)?.prompt()?));
        let topics: Vec<String> = prompts.take(limits::TOPICS).collect();
        if topics.len() == limits::TOPICS || !ends.grow_head(&file)? {
            return Ok(topics);
        }
    }
}

fn database_topics(session: &Session, wanted: Wanted) -> Result<Vec<String>, ReadError> {
    read_session(session, wanted.progress, |connection| {
        let Some(events) = Events::of(connection)? else { return Ok(Vec::new()) };
        let columns = events.columns(limits::LINE_MAX);
        let query = format!("select {columns} from transcript_events e where session_id = ?1 order by seq limit ?2");
        let mut statement = connection.prepare(&query)?;
        let mut rows = statement.query(params![&*session.id, limits::ROWS_LOOKED_AT as i64])?;
        let mut topics = Vec::new();
        while topics.len() < limits::TOPICS
            && let Some(row) = rows.next()?
        {
            let prompt = event_text(row).as_deref().and_then(|event| Event::parse(event)?.prompt());
            topics.extend(prompt.and_then(|prompt| text::excerpt(&prompt)));
        }
        Ok(topics)
    })
}

/// The newest message with text.
fn last_message(session: &Session, progress: &dyn Progress) -> Result<Option<LastMessage>, ReadError> {
    let (_, last) = load::backwards(
        session,
        None,
        progress,
        Default::default,
        |(seen, last): &mut (usize, Option<LastMessage>), event, _| {
            *seen += 1;
            *last = event.spoken().and_then(|spoken| {
                let text = if spoken.role == Role::User { event.prompt() } else { spoken.text() };
                Some(LastMessage { role: spoken.role, text: text::excerpt(&text?)?, timestamp_ms: spoken.timestamp_ms })
            });
            if last.is_some() || *seen == limits::ROWS_LOOKED_AT {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        },
    )?;
    Ok(last)
}
