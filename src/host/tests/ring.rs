use super::super::feed::{Feed, bounded, payload};
use super::super::history::{History, Step};
use super::{event, members};
use crate::limits;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::future::poll_fn;

fn publish(feed: &mut Feed, kind: &str, members_: Value) {
    feed.publish(kind, payload(kind, members(members_)));
}

/// What an attachment is told.
fn attached(feed: &Feed) -> Value {
    let mut told = b"{".to_vec();
    feed.write(&mut told, 200).unwrap();
    told.push(b'}');
    serde_json::from_slice(&told).unwrap()
}

fn sequences(attached: &Value) -> Vec<u64> {
    attached["replay"].as_array().unwrap().iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
}

#[test]
fn a_turn_of_ten_thousand_events_is_replayed_whole_within_what_our_own_client_takes() {
    let mut feed = Feed::default();
    for at in 0..10_000 {
        let raw = json!({ "params": { "update": "x".repeat(700), "at": at } });
        publish(&mut feed, "text_delta", json!({ "text": "word ", "raw": raw }));
    }
    let mut told = Vec::new();
    feed.write(&mut told, 200).unwrap();
    assert!(told.len() < limits::RUNTIME_ANSWER);
    assert_eq!(sequences(&attached(&feed)), (1..=10_000).collect::<Vec<_>>());
}

#[test]
fn what_the_ring_cannot_hold_goes_into_the_history_and_no_attachment_ever_misses_anything() {
    for (count, text) in [(limits::HOST_RING + 10, "x".to_owned()), (50, "y".repeat(500 << 10))] {
        let mut feed = Feed::default();
        for _ in 0..count {
            publish(&mut feed, "reasoning", json!({ "text": text }));
        }
        let attached = attached(&feed);
        let cursor = attached["history_cursor"].as_u64().unwrap();
        assert!(cursor > 0, "the bound was reached");
        assert_eq!(sequences(&attached), (cursor + 1..=count as u64).collect::<Vec<_>>());
        assert!(attached.to_string().len() < limits::RUNTIME_ANSWER);
    }
}

#[test]
fn a_full_history_and_a_full_ring_fit_into_one_answer() {
    let mut feed = Feed::default();
    for _ in 0..40 {
        publish(&mut feed, "user_message", json!({ "text": "h".repeat(limits::HOST_EVENT / 4) }));
    }
    feed.fold();
    for _ in 0..60 {
        publish(&mut feed, "user_message", json!({ "text": "r".repeat(limits::HOST_EVENT / 4) }));
    }
    let mut told = Vec::new();
    feed.write(&mut told, 200).unwrap();
    assert!(told.len() > limits::HOST_RING_BYTES && told.len() < limits::RUNTIME_ANSWER, "{}", told.len());
}

#[test]
fn messages_are_what_a_model_would_be_given() {
    let mut history = History::default();
    for (kind, payload) in [
        ("user_message", json!({ "text": "do it" })),
        ("text_delta", json!({ "text": "I " })),
        ("reasoning", json!({ "text": "hm" })),
        ("text_delta", json!({ "text": "will" })),
        ("tool_call_started", json!({ "id": "1", "name": "bash", "arguments": "{}" })),
        ("tool_call_started", json!({ "id": "2", "name": "read", "arguments": "" })),
        ("tool_call_started", json!({ "id": "2", "name": "read", "arguments": "{\"a\":1}" })),
        ("tool_call_completed", json!({ "id": "1", "name": null, "output": "one", "is_error": false })),
        ("tool_call_completed", json!({ "id": "2", "name": "read", "output": "two", "is_error": false })),
        ("text_delta", json!({ "text": "done" })),
    ] {
        history.take_all(kind, payload);
    }
    let call = |id: &str, name: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    assert_eq!(
        json!(history.newest(200).collect::<Vec<_>>()),
        json!([
            { "role": "user", "content": "do it" },
            { "role": "assistant", "content": "I will", "tool_calls": [call("1", "bash", "{}"), call("2", "read", "{\"a\":1}")] },
            { "role": "tool", "content": "one", "tool_call_id": "1", "name": "bash" },
            { "role": "tool", "content": "two", "tool_call_id": "2", "name": "read" },
            { "role": "assistant", "content": "done" },
        ])
    );
    assert_eq!(history.newest(1).count(), 1);
}

impl History {
    fn take_all(&mut self, kind: &'static str, payload: Value) {
        if let Some(step) = Step::of(kind, &event(kind, payload).payload) {
            self.take(step);
        }
    }
}

