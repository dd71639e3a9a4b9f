//! How messages cross: framing, envelope, requests in flight, outbox. Knows no harness.

mod connection;
mod frame;
mod inflight;
mod message;
mod outbox;

pub use connection::{End, serve};
pub use frame::Framing;

/// Every frame of an input that comes in these parts, and what it holds, for tests and fuzzing.
#[doc(hidden)]
pub fn read_frames(framing: Option<Framing>, parts: &[&[u8]]) -> Vec<String> {
    let mut decoder = frame::Decoder::new(framing, crate::limits::DEFAULT.frame_bytes);
    let mut buffer = tokio_util::bytes::BytesMut::new();
    let mut read = Vec::new();
    let mut parts = parts.iter();
    loop {
        let part = parts.next();
        part.iter().for_each(|part| buffer.extend_from_slice(part));
        while let Some(frame) = decoder.next(&mut buffer).or_else(|| match part {
            Some(_) => None,
            None => decoder.finish(&mut buffer),
        }) {
            read.push(match frame {
                frame::Frame::Bad(bad) => bad.to_string(),
                frame::Frame::Message(bytes) => {
                    let parsed = message::parse(&bytes);
                    if parsed.as_ref().is_err_and(|error| error.reason() == crate::protocol::Reason::ParseError) {
                        decoder.last_was_bad();
                    }
                    format!("{parsed:?}")
                }
            });
        }
        if part.is_none() {
            return read;
        }
    }
}
