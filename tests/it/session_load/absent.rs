//! What is not answered with all of a session: what is refused, out of scope, gone, not yet there, cancelled.

use super::{CLAUDE_TOOLS, CODEX_FORK, CODEX_PLAIN, GOOSE_TOOLS, SESSIONS, load, load_all, location, told};
use crate::support::stores::{CLAUDE_CODE, CODEX, GEMINI, GOOSE, GROK, HERMES, OPENCLAW, OPENCODE, PI, SUPERCODE};
use crate::support::{Home, MIB, Spawn, uuid};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

#[test]
fn what_cannot_be_answered_is_refused() {
    let mut server = Spawn::new(Home::with(&[CLAUDE_CODE, CODEX, GOOSE])).open();
    let cursor = load(&mut server, CLAUDE_TOOLS, None, 1).1.unwrap();
    let mark = cursor.split_once('.').unwrap().0;
    let other = load(&mut server, CODEX_PLAIN, None, 1).1.unwrap();
    for params in [
        json!({}),
        json!({ "id": 7 }),
        json!({ "id": CLAUDE_TOOLS, "limit": 0 }),
        json!({ "id": CLAUDE_TOOLS, "limit": -1 }),
        json!({ "id": CLAUDE_TOOLS, "limit": 1001 }),
        json!({ "id": CLAUDE_TOOLS, "limit": "many" }),
        json!({ "id": CLAUDE_TOOLS, "cursor": "" }),
        json!({ "id": CLAUDE_TOOLS, "cursor": "nonsense" }),
        json!({ "id": CLAUDE_TOOLS, "cursor": &cursor[..10] }),
        json!({ "id": CLAUDE_TOOLS, "cursor": format!("{mark}.99999999999.x") }),
        json!({ "id": CLAUDE_TOOLS, "cursor": other }),
        json!({ "id": CODEX_PLAIN, "cursor": cursor }),
        json!({ "id": GOOSE_TOOLS, "cursor": cursor }),
    ] {
        server.request_unchecked("session/load", params.clone()).error().is(-32602, "invalid_params");
    }
    // `null` is absent, and members that nobody knows are ignored.
    let params = json!({ "id": CLAUDE_TOOLS, "cursor": null, "limit": null, "unknown": 1 });
    let whole = server.request_unchecked("session/load", params).result();
    assert_eq!(whole["messages"], json!(load_all(&mut server, CLAUDE_TOOLS, 1000)));
}

#[test]
fn what_is_not_there_is_not_found_and_neither_is_what_is_out_of_scope() {
    let stores = [CLAUDE_CODE, GEMINI, OPENCODE, PI, GROK, OPENCLAW, HERMES, SUPERCODE];
    let mut server = Spawn::new(Home::with(&stores)).args(["--workspace", "/proj/beta"]).open();
    let mut refused = |id: &str| {
        let failure = server.request("session/load", json!({ "id": id })).error();
        failure.is(-32001, "not_found");
        (failure.message.replace(&format!("`{id}`"), "[id]"), failure.data)
    };
    let nowhere = refused("claude-code:nobody");
    let own = ["grok:01a22b99-9115", "hermes:20261130_083621", "supercode:88675a32e3fcb6f9-brave", "pi:my-own-id-1"];
    let there = SESSIONS.iter().map(|(id, _)| *id).filter(|id| !own.iter().any(|own| id.starts_with(own)));
    for id in there.chain(["", "claude-code", "pi:", ":", "emacs:1", "codex:990cebda-6561-469d-88b4-03a913c4535d"]) {
        assert_eq!(refused(id), nowhere, "{id}");
    }
    for id in ["pi:my-own-id-1", "supercode:88675a32e3fcb6f9-brave-moose", "hermes:20261130_083621_8d8680"] {
        assert!(!load_all(&mut server, id, 1000).is_empty(), "{id}");
    }
}

/// Codex's store, where the session that another was forked from works elsewhere.
fn forked_from_elsewhere() -> Home {
    let home = Home::with(&[CODEX]);
    let day = home.path().join(".codex/sessions/2026/11/30");
    let is_it = |path: &PathBuf| path.to_str().unwrap().contains("01a22b99-1497");
    let path = fs::read_dir(day).unwrap().map(|entry| entry.unwrap().path()).find(is_it).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, text.replace("\"cwd\":\"/proj/demo\"", "\"cwd\":\"/proj/elsewhere\"")).unwrap();
    home
}

