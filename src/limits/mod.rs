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

/// The default limits that `initialize` reports.
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
/// Default number of entries on a page.
pub const PAGE_DEFAULT: usize = 50;
/// Default number of messages on a page.
pub const MESSAGES_DEFAULT: usize = 200;
/// Default number of messages of history when a client attaches.
pub const HISTORY_DEFAULT: u32 = 50;
/// Maximum number of messages of history; a runtime has no more.
pub const HISTORY_MAX: u32 = 200;
/// Sources of one `registry/states` call.
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
/// Minimum length of an id prefix that references an entry, in characters.
pub const SHORT_ID: usize = 4;
/// Candidates that an ambiguous reference lists: the default and the maximum.
pub const CANDIDATES: [usize; 2] = [10, 100];
/// How long a terminal multiplexer may take to respond to one command.
pub const MULTIPLEXER_TIME: Duration = Duration::from_secs(2);
/// Bytes that a terminal multiplexer may print.
pub const MULTIPLEXER_OUTPUT: u64 = 1 << 20;
/// Depth of nested terminals that is searched: tmux in a pane of tmux.
pub const NESTED_TERMINALS: usize = 4;
/// Bytes read of the environment with which a process was started.
pub const ENVIRONMENT: u64 = 1 << 20;
/// Problems that one answer lists.
pub const PROBLEMS_LISTED: usize = 100;
/// Skipped files that coverage lists for one root.
pub const SKIPPED_LISTED: usize = 1_000;

// The wire.

/// Bytes of one header block; a longer one is a bad frame.
pub const HEADER_BYTES: usize = 8 << 10;
/// A `Content-Length` above this is not trusted: skipping that many bytes would swallow all that follows.
pub const CREDIBLE_FRAME_BYTES: u64 = 1 << 30;
/// JSON nested more deeply than this is refused.
pub const NESTING: usize = 128;
/// Bytes of a request's id or progress token as it is written, quotes included.
pub const ID_BYTES: usize = 4 << 10;
/// Bytes of params above which they are parsed on another thread than the connection's, where the method allows it.
pub const PARAMS_INLINE: usize = 64 << 10;
/// Frames of a client that are served in a row before other work of its connection.
pub const FRAMES_TOGETHER: usize = 256;
/// Buffer capacity that is reserved before each read from a client or from a child process, in bytes.
pub const READ_BYTES: usize = 32 << 10;
/// Bytes of the beginning of an overlong line that are reported.
pub const LINE_HEAD: usize = 1 << 10;
/// Bytes of refusals (`busy` and bad-frame errors) queued for a client that does not read; beyond it, reading pauses.
pub const REFUSAL_BYTES: usize = 8 << 20;
/// Bytes of queued frames above which no notification is appended, so that a response never waits for more than this.
pub const NOTIFICATIONS_WAITING: usize = 256 << 10;
/// Notifications that wait to be queued; beyond it, those that may be dropped are, and senders of the others wait.
pub const NOTIFICATIONS_QUEUED: usize = 16;
/// Bytes of a notification that may wait beside others.
pub const NOTIFICATION_SMALL: usize = 64 << 10;
/// Minimum interval between two `$/progress` notifications of one request.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// A running request that has sent no `$/progress` for this long repeats its last report.
pub const PROGRESS_SILENCE: Duration = Duration::from_secs(1);
/// How long running requests may take after the end of input.
pub const DRAIN: Duration = Duration::from_secs(5);
