//! The stores: one file per harness behind one trait. Always only read.
//!
//! A store names the *sources* below a root (files, databases), each with a stamp; the inventory reads a source again
//! only when its stamp moved. A new harness is one file here and one line in [`stores`].

#[cfg(test)]
mod agreement;
mod backward;
mod claude_code;
mod codex;
mod condense;
mod database;
mod follow;
mod gemini;
mod goose;
mod grok;
mod hermes;
mod homes;
mod ids;
pub mod jsonl;
mod live;
mod messages;
mod middle;
mod openclaw;
mod opencode;
mod orchestrator;
mod pages;
mod pi;
mod splice;
mod supercode;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod walk;

pub use follow::{End, Followed, Follower, Tail};
pub use homes::{Environment, Home, Homes, Root, store_of};
pub use live::{Activities, Live, Run};
pub use walk::{Finder, Found, stamp};

use crate::limits;
use crate::platform::files::{Stamp, is_out_of_descriptors};
use crate::platform::sqlite;
use crate::protocol::{Harness, LastMessage, Message, Parent, Problem, Resume};
use std::io;
use std::path::{Path, PathBuf};

/// Every store, in the order in which harnesses are listed.
pub fn stores() -> &'static [&'static dyn Store] {
    &[
        &claude_code::ClaudeCode,
        &codex::Codex,
        &gemini::Gemini,
        &opencode::OpenCode,
        &goose::Goose,
        &pi::Pi,
        &grok::Grok,
        &openclaw::OpenClaw,
        &hermes::Hermes,
        &supercode::Supercode,
        &orchestrator::Orchestrator,
    ]
}

/// Receives the progress of a long read and says whether to go on with it.
pub trait Progress: Sync {
    /// Whether the client cancelled the request.
    fn is_cancelled(&self) -> bool;
    /// Reports how much is done, out of `total` where that is known.
    fn report(&self, message: &str, done: u64, total: Option<u64>);
}

/// Ignores progress and never cancels: for reads that a limit bounds anyway.
pub struct NoProgress;

impl Progress for NoProgress {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn report(&self, _: &str, _: u64, _: Option<u64>) {}
}

/// The durable sessions of one harness.
pub trait Store: Sync {
    /// Whose sessions these are.
    fn harness(&self) -> Harness;

    /// Where the harness keeps sessions, as far as the environment tells.
    fn roots(&self, environment: &Environment<'_>) -> Vec<Root>;

    /// The root that a person means by a path: a home, or the directory in it that holds sessions.
    fn named_root(&self, path: &Path) -> Root;

    /// Names the sources below a root, without reading any.
    fn walk(&self, root: &Root, finder: &mut Finder);

    /// Reads what a list needs of one source, within bounds.
    fn read(&self, source: &Source, ends: &mut jsonl::HeadTail) -> Result<Reading, ReadError>;

    /// Reads the title of a session whose [`Session::late_title`] says that it may be another one than was read for a
    /// list.
    fn late_title(&self, _session: &Session) -> Option<Box<str>> {
        None
    }

    /// Reads what costs more of one session.
    fn details(&self, roots: &[Root], session: &Session, wanted: Wanted) -> Result<Details, ReadError>;

    /// Reads one page of a session's messages, the newest first asked for.
    fn load(&self, roots: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError>;

    /// The place behind all messages that a session holds now, without what is still being written.
    fn end(&self, _session: &Session, _attendant: &dyn Progress) -> Result<End, ReadError> {
        Err(ReadError::Vanished)
    }

    /// The state of the files that hold a session: while they stand still, so does it. None where they cannot tell.
    fn stamps(&self, session: &Session) -> Vec<Option<Stamp>> {
        vec![walk::stamp(&session.location), sqlite::log_stamp(&session.location)]
    }

    /// How many of a session's newest messages may still be changed where they lie. What lies before them stays as it
    /// is, or goes.
    fn unsettled(&self, _session: &Session) -> usize {
        limits::FOLLOW_LINES
    }

    /// What reads a session again and again, where something is kept between two readings.
    fn tail(&self) -> Option<Box<dyn Tail>> {
        None
    }

    /// What lives below a root, held against the processes of now. It is asked at each list: nothing is locked, and where
    /// nothing lives a few names are looked up. The sessions are those that were read of this root.
    fn live(&self, _root: &Root, _sessions: &mut dyn Iterator<Item = &Session>) -> Activities {
        Activities::default()
    }

    /// The mark that this harness's store keeps of a directory instead of its name; `None` where it keeps names.
    fn workspace_mark(&self, _directory: &str) -> Option<String> {
        None
    }

    /// Whether two sessions of one id in one root each hold a part of one conversation, so that both count; else one is
    /// a copy of the other, and only the newest counts.
    fn is_part(&self, _a: &Session, _b: &Session) -> bool {
        false
    }

    /// Whether two sessions of one id are one and the same, wherever they lie.
    fn ids_are_unique(&self) -> bool {
        true
    }

    /// How a person gets back into a session with the harness's own program; `None` where there is no way.
    fn resume(&self, root: &Root, session: &Session) -> Option<Resume>;
}

/// Something below a root that can be read: a file, or a database with its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// Its state.
    pub stamp: Stamp,
    /// The state of the files beside it that change its meaning: a database's log, a session's name file, its parts.
    pub beside: Option<Stamp>,
    /// The other files that hold parts of the same session, the oldest first.
    pub parts: Box<[Part]>,
}

/// A file that holds a part of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What other parts call it.
    pub id: Box<str>,
    /// Where it is.
    pub path: Box<Path>,
}

