use super::outage::Sign;
use crate::limits;
use crate::protocol::{Reason, RpcError};
use serde::Deserialize;
use std::fmt;
use std::io;
use std::time::Duration;

/// Why a runtime did not do what was asked. No text of it holds the token, a header or a URL.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing listens there, or no connection could be made.
    #[error("the runtime takes no connection ({0}); `runtime/receipts` lists those that there are")]
    Refused(#[source] io::Error),
    /// The port belongs to a process of another user: nothing was sent.
    #[error("a process of another user listens at the address of the receipt, so its token was not sent")]
    Foreign,
    /// The connection ended before the answer, or an event, was whole. Whether the request was carried out is unknown.
    #[error("the runtime closed the connection before its answer was whole; look at its state before you ask again")]
    Closed,
    /// It took the request and said nothing in the time that it was given.
    #[error("the runtime did not answer within {} s; it may be suspended", .0.as_secs())]
    Silent(Duration),
    /// The client left the runtime meanwhile.
    #[error("the attachment is over; attach again")]
    Left,
    /// An HTTP status other than 200, without an error in the words of the contract.
    #[error("{}", http_text(*.status, .message.as_deref()))]
    Http {
        /// The status.
        status: u16,
        /// What the body says: `{"error": "..."}`.
        message: Option<String>,
    },
    /// A bound on bytes is passed, by what this names.
    #[error("{0} is larger than is accepted")]
    TooLarge(&'static str),
    /// The answer is none that the contract knows.
    #[error("the runtime's answer cannot be understood: {0}")]
    Malformed(String),
    /// What was to be sent cannot stand in an HTTP header.
    #[error("{0}")]
    Unsendable(&'static str),
    /// What answers is not what the receipt names.
    #[error("{0}; `runtime/receipts` shows whether there is a newer one")]
    Mismatch(&'static str),
    /// The runtime refused, in the words of the contract.
    #[error("{0}")]
    Remote(Box<RemoteError>),
}

/// An error of the runtime's own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RemoteError {
    /// Its code; those of JSON-RPC and of the runtime's contract, which are not ours.
    pub code: i64,
    /// The stable word for it, where it has one.
    #[serde(default, deserialize_with = "name")]
    pub name: Option<String>,
    /// The action that failed.
    #[serde(default, deserialize_with = "name")]
    pub operation: Option<String>,
    /// What the runtime says to a person.
    #[serde(default)]
    pub message: String,
    /// The permission that is missing.
    #[serde(default, deserialize_with = "name")]
    pub permission: Option<String>,
    /// The client that drives the runtime.
    #[serde(default, deserialize_with = "name")]
    pub holder: Option<String>,
    /// Until when it does, in epoch milliseconds.
    #[serde(default, rename = "expiresAtMs")]
    pub expires_at_ms: Option<u64>,
}

/// A name is short and has no control characters; what is not so is left out.
pub(super) fn name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    let is_name =
        |name: &String| name.chars().count() <= limits::RUNTIME_NAME_CHARS && !name.contains(char::is_control);
    Ok(name.filter(is_name))
}

impl Error {
    /// An answer that is none. Only the beginning of a long explanation is kept.
    pub(super) fn malformed(what: impl Into<String>) -> Self {
        let mut what = what.into();
        if let Some((end, _)) = what.char_indices().nth(limits::RUNTIME_NAME_CHARS) {
            what.truncate(end);
            what.push('…');
        }
        Self::Malformed(what)
    }

    /// The word for it that a client of ours switches on.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Refused(_) | Self::Closed | Self::Malformed(_) => Reason::Transport,
            Self::Silent(_) => Reason::Timeout,
            Self::Left => Reason::NotFound,
            Self::TooLarge(_) => Reason::TooLarge,
            Self::Unsendable(_) => Reason::InvalidArgument,
            Self::Foreign | Self::Mismatch(_) => Reason::IdentityMismatch,
            Self::Remote(error) => error.reason(),
            Self::Http { status, .. } => match status {
                401 => Reason::Unauthenticated,
                403 => Reason::Unauthorized,
                500 => Reason::Execution,
                _ => Reason::Transport,
            },
        }
    }

    /// Whether the runtime may be there nevertheless: nothing says that something else, or nobody, is at its address.
    pub(super) fn leaves_it_live(&self) -> bool {
        match self {
            Self::Silent(_) => true,
            Self::Remote(error) => !matches!(error.reason(), Reason::Unauthenticated | Reason::Unauthorized),
            Self::Http { status, .. } => *status >= 500,
            error => error.sign() == Sign::Untried,
        }
    }

    /// What it says of whether the runtime is there.
    pub(super) fn sign(&self) -> Sign {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
        match self {
            // It is there, whatever it refused: one that is busy with others must not be forgotten for it.
            Self::Remote(_) | Self::Http { .. } => Sign::Contact,
            Self::Refused(error) => match error.kind() {
                ConnectionRefused | ConnectionReset | ConnectionAborted => Sign::Failure,
                _ => Sign::Untried,
            },
            Self::Unsendable(_) => Sign::Untried,
            _ => Sign::Failure,
        }
    }
}

