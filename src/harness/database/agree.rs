//! What a list says of a conversation is what loading it shows, in every fixture of a database store.

use crate::harness::testing::{fixture, list};
use crate::harness::{Store, goose, hermes, openclaw, opencode, text};
use crate::protocol::{Block, Message, Role};

const FIXTURES: &[(&dyn Store, &str)] = &[
    (&goose::Goose, "goose/xdg-data"),
    (&goose::Goose, "goose/legacy-jsonl"),
    (&goose::Goose, "goose/placeholder-titles"),
    (&opencode::OpenCode, "opencode/v1.0.185"),
    (&opencode::OpenCode, "opencode/v1.18.33-checkpointed"),
    (&opencode::OpenCode, "opencode/v1.18.33-wal-only"),
    (&opencode::OpenCode, "opencode/v1.18.33-second-engine"),
    (&hermes::Hermes, "hermes/.hermes"),
    (&hermes::Hermes, "hermes/resets-and-compaction/.hermes"),
    (&openclaw::OpenClaw, "openclaw/v2026.9.6/.openclaw"),
    (&openclaw::OpenClaw, "openclaw/v2026.5.7/.openclaw"),
];

fn excerpt(message: &Message) -> Option<String> {
    let texts = message.content.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    });
    text::excerpt(&texts.collect::<Vec<_>>().join("\n"))
}

#[test]
fn counts_topics_and_last_messages_are_those_of_loading() {
    for (store, name) in FIXTURES {
        let listing = list(*store, &fixture(name));
        assert!(!listing.sessions.is_empty(), "{name}");
        for session in &listing.sessions {
            let (details, messages) = (listing.details(&session.id), listing.load(&session.id));
            let is_said = |message: &&Message| matches!(message.role, Role::User | Role::Assistant);
            assert_eq!(details.message_count, messages.iter().filter(is_said).count() as u64, "{name}: {}", session.id);
            let mut said = messages.iter().filter(|message| message.role == Role::User).filter_map(excerpt);
            for topic in &details.topics {
                assert!(said.any(|said| said.contains(topic)), "{name}: {}: {topic}", session.id);
            }
            let last = messages.iter().filter(is_said).filter_map(excerpt).next_back();
            assert_eq!(details.last_message.map(|last| last.text), last, "{name}: {}", session.id);
        }
    }
}
