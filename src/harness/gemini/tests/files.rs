//! What a log says, and what happens to files.

use super::*;
use crate::harness::testing::{Gone, Tree};
use crate::protocol::{Parent, Relation};
use proptest::prelude::*;
use serde_json::Value;

const ID: &str = "5440b584-2b49-4047-b18b-b243ffd5a807";
const CHAT: &str = "tmp/demo/chats/session-2026-11-30T08-48-5440b584.jsonl";
const RECORD: &str = "tmp/demo/chats/session-2026-11-30T08-48-5440b584.json";

fn at(second: u32) -> String {
    format!("2026-11-30T08:40:{second:02}.000Z")
}

fn header() -> Value {
    json!({"sessionId": ID, "projectHash": DEMO, "startTime": at(0), "lastUpdated": at(0), "kind": "main"})
}

fn user(id: &str, second: u32) -> Value {
    json!({"id": id, "timestamp": at(second), "type": "user", "content": [{"text": id}]})
}

fn answer(id: &str, second: u32) -> Value {
    json!({"id": id, "timestamp": at(second), "type": "gemini", "content": id, "model": "m"})
}

fn rewind(id: &str) -> Value {
    json!({"$rewindTo": id})
}

fn log(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn logged(records: &[Value]) -> (Tree, Listing) {
    let tree = Tree::new();
    tree.write(CHAT, log(records));
    let listing = list(&Gemini, tree.path());
    (tree, listing)
}

#[test]
fn a_log_is_replayed() {
    let (_tree, listing) =
        logged(&[header(), user("a", 1), answer("b", 2), user("c", 3), answer("d", 4), rewind("c"), user("e", 5)]);
    assert_eq!(spoken(&listing.load(ID)), ["a", "b", "e"]);
    assert_eq!(listing.of(ID).updated_at_ms, super::super::text::time(&at(5)));
    assert_eq!(listing.details(ID).message_count, 3);

    let (_tree, listing) = logged(&[header(), user("a", 1), answer("b", 2), rewind("unknown"), user("e", 5)]);
    assert_eq!(spoken(&listing.load(ID)), ["e"]);
    assert_eq!(listing.of(ID).title.as_deref(), Some("e"));

    let mut changed = answer("b", 2);
    changed["content"] = "changed".into();
    let (_tree, listing) = logged(&[header(), user("a", 1), answer("b", 2), user("c", 3), changed]);
    assert_eq!(spoken(&listing.load(ID)), ["a", "changed", "c"]);

    let all = json!({"$set": {"messages": [user("x", 1), answer("y", 2)], "lastUpdated": at(9)}});
    let mut again = header();
    again["startTime"] = at(30).into();
    let (_tree, listing) = logged(&[header(), user("a", 1), again, all, user("z", 3)]);
    assert_eq!(spoken(&listing.load(ID)), ["x", "y", "z"]);
    assert_eq!(listing.of(ID).created_at_ms, super::super::text::time(&at(0)), "a second header is no beginning");
    assert_eq!(listing.of(ID).updated_at_ms, super::super::text::time(&at(3)), "to be resumed is no message");
    assert_eq!(listing.details(ID).topics, ["x", "z"]);
}

#[test]
fn what_is_appended_does_not_shift_a_page() {
    let mut records = vec![header()];
    records.extend((0..10).map(|n| user(&format!("m{n}"), n)));
    let tree = Tree::new();
    tree.write(CHAT, log(&records));
    let listing = list(&Gemini, tree.path());
    let first = listing.page(ID, None, 3).unwrap();
    assert_eq!(spoken(&first.messages), ["m7", "m8", "m9"]);
    records.extend((10..20).map(|n| user(&format!("m{n}"), n)));
    tree.write(CHAT, log(&records));
    let second = listing.page(ID, first.next.as_deref(), 3).unwrap();
    assert_eq!(spoken(&second.messages), ["m4", "m5", "m6"]);
    for cursor in ["", "7", "a.b", "999.0", "-1.0"] {
        assert!(matches!(listing.page(ID, Some(cursor), 3), Err(ReadError::Cursor)), "{cursor}");
    }
    let request = PageRequest { cursor: None, limit: 3, progress: &Gone, own_only: false };
    assert!(matches!(Gemini.load(&[], listing.of(ID), &request), Err(ReadError::Cancelled)));
}

#[test]
fn a_chat_longer_than_its_ends_is_known_from_them_and_loaded_whole() {
    let bulk = |n: u32| json!({"id": format!("bulk{n}"), "timestamp": at(2), "type": "info", "content": "x".repeat(100 << 10)});
    let mut all: Vec<Value> = vec![user("first", 1)];
    all.extend((0..30).map(bulk));
    all.extend([user("last", 50), answer("end", 51)]);
    let record = json!({"sessionId": ID, "projectHash": DEMO, "startTime": at(0), "lastUpdated": at(51), "messages": all, "summary": "what it is about"});
    let mut records = vec![header()];
    records.extend(all);
    records.push(json!({"$set": {"summary": "what it is about"}}));
    for (name, content) in [(CHAT, log(&records)), (RECORD, serde_json::to_string_pretty(&record).unwrap())] {
        let tree = Tree::new();
        tree.write(name, content);
        let listing = list(&Gemini, tree.path());
        let session = listing.of(ID);
        assert_eq!(session.title.as_deref(), Some("what it is about"), "{name}");
        assert_eq!(
            (session.model.as_deref(), session.updated_at_ms),
            (Some("m"), super::super::text::time(&at(51))),
            "{name}"
        );
        assert_eq!(session.workspace_mark.as_deref(), Some(DEMO));
        let details = listing.details(ID);
        assert_eq!((details.message_count, details.last_message.unwrap().text.as_str()), (3, "end"), "{name}");
        assert_eq!(details.topics[0], "first");
        assert_eq!(spoken(&listing.load(ID)), ["first", "last", "end"], "{name}");
    }
}

#[test]
fn a_whole_chat_may_be_listed_anew_in_one_line_longer_than_any_other() {
    let mut all = vec![user("first", 1)];
    all.extend((0..20).map(|n| json!({"id": n.to_string(), "type": "info", "content": "x".repeat(1 << 20)})));
    all.push(answer("end", 2));
    let (_tree, listing) = logged(&[header(), user("old", 1), json!({"$set": {"messages": all}}), user("after", 3)]);
    assert_eq!(listing.details(ID).message_count, 3);
    let page = listing.page(ID, None, 2).unwrap();
    assert_eq!(spoken(&page.messages), ["end", "after"]);
}

#[test]
fn subagents_name_the_session_that_they_work_for() {
    let tree = Tree::new();
    let agent = "aaaaaaaa-2b49-4047-b18b-b243ffd5a807";
    let mut of_agent = header();
    of_agent["sessionId"] = agent.into();
    of_agent["kind"] = "subagent".into();
    tree.write(&format!("tmp/demo/chats/{ID}/{agent}.jsonl"), log(&[of_agent, user("look", 1), answer("seen", 2)]));
    tree.write("tmp/demo/.project_root", "/proj/demo");
    let listing = list(&Gemini, tree.path());
    let session = listing.of(agent);
    assert_eq!(session.parent, Some(Parent { session_id: Some(ID.to_owned()), relation: Relation::Subagent }));
    assert_eq!(session.workspace.as_deref(), Some("/proj/demo"));
    assert!(Gemini.resume(&listing.root, session).is_none());
}

#[test]
fn what_happens_to_files_costs_only_them() {
    let tree = Tree::new();
    let good = log(&[header(), user("a", 1), answer("b", 2)]);
    let name = |n: u32| format!("tmp/demo/chats/session-2026-11-30T08-{n:02}-5440b584.jsonl");
    tree.write(&name(1), "");
    tree.write(&name(2), vec![0; 5_000]);
    tree.write(&name(3), "not json\n{\"type\":7}\n");
    tree.write(&name(4), good.replace(ID, "--yolo"));
    tree.write(&name(5), log(&[header()]));
    tree.write("tmp/demo/chats/session-2026-11-30T08-06-5440b584.json", "{\n  \"sessionId\": \"torn");
    tree.write("tmp/demo/chats/session-x.jsonl.unreadable-17", &good);
    tree.write("tmp/demo/chats/session-x.jsonl.tmp-17", &good);
    tree.write("tmp/demo/logs.json", "[]");
    tree.write("oauth_creds.json", "secret");
    tree.write("projects.json", "{torn");
    let torn = user("torn", 9).to_string();
    tree.write(CHAT, format!("{}\n\0\0\0\n{}", good.trim_end(), &torn[..torn.len() - 9]));
    let listing = list(&Gemini, tree.path());
    assert_eq!(listing.sessions.len(), 1);
    assert_eq!(spoken(&listing.load(ID)), ["a", "b"]);
    let reasons = listing.reasons();
    assert_eq!(
        reasons,
        [
            "malformed",
            "empty",
            "unreadable",
            "unreadable",
            "unreadable",
            "no_messages",
            "unreadable",
            "not_a_session",
            "not_a_session"
        ]
    );
}

#[test]
fn a_record_that_is_cut_while_it_is_written_anew_shows_what_is_there() {
    let record = json!({"sessionId": ID, "projectHash": DEMO, "startTime": at(0), "messages": [user("a", 1), answer("b", 2), user("c", 3)]});
    let text = serde_json::to_string_pretty(&record).unwrap();
    let tree = Tree::new();
    tree.write(RECORD, &text[..text.len() - 30]);
    let listing = list(&Gemini, tree.path());
    assert_eq!(
        (listing.of(ID).title.as_deref(), listing.of(ID).updated_at_ms),
        (Some("a"), super::super::text::time(&at(2)))
    );
}

#[test]
fn parts_of_every_kind_are_kept() {
    let parts = json!([
        {"text": "see"}, "and", {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}},
        {"fileData": {"mimeType": "image/png", "fileUri": "file:///a.png"}}, {"executableCode": {"code": "1"}}, 7
    ]);
    let thought =
        json!({"id": "t", "type": "gemini", "content": "", "thoughts": [{"subject": "Plan", "description": "look"}]});
    let (_tree, listing) =
        logged(&[header(), json!({"id": "p", "timestamp": at(1), "type": "user", "content": parts}), thought]);
    let messages = listing.load(ID);
    let png = || Some("image/png".to_owned());
    assert_eq!(
        messages[0].content,
        [
            text("see"),
            text("and"),
            Block::Image { media_type: png(), bytes: Some(5), uri: None },
            Block::Image { media_type: png(), bytes: None, uri: Some("file:///a.png".to_owned()) },
            Block::Other { kind: "executableCode".to_owned(), raw: json!({"executableCode": {"code": "1"}}) },
            Block::Other { kind: "unknown".to_owned(), raw: json!(7) },
        ]
    );
    assert_eq!(messages[1].content, [Block::Thinking { text: "Plan\nlook".to_owned() }]);
}

