//! Every bound in one place, in the order of the rooms. Those that a client can hit are told in `initialize` and can be
//! lowered by `--limit`.

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

// The system: files, databases, processes.

/// Bytes of a path that is looked up; no system takes a longer one, and looking costs its square.
pub const PATH_BYTES: usize = 4 << 10;
/// Bytes of a file by which git names a branch or another directory.
pub const GIT_POINTER: usize = 8 << 10;
/// Repositories that are followed from a submodule upwards, and from a clone of a clone to where it all came from.
pub const GIT_HOPS: usize = 8;
/// How long a locked database is waited for.
pub const DATABASE_BUSY: Duration = Duration::from_millis(250);
/// Bytes of a database and its journal that are copied into memory to read it as it was before a transaction that is half
/// done.
pub const DATABASE_COPY: u64 = 256 << 20;
/// How long the queries of a list may work on one database: processor time of their thread, less than [`ROOT_SILENCE`].
pub const DATABASE_LIST: Duration = Duration::from_millis(2_500);
/// The same for the queries about one session.
pub const DATABASE_SESSION: Duration = Duration::from_secs(10);
/// Sessions of one database; one with more is not listed.
pub const DATABASE_SESSIONS: usize = 250_000;
/// Bytes of a database that one of its sessions takes at least. A file that claims more sessions is damaged or made to harm.
pub const DATABASE_SESSION_BYTES: u64 = 16;
/// Bytes of the largest value that SQLite makes or takes apart. Only up to [`LINE_MAX`] of one is handed on.
pub const DATABASE_VALUE: i32 = 64 << 20;
/// Bytes of a statement, those by which the tables were created included.
pub const DATABASE_SQL: i32 = 256 << 10;
/// Tables and indexes of a database.
pub const DATABASE_OBJECTS: i32 = 4_096;
/// Columns of a table.
pub const DATABASE_COLUMNS: i32 = 512;
/// Depth of an expression.
pub const DATABASE_EXPRESSION: i32 = 128;
/// Parts of a compound statement.
pub const DATABASE_COMPOUND: i32 = 16;
/// Bytes that SQLite may allocate, all readers together.
pub const DATABASE_HEAP: i64 = 512 << 20;
/// Bytes of an id, a model, a directory and the like in a database; a longer one is none.
pub const DATABASE_NAME: usize = 4 << 10;
/// Parts of one message that are read.
pub const MESSAGE_PARTS: usize = 10_000;
/// Bytes of the system's list of locks that are read.
pub const LOCK_TABLE: u64 = 4 << 20;
/// Open files of a process that are looked through for one.
pub const DESCRIPTORS: usize = 16_384;
/// A process that began so much after a time can still be who wrote it down: clocks are read one after the other.
pub const CLOCK_SLACK: Duration = Duration::from_secs(1);
/// How long is waited until nobody of a killed group of processes runs any more.
pub const GROUP_GONE: Duration = Duration::from_secs(2);
/// How often is looked.
pub const GROUP_PAUSE: Duration = Duration::from_millis(2);

// Live Claude Code sessions, and the couriers to them.

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

// Stores: what is read for a list.

