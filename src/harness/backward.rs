//! The lines of a file from its end towards its start, in bounded memory: what a page of the newest messages needs.

use super::Skip;
use super::jsonl::trim;
use crate::limits;
use crate::platform::files::read_at;
use std::fs::File;
use std::io;

/// Bytes that are read at first; a line that is longer is read in growing steps.
const STEP: usize = 64 << 10;

/// A place in a file from which its lines are read backwards.
pub struct Backward<'a> {
    file: &'a File,
    /// Where `part` begins in the file.
    start: u64,
    part: Vec<u8>,
    /// How much of `part` is still to be given.
    left: usize,
    /// Whether the end of `part` belongs to a line that is too long to be given.
    too_long: bool,
}

impl<'a> Backward<'a> {
    /// Begins at the end of a file, or where a page before ended. A place at which no line begins is none of this file.
    pub fn from(file: &'a File, place: Option<u64>) -> Result<Self, Skip> {
        let size = file.metadata()?.len();
        let end = place.unwrap_or(size);
        if end > size {
            return Err(Skip::Cursor);
        }
        let mut before = [0];
        if place.is_some() && end > 0 && (read_at(file, &mut before, end - 1)? == 0 || before != *b"\n") {
            return Err(Skip::Cursor);
        }
        Ok(Self { file, start: end, part: Vec::new(), left: 0, too_long: false })
    }

    /// The line before, and where it begins. Blank lines and those over [`limits::LINE_MAX`] are passed over.
    pub fn next_line(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        loop {
            self.part.truncate(self.left);
            let whole =
                if self.too_long { &self.part[..] } else { self.part.strip_suffix(b"\n").unwrap_or(&self.part) };
            self.left = match memchr::memrchr(b'\n', whole) {
                Some(end) => end + 1,
                None if self.start == 0 && self.part.is_empty() => return Ok(None),
                None if self.start == 0 => 0,
                None => {
                    self.fill()?;
                    continue;
                }
            };
            let fits = !std::mem::take(&mut self.too_long) && self.part.len() - self.left <= limits::LINE_MAX;
            if fits && !trim(&self.part[self.left..]).is_empty() {
                return Ok(Some((self.start + self.left as u64, trim(&self.part[self.left..]))));
            }
        }
    }

    /// Reads what comes before.
    fn fill(&mut self) -> io::Result<()> {
        if self.part.len() > limits::LINE_MAX {
            self.too_long = true;
            self.part.clear();
        }
        let step = self.part.len().max(STEP).min(usize::try_from(self.start).unwrap_or(usize::MAX));
        let mut part = vec![0; step];
        if read_at(self.file, &mut part, self.start - step as u64)? < step {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        part.append(&mut self.part);
        self.start -= step as u64;
        self.left = part.len();
        self.part = part;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::jsonl;
    use proptest::prelude::*;
    use std::io::{BufReader, Write};
    use std::ops::ControlFlow;

    fn file_of(content: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file
    }

    fn backward(file: &File, place: Option<u64>) -> Vec<(u64, Vec<u8>)> {
        let mut lines = Backward::from(file, place).unwrap();
        let mut all = Vec::new();
        while let Some((at, line)) = lines.next_line().unwrap() {
            all.push((at, line.to_vec()));
        }
        all
    }

    fn forward(content: &[u8]) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        let each = |line: &[u8]| {
            all.push(line.to_vec());
            ControlFlow::Continue(())
        };
        jsonl::stream(BufReader::new(content), each).unwrap();
        all
    }

    #[test]
    fn a_line_that_is_too_long_costs_only_itself() {
        for surplus in [1, STEP, STEP + 1] {
            let mut content = b"one\n".to_vec();
            content.resize(4 + limits::LINE_MAX + surplus, b'x');
            content.extend_from_slice(b"\nthree\n");
            let lengths: Vec<_> = backward(&file_of(&content), None).iter().map(|(_, line)| line.len()).collect();
            assert_eq!(lengths, [5, 3], "{surplus}");
        }
    }

    #[test]
    fn a_place_inside_a_line_or_behind_the_end_is_none() {
        let file = file_of(b"one\ntwo\n");
        for place in [1, 3, 5, 9] {
            assert!(matches!(Backward::from(&file, Some(place)), Err(Skip::Cursor)), "{place}");
        }
        assert_eq!(backward(&file, Some(4)), [(0, b"one".to_vec())]);
        assert_eq!(backward(&file, Some(0)), []);
    }

    proptest! {
        #[test]
        fn lines_are_the_same_from_both_sides_and_from_every_place(
            lines in prop::collection::vec((0_usize..3, 0_usize..40_000), 0..12), ended in any::<bool>()
        ) {
            let mut content = Vec::new();
            for (blank, length) in lines {
                content.extend(std::iter::repeat_n(b'\n', blank));
                content.extend((0..length).map(|at| b'a' + (at % 26) as u8));
                content.push(b'\n');
            }
            if !ended {
                content.pop();
            }
            let file = file_of(&content);
            let all = backward(&file, None);
            let mut texts: Vec<_> = all.iter().map(|(_, line)| line.clone()).collect();
            texts.reverse();
            prop_assert_eq!(texts, forward(&content));
            for (index, (at, line)) in all.iter().enumerate() {
                prop_assert!(content[*at as usize..].starts_with(line));
                prop_assert_eq!(&backward(&file, Some(*at))[..], &all[index + 1..]);
            }
        }
    }
}
