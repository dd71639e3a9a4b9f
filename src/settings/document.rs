//! One member of a JSON object, found, set and removed, and every other byte left as it is.
//!
//! serde_json reads the text and lends out the slices of it that the keys and values are; between them there can only be
//! white space, colons and commas.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Why a text is no object.
#[derive(Debug, thiserror::Error)]
pub(super) enum Malformed {
    #[error("it is not UTF-8")]
    NotText,
    #[error("it is not a JSON object: {0}")]
    NotObject(#[from] serde_json::Error),
}

/// A JSON object and how it is written.
pub(super) struct Document<'a> {
    text: &'a str,
    /// Where the first brace ends.
    opened: usize,
    members: Vec<Member<'a>>,
}

/// A key and a value, as they are written.
#[derive(Clone, Copy)]
struct Member<'a> {
    key: &'a str,
    value: &'a str,
}

impl<'a> Document<'a> {
    pub(super) fn parse(content: &'a [u8]) -> Result<Self, Malformed> {
        let text = std::str::from_utf8(content).map_err(|_| Malformed::NotText)?;
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Members(members) = serde_json::from_str(body)?;
        let opened = text.find('{').map_or(text.len(), |at| at + 1);
        Ok(Self { text, opened, members })
    }

    /// The value of a key as it is written. Of several the last one counts.
    pub(super) fn value(&self, key: &str) -> Option<&'a str> {
        self.members.iter().rfind(|member| member.is(key)).map(|member| member.value)
    }

    /// The text with this value, at the end where the key is not there yet. Both are plain words.
    pub(super) fn with(&self, key: &str, value: &str) -> String {
        if let Some(old) = self.value(key) {
            let at = self.offset(old);
            return self.replaced(at, at + old.len(), &format!("\"{value}\""));
        }
        let Some(last) = self.members.last() else {
            let space = self.space_after(self.opened);
            return self.replaced(self.opened, self.opened, &format!("{}\"{key}\": \"{value}\"", indented(space)));
        };
        let colon = self.between_key_and_value(last);
        let before = self.space_before(self.offset(last.key));
        let gap = match (before.rfind('\n'), &self.members[..]) {
            (Some(at), _) => &before[at - usize::from(before[..at].ends_with('\r'))..],
            // Nothing tells what stands behind a comma.
            (None, [_]) => colon.trim_start_matches(':'),
            (None, _) => before,
        };
        let end = self.end(last);
        self.replaced(end, end, &format!(",{gap}\"{key}\"{colon}\"{value}\""))
    }

    /// The text without this key, however often it is there.
    pub(super) fn without(&self, key: &str) -> String {
        let Some(last) = self.members.last() else { return self.text.to_owned() };
        let Some(first) = self.members.iter().position(|member| !member.is(key)) else {
            return self.replaced(self.opened, self.end(last), "");
        };
        let mut text = String::with_capacity(self.text.len());
        let mut copied = 0;
        for (at, pair) in self.members.windows(2).enumerate() {
            let [member, next] = pair else { continue };
            // A comma goes with the member behind it, but to the first that is kept there is none.
            let (from, to) = match at < first {
                true => (self.offset(member.key), self.offset(next.key)),
                false if next.is(key) => (self.end(member), self.end(next)),
                false => continue,
            };
            text.push_str(&self.text[copied..from]);
            copied = to;
        }
        text.push_str(&self.text[copied..]);
        text
    }

    fn replaced(&self, from: usize, to: usize, new: &str) -> String {
        [&self.text[..from], new, &self.text[to..]].concat()
    }

    fn offset(&self, part: &str) -> usize {
        part.as_ptr().addr() - self.text.as_ptr().addr()
    }

    fn end(&self, member: &Member<'_>) -> usize {
        self.offset(member.value) + member.value.len()
    }

    fn space_before(&self, at: usize) -> &'a str {
        let before = &self.text[..at];
        &before[before.trim_end_matches(is_space).len()..]
    }

    fn space_after(&self, at: usize) -> &'a str {
        let after = &self.text[at..];
        &after[..after.len() - after.trim_start_matches(is_space).len()]
    }

    /// The colon and the white space behind it.
    fn between_key_and_value(&self, member: &Member<'_>) -> &'a str {
        let between = &self.text[self.offset(member.key) + member.key.len()..self.offset(member.value)];
        if between.contains('\n') { ": " } else { between.trim_start_matches(is_space) }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// What stands before the only key of an object that this white space was all of.
fn indented(space: &str) -> String {
    match space.find('\n') {
        Some(at) => format!("{}  ", &space[at - usize::from(space[..at].ends_with('\r'))..=at]),
        None => space.to_owned(),
    }
}

impl Member<'_> {
    /// A key may be written with escapes. One that is no Unicode is none that is asked for.
    fn is(&self, key: &str) -> bool {
        serde_json::from_str::<String>(self.key).is_ok_and(|own| own == key)
    }
}

struct Members<'a>(Vec<Member<'a>>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    members.push(Member { key: key.get(), value: value.get() });
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
