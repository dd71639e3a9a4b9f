//! What costs more to know of a session, over all segments that make it up.

use super::lineage::Lineage;
use super::tally::Tally;
use crate::harness::{Details, ReadError, Root, Session, Wanted};

/// Reads what is wanted of a session.
pub(super) fn read(roots: &[Root], session: &Session, wanted: Wanted<'_>) -> Result<Details, ReadError> {
    let (current, earlier) = Lineage::of(roots, session, wanted.own_only)?;
    let mut tally = Tally::default();
    tally.add(&current, &wanted)?;
    // A segment that is gone takes those before it with it.
    for segment in earlier.map_while(Result::ok) {
        if tally.last.is_some() && !wanted.topics && !wanted.message_count {
            break;
        }
        tally.add(&segment, &wanted)?;
    }
    Ok(Details {
        topics: if wanted.topics { tally.topics.into() } else { Vec::new() },
        last_message: tally.last.filter(|_| wanted.last_message),
        message_count: if wanted.message_count { tally.count } else { 0 },
    })
}
