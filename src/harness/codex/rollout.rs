//! One rollout file: plain or compressed, whole or up to where a fork went on from it.

use super::record::{Meta, NEEDLES, Record};
use crate::harness::backward::Text;
use crate::harness::{Attendant, Attended, Patient, Session, Skip, Source, backward, jsonl, jsonl::Ends, text};
use crate::limits;
use crate::platform::files::{open_sized, read_at};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::ops::ControlFlow;
use std::path::Path;

/// How many of the newest messages are looked at for the newest time: they are in order, or nearly.
const NEWEST: usize = 4;

/// A rollout that is open.
pub struct Rollout {
    file: File,
    /// Its size when it was opened.
    size: u64,
    packed: bool,
    end: u64,
}

impl Rollout {
    /// Opens a rollout as far as its first `end` bytes of text.
    pub fn open(path: &Path, end: u64) -> io::Result<Self> {
        let packed = path.extension().is_some_and(|extension| extension == "zst");
        let (file, size) = open_sized(path)?;
        Ok(Self { file, size, packed, end })
    }

    /// Reads its two ends; of a compressed one the last only where it is not too long to be unpacked.
    pub fn load(&self, ends: &mut Ends) -> Result<(), Skip> {
        if !self.packed {
            return ends.load_sized(&self.file, self.size.min(self.end));
        }
        let to_end = self.size <= limits::COMPRESSED_WHOLE;
        ends.load_stream(self.text(u64::MAX)?, to_end)
    }

    /// See [`Ends::grow_head`].
    pub fn grow_head(&self, ends: &mut Ends) -> Result<bool, Skip> {
        if self.packed { Ok(false) } else { ends.grow_head(&self.file) }
    }

    /// See [`Ends::grow_tail`].
    pub fn grow_tail(&self, ends: &mut Ends) -> Result<bool, Skip> {
        if self.packed { Ok(false) } else { ends.grow_tail(&self.file) }
    }

    /// Streams its lines from the first on, `max` bytes of them at most.
    pub fn lines(
        &self,
        max: u64,
        attendant: Option<&dyn Attendant>,
        each: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let text = Attended::new(self.text(max)?, attendant);
        jsonl::stream(BufReader::with_capacity(limits::HEAD_FIRST, text), each)
    }

    /// Where its last whole line ends; of a compressed one nothing is still being written.
    pub fn end_of_lines(&self) -> Result<u64, Skip> {
        if !self.packed {
            return backward::end_of_lines(&self.file);
        }
        let text = Placed::new(self, &Patient);
        text.end()
    }

    fn text(&self, max: u64) -> io::Result<Box<dyn Read + '_>> {
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

/// A rollout's text from any place on. A compressed one is unpacked up to there; what was unpacked last is kept, as the
/// way through it leads back step by step.
pub struct Placed<'a> {
    rollout: &'a Rollout,
    attendant: &'a dyn Attendant,
    window: RefCell<Window>,
}

#[derive(Default)]
struct Window {
    start: u64,
    text: Vec<u8>,
}

impl<'a> Placed<'a> {
    pub fn new(rollout: &'a Rollout, attendant: &'a dyn Attendant) -> Self {
        Self { rollout, attendant, window: RefCell::default() }
    }

    /// Where the text ends.
    pub fn end(&self) -> Result<u64, Skip> {
        if !self.rollout.packed {
            return Ok(self.rollout.file.metadata()?.len().min(self.rollout.end));
        }
        self.unpack(u64::MAX, 0)?;
        let window = self.window.borrow();
        Ok(window.start + window.text.len() as u64)
    }

    /// Whether the text may reach so far. How far a compressed one reaches would cost unpacking it.
    pub fn may_hold(&self, end: u64) -> Result<bool, Skip> {
        Ok(self.rollout.packed || end <= self.end()?)
    }

    /// Unpacks up to `end`, and keeps what lies before it, `wanted` bytes at least. Where the file is damaged, the text
    /// ends.
    fn unpack(&self, end: u64, wanted: usize) -> Result<(), Skip> {
        let keep = wanted.max(limits::UNPACKED_WINDOW);
        let mut stream = self.rollout.text(end)?;
        let mut window = self.window.borrow_mut();
        (window.start, window.text) = (0, Vec::new());
        while let Ok(1..) = stream.by_ref().take(limits::PAGE_CHUNK as u64).read_to_end(&mut window.text) {
            if self.attendant.cancelled() {
                return Err(Skip::Cancelled);
            }
            if window.text.len() >= 2 * keep {
                let surplus = window.text.len() - keep;
                window.text.drain(..surplus);
                window.start += surplus as u64;
                self.attendant.progress("unpacking", window.start, None);
            }
        }
        Ok(())
    }
}

