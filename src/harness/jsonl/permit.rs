//! Permits for long lines.

use crate::limits;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Condvar, Mutex, PoisonError};

/// Limits how many threads hold a long line: as many requests may read as limits allow, and each could hold as much.
static LONG_LINES: Semaphore = Semaphore { inside: Mutex::new(0), left: Condvar::new() };

/// A semaphore that a thread may enter again while it holds a permit.
struct Semaphore {
    inside: Mutex<usize>,
    left: Condvar,
}

thread_local! {
    /// How many permits this thread holds. A thread that holds one never waits for another.
    static PERMITS: Cell<usize> = const { Cell::new(0) };
}

/// The right to hold a long line. It is not `Send`, since the count is per thread.
pub struct Permit {
    of: &'static Semaphore,
    _here: PhantomData<*const ()>,
}

/// Waits for a permit to hold a line over [`limits::LINE_COMMON`].
pub fn hold_long_line() -> Permit {
    LONG_LINES.enter()
}

impl Semaphore {
    fn enter(&'static self) -> Permit {
        let permit = Permit { of: self, _here: PhantomData };
        if PERMITS.replace(PERMITS.get() + 1) > 0 {
            return permit;
        }
        let inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |inside: &mut usize| *inside >= limits::LONG_LINES;
        let mut inside = self.left.wait_while(inside, full).unwrap_or_else(PoisonError::into_inner);
        *inside += 1;
        permit
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        PERMITS.set(PERMITS.get().saturating_sub(1));
        if PERMITS.get() == 0 {
            *self.of.inside.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
            self.of.left.notify_one();
        }
    }
}
