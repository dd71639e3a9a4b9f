//! What costs more to know.

use super::*;

/// A rollout that goes on from the first `end` bytes of another.
fn fork(id: &str, of: &str, end: usize, records: &[Value]) -> (String, String) {
    let mut first = meta(id);
    first["payload"]["forked_from_id"] = of.into();
    first["payload"]["history_base"] = json!({"thread_id": of, "end_ordinal_exclusive": 3, "end_byte_offset": end});
    (format!("sessions/2026/11/30/rollout-2026-11-30T09-00-00-{id}.jsonl"), first.to_string() + "\n" + &lines(records))
}

fn parent() -> (String, usize) {
    let kept = lines(&[meta(ID), user(1, "one"), agent(2, "two")]);
    let end = kept.len();
    (kept + &lines(&[user(3, "after the fork"), agent(4, "after the fork")]), end)
}

#[test]
fn messages_written_in_several_forms_count_as_they_are_loaded() {
    let home = Home::new();
    let item = |minute, kind: &str, text: &str| {
        json!({"timestamp": at(minute), "type": "event_msg", "payload": {"type": "item_completed",
            "item": {"type": kind, "content": [{"type": "text", "text": text}]}}})
    };
    let responses =
        [response(1, "user", &["ask"]), response(2, "assistant", &["say"]), response(2, "assistant", &["more"])];
    let events = [user(1, "ask"), agent(2, "say")];
    let items = [item(1, "UserMessage", "ask"), item(1, "CommandExecution", "ls"), item(2, "AgentMessage", "say")];
    let mut records = vec![meta(ID)];
    for (family, count) in [(&responses[..], 3), (&events[..], 3), (&items[..], 3)] {
        records.extend_from_slice(family);
        home.write(FILE, lines(&records));
        let details = home.list().details(ID);
        assert_eq!((details.message_count, details.topics), (count, vec!["ask".to_owned()]));
    }
}

#[test]
fn topics_are_the_first_eight_prompts() {
    let home = Home::new();
    let mut records = vec![meta(ID)];
    for at in 0..20 {
        records.extend([
            response(at, "user", &[&format!("ask {at}")]),
            user(at, &format!("ask {at}")),
            agent(at, "say"),
        ]);
    }
    home.write(FILE, lines(&records));
    let expected: Vec<String> = (0..8).map(|at| format!("ask {at}")).collect();
    assert_eq!(home.list().details(ID).topics, expected);
}

#[test]
fn a_fork_counts_its_parent_up_to_where_it_left_it() {
    let (text, end) = parent();
    let packed = ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    let name = FILE.rsplit('/').next().unwrap();
    for (path, content) in [
        (FILE.to_owned(), text.as_bytes()),
        (format!("archived_sessions/{name}"), text.as_bytes()),
        (format!("archived_sessions/{name}.zst"), &packed),
    ] {
        let home = Home::new();
        home.write(&path, content);
        let (file, own) = fork(OTHER, ID, end, &[user(5, "three")]);
        home.write(&file, own);
        let details = home.list().details(OTHER);
        assert_eq!((details.message_count, details.topics), (3, vec!["one".to_owned(), "three".to_owned()]));
        assert_eq!(details.last_message.unwrap().text, "three");
    }
}

#[test]
fn a_fork_without_a_message_of_its_own_is_a_session_and_ends_as_its_parent_did() {
    let (text, end) = parent();
    let home = Home::new();
    home.write(FILE, text);
    let (file, own) = fork(OTHER, ID, end, &[]);
    home.write(&file, own);
    let last = home.list().details(OTHER).last_message.unwrap();
    assert_eq!((last.role, last.text.as_str(), last.timestamp_ms), (crate::protocol::Role::Assistant, "two", at_ms(2)));
}

#[test]
fn ancestors_that_are_gone_or_go_in_circles_take_only_themselves_away() {
    let home = Home::new();
    let third = "01a22b99-0000-7000-8000-000000000003";
    for (id, of) in [(ID, third), (OTHER, ID), (third, OTHER)] {
        let (file, text) = fork(id, of, 1 << 20, &[user(1, id)]);
        home.write(&file, text);
    }
    assert_eq!(home.list().details(OTHER).message_count, 3);

    let home = Home::new();
    let (file, text) = fork(OTHER, ID, 1 << 20, &[user(1, "own")]);
    home.write(&file, text);
    assert_eq!(home.list().details(OTHER).message_count, 1);
}

#[test]
fn the_last_message_is_told_with_its_author_and_time() {
    let home = Home::new();
    let mut records = vec![meta(ID), user(1, "ask"), agent(2, "say"), user(3, " \n "), user(4, "<turn_aborted>")];
    records.extend((0..20).map(|_| filler(5_000)));
    home.write(FILE, lines(&records));
    let last = home.list().details(ID).last_message.unwrap();
    assert_eq!((last.role, last.text.as_str(), last.timestamp_ms), (crate::protocol::Role::Assistant, "say", at_ms(2)));
}
