//! WatchRequest: who begins, who ends, and what the engine asks the registry.

use super::follow_wakers::FollowWaker;
use super::followed_session::FollowedSession;
use super::hints::Target;
use super::publisher::Publisher;
use super::roots::RootSlot;
use super::subscription::{Next, Replay, Subscription};
use super::watch_set::WatchedLocation;
use super::{Engine, Error, Progress, Refresh, Registry, Snapshot};
use crate::authority::Grant;
use crate::harness::NoProgress;
use crate::protocol::{Query, RegistryEvent};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// What is asked to be watched.
pub struct WatchRequest {
    /// The subscription's name.
    pub id: String,
    /// Which entries.
    pub query: Query,
    /// What the client may see.
    pub grant: Grant,
    /// What the client has already.
    pub since: Option<String>,
}

/// Events that are ready to be told.
pub struct EventBatch {
    /// Set when they are not to be told any more.
    pub void: CancellationToken,
    /// Each with its revision.
    pub events: Vec<(String, RegistryEvent)>,
}

impl Registry {
    /// Begins to watch, if fewer than `max` are told of changes. The inventory must have been read for this call.
    pub fn watch(&self, request: WatchRequest, max: usize) -> Option<(Arc<Subscription>, String)> {
        let WatchRequest { id, query, grant, since } = request;
        let mut publisher = self.publisher();
        if publisher.listeners() >= max {
            return None;
        }
        let replay = since.map(|since| publisher.log.since(&since, &query, &grant));
        let replay = replay.map(|changes| changes.map_or(Replay::Unknown, Replay::Changes));
        let subscription = Arc::new(Subscription::new(id, query, grant, replay, &publisher.current));
        publisher.subscriptions.add(subscription.clone());
        Some((subscription, publisher.log.revision()))
    }

    /// Ends a subscription that a grant covers; whether there was such a one. With the last one the engine ends.
    pub fn unwatch(&self, id: &str, grant: &Grant) -> bool {
        let mut publisher = self.publisher();
        let was = publisher.subscriptions.remove(id, grant);
        self.stop_if_idle(&mut publisher);
        was
    }

    /// Begins to wake one who follows a session, if fewer than `max` are told of changes.
    pub fn follow(
        &self,
        id: String,
        following: &FollowedSession,
        grant: Grant,
        max: usize,
    ) -> Option<Arc<FollowWaker>> {
        let mut publisher = self.publisher();
        if publisher.listeners() >= max {
            return None;
        }
        let session = following.id();
        let mut ids = publisher.current.related_ids(session);
        ids.push(session.into());
        let waker = Arc::new(FollowWaker::new(ids, grant));
        waker.set_location(following);
        publisher.wakers.add(id, waker.clone());
        Some(waker)
    }

    /// Ends one who follows a session in the scope of a grant; whether there was such a one. With the last one the
    /// engine ends.
    pub fn unfollow(&self, id: &str, grant: &Grant) -> bool {
        let mut publisher = self.publisher();
        let was = publisher.wakers.remove(id, grant);
        self.stop_if_idle(&mut publisher);
        was
    }

    /// Ends all subscriptions.
    pub fn unwatch_all(&self) {
        let mut publisher = self.publisher();
        publisher.subscriptions.clear();
        publisher.wakers.clear();
        self.stop_if_idle(&mut publisher);
    }

    /// Ends the engine where nobody is told of changes any more.
    fn stop_if_idle(&self, publisher: &mut Publisher) {
        if publisher.listeners() == 0 {
            *self.engine() = None;
            publisher.update(|next| next.unwatched = Arc::default());
        }
    }

    /// Narrows what all who are told of changes may see.
    pub fn narrow(&self, narrow: impl Fn(&Grant) -> Option<Grant>) {
        let publisher = self.publisher();
        publisher.subscriptions.narrow(&narrow);
        publisher.wakers.narrow(narrow);
    }

