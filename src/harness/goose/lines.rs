//! The files of before: a line about the session, then a line a message.

use super::database::is_placeholder;
use super::record::Stored;
use crate::harness::backward::end_of_lines;
use crate::harness::jsonl::{self, HeadTail};
use crate::harness::walk::stem;
use crate::harness::{
    Attended, Details, End, Page, PageRequest, Progress, ReadError, Session, Source, Wanted, messages, pages, text,
};
use crate::limits;
use crate::platform::files::open_regular;
use crate::protocol::Message;
use serde_json::Value;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;

/// One session. What the database took over from such a file stands there too.
pub(super) fn read(source: &Source, ends: &mut HeadTail) -> Result<Session, ReadError> {
    let file = ends.open(&source.path)?;
    let about = ends.head().next().and_then(value);
    let first = first(&file, ends)?;
    let last = last(&file, ends)?;
    let (Some(newest), Some(oldest)) = (&last, first.first().or(last.as_ref())) else {
        let any = ends.head().chain(ends.tail_reversed()).any(|line| value(line).is_some());
        return Err(if any { ReadError::NoMessages } else { ReadError::NoRecords });
    };
    let mut session = Session::new(stem(&source.path), source);
    let about = about.unwrap_or_default();
    let prompt = || first.iter().find_map(Stored::prompt).and_then(|prompt| text::title(&prompt));
    let named = about["description"].as_str().filter(|title| !is_placeholder(title)).and_then(text::title);
    session.title = named.or_else(prompt);
    session.workspace = about["working_dir"].as_str().and_then(text::workspace);
    session.created_at_ms = oldest.time();
    session.updated_at_ms = newest.time().or(session.updated_at_ms);
    session.old_form = true;
    Ok(session)
}

/// The messages of the head, up to the first prompt at least.
fn first(file: &File, ends: &mut HeadTail) -> Result<Vec<Stored>, ReadError> {
    loop {
        let first: Vec<Stored> = ends.head().filter_map(message).collect();
        if first.iter().any(|stored| stored.prompt().is_some()) || !ends.grow_head(file)? {
            return Ok(first);
        }
    }
}

/// The newest message of a person or a model.
fn last(file: &File, ends: &mut HeadTail) -> Result<Option<Stored>, ReadError> {
    loop {
        let last = ends.tail_reversed().filter_map(message).find(Stored::is_genuine);
        if last.is_some() || !ends.grow_tail(file)? {
            return Ok(last);
        }
    }
}

/// What costs more to know.
pub(super) fn details(session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
    let file = open_regular(&session.location)?;
    let mut details = Details::default();
    let mut looked = 0;
    jsonl::stream(BufReader::new(wanted.attended(file)), |line| {
        let Some(stored) = message(line) else { return ControlFlow::Continue(()) };
        looked += 1;
        if wanted.topics && looked <= limits::ROWS_LOOKED_AT && details.topics.len() < limits::TOPICS {
            details.topics.extend(stored.prompt().and_then(|prompt| text::excerpt(&prompt)));
        }
        if wanted.last_message {
            details.last_message = stored.last_message().or(details.last_message.take());
        }
        details.message_count += u64::from(stored.is_genuine());
        ControlFlow::Continue(())
    })?;
    Ok(details)
}

/// The place behind all lines. The program does not write such files any more, so it costs what a page does.
pub(super) fn end(session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
    let file = open_regular(&session.location)?;
    let whole = end_of_lines(&file, progress)?;
    let mut lines = 1_i64;
    jsonl::stream(BufReader::new(Attended::new(file.take(whole), Some(progress))), |_| {
        lines += 1;
        ControlFlow::Continue(())
    })?;
    Ok(End { cursor: lines.to_string(), count: None })
}

/// One page of messages. The cursor is the number of the oldest message that is in it.
pub(super) fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let before = request.cursor.map(|cursor| cursor.parse().map_err(|_| ReadError::Cursor)).transpose()?;
    let file = open_regular(&session.location)?;
    let room = request.limit.saturating_add(1 + limits::CALLS_LOOKED_FOR);
    let newest = newest(file, before.unwrap_or(i64::MAX), room, request.progress)?;
    let (numbers, mut messages): (Vec<i64>, Vec<Message>) =
        newest.into_iter().map(|stored| (stored.number, stored.into_message())).unzip();
    messages::name_results(&mut messages, &[]);
    let newest_first = numbers.into_iter().zip(messages).rev().take(request.limit.saturating_add(1)).collect();
    Ok(pages::page(newest_first, request, |(number, _)| number.to_string(), |(_, message)| message))
}

/// The newest messages before a number, the oldest of them first. The file is read up to there, and no more of it kept.
fn newest(file: File, before: i64, room: usize, progress: &dyn Progress) -> Result<VecDeque<Stored>, ReadError> {
    let size = file.metadata()?.len();
    let (mut newest, mut number, mut done, mut told) = (VecDeque::new(), 0, 0, 0);
    jsonl::stream(BufReader::new(file), |line| {
        done += line.len() as u64 + 1;
        if done - told >= limits::PROGRESS_BYTES {
            told = done;
            progress.report("reading messages", done, Some(size));
        }
        number += 1;
        if number >= before || progress.is_cancelled() {
            return ControlFlow::Break(());
        }
        if let Some(stored) = message(line) {
            newest.push_back(Stored { number, ..stored });
            if newest.len() > room {
                newest.pop_front();
            }
        }
        ControlFlow::Continue(())
    })?;
    if progress.is_cancelled() { Err(ReadError::Cancelled) } else { Ok(newest) }
}

fn value(line: &[u8]) -> Option<Value> {
    text::value(&String::from_utf8_lossy(line))
}

/// A message that a person sees; `None` for the line about the session, and for what is torn.
fn message(line: &[u8]) -> Option<Stored> {
    let mut record = value(line)?;
    if record["metadata"]["userVisible"] == false {
        return None;
    }
    let time = record["created"].as_i64()?;
    let member = |name: &str| record[name].as_str().map(str::to_owned);
    let (id, role) = (member("id"), member("role")?);
    Some(Stored { number: 0, time: Some(time), id, role, content: record["content"].take(), bytes: line.len() as u64 })
}