impl Text for Placed<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, Skip> {
        if !self.rollout.packed {
            return Ok(read_at(&self.rollout.file, buffer, offset)?);
        }
        let end = offset + buffer.len() as u64;
        let known = |window: &Window| window.start <= offset && end <= window.start + window.text.len() as u64;
        if !known(&self.window.borrow()) {
            self.unpack(end, buffer.len())?;
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

/// Reads what a list needs of one rollout.
pub fn read(source: &Source, ends: &mut Ends) -> Result<Session, Skip> {
    let rollout = Rollout::open(&source.path, u64::MAX)?;
    rollout.load(ends)?;
    let mut opening = Opening::of(ends);
    while opening.title.is_none() && rollout.grow_head(ends)? {
        opening = Opening::of(ends);
    }
    let mut trail = Trail::default();
    trail.follow(ends.tail_reversed());
    while trail.messages == 0 && rollout.grow_tail(ends)? {
        trail.follow(ends.tail_reversed());
    }
    // A message of the head is the newest only where nothing between the head and the tail was left out.
    let newest_seen = trail.messages > 0 || ends.whole();
    if trail.model.is_none() || trail.messages == 0 {
        trail.follow(ends.head().rev());
    }
    if trail.messages == 0 {
        no_message(&opening, ends)?;
    }

    let name = super::id_in_name(&source.path);
    let id = opening.meta.as_ref().and_then(|meta| meta.id.as_deref()).or(name).ok_or(Skip::Name)?;
    let mut session = Session::new(id, source);
    let last_record = || ends.tail_reversed().find_map(|line| Record::parse(line)?.time());
    let updated = if newest_seen && trail.messages > 0 { trail.newest } else { last_record() };
    session.updated_at_ms = updated.or(session.updated_at_ms);
    session.title = opening.title;
    session.model = trail.model;
    session.workspace = trail.workspace;
    session.archived = super::is_archived(&source.path);
    if let Some(meta) = opening.meta {
        session.created_at_ms = meta.created_at_ms;
        session.workspace = meta.workspace.or(session.workspace);
        session.parent = meta.parent;
        session.resumable = !meta.bare;
    }
    Ok(session)
}

/// Of a rollout in which no message was found: whether there is none.
fn no_message(opening: &Opening, ends: &Ends) -> Result<(), Skip> {
    let mut lines = ends.head().chain(ends.tail_reversed());
    if opening.meta.is_none() && lines.all(|line| Record::parse(line).is_none()) {
        return Err(if ends.is_torn() { Skip::NoMessages } else { Skip::NoRecords });
    }
    let goes_on = opening.meta.as_ref().is_some_and(|meta| meta.base.is_some());
    let is_turn = |line: &[u8]| NEEDLES.started.find(line).is_some() || NEEDLES.turn.find(line).is_some();
    let started = ends.head().chain(ends.tail_reversed()).any(is_turn);
    if ends.whole() && !goes_on && !started { Err(Skip::NoMessages) } else { Ok(()) }
}

/// What the head tells: the first account that the session gives of itself, and the first prompt.
#[derive(Default)]
struct Opening {
    meta: Option<Meta>,
    title: Option<Box<str>>,
}

impl Opening {
    fn of(ends: &Ends) -> Self {
        let mut opening = Self::default();
        for line in ends.head() {
            if opening.meta.is_some() && NEEDLES.message.find(line).is_none() {
                continue;
            }
            let Some(record) = Record::parse(line) else { continue };
            if opening.meta.is_none() {
                opening.meta = record.meta();
            }
            let prompt = record.message().and_then(|message| message.prompt());
            opening.title = prompt.and_then(|prompt| text::title(&prompt));
            if opening.title.is_some() {
                break;
            }
        }
        opening
    }
}

/// What the newest lines tell, from the last one back.
#[derive(Default)]
struct Trail {
    messages: usize,
    newest: Option<i64>,
    model: Option<Box<str>>,
    workspace: Option<Box<str>>,
}

impl Trail {
    fn follow<'a>(&mut self, lines: impl Iterator<Item = &'a [u8]>) {
        for line in lines {
            if self.messages == NEWEST && self.model.is_some() {
                break;
            }
            if self.model.is_none() && NEEDLES.turn.find(line).is_some() {
                if let Some(turn) = Record::parse(line).and_then(|record| record.turn()) {
                    (self.model, self.workspace) = (turn.model, turn.workspace);
                }
            } else if self.messages < NEWEST
                && NEEDLES.message.find(line).is_some()
                && let Some(record) = Record::parse(line)
                && let Some(message) = record.message().filter(|message| message.is_genuine())
            {
                self.messages += 1;
                self.newest = self.newest.max(message.time());
            }
        }
    }
}
