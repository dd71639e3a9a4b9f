//! Who follows a session's messages, and is woken when they may have changed.

use super::change_log::{Change, Id};
use super::followed_session::FollowedSession;
use crate::authority::{Grant, Subject};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Those who follow.
#[derive(Default)]
pub(super) struct FollowWakers(HashMap<String, Arc<FollowWaker>>);

/// What wakes one who follows.
pub struct FollowWaker {
    /// The entries whose changes matter.
    ids: Vec<Id>,
    location: Mutex<SessionLocation>,
    wake: Notify,
    review_requested: AtomicBool,
    ended: CancellationToken,
    view: Mutex<ClientView>,
}

/// Where the session is.
#[derive(Default)]
struct SessionLocation {
    /// The directory of its file.
    directory: Option<PathBuf>,
    /// To compare with a scope.
    subject: Subject,
}

/// What the client may see.
#[derive(Clone)]
pub struct ClientView {
    /// By its authority.
    pub grant: Grant,
    /// Set when what was made by that to be told is not to be told any more.
    pub void: CancellationToken,
}

impl FollowWaker {
    /// A waker for the session that is listed under one of these ids.
    pub fn new(ids: Vec<Id>, grant: Grant) -> Self {
        let ended = CancellationToken::new();
        Self {
            ids,
            location: Mutex::default(),
            wake: Notify::new(),
            review_requested: AtomicBool::new(false),
            view: Mutex::new(ClientView { grant, void: ended.child_token() }),
            ended,
        }
    }

    /// Takes note of where the session is now. Reads the file system.
    pub fn set_location(&self, following: &FollowedSession) {
        let directory = following.location().and_then(Path::parent).map(Path::to_owned);
        let entry = following.entry();
        let subject = Subject::resolve(entry.harness, entry.workspace.as_deref());
        *self.lock_location() = SessionLocation { directory, subject };
    }

    /// Whether a grant has the session in its scope.
    pub fn is_in_scope_of(&self, grant: &Grant) -> bool {
        grant.reaches(&self.lock_location().subject)
    }

    fn lock_location(&self) -> MutexGuard<'_, SessionLocation> {
        self.location.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resolves when something may have changed.
    pub async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Whether the entry itself may have changed since this was last asked.
    pub fn take_review_request(&self) -> bool {
        self.review_requested.swap(false, Ordering::SeqCst)
    }

    /// What the client may see now. To be asked behind [`Self::take_review_request`], so that no narrowing is missed.
    pub fn view(&self) -> ClientView {
        self.lock_view().clone()
    }

    /// Narrows what the client may see; it ends where nothing is left.
    pub fn narrow(&self, narrow: impl Fn(&Grant) -> Option<Grant>) {
        let mut view = self.lock_view();
        match narrow(&view.grant) {
            Some(grant) => {
                if !self.is_in_scope_of(&grant) {
                    std::mem::replace(&mut view.void, self.ended.child_token()).cancel();
                }
                view.grant = grant;
            }
            None => self.ended.cancel(),
        }
        drop(view);
        self.request_review();
    }

    fn lock_view(&self) -> MutexGuard<'_, ClientView> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Set when it is over.
    pub fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    fn request_review(&self) {
        self.review_requested.store(true, Ordering::SeqCst);
        self.wake.notify_one();
    }
}

impl FollowWakers {
    /// Adds one who follows.
    pub(super) fn add(&mut self, id: String, waker: Arc<FollowWaker>) {
        self.0.insert(id, waker);
    }

    /// Ends one, if it is there and the grant has its session in scope; whether it was ended.
    pub(super) fn remove(&mut self, id: &str, grant: &Grant) -> bool {
        let is_meant = self.0.get(id).is_some_and(|waker| waker.is_in_scope_of(grant));
        is_meant && self.0.remove(id).map(|waker| waker.ended.cancel()).is_some()
    }

    /// Ends all.
    pub(super) fn clear(&mut self) {
        self.0.drain().for_each(|(_, waker)| waker.ended.cancel());
    }

    /// Narrows what all may see.
    pub(super) fn narrow(&self, narrow: impl Fn(&Grant) -> Option<Grant>) {
        self.0.values().for_each(|waker| waker.narrow(&narrow));
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Wakes those whose entry changed.
    pub(super) fn wake_for(&self, changes: &[Change]) {
        let of = |waker: &FollowWaker| {
            changes.iter().filter_map(|change| change.subject.entry()).any(|id| waker.ids.contains(id))
        };
        self.0.values().filter(|waker| of(waker)).for_each(|waker| waker.request_review());
    }

    /// Wakes those whose files are in one of these directories.
    pub(super) fn wake_in(&self, directories: &BTreeSet<&Path>) {
        for waker in self.0.values() {
            if waker.lock_location().directory.as_deref().is_none_or(|directory| directories.contains(directory)) {
                waker.wake.notify_one();
            }
        }
    }

    /// Wakes all.
    pub(super) fn wake_all(&self) {
        self.0.values().for_each(|waker| waker.request_review());
    }
}
