//! What real agents wrote, against fake models: OpenCode 1.18.33, Gemini CLI 0.61.0, claude-agent-acp 0.49.0,
//! codex-acp 2.6.0, Copilot 1.0.102, Qwen Code 0.15.10.

use super::facts::{Known, harness};
use super::message::Message;
use super::parse::parse;
use super::terminal::Terminals;
use super::tools::Tools;
use super::translate::{self, When};
use super::{Event, permission};
use crate::platform::within::Root;
use crate::protocol::Harness;
use agent_client_protocol_schema::v1::{Implementation, RequestPermissionRequest};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// What a capture makes: an event a line, but for what only says how the session is.
fn told(name: &str, when: When) -> (Vec<String>, Known) {
    let path = format!("{}/tests/fixtures/acp/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let (mut tools, mut known, mut told) = (Tools::default(), Known::default(), Vec::new());
    let terminals = Terminals::new(Arc::new(Root::open(Path::new("/")).unwrap()));
    for line in std::fs::read_to_string(path).unwrap().lines() {
        match parse(line.as_bytes()).unwrap() {
            Message::Notification { params, .. } => {
                known.update(&params["update"]);
                let events = translate::events(&params["update"], when, &mut tools, &terminals);
                told.extend(events.iter().filter_map(line_of));
            }
            Message::Request { method, params, .. } if method == "elicitation/create" => {
                told.push(format!("form {}", params["message"]));
            }
            Message::Request { params, .. } => {
                let request = RequestPermissionRequest::deserialize(&params).unwrap();
                told.extend(translate::asked(&request.tool_call, &mut tools, &terminals).iter().filter_map(line_of));
                let tool = tools.get(request.tool_call.tool_call_id.0.as_ref());
                let (approval, _) = permission::ask(request.clone(), tool, true, &params);
                let text = |member: &str| approval.payload[member].to_string();
                told.push(format!("ask {} {} {}", text("tool"), text("raw_args"), text("decisions")));
            }
            odd @ (Message::Unfit { .. } | Message::Nonsense { .. }) => panic!("{odd:?}"),
            Message::Answer { result, .. } => {
                let answer = result.unwrap();
                let info = Implementation::deserialize(&answer["agentInfo"]).ok();
                known.facts.harness = known.facts.harness.or(harness(info.as_ref(), &[]));
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
        "native_event" if text("kind") == "agent_message_chunk" => None,
        "native_event" => Some(format!("native {}", text("kind"))),
        "tool_call_started" => Some(format!("start {} {}", text("name"), text("arguments"))),
        "tool_call_updated" => {
            let output = text("output") + &text("output_delta");
            Some(format!("update {} {}: {output}", text("name"), text("arguments")))
        }
        "tool_call_completed" => {
            Some(format!("done {} {} {}: {}", text("name"), text("arguments"), text("is_error"), text("output")))
        }
        kind => Some(format!("{kind} {}", text("text"))),
    }
}

fn check(name: &str, when: When, is: impl Into<Option<Harness>>, model: Option<&str>, expected: &[&str]) {
    let (told, known) = told(name, when);
    assert_eq!(told, expected, "{name}");
    assert_eq!((known.facts.harness, known.facts.model.as_deref()), (is.into(), model), "{name}");
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
            r#"update echo tool-ran {"command":"echo tool-ran","description":"Prints a word","cwd":"/home/dev/demo"}: "#,
            r#"ask "echo tool-ran" {"command":"echo tool-ran"} ["deny","allow","allow_for_session"]"#,
            r#"update echo tool-ran {"command":"echo tool-ran","description":"Prints a word","cwd":"/home/dev/demo"}: tool-ran"#,
            r#"done echo tool-ran {"command":"echo tool-ran","description":"Prints a word","cwd":"/home/dev/demo"} false: tool-ran"#,
            "text_delta Fake answer to: USE_TOOL run it",
            r#"start bash {"cwd":"/home/dev/demo"}"#,
            r#"ask "echo tool-ran" {"command":"echo tool-ran"} ["deny","allow","allow_for_session"]"#,
            r#"update echo tool-ran {"command":"echo tool-ran","description":"Prints a word","cwd":"/home/dev/demo"}: "#,
            r#"done echo tool-ran {"command":"echo tool-ran","description":"Prints a word","cwd":"/home/dev/demo"} true: The user rejected permission to use this specific tool call."#,
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
            r#"start Writing to new.txt {"locations":[{"path":"/home/dev/demo/new.txt"}]}"#,
            r#"update Writing to new.txt {"locations":[{"path":"/home/dev/demo/new.txt"}]}: --- /home/dev/demo/new.txt|+++ /home/dev/demo/new.txt|+written"#,
            r#"ask "Writing to new.txt" "--- /home/dev/demo/new.txt\n+++ /home/dev/demo/new.txt\n+written" ["deny","allow","allow_for_session"]"#,
            r#"done Writing to new.txt {"locations":[{"path":"/home/dev/demo/new.txt"}]} false: --- /home/dev/demo/new.txt|+++ /home/dev/demo/new.txt|+written"#,
            "text_delta Fake answer to: USE_WRITE /home/dev/demo/new.txt now",
            r#"start Writing to other.txt {"locations":[{"path":"/home/dev/demo/other.txt"}]}"#,
            r#"update Writing to other.txt {"locations":[{"path":"/home/dev/demo/other.txt"}]}: --- /home/dev/demo/other.txt|+++ /home/dev/demo/other.txt|+written"#,
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
            "done WriteFile {} true: Error checking existing file: Resource not found",
            "start WriteFile {}",
            "done WriteFile {} true: Error checking existing file: Resource not found",
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
            "text_delta hi there",
            "start Terminal {}",
            r#"update touch made {"command":"touch made","description":"s"}: s"#,
            r#"ask "touch made" {"command":"touch made","description":"s"} ["deny","allow","allow_for_session"]"#,
            r#"done touch made {"command":"touch made","description":"s"} false: ```console|(Bash completed with no output)|```"#,
            "text_delta done",
            "start Terminal {}",
            r#"update touch made2 {"command":"touch made2","description":"s"}: s"#,
            r#"ask "touch made2" {"command":"touch made2","description":"s"} ["deny","allow","allow_for_session"]"#,
            r#"done touch made2 {"command":"touch made2","description":"s"} true: ```|User refused permission to run tool|```"#,
            "text_delta done2",
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
            r#"update touch made {"command":"touch made","description":"s"}: s"#,
            r#"done touch made {"command":"touch made","description":"s"} false: ```console|(Bash completed with no output)|```"#,
            "text_delta done",
            r#"user_message go @@[{"tool":"Bash","input":{"command":"touch made2","description":"s"}},{"text":"done2"}]@@"#,
            r#"start touch made2 {"command":"touch made2","description":"s"}"#,
            r#"update touch made2 {"command":"touch made2","description":"s"}: s"#,
            r#"done touch made2 {"command":"touch made2","description":"s"} true: ```|User refused permission to run tool|```"#,
            "text_delta done2",
            r#"user_message wait @@[{"hang":true}]@@"#,
            "user_message [Request interrupted by user]",
            r#"user_message more @@[{"text":"after"}]@@"#,
            "text_delta after",
            "text_delta on",
        ],
    );
}

/// The output of a command comes in pieces in `_meta` alone.
#[test]
fn codex_command_and_output_are_told() {
    check(
        "codex-turns",
        When::Turn,
        Harness::Codex,
        Some("fake-model"),
        &[
            "native unknown",
            "text_delta Warning: Model metadata for `fake-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.",
            "text_delta Fake answer to: say hello",
            "text_delta Warning: Model metadata for `fake-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.",
            r#"start echo tool-ran {"command":"echo tool-ran","cwd":"/home/dev/demo"}"#,
            r#"done echo tool-ran {"command":"echo tool-ran","cwd":"/home/dev/demo"} false: tool-ran"#,
            "text_delta Fake answer to: USE_TOOL run it",
        ],
    );
}

#[test]
fn claude_question_and_terminal_are_told() {
    check(
        "claude-question",
        When::Turn,
        Harness::ClaudeCode,
        Some("default"),
        &[
            "start Terminal {}",
            r#"update echo hi there {"command":"echo hi there","description":"s"}: "#,
            r#"update echo hi there {"command":"echo hi there","description":"s"}: hi there"#,
            r#"done echo hi there {"command":"echo hi there","description":"s"} false: hi there"#,
            "text_delta done x",
            "start Asking for your input {}",
            r#"update Which colour? {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}]}]}: Which colour?"#,
            r#"form "Which colour?""#,
            r#"done Which colour? {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}]}]} false: Your questions have been answered: "Which colour?"="Red". You can now continue with these answers in mind."#,
            "text_delta done y",
        ],
    );
}

#[test]
fn copilot_is_told() {
    check(
        "copilot-turns",
        When::Turn,
        None,
        None,
        &[
            "text_delta Fake answer to: <current_datetime>2026-12-01T00:20:45.313+00:00</current_dat",
            r#"start Prints a word {"command":"echo tool-ran","description":"Prints a word"}"#,
            r#"ask "Prints a word" {"command":"echo tool-ran","commands":["echo tool-ran"]} ["deny","allow","allow_for_session"]"#,
            r#"update Prints a word {"command":"echo tool-ran","description":"Prints a word"}: tool-ran"#,
            r#"done Prints a word {"command":"echo tool-ran","description":"Prints a word"} false: tool-ran|<shellId: 0 completed with exit code 0>"#,
            "text_delta Fake answer to: <current_datetime>2026-12-01T00:20:45.442+00:00</current_dat",
        ],
    );
}

#[test]
fn qwen_is_told() {
    check(
        "qwen-turns",
        When::Turn,
        None,
        Some("$runtime|openai|fake-model(openai)"),
        &[
            "text_delta Fake answer to: say hello",
            r#"start Shell: echo tool-ran (Prints a word) {"command":"echo tool-ran","description":"Prints a word"}"#,
            r#"done Shell: echo tool-ran (Prints a word) {"command":"echo tool-ran","description":"Prints a word"} false: Command: echo tool-ran|Directory: (root)|Output: tool-ran|Error: (none)|Exit Code: 0|Signal: 0|Process Group PGID: 18952"#,
            "text_delta Fake answer to: USE_TOOL run it",
        ],
    );
}
