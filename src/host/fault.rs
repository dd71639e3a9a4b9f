//! An error as the runtime's API spells it.

use crate::protocol::Permission;
use serde::Serialize;

/// An error of the API. Programs go by its name, then by its code; the message is for a person.
#[derive(Debug, Serialize)]
pub(super) struct Fault(Box<Body>);

#[derive(Debug, Default, Serialize)]
struct Body {
    code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'static str>,
    /// `null` where the error is of no operation; absent with the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<Option<&'static str>>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<String>,
    #[serde(rename = "expiresAtMs", skip_serializing_if = "Option::is_none")]
    expires_at_ms: Option<u64>,
}

impl Fault {
    /// One that has no name: the request itself is wrong.
    pub(super) fn plain(code: i32, message: impl Into<String>) -> Self {
        Self(Box::new(Body { code, message: message.into(), ..Body::default() }))
    }

    fn named(code: i32, name: &'static str, operation: Option<&'static str>, message: impl Into<String>) -> Self {
        let (name, operation) = (Some(name), Some(operation));
        Self(Box::new(Body { code, name, operation, message: message.into(), ..Body::default() }))
    }

    /// The params are not what the method takes.
    pub(super) fn params(message: impl Into<String>) -> Self {
        Self::plain(-32602, message)
    }

    /// A turn runs.
    pub(super) fn busy() -> Self {
        Self::named(-32000, "busy", Some("input"), "a turn is already in progress")
    }

    /// There are so many streams of events already.
    pub(super) fn streams(message: &str) -> Self {
        Self::named(-32000, "busy", Some("events"), message)
    }

    /// The turn was interrupted.
    pub(super) fn interrupted() -> Self {
        Self::named(-32001, "execution", Some("input"), "the turn was interrupted")
    }

    /// The turn failed, or the agent does not do what it was asked.
    pub(super) fn execution(operation: &'static str, message: impl Into<String>) -> Self {
        Self::named(-32002, "execution", Some(operation), message)
    }

    /// The runtime has ended.
    pub(super) fn ended(operation: &'static str) -> Self {
        Self::named(-32002, "transport", Some(operation), "the runtime has ended")
    }

    /// The runtime does not do this at all.
    pub(super) fn unsupported(operation: &'static str, message: impl Into<String>) -> Self {
        Self::named(-32020, "unsupported_action", Some(operation), message)
    }

    /// Nothing of that number is asked, or not any more.
    pub(super) fn not_pending(id: u64) -> Self {
        Self::named(-32022, "not_found", Some("respond"), format!("SDK request {id} is not pending"))
    }

    /// It is asked, and this is no answer to it.
    pub(super) fn no_answer(message: impl Into<String>) -> Self {
        Self::named(-32022, "invalid_argument", Some("respond"), message)
    }

    /// The operation is not in the descriptor, or was refused.
    pub(super) fn operation(message: impl Into<String>) -> Self {
        Self::named(-32023, "unsupported_action", None, message)
    }

    /// Without a credential.
    pub(super) fn unauthenticated() -> Self {
        Self::named(-32030, "unauthenticated", None, "SDK runtime authentication required")
    }

    /// The caller may not do that.
    pub(super) fn lacks(permission: Permission) -> Self {
        Self::unauthorized(permission.id())
    }

    /// The caller may not do that: for want of a permission, or of what stands in its place.
    pub(super) fn unauthorized(permission: &'static str) -> Self {
        Self::refused(permission, format!("SDK runtime permission `{permission}` is required"))
    }

    /// The same, in words of its own.
    pub(super) fn refused(permission: &'static str, message: impl Into<String>) -> Self {
        let mut fault = Self::named(-32031, "unauthorized", None, message);
        fault.0.permission = Some(permission);
        fault
    }

    /// Somebody else drives.
    pub(super) fn controller_required(holder: &str, expires_at_ms: u64) -> Self {
        let mut fault = Self::named(-32032, "controller_required", None, "controller lease required");
        fault.0.holder = Some(holder.to_owned());
        fault.0.expires_at_ms = Some(expires_at_ms);
        fault
    }

    /// The caller drove, and did not renew it.
    pub(super) fn lease_expired() -> Self {
        Self::named(-32033, "lease_expired", None, "controller lease expired")
    }
}
