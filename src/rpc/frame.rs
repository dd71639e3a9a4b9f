//! Two framings as one codec. The first byte that is not white space decides which one the client speaks.
//!
//! A bad frame is an item of the stream, never an error: `FramedRead` ends at the first error, and the connection is to
//! answer a bad frame and continue. The decoder allocates nothing because a header says so, and skips what is over a limit
//! without storing it, so the buffer holds at most one frame and one read.

use crate::limits;
use std::io;
use tokio_util::bytes::{Buf, Bytes, BytesMut};
use tokio_util::codec::Decoder;

/// How messages are delimited in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One message a line, as ACP and MCP do.
    Lines,
    /// `Content-Length` headers, as LSP does.
    Headers,
}

/// One item of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// The bytes of one message.
    Message(Bytes),
    /// Something that is not a message; it was skipped.
    Bad(Bad),
}

/// Why something is not a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Bad {
    /// The frame is over the limit; its bytes are skipped.
    #[error("the frame is larger than {0} bytes")]
    TooLarge(usize),
    /// The headers are malformed; everything is skipped up to the next `Content-Length`.
    #[error("no usable Content-Length header; send `Content-Length: <bytes>`, an empty line, and the message")]
    Header,
    /// The input ended inside a frame.
    #[error("the input ended inside a frame")]
    Cut,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Only white space was read so far.
    Undecided,
    Line,
    /// Inside a line over the limit.
    LongLine,
    Head(Head),
    Body(usize),
    /// Inside a body over the limit.
    LongBody(u64),
}

/// The block of headers that is being read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Head {
    length: Option<u64>,
    /// A length inside the line of another header; used only if there is no other length.
    glued: Option<u64>,
    seen: usize,
    broken: bool,
}

/// Decodes frames of either framing.
#[derive(Debug)]
pub(super) struct FrameDecoder {
    state: State,
    max: usize,
    /// How many bytes of the buffer are known to have no line end.
    searched: usize,
    /// Whether the start of the current line was dropped because the line is too long.
    truncated: bool,
    /// Whether the junk that is being skipped was reported already.
    reported: bool,
}

const CONTENT_LENGTH: &[u8] = b"content-length";

impl FrameDecoder {
    /// Creates a decoder of frames up to `max` bytes. Without `framing`, the input decides.
    pub(super) fn new(framing: Option<Framing>, max: usize) -> Self {
        let state = match framing {
            None => State::Undecided,
            Some(Framing::Lines) => State::Line,
            Some(Framing::Headers) => State::Head(Head::default()),
        };
        Self { state, max, searched: 0, truncated: false, reported: false }
    }

    /// Returns the client's framing, in which it is answered; lines until that is decided.
    pub(super) fn framing(&self) -> Framing {
        match self.state {
            State::Undecided | State::Line | State::LongLine => Framing::Lines,
            State::Head(_) | State::Body(_) | State::LongBody(_) => Framing::Headers,
        }
    }

    /// Records that the last message was not JSON. With headers its length was probably wrong, so the junk that follows is
    /// part of the same mistake.
    pub(super) fn last_was_bad(&mut self) {
        self.reported = self.framing() == Framing::Headers;
    }

    /// Takes what is left when the input has ended: a last line needs no line end.
    fn finish(&mut self, buffer: &mut BytesMut) -> Option<Frame> {
        let rest = buffer.split().freeze();
        self.searched = 0;
        let blank = rest.iter().all(u8::is_ascii_whitespace);
        let cut = match &self.state {
            State::Line if !blank => return Some(Frame::Message(rest)),
            State::Head(head) => (!blank || head.seen > 0) && !self.reported,
            State::Body(_) => true,
            _ => false,
        };
        self.reported |= cut;
        if self.framing() == Framing::Headers {
            self.state = State::Head(Head::default());
        }
        cut.then_some(Frame::Bad(Bad::Cut))
    }

    fn decide(&mut self, buffer: &mut BytesMut) -> Option<Option<Frame>> {
        if buffer.starts_with(b"\xEF\xBB\xBF") {
            buffer.advance(3);
        }
        let blank = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        buffer.advance(blank);
        let first = *buffer.first()?;
        if first == 0xEF && buffer.len() < 3 {
            return None;
        }
        self.state = if first.is_ascii_alphabetic() { State::Head(Head::default()) } else { State::Line };
        Some(None)
    }

    /// Takes one line from the buffer, without its end.
    fn take_line(&mut self, buffer: &mut BytesMut) -> Option<Bytes> {
        let Some(end) = memchr::memchr(b'\n', &buffer[self.searched..]) else {
            self.searched = buffer.len();
            return None;
        };
        let mut line = buffer.split_to(self.searched + end + 1);
        self.searched = 0;
        line.truncate(line.len() - 1);
        if line.ends_with(b"\r") {
            line.truncate(line.len() - 1);
        }
        Some(line.freeze())
    }

    fn line(&mut self, buffer: &mut BytesMut) -> Option<Option<Frame>> {
        match self.take_line(buffer) {
            Some(line) if line.len() > self.max => Some(Some(Frame::Bad(Bad::TooLarge(self.max)))),
            Some(line) if line.iter().all(u8::is_ascii_whitespace) => Some(None),
            Some(line) => Some(Some(Frame::Message(line))),
            None if buffer.len() > self.max => {
                self.forget(buffer);
                self.state = State::LongLine;
                Some(Some(Frame::Bad(Bad::TooLarge(self.max))))
            }
            None => None,
        }
    }

    fn long_line(&mut self, buffer: &mut BytesMut) -> Option<Option<Frame>> {
        if self.take_line(buffer).is_none() {
            self.forget(buffer);
            return None;
        }
        self.state = State::Line;
        Some(None)
    }