#[test]
fn a_result_that_no_call_tells_is_kept() {
    let result = json!({"functionResponse": {"id": "x", "name": "ls", "response": {"error": "no"}}});
    let (_tree, listing) =
        logged(&[header(), user("a", 1), json!({"id": "r", "timestamp": at(2), "type": "user", "content": [result]})]);
    let messages = listing.load(ID);
    assert_eq!(messages[1].role, Role::Tool);
    let expected = Block::ToolResult {
        id: "x".to_owned(),
        name: Some("ls".to_owned()),
        is_error: Some(true),
        content: vec![text("no")],
    };
    assert_eq!(messages[1].content, [expected]);
    assert_eq!(listing.details(ID).message_count, 1);
}

#[test]
fn getting_back_in_needs_the_directory_and_a_home_of_the_programs_form() {
    let listing = gemini("v0.61.0");
    let session = listing.of("3daff51c");
    assert!(Gemini.resume(&listing.root, session).is_none(), "no variable can name this home");
    let mut root = Root { path: "/data/.gemini".into(), home: "/data".into(), ..listing.root.clone() };
    let resume = Gemini.resume(&root, session).unwrap();
    assert_eq!(resume.argv, ["gemini", "--resume", "3daff51c-497f-4a4b-861b-82cd14a4c1e9"]);
    assert_eq!(resume.cwd.as_deref(), Some("/proj/demo/sub"));
    assert_eq!(resume.env, Some(BTreeMap::from([("GEMINI_CLI_HOME".to_owned(), "/data".to_owned())])));
    root.usual = true;
    assert_eq!(Gemini.resume(&root, session).unwrap().env, None);
    assert!(Gemini.resume(&root, gemini("v0.20.0").of("0114ae5f")).is_none(), "a mark is no directory");
}

