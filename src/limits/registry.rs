//! Limits of the inventory while a client watches.

use std::time::Duration;

/// Changes of the inventory that are kept for who comes later.
pub const CHANGES_KEPT: usize = 16_384;
/// Times that an entry came, went or moved which are kept with them.
pub const CHANGES_TRACED: usize = 64;
/// Changes that wait for one who watches and does not read; then all is told anew.
pub const CHANGES_PENDING: usize = 4_096;
/// How often everything is looked at while somebody watches, to repair what events missed.
pub const RECONCILE: Duration = Duration::from_secs(60);
/// The same where not everything can be watched.
pub const RECONCILE_DEGRADED: Duration = Duration::from_secs(2);
/// When a file is looked at again that may say more than was read.
pub const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// For so long after it was written a database's log may come to say more, without any event.
pub const LOG_SETTLES: Duration = Duration::from_secs(2);
/// How often runtimes are asked while somebody watches.
pub const POLL: Duration = Duration::from_secs(1);
/// The same while it is not settled whether one is to be given up.
pub const POLL_UNDECIDED: Duration = Duration::from_millis(700);
/// Events of a first state that are made ready at a time.
pub const FIRST_STATE_EVENTS: usize = 16;
/// First states that are told at the same time.
pub const FIRST_STATES: usize = 8;
