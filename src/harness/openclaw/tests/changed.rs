//! What the fixtures do not show: branches, compressed events, other schemas, several places, what is broken.

use super::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Adds an event to a session of a database, as the program does but for its list of the current branch.
fn add(connection: &Connection, session: &str, event: &Value, compressed: bool) {
    let next = "(select coalesce(max(seq), -1) + 1 from transcript_events where session_id = ?1)";
    let text = event.to_string();
    if compressed {
        let navigation = json!({"version": 1, "report": {"kind": "canonical"}, "navigation": {}, "reset": {}, "model": {},
            "modelBytes": 0, "modelWithoutCheckpointBytes": 0, "withoutCustomDataBytes": 0});
        let query = format!(
            "insert into transcript_events (session_id, seq, created_at, event_zstd, event_utf8_bytes, navigation_json) \
             values (?1, {next}, 0, ?2, ?3, ?4)"
        );
        let packed = compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
        connection.execute(&query, params![session, packed, text.len() as i64, navigation.to_string()]).unwrap();
    } else {
        let query = format!(
            "insert into transcript_events (session_id, seq, created_at, event_json) values (?1, {next}, 0, ?2)"
        );
        connection.execute(&query, params![session, text]).unwrap();
    }
}

fn event(id: &str, parent: &str, role: &str, at: i64, said: &str) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-30T09:00:00Z",
        "message": {"role": role, "content": said, "timestamp": at, "model": "newer"}})
}

const LAST: &str = "2595e439-4560-4e27-a0be-8ecfb81484c0";

#[test]
fn compressed_events_are_read_and_a_list_that_lags_is_not() {
    let home = Home::copied("v2026.9.6");
    let before = load(home.list().of(TOOL), 100);
    let connection = home.database();
    add(&connection, TOOL, &event("n1", LAST, "user", EPOCH + 500_000, &"long ".repeat(2_000)), true);
    add(&connection, TOOL, &event("n2", "n1", "assistant", EPOCH + 500_001, "short"), false);
    drop(connection);
    let session = home.list().of(TOOL).clone();
    assert_eq!((session.updated_at_ms, session.model.as_deref()), (Some(EPOCH + 500_001), Some("newer")));
    assert_eq!(details(&session).message_count, 9);
    for limit in 1..12 {
        let messages = load(&session, limit);
        assert_eq!(messages[..8], before[..], "{limit}");
        assert_eq!(ids(&messages[8..]), ["n1", "n2"]);
        assert_eq!(messages[8].content, [text(&"long ".repeat(2_000))]);
    }
}

#[test]
fn the_list_of_the_current_branch_counts_before_the_tree() {
    let home = Home::copied("v2026.9.6");
    let connection = home.database();
    add(&connection, TOOL, &event("n1", "70d9af99-68c4-454a-b7c3-cc245496e93d", "user", EPOCH, "another way"), false);
    connection
        .execute_batch(&format!(
            "update session_transcript_index_state set indexed_seq = 14 where session_id = '{TOOL}';
             delete from session_transcript_active_events where session_id = '{TOOL}' and active_position > 3;
             insert into session_transcript_active_events (session_id, active_position, event_seq) values ('{TOOL}', 4, 14);"
        ))
        .unwrap();
    let session = home.list().of(TOOL).clone();
    let expected = ["70d9af99-68c4-454a-b7c3-cc245496e93d", "n1"];
    for limit in 1..4 {
        assert_eq!(ids(&load(&session, limit)), expected);
    }
    // The tree says the same.
    connection.execute_batch("update session_transcript_index_state set needs_rebuild = 1").unwrap();
    for limit in 1..4 {
        assert_eq!(ids(&load(&session, limit)), expected);
    }
    assert_eq!(details(&session).message_count, 2);
}

