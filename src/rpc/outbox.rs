//! What waits to be written: whole frames in order, never written by halves, bounded by admission.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;

/// What a frame is, for the bound that it counts under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Answers to this many admitted requests.
    Answer(usize),
    /// An answer to something that was not admitted.
    Refusal,
    /// A notification.
    Notification,
}

/// Frames on their way out.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    frames: VecDeque<(Vec<u8>, Kind)>,
    /// Bytes of the first frame that are written already.
    written: usize,
    bytes: usize,
    refusal_bytes: usize,
    answers: usize,
}

/// Frames that one system call is given.
const SLICES: usize = 32;

impl Outbox {
    /// Puts a frame behind all others.
    pub(super) fn push(&mut self, frame: Vec<u8>, kind: Kind) {
        self.bytes += frame.len();
        match kind {
            Kind::Answer(count) => self.answers += count,
            Kind::Refusal => self.refusal_bytes += frame.len(),
            Kind::Notification => {}
        }
        self.frames.push_back((frame, kind));
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of refusals that wait.
    pub(super) fn refusal_bytes(&self) -> usize {
        self.refusal_bytes
    }

    /// Admitted requests whose answers wait.
    pub(super) fn answers(&self) -> usize {
        self.answers
    }

    /// Writes as much as the descriptor takes now. Ready when nothing waits any more.
    pub(super) fn poll_flush<W: AsyncWrite + Unpin>(
        &mut self,
        writer: &mut W,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.frames.is_empty() {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let mut count = 0;
            for (slice, (frame, _)) in slices.iter_mut().zip(&self.frames) {
                *slice = IoSlice::new(if count == 0 { &frame[self.written..] } else { frame });
                count += 1;
            }
            match Pin::new(&mut *writer).poll_write_vectored(cx, &slices[..count]) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => self.advance(count),
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        Pin::new(writer).poll_flush(cx)
    }

    fn advance(&mut self, mut count: usize) {
        self.bytes -= count;
        while let Some((frame, kind)) = self.frames.front() {
            let rest = frame.len() - self.written;
            if count < rest {
                self.written += count;
                return;
            }
            count -= rest;
            match kind {
                Kind::Answer(answers) => self.answers -= answers,
                Kind::Refusal => self.refusal_bytes -= frame.len(),
                Kind::Notification => {}
            }
            self.written = 0;
            self.frames.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Takes as many bytes a call as it is told, then none.
    struct Slow(Vec<u8>, VecDeque<usize>);

    impl AsyncWrite for Slow {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            match self.1.pop_front() {
                None => Poll::Pending,
                Some(count) => {
                    let count = count.min(bytes.len());
                    self.0.extend_from_slice(&bytes[..count]);
                    Poll::Ready(Ok(count))
                }
            }
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    proptest! {
        #[test]
        fn frames_go_out_whole_and_in_order_and_the_counts_agree(
            frames in prop::collection::vec("[a-z]{1,20}", 0..40), sizes in prop::collection::vec(1_usize..30, 0..60)
        ) {
            let mut outbox = Outbox::default();
            for frame in &frames {
                outbox.push(frame.clone().into_bytes(), Kind::Answer(1));
            }
            let mut writer = Slow(Vec::new(), sizes.into());
            let done = outbox.poll_flush(&mut writer, &mut Context::from_waker(std::task::Waker::noop())).is_ready();
            let all = frames.concat();
            prop_assert_eq!(&writer.0[..], &all.as_bytes()[..writer.0.len()]);
            prop_assert_eq!(outbox.bytes(), all.len() - writer.0.len());
            prop_assert_eq!(done, outbox.is_empty());
            let mut end = 0;
            let waiting = frames.iter().filter(|frame| { end += frame.len(); end > writer.0.len() }).count();
            prop_assert_eq!(outbox.answers(), waiting);
        }
    }
}
