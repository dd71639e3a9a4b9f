//! Limits of the stores.

use std::time::Duration;

// What is read for a list.

/// A root from which nothing was read for this long is omitted from a result.
pub const ROOT_SILENCE: Duration = Duration::from_secs(3);
/// When a root that was left out is read again by another thread; the time doubles with each.
pub const ROOT_AGAIN: Duration = Duration::from_secs(10);
/// Threads that read session files at the same time.
pub const READERS: usize = 8;
/// Files below one root; a store with more is cut, and coverage says so.
pub const FILES_PER_ROOT: usize = 1_000_000;
/// Records of live sessions that are read in one location of a store.
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

// Conversations.

/// Bytes of one line that a whole-file scan parses; a longer line is skipped.
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
/// Transcripts whose names are cached.
pub const NAMES_KEPT: usize = 4_096;
/// Bytes of a transcript in which names are looked for.
pub const NAMES_SCANNED: u64 = 1 << 30;
/// Last bytes of what was read of a growing file that are remembered.
pub const PREFIX_KEPT: usize = 256;
/// Bytes that a whole-file scan reads at a time.
pub const SCAN_BYTES: usize = 256 << 10;
/// Bytes of a file that are read between two progress reports.
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

// Sessions that are followed.

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
