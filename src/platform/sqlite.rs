//! Databases of others: read without changing a byte, a time or a directory entry, and without making anyone wait.
//!
//! SQLite's own read-only mode is not that: it creates `-wal` and `-shm` files, and leaves them. So the way in depends on
//! what lies beside the database, and where no lock protects the reading, the files' stamps before and after must be equal.

use super::files::{Stamp, open_regular, read_at};
use super::private;
use crate::limits;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::ffi::OsString;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::{fs, io, thread};

/// Bytes of the log's index that change with each transaction.
const INDEX_HEAD: usize = 48;

/// How often a database that changes under the reading is tried.
const ATTEMPTS: u32 = 5;

/// Why a database could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is no database, it is locked, or it does not know what was asked for.
    #[error("the database cannot be read: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The file has no content.
    #[error("the database is empty")]
    Empty,
    /// It never stood still.
    #[error("the database changed while it was read")]
    Changed,
    /// A transaction is half done, and what it takes to undo it in a copy is too much.
    #[error("a transaction of its program is half done, and the database is too large to be copied without it")]
    Large,
}

impl Error {
    /// Whether it is nobody's fault: once the database's owner has done his work, it can be read.
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Changed | Self::Large => true,
            Self::Sqlite(error) => {
                matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
            }
            Self::Io(_) | Self::Empty => false,
        }
    }
}

/// Runs a query over one consistent state of a database. The query runs again when the database changed under it.
pub fn read<T>(path: &Path, query: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
    keep_owners();
    let _reading = READING.read().unwrap_or_else(PoisonError::into_inner);
    // SQLite looks for a log beside the file that a link leads to.
    let path = fs::canonicalize(path)?;
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            thread::sleep(limits::DATABASE_BUSY / ATTEMPTS);
        }
        let before = State::of(&path)?;
        let result = match before.way() {
            Way::Shared => match Way::Shared.run(&path, &query) {
                Ok(value) => return Ok(value),
                Err(_) => Way::Alone.run(&path, &query),
            },
            Way::Copy if is_committed(&path) => {
                let result = Way::Still.run(&path, &query);
                // The journal may grow meanwhile: what counts is that nothing went from it into the main file.
                if State::of(&path)?.main == before.main {
                    return result;
                }
                continue;
            }
            Way::Copy => read_copy(&path, &before, &query),
            way => way.run(&path, &query),
        };
        if State::of(&path)? == before {
            return result;
        }
    }
    Err(Error::Changed)
}

/// The stamp of a database's log, in which its newest rows are.
pub fn log_stamp(path: &Path) -> Option<Stamp> {
    let path = fs::canonicalize(path).ok()?;
    let stamp = fs::metadata(beside(&path, "-wal")).ok().map(|metadata| Stamp::of(&metadata))?;
    Some(stamp.marked(index_mark(&path)))
}

/// Held while a database is read: closing any descriptor of the index would end the reading's locks.
static READING: RwLock<()> = RwLock::new(());

/// A mark of the head of the log's index. What is written to the log counts once it stands there, which is later, and
/// shows in no time of a file.
fn index_mark(path: &Path) -> u64 {
    static UNKNOWN: AtomicU64 = AtomicU64::new(1);
    let Ok(_alone) = READING.try_write() else {
        // Whoever compares finds another state, and reads.
        return UNKNOWN.fetch_add(1, Ordering::Relaxed);
    };
    let mut head = [0; INDEX_HEAD];
    let read = open_regular(&beside(path, "-shm")).and_then(|file| read_at(&file, &mut head, 0)).unwrap_or(0);
    let mut hasher = DefaultHasher::new();
    head[..read].hash(&mut hasher);
    hasher.finish()
}

/// How a database can be read as it lies there.
#[derive(Clone, Copy)]
enum Way {
    /// Everything is in the main file.
    Still,
    /// Its owner lives: under the owner's locks, its index of the log mapped but never written.
    Shared,
    /// Its owner went and left a log: without locks, with an index of the log in our own memory, which SQLite keeps for
    /// who has the database for himself.
    Alone,
    /// A journal lies there: a transaction may be half done. What is in the main file is read if it is the last committed
    /// state, else a copy in which SQLite undoes the transaction.
    Copy,
}

impl Way {
    fn run<T>(self, path: &Path, query: &impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        let options = match self {
            Self::Still => "mode=ro&immutable=1",
            Self::Shared => "mode=ro&readonly_shm=1",
            Self::Alone if cfg!(windows) => "mode=ro&vfs=win32-none",
            Self::Alone => "mode=ro&vfs=unix-none",
            Self::Copy => "mode=rw",
        };
        let connection = open(path, options)?;
        // The last to close a log would move its rows into the main file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        if let Self::Alone = self {
            connection.pragma_update(None, "locking_mode", "exclusive")?;
        }
        connection.execute_batch("begin")?;
        Ok(query(&connection)?)
    }
}