    /// The inventory as it was last read; with `Refresh::Yes` the files are read first.
    pub fn latest_snapshot(&self, refresh: Refresh) -> Result<Arc<Snapshot>, Error> {
        if refresh == Refresh::Yes {
            self.read(&NoProgress)?;
        }
        Ok(self.publisher().current.clone())
    }

    /// Sees to it that the inventory is kept true; at most so many directories are watched.
    pub fn ensure_engine(self: &Arc<Self>, directories: usize, handle: &Handle) -> io::Result<()> {
        let mut engine = self.engine();
        if engine.is_none() {
            *engine = Some(Engine::start(self, directories, handle)?);
        }
        Ok(())
    }

    /// What a subscription is to be told next; of what has no revision of its own, that of the inventory.
    pub fn next(
        &self,
        subscription: &Subscription,
        count: usize,
        progress: &dyn Progress,
    ) -> Result<Option<EventBatch>, Error> {
        // What needs them reads files, too, and may wait for others that do.
        let roots = if subscription.reads_files() { self.roots() } else { Vec::new() };
        loop {
            let now = self.publisher().current.clone();
            match subscription.next(&now, &roots, count, progress)? {
                Next::Nothing => return Ok(None),
                Next::Retry => {}
                Next::Events { void, events } => {
                    let events = events.into_iter().map(|event| (now.revision_of(event.revision), event.event));
                    return Ok(Some(EventBatch { void, events: events.collect() }));
                }
            }
        }
    }

    /// A mark of what there is to watch.
    pub(super) fn watch_fingerprint(&self) -> u64 {
        let state = self.state();
        let mut hasher = DefaultHasher::new();
        state.homes.roots().len().hash(&mut hasher);
        state.slots.iter().for_each(|slot| slot.scan().map(|scan| scan.fingerprint).hash(&mut hasher));
        hasher.finish()
    }

    /// The roots that are to be looked at again soon: the lock of a database ends without an event.
    pub(super) fn unsettled_roots(&self) -> BTreeSet<usize> {
        let state = self.state();
        let unsettled = |slot: &RootSlot| slot.scan().is_some_and(|scan| scan.is_unsettled());
        (0..).zip(&state.slots).filter(|(_, slot)| unsettled(slot)).map(|(root, _)| root).collect()
    }

    /// The places to watch.
    pub(super) fn locations(&self) -> Vec<WatchedLocation> {
        let state = self.state();
        let own = |target, path: PathBuf| WatchedLocation { target, directories: vec![path.clone()], path };
        let receipts = state.homes.receipts().map(|path| own(Target::Receipts, path.to_owned()));
        let mut locations: Vec<WatchedLocation> = receipts.into_iter().collect();
        for (root, slot) in state.slots.iter().enumerate() {
            let Some(scan) = slot.scan() else { continue };
            let directories = scan.directories().into_iter().collect();
            locations.push(WatchedLocation { target: Target::Root(root), path: scan.root.path.clone(), directories });
            // A file among them is watched by its name, where it lies.
            locations.extend(scan.live.locations.iter().map(|path| {
                let directories = path.is_dir().then(|| path.clone()).into_iter().collect();
                WatchedLocation { target: Target::Live, path: path.clone(), directories }
            }));
        }
        locations
    }

    /// The processes whose end changes the inventory.
    pub(super) fn processes(&self) -> BTreeSet<i32> {
        let now = self.publisher().current.clone();
        let live = now.live.iter().map(|live| live.pid);
        live.chain(now.observed.runtimes.iter().map(|runtime| runtime.receipt.pid)).collect()
    }

    fn engine(&self) -> std::sync::MutexGuard<'_, Option<Engine>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Snapshot {
    /// A revision as it crosses the wire: that of a change, else the one of this state.
    fn revision_of(&self, change: Option<u64>) -> String {
        match (change, self.revision.rsplit_once('.')) {
            (Some(change), Some((instance, _))) => format!("{instance}.{change}"),
            _ => self.revision.clone(),
        }
    }
}