#[test]
fn a_cursor_does_not_shift_when_events_are_added() {
    let home = Home::copied("v2026.9.6");
    let session = home.list().of(TOOL).clone();
    let all = load(&session, 100);
    let first = page(&session, None, 3).unwrap();
    add(&home.database(), TOOL, &event("n1", LAST, "user", EPOCH, "more"), false);
    let second = page(&session, first.next.as_deref(), 100).unwrap();
    assert_eq!([second.messages, first.messages.clone()].concat(), all);
    let rest = page(&session, None, 4).unwrap();
    assert!(rest.next.as_deref().unwrap().starts_with("row "));
    let second = page(&session, rest.next.as_deref(), 100).unwrap();
    assert_eq!(second.messages[..], all[..5]);
    for cursor in ["", "listed", "listed 3 99", "line 0 leaf", "row x leaf", "row 1 what", "else 1 2"] {
        assert!(matches!(page(&session, Some(cursor), 1), Err(ReadError::Cursor)), "{cursor}");
    }

    let home = Home::copied("v2026.5.7");
    let session = home.list().of("6c90e29a-").clone();
    let all = load(&session, 100);
    let first = page(&session, None, 2).unwrap();
    let file = home.path().join(FILE);
    let more = event("n1", "5e69e584", "user", EPOCH, "more").to_string();
    fs::write(&file, format!("{}{more}\n", fs::read_to_string(&file).unwrap())).unwrap();
    let second = page(&session, first.next.as_deref(), 100).unwrap();
    assert_eq!([second.messages, first.messages].concat(), all);
    for cursor in ["line 1 any", "line 999999 any", "row 1 any", "listed 1 1"] {
        assert!(matches!(page(&session, Some(cursor), 1), Err(ReadError::Cursor)), "{cursor}");
    }
    let cancelled = PageRequest { cursor: None, limit: 1, progress: &Gone, own_only: false };
    assert!(matches!(OpenClaw.load(&[], &session, &cancelled), Err(ReadError::Cancelled)));
}

#[test]
fn windows_of_one_conversation_are_sessions_and_say_where_they_came_from() {
    let home = Home::copied("v2026.9.6");
    let connection = home.database();
    let window = |id: &str, key: &str, previous: Option<&str>, reason: Option<&str>| {
        connection
            .execute(
                "insert into session_windows (session_id, session_key, previous_session_id, reason, created_at, updated_at) \
                 values (?1, ?2, ?3, ?4, ?5, 0)",
                params![id, key, previous, reason, EPOCH],
            )
            .unwrap();
        add(&connection, id, &json!({"type": "session", "version": 4, "id": id, "cwd": "/proj/alpha"}), false);
        add(&connection, id, &event("m", "", "user", EPOCH, "[Mon 2026-11-30 08:46 UTC] asked"), false);
    };
    let node = |key: &str, current: &str, more: &str| {
        let query = format!(
            "insert into session_nodes (session_key, current_session_id, entry_json, updated_at{}) values (?1, ?2, '', 0{})",
            more.split('|').next().unwrap(),
            more.split('|').nth(1).unwrap()
        );
        connection.execute(&query, params![key, current]).unwrap();
    };
    connection.execute_batch("pragma foreign_keys = off").unwrap();
    connection
        .execute("update session_nodes set current_session_id = 'next' where session_key = 'agent:main:main'", [])
        .unwrap();
    window("next", "agent:main:main", Some(TOOL), Some("rollover"));
    window("rewound", "agent:main:side-task", Some(SIDE), Some("rewind"));
    node("agent:other:sub", "sub", ", spawned_by, archived_at|, 'agent:main:main', 7");
    window("sub", "agent:other:sub", None, None);
    node("agent:main:thread", "thread", ", parent_session_key|, 'agent:main:side-task'");
    window("thread", "agent:main:thread", None, None);
    node("agent:main:forked", "forked", ", fork_source_session_id, spawned_by|, 'a53207a9', 'agent:gone:main'");
    window("forked", "agent:main:forked", None, None);
    node("agent:main:lost", "lost", ", spawned_by|, 'agent:gone:main'");
    window("lost", "agent:main:lost", None, None);
    window("--version", "agent:main:lost", None, None);
    drop(connection);

    let listing = home.list();
    assert_eq!(listing.sessions.len(), 3 + 6);
    let parent = |id: &str| listing.of(id).parent.clone().map(|parent| (parent.session_id, parent.relation));
    let of = |id: &str, relation| Some((Some(id.to_owned()), relation));
    assert_eq!(parent("next"), of(TOOL, Relation::Continuation));
    assert_eq!(parent("rewound"), of(SIDE, Relation::Branch));
    assert_eq!(parent("sub"), of("next", Relation::Subagent));
    assert_eq!(parent("thread"), of(SIDE, Relation::Branch));
    assert_eq!(parent("forked"), of("a53207a9", Relation::Fork));
    assert_eq!(parent("lost"), Some((None, Relation::Subagent)));
    assert_eq!(listing.of("next").title.as_deref(), Some("asked"));
    assert_eq!(listing.of("sub").profile.as_deref(), Some("other"));
    assert!(listing.of("sub").archived && !listing.of("next").archived);
    // Only the current window can be opened.
    assert_eq!(listing.of("next").handle.as_deref(), Some("agent:main:main"));
    assert_eq!((listing.of(TOOL).handle.as_deref(), listing.of(TOOL).resumable), (None, false));
}

