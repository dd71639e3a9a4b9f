//! The method table, with one row per method. Dispatch, permissions, errors, documents and access from the
//! command line are derived from it.

use super::errors::{FINDING, RUNTIME};
use super::method::{self, Header, Method, Scheduling};
use super::{
    Local, Service, User, blocking, document, follow, lifecycle, peer, receipts, registry, runtime, session, settings,
    start, terminal, watch,
};
use crate::protocol::{
    AcceptedResult, AttachParams, AttachResult, AttachmentParams, CloseResult, CoverageParams, CoverageResult,
    DescribeParams, DescribeResult, DetachResult, DiscoverParams, DiscoverResult, Empty, FollowParams, FollowResult,
    ForgetParams, ForgetResult, InitializeParams, InitializeResult, InterruptResult, InvokeParams, InvokeResult,
    LeaseResult, ListParams, ListResult, LoadParams, LoadResult, MessageParams, MessageResult, NarrowParams,
    NarrowResult, PeerListResult, PeerResult, PeerSelector, Permission, Reason, ReceiptsResult, RegisterParams,
    RegisterResult, ResolveParams, ResolveResult, RespondParams, RevealParams, RevealResult, RpcError,
    RuntimeDescribeParams, RuntimeDescribeResult, Settings, SettingsReadParams, SettingsUpdateParams, StartParams,
    StartResult, StatesParams, StatesResult, SteerParams, SteerResult, SubmitParams, SubmitResult, UnfollowParams,
    UnregisterParams, UnwatchParams, WatchParams, WatchResult,
};
use jsonrpsee::RpcModule;
use jsonrpsee::core::RegisterMethodError;
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// Turns each row
///
/// ```text
/// "wire/name" => KIND module::handler(Params) -> Result {
///     "What it does.",
///     needs [every permission that a client must have],
///     fails [lists of reasons, without those that any request can meet], cli function_of_user
/// }
/// ```
///
/// into a [`Method`] and, where it has `cli`, into a function of [`User`] (and of [`Local`] where it is blocking). KIND is
/// how a call runs:
///
/// - `inline`: on the connection's thread; takes no time, reads no file and compares nothing with a scope.
/// - `blocking`: on a thread for work that reads files.
/// - `waiting`: an async function, dropped when the client cancels the request.
/// - `exclusive`: waiting, and later requests wait for it, since it changes what they may do.
/// - `lasting`: waiting, and with its own time after the end of input, since it acts on others and its answer says
///   whether it did.
macro_rules! methods {
    ($($name:literal => $kind:ident $module:ident::$handler:ident($params:ty) -> $result:ty {
        $summary:literal,
        needs [$($permission:ident),*],
        fails [$($reasons:expr),*] $(, cli $function:ident)?
    })*) => {
        static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| {
            use Permission::*;
            use Reason::*;
            vec![$({
                let header = Header {
                    name: $name,
                    summary: $summary,
                    permissions: &[$($permission),*],
                    reasons: &[$($reasons),*],
                    scheduling: Scheduling::Normal,
                };
                method!($kind, header, $module::$handler, $params, $result)
            }),*]
        });

        impl User {
            $($(
                #[doc = concat!("Calls `", $name, "`.")]
                pub async fn $function(&self, params: $params) -> Result<$result, RpcError> {
                    let (service, context) = (self.service.clone(), self.context());
                    call!($kind, $module::$handler, service, context, params)
                }
            )?)*
        }

        $($(call_and_wait!($kind, $name, $function, $params, $result);)?)*
    };
}

macro_rules! method {
    (inline, $header:expr, $handler:path, $params:ty, $result:ty) => {
        method::inline::<$params, $result>($header, $handler)
    };
    (blocking, $header:expr, $handler:path, $params:ty, $result:ty) => {
        method::blocking::<$params, $result>($header, $handler)
    };
    (waiting, $header:expr, $handler:path, $params:ty, $result:ty) => {
        method::waiting::<$params, $result, _>($header, $handler)
    };
    (exclusive, $header:expr, $handler:path, $params:ty, $result:ty) => {
        method::waiting::<$params, $result, _>(Header { scheduling: Scheduling::Exclusive, ..$header }, $handler)
    };
    (lasting, $header:expr, $handler:path, $params:ty, $result:ty) => {
        method::waiting::<$params, $result, _>(Header { scheduling: Scheduling::OutlastsInput, ..$header }, $handler)
    };
}

macro_rules! call {
    (blocking, $handler:path, $service:ident, $context:ident, $params:ident) => {
        blocking(move || $handler(&$service, &$context, $params)).await?
    };
    ($kind:ident, $handler:path, $service:ident, $context:ident, $params:ident) => {
        $handler($service, $context, $params).await
    };
}

macro_rules! call_and_wait {
    (blocking, $name:literal, $function:ident, $params:ty, $result:ty) => {
        impl Local {
            #[doc = concat!("Calls `", $name, "` and waits for the answer.")]
            pub fn $function(&self, params: $params) -> Result<$result, RpcError> {
                self.wait(self.user().$function(params))
            }
        }
    };
    ($kind:ident, $name:literal, $function:ident, $params:ty, $result:ty) => {};
}

