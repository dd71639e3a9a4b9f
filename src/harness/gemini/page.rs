//! The messages of a chat, page by page: a scan finds where each lies, and only those of the page are read.

use super::chat::form;
use super::message;
use super::record::{Change, Kind, Record};
use super::replay::Replay;
use super::scan::{self, Form};
use crate::harness::{Attendant, Page, PageRequest, Session, Skip};
use crate::limits;
use crate::platform::files::{open_regular, read_at};
use crate::protocol::{Block, Message, Role};
use serde_json::json;
use std::fs::File;

/// Where a message lies, and what it is.
pub struct Slot {
    at: u64,
    length: u64,
    pub kind: Kind,
}

/// Where the messages lie that are left when all that a chat says was done.
pub fn slots(file: &File, form: Form, attendant: Option<&dyn Attendant>) -> Result<Vec<Slot>, Skip> {
    let mut chat = Replay::default();
    let mut listed = Vec::new();
    scan::file(file, form, attendant, |piece| {
        let slot = |kind| Slot { at: piece.at, length: piece.length, kind };
        let Some(record) = Record::parse(piece.json) else {
            // One that is too long to be looked at is still a message.
            if piece.listed {
                listed.push((None, slot(Kind::Notice)));
            } else if piece.length > limits::LINE_MAX as u64 {
                chat.put(None, slot(Kind::Notice));
            }
            return;
        };
        if piece.listed {
            listed.extend(record.kind().map(|kind| (record.key(), slot(kind))));
            return;
        }
        let lists = match record.change() {
            Change::Rewind(key) => return chat.rewind(key),
            Change::Put(key, kind) => return chat.put(Some(key), slot(kind)),
            Change::Set(set) => set.messages.is_some(),
            Change::Header => record.messages.is_some(),
        };
        let listed = std::mem::take(&mut listed);
        if lists {
            chat.replace(listed);
        }
    })?;
    Ok(chat.into_messages())
}

/// Reads one page.
pub fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, Skip> {
    let file = open_regular(&session.location)?;
    let slots = slots(&file, form(&session.location), Some(request.attendant))?;
    let chat = Slots { file, slots };
    let mut end = match request.cursor {
        Some(cursor) => Place::parse(cursor).filter(|place| place.slot <= chat.slots.len()).ok_or(Skip::Cursor)?,
        None => Place { slot: chat.slots.len(), part: 0 },
    };
    let mut newest_first = Vec::new();
    while newest_first.len() < request.limit && end.slot + end.part > 0 {
        if request.attendant.cancelled() {
            return Err(Skip::Cancelled);
        }
        if end.part == 0 {
            end = Place { slot: end.slot - 1, part: usize::MAX };
        }
        let mut messages = chat.messages(end.slot)?;
        messages.truncate(end.part);
        let from = messages.len().saturating_sub(request.limit - newest_first.len());
        newest_first.extend(messages.drain(from..).rev());
        end.part = from;
    }
    newest_first.reverse();
    let next = (end.slot + end.part > 0).then(|| format!("{}.{}", end.slot, end.part));
    Ok(Page { messages: newest_first, next })
}

/// Where a page ends: before a slot, but for the first messages that it makes.
struct Place {
    slot: usize,
    part: usize,
}

impl Place {
    fn parse(cursor: &str) -> Option<Self> {
        let (slot, part) = cursor.split_once('.')?;
        Some(Self { slot: slot.parse().ok()?, part: part.parse().ok()? })
    }
}

struct Slots {
    file: File,
    slots: Vec<Slot>,
}

impl Slots {
    fn messages(&self, slot: usize) -> Result<Vec<Message>, Skip> {
        let Some(own) = self.slots.get(slot) else { return Err(Skip::Cursor) };
        if own.length > limits::LINE_MAX as u64 {
            return Ok(vec![too_long(own.length)]);
        }
        let json = self.json(own)?;
        let record = Record::parse(&json).ok_or_else(changed)?;
        let told = if own.kind == Kind::Results { self.told_before(slot)? } else { Vec::new() };
        Ok(message::messages(&record, &told))
    }

    /// The results that the answer before a record tells.
    fn told_before(&self, slot: usize) -> Result<Vec<String>, Skip> {
        let before = self.slots[..slot].iter().rev().find(|before| before.kind != Kind::Results);
        let Some(answer) = before.filter(|before| before.kind == Kind::Answer) else { return Ok(Vec::new()) };
        let json = self.json(answer)?;
        Ok(Record::parse(&json).map(|record| message::told(&record)).unwrap_or_default())
    }

    fn json(&self, slot: &Slot) -> Result<Vec<u8>, Skip> {
        let mut json = vec![0; slot.length.min(limits::LINE_MAX as u64) as usize];
        let count = read_at(&self.file, &mut json, slot.at)?;
        json.truncate(count);
        Ok(json)
    }
}

fn changed() -> Skip {
    Skip::Malformed("it changed while it was read".to_owned())
}

fn too_long(bytes: u64) -> Message {
    let content = vec![Block::Other { kind: "too_long".to_owned(), raw: json!({ "bytes": bytes }) }];
    Message { id: None, role: Role::System, timestamp_ms: None, model: None, parent_id: None, content, raw: None }
}