#[test]
fn a_session_whose_events_were_packed_away_is_listed_and_says_so() {
    let home = Home::copied("v2026.9.6");
    home.database()
        .execute_batch(&format!(
            "delete from transcript_events where session_id = '{SIDE}';
             insert into session_transcript_cold_archives (session_id, generation, archive_name, archive_sha256, event_count,
                raw_bytes, archive_bytes, last_seq, archived_at, storage)
             values ('{SIDE}', 'g', 'n', '{}', 1, 1, 1, 1, 1, 'file')",
            "0".repeat(64)
        ))
        .unwrap();
    let listing = home.list();
    let session = listing.of(SIDE);
    assert_eq!((session.title.as_deref(), session.updated_at_ms), (Some("My side task"), Some(EPOCH + 401_116)));
    assert!(matches!(page(session, None, 1), Err(ReadError::Malformed(_))));
}

#[test]
fn older_tables_and_fewer_columns_are_enough() {
    let home = Home::new();
    let path = home.write(MAIN, "");
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "create table transcript_events (session_id text, seq integer, event_json text, created_at integer);
             create table sessions (session_id text, session_key text, created_at integer);
             create table session_entries (session_key text, entry_json text);
             insert into sessions values ('s1', 'agent:main:main', 5);
             insert into session_entries values ('agent:main:main', '{\"sessionId\":\"s1\",\"label\":\"called\"}');",
        )
        .unwrap();
    add(&connection, "s1", &json!({"type": "session", "id": "s1", "cwd": "/proj/alpha"}), false);
    add(
        &connection,
        "s1",
        &json!({"type": "message", "message": {"role": "user", "content": "no ids", "timestamp": 7}}),
        false,
    );
    let listing = home.list();
    let session = listing.of("s1");
    assert_eq!((session.title.as_deref(), session.handle.as_deref()), (Some("called"), Some("agent:main:main")));
    assert_eq!((session.created_at_ms, session.updated_at_ms), (Some(5), Some(7)));
    assert_eq!(load(session, 1).len(), 1);
    connection.execute_batch("drop table sessions; drop table session_entries").unwrap();
    assert_eq!(home.list().of("s1").title.as_deref(), Some("no ids"));
}

#[test]
fn a_broken_database_costs_only_itself() {
    for (content, reason) in
        [(&b""[..], "empty"), (&[0; 4096], "malformed"), (b"SQLite format 3\0 and no more", "malformed")]
    {
        let home = Home::copied("v2026.9.6");
        home.write(MAIN, content);
        let listing = home.list();
        assert_eq!(skipped(&listing), [(MAIN.to_owned(), reason)]);
        assert_eq!(listing.sessions.len(), 1);
    }
    for (table, reason) in [("t", "malformed"), ("schema_meta", "no_messages")] {
        let home = Home::new();
        Connection::open(home.write(MAIN, "")).unwrap().execute_batch(&format!("create table {table} (x)")).unwrap();
        assert_eq!(skipped(&home.list()), [(MAIN.to_owned(), reason)]);
    }
    let home = Home::copied("v2026.9.6");
    let connection = home.database();
    connection.execute("update transcript_events set event_json = '{\"torn' where seq in (3, 5)", []).unwrap();
    assert_eq!(home.list().of(TOOL).title.as_deref(), Some("say hello to openclaw"));
    assert_eq!(load(home.list().of(TOOL), 3).len(), 7);
}

