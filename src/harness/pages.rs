//! Pages of messages out of files of one record a line: read from the newest back, no further than a page needs.

use super::jsonl::trim;
use super::{Attendant, Page, PageRequest, Skip};
use crate::limits;
use crate::platform::files;
use crate::protocol::{Block, Message};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufReader, Read};

/// A text that can be read from any place on.
pub trait Text {
    /// Reads at `offset` into `buffer` until it is full or the text ends; answers how much came.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, Skip>;
}

impl Text for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, Skip> {
        Ok(files::read_at(self, buffer, offset)?)
    }
}

/// A line, and where it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it begins.
    pub at: u64,
    /// Its length in bytes, without its end.
    pub length: u64,
    /// What it says, without blanks around it; `None` where it is longer than [`limits::LINE_MAX`].
    pub text: Option<&'a [u8]>,
}

/// The lines of a text, from a place back.
pub struct Backward<'a, T> {
    text: &'a T,
    attendant: &'a dyn Attendant,
    /// Where the buffer begins in the text.
    start: u64,
    buffer: Vec<u8>,
    /// How much of the buffer lies before the lines that were told.
    left: usize,
    seen: u64,
    chunk: usize,
    longest: usize,
}

impl<'a, T: Text> Backward<'a, T> {
    /// The lines before `end`.
    pub fn new(text: &'a T, end: u64, attendant: &'a dyn Attendant) -> Self {
        let (chunk, longest) = (limits::PAGE_CHUNK, limits::LINE_MAX);
        Self { text, attendant, start: end, buffer: Vec::new(), left: 0, seen: 0, chunk, longest }
    }

    /// Goes on before another place.
    pub fn seek(&mut self, end: u64) {
        (self.start, self.left) = (end, 0);
    }

    /// The line before the one that was told last. Blank ones are told too.
    pub fn previous(&mut self) -> Result<Option<Line<'_>>, Skip> {
        loop {
            let unread = &self.buffer[..self.left];
            let body = unread.strip_suffix(b"\n").unwrap_or(unread);
            match memchr::memrchr(b'\n', body) {
                Some(end) => return Ok(Some(self.tell(end + 1, body.len()))),
                None if self.start == 0 && unread.is_empty() => return Ok(None),
                None if self.start == 0 => return Ok(Some(self.tell(0, body.len()))),
                None if body.len() > self.longest => return self.pass_over(body.len()).map(Some),
                None => self.grow()?,
            }
        }
    }

    fn tell(&mut self, from: usize, to: usize) -> Line<'_> {
        self.left = from;
        let (at, length) = (self.start + from as u64, (to - from) as u64);
        let text = (to - from <= self.longest).then(|| trim(&self.buffer[from..to]));
        Line { at, length, text }
    }

    /// Looks for the beginning of a line that is too long to be kept.
    fn pass_over(&mut self, length: usize) -> Result<Line<'_>, Skip> {
        let end = self.start + length as u64;
        loop {
            self.left = 0;
            self.grow()?;
            let begin = memchr::memrchr(b'\n', &self.buffer[..self.left]).map(|newline| newline + 1);
            if begin.is_some() || self.start == 0 {
                self.left = begin.unwrap_or(0);
                let at = self.start + self.left as u64;
                return Ok(Line { at, length: end - at, text: None });
            }
        }
    }

    /// Reads what comes before the buffer: at least as much as it holds, so that a long line is not moved often.
    fn grow(&mut self) -> Result<(), Skip> {
        if self.attendant.cancelled() {
            return Err(Skip::Cancelled);
        }
        let more = (self.left.max(self.chunk) as u64).min(self.start) as usize;
        self.buffer.resize(self.left, 0);
        self.buffer.resize(self.left + more, 0);
        self.buffer.copy_within(..self.left, more);
        self.start -= more as u64;
        if self.text.read_at(&mut self.buffer[..more], self.start)? < more {
            return Err(Skip::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        self.left += more;
        self.seen += more as u64;
        self.attendant.progress("reading messages", self.seen, None);
        Ok(())
    }
}

/// Parses a line that is too long to be kept, as far as `T` wants it.
pub fn parse_long<T: DeserializeOwned>(text: &impl Text, line: &Line<'_>) -> Option<T> {
    struct Part<'a, T>(&'a T, u64, u64);
    impl<T: Text> Read for Part<'_, T> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let room = buffer.len().min(usize::try_from(self.2).unwrap_or(usize::MAX));
            let count = self.0.read_at(&mut buffer[..room], self.1).map_err(io::Error::other)?;
            (self.1, self.2) = (self.1 + count as u64, self.2 - count as u64);
            Ok(count)
        }
    }
    serde_json::from_reader(BufReader::with_capacity(limits::PAGE_CHUNK, Part(text, line.at, line.length))).ok()
}

/// What stands for a record that is too long to be told.
pub fn long_block(kind: &str, bytes: u64) -> Block {
    Block::Other { kind: kind.to_owned(), raw: serde_json::json!({ "bytes": bytes }) }
}

/// The messages of one page, gathered from the newest back, each with the place that older ones are found from.
pub struct Gathered<P> {
    messages: Vec<(Message, P)>,
    limit: usize,
    bytes: u64,
}

