//! The end of the output of a process.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The last bytes that were written, up to a limit.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    max: usize,
    is_cut: bool,
}

impl Tail {
    pub(super) fn new(max: usize) -> Self {
        Self { max, ..Self::default() }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let over = (self.bytes.len() + bytes.len()).saturating_sub(self.max);
        self.is_cut |= over > 0;
        self.bytes.drain(..over.min(self.bytes.len()));
        let skipped = bytes.len().saturating_sub(self.max);
        self.bytes.extend(bytes.get(skipped..).unwrap_or_default());
    }

    /// Whether earlier bytes were dropped.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The text, beginning with a whole character. Bytes that are none are replaced.
    pub(super) fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let continues = |byte: &&u8| self.is_cut && **byte & 0xC0 == 0x80;
        let skipped = bytes.iter().take(3).take_while(continues).count();
        String::from_utf8_lossy(bytes.get(skipped..).unwrap_or_default()).into_owned()
    }

    /// The same for a person: of control characters only line feeds are left.
    pub(super) fn clean(&self) -> String {
        let text = self.text();
        let clean: String = text.chars().filter(|c| !c.is_control() || *c == '\n').collect();
        clean.trim().to_owned()
    }
}

/// Keeps the end of what can be read from a pipe.
pub(super) async fn keep(from: Option<impl AsyncRead + Unpin>, output: &Mutex<Tail>) {
    let Some(mut from) = from else { return };
    let mut buffer = [0; 8 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        output.push(buffer.get(..length).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_keeps_the_end_from_a_whole_character() {
        let mut tail = Tail::new(5);
        tail.push("aé".as_bytes());
        assert_eq!((tail.text().as_str(), tail.is_cut()), ("aé", false));
        tail.push("xyz!".as_bytes());
        assert_eq!((tail.text().as_str(), tail.is_cut()), ("xyz!", true));
        tail.push(b"0123456789");
        assert_eq!(tail.text(), "56789");
        tail.push(b"\x1b[1m\xff");
        assert_eq!(tail.clean(), "[1m\u{fffd}");
    }
}
