//! The text of a compressed rollout in pieces that can be read from the newest back. Compressed text can only be unpacked
//! from its start on, so it is unpacked once, and kept compressed again in pieces of their own: reading all of it page by
//! page from its end costs no more than reading it a few times. Where even these would take too much memory, only the
//! last of them are kept.

use crate::harness::{Progress, ReadError};
use crate::limits;
use crate::platform::files::Stamp;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

const PIECE: u64 = limits::UNPACKED_PIECE as u64;

/// The pieces of one text up to some place.
pub(super) struct Pieces {
    /// The number of the first one that is kept.
    first: u64,
    kept: VecDeque<Vec<u8>>,
    /// Where the last one ends.
    end: u64,
}

/// Those that were made last: a client asks for one page after the other.
static LAST: Mutex<Option<(Stamp, Arc<Pieces>)>> = Mutex::new(None);

impl Pieces {
    /// Returns the pieces that hold a part of the text of a file with this stamp. Makes them unless they are known, from
    /// `text`, which returns at most so many bytes of the text from its start.
    pub(super) fn of<R: Read>(
        stamp: Stamp,
        (from, to): (u64, u64),
        text: impl FnOnce(u64) -> io::Result<R>,
        progress: &dyn Progress,
    ) -> Result<Arc<Self>, ReadError> {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, pieces)) = last.filter(|(known, pieces)| *known == stamp && pieces.hold(from, to)) {
            return Ok(pieces);
        }
        let pieces = Arc::new(Self::make(text(to.min(limits::UNPACKED_MAX).next_multiple_of(PIECE))?, progress)?);
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some((stamp, pieces.clone()));
        Ok(pieces)
    }

    fn hold(&self, from: u64, to: u64) -> bool {
        self.first * PIECE <= from && to <= self.end
    }

    fn make(mut stream: impl Read, progress: &dyn Progress) -> Result<Self, ReadError> {
        let (mut pieces, mut bytes) = (Self { first: 0, kept: VecDeque::new(), end: 0 }, 0);
        loop {
            let mut piece = Vec::new();
            // Where the file is damaged, the text ends.
            let ended = stream.by_ref().take(PIECE).read_to_end(&mut piece).is_err() || (piece.len() as u64) < PIECE;
            if progress.is_cancelled() {
                return Err(ReadError::Cancelled);
            }
            if !piece.is_empty() {
                pieces.end += piece.len() as u64;
                let packed = compress_to_vec(&*piece, CompressionLevel::Fastest);
                bytes += packed.len();
                pieces.kept.push_back(packed);
                progress.report("unpacking", pieces.end, None);
            }
            while bytes > limits::UNPACKED_KEPT && pieces.kept.len() > limits::UNPACKED_KEPT / limits::UNPACKED_PIECE {
                bytes -= pieces.kept.pop_front().map_or(0, |piece| piece.len());
                pieces.first += 1;
            }
            if ended {
                return Ok(pieces);
            }
        }
    }

    /// The whole pieces that a part of the text lies in, and where they begin.
    pub(super) fn read(&self, from: u64, to: u64) -> Result<(u64, Vec<u8>), ReadError> {
        let (first, last) = ((from / PIECE).max(self.first), to.div_ceil(PIECE));
        let mut text = Vec::new();
        for piece in first..last {
            let Some(packed) = self.kept.get((piece - self.first) as usize) else { break };
            let mut stream = StreamingDecoder::new(packed.as_slice()).map_err(io::Error::other)?;
            stream.read_to_end(&mut text)?;
        }
        Ok((first * PIECE, text))
    }
}
