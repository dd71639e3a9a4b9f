use super::*;
use crate::rpc::{Pieces, read_all};
use futures_core::Stream;
use proptest::prelude::*;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio_util::codec::FramedRead;

/// Every frame of an input that arrives in the given pieces.
fn frames(framing: Option<Framing>, max: usize, pieces: &[&[u8]]) -> Vec<Frame> {
    let mut frames = Vec::new();
    read_all(FrameDecoder::new(framing, max), pieces, |frame, _| frames.push(frame));
    frames
}

fn whole(input: &str) -> Vec<Frame> {
    frames(None, 1 << 20, &[input.as_bytes()])
}

fn message(text: &str) -> Frame {
    Frame::Message(Bytes::copy_from_slice(text.as_bytes()))
}

#[test]
fn first_byte_that_is_not_blank_decides_framing() {
    assert_eq!(whole("\n  {}\n"), [message("{}")]);
    assert_eq!(whole("\u{feff}[]\n"), [message("[]")]);
    assert_eq!(whole("\r\nContent-Length: 2\r\n\r\n{}"), [message("{}")]);
}

#[test]
fn last_line_needs_no_end_and_blank_lines_are_ignored() {
    assert_eq!(whole("{\"a\":1}\r\n\r\n\n{\"b\":2}"), [message("{\"a\":1}"), message("{\"b\":2}")]);
}

#[test]
fn header_names_ignore_case_and_other_headers_are_skipped() {
    let input = "content-length:2\r\nContent-Type: x; charset=utf-8\r\n\r\n{}\r\nCONTENT-LENGTH: 3 \n\n[1]";
    assert_eq!(whole(input), [message("{}"), message("[1]")]);
}

#[test]
fn junk_is_reported_once_and_next_frame_is_read() {
    let good = "Content-Length: 2\r\n\r\n{}";
    let bad = || Frame::Bad(Bad::Header);
    assert_eq!(whole(&format!("junk\r\n{good}")), [bad(), message("{}")]);
    assert_eq!(whole(&format!("Content-Length: x\r\n\r\n{{\"lost\":1}}{good}")), [bad(), message("{}")]);
    assert_eq!(whole(&format!("Content-Length: -5\r\n\r\n{good}")), [bad(), message("{}")]);
    assert_eq!(whole(&format!("X-Other: 1\r\n\r\n{{}}\n{good}")), [bad(), message("{}")]);
    assert_eq!(whole(&format!("Content-Length: 1000000000000\r\n\r\n{good}")), [bad(), message("{}")]);
    assert_eq!(whole(&format!("Content-Length: 99999999999999999999999\r\n\r\n{good}")), [bad(), message("{}")]);
    assert_eq!(whole(&format!("x{}{good}", "y".repeat(100_000))), [bad(), message("{}")]);
}

#[test]
fn junk_directly_before_header_is_reported_once_and_costs_no_frame() {
    let bad = || Frame::Bad(Bad::Header);
    let good = "Content-Length: 2\r\n\r\n{}";
    let (long, longer) = ("x".repeat(5_000), "y".repeat(20_000));
    for junk in ["null", "1", "true", "x-y", "null:", "a: ", "{\"a\":1}", &long, &longer] {
        let glued = format!("{junk}{good}");
        let after = format!("Content-Length: +9\r\n\r\n{glued}{good}");
        assert_eq!(frames(Some(Framing::Headers), 1 << 20, &[after.as_bytes()]), [bad(), message("{}"), message("{}")]);
        let between = format!("{good}{glued}{good}");
        let expected = [message("{}"), bad(), message("{}"), message("{}")];
        assert_eq!(frames(Some(Framing::Headers), 1 << 20, &[between.as_bytes()]), expected, "{:.20}", junk);
    }
}

#[test]
fn content_length_inside_another_header_is_ignored() {
    for other in ["X-Content-Length: 9", "X-Note: Content-Length: 9", "X-Note: content-length: 1"] {
        let before = format!("{other}\r\nContent-Length: 2\r\n\r\n{{}}");
        let behind = format!("Content-Length: 2\r\n{other}\r\n\r\n{{}}");
        assert_eq!((whole(&before), whole(&behind)), (vec![message("{}")], vec![message("{}")]), "{other}");
    }
}

