//! The values of the fixture sessions were read off the raw records.

use super::*;
use crate::harness::testing::{Listing, Tree, fixture, list};
use crate::protocol::{Block, Message, Parent, Relation, Role};
use serde_json::{Value, json};
use std::fs;

/// All fixtures were written within minutes of this time.
const EPOCH: i64 = 1_796_027_000_000;
const ALPHA: &str = "b1d154e4964f197c";
const BETA: &str = "88675a32e3fcb6f9";

fn home() -> PathBuf {
    fixture("supercode/.config/supercode")
}

fn supercode() -> Listing {
    list(&Supercode, &home())
}

#[test]
fn every_fixture_session_has_its_right_values() {
    let listing = supercode();
    let fork = Parent { session_id: Some("88675a32e3fcb6f9-brave-moose".to_owned()), relation: Relation::Fork };
    let expected = [
        ("b1d154e4964f197c-proud-falcon", "a fresh question in alpha", ALPHA, Some(937_137), 937_565, 2, None),
        // Of its first run no time is left.
        ("b1d154e4964f197c-quiet-heron", "please run TOOL now", ALPHA, None, 936_875, 5, None),
        ("88675a32e3fcb6f9-brave-moose", "a reduced question TOOL", BETA, Some(937_671), 937_700, 3, None),
        (
            "88675a32e3fcb6f9-ivory-heron",
            "fork of a reduced question TOOL",
            BETA,
            Some(937_789),
            937_700,
            3,
            Some(fork),
        ),
    ];
    assert_eq!(listing.sessions.len(), expected.len());
    for (id, title, mark, created, updated, count, parent) in expected {
        let session = listing.of(id);
        assert_eq!(&*session.id, id);
        assert_eq!(session.title.as_deref(), Some(title), "{id}");
        assert_eq!((session.workspace.as_deref(), session.workspace_mark.as_deref()), (None, Some(mark)), "{id}");
        assert_eq!(session.model.as_deref(), Some("fake-model"), "{id}");
        assert_eq!(session.created_at_ms, created.map(|at: i64| EPOCH + at), "{id}");
        assert_eq!(session.updated_at_ms, Some(EPOCH + updated), "{id}");
        assert_eq!(listing.details(id).message_count, count, "{id}");
        assert_eq!(session.archived, parent.is_some(), "{id}");
        assert_eq!(session.parent, parent, "{id}");
        assert!(session.location.ends_with(format!("{id}.jsonl")));
    }
    assert_eq!(listing.skipped(), []);
}

#[test]
fn a_directory_is_known_by_its_mark() {
    assert_eq!(Supercode.workspace_mark("/proj/alpha").as_deref(), Some(ALPHA));
    assert_eq!(Supercode.workspace_mark("/proj/beta").as_deref(), Some(BETA));
    assert_eq!(Supercode.workspace_mark("/proj/beta/").as_deref(), Some(BETA));
}

fn text(text: &str) -> Vec<Block> {
    vec![Block::Text { text: text.to_owned() }]
}

fn message(role: Role, content: Vec<Block>) -> Message {
    Message { id: None, role, timestamp_ms: None, model: None, parent_id: None, content, raw: None }
}

#[test]
fn conversations_are_loaded_whole() {
    let listing = supercode();
    let messages = listing.load("b1d154e4964f197c-quiet-heron");
    let (call, bash) = ("call_fake75".to_owned(), "bash".to_owned());
    let arguments = json!({"command": "echo tool-says-hello"});
    let result = Block::ToolResult {
        id: call.clone(),
        name: Some(bash.clone()),
        is_error: None,
        content: text("exit code: 0\ntool-says-hello\n"),
    };
    assert_eq!(messages[0].role, Role::System);
    assert_eq!(
        messages[1..],
        [
            message(Role::User, text("please run TOOL now")),
            message(Role::Assistant, vec![Block::ToolCall { id: call, name: bash, arguments }]),
            message(Role::Tool, vec![result]),
            message(Role::Assistant, text("Tool finished; the answer is 42. ")),
            message(Role::User, text("a second question")),
            message(Role::Assistant, text("Fake answer 79 to: a second question ")),
        ]
    );
    let details = listing.details("b1d154e4964f197c-quiet-heron");
    assert_eq!(details.topics, ["please run TOOL now", "a second question"]);
    let last = details.last_message.unwrap();
    assert_eq!((last.role, last.text.as_str()), (Role::Assistant, "Fake answer 79 to: a second question"));
    assert_eq!(listing.load("88675a32e3fcb6f9-ivory-heron"), listing.load("88675a32e3fcb6f9-brave-moose"));
    assert_eq!(
        listing.load("b1d154e4964f197c-proud-falcon")[1..],
        [
            message(Role::User, text("a fresh question in alpha")),
            message(Role::Assistant, text("Fake answer 81 to: a fresh question in alpha ")),
        ]
    );
}

