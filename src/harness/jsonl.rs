//! Files of one JSON record a line, read by their ends or streamed whole, in bounded memory.

use super::ReadError;
use super::condense::condensed;
use super::splice::{self, is_blank, records};
use crate::limits;
use crate::platform::files::{open_sized, read_at, read_small};
use memchr::memmem::Finder;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

/// The head and the tail of a file: complete lines only. Kept between files so that its buffers are.
#[derive(Default)]
pub struct HeadTail {
    head: Vec<u8>,
    tail: Vec<u8>,
    size: u64,
    /// End of the last complete line of the head.
    head_end: usize,
    /// Start of the first complete line of the tail.
    tail_start: usize,
    /// What follows on the head, with long strings shortened.
    mended: Option<Vec<u8>>,
    beside: Option<(PathBuf, Option<Vec<u8>>)>,
}

impl HeadTail {
    /// Opens a regular file and loads its ends.
    pub fn open(&mut self, path: &Path) -> Result<File, ReadError> {
        let (file, size) = open_sized(path)?;
        self.load_sized(&file, size)?;
        Ok(file)
    }

    /// A small file that many files lie beside: read once for those that come one after another. `None` where it cannot be
    /// read.
    pub fn beside(&mut self, path: &Path, max: usize) -> Option<&[u8]> {
        if self.beside.as_ref().is_none_or(|(known, _)| known.as_os_str() != path.as_os_str()) {
            self.beside = Some((path.to_owned(), read_small(path, max).ok()));
        }
        self.beside.as_ref()?.1.as_deref()
    }

    /// Reads the first part of a file, and its last unless the first reaches it.
    pub fn load(&mut self, file: &File) -> Result<(), ReadError> {
        self.load_sized(file, file.metadata()?.len())
    }

    /// The same of a file that is taken to end after `size` bytes.
    pub fn load_sized(&mut self, file: &File, size: u64) -> Result<(), ReadError> {
        self.size = size;
        if self.size == 0 {
            return Err(ReadError::Empty);
        }
        self.head.clear();
        self.tail.clear();
        self.mended = None;
        // A file that two parts would cover is read as one, so that no line is cut between them.
        let both = limits::HEAD_FIRST + limits::TAIL_FIRST;
        self.read_head(file, if self.size <= both as u64 { both } else { limits::HEAD_FIRST })?;
        self.read_tail(file, limits::TAIL_FIRST)
    }

    /// The same of what can only be read from its start on: as much of the head as there may be, and the tail only if it
    /// is worth to be read up to. There is nothing to grow after it.
    pub fn load_stream(&mut self, mut stream: impl Read, to_end: bool) -> Result<(), ReadError> {
        self.head.clear();
        self.tail.clear();
        self.mended = None;
        self.tail_start = 0;
        let mut failed = stream.by_ref().take(limits::HEAD_MAX as u64).read_to_end(&mut self.head).err();
        if self.head.is_empty() {
            return Err(failed.map_or(ReadError::Empty, ReadError::from));
        }
        let mut ended = failed.is_none() && self.head.len() < limits::HEAD_MAX;
        self.head_end = self.head.len();
        if !ended {
            self.head_end = memchr::memrchr(b'\n', &self.head).map_or(0, |end| end + 1);
            // A line that the head cuts is whole in the tail.
            self.tail.extend_from_slice(&self.head[self.head_end..]);
        }
        self.size = (self.head.len() + self.tail.len()) as u64;
        while to_end && !ended && failed.is_none() {
            match stream.by_ref().take(limits::TAIL_MAX as u64).read_to_end(&mut self.tail) {
                Ok(count) => {
                    self.size += count as u64;
                    ended = count == 0;
                }
                Err(error) => failed = Some(error),
            }
            let surplus = self.tail.len().saturating_sub(limits::TAIL_MAX + 1);
            if surplus > 0 {
                self.tail.drain(..surplus);
                self.tail_start = memchr::memchr(b'\n', &self.tail).map_or(self.tail.len(), |end| end + 1);
            }
        }
        if !ended {
            self.tail.clear();
            self.size = u64::MAX;
        }
        Ok(())
    }

