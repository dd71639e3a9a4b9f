//! `session/follow`: messages as they are written.

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
