//! Whole conversations: those of the fixtures were written out by hand from the raw records.

use super::*;
use crate::harness::Progress;
use crate::harness::testing::Gone;
use crate::limits;
use crate::protocol::{Block, Message, Role};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A session's messages in short; the same whatever the size of a page.
fn all_told(listing: &Listing, id: &str) -> Vec<String> {
    listing.load(id).iter().map(told).collect()
}

/// A message in short.
fn told(message: &Message) -> String {
    format!("{:?}: {}", message.role, said(&message.content))
}

fn said(content: &[Block]) -> String {
    let block = |block: &Block| match block {
        Block::Text { text } => text.chars().take(40).collect(),
        Block::Thinking { text } => format!("({text})"),
        Block::ToolCall { id, name, arguments } => format!("{name}#{id} {arguments}"),
        Block::ToolResult { id, name, is_error, content } => {
            let failed = if *is_error == Some(true) { "!" } else { "" };
            format!("{}#{id}{failed} {}", name.as_deref().unwrap_or("?"), said(content))
        }
        Block::Image { media_type, bytes, uri } => format!("[{media_type:?} {bytes:?} {uri:?}]"),
        Block::Other { kind, raw } => format!("<{kind} {raw}>"),
    };
    content.iter().map(block).collect::<Vec<String>>().join(" + ")
}

fn text(text: &str) -> Vec<Block> {
    vec![Block::Text { text: text.to_owned() }]
}

#[test]
fn a_tool_in_0_171() {
    let messages = list(&fixture("v0.171.0")).load("01a22b99-17e7-7890-9e91-ce3431ad9cd2");
    let message = |id: &str, role, ms: i64, model: bool, content| Message {
        id: Some(id.to_owned()),
        role,
        timestamp_ms: Some(1_796_027_783_000 + ms),
        model: model.then(|| "fake-model".to_owned()),
        parent_id: None,
        content,
        raw: None,
    };
    let call = Block::ToolCall {
        id: "call_5".to_owned(),
        name: "exec_command".to_owned(),
        arguments: json!({"cmd": "echo tool-ran"}),
    };
    let output = "Chunk ID: 9f9593\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 3\n\
        Output:\ntool-ran\n";
    let result = Block::ToolResult {
        id: "call_5".to_owned(),
        name: Some("exec_command".to_owned()),
        is_error: None,
        content: text(output),
    };
    assert_eq!(
        messages[2..],
        [
            message(
                "msg_01a22b99-1889-7051-98f5-0225d7eec7d1",
                Role::User,
                305,
                false,
                text("USE_TOOL please run a command")
            ),
            message("fc_4", Role::Assistant, 370, true, vec![call]),
            message("fco_01a22b99-192a-77b3-8dda-06013480280e", Role::Tool, 466, false, vec![result]),
            message("msg_7", Role::Assistant, 516, true, text("Fake answer to: USE_TOOL please run a command")),
        ]
    );
    assert_eq!(
        messages[..2].iter().map(told).collect::<Vec<_>>(),
        [
            "System: <skills_instructions>\n## Skills\nA skill  + <permissions instructions>\nFilesystem sa",
            "System: <environment_context>\n  <cwd>/proj/demo<"
        ]
    );
}

#[test]
fn a_fork_begins_with_its_parents_messages() {
    let listing = list(&fixture("v0.171.0"));
    let parent = listing.load(ID);
    assert_eq!(
        parent[2..].iter().map(told).collect::<Vec<_>>(),
        ["User: Plain session: say hello to the demo", "Assistant: Fake answer to: Plain session: say hello"]
    );
    let fork = listing.load(OTHER);
    assert_eq!(fork[..4], parent);
    assert_eq!(
        fork[4..].iter().map(told).collect::<Vec<_>>(),
        ["User: Forked: a new prompt in the fork", "Assistant: Fake answer to: Forked: a new prompt in "]
    );
}

