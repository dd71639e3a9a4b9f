//! What a list needs of a session, from its two ends.

use super::record::Record;
use crate::harness::jsonl::{HeadTail, first_record};
use crate::harness::middle::Remembered;
use crate::harness::text::{self, member};
use crate::harness::{Progress, ReadError, Session, Source, beginning, ids, walk};
use crate::limits;
use crate::platform::files::{open_regular, read_at};
use crate::protocol::{Parent, Relation, Role};
use memchr::memmem::Finder;
use std::fs::File;
use std::path::Path;

/// What one end tells.
#[derive(Default)]
struct Facts {
    records: bool,
    messages: bool,
    id: Option<Box<str>>,
    workspace: Option<Box<str>>,
    parent: Option<Box<Path>>,
    created_at_ms: Option<i64>,
    /// What a person called it last; an empty name takes the name away.
    name: Option<Option<Box<str>>>,
    prompt: Option<Box<str>>,
    beginning: Option<u64>,
    /// The model that answered last, and the one that was chosen last.
    model: Option<Box<str>>,
    chosen: Option<Box<str>>,
    updated_at_ms: Option<i64>,
}

impl Facts {
    fn of<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut facts = Self::default();
        for record in lines.filter_map(Record::parse) {
            facts.records = true;
            match record.kind().as_ref() {
                "session" if facts.id.is_none() => facts.take_header(&record),
                "session_info" => facts.name = Some(name_of(&record)),
                "model_change" => facts.chosen = owned(member(record.model_id)).or(facts.chosen),
                "message" => facts.take_message(&record),
                _ => {}
            }
        }
        facts
    }

    fn take_header(&mut self, record: &Record<'_>) {
        self.id = owned(member(record.id));
        self.workspace = member(record.cwd).and_then(|cwd| text::workspace(&cwd));
        self.parent = member(record.parent_session).map(|path| Path::new(path.as_ref()).into());
        self.created_at_ms = record.time();
    }

    fn take_message(&mut self, record: &Record<'_>) {
        self.messages = true;
        let Some((role, spoken)) = record.spoken() else { return };
        let time = spoken.time().or_else(|| record.time());
        self.updated_at_ms = self.updated_at_ms.max(time);
        self.beginning.get_or_insert_with(|| beginning((spoken.text(), time)));
        if role == Role::Assistant {
            self.model = owned(member(spoken.model)).or(self.model.take());
        } else if self.prompt.is_none() {
            self.prompt = spoken.text().and_then(|text| text::title(&text));
        }
    }
}

/// The name that a person gave; `None` where it takes the name away.
fn name_of(record: &Record<'_>) -> Option<Box<str>> {
    member(record.name).and_then(|name| text::given_title(&name))
}

fn owned(text: Option<impl AsRef<str>>) -> Option<Box<str>> {
    text.filter(|text| !text.as_ref().is_empty()).map(|text| text.as_ref().into())
}

/// Reads a session from the two ends of its file.
pub(super) fn session(source: &Source, ends: &mut HeadTail) -> Result<Session, ReadError> {
    let file = ends.open(&source.path)?;
    let head = head(&file, ends)?;
    let tail = loop {
        let mut lines: Vec<_> = if ends.whole() { Vec::new() } else { ends.tail_reversed().collect() };
        lines.reverse();
        let tail = Facts::of(lines.into_iter());
        if ends.whole() || tail.updated_at_ms.is_some() || !ends.grow_tail(&file)? {
            break tail;
        }
    };
    if !head.records {
        return Err(ReadError::NoRecords);
    }
    if ends.whole() && !head.messages {
        return Err(ReadError::NoMessages);
    }
    let known = head.id.is_some();
    let id = head.id.or_else(|| owned(id_in_name(&source.path))).filter(|id| ids::is_usable(id));
    let mut session = Session::new(&id.ok_or(ReadError::NoRecords)?, source);
    session.late_title = tail.name.is_none() && !ends.whole();
    session.title = tail.name.or(head.name).flatten().or(head.prompt);
    session.workspace = head.workspace;
    session.beginning = head.beginning;
    session.model = tail.model.or(head.model).or(tail.chosen).or(head.chosen);
    session.created_at_ms = head.created_at_ms;
    let spoken = if ends.whole() { head.updated_at_ms.or(head.created_at_ms) } else { tail.updated_at_ms };
    session.updated_at_ms = spoken.or(session.updated_at_ms);
    session.parent = head.parent.map(|path| Parent { session_id: id_of(&path), relation: Relation::Fork });
    // Its program opens no file without a header.
    session.resumable = known;
    Ok(session)
}

/// Reads as much of the beginning of a file as tells the id and the first prompt.
fn head(file: &File, ends: &mut HeadTail) -> Result<Facts, ReadError> {
    loop {
        let head = Facts::of(ends.head());
        if (head.id.is_some() && head.prompt.is_some()) || !ends.grow_head(file)? {
            return Ok(head);
        }
    }
}

/// Reads the name that the last `session_info` record gave, wherever in the file it lies. Without one the prompt is the
/// title.
pub(super) fn late_title(session: &Session, progress: &dyn Progress) -> Option<Box<str>> {
    static KNOWN: Remembered<Option<Option<Box<str>>>> = Remembered::new();
    let file = open_regular(&session.location).ok()?;
    let kind = Finder::new("\"session_info\"");
    let named = KNOWN.read(&file, &session.location, &[&kind], progress, |name, line| {
        if let Some(record) = Record::parse(line).filter(|record| record.is("session_info")) {
            *name = Some(name_of(&record));
        }
    });
    match named.ok()?? {
        Some(name) => Some(name),
        None => {
            let mut ends = HeadTail::default();
            ends.load(&file).ok()?;
            head(&file, &mut ends).ok()?.prompt
        }
    }
}

/// The id of the session in a file: as its program names files, the file's name tells it. A file of another name, or
/// one that is gone with the home that it lay in, must tell itself.
fn id_of(path: &Path) -> Option<String> {
    let own = || {
        let file = open_regular(path).ok()?;
        let mut head = vec![0; limits::HEAD_FIRST];
        let count = read_at(&file, &mut head, 0).ok()?;
        let header = Record::parse(first_record(&head[..count])?)?;
        member(header.id).filter(|_| header.is("session")).map(String::from)
    };
    id_in_name(path).map(str::to_owned).or_else(own)
}

/// The id in the name `<time>_<id>.jsonl`.
fn id_in_name(path: &Path) -> Option<&str> {
    let (time, id) = walk::stem(path).split_once('_')?;
    (time.contains('T') && time.starts_with(|first: char| first.is_ascii_digit()) && !id.is_empty()).then_some(id)
}
