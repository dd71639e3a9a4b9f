//! What the book in docs/ says is what the program does.

use crate::readme::{block_in, home_with_one, page, run_in, shown};
use crate::support::{Home, uuid};
use std::fs;

#[test]
fn the_frames_by_hand_list_what_waits() {
    let snippet = block_in(&page("docs/raw.md"), "sh");
    let output = run_in(&Home::new(), "sh", &["-c", &snippet]).expect("every system has a shell");
    assert_eq!(shown(&output).lines().count(), 2);
}

#[test]
fn the_length_in_the_header_is_that_of_the_message() {
    let text = block_in(&page("docs/raw.md"), "text");
    let (header, message) = text.trim_end().split_once("\n\n").unwrap();
    assert_eq!(header, format!("Content-Length: {}", message.len()));
}

// Python is no part of what building needs; where it is missing what is written in it cannot be tried.

#[test]
fn the_python_snippet_lists_the_newest() {
    let snippet = block_in(&page("docs/python.md"), "python");
    if let Some(output) = run_in(&home_with_one(), "python3", &["-c", &snippet]) {
        assert_eq!(shown(&output), "idle the only session\n");
    }
}

#[test]
fn the_client_of_an_afternoon_shows_who_waits() {
    let client = block_in(&page("docs/client.md"), "python");
    let home = home_with_one();
    if let Some(output) = run_in(&home, "python3", &["-c", &client, "--once"]) {
        assert_eq!(shown(&output), "", "the only session is idle");
    }
    let record = home.peer("writer", &uuid(1), "/p");
    let waits = fs::read_to_string(&record).unwrap().replace(r#""status":"idle""#, r#""status":"waiting""#);
    fs::write(record, waits).unwrap();
    if let Some(output) = run_in(&home, "python3", &["-c", &client, "--once"]) {
        let told = format!("the only session: waits for a person\n    claude --resume {}\n", uuid(1));
        assert_eq!(shown(&output), told);
    }
}
