//! Turns: what is said, done and shown in them, and how they end.

use super::*;
use crate::support::bytes_in;
use serde_json::json;
use std::os::fd::AsFd;
use tokio::sync::oneshot;

#[tokio::test]
async fn what_is_said_comes_in_order_and_before_the_end() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let events = hosted.turn("say:one think:hm say:two_").await;
    let expected = [
        ("text_delta", json!({"text": "one"})),
        ("reasoning", json!({"text": "hm"})),
        ("text_delta", json!({"text": "two "})),
    ];
    assert_eq!(events.iter().map(plain).collect::<Vec<_>>(), expected);
    let raw = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "one"}});
    assert_eq!(events[0].payload["raw"], raw);
}

#[tokio::test]
async fn updates_are_merged_into_tool_call() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let events = hosted.turn("tool").await;
    let output = "ran\n--- /w/a\n+++ /w/a\n-2\n+3";
    let call = |more: Value| {
        let mut call = json!({"id": "t", "name": "Run ls", "arguments": r#"{"command":"ls"}"#});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    };
    let completed = |is_error: bool| call(json!({"output": output, "is_error": is_error}));
    let expected = [
        ("tool_call_started", json!({"id": "t", "name": "bash", "arguments": "{}", "status": "pending"})),
        ("tool_call_updated", call(json!({"status": "in_progress"}))),
        ("tool_call_completed", completed(false)),
    ];
    assert_eq!(events.iter().map(plain).collect::<Vec<_>>(), expected);
    let mut hosted = Hosted::start(Setup::default()).await;
    assert_eq!(plain(hosted.turn("fail-tool").await.last().unwrap()), ("tool_call_completed", completed(true)));
    let mut hosted = Hosted::start(Setup::default()).await;
    let at_once = [
        ("tool_call_started", json!({"id": "t", "name": "Read file", "arguments": "{}"})),
        (
            "tool_call_completed",
            json!({"id": "t", "name": "Read file", "arguments": "{}", "output": "read", "is_error": false}),
        ),
    ];
    assert_eq!(hosted.turn("done-tool").await.iter().map(plain).collect::<Vec<_>>(), at_once);
}

#[tokio::test]
async fn output_in_meta_is_output_of_its_call() {
    for key in ["terminal_output", "terminal_output_delta"] {
        let mut hosted = Hosted::start(Setup::default()).await;
        let events = hosted.turn(&format!("terminal:{key}")).await;
        let pieces: Vec<_> = events.iter().filter_map(|event| event.payload.get("output_delta")?.as_str()).collect();
        assert_eq!(pieces, ["one\n", "two\n"], "{key}");
        let (kind, done) = plain(events.last().unwrap());
        assert_eq!(
            (kind, &done["output"], &done["is_error"]),
            ("tool_call_completed", &json!("one\ntwo\nexit code 2"), &json!(true))
        );
        assert_eq!(done["arguments"], r#"{"command":"make"}"#);
    }
}

#[tokio::test]
async fn client_declares_what_it_shows() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let declared: Value = serde_json::from_str(&hosted.says("capabilities").await).unwrap();
    assert_eq!(declared["elicitation"], json!({"form": {}}));
    assert_eq!(declared["_meta"], json!({"terminal_output": true, "terminal_output_delta": true}));
}

#[tokio::test]
async fn what_has_no_word_here_is_passed_on_as_it_came() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let events = hosted.turn("plan picture odd usage note:hello").await;
    let kinds = ["plan", "agent_message_chunk", "of_the_future", "usage_update", "_mine/note"];
    let expected: Vec<_> = kinds.iter().map(|kind| ("native_event", json!({ "kind": kind }))).collect();
    assert_eq!(events.iter().map(plain).collect::<Vec<_>>(), expected);
    assert_eq!(events[2].payload["raw"]["much"], 1);
    assert_eq!(events[4].payload["raw"], json!({"text": "hello"}));
}

#[tokio::test]
async fn what_changes_is_told_whole() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("mode:code title:A_name").await;
    let (told, _) = hosted.rest().await;
    let facts: Vec<_> =
        told.iter().filter_map(|told| if let Told::Facts(facts) = told { Some(facts) } else { None }).collect();
    assert_eq!((facts[0].mode.as_deref(), &facts[0].title), (Some("code"), &None));
    assert_eq!((facts[1].mode.as_deref(), facts[1].title.as_deref()), (Some("code"), Some("A name")));
    assert_eq!((facts.len(), &facts[1].session_id), (2, &hosted.agent.facts.session_id));
}

