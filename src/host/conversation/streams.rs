//! Who listens, and with what credential.

use super::super::credentials::Grants;
use super::super::fault::Fault;
use super::super::feed::Subscription;
use super::{Caller, Conversation};
use crate::limits;
use crate::protocol::Permission::{Approve, Interact};
use crate::protocol::Token;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_util::sync::CancellationToken;

/// An open stream of events.
#[derive(Debug)]
pub(super) struct Stream {
    client_id: String,
    is_minted: bool,
    /// Whether who listens may approve.
    pub(super) approves: bool,
    /// Cancelled when the stream must end, whatever it has still to tell.
    stop: CancellationToken,
}

/// Somebody who listens. While this lives its client is an observer; with the last one of a client it is forgotten.
#[derive(Debug)]
pub(in super::super) struct Listener {
    conversation: Arc<Conversation>,
    subscription: Subscription,
}

impl Listener {
    /// The next event, as it stands in a stream; `None`: there is no more.
    pub(in super::super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<hyper::body::Bytes>> {
        self.subscription.poll_next(context)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let conversation = &self.conversation;
        let mut state = conversation.lock();
        state.feed.unsubscribe(self.subscription.id);
        if let Some(stream) = state.streams.remove(&self.subscription.id) {
            state.leases.stream_ended(&stream.client_id, conversation.clock.now_ms());
        }
        state.attend();
        drop(state);
        conversation.left.send_replace(());
    }
}

impl Conversation {
    /// Listens from now on. The stream must end when `stop` is cancelled.
    ///
    /// # Errors
    /// Where there are too many streams, of this client or of all.
    pub(in super::super) fn subscribe(
        self: &Arc<Self>,
        caller: &Caller,
        stop: CancellationToken,
    ) -> Result<Listener, Fault> {
        let mut state = self.lock();
        let own = state.streams.values().filter(|stream| stream.client_id == caller.client_id).count();
        if own >= limits::HOST_STREAMS_OF_ONE {
            return Err(Fault::streams("this client has too many streams of events open; close one"));
        }
        if state.streams.len() >= limits::HOST_STREAMS {
            return Err(Fault::streams("too many streams of events are open; try again when one is closed"));
        }
        state.last_stream += 1;
        let id = state.last_stream;
        let subscription = state.feed.subscribe(id);
        if state.end.is_some() {
            state.feed.end();
        }
        state.leases.stream_began(&caller.client_id, self.clock.now_ms());
        let approves = caller.must(&[Interact, Approve]).is_ok();
        let stream = Stream { client_id: caller.client_id.clone(), is_minted: caller.is_minted, approves, stop };
        state.streams.insert(id, stream);
        Ok(Listener { conversation: Arc::clone(self), subscription })
    }

    /// Makes a credential for a client.
    ///
    /// # Errors
    /// Where there are too many.
    pub(in super::super) fn mint(&self, client_id: &str, grants: Grants) -> io::Result<Token> {
        self.lock().credentials.mint(client_id, grants)
    }

    /// Forgets a client's credentials, ends the streams that were opened with them, waits until they are closed, which is
    /// bounded, and forgets the client. False: it had no credential.
    pub(in super::super) async fn revoke(&self, client_id: &str) -> bool {
        let mut left = self.left.subscribe();
        let (revoked, ending) = {
            let mut state = self.lock();
            let revoked = state.credentials.revoke(client_id);
            let theirs = |stream: &Stream| stream.is_minted && stream.client_id == client_id;
            let ending: Vec<u64> = state.streams.iter().filter(|(_, one)| theirs(one)).map(|(id, _)| *id).collect();
            for id in &ending {
                state.feed.unsubscribe(*id);
                if let Some(stream) = state.streams.get(id) {
                    stream.stop.cancel();
                }
            }
            (revoked, ending)
        };
        let closed = async {
            while ending.iter().any(|id| self.lock().streams.contains_key(id)) && left.changed().await.is_ok() {}
        };
        let _ = tokio::time::timeout(limits::HOST_FAREWELL * 2, closed).await;
        if revoked {
            self.lock().leases.detach(client_id, self.clock.now_ms());
        }
        revoked
    }
}