#[test]
fn one_session_in_three_places_is_told_of_each_and_the_database_has_the_newest_form() {
    let home = Home::copied("v2026.9.6");
    let events: Vec<String> = home
        .database()
        .prepare("select event_json from transcript_events where session_id = ?1 order by seq")
        .unwrap()
        .query_map([TOOL], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let lines = events.join("\n");
    let name = format!("{TOOL}.jsonl");
    home.write(&format!("agents/main/sessions/{name}"), &lines);
    for place in
        ["agents/main/session-sqlite-import-archive", "agents/main/sessions/session-sqlite-import-archive/2026"]
    {
        home.write(&format!("{place}/{name}"), &lines);
    }
    home.write(&format!("agents/main/sessions/{TOOL}.checkpoint.1.jsonl"), &lines);
    for ending in ["deleted.2026-11-30T08-00-00Z", "reset.1", "deleted.1.zst"] {
        home.write(&format!("agents/main/sessions/{name}.{ending}"), &lines);
    }
    let listing = home.list();
    let copies: Vec<&Session> = listing.sessions.iter().filter(|session| &*session.id == TOOL).collect();
    assert_eq!(copies.len(), 4);
    let newest: Vec<_> = copies.iter().filter(|copy| !copy.old_form).map(|copy| &*copy.location).collect();
    assert_eq!(newest, [home.path().join(MAIN)]);
    assert_eq!(copies.iter().filter(|copy| copy.archived && !copy.resumable).count(), 2);
    assert_eq!(listing.skipped.len(), 4);
    for copy in &copies {
        assert_eq!(load(copy, 3), load(copies[0], 100));
    }
}

#[test]
fn registered_databases_are_read_wherever_they_are() {
    let home = Home::copied("v2026.9.6");
    let elsewhere = Tree::new();
    let outside = elsewhere.path().join("ops.sqlite");
    fs::rename(home.path().join("agents/ops/agent/openclaw-agent.sqlite"), &outside).unwrap();
    fs::create_dir(home.path().join("shared")).unwrap();
    fs::rename(home.path().join(MAIN), home.path().join("shared/main.sqlite")).unwrap();
    assert_eq!(home.list().sessions.len(), 0);
    let register = Connection::open(home.write("state/openclaw.sqlite", "")).unwrap();
    register.execute_batch("create table agent_databases (agent_id text, path text)").unwrap();
    for path in ["shared/main.sqlite", outside.to_str().unwrap(), "gone.sqlite", "shared/main.sqlite", ""] {
        register.execute("insert into agent_databases values ('x', ?1)", [path]).unwrap();
    }
    let listing = home.list();
    assert_eq!((listing.sessions.len(), listing.skipped.len()), (3, 0));
    assert_eq!(listing.of("a53207a9-").profile.as_deref(), Some("ops"));
    register.execute_batch("drop table agent_databases").unwrap();
    assert_eq!(skipped(&home.list()), []);
    drop(register);
    home.write("state/openclaw.sqlite", "broken");
    assert_eq!(skipped(&home.list()), [("state/openclaw.sqlite".to_owned(), "malformed")]);
}

#[test]
fn an_index_names_and_joins_conversations() {
    let home = Home::copied("v2026.5.7");
    let index = "agents/main/sessions/sessions.json";
    home.write(
        index,
        json!({
            "agent:main:main": {"sessionId": "a", "label": "given", "displayName": "made", "skillsSnapshot": {"x": ["y"]}},
            "agent:main:sub": {"sessionId": "b", "displayName": "made", "spawnedBy": "agent:main:main", "label": 7},
            "agent:main:lost": {"sessionId": "c", "spawnedBy": "agent:gone:main"},
            "broken": 7, "agent:main:none": {"label": "no session"},
        })
        .to_string(),
    );
    let listing = home.list();
    let name = |session: &str, title: &str| Name { session: session.into(), title: title.into(), rank: 1 };
    assert_eq!(listing.names, [name("a", "given"), name("b", "made")]);
    let parent = |id: Option<&str>| Some(Parent { session_id: id.map(String::from), relation: Relation::Subagent });
    let parents: Vec<_> = listing.remarks.iter().map(|remark| remark.parent.clone()).collect();
    assert_eq!(parents, [None, parent(Some("a")), parent(None)]);
    for (content, reason) in [("", "empty"), ("{\"torn", "malformed"), ("[]", "malformed"), ("\0\0", "malformed")] {
        home.write(index, content);
        let skipped = skipped(&home.list());
        assert!(skipped.contains(&(index.to_owned(), reason)), "{content:?}: {skipped:?}");
        assert_eq!(home.list().sessions.len(), 2);
    }
}

#[test]
fn what_neither_person_nor_model_wrote_does_not_count() {
    let home = Home::new();
    let mut notice = event("c", "b", "assistant", 9, "delivered");
    notice["message"]["provider"] = "openclaw".into();
    let lines = [
        event("a", "", "user", 7, "<system-reminder>context</system-reminder>"),
        event("b", "a", "assistant", 8, "said"),
        notice,
        json!({"type": "custom_message", "id": "d", "parentId": "c", "content": "put there"}),
        json!({"type": "compaction", "id": "e", "parentId": "d", "summary": "so far"}),
        json!({"type": "message", "id": "f", "parentId": "e", "message": {"role": "bashExecution", "command": "ls"}}),
    ];
    home.write(FILE, lines.map(|line| line.to_string()).join("\n"));
    let listing = home.list();
    let session = &listing.sessions[0];
    assert_eq!((session.title.as_deref(), session.model.as_deref()), (None, Some("newer")));
    assert_eq!((details(session).message_count, session.updated_at_ms), (2, Some(9)));
    let messages = load(session, 2);
    let models: Vec<_> = messages.iter().map(|message| message.model.as_deref()).collect();
    assert_eq!(models, [None, Some("newer"), None, None, None, None]);
    assert!(messages[3..].iter().all(|message| message.role == Role::System));
    assert_eq!((&messages[3].content[0], &messages[4].content[0]), (&text("put there"), &text("so far")));
    let command = json!({"role": "bashExecution", "command": "ls"});
    assert_eq!(messages[5].content, [Block::Other { kind: "bashExecution".to_owned(), raw: command }]);
}

#[test]
fn hostile_transcripts_cost_only_themselves() {
    let header = json!({"type": "session", "version": 3, "id": "x", "cwd": "relative"}).to_string();
    let said = event("m", "", "user", 7, "asked").to_string();
    for (content, reason) in [
        (String::new(), "empty"),
        ("\0\0\0\n".to_owned(), "unreadable"),
        ("not json\n".to_owned(), "unreadable"),
        (header.clone(), "no_messages"),
        (format!("{{\"traceSchema\":\"t\"}}\n{said}"), "not_a_session"),
    ] {
        let home = Home::new();
        home.write(FILE, &content);
        assert_eq!(skipped(&home.list()), [(FILE.to_owned(), reason)], "{content:?}");
    }
    let home = Home::new();
    home.write(FILE, format!("\0\0{header}\n[]\n{{\"type\":7,\"id\":[]}}\n{said}\n{}", &said[..30]));
    let listing = home.list();
    let session = listing.of("x");
    assert_eq!((session.title.as_deref(), session.workspace.as_deref()), (Some("asked"), None));
    assert_eq!(session.updated_at_ms, Some(7));
    assert_eq!(ids(&load(session, 1)), ["m"]);
    home.write(FILE, header.replace("\"x\"", "\"--help\"") + "\n" + &said);
    assert_eq!(&*home.list().sessions[0].id, "6c90e29a-6106-4da5-8ad7-0de7e42563fa");
}

#[test]
fn state_directories_are_where_the_variables_or_old_names_say() {
    let user = Tree::new();
    for name in [".openclaw-b/agents", ".openclaw-a/agents", ".openclaw-empty"] {
        fs::create_dir_all(user.path().join(name)).unwrap();
    }
    let names = |variables: &[(&str, &str)]| {
        let lookup = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
            found.or_else(|| (name == "HOME").then(|| user.path().to_owned()))
        };
        let roots = OpenClaw.roots(&Environment::of(&lookup));
        let name = |path: &Path| path.strip_prefix(user.path()).unwrap_or(path).display().to_string();
        roots.iter().map(|root| (name(&root.path), root.usual)).collect::<Vec<_>>()
    };
    let of = |name: &str, usual| (name.to_owned(), usual);
    let every = [
        of(".openclaw", true),
        of(".openclaw-a", false),
        of(".openclaw-b", false),
        of(".clawdbot", false),
        of(".moltbot", false),
        of(".moldbot", false),
        of(".qclaw", false),
    ];
    assert_eq!(names(&[]), every);
    for unset in ["", " ", "undefined", "null"] {
        assert_eq!(
            names(&[("OPENCLAW_STATE_DIR", unset), ("OPENCLAW_HOME", unset), ("OPENCLAW_PROFILE", unset)]),
            every
        );
    }
    assert_eq!(names(&[("OPENCLAW_STATE_DIR", "/data/claw")]), [of("/data/claw", false)]);
    assert_eq!(names(&[("OPENCLAW_PROFILE", "b")]), [of(".openclaw-b", false)]);
    assert_eq!(names(&[("OPENCLAW_HOME", "/srv")])[0], of("/srv/.openclaw", false));
}