/// A root of which nothing was read for so long is left out of an answer.
pub const ROOT_SILENCE: Duration = Duration::from_secs(3);
/// When a root that was left out is read again by another thread; the time doubles with each.
pub const ROOT_AGAIN: Duration = Duration::from_secs(10);
/// Threads that read session files at the same time.
pub const READERS: usize = 8;
/// Files below one root; a store with more is cut, and coverage says so.
pub const FILES_PER_ROOT: usize = 1_000_000;
/// Records of what lives that are read in one place of a store.
pub const LIVE_RECORDS: usize = 10_000;
/// Directories below that of a session's subagents in which others lie.
pub const SUBAGENT_DEPTH: usize = 8;
/// Subagents of one session that are read.
pub const CHILDREN: usize = 10_000;
/// Parents that are followed upwards.
pub const ANCESTRY: usize = 64;
/// Segments of a conversation that are followed back: each time that a user edits an earlier prompt makes one more.
pub const SEGMENTS: usize = 1_024;
/// Bytes of a session file's head that are read at first.
pub const HEAD_FIRST: usize = 32 << 10;
/// Bytes of a session file's head that are read at most, where less does not tell all.
pub const HEAD_MAX: usize = 256 << 10;
/// Bytes of records with long strings shortened that are read behind the head, where that does not tell all.
pub const CONDENSED: usize = 64 << 10;
/// Bytes of a string of such a record that are kept.
pub const STRING_KEPT: usize = 16 << 10;
/// Bytes of a session file's tail that are read at first.
pub const TAIL_FIRST: usize = 16 << 10;
/// Bytes of a session file's tail that are read at most, where less holds no message.
pub const TAIL_MAX: usize = 256 << 10;
/// Bytes of a small side file (names, metadata) that are read.
pub const SIDE_FILE: usize = 1 << 20;
/// Bytes of an index that grows with the number of sessions; only the newest part of a longer one counts.
pub const INDEX_FILE: usize = 16 << 20;
/// A compressed session up to this size is unpacked whole to find its end.
pub const COMPRESSED_WHOLE: u64 = 4 << 20;
/// Bytes that a compressed session may unpack to; what comes after them is not seen.
pub const UNPACKED_MAX: u64 = 1 << 30;
/// Rows of a conversation that are looked into for its opening texts, or for its last one.
pub const ROWS_LOOKED_AT: usize = 1_000;
/// Messages from the end that are looked into for the newest time and the model: they are in order, or nearly.
pub const NEWEST_LOOKED_AT: usize = 8;
/// Characters of a title.
pub const TITLE_CHARS: usize = 240;
/// Characters of a topic, a last message and a match.
pub const EXCERPT_CHARS: usize = 1_000;
/// Characters of a match before and behind what was looked for.
pub const MATCH_CONTEXT: usize = 80;
/// Opening user texts of a session.
pub const TOPICS: usize = 8;

// Stores: conversations.

/// Bytes of one line that a whole-file reading looks into; a longer line is passed over.
pub const LINE_MAX: usize = 16 << 20;
/// Bytes of a line that any reader may hold; of longer ones only [`LONG_LINES`] are held at a time.
pub const LINE_COMMON: usize = 1 << 20;
/// Readers that hold a line over [`LINE_COMMON`] at a time.
pub const LONG_LINES: usize = 2;
/// Bytes of a transcript in which rows that stand there again are looked for at once; in a longer one only behind a
/// compaction.
pub const REPEATS_SOUGHT: u64 = 4 << 20;
/// Messages that are held at a time while they are counted.
pub const MESSAGES_COUNTED: usize = 1_000;
/// Transcripts of which is remembered what names they hold.
pub const NAMES_KEPT: usize = 4_096;
/// Bytes of a transcript in which names are looked for.
pub const NAMES_SCANNED: u64 = 1 << 30;
/// Last bytes of what was read of a growing file that are remembered.
pub const PREFIX_KEPT: usize = 256;
/// Bytes that a whole-file reading asks for at a time.
pub const SCAN_BYTES: usize = 256 << 10;
/// Bytes of a file that are read between two reports of how far the reading is.
pub const PROGRESS_BYTES: u64 = 8 << 20;
/// Bytes of a store's records after which a page of messages ends early.
pub const PAGE_BYTES: u64 = 4 << 20;
/// Bytes of a text that are read at first on the way back from its end, and then twice as many each time.
pub const PAGE_CHUNK_FIRST: usize = 8 << 10;
/// Bytes of a text that are read at once on that way.
pub const PAGE_CHUNK: usize = 128 << 10;
/// Records beside the current branch that are kept in mind until it is known whether they belong to it.
pub const BESIDE: usize = 1_024;
/// Bytes before a tool's result within which its call is looked for, and before a message the turn that it is of.
pub const LOOK_BACK: u64 = 4 << 20;
/// Messages before a page that are looked into for the calls which its results belong to.
pub const CALLS_LOOKED_FOR: usize = 64;
/// Bytes at the end of an unpacked text that are kept at once.
pub const UNPACKED_WINDOW: usize = 4 << 20;
/// Bytes of an unpacked text that are kept compressed by themselves, so that they can be read alone.
pub const UNPACKED_PIECE: usize = 1 << 20;
/// Bytes of such pieces that are kept, of one text at a time.
pub const UNPACKED_KEPT: usize = 32 << 20;

