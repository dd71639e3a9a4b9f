//! Several records on one line: every store reads them like records on lines of their own.

use super::files::{STORES, log, sessions};
use super::*;
use crate::harness::testing::{details, whole};

/// The beginning of a record that a program did not finish.
const TORN: &[u8] = br#"{"type":"user","message":{"role":"user","content":"Not finish"#;

/// Lays records on one line: `per_line` of them, with so many blanks between. As many bytes are added at the end, where
/// that is none, as positions in one file may stand in another.
fn splice(content: &[u8], per_line: usize, between: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let mut spliced: Vec<u8> =
        lines.chunks(per_line).flat_map(|records| [&records.join(between)[..], b"\n"].concat()).collect();
    spliced.truncate(spliced.len() - usize::from(!content.ends_with(b"\n")));
    spliced
}

/// What a store says of a session that others must agree with.
fn said(store: &'static dyn Store, root: &Root, id: &str) -> (Session, crate::harness::Details, Vec<Message>) {
    let listing = list(store, &root.path);
    let session = listing.sessions.iter().find(|session| &*session.id == id).unwrap().clone();
    let roots = [root.clone()];
    let messages = whole(store, &roots, &session);
    let details = details(store, &roots, &session);
    (Session { updated_at_ms: None, ..session }, details, messages)
}

#[test]
fn spliced_lines_read_like_separate_lines() {
    for (store, name) in STORES {
        for (per_line, between) in [(2, &b" "[..]), (3, b" "), (2, b""), (3, b"\0\0")] {
            let (_tree, root, sessions) = sessions(store, name);
            // A fork says at which byte of another file it begins.
            let is_fork = |session: &Session| {
                fs::read(&session.location).unwrap().windows(14).any(|part| part == b"\"history_base\"")
            };
            if between.len() != 1 && sessions.iter().any(is_fork) {
                continue;
            }
            let expected: Vec<_> = sessions.iter().map(|session| said(store, &root, &session.id)).collect();
            for session in &sessions {
                let log = log(session);
                let content = fs::read(&log).unwrap();
                fs::write(&log, splice(&content, per_line, between)).unwrap();
            }
            for (session, expected) in sessions.iter().zip(expected) {
                let found = said(store, &root, &session.id);
                assert_eq!(found, expected, "{name}: {} with {per_line} on a line", session.id);
            }
        }
    }
}

#[test]
fn a_record_behind_a_torn_one_on_its_line_counts() {
    for (store, name) in STORES {
        let (_tree, root, sessions) = sessions(store, name);
        if name == "codex/v0.171.0" {
            continue; // Its forks say at which byte of another file they begin.
        }
        let expected: Vec<_> = sessions.iter().map(|session| said(store, &root, &session.id)).collect();
        for session in &sessions {
            let log = log(session);
            let content = fs::read(&log).unwrap();
            let torn = content.split_inclusive(|byte| *byte == b'\n').enumerate();
            // The first line says what the file is.
            let torn: Vec<u8> =
                torn.flat_map(|(at, line)| [if at == 0 { &[][..] } else { TORN }, line].concat()).collect();
            fs::write(&log, torn).unwrap();
        }
        for (session, expected) in sessions.iter().zip(expected) {
            assert_eq!(said(store, &root, &session.id), expected, "{name}: {}", session.id);
        }
    }
}

#[test]
fn spliced_lines_are_followed_record_by_record() {
    for (store, name) in STORES {
        let (_tree, root, sessions) = sessions(store, name);
        for session in &sessions {
            let log = log(session);
            let content = splice(&fs::read(&log).unwrap(), 3, b" ");
            fs::write(&log, b"").unwrap();
            let mut client = Client::begin(store, root.clone(), session.clone());
            for piece in content.split_inclusive(|byte| *byte == b' ' || *byte == b'\n') {
                append(&log, piece);
                client.check();
            }
            client.finish();
        }
    }
}
