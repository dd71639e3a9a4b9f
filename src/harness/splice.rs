//! Several records on one line. A program that dies while it writes, or two programs that write at once, leave
//! `{…}{…}`, or the beginning of a record with a whole record behind it. Every whole record counts.

use serde::de::IgnoredAny;
use std::ops::Range;

/// Returns the records of a line: the line itself unless it holds several, or a whole record behind a torn one.
pub(super) fn records(line: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let several = several(line);
    let one = several.is_empty().then_some(line);
    one.into_iter().chain(several.into_iter().map(|range| &line[range]))
}

/// Returns where the records of a line lie; nothing where the line is one record, or holds none.
pub(super) fn several(line: &[u8]) -> Vec<Range<usize>> {
    if !may_hold_several(line) {
        return Vec::new();
    }
    let records = whole(line);
    if records.first().is_some_and(|first| first.len() == line.len()) { Vec::new() } else { records }
}

/// Returns where the whole records of a line lie.
pub(super) fn whole(line: &[u8]) -> Vec<Range<usize>> {
    let mut records = Vec::new();
    let mut from = 0;
    while let Some(begin) = memchr::memchr(b'{', &line[from..]).map(|at| from + at) {
        let mut values = serde_json::Deserializer::from_slice(&line[begin..]).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                let end = begin + values.byte_offset();
                // An object that more of the same record follows is a part of a torn one.
                let follows = line[end..].iter().find(|byte| !is_blank(**byte));
                if follows.is_none_or(|byte| *byte == b'{') {
                    records.push(begin..end);
                }
                from = end;
            }
            // The line ends inside of the record.
            Some(Err(error)) if error.is_eof() => break,
            // A torn record is valid up to where the next one begins, or just beyond: the quote of that one's first
            // name may have closed a string.
            Some(Err(error)) => {
                let failed = line.len().min(begin + error.column() + 1);
                let next = memchr::memrchr(b'{', &line[begin + 1..failed]);
                from = next.map_or(failed, |at| begin + 1 + at);
            }
            None => break,
        }
    }
    records
}

/// Whether an object begins where none can in a record that is whole. Costs a search for two bytes, not a parse.
fn may_hold_several(line: &[u8]) -> bool {
    memchr::memmem::find_iter(line, b"{\"").any(|at| !may_begin_inside(&line[..at]))
}

/// Whether an object can begin behind this part of a record. What is seldom, such as an object behind a number in a
/// list, is left to the parser.
fn may_begin_inside(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let list = before.strip_suffix(b"[").map(<[u8]>::trim_ascii_end);
    before.is_empty()
        || before.ends_with(b"\":")
        || before.ends_with(b"},")
        || list.is_some_and(|before| before.ends_with(b"\":"))
}

/// White space, and the NULs that a hole in a file reads as.
pub(super) fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn texts(line: &str) -> Vec<String> {
        let texts = records(line.as_bytes()).map(|record| String::from_utf8_lossy(record).into_owned());
        texts.collect()
    }

    #[test]
    fn one_record_stays_one() {
        for line in [
            r#"{"a":1}"#,
            r#"{"a":[{"b":1},{"c":{"d":2}}],"e":{"f":3}}"#,
            r#"{"a": [{"b": 1}, {"c": {"d": 2}}], "e": {"f": 3}}"#,
            r#"{"a":[1,{"b":1},"x",{"c":"}{"},[[{"d":"} {"}]]],"e":"ends with {","f":"\"} {\"a\":1}"}"#,
            "not JSON",
            r#"{"torn":{"role":"user","content":"hi"},"text":"no end"#,
            r#"{"torn":{"role":"user","content":"hi"}"#,
        ] {
            assert_eq!(texts(line), [line]);
        }
    }

    #[test]
    fn whole_records_on_one_line_are_separate_records() {
        let (a, b, c) = (r#"{"a":"}{"}"#, r#"{"b":{"c":[{}]}}"#, "{}");
        for line in [format!("{a}{b}{c}"), format!("{a} {b}\t{c}"), format!("{a}\0\0{b}\r{c}")] {
            assert_eq!(texts(&line), [a, b, c], "{line:?}");
        }
        assert_eq!(texts(&format!("{a}{b}{}", r#"{"torn":{"role":"user"},"text":"no"#)), [a, b]);
        assert_eq!(texts(&format!("{a}{}", r#"{"torn":{"role":"user"}"#)), [a]);
    }

    #[test]
    fn a_whole_record_behind_the_end_of_a_torn_one_counts() {
        let whole = r#"{"type":"user","text":"whole"}"#;
        assert_eq!(texts(&format!(r#"lost","part":{{"role":"user"}}}}{whole}"#)), [whole]);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<i32>().prop_map(Value::from), "[a{}\\[\\],:\"\\\\ é]{0,9}".prop_map(Value::from)];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| json!(map)),
            ]
        })
    }

    fn record() -> impl Strategy<Value = String> {
        (value(), value()).prop_map(|(a, b)| json!({ "kind": a, "rest": b }).to_string())
    }

    proptest! {
        #[test]
        fn every_record_is_found(all in prop::collection::vec((record(), " {0,2}"), 1..4)) {
            let line: String = all.iter().map(|(record, blanks)| format!("{record}{blanks}")).collect();
            let expected: Vec<_> = all.into_iter().map(|(record, _)| record).collect();
            prop_assert_eq!(texts(line.trim_end()), expected);
        }

        #[test]
        fn a_torn_record_costs_only_itself(torn in record(), cut in any::<prop::sample::Index>(), next in record()) {
            let cut = cut.index(torn.len());
            let torn = String::from_utf8_lossy(&torn.as_bytes()[..cut]).into_owned();
            // Where a value is due, the next record is read as that value: which it is cannot be told.
            let open = torn.trim_end().ends_with(['[', ',', ':']);
            let found = texts(&format!("{torn}{next}"));
            prop_assert!(found == [next.clone()] || open, "{torn} {next} {found:?}");
        }
    }
}
