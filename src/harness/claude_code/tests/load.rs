//! Whole conversations, written out by hand from the raw records.

use super::*;
use crate::harness::testing;
use crate::limits;
use crate::protocol::{Block, Message, Role};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn load(session: &Session, cursor: Option<&str>, limit: usize) -> Result<Page, ReadError> {
    testing::page(&ClaudeCode, &[], session, cursor, limit)
}

/// All messages; the same whatever the size of a page.
pub(super) fn whole(session: &Session) -> Vec<Message> {
    testing::whole(&ClaudeCode, &[], session)
}

/// A conversation in short: role, begin of the uuid, and what it says.
pub(super) fn told(messages: &[Message]) -> Vec<String> {
    let line = |message: &Message| {
        let id = message.id.as_deref().map_or("-", |id| &id[..id.len().min(6)]);
        format!("{:?} {id} {}", message.role, said(&message.content))
    };
    messages.iter().map(line).collect()
}

fn said(content: &[Block]) -> String {
    let block = |block: &Block| match block {
        Block::Text { text } => text.chars().take(30).collect(),
        Block::Thinking { text } => format!("({text})"),
        Block::ToolCall { id, name, .. } => format!("{name}#{}", &id[..id.len().min(10)]),
        Block::ToolResult { id, name, is_error, content } => {
            let (name, id) = (name.as_deref().unwrap_or("?"), &id[..id.len().min(10)]);
            format!("{name}#{id}{}: {}", if *is_error == Some(true) { "!" } else { "" }, said(content))
        }
        Block::Image { media_type, bytes, .. } => format!("[{media_type:?} {bytes:?}]"),
        Block::Other { kind, .. } => format!("<{kind}>"),
    };
    content.iter().map(block).collect::<Vec<String>>().join(" + ")
}

#[test]
fn tools_a_failure_and_a_compaction() {
    let listing = list(&fixture("projects"));
    let messages = whole(listing.of("990cebda-"));
    assert_eq!(
        told(&messages),
        [
            "User 375ed9 use tools @@[{\"thinking\":\"let ",
            "Assistant 906b05 (let me think) + Writing. + Write#toolu_2848",
            "Tool 4f0452 Write#toolu_2848: File created successfully at: ",
            "Assistant e9155a Read#toolu_d072",
            "Tool abebc0 Read#toolu_d072: 1\tone\n2\ttwo\n3\t",
            "Assistant c4f962 Edit#toolu_2e30",
            "Tool a127e2 Edit#toolu_2e30: The file /proj/proj/a.txt has ",
            // Two calls at once: the branch goes on from the second result, the first hangs beside it.
            "Assistant 07167c Bash#toolu_3100 + Bash#toolu_0cf2",
            "Tool 4ac87f Bash#toolu_3100: README.md\na.txt\ndot.png\nsub",
            "Tool 338415 Bash#toolu_0cf2: one\nTWO",
            "Assistant 90fe5b Read#toolu_7445",
            "Tool 7246e8 Read#toolu_7445: [Some(\"image/png\") Some(163)]",
            "Assistant d38550 All tools used.",
            "User 62f568 fail @@[{\"tool\":\"Bash\",\"input\"",
            "Assistant 383a11 Bash#toolu_4566",
            "Tool 75d40c Bash#toolu_4566!: Exit code 3",
            "Assistant 65c1a3 It failed.",
            "System 726c77 Conversation compacted",
            "System 905cb7 This session is being continue",
            "System 870866 <local-command-caveat>…[vendor",
            "User f3d3da <command-name>/compact</comman",
            "System a9fd6f <local-command-stdout>\u{1b}[2mComp",
            "User 59ea0f after compact @@[{\"text\":\"stil",
            "Assistant 268ff3 still here",
        ]
    );
    let calls = &messages[7];
    assert_eq!(
        *calls,
        Message {
            id: Some("07167c74-f1cb-4501-9969-8cf9ae382a44".to_owned()),
            role: Role::Assistant,
            timestamp_ms: Some(1_796_028_024_066),
            model: Some("claude-opus-5-5".to_owned()),
            parent_id: None,
            content: vec![
                Block::ToolCall {
                    id: "toolu_310099514a12445ba7939a53".to_owned(),
                    name: "Bash".to_owned(),
                    arguments: json!({"command": "ls", "description": "list"}),
                },
                Block::ToolCall {
                    id: "toolu_0cf26908680a4ae1afef9520".to_owned(),
                    name: "Bash".to_owned(),
                    arguments: json!({"command": "cat a.txt", "description": "show"}),
                },
            ],
            raw: None,
        }
    );
    assert_eq!(
        messages[8],
        Message {
            id: Some("4ac87ff5-5cec-4172-aa77-db4d6b64db8e".to_owned()),
            role: Role::Tool,
            timestamp_ms: Some(1_796_028_025_218),
            model: None,
            parent_id: calls.id.clone(),
            content: vec![Block::ToolResult {
                id: "toolu_310099514a12445ba7939a53".to_owned(),
                name: Some("Bash".to_owned()),
                is_error: Some(false),
                content: vec![Block::Text { text: "README.md\na.txt\ndot.png\nsub".to_owned() }],
            }],
            raw: None,
        }
    );
}

