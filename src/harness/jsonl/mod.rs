//! Files of one JSON record a line, read by their ends or streamed whole, in bounded memory.

mod head_tail;
mod permit;
#[cfg(test)]
mod tests;

pub use head_tail::HeadTail;
pub use permit::{Permit, hold_long_line};

use super::splice::{is_blank, records};
use crate::limits;
use memchr::memmem::Finder;
use std::io::{self, BufRead};
use std::ops::ControlFlow;

/// The records of a text, without blank lines and line ends.
fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    Lines(text).map(trim).filter(|line| !line.is_empty()).flat_map(records)
}

/// The first record of a text.
pub fn first_record(text: &[u8]) -> Option<&[u8]> {
    lines(text).next()
}

/// The records of a line.
pub fn records_of(line: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    lines(line)
}

/// The lines of a text that hold one of these, with their ends.
pub fn lines_with<'a>(text: &'a [u8], texts: &[&Finder<'_>]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    let found = texts.iter().flat_map(|wanted| wanted.find_iter(text));
    let mut starts: Vec<_> = found.map(|at| memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1)).collect();
    starts.sort_unstable();
    starts.dedup();
    starts.into_iter().map(|start| &text[start..end_of_line(text, start)])
}

/// Where the line ends that begins at a place of a text.
pub fn end_of_line(text: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |end| from + end + 1)
}

/// Text that is split at its line ends.
struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(b'\n', self.0).map_or(self.0.len(), |end| end + 1);
        let line;
        (line, self.0) = self.0.split_at(end);
        (!line.is_empty()).then_some(line)
    }
}

impl DoubleEndedIterator for Lines<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let text = self.0.strip_suffix(b"\n").unwrap_or(self.0);
        let start = memchr::memrchr(b'\n', text).map_or(0, |end| end + 1);
        let line;
        (self.0, line) = self.0.split_at(start);
        (!line.is_empty()).then_some(line)
    }
}

/// Takes white space, a byte order mark and the NULs of a hole off a line's ends.
pub fn trim(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let Some(start) = line.iter().position(|byte| !is_blank(*byte)) else { return &[] };
    let end = line.iter().rposition(|byte| !is_blank(*byte)).map_or(start, |last| last + 1);
    &line[start..end]
}

/// Streams the records of a reader through one buffer. A line over [`limits::LINE_MAX`] is skipped, not stored.
pub fn stream(mut reader: impl BufRead, mut each: impl FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<()> {
    let mut line = Vec::new();
    let mut too_long = false;
    let mut permit = None;
    loop {
        let chunk = match reader.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let ended = chunk.is_empty();
        let end = memchr::memchr(b'\n', chunk);
        let part = &chunk[..end.unwrap_or(chunk.len())];
        too_long |= line.len() + part.len() > limits::LINE_MAX;
        if too_long {
            line = Vec::new();
            permit = None;
        } else {
            if line.len() + part.len() > limits::LINE_COMMON && permit.is_none() {
                permit = Some(hold_long_line());
            }
            line.extend_from_slice(part);
        }
        let consumed = end.map_or(chunk.len(), |end| end + 1);
        reader.consume(consumed);
        if end.is_some() || ended {
            let whole = trim(&line);
            if !whole.is_empty() && records(whole).any(|record| each(record).is_break()) {
                return Ok(());
            }
            line.clear();
            too_long = false;
            if permit.take().is_some() {
                line = Vec::new();
            }
        }
        if ended {
            return Ok(());
        }
    }
}