/// What one source says.
#[derive(Debug, Default)]
pub struct Reading {
    /// The sessions that it holds.
    pub sessions: Vec<Session>,
    /// The names that it gives to sessions of other sources of the same root.
    pub names: Vec<Name>,
    /// What else it says of sessions of other sources of the same root.
    pub remarks: Vec<Remark>,
    /// Directories that it knows of: a store that keeps only marks of directories finds its own among them.
    pub workspaces: Vec<Box<str>>,
    /// Files with parts of its sessions that could not be read.
    pub skipped: Vec<(PathBuf, ReadError)>,
}

impl From<Session> for Reading {
    fn from(session: Session) -> Self {
        Self { sessions: vec![session], ..Self::default() }
    }
}

/// A stored session, as its store tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The harness's own id.
    pub id: Box<str>,
    /// The file that holds it, or its newest part.
    pub location: Box<Path>,
    /// The other files that hold parts of it.
    pub parts: Box<[Part]>,
    /// The part of another session that comes before it and is kept there: see [`Part::id`].
    pub continues: Option<Box<str>>,
    /// One line that names it.
    pub title: Option<Box<str>>,
    /// The directory that it works in.
    pub workspace: Option<Box<str>>,
    /// What its store keeps of that directory where it does not keep its name: see [`Store::workspace_mark`].
    pub workspace_mark: Option<Box<str>>,
    /// The model that answered last.
    pub model: Option<Box<str>>,
    /// The profile of its program that it belongs to.
    pub profile: Option<Box<str>>,
    /// When it began, in epoch milliseconds.
    pub created_at_ms: Option<i64>,
    /// Its newest user or assistant message, else its file's time, in epoch milliseconds.
    pub updated_at_ms: Option<i64>,
    /// Whether its records may name it otherwise in a part that was not read: see [`Store::late_title`].
    pub late_title: bool,
    /// The team of agents that it works in.
    pub team: Option<Team>,
    /// Whether its program has put it away.
    pub archived: bool,
    /// The session that it came from.
    pub parent: Option<Parent>,
    /// The session in which it says that it goes on.
    pub continued_in: Option<Box<str>>,
    /// A mark that only copies of one conversation share: the id of its first message.
    pub first_message: Option<Box<str>>,
    /// Whether its own program still opens it.
    pub resumable: bool,
    /// Whether newer versions of its program keep sessions in another form and take over those of this one: it counts only
    /// where the session has no newer form.
    pub old_form: bool,
    /// What its own program calls it when told to open it, where that is not its id.
    pub handle: Option<Box<str>>,
    /// What its store says of processes that run it now.
    pub runs: Box<[Run]>,
    /// The state of its file, and of the one beside it, where that holds no other session: what it says may change while
    /// all else stays.
    pub content: Option<(Stamp, Option<Stamp>)>,
}

