//! What a store reads: sources, and the sessions in them.

use super::ReadError;
use super::Run;
use crate::platform::files::Stamp;
use crate::protocol::Parent;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

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
    /// What its store keeps of that directory where it does not keep its name: see [`super::Store::workspace_mark`].
    pub workspace_mark: Option<Box<str>>,
    /// The model that answered last.
    pub model: Option<Box<str>>,
    /// The profile of its program that it belongs to.
    pub profile: Option<Box<str>>,
    /// When it began, in epoch milliseconds.
    pub created_at_ms: Option<i64>,
    /// Its newest user or assistant message, else its file's time, in epoch milliseconds.
    pub updated_at_ms: Option<i64>,
    /// Whether its records may name it otherwise in a part that was not read: see [`super::Store::late_title`].
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
    /// The hash of its first message, see [`beginning`]; `None` if that message was not read. Sessions with the same id
    /// and different beginnings are different conversations.
    pub beginning: Option<u64>,
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
            beginning: None,
            resumable: true,
            old_form: false,
            handle: None,
            runs: Box::default(),
            content: None,
        }
    }
}

/// Hashes what identifies a first message: its id, or its text and time where copies of it may have other ids.
pub fn beginning(first_message: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    first_message.hash(&mut hasher);
    hasher.finish()
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
