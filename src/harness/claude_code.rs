//! Claude Code: `<home>/projects/<directory>/<session id>.jsonl`, its subagents below `<session id>/subagents/`.

use super::jsonl::{self, Ends};
use super::text::{self, member};
use super::walk::{stamp, stem};
use super::{Details, Finder, Found, Reading, Root, Session, Skip, Source, Store, Wanted};
use crate::limits;
use crate::platform::files::{open_regular, read_small};
use crate::protocol::{Harness, LastMessage, Parent, Relation, Resume, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::Path;

/// The store of Claude Code.
pub struct ClaudeCode;

/// How many message rows from the end are looked at for the newest time: parallel rows may be out of order.
const LAST_ROWS: usize = 8;

impl Store for ClaudeCode {
    fn harness(&self) -> Harness {
        Harness::ClaudeCode
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        for project in finder.entries(&root.path) {
            if project.is_dir() {
                walk_project(&project.path, finder);
            }
        }
    }

    fn read(&self, source: &Source, ends: &mut Ends) -> Result<Reading, Skip> {
        let file = open_regular(&source.path)?;
        ends.load(&file)?;
        let facts = Facts::gather(&file, ends)?;
        facts.into_session(source).map(Reading::from)
    }

    fn details(&self, _: &[Root], session: &Session, wanted: Wanted) -> Result<Details, Skip> {
        let file = open_regular(&session.location)?;
        let mut details = Details::default();
        if wanted.topics || wanted.last_message {
            let mut ends = Ends::default();
            ends.load(&file)?;
            if wanted.topics {
                details.topics = topics(&file, &mut ends)?;
            }
            if wanted.last_message {
                details.last_message = last_message(&file, &mut ends)?;
            }
        }
        if wanted.message_count {
            details.message_count = count(file)?;
        }
        Ok(details)
    }

    fn resume(&self, root: &Root, session: &Session) -> Option<Resume> {
        let env = BTreeMap::from([("CLAUDE_CONFIG_DIR".to_owned(), root.home.to_str()?.to_owned())]);
        Some(Resume {
            argv: vec!["claude".to_owned(), "--resume".to_owned(), session.id.to_string()],
            cwd: session.workspace.as_deref().map(str::to_owned),
            env: (!root.usual).then_some(env),
        })
    }
}

/// The sessions of one project, and the subagents of each.
fn walk_project(project: &Path, finder: &mut Finder) {
    let entries = finder.entries(project);
    let companions: HashSet<String> =
        entries.iter().filter(|entry| is_uuid(&entry.name) && entry.is_dir()).map(|entry| entry.name.clone()).collect();
    for entry in entries {
        let Some(stem) = entry.name.strip_suffix(".jsonl") else { continue };
        if !is_uuid(stem) && !is_agent(stem) {
            finder.skip(entry, Skip::Name);
            continue;
        }
        // A rename is kept beside the session too, where the transcript's own ends may not show it.
        let beside = companions.contains(stem).then(|| stamp(&project.join(stem).join(TITLE_FILE))).flatten();
        finder.source(entry, beside);
    }
    for companion in companions {
        let transcript = |entry: &Found| entry.name.strip_suffix(".jsonl").is_some_and(is_agent);
        for agent in finder.entries(&project.join(companion).join("subagents")) {
            if transcript(&agent) {
                finder.source(agent, None);
            }
        }
    }
}

const TITLE_FILE: &str = "custom-title.json";

/// Whether a name has the form of a session id.
fn is_uuid(name: &str) -> bool {
    name.len() == 36
        && name.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_agent(name: &str) -> bool {
    name.strip_prefix("agent-").is_some_and(|id| !id.is_empty())
}

/// A record, as far as it matters here. Every member may be of any kind.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    uuid: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionId")]
    session_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "isMeta")]
    is_meta: Option<&'a RawValue>,
    #[serde(borrow, rename = "isCompactSummary")]
    is_compact_summary: Option<&'a RawValue>,
    #[serde(borrow, rename = "turnOrigin")]
    turn_origin: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow, rename = "customTitle")]
    custom_title: Option<&'a RawValue>,
    #[serde(borrow, rename = "aiTitle")]
    ai_title: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
    #[serde(borrow, rename = "continuedInSessionId")]
    continued_in: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct MessageBody<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

impl<'a> Record<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        serde_json::from_str(std::str::from_utf8(line).ok()?).ok()
    }

    fn is(&self, kind: &str) -> bool {
        member(self.kind).is_some_and(|own| own == kind)
    }

    fn is_message(&self) -> bool {
        self.message.is_some() && (self.is("user") || self.is("assistant"))
    }

    fn time(&self) -> Option<i64> {
        member(self.timestamp).and_then(|time| text::time(&time))
    }

    fn body(&self) -> Option<MessageBody<'a>> {
        serde_json::from_str(self.message?.get()).ok()
    }

    /// The text that a person wrote; `None` for tool results and for what the program put there itself.
    fn prompt(&self) -> Option<Cow<'a, str>> {
        let injected = text::is_true(self.is_meta)
            || text::is_true(self.is_compact_summary)
            || member(self.turn_origin).is_some_and(|origin| origin == "task_notification" || origin == "peer");
        if injected || !self.is("user") {
            return None;
        }
        content_text(self.body()?.content?).filter(|prompt| !is_injected(prompt))
    }

    /// The model that answered; the program's own notices name none.
    fn model(&self) -> Option<Cow<'a, str>> {
        if !self.is("assistant") {
            return None;
        }
        member(self.body()?.model).filter(|model| model != "<synthetic>" && !model.is_empty())
    }
}

