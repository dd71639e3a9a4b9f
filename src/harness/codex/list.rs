//! What a list needs of one thread: all of its current segment's two ends, and the heads of those before it.

use super::files::{SegmentName, is_archived};
use super::lineage::part;
use super::record::{Base, Meta, NEEDLES, Record};
use super::rollout::Rollout;
use crate::harness::{Part, ReadError, Reading, Session, Source, beginning, jsonl::HeadTail, text};
use crate::protocol::Role;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How many of the newest messages are looked at for the newest time: they are in order, or nearly.
const NEWEST: usize = 4;

/// Reads one thread.
pub(super) fn read(source: &Source, ends: &mut HeadTail) -> Result<Reading, ReadError> {
    let mut skipped = Vec::new();
    let mut newest_first = source.parts.iter().rev().map(|part| &*part.path);
    let mut path = newest_first.next().unwrap_or(&source.path);
    // A newest segment that cannot be read, as one that is being written, leaves the thread as it was before.
    let (mut session, opening) = loop {
        match (segment(source, path, ends), newest_first.next()) {
            (Ok(read), _) => break read,
            (Err(skip), None) => return Err(skip),
            (Err(skip), Some(earlier)) => {
                skipped.push((path.to_owned(), skip));
                path = earlier;
            }
        }
    };
    add_earlier(&mut session, opening.base(), &mut skipped);
    skipped.retain(|(_, skip)| skip.is_problem());
    Ok(Reading { sessions: vec![session], skipped, ..Reading::default() })
}

/// Reads one segment by itself.
fn segment(source: &Source, path: &Path, ends: &mut HeadTail) -> Result<(Session, Opening), ReadError> {
    let rollout = Rollout::open(path)?;
    let opening = Opening::read(&rollout, ends)?;
    let mut trail = Trail::default();
    trail.follow(ends.tail_reversed());
    while trail.messages == 0 && rollout.grow_tail(ends)? {
        trail.follow(ends.tail_reversed());
    }
    // A message of the head is the newest only where nothing between the head and the tail was left out.
    let newest_seen = trail.messages > 0 || ends.whole();
    if trail.model.is_none() || trail.messages == 0 {
        trail.follow(ends.head().rev());
    }
    let name = SegmentName::of(path);
    if trail.messages == 0 {
        let continues = name.is_some_and(|name| !name.is_first()) || opening.base().is_some();
        no_message(&opening, ends, continues)?;
    }

    let id = opening.meta.as_ref().and_then(|meta| meta.id.as_deref()).or(name.map(|name| name.thread));
    let mut session = Session::new(id.ok_or(ReadError::Name)?, source);
    session.location = path.into();
    if let Some(name) = name.filter(|name| session.parts.is_empty() && !name.is_first()) {
        session.parts = Box::new([Part { id: name.segment.into(), path: path.into() }]);
    }
    let last_record = || ends.tail_reversed().find_map(|line| Record::parse(line)?.time());
    let updated = if newest_seen && trail.messages > 0 { trail.newest } else { last_record() };
    session.updated_at_ms = updated.or(session.updated_at_ms);
    session.title = opening.title.clone();
    session.beginning = opening.beginning;
    session.model = trail.model;
    session.workspace = trail.workspace;
    session.archived = is_archived(path);
    if let Some(meta) = &opening.meta {
        session.created_at_ms = meta.created_at_ms;
        session.workspace = meta.workspace.clone().or(session.workspace);
        session.parent = meta.parent.clone();
        session.resumable = !meta.bare;
    }
    Ok((session, opening))
}

/// Adds what the segments before the current one say: the first prompt, when the thread began, and the model where nothing
/// was said since.
fn add_earlier(session: &mut Session, base: Option<&Base>, skipped: &mut Vec<(PathBuf, ReadError)>) {
    let mut ends = HeadTail::default();
    let mut openings: HashMap<&str, (&Path, Opening)> = HashMap::new();
    for Part { id, path } in session.parts.iter().filter(|part| part.path != session.location) {
        match Rollout::open(path).map_err(ReadError::from).and_then(|rollout| Opening::read(&rollout, &mut ends)) {
            Ok(opening) => drop(openings.insert(id, (path, opening))),
            Err(skip) => skipped.push((path.to_path_buf(), skip)),
        }
    }
    let (mut title, mut model) = (session.title.take(), session.model.take());
    let mut next = base;
    for _ in 0..=session.parts.len() {
        let Some(base) = next else { break };
        let Some((path, opening)) = openings.get(&*base.segment) else { break };
        let stands = opening.ordinal.zip(base.end_ordinal).is_none_or(|(ordinal, end)| ordinal < end);
        title = opening.title.clone().filter(|_| stands).or(title);
        model = model.or_else(|| model_of(path, base, &mut ends));
        next = opening.base();
    }
    session.continues =
        next.filter(|base| part(&session.parts, &base.segment).is_none()).map(|base| base.segment.clone());
    if let Some((_, first)) = openings.get(&*session.id) {
        session.beginning = first.beginning;
        session.created_at_ms = first.meta.as_ref().and_then(|meta| meta.created_at_ms);
        // Codex keeps the first prompt as the title where the revert left nothing of the conversation.
        title = title.or_else(|| first.title.clone());
    } else if SegmentName::of(&session.location).is_some_and(|name| !name.is_first()) {
        // The time in a later segment is that of the revert, its first message is not the first of the thread.
        (session.created_at_ms, session.beginning) = (None, None);
    }
    (session.title, session.model) = (title, model);
}

