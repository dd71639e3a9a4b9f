//! What a runtime sent, before anything else sees it: the secret taken out, and made safe to go on to a client.

use super::error::Error;
use crate::limits;
use crate::protocol::{Token, nested_deeper};
use memchr::memmem::Finder;
use serde_json::value::RawValue;

/// Takes a runtime's token out of what the runtime says, however JSON spells it.
#[derive(Clone, Debug, Default)]
pub struct Scrub {
    secret: Box<[u8]>,
    plain: Option<Finder<'static>>,
    /// Whether JSON may spell a character of the secret with a backslash and no code.
    has_escapes: bool,
}

impl Scrub {
    /// Looks for this token. One that is too short may be an ordinary word and is left alone.
    pub fn new(token: &Token) -> Self {
        let secret = token.secret().as_bytes();
        if secret.len() < limits::TOKEN_SCRUBBED {
            return Self::default();
        }
        Self {
            secret: secret.into(),
            plain: Some(Finder::new(secret).into_owned()),
            has_escapes: memchr::memchr3(b'"', b'\\', b'/', secret).is_some(),
        }
    }

    /// The bytes as JSON whose parts may go on to a client as they are: without the token, in UTF-8, not nested too deep,
    /// and on one line, since a client's frame may be one.
    pub(super) fn json(&self, bytes: Vec<u8>) -> Result<Box<RawValue>, Error> {
        let bytes = self.clean(bytes);
        if nested_deeper(&bytes, limits::NESTING) {
            return Err(Error::malformed(format!("it is nested deeper than {} levels", limits::NESTING)));
        }
        let text = String::from_utf8(bytes).map_err(|_| Error::malformed("it is not valid UTF-8"))?;
        let raw =
            RawValue::from_string(text).map_err(|error| Error::malformed(format!("it is not valid JSON: {error}")))?;
        if memchr::memchr2(b'\n', b'\r', raw.get().as_bytes()).is_none() {
            return Ok(raw);
        }
        // Within valid JSON only white space can be a raw line break: in a string it would be an error.
        let one_line = raw.get().replace(['\n', '\r'], " ");
        RawValue::from_string(one_line).map_err(|error| Error::malformed(error.to_string()))
    }

    /// The same bytes, with `<token>` wherever the token stood: as it is, with characters as JSON escapes, or with escapes
    /// within escapes, as in JSON that is itself a string of JSON.
    pub fn clean(&self, bytes: Vec<u8>) -> Vec<u8> {
        const CODE: &[u8] = b"\\u00";
        let Some(plain) = &self.plain else { return bytes };
        if plain.find(&bytes).is_none() && !self.has_escapes && memchr::memmem::find(&bytes, CODE).is_none() {
            return bytes;
        }
        let mut clean = Vec::with_capacity(bytes.len());
        let mut rest = &bytes[..];
        while let Some(at) = memchr::memchr2(self.secret[0], b'\\', rest) {
            clean.extend_from_slice(&rest[..at]);
            match self.spelled_at(&rest[at..]) {
                Some(length) => {
                    clean.extend_from_slice(b"<token>");
                    rest = &rest[at + length..];
                }
                None => {
                    clean.push(rest[at]);
                    rest = &rest[at + 1..];
                }
            }
        }
        clean.extend_from_slice(rest);
        clean
    }

    /// How many bytes at the end of a text may be the start of the token, whose rest would follow.
    pub fn start_at_end(&self, text: &str) -> usize {
        let starts = (1..self.secret.len()).rev();
        starts.into_iter().find(|length| text.as_bytes().ends_with(&self.secret[..*length])).unwrap_or_default()
    }

    /// How many bytes spell the token at the beginning of a text.
    fn spelled_at(&self, text: &[u8]) -> Option<usize> {
        let mut at = 0;
        let mut secret = &self.secret[..];
        while !secret.is_empty() {
            let backslashes = backslashes(&text[at..]);
            at += backslashes;
            // Any number of backslashes spells any number of them.
            if secret[0] == b'\\' {
                (backslashes > 0).then_some(())?;
                secret = &secret[secret.iter().take_while(|byte| **byte == b'\\').count()..];
            }
            let Some((character, rest)) = secret.split_first() else { break };
            at += spelled(*character, &text[at..], backslashes > 0)?;
            secret = rest;
        }
        Some(at)
    }
}