/// The text of a message: its own, or that of its text blocks.
fn content_text(content: &RawValue) -> Option<Cow<'_, str>> {
    if let Some(text) = text::string(content) {
        return Some(text);
    }
    let blocks: Vec<Block<'_>> = serde_json::from_str(content.get()).ok()?;
    let texts: Vec<_> = blocks
        .iter()
        .filter(|block| member(block.kind).is_some_and(|kind| kind == "text"))
        .filter_map(|block| member(block.text))
        .filter(|text| !is_injected(text))
        .collect();
    (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n")))
}

/// Whether a user text was put there by the program: context, commands and their output, notices.
fn is_injected(text: &str) -> bool {
    const OPENINGS: &[&str] = &[
        "<command-",
        "<local-command-",
        "<bash-",
        "<task-notification>",
        "<system-reminder>",
        "<ide_",
        "<cross-session-message",
        "[Request interrupted by user",
        "Caveat: The messages below were generated by the user while running local commands",
    ];
    let text = text.trim_start();
    text.is_empty() || OPENINGS.iter().any(|opening| text.starts_with(opening))
}

/// The slash command that a user row holds: what a session is called that has nothing else.
fn command(record: &Record<'_>) -> Option<Box<str>> {
    let body = record.body()?;
    let content = text::string(body.content?)?;
    let tag = |name: &str| {
        let rest = content.split_once(&format!("<{name}>"))?.1;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim().to_owned())
    };
    let name = tag("command-name").filter(|name| !name.is_empty())?;
    text::title(&format!("{name} {}", tag("command-args").unwrap_or_default()))
}

/// What the ends of a transcript tell.
#[derive(Default)]
struct Facts {
    records: bool,
    messages: bool,
    whole: bool,
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
    fn gather(file: &File, ends: &mut Ends) -> Result<Self, Skip> {
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
        let mut tail = Tail::default();
        for line in ends.tail_reversed() {
            // Most of a transcript's bytes are records that say nothing here.
            let holds = |word: &str| memchr::memmem::find(line, word.as_bytes()).is_some();
            let message = tail.rows < LAST_ROWS && (holds("\"user\"") || holds("\"assistant\""));
            let title = (tail.custom_title.is_none() && holds("\"custom-title\""))
                || (tail.ai_title.is_none() && holds("\"ai-title\""));
            if !message && !title && !holds("\"continued-in\"") && self.records {
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
        // Where the head was no record at all, the tail knows the directory.
        self.workspace = self.workspace.take().or(tail.workspace);
    }

    fn into_session(self, source: &Source) -> Result<Session, Skip> {
        let id = stem(&source.path);
        if !self.records {
            return Err(Skip::NoRecords);
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

fn topics(file: &File, ends: &mut Ends) -> Result<Vec<String>, Skip> {
    loop {
        let prompts = ends.head().filter_map(Record::parse).filter_map(|record| text::excerpt(&record.prompt()?));
        let topics: Vec<String> = prompts.take(limits::TOPICS).collect();
        if topics.len() == limits::TOPICS || !ends.grow_head(file)? {
            return Ok(topics);
        }
    }
}

fn last_message(file: &File, ends: &mut Ends) -> Result<Option<LastMessage>, Skip> {
    loop {
        let last = ends.tail_reversed().filter_map(Record::parse).find_map(|record| {
            let (role, text) = if record.is("assistant") {
                (Role::Assistant, content_text(record.body()?.content?)?)
            } else {
                (Role::User, record.prompt()?)
            };
            Some(LastMessage { role, text: text::excerpt(&text)?, timestamp_ms: record.time() })
        });
        if last.is_some() || !ends.grow_tail(file)? {
            return Ok(last);
        }
    }
}

/// Prompts, and answers of the model. An answer that was written in several rows is one.
fn count(file: File) -> Result<u64, Skip> {
    let mut count = 0;
    let mut last_answer: Option<String> = None;
    jsonl::stream(BufReader::with_capacity(1 << 16, file), |line| {
        let holds = |word: &str| memchr::memmem::find(line, word.as_bytes()).is_some();
        if !holds("\"user\"") && !holds("\"assistant\"") {
            return ControlFlow::Continue(());
        }
        let Some(record) = Record::parse(line) else { return ControlFlow::Continue(()) };
        if record.is("assistant") {
            let id = record.body().and_then(|body| member(body.id).map(Cow::into_owned));
            if id.is_none() || id != last_answer {
                count += 1;
            }
            last_answer = id;
        } else if record.prompt().is_some() {
            count += 1;
        }
        ControlFlow::Continue(())
    })?;
    Ok(count)
}
