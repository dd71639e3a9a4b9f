//! The values of the fixture sessions were read off the program's own rows and files.

use super::*;

/// Id, title, workspace, creation, newest message, messages; times since [`EPOCH`].
type Expected = (&'static str, &'static str, &'static str, i64, i64, u64);

const EPOCH: i64 = 1_796_027_000_000;

const MADE: &str = "Fake generated title";

const CHECKPOINTED: &[Expected] = &[
    ("ses_dd45fde0cffeXdrSUj4jNxjXw7", MADE, "/proj/demo", 1_244_467, 1_245_756, 2),
    ("ses_dd45ff5c2ffe7Eb0wQFZylhjpP", MADE, "/proj/demo", 1_238_397, 1_239_930, 2),
    ("ses_dd4600beeffeNfILtn05TaxU09", MADE, "/proj/demo", 1_232_721, 1_234_008, 2),
    ("ses_dd4604e49ffezzxhUzcM8K6yci", "My chosen title", "/proj/demo", 1_215_734, 1_220_588, 2),
    ("ses_dd460aaedffeY0CLAv3PUw50J3", MADE, "/proj/demo-git/sub", 1_192_019, 1_197_918, 2),
    ("ses_dd4612452ffeHzWxdzR8UYJ24Z", MADE, "/proj/demo-git", 1_160_941, 1_163_979, 2),
    ("ses_dd4615fa0ffedI9RIQIRbpSExW", "look around (@general subagent)", "/proj/demo", 1_145_759, 1_146_063, 2),
    ("ses_dd4617e62ffeJHJRNvpsnwW45D", MADE, "/proj/demo", 1_137_885, 1_149_513, 3),
    ("ses_dd461a832ffeUxhapEDLBb12ld", MADE, "/proj/demo/sub", 1_127_181, 1_130_147, 2),
    ("ses_dd461c971ffeqoTIN47gJL4bWp", "Fake generated title (fork #1)", "/proj/demo", 1_118_675, 1_120_398, 4),
    ("ses_dd4627a7dffe8ZEYXzgu1lwA5w", MADE, "/proj/demo", 1_073_347, 1_109_585, 4),
    ("ses_dd4630017ffeFj8NpI3Y3dp09C", MADE, "/proj/demo", 1_039_144, 1_055_214, 3),
    ("ses_dd4636898ffeGt7G4s3cZ3ra5A", MADE, "/proj/demo", 1_012_411, 1_015_930, 2),
];

const IN_THE_LOG: &[Expected] = &[("ses_dd468c0cdffe1J7DAqywPjrAl1", MADE, "/proj/demo", 662_130, 663_690, 2)];

const IN_FILES: &[Expected] = &[
    ("ses_dd45d661affe1zGi9D07uarias", MADE, "/proj/demo-git", 1_406_245, 1_406_340, 2),
    ("ses_dd45d6a8affeNw2RpFAiQeD4FN", MADE, "/proj/demo", 1_405_109, 1_405_174, 2),
    ("ses_dd45d6ff4ffeNmn2aqH6xUV8lr", MADE, "/proj/demo", 1_403_723, 1_403_798, 2),
];

#[test]
fn every_session_of_every_generation_has_its_values() {
    for (name, expected, old_form) in [
        ("v1.18.33-checkpointed", CHECKPOINTED, false),
        ("v1.18.33-wal-only", IN_THE_LOG, false),
        ("v1.0.185", IN_FILES, true),
    ] {
        let listing = list(&fixture("opencode").join(name));
        let ids: Vec<&str> = expected.iter().map(|row| row.0).collect();
        assert_eq!(listing.ids(), ids, "{name}");
        assert!(listing.skipped().iter().all(|(_, reason)| *reason == "not_a_session"));
        for (id, title, workspace, created, updated, count) in expected {
            let session = listing.of(id);
            assert_eq!(session.title.as_deref(), Some(*title), "{id}");
            assert_eq!(session.workspace.as_deref(), Some(*workspace), "{id}");
            assert_eq!(session.model.as_deref(), Some("fake-model"), "{id}");
            assert_eq!(session.created_at_ms, Some(EPOCH + created), "{id}");
            assert_eq!(session.updated_at_ms, Some(EPOCH + updated), "{id}");
            assert_eq!(listing.details(id).message_count, *count, "{id}");
            assert_eq!(session.archived, *id == "ses_dd4600beeffeNfILtn05TaxU09", "{id}");
            assert_eq!(session.old_form, old_form, "{id}");
            assert_eq!((&session.profile, &session.workspace_mark, &session.first_message), (&None, &None, &None));
            let parent = (*id == "ses_dd4615fa0ffedI9RIQIRbpSExW").then(|| Parent {
                session_id: Some("ses_dd4617e62ffeJHJRNvpsnwW45D".to_owned()),
                relation: Relation::Subagent,
            });
            assert_eq!(session.parent, parent, "{id}");
        }
    }
}

#[test]
fn details_are_what_was_said() {
    let listing = list(&fixture("opencode/v1.18.33-checkpointed"));
    let details = listing.details("ses_dd461c971ffeqoTIN47gJL4bWp");
    assert_eq!(details.topics, ["\"Plain session: say hello to the demo\"", "\"Forked: a new prompt in the fork\""]);
    let last = details.last_message.unwrap();
    assert_eq!((last.role, last.timestamp_ms), (crate::protocol::Role::Assistant, Some(EPOCH + 1_120_398)));
    assert_eq!(last.text, "Fake answer to: \"Forked: a new prompt in the fork\"");

    let listing = list(&fixture("opencode/v1.0.185"));
    let details = listing.details("ses_dd45d6a8affeNw2RpFAiQeD4FN");
    assert_eq!(details.topics, ["\"USE_TOOL old session\""]);
    assert_eq!(details.last_message.unwrap().text, "\"USE_TOOL old session\"");
}

#[test]
fn a_conversation_with_a_tool_is_loaded_whole() {
    let listing = list(&fixture("opencode/v1.18.33-checkpointed"));
    let snapshot = "6716b63272eba9b48afec3bdb2416a27816da98f";
    let start = json!({"type": "other", "kind": "step-start", "raw": {"snapshot": snapshot, "type": "step-start"}});
    let finish = |reason: &str| {
        let tokens =
            json!({"total": 110, "input": 100, "output": 10, "reasoning": 0, "cache": {"write": 0, "read": 0}});
        let raw = json!({"reason": reason, "snapshot": snapshot, "type": "step-finish", "tokens": tokens, "cost": 0});
        json!({"type": "other", "kind": "step-finish", "raw": raw})
    };
    let expected = json!([
        {"id": "msg_22b9d01a1001gFU8vVPUSbPVhY", "role": "user", "timestampMs": EPOCH + 1_039_585,
         "content": [{"type": "text", "text": "\"USE_TOOL please run a command\""}]},
        {"id": "msg_22b9d0edd0015jmdoCdkMX2W42", "role": "assistant", "timestampMs": EPOCH + 1_042_973,
         "model": "fake-model", "parentId": "msg_22b9d01a1001gFU8vVPUSbPVhY", "content": [
            start,
            {"type": "toolCall", "id": "call_5", "name": "bash",
             "arguments": {"command": "echo tool-ran", "description": "Prints a word"}},
            {"type": "toolResult", "id": "call_5", "name": "bash", "isError": false,
             "content": [{"type": "text", "text": "tool-ran\n"}]},
            finish("tool-calls")]},
        {"id": "msg_22b9d3ead001ep9Vj7J3bVBcmf", "role": "assistant", "timestampMs": EPOCH + 1_055_214,
         "model": "fake-model", "parentId": "msg_22b9d01a1001gFU8vVPUSbPVhY", "content": [
            start,
            {"type": "text", "text": "Fake answer to: \"USE_TOOL please run a command\""},
            finish("stop")]},
    ]);
    assert_eq!(listing.loaded("ses_dd4630017ffeFj8NpI3Y3dp09C"), expected);
}

#[test]
fn a_conversation_in_files_is_loaded_whole() {
    let listing = list(&fixture("opencode/v1.0.185"));
    let expected = json!([
        {"id": "msg_22ba29a07001K6rX3xSsYOYz7L", "role": "user", "timestampMs": EPOCH + 1_406_279,
         "content": [{"type": "text", "text": "\"USE_SUBAGENT old git session\"\n"}]},
        {"id": "msg_22ba29a44001aM7GTCQZyvKi9R", "role": "assistant", "timestampMs": EPOCH + 1_406_340,
         "model": "fake-model", "parentId": "msg_22ba29a07001K6rX3xSsYOYz7L", "content": []},
    ]);
    assert_eq!(listing.loaded("ses_dd45d661affe1zGi9D07uarias"), expected);
}

#[test]
fn pages_of_every_size_make_up_one_conversation() {
    for name in ["v1.18.33-checkpointed", "v1.18.33-wal-only", "v1.0.185"] {
        let listing = list(&fixture("opencode").join(name));
        listing.ids().iter().for_each(|id| listing.assert_pages_agree(id));
    }
}

#[test]
#[cfg(unix)]
fn reading_touches_nothing() {
    for name in ["v1.18.33-checkpointed", "v1.18.33-wal-only", "v1.0.185"] {
        crate::harness::testing::assert_untouched(&OpenCode, &fixture("opencode").join(name));
    }
}
