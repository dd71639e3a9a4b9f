//! What a query may cost. A database of a few kilobytes can describe endless rows and huge values: by views and computed
//! columns, and by pages that point to each other. So SQLite reads within limits, and a query that works for too long ends.

use crate::limits;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ffi};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// Instructions of SQLite's machine between two looks at the budget: a fraction of a millisecond.
const INSTRUCTIONS: c_int = 2_000;

/// How long the queries of one reading may work, and who may end them earlier.
pub struct Budget<'b> {
    time: Duration,
    is_cancelled: &'b dyn Fn() -> bool,
    begun: Duration,
    exceeded: Cell<Option<Exceeded>>,
}

/// Why a query was ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// It worked for longer than it may.
    Time,
    /// Nobody wants its rows any more.
    Cancelled,
}

impl<'b> Budget<'b> {
    /// The budget for what a list needs of a database.
    pub fn of_list() -> Self {
        Self::new(limits::DATABASE_LIST, &|| false)
    }

    /// The budget for one session, whose reading may be cancelled.
    pub fn of_session(is_cancelled: &'b dyn Fn() -> bool) -> Self {
        Self::new(limits::DATABASE_SESSION, is_cancelled)
    }

    pub(super) fn new(time: Duration, is_cancelled: &'b dyn Fn() -> bool) -> Self {
        Self { time, is_cancelled, begun: worked(), exceeded: Cell::new(None) }
    }

    /// Why the last query was ended, if the budget ended it.
    pub fn exceeded(&self) -> Option<Exceeded> {
        self.exceeded.get()
    }

    /// How long the queries may work.
    pub fn time(&self) -> Duration {
        self.time
    }

    fn is_exceeded(&self) -> bool {
        let why = match () {
            () if (self.is_cancelled)() => Some(Exceeded::Cancelled),
            () if worked().saturating_sub(self.begun) >= self.time => Some(Exceeded::Time),
            () => None,
        };
        self.exceeded.set(why);
        why.is_some()
    }

    /// Runs a query on a connection that reads within the limits, for as long as the budget allows.
    pub fn spend<T>(&self, connection: &Connection, query: impl FnOnce() -> T) -> T {
        extern "C" fn look(budget: *mut c_void) -> c_int {
            // SAFETY: it is the budget that was given along, which lives until the handler is taken away.
            let budget = unsafe { &*budget.cast::<Budget<'_>>() };
            c_int::from(budget.is_exceeded())
        }
        let this = std::ptr::from_ref(self).cast_mut().cast::<c_void>();
        // SAFETY: the connection is open, and the handler is taken away before the budget can go.
        unsafe { ffi::sqlite3_progress_handler(connection.handle(), INSTRUCTIONS, Some(look), this) };
        let _guard = Guard(connection);
        query()
    }
}

/// Takes the handler away, also where the query panics.
struct Guard<'c>(&'c Connection);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // SAFETY: the connection is open.
        unsafe { ffi::sqlite3_progress_handler(self.0.handle(), 0, None, std::ptr::null_mut()) };
    }
}

/// Lets a connection take nothing from the database but the rows of its tables, and those only up to a size.
pub(super) fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    for unneeded in [
        DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
        DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
    ] {
        connection.set_db_config(unneeded, false)?;
    }
    for (limit, max) in [
        (Limit::SQLITE_LIMIT_LENGTH, limits::DATABASE_VALUE),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, limits::DATABASE_SQL),
        (Limit::SQLITE_LIMIT_SCHEMA, limits::DATABASE_OBJECTS),
        (Limit::SQLITE_LIMIT_COLUMN, limits::DATABASE_COLUMNS),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, limits::DATABASE_EXPRESSION),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, limits::DATABASE_COMPOUND),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, max)?;
    }
    // It is the whole process's, and can only be lowered so.
    connection.pragma_update(None, "hard_heap_limit", limits::DATABASE_HEAP)?;
    // An index for one query would hold a copy of all that the query reads, and a file of it would outlive a kill.
    connection.pragma_update(None, "automatic_index", false)?;
    connection.pragma_update(None, "temp_store", "memory")
}

/// How long this thread has worked: another one that has the processor, or a slow disk, does not count.
#[cfg(unix)]
fn worked() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(not(unix))]
fn worked() -> Duration {
    use std::time::Instant;
    static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed()
}