#[test]
fn subagents_notices_and_what_was_typed_for_the_shell() {
    let listing = list(&fixture("projects"));
    assert_eq!(
        told(&whole(listing.of("2579430d-"))),
        [
            "User 0d02df agents @@[{\"tools\":[{\"tool\":\"A",
            // One answer, although the first result was written between its two rows.
            "Assistant 6d401c Agent#toolu_19e6 + Agent#toolu_d1c5",
            "Tool 13633f Agent#toolu_19e6: Async agent launched successfu",
            "Tool fabd3a Agent#toolu_d1c5: Async agent launched successfu",
            "Assistant 6275c5 agents finished",
            "System f716bd <task-notification>\n<task-id>a",
            "Assistant b0a60b script done",
            "System 4615b2 <task-notification>\n<task-id>a",
            "Assistant 859fed script done",
            "User 07ac78 <bash-input> echo from bang mo",
            "System 65be5e <bash-stdout>from bang mode</b",
            "Assistant 13b07b received: <bash-input> echo fr",
            "User da6dfd die now @@[{\"tool\":\"Bash\",\"inp",
            "Assistant 581cbb Bash#toolu_e468",
            "Tool a2f2f5 Bash#toolu_e468!: <tool_use_error>Blocked: stand",
            "Assistant e0f3b5 x",
        ]
    );
    assert_eq!(
        told(&whole(listing.of("agent-a188fbe4b63daf46d"))),
        ["User f845cd inner task one", "Assistant 401c6f ok: ooks module.\n- init: Initi"]
    );
}

#[test]
fn what_was_interrupted_and_asked_anew_is_left_out() {
    let listing = list(&fixture("projects"));
    assert_eq!(
        told(&whole(listing.of("a12645b5-"))),
        [
            "User 29296f hang please @@[{\"hang\":true}]@",
            "System 10555f [Request interrupted by user]",
            // 893c80, "queued while busy", hangs on the same row.
            "User ce7ace queued while busyslow tool @@[",
            "Assistant d0565f Bash#toolu_546d",
            "Tool c2a69e Bash#toolu_546d!: The user doesn't want to proce",
            "System 1b3ed6 [Request interrupted by user f",
            "User 7e3524 api error @@[{\"http\":400,\"mess",
            "Assistant 13f050 API Error: 400 fake bad reques",
            "User f64643 continued interactively @@[{\"t",
            "Assistant c092f9 yes",
        ]
    );
}

