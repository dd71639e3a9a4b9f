//! What costs more to know of a session.

use super::record::{Record, content_text};
use crate::harness::Skip;
use crate::harness::jsonl::{self, Ends};
use crate::harness::text::{self, member};
use crate::limits;
use crate::protocol::{LastMessage, Role};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;

/// The opening prompts.
pub fn topics(file: &File, ends: &mut Ends) -> Result<Vec<String>, Skip> {
    loop {
        let prompts = ends.head().filter_map(Record::parse).filter_map(|record| text::excerpt(&record.prompt()?));
        let topics: Vec<String> = prompts.take(limits::TOPICS).collect();
        if topics.len() == limits::TOPICS || !ends.grow_head(file)? {
            return Ok(topics);
        }
    }
}

/// The newest prompt or answer.
pub fn last_message(file: &File, ends: &mut Ends) -> Result<Option<LastMessage>, Skip> {
    loop {
        let last = ends.tail_reversed().filter_map(Record::parse).find_map(|record| {
            let (role, text) = if record.is("assistant") {
                (Role::Assistant, content_text(record.body()?.content?)?)
            } else {
                (Role::User, record.prompt()?)
            };
            Some(LastMessage { role, text: text::excerpt(&text)?, timestamp_ms: record.time() })
        });
        if last.is_some() || !ends.grow_tail(file)? {
            return Ok(last);
        }
    }
}

/// Prompts, and answers of the model. An answer that was written in several rows is one.
pub fn count(file: impl Read) -> Result<u64, Skip> {
    let mut count = 0;
    let mut last_answer: Option<String> = None;
    jsonl::stream(BufReader::with_capacity(1 << 16, file), |line| {
        let holds = |word: &str| memchr::memmem::find(line, word.as_bytes()).is_some();
        if !holds("\"user\"") && !holds("\"assistant\"") {
            return ControlFlow::Continue(());
        }
        let Some(record) = Record::parse(line) else { return ControlFlow::Continue(()) };
        if record.is("assistant") {
            let id = record.body().and_then(|body| member(body.id).map(Cow::into_owned));
            if id.is_none() || id != last_answer {
                count += 1;
            }
            last_answer = id;
        } else if record.prompt().is_some() {
            count += 1;
        }
        ControlFlow::Continue(())
    })?;
    Ok(count)
}
