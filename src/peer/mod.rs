//! Live Claude Code sessions, known from the program's own process registry: `<home>/sessions/<pid>.json`.
//!
//! A record is not a live session. It stays when its process is killed, and its pid is then given to somebody else, so
//! each one is held against the process it names. The keys that lie beside the records are secrets and never opened.

pub mod courier;
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
    /// It lives, and no message can reach it.
    #[error("no message can reach the session `{0}`: {1}")]
    Unreachable(String, Unreachable),
    /// It lives, and messages do not go to its home.
    #[error(
        "the session `{0}` is in a home that the client named; messages go only to homes that the server was started with"
    )]
    OtherHome(String),
    /// While the message waited for its turn, another session came to answer to it.
    #[error("`{0}` is not the session any more that it was when the message was sent; nothing was delivered")]
    Replaced(String),
}

impl From<Error> for RpcError {
    fn from(error: Error) -> Self {
        let reason = match error {
            Error::Selector => Reason::InvalidParams,
            Error::InvalidEndpoint => Reason::InvalidEndpoint,
            Error::NotLive(_) | Error::Unreachable(..) | Error::OtherHome(_) => Reason::NotLive,
            Error::Ambiguous { .. } | Error::Moved(_) | Error::Replaced(_) => Reason::IdentityMismatch,
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

/// Why no message can reach a live session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreachable {
    /// Its record names no socket: it has none, or has not opened it yet.
    #[error("it has no socket")]
    NoSocket,
    /// Its process is stopped.
    #[error("its process is stopped; continue it with `fg` in its terminal, or with `kill -CONT`")]
    Stopped,
    /// Nobody listens at the socket that its record names.
    #[error("its socket does not answer")]
    Silent,
}

/// Why no message can reach a live session; `None` where one can.
pub fn unreachable(peer: &Peer) -> Option<Unreachable> {
    match (peer.addressable, &peer.socket_path) {
        (true, _) => None,
        (false, _) if peer.stopped == Some(true) => Some(Unreachable::Stopped),
        (false, None) => Some(Unreachable::NoSocket),
        (false, Some(_)) => Some(Unreachable::Silent),
    }
}

/// The one live session that is meant by a message, which needs a session that can be reached, in one of the homes to
/// which messages go. In the `others` is only looked to say so.
pub fn addressee(
    homes: &[PathBuf],
    others: &[PathBuf],
    to: &PeerSelector,
    visible: impl Fn(&Peer) -> bool,
) -> Result<Peer, Error> {
    let peer = match resolve(homes, to, &visible) {
        Err(Error::NotLive(what)) => {
            let elsewhere = resolve(others, to, &visible);
            return Err(elsewhere.map_or(Error::NotLive(what), |peer| Error::OtherHome(peer.name)));
        }
        found => found?,
    };
    match unreachable(&peer) {
        Some(why) => Err(Error::Unreachable(peer.name, why)),
        None => Ok(peer),
    }
}

/// Whether two readings tell of the same session, at the same place.
pub fn is_same(one: &Peer, other: &Peer) -> bool {
    let place = |peer: &Peer| (peer.pid, peer.session_id.clone(), peer.socket_path.clone(), peer.home.clone());
    place(one) == place(other)
}
