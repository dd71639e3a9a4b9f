//! The terminal of a live session.

use super::registry::{described, missing_of};
use super::{Context, Service, blocking};
use crate::protocol::{
    DescribeInclude, DescribeParams, DescribeResult, Entry, Reason, RevealParams, RevealResult, RpcError, Terminal,
};
use crate::terminal::{self, Target};
use std::path::Path;
use std::sync::Arc;

impl From<terminal::Error> for RpcError {
    fn from(error: terminal::Error) -> Self {
        let reason = match error {
            terminal::Error::NotLive => Reason::NotLive,
            terminal::Error::NoTerminal(_) => Reason::NoTerminal,
        };
        Self::new(reason, error.to_string())
    }
}

pub(super) async fn describe_entry(
    service: Arc<Service>,
    context: Context,
    params: DescribeParams,
) -> Result<DescribeResult, RpcError> {
    let DescribeParams { id, include } = params;
    super::registry::check_list("include", include.as_deref())?;
    let include = include.unwrap_or_default();
    let mut entry = blocking(move || described(&service, &context, &id)).await??;
    if include.contains(&DescribeInclude::Terminal) {
        entry.terminal = of_entry(&entry).await;
    }
    Ok(DescribeResult { entry })
}

/// The terminal of an entry; `None` if no live process of it is known.
pub(super) async fn of_entry(entry: &Entry) -> Option<Terminal> {
    Some(terminal::find(process(entry)?).await)
}

pub(super) async fn reveal(
    service: Arc<Service>,
    context: Context,
    params: RevealParams,
) -> Result<RevealResult, RpcError> {
    let RevealParams { id, client_tty } = params;
    let find = move || {
        let snapshot = service.registry.snapshot(&context)?;
        let item = snapshot.item(&id, &context.grant);
        let entry = item.map(|item| snapshot.entry(&item, &context.grant));
        let entry = entry.ok_or_else(|| missing_of(&snapshot, &id, &context.grant))?;
        let pid = process(&entry)
            .ok_or_else(|| RpcError::new(Reason::NotLive, format!("no live process of `{}` is known", entry.id)))?;
        Ok::<_, RpcError>(Target::now(pid))
    };
    let target = blocking(find).await??;
    let (terminal, revealed) = terminal::reveal(&target, client_tty.as_deref().map(Path::new)).await?;
    Ok(RevealResult { revealed, terminal })
}

/// The process that runs a live session. The status of several processes is that of one; its terminal is the one to see.
fn process(entry: &Entry) -> Option<i32> {
    let activity = entry.activity.as_ref().and_then(|activity| activity.pid);
    activity.or(entry.owner.as_ref().map(|owner| owner.pid))
}
