//! The text of server-sent events, cut into events.
//!
//! Only `data` counts: the other fields are for reconnecting browsers. It is memory alone, so that any cutting of the
//! bytes can be tested.

use std::collections::VecDeque;

/// An event, or a line, is larger than the decoder takes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// Cuts a stream into events.
pub(super) struct Decoder {
    max: usize,
    /// The line that is not yet at its end.
    line: Vec<u8>,
    /// The data of the event that is not yet at its end.
    data: Option<Vec<u8>>,
    ready: VecDeque<Vec<u8>>,
    /// Whether the last line ended with CR: an LF that follows belongs to it.
    after_return: bool,
    first_line: bool,
}

impl Decoder {
    /// A decoder of events of at most `max` bytes.
    pub(super) fn new(max: usize) -> Self {
        let ready = VecDeque::new();
        Self { max, line: Vec::new(), data: None, ready, after_return: false, first_line: true }
    }

    /// Takes the next bytes of the stream.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), TooLarge> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return)
                && let Some(rest) = bytes.strip_prefix(b"\n")
            {
                bytes = rest;
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len() + self.data.as_ref().map_or(0, Vec::len) + part.len() > self.max {
                return Err(TooLarge);
            }
            self.line.extend_from_slice(part);
            bytes = rest;
            if let Some((end, rest)) = rest.split_first() {
                self.after_return = *end == b'\r';
                self.end_line();
                bytes = rest;
            }
        }
        Ok(())
    }

    /// The next whole event: its lines of data, joined by line feeds.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }

    /// Whether an end of the stream here cuts an event.
    pub(super) fn is_inside_event(&self) -> bool {
        self.data.is_some() || self.line.first().is_some_and(|first| *first != b':')
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mut line = &line[..];
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.ready.extend(self.data.take());
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        if field != b"data" {
            return;
        }
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(chunks: &[&[u8]]) -> (Vec<String>, bool) {
        let mut decoder = Decoder::new(1 << 20);
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk).unwrap();
            events.extend(std::iter::from_fn(|| decoder.next()).map(|event| String::from_utf8(event).unwrap()));
        }
        (events, decoder.is_inside_event())
    }

    #[test]
    fn every_rule_of_the_format() {
        for (text, events, inside) in [
            ("data: a\n\n", &["a"][..], false),
            ("data:a\n\n", &["a"], false),
            ("data:  a\n\n", &[" a"], false),
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &["a", "b", "c"], false),
            ("data: a\ndata: b\ndata\n\n", &["a\nb\n"], false),
            ("data:\n\n", &[""], false),
            ("\u{feff}data: a\n\n", &["a"], false),
            ("data: a\n\n\u{feff}data: b\n\n", &["a"], false),
            (": keep-alive\n\n\n\n", &[], false),
            (":data: a\n\nevent: x\nid: 1\nretry: 5\ndata: a\nunknown: y\n\n", &["a"], false),
            ("event: x\n\n", &[], false),
            ("Data: a\n\n data: a\n\n", &[], false),
            ("data: a:b\n\n", &["a:b"], false),
            ("data: a\n", &[], true),
            ("data: a", &[], true),
            ("data: a\n\nda", &["a"], true),
            (": kee", &[], false),
            ("data: a\n: kee", &[], true),
        ] {
            let expected = (events.iter().map(ToString::to_string).collect(), inside);
            assert_eq!(decode(&[text.as_bytes()]), expected, "{text:?}");
        }
    }

    #[test]
    fn neither_an_event_nor_a_line_grows_over_the_bound() {
        let feed = |text: &str| Decoder::new(10).feed(text.as_bytes());
        assert_eq!(feed("data:12345\n\n"), Ok(()));
        assert_eq!(feed("data:123456\n\n"), Err(TooLarge));
        assert_eq!(feed("data:1\ndata:2\ndata:3\n\n"), Ok(()));
        assert_eq!(feed("data:1\ndata:2\ndata:3\ndata:4\n\n"), Err(TooLarge));
        assert_eq!(feed(": a comment without end"), Err(TooLarge));
        assert_eq!(feed(&"data:1\n\n".repeat(10)), Ok(()), "the bound is of one event");
    }

    proptest! {
        #[test]
        fn how_the_bytes_are_cut_makes_no_difference(
            text in "(data|data:|data: x|: y|event: z|id|\u{feff}|[a-z:]{0,3}|\r\n|\n|\r|\n\n){0,40}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let bytes = text.as_bytes();
            let mut at: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
            at.sort_unstable();
            let chunks: Vec<_> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let one_by_one: Vec<_> = bytes.chunks(1).collect();
            prop_assert_eq!(decode(&chunks), decode(&[bytes]));
            prop_assert_eq!(decode(&one_by_one), decode(&[bytes]));
        }
    }
}
