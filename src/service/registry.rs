//! The inventory: pages of it, one entry, and where it was looked for.

use super::{Context, Service};
use crate::authority::Grant;
use crate::limits;
use crate::protocol::{
    CoverageParams, CoverageResult, Endpoint, Entry, Harness, HarnessCoverage, ListParams, ListResult, Query, Reason,
    ResolveParams, ResolveResult, ResolvedBy, RootCoverage, RpcError, SourceState, State, StateSource, StatesParams,
    StatesResult,
};
use crate::registry::{Error, Progress, Request, Resolution, RootReport, Snapshot};
use crate::runtime::Known;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

impl Progress for Context {
    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn report(&self, message: &str, done: u64, total: Option<u64>) {
        Context::progress(self, message, done, total);
    }
}

impl From<Error> for RpcError {
    fn from(error: Error) -> Self {
        let reason = match error {
            Error::Cancelled => Reason::Cancelled,
            Error::Cursor(_) => Reason::InvalidParams,
        };
        Self::new(reason, error.to_string())
    }
}

pub(super) fn list(service: &Service, context: &Context, params: ListParams) -> Result<ListResult, RpcError> {
    let max = service.limits().page_max;
    let limit = limit(params.limit, limits::PAGE_DEFAULT.min(max), 0..=max)?;
    let query = params.query.unwrap_or_default();
    check_query(&query)?;
    let snapshot = match query.live {
        Some(false) => service.registry.snapshot_of_files(context)?,
        _ => service.registry.snapshot(context)?,
    };
    let roots = service.registry.roots();
    let cursor = params.cursor.as_deref();
    Ok(snapshot.list(&Request { query: &query, cursor, limit, grant: &context.grant, roots: &roots }, context)?)
}

/// Checks the length of everything in a query, and that its paths are absolute: a relative one would mean another
/// location to each reader.
pub(super) fn check_query(query: &Query) -> Result<(), RpcError> {
    // A new field does not compile until its length is checked, or it stands among those without one.
    let Query {
        harnesses,
        states,
        include,
        text,
        root_id,
        profile,
        workspace,
        workspace_family,
        live: _,
        persisted: _,
        twins: _,
        workspace_subtree: _,
        search_previews: _,
        updated_after_ms: _,
        updated_before_ms: _,
        include_children: _,
        archived: _,
        sort: _,
    } = query;
    check_list("query.harnesses", harnesses.as_deref())?;
    check_list("query.states", states.as_deref())?;
    check_list("query.include", include.as_deref())?;
    for (name, text, max) in [
        ("query.text", text, limits::QUERY_TEXT),
        ("query.rootId", root_id, limits::QUERY_TEXT),
        ("query.profile", profile, limits::QUERY_TEXT),
        ("query.workspace", workspace, limits::PATH_BYTES),
        ("query.workspaceFamily", workspace_family, limits::PATH_BYTES),
    ] {
        check_text(name, text.as_deref().unwrap_or_default(), max)?;
    }
    let paths = [workspace, workspace_family].into_iter().flatten();
    match paths.into_iter().find(|path| !Path::new(path).is_absolute()) {
        Some(path) => Err(RpcError::new(Reason::InvalidParams, format!("`{path}` is not an absolute path"))),
        None => Ok(()),
    }
}

/// Returns the `limit` of the params, or the default.
///
/// # Errors
/// `invalid_params` if it is outside the allowed range.
pub(super) fn limit(requested: Option<i64>, default: usize, allowed: RangeInclusive<usize>) -> Result<usize, RpcError> {
    let Some(limit) = requested else { return Ok(default) };
    usize::try_from(limit).ok().filter(|limit| allowed.contains(limit)).ok_or_else(|| {
        let (min, max) = (allowed.start(), allowed.end());
        RpcError::new(Reason::InvalidParams, format!("`limit` must be from {min} to {max}, not {limit}"))
    })
}

/// Checks the length of a text in the params.
fn check_text(name: &str, text: &str, max: usize) -> Result<(), RpcError> {
    match text.len() <= max {
        true => Ok(()),
        false => Err(RpcError::new(Reason::InvalidParams, format!("`{name}` is at most {max} bytes long"))),
    }
}

/// Checks the length of a list in the params.
pub(super) fn check_list<T>(name: &str, list: Option<&[T]>) -> Result<(), RpcError> {
    let max = limits::LIST_ENTRIES;
    match list {
        Some(list) if list.len() > max => {
            Err(RpcError::new(Reason::InvalidParams, format!("`{name}` has at most {max} entries")))
        }
        _ => Ok(()),
    }
}

/// An entry with everything that files and runtimes say about it.
pub(super) fn described(service: &Service, context: &Context, id: &str) -> Result<Entry, RpcError> {
    let snapshot = service.registry.snapshot(context)?;
    let entry = snapshot.describe(id, &context.grant, &service.registry.roots(), context);
    context.check()?;
    entry.ok_or_else(|| missing_of(&snapshot, id, &context.grant))
}

pub(super) fn resolve(service: &Service, context: &Context, params: ResolveParams) -> Result<ResolveResult, RpcError> {
    Ok(resolve_in(service, context, params)?.1)
}

