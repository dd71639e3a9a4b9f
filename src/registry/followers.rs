//! Who follows a session's messages, and is woken when they may have changed.

use super::changes::{Change, Id};
use super::follow::Following;
use crate::authority::{Grant, Subject};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Those who follow.
#[derive(Default)]
pub struct Followers(HashMap<String, Arc<Pulse>>);

/// What wakes one who follows.
pub struct Pulse {
    /// The entries whose changes matter.
    ids: Vec<Id>,
    place: Mutex<Place>,
    wake: Notify,
    review: AtomicBool,
    ended: CancellationToken,
    seen: Mutex<Seen>,
}

/// Where the session is.
#[derive(Default)]
struct Place {
    /// The directory of its file.
    directory: Option<PathBuf>,
    /// To compare with a scope.
    subject: Subject,
}

/// What the client may see.
#[derive(Clone)]
pub struct Seen {
    /// By its authority.
    pub grant: Grant,
    /// Set when what was made by that to be told is not to be told any more.
    pub void: CancellationToken,
}

impl Pulse {
    /// A pulse for the session that is listed under one of these ids.
    pub fn new(ids: Vec<Id>, grant: Grant) -> Self {
        let ended = CancellationToken::new();
        Self {
            ids,
            place: Mutex::default(),
            wake: Notify::new(),
            review: AtomicBool::new(false),
            seen: Mutex::new(Seen { grant, void: ended.child_token() }),
            ended,
        }
    }

    /// Takes note of where the session is now. Reads the file system.
    pub fn lies(&self, following: &Following) {
        let directory = following.location().and_then(Path::parent).map(Path::to_owned);
        let entry = following.entry();
        let subject = Subject::resolve(entry.harness, entry.workspace.as_deref());
        *self.place() = Place { directory, subject };
    }

    /// Whether a grant has the session in its scope.
    pub fn is_reached_by(&self, grant: &Grant) -> bool {
        grant.reaches(&self.place().subject)
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resolves when something may have changed.
    pub async fn beat(&self) {
        self.wake.notified().await;
    }

    /// Whether the entry itself may have changed since this was last asked.
    pub fn needs_review(&self) -> bool {
        self.review.swap(false, Ordering::SeqCst)
    }

    /// What the client may see now. To be asked behind [`Self::needs_review`], so that no narrowing is missed.
    pub fn sees(&self) -> Seen {
        self.seen().clone()
    }

    /// Narrows what the client may see; it ends where nothing is left.
    pub fn narrow(&self, narrow: impl Fn(&Grant) -> Option<Grant>) {
        let mut seen = self.seen();
        match narrow(&seen.grant) {
            Some(grant) => {
                if !self.is_reached_by(&grant) {
                    std::mem::replace(&mut seen.void, self.ended.child_token()).cancel();
                }
                seen.grant = grant;
            }
            None => self.ended.cancel(),
        }
        drop(seen);
        self.look_again();
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Set when it is over.
    pub fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    fn look_again(&self) {
        self.review.store(true, Ordering::SeqCst);
        self.wake.notify_one();
    }
}

impl Followers {
    /// Adds one who follows.
    pub fn add(&mut self, id: String, pulse: Arc<Pulse>) {
        self.0.insert(id, pulse);
    }

    /// Ends one, if it is there and the grant has its session in scope; whether it was ended.
    pub fn remove(&mut self, id: &str, grant: &Grant) -> bool {
        let is_meant = self.0.get(id).is_some_and(|pulse| pulse.is_reached_by(grant));
        is_meant && self.0.remove(id).map(|pulse| pulse.ended.cancel()).is_some()
    }

    /// Ends all.
    pub fn clear(&mut self) {
        self.0.drain().for_each(|(_, pulse)| pulse.ended.cancel());
    }

    /// Narrows what all may see.
    pub fn narrow(&self, narrow: impl Fn(&Grant) -> Option<Grant>) {
        self.0.values().for_each(|pulse| pulse.narrow(&narrow));
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Wakes those whose entry changed.
    pub fn tell(&self, changes: &[Change]) {
        let of =
            |pulse: &Pulse| changes.iter().filter_map(|change| change.subject.entry()).any(|id| pulse.ids.contains(id));
        self.0.values().filter(|pulse| of(pulse)).for_each(|pulse| pulse.look_again());
    }

    /// Wakes those whose files are in one of these directories.
    pub fn stir(&self, directories: &BTreeSet<&Path>) {
        for pulse in self.0.values() {
            if pulse.place().directory.as_deref().is_none_or(|directory| directories.contains(directory)) {
                pulse.wake.notify_one();
            }
        }
    }

    /// Wakes all.
    pub fn stir_all(&self) {
        self.0.values().for_each(|pulse| pulse.look_again());
    }
}
