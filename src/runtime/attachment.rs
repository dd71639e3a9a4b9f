//! One client that joined one runtime: what it may do there, and the control that it holds.

use super::api::Api;
use super::http::{Caller, Client};
use crate::limits;
use crate::protocol::{Endpoint, Lease, Permission, Source};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A client that joined a runtime.
pub struct Attachment {
    /// Its name in all that follows.
    pub id: String,
    /// The name by which the runtime knows the client.
    pub client_id: String,
    /// The runtime's receipt.
    pub endpoint: Endpoint,
    /// The conversation that the runtime runs.
    pub source: Source,
    client: Arc<Client>,
    permissions: Mutex<Vec<Permission>>,
    auto_renew: bool,
    /// How long control lasts without being renewed, while it may be held.
    held: watch::Sender<Option<Duration>>,
    /// How long it lasted when the runtime last said so.
    ttl: Mutex<Duration>,
    ended: CancellationToken,
    /// Set when the runtime has forgotten the client: who drives and who looks then, where it said so.
    left: watch::Sender<Option<Option<Lease>>>,
}

impl Attachment {
    pub(super) fn new(
        id: String,
        caller: Caller,
        (endpoint, source): (Endpoint, Source),
        client: Arc<Client>,
        auto_renew: bool,
    ) -> Self {
        Self {
            id,
            client_id: caller.client_id,
            endpoint,
            source,
            client,
            permissions: Mutex::new(caller.permissions),
            auto_renew,
            held: watch::Sender::new(None),
            ttl: Mutex::default(),
            ended: CancellationToken::new(),
            left: watch::Sender::new(None),
        }
    }

    /// The runtime's methods, with no more than `permitted` of what the attachment may do.
    pub fn api(&self, permitted: impl Fn(Permission) -> bool) -> Api {
        let permissions = self.permissions().iter().copied().filter(|one| permitted(*one)).collect();
        Api::new(self.client.clone(), Caller { client_id: self.client_id.clone(), permissions })
    }

    /// Whether the attachment may do something.
    pub fn allows(&self, permission: Permission) -> bool {
        self.permissions().contains(&permission)
    }

    /// Gives up what is not permitted any more.
    pub fn narrow(&self, permitted: impl Fn(Permission) -> bool) {
        self.permissions().retain(|one| permitted(*one));
        if !self.allows(Permission::Interact) {
            self.held.send_replace(None);
        }
    }

    /// Notes what the runtime said of who drives.
    pub fn note(&self, lease: &Lease) {
        let ours = lease.controller.as_ref().is_some_and(|controller| controller.client_id == self.client_id);
        *self.ttl.lock().unwrap_or_else(PoisonError::into_inner) = Duration::from_millis(lease.lease_ttl_ms);
        self.hold(ours);
    }

    /// Notes that the client may have come to drive, or not any more, by what it asked for: the next heartbeat tells.
    pub fn hold(&self, held: bool) {
        let held = held && self.auto_renew && self.allows(Permission::Interact);
        let ttl = held.then(|| *self.ttl.lock().unwrap_or_else(PoisonError::into_inner));
        self.held.send_if_modified(|known| std::mem::replace(known, ttl) != ttl);
    }

    /// Whether the runtime still knows the client.
    pub(super) fn is_there(&self) -> bool {
        !self.ended.is_cancelled() && self.left.borrow().is_none()
    }

    /// Set when it is over: nothing more is told of it, and nothing waits for its runtime.
    pub fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    pub(super) fn left(&self, lease: Option<Lease>) {
        self.left.send_replace(Some(lease));
    }

    /// Ends it, and waits until the runtime has forgotten the client: who drives and who looks then, where it says so.
    pub async fn leave(&self) -> Option<Lease> {
        self.ended.cancel();
        let mut left = self.left.subscribe();
        let lease = left.wait_for(Option::is_some).await;
        lease.ok().and_then(|lease| lease.clone().flatten())
    }

    fn permissions(&self) -> MutexGuard<'_, Vec<Permission>> {
        self.permissions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews control at a third of its time for as long as it may be held.
    pub(super) async fn renew(self: Arc<Self>) {
        let mut held = self.held.subscribe();
        loop {
            let Some(ttl) = *held.borrow_and_update() else {
                tokio::select! {
                    () = self.ended.cancelled() => return,
                    _ = held.changed() => continue,
                }
            };
            tokio::select! {
                () = self.ended.cancelled() => return,
                _ = held.changed() => continue,
                () = tokio::time::sleep((ttl / 3).max(limits::RENEWAL)) => {}
            }
            let api = self.api(|_| true);
            tokio::select! {
                () = self.ended.cancelled() => return,
                answer = tokio::time::timeout(ttl / 3, api.heartbeat()) => {
                    // Otherwise it is asked again in time; if control is lost meanwhile, the next answer says so.
                    if let Ok(Ok(lease)) = answer {
                        self.note(&lease);
                    }
                }
            }
        }
    }
}
