//! Stores of lines, grown from the records that the real programs wrote.

use super::*;
use crate::harness::{claude_code::ClaudeCode, codex::Codex, gemini::Gemini, goose::Goose, grok::Grok};
use crate::harness::{openclaw::OpenClaw, pi::Pi, supercode::Supercode};
use proptest::prelude::*;

/// Fixtures whose sessions lie in lines.
pub(super) const STORES: [(&dyn Store, &str); 12] = [
    (&ClaudeCode, "claude-code/projects"),
    (&ClaudeCode, "claude-code/hostile/projects"),
    (&Codex, "codex/v0.171.0"),
    (&Codex, "codex/v0.20.0"),
    (&Codex, "codex/v0.45.0"),
    (&Gemini, "gemini/v0.61.0"),
    (&Gemini, "gemini/v0.61.0-resume-next-minute"),
    (&Goose, "goose/legacy-jsonl"),
    (&Grok, "grok/.grok"),
    (&OpenClaw, "openclaw/v2026.5.7/.openclaw"),
    (&Pi, "pi/v1.6.0/sessions"),
    (&Supercode, "supercode/.config/supercode"),
];

/// A copy of a fixture, and those of its sessions that lie in lines.
pub(super) fn sessions(store: &'static dyn Store, name: &str) -> (Tree, Root, Vec<Session>) {
    let tree = Tree::new();
    copy(&fixture(name), tree.path());
    let listing = list(store, tree.path());
    let lines = |session: &Session| session.location.extension().is_some_and(|ending| ending == "jsonl");
    let sessions: Vec<_> = listing.sessions.into_iter().filter(lines).collect();
    assert!(!sessions.is_empty(), "{name}");
    (tree, listing.root, sessions)
}

/// The log that a session grows in: Grok's program writes two of them.
pub(super) fn log(session: &Session) -> PathBuf {
    let display = session.location.with_file_name("updates.jsonl");
    if display.exists() { display } else { session.location.to_path_buf() }
}

/// Grows a session piece by piece, from a first one on, and reads where it is said.
fn grow(store: &'static dyn Store, root: &Root, session: &Session, first: usize, cuts: &[(usize, bool)]) -> Client {
    let log = log(session);
    let content = fs::read(&log).unwrap();
    let mut at = first.min(content.len());
    fs::write(&log, &content[..at]).unwrap();
    let mut client = Client::begin(store, root.clone(), session.clone());
    for (length, read) in cuts {
        let end = (at + length).min(content.len());
        append(&log, &content[at..end]);
        at = end;
        if *read {
            client.check();
        }
    }
    append(&log, &content[at..]);
    client.finish();
    client
}

fn lines(session: &Session) -> Vec<usize> {
    let content = fs::read(log(session)).unwrap();
    content.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::len).collect()
}

#[test]
fn every_fixture_is_told_line_by_line() {
    for (store, name) in STORES {
        let (_tree, root, sessions) = sessions(store, name);
        for session in &sessions {
            let lines = lines(session);
            let cuts: Vec<_> = lines.iter().map(|length| (*length, true)).collect();
            let client = grow(store, &root, session, 0, &cuts);
            assert!(client.appended > 0 || client.rewritten > 0, "{}", session.id);
            // A line in two parts is told once it has an end.
            let halves = lines.iter().flat_map(|length| [(length / 2, true), (length - length / 2, true)]);
            grow(store, &root, session, 0, &halves.collect::<Vec<_>>());
        }
    }
}

#[test]
fn how_often_a_conversation_is_loaded_anew() {
    for (index, id, expected) in [
        // Two calls of one answer came one after the other.
        (0, "990cebda-6561-469d-88b4-03a913c4535d", 1),
        (2, "01a22b99-3342-79f2-9dc6-b256af1670c4", 0),
        // The display's log stands in the place of the other one as soon as it holds a message.
        (8, "01a22b97-b2a7-7ce2-baea-9ede2461edba", 1),
        (9, "6c90e29a-6106-4da5-8ad7-0de7e42563fa", 0),
    ] {
        let (store, name) = STORES[index];
        let (_tree, root, sessions) = sessions(store, name);
        let session = sessions.iter().find(|session| &*session.id == id).unwrap();
        let cuts: Vec<_> = lines(session).into_iter().map(|length| (length, true)).collect();
        let client = grow(store, &root, session, 0, &cuts);
        assert!(client.appended > 1, "{id}: {}", client.appended);
        assert_eq!(client.rewritten, expected, "{id}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn what_was_there_and_what_was_told_is_what_is_loaded(
        first in 0_usize..20_000, cuts in prop::collection::vec((0_usize..6_000, any::<bool>()), 0..12)
    ) {
        for (store, name) in STORES {
            let (_tree, root, sessions) = sessions(store, name);
            for session in &sessions {
                grow(store, &root, session, first, &cuts);
            }
        }
    }
}
