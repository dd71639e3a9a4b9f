//! Agents that do too much, too little or the wrong thing, and clients that do not listen.

use super::join;
use super::join::Raw;
use crate::support::agent::{Setup, command};
use crate::support::host::{Host, published, wait_gone};
use crate::support::{Home, Server, beside, serve, uuid};
use serde_json::{Value, json};
use std::io::Read;

/// A host of an agent that does what its prompts say.
#[track_caller]
pub fn scripted(home: &Home, flags: &[&str], setup: &Setup) -> Host {
    let words: Vec<String> = command(setup).into_iter().map(|word| word.into_string().unwrap()).collect();
    Host::start(home, flags, &words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Runs a turn: what was answered.
#[track_caller]
pub fn submit(server: &mut Server, at: &Value, prompt: &str) -> String {
    server.at(at, "submit", json!({ "prompt": prompt })).result()["reply"].as_str().unwrap().to_owned()
}

/// The numbers that the agent said, in all that there is to be told.
fn numbers(value: &Value) -> Vec<usize> {
    let text = match value {
        Value::Array(items) => return items.iter().flat_map(numbers).collect(),
        Value::Object(members) if members.contains_key("kind") => match members["kind"].as_str() {
            Some("text_delta") => members["payload"]["text"].as_str().unwrap(),
            _ => return vec![],
        },
        Value::Object(members) if members.get("role") == Some(&json!("assistant")) => {
            members["content"].as_str().unwrap_or_default()
        }
        _ => return vec![],
    };
    text.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

#[test]
fn ten_thousand_events_are_all_told_to_who_is_there_and_to_who_comes_later() {
    let home = Home::new();
    let host = scripted(&home, &[], &Setup::default());
    let mut anna = serve(home);
    let mut at = join(&mut anna, host.id(), "anna");
    anna.at(&at, "sendInput", json!({ "prompt": "flood:10000 slow" })).result();
    let all: Vec<usize> = (0..10_000).collect();
    let (mut heard, mut last) = (vec![], 0);
    while heard.len() < all.len() {
        let event = anna.event(&at);
        last = event["sequence"].as_u64().unwrap_or(last);
        heard.extend(numbers(&event));
        // Who is left behind, where the machine is that busy, comes back and misses nothing.
        if matches!(event["kind"].as_str(), Some("lagged" | "disconnected")) {
            let params = json!({ "runtimeId": host.id(), "clientId": "anna", "after": last });
            let joined = anna.request("runtime/attach", params).result();
            at = joined["attachment"].clone();
            heard.extend(numbers(&joined["replay"]));
            last =
                joined["replay"].as_array().unwrap().last().map_or(last, |event| event["sequence"].as_u64().unwrap());
        }
    }
    assert_eq!(heard, all);
    let mut ben = beside(&anna);
    let joined = ben.request("runtime/attach", json!({ "runtimeId": host.id() })).result();
    let told: Vec<usize> = [numbers(&joined["history"]), numbers(&joined["replay"])].concat();
    assert_eq!(told, all);
    anna.at(&at, "takeControl", json!({})).result();
    anna.at(&at, "interrupt", json!({})).result();
    anna.events_to(&at, "turn_interrupted");
    // After it all is history.
    let joined = beside(&anna).request("runtime/attach", json!({ "runtimeId": host.id() })).result();
    assert!(joined["history"].to_string().contains(" 9999 stopping"), "{}", joined["history"]);
}

#[test]
fn who_does_not_listen_is_let_go_and_delays_nobody() {
    let home = Home::new();
    let host = scripted(&home, &[], &Setup::default());
    let raw = Raw::new(&host, "deaf");
    let mut stream = raw.listen();
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    // More than what the system keeps for who does not read.
    for _ in 0..40 {
        submit(&mut anna, &at, &"large:500000 ".repeat(4));
    }
    // What is under way for it is all that it gets: then its stream ends.
    let mut rest = vec![];
    stream.read_to_end(&mut rest).unwrap();
    assert!(rest.len() < 40 << 20, "{} bytes", rest.len());
    assert!(host.memory_kib() < 160 << 10, "{} KiB", host.memory_kib());
}

#[test]
fn what_an_agent_sends_and_asks_for_costs_its_host_little() {
    let home = Home::new();
    let host = scripted(&home, &[], &Setup::default());
    let file = home.path().join("large");
    std::fs::write(&file, "x".repeat(8 << 20)).unwrap();
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    // Two million small parts in a line.
    assert_eq!(submit(&mut anna, &at, "many-parts:1800000 say:well"), "well");
    assert!(host.peak_kib() < 200 << 10, "{} KiB", host.peak_kib());
    let read = submit(&mut anna, &at, &format!("reads:40={}", file.display()));
    assert_eq!(read, (40 * (8 << 20)).to_string());
    assert!(host.peak_kib() < 200 << 10, "{} KiB", host.peak_kib());
    // Until the turn is given up there is time to read all of them.
    anna.at(&at, "sendInput", json!({ "prompt": format!("ask-reads:400={} say:asked stop", file.display()) })).result();
    anna.events_to(&at, "text_delta");
    anna.at(&at, "takeControl", json!({})).result();
    anna.at(&at, "interrupt", json!({})).result();
    anna.events_to(&at, "turn_interrupted");
    assert!(host.peak_kib() < 200 << 10, "{} KiB", host.peak_kib());
}

#[test]
fn an_agent_that_talks_nonsense_ends() {
    let home = Home::new();
    let mut host = scripted(&home, &[], &Setup::default());
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    // A little of it is passed over.
    assert_eq!(submit(&mut anna, &at, "nonsense:1000 say:well"), "well");
    let failed = anna.at(&at, "submit", json!({ "prompt": "babble:100 slow" })).error();
    assert!(failed.message.contains("no messages"), "{}", failed.message);
    anna.events_to(&at, "disconnected");
    let (status, said) = host.end();
    assert_eq!(status.code(), Some(1));
    assert!(said.contains("lines in a row that are no messages"), "{said}");
    assert_eq!(published(&anna.home), Vec::<String>::new());
}

#[test]
fn an_agent_that_hangs_can_be_interrupted_and_closed() {
    let home = Home::new();
    let mut host = scripted(&home, &[], &Setup { is_stubborn: true, ..Setup::default() });
    let agent = host.agent();
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    anna.at(&at, "sendInput", json!({ "prompt": "deaf" })).result();
    assert_eq!(super::entry(&mut anna)["state"], "busy");
    anna.at(&at, "interrupt", json!({})).result();
    anna.at(&at, "close", json!({})).result();
    let (status, said) = host.end();
    assert_eq!(status.code(), Some(0), "{said}");
    wait_gone(agent);
}

#[test]
fn what_an_agent_said_last_is_told_when_it_crashes() {
    let home = Home::new();
    let mut host = scripted(&home, &[], &Setup::default());
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    anna.at(&at, "submit", json!({ "prompt": "stderr:3 crash" })).error();
    let (status, said) = host.end();
    assert_eq!(status.code(), Some(1));
    assert!(said.contains("the agent exited: ") && said.contains("\n  | line 2 of a log\n"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn an_agent_reaches_as_far_as_its_workspace_and_as_it_was_told() {
    let home = Home::new();
    std::fs::write(home.path().join("inside.txt"), "hello").unwrap();
    let workspace = home.path().canonicalize().unwrap();
    let read = |path: &str| format!("call:read={}", json!({ "path": path }));
    let inside = read(workspace.join("inside.txt").to_str().unwrap());
    let host = scripted(&home, &[], &Setup::default());
    let bare = scripted(&home, &["--no-files", "--no-terminals"], &Setup::default());
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    assert!(submit(&mut anna, &at, &inside).contains("hello"));
    assert!(submit(&mut anna, &at, "run:echo_$GREETING").contains("hello"));
    for outside in ["/etc/passwd".to_owned(), format!("{}/../x", workspace.display())] {
        let said = submit(&mut anna, &at, &read(&outside));
        assert!(said.contains("code") && !said.contains("root:"), "{said}");
    }
    let at = join(&mut anna, bare.id(), "anna");
    assert!(!submit(&mut anna, &at, &inside).contains("hello"));
    assert!(!submit(&mut anna, &at, "run:echo_$GREETING").contains("hello"));
}

#[test]
fn a_session_that_is_stored_and_hosted_is_one_row() {
    let home = Home::new();
    let workspace = home.path().join("demo");
    std::fs::create_dir(&workspace).unwrap();
    home.project("-demo", workspace.to_str().unwrap()).session(&uuid(1), "Mend the roof", 60);
    let setup = Setup { loads: true, ..Setup::default() };
    let flags = ["--workspace", "demo", "--harness", "claude-code", "--load", &uuid(1)];
    let host = scripted(&home, &flags, &setup);
    let mut server = serve(home);
    let live = super::entry(&mut server);
    assert_eq!((&live["id"], &live["persistedId"]), (host.id(), &json!(format!("claude-code:{}", uuid(1)))));
    assert_eq!((&live["title"], &live["state"]), (&json!("Mend the roof"), &json!("idle")));
    // It is joined by the session's id, too.
    server.request("runtime/attach", json!({ "id": format!("claude-code:{}", uuid(1)) })).result();
}

#[test]
fn whatever_the_agent_says_of_itself_later_its_receipt_stays_true() {
    let home = Home::new();
    let setup = Setup { name: Some("gemini-cli".to_owned()), ..Setup::default() };
    let host = scripted(&home, &["--harness", "codex"], &setup);
    let mut server = serve(home);
    let at = join(&mut server, host.id(), "anna");
    submit(&mut server, &at, "mode:code title:Another");
    let live = super::entry(&mut server);
    assert_eq!((&live["id"], &live["harness"]), (host.id(), &json!("codex")));
}
