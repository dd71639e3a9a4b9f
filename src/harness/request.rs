//! What a client asks of one session, and what it gets: details and pages of messages.

use super::{Attended, Progress};
use crate::protocol::{LastMessage, Message};
use std::io;

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