#[test]
fn a_home_can_be_named_in_several_ways() {
    let tree = Tree::new();
    let data = tree.path().join(".gemini");
    std::fs::create_dir_all(data.join("tmp")).unwrap();
    for path in [tree.path().to_owned(), data.clone(), data.join("tmp")] {
        let root = Gemini.named_root(&path);
        assert_eq!((root.path.as_path(), root.home.as_path()), (data.as_path(), tree.path()), "{path:?}");
    }
}

proptest! {
    #[test]
    fn however_the_stream_is_cut_the_pieces_are_the_same(chunk in 1_usize..200) {
        let path = fixture("gemini/v0.61.0-resume-next-minute").join(CHAT);
        let content = std::fs::read(path).unwrap();
        let pieces = |chunk: usize| {
            let mut pieces = Vec::new();
            let mut scanner = scan::Scanner::new(scan::Form::Log);
            for part in content.chunks(chunk) {
                scanner.feed(part, &mut |piece| pieces.push((piece.listed, piece.at, piece.length, piece.json.to_vec())));
            }
            pieces
        };
        let whole = pieces(content.len());
        prop_assert_eq!(whole.iter().filter(|piece| piece.0).count(), 4);
        for (listed, at, length, json) in &whole {
            if *listed {
                prop_assert_eq!(&content[*at as usize..(at + length) as usize], &json[..]);
            }
        }
        prop_assert_eq!(pieces(chunk), whole);
    }
}

