//! The values of the fixture sessions were read off the raw records.

mod files;

use super::*;
use crate::harness::NoProgress;
use crate::harness::testing::{Listing, fixture, list};
use crate::protocol::{Block, Message, Parent, Relation, Role};
use serde_json::json;

/// All fixtures were written within minutes of this time.
const EPOCH: i64 = 1_796_027_000_000;
const PLAIN: &str = "01a22b97-be73-70f7-b287-2432d5e1e83e";
const NAMED: &str = "01a22b97-c19b-7283-b6e9-d232154819cd";
const FORK: &str = "01a22b97-c6e7-77fa-845e-e879ea06d1dc";
const OWN: &str = "my-own-id-1";

fn pi() -> Listing {
    list(&Pi, &fixture("pi/v1.6.0/sessions"))
}

#[test]
fn every_fixture_session_has_its_right_values() {
    let listing = pi();
    let fork = Parent { session_id: Some(NAMED.to_owned()), relation: Relation::Fork };
    let expected = [
        (PLAIN, "say hello to pi", "/proj/alpha", 694_709, 694_964, 2, None),
        (NAMED, "Named pi session", "/proj/alpha", 695_522, 792_838, 5, None),
        (FORK, "Named pi session", "/proj/alpha", 696_873, 697_084, 7, Some(fork)),
        (OWN, "other folder", "/proj/beta", 697_578, 697_774, 2, None),
    ];
    assert_eq!(listing.sessions.len(), expected.len());
    for (id, title, workspace, created, updated, count, parent) in expected {
        let session = listing.of(id);
        assert_eq!(&*session.id, id);
        assert_eq!(session.title.as_deref(), Some(title), "{id}");
        assert_eq!(session.workspace.as_deref(), Some(workspace), "{id}");
        assert_eq!(session.model.as_deref(), Some("fake-model"), "{id}");
        assert_eq!(session.created_at_ms, Some(EPOCH + created), "{id}");
        assert_eq!(session.updated_at_ms, Some(EPOCH + updated), "{id}");
        assert_eq!(listing.details(id).message_count, count, "{id}");
        assert_eq!(session.parent, parent, "{id}");
        assert!(session.resumable && !session.archived && session.profile.is_none());
    }
    assert_eq!(listing.skipped(), []);
}

fn text(text: &str) -> Vec<Block> {
    vec![Block::Text { text: text.to_owned() }]
}

fn message(id: &str, parent: &str, role: Role, at: i64, content: Vec<Block>) -> Message {
    Message {
        id: Some(id.to_owned()),
        role,
        timestamp_ms: Some(EPOCH + at),
        model: (role == Role::Assistant).then(|| "fake-model".to_owned()),
        parent_id: Some(parent.to_owned()),
        content,
        raw: None,
    }
}

/// The turns that the named session and its fork begin with, without the prompt of the program.
fn shared() -> Vec<Message> {
    let (call, name) = ("call_fake36".to_owned(), "bash".to_owned());
    let arguments = json!({"command": "echo tool-says-hello"});
    let result = Block::ToolResult {
        id: call.clone(),
        name: Some(name.clone()),
        is_error: Some(false),
        content: text("tool-says-hello\n"),
    };
    vec![
        message("64ae230f", "e63e1118", Role::User, 695_687, text("please run TOOL now")),
        message("3f192049", "64ae230f", Role::Assistant, 695_708, vec![Block::ToolCall { id: call, name, arguments }]),
        message("5b8d2f88", "3f192049", Role::Tool, 695_786, vec![result]),
        message("e534e32c", "5b8d2f88", Role::Assistant, 695_790, text("Tool finished; the answer is 42. ")),
    ]
}

#[test]
fn of_a_tree_the_branch_of_the_last_entry_is_loaded() {
    let messages = pi().load(NAMED);
    assert_eq!((messages[0].role, messages[0].id.as_deref()), (Role::System, Some("e63e1118")));
    let mut expected = shared();
    expected.extend([
        message("2c00737b", "e534e32c", Role::User, 792_837, text("a question on an in-file branch")),
        message("c918849d", "2c00737b", Role::Assistant, 792_838, text("branch answer")),
    ]);
    assert_eq!(messages[1..], expected);
    let details = pi().details(NAMED);
    assert_eq!(details.topics, ["please run TOOL now", "a question on an in-file branch"]);
    let last = details.last_message.unwrap();
    assert_eq!(
        (last.role, last.text.as_str(), last.timestamp_ms),
        (Role::Assistant, "branch answer", Some(EPOCH + 792_838))
    );
}

#[test]
fn a_fork_holds_what_it_was_forked_from() {
    let mut expected = shared();
    expected.extend([
        message("199dd7e4", "e534e32c", Role::User, 696_368, text("and a second question")),
        message("43030095", "199dd7e4", Role::Assistant, 696_389, text("Fake answer 38 to: and a second question ")),
        message("7915cc5e", "43030095", Role::User, 697_001, text("a forked question")),
        message("0ff0b1b4", "7915cc5e", Role::Assistant, 697_084, text("Fake answer 40 to: a forked question ")),
    ]);
    assert_eq!(pi().load(FORK)[1..], expected);
    assert_eq!(pi().load(PLAIN).len(), 3);
    assert_eq!(pi().load(OWN).len(), 3);
}

#[test]
#[cfg(unix)]
fn nothing_is_touched() {
    crate::harness::testing::assert_untouched(&Pi, &fixture("pi/v1.6.0/sessions"));
}

#[test]
fn the_file_leads_back_in() {
    let listing = pi();
    let session = listing.of(OWN);
    let file = session.location.to_str().unwrap().to_owned();
    let resume = Pi.resume(&listing.root, session).unwrap();
    assert_eq!(resume.argv, ["pi", "--session", &file]);
    assert_eq!(resume.cwd.as_deref(), Some("/proj/beta"));
    let home = fixture("pi/v1.6.0").to_str().unwrap().to_owned();
    assert_eq!(resume.env, Some(BTreeMap::from([(HOME.to_owned(), home.clone())])));
    let usual = Root { usual: true, ..listing.root.clone() };
    assert_eq!(Pi.resume(&usual, session).unwrap().env, None);
    let flat = Root { path: home.clone().into(), home: home.clone().into(), ..listing.root.clone() };
    assert_eq!(Pi.resume(&flat, session).unwrap().env, Some(BTreeMap::from([(DIRECTORY.to_owned(), home)])));
}