    /// Reads more of the head, and at last what follows with long strings shortened: a line that the head cuts, and what
    /// comes behind it. False when there is no more within the bounds.
    pub fn grow_head(&mut self, file: &File) -> Result<bool, ReadError> {
        let length = (self.head.len() * 4).min(limits::HEAD_MAX);
        if self.whole() {
            return Ok(false);
        }
        if length <= self.head.len() {
            if self.mended.is_some() {
                return Ok(false);
            }
            let mut text = condensed(file, self.head_end as u64)?;
            let end = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
            let last = mend_line(trim(&text.split_off(end)));
            text.extend(last);
            let is_new = !text.is_empty();
            self.mended = Some(text);
            return Ok(is_new);
        }
        self.read_head(file, length)?;
        Ok(true)
    }

    /// Reads more of the tail. False when there is no more within the bounds.
    pub fn grow_tail(&mut self, file: &File) -> Result<bool, ReadError> {
        let length = (self.tail.len() * 4).min(limits::TAIL_MAX);
        if self.tail.is_empty() || length <= self.tail.len() {
            return Ok(false);
        }
        self.tail.clear();
        self.read_tail(file, length)?;
        Ok(true)
    }

    /// Whether the head is the whole file.
    pub fn whole(&self) -> bool {
        self.head.len() as u64 >= self.size
    }

    /// Whether the file is a first line that is still being written.
    pub fn is_torn(&self) -> bool {
        self.whole() && memchr::memchr(b'\n', &self.head).is_none()
    }

    /// The records of the head, first to last.
    pub fn head(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        lines(&self.head[..self.head_end]).chain(lines(self.mended.as_deref().unwrap_or_default()))
    }

    /// The lines of the head that hold a text, first to last.
    pub fn head_with<'a>(&'a self, text: &Finder<'_>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        lines_with(&self.head[..self.head_end], &[text]).flat_map(records_of)
    }

    /// The last string of this name that stands in the tail, in whatever record: what is left to ask where no line of
    /// the tail is whole.
    pub fn last_string(&self, name: &str) -> Option<String> {
        let opening = format!("\"{name}\":\"");
        let at = memchr::memmem::rfind(&self.tail, opening.as_bytes())?;
        let value = &self.tail[at + opening.len() - 1..];
        serde_json::Deserializer::from_slice(value).into_iter().next()?.ok()
    }

    /// The records of the tail, last to first; where the head is the whole file, its records.
    pub fn tail_reversed(&self) -> impl Iterator<Item = &[u8]> {
        let head = if self.whole() { &self.head[..self.head_end] } else { &[] };
        let part = if self.tail.is_empty() { head } else { &self.tail[self.tail_start..] };
        lines(part).rev()
    }

    fn read_head(&mut self, file: &File, length: usize) -> Result<(), ReadError> {
        let length = usize::try_from(self.size).unwrap_or(usize::MAX).min(length);
        let from = self.head.len();
        self.head.resize(length, 0);
        let read = read_at(file, &mut self.head[from..], from as u64)?;
        self.head.truncate(from + read);
        // What was appended to a file since is no line until its end is there; a last line without one counts.
        let whole = self.head.len() as u64 >= self.size;
        self.head_end =
            if whole { self.head.len() } else { memchr::memrchr(b'\n', &self.head).map_or(0, |end| end + 1) };
        Ok(())
    }

    fn read_tail(&mut self, file: &File, length: usize) -> Result<(), ReadError> {
        let rest = self.size.saturating_sub(self.head.len() as u64);
        if rest == 0 {
            self.tail_start = 0;
            return Ok(());
        }
        // One byte more than asked for, to see whether the part begins with a whole line.
        let length = (length as u64 + 1).min(self.size);
        self.tail.resize(length as usize, 0);
        let read = read_at(file, &mut self.tail, self.size - length)?;
        self.tail.truncate(read);
        self.tail_start = if length == self.size {
            0
        } else {
            memchr::memchr(b'\n', &self.tail).map_or(self.tail.len(), |end| end + 1)
        };
        Ok(())
    }
}

