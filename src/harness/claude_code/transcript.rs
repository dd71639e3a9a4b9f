//! What a list needs of a transcript, from its two ends.

use super::moved::Moves;
use super::record::{Record, command};
use super::titles::Titles;
use super::{is_agent, message, names, side};
use crate::harness::backward::Backward;
use crate::harness::jsonl::HeadTail;
use crate::harness::text::{self, member};
use crate::harness::walk::stem;
use crate::harness::{NoProgress, ReadError, Session, Source, Team, beginning};
use crate::limits;
use crate::protocol::{Parent, Relation, Role};
use memchr::memmem::Finder;
use serde_json::value::RawValue;
use std::fs::File;
use std::path::Path;
use std::sync::LazyLock;

/// What the lines of a tail that matter contain, to leave the others unparsed.
struct Needles {
    user: Finder<'static>,
    assistant: Finder<'static>,
    /// Of either kind.
    title: Finder<'static>,
    continued: Finder<'static>,
    relocated: Finder<'static>,
    worktree: Finder<'static>,
}

static NEEDLES: LazyLock<Needles> = LazyLock::new(|| Needles {
    user: Finder::new("\"user\""),
    assistant: Finder::new("\"assistant\""),
    title: Finder::new("-title\""),
    continued: Finder::new("\"continued-in\""),
    relocated: Finder::new("\"relocated\""),
    worktree: Finder::new("\"worktree-state\""),
});

/// What the ends of a transcript tell.
#[derive(Default)]
pub(super) struct Facts {
    records: bool,
    messages: bool,
    whole: bool,
    torn: bool,
    workspace: Option<Box<str>>,
    moves: Moves,
    prompt: Option<Box<str>>,
    /// What another agent asked for first, or the program itself.
    told: Option<Box<str>>,
    command: Option<Box<str>>,
    head: Titles,
    tail: Titles,
    /// What `/rename` left beside the transcript.
    renamed: Option<Box<str>>,
    summary: Option<Box<str>>,
    model: Option<Box<str>>,
    created_at_ms: Option<i64>,
    updated_at_ms: Option<i64>,
    archived: bool,
    continued_in: Option<Box<str>>,
    first_message: Option<Box<str>>,
    /// Whether the first message is of a subagent.
    is_sidechain: bool,
    forked_from: Option<Box<str>>,
    team: Option<Team>,
    /// The lead of the team of a member of it.
    lead: Option<String>,
    named_session: Option<Box<str>>,
}

impl Facts {
    pub(super) fn gather(file: &File, source: &Source, ends: &mut HeadTail) -> Result<Self, ReadError> {
        let mut facts = Self::default();
        loop {
            facts.take_head(ends);
            if facts.head_is_enough() || !ends.grow_head(file)? {
                break;
            }
        }
        loop {
            facts.take_tail(ends);
            if facts.updated_at_ms.is_some() || !ends.grow_tail(file)? {
                break;
            }
        }
        facts.whole = ends.whole();
        facts.torn = ends.is_torn();
        if !facts.whole {
            for record in ends.head_with(&NEEDLES.title).filter_map(Record::parse) {
                facts.head = Titles::of(&record).or(facts.head);
            }
        }
        if facts.workspace.is_none() {
            facts.workspace = ends.last_string("cwd").and_then(|cwd| text::workspace(&cwd));
        }
        let moves = std::mem::take(&mut facts.moves);
        let unread = (!facts.whole).then_some(|| Ok(names::of(file, &source.path, &NoProgress)?.moves));
        facts.workspace = moves.workspace(facts.workspace, &source.path, unread)?;
        if facts.updated_at_ms.is_none() {
            facts.updated_at_ms = ends.last_string("timestamp").and_then(|time| text::time(&time));
        }
        if source.beside.is_some() {
            facts.renamed = side::renamed(&source.path);
            facts.archived = is_archived(file, &source.path)?;
        }
        if let Some(Team { name, leads: false }) = &facts.team {
            facts.lead = side::team_lead(&source.path, name, ends);
        }
        Ok(facts)
    }