impl Session {
    /// A session of which nothing but its id and its file is known.
    pub fn new(id: &str, source: &Source) -> Self {
        Self {
            id: id.into(),
            location: source.path.as_path().into(),
            parts: source.parts.clone(),
            continues: None,
            title: None,
            workspace: None,
            workspace_mark: None,
            model: None,
            profile: None,
            created_at_ms: None,
            updated_at_ms: Some(source.stamp.modified_ms()),
            late_title: false,
            team: None,
            archived: false,
            parent: None,
            continued_in: None,
            first_message: None,
            resumable: true,
            old_form: false,
            handle: None,
            runs: Box::default(),
            content: None,
        }
    }
}

/// A team of agents, and whether a session leads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Team {
    /// Its name; empty where it is not known.
    pub name: Box<str>,
    /// Whether the session leads it.
    pub leads: bool,
}

/// A name that a source gives to a session of another source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The session's own id.
    pub session: Box<str>,
    /// What it is called.
    pub title: Box<str>,
    /// Of several names the one with the highest rank counts, then the last; 0 counts only where the session's own
    /// records have no title.
    pub rank: u8,
}

/// What a source says of a session of another source; it counts where that session says nothing of the kind itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remark {
    /// The session's own id.
    pub session: Box<str>,
    /// The session that it came from.
    pub parent: Option<Parent>,
    /// See [`Session::handle`].
    pub handle: Option<Box<str>>,
    /// Which of its parts is the current one, where its program says so: [`Part::id`].
    pub current: Option<Box<str>>,
}

/// What of [`Details`] is wanted.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The opening user texts: reads the head.
    pub topics: bool,
    /// The newest message: reads the tail.
    pub last_message: bool,
    /// The number of messages: reads the whole.
    pub message_count: bool,
    /// Leave out what the session has of others, where its store keeps that apart: they are out of scope.
    pub own_only: bool,
    /// Hears how far the work is, and says whether it should go on.
    pub progress: Option<&'a dyn Progress>,
}

impl<'a> Wanted<'a> {
    /// Whether nothing is wanted.
    pub fn is_nothing(&self) -> bool {
        !(self.topics || self.last_message || self.message_count)
    }

    /// A reader that ends with an error once nobody wants the answer any more.
    pub fn attended<R: io::Read>(&self, reader: R) -> Attended<'a, R> {
        Attended::new(reader, self.progress)
    }
}

/// A reader that ends with an error once nobody wants what is read any more, and tells how far it is.
pub struct Attended<'a, R> {
    reader: R,
    progress: Option<&'a dyn Progress>,
    bytes: u64,
}

impl<'a, R> Attended<'a, R> {
    /// Reads as `reader` does, as long as `progress` has it.
    pub fn new(reader: R, progress: Option<&'a dyn Progress>) -> Self {
        Self { reader, progress, bytes: 0 }
    }
}

impl<R: io::Read> io::Read for Attended<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(progress) = self.progress {
            if progress.is_cancelled() {
                return Err(io::Error::other("the request was cancelled"));
            }
            progress.report("bytes read", self.bytes, None);
        }
        let count = self.reader.read(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

/// What costs more to know of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Up to [`crate::limits::TOPICS`] opening user texts, oldest first.
    pub topics: Vec<String>,
    /// The newest message.
    pub last_message: Option<LastMessage>,
    /// How many messages people and models wrote.
    pub message_count: u64,
}