// Stores: sessions that are followed.

/// Newest messages of a session of lines that are compared with what was told of them when more came.
pub const FOLLOW_LINES: usize = 2;
/// The same where rows may be changed in place.
pub const FOLLOW_ROWS: usize = 32;
/// Messages that were told and are remembered.
pub const FOLLOW_KEPT: usize = 64;
/// How many messages more than are compared a follower reads at first.
pub const FOLLOW_FIRST: usize = 4;
/// New messages of a session that are told one by one; where more came at once, it is loaded anew.
pub const FOLLOW_MESSAGES: usize = 1_000;
/// Bytes of them.
pub const FOLLOW_BYTES: usize = 8 << 20;
/// How long a message is held back that is still in the making and does not change.
pub const FOLLOW_HOLD: Duration = Duration::from_secs(2);
/// How long a file that was cut is waited for, until it counts as cut and not as being rewritten.
pub const REWRITE_SETTLES: Duration = Duration::from_millis(500);
/// When a session is tried again that its program kept to itself.
pub const FOLLOW_AGAIN: Duration = Duration::from_secs(1);

// The inventory, while somebody watches.

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

// Receipts.

/// Bytes of a receipt.
pub const RECEIPT_BYTES: usize = 64 << 10;
/// Receipts that are read.
pub const RECEIPTS: usize = 1_000;
/// Receipts that one server keeps published.
pub const RECEIPTS_PUBLISHED: usize = 256;
/// A half-written receipt of a process that is gone is left alone for so long.
pub const RECEIPT_TEMPORARY_AGE: Duration = Duration::from_secs(60);

// Runtimes: what they are asked, and for how long.

/// How long a runtime is given to describe itself.
pub const PROBE: Duration = Duration::from_secs(1);
/// How long a list waits for that; the probe itself continues. One that was silent the last time is not waited for at all.
pub const PROBE_LIST: Duration = Duration::from_millis(500);
/// The same for the first state of a watch, which hears of it later.
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

// Runtimes: HTTP.

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

// Settings.

/// Bytes of Claude Code's settings.
pub const SETTINGS_BYTES: usize = 4 << 20;
/// Symbolic links that are followed one after the other, as many as Linux follows.
pub const LINKS: u32 = 40;
/// How long others who change the same settings are waited for.
pub const SETTINGS_LOCK: Duration = Duration::from_secs(10);
/// How often is looked whether they are done.
pub const SETTINGS_LOCK_PAUSE: Duration = Duration::from_millis(2);
/// How often settings are read again that somebody seems to be in the middle of writing.
pub const SETTINGS_AGAIN: u32 = 3;
/// How long is waited before.
pub const SETTINGS_AGAIN_PAUSE: Duration = Duration::from_millis(20);
/// How often a file that somebody has open for writing is looked at again before it counts as being written.
pub const WRITER_LOOKS: u32 = 50;
/// How long is waited between.
pub const WRITER_PAUSE: Duration = Duration::from_millis(2);
/// How often what others wrote is put back while they go on writing.
pub const PUT_BACK: u32 = 64;
/// How long is waited between.
pub const PUT_BACK_PAUSE: Duration = Duration::from_millis(1);

// Hosts: from the start to the end.

/// Hosts that one server starts at a time.
pub const HOSTS_STARTING: usize = 4;
/// Bytes of the name of an agent that can be started.
pub const START_NAME: usize = 64;
/// Bytes of the id of a session that a hosted agent is to load.
pub const LOAD_ID: usize = 256;
/// How long a host is given until its agent is ready; the agent is given less for each step.
pub const HOST_START: Duration = Duration::from_secs(300);
/// After which time a person who starts a host is told that its agent is waited for.
pub const HOST_PATIENCE: Duration = Duration::from_secs(3);
/// Bytes of what a host tells to who starts it.
pub const HOST_REPORT: usize = 64 << 10;
/// How long a host that goes on alone is waited for until it has let go of who started it.
pub const HOST_LETS_GO: Duration = Duration::from_secs(5);
/// How long a host waits at its end until everybody has heard of it and its agent is gone.
pub const HOST_END: Duration = Duration::from_secs(8);

// Hosts: the agent.