methods! {
    "initialize" => exclusive lifecycle::initialize(InitializeParams) -> InitializeResult {
        "Initializes the connection: identifies the client and determines its authority.",
        needs [],
        fails []
    }
    "ping" => inline lifecycle::ping(Empty) -> Empty {
        "Returns an empty result immediately.",
        needs [],
        fails []
    }
    "shutdown" => inline lifecycle::shutdown(Empty) -> () {
        "Shuts the connection down. Only the notification `exit` may follow.",
        needs [],
        fails []
    }
    "authority/narrow" => exclusive lifecycle::narrow(NarrowParams) -> NarrowResult {
        "Gives up permissions or scope permanently.",
        needs [],
        fails []
    }
    "registry/list" => blocking registry::list(ListParams) -> ListResult {
        "Returns one page of the sessions on this machine as of the time of the call, by default newest first.",
        needs [Observe],
        fails [], cli list
    }
    "registry/describe" => waiting terminal::describe_entry(DescribeParams) -> DescribeResult {
        "Returns one entry with all known details.",
        needs [Observe],
        fails [&[NotFound, Unavailable]], cli describe
    }
    "registry/resolve" => blocking registry::resolve(ResolveParams) -> ResolveResult {
        "Finds the one entry that a reference names: an id, a short id, a name, or words of a title.",
        needs [Observe],
        fails [&[NotFound, Unavailable, Ambiguous]], cli resolve
    }
    "registry/states" => waiting registry::states(StatesParams) -> StatesResult {
        "Returns the states of the live runtimes of the given conversations. Only these runtimes are contacted.",
        needs [Observe],
        fails []
    }
    "registry/watch" => waiting watch::watch(WatchParams) -> WatchResult {
        "Subscribes to the entries that match a query. All of them are sent first, then every change, as \
         `registry/event`.",
        needs [Observe],
        fails [&[Limit, Unavailable]], cli watch
    }
    "registry/unwatch" => blocking watch::unwatch(UnwatchParams) -> Empty {
        "Ends a subscription of `registry/watch`.",
        needs [Observe],
        fails [&[NotFound]]
    }
    "registry/coverage" => blocking registry::coverage(CoverageParams) -> CoverageResult {
        "Returns the locations that were searched for sessions, what was found there, and what was skipped and why.",
        needs [Observe],
        fails [], cli coverage
    }
    "session/load" => blocking session::load(LoadParams) -> LoadResult {
        "Returns one page of a session's messages in a common format, starting with the newest page.",
        needs [Observe],
        fails [&[NotFound, Unavailable]], cli load
    }
    "runtime/receipts" => waiting receipts::list(Empty) -> ReceiptsResult {
        "Lists every published runtime without contacting any of them.",
        needs [Observe],
        fails [&[Unavailable, Io]], cli receipts
    }
    "runtime/discover" => waiting receipts::discover(DiscoverParams) -> DiscoverResult {
        "Finds the newest runtime of a conversation that answers.",
        needs [Observe],
        fails [&[Unavailable, Io]], cli discover
    }
    "runtime/register" => blocking receipts::register(RegisterParams) -> RegisterResult {
        "Publishes a runtime of this client for as long as the client is connected.",
        needs [Register],
        fails [&[NotFound, Unavailable, Io, InvalidReceipt, Limit]]
    }
    "runtime/unregister" => blocking receipts::unregister(UnregisterParams) -> Empty {
        "Withdraws a receipt that this client published with `runtime/register`.",
        needs [Register],
        fails [&[NotFound, Io, InvalidEndpoint]]
    }
    "runtime/forget" => waiting receipts::forget(ForgetParams) -> ForgetResult {
        "Removes one stale receipt and nothing else.",
        needs [Register],
        fails [&[Unavailable, Io, InvalidEndpoint, InvalidReceipt]], cli forget
    }
    "runtime/attach" => waiting runtime::attach(AttachParams) -> AttachResult {
        "Attaches to a runtime: returns its history, then sends its events as `runtime/event`. A runtime denies \
         requests for approval while no client observes it, and asks while one does.",
        needs [Observe],
        fails [RUNTIME, FINDING], cli attach
    }
    "runtime/detach" => waiting runtime::detach(AttachmentParams) -> DetachResult {
        "Detaches from a runtime and releases control immediately.",
        needs [Observe],
        fails [RUNTIME], cli detach
    }
    "runtime/describe" => waiting runtime::describe(RuntimeDescribeParams) -> RuntimeDescribeResult {
        "Returns what a runtime reports about itself.",
        needs [Observe],
        fails [RUNTIME, FINDING], cli describe_runtime
    }
    "runtime/lease" => waiting runtime::lease(AttachmentParams) -> LeaseResult {
        "Returns the controller and the observers of a runtime.",
        needs [Observe],
        fails [RUNTIME], cli lease
    }
    "runtime/heartbeat" => waiting runtime::heartbeat(AttachmentParams) -> LeaseResult {
        "Renews the attachment and, if the client has it, control.",
        needs [Observe],
        fails [RUNTIME]
    }
    "runtime/acquireControl" => waiting runtime::acquire_control(AttachmentParams) -> LeaseResult {
        "Takes control of a runtime that no client controls.",
        needs [Interact],
        fails [RUNTIME]
    }
    "runtime/takeControl" => waiting runtime::take_control(AttachmentParams) -> LeaseResult {
        "Takes control of a runtime, even from another client.",
        needs [Interact],
        fails [RUNTIME], cli take_control
    }
    "runtime/submit" => waiting runtime::submit(SubmitParams) -> SubmitResult {
        "Runs a turn and waits until it ends. Cancelling the request ends the wait, never the turn.",
        needs [Interact],
        fails [RUNTIME], cli submit
    }
    "runtime/sendInput" => waiting runtime::send_input(SubmitParams) -> AcceptedResult {
        "Starts a turn and returns without waiting for its end.",
        needs [Interact],
        fails [RUNTIME], cli send_input
    }
    "runtime/steer" => waiting runtime::steer(SteerParams) -> SteerResult {
        "Sends a prompt to the running turn.",
        needs [Interact],
        fails [RUNTIME], cli steer
    }
    "runtime/interrupt" => waiting runtime::interrupt(AttachmentParams) -> InterruptResult {
        "Interrupts the running turn.",
        needs [Interact],
        fails [RUNTIME], cli interrupt
    }
    "runtime/invoke" => waiting runtime::invoke(InvokeParams) -> InvokeResult {
        "Runs one of the runtime's own operations and waits until it ends.",
        needs [Interact],
        fails [RUNTIME]
    }
    "runtime/respond" => waiting runtime::respond(RespondParams) -> AcceptedResult {
        "Answers a request of the runtime.",
        needs [Interact, Approve],
        fails [RUNTIME], cli respond
    }
    "runtime/start" => waiting start::start(StartParams) -> StartResult {
        "Starts an agent that the server's command line names, as a runtime that outlives this server.",
        needs [Start],
        fails [&[NotFound, Timeout, Io, Execution, InvalidArgument]]
    }
    "runtime/close" => waiting runtime::close(AttachmentParams) -> CloseResult {
        "Ends a runtime.",
        needs [Terminate],
        fails [RUNTIME], cli close
    }
    "session/follow" => waiting follow::follow(FollowParams) -> FollowResult {
        "Subscribes to the new messages of a session, which are sent as `session/event`.",
        needs [Observe],
        fails [&[NotFound, Limit, Unavailable]], cli follow
    }
    "session/unfollow" => blocking follow::unfollow(UnfollowParams) -> Empty {
        "Ends a subscription of `session/follow`.",
        needs [Observe],
        fails [&[NotFound]]
    }
    "peer/list" => blocking peer::list(Empty) -> PeerListResult {
        "Lists live Claude Code sessions, from Claude Code's own process registry.",
        needs [Observe],
        fails [], cli peers
    }
    "peer/resolve" => blocking peer::resolve(PeerSelector) -> PeerResult {
        "Finds one live Claude Code session by exactly one of id, session id, name or endpoint.",
        needs [Observe],
        fails [&[NotLive, IdentityMismatch, InvalidEndpoint]]
    }
    "peer/message" => lasting peer::message(MessageParams) -> MessageResult {
        "Delivers a text to a live Claude Code session and reports whether it was accepted, held or refused.",
        needs [Message],
        fails [&[NotLive, IdentityMismatch, InvalidEndpoint, DeliveryFailed, TooLarge]], cli message
    }
    "settings/read" => blocking settings::read(SettingsReadParams) -> Settings {
        "Returns how the user's own Claude Code settings treat messages of other sessions. Managed, project and \
         command-line settings can override it.",
        needs [Observe],
        fails [&[NotFound, Io, InvalidSettings, TooLarge]], cli settings
    }
    "settings/update" => blocking settings::update(SettingsUpdateParams) -> Settings {
        "Changes how the user's own Claude Code settings treat messages of other sessions, and nothing else in them.",
        needs [Configure],
        fails [&[NotFound, Io, ChangedDuringWrite, InvalidSettings, TooLarge]], cli update_settings
    }
    "terminal/reveal" => waiting terminal::reveal(RevealParams) -> RevealResult {
        "Selects the pane of a live session in its terminal multiplexer.",
        needs [Reveal],
        fails [&[NotFound, Unavailable, NotLive, NoTerminal]], cli reveal
    }
    "rpc.discover" => inline document::discover(Empty) -> Value {
        "Returns the OpenRPC document of this server.",
        needs [],
        fails []
    }
}

/// Returns every request method of the server.
pub fn methods() -> &'static [Method] {
    &METHODS
}

/// Returns how requests of a method are scheduled. Unknown methods are scheduled normally.
pub fn scheduling(method: &str) -> Scheduling {
    methods().iter().find(|known| known.name == method).map_or(Scheduling::Normal, |known| known.scheduling)
}

/// Returns the method table as a jsonrpsee module.
pub fn module(service: Arc<Service>) -> Result<RpcModule<Service>, RegisterMethodError> {
    let mut module = RpcModule::from_arc(service);
    for method in methods() {
        (method.register)(&mut module)?;
    }
    Ok(module)
}
