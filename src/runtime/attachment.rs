//! One client that joined one runtime: what it may do there, and the control that it holds.

use super::api::{Api, Reply};
use super::attach::Calls;
use super::error::Error;
use super::http::{Caller, Client};
use super::turns::Turns;
use crate::authority::Subject;
use crate::limits;
use crate::protocol::{Endpoint, Lease, Permission, RuntimeEvent};
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// The conversation that the runtime runs, to compare with a scope.
    pub subject: Subject,
    client: Arc<Client>,
    calls: Calls,
    permissions: Mutex<Vec<Permission>>,
    auto_renew: bool,
    /// How long control lasts without being renewed, while it may be held.
    held: watch::Sender<Option<Duration>>,
    /// How long it lasted when the runtime last said so.
    ttl: Mutex<Duration>,
    ended: CancellationToken,
    dismissed: AtomicBool,
    /// The client that closes the runtime, where that is known.
    closed_by: Mutex<Option<String>>,
    /// Set when the runtime has forgotten the client: who drives and who looks then, where it said so.
    left: watch::Sender<Option<Option<Lease>>>,
    /// What was heard of turns, while somebody waits for the end of one.
    pub(super) turns: watch::Sender<Turns>,
    /// Set when nothing of it is left.
    gone: CancellationToken,
}

impl Attachment {
    pub(super) fn new(
        id: String,
        caller: Caller,
        (endpoint, subject): (Endpoint, Subject),
        (client, calls): (Arc<Client>, Calls),
        auto_renew: bool,
        ended: CancellationToken,
    ) -> Self {
        Self {
            id,
            client_id: caller.client_id,
            endpoint,
            subject,
            client,
            calls,
            permissions: Mutex::new(caller.permissions),
            auto_renew,
            held: watch::Sender::new(None),
            ttl: Mutex::default(),
            ended,
            dismissed: AtomicBool::new(false),
            closed_by: Mutex::default(),
            left: watch::Sender::new(None),
            turns: watch::Sender::default(),
            gone: CancellationToken::new(),
        }
    }

    /// The runtime's methods, with no more than `permitted` of what the attachment may do.
    pub fn api(&self, permitted: impl Fn(Permission) -> bool) -> Api {
        let permissions = self.permissions().iter().copied().filter(|one| permitted(*one)).collect();
        Api::new(self.client.clone(), Caller { client_id: self.client_id.clone(), permissions })
    }

    /// Asks the runtime something, with no more than `permitted` of what the attachment may do. It is carried to its end
    /// though this is dropped.
    ///
    /// # Errors
    /// Those of the runtime, and where the attachment is over.
    pub async fn ask<T, F>(
        &self,
        permitted: impl Fn(Permission) -> bool,
        ask: impl FnOnce(Api) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        self.calls.carry(limits::RUNTIME_CALL, ask(self.api(permitted))).await
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
        self.renew_if(ours);
    }

    /// Notes that the client may have come to drive by what it asked for: the next heartbeat tells.
    pub fn hold(&self) {
        self.renew_if(true);
    }

    fn renew_if(&self, held: bool) {
        let renewed = held && self.auto_renew && self.allows(Permission::Interact);
        let ttl = renewed.then(|| *self.ttl.lock().unwrap_or_else(PoisonError::into_inner));
        // What is as it was must not put off the next renewal: a client may ask who drives again and again.
        self.held.send_if_modified(|held| std::mem::replace(held, ttl) != ttl);
    }

    /// Whether the runtime still knows the client.
    pub(super) fn is_there(&self) -> bool {
        !self.ended.is_cancelled() && self.left.borrow().is_none()
    }

    /// Ends it on behalf of others than the client, who is told so.
    pub(super) fn dismiss(&self) {
        self.dismissed.store(true, Ordering::SeqCst);
        self.ended.cancel();
    }

