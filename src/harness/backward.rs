//! The lines of a text from a place back, in bounded memory: what a page of the newest messages costs depends on the
//! page, not on the text.

use super::jsonl::{Permit, hold_long_line, trim};
use super::splice::{several, whole};
use super::{NoProgress, Progress, ReadError};
use crate::limits;
use crate::platform::files::read_at;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;

/// A text that can be read from any place on.
pub(super) trait Text {
    /// Reads at `offset` into `buffer` until it is full or the text ends; answers how much came.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, ReadError>;
}

impl Text for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, ReadError> {
        Ok(read_at(self, buffer, offset)?)
    }
}

/// A line, or one of several records on one line, and where it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Where it begins.
    pub at: u64,
    /// Its length in bytes, without its end.
    pub length: u64,
    /// What it says, without blanks around it; `None` where it is longer than [`limits::LINE_MAX`].
    pub text: Option<&'a [u8]>,
}

/// A line, and where it lies in the buffer.
struct Found {
    at: u64,
    length: u64,
    part: Option<Range<usize>>,
}

/// The lines of a text, from a place back.
pub(super) struct Backward<'a, T> {
    text: &'a T,
    progress: &'a dyn Progress,
    /// Where the buffer begins in the text.
    start: u64,
    buffer: Vec<u8>,
    /// How much of the buffer lies before the lines that were told.
    left: usize,
    /// The records of the line that was read last which are still to be told, where it holds several.
    several: Vec<Range<usize>>,
    seen: u64,
    chunk: usize,
    longest: usize,
    /// Held from the first long line on: what is made of such lines is long, too.
    permit: Option<Permit>,
}

impl<'a, T: Text> Backward<'a, T> {
    /// The lines before `end`.
    pub(super) fn new(text: &'a T, end: u64, progress: &'a dyn Progress) -> Self {
        let (chunk, longest) = (limits::PAGE_CHUNK_FIRST, limits::LINE_MAX);
        let (buffer, several) = (Vec::new(), Vec::new());
        Self { text, progress, start: end, buffer, left: 0, several, seen: 0, chunk, longest, permit: None }
    }

    /// Goes on before another place.
    pub(super) fn seek(&mut self, end: u64) {
        (self.start, self.left) = (end, 0);
        self.several.clear();
    }

    /// The line before the one that was told last. Blank ones are told too.
    pub(super) fn previous(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        let found = self.step()?;
        Ok(found.map(|Found { at, length, part }| Line { at, length, text: part.map(|part| trim(&self.buffer[part])) }))
    }

    /// The nearest line before that says something, and where it begins: blank ones and those over
    /// [`limits::LINE_MAX`] are passed over.
    pub(super) fn record(&mut self) -> Result<Option<(u64, &[u8])>, ReadError> {
        while let Some(Found { at, part, .. }) = self.step()? {
            if let Some(part) = part.filter(|part| !trim(&self.buffer[part.clone()]).is_empty()) {
                return Ok(Some((at, trim(&self.buffer[part]))));
            }
        }
        Ok(None)
    }

    /// The line before, or the record before on the same line.
    fn step(&mut self) -> Result<Option<Found>, ReadError> {
        if self.several.is_empty() {
            let found = self.step_line()?;
            let Some(line) = found.as_ref().and_then(|found| found.part.clone()) else { return Ok(found) };
            let records = several(&self.buffer[line.clone()]).into_iter();
            self.several = records.map(|record| line.start + record.start..line.start + record.end).collect();
            if self.several.is_empty() {
                return Ok(found);
            }
        }
        let record = self.several.pop();
        Ok(record.map(|part| Found { at: self.start + part.start as u64, length: part.len() as u64, part: Some(part) }))
    }

    fn step_line(&mut self) -> Result<Option<Found>, ReadError> {
        loop {
            let unread = &self.buffer[..self.left];
            let body = unread.strip_suffix(b"\n").unwrap_or(unread);
            match memchr::memrchr(b'\n', body) {
                Some(end) => return Ok(Some(self.tell(end + 1, body.len()))),
                None if self.start == 0 && unread.is_empty() => return Ok(None),
                None if self.start == 0 => return Ok(Some(self.tell(0, body.len()))),
                None if body.len() > self.longest => return self.pass_over(body.len()).map(Some),
                None => self.grow()?,
            }
        }
    }