    fn forget(&mut self, buffer: &mut BytesMut) {
        buffer.clear();
        self.searched = 0;
    }

    fn header(&mut self, buffer: &mut BytesMut) -> Option<Option<Frame>> {
        let Some(line) = self.take_line(buffer) else {
            if buffer.len() <= limits::HEADER_BYTES {
                return None;
            }
            // A line this long is junk, but its last bytes may be the start of a header.
            buffer.advance(buffer.len() - (CONTENT_LENGTH.len() + 32));
            self.searched = 0;
            self.truncated = true;
            return self.junk();
        };
        let truncated = std::mem::take(&mut self.truncated);
        let State::Head(head) = &mut self.state else { return Some(None) };
        if line.is_empty() {
            return self.end_of_head();
        }
        head.seen += line.len();
        match parse_header(&line, truncated) {
            Header::Length(length) if head.length.is_none_or(|known| known == length) => {
                head.length = Some(length);
                head.seen = line.len();
                Some(None)
            }
            Header::Other(glued) if head.seen <= limits::HEADER_BYTES => {
                head.glued = glued.or(head.glued);
                Some(None)
            }
            Header::LengthAfterJunk(length) | Header::Other(Some(length)) => {
                *head = Head { length: Some(length), seen: line.len(), ..Head::default() };
                self.junk()
            }
            Header::Length(_) | Header::Other(None) | Header::Junk => {
                head.broken |= head.length.is_some();
                self.junk()
            }
        }
    }

    /// Reports a run of junk once.
    fn junk(&mut self) -> Option<Option<Frame>> {
        let reported = std::mem::replace(&mut self.reported, true);
        Some((!reported).then_some(Frame::Bad(Bad::Header)))
    }

    fn end_of_head(&mut self) -> Option<Option<Frame>> {
        let State::Head(head) = std::mem::replace(&mut self.state, State::Head(Head::default())) else {
            return Some(None);
        };
        let is_glued = !head.broken && head.length.is_none() && head.glued.is_some();
        // The name of the header follows junk that has no line end.
        let reported = is_glued.then(|| self.junk()).flatten().flatten();
        match head.length.or(head.glued) {
            _ if head.broken => self.junk(),
            Some(length) if length <= self.max as u64 => {
                self.state = State::Body(length as usize);
                Some(reported)
            }
            Some(length) if length <= limits::CREDIBLE_FRAME_BYTES => {
                self.state = State::LongBody(length);
                self.reported = false;
                Some(Some(Frame::Bad(Bad::TooLarge(self.max))))
            }
            // Blank lines between frames cost nothing.
            None if head.seen == 0 => Some(None),
            _ => self.junk(),
        }
    }
}

impl Decoder for FrameDecoder {
    type Item = Frame;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Frame>> {
        loop {
            let step = match &mut self.state {
                State::Undecided => self.decide(buffer),
                State::Line => self.line(buffer),
                State::LongLine => self.long_line(buffer),
                State::Head(_) => self.header(buffer),
                State::Body(length) => {
                    let length = *length;
                    (buffer.len() >= length).then(|| {
                        self.state = State::Head(Head::default());
                        self.reported = false;
                        Some(Frame::Message(buffer.split_to(length).freeze()))
                    })
                }
                State::LongBody(rest) => {
                    let skipped = (*rest).min(buffer.len() as u64);
                    buffer.advance(skipped as usize);
                    *rest -= skipped;
                    (*rest == 0).then(|| {
                        self.state = State::Head(Head::default());
                        None
                    })
                }
            };
            match step {
                Some(None) => {}
                Some(frame) => return Ok(frame),
                None => {
                    // `FramedRead` itself makes room for one byte only.
                    buffer.reserve(limits::READ_BYTES);
                    return Ok(None);
                }
            }
        }
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Frame>> {
        Ok(self.decode(buffer)?.or_else(|| self.finish(buffer)))
    }
}

enum Header {
    Length(u64),
    /// A length inside the line: it follows the end of a body whose own length was wrong.
    LengthAfterJunk(u64),
    /// Another header, and the length of a `Content-Length` inside its line, which may follow junk without a line end.
    Other(Option<u64>),
    Junk,
}

/// Parses one line of headers. The end of a truncated line is junk, whatever it looks like.
fn parse_header(line: &[u8], truncated: bool) -> Header {
    let token = |name: &[u8]| !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-');
    if let Some(colon) = memchr::memchr(b':', line) {
        let name = &line[..colon];
        if name.eq_ignore_ascii_case(CONTENT_LENGTH) {
            return digits(&line[colon + 1..]).map_or(Header::Junk, Header::Length);
        }
        if token(name) && line.len() <= limits::HEADER_BYTES && !truncated {
            return Header::Other(length_inside(line));
        }
    }
    length_inside(line).map_or(Header::Junk, Header::LengthAfterJunk)
}

/// Returns the length of the last `Content-Length` inside a line.
fn length_inside(line: &[u8]) -> Option<u64> {
    let at = line
        .windows(CONTENT_LENGTH.len() + 1)
        .rposition(|part| part.ends_with(b":") && part[..CONTENT_LENGTH.len()].eq_ignore_ascii_case(CONTENT_LENGTH))?;
    digits(&line[at + CONTENT_LENGTH.len() + 1..])
}

fn digits(value: &[u8]) -> Option<u64> {
    let value = value.trim_ascii();
    let plain = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    plain.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten()
}

/// Frames an outgoing message.
pub(super) fn encode(framing: Framing, mut message: Vec<u8>) -> Vec<u8> {
    match framing {
        Framing::Lines => {
            message.push(b'\n');
            message
        }
        Framing::Headers => {
            let mut frame = format!("Content-Length: {}\r\n\r\n", message.len()).into_bytes();
            frame.append(&mut message);
            frame
        }
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
