//! One controller, many observers.

use super::fault::Fault;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub struct Leases {
    ttl_ms: u64,
    observers: BTreeMap<String, u64>,
    controller: Option<(String, u64)>,
    /// Whose control lapsed; only taking it helps that client.
    expired: Option<String>,
}

impl Leases {
    pub fn new(ttl_ms: u64) -> Self {
        Self { ttl_ms, observers: BTreeMap::new(), controller: None, expired: None }
    }

    /// Observers never lapse.
    pub fn observe(&mut self, client: &str, now_ms: u64) {
        self.observers.insert(client.to_owned(), now_ms);
    }

    /// Claims control where it is free or the client's own, and renews it. A refused client is an observer all the same.
    pub fn acquire(&mut self, client: &str, now_ms: u64) -> Result<(), Fault> {
        self.expire(now_ms);
        self.observe(client, now_ms);
        if self.expired.as_deref() == Some(client) {
            return Err(Fault::lease_expired());
        }
        match &self.controller {
            Some((holder, until)) if holder != client => Err(Fault::controller_required(holder, *until)),
            _ => {
                self.take(client, now_ms);
                Ok(())
            }
        }
    }

    /// Claims control whoever has it.
    pub fn take(&mut self, client: &str, now_ms: u64) {
        self.observe(client, now_ms);
        self.controller = Some((client.to_owned(), now_ms + self.ttl_ms));
        self.expired = None;
    }

    /// Renews what the client has; lapsed control stays lapsed, and nobody is told.
    pub fn heartbeat(&mut self, client: &str, now_ms: u64, renews_control: bool) {
        self.expire(now_ms);
        self.observe(client, now_ms);
        if renews_control && self.controls(client) {
            self.take(client, now_ms);
        }
    }

    /// Forgets the client altogether.
    pub fn detach(&mut self, client: &str) {
        self.observers.remove(client);
        if self.controls(client) {
            self.controller = None;
        }
        self.expired.take_if(|expired| expired == client);
    }

    pub fn snapshot(&mut self, now_ms: u64) -> Value {
        self.expire(now_ms);
        let controller =
            self.controller.as_ref().map(|(client, until)| json!({ "client_id": client, "expires_at_ms": until }));
        let seen = |(client, seen): (&String, &u64)| json!({ "client_id": client, "last_seen_ms": seen });
        let observers: Vec<_> = self.observers.iter().map(seen).collect();
        json!({ "controller": controller, "observers": observers, "lease_ttl_ms": self.ttl_ms })
    }

    pub fn observers(&self) -> Vec<String> {
        self.observers.keys().cloned().collect()
    }

    pub fn controller(&mut self, now_ms: u64) -> Option<String> {
        self.expire(now_ms);
        self.controller.as_ref().map(|(client, _)| client.clone())
    }

    fn controls(&self, client: &str) -> bool {
        self.controller.as_ref().is_some_and(|(holder, _)| holder == client)
    }

    fn expire(&mut self, now_ms: u64) {
        if let Some((holder, _)) = self.controller.take_if(|(_, until)| now_ms >= *until) {
            self.expired = Some(holder);
        }
    }
}
