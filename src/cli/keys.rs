//! Keys, from the bytes that a terminal sends. Pure.

/// What was pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// A letter.
    Text(char),
    /// What was pasted.
    Paste(String),
    /// A letter with Ctrl, in lower case.
    Ctrl(char),
    Enter,
    Backspace,
    Delete,
    Left,
    Right,
    Home,
    End,
    Up,
    Down,
}

/// Reads keys; a key may come in pieces.
#[derive(Default)]
pub(super) struct Keys {
    waiting: Vec<u8>,
}

const PASTE: &[u8] = b"\x1b[200~";
const PASTED: &[u8] = b"\x1b[201~";
/// Bytes of a paste that are waited for; what is longer is cut.
const PASTE_BYTES: usize = 1 << 20;
/// Bytes of a sequence; what is longer is none.
const SEQUENCE: usize = 32;

impl Keys {
    /// The keys that are whole with these bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.waiting.extend_from_slice(bytes);
        let mut keys = Vec::new();
        let mut at = 0;
        while let Some((length, key)) = self.waiting.get(at..).and_then(next) {
            at += length;
            keys.extend(key);
        }
        self.waiting.drain(..at);
        if self.waiting == b"\x1b" {
            // The key Escape itself: what follows belongs to the next read.
            self.waiting.clear();
        }
        keys
    }
}

/// The next whole key: its length, and what it is, if it means something here.
fn next(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    let (first, rest) = bytes.split_first()?;
    Some(match first {
        b'\r' => (1, Some(Key::Enter)),
        0x7f | 0x08 => (1, Some(Key::Backspace)),
        0x1b if bytes.starts_with(PASTE) => return pasted(bytes),
        0x1b => return sequence(rest).map(|(length, key)| (length + 1, key)),
        0x01..=0x1a => (1, Some(Key::Ctrl((first + b'a' - 1) as char))),
        0x00..=0x1f => (1, None),
        _ => return letter(bytes),
    })
}

fn letter(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    let length = match bytes.first()? {
        0x00..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Some((1, None)),
    };
    let letter = match bytes.get(..length) {
        Some(letter) => letter,
        // Only the beginning of a letter has come, or of what can be none.
        None if std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none()) => return None,
        None => return Some((1, None)),
    };
    match std::str::from_utf8(letter).ok().and_then(|text| text.chars().next()) {
        // Controls beyond ASCII are no keys.
        Some(c) if c.is_control() => Some((length, None)),
        Some(c) => Some((length, Some(Key::Text(c)))),
        None => Some((1, None)),
    }
}

fn pasted(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    let text = bytes.get(PASTE.len()..)?;
    let end = memchr::memmem::find(text, PASTED);
    let (text, length) = match end {
        Some(end) => (text.get(..end)?, PASTE.len() + end + PASTED.len()),
        None if text.len() > PASTE_BYTES => (text, bytes.len()),
        None => return None,
    };
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    let text = text.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
    Some((length, Some(Key::Paste(text))))
}

/// What follows an escape.
fn sequence(rest: &[u8]) -> Option<(usize, Option<Key>)> {
    let (introducer, body) = rest.split_first()?;
    if !matches!(introducer, b'[' | b'O') {
        // A letter with Alt.
        return Some((1, None));
    }
    let end = body.iter().take(SEQUENCE).position(|byte| (0x40..=0x7e).contains(byte));
    let Some(end) = end else { return (body.len() >= SEQUENCE).then_some((1 + body.len().min(SEQUENCE), None)) };
    let key = match (body.get(..end)?, body.get(end)?) {
        (b"", b'A') => Some(Key::Up),
        (b"", b'B') => Some(Key::Down),
        (b"", b'C') => Some(Key::Right),
        (b"", b'D') => Some(Key::Left),
        (b"", b'H') | (b"1" | b"7", b'~') => Some(Key::Home),
        (b"", b'F') | (b"4" | b"8", b'~') => Some(Key::End),
        (b"3", b'~') => Some(Key::Delete),
        _ => None,
    };
    Some((1 + end + 1, key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_told_apart() {
        let bytes =
            "a東\r\x7f\x03\x1b[D\x1bOC\x1b[1~\x1b[F\x1b[3~\x1b[1;5C\x1bx\x1b[200~two\r\nlines\x1b[31m\x1b[201~b";
        let expected = [
            Key::Text('a'),
            Key::Text('東'),
            Key::Enter,
            Key::Backspace,
            Key::Ctrl('c'),
            Key::Left,
            Key::Right,
            Key::Home,
            Key::End,
            Key::Delete,
            Key::Paste("two\nlines[31m".to_owned()),
            Key::Text('b'),
        ];
        assert_eq!(Keys::default().take(bytes.as_bytes()), expected);
    }

    #[test]
    fn what_comes_in_pieces_is_waited_for_and_escape_alone_is_not() {
        let mut keys = Keys::default();
        assert_eq!(keys.take("東".as_bytes().get(..2).unwrap()), []);
        assert_eq!(keys.take("東".as_bytes().get(2..).unwrap()), [Key::Text('東')]);
        assert_eq!(keys.take(b"\x1b[20"), []);
        assert_eq!(keys.take(b"0~x\x1b[2"), []);
        assert_eq!(keys.take(b"01~"), [Key::Paste("x".to_owned())]);
        assert_eq!(keys.take(b"\x1b"), []);
        assert_eq!(keys.take(b"q"), [Key::Text('q')]);
        assert_eq!(keys.take(b"\xff\xc0a"), [Key::Text('a')]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut keys = Keys::default();
            for piece in pieces {
                for key in keys.take(&piece) {
                    prop_assert!(!matches!(key, Key::Text(c) if c.is_control()));
                }
            }
        }
    }
}
