//! Live Claude Code sessions.

use super::{Context, Service};
use crate::protocol::{Empty, Harness, PeerListResult, PeerResult, PeerSelector, RpcError};
use crate::{limits, peer};

pub(super) fn list(service: &Service, context: &Context, _: Empty) -> Result<PeerListResult, RpcError> {
    if !context.grant.reaches_harness(Harness::ClaudeCode) {
        return Ok(PeerListResult { peers: Vec::new(), problems: Vec::new() });
    }
    let listing = peer::list(&service.registry.claude_homes());
    let visible = |peer: &crate::protocol::Peer| context.grant.reaches_workspace(peer.cwd.as_deref());
    let peers = listing.peers.into_iter().map(|found| found.peer).filter(visible).collect();
    let mut problems = if context.grant.has_workspace_scope() { Vec::new() } else { listing.problems };
    problems.truncate(limits::PROBLEMS_LISTED);
    Ok(PeerListResult { peers, problems })
}

pub(super) fn resolve(service: &Service, context: &Context, params: PeerSelector) -> Result<PeerResult, RpcError> {
    let visible = |peer: &crate::protocol::Peer| {
        context.grant.reaches_harness(Harness::ClaudeCode) && context.grant.reaches_workspace(peer.cwd.as_deref())
    };
    Ok(PeerResult { peer: peer::resolve(&service.registry.claude_homes(), &params, visible)? })
}
