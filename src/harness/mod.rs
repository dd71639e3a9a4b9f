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
mod progress;
mod read_error;
mod request;
mod session;
mod splice;
mod supercode;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod walk;

pub use follow::{End, Followed, Follower, Tail};
pub use homes::{Environment, Home, Homes, Root, store_of};
pub use live::{Activities, Live, Run};
pub use progress::{Attended, NoProgress, Progress};
pub use read_error::{DESCRIPTORS, ReadError};
pub use request::{Details, Page, PageRequest, Wanted};
pub use session::{Name, Part, Reading, Remark, Session, Source, Team, beginning};
pub use walk::{Finder, Found, stamp};

use crate::limits;
use crate::platform::files::Stamp;
use crate::platform::sqlite;
use crate::protocol::{Harness, Resume};
use std::path::Path;

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
    fn late_title(&self, _session: &Session, _progress: &dyn Progress) -> Option<Box<str>> {
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