/// What can be told of a line that is cut: the records that are whole, and the one that is cut, a line each.
fn mend_line(cut: &[u8]) -> Vec<u8> {
    let whole = splice::whole(cut);
    let rest = whole.last().map_or(0, |last| last.end);
    let mended = mend(trim(&cut[rest..]));
    let all: Vec<&[u8]> = whole.into_iter().map(|range| &cut[range]).chain(mended.as_deref()).collect();
    all.join(&b'\n')
}

/// A record that was cut inside a string, as the record that it would be if it ended there. What stands behind a long
/// text or an image is lost, what stands before it is not.
fn mend(cut: &[u8]) -> Option<Vec<u8>> {
    let text = match std::str::from_utf8(cut) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&cut[..error.valid_up_to()]).ok()?,
    };
    let (mut open, mut in_string, mut escape) = (Vec::new(), false, None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escape.is_some_and(|start| at - start == 1) => escape = escape.filter(|_| byte == b'u'),
            _ if escape.is_some_and(|start| at - start < 5) => {}
            b'\\' if in_string => escape = Some(at),
            b'"' => (in_string, escape) = (!in_string, None),
            b'{' if !in_string => open.push(b'}'),
            b'[' if !in_string => open.push(b']'),
            b'}' | b']' if !in_string => drop(open.pop()),
            _ => escape = None,
        }
    }
    // An escape that is cut cannot be told.
    let end = escape.filter(|start| text.len() - start < 6).unwrap_or(text.len());
    let mut mended = text.as_bytes().get(..end).filter(|_| in_string)?.to_vec();
    mended.push(b'"');
    mended.extend(open.iter().rev());
    serde_json::from_slice::<serde::de::IgnoredAny>(&mended).ok().map(|_| mended)
}

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

/// Limits how many threads hold a long line: as many requests may read as limits allow, and each could hold as much.
static LONG_LINES: Semaphore = Semaphore { inside: Mutex::new(0), left: Condvar::new() };

/// A semaphore that a thread may enter again while it holds a permit.
struct Semaphore {
    inside: Mutex<usize>,
    left: Condvar,
}

thread_local! {
    /// How many permits this thread holds. A thread that holds one never waits for another.
    static PERMITS: Cell<usize> = const { Cell::new(0) };
}

/// The right to hold a long line. It is not `Send`, since the count is per thread.
pub struct Permit {
    of: &'static Semaphore,
    _here: PhantomData<*const ()>,
}

/// Waits for a permit to hold a line over [`limits::LINE_COMMON`].
pub fn hold_long_line() -> Permit {
    LONG_LINES.enter()
}

impl Semaphore {
    fn enter(&'static self) -> Permit {
        let permit = Permit { of: self, _here: PhantomData };
        if PERMITS.replace(PERMITS.get() + 1) > 0 {
            return permit;
        }
        let inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |inside: &mut usize| *inside >= limits::LONG_LINES;
        let mut inside = self.left.wait_while(inside, full).unwrap_or_else(PoisonError::into_inner);
        *inside += 1;
        permit
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        PERMITS.set(PERMITS.get().saturating_sub(1));
        if PERMITS.get() == 0 {
            *self.of.inside.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
            self.of.left.notify_one();
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::{BufReader, Write};

    fn ends_of(content: &[u8]) -> (HeadTail, File) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        let mut ends = HeadTail::default();
        ends.load(&file).unwrap();
        (ends, file)
    }

    #[test]
    fn a_small_file_is_read_once_and_a_last_line_without_end_counts() {
        let (ends, _) = ends_of(b"one\r\n\n two\nthree");
        assert!(ends.whole());
        assert_eq!(ends.head().collect::<Vec<_>>(), [&b"one"[..], b"two", b"three"]);
        assert_eq!(ends.tail_reversed().collect::<Vec<_>>(), [&b"three"[..], b"two", b"one"]);
    }

    #[test]
    fn cut_lines_at_the_inner_edges_are_not_lines() {
        let content: Vec<u8> = (0..20_000).flat_map(|i| format!("line {i:06}\n").into_bytes()).collect();
        let (mut ends, file) = ends_of(&content);
        assert!(!ends.whole());
        assert!(ends.head().chain(ends.tail_reversed()).all(|line| line.len() == 11));
        assert_eq!(ends.tail_reversed().next(), Some(&b"line 019999"[..]));
        while ends.grow_head(&file).unwrap() {}
        while ends.grow_tail(&file).unwrap() {}
        assert!(ends.whole());
        assert!(ends.head().chain(ends.tail_reversed()).all(|line| line.len() == 11));
        assert_eq!(ends.head().next(), Some(&b"line 000000"[..]));
    }

    #[test]
    fn a_file_can_be_taken_to_end_before_it_does() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one\ntwo\nthree\n").unwrap();
        let mut ends = HeadTail::default();
        ends.load_sized(&file, 8).unwrap();
        assert_eq!(ends.head().collect::<Vec<_>>(), [&b"one"[..], b"two"]);
        assert!(ends.whole());
    }