#[test]
fn a_subagent_and_who_started_it() {
    let listing = list(&fixture("v0.171.0"));
    let child = "01a22b99-272c-76b2-bb1b-d4d390fdb081";
    assert_eq!(
        all_told(&listing, "01a22b99-2671-7c80-bcf1-052617ed506e")[2..],
        [
            "User: USE_SUBAGENT spawn one please".to_owned(),
            "Assistant: spawn_agent#call_20 {\"message\":\"Say hi from the child\"}".to_owned(),
            format!("Tool: spawn_agent#call_20 {{\"agent_id\":\"{}", &child[..27]),
            format!("Assistant: wait_agent#call_23 {{\"targets\":[\"{child}\"],\"timeout_ms\":15000}}"),
            format!("Tool: wait_agent#call_23 {{\"status\":{{\"{}", &child[..28]),
            "System: <subagent_notification>\n{\"agent_path\":\"0".to_owned(),
            "Assistant: Fake answer to: USE_SUBAGENT spawn one p".to_owned(),
        ]
    );
    assert_eq!(
        all_told(&listing, child)[2..],
        ["User: Say hi from the child", "Assistant: Fake answer to: Say hi from the child"]
    );
}

#[test]
fn generations_0_45_and_0_20() {
    let listing = list(&fixture("v0.45.0"));
    assert_eq!(
        all_told(&listing, "01a22ba2-7026-7492-91f0-eacc8695d6ad"),
        [
            "System: <environment_context>\n  <cwd>/proj/demo<",
            "User: USE_TOOL please old",
            "Assistant: shell#call_12 {\"command\":[\"bash\",\"-lc\",\"echo tool-ran\"]}",
            "Tool: shell#call_12 {\"output\":\"tool-ran\\n\",\"metadata\":{\"exit",
            "Assistant: Fake answer to: USE_TOOL please old",
        ]
    );
    let message = |role, id: Option<&str>, content| Message {
        id: id.map(str::to_owned),
        role,
        timestamp_ms: None,
        model: None,
        parent_id: None,
        content,
        raw: None,
    };
    assert_eq!(
        list(&fixture("v0.20.0")).load("2c7edb82-21bd-4819-951b-ed4a6a1a2b9b"),
        [
            message(Role::User, None, text("Plain old session")),
            message(Role::Assistant, Some("msg_2"), text("Fake answer to: Plain old session")),
        ]
    );
    assert_eq!(
        all_told(&list(&fixture("v0.20.0")), "66e6ba12-0c3e-4b12-a3e5-477df28d1c7a"),
        [
            "User: USE_TOOL please old",
            "Assistant: shell#call_5 {\"command\":[\"bash\",\"-lc\",\"echo tool-ran\"]}",
            "Tool: shell#call_5 {\"output\":\"tool-ran\\n\",\"metadata\":{\"exit",
            "Assistant: Fake answer to: USE_TOOL please old",
        ]
    );
}

#[test]
fn every_fixture_session_can_be_loaded() {
    for version in ["v0.20.0", "v0.45.0", "v0.171.0"] {
        let listing = list(&fixture(version));
        for session in &listing.sessions {
            let count = |role| listing.load(&session.id).iter().filter(|message| message.role == role).count();
            assert!(count(Role::User) > 0 && count(Role::Assistant) >= count(Role::User), "{}", session.id);
        }
    }
}

fn item(minute: u32, payload: Value) -> Value {
    json!({"timestamp": at(minute), "type": "response_item", "payload": payload})
}

