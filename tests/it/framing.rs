//! How frames are told apart, and that a bad one costs one error and never the connection.

use crate::support::{Framing, MIB, Server, Spawn, Transport, initialize_params};
use serde_json::{Value, json};

/// `initialize` as text, with id 1.
fn initialize() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params() }).to_string()
}

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

fn pong() -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "result": {} })
}

#[test]
fn the_first_byte_that_is_not_blank_decides() {
    let (line, headers) = (initialize() + "\n", format!("{}\r\n\r\n{}", initialize().len(), initialize()));
    let cases = [
        (Framing::Lines, line.clone()),
        (Framing::Lines, format!("\r\n\n \t{line}")),
        (Framing::Lines, format!("\u{feff}{line}")),
        (Framing::Lines, line.replace('\n', "\r\n")),
        (Framing::Headers, format!("Content-Length: {headers}")),
        (Framing::Headers, format!("\r\n\r\ncontent-length:{headers}")),
        (Framing::Headers, format!("\u{feff}Content-Length: {headers}")),
        (
            Framing::Headers,
            format!("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {headers}"),
        ),
        (Framing::Headers, format!("Content-Length: {headers}").replace("\r\n", "\n")),
    ];
    for (framing, opening) in cases {
        let mut server = Spawn::empty().framing(framing).start();
        server.raw(&opening);
        assert_eq!(server.answer(1).result()["serverInfo"]["name"], "tackroom", "{opening:?}");
        server.pong();
    }
    let mut server = Spawn::empty().start();
    server.frame(format!("[{}]", initialize()));
    assert_eq!(server.expect_frame()[0]["id"], 1);
    server.pong();
}

#[test]
fn the_framing_can_be_forced() {
    let mut server = Spawn::empty().args(["--framing", "lines"]).start();
    server.raw("Content-Length: 2\n");
    server.expect_refusal().is(-32700, "parse_error");
    server.initialize(json!({}));

    let mut server = Spawn::empty().framing(Framing::Headers).args(["--framing", "headers"]).start();
    server.raw("{}\r\n");
    server.expect_refusal().is(-32700, "parse_error");
    server.initialize(json!({}));
}

/// Sends each bad frame; it must cost exactly one error with id null, and the next ping must be answered.
fn each_costs_one_error(server: &mut Server, bad: &[(&str, Vec<u8>, i64)]) {
    for (what, bytes, code) in bad {
        eprintln!("{what}");
        server.raw(bytes);
        // The ping is sent before the error is waited for: some junk shows as such only by what follows it.
        let id = server.ask("ping", json!({}));
        let refusal = server.expect_frame();
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&Value::Null, &json!(code)), "{what}");
        assert_eq!(server.expect_frame(), json!({ "jsonrpc": "2.0", "id": id, "result": {} }), "{what}");
    }
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

/// Bodies that are bad in either framing.
fn bad_messages() -> Vec<(&'static str, Vec<u8>, i64)> {
    let deep = |depth| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}}}}}"#, nested(depth));
    vec![
        ("cut JSON", br#"{"jsonrpc":"2.0","method":"#.to_vec(), -32700),
        ("two values", b"{} {}".to_vec(), -32700),
        ("a single quote", b"{'jsonrpc':'2.0'}".to_vec(), -32700),
        ("invalid UTF-8", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xFFng\"}".to_vec(), -32700),
        ("UTF-16", b"{\0\"\0j\0\"\0:\x001\0}\0".to_vec(), -32700),
        ("NUL bytes", b"\0\0\0\0".to_vec(), -32700),
        ("a byte order mark", [b"\xEF\xBB\xBF", PING.as_bytes()].concat(), -32700),
        ("nested by 129", deep(127).into_bytes(), -32700),
        ("nested by 100,000", deep(100_000).into_bytes(), -32700),
        ("brackets alone", nested(100_000).into_bytes(), -32700),
        ("open brackets alone", b"[".repeat(100_000), -32700),
        ("a number", b"1".to_vec(), -32600),
        ("a string", b"\"ping\"".to_vec(), -32600),
        ("null", b"null".to_vec(), -32600),
        ("an empty object", b"{}".to_vec(), -32600),
        ("an empty batch", b"[ ]".to_vec(), -32600),
    ]
}

