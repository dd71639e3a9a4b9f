//! What is counted of a session is what is loaded of it, in every fixture.

use super::*;
use crate::protocol::{Block, Message, Role};

/// What a person or a model wrote: no thought, call or result.
fn is_spoken(message: &Message) -> bool {
    let work = |block: &Block| matches!(block, Block::Thinking { .. } | Block::ToolCall { .. } | Block::Other { .. });
    match message.role {
        Role::User => true,
        Role::Assistant => !message.content.iter().all(work),
        Role::System | Role::Tool => false,
    }
}

/// Checks every session below a root.
pub(super) fn assert_agrees(listing: &Listing) {
    for session in &listing.sessions {
        let messages = listing.load(&session.id);
        let spoken: Vec<&Message> = messages.iter().filter(|message| is_spoken(message)).collect();
        let details = listing.details(&session.id);
        assert_eq!(details.message_count as usize, spoken.len(), "{}", session.id);
        let text = |message: &Message| {
            let texts = message.content.iter().filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                _ => None,
            });
            texts.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let said: Vec<String> =
            spoken.iter().filter(|message| message.role == Role::User).map(|message| text(message)).collect();
        let topics = details.topics.iter().map(|topic| topic.trim_end_matches('…').to_owned());
        let first = said.iter().filter(|said| !said.is_empty()).take(crate::limits::TOPICS);
        for (topic, said) in topics.zip(first) {
            assert!(said.contains(&topic), "{}: {topic:?} is not in {said:?}", session.id);
        }
        let last = spoken.iter().rev().map(|message| text(message)).find(|text| !text.is_empty());
        let told = details.last_message.map(|last| last.text.trim_end_matches('…').to_owned());
        assert!(told.is_none() == last.is_none() && last.unwrap_or_default().contains(&told.unwrap_or_default()));
    }
}

#[test]
fn counts_topics_and_last_messages_agree_with_what_is_loaded() {
    for version in ["v0.20.0", "v0.45.0", "v0.171.0", "reverted", "reverted-neighbours"] {
        assert_agrees(&list(&fixture(version)));
    }
}

#[test]
fn turns_that_were_rolled_back_do_not_count() {
    let turn = |text: &str| {
        let reply = format!("re {text}");
        [user(1, text), response(1, "user", &[text]), response(2, "assistant", &[&reply]), agent(2, &reply)]
    };
    let rolled_back = json!({"timestamp": at(9), "type": "event_msg",
        "payload": {"type": "thread_rolled_back", "num_turns": 1}});
    let events =
        |records: &[Value]| records.iter().filter(|r| r["type"] != "response_item").cloned().collect::<Vec<_>>();
    let records = [
        &[meta(ID)][..],
        &turn("a"),
        &turn("b"),
        std::slice::from_ref(&rolled_back),
        &turn("c"),
        std::slice::from_ref(&rolled_back),
    ]
    .concat();
    for records in [events(&records), records] {
        let home = Home::new();
        home.write(FILE, lines(&records));
        let listing = home.list();
        let details = listing.details(ID);
        assert_eq!((details.message_count, details.topics), (2, vec!["a".to_owned()]));
        assert_eq!(details.last_message.unwrap().text, "re a");
        assert_agrees(&listing);
    }
}

#[test]
fn title_is_the_first_prompt_that_was_not_rolled_back() {
    let rolled_back = json!({"timestamp": at(9), "type": "event_msg",
        "payload": {"type": "thread_rolled_back", "num_turns": 1}});
    let both = |text: &str| [response(1, "user", &[text]), user(1, text)];
    let home = Home::new();
    let mut records = [&[meta(ID)][..], &both("gone"), &[rolled_back]].concat();
    home.write(FILE, lines(&records));
    assert_eq!(home.one().title.as_deref(), Some("gone"), "the program keeps it, too");
    records.extend(both("stands"));
    home.write(FILE, lines(&records));
    assert_eq!(home.one().title.as_deref(), Some("stands"));
}

#[test]
fn title_of_a_rollout_that_begins_at_a_compaction_is_its_first_prompt() {
    let home = Home::new();
    let items = [response(1, "user", &["<environment_context>"]), response(1, "user", &["before"])];
    let items: Vec<Value> = items.iter().map(|item| item["payload"].clone()).collect();
    let compacted = json!({"timestamp": at(2), "type": "compacted",
        "payload": {"message": "so far", "replacement_history": items}});
    home.write(FILE, lines(&[meta(ID), compacted, response(3, "user", &["after"])]));
    assert_eq!(home.one().title.as_deref(), Some("before"));
}

#[test]
fn editors_preamble_without_a_request_is_not_a_title() {
    let home = Home::new();
    let preamble = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n";
    home.write(FILE, lines(&[meta(ID), response(1, "user", &[preamble]), response(2, "user", &["fix it"])]));
    assert_eq!(home.one().title.as_deref(), Some("fix it"));
    assert_eq!(home.list().details(ID).topics, ["fix it"]);
}

#[test]
fn first_prompt_behind_a_long_line_is_a_topic() {
    let home = Home::new();
    home.write(
        FILE,
        lines(&[meta(ID), filler(3 << 20), response(1, "user", &["late"]), response(2, "user", &["next"])]),
    );
    assert_eq!(home.list().details(ID).topics, ["late", "next"]);
    assert_agrees(&home.list());
}
