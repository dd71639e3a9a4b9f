//! What a list needs of a transcript, from its two ends.

use super::record::{Record, command};
use super::{TITLE_FILE, is_agent};
use crate::harness::jsonl::Ends;
use crate::harness::text::{self, member};
use crate::harness::walk::stem;
use crate::harness::{Session, Skip, Source};
use crate::limits;
use crate::platform::files::read_small;
use crate::protocol::{Parent, Relation};
use memchr::memmem::Finder;
use serde::Deserialize;
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
}

static NEEDLES: LazyLock<Needles> = LazyLock::new(|| Needles {
    user: Finder::new("\"user\""),
    assistant: Finder::new("\"assistant\""),
    title: Finder::new("-title\""),
    continued: Finder::new("\"continued-in\""),
});

/// What the ends of a transcript tell.
#[derive(Default)]
pub struct Facts {
    records: bool,
    messages: bool,
    whole: bool,
    torn: bool,
    workspace: Option<Box<str>>,
    prompt: Option<Box<str>>,
    command: Option<Box<str>>,
    custom_title: Option<Box<str>>,
    ai_title: Option<Box<str>>,
    summary: Option<Box<str>>,
    model: Option<Box<str>>,
    created_at_ms: Option<i64>,
    updated_at_ms: Option<i64>,
    continued_in: Option<Box<str>>,
    first_message: Option<Box<str>>,
    named_session: Option<Box<str>>,
}