#[test]
fn one_message_and_all_of_them_are_bounded() {
    let mut history = History::default();
    for _ in 0..10 {
        history.take_all("text_delta", json!({ "text": "ä".repeat(limits::HOST_MESSAGE_BYTES / 4) }));
    }
    assert!(json!(history.newest(1).collect::<Vec<_>>()).to_string().len() < limits::HOST_MESSAGE_BYTES + 1_000);
    for at in 0..1_000 {
        history.take_all("user_message", json!({ "text": at.to_string() }));
    }
    assert_eq!(history.newest(1_000).count(), 200);
    for _ in 0..20 {
        history.take_all("user_message", json!({ "text": "x".repeat(limits::HOST_MESSAGE_BYTES) }));
    }
    assert!(json!(history.newest(200).collect::<Vec<_>>()).to_string().len() <= limits::HOST_HISTORY_BYTES);
}

#[test]
fn payloads_begin_with_their_type_and_are_bounded() {
    let told = payload("text_delta", members(json!({ "text": "a", "raw": { "b": 1 } })));
    assert_eq!(json!(told).to_string(), r#"{"type":"text_delta","text":"a","raw":{"b":1}}"#);
    let long = bounded(members(json!({ "text": "ä".repeat(1_000), "raw": "z".repeat(200), "id": "1" })), 1_000);
    assert_eq!(long["raw"], json!({ "omitted_bytes": 202 - 2 }));
    assert!(long["text"].as_str().unwrap().len() <= 253);
    let many = bounded(members(json!({ "id": "1", "arguments": vec![1; 1_000] })), 1_000);
    assert_eq!(many.keys().collect::<Vec<_>>(), ["id", "omitted_bytes"]);
}

fn steps() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let id = "[ab]";
    let step = prop_oneof![
        "[a-z]{0,4}".prop_map(|text| ("user_message", json!({ "text": text }))),
        "[a-z]{0,4}".prop_map(|text| ("text_delta", json!({ "text": text }))),
        "[a-z]{0,4}".prop_map(|text| ("reasoning", json!({ "text": text }))),
        id.prop_map(|id| ("tool_call_started", json!({ "id": id, "name": "n", "arguments": "{}" }))),
        id.prop_map(|id| ("tool_call_completed", json!({ "id": id, "name": null, "output": "o" }))),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #[test]
    fn it_does_not_matter_when_events_become_history(steps in steps(), folds in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let (mut feed, mut once) = (Feed::default(), Feed::default());
        let folds: Vec<usize> = folds.iter().map(|fold| fold.index(steps.len() + 1)).collect();
        for (at, (kind, members)) in steps.iter().enumerate() {
            if folds.contains(&at) {
                feed.fold();
            }
            publish(&mut feed, kind, members.clone());
            publish(&mut once, kind, members.clone());
        }
        feed.fold();
        once.fold();
        prop_assert_eq!(attached(&feed), attached(&once));
    }

    #[test]
    fn who_listens_and_then_attaches_has_every_event_once_and_in_order(
        before in 0usize..40, between in 0usize..40, after in 0usize..40, fold_at in 0usize..120,
    ) {
        let mut feed = Feed::default();
        let (mut last, mut published, mut kept) = (0, Vec::new(), Vec::new());
        let mut tell = |feed: &mut Feed, count: usize| {
            for _ in 0..count {
                publish(feed, "reasoning", json!({ "text": "x" }));
                last += 1;
                published.push(last);
                if published.len() == fold_at {
                    feed.fold();
                    feed.keep("request", payload("request", members(json!({}))));
                    last += 1;
                    kept.push(last);
                }
            }
        };
        tell(&mut feed, before);
        let mut listening = feed.subscribe(1);
        tell(&mut feed, between);
        let snapshot = attached(&feed);
        tell(&mut feed, after);
        feed.end();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut live = Vec::new();
        while let Some(frame) = runtime.block_on(poll_fn(|context| listening.poll_next(context))) {
            let event: Value = serde_json::from_slice(&frame[6..]).unwrap();
            live.push(event["sequence"].as_u64().unwrap());
        }
        let cursor = snapshot["history_cursor"].as_u64().unwrap();
        let replay = sequences(&snapshot);
        let known = replay.last().copied().unwrap_or_default().max(cursor);
        let live = live.into_iter().filter(|live| *live > known);
        let seen: Vec<u64> = replay.into_iter().chain(live).filter(|seen| !kept.contains(seen)).collect();
        published.retain(|published| *published > cursor);
        prop_assert_eq!(seen, published);
    }
}
