//! What versions keep, pages, roots, and how to get back in.

use super::*;
use crate::harness::testing::Gone;
use crate::harness::{Environment, PageRequest};

#[test]
fn every_version_of_the_schema_is_read_with_what_it_keeps() {
    for version in 1..=17 {
        let sessions = Sessions::new();
        let database = sessions.database(version);
        let has = |since: u32| version >= since;
        let mut row = json!({"id": "20260901_1", "description": "described"});
        let mut more = |since: u32, name: &str, value: Value| {
            if has(since) {
                row[name] = value;
            }
        };
        more(4, "name", json!("named"));
        more(6, "model_config_json", json!(if has(9) { r#"{"model_name":"m"}"# } else { r#"{"modelName":"m"}"# }));
        more(12, "archived_at", json!("2026-09-03T11:00:00+00:00"));
        more(5, "session_type", json!("sub_agent"));
        more(15, "parent_session_id", json!("20260901_9"));
        database.session(row);
        database.message("20260901_1", "user", 1_788_249_600, said("hello"));
        database.message("20260901_1", "assistant", 1_788_249_602, said("answer"));
        if has(3) {
            let hidden = json!({"session_id": "20260901_1", "role": "user", "created_timestamp": 1_788_249_700,
                "content_json": said("hidden").to_string(), "metadata_json": r#"{"userVisible":false}"#});
            database.insert("messages", hidden);
        }
        let listing = sessions.list();
        assert_eq!((listing.ids(), listing.skipped()), (vec!["20260901_1"], vec![]), "{version}");
        let session = listing.of("20260901_1");
        assert_eq!(session.title.as_deref(), Some(if has(4) { "named" } else { "described" }), "{version}");
        assert_eq!(session.model.as_deref(), has(6).then_some("m"), "{version}");
        assert_eq!(session.archived, has(12), "{version}");
        let id = has(15).then(|| "20260901_9".to_owned());
        let parent = has(5).then_some(Parent { session_id: id, relation: Relation::Subagent });
        assert_eq!(session.parent, parent, "{version}");
        assert_eq!(session.created_at_ms, Some(1_788_249_600_000), "{version}");
        assert_eq!(session.updated_at_ms, Some(1_788_249_602_000), "{version}");
        assert_eq!(listing.details("20260901_1").message_count, 2, "{version}");
        assert_eq!(listing.load("20260901_1").len(), 2, "{version}");
        listing.assert_pages_agree("20260901_1");
    }
}

#[test]
fn a_session_without_a_name_is_called_by_its_first_prompt_and_one_without_messages_is_none() {
    let sessions = Sessions::new();
    let database = sessions.database(16);
    database.session(json!({"id": "20260901_1"}));
    database.session(json!({"id": "20260901_2", "name": "never spoken to"}));
    database.session(json!({"id": "20260901_3", "name": "for itself", "session_type": "hidden"}));
    for id in ["20260901_1", "20260901_3"] {
        database.message(id, "user", 1, answered("c"));
        database.message(id, "user", 2, said("first\nprompt"));
    }
    let listing = sessions.list();
    assert_eq!(listing.ids(), ["20260901_1"]);
    assert_eq!(listing.of("20260901_1").title.as_deref(), Some("first prompt"));
}

#[test]
fn every_kind_of_block_is_kept() {
    let sessions = Sessions::new();
    let database = sessions.database(16);
    database.session(json!({"id": "20260901_1", "name": "n"}));
    let blocks = json!([
        {"type": "text", "text": "a"},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "reasoning", "text": "so"},
        {"type": "redactedThinking", "data": "x"},
        {"type": "image", "data": "iVBORw0K", "mimeType": "image/png"},
        {"type": "toolRequest", "id": "c1", "toolCall": {"status": "error", "error": "no such tool"}},
        {"type": "toolResponse", "id": "c0", "toolResult": {"status": "error", "error": "failed"}},
        {"type": "toolResponse", "id": "c2", "toolResult": {"status": "success", "value": {"content": [
            {"type": "image", "data": "iVBORw0K", "mimeType": "image/png"}, {"type": "resource", "resource": {}}], "isError": true}}},
        {"type": "toolConfirmationRequest", "id": "c3"},
        "no object",
    ]);
    database.message("20260901_1", "user", 1, blocks.clone());
    database.message("20260901_1", "narrator", 2, json!("no blocks"));
    let row = json!({"session_id": "20260901_1", "role": "user", "created_timestamp": 3, "content_json": "[{torn"});
    database.insert("messages", row);
    let other = |kind: &str, raw: &Value| json!({"type": "other", "kind": kind, "raw": raw});
    let image = json!({"type": "image", "mediaType": "image/png", "bytes": 6});
    let expected = json!([
        {"role": "user", "timestampMs": 1_000, "content": [
            {"type": "text", "text": "a"},
            {"type": "thinking", "text": "hm"},
            {"type": "thinking", "text": "so"},
            other("redactedThinking", &blocks[3]),
            image,
            other("toolRequest", &blocks[5]),
            {"type": "toolResult", "id": "c0", "isError": true, "content": said("failed")},
            {"type": "toolResult", "id": "c2", "isError": true, "content": [image, other("resource", &blocks[7]["toolResult"]["value"]["content"][1])]},
            other("toolConfirmationRequest", &blocks[8]),
            other("unknown", &blocks[9])]},
        {"role": "system", "timestampMs": 2_000, "content": [other("unknown", &json!("no blocks"))], "raw": {"role": "narrator"}},
        {"role": "user", "timestampMs": 3_000, "content": [other("unknown", &json!("[{torn"))]},
    ]);
    assert_eq!(sessions.list().loaded("20260901_1"), expected);
}

#[test]
fn a_result_has_its_tools_name_on_a_page_that_begins_with_it() {
    let sessions = Sessions::new();
    let database = sessions.database(5);
    database.session(json!({"id": "20260901_1"}));
    let calls: Vec<Value> = (0..5).map(|call| called(&format!("c{call}"))[0].clone()).collect();
    database.message("20260901_1", "assistant", 1, Value::Array(calls.clone()));
    let mut lines = vec![json!({"role": "assistant", "created": 1, "content": calls})];
    for call in 0..5 {
        database.message("20260901_1", "user", 1, answered(&format!("c{call}")));
        lines.push(json!({"role": "user", "created": 1, "content": answered(&format!("c{call}"))}));
    }
    sessions.write("of_before.jsonl", lines.iter().map(|line| line.to_string() + "\n").collect::<String>());
    let listing = sessions.list();
    for id in ["20260901_1", "of_before"] {
        listing.assert_pages_agree(id);
        let last = listing.paged(id, 1).pop().unwrap();
        assert!(format!("{last:?}").contains(r#"name: Some("shell")"#), "{last:?}");
    }
}

#[test]
fn a_cursor_does_not_shift_and_no_other_is_taken() {
    let sessions = Sessions::new();
    let database = sessions.database(9);
    database.session(json!({"id": "20260901_1"}));
    let line = |text: &str| json!({"role": "user", "created": 1, "content": said(text)}).to_string() + "\n";
    let mut lines = json!({"working_dir": "/proj/alpha", "description": ""}).to_string() + "\n";
    for text in ["one", "two", "three"] {
        database.message("20260901_1", "user", 1, said(text));
        lines += &line(text);
    }
    sessions.write("of_before.jsonl", &lines);
    let listing = sessions.list();
    assert_eq!(listing.of("of_before").title.as_deref(), Some("one"));
    let first = ["20260901_1", "of_before"].map(|id| (id, listing.page(id, None, 1).unwrap()));
    database.message("20260901_1", "user", 2, said("four"));
    sessions.write("of_before.jsonl", lines + &line("four"));
    for (id, page) in first {
        assert_eq!(serde_json::to_value(&page.messages[0].content).unwrap(), said("three"));
        let next = listing.page(id, page.next.as_deref(), 2).unwrap();
        let texts: Vec<_> =
            next.messages.iter().map(|message| serde_json::to_value(&message.content).unwrap()).collect();
        assert_eq!((texts, next.next), (vec![said("one"), said("two")], None));
        assert!(matches!(listing.page(id, Some("x"), 1), Err(ReadError::Cursor)));
        let gone = PageRequest { cursor: None, limit: 1, progress: &Gone, own_only: false };
        assert!(matches!(Goose.load(&[], listing.of(id), &gone), Err(ReadError::Cancelled)));
    }
}

#[test]
fn roots_are_where_each_system_has_them() {
    let roots = |variables: &[(&str, &str)]| {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        let roots = Goose.roots(&Environment::of(&lookup));
        roots.into_iter().map(|root| (root.path.display().to_string(), root.usual)).collect::<Vec<_>>()
    };
    let of = |expected: &[(&str, bool)]| {
        expected.iter().map(|(path, usual)| ((*path).to_owned(), *usual)).collect::<Vec<_>>()
    };
    let home = ("HOME", "/home/dev");
    let library = ("/home/dev/Library/Application Support/Block/goose/sessions", false);
    assert_eq!(roots(&[home]), of(&[("/home/dev/.local/share/goose/sessions", true), library]));
    assert_eq!(roots(&[home, ("XDG_DATA_HOME", "/data")]), of(&[("/data/goose/sessions", false), library]));
    assert_eq!(roots(&[home, ("GOOSE_PATH_ROOT", "/own")]), of(&[("/own/data/sessions", false)]));
    assert_eq!(roots(&[home, ("GOOSE_PATH_ROOT", "relative")]), roots(&[home]));
    let windows = [
        ("/roaming/Block/goose/data/sessions", true),
        ("/home/dev/.local/share/goose/sessions", false),
        library,
        ("/roaming/Block/goose/sessions", false),
    ];
    assert_eq!(roots(&[home, ("APPDATA", "/roaming")]), of(&windows));
    assert_eq!(roots(&[]), []);
}

#[test]
fn a_named_root_may_be_a_home_the_sessions_or_the_database() {
    let home = tempfile::tempdir().unwrap();
    for below in [BELOW_ROOT, BELOW_DATA] {
        let own = home.path().join(below.replace('/', "-"));
        let sessions = own.join(below);
        fs::create_dir_all(&sessions).unwrap();
        for named in [own.clone(), sessions.clone(), sessions.parent().unwrap().to_owned(), sessions.join(DATABASE)] {
            let root = Goose.named_root(&named);
            assert_eq!((root.path, root.home), (sessions.clone(), own.clone()));
        }
    }
}

#[test]
fn the_way_back_names_what_leads_the_program_there() {
    let resume = |root: Root, location: &str, id: &str| {
        let source = Source {
            path: location.into(),
            stamp: crate::harness::walk::stamp(Path::new(file!())).unwrap(),
            beside: None,
            parts: Box::default(),
        };
        Goose.resume(&root, &Session::new(id, &source))
    };
    let of = |path: &str, usual| root(path.into(), RootOrigin::Flag, usual);
    let env = |resume: Option<Resume>| resume.unwrap().env.map(|env| env.into_iter().next().unwrap());
    let database = |path: &str, usual| resume(of(path, usual), "/x/sessions.db", "20260901_1");
    let plain = database("/home/dev/.local/share/goose/sessions", true).unwrap();
    assert_eq!(plain.argv, ["goose", "session", "--resume", "--session-id", "20260901_1"]);
    assert_eq!((plain.env, plain.cwd), (None, None));
    let named = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
    assert_eq!(env(database("/own/data/sessions", false)), named("GOOSE_PATH_ROOT", "/own"));
    assert_eq!(env(database("/data/goose/sessions", false)), named("XDG_DATA_HOME", "/data"));
    assert_eq!(database("/anywhere", false), None);
    assert_eq!(resume(of("/x", true), "/x/sessions.db", "--help"), None);
    let file = resume(of("/x", true), "/x/20250801_101500.jsonl", "20250801_101500").unwrap();
    assert_eq!(file.argv, ["goose", "session", "--resume", "--path", "/x/20250801_101500.jsonl"]);
}