impl Facts {
    pub fn gather(file: &File, ends: &mut Ends) -> Result<Self, Skip> {
        let mut facts = Self::default();
        let mut seen = 0;
        loop {
            seen += facts.take_head(ends, seen);
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
        if facts.workspace.is_none() {
            facts.workspace = ends.last_string("cwd").and_then(|cwd| text::workspace(&cwd));
        }
        if facts.updated_at_ms.is_none() {
            facts.updated_at_ms = ends.last_string("timestamp").and_then(|time| text::time(&time));
        }
        Ok(facts)
    }

    fn head_is_enough(&self) -> bool {
        self.prompt.is_some() && self.workspace.is_some() && self.created_at_ms.is_some()
    }

    /// Reads the head from where it was left; answers how many lines it took.
    fn take_head(&mut self, ends: &Ends, seen: usize) -> usize {
        let mut taken = 0;
        for line in ends.head().skip(seen) {
            taken += 1;
            if let Some(record) = Record::parse(line) {
                self.take_opening(&record);
                if self.head_is_enough() {
                    break;
                }
            }
        }
        taken
    }

    fn take_opening(&mut self, record: &Record<'_>) {
        self.records = true;
        self.take_titles(record);
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
        self.messages = true;
        if self.first_message.is_none() {
            self.first_message = member(record.uuid).map(|uuid| uuid.as_ref().into());
        }
        if self.prompt.is_none() {
            self.prompt = record.prompt().and_then(|prompt| text::title(&prompt));
        }
        if self.command.is_none() && record.is("user") {
            self.command = command(record);
        }
        if self.model.is_none() {
            self.model = record.model().map(|model| model.as_ref().into());
        }
    }

    /// Of titles that stand in the head the last counts; those of the tail come before.
    fn take_titles(&mut self, record: &Record<'_>) {
        let title = |raw: Option<&RawValue>| member(raw).and_then(|title| text::title(&title));
        if record.is("custom-title") {
            self.custom_title = title(record.custom_title).or(self.custom_title.take());
        } else if record.is("ai-title") {
            self.ai_title = title(record.ai_title).or(self.ai_title.take());
        } else if record.is("summary") && self.summary.is_none() {
            self.summary = title(record.summary);
        }
    }

    fn take_tail(&mut self, ends: &Ends) {
        let mut tail = Tail { wants_prompt: self.prompt.is_none(), ..Tail::default() };
        for line in ends.tail_reversed() {
            // Most of a transcript's bytes are records that say nothing here.
            let holds = |needle: &Finder<'_>| needle.find(line).is_some();
            let message = tail.rows < limits::NEWEST_LOOKED_AT && (holds(&NEEDLES.user) || holds(&NEEDLES.assistant));
            let title = (tail.custom_title.is_none() || tail.ai_title.is_none()) && holds(&NEEDLES.title);
            if !message && !title && !holds(&NEEDLES.continued) && self.records {
                continue;
            }
            if let Some(record) = Record::parse(line) {
                self.records = true;
                tail.take(&record);
            }
        }
        self.messages |= tail.rows > 0;
        self.updated_at_ms = tail.updated_at_ms;
        self.custom_title = tail.custom_title.or(self.custom_title.take());
        self.ai_title = tail.ai_title.or(self.ai_title.take());
        self.model = tail.model.or(self.model.take());
        self.continued_in = tail.continued_in;
        // Where one line fills the head, the tail knows the directory, and some prompt.
        self.workspace = self.workspace.take().or(tail.workspace);
        self.prompt = self.prompt.take().or(tail.prompt);
    }

    pub fn into_session(self, source: &Source) -> Result<Session, Skip> {
        let id = stem(&source.path);
        if !self.records {
            return Err(if self.torn { Skip::NoMessages } else { Skip::NoRecords });
        }
        if !self.messages && self.whole {
            return Err(Skip::NoMessages);
        }
        let mut session = Session::new(id, source);
        if is_agent(id) {
            session.parent = Some(subagent_parent(&source.path, self.named_session));
            session.resumable = false;
            session.title = description(&source.path);
        } else if self.custom_title.is_none() && source.beside.is_some() {
            session.title = renamed(&source.path);
        }
        let own = [session.title.take(), self.custom_title, self.ai_title, self.summary, self.prompt, self.command];
        session.title = own.into_iter().flatten().next();
        session.workspace = self.workspace;
        session.model = self.model;
        session.created_at_ms = self.created_at_ms;
        session.updated_at_ms = self.updated_at_ms.or(session.updated_at_ms);
        session.continued_in = self.continued_in;
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
    custom_title: Option<Box<str>>,
    ai_title: Option<Box<str>>,
    continued_in: Option<Box<str>>,
    workspace: Option<Box<str>>,
    wants_prompt: bool,
    prompt: Option<Box<str>>,
}

impl Tail {
    fn take(&mut self, record: &Record<'_>) {
        let title = |raw: Option<&RawValue>| member(raw).and_then(|title| text::title(&title));
        if record.is("custom-title") {
            self.custom_title = self.custom_title.take().or_else(|| title(record.custom_title));
        } else if record.is("ai-title") {
            self.ai_title = self.ai_title.take().or_else(|| title(record.ai_title));
        } else if record.is("continued-in") {
            let next = || member(record.continued_in).map(|id| id.as_ref().into());
            self.continued_in = self.continued_in.take().or_else(next);
        } else if record.is_message() {
            self.rows += 1;
            self.updated_at_ms = self.updated_at_ms.max(record.time());
            self.model = self.model.take().or_else(|| record.model().map(|model| model.as_ref().into()));
            let place = || member(record.cwd).and_then(|cwd| text::workspace(&cwd));
            self.workspace = self.workspace.take().or_else(place);
            if self.wants_prompt {
                self.prompt = record.prompt().and_then(|prompt| text::title(&prompt)).or(self.prompt.take());
            }
        }
    }
}

/// The session that a subagent works for: the directory above `subagents/`, else what its records name.
fn subagent_parent(path: &Path, named: Option<Box<str>>) -> Parent {
    let above = path.parent().filter(|parent| parent.ends_with("subagents")).and_then(Path::parent);
    let session = above.and_then(|above| above.file_name()?.to_str()).map(str::to_owned);
    Parent { session_id: session.or_else(|| named.map(String::from)), relation: Relation::Subagent }
}

/// What a subagent was started for.
fn description(path: &Path) -> Option<Box<str>> {
    #[derive(Deserialize)]
    struct Meta {
        description: String,
    }
    let meta: Meta =
        serde_json::from_slice(&read_small(&path.with_extension("meta.json"), limits::SIDE_FILE).ok()?).ok()?;
    text::title(&meta.description)
}

/// The name that `/rename` left beside a session.
fn renamed(path: &Path) -> Option<Box<str>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Title {
        custom_title: String,
    }
    let file = path.with_extension("").join(TITLE_FILE);
    let title: Title = serde_json::from_slice(&read_small(&file, limits::SIDE_FILE).ok()?).ok()?;
    text::title(&title.custom_title)
}
