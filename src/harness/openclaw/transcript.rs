//! A transcript of the old era: one event a line. Its name, key and parent stand only in the index.

use super::event::Event;
use super::{TAKEN_OVER, agent_of};
use crate::harness::jsonl::HeadTail;
use crate::harness::walk::stem;
use crate::harness::{ReadError, Session, Source, beginning, ids, text};
use crate::protocol::Role;
use std::fs::File;

/// What the ends of a transcript tell.
#[derive(Default)]
struct Facts {
    records: bool,
    trace: bool,
    messages: bool,
    id: Option<Box<str>>,
    workspace: Option<Box<str>>,
    created_at_ms: Option<i64>,
    updated_at_ms: Option<i64>,
    prompt: Option<Box<str>>,
    beginning: Option<u64>,
    model: Option<Box<str>>,
}

pub(super) fn read(source: &Source, ends: &mut HeadTail) -> Result<Session, ReadError> {
    let file = ends.open(&source.path)?;
    let mut facts = Facts::default();
    facts.take_head(&file, ends)?;
    facts.take_tail(&file, ends)?;
    if facts.trace {
        return Err(ReadError::Name);
    }
    if !facts.records {
        return Err(ReadError::NoRecords);
    }
    if !facts.messages && ends.whole() {
        return Err(ReadError::NoMessages);
    }
    let id = facts.id.as_deref().filter(|id| ids::is_usable(id)).unwrap_or_else(|| stem(&source.path));
    if !ids::is_usable(id) {
        return Err(ReadError::Name);
    }
    let mut session = Session::new(id, source);
    // What a migration left there is put away, and its program no longer opens it.
    session.archived = source.path.iter().any(|part| part == TAKEN_OVER);
    session.resumable = !session.archived;
    session.old_form = true;
    session.title = facts.prompt;
    session.beginning = facts.beginning;
    session.workspace = facts.workspace;
    session.model = facts.model;
    session.profile = agent_of(&source.path).map(Box::from);
    session.created_at_ms = facts.created_at_ms;
    session.updated_at_ms = facts.updated_at_ms.or(session.updated_at_ms);
    Ok(session)
}

impl Facts {
    fn take_head(&mut self, file: &File, ends: &mut HeadTail) -> Result<(), ReadError> {
        loop {
            for event in ends.head().filter_map(Event::parse) {
                self.trace |= event.is_trace();
                self.take_opening(&event);
                if self.prompt.is_some() || self.trace {
                    return Ok(());
                }
            }
            if !ends.grow_head(file)? {
                return Ok(());
            }
        }
    }

    fn take_opening(&mut self, event: &Event<'_>) {
        self.records = true;
        self.created_at_ms = self.created_at_ms.or_else(|| event.time());
        if event.is("session") {
            self.id = self.id.take().or_else(|| event.id().map(|id| Box::from(&*id)));
            self.workspace = self.workspace.take().or_else(|| event.workspace());
        }
        if let Some(spoken) = event.spoken() {
            self.messages = true;
            self.beginning.get_or_insert_with(|| beginning((spoken.text(), spoken.timestamp_ms)));
        }
        self.prompt = event.prompt().and_then(|prompt| text::title(&prompt));
    }

    fn take_tail(&mut self, file: &File, ends: &mut HeadTail) -> Result<(), ReadError> {
        loop {
            let mut newest = None;
            for event in ends.tail_reversed().filter_map(Event::parse) {
                self.records = true;
                let Some(spoken) = event.spoken() else { continue };
                self.messages = true;
                newest = newest.or(spoken.timestamp_ms);
                self.model = spoken.model.map(|model| Box::from(&*model));
                if spoken.role == Role::Assistant && self.model.is_some() {
                    break;
                }
            }
            self.updated_at_ms = newest;
            if newest.is_some() || !ends.grow_tail(file)? {
                return Ok(());
            }
        }
    }
}
