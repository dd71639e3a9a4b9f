//! `session/load`: the messages of a stored session in one normal form, page by page.

mod absent;

use crate::support::stores::{CLAUDE_CODE, CODEX, GOOSE, PI};
use crate::support::{Home, Server, Spawn};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const CLAUDE_TOOLS: &str = "claude-code:990cebda-6561-469d-88b4-03a913c4535d";
const CODEX_PLAIN: &str = "codex:01a22b99-1497-7823-892b-1bc4d693a950";
const CODEX_FORK: &str = "codex:01a22b99-3342-79f2-9dc6-b256af1670c4";
const PI_PLAIN: &str = "pi:01a22b97-be73-70f7-b287-2432d5e1e83e";
const GOOSE_TOOLS: &str = "goose:20260901_2";

/// One session of each store, and how it ends, read off its records; what programs injected is left out.
const SESSIONS: &[(&str, &[&str])] = &[
    (
        CLAUDE_TOOLS,
        &[
            "user: fail @@[{\"tool\":\"Bash\",\"input\":{\"command",
            "assistant: Bash#toolu_45669e66653545a2bcb24312",
            "tool: Bash#toolu_45669e66653545a2bcb24312! Exit code 3",
            "assistant: It failed.",
            "user: <command-name>/compact</command-name>\n  ",
            "user: after compact @@[{\"text\":\"still here\"}]@",
            "assistant: still here",
        ],
    ),
    (
        "codex:01a22b99-17e7-7890-9e91-ce3431ad9cd2",
        &[
            "user: USE_TOOL please run a command",
            "assistant: exec_command#call_5",
            "tool: exec_command#call_5 Chunk ID: 9f9593\nWall time: 0.0000 secon",
            "assistant: Fake answer to: USE_TOOL please run a co",
        ],
    ),
    (
        "gemini:7e8866fe-e85f-4d7b-a6dd-47044ad316d8",
        &[
            "user: USE_TOOL please run a command",
            "assistant: run_shell_command#run_shell_command__run_shell_command_1796028026066_0",
            "tool: run_shell_command#run_shell_command__run_shell_command_1796028026066_0 <untrusted_context>\nOutput: tool-ran\nPro",
            "assistant: Fake answer to: USE_TOOL please run a co",
        ],
    ),
    (
        "opencode:ses_dd4630017ffeFj8NpI3Y3dp09C",
        &[
            "user: \"USE_TOOL please run a command\"",
            "assistant: <step-start> + bash#call_5 + bash#call_5 tool-ran\n + <step-finish>",
            "assistant: <step-start> + Fake answer to: \"USE_TOOL please run a c + <step-finish>",
        ],
    ),
    (
        GOOSE_TOOLS,
        &[
            "user: please run TOOL now",
            "assistant: developer__shell#call_fake1",
            "tool: developer__shell#call_fake1 tool-says-hello\n",
            "assistant: Tool finished; the answer is 42.",
            "user: a second question, resumed",
            "assistant: Fake answer: second.",
        ],
    ),
    (
        "pi:01a22b97-c6e7-77fa-845e-e879ea06d1dc",
        &[
            "user: please run TOOL now",
            "assistant: bash#call_fake36",
            "tool: bash#call_fake36 tool-says-hello\n",
            "assistant: Tool finished; the answer is 42. ",
            "user: and a second question",
            "assistant: Fake answer 38 to: and a second question",
            "user: a forked question",
            "assistant: Fake answer 40 to: a forked question ",
        ],
    ),
    (
        "grok:01a22b97-ace6-7f61-ab22-adaccff21639",
        &[
            "user: please run TOOL now",
            "assistant: run_terminal_command#call_fake13",
            "tool: run_terminal_command#call_fake13 tool-says-hello\n",
            "assistant: Tool finished; the answer is 42. ",
            "user: a second question in the same session",
            "assistant: Fake answer 17 to: <user_query> a second",
        ],
    ),
    (
        "openclaw:6c90e29a-6106-4da5-8ad7-0de7e42563fa",
        &[
            "user: say hello to old openclaw",
            "assistant: Fake answer 14 to: say hello to old open",
            "user: please run TOOL now",
            "assistant: exec#call_fake23",
            "tool: exec#call_fake23 tool-says-hello",
            "assistant: Tool finished; the answer is 42. ",
        ],
    ),
    (
        "openclaw:1cecd97c-764c-49fd-97fb-89258360081d",
        &[
            "user: please run TOOL now",
            "assistant: exec#call_fake30",
            "tool: exec#call_fake30 tool-says-hello",
            "assistant: Tool finished; the answer is 42. ",
            "user: please SPAWN a helper",
            "assistant: Fake answer 32 to: [Mon 2026-11-30 08:46",
        ],
    ),
    (
        "hermes:20261130_083608_e70d93",
        &[
            "user: please run TOOL now",
            "assistant: terminal#call_fake47",
            "tool: terminal#call_fake47 {\"output\": \"tool-says-hello\", \"exit_code",
            "assistant: Tool finished; the answer is 42.",
            "user: a second question",
            "assistant: Fake answer 49 to: a second question",
        ],
    ),
    (
        "supercode:b1d154e4964f197c-quiet-heron",
        &[
            "user: please run TOOL now",
            "assistant: bash#call_fake75",
            "tool: bash#call_fake75 exit code: 0\ntool-says-hello\n",
            "assistant: Tool finished; the answer is 42. ",
            "user: a second question",
            "assistant: Fake answer 79 to: a second question ",
        ],
    ),
    // It points to conversations of others, and holds none.
    ("orchestrator:default/agent:main:slack:channel:C1", &[]),
];