    #[test]
    fn a_stream_has_the_ends_of_the_file_that_it_would_make() {
        const BOUNDS: usize = limits::HEAD_MAX + limits::TAIL_MAX;
        for size in [5, limits::HEAD_MAX, limits::HEAD_MAX + 3, BOUNDS - 7, BOUNDS, BOUNDS + 1, 3 * BOUNDS] {
            let mut content: Vec<u8> = (0..size / 16).flat_map(|i| format!("line {i:010}\n").into_bytes()).collect();
            content.resize(size, b'z');
            let all: Vec<_> = lines(&content).collect();
            let mut ends = HeadTail::default();
            ends.load_stream(&content[..], true).unwrap();
            let mut seen: Vec<_> = ends.head().chain(ends.tail_reversed()).collect();
            seen.sort();
            seen.dedup();
            assert_eq!(ends.whole(), size <= limits::HEAD_MAX, "{size}");
            assert!(size > BOUNDS || seen.len() == all.len(), "{size}");
            assert!(seen.iter().all(|line| all.binary_search(line).is_ok()));
            assert_eq!((ends.head().next(), ends.tail_reversed().next()), (Some(all[0]), all.last().copied()));

            ends.load_stream(&content[..], false).unwrap();
            assert_eq!(ends.head().next(), Some(all[0]));
            let last = ends.tail_reversed().next();
            assert_eq!(last, (size < limits::HEAD_MAX).then(|| all[all.len() - 1]), "what was not read is not told");
        }
    }

    proptest! {
        #[test]
        fn a_record_that_is_cut_inside_a_text_keeps_what_stands_before(text in "\\PC{1,30}", cut in 1_usize..60) {
            let record = serde_json::json!({ "first": [1, { "a": "b" }], "text": text, "last": true }).to_string();
            let from = record.find("\"text\":").unwrap() + "\"text\":\"".len();
            let to = record.rfind("\",\"last\"").unwrap();
            let end = (from + cut).min(to);
            let mended = mend(&record.as_bytes()[..end]).unwrap();
            let mended: serde_json::Value = serde_json::from_slice(&mended).unwrap();
            prop_assert_eq!(&mended["first"], &serde_json::json!([1, { "a": "b" }]));
            prop_assert!(text.starts_with(mended["text"].as_str().unwrap()));
        }

        #[test]
        fn lines_are_the_same_from_both_sides(text in "[a\n ]{0,40}") {
            let expected: Vec<_> = text.split('\n').map(|line| trim(line.as_bytes())).filter(|l| !l.is_empty()).collect();
            prop_assert_eq!(lines(text.as_bytes()).collect::<Vec<_>>(), expected.clone());
            let mut reversed: Vec<_> = lines(text.as_bytes()).rev().collect();
            reversed.reverse();
            prop_assert_eq!(reversed, expected);
        }

        #[test]
        fn streaming_gives_the_same_lines_however_the_reader_is_cut(
            lines in prop::collection::vec("[a-z]{1,40}", 0..50), buffer in 1_usize..64
        ) {
            let mut streamed = Vec::new();
            stream(BufReader::with_capacity(buffer, lines.join("\n").as_bytes()), |line| {
                streamed.push(String::from_utf8_lossy(line).into_owned());
                ControlFlow::Continue(())
            }).unwrap();
            prop_assert_eq!(streamed, lines);
        }
    }
}
