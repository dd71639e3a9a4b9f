//! Texts out of records: decoded leniently, cut to one line or an excerpt; times.

use crate::limits;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The string that a raw JSON value is; `None` for any other kind. A lone surrogate becomes U+FFFD.
pub(super) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let json = raw.get();
    if !json.starts_with('"') {
        return None;
    }
    if let Ok(text) = serde_json::from_str::<Borrowed<'_>>(json) {
        return Some(text.0);
    }
    struct Bytes(Vec<u8>);
    impl<'de> Deserialize<'de> for Bytes {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl serde::de::Visitor<'_> for Visitor {
                type Value = Bytes;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("a string")
                }
                fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                    Ok(Bytes(bytes.to_vec()))
                }
            }
            // Only as bytes does serde_json let a lone surrogate pass.
            deserializer.deserialize_bytes(Visitor)
        }
    }
    let bytes: Bytes = serde_json::from_str(json).ok()?;
    Some(Cow::Owned(String::from_utf8_lossy(&bytes.0).into_owned()))
}

#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

/// A record's member that is wanted as a string.
pub(super) fn member<'a>(raw: Option<&'a RawValue>) -> Option<Cow<'a, str>> {
    raw.and_then(string)
}

/// A record's member as JSON; what cannot be held as such, as the text that it is in its record.
pub(super) fn raw_value(raw: &RawValue) -> Value {
    value(raw.get()).unwrap_or_else(|| raw.get().into())
}

/// Whether a record's member is `true`.
pub(super) fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// A JSON value. Half a surrogate, which JavaScript and Python write, costs only itself.
pub(super) fn value(json: &str) -> Option<Value> {
    serde_json::from_str(json).or_else(|_| serde_json::from_str(&mended(json))).ok()
}

/// The same JSON with U+FFFD in place of each half of a surrogate.
fn mended(json: &str) -> String {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((plain, escape)) = rest.find('\\').map(|at| rest.split_at(at)) {
        mended.push_str(plain);
        let length = match unit(escape) {
            Some(0xD800..=0xDBFF) if matches!(unit(&escape[6..]), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => 6,
            _ => escape.char_indices().nth(2).map_or(escape.len(), |(at, _)| at),
        };
        mended.push_str(if length == 6 { "\\ufffd" } else { &escape[..length] });
        rest = &escape[length..];
    }
    mended + rest
}

/// One line for a list: control characters out, white space folded, cut at [`limits::TITLE_CHARS`]. `None` if nothing
/// is left.
pub(super) fn title(text: &str) -> Option<Box<str>> {
    fold(text, limits::TITLE_CHARS)
}

/// The title that a program or a person gave a session; `None` where it only stands for one that is missing.
pub(super) fn given_title(text: &str) -> Option<Box<str>> {
    title(text).filter(|title| !is_placeholder(title))
}

/// Whether a title says only that there is none yet: `New session`, `Untitled 2`, `New session - 2026-11-30T08:40:18Z`.
pub(super) fn is_placeholder(title: &str) -> bool {
    const NAMES: [&str; 14] = [
        "new session",
        "new chat",
        "new conversation",
        "new thread",
        "untitled",
        "untitled session",
        "untitled chat",
        "untitled conversation",
        "unnamed session",
        "empty session",
        "empty conversation",
        "cli session",
        "no title",
        "child session",
    ];
    let title = title.trim_matches(|c: char| c.is_whitespace() || "().…\"'".contains(c)).to_lowercase();
    let numbered = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || "-:._()#tz ".contains(c));
    NAMES.iter().any(|name| title.strip_prefix(name).is_some_and(numbered))
}

/// A text without the elements before and behind it that `is_injected` says a program put there, and without blanks.
pub(super) fn without_elements(text: &str, is_injected: impl Fn(&str) -> bool) -> &str {
    let mut rest = text.trim();
    while let Some(shorter) = without_first(rest, &is_injected).or_else(|| without_last(rest, &is_injected)) {
        rest = shorter.trim();
    }
    rest
}

fn without_first<'a>(text: &'a str, is_injected: &impl Fn(&str) -> bool) -> Option<&'a str> {
    let (name, inner) = text.strip_prefix('<')?.split_once('>')?;
    let name = name.split_whitespace().next().filter(|name| is_injected(name))?;
    Some(inner.split_once(&format!("</{name}>"))?.1)
}

