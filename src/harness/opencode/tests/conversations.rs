//! Titles, models, pages, what was taken back, and how to get back in.

use super::*;
use crate::harness::testing::Gone;
use crate::harness::{Environment, PageRequest};

#[test]
fn what_old_rows_do_not_say_is_taken_from_the_messages() {
    let data = Data::new();
    let database = data.database("opencode.db");
    database.session("ses_1", "New session - 2026-11-30T08:40:18.426Z");
    database.session("ses_2", "New session - later");
    database.session("ses_3", "never spoken to");
    let injected = json!({"type": "text", "text": "<file>", "synthetic": true});
    database.message("ses_1", "msg_1", 2_000, user(), &[injected.clone(), said("really asked")]);
    database.message("ses_1", "msg_2", 3_000, user(), std::slice::from_ref(&injected));
    database.message("ses_2", "msg_3", 2_000, user(), &[injected]);
    database.message("ses_2", "msg_4", 3_000, assistant(), &[]);
    database.message("ses_2", "msg_5", 4_000, json!({"role": "user"}), &[]);
    let listing = data.list();
    assert_eq!(listing.ids(), ["ses_1", "ses_2"]);
    let said = |id: &str| (listing.of(id).title.clone().unwrap(), listing.of(id).model.clone().unwrap());
    assert_eq!(said("ses_1"), ("really asked".into(), "asked".into()));
    assert_eq!(said("ses_2"), ("New session - later".into(), "answered".into()));
    assert_eq!(listing.of("ses_1").updated_at_ms, Some(3_000));
    let details = listing.details("ses_1");
    assert_eq!((details.message_count, details.topics), (1, vec!["really asked".to_owned()]));
    assert_eq!(details.last_message.unwrap().text, "really asked");
}

#[test]
fn placeholder_is_never_a_title() {
    let data = Data::new();
    let placeholder = "Child session - 2026-11-30T08:40:18.426Z";
    let database = data.database("opencode.db");
    database.session("ses_1", placeholder);
    database.message("ses_1", "msg_1", 2_000, assistant(), &[]);
    data.session("ses_2", json!({"title": placeholder}), &[("msg_1", assistant(), "said")]);
    data.session("ses_3", json!({"title": placeholder}), &[("msg_2", user(), "asked")]);
    let listing = data.list();
    assert_eq!(listing.of("ses_1").title, None);
    assert_eq!(listing.of("ses_2").title, None);
    assert_eq!(listing.of("ses_3").title.as_deref(), Some("asked"));
}

#[test]
fn every_kind_of_part_is_kept() {
    let data = Data::new();
    let database = data.database("opencode.db");
    database.session("ses_1", "all");
    let parts = [
        said("a \u{1f600}"),
        json!({"type": "text", "text": "for the model", "synthetic": true}),
        json!({"type": "reasoning", "text": "hm", "time": {}}),
        json!({"type": "file", "mime": "image/png", "url": "data:image/png;base64,iVBORw0K"}),
        json!({"type": "file", "mime": "text/plain", "url": "file:///a.txt", "filename": "a.txt"}),
        json!({"type": "tool", "tool": "bash", "callID": "c1", "state": {"status": "running", "input": {"a": 1}}}),
        json!({"type": "tool", "tool": "bash", "callID": "c2", "state": {"status": "error", "input": {}, "error": "no"}}),
        json!({"type": "tool", "tool": "see", "callID": "c3", "state": {"status": "completed", "input": {}, "output": "out",
            "attachments": [{"type": "file", "mime": "image/png", "url": "data:image/png;base64,iVBORw0K"}]}}),
        json!({"type": "tool", "state": "torn"}),
        json!({"type": "novel", "x": 1}),
        json!(["no", "object"]),
    ];
    let failed = json!({"role": "assistant", "modelID": "m", "error": {"name": "Aborted"}});
    database.message("ses_1", "msg_1", 2_000, failed, &parts);
    database.message("ses_1", "msg_2", 3_000, json!({"role": "narrator", "time": {"created": 2_500}}), &[]);
    database.0.execute("insert into part values ('prt_z', 'msg_1', 'ses_1', '{torn')", []).unwrap();
    database.0.execute("insert into message values ('msg_3', 'ses_1', 4000, '{torn')", []).unwrap();
    let other = |kind: &str, raw: &Value| json!({"type": "other", "kind": kind, "raw": raw});
    let image = json!({"type": "image", "mediaType": "image/png", "bytes": 6});
    let call = |id: &str, name: &str, arguments: Value| json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments});
    let expected = json!([
        {"id": "msg_1", "role": "assistant", "timestampMs": 2_000, "model": "m", "content": [
            said("a \u{1f600}"),
            other("synthetic", &parts[1]),
            {"type": "thinking", "text": "hm"},
            image,
            other("file", &parts[4]),
            call("c1", "bash", json!({"a": 1})),
            // The parts stand in the order of their ids: prt_msg_1_10 comes before prt_msg_1_2.
            call("c2", "bash", json!({})),
            {"type": "toolResult", "id": "c2", "name": "bash", "isError": true, "content": [said("no")]},
            call("c3", "see", json!({})),
            {"type": "toolResult", "id": "c3", "name": "see", "isError": false, "content": [said("out"), image]},
            other("tool", &parts[8]),
            other("novel", &parts[9]),
            other("unknown", &json!("{torn")),
            other("error", &json!({"name": "Aborted"}))]},
        {"id": "msg_2", "role": "system", "timestampMs": 2_500, "content": [],
         "raw": {"role": "narrator", "time": {"created": 2_500}}},
        {"id": "msg_3", "role": "system", "timestampMs": 4_000, "content": [], "raw": "{torn"},
    ]);
    let mut loaded = data.list().loaded("ses_1");
    let blocks = loaded[0]["content"].as_array_mut().unwrap();
    assert_eq!(blocks.remove(2), other("unknown", &parts[10]));
    assert_eq!(loaded, expected);
    assert_eq!(data.list().details("ses_1").message_count, 1);
}