    /// Adds the names that stand anywhere in the transcript.
    pub(super) fn take_late(&mut self, titles: Titles) {
        self.head = titles.or(std::mem::take(&mut self.head));
    }

    fn head_is_enough(&self) -> bool {
        self.prompt.is_some() && self.workspace.is_some() && self.created_at_ms.is_some()
    }

    fn take_head(&mut self, ends: &HeadTail) {
        for record in ends.head().filter_map(Record::parse) {
            self.take_opening(&record);
            if self.head_is_enough() {
                break;
            }
        }
    }

    fn take_opening(&mut self, record: &Record<'_>) {
        self.records = true;
        self.moves = Moves::of(record).or(std::mem::take(&mut self.moves));
        if self.summary.is_none() && record.is("summary") {
            self.summary = title(record.summary);
        }
        if self.created_at_ms.is_none() {
            self.created_at_ms = record.time();
        }
        if self.workspace.is_none() {
            self.workspace = member(record.cwd).and_then(|cwd| text::workspace(&cwd));
        }
        if self.named_session.is_none() {
            self.named_session = member(record.session_id).map(|id| id.as_ref().into());
        }
        if !record.is_message() {
            return;
        }
        if !std::mem::replace(&mut self.messages, true) {
            self.first_message = member(record.uuid).map(|uuid| uuid.as_ref().into());
            self.is_sidechain = text::is_true(record.is_sidechain);
            self.forked_from = record.forked_from();
        }
        self.team = self.team.take().or_else(|| team(record));
        if self.prompt.is_none() {
            self.prompt = record.prompt().and_then(|prompt| text::title(&prompt));
        }
        if self.told.is_none() && self.prompt.is_none() {
            self.told = record.relayed().and_then(|text| text::title(&text));
            // Who is first spoken to by the lead of a team is a member of it.
            let is_member = self.told.is_some() && self.command.is_none() && record.is_from_lead();
            self.team = self.team.take().or_else(|| is_member.then(Team::default));
        }
        if self.command.is_none() && record.is("user") {
            self.command = command(record);
        }
        if self.model.is_none() {
            self.model = record.model().map(|model| model.as_ref().into());
        }
    }

    fn take_tail(&mut self, ends: &HeadTail) {
        let mut tail = Tail { wants_prompt: self.prompt.is_none() && self.told.is_none(), ..Tail::default() };
        for line in ends.tail_reversed() {
            // Most of a transcript's bytes are records that say nothing here.
            let holds = |needle: &Finder<'_>| needle.find(line).is_some();
            let message = tail.rows < limits::NEWEST_LOOKED_AT && (holds(&NEEDLES.user) || holds(&NEEDLES.assistant));
            let moved = || holds(&NEEDLES.relocated) || holds(&NEEDLES.worktree);
            if !message && !holds(&NEEDLES.title) && !holds(&NEEDLES.continued) && !moved() && self.records {
                continue;
            }
            if let Some(record) = Record::parse(line) {
                self.records = true;
                tail.take(&record);
            }
        }
        self.messages |= tail.rows > 0;
        self.updated_at_ms = tail.updated_at_ms;
        self.tail = tail.titles;
        self.moves = tail.moves.or(std::mem::take(&mut self.moves));
        self.model = tail.model.or(self.model.take());
        self.continued_in = tail.continued_in;
        self.team = self.team.take().or(tail.team);
        // Where one line fills the head, the tail knows the directory, and some prompt.
        self.workspace = self.workspace.take().or(tail.workspace);
        self.prompt = self.prompt.take().or(tail.prompt);
    }