/// A message in short.
fn told(message: &Value) -> String {
    let blocks = message["content"].as_array().unwrap().iter().map(block);
    format!("{}: {}", message["role"].as_str().unwrap(), blocks.collect::<Vec<_>>().join(" + "))
}

fn block(block: &Value) -> String {
    let text = |member: &str| block[member].as_str().unwrap_or("?");
    match text("type") {
        "text" => text("text").chars().take(40).collect(),
        "toolCall" => format!("{}#{}", text("name"), text("id")),
        "toolResult" => {
            let failed = if block["isError"] == true { "!" } else { "" };
            let content = block["content"].as_array().unwrap().iter().map(self::block);
            format!("{}#{}{failed} {}", text("name"), text("id"), content.collect::<String>())
        }
        "other" => format!("<{}>", text("kind")),
        other => format!("[{other}]"),
    }
}

fn load(server: &mut Server, id: &str, cursor: Option<&str>, limit: usize) -> (Vec<Value>, Option<String>) {
    let mut params = json!({ "id": id, "limit": limit });
    if let Some(cursor) = cursor {
        params["cursor"] = json!(cursor);
    }
    let answer = server.request("session/load", params).result();
    assert_eq!((&answer["session"]["id"], answer.get("problems")), (&json!(id), None));
    let messages = answer["messages"].as_array().unwrap().clone();
    assert!(messages.len() == limit || (messages.len() < limit && answer.get("nextCursor").is_none()));
    (messages, answer["nextCursor"].as_str().map(str::to_owned))
}

/// All messages that are older than a cursor, in pages of a size.
fn load_before(server: &mut Server, id: &str, mut cursor: Option<String>, limit: usize) -> Vec<Value> {
    let mut messages = Vec::new();
    loop {
        let (page, next) = load(server, id, cursor.as_deref(), limit);
        messages.splice(0..0, page);
        cursor = next;
        if cursor.is_none() {
            return messages;
        }
    }
}

fn load_all(server: &mut Server, id: &str, limit: usize) -> Vec<Value> {
    load_before(server, id, None, limit)
}

#[test]
fn one_session_of_every_store_in_pages_of_every_size() {
    let mut server = Spawn::new(Home::with_every_store()).open();
    for (id, expected) in SESSIONS {
        let whole = load_all(&mut server, id, 1000);
        let spoken: Vec<&Value> = whole.iter().filter(|message| message["role"] != "system").collect();
        let times: Vec<i64> = spoken.iter().filter_map(|message| message["timestampMs"].as_i64()).collect();
        assert!(times.is_sorted(), "{id}: {times:?}");
        let spoken: Vec<String> = spoken.into_iter().map(told).collect();
        assert!(spoken.len() >= expected.len(), "{id}: {spoken:#?}");
        assert_eq!(spoken[spoken.len() - expected.len()..], **expected, "{id}");
        for limit in [1, 3] {
            assert_eq!(load_all(&mut server, id, limit), whole, "{id} in pages of {limit}");
        }
        let (newest, _) = load(&mut server, id, None, 2);
        assert_eq!(newest, whole[whole.len().saturating_sub(2)..], "{id}");
    }
}

#[test]
fn every_session_can_be_loaded_and_every_result_has_its_calls_name() {
    let mut server = Spawn::new(Home::with_every_store()).open();
    let query = json!({ "includeChildren": true });
    let answer = server.request("registry/list", json!({ "query": query, "limit": 1000 })).result();
    let mut joined = 0;
    for entry in answer["entries"].as_array().unwrap() {
        let id = entry["id"].as_str().unwrap();
        let loaded = server.request("session/load", json!({ "id": id })).result();
        assert_eq!(loaded["session"], *entry, "{id}");
        let messages = loaded["messages"].as_array().unwrap();
        assert_eq!(messages.is_empty(), id.starts_with("orchestrator:"), "{id}");
        let blocks = || messages.iter().flat_map(|message| message["content"].as_array().unwrap());
        for result in blocks().filter(|block| block["type"] == "toolResult") {
            let call = blocks().find(|block| block["type"] == "toolCall" && block["id"] == result["id"]);
            let call = call.unwrap_or_else(|| panic!("{id}: nobody called {result}"));
            assert_eq!(result["name"], call["name"], "{id}");
            joined += 1;
        }
    }
    assert!(joined > 20, "{joined}");
}

