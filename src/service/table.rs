//! The method table: the one source of dispatch, permission, schema and docs.

use super::{Context, Progress, Service, follow, lifecycle, peer, registry, runtime, session, settings, watch};
use crate::protocol::{
    AcceptedResult, AttachParams, AttachResult, AttachmentParams, CloseResult, CoverageParams, CoverageResult,
    DescribeParams, DescribeResult, DetachResult, DiscoverParams, DiscoverResult, Empty, FollowParams, FollowResult,
    ForgetParams, ForgetResult, InitializeParams, InitializeResult, InterruptResult, InvokeParams, InvokeResult,
    LeaseResult, ListParams, ListResult, LoadParams, LoadResult, NarrowParams, NarrowResult, PeerListResult,
    PeerResult, PeerSelector, Permission, ProgressParams, Reason, ReceiptsResult, RegisterParams, RegisterResult,
    RegistryEventParams, RespondParams, RpcError, RuntimeDescribeParams, RuntimeDescribeResult, RuntimeEventParams,
    SessionEventParams, Settings, SettingsReadParams, SettingsUpdateParams, StatesParams, StatesResult, SteerParams,
    SteerResult, SubmitParams, SubmitResult, UnfollowParams, UnregisterParams, UnwatchParams, WatchParams, WatchResult,
    WithMeta,
};
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::{ErrorObjectOwned, Params};
use jsonrpsee::{Extensions, RpcModule};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Where a method's work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// On the connection's own thread: it takes no time.
    Inline,
    /// On a thread for work that reads files.
    Blocking,
}

type Register = dyn Fn(&mut RpcModule<Service>) -> Result<(), RegisterMethodError> + Send + Sync;

/// One row of the table.
pub struct Method {
    /// Its name on the wire.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// What a client needs, all of it.
    pub permissions: &'static [Permission],
    /// Makes the schema of its params.
    pub params: fn(&mut SchemaGenerator) -> Schema,
    /// Makes the schema of its result.
    pub result: fn(&mut SchemaGenerator) -> Schema,
    register: Box<Register>,
}

type Handler<P, R> = fn(&Service, &Context, P) -> Result<R, RpcError>;
type Answer = Result<Box<RawValue>, ErrorObjectOwned>;

fn row<P, R>(
    name: &'static str,
    permissions: &'static [Permission],
    work: Work,
    handler: Handler<P, R>,
    summary: &'static str,
) -> Method
where
    P: DeserializeOwned + JsonSchema + 'static,
    R: Serialize + JsonSchema + 'static,
{
    let register: Box<Register> = match work {
        Work::Inline => Box::new(move |module| {
            let call = move |params: Params<'_>, service: &Service, extensions: &Extensions| -> Answer {
                serve(service, extensions.get(), permissions, handler, params.as_str())
            };
            module.register_method(name, call).map(drop)
        }),
        Work::Blocking => Box::new(move |module| {
            let call = move |params: Params<'static>, service: Arc<Service>, extensions: Extensions| async move {
                let work = move || serve(&service, extensions.get(), permissions, handler, params.as_str());
                // Only a panic makes this an error.
                tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
                    tracing::error!(%name, %error, "a method failed");
                    Err(to_object(RpcError::new(Reason::Internal, "the server failed; please report this")))
                })
            };
            module.register_async_method(name, call).map(drop)
        }),
    };
    Method {
        name,
        summary,
        permissions,
        params: |generator| generator.subschema_for::<P>(),
        result: |generator| generator.subschema_for::<R>(),
        register,
    }
}

/// The row of a method that waits for others: its work is dropped when nobody wants the answer any more.
fn waiting_row<P, R, F>(
    name: &'static str,
    permissions: &'static [Permission],
    handler: fn(Arc<Service>, Context, P) -> F,
    summary: &'static str,
) -> Method
where
    P: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + 'static,
    F: Future<Output = Result<R, RpcError>> + Send + 'static,
{
    let register: Box<Register> = Box::new(move |module| {
        let call = move |params: Params<'static>, service: Arc<Service>, extensions: Extensions| async move {
            match admit(extensions.get(), permissions, params.as_str()) {
                Ok((context, params)) => handler(service, context, params).await.and_then(|result| write(&result)),
                Err(error) => Err(error),
            }
            .map_err(to_object)
        };
        module.register_async_method(name, call).map(drop)
    });
    Method {
        name,
        summary,
        permissions,
        params: |generator| generator.subschema_for::<P>(),
        result: |generator| generator.subschema_for::<R>(),
        register,
    }
}

/// Authorizes, reads the params, does the work, writes the result.
fn serve<P: DeserializeOwned, R: Serialize>(
    service: &Service,
    context: Option<&Context>,
    permissions: &[Permission],
    handler: Handler<P, R>,
    params: Option<&str>,
) -> Answer {
    let admitted = admit(context, permissions, params);
    let result = admitted.and_then(|(context, params)| handler(service, &context, params));
    result.and_then(|result| write(&result)).map_err(to_object)
}

/// Authorizes and reads the params.
fn admit<P: DeserializeOwned>(
    context: Option<&Context>,
    permissions: &[Permission],
    params: Option<&str>,
) -> Result<(Context, P), RpcError> {
    let context = context.cloned();
    let mut context = context.ok_or_else(|| RpcError::new(Reason::Internal, "a request without a client"))?;
    apply_meta(&mut context, params)?;
    authorize(&context, permissions)?;
    Ok((context, read_params(params.unwrap_or("{}"))?))
}

