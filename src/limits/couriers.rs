//! Limits of live Claude Code sessions, and of the couriers to them.

use std::time::Duration;

/// Bytes of one record of the process registry.
pub const PEER_RECORD: usize = 64 << 10;
/// Records of one process registry that are read.
pub const PEER_RECORDS: usize = 10_000;
/// Characters of a peer's name, and of what it waits for.
pub const PEER_NAME_CHARS: usize = 300;
/// Couriers that run at a time; further messages wait.
pub const COURIERS: usize = 4;
/// How often progress of a message in delivery is reported.
pub const COURIER_PROGRESS: Duration = Duration::from_millis(500);
/// How long the server waits for a rejection of a message that is in the inbox.
pub const COURIER_NOTICE: Duration = Duration::from_secs(3);
/// How long a courier that is done may take to exit by itself.
pub const COURIER_LEAVES: Duration = Duration::from_secs(2);
/// How long a courier that was asked to exit may take before it is killed.
pub const COURIER_GRACE: Duration = Duration::from_secs(2);
/// Bytes of one line of a courier; it contains the longest message twice, with every character escaped.
pub const COURIER_LINE: usize = 2 << 20;
/// Bytes of the whole output of a courier.
pub const COURIER_OUTPUT: usize = 16 << 20;
/// Bytes of a courier's error output that are kept.
pub const COURIER_PRINTED: usize = 8 << 10;
/// Characters of it that an error shows.
pub const COURIER_SHOWN_CHARS: usize = 300;
/// Minimum size of a variable's value that is removed from a courier's output: shorter ones may be ordinary words.
pub const COURIER_SECRET: usize = 8;
/// The same of a user and a password in a URL.
pub const COURIER_PASSWORD: usize = 4;
/// Bytes of a message's id.
pub const COURIER_ID: usize = 64;
/// Age after which an empty directory of a courier counts as abandoned.
pub const COURIER_DIRECTORY_AGE: Duration = Duration::from_secs(60 * 60);