#[tokio::test]
async fn mode_and_model_are_switched_by_method_or_by_option() {
    for has_options in [false, true] {
        let mut hosted = Hosted::start(Setup { has_options, ..Setup::default() }).await;
        let (reply, replied) = oneshot::channel();
        hosted.ask(Ask::Model("large".to_owned(), reply)).await;
        assert_eq!(soon(replied).await.unwrap(), Ok(()));
        let Told::Facts(facts) = hosted.told().await else { panic!("facts") };
        assert_eq!((facts.model.as_deref(), facts.models.len()), (Some("large"), 2));
    }
    let mut hosted = Hosted::start(Setup::default()).await;
    for (id, expected) in [("code", Ok(())), ("bad", Err("no such mode".to_owned()))] {
        let (reply, replied) = oneshot::channel();
        hosted.ask(Ask::Mode(id.to_owned(), reply)).await;
        assert_eq!(soon(replied).await.unwrap(), expected);
    }
    let Told::Facts(facts) = hosted.told().await else { panic!("facts") };
    assert_eq!(facts.mode.as_deref(), Some("code"));
}

#[tokio::test]
async fn who_waits_for_a_switch_is_answered_when_none_comes() {
    let hosted = Hosted::start(Setup { hangs_at: Some("session/set_mode".into()), ..Setup::default() }).await;
    // Where nothing else happens the clock goes on to what is waited for.
    tokio::time::pause();
    let (reply, replied) = oneshot::channel();
    hosted.ask(Ask::Mode("code".to_owned(), reply)).await;
    assert_eq!(replied.await.unwrap(), Err("the agent did not answer in time".to_owned()));
    let hosted = {
        tokio::time::resume();
        Hosted::start(Setup { exits_at: Some("session/set_mode".into()), ..Setup::default() }).await
    };
    let (reply, replied) = oneshot::channel();
    hosted.ask(Ask::Mode("code".to_owned(), reply)).await;
    assert_eq!(soon(replied).await.unwrap(), Err("the agent is gone: exit code 7".to_owned()));
}

#[tokio::test]
async fn a_prompt_larger_than_any_pipe_reaches_an_agent_that_is_writing() {
    let mut hosted = Hosted::start(Setup { images: true, ..Setup::default() }).await;
    let image = format!("data:image/png;base64,{}", "A".repeat(3 << 20));
    hosted.ask(Ask::Prompt(Prompt { text: "flood:2000 say:on".into(), images: vec![image] })).await;
    assert_eq!(hosted.rest().await.0.len(), 2_001);
}

#[tokio::test]
async fn images_reach_the_agent_as_it_takes_them() {
    let prompt = |images: &[&str]| {
        Ask::Prompt(Prompt { text: "echo".into(), images: images.iter().map(|&image| image.to_owned()).collect() })
    };
    let (picture, link) = ("data:image/png;base64,AAAA", "https://example.invalid/cat.png");
    let mut hosted = Hosted::start(Setup { images: true, ..Setup::default() }).await;
    hosted.ask(prompt(&[picture, link])).await;
    let (told, _) = hosted.rest().await;
    let echo = texts(&told.into_iter().filter_map(event).collect::<Vec<_>>());
    let expected = json!([{"type": "text", "text": "echo"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "resource_link", "name": "cat.png", "uri": link}]);
    assert_eq!(serde_json::from_str::<Value>(&echo).unwrap(), expected);
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.ask(prompt(&[picture])).await;
    let (told, end) = hosted.rest().await;
    assert!(matches!(&end, TurnEnd::Failed(why) if why.contains("takes no images")) && told.is_empty(), "{end:?}");
    assert_eq!(hosted.says("say:on").await, "on");
}

