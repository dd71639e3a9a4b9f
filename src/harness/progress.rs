//! How a long read reports its progress and is cancelled.

use std::io;

/// Receives the progress of a long read and says whether to go on with it.
pub trait Progress: Sync {
    /// Whether the client cancelled the request.
    fn is_cancelled(&self) -> bool;
    /// Reports how much is done, out of `total` where that is known.
    fn report(&self, message: &str, done: u64, total: Option<u64>);
}

/// Ignores progress and never cancels: for reads that a limit bounds anyway.
pub struct NoProgress;

impl Progress for NoProgress {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn report(&self, _: &str, _: u64, _: Option<u64>) {}
}

/// A reader that ends with an error once nobody wants what is read any more, and tells how far it is.
pub struct Attended<'a, R> {
    reader: R,
    progress: Option<&'a dyn Progress>,
    bytes: u64,
}

impl<'a, R> Attended<'a, R> {
    /// Reads from `reader` until the request that `progress` belongs to is cancelled.
    pub fn new(reader: R, progress: Option<&'a dyn Progress>) -> Self {
        Self { reader, progress, bytes: 0 }
    }
}

impl<R: io::Read> io::Read for Attended<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(progress) = self.progress {
            if progress.is_cancelled() {
                return Err(io::Error::other("the request was cancelled"));
            }
            progress.report("bytes read", self.bytes, None);
        }
        let count = self.reader.read(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }
}
