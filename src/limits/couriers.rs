//! Limits of live Claude Code sessions, and of the couriers to them.

use std::time::Duration;

/// Bytes of one record of the process registry.
pub const PEER_RECORD: usize = 64 << 10;
/// Records of one process registry that are read.
pub const PEER_RECORDS: usize = 10_000;
/// Characters of a peer's name, and of what it waits for.
pub const PEER_NAME_CHARS: usize = 300;
/// Couriers at work at a time; a further message waits for its turn.
pub const COURIERS: usize = 4;
/// How often is told that a message is still on its way.
pub const COURIER_PROGRESS: Duration = Duration::from_millis(500);
/// How long is waited for what is said against a message that is in the inbox.
pub const COURIER_NOTICE: Duration = Duration::from_secs(3);
/// How long a courier that is done is given to leave by itself.
pub const COURIER_LEAVES: Duration = Duration::from_secs(2);
/// How long a courier that is told to end is given before it is killed.
pub const COURIER_GRACE: Duration = Duration::from_secs(2);
/// Bytes of one line of a courier; the longest message stands in it twice, with every letter as an escape.
pub const COURIER_LINE: usize = 2 << 20;
/// Bytes of all that a courier says.
pub const COURIER_OUTPUT: usize = 16 << 20;
/// Bytes that are kept of what a courier complains about.
pub const COURIER_PRINTED: usize = 8 << 10;
/// Characters of it that an error shows.
pub const COURIER_SHOWN_CHARS: usize = 300;
/// Bytes from which on a variable's value is so unlikely a word that it is taken out of what a courier says.
pub const COURIER_SECRET: usize = 8;
/// The same of a user and a password in a URL.
pub const COURIER_PASSWORD: usize = 4;
/// Bytes of a message's id.
pub const COURIER_ID: usize = 64;
/// After so long an empty directory of a courier is nobody's any more.
pub const COURIER_DIRECTORY_AGE: Duration = Duration::from_secs(60 * 60);
