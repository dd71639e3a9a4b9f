//! Live Claude Code sessions.

use super::method::authorize;
use super::{Context, Service, blocking};
use crate::peer::courier::{self, Delivery};
use crate::protocol::{
    Empty, Harness, MessageParams, MessageResult, Peer, PeerListResult, PeerResult, PeerSelector, Permission, RpcError,
};
use crate::{limits, peer};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) fn list(service: &Service, context: &Context, _: Empty) -> Result<PeerListResult, RpcError> {
    if !context.grant.reaches_harness(Harness::ClaudeCode) {
        return Ok(PeerListResult { peers: Vec::new(), problems: Vec::new() });
    }
    let listing = peer::list(&service.registry.homes_of(Harness::ClaudeCode));
    let visible = |peer: &Peer| context.grant.reaches_workspace(peer.cwd.as_deref());
    let peers = listing.peers.into_iter().map(|found| found.peer).filter(visible).collect();
    let mut problems = if context.grant.has_workspace_scope() { Vec::new() } else { listing.problems };
    problems.truncate(limits::PROBLEMS_LISTED);
    Ok(PeerListResult { peers, problems })
}

pub(super) fn resolve(service: &Service, context: &Context, params: PeerSelector) -> Result<PeerResult, RpcError> {
    let homes = service.registry.homes_of(Harness::ClaudeCode);
    Ok(PeerResult { peer: peer::resolve(&homes, &params, |peer| is_visible(context, peer))? })
}

/// Delivers a text. What a client named by `homes` has no couriers: they run with a home's own settings and login.
pub(super) async fn message(
    service: Arc<Service>,
    context: Context,
    params: MessageParams,
) -> Result<MessageResult, RpcError> {
    let MessageParams { to, text } = params;
    let limits = service.limits();
    courier::check(&text, limits.message_bytes)?;
    let homes = service.config.homes.homes_of(Harness::ClaudeCode);
    let time = Duration::from_millis(u64::try_from(limits.courier_ms).unwrap_or(u64::MAX));
    let progress = MessageProgress { context: context.clone(), begin: Instant::now(), time };
    let mut others = service.registry.homes_of(Harness::ClaudeCode);
    others.retain(|home| !homes.contains(home));
    let find = move |context: &Context| peer::addressee(&homes, &others, &to, |peer| is_visible(context, peer));
    let asked = context.clone();
    let (meant, find) = blocking(move || (find(&asked), find)).await?;
    let meant = meant?;
    let place = progress.during("waiting for other messages", service.couriers.place(time)).await?;
    // Meanwhile the client may have given up the permission, and the session may have gone, and its name to another one.
    let context = Context { grant: context.grant.within(&context.client.grant()), ..context };
    authorize(&context, &[Permission::Message])?;
    let peer = blocking(move || find(&context)).await??;
    if !peer::is_same(&peer, &meant) {
        return Err(peer::Error::Replaced(meant.name).into());
    }
    let delivery = service.couriers.deliver(place, &peer, text);
    let Delivery { outcome, message_id, detail } = progress.during("delivering the message", delivery).await?;
    Ok(MessageResult { peer, outcome, message_id, detail })
}

/// Tells now and then how much of its time a message has taken.
struct MessageProgress {
    context: Context,
    begin: Instant,
    time: Duration,
}

impl MessageProgress {
    async fn during<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        loop {
            match tokio::time::timeout(limits::COURIER_PROGRESS, &mut work).await {
                Ok(done) => return done,
                Err(_) => self.context.progress(what, ms(self.begin.elapsed()), Some(ms(self.time))),
            }
        }
    }
}

fn is_visible(context: &Context, peer: &Peer) -> bool {
    context.grant.reaches_harness(Harness::ClaudeCode) && context.grant.reaches_workspace(peer.cwd.as_deref())
}
