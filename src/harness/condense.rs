//! Records whose long strings are shortened. What a list needs of a record stands beside its pictures, not in them.

use super::ReadError;
use crate::limits;
use crate::platform::files::read_at;
use std::fs::File;

/// Reads a file from a position on until [`limits::CONDENSED`] bytes came out, the file ends, or
/// [`limits::LINE_MAX`] bytes were read.
pub(super) fn condensed(file: &File, from: u64) -> Result<Vec<u8>, ReadError> {
    let mut condenser = Condenser::default();
    let mut chunk = vec![0; limits::PAGE_CHUNK];
    let mut read = 0;
    while condenser.out.len() < limits::CONDENSED && read < limits::LINE_MAX {
        let count = read_at(file, &mut chunk, from + read as u64)?;
        if count == 0 {
            break;
        }
        condenser.take(&chunk[..count]);
        read += count;
    }
    Ok(condenser.out)
}

/// Copies JSON, but of each string no more than [`limits::STRING_KEPT`] bytes.
#[derive(Default)]
struct Condenser {
    out: Vec<u8>,
    in_string: bool,
    /// Bytes that the string has so far.
    length: usize,
    /// Bytes of an escape that are still to come, so far as is known.
    escape: usize,
    skips: bool,
}

impl Condenser {
    fn take(&mut self, mut input: &[u8]) {
        while let Some((&byte, rest)) = input.split_first() {
            input = rest;
            if self.skips && self.escape == 0 && byte != b'"' && byte != b'\\' && byte != b'\n' {
                let next = memchr::memchr3(b'"', b'\\', b'\n', input).unwrap_or(input.len());
                input = &input[next..];
                continue;
            }
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        // No string has a line end: a record that was cut ends with its line.
        if byte == b'\n' || (byte == b'"' && self.escape == 0) {
            self.in_string = byte == b'"' && !self.in_string;
            (self.length, self.escape, self.skips) = (0, 0, false);
            self.out.push(byte);
            return;
        }
        if self.in_string {
            let is_first = self.escape == 0 && byte & 0xC0 != 0x80;
            self.skips |= self.length >= limits::STRING_KEPT && is_first;
            self.escape = match (self.escape, byte) {
                (0, b'\\') => 1,
                (1, b'u') => 5,
                (5.., _) => self.escape + 1,
                _ => 0,
            };
            if self.escape == 9 {
                self.escape = 0;
            }
            self.length += 1;
        }
        if !self.skips {
            self.out.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::io::Write;

    fn condense(parts: &[&[u8]]) -> Vec<u8> {
        let mut condenser = Condenser::default();
        parts.iter().for_each(|part| condenser.take(part));
        condenser.out
    }

    proptest! {
        #[test]
        fn records_stay_records_wherever_they_are_cut(text in "[a\u{e9}\u{1f600}\"\\\\\u{1}]{0,8}", shift in 0_usize..16, cut in 0_usize..40_000) {
            let long = "x".repeat(limits::STRING_KEPT - shift) + &text + &"y".repeat(limits::STRING_KEPT);
            let line = format!("{}\n", json!({"a": text, "data": long, "b": [text, 1]}));
            let (one, other) = line.as_bytes().split_at(cut.min(line.len()));
            let out = condense(&[one, other]);
            prop_assert_eq!(&out, &condense(&[line.as_bytes()]));
            let value: Value = serde_json::from_slice(&out).unwrap();
            prop_assert_eq!((&value["a"], &value["b"]), (&json!(text), &json!([text, 1])));
            let kept = value["data"].as_str().unwrap();
            prop_assert!(long.starts_with(kept) && kept.len() < limits::STRING_KEPT + 8);
        }
    }

    #[test]
    fn escapes_are_never_cut() {
        for shift in 0..14 {
            let escapes = "\\u00e9\\ud83d\\ude00\\n".repeat(4);
            let line = format!(
                "{{\"data\":\"{}{escapes}{}\",\"b\":1}}",
                "x".repeat(limits::STRING_KEPT - shift),
                "z".repeat(99)
            );
            let value: Value = serde_json::from_slice(&condense(&[line.as_bytes()])).unwrap_or(json!("cut"));
            // Half a surrogate pair is for its reader to replace.
            assert!(value == json!("cut") || value["b"] == 1, "{shift}");
        }
    }

    #[test]
    fn torn_line_costs_only_itself() {
        let text = b"{\"a\":\"torn\n{\"b\":\"whole\"}\n";
        assert_eq!(condense(&[text]), text);
    }

    #[test]
    fn pictures_are_read_over_until_enough_came_out() {
        let mut file = tempfile::tempfile().unwrap();
        let picture = json!({"data": "A".repeat(3 << 20)});
        file.write_all(format!("{picture}\n{picture}\n{{\"prompt\":1}}\n").as_bytes()).unwrap();
        let out = condensed(&file, 0).unwrap();
        assert!(out.ends_with(b"{\"prompt\":1}\n"));
        assert!(out.len() < 3 * limits::STRING_KEPT);
    }
}
