//! Whether the process that a receipt names is still the one that it meant.

use super::receipt::{Record, Refusal};
use crate::platform::process::{alive, ran_at};

/// What became of a receipt's owner.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// It lives, and is the same process.
    Lives,
    /// It is gone, or the server is that kept the receipt. `certain` where no process of another pid namespace can have
    /// been meant.
    Gone { certain: bool },
}

impl Record {
    /// Holds the receipt, which was read before, against the process that has its pid now.
    pub(super) fn owner(&self) -> Result<Owner, Refusal> {
        let pid = self.pid;
        if let Some(mark) = &self.mark {
            return match mark.is_current(pid) {
                None => Err(Refusal::OtherPidDomain),
                Some(true) => Ok(Owner::Lives),
                Some(false) => Ok(Owner::Gone { certain: true }),
            };
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