#[test]
fn bad_lines() {
    let mut server = Spawn::empty().args(["--limit", "frameBytes=300000"]).open();
    let mut bad: Vec<_> = bad_messages();
    bad.push(("a line over the limit", vec![b'x'; 300_001], -32033));
    bad.push(("one far over it", vec![b'{'; 3_000_000], -32033));
    bad.push(("headers", b"Content-Length: 2".to_vec(), -32700));
    for (_, bytes, _) in &mut bad {
        bytes.push(b'\n');
    }
    each_costs_one_error(&mut server, &bad);
    // What is no frame costs nothing.
    server.raw("\n\r\n   \t\r\n\n");
    server.pong();
    server.raw(format!("  {PING}  \r\n"));
    assert_eq!(server.expect_frame(), pong());
}

#[test]
fn bad_bodies() {
    let mut server = Spawn::empty().framing(Framing::Headers).args(["--limit", "frameBytes=300000"]).open();
    let mut bad = bad_messages();
    bad.push(("a body over the limit", vec![b'x'; 300_001], -32033));
    bad.push(("one far over it", vec![b'{'; 3_000_000], -32033));
    bad.push(("a body of nothing", Vec::new(), -32700));
    for (_, bytes, _) in &mut bad {
        *bytes = Framing::Headers.encode(&bytes);
    }
    each_costs_one_error(&mut server, &bad);
}

#[test]
fn bad_headers() {
    let mut server = Spawn::empty().framing(Framing::Headers).open();
    let text = |what, text: &str| (what, text.as_bytes().to_vec(), -32700);
    let lost = PING;
    each_costs_one_error(
        &mut server,
        &[
            text("junk", "junk\r\n"),
            text("junk without line end", "!!!"),
            text("several lines of junk", "junk\r\nmore junk\r\n\r\nand more\r\n"),
            text("no length", &format!("Content-Type: x\r\n\r\n{lost}")),
            text("no length, and a line end", &format!("Content-Type: x\r\n\r\n{lost}\r\n")),
            text("an empty length", &format!("Content-Length:\r\n\r\n{lost}")),
            text("a negative length", &format!("Content-Length: -5\r\n\r\n{lost}")),
            text("a signed length", &format!("Content-Length: +39\r\n\r\n{lost}")),
            text("a length in hex", &format!("Content-Length: 0x27\r\n\r\n{lost}")),
            text("a fraction", &format!("Content-Length: 39.0\r\n\r\n{lost}")),
            text("two lengths in one", &format!("Content-Length: 39, 39\r\n\r\n{lost}")),
            text("two lengths that differ", &format!("Content-Length: 39\r\nContent-Length: 38\r\n\r\n{lost}")),
            text("a huge length", &format!("Content-Length: 1000000000000\r\n\r\n{lost}")),
            text("a length beyond all numbers", &format!("Content-Length: 99999999999999999999999\r\n\r\n{lost}")),
            text("a line of JSON", &format!("{lost}\n")),
            text("a length that is too short", &format!("Content-Length: {}\r\n\r\n{lost}", lost.len() - 9)),
            text("headers that do not end", &"X-Header: x\r\n".repeat(2_000)),
            text("one header that does not end", &format!("X-Header: {}", "x".repeat(50_000))),
            ("bytes", (0..=255).collect(), -32700),
        ],
    );
    // The same length twice is no contradiction.
    server.raw(format!("Content-Length: 40\r\nContent-Length: 40\r\n\r\n{PING}"));
    assert_eq!(server.expect_frame(), pong());
    // A length that is too long takes the beginning of the next frame with it: that one is lost, the one after is not.
    server.raw(format!("Content-Length: {}\r\n\r\n{PING}", PING.len() + 9));
    server.frame(PING);
    server.expect_refusal().is(-32700, "parse_error");
    server.pong();
}

#[test]
fn nesting_up_to_the_bound_is_served() {
    for framing in Framing::BOTH {
        let mut server = Spawn::empty().framing(framing).open();
        for depth in [125, 126] {
            server.frame(format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"a":{}}}}}"#, nested(depth)));
            assert_eq!(server.expect_frame(), pong());
        }
        let deep = format!(r#"[{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"a":{}}}}}]"#, nested(125));
        server.frame(deep);
        assert_eq!(server.expect_frame(), json!([pong()]));
        // Brackets within strings nest nothing.
        server.frame(format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"a":"\"{}"}}}}"#, "[".repeat(200)));
        assert_eq!(server.expect_frame(), pong());
    }
}