#[tokio::test]
async fn a_turn_ends_as_the_agent_says() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("refuse").await;
    assert_eq!(hosted.rest().await.1, TurnEnd::Done("refusal".to_owned()));
    hosted.prompt("fail").await;
    assert_eq!(hosted.rest().await.1, TurnEnd::Failed("the model is down".to_owned()));
}

#[tokio::test]
async fn a_cancelled_turn_is_interrupted_with_all_that_was_said() {
    let mut hosted = Hosted::start(Setup::default()).await;
    for (prompt, said) in [("say:a slow", "astopping"), ("say:b rude", "b")] {
        hosted.prompt(prompt).await;
        let first = hosted.told().await;
        hosted.ask(Ask::Cancel).await;
        hosted.ask(Ask::Cancel).await;
        let (told, end) = hosted.rest().await;
        let events: Vec<_> = std::iter::once(first).chain(told).filter_map(event).collect();
        assert_eq!((texts(&events).as_str(), end), (said, TurnEnd::Interrupted));
    }
    // Nothing to cancel.
    hosted.ask(Ask::Cancel).await;
    assert_eq!(hosted.says("say:on").await, "on");
}

#[tokio::test]
async fn a_turn_that_does_not_end_when_it_is_cancelled_is_given_up() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("say:a deaf").await;
    hosted.told().await;
    hosted.ask(Ask::Cancel).await;
    assert_eq!(hosted.rest().await.1, TurnEnd::Interrupted);
    assert_eq!(hosted.says("say:on").await, "on");
    hosted.prompt("crash").await;
    let gone = hosted.gone().await;
    assert!(gone.stderr.contains("withdrawn: 3"), "{gone:?}");
}

#[tokio::test]
async fn text_after_the_end_of_a_turn_is_the_same_event_outside_of_it() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("say:a then say:later title:Late").await;
    let (told, end) = hosted.rest().await;
    assert_eq!((told.len(), end), (1, TurnEnd::Done("end_turn".to_owned())));
    assert!(matches!(hosted.told().await, Told::Working(true)));
    let Told::Outside(later) = hosted.told().await else { panic!("an event outside of the turn") };
    assert_eq!(plain(&later), ("text_delta", json!({"text": "later"})));
    assert_eq!(event(hosted.told().await).unwrap().payload["kind"], "session_info_update");
    let Told::Facts(facts) = hosted.told().await else { panic!("facts") };
    assert_eq!(facts.title.as_deref(), Some("Late"));
}

