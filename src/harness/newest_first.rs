//! Conversations that are appended to, read from the newest message to the oldest: what a page costs depends on the
//! page, not on the file.

use super::{Attendant, Page, PageRequest, Skip};
use crate::limits;
use crate::platform::files::read_at;
use crate::protocol::Message;
use std::fs::File;

/// The lines of a file before an offset, the last first.
pub struct Backward<'a> {
    file: &'a File,
    attendant: Option<&'a dyn Attendant>,
    from: u64,
    /// What is held of the file, and where it begins there.
    held: Vec<u8>,
    start: u64,
    /// Whether the line that ends where what is held ends is too long to be held.
    too_long: bool,
}

impl<'a> Backward<'a> {
    /// The lines that end at `end` or before.
    pub fn new(file: &'a File, end: u64, attendant: Option<&'a dyn Attendant>) -> Self {
        Self { file, attendant, from: end, held: Vec::new(), start: end, too_long: false }
    }

    /// The next line, and where it begins. Lines over [`limits::LINE_MAX`] are passed over.
    pub fn next_line(&mut self) -> Result<Option<(u64, Vec<u8>)>, Skip> {
        loop {
            let ended = usize::from(!self.too_long && self.held.ends_with(b"\n"));
            let before = memchr::memrchr(b'\n', &self.held[..self.held.len() - ended]).map(|newline| newline + 1);
            if before.is_none() && self.start > 0 {
                self.refill()?;
                continue;
            }
            let at = before.unwrap_or(0);
            let line = self.held.split_off(at);
            if !std::mem::take(&mut self.too_long) && !line.is_empty() && line.len() <= limits::LINE_MAX {
                return Ok(Some((self.start + at as u64, line)));
            }
            if self.start + at as u64 == 0 {
                return Ok(None);
            }
        }
    }

    fn refill(&mut self) -> Result<(), Skip> {
        if let Some(attendant) = self.attendant {
            if attendant.cancelled() {
                return Err(Skip::Cancelled);
            }
            attendant.progress("reading the session", self.from - self.start, None);
        }
        if self.held.len() > limits::LINE_MAX {
            self.held.clear();
            self.too_long = true;
        }
        // As much again as is held, so that a long line is not copied often.
        let count = (self.held.len().max(limits::BACKWARD_BYTES) as u64).min(self.start);
        let mut part = vec![0; count as usize];
        let read = read_at(self.file, &mut part, self.start - count)?;
        if (read as u64) < count {
            return Err(Skip::Vanished);
        }
        self.start -= count;
        part.append(&mut self.held);
        self.held = part;
        Ok(())
    }
}

/// A conversation that is gone through from its newest message to its oldest.
pub trait Walk {
    /// The next older message.
    fn next(&mut self) -> Result<Option<Message>, Skip>;
    /// What leads to the messages that are older than the one before.
    fn place(&self) -> String;
}

/// One page of a walk.
pub fn page(mut walk: impl Walk, request: &PageRequest<'_>) -> Result<Page, Skip> {
    let mut messages = Vec::new();
    while messages.len() < request.limit {
        match walk.next()? {
            Some(message) => messages.push(message),
            None => break,
        }
    }
    messages.reverse();
    let place = walk.place();
    let more = messages.len() == request.limit && walk.next()?.is_some();
    Ok(Page { messages, next: more.then_some(place) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::probe::Gone;
    use proptest::prelude::*;
    use std::io::Write;

    fn lines(content: &[u8], end: u64) -> Vec<(u64, Vec<u8>)> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        let mut backward = Backward::new(&file, end, None);
        std::iter::from_fn(|| backward.next_line().unwrap()).collect()
    }

    #[test]
    fn a_line_too_long_to_be_held_is_passed_over() {
        for (more, count) in [(0, 3), (limits::BACKWARD_BYTES * 4 + limits::LINE_MAX, 2)] {
            let long = "x".repeat(limits::BACKWARD_BYTES + more);
            let content = format!("one\n{long}\nthree");
            let lines = lines(content.as_bytes(), content.len() as u64);
            assert_eq!(lines.len(), count);
            assert_eq!(
                (&lines[0], &lines[count - 1]),
                (&(long.len() as u64 + 5, b"three".to_vec()), &(0, b"one\n".to_vec()))
            );
        }
    }

    #[test]
    fn nobody_waits_for_an_answer_that_nobody_wants() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one\n").unwrap();
        assert!(matches!(Backward::new(&file, 4, Some(&Gone)).next_line(), Err(Skip::Cancelled)));
    }

    proptest! {
        #[test]
        fn the_lines_before_any_offset_are_those_of_the_file(text in "[ab\n]{0,60}", end in 0_usize..60) {
            let end = end.min(text.len());
            let mut at = 0;
            let mut expected: Vec<_> = text[..end].split_inclusive('\n').map(|line| {
                at += line.len() as u64;
                (at - line.len() as u64, line.as_bytes().to_vec())
            }).collect();
            expected.reverse();
            prop_assert_eq!(lines(text.as_bytes(), end as u64), expected);
        }
    }
}
