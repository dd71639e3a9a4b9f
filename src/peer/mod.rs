//! Live Claude Code sessions, known from the program's own process registry: `<home>/sessions/<pid>.json`.
//!
//! A record is not a live session. It stays when its process is killed, and its pid is then given to somebody else, so
//! each one is held against the process it names. The keys that lie beside the records are secrets and never opened.

mod record;
mod registry;
mod selector;
#[cfg(test)]
mod tests;

pub use registry::{Found, Listing, Registry, list};

use crate::protocol::{Peer, PeerSelector, Reason, RpcError};
use std::path::PathBuf;

/// Why no peer was chosen.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The selector does not have exactly one member.
    #[error("exactly one of `id`, `sessionId`, `name` and `endpoint` says which session is meant")]
    Selector,
    /// The text is no peer endpoint.
    #[error("this is no peer endpoint; `peer/list` gives them: `cc-peer:v1:<pid>:<name>:<socket>`")]
    InvalidEndpoint,
    /// Nothing live answers to it.
    #[error("no live Claude Code session has this {0}; `peer/list` shows those that there are")]
    NotLive(&'static str),
    /// More than one live session answers to it.
    #[error("{count} live Claude Code sessions have this {what}; choose one by its endpoint: {holders}")]
    Ambiguous {
        /// What was asked by.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// The first few, for a person.
        holders: String,
    },
    /// The endpoint's process, name and socket are no longer one session's.
    #[error("the endpoint is out of date: {0}; take a new one from `peer/list`")]
    Moved(String),
}

impl From<Error> for RpcError {
    fn from(error: Error) -> Self {
        let reason = match error {
            Error::Selector => Reason::InvalidParams,
            Error::InvalidEndpoint => Reason::InvalidEndpoint,
            Error::NotLive(_) => Reason::NotLive,
            Error::Ambiguous { .. } | Error::Moved(_) => Reason::IdentityMismatch,
        };
        Self::new(reason, error.to_string())
    }
}

/// The one live session that is meant, read again for this call. What `visible` rejects does not exist: it is neither
/// found nor in anybody's way.
pub fn resolve(homes: &[PathBuf], selector: &PeerSelector, visible: impl Fn(&Peer) -> bool) -> Result<Peer, Error> {
    let target = selector::Target::of(selector)?;
    target.pick(list(homes).peers.into_iter().map(|found| found.peer).filter(visible).collect())
}
