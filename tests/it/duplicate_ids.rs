//! Different conversations under one id, in every store that keeps one conversation in a file.

use crate::support::{Home, Spawn};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

const ID: &str = "01a22b97-c19b-7283-b6e9-d232154819cd";
const NAME: &str = "b1d154e4964f197c-quiet-heron";

/// The files of one conversation: a path in the home, and its lines.
type Files = Vec<(String, Vec<Value>)>;

/// Writes the conversation `text` to the location `number` of a store, at a second.
type Write = fn(number: usize, text: &str, second: u32) -> Files;

fn time(second: u32) -> String {
    format!("2026-11-20T08:00:{second:02}.000Z")
}

fn rollout(directory: &str, text: &str, second: u32) -> Files {
    let meta = json!({ "id": ID, "timestamp": time(second), "cwd": "/p", "originator": "x", "cli_version": "0.80.0" });
    let event = |kind: &str, message: String| json!({ "timestamp": time(second), "type": "event_msg", "payload": { "type": kind, "message": message } });
    let lines = vec![
        json!({ "timestamp": time(second), "type": "session_meta", "payload": meta }),
        event("user_message", text.to_owned()),
        event("agent_message", format!("re {text}")),
    ];
    vec![(format!(".codex/{directory}/rollout-2026-11-20T08-00-{second:02}-{ID}.jsonl"), lines)]
}

fn codex(number: usize, text: &str, second: u32) -> Files {
    rollout(&format!("sessions/2026/11/2{number}"), text, second)
}

fn archived_codex(number: usize, text: &str, second: u32) -> Files {
    rollout(["sessions/2026/11/20", "archived_sessions", "sessions/2026/11/21"][number], text, second)
}

fn gemini(number: usize, text: &str, second: u32) -> Files {
    let lines = vec![
        json!({ "sessionId": ID, "projectHash": "x", "startTime": time(second), "lastUpdated": time(second), "kind": "main" }),
        json!({ "id": format!("{text} 1"), "timestamp": time(second), "type": "user", "content": text }),
        json!({ "id": format!("{text} 2"), "timestamp": time(second), "type": "gemini", "content": "answer" }),
    ];
    vec![(format!(".gemini/tmp/p{number}/chats/session-2026-11-20T08-00-{}.jsonl", &ID[..8]), lines)]
}

/// The form that pi and OpenClaw share.
fn tree(text: &str, second: u32) -> Vec<Value> {
    let message = |id: &str, parent: Value, role: &str, content: String| {
        json!({ "type": "message", "id": format!("{text} {id}"), "parentId": parent, "timestamp": time(second),
            "message": { "role": role, "content": content } })
    };
    vec![
        json!({ "type": "session", "version": 3, "id": ID, "timestamp": time(second), "cwd": "/p" }),
        message("1", Value::Null, "user", text.to_owned()),
        message("2", json!(format!("{text} 1")), "assistant", "answer".to_owned()),
    ]
}

fn pi(number: usize, text: &str, second: u32) -> Files {
    let name = format!("2026-11-20T08-00-{second:02}-000Z_{ID}.jsonl");
    vec![(format!(".pi/agent/sessions/--p{number}--/{name}"), tree(text, second))]
}

fn openclaw(number: usize, text: &str, second: u32) -> Files {
    vec![(format!(".openclaw/agents/ag{number}/sessions/{ID}.jsonl"), tree(text, second))]
}

fn grok(number: usize, text: &str, second: u32) -> Files {
    let directory = format!(".grok/sessions/%2Fp{number}/{ID}");
    let prompt = json!([{ "type": "text", "text": format!("<user_query>\n{text}\n</user_query>") }]);
    let summary = json!({ "info": { "id": ID, "cwd": "/p" }, "created_at": time(second), "updated_at": time(second),
        "generated_title": text });
    vec![
        (
            format!("{directory}/chat_history.jsonl"),
            vec![
                json!({ "type": "user", "content": prompt, "prompt_index": 0 }),
                json!({ "type": "assistant", "content": "answer", "model_id": "m" }),
            ],
        ),
        (format!("{directory}/summary.json"), vec![summary]),
    ]
}

fn supercode(number: usize, text: &str, _: u32) -> Files {
    let directory = [".config/supercode/sessions", ".config/supercode/sessions/archived"][number % 2];
    let lines = vec![json!({ "role": "user", "content": text }), json!({ "role": "assistant", "content": "answer" })];
    let meta = json!({ "name": NAME, "title": text, "archived": false });
    vec![(format!("{directory}/{NAME}.jsonl"), lines), (format!("{directory}/{NAME}.meta.json"), vec![meta])]
}

/// Every store, and how many locations it has for files with one id.
const STORES: [(&str, Write, usize); 7] = [
    ("codex", codex, 3),
    ("codex", archived_codex, 3),
    ("gemini", gemini, 3),
    ("pi", pi, 3),
    ("openclaw", openclaw, 3),
    ("grok", grok, 3),
    ("supercode", supercode, 2),
];

fn write(home: &Home, files: Files) {
    for (path, lines) in files {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }
}

#[test]
fn conversations_under_one_id_are_both_listed_and_a_copy_is_merged() {
    for (harness, files, locations) in STORES {
        for texts in [["alpha", "beta", "beta"], ["beta", "alpha", "alpha"]] {
            let home = Home::new();
            for (number, text) in texts.into_iter().enumerate().take(locations) {
                write(&home, files(number, text, if text == "alpha" { 10 } else { 20 }));
            }
            let mut server = Spawn::new(home).open();
            let listed = server.request("registry/list", json!({ "harnesses": [harness] })).result();
            let entries = listed["entries"].as_array().unwrap();
            let loaded = entries.iter().map(|entry| {
                let loaded = server.request("session/load", json!({ "id": entry["id"] })).result();
                loaded["messages"][0]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
            });
            let loaded: Vec<String> = loaded.collect();
            assert_eq!(loaded.len(), 2, "{harness} {texts:?}: {listed}");
            let distinct: BTreeSet<&str> =
                ["alpha", "beta"].into_iter().filter(|text| loaded.iter().any(|own| own.contains(text))).collect();
            assert_eq!(distinct.len(), 2, "{harness} {texts:?}: {loaded:?}");
            let reasons: Vec<&str> = listed["problems"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|problem| problem["reason"].as_str())
                .collect();
            assert_eq!(reasons, ["duplicate_id"], "{harness} {texts:?}");
        }
    }
}