#[test]
fn events_of_any_size_are_told_by_their_size() {
    const SIZE: usize = 40 << 20;
    for noted in [false, true] {
        let home = Home::new();
        let path = home.write(MAIN, "");
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "create table transcript_events (session_id text, seq integer, event_json text, created_at integer);
                 create table sessions (session_id text, session_key text, created_at integer, display_name text);
                 create table session_entries (session_key text, entry_json text);
                 insert into sessions values ('s1', 'agent:main:main', 5, null);
                 insert into session_entries values ('agent:main:main', '{}')",
            )
            .unwrap();
        let long = event("b", "a", "assistant", 2, &"x".repeat(SIZE));
        add(&connection, "s1", &event("a", "", "user", 1, "prompt"), false);
        add(&connection, "s1", &long, false);
        add(&connection, "s1", &event("c", "b", "assistant", 3, "answer"), false);
        let text = "x".repeat(SIZE);
        connection.execute("update session_entries set entry_json = ?1", [&text]).unwrap();
        connection.execute("update sessions set display_name = ?1", [&text]).unwrap();
        if noted {
            connection
                .execute_batch(
                    "create table transcript_event_identities
                       (session_id text, seq integer, event_id text, event_type text, parent_id text);
                     insert into transcript_event_identities values ('s1', 1, 'b', 'message', 'a')",
                )
                .unwrap();
        }
        let listing = home.list();
        let session = listing.of("s1");
        assert_eq!(session.title.as_deref(), Some("prompt"));
        assert_eq!(details(session).last_message.unwrap().text, "answer");
        let messages = load(session, 1);
        assert_eq!(ids(&messages), ["a", "b", "c"]);
        let size = json!({"bytes": long.to_string().len()});
        assert_eq!(messages[1].content, [Block::Other { kind: "content".to_owned(), raw: size }]);
        assert_eq!(page(session, None, 100).unwrap().messages, messages);
    }
}

#[test]
fn a_page_ends_where_events_are_large() {
    let home = Home::copied("v2026.9.6");
    let connection = home.database();
    let mut last = LAST.to_owned();
    for at in 0..3 {
        let id = format!("large-{at}");
        add(&connection, TOOL, &event(&id, &last, "user", at, &"x".repeat(3 << 20)), false);
        last = id;
    }
    let page = page(home.list().of(TOOL), None, 100).unwrap();
    assert_eq!(ids(&page.messages), ["large-1", "large-2"]);
    assert_eq!(load(home.list().of(TOOL), 100).len(), load(home.list().of(TOOL), 1).len());
}