impl<P> Gathered<P> {
    /// Nothing yet of what is asked for.
    pub fn new(request: &PageRequest<'_>) -> Self {
        Self { messages: Vec::new(), limit: request.limit.max(1), bytes: 0 }
    }

    /// Takes the next older message, which takes so many bytes in its store.
    pub fn push(&mut self, message: Message, bytes: u64, older: P) {
        self.messages.push((message, older));
        self.bytes += bytes;
    }

    /// Whether there is enough: one message more than a page holds shows that there is another page.
    pub fn is_full(&self) -> bool {
        self.messages.len() > self.limit || (self.bytes >= limits::PAGE_BYTES && !self.messages.is_empty())
    }

    /// How many messages there are.
    pub fn count(&self) -> usize {
        self.messages.len()
    }

    /// A message that was taken.
    pub fn message(&mut self, index: usize) -> &mut Message {
        &mut self.messages[index].0
    }

    /// The page. `ended` tells that there is nothing older than what was taken.
    pub fn into_page(mut self, ended: bool, cursor: impl Fn(&P) -> String) -> Page {
        let more = self.messages.len() > self.limit || !ended;
        self.messages.truncate(self.limit);
        let next = self.messages.last().filter(|_| more).map(|(_, older)| cursor(older));
        Page { messages: self.messages.into_iter().rev().map(|(message, _)| message).collect(), next }
    }
}

#[cfg(test)]
pub mod testing {
    //! What the tests of every store's pages need.

    use super::*;

    /// Somebody who waits for all of it.
    pub struct Patient;

    impl Attendant for Patient {
        fn cancelled(&self) -> bool {
            false
        }
        fn progress(&self, _: &str, _: u64, _: Option<u64>) {}
    }

    /// All messages, page by page of so many.
    pub fn all(limit: usize, load: impl Fn(&PageRequest<'_>) -> Page) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = load(&PageRequest { cursor: cursor.as_deref(), limit, attendant: &Patient, own_only: false });
            assert!(page.messages.len() <= limit);
            assert!(!page.messages.is_empty() || page.next.is_none(), "an empty page leads nowhere");
            messages.splice(0..0, page.messages);
            cursor = page.next;
            if cursor.is_none() {
                return messages;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Patient;
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    impl Text for &[u8] {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, Skip> {
            let rest = self.get(offset as usize..).unwrap_or_default();
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        }
    }

    type Told = (u64, u64, Option<String>);

    fn backward(text: &[u8], chunk: usize, longest: usize) -> Vec<Told> {
        let mut lines = Backward { chunk, longest, ..Backward::new(&text, text.len() as u64, &Patient) };
        let mut told = Vec::new();
        while let Some(line) = lines.previous().unwrap() {
            told.push((line.at, line.length, line.text.map(|text| String::from_utf8_lossy(text).into_owned())));
        }
        told
    }

    proptest! {
        #[test]
        fn lines_are_told_from_the_last_to_the_first_with_their_places(
            text in "([ab]{0,9}\n){0,9}[ab]{0,9}", chunk in 1_usize..12, longest in 0_usize..12
        ) {
            let mut expected: Vec<Told> = Vec::new();
            let mut at = 0;
            for line in text.split_inclusive('\n') {
                let body = line.strip_suffix('\n').unwrap_or(line);
                expected.insert(0, (at, body.len() as u64, (body.len() <= longest).then(|| body.to_owned())));
                at += line.len() as u64;
            }
            prop_assert_eq!(backward(text.as_bytes(), chunk, longest), expected);
        }
    }

    #[test]
    fn a_long_line_is_parsed_as_far_as_it_matters() {
        #[derive(Deserialize)]
        struct Head {
            kind: String,
        }
        let text = format!("{{}}\n{{\"data\":\"{}\",\"kind\":\"big\"}}\nlast", "x".repeat(300_000));
        let bytes = text.as_bytes();
        let mut lines = Backward { longest: 1_000, ..Backward::new(&bytes, bytes.len() as u64, &Patient) };
        assert_eq!(lines.previous().unwrap().unwrap().text, Some(&b"last"[..]));
        let line = lines.previous().unwrap().unwrap();
        assert_eq!((line.at, line.text), (3, None));
        assert_eq!(parse_long::<Head>(&bytes, &line).unwrap().kind, "big");
        assert_eq!(lines.previous().unwrap().unwrap().text, Some(&b"{}"[..]));
        assert!(lines.previous().unwrap().is_none());
    }

    #[test]
    fn a_text_that_shrank_and_a_client_that_left_end_the_reading() {
        struct Gone;
        impl Attendant for Gone {
            fn cancelled(&self) -> bool {
                true
            }
            fn progress(&self, _: &str, _: u64, _: Option<u64>) {}
        }
        let text = &b"one\n"[..];
        assert!(matches!(Backward::new(&text, 9, &Patient).previous(), Err(Skip::Io(_))));
        assert!(matches!(Backward::new(&text, 4, &Gone).previous(), Err(Skip::Cancelled)));
    }
}
