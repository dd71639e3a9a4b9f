//! The inventory as it is now, its log, and who is told of changes: all under one lock that is never held for long.

use super::Snapshot;
use super::change_log::ChangeLog;
use super::follow_wakers::FollowWakers;
use super::subscription::Subscriptions;
use crate::runtime::Observed;
use std::sync::Arc;

pub(super) struct Publisher {
    pub current: Arc<Snapshot>,
    pub log: ChangeLog,
    pub subscriptions: Subscriptions,
    pub wakers: FollowWakers,
}

impl Publisher {
    pub(super) fn new(instance: String) -> Self {
        let log = ChangeLog::new(instance);
        let current = Arc::new(Snapshot { revision: log.revision(), ..Snapshot::default() });
        Self { current, log, subscriptions: Subscriptions::default(), wakers: FollowWakers::default() }
    }

    /// How many are told of changes.
    pub(super) fn listeners(&self) -> usize {
        self.subscriptions.len() + self.wakers.len()
    }

    /// Takes note of what the runtimes said, unless that is older than what is known.
    pub(super) fn observe(&mut self, observed: Observed) {
        if observed.number >= self.current.observed.number {
            self.update(|next| next.observed = Arc::new(observed));
        }
    }

    /// Changes the inventory, numbers what differs by it, and tells who watches.
    pub(super) fn update(&mut self, change: impl FnOnce(&mut Snapshot)) {
        let mut next = (*self.current).clone();
        change(&mut next);
        let changes = self.log.record(&self.current, &next);
        (next.revision, next.number) = (self.log.revision(), self.log.last());
        let before = std::mem::replace(&mut self.current, Arc::new(next));
        if !changes.is_empty() {
            self.subscriptions.notify(&before, &self.current, &changes);
            self.wakers.wake_for(&changes);
        }
    }
}
