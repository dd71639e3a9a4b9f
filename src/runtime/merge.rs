//! The order of events where a replay and a stream that overlap become one: each once, in order.

/// The largest sequence number that was passed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    last: Option<u64>,
}

impl Merge {
    /// Begins where a history ends.
    pub(super) fn after(history_cursor: u64) -> Self {
        Self { last: Some(history_cursor).filter(|last| *last > 0) }
    }

    /// Whether an event of the replay, then of the stream, is new. Gaps are normal; what is not above the last one was told already.
    pub(super) fn admits(&mut self, sequence: u64) -> bool {
        let new = self.last.is_none_or(|last| sequence > last);
        if new {
            self.last = Some(sequence);
        }
        new
    }

    /// Where to go on after the last event that was passed on.
    pub(super) fn cursor(&self) -> u64 {
        self.last.unwrap_or_default()
    }
}