#[test]
fn a_picture_a_fork_a_clearing_and_a_directory() {
    let listing = list(&fixture("projects"));
    assert_eq!(
        told(&whole(listing.of("016a644c-"))),
        [
            "User 85f351 what is in this picture @@[{\"t + [Some(\"image/png\") Some(163)]",
            "System 933e3e [Image: source: /tmp/claude-0/",
            "Assistant 86777b A small gradient.",
        ]
    );
    assert_eq!(
        told(&whole(listing.of("2a3d4df5-"))),
        [
            "User f47bae plain question @@[{\"text\":\"pla",
            "Assistant e52297 plain answer",
            "User 55e77e resumed question @@[{\"text\":\"r",
            "Assistant 704b77 resumed answer",
            "User 9b2a30 forked question @@[{\"text\":\"fo",
            "Assistant e64c62 forked answer",
        ]
    );
    assert_eq!(
        told(&whole(listing.of("a5e753c3-"))),
        [
            "System fad167 <local-command-caveat>…[vendor",
            "User c37917 <command-name>/clear</command-",
            "System e8d8e9 <local-command-stdout></local-",
            "User cc7545 fresh after clear @@[{\"text\":\"",
            "Assistant ac833e new session id",
        ]
    );
    assert_eq!(
        told(&whole(listing.of("aa9ed7a3-"))),
        [
            "User 7bcb35 in a subdirectory @@[{\"tool\":\"",
            "Assistant 45165c Bash#toolu_d4cb",
            "Tool 632626 Bash#toolu_d4cb: /proj/proj/sub",
            "Assistant 5f3f49 sub answer",
        ]
    );
}

#[test]
fn hostile_transcripts_are_told_as_far_as_they_go() {
    let listing = list(&fixture("hostile/projects"));
    let four = [
        "User f47bae plain question @@[{\"text\":\"pla",
        "Assistant e52297 plain answer",
        "User 55e77e resumed question @@[{\"text\":\"r",
        "Assistant 704b77 resumed answer",
    ];
    for id in [1, 2, 4, 5, 8, 9, 10, 12, 13, 14, 17] {
        let session = listing.of(&format!("00000000-0000-4000-8000-{id:012}"));
        assert_eq!(told(&whole(session)), four, "{id}");
    }
    let of = |id: u32| told(&whole(listing.of(&format!("00000000-0000-4000-8000-{id:012}"))));
    let texts = |lines: &[String]| lines.iter().map(|line| line.splitn(3, ' ').nth(2).unwrap().to_owned()).collect();
    let cycle: Vec<String> = texts(&of(15));
    assert_eq!(cycle, texts(&four.map(str::to_owned)) as Vec<String>);
    assert_eq!(of(16), [&["User - <content>"][..], &four].concat());
    assert_eq!(of(18), [&["User - \u{fffd}\u{fffd}\u{fffd} only half"][..], &four].concat());
    assert_eq!(of(19)[1..], four);
    // The four rows of before stand behind it once more.
    assert_eq!(of(3), [&four[..], &["User - \u{fffd}\u{fffd}\u{fffd}"]].concat());
}

