//! The client's side of the two framings: strict, so that a sloppy answer fails.

use std::io::{BufRead, BufReader, Read};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Lines,
    Headers,
}

impl Framing {
    pub const BOTH: [Self; 2] = [Self::Lines, Self::Headers];

    /// A message as it crosses.
    pub fn encode(self, message: impl AsRef<[u8]>) -> Vec<u8> {
        let message = message.as_ref();
        match self {
            Self::Lines => [message, b"\n"].concat(),
            Self::Headers => [format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes(), message].concat(),
        }
    }

    /// The next message, or `None` at the end of the stream.
    pub fn decode(self, from: &mut BufReader<impl Read>) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        from.read_until(b'\n', &mut line).ok().filter(|length| *length > 0)?;
        if self == Self::Lines {
            assert_eq!(line.pop(), Some(b'\n'), "an answer without line end: {:?}", String::from_utf8_lossy(&line));
            return Some(line);
        }
        let head = String::from_utf8(line).expect("a header in UTF-8");
        let length = head.strip_prefix("Content-Length: ").and_then(|rest| rest.strip_suffix("\r\n"));
        let length = length.unwrap_or_else(|| panic!("no header: {head:?}")).parse().expect("a length");
        let mut blank = [0; 2];
        from.read_exact(&mut blank).expect("the end of the headers");
        assert_eq!(&blank, b"\r\n");
        let mut body = vec![0; length];
        from.read_exact(&mut body).expect("as many bytes as the header says");
        Some(body)
    }
}
