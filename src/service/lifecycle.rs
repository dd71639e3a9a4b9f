//! Opening, narrowing and ending the conversation.

use super::{Context, Direction, NOTIFICATIONS, Service, blocking, methods};
use crate::authority::Grant;
use crate::harness::store_of;
use crate::limits;
use crate::protocol::{
    Empty, Harness, HarnessInfo, InitializeParams, InitializeResult, NarrowParams, NarrowResult, PROTOCOL_VERSION,
    Permission, Reason, RpcError, ServerCapabilities, ServerInfo,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// How far the conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// `initialize` has not succeeded.
    New,
    /// Requests are served.
    Open,
    /// `shutdown` was answered.
    ShutDown,
}

/// Checks all before it changes anything, so that a failed attempt can be repeated.
pub(super) async fn initialize(
    service: Arc<Service>,
    context: Context,
    params: InitializeParams,
) -> Result<InitializeResult, RpcError> {
    let invalid = |why: String| RpcError::new(Reason::InvalidParams, why);
    let process_id = match params.process_id.map(i32::try_from) {
        None => None,
        Some(Ok(pid)) if pid > 0 => Some(pid),
        Some(_) => return Err(invalid("`processId` is not a process id".to_owned())),
    };
    let homes = params.homes.unwrap_or_default();
    check_homes(&homes)?;
    let kept = service.resolve_scope(params.authority.unwrap_or_default()).await?;
    let grant = context.grant.keep(&kept);
    let work = move || {
        if service.config.allow_homes {
            service.registry.add_client_homes(&homes);
        }
        let mut state = context.client.state();
        state.phase = Phase::Open;
        state.process_id = process_id;
        state.grant = grant.clone();
        drop(state);
        tracing::info!(client = %params.client_info.name, "initialized");
        hello(&service, &grant)
    };
    blocking(work).await
}

fn check_homes(homes: &BTreeMap<Harness, Vec<String>>) -> Result<(), RpcError> {
    let invalid = |why: String| RpcError::new(Reason::InvalidParams, why);
    let max = limits::LIST_ENTRIES;
    if let Some(harness) = homes.iter().find(|(_, paths)| paths.len() > max).map(|(harness, _)| harness) {
        return Err(invalid(format!("`homes.{harness}` has at most {max} entries")));
    }
    if homes.values().flatten().any(|home| home.len() > limits::PATH_BYTES) {
        return Err(invalid(format!("a home is at most {} bytes long", limits::PATH_BYTES)));
    }
    if let Some(relative) = homes.values().flatten().find(|home| !Path::new(home).is_absolute()) {
        return Err(invalid(format!("home `{relative}` is not an absolute path")));
    }
    match homes.keys().find(|harness| store_of(**harness).is_none()) {
        Some(harness) => Err(invalid(format!("`homes.{harness}`: {} has no session store", harness.name()))),
        None => Ok(()),
    }
}

/// What a client that may do this is told of the server.
fn hello(service: &Service, grant: &Grant) -> InitializeResult {
    let harnesses = service
        .registry
        .roots_by_harness()
        .into_iter()
        .filter(|(harness, _)| grant.reaches_harness(*harness))
        .map(|(id, roots)| HarnessInfo { id, name: id.name().to_owned(), roots })
        .collect();
    let start = service.config.agents.iter().map(|agent| agent.name.clone()).collect::<Vec<_>>();
    let start = (!start.is_empty() && grant.allows(Permission::Start)).then_some(start);
    let sent = NOTIFICATIONS.iter().filter(|notice| notice.direction == Direction::FromServer);
    InitializeResult {
        protocol_version: PROTOCOL_VERSION,
        server_info: ServerInfo { name: "tackroom".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        capabilities: ServerCapabilities { start },
        instance_id: service.instance_id.clone(),
        authority: grant.to_protocol(),
        methods: methods().iter().map(|method| method.name.to_owned()).collect(),
        notifications: sent.map(|notice| notice.name.to_owned()).collect(),
        harnesses,
        limits: service.config.limits,
    }
}

pub(super) fn ping(_: &Service, _: &Context, _: Empty) -> Result<Empty, RpcError> {
    Ok(Empty {})
}

pub(super) fn shutdown(_: &Service, context: &Context, _: Empty) -> Result<(), RpcError> {
    context.client.state().phase = Phase::ShutDown;
    Ok(())
}

pub(super) async fn narrow(
    service: Arc<Service>,
    context: Context,
    params: NarrowParams,
) -> Result<NarrowResult, RpcError> {
    let kept = service.resolve_scope(params.authority).await?;
    let work = move || {
        let mut state = context.client.state();
        state.grant = state.grant.keep(&kept);
        let grant = state.grant.clone();
        drop(state);
        service.runtimes.narrow(&grant);
        let narrow = |known: &Grant| Some(known.keep(&kept)).filter(|grant| grant.allows(Permission::Observe));
        service.registry.narrow(narrow);
        NarrowResult { authority: grant.to_protocol() }
    };
    blocking(work).await
}