#[test]
fn a_row_that_is_too_long_is_told_by_its_size() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("11111111-2222-4333-8444-555555555555.jsonl");
    let result = json!({"parentUuid": "b", "type": "user", "uuid": "c", "sourceToolAssistantUUID": "b",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "x".repeat(limits::LINE_MAX)}]}});
    let rows = [
        json!({"parentUuid": null, "type": "user", "uuid": "a", "message": {"content": "go"}}),
        json!({"parentUuid": "a", "type": "assistant", "uuid": "b", "message": {"id": "m",
            "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}]}}),
        result.clone(),
        json!({"parentUuid": "c", "type": "assistant", "uuid": "d", "message": {"id": "n", "content": "done"}}),
    ];
    fs::write(&path, rows.map(|row| row.to_string()).join("\n")).unwrap();
    let messages = testing::paged(&ClaudeCode, &[], &session_at(path), 2);
    assert_eq!(told(&messages), ["User a go", "Assistant b Read#t", "Tool c <user>", "Assistant d done"]);
    let raw = json!({"bytes": result.to_string().len()});
    assert_eq!(messages[2].content, [Block::Other { kind: "user".to_owned(), raw }]);
}

pub(super) fn session_at(path: PathBuf) -> Session {
    let source = Source { stamp: stamp(&path).unwrap(), path, beside: None, parts: Box::default() };
    Session::new(crate::harness::walk::stem(&source.path), &source)
}

#[test]
fn what_is_not_understood_is_kept() {
    let content = json!([
        {"type": "text", "text": "see"},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAAAAAA"}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "redacted_thinking", "data": "AAAA"},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
        {"type": "brand_new", "x": 1},
        7
    ]);
    let queued = |mode: &str, text: &str| {
        json!({"parentUuid": "a", "uuid": "q", "type": "attachment",
            "attachment": {"type": "queued_command", "commandMode": mode, "prompt": text}})
    };
    let row = json!({"parentUuid": null, "uuid": "a", "type": "user", "message": {"role": "user", "content": content}});
    let (_home, listing) = written(&[row.to_string(), queued("prompt", "and this").to_string()]);
    let messages = whole(&listing.sessions[0]);
    assert_eq!(
        messages[0].content,
        [
            Block::Text { text: "see".to_owned() },
            Block::Other {
                kind: "document".to_owned(),
                raw: json!({"type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": {"bytes": 6}}}),
            },
            Block::Image { media_type: None, bytes: None, uri: Some("https://example.org/a.png".to_owned()) },
            Block::Thinking { text: String::new() },
            Block::ToolCall { id: "s".to_owned(), name: "web_search".to_owned(), arguments: json!({"query": "q"}) },
            Block::Other { kind: "brand_new".to_owned(), raw: json!({"type": "brand_new", "x": 1}) },
            Block::Other { kind: "block".to_owned(), raw: json!(7) },
        ]
    );
    assert_eq!(told(&messages)[1], "User q and this");
    let (_home, listing) = written(&[row.to_string(), queued("task-notification", "no").to_string()]);
    assert_eq!(whole(&listing.sessions[0]).len(), 1);
}

#[test]
fn of_two_results_of_one_call_that_of_the_branch_counts() {
    let result = |uuid: &str, text: &str| {
        let content = json!([{"type": "tool_result", "tool_use_id": "t", "content": text}]);
        json!({"parentUuid": "a", "uuid": uuid, "type": "user", "message": {"content": content}})
    };
    let call = json!([{"type": "tool_use", "id": "t", "name": "T", "input": {}}]);
    let rows = [
        json!({"parentUuid": null, "uuid": "a", "type": "assistant", "message": {"id": "m", "content": call}}),
        result("r1", "beside"),
        result("r2", "on it"),
        json!({"parentUuid": "r2", "uuid": "b", "type": "user", "message": {"content": "next"}}),
    ];
    let (_home, listing) = written(&rows.map(|row| row.to_string()));
    assert_eq!(told(&whole(&listing.sessions[0])), ["Assistant a T#t", "Tool r2 T#t: on it", "User b next"]);
}

#[test]
fn old_transcripts_hold_their_subagents_rows_beside_their_own() {
    let side = |uuid: &str, parent: Value| json!({"parentUuid": parent, "uuid": uuid, "isSidechain": true, "type": "user", "message": {"content": uuid}});
    let rows = [
        json!({"parentUuid": null, "uuid": "a", "type": "user", "message": {"content": "asked"}}),
        side("s1", Value::Null),
        side("s2", json!("s1")),
    ];
    let (_home, listing) = written(&rows.map(|row| row.to_string()));
    assert_eq!(told(&whole(&listing.sessions[0])), ["User a asked"]);
}

#[test]
fn a_cursor_does_not_shift_and_a_bad_one_is_refused() {
    let (home, _) = written(&[]);
    let path = home.path().join("projects/-p/11111111-2222-4333-8444-555555555555.jsonl");
    let row = |number: usize| {
        let parent = number.checked_sub(1).map(|parent| format!("r{parent}"));
        json!({"parentUuid": parent, "uuid": format!("r{number}"), "type": "user", "message": {"content": "x"}})
            .to_string()
    };
    let write = |count: usize| fs::write(&path, (0..count).map(|n| row(n) + "\n").collect::<String>()).unwrap();
    write(6);
    let session = session_at(path.clone());
    let first = load(&session, None, 2).unwrap();
    write(9);
    let second = load(&session, first.next.as_deref(), 2).unwrap();
    let ids = |page: &Page| page.messages.iter().map(|message| message.id.clone().unwrap()).collect::<Vec<_>>();
    assert_eq!((ids(&first), ids(&second)), (vec!["r4".into(), "r5".into()], vec!["r2".into(), "r3".into()]));
    for bad in ["", "x", "1", "1.2", "1.2.x", "-1.0.newest", "999999.0.newest", "1.x.newest"] {
        assert!(matches!(load(&session, Some(bad), 2), Err(ReadError::Cursor)), "{bad}");
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(load(&session, None, 2), Err(ReadError::Vanished)));
}