#[test]
fn every_kind_of_item_has_its_block() {
    let records = [
        meta(ID),
        item(
            1,
            json!({"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "<image name=[Image #1]>"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            {"type": "input_text", "text": "</image>"},
            {"type": "input_text", "text": "look"},
            {"type": "input_image", "image_url": "https://example.org/a.png"}]}),
        ),
        item(
            2,
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "one"},
            {"type": "summary_text", "text": "two"}], "encrypted_content": "x"}),
        ),
        item(2, json!({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "raw"}]})),
        item(3, json!({"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin"})),
        item(3, json!({"type": "custom_tool_call_output", "call_id": "c", "output": "ok"})),
        item(4, json!({"type": "local_shell_call", "call_id": "l", "action": {"type": "exec", "command": ["ls"]}})),
        item(
            4,
            json!({"type": "function_call_output", "call_id": "l",
            "output": {"content": "no", "success": false}}),
        ),
        item(5, json!({"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "q"}})),
        item(5, json!({"type": "function_call", "call_id": "f", "name": "view", "arguments": "not json"})),
        item(
            5,
            json!({"type": "function_call_output", "call_id": "f", "output": [
            {"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": "data:image/png;base64,AA=="}]}),
        ),
        item(6, json!({"type": "ghost_snapshot", "ghost_commit": {}})),
        item(6, json!({"type": "brand_new", "x": 1})),
        json!({"timestamp": at(7), "type": "compacted", "payload": {"message": "so far", "replacement_history": []}}),
        json!({"timestamp": at(8), "type": "compacted", "payload": {"message": ""}}),
        event(9, "agent_message", "told twice"),
        response(9, "assistant", &["told twice"]),
    ];
    let home = Home::new();
    home.write(FILE, lines(&records));
    assert_eq!(
        all_told(&home.list(), ID),
        [
            "User: [Some(\"image/png\") Some(3) None] + look + [None None Some(\"https://example.org/a.png\")]",
            "Assistant: (one\n\ntwo)",
            "Assistant: (raw)",
            "Assistant: apply_patch#c \"*** Begin\"",
            "Tool: apply_patch#c ok",
            "Assistant: local_shell#l {\"type\":\"exec\",\"command\":[\"ls\"]}",
            "Tool: local_shell#l! no",
            "Assistant: web_search#w {\"type\":\"search\",\"query\":\"q\"}",
            "Assistant: view#f \"not json\"",
            "Tool: view#f seen + [Some(\"image/png\") Some(1) None]",
            "System: <brand_new {\"type\":\"brand_new\",\"x\":1}>",
            "System: so far",
            "System: <compacted {}>",
            "Assistant: told twice",
        ]
    );
}

#[test]
fn a_call_and_a_turn_are_looked_for_so_far_and_no_further() {
    const FAR: usize = limits::LOOK_BACK as usize;
    let call = item(1, json!({"type": "function_call", "call_id": "c", "name": "T", "arguments": "1"}));
    let output = item(2, json!({"type": "function_call_output", "call_id": "c", "output": "o"}));
    let said = response(3, "assistant", &["said"]);
    for (between, name, model) in [(FAR - 4096, Some("T"), Some("m")), (FAR, None, None)] {
        let home = Home::new();
        let records =
            [meta(ID), user(0, "x"), turn(1, "m"), call.clone(), filler(between), output.clone(), said.clone()];
        home.write(FILE, lines(&records));
        let messages = home.list().load(ID);
        let Block::ToolResult { name: told, .. } = &messages[1].content[0] else { panic!() };
        assert_eq!((told.as_deref(), messages[2].model.as_deref()), (name, model));
    }
}

fn rolled_back(turns: u64) -> Value {
    json!({"timestamp": at(9), "type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": turns}})
}

#[test]
fn turns_that_were_taken_back_are_left_out_also_across_a_fork() {
    let turn = |text: &str| [response(1, "user", &[text]), response(2, "assistant", &[&format!("re {text}")])];
    let home = Home::new();
    let parent = lines(&[&[meta(ID)][..], &turn("a"), &turn("b"), &turn("c")].concat());
    home.write(FILE, &parent);
    let mut first = meta(OTHER);
    first["payload"]["history_base"] = json!({"thread_id": ID, "end_byte_offset": parent.len()});
    let records =
        [&[first][..], &turn("d"), &turn("e"), &[rolled_back(1)], &turn("f"), &[rolled_back(3)], &turn("g")].concat();
    home.write(&FILE.replace(ID, OTHER), lines(&records));
    // `e` went first, then `f`, `d` and `c`.
    assert_eq!(
        all_told(&home.list(), OTHER),
        ["User: a", "Assistant: re a", "User: b", "Assistant: re b", "User: g", "Assistant: re g"]
    );
}