#[test]
fn a_fork_has_what_it_was_forked_from_only_where_that_is_in_scope() {
    let forked = ["user: Forked: a new prompt in the fork", "assistant: Fake answer to: Forked: a new prompt in "];
    let parents = ["user: Plain session: say hello to the demo", "assistant: Fake answer to: Plain session: say hello"];
    let both = [parents, forked].concat();
    let scopes: [(&[&str], &[&str], bool); 3] = [
        (&[], &both, true),
        (&["--workspace", "/proj"], &both, true),
        (&["--workspace", "/proj/demo"], &forked, false),
    ];
    for (scope, expected, known) in scopes {
        let mut server = Spawn::new(forked_from_elsewhere()).args(scope).open();
        for limit in [1, 1000] {
            let messages = load_all(&mut server, CODEX_FORK, limit);
            let spoken: Vec<String> = messages.iter().filter(|message| message["role"] != "system").map(told).collect();
            assert_eq!(spoken, expected, "{scope:?}");
        }
        let query = json!({ "text": "forked: a new", "include": ["topics", "messageCount"] });
        let listed = server.request("registry/list", json!({ "query": query })).result()["entries"][0].clone();
        let described = server.request("registry/describe", json!({ "id": CODEX_FORK })).result()["entry"].clone();
        let topics = ["Plain session: say hello to the demo", "Forked: a new prompt in the fork"];
        for entry in [listed, described] {
            assert_eq!(entry["topics"], json!(topics[usize::from(!known)..]), "{scope:?}");
            assert_eq!(entry["messageCount"], expected.len(), "{scope:?}");
            assert_eq!(entry["parent"].get("sessionId").is_some(), known, "{scope:?}");
        }
    }
}

#[test]
fn a_live_session_that_has_no_transcript_yet_has_no_messages() {
    let home = Home::new();
    home.peer("writer", &uuid(2), "/q");
    let mut server = Spawn::new(home).open();
    let id = format!("claude-code:{}", uuid(2));
    let answer = server.request("session/load", json!({ "id": id })).result();
    assert_eq!((&answer["messages"], answer.get("nextCursor"), answer.get("problems")), (&json!([]), None, None));
    assert_eq!((&answer["session"]["workspace"], &answer["session"]["peer"]["name"]), (&json!("/q"), &json!("writer")));
}

#[test]
fn a_session_whose_file_vanished_is_not_found() {
    let mut server = Spawn::new(Home::with(&[CLAUDE_CODE])).open();
    let path = location(&mut server, CLAUDE_TOOLS);
    let cursor = load(&mut server, CLAUDE_TOOLS, None, 1).1;
    fs::remove_file(path).unwrap();
    for params in [json!({ "id": CLAUDE_TOOLS }), json!({ "id": CLAUDE_TOOLS, "cursor": cursor })] {
        server.request("session/load", params).error().is(-32001, "not_found");
    }
}

/// A home with one compressed session, too long for a list to unpack all of it: almost a gigabyte.
fn compressed() -> (Home, String) {
    const PARTS: usize = 60;
    let home = Home::new();
    let id = uuid(1);
    let record = |kind: &str, payload: Value| json!({ "timestamp": "2026-01-02T00:00:00.000Z", "type": kind, "payload": payload });
    let meta = record("session_meta", json!({ "id": id, "timestamp": "2026-01-02T00:00:00.000Z", "cwd": "/w" }));
    let content = json!([{ "type": "input_text", "text": "hello" }]);
    let hello = record("response_item", json!({ "type": "message", "role": "user", "content": content }));
    let noise = record("event_msg", json!({ "type": "noise", "text": "x".repeat(4_000) })).to_string() + "\n";
    let head = format!("{meta}\n{hello}\n{}", noise.repeat(2_000));
    let mut bytes = compress_to_vec(head.as_bytes(), CompressionLevel::Uncompressed);
    let part = compress_to_vec(noise.repeat(4_000).as_bytes(), CompressionLevel::Fastest);
    bytes.extend(part.repeat(PARTS));
    let day = home.path().join(".codex/sessions/2026/01/02");
    fs::create_dir_all(&day).unwrap();
    fs::write(day.join(format!("rollout-2026-01-02T00-00-00-{id}.jsonl.zst")), bytes).unwrap();
    (home, format!("codex:{id}"))
}

