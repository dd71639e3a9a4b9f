//! The messages of a chat, page by page: a scan finds where each lies, and only those of the page are read.

use super::chat::form;
use super::message;
use super::record::{Change, Kind, Record};
use super::replay::Replay;
use super::scan::{self, Form, Scanner};
use crate::harness::{Page, PageRequest, Progress, ReadError, Session};
use crate::limits;
use crate::platform::files::{open_regular, read_at};
use crate::protocol::{Block, Message, Role};
use serde_json::json;
use std::fs::File;

/// Where a message lies, and what it is.
#[derive(Clone)]
pub(super) struct Slot {
    at: u64,
    length: u64,
    pub kind: Kind,
    /// A hash of what it says.
    mark: u64,
}

/// Where the messages lie that are left when all that a chat says was done.
pub(super) fn slots(file: &File, form: Form, progress: Option<&dyn Progress>) -> Result<Vec<Slot>, ReadError> {
    let mut scan = Scan::new(form);
    scan.go_on(file, progress)?;
    Ok(scan.chat.into_messages())
}

/// A scan that goes on where it ended, when more was written.
pub(super) struct Scan {
    scanner: Scanner,
    chat: Replay<Slot>,
    listed: Vec<(Option<u64>, Slot)>,
}

impl Scan {
    pub(super) fn new(form: Form) -> Self {
        Self { scanner: Scanner::new(form), chat: Replay::default(), listed: Vec::new() }
    }

    /// How far the file was read.
    pub(super) fn end(&self) -> u64 {
        self.scanner.at()
    }

    /// Whether a record is begun and not ended.
    pub(super) fn is_torn(&self) -> bool {
        self.scanner.is_open()
    }

    /// The messages, as far as the file was read.
    pub(super) fn slots(&self) -> Vec<Slot> {
        self.chat.iter().cloned().collect()
    }

    /// Reads to the end of the file.
    pub(super) fn go_on(&mut self, file: &File, progress: Option<&dyn Progress>) -> Result<(), ReadError> {
        let Self { scanner, chat, listed } = self;
        let scanned = scan::file(file, scanner, progress, |piece| {
            let slot = |kind| Slot { at: piece.at, length: piece.length, kind, mark: hash(piece.json) };
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
            let mut listed = std::mem::take(listed);
            if lists {
                // What a torn record before it listed is none of its own.
                listed.retain(|(_, slot)| slot.at >= piece.at);
                chat.replace(listed);
            }
        });
        scanner.rest();
        scanned
    }
}

/// Reads one page.
pub(super) fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let file = open_regular(&session.location)?;
    let slots = slots(&file, form(&session.location), Some(request.progress))?;
    page(file, slots, request)
}

/// Reads one page of messages that were found.
pub(super) fn page(file: File, slots: Vec<Slot>, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let chat = Slots { file, slots };
    let mut end = match request.cursor {
        Some(cursor) => Place::parse(cursor).filter(|place| place.slot <= chat.slots.len()).ok_or(ReadError::Cursor)?,
        None => Place { slot: chat.slots.len(), part: 0 },
    };
    let marks = chat.marks();
    let (mut newest_first, mut places, mut unfinished) = (Vec::new(), Vec::new(), false);
    while newest_first.len() < request.limit && end.slot + end.part > 0 {
        if request.progress.is_cancelled() {
            return Err(ReadError::Cancelled);
        }
        if end.part == 0 {
            end = Place { slot: end.slot - 1, part: usize::MAX };
        }
        let mut messages = chat.messages(end.slot)?;
        messages.truncate(end.part);
        let from = messages.len().saturating_sub(request.limit - newest_first.len());
        let mark = marks.get(end.slot).copied().unwrap_or_default();
        places.extend((from..messages.len()).rev().map(|part| format!("{}.{part}.{mark:x}", end.slot)));
        newest_first.extend(messages.drain(from..).rev());
        unfinished |= newest_first.len() == 1 && is_unfinished(&newest_first[0]);
        end.part = from;
    }
    newest_first.reverse();
    places.reverse();
    let next = (end.slot + end.part > 0).then(|| format!("{}.{}", end.slot, end.part));
    Ok(Page { messages: newest_first, places, next, unfinished })
}

/// Whether an answer says nothing yet: the program writes it down again with the tools that it calls.
fn is_unfinished(message: &Message) -> bool {
    let thought = |block: &Block| matches!(block, Block::Thinking { .. });
    message.role == Role::Assistant && message.content.iter().all(thought)
}

/// Hashes bytes for a position. A client may keep positions, so the hash is the same in every build.
fn hash(bytes: &[u8]) -> u64 {
    let digest = blake3::hash(bytes);
    digest.as_bytes()[..8].iter().fold(0, |hash, byte| hash << 8 | u64::from(*byte))
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
    /// A mark of all that comes before each message: the program may change any of it.
    fn marks(&self) -> Vec<u64> {
        let before = |mark: &mut u64, slot: &Slot| {
            let own = *mark;
            *mark = hash(&[mark.to_le_bytes(), slot.mark.to_le_bytes()].concat());
            Some(own)
        };
        self.slots.iter().scan(0, before).collect()
    }

    fn messages(&self, slot: usize) -> Result<Vec<Message>, ReadError> {
        let Some(own) = self.slots.get(slot) else { return Err(ReadError::Cursor) };
        if own.length > limits::LINE_MAX as u64 {
            return Ok(vec![too_long(own.length)]);
        }
        let json = self.json(own)?;
        let record = Record::parse(&json).ok_or_else(changed)?;
        let told = if own.kind == Kind::Results { self.told_before(slot)? } else { Vec::new() };
        Ok(message::messages(&record, &told))
    }

    /// The results that the answer before a record tells.
    fn told_before(&self, slot: usize) -> Result<Vec<String>, ReadError> {
        let before = self.slots[..slot].iter().rev().find(|before| before.kind != Kind::Results);
        let Some(answer) = before.filter(|before| before.kind == Kind::Answer) else { return Ok(Vec::new()) };
        let json = self.json(answer)?;
        Ok(Record::parse(&json).map(|record| message::told(&record)).unwrap_or_default())
    }

    fn json(&self, slot: &Slot) -> Result<Vec<u8>, ReadError> {
        let mut json = vec![0; slot.length.min(limits::LINE_MAX as u64) as usize];
        let count = read_at(&self.file, &mut json, slot.at)?;
        json.truncate(count);
        Ok(json)
    }
}

fn changed() -> ReadError {
    ReadError::Malformed("it changed while it was read".to_owned())
}

fn too_long(bytes: u64) -> Message {
    let content = vec![Block::Other { kind: "too_long".to_owned(), raw: json!({ "bytes": bytes }) }];
    Message { id: None, role: Role::System, timestamp_ms: None, model: None, parent_id: None, content, raw: None }
}
