//! Following the messages of an entry, wherever its session lies.

use super::item::Item;
use super::load::{load_problem, session_cursor};
use super::{Error, Progress, Snapshot};
use crate::authority::Grant;
use crate::harness::{self, Followed, Follower, ReadError, Root, Session};
use crate::limits;
use crate::protocol::{Entry, Harness, SessionEvent};
use std::path::Path;
use std::time::Duration;

/// An entry whose messages are followed.
pub struct FollowedSession {
    /// Its id as a session, which it keeps when its runtime ends.
    id: String,
    entry: Entry,
    /// `None` while it is in no store, or cannot be read.
    follower: Option<Follower>,
    /// Whether it is in a store and cannot be read.
    unreadable: bool,
    /// Whether that it is gone was told.
    removal_sent: bool,
}

/// What a reading came to.
#[derive(Debug)]
pub enum FollowOutcome {
    /// There is nothing to tell.
    Nothing,
    /// This is to be told.
    Event(SessionEvent),
    /// The session is not where it was: take a new snapshot, and [`FollowedSession::review`].
    Lost,
}

impl Snapshot {
    /// Begins to follow an entry's messages behind those that there are. Answers the entry, and a cursor of `load` that
    /// leads to what was there; `None` where there is no such entry in scope, or not any more.
    ///
    /// # Errors
    /// When nobody wants it any more.
    pub fn follow(
        &self,
        id: &str,
        grant: &Grant,
        roots: &[Root],
        progress: &dyn Progress,
    ) -> Result<Option<(FollowedSession, Entry, String)>, Error> {
        let Some(item) = self.item(id, grant) else { return Ok(None) };
        let (id, entry) = (item.session_entry_id(), self.entry(&item, grant));
        let own_only = item.has_ancestor_out_of_scope(&self.stored, grant);
        let mut following =
            FollowedSession { id, entry: entry.clone(), follower: None, unreadable: false, removal_sent: false };
        let begun = match item.session() {
            None => None,
            Some(session) => match following.begin(item.harness(), session, own_only, roots, progress) {
                Ok(begun) => begun,
                Err(ReadError::Cancelled) => return Err(Error::Cancelled),
                Err(ReadError::Vanished) => return Ok(None),
                // Once it can be read, it is to be loaded anew.
                Err(_) => None,
            },
        };
        let cursor = session_cursor(&following.id, begun.as_deref());
        Ok(Some((following, entry, cursor)))
    }
}

impl FollowedSession {
    /// The id of the session's entry, where no runtime runs it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Reads what is new. Cheap where nothing is: to be called whenever something may have changed.
    ///
    /// # Errors
    /// When nobody wants it any more.
    pub fn read(&mut self, roots: &[Root], progress: &dyn Progress) -> Result<FollowOutcome, Error> {
        let Some(follower) = &mut self.follower else { return Ok(FollowOutcome::Lost) };
        match follower.read(roots, progress) {
            Ok(Followed::Removed) => Ok(FollowOutcome::Lost),
            followed => self.outcome_of(followed),
        }
    }

    /// Looks where the session lies now, and goes on there: to be called when it was lost, and when the inventory or
    /// the client's scope changed.
    ///
    /// # Errors
    /// When nobody wants it any more.
    pub fn review(
        &mut self,
        snapshot: &Snapshot,
        grant: &Grant,
        roots: &[Root],
        progress: &dyn Progress,
    ) -> Result<FollowOutcome, Error> {
        let Some(item) = snapshot.item(&self.id, grant) else { return Ok(self.removed()) };
        self.entry = snapshot.entry(&item, grant);
        let Some(session) = item.session() else {
            // A live session whose file went lives on.
            return Ok(if self.follower.is_some() { self.removed() } else { FollowOutcome::Nothing });
        };
        let own_only = item.has_ancestor_out_of_scope(&snapshot.stored, grant);
        if self.removal_sent || self.follower.is_none() {
            return self.resume(&item, session, own_only, roots, progress);
        }
        match self.follower.as_mut().map(|follower| follower.move_to(roots, session.clone(), own_only, progress)) {
            None | Some(Ok(Followed::Removed)) => Ok(self.removed()),
            Some(followed) => self.outcome_of(followed),
        }
    }

    /// Its entry, as it was seen last.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The file that the session is in; a database has a log beside it.
    pub fn location(&self) -> Option<&Path> {
        self.follower.as_ref().map(|follower| &*follower.session().location)
    }

    /// When [`Self::read`] should be called even if nothing tells that anything changed.
    pub fn due(&self) -> Option<Duration> {
        let unreadable = self.unreadable.then_some(limits::FOLLOW_AGAIN);
        unreadable.or_else(|| self.follower.as_ref().and_then(Follower::due))
    }

    fn begin(
        &mut self,
        harness: Harness,
        session: &Session,
        own_only: bool,
        roots: &[Root],
        progress: &dyn Progress,
    ) -> Result<Option<String>, ReadError> {
        let store = harness::store_of(harness).ok_or(ReadError::Vanished)?;
        self.unreadable = true;
        let (follower, cursor) = Follower::begin(store, roots, session.clone(), own_only, progress)?;
        (self.follower, self.unreadable) = (Some(follower), false);
        Ok(cursor)
    }

    /// What was in no store is there now: all of it is new, or after it was gone, to be loaded anew.
    fn resume(
        &mut self,
        item: &Item<'_>,
        session: &Session,
        own_only: bool,
        roots: &[Root],
        progress: &dyn Progress,
    ) -> Result<FollowOutcome, Error> {
        match self.begin(item.harness(), session, own_only, roots, progress) {
            Ok(begun) => {
                self.removal_sent = false;
                Ok(FollowOutcome::Event(SessionEvent::Rewritten { cursor: session_cursor(&self.id, begun.as_deref()) }))
            }
            Err(ReadError::Cancelled) => Err(Error::Cancelled),
            Err(_) => Ok(FollowOutcome::Nothing),
        }
    }

    fn removed(&mut self) -> FollowOutcome {
        (self.follower, self.unreadable) = (None, false);
        if std::mem::replace(&mut self.removal_sent, true) {
            FollowOutcome::Nothing
        } else {
            FollowOutcome::Event(SessionEvent::Removed)
        }
    }

    fn outcome_of(&mut self, followed: Result<Followed, ReadError>) -> Result<FollowOutcome, Error> {
        Ok(match followed {
            Err(_) => return Err(Error::Cancelled),
            Ok(Followed::Nothing) => FollowOutcome::Nothing,
            Ok(Followed::Removed) => FollowOutcome::Lost,
            Ok(Followed::Appended(messages)) => FollowOutcome::Event(SessionEvent::Appended { messages }),
            Ok(Followed::Rewritten(begun)) => {
                FollowOutcome::Event(SessionEvent::Rewritten { cursor: session_cursor(&self.id, begun.as_deref()) })
            }
            Ok(Followed::Trouble(skip)) => {
                FollowOutcome::Event(SessionEvent::Error { problem: load_problem(&self.entry, &skip) })
            }
        })
    }
}
