//! What a runtime sent, before anything else sees it: the secret taken out, and made safe to go on to a client.

use super::error::Error;
use crate::limits;
use crate::protocol::{Token, nested_deeper};
use memchr::memmem::Finder;
use serde_json::value::RawValue;

/// Takes a runtime's token out of what the runtime says.
#[derive(Clone, Debug, Default)]
pub struct Scrub {
    /// The token, and how JSON spells it where that differs.
    spellings: Vec<Finder<'static>>,
}

impl Scrub {
    /// Looks for this token. One that is too short may be an ordinary word and is left alone.
    pub fn new(token: &Token) -> Self {
        let secret = token.secret();
        if secret.len() < limits::TOKEN_SCRUBBED {
            return Self::default();
        }
        let quoted = serde_json::Value::from(secret).to_string();
        let mut spellings = vec![secret, &quoted[1..quoted.len() - 1]];
        spellings.dedup();
        Self { spellings: spellings.into_iter().map(|spelling| Finder::new(spelling).into_owned()).collect() }
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

    /// The same bytes, with `<token>` wherever the token stood.
    pub fn clean(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        for spelling in &self.spellings {
            if spelling.find(&bytes).is_some() {
                bytes = replace(&bytes, spelling);
            }
        }
        bytes
    }
}

fn replace(bytes: &[u8], what: &Finder<'_>) -> Vec<u8> {
    let mut clean = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = what.find(rest) {
        clean.extend_from_slice(&rest[..at]);
        clean.extend_from_slice(b"<token>");
        rest = &rest[at + what.needle().len()..];
    }
    clean.extend_from_slice(rest);
    clean
}
