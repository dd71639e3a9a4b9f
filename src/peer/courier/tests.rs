//! Verdicts over what the real program printed, and over what it might print.

use super::program::{Directory, Program};
use super::verdict::{End, Report};
use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const TEXT: &str = "hi there";
const TO: &str = "rcv";
const LEFT: End = End::Exited(Some(0));

type Verdict = Result<(Outcome, Option<String>), (Cause, String)>;

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code/courier").join(name)).unwrap()
}

/// What is concluded from lines, and whether all was decided before their end.
fn judge_as(text: &str, lines: &[u8], end: End, printed: &str) -> (Verdict, bool) {
    let mut report = Report::new(text, TO);
    for line in lines.split(|byte| *byte == b'\n') {
        report.read(line);
    }
    let decided = report.is_decided();
    let verdict = match report.conclude(end, printed) {
        Ok(delivery) => Ok((delivery.outcome, delivery.message_id)),
        Err(Error::Failed { cause, why }) => Err((cause, why)),
        Err(error) => panic!("{error}"),
    };
    (verdict, decided)
}

fn judge(lines: &[Value]) -> Verdict {
    judge_as(TEXT, &text_of(lines), LEFT, "").0
}

fn text_of(lines: &[Value]) -> Vec<u8> {
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

fn cause(verdict: Verdict) -> Cause {
    verdict.unwrap_err().0
}

fn call(to: &str, message: &str) -> Value {
    let input = json!({ "to": to, "message": message, "summary": "a greeting" });
    let content = [json!({ "type": "tool_use", "id": "t", "name": "SendMessage", "input": input })];
    json!({ "type": "assistant", "message": { "content": content } })
}

fn said(text: &str) -> Value {
    json!({ "type": "assistant", "message": { "content": [{ "type": "text", "text": text }] } })
}

fn answer(told: Value) -> Value {
    let content = [json!({ "type": "tool_result", "tool_use_id": "t", "content": told.to_string() })];
    json!({ "type": "user", "message": { "content": content }, "tool_use_result": told })
}

fn sent() -> Value {
    answer(json!({ "success": true, "msg_id": "m" }))
}

fn notice(words: &str) -> Value {
    json!({ "type": "system", "subtype": "informational", "level": "warning", "content": format!("Cross-session message {words}") })
}

fn result(word: &str) -> Value {
    json!({ "type": "result", "subtype": "success", "is_error": false, "result": word })
}

fn accepted() -> Verdict {
    Ok((Outcome::Accepted, Some("m".to_owned())))
}

#[test]
fn what_the_program_printed_is_judged_by_its_tool_and_its_notices() {
    let id = |id: &str| Some(id.to_owned());
    for (name, verdict, decided) in [
        ("stream-json-accept.jsonl", (Outcome::Accepted, id("67fef6fe-c95b-490d-ba23-6193b57ef6ef")), false),
        ("stream-json-hold.jsonl", (Outcome::Held, id("97c20400-6702-46d9-be74-3ba4309573f4")), true),
        ("stream-json-refuse.jsonl", (Outcome::Refused, id("2a1e149d-3fe3-48ca-89b1-68bc9e7975ee")), true),
        ("stream-json-refused.jsonl", (Outcome::Refused, id("de0d9f11-aeb0-4882-8124-b06860ed0c1e")), true),
    ] {
        assert_eq!(judge_as(TEXT, &fixture(name), LEFT, ""), (Ok(verdict), decided), "{name}");
    }
    let (failed, _) = judge_as(TEXT, &fixture("result-api-401.json"), End::Exited(Some(1)), "");
    assert_eq!(failed, Err((Cause::Exit, "it ended with 1: Invalid API key · Fix external API key".to_owned())));
}

#[test]
fn another_text_or_address_strays_at_once() {
    for (to, text) in [(TO, "Hi there"), (TO, "hi there "), (TO, ""), ("other", TEXT), ("RCV", TEXT)] {
        let lines = [call(to, text), sent(), result("SENT")];
        assert_eq!(cause(judge(&lines)), Cause::Report, "{to} {text}");
        let mut report = Report::new(TEXT, TO);
        report.read(&text_of(&lines[..1]));
        assert!(report.strayed() && report.is_decided());
    }
    // What it did right before does not make it right.
    assert_eq!(cause(judge(&[call(TO, TEXT), sent(), call("other", TEXT)])), Cause::Report);
}

#[test]
fn what_is_in_the_inbox_stays_there_whatever_becomes_of_the_courier() {
    let lines = text_of(&[call(TO, TEXT), sent()]);
    for end in [LEFT, End::Exited(Some(1)), End::Exited(None), End::Dismissed, End::TimedOut, End::Flooded] {
        assert_eq!(judge_as(TEXT, &lines, end, "oh").0, accepted(), "{end:?}");
    }
}

#[test]
fn what_is_said_against_a_message_is_said_against_ours() {
    let after = |words: &str| judge(&[call(TO, TEXT), sent(), notice(words)]);
    let id = || Some("m".to_owned());
    assert_eq!(after("held by the receiving session (recipient: @rcv). It waits."), Ok((Outcome::Held, id())));
    assert_eq!(after("denied (2 recipients: @a, @rcv)."), Ok((Outcome::Refused, id())));
    assert_eq!(after("expired without approval (recipient: @rcv)."), Ok((Outcome::Refused, id())));
    assert_eq!(after("refused."), Ok((Outcome::Refused, id())));
    // It may be called otherwise than when it was looked up.
    for name in ["@fix (ci)", "@Rcv", "@rcv [dc94f8]", "@other", "uds:/other"] {
        assert_eq!(
            after(&format!("refused (recipient: {name}). That session")),
            Ok((Outcome::Refused, id())),
            "{name}"
        );
    }
    assert_eq!(after("released after approval (recipient: @rcv)."), accepted());
    // Before anything was sent it is about something else.
    assert_eq!(judge(&[notice("refused (recipient: @rcv)."), call(TO, TEXT), sent()]), accepted());
    let mut of_another = notice("refused (recipient: @rcv).");
    of_another["msg_id"] = json!("other");
    assert_eq!(judge(&[call(TO, TEXT), sent(), of_another.clone()]), accepted());
    of_another["msg_id"] = json!("m");
    assert_eq!(judge(&[call(TO, TEXT), sent(), of_another]), Ok((Outcome::Refused, id())));
}

#[test]
fn the_exact_word_counts_only_where_the_tool_answered_in_plain_words() {
    let of_tool = |id: &str, is_error: bool, text: Value, told: Value| {
        let content = [json!({ "type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": text })];
        json!({ "type": "user", "message": { "content": content }, "tool_use_result": told })
    };
    let untold = of_tool("t", false, json!("ok"), Value::Null);
    let turn = |answer: &Value, word: &str| judge(&[call(TO, TEXT), answer.clone(), said(word), result(word)]);
    assert_eq!(turn(&untold, "SENT"), Ok((Outcome::Accepted, None)));
    assert_eq!(turn(&untold, " SENT\n"), Ok((Outcome::Accepted, None)));
    for word in ["NOT_SENT", "sent", "SENT.", "I SENT it", ""] {
        assert_eq!(cause(turn(&untold, word)), Cause::Report, "{word}");
    }
    for answer in [
        of_tool("t", true, json!("nope"), json!("nope")),
        of_tool("t", false, json!("Error: nope"), json!("Error: nope")),
        of_tool("t", true, json!("-"), json!({ "success": true })),
        of_tool("t", false, json!("-"), json!({ "success": "true" })),
        of_tool("t", false, json!("-"), json!({ "success": false })),
        of_tool("t", false, json!("{\"success\":1}"), Value::Null),
        of_tool("other", false, json!("ok"), Value::Null),
        of_tool("other", false, json!("-"), json!({ "success": true })),
        json!({ "type": "user" }),
    ] {
        assert_eq!(cause(turn(&answer, "SENT")), Cause::Report, "{answer}");
    }
    assert_eq!(cause(judge(&[call(TO, TEXT), result("SENT")])), Cause::Report);
    assert_eq!(cause(judge(&[result("SENT")])), Cause::Report);
    assert_eq!(cause(judge(&[said("SENT"), result("SENT")])), Cause::Report);
    let refused = [call(TO, TEXT), untold.clone(), result("SENT"), notice("refused (recipient: @rcv).")];
    assert_eq!(judge(&refused), Ok((Outcome::Refused, None)));
    let lines = text_of(&[call(TO, TEXT), untold.clone(), result("SENT")]);
    assert_eq!(judge_as(TEXT, &lines, End::TimedOut, "").0, Ok((Outcome::Accepted, None)));
    assert_eq!(cause(judge_as(TEXT, &lines, End::Exited(Some(1)), "").0), Cause::Exit);
    let failed = json!({ "type": "result", "subtype": "success", "is_error": true, "result": "SENT" });
    assert_eq!(cause(judge(&[call(TO, TEXT), untold, failed])), Cause::Report);
    // The tool's answer is in its text where it is told in no other way.
    let in_text = json!([{ "type": "text", "text": "{\"success\":true,\"msg_id\":\"m\"}" }]);
    assert_eq!(judge(&[call(TO, TEXT), of_tool("t", false, in_text, Value::Null)]), accepted());
}

#[test]
fn an_id_is_told_only_if_it_can_be_one() {
    let environment = [("ANTHROPIC_API_KEY".into(), "an-env-secret".into())].into_iter();
    let program = Program::new("claude".into(), "haiku".to_owned(), environment);
    let told = |id: &str| {
        let delivery = Delivery { outcome: Outcome::Accepted, message_id: Some(id.to_owned()), detail: None };
        program.presentable(Ok(delivery)).unwrap().message_id
    };
    for id in ["67fef6fe-c95b-490d-ba23-6193b57ef6ef", "m", "a.B_c:1", &"x".repeat(64)] {
        assert_eq!(told(id).as_deref(), Some(id));
    }
    for id in ["", "a b", "a\u{1b}[31m", "é", "an-env-secret", "sk-ant-0123456789", &"x".repeat(65)] {
        assert_eq!(told(id), None, "{id}");
    }
}

#[test]
fn what_failed_says_how() {
    let why = |lines: &[Value], end, printed: &str| judge_as(TEXT, &text_of(lines), end, printed).0.unwrap_err();
    let unsent = answer(json!({ "success": false, "message": "No agent named 'rcv' is reachable" }));
    let told = why(&[call(TO, TEXT), unsent.clone(), result("NOT_SENT")], LEFT, "");
    assert_eq!(told, (Cause::Report, "the message could not be sent: No agent named 'rcv' is reachable".to_owned()));
    assert_eq!(why(&[], End::Exited(Some(1)), "unknown option").1, "it ended with 1: unknown option");
    assert_eq!(why(&[], End::Exited(None), "").1, "a signal ended it");
    assert_eq!(why(&[], LEFT, "").1, "it ended without a word");
    assert_eq!(why(&[], End::TimedOut, "").0, Cause::Timeout);
    // A second try may succeed.
    assert_eq!(judge(&[call(TO, TEXT), unsent, call(TO, TEXT), sent()]), accepted());
}

#[test]
fn a_secret_of_the_environment_is_never_told() {
    let environment =
        [("ANTHROPIC_API_KEY", "sk-secret-1"), ("HOME", "/home/dev"), ("SHORT", "on"), ("B", "sk-secret-1-longer")];
    let environment = environment.map(|(name, value)| (name.into(), value.into()));
    let program = Program::new("/home/dev/sk-secret-1/claude".into(), "haiku".to_owned(), environment.into_iter());
    let why = "in /home/dev on\u{1b}[31m sk-secret-1-longer\nand\u{202e} sk-secret-1 ".to_owned() + &"x".repeat(1_000);
    let told = program.presentable(Err(failed(Cause::Exit, why))).unwrap_err().to_string();
    let begin = "the courier did not deliver the message: in /home/dev on [31m […] and […] xxx";
    assert!(told.starts_with(begin) && told.ends_with("x…") && told.chars().count() < 400, "{told}");
    let told = program.why_not_started(&std::io::Error::other("x"));
    assert!(told.starts_with("`/home/dev/[…]/claude` cannot be started"), "{told}");
    assert!(!format!("{program:?}").contains("ANTHROPIC"));
}

#[test]
fn what_belongs_to_a_session_is_not_passed_on_and_what_the_user_set_is() {
    let passed = [
        "ANTHROPIC_API_KEY",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "HTTPS_PROXY",
        "PATH",
        "HOME",
        "AWS_PROFILE",
    ];
    let kept_back = [
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SSE_PORT",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "CLAUDE_CODE_EXECPATH",
        "CLAUDE_CODE_SESSION_ATTENDED",
        "CLAUDE_CODE_CHILD_NOTES_DIR",
        "CLAUDE_PID",
        "CLAUDE_EFFORT",
        "AI_AGENT",
        "TMUX",
        "TMUX_PANE",
        "CLAUDE_PLUGIN_ROOT",
        "GIT_DIR",
        "GIT_WORK_TREE",
    ];
    let environment = passed.iter().chain(&kept_back).map(|name| (name.into(), "value".into()));
    let program = Program::new("claude".into(), "haiku".to_owned(), environment);
    let directory = Directory::new().unwrap();
    let command = program.command(&directory, &peer("/run/user/7/cc-socks/9.sock"));
    let set: Vec<&str> = command.as_std().get_envs().map(|(name, _)| name.to_str().unwrap()).collect();
    for name in passed {
        assert!(set.contains(&name), "{name}");
    }
    for name in kept_back {
        assert!(!set.contains(&name), "{name}");
    }
}

fn peer(socket: &str) -> Peer {
    let peer = json!({ "pid": 9, "sessionId": "s", "name": TO, "home": "/homes/a", "socketPath": socket, "addressable": true });
    serde_json::from_value(peer).unwrap()
}

#[test]
fn a_courier_opens_its_socket_beside_that_of_the_session_or_says_that_it_hears_nothing() {
    let program = Program::new(
        "claude".into(),
        "haiku".to_owned(),
        [("XDG_RUNTIME_DIR".into(), "/run/user/7".into())].into_iter(),
    );
    let directory = Directory::new().unwrap();
    let told = |socket| {
        let command = program.command(&directory, &peer(socket));
        let told = command.as_std().get_envs().find(|(name, _)| *name == "XDG_RUNTIME_DIR");
        told.unwrap().1.unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(told("/tmp/cc-socks/9.sock"), "/tmp");
    assert_eq!(told("/elsewhere/9.sock"), "/run/user/7");

    let detail = |ours: &str, heard_out: bool| {
        let to = "uds:/tmp/cc-socks/9.sock";
        let mut report = Report::new(TEXT, to);
        let init = json!({ "type": "system", "subtype": "init", "messaging_socket_path": ours });
        for line in [init, call(to, TEXT), sent()] {
            report.read(line.to_string().as_bytes());
        }
        if heard_out {
            report.hear_out();
        }
        report.conclude(LEFT, "").unwrap().detail
    };
    assert_eq!(detail("/tmp/cc-socks/10.sock", true), None);
    assert!(detail("/tmp/cc-socks/10.sock", false).unwrap().contains("ended before"));
    assert!(detail("/run/user/7/cc-socks/10.sock", true).unwrap().contains("in another place"));
}

proptest! {
    /// Whatever a courier prints, nothing but a call of just this text and address makes a message accepted.
    #[test]
    fn nothing_is_accepted_that_was_not_asked_for_letter_by_letter(
        picks in prop::collection::vec(0..9_usize, 0..8),
        text in "[hi ]{1,4}",
        to in "[rcv]{1,3}",
    ) {
        let pool = [
            call(&to, &text), sent(), result("SENT"), said("SENT"), notice("refused (recipient: @rcv)."), json!(7),
            json!({ "type": "user", "tool_use_result": { "success": true } }), answer(json!({ "success": false })), result("no"),
        ];
        let lines: Vec<Value> = picks.iter().map(|pick| pool[*pick].clone()).collect();
        let strays = (to != TO || text != TEXT) && picks.contains(&0);
        let verdict = judge(&lines);
        prop_assert!(!strays || verdict.is_err());
        if let Ok((Outcome::Accepted, _)) = verdict {
            prop_assert!(picks.contains(&0) && picks.contains(&1));
        }
    }

    #[test]
    fn no_line_makes_it_panic(lines in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = judge_as(TEXT, &lines, LEFT, "");
    }
}
