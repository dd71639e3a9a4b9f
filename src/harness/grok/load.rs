//! The messages of a session, read from the end of its log to its start.

use super::message::Part;
use super::{LOGS, Log};
use crate::harness::backward::{Backward, end_of_lines};
use crate::harness::{End, Page, PageRequest, Progress, ReadError};
use crate::limits;
use crate::platform::files::open_regular;
use crate::protocol::{Block, Message, Role};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::Path;

/// The place behind all lines that are whole, of the first log that holds a message.
pub(super) fn end(directory: &Path, progress: &dyn Progress) -> Result<End, ReadError> {
    let mut outcome = Err(ReadError::Vanished);
    for (index, log) in LOGS.iter().enumerate() {
        let file = match open_regular(&directory.join(log.name)).map_err(ReadError::from) {
            Err(ReadError::Vanished) => continue,
            opened => opened?,
        };
        let end = end_of_lines(&file, progress)?;
        let one = PageRequest { cursor: None, limit: 1, progress, own_only: false };
        let holds = !Slice::read(&file, log, Some(end), &one)?.messages.is_empty();
        outcome = Ok(End { cursor: format!("{index}:{end}"), count: None });
        if holds {
            break;
        }
    }
    outcome
}

/// Reads one page: of the first log that holds a message, or of the one that the cursor names.
pub(super) fn page(directory: &Path, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    if let Some(cursor) = request.cursor {
        let (log, place) = parse_cursor(cursor).ok_or(ReadError::Cursor)?;
        let slice = Slice::read(&open_regular(&directory.join(LOGS[log].name))?, &LOGS[log], Some(place), request)?;
        return Ok(slice.into_page(log));
    }
    let mut outcome = Err(ReadError::Vanished);
    for (index, log) in LOGS.iter().enumerate() {
        let opened = open_regular(&directory.join(log.name)).map_err(ReadError::from);
        match opened.and_then(|file| Slice::read(&file, log, None, request)) {
            Ok(slice) if !slice.messages.is_empty() => return Ok(slice.into_page(index)),
            Ok(slice) => outcome = Ok(slice.into_page(index)),
            Err(ReadError::Vanished) => {}
            Err(skip) => return Err(skip),
        }
    }
    outcome
}

fn parse_cursor(cursor: &str) -> Option<(usize, u64)> {
    let (log, place) = cursor.split_once(':')?;
    Some((log.parse().ok().filter(|log| *log < LOGS.len())?, place.parse().ok()?))
}

/// Neighbouring messages of a log.
#[derive(Default)]
pub(super) struct Slice {
    /// The newest first.
    pub messages: Vec<Message>,
    /// Where older messages end, if there are any.
    pub older: Option<u64>,
    /// Where each of them begins.
    begins: Vec<u64>,
    /// Whether the newest is an answer of which more is to come.
    unfinished: bool,
    /// The mark of the oldest message.
    mark: Option<String>,
    /// What the tools are called, by the ids of their calls; which are still to be found.
    names: HashMap<String, String>,
    unnamed: HashSet<String>,
    /// How many of the messages had their turn's prompt found, which names the model.
    prompted: usize,
}

impl Slice {
    /// Reads the messages before a place, or the newest.
    pub(super) fn read(
        file: &File,
        log: &Log,
        place: Option<u64>,
        request: &PageRequest<'_>,
    ) -> Result<Self, ReadError> {
        let mut lines = Backward::of(file, place, request.progress)?;
        let mut slice = Self::default();
        let mut newest = true;
        while let Some((at, line)) = lines.record()? {
            let is_newest = std::mem::replace(&mut newest, false);
            let Some(part) = (log.parse)(line) else { continue };
            if slice.older.is_none() && part.belongs_to(slice.mark.as_deref()) {
                slice.prepend(part, at);
            } else if slice.older.is_none() && slice.messages.len() < request.limit {
                slice.unfinished |= is_newest && part.is_piece();
                slice.push(part, at);
            } else {
                // There is more, in which only what the messages lack is looked for.
                let end = *slice.older.get_or_insert_with(|| slice.begins.last().copied().unwrap_or(at));
                slice.learn(&part);
                if slice.lacks_nothing() || end - at > limits::LOOK_BACK {
                    break;
                }
            }
        }
        Ok(slice)
    }

    /// Takes the message before.
    fn push(&mut self, part: Part, at: u64) {
        self.learn(&part);
        let model = part.model.filter(|_| part.role == Role::Assistant);
        self.messages.push(Message {
            id: None,
            role: part.role,
            timestamp_ms: part.timestamp_ms,
            model,
            parent_id: None,
            content: part.content,
            raw: None,
        });
        self.begins.push(at);
        self.mark = part.mark;
    }

    /// Takes an earlier piece of the oldest message.
    fn prepend(&mut self, part: Part, at: u64) {
        self.learn(&part);
        if let Some(begin) = self.begins.last_mut() {
            *begin = at;
        }
        let Some(message) = self.messages.last_mut() else { return };
        let mut content = part.content;
        let mut later = std::mem::take(&mut message.content);
        // The program may have written down a text in the pieces in which it came.
        match (content.last_mut(), later.first()) {
            (Some(Block::Text { text }), Some(Block::Text { text: next }))
            | (Some(Block::Thinking { text }), Some(Block::Thinking { text: next }))
                if message.role == Role::Assistant =>
            {
                text.push_str(next);
                later.remove(0);
            }
            _ => {}
        }
        content.append(&mut later);
        message.content = content;
    }

    /// Learns what a part says of messages that come after it.
    fn learn(&mut self, part: &Part) {
        for block in &part.content {
            match block {
                Block::ToolCall { id, name, .. } => {
                    self.unnamed.remove(id);
                    self.names.insert(id.clone(), name.clone());
                }
                Block::ToolResult { id, .. } if self.older.is_none() => drop(self.unnamed.insert(id.clone())),
                _ => {}
            }
        }
        if part.role != Role::Assistant && part.model.is_some() {
            for message in &mut self.messages[self.prompted..] {
                if message.role == Role::Assistant && message.model.is_none() {
                    message.model.clone_from(&part.model);
                }
            }
            self.prompted = self.messages.len();
        }
    }

    fn lacks_nothing(&self) -> bool {
        let modelled = |message: &Message| message.role != Role::Assistant || message.model.is_some();
        self.unnamed.is_empty() && self.messages[self.prompted..].iter().all(modelled)
    }

    fn into_page(mut self, log: usize) -> Page {
        self.messages.reverse();
        for block in self.messages.iter_mut().flat_map(|message| &mut message.content) {
            if let Block::ToolResult { id, name, .. } = block {
                *name = self.names.get(id).cloned();
            }
        }
        let places = self.begins.iter().rev().map(|begin| format!("{log}:{begin}")).collect();
        Page {
            messages: self.messages,
            places,
            unfinished: self.unfinished,
            next: self.older.map(|place| format!("{log}:{place}")),
        }
    }
}
