//! How each method can fail. The documents tell it, and the tests hold every error that they meet against it.

use super::Method;
use crate::protocol::Reason::{self, *};

/// What any request can meet before its method is asked.
const BEFORE: &[Reason] = &[InvalidRequest, InvalidParams, Internal, NotInitialized, Cancelled, Unauthorized, Busy];

/// What a runtime that is asked something can answer, or fail to.
const RUNTIME: &[Reason] = &[
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

/// What finding a runtime can meet besides.
const FINDING: &[Reason] = &[NotLive, AmbiguousRuntime, Unavailable, Io, InvalidEndpoint, InvalidReceipt, Limit];

/// Why a call of this method can fail, in the order of the table of errors.
pub(super) fn errors_of(method: &Method) -> Vec<Reason> {
    let own: &[&[Reason]] = match method.name {
        "initialize" | "ping" | "shutdown" | "authority/narrow" | "rpc.discover" => &[],
        "registry/list" | "registry/coverage" | "registry/states" | "peer/list" => &[],
        "registry/unwatch" | "session/unfollow" => &[&[NotFound]],
        "registry/describe" | "session/load" => &[&[NotFound, Unavailable]],
        "registry/watch" => &[&[Limit, Unavailable]],
        "session/follow" => &[&[NotFound, Limit, Unavailable]],
        "runtime/receipts" | "runtime/discover" => &[&[Unavailable, Io]],
        "runtime/register" => &[&[NotFound, Unavailable, Io, InvalidReceipt, Limit]],
        "runtime/unregister" => &[&[NotFound, Io, InvalidEndpoint]],
        "runtime/forget" => &[&[Unavailable, Io, InvalidEndpoint, InvalidReceipt]],
        "runtime/attach" | "runtime/describe" => &[RUNTIME, FINDING],
        "peer/resolve" => &[&[NotLive, IdentityMismatch, InvalidEndpoint]],
        "peer/message" => &[&[NotLive, IdentityMismatch, InvalidEndpoint, DeliveryFailed, TooLarge]],
        "settings/read" => &[&[NotFound, Io, InvalidSettings, TooLarge]],
        "settings/update" => &[&[NotFound, Io, ChangedDuringWrite, InvalidSettings, TooLarge]],
        "runtime/start" => &[&[NotFound, Timeout, Io, Execution, InvalidArgument]],
        name if name.starts_with("runtime/") => &[RUNTIME],
        _ => &[Reason::ALL],
    };
    let does_fit = |reason: &&Reason| match reason {
        NotInitialized => method.name != "initialize",
        Unauthorized => !method.permissions.is_empty(),
        _ => true,
    };
    let can = |reason: &&Reason| BEFORE.contains(reason) || own.iter().any(|reasons| reasons.contains(reason));
    Reason::ALL.iter().filter(can).filter(does_fit).copied().collect()
}
