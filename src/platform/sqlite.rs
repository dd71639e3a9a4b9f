//! Databases of others: read without changing a byte, a time or a directory entry, and without making anyone wait.
//!
//! SQLite's own read-only mode is not that: it creates `-wal` and `-shm` files, and leaves them. So the way in depends on
//! what lies beside the database, and where no lock protects the reading, the files' stamps before and after must be equal.

use super::files::Stamp;
use crate::limits;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io, thread};

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
}

/// Runs a query over one consistent state of a database. The query runs again when the database changed under it.
pub fn read<T>(path: &Path, query: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
    keep_owners();
    // SQLite looks for a log beside the file that a link leads to.
    let path = fs::canonicalize(path)?;
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            thread::sleep(limits::DATABASE_BUSY / ATTEMPTS);
        }
        let before = State::of(&path)?;
        let result = match before.way() {
            Some(Way::Shared) => match Way::Shared.run(&path, &query) {
                Ok(value) => return Ok(value),
                Err(_) => Way::Alone.run(&path, &query),
            },
            Some(way) => way.run(&path, &query),
            None => continue,
        };
        if State::of(&path)? == before {
            return Ok(result?);
        }
    }
    Err(Error::Changed)
}

/// The stamp of a database's log, in which its newest rows are.
pub fn log_stamp(path: &Path) -> Option<Stamp> {
    let path = fs::canonicalize(path).ok()?;
    fs::metadata(beside(&path, "-wal")).ok().map(|metadata| Stamp::of(&metadata))
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
}

impl Way {
    fn run<T>(self, path: &Path, query: &impl Fn(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        let options = match self {
            Self::Still => "immutable=1",
            Self::Shared => "readonly_shm=1",
            Self::Alone if cfg!(windows) => "vfs=win32-none",
            Self::Alone => "vfs=unix-none",
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(uri(path, options), flags)?;
        connection.busy_timeout(limits::DATABASE_BUSY)?;
        // The last to close a log would move its rows into the main file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        if let Self::Alone = self {
            connection.pragma_update(None, "locking_mode", "exclusive")?;
        }
        connection.execute_batch("begin")?;
        query(&connection)
    }
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

    /// `None` while a writer without a log is at work, or where one left its work half done.
    fn way(&self) -> Option<Way> {
        match (self.log, self.journal) {
            (Some(_), _) if self.index => Some(Way::Shared),
            (Some(_), _) => Some(Way::Alone),
            (None, None) => Some(Way::Still),
            (None, Some(_)) => None,
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
    uri + "?mode=ro&" + options
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