#[test]
fn an_ancestor_that_is_gone_leaves_a_notice() {
    let home = Home::new();
    let mut first = meta(OTHER);
    first["payload"]["history_base"] = json!({"thread_id": ID, "end_byte_offset": 77});
    home.write(&FILE.replace(ID, OTHER), lines(&[first, response(1, "user", &["mine"])]));
    let notice = format!("System: <history_base {{\"thread_id\":\"{ID}\",\"end_byte_offset\":77}}>");
    assert_eq!(all_told(&home.list(), OTHER), [notice, "User: mine".to_owned()]);
}

#[test]
fn compressed_rollouts_are_told_like_plain_ones_however_long_they_are() {
    let filler = |number: u64| {
        let noise: String = (0..6_000_u64).map(|at| format!("{:x}", (at * at * number) % 9_973)).collect();
        response(2, "assistant", &[&format!("{number} {noise}")])
    };
    let mut records = vec![meta(ID), response(1, "user", &["first"])];
    records.extend((1..900).map(filler));
    let text = lines(&records);
    assert!(text.len() > 3 * limits::UNPACKED_WINDOW);
    let plain = Home::new();
    plain.write(FILE, &text);
    let packed = Home::new();
    packed.write(&format!("{FILE}.zst"), compress_to_vec(text.as_bytes(), CompressionLevel::Uncompressed));
    let (plain, packed) = (plain.list(), packed.list());
    let messages = packed.paged(ID, 300);
    assert_eq!(messages.len(), 900);
    assert!(messages == plain.paged(ID, 300));
}

/// Adds up how much is unpacked.
#[derive(Default)]
struct Unpacking {
    bytes: AtomicU64,
    last: AtomicU64,
}

impl Progress for Unpacking {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn report(&self, message: &str, done: u64, _: Option<u64>) {
        if message == "unpacking" {
            let last = self.last.swap(done, Relaxed);
            self.bytes.fetch_add(if done > last { done - last } else { done }, Relaxed);
        }
    }
}