/// A home with one session that its program writes as one whole record, which has to be read through: most of it is one
/// text of many gigabytes, which is a hole in the file.
fn whole_record() -> (Home, String) {
    const HOLE: u64 = 16 << 30;
    let home = Home::new();
    let id = uuid(2);
    let time = "2026-01-02T00:00:00.000Z";
    let message =
        |kind: &str, content: &str| json!({ "id": kind, "timestamp": time, "type": kind, "content": content });
    let messages = json!([message("user", "hello"), message("info", "HOLE"), message("gemini", "Done.")]);
    let record =
        json!({ "sessionId": id, "projectHash": "0", "startTime": time, "lastUpdated": time, "messages": messages });
    let record = record.to_string();
    let (before, after) = record.split_once("HOLE").unwrap();
    let chats = home.path().join(".gemini/tmp/demo/chats");
    fs::create_dir_all(&chats).unwrap();
    let file = fs::File::create(chats.join("session-2026-01-02T00-00-00000000.json")).unwrap();
    file.write_all_at(before.as_bytes(), 0).unwrap();
    file.write_all_at(after.as_bytes(), HOLE).unwrap();
    (home, format!("gemini:{id}"))
}

#[test]
fn a_long_load_tells_its_progress_and_answers_once_when_it_is_cancelled() {
    for (home, id) in [compressed(), whole_record()] {
        let mut server = Spawn::new(home).open();
        assert_eq!(server.request("registry/list", json!({})).result()["entries"][0]["title"], "hello");
        let asked = server.ask("session/load", json!({ "id": id, "_meta": { "progressToken": "far" } }));
        loop {
            let frame = server.expect_frame();
            assert_eq!((&frame["method"], &frame["params"]["token"]), (&json!("$/progress"), &json!("far")), "{frame}");
            if frame["params"]["value"]["done"].as_u64() > Some(0) {
                break;
            }
        }
        for _ in 0..2 {
            server.notify("$/cancelRequest", json!({ "id": asked }));
        }
        server.answer(asked).error().is(-32800, "cancelled");
        let ping = server.ask("ping", json!({}));
        loop {
            let frame = server.expect_frame();
            if frame["id"] == ping {
                break;
            }
            assert_eq!(frame["method"], "$/progress", "a second answer: {frame}");
        }
    }
}

#[test]
fn a_cursor_into_a_file_that_was_written_anew_is_refused_and_loses_nothing() {
    let home = Home::new();
    let project = home.project("-p", "/p");
    let file = project.session(&uuid(1), "first", 10);
    let mut server = Spawn::new(home).open();
    let id = format!("claude-code:{}", uuid(1));
    let page = server.request("session/load", json!({ "id": id, "limit": 1 })).result();
    let cursor = page["nextCursor"].clone();
    let rows = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{}\n{rows}", json!({ "type": "custom-title", "customTitle": "new" }))).unwrap();
    server.request("session/load", json!({ "id": id, "cursor": cursor })).error().is(-32602, "invalid_params");
}

#[test]
fn many_that_load_long_lines_stay_within_bounds_together() {
    let home = Home::new();
    let project = home.project("-p", "/p");
    let long = "y".repeat(15 << 20);
    for number in 0..40 {
        let file = project.session(&uuid(number), "before", 10);
        let rows = fs::read_to_string(&file).unwrap();
        let (user, answer) = rows.trim_end().split_once('\n').unwrap();
        let answer = answer.replace("Done.", &long);
        let last = user.replace("-user", "-last");
        fs::write(&file, format!("{user}\n{answer}\n{answer}\n{answer}\n{last}\n")).unwrap();
    }
    let mut server = Spawn::new(home).open();
    let asked: Vec<i64> = (0..40)
        .map(|number| {
            let id = format!("claude-code:{}", uuid(number));
            server.ask("session/load", json!({ "id": id, "limit": 1 }))
        })
        .collect();
    for id in asked {
        assert_eq!(server.answer(id).result()["messages"].as_array().unwrap().len(), 1);
    }
    assert!(server.peak_memory() < 300 * MIB, "{} KiB", server.peak_memory());
}