#[test]
fn what_a_person_took_back_is_gone() {
    let messages = [("msg_1", user(), "one"), ("msg_2", assistant(), "two"), ("msg_3", user(), "three")];
    let texts = |revert: Value| {
        let data = Data::new();
        let database = data.database("opencode.db");
        database.session("ses_1", "t");
        database.0.execute("update session set revert = ?", [revert.to_string()]).unwrap();
        for (at, (id, record, text)) in messages.iter().enumerate() {
            database.message("ses_1", id, at as i64, record.clone(), &[said(text), said("more")]);
        }
        data.session("ses_2", json!({"title": "t", "revert": revert}), &messages);
        let listing = data.list();
        listing.assert_pages_agree("ses_1");
        let of = |id: &str| {
            let texts = listing.load(id).into_iter().map(|message| message.content.len()).collect::<Vec<_>>();
            assert_eq!(listing.details(id).message_count, texts.iter().filter(|count| **count > 0).count() as u64);
            texts
        };
        (of("ses_1"), of("ses_2"))
    };
    assert_eq!(texts(Value::Null), (vec![2, 2, 2], vec![1, 1, 1]));
    assert_eq!(texts(json!({"messageID": "msg_3"})), (vec![2, 2], vec![1, 1]));
    assert_eq!(texts(json!({"messageID": "msg_3", "partID": "prt_msg_3_1"})), (vec![2, 2, 1], vec![1, 1, 1]));
}

#[test]
fn a_cursor_does_not_shift_and_another_stores_is_told() {
    let data = Data::new();
    let database = data.database("opencode.db");
    database.session("ses_1", "t");
    for (id, at) in [("msg_b", 1_000), ("msg_a", 1_000), ("msg_c", 2_000)] {
        database.message("ses_1", id, at, user(), &[said(id)]);
    }
    let files = [("msg_1", user(), "1"), ("msg_2", user(), "2"), ("msg_3", user(), "3")];
    data.session("ses_2", json!({"title": "t"}), &files);
    let listing = data.list();
    let ids = |page: &Page| page.messages.iter().map(|message| message.id.clone().unwrap()).collect::<Vec<_>>();
    let (first, second) = (listing.page("ses_1", None, 1).unwrap(), listing.page("ses_2", None, 1).unwrap());
    assert_eq!((ids(&first), ids(&second)), (vec!["msg_c".to_owned()], vec!["msg_3".to_owned()]));
    database.message("ses_1", "msg_d", 3_000, user(), &[]);
    data.session("ses_2", json!({"title": "t"}), &[("msg_4", user(), "4")]);
    let next = |id: &str, page: &Page| listing.page(id, page.next.as_deref(), 2).unwrap();
    assert_eq!(ids(&next("ses_1", &first)), ["msg_a", "msg_b"]);
    assert_eq!(ids(&next("ses_2", &second)), ["msg_1", "msg_2"]);
    assert_eq!(next("ses_1", &first).next, None);
    for (id, cursor) in [("ses_1", "msg_1"), ("ses_1", "x:msg_1"), ("ses_2", "1:msg_1")] {
        assert!(matches!(listing.page(id, Some(cursor), 1), Err(ReadError::Cursor)));
    }
    let gone = PageRequest { cursor: None, limit: 1, progress: &Gone, own_only: false };
    for id in ["ses_1", "ses_2"] {
        assert!(matches!(OpenCode.load(&[], listing.of(id), &gone), Err(ReadError::Cancelled)));
    }
}

