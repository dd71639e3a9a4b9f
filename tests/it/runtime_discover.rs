//! `runtime/discover`: the newest runtime of a conversation that answers.

use crate::support::inventory::{hosting, receipts_in, source};
use crate::support::runtime::{Bad, Options, Route, Runtime};
use crate::support::{Home, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::fs;

#[track_caller]
fn discover(server: &mut Server, source: &Value) -> Option<String> {
    let answer = server.request("runtime/discover", json!({ "source": source })).result();
    answer.get("endpoint").map(|endpoint| endpoint.as_str().unwrap().to_owned())
}

#[test]
fn of_several_the_newest_that_answers() {
    let home = Home::new();
    let receipts = receipts_in(home.path());
    let older = Runtime::start(hosting(&uuid(1), "older", "/home/dev/demo"));
    let oldest = older.publish(&receipts);
    let created = older.receipt().members()["created_at_ms"].as_u64().unwrap();
    let newer = Runtime::start(hosting(&uuid(1), "newer", "/home/dev/demo"));
    let receipt = newer.receipt().with("/created_at_ms", created + 5_000);
    receipt.write(&receipts);
    let other = Runtime::start(Options::main("other", "/home/dev/demo"));
    let beside = other.publish(&receipts);
    let mut server = Spawn::new(home).open();
    let wanted = source(newer.options());
    assert_eq!(discover(&mut server, &wanted), Some(receipt.endpoint()));
    assert_eq!(other.connections(), 0, "only runtimes of the conversation are asked");
    newer.misbehave(Route::Any, Bad::lie("/result/session_id", "another"));
    assert_eq!(discover(&mut server, &wanted), Some(oldest.clone()));
    newer.behave();
    newer.suspend();
    assert_eq!(discover(&mut server, &wanted), Some(oldest));
    older.refuse();
    older.cut();
    assert_eq!(discover(&mut server, &wanted), None);
    assert_eq!(discover(&mut server, &source(other.options())), Some(beside));
    assert!(older.observers().is_empty() && newer.observers().is_empty());
}

#[test]
fn a_workspace_is_the_same_by_every_spelling() {
    let home = Home::new();
    let place = home.path().join("place");
    fs::create_dir(&place).unwrap();
    std::os::unix::fs::symlink(&place, home.path().join("link")).unwrap();
    let text = |path: &str| home.path().join(path).display().to_string();
    let spellings =
        [text("place"), text("link"), text("link/"), text("place/"), text("place/../link/."), text("./place")];
    let others = [text(""), text("place/sub"), text("places"), "place".to_owned(), String::new()];
    let receipts = receipts_in(home.path());
    for own in &spellings[..3] {
        let runtime = Runtime::start(Options::main("one", own));
        let endpoint = runtime.publish(&receipts);
        let mut server = crate::support::inventory::beside(&home, &[]);
        let mut found = |workspace: &str| {
            let source = json!({ "harness": "supercode", "sessionId": "one", "workspace": workspace });
            discover(&mut server, &source)
        };
        for spelling in &spellings {
            assert_eq!(found(spelling).as_ref(), Some(&endpoint), "{own} as {spelling}");
        }
        for other in &others {
            assert_eq!(found(other), None, "{own} as {other}");
        }
    }
}

#[test]
fn another_conversation_is_not_this_one() {
    let home = Home::new();
    let runtime = Runtime::start(Options::main("one", "/w"));
    runtime.publish(&receipts_in(home.path()));
    let mut server = Spawn::new(home).open();
    for (harness, session) in [("codex", "one"), ("supercode", "two"), ("supercode", "ONE"), ("supercode", "")] {
        let source = json!({ "harness": harness, "sessionId": session, "workspace": "/w" });
        assert_eq!(discover(&mut server, &source), None, "{source}");
    }
    assert_eq!(runtime.connections(), 0);
    for source in [json!(null), json!({}), json!(["supercode", "one", "/w"]), json!({ "harness": "emacs" })] {
        let answer = server.request_unchecked("runtime/discover", json!({ "source": source }));
        answer.error().is(-32602, "invalid_params");
    }
}