impl From<hyper::Error> for Error {
    fn from(error: hyper::Error) -> Self {
        let broken_body = std::error::Error::source(&error)
            .and_then(|source| source.downcast_ref::<io::Error>())
            .is_some_and(|error| matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput));
        // A head over its bound is a parse error too, and says so.
        if error.is_parse() || broken_body {
            Self::malformed(format!("its HTTP is wrong: {error}"))
        } else {
            Self::Closed
        }
    }
}

impl From<Error> for RpcError {
    fn from(error: Error) -> Self {
        let mut answer = Self::new(error.reason(), error.to_string());
        if let Error::Remote(error) = error {
            for (member, value) in [("permission", error.permission), ("holder", error.holder)] {
                if let Some(value) = value {
                    answer = answer.with(member, value);
                }
            }
            if let Some(at) = error.expires_at_ms {
                answer = answer.with("expiresAtMs", at);
            }
        }
        answer
    }
}

impl RemoteError {
    /// That a turn failed, as a runtime says it.
    pub(super) fn execution(message: &str) -> Self {
        Self {
            code: -32002,
            name: Some("execution".to_owned()),
            operation: None,
            message: message.to_owned(),
            permission: None,
            holder: None,
            expires_at_ms: None,
        }
    }

    /// By its name first, then by its code.
    pub fn reason(&self) -> Reason {
        if let Some(name) = &self.name {
            return match name.as_str() {
                "unauthenticated" => Reason::Unauthenticated,
                "unauthorized" => Reason::Unauthorized,
                "controller_required" => Reason::ControllerRequired,
                "lease_expired" => Reason::LeaseExpired,
                "invalid_argument" => Reason::InvalidArgument,
                "not_found" => Reason::NotFound,
                "busy" => Reason::Busy,
                "unsupported_action" => Reason::UnsupportedAction,
                "transport" => Reason::Transport,
                _ => Reason::Execution,
            };
        }
        match self.code {
            -32601 | -32020 | -32023 => Reason::UnsupportedAction,
            -32602 | -32022 => Reason::InvalidArgument,
            -32000 => Reason::Busy,
            -32021 => Reason::NotFound,
            -32030 => Reason::Unauthenticated,
            -32031 => Reason::Unauthorized,
            -32032 => Reason::ControllerRequired,
            -32033 => Reason::LeaseExpired,
            _ => Reason::Execution,
        }
    }
}

impl fmt::Display for RemoteError {
    /// What is wrong, and what to do next.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = &self.message;
        match self.reason() {
            Reason::LeaseExpired => f.write_str("control of the runtime lapsed; only `runtime/takeControl` helps"),
            Reason::ControllerRequired => {
                match &self.holder {
                    Some(holder) => write!(f, "the client `{holder}` controls the runtime")?,
                    None => f.write_str("another client controls the runtime")?,
                }
                f.write_str("; wait until it lets go, or use `runtime/takeControl`")
            }
            Reason::Unauthorized => {
                match &self.permission {
                    Some(permission) => write!(f, "the runtime wants the permission `{permission}`")?,
                    None => write!(f, "the runtime does not permit it: {said}")?,
                }
                f.write_str("; attach with more permissions, if you have them")
            }
            Reason::Unauthenticated => f.write_str(UNAUTHENTICATED),
            Reason::Busy => write!(
                f,
                "the runtime is busy: {said}; wait for the end of the turn, or use `runtime/steer` or `runtime/interrupt`"
            ),
            Reason::UnsupportedAction => {
                write!(f, "the runtime cannot do that: {said}; `actions` of its descriptor tells what it can")
            }
            Reason::NotFound => write!(f, "the runtime does not find it: {said}; it may be settled already"),
            Reason::InvalidArgument => write!(f, "the runtime refuses an argument: {said}"),
            Reason::Transport => write!(f, "the runtime cannot deliver it: {said}"),
            _ => write!(f, "the runtime failed: {said}"),
        }
    }
}

const UNAUTHENTICATED: &str =
    "the runtime does not accept the token of its receipt; `runtime/receipts` shows whether there is a newer one";

fn http_text(status: u16, message: Option<&str>) -> String {
    let text = match status {
        300..=399 => "the runtime redirects, which is never followed",
        400 => "the runtime does not understand the request",
        401 => UNAUTHENTICATED,
        403 => "the runtime forbids it; attach with more permissions, if you have them",
        404 => "there is no runtime's API at this address; something else may listen there now",
        500..=599 => "the runtime failed",
        _ => "the runtime's answer is not one of its API",
    };
    match message {
        Some(message) => format!("{text} (HTTP {status}: {message})"),
        None => format!("{text} (HTTP {status})"),
    }
}