#[test]
fn paging_through_a_compressed_rollout_unpacks_it_a_fixed_number_of_times() {
    let prompt = |at: usize| response(2, "user", &[&format!("{at} {}", "x".repeat(100_000))]);
    let blank = " ".repeat(1 << 20) + "\n";
    for middle in [lines(&(0..400).map(prompt).collect::<Vec<_>>()), blank.repeat(40)] {
        let text =
            lines(&[meta(ID), response(1, "user", &["first"])]) + &middle + &lines(&[response(3, "user", &["last"])]);
        let home = Home::new();
        home.write(&format!("{FILE}.zst"), compress_to_vec(text.as_bytes(), CompressionLevel::Fastest));
        let listing = home.list();
        let unpacking = Unpacking::default();
        let (mut cursor, mut count): (Option<String>, usize) = (None, 0);
        loop {
            let request = PageRequest { cursor: cursor.as_deref(), limit: 20, progress: &unpacking, own_only: false };
            let page = Codex.load(std::slice::from_ref(&listing.root), listing.of(ID), &request).unwrap();
            count += page.messages.len();
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(count as u64, listing.details(ID).message_count);
        assert!(matches!(listing.page(ID, Some("0.18446744073709551615.2"), 2), Err(ReadError::Cursor)));
        let unpacked = unpacking.bytes.into_inner();
        assert!(unpacked < 4 * text.len() as u64, "{unpacked} bytes for {}", text.len());
    }
}

#[test]
fn a_rollout_without_items_is_told_by_its_events() {
    let home = Home::new();
    home.write(
        FILE,
        lines(&[meta(ID), user(1, "ask"), agent(2, "say"), user(3, "more"), turn(4, "m"), agent(5, "end")]),
    );
    let listing = home.list();
    assert_eq!(all_told(&listing, ID), ["User: ask", "Assistant: say", "User: more", "Assistant: end"]);
    assert_eq!(listing.load(ID)[3].model.as_deref(), Some("m"));
}

#[test]
fn a_line_that_is_too_long_is_told_by_its_size() {
    let home = Home::new();
    let call = item(2, json!({"type": "function_call", "call_id": "f", "name": "cat", "arguments": "{}"}));
    let output = "x".repeat(limits::LINE_MAX);
    let output = item(3, json!({"type": "function_call_output", "call_id": "f", "output": output}));
    let event =
        json!({"timestamp": at(3), "type": "event_msg", "payload": {"type": "x", "x": "x".repeat(limits::LINE_MAX)}});
    home.write(FILE, lines(&[meta(ID), response(1, "user", &["go"]), call, output.clone(), event]));
    let size = output.to_string().len();
    assert_eq!(
        home.list().paged(ID, 2).iter().map(told).collect::<Vec<_>>(),
        [
            "User: go".to_owned(),
            "Assistant: cat#f {}".to_owned(),
            format!("Tool: cat#f <function_call_output {{\"bytes\":{size}}}>"),
        ]
    );
}

#[test]
fn a_cursor_does_not_shift_and_a_bad_one_is_refused() {
    let home = Home::new();
    let records: Vec<Value> = (1..9).map(|at| response(at, "user", &[&at.to_string()])).collect();
    home.write(FILE, lines(&[&[meta(ID)], &records[..4]].concat()));
    let listing = home.list();
    let first = listing.page(ID, None, 2).unwrap();
    home.write(FILE, lines(&[&[meta(ID)], &records[..]].concat()));
    let second = listing.page(ID, first.next.as_deref(), 2).unwrap();
    let texts = |page: &Page| page.messages.iter().map(told).collect::<Vec<_>>();
    assert_eq!(
        (texts(&first), texts(&second)),
        (vec!["User: 3".into(), "User: 4".into()], vec!["User: 1".into(), "User: 2".into()])
    );
    assert_eq!(second.next, None);
    for bad in ["", "x", "0", "0.1", "0.1.9", "0.999999.2", "1.0.2", "-1.0.2"] {
        assert!(matches!(listing.page(ID, Some(bad), 2), Err(ReadError::Cursor)), "{bad}");
    }
    fs::remove_file(&listing.of(ID).location).unwrap();
    assert!(matches!(listing.page(ID, None, 2), Err(ReadError::Vanished)));
}

#[test]
fn nobody_waits_for_what_nobody_wants() {
    let home = Home::new();
    let text = lines(&[meta(ID), response(1, "user", &["a"])]);
    home.write(FILE, &text);
    home.write(
        &format!("{}.zst", FILE.replace(ID, OTHER)),
        compress_to_vec(text.replace(ID, OTHER).as_bytes(), CompressionLevel::Fastest),
    );
    let listing = home.list();
    for id in [ID, OTHER] {
        let request = PageRequest { cursor: None, limit: 1, progress: &Gone, own_only: false };
        let loaded = Codex.load(std::slice::from_ref(&listing.root), listing.of(id), &request);
        assert!(matches!(loaded, Err(ReadError::Cancelled)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_mixture_of_records_is_told_alike_in_any_pages(kinds in prop::collection::vec(0_u8..9, 0..24)) {
        let records: Vec<Value> = kinds.iter().enumerate().map(|(at, kind)| {
            let minute = at as u32;
            match kind {
                0 => response(minute, "user", &[&at.to_string()]),
                1 => response(minute, "assistant", &[&at.to_string()]),
                2 => item(minute, json!({"type": "function_call", "call_id": "c", "name": at.to_string(), "arguments": "1"})),
                3 => item(minute, json!({"type": "function_call_output", "call_id": "c", "output": "o"})),
                4 => turn(minute, &at.to_string()),
                5 => user(minute, &at.to_string()),
                6 => rolled_back(1),
                7 => response(minute, "user", &["<environment_context>"]),
                _ => filler(9),
            }
        }).collect();
        let home = Home::new();
        home.write(FILE, lines(&[&[meta(ID), user(0, "listed")], &records[..]].concat()));
        super::agreement::assert_agrees(&home.list());
    }
}
