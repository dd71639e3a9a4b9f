//! What the ends of a chat's file tell of it.

use super::record::{Change, Kind, Record, time};
use super::replay::Replay;
use super::scan::{Form, Scanner};
use crate::harness::ReadError;
use crate::harness::jsonl::HeadTail;
use crate::harness::text::{self, member};
use crate::limits;
use crate::platform::files::{open_sized, read_at};
use crate::protocol::{LastMessage, Role};
use memchr::memmem;
use serde_json::value::RawValue;
use std::fs::File;
use std::path::Path;

/// A chat, as far as one part of its file tells it.
#[derive(Default)]
pub(super) struct Chat<'a> {
    pub header: Header,
    pub messages: Replay<Record<'a>>,
}

/// What a chat says of itself.
#[derive(Clone, Default)]
pub(super) struct Header {
    /// Whether there was any record.
    pub records: bool,
    pub id: Option<Box<str>>,
    pub project_hash: Option<Box<str>>,
    pub summary: Option<Box<str>>,
    pub created_at_ms: Option<i64>,
    pub last_updated_ms: Option<i64>,
}

impl<'a> Chat<'a> {
    fn of_lines(lines: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut chat = Self::default();
        lines.filter_map(Record::parse).for_each(|record| chat.take(record));
        chat
    }

    /// The chat of a file in one record, perhaps cut.
    fn of_record(json: &'a [u8]) -> Self {
        let mut chat = Self::default();
        let mut scanner = Scanner::new(Form::Whole);
        let mut listed = Vec::new();
        scanner.feed(json, &mut |piece| {
            if piece.listed {
                listed.push(piece.at as usize..(piece.at + piece.length) as usize);
            } else if let Some(record) = Record::parse(piece.json) {
                chat.header.merge(&record);
            }
        });
        if let Some(record) = scanner.unfinished().as_deref().and_then(Record::parse) {
            chat.header.merge(&record);
        }
        for record in listed.into_iter().filter_map(|range| Record::parse(json.get(range)?)) {
            chat.messages.put(record.key(), record);
        }
        chat
    }

    /// The end of a chat in one record. The program indents it, so that the depth of a line shows.
    fn of_record_end(json: &'a [u8]) -> Self {
        const OPEN: &[u8] = b"\n    {";
        const CLOSE: &[u8] = b"\n    }";
        const LAST: &[u8] = b"\n  ],";
        let mut chat = Self::default();
        let mut rest = json;
        while let Some(start) = memmem::find(rest, OPEN) {
            let message = &rest[start..];
            let Some(end) = memmem::find(message, CLOSE) else { break };
            let (message, after) = message.split_at(end + CLOSE.len());
            if let Some(record) = Record::parse(message) {
                chat.messages.put(record.key(), record);
            }
            rest = after;
        }
        if let Some(end) = memmem::find(rest, LAST) {
            let members = [b"{", &rest[end + LAST.len()..]].concat();
            Record::parse(&members).iter().for_each(|members| chat.header.merge(members));
        }
        chat
    }

    fn take(&mut self, record: Record<'a>) {
        self.header.records = true;
        let changed = match record.change() {
            Change::Rewind(key) => return self.messages.rewind(key),
            Change::Put(key, _) => return self.messages.put(Some(key), record),
            Change::Set(set) => *set,
            Change::Header => record,
        };
        self.header.merge(&changed);
        if let Some(messages) = changed.messages {
            let messages: Vec<&RawValue> = serde_json::from_str(messages.get()).unwrap_or_default();
            let records = messages.into_iter().filter_map(Record::of);
            self.messages.replace(records.map(|record| (record.key(), record)));
        }
    }

    /// What people wrote, oldest first.
    pub(super) fn prompts(&self) -> impl Iterator<Item = String> {
        self.messages.iter().filter_map(Record::prompt)
    }

    /// The model that answered last.
    pub(super) fn model(&self) -> Option<Box<str>> {
        let answers = self.messages.iter().rev().filter(|record| record.kind() == Some(Kind::Answer));
        answers.filter_map(Record::model).next().map(|model| model.as_ref().into())
    }

    /// The newest prompt or answer.
    pub(super) fn updated_at_ms(&self) -> Option<i64> {
        self.spoken().filter_map(Record::time).max()
    }