#[test]
fn header_after_long_line_is_found_however_input_is_split() {
    let input = format!("X-Long: {}Content-Length: 2\r\n\r\n{{}}", "x".repeat(50_000));
    for size in [1, 7, 1_000, 8_192, 32_768, 60_000] {
        let pieces: Vec<&[u8]> = input.as_bytes().chunks(size).collect();
        assert_eq!(frames(None, 1 << 20, &pieces), [Frame::Bad(Bad::Header), message("{}")], "{size}");
    }
}

#[test]
fn frame_over_limit_is_skipped_and_reported() {
    let large = || Frame::Bad(Bad::TooLarge(16));
    let long = "x".repeat(100);
    let lines = format!("{{{long}}}\n{{}}\n");
    assert_eq!(frames(None, 16, &[lines.as_bytes()]), [large(), message("{}")]);
    let headers = format!("Content-Length: 100\r\n\r\n{long}Content-Length: 2\r\n\r\n{{}}");
    assert_eq!(frames(None, 16, &[headers.as_bytes()]), [large(), message("{}")]);
}

#[test]
fn junk_after_a_body_with_a_wrong_length_is_not_reported_again() {
    let mut frames = Vec::new();
    let input = b"Content-Length: 3\r\n\r\n{\"a\":1}Content-Length: 2\r\n\r\n{}";
    read_all(FrameDecoder::new(None, 1 << 20), &[input], |frame, decoder| {
        frames.push(frame);
        decoder.last_was_bad();
    });
    assert_eq!(frames, [message("{\"a"), message("{}")]);
}

#[test]
fn end_of_input_inside_frame_is_reported() {
    assert_eq!(whole("Content-Length: 10\r\n\r\n{}"), [Frame::Bad(Bad::Cut)]);
    assert_eq!(whole("Content-Len"), [Frame::Bad(Bad::Cut)]);
    assert_eq!(whole(""), []);
}

#[test]
fn buffer_stays_bounded_while_junk_is_skipped() {
    let max = 1 << 16;
    let piece = [b'x'; 10_000];
    for start in ["{", "Content-Length: 100000000\r\n\r\n", "Junk", "Content-Length: 60000\r\n\r\n"] {
        let pieces = std::iter::once(start.as_bytes()).chain(std::iter::repeat_n(&piece[..], 1_000)).collect();
        let mut frames = FramedRead::new(Pieces(pieces), FrameDecoder::new(None, max));
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(_)) = Pin::new(&mut frames).poll_next(&mut cx) {}
        let room = frames.read_buffer().capacity();
        assert!(room <= 4 * max, "{start:?}: {room}");
    }
}

proptest! {
    #[test]
    fn frames_do_not_depend_on_how_input_is_split(
        bodies in prop::collection::vec("\\{[a-z ]{0,30}\\}", 1..6), headers: bool, cuts in prop::collection::vec(0_usize..400, 0..12)
    ) {
        let framing = if headers { Framing::Headers } else { Framing::Lines };
        let input: Vec<u8> = bodies.iter().flat_map(|body| encode(framing, body.clone().into_bytes())).collect();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(input.len())).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([input.len()]) {
            pieces.push(&input[from..cut]);
            from = cut;
        }
        let expected: Vec<Frame> = bodies.iter().map(|body| message(body)).collect();
        prop_assert_eq!(frames(None, 1 << 20, &pieces), expected);
    }

    #[test]
    fn frame_after_any_junk_is_found(junk in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut input = b"Content-Length: 2\r\n\r\n{}".to_vec();
        input.extend(&junk);
        input.extend(b"\r\n\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
        let all = frames(Some(Framing::Headers), 1 << 20, &[&input]);
        prop_assert_eq!(all.first(), Some(&message("{}")));
        // Junk that happens to announce a length of its own may swallow what follows.
        if !junk.to_ascii_lowercase().windows(15).any(|part| part == b"content-length:") {
            prop_assert_eq!(all.last(), Some(&message("{\"a\":1}")));
        }
    }
}
