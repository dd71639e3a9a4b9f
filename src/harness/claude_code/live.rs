//! The sessions that run, from the process registry in a home: see [`crate::peer`].

use crate::harness::{Activities, Live, Root};
use crate::peer;
use crate::protocol::{ActivitySource, EntryPeer, Harness};

pub(super) fn read(root: &Root) -> Activities {
    let listing = peer::list(std::slice::from_ref(&root.home));
    Activities {
        sessions: listing.peers.into_iter().map(live).collect(),
        problems: listing.problems,
        locations: listing.registries.iter().map(|registry| registry.path.clone()).collect(),
        registries: listing.registries,
    }
}

fn live(found: peer::Found) -> Live {
    let peer::Found { peer, started_at_ms, since_ms } = found;
    Live {
        status: peer.status,
        waiting_for: peer.waiting_for,
        since_ms,
        workspace: peer.cwd.map(Box::from),
        started_at_ms,
        updated_at_ms: peer.updated_at_ms,
        peer: Some(EntryPeer { name: peer.name, endpoint: peer.endpoint }),
        has_door: peer.addressable,
        ..Live::new(Harness::ClaudeCode, &peer.session_id, ActivitySource::ClaudeRegistry, peer.pid)
    }
}
