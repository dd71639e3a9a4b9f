//! All limits, each with a name, in a file for each module that they belong to. `initialize` reports those that a client can
//! hit, and `--limit` lowers them.

mod couriers;
mod hosts;
mod registry;
mod runtimes;
mod settings;
mod stores;
mod system;

pub use couriers::*;
pub use hosts::*;
pub use registry::*;
pub use runtimes::*;
pub use settings::*;
pub use stores::*;
pub use system::*;

use crate::protocol::Limits;
use std::time::Duration;

// What a client may ask for, and how much an answer lists.

/// The bounds that a client can hit, as they are unless lowered.
pub const DEFAULT: Limits = Limits {
    frame_bytes: 16 << 20,
    page_max: 1_000,
    requests_in_flight: 64,
    batch_max: 64,
    message_bytes: 64 << 10,
    attachments: 64,
    subscriptions: 1_024,
    watches: 1_000_000,
    courier_ms: 30_000,
};
/// Entries of a page when the client does not say.
pub const PAGE_DEFAULT: usize = 50;
/// Messages of a page when the client does not say.
pub const MESSAGES_DEFAULT: usize = 200;
/// Messages of history when a client that attaches does not say.
pub const HISTORY_DEFAULT: u32 = 50;
/// Messages of history at most; a runtime has no more.
pub const HISTORY_MAX: u32 = 200;
/// Sources that one call asks the states of.
pub const STATES: usize = 1_000;
/// Entries of a list in the params: of a scope, of a query, of directories.
pub const LIST_ENTRIES: usize = 100;
/// Bytes of a text that a query looks for, and of a name in it.
pub const QUERY_TEXT: usize = 4 << 10;
/// How long the directories of a scope may take to be resolved; a dead mount never answers.
pub const SCOPE_SILENCE: Duration = Duration::from_secs(3);
/// Scopes that are resolved at the same time.
pub const SCOPES_RESOLVING: usize = 16;
/// Characters of a question's summary.
pub const QUESTION_CHARS: usize = 200;
/// Characters of the shortest beginning of an id that names an entry.
pub const SHORT_ID: usize = 4;
/// Candidates that an ambiguous reference lists when the client does not say, and at most.
pub const CANDIDATES: [usize; 2] = [10, 100];
/// How long a terminal multiplexer may take to respond to one command.
pub const MULTIPLEXER_TIME: Duration = Duration::from_secs(2);
/// Bytes that a terminal multiplexer may print.
pub const MULTIPLEXER_OUTPUT: u64 = 1 << 20;
/// Terminals within terminals that are looked through: tmux in a pane of tmux.
pub const NESTED_TERMINALS: usize = 4;
/// Bytes read of the environment with which a process was started.
pub const ENVIRONMENT: u64 = 1 << 20;
/// Problems that one answer lists.
pub const PROBLEMS_LISTED: usize = 100;
/// Skipped files that coverage lists for one root.
pub const SKIPPED_LISTED: usize = 1_000;

// The wire.

/// Bytes of one block of headers; a longer one is a bad frame.
pub const HEADER_BYTES: usize = 8 << 10;
/// A `Content-Length` over this is not believed: skipping that much would swallow everything that follows.
pub const CREDIBLE_FRAME_BYTES: u64 = 1 << 30;
/// JSON nested deeper than this is refused.
pub const NESTING: usize = 128;
/// Frames of a client that are served in one turn, before other work of its connection.
pub const FRAMES_TOGETHER: usize = 256;
/// Room for bytes that is made before each read of a client, or of a program of ours.
pub const READ_BYTES: usize = 32 << 10;
/// Bytes of the beginning of a line over the bound that are told of it.
pub const LINE_HEAD: usize = 1 << 10;
/// Bytes of refusals (`busy` and bad-frame errors) that may wait for a client that does not read; then reading pauses.
pub const REFUSAL_BYTES: usize = 8 << 20;
/// Bytes of waiting frames over which no notification is put behind them: an answer waits for no more than that.
pub const NOTIFICATIONS_WAITING: usize = 256 << 10;
/// Notifications that wait for room behind the frames; then those that may be dropped are, and the others' makers wait.
pub const NOTIFICATIONS_QUEUED: usize = 16;
/// Bytes of a notification that may wait there beside others.
pub const NOTIFICATION_SMALL: usize = 64 << 10;
/// The shortest time between two `$/progress` notifications of one request.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// After so long without one, a request that runs and asked for progress sends what it last reported.
pub const PROGRESS_SILENCE: Duration = Duration::from_secs(1);
/// After the end of input, how long running requests may still take.
pub const DRAIN: Duration = Duration::from_secs(5);
