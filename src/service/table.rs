//! The method table: the one source of dispatch, permission, schema and docs.

use super::method::{Method, Work, row, waiting_row};
use super::{Service, follow, lifecycle, peer, registry, runtime, session, settings, start, watch};
use crate::protocol::{
    AcceptedResult, AttachParams, AttachResult, AttachmentParams, CloseResult, CoverageParams, CoverageResult,
    DescribeParams, DescribeResult, DetachResult, DiscoverParams, DiscoverResult, Empty, FollowParams, FollowResult,
    ForgetParams, ForgetResult, InitializeParams, InitializeResult, InterruptResult, InvokeParams, InvokeResult,
    LeaseResult, ListParams, ListResult, LoadParams, LoadResult, MessageParams, MessageResult, NarrowParams,
    NarrowResult, PeerListResult, PeerResult, PeerSelector, Permission, ReceiptsResult, RegisterParams, RegisterResult,
    RespondParams, RuntimeDescribeParams, RuntimeDescribeResult, Settings, SettingsReadParams, SettingsUpdateParams,
    StartParams, StartResult, StatesParams, StatesResult, SteerParams, SteerResult, SubmitParams, SubmitResult,
    UnfollowParams, UnregisterParams, UnwatchParams, WatchParams, WatchResult,
};
use jsonrpsee::RpcModule;
use jsonrpsee::core::RegisterMethodError;
use std::sync::Arc;

const INITIALIZE: &str = "initialize";
const NARROW: &str = "authority/narrow";
const MESSAGE: &str = "peer/message";

/// Whether a request has its own time after the end of input: it acts on others, and its answer says whether it did.
pub fn outlasts_input(method: &str) -> bool {
    method == MESSAGE
}

/// Whether requests behind this one wait for it: it changes what they may do.
pub fn is_exclusive(method: &str) -> bool {
    method == INITIALIZE || method == NARROW
}

