//! What the book in docs/ says is what the program does.

use crate::readme::{block_in, home_with_one, page, run_in, shown};
use crate::support::host::Host;
use crate::support::{Home, serve, uuid};
use serde_json::Value;
use std::fs;

#[test]
fn the_frames_by_hand_list_what_waits() {
    let snippet = block_in(&page("docs/guides/any-program.md"), "sh");
    let output = run_in(&Home::new(), "sh", &["-c", &snippet]).expect("every system has a shell");
    assert_eq!(shown(&output).lines().count(), 2);
}

#[test]
fn the_length_in_the_header_is_that_of_the_message() {
    let text = block_in(&page("docs/guides/any-program.md"), "text");
    let (header, message) = text.trim_end().split_once("\n\n").unwrap();
    assert_eq!(header, format!("Content-Length: {}", message.len()));
}

/// What the page leaves out: what an agent itself sent.
fn without_raw(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            members.remove("raw");
            members.values_mut().for_each(|member| *member = without_raw(member.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_raw(item.take())),
        _ => {}
    }
    value
}

const NUMBERED: &str = "attachment-1";

#[test]
fn a_turn_of_the_demo_agent_crosses_as_the_book_has_it() {
    let home = Home::new();
    let _host = Host::demo(&home);
    let mut server = serve(home);
    let page = block_in(&page("docs/reference/runtime.md"), "text");
    // The page numbers the attachment, whose handle is random.
    let mut handle = None;
    for exchange in page.split("\n\n") {
        let (asked, promised) = exchange.split_once('\n').unwrap();
        let asked = asked.strip_prefix("--> ").unwrap();
        server.frame(asked.replace(NUMBERED, handle.as_deref().unwrap_or(NUMBERED)));
        let mut told: Vec<Vec<u8>> = promised.lines().map(|_| server.next_bytes().unwrap()).collect();
        let answers = told.iter().filter_map(|bytes| serde_json::from_slice::<Value>(bytes).ok());
        let attached = answers.filter_map(|answer| Some(answer["result"]["attachment"].as_str()?.to_owned())).next();
        handle = handle.or(attached);
        if let Some(handle) = &handle {
            for bytes in &mut told {
                *bytes = String::from_utf8_lossy(bytes).replace(handle, NUMBERED).into_bytes();
            }
        }
        // An answer and an event may overtake each other; events are numbered.
        for frame in promised.lines().map(|line| line.strip_prefix("<-- ").unwrap()) {
            let is_it = |bytes: &[u8]| match frame.split_once('…') {
                Some((beginning, _)) => bytes.starts_with(beginning.trim_end().as_bytes()),
                None => {
                    let [told, promised] = [bytes, frame.as_bytes()].map(|text| serde_json::from_slice(text).unwrap());
                    without_raw(told) == promised
                }
            };
            let at = told.iter().position(|bytes| is_it(bytes));
            told.remove(at.unwrap_or_else(|| panic!("{frame}\n{}", String::from_utf8_lossy(&told.concat()))));
        }
    }
}

// Python is no part of what building needs; where it is missing what is written in it cannot be tried.

#[test]
fn the_python_snippet_lists_the_newest() {
    let snippet = block_in(&page("docs/guides/python.md"), "python");
    if let Some(output) = run_in(&home_with_one(), "python3", &["-c", &snippet]) {
        assert_eq!(shown(&output), "idle the only session\n");
    }
}

#[test]
fn the_client_of_an_afternoon_shows_who_waits() {
    let client = block_in(&page("docs/guides/client.md"), "python");
    let home = home_with_one();
    if let Some(output) = run_in(&home, "python3", &["-c", &client, "--once"]) {
        assert_eq!(shown(&output), "", "the only session is idle");
    }
    let record = home.peer("writer", &uuid(1), "/p");
    let waits = fs::read_to_string(&record).unwrap().replace(r#""status":"idle""#, r#""status":"waiting""#);
    fs::write(record, waits).unwrap();
    if let Some(output) = run_in(&home, "python3", &["-c", &client, "--once"]) {
        let told = format!("the only session: waits for a person\n    cd /p && claude --resume {}\n", uuid(1));
        assert_eq!(shown(&output), told);
    }
}
