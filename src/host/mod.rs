//! Any agent of the Agent Client Protocol as a live runtime that many can join: a receipt, the runtime's HTTP API, one
//! controller, many observers.
//!
//! Three parts, each of which knows the next one only: `door` (HTTP: who may ask what), the conversation (turns, events,
//! history, leases, what is asked of a person), and `agent` (the child process and its protocol).
//! `start` is how one comes to be that outlives who starts it.
//!
//! What there is too much of is bounded (`limits::HOST_*`, `limits::AGENT_*`): a text of the agent is cut at 1 MiB in its
//! event; a stream that is 1024 events or 16 MiB behind ends, and its client attaches again; an observer without a stream
//! is forgotten after 120 s, whatever the time of a lease is. The owner's credential is taken out of all that the agent
//! says, be it an event, an answer or its last words; said in pieces it can still be put together from a stream.
//!
//! Of the API that existing runtimes speak this is left out on purpose: `/events` (the same events without numbers),
//! `/observer` and the scripts that belong to it, `?token=` in an address (it ends up in logs), and the WebSocket.

pub mod agent;
pub mod start;

mod approvals;
mod conversation;
mod credentials;
mod descriptor;
mod door;
mod fault;
mod feed;
mod history;
mod leases;
mod pieces;
#[cfg(test)]
mod tests;

use crate::protocol::Token;
use agent::{Agent, Facts, Gone};
use conversation::Conversation;
pub use conversation::{News, Piece};
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How a runtime is hosted.
#[derive(Clone, Debug)]
pub struct Options {
    /// The runtime's id: what its receipt and its descriptor call it.
    pub runtime_id: String,
    /// The owner's credential: it may do everything.
    pub token: Token,
    /// How long control lasts that is not renewed.
    pub lease_ttl: Duration,
    /// What becomes of an approval that nobody is there to give.
    pub unattended: Unattended,
    /// The profile that the descriptor names.
    pub profile: Option<String>,
    /// The port on 127.0.0.1; 0: any that is free.
    pub port: u16,
}

/// What becomes of an approval while nobody is there who may give it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unattended {
    /// It is denied, at once and when the last one leaves.
    #[default]
    Deny,
    /// It waits until somebody comes.
    Wait,
}

/// Why a runtime ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It was closed: by a client, or by [`Host::close`].
    Closed,
    /// Its agent is gone.
    Gone(Gone),
}

/// A runtime that is being hosted. Dropped, it ends at once and tells nobody.
#[derive(Debug)]
pub struct Host {
    base_url: String,
    conversation: Arc<Conversation>,
    /// Cancelled once everybody has heard of the end.
    told_all: CancellationToken,
    /// Aborted with this: the door, and who listens to the agent.
    _tasks: JoinSet<()>,
}

impl Host {
    /// Opens the door to `agent`.
    ///
    /// # Errors
    /// Where the port cannot be had.
    pub async fn start(agent: Agent, options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let port = listener.local_addr()?.port();
        let (conversation, told) = Conversation::new(agent, options);
        let conversation = Arc::new(conversation);
        let told_all = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&conversation).listen(told));
        let opened = door::open(listener, port, Arc::clone(&conversation));
        let heard = told_all.clone().drop_guard();
        tasks.spawn(async move {
            let _heard = heard;
            opened.await;
        });
        Ok(Self { base_url: format!("http://127.0.0.1:{port}"), conversation, told_all, _tasks: tasks })
    }

    /// `http://127.0.0.1:PORT`, as a receipt says it.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// What is known of the agent now.
    pub fn facts(&self) -> Facts {
        self.conversation.facts()
    }

    /// What goes on from now on.
    pub fn news(&self) -> News {
        News::of(Arc::clone(&self.conversation))
    }

    /// Ends the runtime as a client's `close` does. More than once is no error.
    pub fn close(&self) {
        self.conversation.close(None);
    }

    /// Waits until the runtime has ended and those who were told of it have heard it, which is bounded. Says why; again
    /// if asked again. May be dropped and called anew.
    pub async fn ended(&self) -> End {
        self.told_all.cancelled().await;
        self.conversation.end().unwrap_or(End::Closed)
    }
}