/// Every request that the server knows.
pub fn methods() -> Vec<Method> {
    use Permission::{Approve, Configure, Interact, Message, Observe, Register, Start, Terminate};
    use Work::{Blocking, Inline};
    vec![
        waiting_row::<InitializeParams, InitializeResult, _>(
            INITIALIZE,
            &[],
            lifecycle::initialize,
            "Opens the conversation: who speaks, and what the client may do.",
        ),
        row::<Empty, Empty>("ping", &[], Inline, lifecycle::ping, "Answers at once."),
        row::<Empty, ()>(
            "shutdown",
            &[],
            Inline,
            lifecycle::shutdown,
            "Ends the conversation; only `exit` may follow.",
        ),
        waiting_row::<NarrowParams, NarrowResult, _>(
            NARROW,
            &[],
            lifecycle::narrow,
            "Gives up permissions or scope, for good.",
        ),
        row::<ListParams, ListResult>(
            "registry/list",
            &[Observe],
            Blocking,
            registry::list,
            "One page of the inventory of sessions, newest first, true at the time of the call.",
        ),
        row::<DescribeParams, DescribeResult>(
            "registry/describe",
            &[Observe],
            Blocking,
            registry::describe,
            "One entry by its id, with what is costly to know.",
        ),
        waiting_row::<StatesParams, StatesResult, _>(
            "registry/states",
            &[Observe],
            registry::states,
            "What the live runtimes of some conversations do; only those are asked.",
        ),
        waiting_row::<WatchParams, WatchResult, _>(
            "registry/watch",
            &[Observe],
            watch::watch,
            "Tells what a query means, and then each change of it, as `registry/event`.",
        ),
        row::<UnwatchParams, Empty>("registry/unwatch", &[Observe], Blocking, watch::unwatch, "Ends a subscription."),
        row::<CoverageParams, CoverageResult>(
            "registry/coverage",
            &[Observe],
            Blocking,
            registry::coverage,
            "Where was looked for sessions, what was found, and what was skipped and why.",
        ),
        row::<LoadParams, LoadResult>(
            "session/load",
            &[Observe],
            Blocking,
            session::load,
            "One page of a session's messages in one normal form, the newest first asked for.",
        ),
        waiting_row::<Empty, ReceiptsResult, _>(
            "runtime/receipts",
            &[Observe],
            runtime::receipts,
            "Every published runtime, without asking any of them.",
        ),
        waiting_row::<DiscoverParams, DiscoverResult, _>(
            "runtime/discover",
            &[Observe],
            runtime::discover,
            "The newest runtime of a conversation that answers.",
        ),
        row::<RegisterParams, RegisterResult>(
            "runtime/register",
            &[Register],
            Blocking,
            runtime::register,
            "Publishes a runtime of this client, for as long as the client is there.",
        ),
        row::<UnregisterParams, Empty>(
            "runtime/unregister",
            &[Register],
            Blocking,
            runtime::unregister,
            "Takes back what `runtime/register` published.",
        ),
        waiting_row::<ForgetParams, ForgetResult, _>(
            "runtime/forget",
            &[Register],
            runtime::forget,
            "Removes one stale receipt, and nothing else.",
        ),
        waiting_row::<AttachParams, AttachResult, _>(
            "runtime/attach",
            &[Observe],
            runtime::attach,
            "Joins a runtime: its history now, its events from now on as `runtime/event`. A runtime denies what needs \
             approval while nobody watches it, and asks while somebody does.",
        ),
        waiting_row::<AttachmentParams, DetachResult, _>(
            "runtime/detach",
            &[Observe],
            runtime::detach,
            "Leaves a runtime; control is free at once.",
        ),
        waiting_row::<RuntimeDescribeParams, RuntimeDescribeResult, _>(
            "runtime/describe",
            &[Observe],
            runtime::describe,
            "What a runtime says of itself.",
        ),
        waiting_row::<AttachmentParams, LeaseResult, _>(
            "runtime/lease",
            &[Observe],
            runtime::lease,
            "Who drives a runtime and who looks.",
        ),
        waiting_row::<AttachmentParams, LeaseResult, _>(
            "runtime/heartbeat",
            &[Observe],
            runtime::heartbeat,
            "Renews what the attachment has.",
        ),
        waiting_row::<AttachmentParams, LeaseResult, _>(
            "runtime/acquireControl",
            &[Interact],
            runtime::acquire_control,
            "Takes control of a runtime that nobody drives.",
        ),
        waiting_row::<AttachmentParams, LeaseResult, _>(
            "runtime/takeControl",
            &[Interact],
            runtime::take_control,
            "Takes control of a runtime, whoever drives it.",
        ),
        waiting_row::<SubmitParams, SubmitResult, _>(
            "runtime/submit",
            &[Interact],
            runtime::submit,
            "Runs a turn and waits for its end. Cancelling it stops the waiting, never the turn.",
        ),
        waiting_row::<SubmitParams, AcceptedResult, _>(
            "runtime/sendInput",
            &[Interact],
            runtime::send_input,
            "Starts a turn.",
        ),
        waiting_row::<SteerParams, SteerResult, _>(
            "runtime/steer",
            &[Interact],
            runtime::steer,
            "Says something to the turn that runs.",
        ),
        waiting_row::<AttachmentParams, InterruptResult, _>(
            "runtime/interrupt",
            &[Interact],
            runtime::interrupt,
            "Stops the turn that runs.",
        ),
        waiting_row::<InvokeParams, InvokeResult, _>(
            "runtime/invoke",
            &[Interact],
            runtime::invoke,
            "Runs one of the runtime's own operations, and waits for its end.",
        ),
        waiting_row::<RespondParams, AcceptedResult, _>(
            "runtime/respond",
            &[Interact, Approve],
            runtime::respond,
            "Answers a request of the runtime.",
        ),
        waiting_row::<StartParams, StartResult, _>(
            "runtime/start",
            &[Start],
            start::start,
            "Starts an agent that the spawner named as a runtime, which outlives this server.",
        ),
        waiting_row::<AttachmentParams, CloseResult, _>(
            "runtime/close",
            &[Terminate],
            runtime::close,
            "Ends a runtime.",
        ),
        waiting_row::<FollowParams, FollowResult, _>(
            "session/follow",
            &[Observe],
            follow::follow,
            "Tells new messages of a session as they are written, as `session/event`.",
        ),
        row::<UnfollowParams, Empty>(
            "session/unfollow",
            &[Observe],
            Blocking,
            follow::unfollow,
            "Ends following a session.",
        ),
        row::<Empty, PeerListResult>(
            "peer/list",
            &[Observe],
            Blocking,
            peer::list,
            "Live Claude Code sessions, from their own process registry.",
        ),
        row::<PeerSelector, PeerResult>(
            "peer/resolve",
            &[Observe],
            Blocking,
            peer::resolve,
            "One live Claude Code session, by exactly one of id, session id, name or endpoint.",
        ),
        waiting_row::<MessageParams, MessageResult, _>(
            MESSAGE,
            &[Message],
            peer::message,
            "Delivers a text into a live Claude Code session, and tells whether it was accepted, held or refused.",
        ),
        row::<SettingsReadParams, Settings>(
            "settings/read",
            &[Observe],
            Blocking,
            settings::read,
            "What the user's own settings of Claude Code do with messages of other sessions. Managed, project and \
             command-line settings can override it.",
        ),
        row::<SettingsUpdateParams, Settings>(
            "settings/update",
            &[Configure],
            Blocking,
            settings::update,
            "Changes that policy in the user's own settings, and nothing else in them.",
        ),
        row::<Empty, serde_json::Value>(
            "rpc.discover",
            &[],
            Inline,
            super::document::discover,
            "The OpenRPC document of this server.",
        ),
    ]
}

/// The method table as jsonrpsee holds it.
pub fn module(service: Arc<Service>) -> Result<RpcModule<Service>, RegisterMethodError> {
    let mut module = RpcModule::from_arc(service);
    for method in methods() {
        (method.register)(&mut module)?;
    }
    Ok(module)
}
