//! Records cut out of a stream, and out of each the messages that it lists: a record may be as long as its chat, so it
//! is never held whole.

use crate::harness::backward::line_from;
use crate::harness::{Progress, ReadError, splice};
use crate::limits;
use crate::platform::files::read_at;
use std::fs::File;

/// How a chat is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One record, written anew with each change.
    Whole,
    /// A record a line, appended with each change.
    Log,
}

/// Something that was cut out.
pub(super) struct Piece<'a> {
    /// Whether it is a message out of a record's list. A record comes after the messages that it lists; in their places
    /// it has numbers.
    pub listed: bool,
    /// Where it begins.
    pub at: u64,
    /// How long it is.
    pub length: u64,
    /// Its text; cut at [`limits::LINE_MAX`].
    pub json: &'a [u8],
}

/// Cuts a stream of bytes.
pub(super) struct Scanner {
    form: Form,
    at: u64,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The depth of the record's list of messages, while it is open.
    list: Option<usize>,
    record: Text,
    message: Text,
}

#[derive(Default)]
struct Text {
    at: u64,
    json: Vec<u8>,
}

impl Scanner {
    pub(super) fn new(form: Form) -> Self {
        Self {
            form,
            at: 0,
            depth: 0,
            in_string: false,
            escaped: false,
            list: None,
            record: Text::default(),
            message: Text::default(),
        }
    }

    /// Continues with the next bytes of the stream. Stops behind a line whose record was never finished, and returns
    /// where that record begins: a whole one may stand behind it on the same line.
    pub(super) fn feed(&mut self, mut bytes: &[u8], each: &mut impl FnMut(Piece<'_>)) -> Option<u64> {
        while let Some(&byte) = bytes.first() {
            let mut count = 1;
            if byte == b'\n' && self.form == Form::Log {
                let is_torn = self.depth > 0;
                (self.depth, self.in_string, self.escaped, self.list) = (0, false, false, None);
                if is_torn {
                    self.at += 1;
                    return Some(self.record.at);
                }
            } else if self.in_string {
                count = self.string(bytes);
                self.keep(&bytes[..count]);
            } else {
                self.structure(byte, each);
            }
            self.at += count as u64;
            bytes = &bytes[count..];
        }
        None
    }

    /// Gives the room back that the records of before took.
    pub(super) fn rest(&mut self) {
        if self.depth == 0 {
            (self.record, self.message) = (Text::default(), Text::default());
        }
    }

    /// How much of the stream came.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Whether a record is begun and not ended.
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// What there is of a record that the stream's end cut within its list.
    pub(super) fn unfinished(&self) -> Option<Vec<u8>> {
        let closing = match self.list? {
            2 => "]}",
            _ => "]}}",
        };
        Some([&self.record.json, closing.as_bytes()].concat())
    }

    /// How much of a string comes next in one go.
    fn string(&mut self, bytes: &[u8]) -> usize {
        if std::mem::take(&mut self.escaped) {
            return 1;
        }
        match memchr::memchr3(b'"', b'\\', b'\n', bytes) {
            Some(0) => {
                self.in_string = bytes[0] != b'"';
                self.escaped = bytes[0] == b'\\';
                1
            }
            Some(count) => count,
            None => bytes.len(),
        }
    }

    fn structure(&mut self, byte: u8, each: &mut impl FnMut(Piece<'_>)) {
        match byte {
            b'{' | b'[' => self.open(byte),
            b'}' | b']' if self.depth > 0 => self.close(byte, each),
            _ if self.depth > 0 => {
                self.in_string = byte == b'"';
                self.keep(&[byte]);
            }
            _ => {}
        }
    }

    fn open(&mut self, byte: u8) {
        if self.depth == 0 {
            if byte == b'[' {
                return;
            }
            self.record.begin(self.at);
        } else if byte == b'{' && self.list == Some(self.depth) {
            self.keep(b"0");
            self.message.begin(self.at);
        } else if byte == b'[' && self.depth <= 2 && self.list.is_none() && self.record.names_messages() {
            self.list = Some(self.depth + 1);
        }
        self.depth += 1;
        if self.list == Some(self.depth) { self.record.json.push(byte) } else { self.keep(&[byte]) }
    }

    fn close(&mut self, byte: u8, each: &mut impl FnMut(Piece<'_>)) {
        self.keep(&[byte]);
        self.depth -= 1;
        let end = self.at + 1;
        if self.depth == 0 {
            self.list = None;
            each(self.record.piece(false, end));
        } else if self.list == Some(self.depth) && byte == b'}' {
            each(self.message.piece(true, end));
        } else if self.list == Some(self.depth + 1) {
            self.list = None;
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let in_message = self.list.is_some_and(|list| self.depth > list);
        let json = if in_message { &mut self.message.json } else { &mut self.record.json };
        let room = limits::LINE_MAX.saturating_sub(json.len());
        json.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl Text {
    fn begin(&mut self, at: u64) {
        self.at = at;
        self.json.clear();
    }

    fn piece(&self, listed: bool, end: u64) -> Piece<'_> {
        Piece { listed, at: self.at, length: end - self.at, json: &self.json }
    }

    /// Whether what comes next is the value of a member `messages`.
    fn names_messages(&self) -> bool {
        let name = self.json.trim_ascii_end().strip_suffix(b":").map(<[u8]>::trim_ascii_end);
        name.is_some_and(|name| name.ends_with(b"\"messages\""))
    }
}

/// Scans a file from where the scanner is to its end.
pub(super) fn file(
    file: &File,
    scanner: &mut Scanner,
    progress: Option<&dyn Progress>,
    mut each: impl FnMut(Piece<'_>),
) -> Result<(), ReadError> {
    let size = file.metadata()?.len();
    let rest = size.saturating_sub(scanner.at) as usize;
    let mut buffer = vec![0; rest.clamp(limits::PAGE_CHUNK_FIRST, limits::SCAN_BYTES)];
    loop {
        if let Some(progress) = progress {
            if progress.is_cancelled() {
                return Err(ReadError::Cancelled);
            }
            progress.report("reading the session", scanner.at, Some(size));
        }
        let count = read_at(file, &mut buffer, scanner.at)?;
        let end = scanner.at + count as u64;
        while let Some(torn) = scanner.feed(&buffer[count - (end - scanner.at) as usize..count], &mut each) {
            behind_torn(file, torn, &mut each)?;
        }
        if count < buffer.len() {
            return Ok(());
        }
    }
}

/// Cuts out the whole records behind a torn one on the same line.
fn behind_torn(file: &File, torn: u64, each: &mut impl FnMut(Piece<'_>)) -> Result<(), ReadError> {
    let line = line_from(file, torn)?;
    for record in splice::whole(&line) {
        let mut scanner = Scanner { at: torn + record.start as u64, ..Scanner::new(Form::Log) };
        scanner.feed(&line[record], each);
    }
    Ok(())
}
