//! How the API of a runtime is spelled, for who asks it and for who is one.

use crate::limits;
use crate::protocol::{self, Decision, Elicited, ElicitedAction, RuntimeResponse};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where methods are called.
pub const RPC: &str = "/rpc";
/// Where events are told.
pub const EVENTS: &str = "/frontend/events";
/// The type of what is told there.
pub const EVENT_STREAM: &str = "text/event-stream";
/// The header that names the client, see [`is_client_id`].
pub const CLIENT_ID: &str = "x-supercode-client-id";
/// The header that narrows what the client may do: words with commas between. Without it everything is permitted.
pub const PERMISSIONS: &str = "x-supercode-permissions";

/// The member of a descriptor's `extensions` that is ours.
pub const OURS: &str = "tackroom";
/// The field of it that says what the agent waits for, in a turn or outside of one; absent unless it waits for a person.
pub const WAITING_FOR: &str = "waitingFor";
/// The field of it that describes the oldest open request: `{kind, summary, requestId}`; absent unless there is one.
pub const QUESTION: &str = "question";
/// The field of it that says when the current state began, in epoch milliseconds.
pub const SINCE: &str = "since";
/// The field of it that says that the agent works outside of a turn; absent unless it does.
pub const WORKING: &str = "working";
/// Its title of the conversation: the agent's own, else the first prompt.
pub const TITLE: &str = "title";
/// Its `{name, version}` of the hosted agent.
pub const AGENT: &str = "agent";

/// The field of it that says that a question waits while nobody is attached, rather than being denied; absent unless it does.
pub const WAITS: &str = "waits";

/// Whether a client may be called that: 1 to 128 of `[A-Za-z0-9._-]`.
pub fn is_client_id(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=limits::CLIENT_ID).contains(&id.len()) && id.bytes().all(fits)
}

/// Who drives and who looks. Every time is in epoch milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Who drives.
    pub controller: Option<Controller>,
    /// Who looks.
    pub observers: Vec<Observer>,
    /// How long control lasts that is not renewed, in milliseconds.
    pub lease_ttl_ms: u64,
}

/// Who drives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controller {
    /// Its name.
    pub client_id: String,
    /// Until when, unless it is renewed.
    pub expires_at_ms: u64,
}

/// Who looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observer {
    /// Its name.
    pub client_id: String,
    /// When it was last heard of.
    pub last_seen_ms: u64,
}

impl From<Lease> for protocol::Lease {
    fn from(lease: Lease) -> Self {
        let controller = |Controller { client_id, expires_at_ms }| protocol::Controller { client_id, expires_at_ms };
        let observer = |Observer { client_id, last_seen_ms }| protocol::Observer { client_id, last_seen_ms };
        Self {
            controller: lease.controller.map(controller),
            observers: lease.observers.into_iter().map(observer).collect(),
            lease_ttl_ms: lease.lease_ttl_ms,
        }
    }
}

/// A client's answer to what it was asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Response {
    /// To an approval.
    Approval {
        /// The number of what was asked.
        request_id: u64,
        /// What is decided.
        decision: Decision,
    },
    /// To a question.
    Elicitation(Answer),
    /// To anything else.
    Other(Answer),
}

/// An answer that is no decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The number of what was asked.
    pub request_id: u64,
    /// Whether there is an answer.
    pub action: ElicitedAction,
    /// It; `null` where there is none.
    pub content: Option<Value>,
}

impl From<&RuntimeResponse> for Response {
    fn from(response: &RuntimeResponse) -> Self {
        match response {
            RuntimeResponse::Approval { request_id, decision } => {
                Self::Approval { request_id: *request_id, decision: *decision }
            }
            RuntimeResponse::Elicitation(elicited) => Self::Elicitation(elicited.into()),
            RuntimeResponse::Other(elicited) => Self::Other(elicited.into()),
        }
    }
}

impl From<&Elicited> for Answer {
    fn from(elicited: &Elicited) -> Self {
        Self { request_id: elicited.request_id, action: elicited.action, content: elicited.content.clone() }
    }
}