fn write<R: Serialize>(result: &R) -> Result<Box<RawValue>, RpcError> {
    serde_json::value::to_raw_value(result)
        .map_err(|error| RpcError::new(Reason::Internal, format!("the result cannot be written: {error}")))
}

/// Reads params; an error names the member that it is about.
fn read_params<P: DeserializeOwned>(params: &str) -> Result<P, RpcError> {
    let mut json = serde_json::Deserializer::from_str(params);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let place = match error.path().to_string().as_str() {
            "." => "the params do not fit".to_owned(),
            path => format!("`{path}` does not fit"),
        };
        // Where in the text it stands says nothing to a person who did not write it.
        let why = error.inner().to_string();
        let why = why.split(" at line ").next().unwrap_or_default();
        RpcError::new(Reason::InvalidParams, format!("{place}: {why}"))
    })
}

fn apply_meta(context: &mut Context, params: Option<&str>) -> Result<(), RpcError> {
    let Some(params) = params.filter(|params| params.contains("_meta")) else { return Ok(()) };
    let invalid = |why: String| RpcError::new(Reason::InvalidParams, format!("`_meta` does not fit: {why}"));
    let Some(meta) = read_params::<WithMeta>(params)?.meta else { return Ok(()) };
    if let Some(request) = &meta.authority {
        context.grant = context.grant.narrow(request).map_err(|error| invalid(error.to_string()))?;
    }
    context.progress = meta.progress_token.map(|token| Arc::new(Progress { token, last: Mutex::new(Instant::now()) }));
    Ok(())
}

fn authorize(context: &Context, permissions: &[Permission]) -> Result<(), RpcError> {
    match permissions.iter().find(|permission| !context.grant.allows(**permission)) {
        None => Ok(()),
        Some(missing) => {
            let id = missing.id();
            let hint =
                format!("this needs the permission `{id}`, which this client does not have; `--allow {id}` gives it");
            Err(RpcError::new(Reason::Unauthorized, hint).with("permission", id))
        }
    }
}

fn to_object(error: RpcError) -> ErrorObjectOwned {
    let code = i32::try_from(error.reason().code()).unwrap_or(-32603);
    ErrorObjectOwned::owned(code, error.to_string(), Some(error.data()))
}

/// Every request that the server knows.
pub fn methods() -> Vec<Method> {
    use Permission::{Approve, Configure, Interact, Observe, Register, Terminate};
    use Work::{Blocking, Inline};
    vec![
        row::<InitializeParams, InitializeResult>(
            "initialize",
            &[],
            Inline,
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
        row::<NarrowParams, NarrowResult>(
            "authority/narrow",
            &[],
            Inline,
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
        row::<UnwatchParams, Empty>("registry/unwatch", &[Observe], Inline, watch::unwatch, "Ends a subscription."),
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
            Inline,
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

/// Who sends a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The client.
    FromClient,
    /// The server.
    FromServer,
}

/// A notification that is part of the protocol.
pub struct Notice {
    /// Its name on the wire.
    pub name: &'static str,
    /// Who sends it.
    pub direction: Direction,
    /// What it says, in one sentence.
    pub summary: &'static str,
    /// Makes the schema of its params.
    pub params: fn(&mut SchemaGenerator) -> Schema,
}

/// Every notification of the protocol.
pub const NOTIFICATIONS: &[Notice] = &[
    Notice {
        name: "initialized",
        direction: Direction::FromClient,
        summary: "The client has read the answer to `initialize`.",
        params: |generator| generator.subschema_for::<Empty>(),
    },
    Notice {
        name: "exit",
        direction: Direction::FromClient,
        summary: "The server ends: with exit code 0 after `shutdown`, else 1.",
        params: |generator| generator.subschema_for::<Empty>(),
    },
    Notice {
        name: "$/cancelRequest",
        direction: Direction::FromClient,
        summary: "The answer to a request is not wanted any more, as LSP spells it.",
        params: |generator| generator.subschema_for::<crate::protocol::CancelParams>(),
    },
    Notice {
        name: "$/cancel_request",
        direction: Direction::FromClient,
        summary: "The answer to a request is not wanted any more, as ACP spells it.",
        params: |generator| generator.subschema_for::<crate::protocol::CancelRequestParams>(),
    },
    Notice {
        name: "registry/event",
        direction: Direction::FromServer,
        summary: "Something changed of what a subscription sees. While the client does not read, only the latest state \
                  of each entry is kept for it.",
        params: |generator| generator.subschema_for::<RegistryEventParams>(),
    },
    Notice {
        name: "session/event",
        direction: Direction::FromServer,
        summary: "Messages of a session that the client follows were written, or what it has does not stand any more.",
        params: |generator| generator.subschema_for::<SessionEventParams>(),
    },
    Notice {
        name: "runtime/event",
        direction: Direction::FromServer,
        summary: "Something happened at a runtime that the client is attached to. In order, each event once.",
        params: |generator| generator.subschema_for::<RuntimeEventParams>(),
    },
    Notice {
        name: "$/progress",
        direction: Direction::FromServer,
        summary: "How far the work of a request is that carried `_meta.progressToken`.",
        params: |generator| generator.subschema_for::<ProgressParams>(),
    },
];