/// How long a hosted agent is given for each step until it is ready: it may first have to be downloaded.
pub const AGENT_START: Duration = Duration::from_secs(120);
/// A hosted agent that loads a session may repeat it after it answered; it is done when it is silent for so long.
pub const AGENT_SETTLES: Duration = Duration::from_secs(1);
/// How long a hosted agent is given to answer what takes no turn.
pub const AGENT_ANSWER: Duration = Duration::from_secs(30);
/// How long a hosted agent is given to end a turn that was cancelled.
pub const AGENT_CANCEL: Duration = Duration::from_secs(5);
/// How long a hosted agent is given to end after its input ended, and again after it was asked to.
pub const AGENT_END: Duration = Duration::from_secs(2);
/// How long its last words are waited for when it is gone: a process that it left may hold its output open.
pub const AGENT_LAST_WORDS: Duration = Duration::from_secs(1);
/// Bytes of one line of a hosted agent; a longer one is passed over.
pub const AGENT_LINE: usize = 16 << 20;
/// Parts (array items and object members) of one message of a hosted agent; those behind are passed over. As many as need more
/// text than [`AGENT_RAW`], so that what is passed on as it came is whole.
pub const AGENT_VALUES: usize = AGENT_RAW / 2;
/// Bytes of lines in a row that are no messages, after which a hosted agent is given up: no log is so long, and nobody reads it.
pub const AGENT_NONSENSE: usize = 64 << 20;
/// Bytes that wait for a hosted agent to read them; then nothing more is read of it. Far over what one prompt and a few
/// files take: an agent that writes before it reads would otherwise wait for us as we for it.
pub const AGENT_UNREAD: usize = 64 << 20;
/// What a hosted agent tells waits for its host so many at a time; then the agent waits.
pub const AGENT_TOLD: usize = 64;
/// What its host asks a hosted agent waits so many at a time.
pub const AGENT_ASKS: usize = 16;
/// A file of a hosted agent is read only while fewer bytes than this wait for it to read them.
pub const AGENT_ROOM: usize = 8 << 20;
/// Requests of a hosted agent for files that wait for their turn; further ones are refused.
pub const AGENT_FILES: usize = 1_024;
/// Bytes of them, which is what is to be written.
pub const AGENT_FILES_BYTES: usize = 32 << 20;
/// Requests of a hosted agent that wait for the end of a command; further ones are refused.
pub const AGENT_WAITS: usize = 256;
/// Questions of a hosted agent to a person that are open; further ones are refused.
pub const AGENT_QUESTIONS: usize = 64;
/// Bytes of a text that a hosted agent tells; a longer one is cut.
pub const AGENT_TEXT: usize = 1 << 20;
/// Bytes of what a hosted agent sent that are passed on as they came.
pub const AGENT_RAW: usize = 256 << 10;
/// Characters of what a hosted agent says of itself in a name or an error.
pub const AGENT_WORDS: usize = 1_000;
/// Commands, models and modes of a hosted agent that are kept.
pub const AGENT_CHOICES: usize = 500;
/// How long a hosted agent that sends nothing outside of a turn still counts as working.
pub const AGENT_QUIET: Duration = Duration::from_secs(5);
/// The same while a tool call that began outside of a turn is not completed.
pub const AGENT_CALL_QUIET: Duration = Duration::from_secs(600);
/// Tool calls of a hosted agent whose names are kept.
pub const AGENT_TOOLS: usize = 1_024;
/// Bytes of the arguments of a tool call, and of its output, that are kept until it is done.
pub const AGENT_TOOL_BYTES: usize = 64 << 10;
/// Events of a loaded session that are kept, the newest ones.
pub const AGENT_HISTORY: usize = 10_000;
/// Bytes of them.
pub const AGENT_HISTORY_BYTES: usize = 16 << 20;
/// Bytes of a hosted agent's standard error that are kept, the last ones.
pub const AGENT_STDERR: usize = 8 << 10;
/// Bytes of a file that a hosted agent reads or writes through its host.
pub const AGENT_FILE: usize = 8 << 20;
/// Terminals of a hosted agent at a time.
pub const AGENT_TERMINALS: usize = 32;
/// Bytes of a terminal's output that are kept, the last ones, where the agent does not want less.
pub const AGENT_TERMINAL_OUTPUT: usize = 1 << 20;

