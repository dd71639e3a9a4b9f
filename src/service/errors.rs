//! The reasons that several methods share, and which of all a method can fail for. The tests check every error that they
//! meet against it.

use super::{INITIALIZE, Method};
use crate::protocol::Reason::{self, *};

/// The reasons for which any request can fail before its method runs.
const BEFORE: &[Reason] = &[InvalidRequest, InvalidParams, Internal, NotInitialized, Cancelled, Unauthorized, Busy];

/// The reasons for which a request to a runtime can fail.
pub(super) const RUNTIME: &[Reason] = &[
    NotFound,
    IdentityMismatch,
    ControllerRequired,
    LeaseExpired,
    UnsupportedAction,
    Timeout,
    Transport,
    Execution,
    InvalidArgument,
    Unauthenticated,
    TooLarge,
];

/// The additional reasons for which finding a runtime can fail.
pub(super) const FINDING: &[Reason] =
    &[NotLive, AmbiguousRuntime, Unavailable, Io, InvalidEndpoint, InvalidReceipt, Limit];

/// The reasons for which a call of this method can fail, in the order of the table of errors.
pub(super) fn errors_of(method: &Method) -> Vec<Reason> {
    let is_possible = |reason: &&Reason| match reason {
        NotInitialized => method.name != INITIALIZE,
        Unauthorized => !method.permissions.is_empty(),
        _ => BEFORE.contains(reason) || method.reasons.iter().any(|reasons| reasons.contains(reason)),
    };
    Reason::ALL.iter().filter(is_possible).copied().collect()
}
