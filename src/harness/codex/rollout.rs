//! One rollout file: plain or compressed, whole or up to where a later segment continues from it.

use super::files::is_packed;
use super::pieces::Pieces;
use super::record::{Base, Record};
use crate::harness::backward::{self, Backward, Text, begins_line};
use crate::harness::{Attended, NoProgress, Progress, ReadError, jsonl, jsonl::HeadTail};
use crate::limits;
use crate::platform::files::{Stamp, open_sized, read_at};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::ops::ControlFlow;
use std::path::Path;

/// A rollout that is open.
pub(super) struct Rollout {
    file: File,
    /// Its size when it was opened.
    size: u64,
    packed: bool,
    end: u64,
}

impl Rollout {
    /// Opens a whole rollout.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let (file, size) = open_sized(path)?;
        Ok(Self { file, size, packed: is_packed(path), end: u64::MAX })
    }

    /// Opens the part of a rollout that a later segment continues from.
    pub(super) fn open_base(path: &Path, base: &Base) -> Result<Self, ReadError> {
        let whole = Self::open(path)?;
        let end = whole.end_of_base(base)?;
        Ok(Self { end, ..whole })
    }

    /// Where a base ends: at its byte offset, if the record before it is the last one of the base. A file that was
    /// rewritten since keeps its ordinals.
    fn end_of_base(&self, base: &Base) -> Result<u64, ReadError> {
        let Some(end) = base.end_ordinal else { return Ok(base.end) };
        let text = Placed::new(self, &NoProgress);
        let whole = text.end()?;
        if base.end <= whole && begins_line(&text, base.end)? {
            let mut lines = Backward::new(&text, base.end, &NoProgress);
            let last = lines.record()?.and_then(|(_, line)| Record::parse(line)?.ordinal());
            if last.is_none_or(|last| last.checked_add(1) == Some(end)) {
                return Ok(base.end);
            }
        }
        let (mut lines, mut cut) = (Backward::new(&text, whole, &NoProgress), whole);
        while let Some((at, record)) = lines.record()? {
            match Record::parse(record).and_then(|record| record.ordinal()) {
                Some(ordinal) if ordinal < end => return Ok(cut),
                Some(_) => cut = at,
                None => {}
            }
        }
        Ok(base.end)
    }

    /// The part of an earlier segment that it continues from, as its first line says.
    pub(super) fn base(&self) -> Result<Option<Base>, ReadError> {
        let mut base = None;
        self.lines(limits::LINE_MAX as u64, None, |line| {
            base = Record::parse(line).and_then(|record| record.meta()?.base);
            ControlFlow::Break(())
        })?;
        Ok(base)
    }

    /// Reads its two ends; of a compressed one the last only where it is not too long to be unpacked.
    pub(super) fn load(&self, ends: &mut HeadTail) -> Result<(), ReadError> {
        if !self.packed {
            return ends.load_sized(&self.file, self.size.min(self.end));
        }
        let to_end = self.size <= limits::COMPRESSED_WHOLE;
        ends.load_stream(self.text(u64::MAX)?, to_end)
    }

    /// See [`Ends::grow_head`].
    pub(super) fn grow_head(&self, ends: &mut HeadTail) -> Result<bool, ReadError> {
        if self.packed { Ok(false) } else { ends.grow_head(&self.file) }
    }

    /// See [`Ends::grow_tail`].
    pub(super) fn grow_tail(&self, ends: &mut HeadTail) -> Result<bool, ReadError> {
        if self.packed { Ok(false) } else { ends.grow_tail(&self.file) }
    }

    /// Streams its lines from the first on, `max` bytes of them at most.
    pub(super) fn lines(
        &self,
        max: u64,
        progress: Option<&dyn Progress>,
        each: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let text = Attended::new(self.text(max)?, progress);
        jsonl::stream(BufReader::with_capacity(limits::HEAD_FIRST, text), each)
    }

    /// Where its last whole line ends; of a compressed one nothing is still being written.
    pub(super) fn end_of_lines(&self, progress: &dyn Progress) -> Result<u64, ReadError> {
        if !self.packed {
            return backward::end_of_lines(&self.file, progress);
        }
        Placed::new(self, progress).end()
    }

    /// The state of its file.
    pub(super) fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::of(&self.file.metadata()?))
    }

    /// Its text from the start on, `max` bytes of it at most.
    pub(super) fn text(&self, max: u64) -> io::Result<Box<dyn Read + '_>> {
        (&self.file).rewind()?;
        let max = max.min(self.end);
        Ok(if self.packed {
            let source = BufReader::new(&self.file);
            Box::new(Unpacked { source, frames: FrameDecoder::new() }.take(max.min(limits::UNPACKED_MAX)))
        } else {
            Box::new((&self.file).take(max))
        })
    }
}

