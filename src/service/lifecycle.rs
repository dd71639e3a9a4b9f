//! Opening, narrowing and ending the conversation.

use super::{Context, Direction, NOTIFICATIONS, Service, methods};
use crate::harness::store_of;
use crate::protocol::{
    Empty, HarnessInfo, InitializeParams, InitializeResult, NarrowParams, NarrowResult, PROTOCOL_VERSION, Permission,
    Reason, RpcError, ServerCapabilities, ServerInfo,
};
use std::path::Path;

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
pub(super) fn initialize(
    service: &Service,
    context: &Context,
    params: InitializeParams,
) -> Result<InitializeResult, RpcError> {
    let invalid = |why: String| RpcError::new(Reason::InvalidParams, why);
    let process_id = match params.process_id.map(i32::try_from) {
        None => None,
        Some(Ok(pid)) if pid > 0 => Some(pid),
        Some(_) => return Err(invalid("`processId` is no process id".to_owned())),
    };
    let homes = params.homes.unwrap_or_default();
    if let Some(relative) = homes.values().flatten().find(|home| !Path::new(home).is_absolute()) {
        return Err(invalid(format!("home `{relative}` is not an absolute path")));
    }
    if let Some(harness) = homes.keys().find(|harness| store_of(**harness).is_none()) {
        return Err(invalid(format!("`homes.{harness}`: {} keeps no sessions that are known here", harness.name())));
    }
    let request = params.authority.unwrap_or_default();
    let grant = context.grant.narrow(&request).map_err(|error| invalid(error.to_string()))?;

    if service.config.allow_homes {
        service.registry.add_client_homes(&homes);
    }
    let mut state = context.client.state();
    state.phase = Phase::Open;
    state.process_id = process_id;
    state.grant = grant;
    let grant = state.grant.clone();
    drop(state);

    tracing::info!(client = %params.client_info.name, "initialized");
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
    Ok(InitializeResult {
        protocol_version: PROTOCOL_VERSION,
        server_info: ServerInfo { name: "tackroom".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        capabilities: ServerCapabilities { start },
        instance_id: service.instance_id.clone(),
        authority: grant.to_protocol(),
        methods: methods().iter().map(|method| method.name.to_owned()).collect(),
        notifications: sent.map(|notice| notice.name.to_owned()).collect(),
        harnesses,
        limits: service.config.limits,
    })
}

pub(super) fn ping(_: &Service, _: &Context, _: Empty) -> Result<Empty, RpcError> {
    Ok(Empty {})
}

pub(super) fn shutdown(_: &Service, context: &Context, _: Empty) -> Result<(), RpcError> {
    context.client.state().phase = Phase::ShutDown;
    Ok(())
}

pub(super) fn narrow(service: &Service, context: &Context, params: NarrowParams) -> Result<NarrowResult, RpcError> {
    let mut state = context.client.state();
    let narrowed = state.grant.narrow(&params.authority);
    state.grant = narrowed.map_err(|error| RpcError::new(Reason::InvalidParams, error.to_string()))?;
    let grant = state.grant.clone();
    drop(state);
    service.runtimes.narrow(&grant);
    service
        .registry
        .narrow(|known| known.narrow(&params.authority).ok().filter(|grant| grant.allows(Permission::Observe)));
    Ok(NarrowResult { authority: grant.to_protocol() })
}