#[test]
fn roots_come_from_the_environment() {
    let roots = |variables: &[(&str, &str)]| {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        let roots = OpenCode.roots(&Environment::of(&lookup));
        roots.into_iter().map(|root| (root.path.display().to_string(), root.usual)).collect::<Vec<_>>()
    };
    let usual = || ("/home/dev/.local/share/opencode".to_owned(), true);
    let home = ("HOME", "/home/dev");
    assert_eq!(roots(&[home]), [usual()]);
    assert_eq!(roots(&[home, ("XDG_DATA_HOME", "/data")]), [("/data/opencode".to_owned(), false)]);
    assert_eq!(roots(&[home, ("OPENCODE_DB", "/x/y.db")]), [("/x/y.db".to_owned(), false), usual()]);
    let relative = "/home/dev/.local/share/opencode/mine.db".to_owned();
    assert_eq!(roots(&[home, ("OPENCODE_DB", "mine.db")]), [(relative, false), usual()]);
    for found_anyway in [":memory:", "opencode-dev.db", "", "/home/dev/.local/share/opencode/opencode.db"] {
        assert_eq!(roots(&[home, ("OPENCODE_DB", found_anyway)]), [usual()], "{found_anyway}");
    }
    assert_eq!(roots(&[("OPENCODE_DB", "/x/y.db")]), [("/x/y.db".to_owned(), false)]);
    assert_eq!(roots(&[]), []);
}

#[test]
fn a_named_root_may_be_the_data_its_directory_or_one_database() {
    let data = Data::new();
    let directory = data.0.path().join("opencode");
    fs::create_dir(&directory).unwrap();
    for named in [data.0.path(), &directory] {
        assert_eq!(OpenCode.named_root(named).path, directory);
        assert_eq!(OpenCode.named_root(named).home, data.0.path());
    }
    let database = data.database("any.sqlite");
    database.session("ses_1", "t");
    database.message("ses_1", "msg_1", 1, user(), &[]);
    assert_eq!(list(&data.0.path().join("any.sqlite")).ids(), ["ses_1"]);
}

#[test]
fn the_way_back_names_what_the_program_would_not_find() {
    let data = Data::new();
    let directory = data.0.path().join("opencode");
    fs::create_dir(&directory).unwrap();
    for (name, id) in
        [("opencode/opencode.db", "ses_1"), ("opencode/opencode-dev.db", "ses_2"), ("any.sqlite", "ses_3")]
    {
        let database = data.database(name);
        database.session(id, "t");
        database.message(id, &format!("msg_{id}"), 1, user(), &[]);
    }
    let env = |path: &Path, usual: bool, id: &str| {
        let listing = list(path);
        let resume = OpenCode.resume(&Root { usual, ..listing.root.clone() }, listing.of(id)).unwrap();
        assert_eq!(resume.argv, ["opencode", "--session", id]);
        assert_eq!(resume.cwd.as_deref(), Some("/proj/demo"));
        resume.env.map(|env| env.into_iter().collect::<Vec<_>>())
    };
    let own = |name: &str| data.0.path().join(name).to_str().unwrap().to_owned();
    let (home, other) = (("XDG_DATA_HOME".to_owned(), own("")), |name: &str| ("OPENCODE_DB".to_owned(), own(name)));
    let home = (home.0, home.1.trim_end_matches('/').to_owned());
    assert_eq!(env(&directory, true, "ses_1"), None);
    assert_eq!(env(&directory, false, "ses_1"), Some(vec![home.clone()]));
    assert_eq!(env(&directory, true, "ses_2"), Some(vec![other("opencode/opencode-dev.db")]));
    assert_eq!(env(&directory, false, "ses_2"), Some(vec![other("opencode/opencode-dev.db"), home]));
    assert_eq!(env(&data.0.path().join("any.sqlite"), false, "ses_3"), Some(vec![other("any.sqlite")]));
    fs::rename(&directory, data.0.path().join("moved")).unwrap();
    let moved = data.0.path().join("moved");
    assert_eq!(env(&moved, false, "ses_1"), Some(vec![other("moved/opencode.db")]));
}

#[test]
fn files_that_the_program_old_form_and_ids_that_are_options_have_no_way_back() {
    let data = Data::new();
    data.session("ses_1", json!({}), &[("msg_1", user(), "1")]);
    let resume =
        |listing: &Listing, id: &str| OpenCode.resume(&Root { usual: true, ..listing.root.clone() }, listing.of(id));
    assert!(resume(&data.list(), "ses_1").is_some());
    let listing = data.list();
    assert!(OpenCode.resume(&Root { usual: false, ..listing.root.clone() }, listing.of("ses_1")).is_none());
    let database = data.database("opencode.db");
    database.session("--help", "t");
    database.message("--help", "msg_1", 1, user(), &[]);
    assert!(resume(&data.list(), "ses_1").is_none());
    assert!(resume(&data.list(), "--help").is_none());
}
