//! What goes on, for the person before the terminal: short lines, which wait for nobody.

use crate::cli::output::note;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Lines that wait for a terminal that does not take them; what comes then is not told.
const WAITING: usize = 256;
/// How long the last ones are waited for.
const LAST: Duration = Duration::from_secs(1);

/// Says lines on standard error, from a thread of its own: a terminal that is stopped stops no runtime.
pub struct Told {
    lines: SyncSender<String>,
    written: Receiver<()>,
}

impl Told {
    pub fn new() -> Self {
        let (lines, to_write) = sync_channel::<String>(WAITING);
        let (done, written) = sync_channel(1);
        std::thread::spawn(move || {
            to_write.into_iter().for_each(|line| note(&line));
            let _ = done.send(());
        });
        Self { lines, written }
    }

    pub fn say(&self, line: &str) {
        // A person who reads nothing misses nothing that is not to be found by attaching.
        let _ = self.lines.try_send(line.to_owned());
    }

    /// Waits for the last lines, for a while.
    pub fn close(self) {
        let Self { lines, written } = self;
        drop(lines);
        let _ = written.recv_timeout(LAST);
    }
}
