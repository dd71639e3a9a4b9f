//! The two framings, told apart by the first byte that is not white space.
//!
//! A bad frame is a value, never an error: the connection answers it and goes on. Nothing is allocated because a
//! header says so, and what is over a bound is skipped without being stored.

use crate::limits;
use tokio_util::bytes::{Buf, Bytes, BytesMut};

/// How messages are told apart in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One message a line, as ACP and MCP do.
    Lines,
    /// `Content-Length` headers, as LSP does.
    Headers,
}

/// What the stream gave next.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// The bytes of one message.
    Message(Bytes),
    /// Something that is no message, passed over.
    Bad(Bad),
}

/// Why something is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Bad {
    /// The frame is over the limit; its bytes are skipped.
    #[error("the frame is larger than {0} bytes")]
    TooLarge(usize),
    /// The headers cannot be understood; what follows is skipped up to the next `Content-Length`.
    #[error("no usable Content-Length header; send `Content-Length: <bytes>`, an empty line, and the message")]
    Header,
    /// The input ended inside a frame.
    #[error("the input ended inside a frame")]
    Cut,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// No byte that tells has come.
    Undecided,
    Line,
    /// Inside a line over the limit.
    LongLine,
    Head(Head),
    Body(usize),
    /// Inside a body over the limit.
    LongBody(u64),
}

/// What is known of a block of headers so far.
#[derive(Debug, Default, PartialEq, Eq)]
struct Head {
    length: Option<u64>,
    /// A length that stands inside another header's line: it counts where there is no other.
    glued: Option<u64>,
    seen: usize,
    broken: bool,
}

/// Cuts a stream into frames.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    max: usize,
    /// Bytes of the buffer that were searched for a line end already.
    searched: usize,
    /// Whether the first part of the line that is being read was passed over for its length.
    beheaded: bool,
    /// Whether the junk that is being passed over was told already.
    told: bool,
}

const CONTENT_LENGTH: &[u8] = b"content-length";

impl Decoder {
    /// A decoder of frames up to `max` bytes; without a `framing` it finds out.
    pub fn new(framing: Option<Framing>, max: usize) -> Self {
        let state = match framing {
            None => State::Undecided,
            Some(Framing::Lines) => State::Line,
            Some(Framing::Headers) => State::Head(Head::default()),
        };
        Self { state, max, searched: 0, beheaded: false, told: false }
    }

    /// The framing, as far as it is decided: answers go out as the client spoke.
    pub fn framing(&self) -> Framing {
        match self.state {
            State::Undecided | State::Line | State::LongLine => Framing::Lines,
            State::Head(_) | State::Body(_) | State::LongBody(_) => Framing::Headers,
        }
    }

    /// Says that the last message was no JSON: with headers, its length was probably wrong, and the junk that follows
    /// belongs to the same fault.
    pub fn last_was_bad(&mut self) {
        self.told = self.framing() == Framing::Headers;
    }

    /// The next frame of `buffer`, or `None` when it takes more bytes.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Option<Frame> {
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
                        self.told = false;
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
                None => return None,
                Some(Some(frame)) => return Some(frame),
                Some(None) => {}
            }
        }
    }

    /// What is left when the input has ended: a last line needs no line end.
    pub fn finish(&mut self, buffer: &mut BytesMut) -> Option<Frame> {
        let rest = buffer.split().freeze();
        self.searched = 0;
        let blank = rest.iter().all(u8::is_ascii_whitespace);
        let cut = match &self.state {
            State::Line if !blank => return Some(Frame::Message(rest)),
            State::Head(head) => (!blank || head.seen > 0) && !self.told,
            State::Body(_) => true,
            _ => false,
        };
        self.told |= cut;
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

    /// Takes one line off the buffer, without its end.
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
            self.beheaded = true;
            return self.junk();
        };
        let beheaded = std::mem::take(&mut self.beheaded);
        let State::Head(head) = &mut self.state else { return Some(None) };
        if line.is_empty() {
            return self.end_of_head();
        }
        head.seen += line.len();
        match parse_header(&line, beheaded) {
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

    /// Tells a run of junk once.
    fn junk(&mut self) -> Option<Option<Frame>> {
        let told = std::mem::replace(&mut self.told, true);
        Some((!told).then_some(Frame::Bad(Bad::Header)))
    }

    fn end_of_head(&mut self) -> Option<Option<Frame>> {
        let State::Head(head) = std::mem::replace(&mut self.state, State::Head(Head::default())) else {
            return Some(None);
        };
        let is_glued = !head.broken && head.length.is_none() && head.glued.is_some();
        // Junk without a line end of its own stands before the name of the header.
        let told = is_glued.then(|| self.junk()).flatten().flatten();
        match head.length.or(head.glued) {
            _ if head.broken => self.junk(),
            Some(length) if length <= self.max as u64 => {
                self.state = State::Body(length as usize);
                Some(told)
            }
            Some(length) if length <= limits::CREDIBLE_FRAME_BYTES => {
                self.state = State::LongBody(length);
                self.told = false;
                Some(Some(Frame::Bad(Bad::TooLarge(self.max))))
            }
            // Blank lines between frames cost nothing.
            None if head.seen == 0 => Some(None),
            _ => self.junk(),
        }
    }
}

enum Header {
    Length(u64),
    /// A length that begins inside the line: the end of a body whose own length was wrong.
    LengthAfterJunk(u64),
    /// Another header, and the length of a `Content-Length` inside its line: junk without a line end may stand before it.
    Other(Option<u64>),
    Junk,
}

/// Reads a line of headers; what is left of one that was too long is the end of junk, whatever it looks like.
fn parse_header(line: &[u8], beheaded: bool) -> Header {
    let token = |name: &[u8]| !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-');
    if let Some(colon) = memchr::memchr(b':', line) {
        let name = &line[..colon];
        if name.eq_ignore_ascii_case(CONTENT_LENGTH) {
            return digits(&line[colon + 1..]).map_or(Header::Junk, Header::Length);
        }
        if token(name) && line.len() <= limits::HEADER_BYTES && !beheaded {
            return Header::Other(length_inside(line));
        }
    }
    length_inside(line).map_or(Header::Junk, Header::LengthAfterJunk)
}

/// The length of the last `Content-Length` inside a line.
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

/// A message as it goes out in a framing.
pub fn encode(framing: Framing, mut message: Vec<u8>) -> Vec<u8> {
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
