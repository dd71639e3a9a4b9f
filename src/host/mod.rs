//! Any agent of the Agent Client Protocol as a live runtime that many can join: a receipt, the runtime's HTTP API, one
//! controller, many observers.
//!
//! Three parts, each of which knows the next one only: `door` (HTTP: who may ask what), the conversation (turns, events,
//! history, leases, what is asked of a person), and `agent` (the child process and its protocol).
//!
//! Of the API that existing runtimes speak this is left out on purpose: `/events` (the same events without numbers),
//! `/observer` and the scripts that belong to it, `?token=` in an address (it ends up in logs), and the WebSocket.

pub mod agent;
pub mod start;

use crate::protocol::Token;
use agent::{Agent, Facts, Gone};
use std::io;
use std::time::Duration;

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
}

impl Host {
    /// Opens the door to `agent`. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// Where the port cannot be had.
    pub async fn start(agent: Agent, options: Options) -> io::Result<Self> {
        drop((agent, options));
        Err(io::ErrorKind::Unsupported.into())
    }

    /// `http://127.0.0.1:PORT`, as a receipt says it.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// What is known of the agent now.
    pub fn facts(&self) -> Facts {
        Facts::default()
    }

    /// Ends the runtime as a client's `close` does. More than once is no error.
    pub fn close(&self) {}

    /// Waits until the runtime has ended and those who were told of it have heard it, which is bounded. Says why; again
    /// if asked again. May be dropped and called anew.
    pub async fn ended(&self) -> End {
        std::future::pending().await
    }
}
