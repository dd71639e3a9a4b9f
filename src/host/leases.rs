//! One controller, many observers. Memory and a clock that is given, so that any order of things can be tested.

use super::fault::Fault;
use crate::limits;
use crate::runtime::wire::{Controller, Lease, Observer};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::watch;

/// Who drives and who looks. Every time is in epoch milliseconds and never runs backwards.
#[derive(Debug)]
pub(super) struct Leases {
    ttl_ms: u64,
    controller: Option<Controller>,
    /// Whose control lapsed. It is not given back by asking as if nothing had been: somebody may have relied on it.
    expired: Option<String>,
    observers: BTreeMap<String, u64>,
    /// How many streams each client has open. Who has one is not forgotten.
    streams: BTreeMap<String, usize>,
    /// Told when somebody came, left, or began or ceased to drive.
    changed: watch::Sender<()>,
}

impl Leases {
    /// Nobody drives and nobody looks. Control lasts `ttl`.
    pub(super) fn new(ttl: Duration) -> Self {
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX).max(1);
        let (observers, streams) = Default::default();
        Self { ttl_ms, controller: None, expired: None, observers, streams, changed: watch::Sender::new(()) }
    }

    /// The client looks. Of too many the one is forgotten that was not heard of for the longest time.
    pub(super) fn observe(&mut self, client: &str, now_ms: u64) {
        if self.observers.insert(client.to_owned(), now_ms).is_none() {
            self.changed.send_replace(());
        }
        if self.observers.len() > limits::HOST_OBSERVERS {
            let idle = self.observers.iter().filter(|(id, _)| *id != client && !self.streams.contains_key(*id));
            if let Some(oldest) = idle.min_by_key(|(_, seen)| **seen).map(|(id, _)| id.clone()) {
                self.observers.remove(&oldest);
            }
        }
    }

    /// The client was heard of. That alone makes nobody an observer.
    pub(super) fn touch(&mut self, client: &str, now_ms: u64) {
        if let Some(seen) = self.observers.get_mut(client) {
            *seen = now_ms;
        }
    }

    /// Claims control where it is free or the client's own, and renews it.
    pub(super) fn acquire(&mut self, client: &str, now_ms: u64) -> Result<(), Fault> {
        self.lapse(now_ms);
        if self.expired.as_deref() == Some(client) {
            return Err(Fault::lease_expired());
        }
        if let Some(held) = self.controller.as_ref().filter(|held| held.client_id != client) {
            return Err(Fault::controller_required(&held.client_id, held.expires_at_ms));
        }
        self.take(client, now_ms);
        Ok(())
    }

    /// Claims control, whoever has it.
    pub(super) fn take(&mut self, client: &str, now_ms: u64) {
        let expires_at_ms = now_ms.saturating_add(self.ttl_ms);
        if !self.drives(client) {
            self.changed.send_replace(());
        }
        self.controller = Some(Controller { client_id: client.to_owned(), expires_at_ms });
        self.expired = None;
    }

    /// The client has been there all along: what it holds has not lapsed, however long nobody looked.
    pub(super) fn keep(&mut self, client: &str, now_ms: u64) {
        self.touch(client, now_ms);
        if let Some(held) = self.controller.as_mut().filter(|held| held.client_id == client) {
            held.expires_at_ms = now_ms.saturating_add(self.ttl_ms);
        }
    }

    /// Renews what the client has: that it looks, and with `renews_control` that it drives. What lapsed stays so, which
    /// is no error.
    pub(super) fn heartbeat(&mut self, client: &str, renews_control: bool, now_ms: u64) {
        self.lapse(now_ms);
        self.observe(client, now_ms);
        if renews_control && self.drives(client) {
            self.take(client, now_ms);
        }
    }

    /// Forgets the client: that it looks, that it drives, and that it drove.
    pub(super) fn detach(&mut self, client: &str, now_ms: u64) {
        self.lapse(now_ms);
        self.observers.remove(client);
        self.controller.take_if(|held| held.client_id == client);
        self.expired.take_if(|id| id == client);
        self.changed.send_replace(());
    }

    /// Told when somebody came, left, or began or ceased to drive.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// A stream of the client began.
    pub(super) fn stream_began(&mut self, client: &str, now_ms: u64) {
        *self.streams.entry(client.to_owned()).or_default() += 1;
        self.observe(client, now_ms);
    }

    /// A stream of the client ended. With the last one the client is forgotten: another of its streams means that it is
    /// still there.
    pub(super) fn stream_ended(&mut self, client: &str, now_ms: u64) {
        match self.streams.get_mut(client) {
            Some(open) if *open > 1 => *open -= 1,
            _ => {
                self.streams.remove(client);
                self.detach(client, now_ms);
            }
        }
    }

    /// Who drives and who looks now.
    pub(super) fn snapshot(&mut self, now_ms: u64) -> Lease {
        self.lapse(now_ms);
        let observers = self.observers.iter();
        let observer = |(id, seen): (&String, &u64)| Observer { client_id: id.clone(), last_seen_ms: *seen };
        Lease {
            controller: self.controller.clone(),
            observers: observers.map(observer).collect(),
            lease_ttl_ms: self.ttl_ms,
        }
    }

    fn drives(&self, client: &str) -> bool {
        self.controller.as_ref().is_some_and(|held| held.client_id == client)
    }

    fn lapse(&mut self, now_ms: u64) {
        if let Some(held) = self.controller.take_if(|held| now_ms >= held.expires_at_ms) {
            self.expired = Some(held.client_id);
            self.changed.send_replace(());
        }
        let forgotten = u64::try_from(limits::HOST_OBSERVER.as_millis()).unwrap_or(u64::MAX);
        let streams = &self.streams;
        self.observers.retain(|id, seen| streams.contains_key(id) || now_ms.saturating_sub(*seen) < forgotten);
    }
}
