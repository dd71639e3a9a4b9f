//! The head and the tail of a file of records.

use super::{lines, lines_with, records_of, trim};
use crate::harness::ReadError;
use crate::harness::condense::condensed;
use crate::harness::splice;
use crate::limits;
use crate::platform::files::{open_sized, read_at, read_small};
use memchr::memmem::Finder;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

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
pub(super) fn mend(cut: &[u8]) -> Option<Vec<u8>> {
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