#[test]
#[cfg(unix)]
fn nothing_is_touched() {
    crate::harness::testing::assert_untouched(&Supercode, &home());
}

const NAME: &str = "sessions/mine";

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn said(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

fn written(records: &[Value]) -> (Tree, Listing) {
    let tree = Tree::new();
    tree.write(&format!("{NAME}.meta.json"), "{}");
    tree.write(&format!("{NAME}.jsonl"), lines(records));
    let listing = list(&Supercode, tree.path());
    (tree, listing)
}

#[test]
fn a_session_with_nothing_beside_it_is_known_by_its_conversation() {
    let (tree, listing) = written(&[said("system", "s"), said("user", "asked"), said("assistant", "answered")]);
    let session = listing.of("mine");
    assert_eq!((session.title.as_deref(), session.workspace_mark.as_deref()), (Some("asked"), None));
    let modified = walk::stamp(&tree.path().join(format!("{NAME}.jsonl"))).unwrap().modified_ms();
    assert_eq!((session.created_at_ms, session.updated_at_ms), (None, Some(modified)));
    assert_eq!((session.model.as_deref(), listing.details("mine").message_count), (None, 2));
}

#[test]
fn the_newest_that_any_log_knows_counts() {
    let (tree, _) = written(&[said("user", "asked")]);
    tree.write(&format!("{NAME}.usage.jsonl"), "{\"timestamp_ms\":5,\"model\":\"a\",\"served_model\":\"b\"}\ntorn");
    tree.write(
        &format!("{NAME}.events.jsonl"),
        "{\"timestamp_ms\":3,\"model\":\"c\",\"messages\":1}\n{\"timestamp_ms\":9}\n",
    );
    let listing = list(&Supercode, tree.path());
    let session = listing.of("mine");
    assert_eq!((session.created_at_ms, session.updated_at_ms, session.model.as_deref()), (Some(3), Some(9), Some("b")));
}

#[test]
fn what_is_appended_does_not_shift_a_page() {
    let mut records: Vec<_> = (0..9).map(|n| said("user", &n.to_string())).collect();
    let (tree, listing) = written(&records);
    let first = listing.page("mine", None, 4).unwrap();
    records.push(said("user", "new"));
    tree.write(&format!("{NAME}.jsonl"), lines(&records));
    let second = listing.page("mine", first.next.as_deref(), 4).unwrap();
    let expected: Vec<_> = ["1", "2", "3", "4"].map(|n| message(Role::User, text(n))).into();
    assert_eq!(second.messages, expected);
    for cursor in ["", "x", "-1", "99999"] {
        assert!(matches!(listing.page("mine", Some(cursor), 4), Err(ReadError::Cursor)), "{cursor}");
    }
}

#[test]
fn messages_of_every_kind_are_kept() {
    let parts = json!([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}, {"type": "audio"}]);
    let calls = json!([{"id": "1", "function": {"name": "f", "arguments": "not json"}}, {"odd": true}]);
    let (_tree, listing) = written(&[
        json!({"role": "user", "content": parts}),
        json!({"role": "assistant", "reasoning_content": "hm", "tool_calls": calls}),
        json!({"role": "brand_new", "content": "x"}),
    ]);
    let other = |kind: &str, raw: Value| Block::Other { kind: kind.to_owned(), raw };
    let messages = listing.load("mine");
    assert_eq!(
        messages[0].content,
        [
            Block::Text { text: "see".to_owned() },
            Block::Image { media_type: Some("image/png".to_owned()), bytes: Some(5), uri: None },
            Block::Image { media_type: None, bytes: None, uri: Some("https://example.com/a.png".to_owned()) },
            other("audio", json!({"type": "audio"})),
        ]
    );
    assert_eq!(
        messages[1].content,
        [
            Block::Thinking { text: "hm".to_owned() },
            Block::ToolCall { id: "1".to_owned(), name: "f".to_owned(), arguments: "not json".into() },
            other("tool_call", json!({"odd": true})),
        ]
    );
    assert_eq!(messages[2].content, [other("brand_new", json!({"role": "brand_new", "content": "x"}))]);
}

