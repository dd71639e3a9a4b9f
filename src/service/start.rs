//! Starting agents that the spawner named, as runtimes that live on their own.

use super::{Agent, Context, Service, blocking};
use crate::authority::Subject;
use crate::host::agent::harness_of;
use crate::host::start::{self, Starting};
use crate::limits;
use crate::protocol::{Entry, Harness, Permission, Reason, RpcError, StartParams, StartResult, presentable};
use std::convert::Infallible;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl From<start::Error> for RpcError {
    fn from(error: start::Error) -> Self {
        let reason = match &error {
            start::Error::Timeout => Reason::Timeout,
            start::Error::Io(_) => Reason::Io,
            start::Error::Failed(_) | start::Error::Silent => Reason::Execution,
        };
        Self::new(reason, presentable(error.to_string()))
    }
}

/// Dropped before the runtime is ready, nothing of it stays.
pub(super) async fn start(
    service: Arc<Service>,
    context: Context,
    params: StartParams,
) -> Result<StartResult, RpcError> {
    let StartParams { name, workspace, load } = params;
    let agent = service.config.agents.iter().find(|agent| agent.name == name).ok_or_else(|| no_agent(&name))?;
    check_load(load.as_deref())?;
    let place = service.starting.try_acquire().map_err(|_| {
        let max = limits::HOSTS_STARTING;
        RpcError::new(Reason::Busy, format!("{max} agents are being started already; try again when one is ready"))
    })?;
    let harness = harness_of(&agent.command.iter().map(OsString::from).collect::<Vec<_>>());
    let (here, asking, loaded) = (service.clone(), context.clone(), load.clone());
    let workspace = blocking(move || {
        let found = directory(&asking, &workspace)?;
        let Some(load) = loaded else { return Ok(found) };
        if !reaches_session(&here, &asking, &Harness::ALL, &load) {
            return Err(no_session());
        }
        match live_session(&here, &asking, harness, &load)? {
            Some(entry) => Err(already_live(&entry)),
            None => Ok(found),
        }
    })
    .await??;
    context.progress(&format!("starting {name}"), 0, None);
    let mut starting = Starting::detached(&arguments(agent, &workspace, load.as_deref()), &workspace)?;
    let waiting = async {
        tokio::time::sleep(limits::HOST_PATIENCE).await;
        context.progress(&format!("waiting for {name}, which has not answered yet"), 0, None);
        std::future::pending::<Infallible>().await
    };
    let ready = tokio::select! {
        ready = starting.ready() => ready?,
        never = waiting => match never {},
    };
    // What the client gave up while it was waiting, and what the agent turned out to be, count for what was asked before.
    let grant = context.grant.within(&context.client.grant());
    if !grant.allows(Permission::Start) || !grant.reaches_harness(ready.source.harness) {
        return Err(no_agent(&name));
    }
    let source = ready.source.clone();
    if !grant.reaches(&blocking(move || Subject::of(&source)).await?) {
        return Err(no_workspace());
    }
    if load.is_some() {
        let (here, scoped, of) = (service.clone(), Context { grant, ..context.clone() }, ready.source.clone());
        if !blocking(move || reaches_session(&here, &scoped, &[of.harness], &of.session_id)).await? {
            return Err(no_session());
        }
    }
    starting.go_on().await?;
    drop(place);
    Ok(StartResult { runtime_id: ready.runtime_id, endpoint: ready.endpoint })
}

/// As `tackroom host` reads them. No value can be taken for a flag.
fn arguments(agent: &Agent, workspace: &Path, load: Option<&str>) -> Vec<OsString> {
    let mut arguments = vec![joined("--workspace=", workspace.as_os_str())];
    arguments.extend(load.map(|load| joined("--load=", load.as_ref())));
    arguments.push("--".into());
    arguments.extend(agent.command.iter().map(OsString::from));
    arguments
}

fn joined(flag: &str, value: &std::ffi::OsStr) -> OsString {
    let mut argument = OsString::from(flag);
    argument.push(value);
    argument
}

fn check_load(load: Option<&str>) -> Result<(), RpcError> {
    let fits = |load: &str| {
        (1..=limits::LOAD_ID).contains(&load.len()) && !load.trim().is_empty() && !load.contains(char::is_control)
    };
    if load.is_none_or(fits) {
        return Ok(());
    }
    let max = limits::LOAD_ID;
    Err(RpcError::new(Reason::InvalidParams, format!("`load` is the agent's own id of a session, of 1 to {max} bytes")))
}

fn no_agent(name: &str) -> RpcError {
    let name: String = name.chars().take(limits::START_NAME).collect();
    RpcError::new(Reason::NotFound, format!("no agent `{name}` can be started; `initialize` names those that can"))
}

fn no_workspace() -> RpcError {
    RpcError::new(Reason::NotFound, "there is no such workspace; name a directory by its absolute path")
}

fn no_session() -> RpcError {
    RpcError::new(Reason::NotFound, "there is no such session to load; `registry/list` names those that there are")
}

/// The directory that is meant. Out of scope is nowhere.
fn directory(context: &Context, workspace: &str) -> Result<PathBuf, RpcError> {
    let path = Path::new(workspace);
    let is_in_scope = path.is_absolute() && context.grant.reaches_workspace(Some(workspace));
    let found = is_in_scope.then(|| path.canonicalize().ok()).flatten().filter(|path| path.is_dir());
    // By its own name, which can be told.
    found.filter(|path| path.to_str().is_some()).ok_or_else(no_workspace)
}

/// The live session that has this id, of one harness or of any, where the client may see it.
pub(super) fn live_session(
    service: &Service,
    context: &Context,
    harness: Option<Harness>,
    id: &str,
) -> Result<Option<Entry>, RpcError> {
    let (snapshot, grant) = (service.registry.snapshot(context)?, &context.grant);
    let all = match &harness {
        Some(harness) => std::slice::from_ref(harness),
        None => &Harness::ALL[..],
    };
    let found = all.iter().filter_map(|harness| snapshot.item(&format!("{harness}:{id}"), grant));
    let live = found.into_iter().find(|item| item.is_live() && item.is_in_scope(grant));
    Ok(live.map(|item| snapshot.entry(&item, grant)))
}

/// Loaded a second time, two agents would write to one session.
fn already_live(entry: &Entry) -> RpcError {
    let hint = match &entry.runtime_id {
        Some(runtime) => format!("attach to its runtime `{runtime}`"),
        None => "close it where it is open, then load it".to_owned(),
    };
    let told = RpcError::new(Reason::InvalidArgument, presentable(format!("this session is live already; {hint}")));
    told.with("id", entry.id.clone())
}

/// Whether a client may have an agent repeat this session: where there is a scope, only one that is known to be in it.
fn reaches_session(service: &Service, context: &Context, of: &[Harness], id: &str) -> bool {
    let grant = &context.grant;
    if !grant.has_scope() {
        return true;
    }
    let Ok(snapshot) = service.registry.snapshot(context) else { return false };
    of.iter().any(|harness| snapshot.item(&format!("{harness}:{id}"), grant).is_some())
}
