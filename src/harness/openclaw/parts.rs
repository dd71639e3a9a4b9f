//! A session in several transcripts: topics have files of their own, and announcements go to the bare one. Read from
//! the newest event of all of them back.

use super::chain::Chain;
use super::event::Event;
use super::position::{FilePosition, Position};
use crate::harness::backward::{Backward, end_of_lines};
use crate::harness::{Progress, ReadError, Session};
use crate::platform::files::open_regular;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

/// The files of a session.
pub(super) fn files(session: &Session) -> impl Iterator<Item = &Path> {
    std::iter::once(&*session.location).chain(session.parts.iter().map(|part| &*part.path))
}

/// The positions behind all events.
pub(super) fn ends(session: &Session, progress: &dyn Progress) -> Result<Vec<FilePosition>, ReadError> {
    files(session).map(|path| Ok((end_of_lines(&open_regular(path)?, progress)?, Chain::Leaf))).collect()
}

/// Goes through the events of all transcripts, from the newest or from a place on.
pub(super) fn backwards<T>(
    session: &Session,
    from: Option<Vec<FilePosition>>,
    progress: &dyn Progress,
    mut taken: T,
    take: impl Fn(&mut T, &Event<'_>, Position) -> ControlFlow<()>,
) -> Result<T, ReadError> {
    let opened: Vec<File> = files(session).map(open_regular).collect::<Result<_, _>>()?;
    let positions = match from {
        Some(from) => from.into_iter().map(|(at, chain)| (Some(at), chain)).collect(),
        None => vec![(None, Chain::Leaf); opened.len()],
    };
    if positions.len() != opened.len() {
        return Err(ReadError::Cursor);
    }
    let streams = opened.iter().zip(positions).map(|(file, position)| Stream::new(file, position, progress));
    let mut streams: Vec<Stream<'_>> = streams.collect::<Result<_, _>>()?;
    while let Some(part) = newest(&streams) {
        let Some(pending) = streams[part].pending.take() else { break };
        streams[part].position = (pending.at, pending.chain);
        streams[part].advance()?;
        let Some(event) = Event::parse(&pending.line) else { continue };
        // A copy of a transcript has the same events.
        for stream in &mut streams {
            if event.id().is_some()
                && stream.pending.as_ref().is_some_and(|other| other.id == event.id().as_deref().map(Box::from))
            {
                stream.skip()?;
            }
        }
        let rest = streams.iter().map(|stream| stream.position.clone()).collect();
        if take(&mut taken, &event, Position::Part { part, at: pending.at, rest }).is_break() {
            break;
        }
    }
    Ok(taken)
}

/// The transcript whose next event is the newest.
fn newest(streams: &[Stream<'_>]) -> Option<usize> {
    let pending = streams.iter().enumerate().filter_map(|(part, stream)| Some((stream.pending.as_ref()?.time, part)));
    pending.max().map(|(_, part)| part)
}

/// One transcript, read backward.
struct Stream<'a> {
    lines: Backward<'a, File>,
    /// Where the events end that are still to be taken.
    position: FilePosition,
    pending: Option<Pending>,
}

/// The next event of a transcript.
struct Pending {
    at: u64,
    chain: Chain,
    line: Vec<u8>,
    time: Option<i64>,
    id: Option<Box<str>>,
}

impl<'a> Stream<'a> {
    fn new(file: &'a File, from: (Option<u64>, Chain), progress: &'a dyn Progress) -> Result<Self, ReadError> {
        let end = from.0.map_or_else(|| file.metadata().map(|metadata| metadata.len()), Ok)?;
        let lines = Backward::of(file, from.0, progress)?;
        let mut stream = Self { lines, position: (end, from.1), pending: None };
        stream.advance()?;
        Ok(stream)
    }

    fn skip(&mut self) -> Result<(), ReadError> {
        if let Some(pending) = self.pending.take() {
            self.position = (pending.at, pending.chain);
        }
        self.advance()
    }

    fn advance(&mut self) -> Result<(), ReadError> {
        let mut chain = self.position.1.clone();
        while chain != Chain::Complete
            && let Some((at, line)) = self.lines.record()?
        {
            let Some(event) = Event::parse(line) else { continue };
            if chain.take(&event) {
                let (time, id) = (event.time(), event.id().as_deref().map(Box::from));
                self.pending = Some(Pending { at, chain, line: line.to_vec(), time, id });
                return Ok(());
            }
        }
        Ok(())
    }
}