    /// Notes who closes the runtime; `None`: nobody does.
    pub(super) fn note_closing(&self, client_id: Option<&str>) {
        *self.closed_by.lock().unwrap_or_else(PoisonError::into_inner) = client_id.map(str::to_owned);
    }

    /// Why the stream of events ended, where another client of ours closed the runtime.
    pub(super) fn why_closed(&self) -> Option<String> {
        let client = self.closed_by.lock().unwrap_or_else(PoisonError::into_inner);
        client.as_ref().map(|client| format!("the client `{client}` closed the runtime"))
    }

    /// Whether it was ended so.
    pub(super) fn is_dismissed(&self) -> bool {
        self.dismissed.load(Ordering::SeqCst)
    }

    /// Set when the client, or what it may do, ends it: nothing more is told of it.
    pub fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    pub(super) fn left(&self, lease: Option<Lease>) {
        self.left.send_replace(Some(lease));
    }

    /// Runs a turn to its end: its reply. Supercode 0.5.150 answers a submit to a runtime that a foreign ACP agent backs
    /// immediately, with the number of the agent's request; then the events of the turn say how it ends.
    ///
    /// # Errors
    /// Those of the runtime and of the turn, and where the stream of events ends before the turn does.
    pub async fn submit(&self, api: &Api, prompt: &str, images: &[String]) -> Result<String, Error> {
        let mut turns = self.turns.subscribe();
        let (started, ended) = {
            let turns = turns.borrow();
            (turns.started, turns.ended)
        };
        if let Reply::Text(reply) = api.submit(prompt, images).await? {
            return Ok(reply);
        }
        let runs = turns.wait_for(|turns| turns.started > started || turns.ended > ended);
        if tokio::time::timeout(limits::RUNTIME_CALL, runs).await.is_err() {
            return Err(Error::malformed("it answered the prompt with a number and reported no turn"));
        }
        let gone = self.is_gone();
        tokio::select! {
            biased;
            turns = turns.wait_for(|turns| turns.ended > ended) => {
                api.clean(turns.map_err(|_| Error::Closed)?.reply()?)
            }
            () = gone => Err(Error::Closed),
        }
    }

    /// Notes what an event says of turns, if somebody waits for that.
    pub(super) fn note_event(&self, event: &RuntimeEvent) {
        if self.turns.receiver_count() > 0 {
            self.turns.send_modify(|turns| turns.note(event));
        }
    }

    /// Waits until nothing of it is left.
    pub(super) async fn is_gone(&self) {
        self.gone.cancelled().await;
    }

    pub(super) fn gone(&self) {
        self.gone.cancel();
    }

    /// Ends it, and waits until the runtime has forgotten the client and nothing of it is left: who drives and who looks
    /// then, where the runtime says so.
    pub async fn leave(&self) -> Option<Lease> {
        self.ended.cancel();
        self.gone.cancelled().await;
        self.left.borrow().clone().flatten()
    }

    pub(super) fn calls(&self) -> &Calls {
        &self.calls
    }

    fn permissions(&self) -> MutexGuard<'_, Vec<Permission>> {
        self.permissions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews control at a third of its time for as long as it may be held. Never ends.
    pub(super) async fn renew(&self) {
        let mut held = self.held.subscribe();
        loop {
            let Some(ttl) = *held.borrow_and_update() else {
                let _ = held.changed().await;
                continue;
            };
            let third = (ttl / 3).max(limits::RENEWAL);
            tokio::select! {
                _ = held.changed() => continue,
                () = tokio::time::sleep(third) => {}
            }
            let api = self.api(|_| true);
            tokio::select! {
                // What it says may be older than what was noted meanwhile.
                _ = held.changed() => {}
                // Where it fails it is asked again in time; if control is lost meanwhile, the next answer says so.
                answer = self.calls.carry(third, async move { api.heartbeat().await }) => {
                    if let Ok(lease) = answer {
                        self.note(&lease);
                    }
                }
            }
        }
    }
}
