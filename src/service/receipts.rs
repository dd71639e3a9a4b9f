//! The receipts of live runtimes: which are published, and publishing and removing them.

use super::{Context, Service, blocking};
use crate::limits;
use crate::protocol::{
    DiscoverParams, DiscoverResult, Empty, Endpoint, ForgetParams, ForgetResult, MalformedEndpoint, Reason,
    ReceiptsResult, RegisterParams, RegisterResult, RpcError, UnregisterParams,
};
use crate::runtime::{self, Published};
use std::sync::Arc;

impl From<runtime::ReceiptError> for RpcError {
    fn from(error: runtime::ReceiptError) -> Self {
        Self::new(error.reason(), error.to_string())
    }
}

pub(super) fn endpoint(text: &str) -> Result<Endpoint, RpcError> {
    text.parse().map_err(|error: MalformedEndpoint| RpcError::new(Reason::InvalidEndpoint, error.to_string()))
}

/// The receipts in scope, and the problems where there is no scope.
pub(super) async fn published(service: &Arc<Service>, context: &Context) -> Result<Published, RpcError> {
    let (service, grant) = (service.clone(), context.grant.clone());
    blocking(move || {
        let mut published = service.runtimes.published();
        published.known.retain(|known| grant.reaches_source(&known.record.source));
        if grant.has_scope() {
            published.problems.clear();
        }
        published.problems.truncate(limits::PROBLEMS_LISTED);
        published
    })
    .await
}

pub(super) async fn list(service: Arc<Service>, context: Context, _: Empty) -> Result<ReceiptsResult, RpcError> {
    let published = published(&service, &context).await?;
    let receipts = published.known.iter().map(|known| known.record.public(known.reachable())).collect();
    Ok(ReceiptsResult { receipts, problems: published.problems })
}

pub(super) async fn discover(
    service: Arc<Service>,
    context: Context,
    params: DiscoverParams,
) -> Result<DiscoverResult, RpcError> {
    let mut known = published(&service, &context).await?.known;
    known.retain(|known| known.record.runs(&params.source));
    let observed = service.runtimes.ask(known, limits::PROBE_LIST).await;
    Ok(DiscoverResult { endpoint: observed.answering().next().map(|runtime| runtime.receipt.endpoint) })
}

pub(super) fn register(
    service: &Service,
    context: &Context,
    params: RegisterParams,
) -> Result<RegisterResult, RpcError> {
    if !context.grant.reaches_source(&params.source) {
        return Err(RpcError::new(Reason::NotFound, "there is no such workspace; register runtimes of your own scope"));
    }
    Ok(RegisterResult { endpoint: service.runtimes.receipts().register(&params)? })
}

pub(super) fn unregister(service: &Service, context: &Context, params: UnregisterParams) -> Result<Empty, RpcError> {
    service.runtimes.receipts().unregister(&endpoint(&params.endpoint)?, &context.grant)?;
    Ok(Empty {})
}

pub(super) async fn forget(
    service: Arc<Service>,
    context: Context,
    params: ForgetParams,
) -> Result<ForgetResult, RpcError> {
    let endpoint = endpoint(&params.endpoint)?;
    if params.force != Some(true) {
        let mut known = published(&service, &context).await?.known;
        known.retain(|known| known.record.endpoint == endpoint);
        if let Some(runtime) = service.runtimes.ask(known, limits::PROBE_LIST).await.runtimes.first() {
            let how = if runtime.answers() { "lives and answers" } else { "lives, but does not answer" };
            let why = format!("its owner, process {}, {how}; `force` removes the receipt anyway", runtime.receipt.pid);
            return Err(RpcError::new(Reason::Busy, why));
        }
    }
    blocking(move || {
        let receipts = service.runtimes.receipts();
        if !is_in_scope(&service, &context, &endpoint) {
            return Ok(ForgetResult { removed: false });
        }
        let removed = match receipts.peek(&endpoint)? {
            Some(record) => receipts.forget(&record)?,
            None => false,
        };
        Ok(ForgetResult { removed })
    })
    .await?
}

/// Whether a receipt is in scope. One that is not valid belongs to no workspace, and is outside every scope. Reads a file.
pub(super) fn is_in_scope(service: &Service, context: &Context, endpoint: &Endpoint) -> bool {
    let grant = &context.grant;
    let holds = || service.runtimes.receipts().peek(endpoint).ok().flatten();
    !grant.has_scope() || holds().is_some_and(|record| grant.reaches_source(&record.source))
}
