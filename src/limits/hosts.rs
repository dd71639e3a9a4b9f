//! Limits of hosted agents.

use std::time::Duration;

// From the start to the end.

/// Hosts that one server starts at a time.
pub const HOSTS_STARTING: usize = 4;
/// Bytes of the name of an agent that can be started.
pub const START_NAME: usize = 64;
/// Bytes of the id of a session that a hosted agent is to load.
pub const LOAD_ID: usize = 256;
/// How long a host is given until its agent is ready; the agent is given less for each step.
pub const HOST_START: Duration = Duration::from_secs(300);
/// How long a host may start before the user is informed that it waits for the agent.
pub const HOST_PATIENCE: Duration = Duration::from_secs(3);
/// Bytes of what a host reports to the process that starts it.
pub const HOST_REPORT: usize = 64 << 10;
/// How long the starting process waits until a host that continues alone has detached from it.
pub const HOST_LETS_GO: Duration = Duration::from_secs(5);
/// How long an exiting host waits until every client was notified and its agent has exited.
pub const HOST_END: Duration = Duration::from_secs(8);

// The agent.

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
/// Bytes of one line of a hosted agent; a longer one is skipped.
pub const AGENT_LINE: usize = 16 << 20;
/// Parts (array items and object members) of one message of a hosted agent; those behind are passed over. As many as
/// need more text than [`AGENT_RAW`], so that what is passed on as it came is whole.
pub const AGENT_VALUES: usize = AGENT_RAW / 2;
/// Bytes of lines in a row that are no messages, after which a hosted agent is given up: no log is so long, and nobody
/// reads it.
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
/// Bytes of a text that a hosted agent sends; a longer one is truncated.
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

// The conversation.

/// Events of a hosted agent that are kept for clients that attach; beyond it, the oldest go into its history.
pub const HOST_RING: usize = 16_384;
/// Characters of a prompt that are looked at for a title.
pub const HOST_TITLE_OF: usize = 4_096;
/// Bytes of such events. With the history they stay below [`super::RUNTIME_ANSWER`].
pub const HOST_RING_BYTES: usize = 16 << 20;
/// Bytes of the history of a hosted agent that are kept.
pub const HOST_HISTORY_BYTES: usize = 8 << 20;
/// Bytes of one message there; what is over is left out.
pub const HOST_MESSAGE_BYTES: usize = 1 << 20;
/// Bytes of an event; texts in it are cut, and what the agent itself sent is left out, where they alone take much of
/// that.
pub const HOST_EVENT: usize = 4 << 20;
/// Events that a subscriber may be behind; then its stream ends.
pub const HOST_LAG: usize = 1_024;
/// Bytes of such events.
pub const HOST_LAG_BYTES: usize = 16 << 20;
/// Operations of each kind that a descriptor lists, so that it stays within [`super::RUNTIME_SHORT_ANSWER`].
pub const HOST_OPERATIONS: usize = 256;
/// Bytes of a turn's reply that are sent at its end.
pub const HOST_REPLY: usize = 4 << 20;
/// How long an interrupted turn is waited for before the interruption is answered.
pub const HOST_INTERRUPT: Duration = Duration::from_secs(2);
/// Questions to a person that are open at the same time, and those of a turn that are remembered; one more is denied.
pub const HOST_APPROVALS: usize = 64;
/// Bytes of one.
pub const HOST_APPROVAL: usize = 128 << 10;
/// Default time for which control of a hosted agent lasts without renewal.
pub const HOST_LEASE: Duration = Duration::from_secs(30);
/// How long an observer without an open stream is remembered.
pub const HOST_OBSERVER: Duration = Duration::from_secs(120);
/// Observers that are remembered.
pub const HOST_OBSERVERS: usize = 1_024;
/// Credentials that a hosted agent's owner may have made.
pub const HOST_CREDENTIALS: usize = 256;

// The door.

/// Connections to a hosted agent's HTTP server. For one more, the oldest idle one is closed, else the oldest of a
/// client whose credential the owner created.
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
/// Interval between two comments that keep a stream of events alive.
pub const HOST_KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long connections may take to be notified after the end of a runtime or of a client's credential.
pub const HOST_FAREWELL: Duration = Duration::from_secs(2);
/// How long a closed connection is still read, so that its last answer is not lost with what it did not read.
pub const HOST_LINGER: Duration = Duration::from_millis(500);