    fn tell(&mut self, from: usize, to: usize) -> Found {
        self.left = from;
        let (at, length) = (self.start + from as u64, (to - from) as u64);
        Found { at, length, part: (to - from <= self.longest).then_some(from..to) }
    }

    /// Looks for the beginning of a line that is too long to be kept.
    fn pass_over(&mut self, length: usize) -> Result<Found, ReadError> {
        let end = self.start + length as u64;
        loop {
            self.left = 0;
            self.grow()?;
            let begin = memchr::memrchr(b'\n', &self.buffer[..self.left]).map(|newline| newline + 1);
            if begin.is_some() || self.start == 0 {
                self.left = begin.unwrap_or(0);
                let at = self.start + self.left as u64;
                return Ok(Found { at, length: end - at, part: None });
            }
        }
    }

    /// Reads what comes before the buffer: at least as much as it holds, so that a long line is not moved often.
    fn grow(&mut self) -> Result<(), ReadError> {
        if self.progress.is_cancelled() {
            return Err(ReadError::Cancelled);
        }
        let more = (self.left.max(self.chunk) as u64).min(self.start) as usize;
        self.chunk = self.chunk.max(limits::PAGE_CHUNK.min(self.chunk * 2));
        if self.left + more > limits::LINE_COMMON && self.permit.is_none() {
            self.permit = Some(hold_long_line());
        }
        self.buffer.resize(self.left, 0);
        self.buffer.resize(self.left + more, 0);
        self.buffer.copy_within(..self.left, more);
        self.start -= more as u64;
        if self.text.read_at(&mut self.buffer[..more], self.start)? < more {
            return Err(ReadError::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        self.left += more;
        self.seen += more as u64;
        self.progress.report("reading messages", self.seen, None);
        Ok(())
    }
}

impl<'a> Backward<'a, File> {
    /// The lines of a file before its end, or before where a page ended. A place at which no line begins is none of
    /// this file.
    pub(super) fn of(file: &'a File, place: Option<u64>, progress: &'a dyn Progress) -> Result<Self, ReadError> {
        let end = match place {
            None => file.metadata()?.len(),
            Some(end) if begins_line(file, end)? => end,
            Some(_) => return Err(ReadError::Cursor),
        };
        Ok(Self::new(file, end, progress))
    }
}

/// Whether a position lies between two records of a text: at the start of a line, or at an end of one of the records on
/// a line. Where a page ended that holds, unless the text was rewritten since.
pub(super) fn begins_line(text: &impl Text, position: u64) -> Result<bool, ReadError> {
    let mut before = [0];
    if position == 0 {
        return Ok(true);
    }
    if text.read_at(&mut before, position - 1)? == 0 {
        return Ok(false);
    }
    if before == *b"\n" {
        return Ok(true);
    }
    let start = start_of_line(text, position, limits::LINE_MAX as u64, &NoProgress)?;
    let Some(start) = start else { return Ok(false) };
    let at = (position - start) as usize;
    Ok(whole(&line_from(text, start)?).iter().any(|record| record.start == at || record.end == at))
}

/// Returns where the last line of a file ends that is complete, or a last record without a line end that is whole. What
/// comes after it is still being written.
pub(super) fn end_of_lines(file: &File, progress: &dyn Progress) -> Result<u64, ReadError> {
    let size = file.metadata()?.len();
    let start = start_of_line(file, size, u64::MAX, progress)?.unwrap_or(0);
    let length = size - start;
    if length > limits::LINE_MAX as u64 {
        let is_whole = parse_long::<IgnoredAny>(file, &Line { at: start, length, text: None }).is_some();
        return Ok(if is_whole { size } else { start });
    }
    Ok(start + whole(&line_from(file, start)?).last().map_or(0, |record| record.end as u64))
}

/// Returns where the line begins that a position lies in; `None` where that is further away than `max` bytes.
fn start_of_line(text: &impl Text, position: u64, max: u64, progress: &dyn Progress) -> Result<Option<u64>, ReadError> {
    let mut chunk = vec![0; limits::PAGE_CHUNK_FIRST];
    let mut end = position;
    while end > 0 && position - end <= max {
        if progress.is_cancelled() {
            return Err(ReadError::Cancelled);
        }
        progress.report("looking for the last line", position - end, Some(position));
        let start = end.saturating_sub(chunk.len() as u64);
        let count = text.read_at(&mut chunk[..(end - start) as usize], start)?;
        if let Some(newline) = memchr::memrchr(b'\n', &chunk[..count]) {
            return Ok(Some(start + newline as u64 + 1));
        }
        end = start;
        chunk.resize(limits::SCAN_BYTES, 0);
    }
    Ok((end == 0).then_some(0))
}

/// Reads the line that begins at a position, [`limits::LINE_MAX`] bytes of it at most.
pub(super) fn line_from(text: &impl Text, start: u64) -> Result<Vec<u8>, ReadError> {
    let mut line = Vec::new();
    let mut permit = None;
    while line.len() < limits::LINE_MAX {
        let from = line.len();
        line.resize((from * 2).clamp(limits::PAGE_CHUNK_FIRST, limits::LINE_MAX), 0);
        if line.len() > limits::LINE_COMMON && permit.is_none() {
            permit = Some(hold_long_line());
        }
        let count = text.read_at(&mut line[from..], start + from as u64)?;
        let newline = memchr::memchr(b'\n', &line[from..from + count]);
        let ended = newline.is_some() || from + count < line.len();
        line.truncate(from + newline.unwrap_or(count));
        if ended {
            break;
        }
    }
    Ok(line)
}

/// Parses a line that is too long to be kept, as far as `T` wants it; one that is longer than
/// [`limits::UNPACKED_MAX`] is not read.
pub(super) fn parse_long<T: DeserializeOwned>(text: &impl Text, line: &Line<'_>) -> Option<T> {
    struct Part<'a, T>(&'a T, u64, u64);
    impl<T: Text> Read for Part<'_, T> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let room = buffer.len().min(usize::try_from(self.2).unwrap_or(usize::MAX));
            let count = self.0.read_at(&mut buffer[..room], self.1).map_err(io::Error::other)?;
            (self.1, self.2) = (self.1 + count as u64, self.2 - count as u64);
            Ok(count)
        }
    }
    if line.length > limits::UNPACKED_MAX {
        return None;
    }
    serde_json::from_reader(BufReader::with_capacity(limits::PAGE_CHUNK, Part(text, line.at, line.length))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::jsonl;
    use crate::harness::testing::Gone;
    use proptest::prelude::*;
    use serde::Deserialize;
    use std::io::Write;
    use std::ops::ControlFlow;

    impl Text for &[u8] {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, ReadError> {
            let rest = self.get(offset as usize..).unwrap_or_default();
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        }
    }

    type Told = (u64, u64, Option<String>);

    fn backward(text: &[u8], end: usize, chunk: usize, longest: usize) -> Vec<Told> {
        let mut lines = Backward { chunk, longest, ..Backward::new(&text, end as u64, &NoProgress) };
        let mut told = Vec::new();
        while let Some(line) = lines.previous().unwrap() {
            told.push((line.at, line.length, line.text.map(|text| String::from_utf8_lossy(text).into_owned())));
        }
        told
    }

    fn file_of(content: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file
    }

    fn records(file: &File, place: Option<u64>) -> Vec<(u64, Vec<u8>)> {
        let mut lines = Backward::of(file, place, &NoProgress).unwrap();
        let mut all = Vec::new();
        while let Some((at, line)) = lines.record().unwrap() {
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

    proptest! {
        #[test]
        fn lines_are_told_from_any_place_back_with_their_places(
            text in "([ab]{0,9}\n){0,9}[ab]{0,9}", end in 0_usize..99, chunk in 1_usize..12, longest in 0_usize..12
        ) {
            let end = end.min(text.len());
            let mut expected: Vec<Told> = Vec::new();
            let mut at = 0;
            for line in text[..end].split_inclusive('\n') {
                let body = line.strip_suffix('\n').unwrap_or(line);
                expected.insert(0, (at, body.len() as u64, (body.len() <= longest).then(|| body.to_owned())));
                at += line.len() as u64;
            }
            prop_assert_eq!(backward(text.as_bytes(), end, chunk, longest), expected);
        }

        #[test]
        fn records_are_the_same_from_both_sides_and_from_every_place(
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
            let all = records(&file, None);
            let mut texts: Vec<_> = all.iter().map(|(_, line)| line.clone()).collect();
            texts.reverse();
            prop_assert_eq!(texts, forward(&content));
            for (index, (at, line)) in all.iter().enumerate() {
                prop_assert!(content[*at as usize..].starts_with(line));
                prop_assert_eq!(&records(&file, Some(*at))[..], &all[index + 1..]);
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_costs_only_itself() {
        for (length, expected) in [
            (limits::PAGE_CHUNK, vec![5, limits::PAGE_CHUNK, 3]),
            (limits::LINE_MAX, vec![5, limits::LINE_MAX, 3]),
            (limits::LINE_MAX + 1, vec![5, 3]),
            (limits::LINE_MAX + limits::PAGE_CHUNK, vec![5, 3]),
            (limits::LINE_MAX + limits::PAGE_CHUNK + 1, vec![5, 3]),
            (limits::LINE_MAX * 2, vec![5, 3]),
        ] {
            let mut content = b"one\n".to_vec();
            content.resize(4 + length, b'x');
            content.extend_from_slice(b"\nthree\n");
            let all = records(&file_of(&content), None);
            let lengths: Vec<_> = all.iter().map(|(_, line)| line.len()).collect();
            assert_eq!(lengths, expected, "{length}");
            let last = all.len() - 1;
            assert_eq!((&all[0], &all[last]), (&(length as u64 + 5, b"three".to_vec()), &(0, b"one".to_vec())));
        }
    }

    #[test]
    fn a_place_inside_a_line_or_behind_the_end_is_none() {
        let file = file_of(b"one\ntwo\n");
        for place in [1, 3, 5, 9] {
            assert!(matches!(Backward::of(&file, Some(place), &NoProgress), Err(ReadError::Cursor)), "{place}");
        }
        assert_eq!(records(&file, Some(4)), [(0, b"one".to_vec())]);
        assert_eq!(records(&file, Some(0)), []);
    }

    #[test]
    fn a_long_line_is_parsed_as_far_as_it_matters() {
        #[derive(Deserialize)]
        struct Head {
            kind: String,
        }
        let text = format!("{{}}\n{{\"data\":\"{}\",\"kind\":\"big\"}}\nlast", "x".repeat(300_000));
        let bytes = text.as_bytes();
        let mut lines = Backward { longest: 1_000, ..Backward::new(&bytes, bytes.len() as u64, &NoProgress) };
        assert_eq!(lines.previous().unwrap().unwrap().text, Some(&b"last"[..]));
        let line = lines.previous().unwrap().unwrap();
        assert_eq!((line.at, line.text), (3, None));
        assert_eq!(parse_long::<Head>(&bytes, &line).unwrap().kind, "big");
        assert_eq!(lines.previous().unwrap().unwrap().text, Some(&b"{}"[..]));
        assert!(lines.previous().unwrap().is_none());
    }

    #[test]
    fn a_text_that_shrank_and_a_client_that_left_end_the_reading() {
        let text = &b"one\n"[..];
        assert!(matches!(Backward::new(&text, 9, &NoProgress).previous(), Err(ReadError::Io(_))));
        assert!(matches!(Backward::new(&text, 4, &Gone).previous(), Err(ReadError::Cancelled)));
    }
}