#[test]
fn prompts_have_no_hook_context_and_legacy_subagents_have_parents() {
    let listing = list(&Gemini, &fixture("gemini/legacy-subagent-and-hook-context/.gemini"));
    let parent = "72d14847-09f0-4562-aa8e-f7b42bf11749";
    for (id, title, of) in [
        (parent, "Count the apples", None),
        ("legacy01-cccc-dddd-eeee-ffff00001111", "Count in the cellar", Some(parent)),
        ("sub00002-cccc-dddd-eeee-ffff00001111", "Count in the attic", Some(parent)),
        ("aaaa0003-09f0-4562-aa8e-f7b42bf11749", "Sort the screws", None),
        ("aaaa0004-09f0-4562-aa8e-f7b42bf11749", "Sort the nails", None),
        ("aaaa0005-09f0-4562-aa8e-f7b42bf11749", "First by batch", None),
        ("aaaa0006-09f0-4562-aa8e-f7b42bf11749", "Joined one", None),
        ("aaaa0007-09f0-4562-aa8e-f7b42bf11749", "Look at @notes.md", None),
    ] {
        let session = listing.of(id);
        assert_eq!(session.title.as_deref(), Some(title), "{id}");
        let of = of.map(|of: &str| Parent { session_id: Some(of.to_owned()), relation: Relation::Subagent });
        assert_eq!(session.parent, of, "{id}");
    }
    assert_eq!(listing.skipped(), []);
}
