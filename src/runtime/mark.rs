//! What identifies the processes that a receipt of this server names.

use crate::platform::process::{alive, is_still, own_pid_domain, start_mark};
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

    /// Whether the owner of this pid and the server both still run; `None` where the pid belongs to another pid namespace.
    pub(super) fn is_current(&self, pid: i32) -> Option<bool> {
        let is_here = own_pid_domain().as_ref() == Some(&self.pid_domain);
        is_here.then(|| is_still(pid, &self.start_mark) && is_still(self.server_pid, &self.server_start_mark))
    }
}
