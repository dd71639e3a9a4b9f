//! Databases of others: read without changing a byte, a time or a directory entry, and without making anyone wait.
//!
//! SQLite's own read-only mode is not that: it creates `-wal` and `-shm` files, and leaves them. So the way in depends on
//! what lies beside the database, and where no lock protects the reading, the files' stamps before and after must be equal.

mod budget;
mod journal;

pub use budget::{Budget, Exceeded};

use super::files::{Stamp, open_regular, read_at};
use crate::limits;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};
use std::ffi::OsString;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;
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
    #[error("a transaction of its program is half done, and the database is too large to be read without it")]
    Large,
    /// One of the files beside it that SQLite would open is a FIFO, a directory or a device.
    #[error("the file beside it that ends in `{0}` is not a regular file")]
    Beside(&'static str),
    /// Its rows do not end within the time that a query may work.
    #[error("its rows did not end within {} seconds of work", .0.as_secs_f32())]
    Endless(Duration),
    /// Nobody wants its rows any more.
    #[error("the request was cancelled")]
    Cancelled,
}

impl Error {
    /// Whether it is nobody's fault: once the database's owner has done his work, it can be read.
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Changed | Self::Large => true,
            Self::Sqlite(error) => {
                matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
            }
            Self::Io(_) | Self::Empty | Self::Beside(_) | Self::Endless(_) | Self::Cancelled => false,
        }
    }
}

/// Runs a query over one consistent state of a database, within a budget. The query runs again when the database changed
/// under it.
pub fn read<T>(
    path: &Path,
    budget: &Budget<'_>,
    query: impl Fn(&Connection) -> rusqlite::Result<T>,
) -> Result<T, Error> {
    keep_owners();
    let _reading = READING.read().unwrap_or_else(PoisonError::into_inner);
    // SQLite looks for a log beside the file that a link leads to.
    let path = fs::canonicalize(path)?;
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            thread::sleep(limits::DATABASE_BUSY / ATTEMPTS);
        }
        let before = State::of(&path)?;
        let run = |way: Way| way.run(&path, budget, &query);
        let result = match before.way() {
            Way::Shared => match run(Way::Shared) {
                Err(error) if !matches!(error, Error::Endless(_) | Error::Cancelled) => run(Way::Alone),
                ended => return ended,
            },
            Way::Copy if is_committed(&path) => {
                let result = run(Way::Still);
                // The journal may grow meanwhile: what counts is that nothing went from it into the main file.
                if State::of(&path)?.main == before.main {
                    return result;
                }
                continue;
            }
            Way::Copy => read_copy(&path, &before, budget, &query),
            way => run(way),
        };
        if matches!(result, Err(Error::Endless(_) | Error::Cancelled)) || State::of(&path)? == before {
            return result;
        }
    }
    Err(Error::Changed)
}

/// The stamp of a database's log, in which its newest rows are; that of a file beside it for which it cannot be read, so
/// that it is read once that file is gone.
pub fn log_stamp(path: &Path) -> Option<Stamp> {
    let path = fs::canonicalize(path).ok()?;
    let found = |ending| fs::metadata(beside(&path, ending)).ok();
    if let Some(odd) = BESIDE.into_iter().filter_map(found).find(|metadata| !metadata.is_file()) {
        return Some(Stamp::of(&odd));
    }
    let stamp = Stamp::of(&found("-wal")?);
    Some(stamp.marked(index_mark(&path)))
}

/// The endings of the files that SQLite opens with a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

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
    /// state, else a copy in memory in which the transaction is undone.
    Copy,
}

impl Way {
    fn run<T>(
        self,
        path: &Path,
        budget: &Budget<'_>,
        query: &impl Fn(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let options = match self {
            Self::Still | Self::Copy => "mode=ro&immutable=1",
            Self::Shared => "mode=ro&readonly_shm=1",
            Self::Alone if cfg!(windows) => "mode=ro&vfs=win32-none",
            Self::Alone => "mode=ro&vfs=unix-none",
        };
        let connection = open(path, options)?;
        // The last to close a log would move its rows into the main file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        if let Self::Alone = self {
            connection.pragma_update(None, "locking_mode", "exclusive")?;
        }
        run(&connection, budget, query)
    }
}

/// Runs a query in one transaction of a connection.
fn run<T>(
    connection: &Connection,
    budget: &Budget<'_>,
    query: &impl Fn(&Connection) -> rusqlite::Result<T>,
) -> Result<T, Error> {
    budget::restrict(connection)?;
    connection.execute_batch("begin")?;
    let result = budget.spend(connection, || query(connection));
    result.map_err(|error| match budget.exceeded() {
        Some(Exceeded::Time) => Error::Endless(budget.time()),
        Some(Exceeded::Cancelled) => Error::Cancelled,
        None => error.into(),
    })
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

/// Reads a copy in memory in which what the journal says is undone, as the owner's next start will undo it in the original.
/// As long as the files stand still, what is read of them is what a crash at this moment would leave.
fn read_copy<T>(
    path: &Path,
    state: &State,
    budget: &Budget<'_>,
    query: &impl Fn(&Connection) -> rusqlite::Result<T>,
) -> Result<T, Error> {
    let journal = state.journal.map_or(0, |journal| journal.size);
    if state.main.size.saturating_add(journal) > limits::DATABASE_COPY {
        return Err(Error::Large);
    }
    let mut image = journal::rolled_back(path, state.main.size, &beside(path, "-journal"), journal)?;
    let connection = Connection::open_in_memory()?;
    let size = image.len() as i64;
    // SAFETY: the connection is closed before the image is dropped, which it neither frees, moves nor writes to.
    let code = unsafe {
        let (name, read_only) = (c"main".as_ptr(), ffi::SQLITE_DESERIALIZE_READONLY);
        ffi::sqlite3_deserialize(connection.handle(), name, image.as_mut_ptr(), size, size, read_only as _)
    };
    let result = match code {
        ffi::SQLITE_OK => run(&connection, budget, query),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into()),
    };
    drop(connection);
    result
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
        let odd = |ending: &&str| fs::metadata(beside(path, ending)).is_ok_and(|metadata| !metadata.is_file());
        if let Some(ending) = BESIDE.into_iter().find(odd) {
            return Err(Error::Beside(ending));
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

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
