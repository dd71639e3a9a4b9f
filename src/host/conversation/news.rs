//! What goes on, for the person who runs the host: nobody else hears of it, and nobody counts as watching.

use super::super::feed::{Subscription, json};
use super::Conversation;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::watch;

/// What goes on from now on. Who does not listen in time misses some of it.
#[derive(Debug)]
pub struct News {
    conversation: Arc<Conversation>,
    subscription: Subscription,
    changes: watch::Receiver<()>,
}

/// One piece of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Something happened, as clients are told it.
    Event {
        /// Its kind.
        kind: String,
        /// What it says.
        payload: Map<String, Value>,
    },
    /// Who looks, and who of them drives, may have changed.
    People {
        /// Who looks.
        observers: BTreeSet<String>,
        /// Who drives.
        controller: Option<String>,
    },
}

#[derive(Deserialize)]
struct Event {
    kind: String,
    payload: Map<String, Value>,
}

impl News {
    pub(in super::super) fn of(conversation: Arc<Conversation>) -> Self {
        let mut state = conversation.lock();
        let subscription = state.overhear();
        let mut changes = state.leases.changes();
        // Who was there before is told first.
        changes.mark_changed();
        drop(state);
        Self { conversation, subscription, changes }
    }

    /// The next piece; `None` once the runtime has ended. May be dropped and called again.
    pub async fn next(&mut self) -> Option<Piece> {
        let Self { conversation, subscription, changes } = self;
        loop {
            tokio::select! {
                biased;
                Ok(()) = changes.changed() => return Some(conversation.people()),
                frame = std::future::poll_fn(|context| subscription.poll_next(context)) => match frame {
                    Some(frame) => {
                        let event: Event = serde_json::from_slice(json(&frame)).ok()?;
                        return Some(Piece::Event { kind: event.kind, payload: event.payload });
                    }
                    None if conversation.end().is_some() => return None,
                    // Left behind: what comes from now on is heard again.
                    None => *subscription = conversation.lock().overhear(),
                },
            }
        }
    }
}

impl Drop for News {
    fn drop(&mut self) {
        self.conversation.lock().feed.unsubscribe(self.subscription.id);
    }
}

impl super::Locked<'_> {
    /// Listens without being a stream: no client is there for it.
    fn overhear(&mut self) -> Subscription {
        self.last_stream += 1;
        let id = self.last_stream;
        let subscription = self.feed.subscribe(id);
        if self.end.is_some() {
            self.feed.end();
        }
        subscription
    }
}

impl Conversation {
    fn people(&self) -> Piece {
        let snapshot = self.lock().leases.snapshot(self.clock.now_ms());
        Piece::People {
            observers: snapshot.observers.into_iter().map(|one| one.client_id).collect(),
            controller: snapshot.controller.map(|one| one.client_id),
        }
    }
}