    pub(super) fn into_session(self, source: &Source) -> Result<Session, ReadError> {
        let id = stem(&source.path);
        if !self.records {
            return Err(if self.torn { ReadError::NoMessages } else { ReadError::NoRecords });
        }
        if !self.messages && self.whole {
            return Err(ReadError::NoMessages);
        }
        let mut session = Session::new(id, source);
        let chosen = self.tail.custom.or(self.renamed);
        session.late_title = chosen.is_none() && !self.whole;
        let given = [chosen.or(self.head.custom), self.tail.ai.or(self.head.ai), self.summary, self.prompt];
        session.title = given.into_iter().chain([self.told, self.command]).flatten().find(|title| !title.is_empty());
        if is_agent(id) || self.is_sidechain {
            session.parent = Some(subagent_parent(&source.path, self.named_session));
            session.resumable = false;
            session.late_title = false;
            session.title = side::description(&source.path).or(session.title);
        } else if self.team.as_ref().is_some_and(|team| !team.leads) {
            session.parent = Some(Parent { session_id: self.lead, relation: Relation::Subagent });
        } else if let Some(origin) = self.forked_from.filter(|origin| **origin != *id) {
            session.parent = Some(Parent { session_id: Some(origin.into()), relation: Relation::Fork });
        }
        session.team = self.team.filter(|team| !team.name.is_empty());
        session.workspace = self.workspace;
        session.model = self.model;
        session.created_at_ms = self.created_at_ms;
        session.updated_at_ms = self.updated_at_ms.or(session.updated_at_ms);
        session.archived = self.archived;
        session.continued_in = self.continued_in;
        session.beginning = self.first_message.as_ref().map(beginning);
        session.first_message = self.first_message;
        Ok(session)
    }
}

/// What the last rows tell; the tail is read backwards, so the first that is found counts.
#[derive(Default)]
struct Tail {
    rows: usize,
    updated_at_ms: Option<i64>,
    model: Option<Box<str>>,
    titles: Titles,
    moves: Moves,
    continued_in: Option<Box<str>>,
    team: Option<Team>,
    workspace: Option<Box<str>>,
    wants_prompt: bool,
    prompt: Option<Box<str>>,
}

impl Tail {
    fn take(&mut self, record: &Record<'_>) {
        self.titles = std::mem::take(&mut self.titles).or(Titles::of(record));
        self.moves = std::mem::take(&mut self.moves).or(Moves::of(record));
        if record.is("continued-in") {
            let next = || member(record.continued_in).map(|id| id.as_ref().into());
            self.continued_in = self.continued_in.take().or_else(next);
        } else if record.is_message() {
            self.rows += 1;
            self.updated_at_ms = self.updated_at_ms.max(record.time());
            self.model = self.model.take().or_else(|| record.model().map(|model| model.as_ref().into()));
            self.team = self.team.take().or_else(|| team(record));
            let place = || member(record.cwd).and_then(|cwd| text::workspace(&cwd));
            self.workspace = self.workspace.take().or_else(place);
            if self.wants_prompt {
                self.prompt = record.prompt().and_then(|prompt| text::title(&prompt)).or(self.prompt.take());
            }
        }
    }
}

fn title(raw: Option<&RawValue>) -> Option<Box<str>> {
    member(raw).and_then(|title| text::title(&title))
}

/// The team that a row's session works in. Its lead has no name in it.
fn team(record: &Record<'_>) -> Option<Team> {
    let name = member(record.team).filter(|name| !name.is_empty())?;
    let leads = member(record.agent).is_none_or(|agent| agent.is_empty() || agent == "team-lead");
    Some(Team { name: name.as_ref().into(), leads })
}

/// Whether a session is archived: that holds until a person writes again.
fn is_archived(file: &File, path: &Path) -> Result<bool, ReadError> {
    let Some(since) = side::archived(path) else { return Ok(false) };
    let mut lines = Backward::of(file, None, &NoProgress)?;
    while let Some((_, line)) = lines.record()? {
        let Some(record) = Record::parse(line).filter(|record| !text::is_true(record.is_sidechain)) else { continue };
        let (Some((_, message)), Some(at)) = (message::of(&record), record.time()) else { continue };
        if at <= since {
            return Ok(true);
        }
        if message.role == Role::User {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The session that a subagent works for: the directory above `subagents/`, else what its records name.
fn subagent_parent(path: &Path, named: Option<Box<str>>) -> Parent {
    let above = path.ancestors().find(|parent| parent.ends_with(super::SUBAGENTS)).and_then(Path::parent);
    let session = above.and_then(|above| above.file_name()?.to_str()).map(str::to_owned);
    let named = || named.filter(|named| **named != *stem(path)).map(String::from);
    Parent { session_id: session.or_else(named), relation: Relation::Subagent }
}