/// Finds the entry that a reference names, and returns it without the details that would need its messages.
pub(super) fn find(
    service: &Service,
    context: &Context,
    params: ResolveParams,
) -> Result<(Entry, ResolvedBy), RpcError> {
    let (snapshot, found) = resolve_in(service, context, params)?;
    let entry = snapshot.named_entry(&found.id, &context.grant, context);
    Ok((entry.ok_or_else(|| missing_of(&snapshot, &found.id, &context.grant))?, found.by))
}

fn resolve_in(
    service: &Service,
    context: &Context,
    params: ResolveParams,
) -> Result<(Arc<Snapshot>, ResolveResult), RpcError> {
    let [default, max] = limits::CANDIDATES;
    let limit = limit(params.limit, default, 1..=max)?;
    let reference = params.reference;
    check_text("ref", &reference, limits::QUERY_TEXT)?;
    let snapshot = service.registry.snapshot(context)?;
    match snapshot.resolve(&reference, limit, &context.grant) {
        Resolution::One(one) => Ok((snapshot, one)),
        Resolution::Nothing => Err(missing_of(&snapshot, &reference, &context.grant)),
        Resolution::Several(candidates, total) => {
            let candidates = serde_json::to_value(candidates).unwrap_or_default();
            let message = format!("`{}` matches {total} entries; give a longer id", shortened(&reference));
            Err(RpcError::new(Reason::Ambiguous, message).with("candidates", candidates).with("total", total))
        }
    }
}

/// Why there is no such entry: there is none, or what would show it cannot be read.
pub(super) fn missing_of(snapshot: &Snapshot, id: &str, grant: &Grant) -> RpcError {
    match snapshot.read_problem(id, grant) {
        None => missing(id),
        Some(problem) => {
            let path = problem.path.as_deref().unwrap_or_default();
            let id = shortened(id);
            RpcError::new(Reason::Unavailable, format!("`{id}` cannot be found: {path}: {}", problem.message))
        }
    }
}

/// What is out of scope is missing too.
pub(super) fn missing(id: &str) -> RpcError {
    let id = shortened(id);
    RpcError::new(Reason::NotFound, format!("there is no entry `{id}`; `registry/list` names them"))
}

fn shortened(reference: &str) -> String {
    reference.chars().take(200).collect()
}

pub(super) async fn states(
    service: Arc<Service>,
    context: Context,
    params: StatesParams,
) -> Result<StatesResult, RpcError> {
    if params.sources.len() > limits::STATES {
        let why = format!("ask for at most {} sources at a time", limits::STATES);
        return Err(RpcError::new(Reason::InvalidParams, why));
    }
    let asked: HashSet<&StateSource> = params.sources.iter().collect();
    let of = |known: &Known| -> Vec<StateSource> {
        let of = |id: &str| StateSource { harness: known.record.source.harness, session_id: id.to_owned() };
        known.record.session_ids().map(of).collect()
    };
    let mut known = super::receipts::published(&service, &context).await?.known;
    known.retain(|known| of(known).iter().any(|source| asked.contains(source)));
    let sources: HashMap<Endpoint, Vec<StateSource>> =
        known.iter().map(|known| (known.record.endpoint.clone(), of(known))).collect();
    let mut states: HashMap<&StateSource, State> = HashMap::new();
    // The newest first: of several for one source the newest that answers counts. One that does not answer is `live`.
    for runtime in service.runtimes.ask(known, limits::PROBE_LIST).await.runtimes {
        for source in sources.get(&runtime.receipt.endpoint).into_iter().flatten() {
            let state = states.entry(source).or_insert(runtime.state);
            if *state == State::Live {
                *state = runtime.state;
            }
        }
    }
    let state = |source: StateSource| {
        let state = states.get(&source).copied();
        SourceState { harness: source.harness, session_id: source.session_id, state }
    };
    Ok(StatesResult { states: params.sources.into_iter().map(state).collect() })
}

pub(super) fn coverage(
    service: &Service,
    context: &Context,
    params: CoverageParams,
) -> Result<CoverageResult, RpcError> {
    check_list("harnesses", params.harnesses.as_deref())?;
    let snapshot = service.registry.snapshot_of_files(context)?;
    let reports: Vec<&RootReport> = snapshot.reports().collect();
    let scoped = context.grant.has_workspace_scope();
    let harnesses = Harness::ALL
        .into_iter()
        .filter(|harness| context.grant.reaches_harness(*harness))
        .filter(|harness| params.harnesses.as_ref().is_none_or(|wanted| wanted.contains(harness)))
        .map(|harness| {
            let reports = || reports.iter().filter(|report| report.harness == harness);
            HarnessCoverage {
                id: harness,
                roots: reports().map(|report| root_coverage(report, scoped)).collect(),
                elapsed_ms: snapshot.elapsed(harness).as_millis() as u64,
            }
        })
        .collect();
    Ok(CoverageResult { harnesses })
}

/// Counts and names of files tell of what is out of a workspace scope, so there they are left out.
fn root_coverage(report: &RootReport, scoped: bool) -> RootCoverage {
    RootCoverage {
        path: report.path.display().to_string(),
        origin: report.origin,
        exists: report.exists,
        files: (!scoped).then_some(report.files),
        sessions: (!scoped).then_some(report.sessions),
        skipped: (!scoped).then(|| report.skipped.clone()),
        truncated: (report.truncated && !scoped).then_some(true),
    }
}
