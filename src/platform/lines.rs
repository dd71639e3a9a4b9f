//! The lines that a program of ours writes, within bounds.

use crate::limits;
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// A line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// What it holds.
    Whole(Vec<u8>),
    /// It is over the bound; its bytes are gone, also those that are still to come. This is how it begins.
    TooLong(Vec<u8>),
}

/// Reads lines. A reading may be dropped at any time and begun again.
pub struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    /// Whether what comes up to the next end belongs to a line that was too long.
    passes_over: bool,
    max: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of at most `max` bytes.
    pub fn new(from: R, max: usize) -> Self {
        Self { from: BufReader::with_capacity(limits::READ_BYTES, from), line: Vec::new(), passes_over: false, max }
    }

    /// Where they come from.
    pub fn source(&self) -> &R {
        self.from.get_ref()
    }

    /// The next line; `None` at the end. A last one without an end counts. One that is too long is told as soon as that is
    /// seen.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let piece = self.from.fill_buf().await?;
            if piece.is_empty() {
                let last = std::mem::take(&mut self.line);
                return Ok((!last.is_empty()).then_some(Line::Whole(last)));
            }
            let end = memchr::memchr(b'\n', piece);
            let (content, used) =
                end.map_or((piece, piece.len()), |end| (piece.get(..end).unwrap_or_default(), end + 1));
            let was_over = self.passes_over;
            let is_over = was_over || self.line.len() + content.len() > self.max;
            if !was_over {
                self.line.extend_from_slice(content);
            }
            self.passes_over = is_over && end.is_none();
            self.from.consume(used);
            match (is_over, end) {
                (true, _) if !was_over => {
                    let line = std::mem::take(&mut self.line);
                    return Ok(Some(Line::TooLong(line.get(..limits::LINE_HEAD).unwrap_or(&line).to_vec())));
                }
                (false, Some(_)) => return Ok(Some(Line::Whole(std::mem::take(&mut self.line)))),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[tokio::test]
    async fn lines_end_at_their_bound_and_at_the_end() {
        let text = b"12345678\n123456789\n\n0123456789012345678901234567890\nlast".as_slice();
        let mut lines = Lines::new(text, 8);
        let whole = |text: &str| Some(Line::Whole(text.as_bytes().to_vec()));
        let long = |text: &str| Some(Line::TooLong(text.as_bytes().to_vec()));
        let expected = [
            whole("12345678"),
            long("123456789"),
            whole(""),
            long("0123456789012345678901234567890"),
            whole("last"),
            None,
        ];
        for line in expected {
            assert_eq!(lines.next().await.unwrap(), line);
        }
    }

    #[tokio::test]
    async fn what_is_too_long_is_told_before_it_ends() {
        let (mut write, read) = tokio::io::duplex(64);
        let mut lines = Lines::new(read, 8);
        write.write_all(b"0123456789").await.unwrap();
        assert_eq!(lines.next().await.unwrap(), Some(Line::TooLong(b"0123456789".to_vec())));
        write.write_all(b"more\nnext\n").await.unwrap();
        assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(b"next".to_vec())));
        write.write_all(b"0123456789").await.unwrap();
        drop(write);
        assert_eq!(lines.next().await.unwrap(), Some(Line::TooLong(b"0123456789".to_vec())));
        assert_eq!(lines.next().await.unwrap(), None);
    }
}
