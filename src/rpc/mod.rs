//! How messages cross: framing, envelope, requests in flight, outbox. Knows no harness.

mod connection;
mod frame;
mod inflight;
mod message;
mod outbox;

pub use connection::{End, serve};
pub use frame::Framing;

use crate::limits;
use crate::protocol::Reason;
use frame::{Frame, FrameDecoder};
use futures_core::Stream;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::codec::FramedRead;

/// Decodes an input that arrives in the given pieces and describes each frame, for tests and fuzzing.
#[doc(hidden)]
pub fn read_frames(framing: Option<Framing>, pieces: &[&[u8]]) -> Vec<String> {
    let mut read = Vec::new();
    read_all(FrameDecoder::new(framing, limits::DEFAULT.frame_bytes), pieces, |frame, decoder| {
        read.push(match frame {
            Frame::Bad(bad) => bad.to_string(),
            Frame::Message(bytes) => {
                let parsed = message::parse(&bytes, limits::DEFAULT.batch_max);
                if parsed.as_ref().is_err_and(|error| error.reason() == Reason::ParseError) {
                    decoder.last_was_bad();
                }
                format!("{parsed:?}")
            }
        });
    });
    read
}

/// Reads an input that arrives in the given pieces through the codec.
fn read_all(decoder: FrameDecoder, pieces: &[&[u8]], mut take: impl FnMut(Frame, &mut FrameDecoder)) {
    let mut frames = FramedRead::new(Pieces(pieces.iter().copied().collect()), decoder);
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut frames).poll_next(&mut cx) {
        take(frame, frames.decoder_mut());
    }
}

/// An input that gives at most one of its pieces to each read.
struct Pieces<'a>(VecDeque<&'a [u8]>);

impl AsyncRead for Pieces<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while let Some(piece) = self.0.front_mut() {
            let (now, rest) = piece.split_at(piece.len().min(buffer.remaining()));
            buffer.put_slice(now);
            *piece = rest;
            if !rest.is_empty() {
                break;
            }
            self.0.pop_front();
            if !now.is_empty() {
                break;
            }
        }
        Poll::Ready(Ok(()))
    }
}
