//! What real agents wrote, against fake models: OpenCode 1.18.33, Gemini CLI 0.61.0, claude-agent-acp 0.49.0.

use super::facts::{Known, harness};
use super::message::Message;
use super::parse::parse;
use super::tools::Tools;
use super::translate::{self, When};
use super::{Event, permission};
use crate::protocol::Harness;
use agent_client_protocol_schema::v1::RequestPermissionRequest;
use serde::Deserialize;
use serde_json::Value;

/// What a capture makes: an event a line, but for what only says how the session is.
fn told(name: &str, when: When) -> (Vec<String>, Known) {
    let path = format!("{}/tests/fixtures/acp/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let (mut tools, mut known, mut told) = (Tools::default(), Known::default(), Vec::new());
    for line in std::fs::read_to_string(path).unwrap().lines() {
        match parse(line.as_bytes()).unwrap() {
            Message::Notification { params, .. } => {
                known.update(&params["update"]);
                told.extend(translate::events(&params["update"], when, &mut tools).iter().filter_map(line_of));
            }
            Message::Request { params, .. } => {
                let request = RequestPermissionRequest::deserialize(&params).unwrap();
                told.extend(translate::asked(&request.tool_call, &mut tools).iter().filter_map(line_of));
                let name = translate::name(&request.tool_call.fields);
                let (approval, _) = permission::ask(request, name, true, &params);
                let text = |member: &str| approval.payload[member].to_string();
                told.push(format!("ask {} {} {}", text("tool"), text("raw_args"), text("decisions")));
            }
            odd @ (Message::Unfit { .. } | Message::Nonsense { .. }) => panic!("{odd:?}"),
            Message::Answer { result, .. } => {
                let answer = result.unwrap();
                let name = answer["agentInfo"]["name"].as_str();
                known.facts.harness = known.facts.harness.or(harness(name, &[]));
                known.session(&answer);
            }
        }
    }
    (told, known)
}

fn line_of(event: &Event) -> Option<String> {
    let text = |member: &str| match event.payload.get(member) {
        Some(Value::String(text)) => text.trim().replace('\n', "|"),
        other => other.map(Value::to_string).unwrap_or_default(),
    };
    match event.kind {
        "native_event" if text("kind") == "tool_call_update" => None,
        "native_event" if super::facts::STATE.contains(&text("kind").as_str()) => None,
        "native_event" => Some(format!("native {}", text("kind"))),
        "tool_call_started" => Some(format!("start {} {}", text("name"), text("arguments"))),
        "tool_call_completed" => {
            Some(format!("done {} {} {}: {}", text("name"), text("arguments"), text("is_error"), text("output")))
        }
        kind => Some(format!("{kind} {}", text("text"))),
    }
}

fn check(name: &str, when: When, is: Harness, model: Option<&str>, expected: &[&str]) {
    let (told, known) = told(name, when);
    assert_eq!(told, expected, "{name}");
    assert_eq!((known.facts.harness, known.facts.model.as_deref()), (Some(is), model), "{name}");
    assert_eq!(known.facts.commands.len(), 2, "{name}");
}

#[test]
fn opencode_is_told() {
    check(
        "opencode-turns",
        When::Turn,
        Harness::OpenCode,
        Some("fake/fake-model"),
        &[
            "text_delta Fake answer to: say hello",
            r#"start bash {"cwd":"/home/dev/demo"}"#,
            r#"ask "echo tool-ran" {"command":"echo tool-ran"} ["deny","allow","allow_for_session"]"#,
            r#"done bash {"command":"echo tool-ran","description":"Prints a word","cwd":"/home/dev/demo"} false: tool-ran"#,
            "text_delta Fake answer to: USE_TOOL run it",
            r#"start bash {"cwd":"/home/dev/demo"}"#,
            r#"ask "echo tool-ran" {"command":"echo tool-ran"} ["deny","allow","allow_for_session"]"#,
            r#"done bash {"command":"echo tool-ran","description":"Prints a word","cwd":"/home/dev/demo"} true: The user rejected permission to use this specific tool call."#,
            "text_delta Fake answer to: after the cancel",
        ],
    );
}

/// A tool call that must be allowed is told of by the question alone, and never again where it is denied.
#[test]
fn gemini_is_told() {
    check(
        "gemini-permission",
        When::Turn,
        Harness::Gemini,
        Some("auto"),
        &[
            "start Writing to new.txt {}",
            r#"ask "Writing to new.txt" "--- /home/dev/demo/new.txt\n+++ /home/dev/demo/new.txt\n+written" ["deny","allow","allow_for_session"]"#,
            "done Writing to new.txt  false: --- /home/dev/demo/new.txt|+++ /home/dev/demo/new.txt|+written",
            "text_delta Fake answer to: USE_WRITE /home/dev/demo/new.txt now",
            "start Writing to other.txt {}",
            r#"ask "Writing to other.txt" "--- /home/dev/demo/other.txt\n+++ /home/dev/demo/other.txt\n+written" ["deny","allow","allow_for_session"]"#,
            "text_delta Fake answer to: USE_WRITE /home/dev/demo/other.txt now",
        ],
    );
}

/// All but the first piece came after the answer.
#[test]
fn what_gemini_repeats_is_told() {
    check(
        "gemini-load",
        When::History,
        Harness::Gemini,
        Some("auto"),
        &[
            "user_message <session_context>|This is the Gemini CLI. We are setting up the context for our chat.|Today's date is Monday, November 30, 2026 (formatted according to the user's locale).|My operating system is: linux|The project's temporary directory is: /home/dev/.gemini/tmp/w|- **Workspace Direc...",
            "user_message USE_WRITE /home/dev/demo/new.txt now",
            "start WriteFile {}",
            "done WriteFile  true: Error checking existing file: Resource not found",
            "start WriteFile {}",
            "done WriteFile  true: Error checking existing file: Resource not found",
            "user_message [Function Response: write_file]",
            "text_delta Fake answer to: USE_WRITE /home/dev/demo/new.txt now",
            "user_message USE_WRITE /home/dev/demo/other.txt now",
            "user_message [Function Response: write_file]",
            "text_delta Fake answer to: USE_WRITE /home/dev/demo/other.txt now",
            "text_delta Fake answer to: and now",
        ],
    );
}

#[test]
fn claude_is_told() {
    check(
        "claude-turns",
        When::Turn,
        Harness::ClaudeCode,
        Some("default"),
        &[
            "reasoning hmm",
            "text_delta ",
            "text_delta hi there",
            "start Terminal {}",
            r#"ask "touch made" {"command":"touch made","description":"s"} ["deny","allow","allow_for_session"]"#,
            r#"done Terminal {"command":"touch made","description":"s"} false: ```console|(Bash completed with no output)|```"#,
            "text_delta ",
            "text_delta done",
            "start Terminal {}",
            r#"ask "touch made2" {"command":"touch made2","description":"s"} ["deny","allow","allow_for_session"]"#,
            r#"done Terminal {"command":"touch made2","description":"s"} true: ```|User refused permission to run tool|```"#,
            "text_delta ",
            "text_delta done2",
            "text_delta ",
            "text_delta after",
        ],
    );
}

#[test]
fn what_claude_repeats_is_told() {
    check(
        "claude-load",
        When::History,
        Harness::ClaudeCode,
        Some("default"),
        &[
            r#"user_message hello @@[{"thinking":"hmm","text":"hi there"}]@@"#,
            "reasoning hmm",
            "text_delta hi there",
            r#"user_message go @@[{"tool":"Bash","input":{"command":"touch made","description":"s"}},{"text":"done"}]@@"#,
            r#"start touch made {"command":"touch made","description":"s"}"#,
            "done touch made  false: ```console|(Bash completed with no output)|```",
            "text_delta done",
            r#"user_message go @@[{"tool":"Bash","input":{"command":"touch made2","description":"s"}},{"text":"done2"}]@@"#,
            r#"start touch made2 {"command":"touch made2","description":"s"}"#,
            "done touch made2  true: ```|User refused permission to run tool|```",
            "text_delta done2",
            r#"user_message wait @@[{"hang":true}]@@"#,
            "user_message [Request interrupted by user]",
            r#"user_message more @@[{"text":"after"}]@@"#,
            "text_delta after",
            "text_delta ",
            "text_delta on",
        ],
    );
}
