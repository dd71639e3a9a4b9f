//! The values of the fixture sessions were read off the raw records.

mod files;

use super::*;
use crate::harness::testing::{Listing, fixture, list};
use crate::protocol::{Block, Message, Role};
use serde_json::json;

/// All fixtures were written within minutes of this time.
const EPOCH: i64 = 1_796_028_000_000;
const DEMO: &str = "8f9052e99be5cc5c43e7176b288ce763e811fc50146aad8c06c7241cbd477c93";
const SUB: &str = "c721d81dd5db8e9840a9870e7ff28ce847e6761a5150cde0da4bcdf367641ba6";
const SUMMARY: &str = "Fake answer to: Summarize the user's primary intent or goal in this conversa";

fn gemini(name: &str) -> Listing {
    list(&Gemini, &fixture("gemini").join(name))
}

/// Id, title, workspace or its mark, creation, newest message, count.
type Expected = (&'static str, &'static str, &'static str, i64, i64, u64);

fn check(listing: &Listing, expected: &[Expected]) {
    assert_eq!(listing.sessions.len(), expected.len());
    for (id, title, place, created, updated, count) in expected {
        let session = listing.of(id);
        assert_eq!(session.title.as_deref(), Some(*title), "{id}");
        assert_eq!(session.workspace.as_deref().or(session.workspace_mark.as_deref()), Some(*place), "{id}");
        assert_eq!(session.model.as_deref(), Some("gemini-2.5-flash"), "{id}");
        assert_eq!(session.created_at_ms, Some(EPOCH + created), "{id}");
        assert_eq!(session.updated_at_ms, Some(EPOCH + updated), "{id}");
        assert_eq!(listing.details(id).message_count, *count, "{id}");
        assert_eq!((session.archived, &session.parent, &session.profile), (false, &None, &None));
        assert!(session.resumable && session.first_message.is_none());
    }
}

#[test]
fn every_session_of_a_log_has_its_right_values() {
    let listing = gemini("v0.61.0");
    check(
        &listing,
        &[
            ("7e8866fe-e85f-4d7b-a6dd-47044ad316d8", "USE_TOOL please run a command", "/proj/demo", 25_758, 27_213, 3),
            (
                "b58c0248-3760-4b3f-b133-8508fc763ada",
                "Plain session: say hello to the demo",
                "/proj/demo",
                14_952,
                15_197,
                2,
            ),
            ("11111111-2222-4333-8444-555555555555", "Session with a chosen id", "/proj/demo", 96_492, 97_204, 2),
            ("d5889344-230c-4044-b577-173ba9bf74b8", SUMMARY, "/proj/demo", 114_296, 114_533, 2),
            ("ee40f1d6-10e0-494b-a615-8be2380806f1", "Extra plain session number 1", "/proj/demo", 106_610, 106_897, 2),
            ("3daff51c-497f-4a4b-861b-82cd14a4c1e9", SUMMARY, "/proj/demo/sub", 75_974, 76_875, 2),
        ],
    );
    assert_eq!(listing.skipped(), []);
    assert_eq!(listing.workspaces, ["/proj/demo".into(), "/proj/demo/sub".into()]);
}

#[test]
fn every_session_of_one_record_has_its_right_values() {
    let listing = gemini("v0.20.0");
    check(
        &listing,
        &[
            ("0114ae5f-7b06-4574-8af4-fc90d34fa390", "Plain session: say hello to the demo", DEMO, 414_023, 414_050, 2),
            ("2ca469ea-b6bd-4306-8160-22a788b41f08", "Resumed session: first prompt", DEMO, 428_591, 436_168, 4),
            ("36a8357f-0c6d-4426-8b47-e1d6ab85d46f", "USE_TOOL please run a command", DEMO, 420_503, 420_601, 3),
            ("f2ba51d0-6f3d-4bc4-8f6c-59524d9f9109", "Subdirectory session: where am I", SUB, 444_509, 444_537, 2),
        ],
    );
    assert!(listing.sessions.iter().all(|session| session.workspace.is_none()));
    assert_eq!(Gemini.workspace_mark("/proj/demo").as_deref(), Some(DEMO));
    assert_eq!(Gemini.workspace_mark("/proj/demo/sub").as_deref(), Some(SUB));
}

#[test]
fn of_one_session_in_two_files_the_one_that_somebody_spoke_in_is_left() {
    let listing = gemini("v0.61.0-resume-next-minute");
    check(&listing, &[("5440b584-2b49-4047-b18b-b243ffd5a807", "AAA first", "/proj/demo", 532_784, 599_000, 4)]);
    assert_eq!(listing.skipped(), [("session-2026-11-30T08-49-5440b584.jsonl".to_owned(), "no_messages")]);
    let topics = listing.details("5440b584").topics;
    assert_eq!(topics, ["AAA first", "BBB second"]);
    assert_eq!(
        spoken(&listing.load("5440b584")),
        ["AAA first", "Fake answer to: AAA first", "BBB second", "Fake answer to: BBB second"]
    );
}

fn spoken(messages: &[Message]) -> Vec<&str> {
    let spoken = messages.iter().filter(|message| matches!(message.role, Role::User | Role::Assistant));
    let texts = spoken.flat_map(|message| &message.content).filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn message(id: &str, role: Role, at: i64, content: Vec<Block>) -> Message {
    let id = (!id.is_empty()).then(|| id.to_owned());
    let model = (role == Role::Assistant).then(|| "gemini-2.5-flash".to_owned());
    Message { id, role, timestamp_ms: Some(EPOCH + at), model, parent_id: None, content, raw: None }
}

#[test]
fn a_tool_and_its_result_are_told_once() {
    let listing = gemini("v0.61.0");
    let messages = listing.load("7e8866fe");
    let call = "run_shell_command__run_shell_command_1796028026066_0".to_owned();
    let name = "run_shell_command".to_owned();
    let arguments = json!({"command": "echo tool-ran", "description": "Prints a word"});
    let output = "<untrusted_context>\nOutput: tool-ran\nProcess Group PGID: 1262\n</untrusted_context>";
    let result = Block::ToolResult {
        id: call.clone(),
        name: Some(name.clone()),
        is_error: Some(false),
        content: vec![text(output)],
    };
    assert_eq!((messages[0].role, messages[0].timestamp_ms), (Role::System, Some(EPOCH + 25_759)));
    assert_eq!(
        messages[1..],
        [
            message(
                "a004c4cd-eb21-4e9e-bd60-764031d2c236",
                Role::User,
                25_836,
                vec![text("USE_TOOL please run a command")]
            ),
            message(
                "aea84c1c-f4ce-4b9c-8979-b3024e250796",
                Role::Assistant,
                26_619,
                vec![Block::ToolCall { id: call, name, arguments }]
            ),
            message("", Role::Tool, 27_126, vec![result]),
            message(
                "66113977-2e2c-4017-94fc-b9ef5bb964a9",
                Role::Assistant,
                27_213,
                vec![text("Fake answer to: USE_TOOL please run a command")]
            ),
        ]
    );
    let last = listing.details("7e8866fe").last_message.unwrap();
    assert_eq!((last.role, last.timestamp_ms), (Role::Assistant, Some(EPOCH + 27_213)));
    assert_eq!(last.text, "Fake answer to: USE_TOOL please run a command");
}

#[test]
fn a_tool_that_failed_says_so_in_one_record_too() {
    let listing = gemini("v0.20.0");
    let messages = listing.load("36a8357f");
    let call = "run_shell_command-1796028420529-b43fc0fb3b164".to_owned();
    let name = "run_shell_command".to_owned();
    let arguments = json!({"command": "echo tool-ran", "description": "Prints a word"});
    let error = "Command rejected because it could not be parsed safely";
    let result = Block::ToolResult {
        id: call.clone(),
        name: Some(name.clone()),
        is_error: Some(true),
        content: vec![text(error)],
    };
    assert_eq!(
        messages,
        [
            message(
                "39482cb2-67c2-4231-bde0-8f181da73dd9",
                Role::User,
                420_503,
                vec![text("USE_TOOL please run a command")]
            ),
            message(
                "7a82124d-7394-4a53-b8c5-3fcfd96e4111",
                Role::Assistant,
                420_583,
                vec![Block::ToolCall { id: call, name, arguments }]
            ),
            message("", Role::Tool, 420_582, vec![result]),
            message(
                "e86dcd18-c74e-45dc-aa61-95f6436d05c8",
                Role::Assistant,
                420_601,
                vec![text("Fake answer to: USE_TOOL please run a command")]
            ),
        ]
    );
    for session in &listing.sessions {
        listing.load(&session.id);
    }
}

#[test]
#[cfg(unix)]
fn nothing_is_touched() {
    for name in ["v0.20.0", "v0.61.0", "v0.61.0-resume-next-minute"] {
        crate::harness::testing::assert_untouched(&Gemini, &fixture("gemini").join(name));
    }
}
