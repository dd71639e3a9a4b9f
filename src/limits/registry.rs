//! Limits of the inventory while a client watches.

use std::time::Duration;

/// Changes of the inventory that are kept for clients that subscribe later with `since`.
pub const CHANGES_KEPT: usize = 16_384;
/// Times that an entry came, went or moved which are kept with them.
pub const CHANGES_TRACED: usize = 64;
/// Changes queued for a subscriber that does not read; beyond it, the subscription is resynchronized.
pub const CHANGES_PENDING: usize = 4_096;
/// How often everything is rescanned while a client watches, to repair what events missed.
pub const RECONCILE: Duration = Duration::from_secs(60);
/// As above, if not everything can be watched.
pub const RECONCILE_DEGRADED: Duration = Duration::from_secs(2);
/// How often live processes are checked for having been stopped or continued while somebody watches.
pub const STOPPED_LOOK: Duration = Duration::from_secs(2);
/// When a file is looked at again that may say more than was read.
pub const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// For so long after it was written a database's log may come to say more, without any event.
pub const LOG_SETTLES: Duration = Duration::from_secs(2);
/// How often runtimes are probed while a client watches.
pub const POLL: Duration = Duration::from_secs(1);
/// The same while it is not settled whether one is to be given up.
pub const POLL_UNDECIDED: Duration = Duration::from_millis(700);
/// Events of an initial state that are prepared at a time.
pub const FIRST_STATE_EVENTS: usize = 16;
/// Initial states that are sent at the same time.
pub const FIRST_STATES: usize = 8;
