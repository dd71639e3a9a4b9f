//! A session's messages.

use super::{Context, Service, registry};
use crate::harness::PageRequest;
use crate::limits;
use crate::protocol::{LoadParams, LoadResult, RpcError};

pub(super) fn load(service: &Service, context: &Context, params: LoadParams) -> Result<LoadResult, RpcError> {
    let max = service.limits().page_max;
    let limit = registry::limit(params.limit, limits::MESSAGES_DEFAULT.min(max), 1..=max)?;
    let snapshot = service.registry.snapshot(context)?;
    let request = PageRequest { cursor: params.cursor.as_deref(), limit, progress: context, own_only: false };
    let loaded = snapshot.load(&params.id, &context.grant, &service.registry.roots(), &request)?;
    loaded.ok_or_else(|| registry::missing_of(&snapshot, &params.id, &context.grant))
}
