//! What every store must agree on with itself: tests over the fixtures of all stores.

use super::testing::{Listing, Tree, fixture, list};
use super::{Store, claude_code, gemini, goose, grok, hermes, openclaw, opencode, pi, supercode};
use crate::protocol::{Block, Message, Role};
use serde_json::json;

/// The homes of all stores.
const HOMES: &[(&dyn Store, &str)] = &[
    (&claude_code::ClaudeCode, "claude-code/projects"),
    (&claude_code::ClaudeCode, "claude-code/cases/archived/projects"),
    (&claude_code::ClaudeCode, "claude-code/cases/relocated/projects"),
    (&claude_code::ClaudeCode, "claude-code/cases/second-compaction/projects"),
    (&claude_code::ClaudeCode, "claude-code/cases/spliced-lines/projects"),
    (&claude_code::ClaudeCode, "claude-code/cases/teammates/projects"),
    (&claude_code::ClaudeCode, "claude-code/cases/workflow-subagents/projects"),
    (&claude_code::ClaudeCode, "claude-code/cases/worktree-removed/projects"),
    (&gemini::Gemini, "gemini/v0.61.0"),
    (&gemini::Gemini, "gemini/v0.61.0-resume-next-minute"),
    (&gemini::Gemini, "gemini/legacy-subagent-and-hook-context"),
    (&goose::Goose, "goose/legacy-jsonl"),
    (&goose::Goose, "goose/xdg-data"),
    (&grok::Grok, "grok/.grok"),
    (&hermes::Hermes, "hermes/.hermes"),
    (&openclaw::OpenClaw, "openclaw/v2026.5.7/.openclaw"),
    (&openclaw::OpenClaw, "openclaw/v2026.9.6/.openclaw"),
    (&opencode::OpenCode, "opencode/v1.18.33-checkpointed"),
    (&opencode::OpenCode, "opencode/v1.0.185"),
    (&pi::Pi, "pi/v1.6.0/sessions"),
    (&supercode::Supercode, "supercode/.config/supercode"),
];

fn said(message: &Message) -> bool {
    matches!(message.role, Role::User | Role::Assistant)
}

fn text_of(message: &Message) -> String {
    let texts = message.content.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    });
    legible(&texts.collect::<String>())
}

/// A text without white space and control characters, which topics replace.
fn legible(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect()
}

/// Where the count of a session, or a topic of it, is not what is loaded of it.
fn disagreements(listing: &Listing, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    assert!(!listing.sessions.is_empty(), "{name}");
    for session in &listing.sessions {
        let (details, messages) = (listing.details(&session.id), listing.load(&session.id));
        let loaded = messages.iter().filter(|message| said(message)).count() as u64;
        if details.message_count != loaded {
            found.push(format!(
                "{name} {}: {} messages are counted, {loaded} loaded",
                session.id, details.message_count
            ));
        }
        let prompts: Vec<String> = messages.iter().filter(|message| message.role == Role::User).map(text_of).collect();
        for topic in &details.topics {
            if !prompts.iter().any(|prompt| prompt.contains(&legible(topic.trim_end_matches('…')))) {
                found.push(format!("{name} {}: the topic {topic:?} is not loaded", session.id));
            }
        }
    }
    found
}

#[test]
fn count_topics_and_loaded_messages_agree() {
    let all: Vec<String> =
        HOMES.iter().flat_map(|(store, name)| disagreements(&list(*store, &fixture(name)), name)).collect();
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn a_first_prompt_behind_a_large_picture_is_the_title() {
    let data = "iVBORw0K".repeat(400_000);
    let tree = Tree::new();
    let time = "2026-09-01T10:00:00.000Z";
    let lines = |records: &[serde_json::Value]| records.iter().map(|record| format!("{record}\n")).collect::<String>();
    let image = json!({"type": "image", "data": data, "mimeType": "image/png"});
    let text = json!({"type": "text", "text": "What is in it?"});
    let answer = json!([{"type": "text", "text": "Yours?"}]);
    let message = |id: &str, parent: Option<&str>, role: &str, content| json!({"type": "message", "id": id, "parentId": parent, "timestamp": time, "message": {"role": role, "content": content}});
    let tree_of = |id: &str| {
        let header = json!({"type": "session", "version": 3, "id": id, "timestamp": time, "cwd": "/proj/alpha"});
        lines(&[
            header,
            message("a", None, "user", json!([image, text])),
            message("b", Some("a"), "assistant", answer.clone()),
        ])
    };
    tree.write("pi/sessions/--proj-alpha--/2026-09-01T10-00-00-000Z_p.jsonl", tree_of("p"));
    tree.write("openclaw/agents/main/sessions/o.jsonl", tree_of("o"));
    let url = format!("data:image/png;base64,{data}");
    tree.write("supercode/sessions/s.meta.json", "{}");
    let parts = json!([{"type": "image_url", "image_url": {"url": url}}, text]);
    tree.write("supercode/sessions/s.jsonl", lines(&[json!({"role": "user", "content": parts})]));
    let inline = json!([{"inlineData": {"mimeType": "image/png", "data": data}}, {"text": "What is in it?"}]);
    let log = [
        json!({"sessionId": "gggggggg", "projectHash": "x", "startTime": time}),
        json!({"id": "m1", "timestamp": time, "type": "user", "content": inline}),
    ];
    tree.write(".gemini/tmp/demo/chats/session-2026-09-01T10-00-gggggggg.jsonl", lines(&log));
    let chunk = |content| json!({"timestamp": 1, "method": "session/update", "params": {"update": {"sessionUpdate": "user_message_chunk", "content": content, "_meta": {"promptIndex": 0}}}});
    tree.write("grok/sessions/%2Fproj/g/updates.jsonl", lines(&[chunk(image.clone()), chunk(text.clone())]));
    for (store, path) in [
        (&pi::Pi as &'static dyn Store, "pi/sessions"),
        (&openclaw::OpenClaw, "openclaw"),
        (&supercode::Supercode, "supercode"),
        (&gemini::Gemini, ".gemini"),
        (&grok::Grok, "grok"),
    ] {
        let listing = list(store, &tree.path().join(path));
        let session = listing.one();
        assert_eq!(session.title.as_deref(), Some("What is in it?"), "{path}");
        assert_eq!(listing.details(&session.id).topics, ["What is in it?"], "{path}");
    }
}