#[tokio::test]
async fn a_call_that_began_in_a_turn_is_completed_after_it() {
    let mut hosted = Hosted::start(Setup::default()).await;
    assert_eq!(hosted.turn("begin-tool:b then end-tool:b result").await[0].kind, "tool_call_started");
    assert!(matches!(hosted.told().await, Told::Working(true)));
    let Told::Outside(completed) = hosted.told().await else { panic!("an event outside of the turn") };
    let expected =
        json!({"id": "b", "name": "Build", "arguments": r#"{"command":"make"}"#, "output": "built", "is_error": false});
    assert_eq!(plain(&completed), ("tool_call_completed", expected));
}

#[tokio::test]
async fn work_outside_of_a_turn_ends_with_a_result_or_with_silence() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let until_done = async |hosted: &mut Hosted| while !matches!(hosted.told().await, Told::Working(false)) {};
    hosted.turn("then say:later result").await;
    until_done(&mut hosted).await;
    hosted.turn("then say:more").await;
    while event(hosted.told().await).is_none_or(|event| event.kind != "text_delta") {}
    // Where nothing else happens the clock goes on to what is waited for.
    tokio::time::pause();
    until_done(&mut hosted).await;
}

#[tokio::test]
async fn a_flood_waits_for_its_reader_and_loses_nothing() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("flood:20000").await;
    let pipe = std::fs::File::open(format!("/proc/{}/fd/1", hosted.agent.pid)).unwrap();
    let is_full = || bytes_in(pipe.as_fd(), libc::FIONREAD) > 60_000;
    soon(async {
        while !is_full() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    assert!(is_full(), "who floods must wait as long as nobody reads what is told");
    let (told, _) = hosted.rest().await;
    let events: Vec<_> = told.into_iter().filter_map(event).collect();
    assert_eq!(texts(&events), (0..20_000).map(|n| format!("{n} ")).collect::<String>());
}

#[tokio::test]
async fn an_agent_that_floods_can_be_interrupted() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("flood:50000 slow").await;
    hosted.told().await;
    hosted.ask(Ask::Cancel).await;
    assert_eq!(hosted.rest().await.1, TurnEnd::Interrupted);
}

#[tokio::test]
async fn large_and_odd_lines_cost_what_they_hold_and_no_more() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let events = hosted.turn("nonsense:50 giant:17000000 large:2000000 say:on").await;
    assert_eq!(events[0].payload["kind"], "lines that are no messages");
    assert_eq!(events[0].payload["raw"], json!({ "lines": 50, "bytes": 1_140, "first": "[info] line 0 of a log" }));
    assert_eq!(events[1].payload["kind"], "a line over 16777216 bytes");
    let cut = events[2].payload["text"].as_str().unwrap();
    assert!(cut.ends_with("x… [951424 bytes were left out]") && cut.len() < 1_100_000);
    assert!(!events[2].payload.contains_key("raw"));
    assert_eq!(events[3].payload["text"], "on");
}

/// A line without `_`, which is a space in a word of a prompt.
fn word(line: &str) -> String {
    line.replace('_', "\\u005f").replace(' ', "")
}

#[tokio::test]
async fn half_a_character_does_not_make_a_message_disappear() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let update = r#"{"method":"session/update","params":{"sessionId":"test-session","update":
        {"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"cut\ud83d"}}}}"#;
    let file = hosted.workspace().join("file");
    let write = format!(
        r#"{{"id":0,"method":"fs/write_text_file","params":{{"sessionId":"test-session","path":{file:?},"content":"\udE00"}}}}"#
    );
    let said = hosted.says(&format!("line:{} call-by:{}", word(&update.replace('\n', "")), word(&write))).await;
    assert!(said.starts_with("cut\u{fffd}") && said.contains(r#""result":{}"#), "{said}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "\u{fffd}");
    // An answer of its own, which is the turn's end.
    hosted.prompt(&format!("line:{} deaf", word(r#"{"id":4,"result":{"stopReason":"end_turn\ud83d"}}"#))).await;
    assert_eq!(hosted.rest().await.1, TurnEnd::Done("end_turn\u{fffd}".to_owned()));
}

#[tokio::test]
async fn what_cannot_be_taken_is_answered_and_told() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let deep = "[".repeat(200) + &"]".repeat(200);
    for (line, code) in [
        (format!(r#"{{"id":0,"method":"fs/read","params":{deep}}}"#), -32700),
        (r#"[{"id":0,"method":"fs/read"}]"#.to_owned(), -32600),
        (format!(r#"{{"id":0,"method":"fs/read","params":"{}"}}"#, "x".repeat(17 << 20)), -32700),
    ] {
        let events = hosted.turn(&format!("call-by:{line}")).await;
        assert_eq!(events[0].kind, "native_event");
        let answer: Value = serde_json::from_str(&texts(&events)).unwrap();
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
}