/// A rollout's text from any place on. Of a compressed one the end is unpacked and kept; what lies before that is read
/// in [`Pieces`].
pub(super) struct Placed<'a> {
    rollout: &'a Rollout,
    progress: &'a dyn Progress,
    window: RefCell<Window>,
}

#[derive(Default)]
struct Window {
    start: u64,
    text: Vec<u8>,
}

impl<'a> Placed<'a> {
    pub(super) fn new(rollout: &'a Rollout, progress: &'a dyn Progress) -> Self {
        Self { rollout, progress, window: RefCell::default() }
    }

    /// Where the text ends.
    pub(super) fn end(&self) -> Result<u64, ReadError> {
        if !self.rollout.packed {
            return Ok(self.rollout.file.metadata()?.len().min(self.rollout.end));
        }
        self.unpack_end()?;
        let window = self.window.borrow();
        Ok(window.start + window.text.len() as u64)
    }

    /// Whether the text may reach so far. How far a compressed one reaches would cost unpacking it.
    pub(super) fn may_hold(&self, end: u64) -> Result<bool, ReadError> {
        Ok(self.rollout.packed || end <= self.end()?)
    }

    /// Unpacks all, and keeps what lies before the end. Where the file is damaged, the text ends.
    fn unpack_end(&self) -> Result<(), ReadError> {
        let keep = limits::UNPACKED_WINDOW;
        let mut stream = self.rollout.text(u64::MAX)?;
        let mut window = self.window.borrow_mut();
        (window.start, window.text) = (0, Vec::new());
        while let Ok(1..) = stream.by_ref().take(limits::PAGE_CHUNK as u64).read_to_end(&mut window.text) {
            if self.progress.is_cancelled() {
                return Err(ReadError::Cancelled);
            }
            if window.text.len() >= 2 * keep {
                let surplus = window.text.len() - keep;
                window.text.drain(..surplus);
                window.start += surplus as u64;
                self.progress.report("unpacking", window.start, None);
            }
        }
        Ok(())
    }
}

impl Text for Placed<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, ReadError> {
        if !self.rollout.packed {
            return Ok(read_at(&self.rollout.file, buffer, offset)?);
        }
        let end = offset + buffer.len() as u64;
        let known = |window: &Window| window.start <= offset && end <= window.start + window.text.len() as u64;
        if !known(&self.window.borrow()) {
            let end = end.min(self.rollout.end);
            let (stamp, text) = (self.rollout.stamp()?, |max| self.rollout.text(max));
            let (start, text) = Pieces::of(stamp, (offset, end), text, self.progress)?.read(offset, end)?;
            self.window.replace(Window { start, text });
        }
        let window = self.window.borrow();
        let from = offset.checked_sub(window.start).map(|from| from as usize);
        let part = from.and_then(|from| window.text.get(from..)).unwrap_or_default();
        let count = part.len().min(buffer.len());
        buffer[..count].copy_from_slice(&part[..count]);
        Ok(count)
    }
}

/// The text of compressed frames, one after the other.
struct Unpacked<R> {
    source: R,
    frames: FrameDecoder,
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.frames.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            if !self.frames.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.frames.decode_blocks(&mut self.source, one).map_err(io::Error::other)?;
            } else if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            } else {
                self.frames.reset(&mut self.source).map_err(io::Error::other)?;
            }
        }
    }
}