#[test]
fn answers_whole_as_they_go_out() {
    let mut server = Spawn::new(Home::with(&[CLAUDE_CODE, CODEX, GOOSE])).open();
    let home = server.home.path().display().to_string();
    for (name, id, limit) in [("claude", CLAUDE_TOOLS, 2), ("codex", CODEX_FORK, 3), ("goose", GOOSE_TOOLS, 200)] {
        let mut answer = server.request("session/load", json!({ "id": id, "limit": limit })).result();
        // It says where the next page begins, in words of its own.
        if let Some(cursor) = answer.get_mut("nextCursor") {
            *cursor = json!("[cursor]");
        }
        let shown = serde_json::to_string_pretty(&answer).unwrap().replace(&home, "[home]");
        insta::assert_snapshot!(name, shown);
    }
}

/// Where the session's file is.
fn location(server: &mut Server, id: &str) -> PathBuf {
    let entry = server.request("registry/describe", json!({ "id": id })).result()["entry"].clone();
    entry["location"].as_str().unwrap().into()
}

fn append(path: &Path, record: &Value) {
    let mut file = fs::File::options().append(true).open(path).unwrap();
    writeln!(file, "{record}").unwrap();
}

/// The last record of a file that a person or a model said something in.
fn last_said(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    let records = text.lines().rev().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let is_said = |record: &Value| record["message"]["role"] == "assistant" || record["payload"]["role"] == "assistant";
    records.into_iter().find(is_said).unwrap()
}

#[test]
fn what_is_appended_between_pages_shifts_nothing() {
    let mut server = Spawn::new(Home::with(&[CLAUDE_CODE, CODEX, PI])).open();
    for (id, new) in [
        (CLAUDE_TOOLS, json!({ "uuid": "new", "message": { "id": "new" } })),
        (CODEX_PLAIN, json!({ "payload": { "id": "new" } })),
        (PI_PLAIN, json!({ "id": "new" })),
    ] {
        let path = location(&mut server, id);
        let before = load_all(&mut server, id, 1000);
        let (newest, cursor) = load(&mut server, id, None, 2);
        let mut record = last_said(&path);
        let before_it = [&record["uuid"], &record["id"]].into_iter().find(|id| id.is_string()).cloned();
        for (member, value) in new.as_object().unwrap() {
            match value.as_object() {
                Some(inner) => record[member].as_object_mut().unwrap().extend(inner.clone()),
                None => record[member] = value.clone(),
            }
        }
        for parent in ["parentUuid", "parentId"] {
            if record.get(parent).is_some() {
                record[parent] = before_it.clone().unwrap();
            }
        }
        append(&path, &record);
        let older = load_before(&mut server, id, cursor, 1);
        assert_eq!([older, newest].concat(), before, "{id}");
        let after = load_all(&mut server, id, 1000);
        assert_eq!((after.len(), &after[..before.len()]), (before.len() + 1, &before[..]), "{id}");
    }
}

#[test]
fn two_sessions_of_one_id_in_two_roots_are_two_entries_with_their_own_messages() {
    let (home, elsewhere) = (Home::with(&[GOOSE]), Home::with(&[GOOSE]));
    let sessions = elsewhere.path().join(".local/share/goose/sessions");
    // Another machine's first session of that day: it began at another time, and says something else.
    let database = rusqlite::Connection::open(sessions.join("sessions.db")).unwrap();
    database
        .execute_batch(
            "update sessions set name = 'Elsewhere', created_at = '2026-09-01 09:00:00' where id = '20260901_1';
             update messages set content_json = '[{\"type\":\"text\",\"text\":\"elsewhere\"}]' where session_id = '20260901_1'",
        )
        .unwrap();
    drop(database);
    let flag = format!("goose={}", sessions.display());
    let mut server = Spawn::new(home).args(["--root", &flag]).open();
    let first = "goose:20260901_1".to_owned();
    let second = format!("{first}@{}", sessions.display());
    let query = json!({ "harnesses": ["goose"] });
    let answer = server.request("registry/list", json!({ "query": query })).result();
    let titled = |id: &str| {
        let entry = answer["entries"].as_array().unwrap().iter().find(|entry| entry["id"] == id).expect(id);
        (entry["sessionId"].as_str().unwrap(), entry["title"].as_str().unwrap())
    };
    assert_eq!(titled(&first), ("20260901_1", "Say hello to goose"));
    assert_eq!(titled(&second), ("20260901_1", "Elsewhere"));
    let texts = |messages: Vec<Value>| messages.iter().map(told).collect::<Vec<_>>();
    for limit in [1, 1000] {
        let own = texts(load_all(&mut server, &first, limit));
        assert!(own.iter().all(|text| !text.contains("elsewhere")) && own.len() == 2, "{own:?}");
        let theirs = texts(load_all(&mut server, &second, limit));
        assert_eq!(theirs, ["user: elsewhere", "assistant: elsewhere"]);
    }
    let cursor = load(&mut server, &first, None, 1).1;
    let params = json!({ "id": second, "cursor": cursor });
    server.request("session/load", params).error().is(-32602, "invalid_params");
}
