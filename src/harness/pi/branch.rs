//! The current branch of a session's tree: its last entry, and what that one follows. An entry stands behind its parent,
//! so going backward through the file meets them in order.

use super::message;
use super::record::Record;
use crate::harness::backward::{Backward, begins_line, end_of_lines};
use crate::harness::jsonl::first_record;
use crate::harness::pages::Gathered;
use crate::harness::text::member;
use crate::harness::{End, Page, PageRequest, Progress, ReadError, Session};
use crate::limits;
use crate::platform::files::{open_regular, read_at};
use crate::protocol::Message;
use std::fs::File;

/// A place on a branch: between what follows it and the entry that comes next.
#[derive(Clone)]
pub(super) struct Place {
    /// What comes next ends here or before.
    end: u64,
    next: Next,
}

/// Which entry comes next on the way to the root.
#[derive(Clone, PartialEq, Eq)]
enum Next {
    /// The nearest.
    Any,
    /// The one of this id.
    Id(Box<str>),
    /// None: the root was reached.
    None,
}

impl Place {
    /// Behind the last of a file's entries.
    pub(super) fn end(size: u64) -> Self {
        Self { end: size, next: Next::Any }
    }

    fn cursor(&self) -> String {
        match &self.next {
            Next::Id(id) => format!("{}:{id}", self.end),
            Next::Any | Next::None => format!("{}:", self.end),
        }
    }

    fn parse(cursor: &str, size: u64) -> Option<Self> {
        let (end, id) = cursor.split_once(':')?;
        let end = end.parse().ok().filter(|end| *end <= size)?;
        Some(Self { end, next: if id.is_empty() { Next::Any } else { Next::Id(id.into()) } })
    }
}

/// A branch that is gone up.
pub(super) struct Branch<'a> {
    lines: Backward<'a, File>,
    place: Place,
    /// Whether entries have no ids: each follows the one before it.
    list: bool,
}

impl<'a> Branch<'a> {
    pub(super) fn new(file: &'a File, place: Place, progress: &'a dyn Progress) -> Result<Self, ReadError> {
        let mut head = vec![0; limits::HEAD_FIRST];
        let count = read_at(file, &mut head, 0)?;
        let first = first_record(&head[..count]).and_then(Record::parse);
        let list = first.is_some_and(|header| header.begins_a_list());
        Ok(Self { lines: Backward::new(file, place.end, progress), place, list })
    }

    /// The next entry, and where its line begins.
    pub(super) fn next_entry(&mut self) -> Result<Option<(u64, Vec<u8>)>, ReadError> {
        while self.place.next != Next::None {
            let Some((at, line)) = self.lines.record()? else { break };
            let Some(record) = Record::parse(line).filter(|record| !record.is("session")) else { continue };
            let id = member(record.id);
            let met = match &self.place.next {
                _ if self.list => true,
                Next::Any => id.is_some(),
                Next::Id(wanted) => id.as_deref() == Some(wanted),
                Next::None => false,
            };
            if met {
                let parent = || member(record.parent_id).map_or(Next::None, |id| Next::Id(id.as_ref().into()));
                self.place = Place { end: at, next: if self.list { Next::Any } else { parent() } };
                return Ok(Some((at, line.to_vec())));
            }
        }
        Ok(None)
    }

    fn next_message(&mut self) -> Result<Option<Message>, ReadError> {
        while let Some((_, line)) = self.next_entry()? {
            let message = Record::parse(&line).and_then(|record| message::of(&record));
            if message.is_some() {
                return Ok(message);
            }
        }
        Ok(None)
    }
}

/// The place behind all entries that are whole.
pub(super) fn end(session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
    let end = end_of_lines(&open_regular(&session.location)?, progress)?;
    Ok(End { cursor: Place::end(end).cursor(), count: None })
}

/// Reads one page.
pub(super) fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let file = open_regular(&session.location)?;
    let size = file.metadata()?.len();
    let place = match request.cursor {
        Some(cursor) => {
            let place = Place::parse(cursor, size).ok_or(ReadError::Cursor)?;
            if !begins_line(&file, place.end)? {
                return Err(ReadError::Cursor);
            }
            place
        }
        None => Place::end(size),
    };
    let mut branch = Branch::new(&file, place, request.progress)?;
    let mut gathered = Gathered::new(request);
    while !gathered.is_full()
        && let Some(message) = branch.next_message()?
    {
        gathered.push(message, 0, branch.place.clone());
    }
    let ended = !gathered.is_full();
    Ok(gathered.into_page(ended, Place::cursor))
}
