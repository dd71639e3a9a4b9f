//! Answers to the requests of an agent, and the errors that several of them share.

use crate::platform::within::Unfit;
use agent_client_protocol_schema::v1::{Error, ErrorCode};
use serde_json::Value;
use std::path::Path;

/// An answer to the agent.
pub(super) type Answer = Result<Value, Error>;

/// An error for a request whose params are not valid.
pub(super) fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidParams.into(), message)
}

/// An error for one request too many of a kind that are not answered yet.
pub(super) fn busy(kind: &str) -> Error {
    Error::new(ErrorCode::InternalError.into(), format!("too many requests {kind} wait; let some be answered first"))
}

/// An error for a path that the host does not use.
pub(super) fn refused(path: &Path, unfit: &Unfit) -> Error {
    match unfit {
        // Agents look for this very answer to tell a new file from an error.
        Unfit::Absent => Error::resource_not_found(Some(path.display().to_string())),
        _ => invalid(format!("{}: {unfit}", path.display())),
    }
}