/// How many bytes at the beginning of a text are backslashes, each of which may itself be spelled `\u005c`.
fn backslashes(text: &[u8]) -> usize {
    let is_code = |code: &[u8]| code.eq_ignore_ascii_case(b"u005c");
    let mut at = 0;
    while text.get(at) == Some(&b'\\') {
        at += 1;
        while text.get(at..at + 5).is_some_and(is_code) {
            at += 5;
        }
    }
    at
}

/// How many bytes spell a visible ASCII character at the beginning of a text: as its code, behind a backslash, or as it is.
fn spelled(character: u8, text: &[u8], is_escaped: bool) -> Option<usize> {
    let code = text.get(..5).filter(|code| is_escaped && code.starts_with(b"u00"));
    let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(&code[3..]).ok()?, 16).ok());
    match code {
        Some(code) if code == character => Some(5),
        _ => (text.first() == Some(&character)).then_some(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    const TOKEN: &str = "0123456789abcdef0123";

    fn scrub(token: &str) -> Scrub {
        Scrub::new(&Token::new(token.to_owned()))
    }

    fn clean(token: &str, text: &str) -> String {
        String::from_utf8(scrub(token).clean(text.into())).unwrap()
    }

    #[test]
    fn escapes_do_not_hide_the_token() {
        let all: String = TOKEN.chars().map(|c| format!("\\u{:04X}", u32::from(c))).collect();
        let nested = all.replace('\\', "\\\\");
        let nested_code = all.replace('\\', "\\u005C");
        let one = TOKEN.replacen('a', "\\u0061", 1);
        for spelled in [TOKEN, &all, &nested, &nested_code, &nested.replace('\\', "\\\\"), &one] {
            assert_eq!(
                clean(TOKEN, &format!("[\"{spelled}{spelled}\", \"a{spelled}\"]")),
                "[\"<token><token>\", \"a<token>\"]"
            );
        }
        let quoted = r#"quote"and\\slash/0123456789"#;
        for spelled in [r#"quote\"and\\\\slash\/0123456789"#, r#"quote\u0022and\u005c\u005Cslash/0123456789"#] {
            assert_eq!(clean(quoted, spelled), "<token>");
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        let cut = &TOKEN[..TOKEN.len() - 1];
        for text in [
            "",
            "\\",
            "\\u00",
            "\\u001b[0m \\n \\\" \\u0030",
            cut,
            &format!("{cut}\\u0034"),
            "u0030023456789abcdef0123",
        ] {
            assert_eq!(clean(TOKEN, text), text);
        }
        assert_eq!(clean("short", "short"), "short");
    }

    /// A text as a JSON string, with some characters as codes.
    fn spell(text: &str, codes: &[bool]) -> String {
        let mut codes = codes.iter().cycle();
        let spell = |c: char| match codes.next() {
            Some(true) => format!("\\u{:04x}", u32::from(c)),
            _ => Value::from(c.to_string()).to_string().trim_matches('"').to_owned(),
        };
        format!("\"{}\"", text.replace('"', "'").chars().map(spell).collect::<String>())
    }

    proptest! {
        #[test]
        fn no_spelling_decodes_to_the_token(
            token in r"[!-~]{15,23}[!-\[\]-~]", before in "[ -~]{0,6}", after in "[ -~]{0,6}",
            codes in prop::collection::vec(any::<bool>(), 1..8),
        ) {
            let token = token.replace('"', "'");
            let once = spell(&format!("{before}{token}{after}"), &codes);
            let decoded: String = serde_json::from_str(&clean(&token, &once)).unwrap();
            prop_assert!(!decoded.contains(&token), "{once}");
            // As an ordinary encoder puts JSON into a string of JSON.
            let twice = Value::from(once).to_string();
            let outer: String = serde_json::from_str(&clean(&token, &twice)).unwrap();
            let decoded = serde_json::from_str::<String>(&outer).unwrap_or_default();
            prop_assert!(!decoded.contains(&token), "{twice}");
        }
    }
}