/// Opens a database as the options of SQLite's URIs say; `mode` is always among them.
fn open(path: &Path, options: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(path, options), flags)?;
    connection.busy_timeout(limits::DATABASE_BUSY)?;
    Ok(connection)
}

/// Whether the main file is the last committed state although a journal lies beside it: the owner's transaction has not
/// reached the file yet, or the journal is an old one. SQLite judges by the locks, and takes one only for that moment, so
/// that no commit has to wait for a reading.
fn is_committed(path: &Path) -> bool {
    // SQLite would create the log of a database whose header names one.
    let mut versions = [0; 2];
    let header = open_regular(path).and_then(|file| read_at(&file, &mut versions, 18));
    header.is_ok()
        && versions == [1, 1]
        && open(path, "mode=ro&readonly_shm=1")
            .and_then(|connection| connection.pragma_query_value(None, "schema_version", |_| Ok(())))
            .is_ok()
}

/// Reads a copy in which SQLite undoes what the journal says, as the owner's next start will in the original. As long as
/// the files stand still, their copies are what a crash at this moment would leave, from which SQLite always recovers.
fn read_copy<T>(path: &Path, state: &State, query: &impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
    let journal = state.journal.map_or(0, |journal| journal.size);
    if state.main.size.saturating_add(journal) > limits::DATABASE_COPY {
        return Err(Error::Large);
    }
    // Conversations are nobody else's business.
    let directory = private::temporary_directory("tackroom-")?;
    let copy = directory.path().join("copy");
    for (ending, size) in [("", state.main.size), ("-journal", journal)] {
        let mut from = open_regular(&beside(path, ending))?.take(size);
        io::copy(&mut from, &mut fs::File::create_new(beside(&copy, ending))?)?;
    }
    // Before the transaction is undone: where the files changed, the copies may not belong together.
    if State::of(path)? != *state {
        return Err(Error::Changed);
    }
    Way::Copy.run(&copy, query)
}

/// What tells one state of a database from another.
#[derive(PartialEq)]
struct State {
    main: Stamp,
    log: Option<Stamp>,
    journal: Option<Stamp>,
    index: bool,
}

impl State {
    fn of(path: &Path) -> Result<Self, Error> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(io::Error::other("not a regular file").into());
        }
        // SQLite would delete the log of an empty database, even when told to read only.
        if metadata.len() == 0 {
            return Err(Error::Empty);
        }
        let filled = |ending: &str| {
            let metadata = fs::metadata(beside(path, ending)).ok();
            metadata.filter(|metadata| metadata.len() > 0).map(|metadata| Stamp::of(&metadata))
        };
        Ok(Self {
            main: Stamp::of(&metadata),
            log: filled("-wal"),
            journal: filled("-journal"),
            index: beside(path, "-shm").exists(),
        })
    }

    fn way(&self) -> Way {
        match (self.log, self.journal) {
            (Some(_), _) if self.index => Way::Shared,
            (Some(_), _) => Way::Alone,
            (None, None) => Way::Still,
            (None, Some(_)) => Way::Copy,
        }
    }
}

/// Run by root, SQLite gives a log and its index to the database's owner whenever it opens them, which changes their
/// times and perhaps their owner. In this process it does not.
#[cfg(unix)]
fn keep_owners() {
    use rusqlite::ffi;
    use std::ffi::c_int;
    type Chown = extern "C" fn(c_int, libc::uid_t, libc::gid_t) -> c_int;
    extern "C" fn keep(_: c_int, _: libc::uid_t, _: libc::gid_t) -> c_int {
        0
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: SQLite's own way to replace a system call in its table. It keeps them all as pointers to functions without
    // parameters, and calls this one with those of `fchown`, which `keep` has.
    ONCE.call_once(|| unsafe {
        let vfs = ffi::sqlite3_vfs_find(std::ptr::null());
        if let Some(replace) = vfs.as_ref().and_then(|vfs| vfs.xSetSystemCall) {
            replace(vfs, c"fchown".as_ptr(), Some(std::mem::transmute::<Chown, unsafe extern "C" fn()>(keep)));
        }
    });
}

#[cfg(not(unix))]
fn keep_owners() {}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// The path as SQLite's URI, whatever bytes it has.
fn uri(path: &Path, options: &str) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let bytes = bytes.strip_prefix(br"\\?\").unwrap_or(bytes);
    let mut uri = String::from(if cfg!(windows) { "file:///" } else { "file:" });
    for &byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(byte.into()),
            _ => _ = write!(uri, "%{byte:02X}"),
        }
    }
    uri + "?" + options
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
