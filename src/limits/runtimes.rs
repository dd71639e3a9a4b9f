//! Limits of receipts and runtimes.

use std::time::Duration;

// Receipts.

/// Bytes of a receipt.
pub const RECEIPT_BYTES: usize = 64 << 10;
/// Receipts that are read.
pub const RECEIPTS: usize = 1_000;
/// Receipts that one server keeps published.
pub const RECEIPTS_PUBLISHED: usize = 256;
/// A half-written receipt of a process that is gone is left alone for so long.
pub const RECEIPT_TEMPORARY_AGE: Duration = Duration::from_secs(60);
/// Longest wait for other hosts that are publishing receipts.
pub const RECEIPTS_LOCK: Duration = Duration::from_secs(10);
/// Pause between attempts to lock the directory of the receipts.
pub const RECEIPTS_LOCK_PAUSE: Duration = Duration::from_millis(2);

// What they are asked, and for how long.

/// How long a runtime is given to describe itself.
pub const PROBE: Duration = Duration::from_secs(1);
/// How long a list waits for that while no runtime has answered; the probe itself continues. One that was silent the last
/// time is not waited for at all.
pub const PROBE_LIST: Duration = Duration::from_millis(500);
/// The same once others have answered, unless those took more than a part of this.
pub const PROBE_OTHERS: Duration = Duration::from_millis(250);
/// How many times longer than the others a runtime may take.
pub const PROBE_SLOWER: u32 = 4;
/// How long the first state of a watch waits, which hears of it later.
pub const PROBE_WATCH: Duration = Duration::from_millis(100);
/// How long a runtime that described itself is given to report its leases.
pub const PROBE_LEASE: Duration = Duration::from_millis(250);
/// The same where it did not report them the last time.
pub const PROBE_LEASE_AGAIN: Duration = Duration::from_millis(50);
/// Failures in a row after which a runtime is given up.
pub const OUTAGE_FAILURES: u32 = 3;
/// How long they must last, and the longest time between two of them.
pub const OUTAGE: Duration = Duration::from_secs(2);
/// How long a runtime is given to be attached to.
pub const ATTACH: Duration = Duration::from_secs(10);
/// How long a runtime is given for a call that waits for no turn.
pub const RUNTIME_CALL: Duration = Duration::from_secs(10);
/// The shortest time between two renewals of control.
pub const RENEWAL: Duration = Duration::from_millis(50);
/// Requests of one attachment on their way to its runtime; further ones wait.
pub const ATTACHMENT_CALLS: u32 = 64;
/// Events of one attachment that wait for the client; then no more are read of the runtime.
pub const EVENTS_WAITING: usize = 4_096;
/// Bytes of such events.
pub const EVENTS_WAITING_BYTES: usize = 4 << 20;
/// A client that takes none of so many for so long lags.
pub const EVENTS_PATIENCE: Duration = Duration::from_secs(1);
/// Bytes of a client's name at a runtime.
pub const CLIENT_ID: usize = 128;

// HTTP.

/// Bytes of the head of a runtime's HTTP answer.
pub const RUNTIME_HEAD: usize = 64 << 10;
/// Headers of a runtime's HTTP answer.
pub const RUNTIME_HEADERS: usize = 100;
/// Bytes of a runtime's answer to what tells how it is: its descriptor, its leases, that it accepts.
pub const RUNTIME_SHORT_ANSWER: usize = 1 << 20;
/// Bytes of a runtime's answer that holds a conversation: a snapshot, a reply, an operation's result.
pub const RUNTIME_ANSWER: usize = 32 << 20;
/// Bytes of the body of an HTTP error that are looked into.
pub const RUNTIME_ERROR_BODY: usize = 64 << 10;
/// Bytes of one event of a runtime.
pub const RUNTIME_EVENT: usize = 16 << 20;
/// Bytes of a request to a runtime; real ones hang up at a longer one.
pub const RUNTIME_REQUEST: usize = 16 << 20;
/// How long a connection to a runtime may lie idle and still be used. Real ones close it after 300 s.
pub const RUNTIME_IDLE: Duration = Duration::from_secs(60);
/// Idle connections to one runtime that are kept.
pub const RUNTIME_IDLE_CONNECTIONS: usize = 4;
/// Characters that are kept of a name in a runtime's error, and of what is wrong with an answer.
pub const RUNTIME_NAME_CHARS: usize = 256;
/// Bytes from which on a token is so unlikely a word that it is taken out of what its runtime says.
pub const TOKEN_SCRUBBED: usize = 16;