#[test]
fn a_frame_far_over_the_limit_is_not_stored() {
    for framing in Framing::BOTH {
        let mut server = Spawn::empty().framing(framing).open();
        server.frame(vec![b' '; 80 << 20]);
        server.expect_refusal().is(-32033, "too_large");
        server.pong();
        assert!(server.peak_memory() < 60 * MIB, "{} KiB", server.peak_memory());
    }
}

#[test]
fn a_frame_at_the_limit_is_served_and_one_byte_more_is_not() {
    for framing in Framing::BOTH {
        let mut server = Spawn::empty().framing(framing).args(["--limit", "frameBytes=1000"]).open();
        let padded =
            |length: usize| PING.replace(r#""ping""#, &format!(r#""ping"{}"#, " ".repeat(length - PING.len())));
        server.frame(padded(1_000));
        assert_eq!(server.expect_frame(), pong());
        server.frame(padded(1_001));
        server.expect_refusal().is(-32033, "too_large");
        server.frame(padded(1_000));
        assert_eq!(server.expect_frame(), pong());
    }
}

#[test]
fn a_claimed_length_allocates_nothing() {
    // Over the limit: told before a byte of it came.
    let mut server = Spawn::empty().framing(Framing::Headers).open();
    server.pong();
    let before = server.peak_memory();
    server.raw("Content-Length: 900000000\r\n\r\n");
    server.expect_refusal().is(-32033, "too_large");
    assert!(server.peak_memory() < before + MIB);
    server.close_input();
    server.expect_end(0);

    // Within the limit: it could come yet.
    let mut server = Spawn::empty().framing(Framing::Headers).transport(Transport::Sockets).open();
    server.pong();
    let before = server.peak_memory();
    server.raw_byte_by_byte("Content-Length: 16000000\r\n\r\n{");
    assert!(server.peak_memory() < before + MIB);
    server.close_input();
    server.expect_refusal().is(-32700, "parse_error");
    server.expect_end(0);
}

#[test]
fn the_end_inside_a_frame_is_told_and_a_last_line_needs_no_end() {
    for (framing, rest) in [
        (Framing::Headers, "Content-Le"),
        (Framing::Headers, "Content-Length: 40\r\n"),
        (Framing::Headers, "Content-Length: 40\r\n\r\n"),
        (Framing::Headers, "Content-Length: 41\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}"),
        (Framing::Lines, "{\"jsonrpc\":\"2.0\",\"id\":7,\"meth"),
    ] {
        let mut server = Spawn::empty().framing(framing).open();
        server.raw(rest);
        server.close_input();
        server.expect_refusal().is(-32700, "parse_error");
        server.expect_end(0);
    }
    for rest in ["", "\n", " \r\n "] {
        let mut server = Spawn::empty().open();
        server.raw(format!("{PING}{rest}"));
        server.close_input();
        assert_eq!(server.expect_frame(), pong());
        server.expect_end(0);
    }
}

#[test]
fn frames_may_come_byte_by_byte_or_all_at_once() {
    for framing in Framing::BOTH {
        for transport in [Transport::Pipes, Transport::OneSocket] {
            let mut server = Spawn::empty().framing(framing).transport(transport).start();
            server.raw_byte_by_byte("\u{feff}\r\n");
            server.raw_byte_by_byte(framing.encode(initialize()));
            server.answer(1).result();
            server.raw_byte_by_byte(framing.encode(PING));
            assert_eq!(server.expect_frame(), pong());
            let many: Vec<u8> = (0..200).flat_map(|_| framing.encode(PING)).collect();
            server.raw(many);
            for _ in 0..200 {
                assert_eq!(server.expect_frame(), pong());
            }
            server.close_input();
            server.expect_end(0);
        }
    }
}

#[test]
fn junk_before_a_header_costs_one_error_and_no_request() {
    for junk in ["null", "1", "true", "{}", &"x".repeat(5_000)] {
        let mut server = Spawn::empty().framing(Framing::Headers).open();
        server.raw(format!("Content-Length: +{}\r\n\r\n{junk}", junk.len()));
        let ping = server.ask("ping", json!({}));
        assert_eq!(server.expect_frame()["error"]["data"]["reason"], "parse_error");
        server.answer(ping).result();
        server.pong();
    }
}