/// The model of the newest turn of a base.
fn model_of(path: &Path, base: &Base, ends: &mut HeadTail) -> Option<Box<str>> {
    let mut trail = Trail::default();
    Rollout::open_base(path, base).ok()?.load(ends).ok()?;
    trail.follow(ends.tail_reversed().chain(ends.head().rev()));
    trail.model
}

/// Of a rollout in which no message was found: whether there is none.
fn no_message(opening: &Opening, ends: &HeadTail, continues: bool) -> Result<(), ReadError> {
    let mut lines = ends.head().chain(ends.tail_reversed());
    if opening.meta.is_none() && lines.all(|line| Record::parse(line).is_none()) {
        return Err(if ends.is_torn() { ReadError::NoMessages } else { ReadError::NoRecords });
    }
    let is_turn = |line: &[u8]| NEEDLES.started.find(line).is_some() || NEEDLES.turn.find(line).is_some();
    let started = ends.head().chain(ends.tail_reversed()).any(is_turn);
    if ends.whole() && !continues && !started { Err(ReadError::NoMessages) } else { Ok(()) }
}

/// What the head tells: the first account that the session gives of itself, and the first prompt.
#[derive(Default)]
struct Opening {
    meta: Option<Meta>,
    title: Option<Box<str>>,
    /// The hash of the first prompt, whether or not it was rolled back later.
    beginning: Option<u64>,
    /// The ordinal of the record with the first prompt.
    ordinal: Option<u64>,
}

impl Opening {
    fn base(&self) -> Option<&Base> {
        self.meta.as_ref()?.base.as_ref()
    }

    /// Reads as much of the head as it takes.
    fn read(rollout: &Rollout, ends: &mut HeadTail) -> Result<Self, ReadError> {
        rollout.load(ends)?;
        let mut opening = Self::of(ends);
        while opening.title.is_none() && rollout.grow_head(ends)? {
            opening = Self::of(ends);
        }
        Ok(opening)
    }

    fn of(ends: &HeadTail) -> Self {
        let mut opening = Self::default();
        let is_rolled_back = ends.head().any(|line| NEEDLES.rolled_back.find(line).is_some());
        // The prompts that stand, in each of the forms in which they are written, and the first one ever.
        let mut standing: [Vec<Prompt>; 3] = Default::default();
        let mut first: Option<Prompt> = None;
        for line in ends.head() {
            let matters = NEEDLES.message.find(line).is_some() || NEEDLES.rolled_back.find(line).is_some();
            if opening.meta.is_some() && !matters {
                continue;
            }
            let Some(record) = Record::parse(line) else { continue };
            if opening.meta.is_none() {
                opening.meta = record.meta();
            }
            if let Some(turns) = record.turns_rolled_back() {
                let turns = usize::try_from(turns).unwrap_or(usize::MAX);
                standing.iter_mut().for_each(|form| form.truncate(form.len().saturating_sub(turns)));
            }
            if first.is_none() {
                first = record.replacement_history().into_iter().find_map(|item| {
                    let item = Record::parse(item.get().as_bytes())?;
                    Prompt::of(item.message()?.prompt()?, &record)
                });
            }
            let message = record.message().filter(|message| message.role == Role::User);
            if let Some(message) = message.filter(|message| message.is_genuine()) {
                let prompt = message.prompt().and_then(|prompt| Prompt::of(prompt, &record));
                first = first.or_else(|| prompt.clone());
                standing[message.family as usize].push(prompt.unwrap_or_default());
            }
            if first.is_some() && !is_rolled_back {
                break;
            }
        }
        let mut standing =
            standing.into_iter().filter_map(|form| form.into_iter().find(|prompt| prompt.title.is_some()));
        let beginning = first.as_ref().and_then(|first| first.beginning);
        let title = if is_rolled_back { standing.next().or(first) } else { first };
        let Prompt { title, ordinal, .. } = title.unwrap_or_default();
        Self { title, beginning, ordinal, ..opening }
    }
}

/// A prompt, as the title of its session.
#[derive(Clone, Default)]
struct Prompt {
    title: Option<Box<str>>,
    beginning: Option<u64>,
    ordinal: Option<u64>,
}

impl Prompt {
    fn of(prompt: String, record: &Record<'_>) -> Option<Self> {
        let title = Some(text::title(&prompt)?);
        Some(Self { title, beginning: Some(beginning((prompt, record.time()))), ordinal: record.ordinal() })
    }
}

/// What the newest lines tell, from the last one back.
#[derive(Default)]
struct Trail {
    messages: usize,
    newest: Option<i64>,
    model: Option<Box<str>>,
    workspace: Option<Box<str>>,
}

impl Trail {
    fn follow<'a>(&mut self, lines: impl Iterator<Item = &'a [u8]>) {
        for line in lines {
            if self.messages == NEWEST && self.model.is_some() {
                break;
            }
            if self.model.is_none() && NEEDLES.turn.find(line).is_some() {
                if let Some(turn) = Record::parse(line).and_then(|record| record.turn()) {
                    (self.model, self.workspace) = (turn.model, turn.workspace);
                }
            } else if self.messages < NEWEST
                && NEEDLES.message.find(line).is_some()
                && let Some(record) = Record::parse(line)
                && let Some(message) = record.message().filter(|message| message.is_genuine())
            {
                self.messages += 1;
                self.newest = self.newest.max(message.time());
            }
        }
    }
}