// Hosts: the conversation.

/// Events of a hosted agent that are kept for who attaches; then the oldest go into its history.
pub const HOST_RING: usize = 16_384;
/// Characters of a prompt that are looked at for a title.
pub const HOST_TITLE_OF: usize = 4_096;
/// Bytes of such events. With the history they stay below [`RUNTIME_ANSWER`].
pub const HOST_RING_BYTES: usize = 16 << 20;
/// Bytes of the history of a hosted agent that are kept.
pub const HOST_HISTORY_BYTES: usize = 8 << 20;
/// Bytes of one message there; what is over is left out.
pub const HOST_MESSAGE_BYTES: usize = 1 << 20;
/// Bytes of an event; texts in it are cut, and what the agent itself sent is left out, where they alone take much of that.
pub const HOST_EVENT: usize = 4 << 20;
/// Events that a subscriber may be behind; then its stream ends.
pub const HOST_LAG: usize = 1_024;
/// Bytes of such events.
pub const HOST_LAG_BYTES: usize = 16 << 20;
/// Operations of a kind that a descriptor lists, so that it stays within [`RUNTIME_SHORT_ANSWER`].
pub const HOST_OPERATIONS: usize = 256;
/// Bytes of what a turn answered that are told at its end.
pub const HOST_REPLY: usize = 4 << 20;
/// How long an interrupted turn is waited for before the interruption is answered.
pub const HOST_INTERRUPT: Duration = Duration::from_secs(2);
/// Questions to a person that are open at the same time, and those of a turn that are remembered; one more is denied.
pub const HOST_APPROVALS: usize = 64;
/// Bytes of one.
pub const HOST_APPROVAL: usize = 128 << 10;
/// How long control of a hosted agent lasts that is not renewed, unless it is told otherwise.
pub const HOST_LEASE: Duration = Duration::from_secs(30);
/// How long an observer is remembered who has no stream open.
pub const HOST_OBSERVER: Duration = Duration::from_secs(120);
/// Observers that are remembered.
pub const HOST_OBSERVERS: usize = 1_024;
/// Credentials that a hosted agent's owner may have made.
pub const HOST_CREDENTIALS: usize = 256;

// Hosts: the door.

/// Connections to a hosted agent's door; for one more the oldest idle one is closed, else the oldest of a client whose
/// credential the owner made.
pub const HOST_CONNECTIONS: usize = 256;
/// Those of them that may be streams of events: there must be room to ask, and to end all.
pub const HOST_STREAMS: usize = HOST_CONNECTIONS / 2;
/// Streams of events of one client.
pub const HOST_STREAMS_OF_ONE: usize = 8;
/// How long a connection to it may lie idle, as long as at other runtimes.
pub const HOST_IDLE: Duration = Duration::from_secs(300);
/// How long a client may take for the head of a request.
pub const HOST_HEAD: Duration = Duration::from_secs(10);
/// How long a client may take for the body of a request.
pub const HOST_BODY: Duration = Duration::from_secs(30);
/// How long a client may read nothing of its answer.
pub const HOST_ANSWER: Duration = Duration::from_secs(60);
/// Bytes of a request's head.
pub const HOST_HEAD_BYTES: usize = 64 << 10;
/// Headers of a request.
pub const HOST_HEADERS: usize = 200;
/// Bytes of a request's body.
pub const HOST_BODY_BYTES: usize = 16 << 20;
/// Images of a prompt.
pub const HOST_IMAGES: usize = 4;
/// Bytes of one, as it is written in a request.
pub const HOST_IMAGE_BYTES: usize = 12 << 20;
/// Bytes of all images of a prompt.
pub const HOST_IMAGES_BYTES: usize = 32 << 20;
/// Between two comments that show that a stream of events lives.
pub const HOST_KEEP_ALIVE: Duration = Duration::from_secs(15);
/// After the end of a runtime or of a client's credential, how long its connections may take to hear of it.
pub const HOST_FAREWELL: Duration = Duration::from_secs(2);
/// How long a closed connection is still read, so that its last answer is not lost with what it did not read.
pub const HOST_LINGER: Duration = Duration::from_millis(500);
