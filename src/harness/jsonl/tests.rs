//! Reading lines from both ends, and streaming them.

use super::head_tail::mend;
use super::*;
use proptest::prelude::*;
use std::fs::File;
use std::io::{BufReader, Write};

fn ends_of(content: &[u8]) -> (HeadTail, File) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    let mut ends = HeadTail::default();
    ends.load(&file).unwrap();
    (ends, file)
}

#[test]
fn a_small_file_is_read_once_and_a_last_line_without_end_counts() {
    let (ends, _) = ends_of(b"one\r\n\n two\nthree");
    assert!(ends.whole());
    assert_eq!(ends.head().collect::<Vec<_>>(), [&b"one"[..], b"two", b"three"]);
    assert_eq!(ends.tail_reversed().collect::<Vec<_>>(), [&b"three"[..], b"two", b"one"]);
}

#[test]
fn cut_lines_at_the_inner_edges_are_not_lines() {
    let content: Vec<u8> = (0..20_000).flat_map(|i| format!("line {i:06}\n").into_bytes()).collect();
    let (mut ends, file) = ends_of(&content);
    assert!(!ends.whole());
    assert!(ends.head().chain(ends.tail_reversed()).all(|line| line.len() == 11));
    assert_eq!(ends.tail_reversed().next(), Some(&b"line 019999"[..]));
    while ends.grow_head(&file).unwrap() {}
    while ends.grow_tail(&file).unwrap() {}
    assert!(ends.whole());
    assert!(ends.head().chain(ends.tail_reversed()).all(|line| line.len() == 11));
    assert_eq!(ends.head().next(), Some(&b"line 000000"[..]));
}

#[test]
fn a_file_can_be_taken_to_end_before_it_does() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"one\ntwo\nthree\n").unwrap();
    let mut ends = HeadTail::default();
    ends.load_sized(&file, 8).unwrap();
    assert_eq!(ends.head().collect::<Vec<_>>(), [&b"one"[..], b"two"]);
    assert!(ends.whole());
}

#[test]
fn a_stream_has_the_ends_of_the_file_that_it_would_make() {
    const BOUNDS: usize = limits::HEAD_MAX + limits::TAIL_MAX;
    for size in [5, limits::HEAD_MAX, limits::HEAD_MAX + 3, BOUNDS - 7, BOUNDS, BOUNDS + 1, 3 * BOUNDS] {
        let mut content: Vec<u8> = (0..size / 16).flat_map(|i| format!("line {i:010}\n").into_bytes()).collect();
        content.resize(size, b'z');
        let all: Vec<_> = lines(&content).collect();
        let mut ends = HeadTail::default();
        ends.load_stream(&content[..], true).unwrap();
        let mut seen: Vec<_> = ends.head().chain(ends.tail_reversed()).collect();
        seen.sort();
        seen.dedup();
        assert_eq!(ends.whole(), size <= limits::HEAD_MAX, "{size}");
        assert!(size > BOUNDS || seen.len() == all.len(), "{size}");
        assert!(seen.iter().all(|line| all.binary_search(line).is_ok()));
        assert_eq!((ends.head().next(), ends.tail_reversed().next()), (Some(all[0]), all.last().copied()));

        ends.load_stream(&content[..], false).unwrap();
        assert_eq!(ends.head().next(), Some(all[0]));
        let last = ends.tail_reversed().next();
        assert_eq!(last, (size < limits::HEAD_MAX).then(|| all[all.len() - 1]), "what was not read is not told");
    }
}

proptest! {
    #[test]
    fn a_record_that_is_cut_inside_a_text_keeps_what_stands_before(text in "\\PC{1,30}", cut in 1_usize..60) {
        let record = serde_json::json!({ "first": [1, { "a": "b" }], "text": text, "last": true }).to_string();
        let from = record.find("\"text\":").unwrap() + "\"text\":\"".len();
        let to = record.rfind("\",\"last\"").unwrap();
        let end = (from + cut).min(to);
        let mended = mend(&record.as_bytes()[..end]).unwrap();
        let mended: serde_json::Value = serde_json::from_slice(&mended).unwrap();
        prop_assert_eq!(&mended["first"], &serde_json::json!([1, { "a": "b" }]));
        prop_assert!(text.starts_with(mended["text"].as_str().unwrap()));
    }

    #[test]
    fn lines_are_the_same_from_both_sides(text in "[a\n ]{0,40}") {
        let expected: Vec<_> = text.split('\n').map(|line| trim(line.as_bytes())).filter(|l| !l.is_empty()).collect();
        prop_assert_eq!(lines(text.as_bytes()).collect::<Vec<_>>(), expected.clone());
        let mut reversed: Vec<_> = lines(text.as_bytes()).rev().collect();
        reversed.reverse();
        prop_assert_eq!(reversed, expected);
    }

    #[test]
    fn streaming_gives_the_same_lines_however_the_reader_is_cut(
        lines in prop::collection::vec("[a-z]{1,40}", 0..50), buffer in 1_usize..64
    ) {
        let mut streamed = Vec::new();
        stream(BufReader::with_capacity(buffer, lines.join("\n").as_bytes()), |line| {
            streamed.push(String::from_utf8_lossy(line).into_owned());
            ControlFlow::Continue(())
        }).unwrap();
        prop_assert_eq!(streamed, lines);
    }
}