fn without_last<'a>(text: &'a str, is_injected: &impl Fn(&str) -> bool) -> Option<&'a str> {
    let name = text.strip_suffix('>')?.rsplit_once("</")?.1;
    let is_name = !name.is_empty() && is_injected(name);
    let start = text.rfind(&format!("<{name}>")).filter(|_| is_name)?;
    Some(&text[..start])
}

/// A longer excerpt of a text, folded and cut like a title.
pub(super) fn excerpt(text: &str) -> Option<String> {
    fold(text, limits::EXCERPT_CHARS).map(String::from)
}

fn fold(text: &str, max: usize) -> Option<Box<str>> {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count == max {
                line.push('…');
                return Some(line.into());
            }
            line.push(c);
            count += 1;
        }
    }
    (!line.is_empty()).then(|| line.into())
}

/// A time in RFC 3339, as epoch milliseconds.
pub(super) fn time(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

/// An absolute path that can be shown: anything else is no workspace.
pub(super) fn workspace(text: &str) -> Option<Box<str>> {
    let absolute =
        text.starts_with('/') || text.get(1..3).is_some_and(|s| s == ":\\" || s == ":/") || text.starts_with("\\\\");
    (absolute && !text.chars().any(char::is_control)).then(|| text.into())
}

/// How many bytes a text in base 64 stands for. It may be broken into lines.
pub(super) fn base64_bytes(text: &str) -> u64 {
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count();
    digits as u64 * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn only_strings_are_strings_and_half_a_surrogate_does_not_cost_the_rest() {
        assert_eq!(string(&raw(r#""a\nb""#)).unwrap(), "a\nb");
        assert_eq!(string(&raw("7")), None);
        assert!(string(&raw(r#""\ud83d only half""#)).unwrap().ends_with(" only half"));
    }

    #[test]
    fn half_a_surrogate_costs_only_itself_in_a_whole_record() {
        let json = r#"{"a":"\\ud83d \ud83d\ude00 \ud83d only \udc00","b":"\\"}"#;
        let expected = serde_json::json!({"a": "\\ud83d \u{1f600} \u{fffd} only \u{fffd}", "b": "\\"});
        assert_eq!(value(json), Some(expected));
        assert_eq!(value("{torn \\ud83d"), None);
        assert_eq!(value("\\"), None);
    }

    #[test]
    fn a_title_is_one_bounded_line_without_control_characters() {
        assert_eq!(title(" two\nlines\t\u{1b}[31mred ").unwrap().as_ref(), "two lines [31mred");
        assert_eq!(title(" \n\t"), None);
        let long = title(&"x".repeat(1_000)).unwrap();
        assert_eq!(long.chars().count(), limits::TITLE_CHARS + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn placeholders_are_not_titles() {
        for text in ["New session", "new session - 2026-11-30T08:40:18.426Z", "Untitled", "Untitled 3", "CLI Session"] {
            assert_eq!(given_title(text), None, "{text}");
        }
        for text in ["New session handling", "Untitled poem", "Paint the fence", "chat"] {
            assert_eq!(given_title(text).as_deref(), Some(text));
        }
    }

    #[test]
    fn injected_elements_around_a_text_are_removed() {
        let injected = |name: &str| name == "hook_context" || name == "note";
        for (text, expected) in [
            ("<hook_context>a <b>&lt;</b></hook_context>\nSort", "Sort"),
            ("Sort <i>this</i>\n<hook_context>x</hook_context>", "Sort <i>this</i>"),
            ("<note a=\"1\">x</note><hook_context>y</hook_context> Sort <note>z</note>", "Sort"),
            ("<hook_context>x</hook_context>", ""),
            ("<div>mine</div>", "<div>mine</div>"),
            ("<hook_context> is not closed", "<hook_context> is not closed"),
            ("</hook_context>", "</hook_context>"),
            ("<é>", "<é>"),
        ] {
            assert_eq!(without_elements(text, injected), expected, "{text}");
        }
    }

    #[test]
    fn digits_of_base_64_are_counted() {
        for (text, bytes) in [("", 0), ("aGVsbG8=", 5), ("iVBORw0K", 6), ("iVBORw==", 4), ("iVBO\nRw0K\n", 6)] {
            assert_eq!(base64_bytes(text), bytes, "{text:?}");
        }
    }

    #[test]
    fn times_are_epoch_milliseconds() {
        assert_eq!(time("2026-11-30T08:40:18.426Z"), Some(1_796_028_018_426));
        assert_eq!(time("2026-11-30T08:36:30.129006625Z"), Some(1_796_027_790_129));
        assert_eq!(time("not a date"), None);
    }
}