    /// Prompts and answers.
    pub(super) fn spoken(&self) -> impl DoubleEndedIterator<Item = &Record<'a>> {
        self.messages.iter().filter(|record| matches!(record.kind(), Some(Kind::Prompt | Kind::Answer)))
    }

    /// The newest message with text.
    pub(super) fn last_message(&self) -> Option<LastMessage> {
        self.spoken().rev().find_map(|record| {
            let role = if record.kind() == Some(Kind::Answer) { Role::Assistant } else { Role::User };
            Some(LastMessage { role, text: text::excerpt(&record.spoken()?)?, timestamp_ms: record.time() })
        })
    }
}

impl Header {
    fn merge(&mut self, record: &Record<'_>) {
        let owned = |raw: Option<&RawValue>| member(raw).map(|text| text.as_ref().into());
        self.records = true;
        // A chat that is resumed may get a second header: it began with the first.
        self.id = self.id.take().or_else(|| owned(record.session_id));
        self.project_hash = self.project_hash.take().or_else(|| owned(record.project_hash));
        self.created_at_ms = self.created_at_ms.or_else(|| time(record.start_time));
        self.last_updated_ms = time(record.last_updated).or(self.last_updated_ms);
        self.summary = member(record.summary).and_then(|summary| text::given_title(&summary)).or(self.summary.take());
    }
}

/// The ends of a chat's file.
pub(super) struct Reader<'e> {
    pub file: File,
    form: Form,
    ends: &'e mut HeadTail,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl<'e> Reader<'e> {
    pub(super) fn open(path: &Path, ends: &'e mut HeadTail) -> Result<Self, ReadError> {
        let (file, size) = open_sized(path)?;
        let form = form(path);
        let mut reader = Self { file, form, ends, head: Vec::new(), tail: Vec::new() };
        match form {
            Form::Log => reader.ends.load_sized(&reader.file, size)?,
            Form::Whole => reader.load_record(size)?,
        }
        Ok(reader)
    }

    /// A record has no lines by which a cut part of it could grow, so all that may be read is.
    fn load_record(&mut self, size: u64) -> Result<(), ReadError> {
        if size == 0 {
            return Err(ReadError::Empty);
        }
        let part = |at: u64, max: usize| {
            let mut part = vec![0; usize::try_from(size - at).unwrap_or(max).min(max)];
            let count = read_at(&self.file, &mut part, at)?;
            part.truncate(count);
            Ok::<_, std::io::Error>(part)
        };
        let head = part(0, limits::HEAD_MAX)?;
        let rest = size.saturating_sub(head.len() as u64).min(limits::TAIL_MAX as u64);
        let tail = part(size - rest, limits::TAIL_MAX)?;
        (self.head, self.tail) = (head, tail);
        Ok(())
    }

    /// What the head tells.
    pub(super) fn head(&self) -> Chat<'_> {
        match self.form {
            Form::Log => Chat::of_lines(self.ends.head()),
            Form::Whole => Chat::of_record(&self.head),
        }
    }

    /// What the tail tells, where it is not part of the head.
    pub(super) fn tail(&self) -> Option<Chat<'_>> {
        match self.form {
            _ if self.whole() => None,
            Form::Log => {
                let mut lines: Vec<_> = self.ends.tail_reversed().collect();
                lines.reverse();
                Some(Chat::of_lines(lines.into_iter()))
            }
            Form::Whole => Some(Chat::of_record_end(&self.tail)),
        }
    }

    /// Whether the head is the whole file.
    pub(super) fn whole(&self) -> bool {
        match self.form {
            Form::Log => self.ends.whole(),
            Form::Whole => self.tail.is_empty(),
        }
    }

    /// Reads more of the head. False when there is no more within the bounds.
    pub(super) fn grow_head(&mut self) -> Result<bool, ReadError> {
        if self.form == Form::Whole { Ok(false) } else { self.ends.grow_head(&self.file) }
    }

    /// Reads more of the tail. False when there is no more within the bounds.
    pub(super) fn grow_tail(&mut self) -> Result<bool, ReadError> {
        if self.form == Form::Whole { Ok(false) } else { self.ends.grow_tail(&self.file) }
    }
}

/// How a file of this name is written.
pub(super) fn form(path: &Path) -> Form {
    if path.extension().is_some_and(|ending| ending == "json") { Form::Whole } else { Form::Log }
}
