//! The lines of an agent's output, within bounds.

use crate::limits;
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// A line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// What it holds.
    Whole(Vec<u8>),
    /// It was over the bound; its bytes are gone.
    TooLong,
}

/// Reads lines. A reading may be dropped at any time and begun again.
pub(super) struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    is_too_long: bool,
    max: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(from: R, max: usize) -> Self {
        Self { from: BufReader::with_capacity(limits::READ_BYTES, from), line: Vec::new(), is_too_long: false, max }
    }

    /// The next line; `None` at the end. A last one without an end counts.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let piece = self.from.fill_buf().await?;
            if piece.is_empty() {
                return Ok((self.is_too_long || !self.line.is_empty()).then(|| self.take()));
            }
            let end = memchr::memchr(b'\n', piece);
            let (content, used) =
                end.map_or((piece, piece.len()), |end| (piece.get(..end).unwrap_or_default(), end + 1));
            if self.is_too_long || self.line.len() + content.len() > self.max {
                self.is_too_long = true;
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(content);
            }
            self.from.consume(used);
            if end.is_some() {
                return Ok(Some(self.take()));
            }
        }
    }

    fn take(&mut self) -> Line {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) { Line::TooLong } else { Line::Whole(line) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_end_at_their_bound_and_at_the_end() {
        let text = b"12345678\n123456789\n\n0123456789012345678901234567890\nlast".as_slice();
        let mut lines = Lines::new(text, 8);
        let whole = |text: &str| Some(Line::Whole(text.as_bytes().to_vec()));
        let expected = [whole("12345678"), Some(Line::TooLong), whole(""), Some(Line::TooLong), whole("last"), None];
        for line in expected {
            assert_eq!(lines.next().await.unwrap(), line);
        }
    }
}