#[test]
fn what_happens_to_files_costs_only_them() {
    let (tree, _) = written(&[said("user", "asked")]);
    let family = |name: &str, content: &[u8]| {
        tree.write(&format!("sessions/{name}.meta.json"), "{torn");
        tree.write(&format!("sessions/{name}.jsonl"), content);
    };
    family("1", b"");
    family("2", &[0; 100]);
    family("3", b"not json\n");
    family("4", lines(&[said("system", "s")]).as_bytes());
    family("--yolo", lines(&[said("user", "asked")]).as_bytes());
    family(
        "5",
        format!("{}\0\0\n[]\n{{\"role\":\"user\",\"content\":\"to", lines(&[said("user", "asked")])).as_bytes(),
    );
    tree.write("sessions/6.meta.json", "{}");
    tree.write("sessions/stray.jsonl", "{}");
    fs::create_dir(tree.path().join("sessions/mine.subagents")).unwrap();
    tree.write("sessions/mine.sidecar.jsonl", "{}");
    let listing = list(&Supercode, tree.path());
    assert_eq!((listing.sessions.len(), listing.load("5").len()), (2, 1));
    assert_eq!(listing.of("5").title.as_deref(), Some("asked"));
    let skipped = listing.skipped();
    let skipped: Vec<_> = skipped.iter().map(|(name, reason)| (name.as_str(), *reason)).collect();
    assert_eq!(
        skipped,
        [
            ("--yolo.jsonl", "not_a_session"),
            ("1.jsonl", "empty"),
            ("2.jsonl", "unreadable"),
            ("3.jsonl", "unreadable"),
            ("4.jsonl", "no_messages"),
            ("6.meta.json", "no_messages"),
            ("stray.jsonl", "not_a_session"),
        ]
    );
}

#[test]
fn roots_are_where_variables_say() {
    let roots = |variables: &[(&str, &str)]| {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        let roots = Supercode.roots(&crate::harness::homes::environment(&lookup));
        roots.into_iter().map(|root| (root.path.to_str().unwrap().to_owned(), root.usual)).collect::<Vec<_>>()
    };
    let user = ("HOME", "/u");
    assert_eq!(roots(&[user]), [("/u/.config/supercode/sessions".to_owned(), true)]);
    assert_eq!(roots(&[user, ("XDG_CONFIG_HOME", "/u/.config")]), [("/u/.config/supercode/sessions".to_owned(), true)]);
    assert_eq!(roots(&[user, ("XDG_CONFIG_HOME", "/x")]), [("/x/supercode/sessions".to_owned(), false)]);
    assert_eq!(roots(&[user, ("XDG_CONFIG_HOME", "/x"), (HOME, "/h")]), [("/h/sessions".to_owned(), false)]);
}

#[test]
fn getting_back_in_names_the_home_only_where_it_is_unusual() {
    let listing = supercode();
    let session = listing.of("b1d154e4964f197c-proud-falcon");
    let resume = Supercode.resume(&listing.root, session).unwrap();
    assert_eq!(resume.argv, ["supercode", "resume", "b1d154e4964f197c-proud-falcon"]);
    assert_eq!(resume.env, Some(BTreeMap::from([(HOME.to_owned(), home().to_str().unwrap().to_owned())])));
    let usual = Root { usual: true, ..listing.root.clone() };
    assert_eq!(Supercode.resume(&usual, session).unwrap().env, None);
    assert_eq!(Supercode.named_root(&home().join(SESSIONS)).home, home());
}
