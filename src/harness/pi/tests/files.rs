//! What lines say, and what happens to files.

use super::*;
use crate::harness::testing::Tree;
use serde_json::Value;

const ID: &str = "01a22b97-be73-70f7-b287-2432d5e1e83e";
const FILE: &str = "sessions/--p--/2026-11-30T08-34-54-709Z_01a22b97-be73-70f7-b287-2432d5e1e83e.jsonl";

fn header() -> Value {
    json!({"type": "session", "version": 3, "id": ID, "timestamp": "2026-11-30T08:34:54.709Z", "cwd": "/p"})
}

fn entry(id: &str, parent: Option<&str>, role: &str, at: i64) -> Value {
    let content = json!([{"type": "text", "text": id}]);
    let message = json!({"role": role, "content": content, "timestamp": at, "model": "m"});
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-30T08:34:54.709Z", "message": message})
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn written(records: &[Value]) -> (Tree, Listing) {
    let tree = Tree::new();
    tree.write(FILE, lines(records));
    let listing = list(&Pi, tree.path());
    (tree, listing)
}

fn ids(messages: &[Message]) -> Vec<&str> {
    messages.iter().filter_map(|message| message.id.as_deref()).collect()
}

#[test]
fn the_last_name_counts_and_an_empty_one_takes_it_away() {
    let name = |name: &str| json!({"type": "session_info", "id": name, "parentId": "a", "name": name});
    let (_tree, listing) = written(&[header(), entry("a", None, "user", 1), name("one"), name("two")]);
    assert_eq!(listing.of(ID).title.as_deref(), Some("two"));
    let (_tree, listing) = written(&[header(), name("one"), entry("a", None, "user", 1), name("")]);
    assert_eq!(listing.of(ID).title.as_deref(), Some("a"));
}

#[test]
fn name_between_the_ends_is_the_title() {
    let name = |name: &str| json!({"type": "session_info", "id": name, "parentId": "a", "name": name});
    let bulk = || (0..1_000).map(|_| json!({"type": "custom", "id": "x", "parentId": "a", "data": "x".repeat(1_000)}));
    for (named, expected) in
        [(vec![], "a"), (vec![name("one"), name("two")], "two"), (vec![name("one"), name("")], "a")]
    {
        let mut records = vec![header(), entry("a", None, "user", 1)];
        records.extend(bulk().chain(named).chain(bulk()));
        records.push(entry("b", Some("a"), "assistant", 2));
        let (_tree, listing) = written(&records);
        let session = listing.of(ID);
        assert!(session.late_title);
        let late = Pi.late_title(session, &NoProgress);
        assert_eq!(late.or(session.title.clone()).as_deref(), Some(expected));
    }
}

#[test]
fn a_model_that_only_was_chosen_counts_where_none_answered() {
    let chosen = json!({"type": "model_change", "id": "c", "parentId": "a", "provider": "p", "modelId": "chosen"});
    let (_tree, listing) = written(&[header(), entry("a", None, "user", 1), chosen.clone()]);
    assert_eq!(listing.of(ID).model.as_deref(), Some("chosen"));
    let (_tree, listing) = written(&[header(), entry("a", None, "assistant", 1), chosen]);
    assert_eq!(listing.of(ID).model.as_deref(), Some("m"));
}

#[test]
fn a_page_goes_on_on_its_branch_whatever_is_appended() {
    let mut records = vec![
        header(),
        entry("a", None, "user", 1),
        entry("b", Some("a"), "assistant", 2),
        entry("side", Some("a"), "assistant", 3),
        entry("c", Some("b"), "user", 4),
        entry("d", Some("c"), "assistant", 5),
    ];
    let (tree, listing) = written(&records);
    let first = listing.page(ID, None, 2).unwrap();
    assert_eq!(ids(&first.messages), ["c", "d"]);
    records.push(entry("e", Some("side"), "user", 6));
    tree.write(FILE, lines(&records));
    let second = listing.page(ID, first.next.as_deref(), 2).unwrap();
    assert_eq!((ids(&second.messages), second.next), (vec!["a", "b"], None));
    let newest = listing.load(ID);
    assert_eq!(ids(&newest), ["a", "side", "e"]);
    for cursor in ["", "1", "x:a", "999999:a"] {
        assert!(matches!(listing.page(ID, Some(cursor), 2), Err(ReadError::Cursor)), "{cursor}");
    }
}

#[test]
fn a_second_root_is_a_beginning_and_labels_lead_to_what_they_follow() {
    let label = json!({"type": "label", "id": "l", "parentId": "x", "targetId": "x", "label": "here"});
    let (_tree, listing) = written(&[header(), entry("a", None, "user", 1), entry("x", None, "user", 2), label]);
    assert_eq!(ids(&listing.load(ID)), ["x"]);
    assert_eq!(listing.details(ID).message_count, 1);
}

#[test]
fn the_oldest_sessions_are_lists() {
    let mut old = header();
    old.as_object_mut().unwrap().remove("version");
    let plain = |role: &str, at: i64| {
        let mut entry = entry("", None, role, at);
        let members = entry.as_object_mut().unwrap();
        members.remove("id");
        members.remove("parentId");
        entry
    };
    let (_tree, listing) = written(&[old, plain("user", 1), plain("assistant", 2), plain("user", 3)]);
    let messages = listing.load(ID);
    assert_eq!(messages.iter().map(|message| message.timestamp_ms).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    assert_eq!(listing.of(ID).updated_at_ms, Some(3));
}

#[test]
fn messages_of_every_kind_are_kept() {
    let said = |id: &str, parent: Option<&str>, message: Value| json!({"type": "message", "id": id, "parentId": parent, "message": message});
    let (_tree, listing) = written(&[
        header(),
        said("a", None, json!({"role": "bashExecution", "command": "ls", "output": "x", "exitCode": 2})),
        json!({"type": "compaction", "id": "b", "parentId": "a", "summary": "so far"}),
        json!({"type": "custom_message", "id": "c", "parentId": "b", "content": "of an extension"}),
        json!({"type": "brand_new", "id": "d", "parentId": "c"}),
        said(
            "e",
            Some("d"),
            json!({"role": "assistant", "errorMessage": "overloaded", "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}, {"type": "new"}, 7]}),
        ),
        said("f", Some("e"), json!({"role": "brandNew", "content": "x"})),
        said("g", Some("f"), json!({"role": "hookMessage", "content": "from a hook"})),
    ]);
    let messages = listing.load(ID);
    let other = |kind: &str, raw: Value| Block::Other { kind: kind.to_owned(), raw };
    let bash = || "bash".to_owned();
    assert_eq!(
        messages.iter().map(|message| message.role).collect::<Vec<_>>(),
        [Role::User, Role::System, Role::System, Role::Assistant, Role::System, Role::System]
    );
    assert_eq!(
        messages[0].content,
        [
            Block::ToolCall { id: "a".to_owned(), name: bash(), arguments: json!({"command": "ls"}) },
            Block::ToolResult { id: "a".to_owned(), name: Some(bash()), is_error: Some(true), content: text("x") },
        ]
    );
    assert_eq!((&messages[1].content, &messages[2].content), (&text("so far"), &text("of an extension")));
    assert_eq!(
        messages[3].content,
        [
            Block::Thinking { text: "hm".to_owned() },
            Block::Image { media_type: Some("image/png".to_owned()), bytes: Some(5), uri: None },
            other("new", json!({"type": "new"})),
            other("", json!(7)),
            other("error", json!("overloaded")),
        ]
    );
    assert_eq!(messages[4].content, [other("brandNew", json!({"role": "brandNew", "content": "x"}))]);
    assert_eq!(messages[5].content, text("from a hook"));
}

#[test]
fn a_long_session_is_known_from_its_ends() {
    let mut records = vec![header(), entry("first", None, "user", 1)];
    let mut last = "first".to_owned();
    for n in 0..40 {
        let mut bulk = entry(&format!("bulk{n}"), Some(&last), "toolResult", 2);
        bulk["message"]["content"] = "x".repeat(20 << 10).into();
        last = format!("bulk{n}");
        records.push(bulk);
    }
    records.push(entry("last", Some(&last), "assistant", 9));
    let (_tree, listing) = written(&records);
    let session = listing.of(ID);
    assert_eq!(
        (session.title.as_deref(), session.updated_at_ms, session.model.as_deref()),
        (Some("first"), Some(9), Some("m"))
    );
    assert_eq!(listing.details(ID).message_count, 2);
    assert_eq!(listing.load(ID).len(), 42);
}

#[test]
fn a_parent_of_another_name_tells_itself() {
    let tree = Tree::new();
    let parent = tree.write("elsewhere/mine.jsonl", lines(&[header()]));
    let mut fork = header();
    fork["id"] = "fork".into();
    fork["parentSession"] = parent.to_str().into();
    tree.write("sessions/x.jsonl", lines(&[fork.clone(), entry("a", None, "user", 1)]));
    fork["id"] = "lost".into();
    fork["parentSession"] = "/gone/mine.jsonl".into();
    tree.write("sessions/y.jsonl", lines(&[fork, entry("a", None, "user", 1)]));
    let listing = list(&Pi, tree.path());
    let parent = |id: &str| listing.of(id).parent.as_ref().and_then(|parent| parent.session_id.as_deref());
    assert_eq!((parent("fork"), parent("lost")), (Some(ID), None));
}

#[test]
fn what_happens_to_files_costs_only_them() {
    let tree = Tree::new();
    let good = [header(), entry("a", None, "user", 1)];
    tree.write("sessions/1.jsonl", "");
    tree.write("sessions/2.jsonl", vec![0; 100]);
    tree.write("sessions/3.jsonl", "not json\n");
    tree.write("sessions/4.jsonl", lines(&good).replace(ID, "--yolo"));
    tree.write("sessions/5.jsonl", lines(&[header()]));
    tree.write("sessions/--p--/6.txt", "");
    let torn = entry("torn", Some("a"), "assistant", 2).to_string();
    tree.write(FILE, format!("{}\0\0\n[]\n{}", lines(&good), &torn[..torn.len() - 5]));
    tree.write("sessions/2026-11-30T08-34-54-709Z_headless.jsonl", lines(&good[1..]));
    let listing = list(&Pi, tree.path());
    assert_eq!(listing.sessions.len(), 2);
    assert_eq!(ids(&listing.load(ID)), ["a"]);
    assert!(Pi.resume(&listing.root, listing.of("headless")).is_none());
    let reasons = listing.reasons();
    assert_eq!(reasons, ["empty", "unreadable", "unreadable", "unreadable", "no_messages", "not_a_session"]);
}

#[test]
fn roots_are_where_variables_and_settings_say() {
    let tree = Tree::new();
    let home = tree.path().to_str().unwrap().to_owned();
    let roots = |variables: &[(&str, String)]| {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        let roots = Pi.roots(&crate::harness::homes::environment(&lookup));
        roots.into_iter().map(|root| (root.path.to_str().unwrap().to_owned(), root.usual)).collect::<Vec<_>>()
    };
    let user = ("HOME", home.clone());
    assert_eq!(roots(std::slice::from_ref(&user)), [(format!("{home}/.pi/agent/sessions"), true)]);
    tree.write(".pi/agent/settings.json", r#"{"sessionDir": "~/mine"}"#);
    assert_eq!(
        roots(std::slice::from_ref(&user)),
        [(format!("{home}/mine"), true), (format!("{home}/.pi/agent/sessions"), true)]
    );
    assert_eq!(roots(&[user.clone(), (HOME, "/a".to_owned())]), [("/a/sessions".to_owned(), false)]);
    assert_eq!(roots(&[user, (HOME, "/a".to_owned()), (DIRECTORY, "/b".to_owned())]), [("/b".to_owned(), false)]);
}

#[test]
fn a_home_can_be_named_in_several_ways() {
    let tree = Tree::new();
    let home = tree.path().join("agent");
    std::fs::create_dir_all(home.join(SESSIONS)).unwrap();
    for path in [tree.path().to_owned(), home.clone(), home.join(SESSIONS)] {
        let root = Pi.named_root(&path);
        assert_eq!((root.path, root.home), (home.join(SESSIONS), home.clone()), "{path:?}");
    }
    let flat = Pi.named_root(&home.join("flat"));
    assert_eq!((flat.path, flat.home), (home.join("flat"), home.join("flat")));
}
