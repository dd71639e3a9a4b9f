//! Watching: who begins, who ends, and what the engine asks the registry.

use super::follow::Following;
use super::followers::Pulse;
use super::published::Published;
use super::roots::Slot;
use super::subscription::{Next, Replay, Subscription};
use super::watches::{Place, Target};
use super::{Engine, Error, Progress, Registry, Snapshot};
use crate::authority::Grant;
use crate::harness::NoProgress;
use crate::protocol::{Harness, Query, RegistryEvent};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// What is asked to be watched.
pub struct Watching {
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
pub struct Ready {
    /// Set when they are not to be told any more.
    pub void: CancellationToken,
    /// Each with its revision.
    pub events: Vec<(String, RegistryEvent)>,
}

impl Registry {
    /// Begins to watch, if fewer than `max` are told of changes. The inventory must have been read for this call.
    pub fn watch(&self, watching: Watching, max: usize) -> Option<(Arc<Subscription>, String)> {
        let Watching { id, query, grant, since } = watching;
        let mut published = self.published();
        if published.listeners() >= max {
            return None;
        }
        let replay = since.map(|since| published.log.since(&since, &query, &grant));
        let replay = replay.map(|changes| changes.map_or(Replay::Unknown, Replay::Changes));
        let subscription = Arc::new(Subscription::new(id, query, grant, replay, &published.current));
        published.subscriptions.add(subscription.clone());
        Some((subscription, published.log.revision()))
    }

    /// Ends a subscription that a grant covers; whether there was such a one. With the last one the engine ends.
    pub fn unwatch(&self, id: &str, grant: &Grant) -> bool {
        let mut published = self.published();
        let was = published.subscriptions.remove(id, grant);
        self.rest(&mut published);
        was
    }

    /// Begins to wake one who follows a session, if fewer than `max` are told of changes.
    pub fn follow(&self, id: String, following: &Following, grant: Grant, max: usize) -> Option<Arc<Pulse>> {
        let mut published = self.published();
        if published.listeners() >= max {
            return None;
        }
        let session = following.id();
        let mut ids = published.current.kin(session);
        ids.push(session.into());
        let pulse = Arc::new(Pulse::new(ids, grant));
        pulse.lies(following);
        published.followers.add(id, pulse.clone());
        Some(pulse)
    }

    /// Ends one who follows a session in the scope of a grant; whether there was such a one. With the last one the
    /// engine ends.
    pub fn unfollow(&self, id: &str, grant: &Grant) -> bool {
        let mut published = self.published();
        let was = published.followers.remove(id, grant);
        self.rest(&mut published);
        was
    }

    /// Ends all subscriptions.
    pub fn unwatch_all(&self) {
        let mut published = self.published();
        published.subscriptions.clear();
        published.followers.clear();
        self.rest(&mut published);
    }

    /// Ends the engine where nobody is told of changes any more.
    fn rest(&self, published: &mut Published) {
        if published.listeners() == 0 {
            *self.engine() = None;
            published.update(|next| next.unwatched = Arc::default());
        }
    }

    /// Narrows what all who are told of changes may see.
    pub fn narrow(&self, narrow: impl Fn(&Grant) -> Option<Grant>) {
        let published = self.published();
        published.subscriptions.narrow(&narrow);
        published.followers.narrow(narrow);
    }

    /// The inventory as it was last read; `anew` reads the files first.
    pub fn now(&self, anew: bool) -> Result<Arc<Snapshot>, Error> {
        if anew {
            self.read(&NoProgress)?;
        }
        Ok(self.published().current.clone())
    }

    /// Sees to it that the inventory is kept true; at most so many directories are watched.
    pub fn keep(self: &Arc<Self>, directories: usize, handle: &Handle) -> io::Result<()> {
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
    ) -> Result<Option<Ready>, Error> {
        // What needs them reads files, too, and may wait for others that do.
        let roots = if subscription.reads() { self.roots() } else { Vec::new() };
        loop {
            let now = self.published().current.clone();
            match subscription.next(&now, &roots, count, progress)? {
                Next::Nothing => return Ok(None),
                Next::Again => {}
                Next::Events { void, told } => {
                    let events = told.into_iter().map(|told| (now.revision_of(told.revision), told.event));
                    return Ok(Some(Ready { void, events: events.collect() }));
                }
            }
        }
    }

    /// A mark of what there is to watch.
    pub(super) fn shape(&self) -> u64 {
        let state = self.state();
        let mut hasher = DefaultHasher::new();
        state.homes.roots().len().hash(&mut hasher);
        state.slots.iter().for_each(|slot| slot.scan().map(|scan| scan.shape).hash(&mut hasher));
        hasher.finish()
    }

    /// The roots that are to be looked at again soon: the lock of a database ends without an event.
    pub(super) fn restless(&self) -> BTreeSet<usize> {
        let state = self.state();
        let restless = |slot: &Slot| slot.scan().is_some_and(|scan| scan.is_restless());
        (0..).zip(&state.slots).filter(|(_, slot)| restless(slot)).map(|(root, _)| root).collect()
    }

    /// The places to watch.
    pub(super) fn places(&self) -> Vec<Place> {
        let state = self.state();
        let own = |target, path: PathBuf| Place { target, directories: vec![path.clone()], path };
        let receipts = state.homes.receipts().map(|path| own(Target::Receipts, path.to_owned()));
        let homes = state.homes.homes_of(Harness::ClaudeCode).into_iter();
        let mut places: Vec<Place> =
            homes.map(|home| own(Target::Live, home.join("sessions"))).chain(receipts).collect();
        for (root, slot) in state.slots.iter().enumerate() {
            let Some(scan) = slot.scan() else { continue };
            let directories = scan.directories().into_iter().collect();
            places.push(Place { target: Target::Root(root), path: scan.root.path.clone(), directories });
            // A file among them is watched by its name, where it lies.
            places.extend(scan.live.places.iter().map(|path| {
                let directories = path.is_dir().then(|| path.clone()).into_iter().collect();
                Place { target: Target::Live, path: path.clone(), directories }
            }));
        }
        places
    }

    /// The processes whose end changes the inventory.
    pub(super) fn processes(&self) -> BTreeSet<i32> {
        let now = self.published().current.clone();
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
