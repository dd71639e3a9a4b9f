//! Whether the process that a receipt names is still the one that it meant.

use super::receipt::{Record, Refusal};
use crate::platform::process::{alive, is_still, own_pid_domain, ran_at, start_mark};
use serde::{Deserialize, Serialize};

/// What this server adds to its receipts, so that a reader can tell the owner, and the server that keeps the receipt,
/// from later processes of the same pids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    pid_domain: String,
    start_mark: String,
    server_pid: i32,
    server_start_mark: String,
}

/// What became of a receipt's owner.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// It lives, and is the same process.
    Lives,
    /// It is gone, or the server is that kept the receipt. `certain` where no process of another pid namespace can have
    /// been meant.
    Gone { certain: bool },
}

impl Mark {
    /// The mark of a running process that this server publishes; `None` where it is not running or cannot be told from a
    /// later one.
    pub(super) fn of(pid: i32) -> Option<Self> {
        let server_pid = i32::try_from(std::process::id()).ok()?;
        let mark = Self {
            pid_domain: own_pid_domain()?,
            start_mark: start_mark(pid)?,
            server_pid,
            server_start_mark: start_mark(server_pid)?,
        };
        // A zombie has a start mark, too.
        alive(pid).then_some(mark)
    }
}

impl Record {
    /// Holds the receipt, which was read before, against the process that has its pid now.
    pub(super) fn owner(&self) -> Result<Owner, Refusal> {
        let pid = self.pid;
        if let Some(mark) = &self.mark {
            if own_pid_domain().as_ref() != Some(&mark.pid_domain) {
                return Err(Refusal::OtherPidDomain);
            }
            let lives = is_still(pid, &mark.start_mark) && is_still(mark.server_pid, &mark.server_start_mark);
            return Ok(if lives { Owner::Lives } else { Owner::Gone { certain: true } });
        }
        if ran_at(pid, i64::try_from(self.created_at_ms).unwrap_or(i64::MAX)) {
            Ok(Owner::Lives)
        } else if alive(pid) {
            Err(Refusal::NotItsOwner)
        } else {
            Ok(Owner::Gone { certain: false })
        }
    }
}
