//! What a list needs of a session, from the files of its family.

use super::message::Line;
use super::{ARCHIVED, META};
use crate::harness::jsonl::HeadTail;
use crate::harness::text::{self, member};
use crate::harness::{ReadError, Session, Source, beginning, ids, walk};
use crate::limits;
use crate::platform::files::read_small;
use crate::protocol::{Parent, Relation, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::Path;

/// Characters of the mark with which a name begins.
const MARK: usize = 16;
/// Messages that a conversation's first call of the model is about: the program's prompt and the person's.
const OPENING: u64 = 2;

/// The small files of a family, as far as they matter here. Every member may be of any kind.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Side<'a> {
    title: Option<&'a RawValue>,
    forked_from: Option<&'a RawValue>,
    timestamp_ms: Option<&'a RawValue>,
    model: Option<&'a RawValue>,
    served_model: Option<&'a RawValue>,
    messages: Option<&'a RawValue>,
}

impl<'a> Side<'a> {
    fn parse(json: &'a [u8]) -> Option<Self> {
        serde_json::from_str(std::str::from_utf8(json).ok()?).ok()
    }

    fn time(&self) -> Option<i64> {
        self.timestamp_ms?.get().parse().ok()
    }

    fn model(&self) -> Option<Box<str>> {
        let named = |raw| member(raw).filter(|model| !model.is_empty());
        named(self.served_model).or_else(|| named(self.model)).map(|model| model.as_ref().into())
    }

    /// Whether it is about the first call of the model in a conversation.
    fn is_opening(&self) -> bool {
        self.messages.and_then(|count| count.get().parse::<u64>().ok()).is_some_and(|count| count <= OPENING)
    }
}

/// Reads a session.
pub(super) fn session(source: &Source, ends: &mut HeadTail) -> Result<Session, ReadError> {
    let name = walk::stem(&source.path);
    if !ids::is_usable(name) {
        return Err(ReadError::Name);
    }
    let mut session = Session::new(name, source);
    let (prompt, beginning) = conversation(&source.path, ends)?;
    session.beginning = beginning;
    let beside = |ending: &str| source.path.with_file_name(format!("{name}{ending}"));
    let meta = read_small(&beside(META), limits::SIDE_FILE).unwrap_or_default();
    let title = Side::parse(&meta).and_then(|meta| text::given_title(&member(meta.title)?));
    session.title = title.or(prompt);
    session.workspace_mark = mark(name).map(Box::from);
    session.archived = source.path.parent().is_some_and(|directory| directory.ends_with(ARCHIVED));
    let (usage, events) = (log(&beside(".usage.jsonl"), ends), log(&beside(".events.jsonl"), ends));
    session.model = usage.model.or(events.model);
    session.created_at_ms = events.opened_at_ms;
    session.updated_at_ms = usage.last_at_ms.max(events.last_at_ms).or(session.updated_at_ms);
    let fork = read_small(&beside(".fork.json"), limits::SIDE_FILE).unwrap_or_default();
    if let Some(fork) = Side::parse(&fork) {
        session.created_at_ms = fork.time().or(session.created_at_ms);
        let session_id = member(fork.forked_from).map(String::from);
        session.parent = Some(Parent { session_id, relation: Relation::Fork });
    }
    Ok(session)
}

/// The first prompt of a conversation that somebody spoke in, and the hash of its first message.
fn conversation(path: &Path, ends: &mut HeadTail) -> Result<(Option<Box<str>>, Option<u64>), ReadError> {
    let file = ends.open(path)?;
    loop {
        let mut lines = ends.head().filter_map(Line::parse).peekable();
        let records = lines.peek().is_some();
        let mut spoken = lines.filter(|line| line.role().is_some()).peekable();
        let first = spoken.peek().map(|line| beginning(line.text()));
        let prompts = spoken.filter(|line| line.role() == Some(Role::User));
        let prompt = prompts.filter_map(|line| text::title(&line.text()?)).next();
        if prompt.is_some() || !ends.grow_head(&file)? {
            return match (records, first.is_some() || !ends.whole()) {
                (false, _) => Err(ReadError::NoRecords),
                (true, false) => Err(ReadError::NoMessages),
                (true, true) => Ok((prompt, first)),
            };
        }
    }
}

/// The mark of a directory with which the name of a session begins.
fn mark(name: &str) -> Option<&str> {
    let (mark, rest) = name.split_at_checked(MARK)?;
    let is_mark = mark.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_mark && rest.starts_with('-')).then_some(mark)
}

/// What a log beside a conversation knows.
#[derive(Default)]
struct Log {
    model: Option<Box<str>>,
    opened_at_ms: Option<i64>,
    last_at_ms: Option<i64>,
}

fn log(path: &Path, ends: &mut HeadTail) -> Log {
    if ends.open(path).is_err() {
        return Log::default();
    }
    // Each run begins its log anew, so the first line is of the session's beginning only where it says so.
    let first = ends.head().find_map(Side::parse).filter(Side::is_opening);
    let mut last = ends.tail_reversed().filter_map(Side::parse).peekable();
    Log {
        opened_at_ms: first.and_then(|first| first.time()),
        last_at_ms: last.peek().and_then(Side::time),
        model: last.find_map(|line| line.model()),
    }
}
