//! Limits of the system: files, databases and processes.

use std::time::Duration;

/// Bytes of a path that is looked up; no system accepts a longer one, and the cost grows with its square.
pub const PATH_BYTES: usize = 4 << 10;
/// Bytes of a file by which git names a branch or another directory.
pub const GIT_POINTER: usize = 8 << 10;
/// Repositories that are followed from a submodule upwards, and from a clone of a clone to its first origin.
pub const GIT_HOPS: usize = 8;
/// How long the server waits for a locked database.
pub const DATABASE_BUSY: Duration = Duration::from_millis(250);
/// Bytes of a database and its journal that are copied into memory to read it as it was before a transaction that is half
/// done.
pub const DATABASE_COPY: u64 = 256 << 20;
/// How long the queries of a list may work on one database: processor time of their thread, less than [`super::ROOT_SILENCE`].
pub const DATABASE_LIST: Duration = Duration::from_millis(2_500);
/// As above, for the queries about one session.
pub const DATABASE_SESSION: Duration = Duration::from_secs(10);
/// Sessions of one database; one with more is not listed.
pub const DATABASE_SESSIONS: usize = 250_000;
/// Bytes of a database that one of its sessions takes at least. A file that claims more sessions is damaged or made to harm.
pub const DATABASE_SESSION_BYTES: u64 = 16;
/// Bytes of the largest value that SQLite builds or parses. At most [`super::LINE_MAX`] of one is returned.
pub const DATABASE_VALUE: i32 = 64 << 20;
/// Bytes of a statement, including those that created the tables.
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
/// Bytes of an id, a model, a directory and the like in a database; a longer one is ignored.
pub const DATABASE_NAME: usize = 4 << 10;
/// Parts of one message that are read.
pub const MESSAGE_PARTS: usize = 10_000;
/// Bytes of the system's list of locks that are read.
pub const LOCK_TABLE: u64 = 4 << 20;
/// Open files of a process that are searched for one file.
pub const DESCRIPTORS: usize = 16_384;
/// A process that started this long after a timestamp may still have written it: clocks are read one after the other.
pub const CLOCK_SLACK: Duration = Duration::from_secs(1);
/// How long the server waits until no process of a killed process group is running.
pub const GROUP_GONE: Duration = Duration::from_secs(2);
/// How often it checks.
pub const GROUP_PAUSE: Duration = Duration::from_millis(2);
