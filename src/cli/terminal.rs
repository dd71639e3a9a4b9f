//! A terminal while it is in use.

use super::output::{self, Screen};
use crate::platform::signals::Signals;
use crate::platform::terminal::Raw;
use std::io::IsTerminal;
use std::ops::Deref;
use std::panic;
use std::thread;
use std::time::Duration;
use tokio::time::timeout;

/// How long a terminal that nobody reads is waited for at the end.
pub(super) const FAREWELL: Duration = Duration::from_secs(1);

/// A terminal that is in use.
pub(super) struct Taken(Raw);

impl Taken {
    /// Takes a terminal that these bytes give back. Should this thread panic, they come before what it says.
    pub(super) fn new(raw: Raw, close: &'static str) -> Self {
        let (before, ours) = (panic::take_hook(), thread::current().id());
        panic::set_hook(Box::new(move |told| {
            if thread::current().id() == ours {
                let _ = output::write(close);
            }
            before(told);
        }));
        Self(raw)
    }
}

impl Deref for Taken {
    type Target = Raw;

    fn deref(&self) -> &Raw {
        &self.0
    }
}

/// The signal that comes with it when a terminal is gone, if one does: what comes after that is another.
pub(super) async fn gone(signals: &mut Signals) -> Option<u8> {
    timeout(FAREWELL, signals.next()).await.ok()
}

/// Whether there is a terminal before a person, which can show more than the next line.
pub(super) fn can_be_drawn_on() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !output::is_dumb()
}

/// The terminal of standard output, and its rows.
pub(super) fn size() -> (Screen, usize) {
    let rows = terminal_size::terminal_size_of(std::io::stdout()).map_or(24, |(_, rows)| usize::from(rows.0));
    (Screen::of_stdout(), rows)
}
