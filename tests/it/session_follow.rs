//! `session/follow`: messages as they are written.

use crate::support::stores::SUPERCODE;
use crate::support::{Home, Spawn, uuid};
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;

#[test]
fn messages_are_told_as_they_are_written_and_a_torn_line_waits() {
    let home = Home::new();
    let file = home.project("-home-dev-demo", "/home/dev/demo").session(&uuid(1), "First", 60);
    let mut server = Spawn::new(home).open();
    let id = format!("claude-code:{}", uuid(1));
    let result = server.request("session/follow", json!({ "id": id })).result();
    assert_eq!(result["session"]["id"], id);
    let before = server.request("session/load", json!({ "id": id, "cursor": result["cursor"] })).result();
    assert_eq!(before["messages"].as_array().unwrap().len(), 2);

    let line = |text: &str| {
        let message = json!({ "type": "user", "uuid": text, "sessionId": uuid(1), "cwd": "/home/dev/demo",
            "timestamp": "2026-01-02T05:00:00.000Z", "message": { "role": "user", "content": text } });
        format!("{message}\n")
    };
    let mut file = OpenOptions::new().append(true).open(file).unwrap();
    let (torn, rest) = (line("second"), line("third"));
    let (head, tail) = torn.split_at(20);
    file.write_all(head.as_bytes()).unwrap();
    server.pong();
    file.write_all([tail, &rest].concat().as_bytes()).unwrap();
    let mut texts = Vec::new();
    while texts.len() < 2 {
        let params = server.expect_notification("session/event");
        assert_eq!((&params["subscription"], &params["event"]["kind"]), (&result["subscription"], &json!("appended")));
        let messages = params["event"]["messages"].as_array().unwrap();
        texts.extend(messages.iter().map(|message| message["content"][0]["text"].as_str().unwrap().to_owned()));
    }
    assert_eq!(texts, ["second", "third"]);
    server.request("session/unfollow", json!({ "subscription": result["subscription"] })).result();
    server
        .request("session/unfollow", json!({ "subscription": result["subscription"] }))
        .error()
        .is(-32001, "not_found");
}

fn line(number: usize, text: &str) -> String {
    let message = json!({ "type": "user", "uuid": text, "sessionId": uuid(number), "cwd": "/home/dev/demo",
        "timestamp": "2026-01-02T05:00:00.000Z", "message": { "role": "user", "content": text } });
    format!("{message}\n")
}

fn write(path: &std::path::Path, text: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn texts(params: &serde_json::Value) -> Vec<String> {
    let messages = params["event"]["messages"].as_array().unwrap_or_else(|| panic!("no messages: {params}"));
    messages.iter().map(|message| message["content"][0]["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_of_many_followers_is_told_everything_once() {
    let home = Home::new();
    let file = home.project("-home-dev-demo", "/home/dev/demo").session(&uuid(1), "First", 60);
    let mut server = Spawn::new(home).open();
    let id = format!("claude-code:{}", uuid(1));
    let mut told = std::collections::BTreeMap::new();
    for _ in 0..100 {
        let result = server.request("session/follow", json!({ "id": id })).result();
        told.insert(result["subscription"].as_str().unwrap().to_owned(), Vec::new());
    }
    for number in 0..20 {
        write(&file, &line(1, &number.to_string()));
    }
    let all: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    while told.values().any(|texts| texts.len() < 20) {
        let params = server.expect_notification("session/event");
        told.get_mut(params["subscription"].as_str().unwrap()).unwrap().extend(texts(&params));
    }
    assert!(told.values().all(|texts| *texts == all), "{told:?}");
}

#[test]
fn one_that_goes_and_comes_back_is_loaded_anew() {
    let home = Home::new();
    let file = home.project("-home-dev-demo", "/home/dev/demo").session(&uuid(1), "First", 60);
    let mut server = Spawn::new(home).open();
    server.request("session/follow", json!({ "id": format!("claude-code:{}", uuid(1)) })).result();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(server.expect_notification("session/event")["event"]["kind"], "removed");
    std::fs::write(&file, text).unwrap();
    assert_eq!(server.expect_notification("session/event")["event"]["kind"], "rewritten");
    write(&file, &line(1, "more"));
    assert_eq!(texts(&server.expect_notification("session/event")), ["more"]);
}

#[test]
fn what_falls_out_of_scope_is_told_no_more() {
    let home = Home::new();
    let file = home.project("-home-dev-demo", "/home/dev/demo").session(&uuid(1), "First", 60);
    let mut server = Spawn::new(home).open();
    server.request("session/follow", json!({ "id": format!("claude-code:{}", uuid(1)) })).result();
    let narrow = json!({ "authority": { "workspaces": ["/home/dev/other"] } });
    let asked = server.ask("authority/narrow", narrow);
    write(&file, &line(1, "secret"));
    server.answer(asked).result();
    server.forget_notifications();
    write(&file, &line(1, "more"));
    let event = server.expect_notification("session/event");
    assert_eq!(event["event"], json!({ "kind": "removed" }));
    write(&file, &line(1, "and more"));
    server.pong();
}

#[test]
fn a_runtime_s_id_follows_its_session_also_from_before_its_first_message() {
    use crate::support::runtime::{Options, Runtime};
    let home = Home::new();
    let project = home.project("-home-dev-demo", "/home/dev/demo");
    let mut options = Options::hosted("claude-code", "run", "/home/dev/demo");
    options.source.session_id = uuid(1);
    let runtime = Runtime::start(options);
    runtime.publish(&home.path().join(".config/supercode/live-runtimes"));
    let mut server = Spawn::new(home).open();
    let result = server.request("session/follow", json!({ "id": "run" })).result();
    assert_eq!(result["session"]["id"], "run");
    std::fs::write(project.file(&uuid(1)), line(1, "first")).unwrap();
    assert_eq!(server.expect_notification("session/event")["event"]["kind"], "rewritten");
    write(&project.file(&uuid(1)), &line(1, "second"));
    assert_eq!(texts(&server.expect_notification("session/event")), ["second"]);
    // The runtime ends, and the session goes on.
    drop(runtime);
    write(&project.file(&uuid(1)), &line(1, "third"));
    assert_eq!(texts(&server.expect_notification("session/event")), ["third"]);
}

#[test]
fn a_transcript_that_is_written_whole_with_each_turn_is_told_message_by_message() {
    let home = Home::with(&[SUPERCODE]);
    let file = home.path().join(".config/supercode/sessions/b1d154e4964f197c-proud-falcon.jsonl");
    let mut content = std::fs::read_to_string(&file).unwrap().trim_end().to_owned();
    let mut server = Spawn::new(home).open();
    server.request("session/follow", json!({ "id": "supercode:b1d154e4964f197c-proud-falcon" })).result();
    for turn in 0..5 {
        let (ask, answer) = (format!("ask {turn}"), format!("answer {turn}"));
        for (role, text) in [("user", &ask), ("assistant", &answer)] {
            content += &format!("\n{}", json!({ "role": role, "content": text }));
        }
        // Supercode 0.5.150 cuts the file and writes all of it again, without a newline at its end.
        std::fs::write(&file, &content).unwrap();
        let mut told = Vec::new();
        while told.len() < 2 {
            told.extend(texts(&server.expect_notification("session/event")));
        }
        assert_eq!(told, [ask, answer]);
    }
}