/// Which messages of a session are wanted.
pub struct PageRequest<'a> {
    /// Where the page before ended; `None` for the newest messages.
    pub cursor: Option<&'a str>,
    /// How many messages at most, at least one.
    pub limit: usize,
    /// Leave out what the session has of others, where its store keeps that apart: they are out of scope.
    pub own_only: bool,
    /// Hears how far the work is, and says whether it should go on.
    pub progress: &'a dyn Progress,
}

/// One page of a session's messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The messages, in time order.
    pub messages: Vec<Message>,
    /// Where each of them lies: a name that it has whenever it is read, and no other has.
    pub places: Vec<String>,
    /// Whether the last one is known to be still in the making.
    pub unfinished: bool,
    /// Leads to older messages; `None` at the beginning. It names a place in the store that does not shift when
    /// messages are appended.
    pub next: Option<String>,
}

/// The reason of [`ReadError::Descriptors`].
pub const DESCRIPTORS: &str = "descriptors";

/// Why a source gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It went between two system calls, which is normal.
    #[error("it vanished while it was read")]
    Vanished,
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It has records, but nobody has written a message.
    #[error("no message in it yet")]
    NoMessages,
    /// Another copy of the same session is read.
    #[error("another copy of this session is listed: {}", .0.display())]
    Copy(PathBuf),
    /// Its name is no session's.
    #[error("not the name of a session file")]
    Name,
    /// Its name cannot be told in JSON.
    #[error("its name is not valid UTF-8")]
    NotUtf8,
    /// A FIFO, a device, a directory, a link to nothing.
    #[error("not a regular file")]
    NotRegular,
    /// Nothing within the bounds of reading is a record.
    #[error("no readable record at its start or end")]
    NoRecords,
    /// A side file that speaks of sessions but holds none.
    #[error("{0}")]
    Malformed(String),
    /// Its program is at work on it; later it can be read.
    #[error("{0}")]
    Busy(String),
    /// The cursor names no place in this session.
    #[error("the cursor is none of this session's; begin again without one")]
    Cursor,
    /// Nobody wants the answer any more.
    #[error("the request was cancelled")]
    Cancelled,
    /// Too many files are open, here or in the whole system.
    #[error("no file descriptor is left to read it with: {0}")]
    Descriptors(io::Error),
    /// The operating system refused.
    #[error("cannot be read: {0}")]
    Io(io::Error),
}

impl ReadError {
    /// The stable word for the reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Vanished => "vanished",
            Self::Empty => "empty",
            Self::NoMessages => "no_messages",
            Self::Copy(_) => "copy",
            Self::Name => "not_a_session",
            Self::NotUtf8 => "not_utf8",
            Self::NotRegular => "not_regular",
            Self::NoRecords => "unreadable",
            Self::Malformed(_) => "malformed",
            Self::Busy(_) => "busy",
            Self::Cursor => "cursor",
            Self::Cancelled => "cancelled",
            Self::Descriptors(_) => DESCRIPTORS,
            Self::Io(_) => "io",
        }
    }

    /// The problem that a list reports for a file that cannot be read.
    pub fn problem(&self, harness: Harness, path: &Path) -> Problem {
        Problem {
            harness: Some(harness),
            path: Some(path.display().to_string()),
            id: None,
            endpoint: None,
            reason: self.reason().to_owned(),
            message: self.to_string(),
        }
    }

    /// Whether something is lost by it, so that a list must tell.
    pub fn is_problem(&self) -> bool {
        matches!(self, Self::NoRecords | Self::Malformed(_) | Self::Busy(_) | Self::Descriptors(_) | Self::Io(_))
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Vanished,
            _ if is_out_of_descriptors(&error) => Self::Descriptors(error),
            _ => Self::Io(error),
        }
    }
}

impl From<sqlite::Error> for ReadError {
    fn from(error: sqlite::Error) -> Self {
        match error {
            sqlite::Error::Io(error) => error.into(),
            sqlite::Error::Empty => Self::Empty,
            sqlite::Error::Cancelled => Self::Cancelled,
            error if error.is_busy() => Self::Busy(error.to_string()),
            error => Self::Malformed(error.to_string()),
        }
    }
}
