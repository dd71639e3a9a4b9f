//! What both eras wrote.

use super::*;

fn expected(id: &str, like: &Session) -> Session {
    Session {
        id: id.into(),
        location: like.location.clone(),
        title: None,
        workspace: Some("/proj/alpha".into()),
        workspace_mark: None,
        model: Some("fake-model".into()),
        profile: Some("main".into()),
        created_at_ms: None,
        updated_at_ms: None,
        late_title: false,
        team: None,
        archived: false,
        parent: None,
        continued_in: None,
        first_message: None,
        beginning: like.beginning,
        resumable: true,
        old_form: false,
        parts: Box::default(),
        continues: None,
        handle: None,
        runs: Box::default(),
        content: None,
    }
}

#[test]
fn sessions_of_the_database() {
    let listing = list(&fixture("v2026.9.6"));
    assert_eq!(skipped(&listing), []);
    assert_eq!(listing.sessions.len(), 3);
    let tool = listing.of(TOOL);
    let wanted = Session {
        title: Some("say hello to openclaw".into()),
        created_at_ms: Some(EPOCH + 374_805),
        updated_at_ms: Some(EPOCH + 385_918),
        handle: Some("agent:main:main".into()),
        ..expected(TOOL, tool)
    };
    assert_eq!(*tool, wanted);
    let side = listing.of(SIDE);
    let wanted = Session {
        title: Some("My side task".into()),
        created_at_ms: Some(EPOCH + 387_595),
        updated_at_ms: Some(EPOCH + 401_012),
        handle: Some("agent:main:side-task".into()),
        ..expected(SIDE, side)
    };
    assert_eq!(*side, wanted);
    let ops = listing.of("a53207a9-");
    let wanted = Session {
        title: Some("ops agent question".into()),
        workspace: Some("/proj/beta".into()),
        profile: Some("ops".into()),
        created_at_ms: Some(EPOCH + 389_730),
        updated_at_ms: Some(EPOCH + 393_086),
        handle: Some("agent:ops:main".into()),
        ..expected("a53207a9-e482-4daf-be91-7af9bcff156c", ops)
    };
    assert_eq!(*ops, wanted);
    assert!(tool.location.ends_with(MAIN));
    assert_eq!(listing.names, [Name { session: SIDE.into(), title: "My side task".into(), rank: 2 }]);
}

#[test]
fn sessions_of_transcripts() {
    let listing = list(&fixture("v2026.5.7"));
    assert_eq!(listing.sessions.len(), 2);
    let second = listing.of("11111111-");
    let wanted = Session {
        old_form: true,
        title: Some("second session".into()),
        created_at_ms: Some(EPOCH + 320_742),
        updated_at_ms: Some(EPOCH + 320_998),
        ..expected("11111111-2222-4333-8444-555555555555", second)
    };
    assert_eq!(*second, wanted);
    let first = listing.of("6c90e29a-");
    let wanted = Session {
        old_form: true,
        title: Some("say hello to old openclaw".into()),
        created_at_ms: Some(EPOCH + 281_761),
        updated_at_ms: Some(EPOCH + 299_606),
        ..expected("6c90e29a-6106-4da5-8ad7-0de7e42563fa", first)
    };
    assert_eq!(*first, wanted);
    assert!(first.location.ends_with(FILE));
    let remark =
        |session: &str, key: &str| Remark { session: session.into(), handle: Some(key.into()), ..Remark::default() };
    assert_eq!(
        listing.remarks,
        [
            remark("11111111-2222-4333-8444-555555555555", "agent:main:explicit:11111111-2222-4333-8444-555555555555"),
            remark("6c90e29a-6106-4da5-8ad7-0de7e42563fa", "agent:main:main"),
        ]
    );
    assert_eq!(listing.skipped.len(), 4);
    assert!(listing.skipped().iter().all(|(name, reason)| name.contains(".trajectory") && *reason == "not_a_session"));
}

#[test]
fn details_of_both_eras() {
    for (version, id, topics, count, last, at) in [
        (
            "v2026.9.6",
            TOOL,
            &["say hello to openclaw", "please run TOOL now", "please SPAWN a helper"][..],
            7,
            "Fake answer 32 to: [Mon 2026-11-30 08:46 UTC] please SPAWN",
            385_918,
        ),
        (
            "v2026.9.6",
            SIDE,
            &["second session question", "after reset"],
            4,
            "Fake answer 38 to: [Mon 2026-11-30 08:46 UTC] after reset",
            401_012,
        ),
        (
            "v2026.9.6",
            "a53207a9-",
            &["ops agent question"],
            2,
            "Fake answer 36 to: [Mon 2026-11-30 08:46 UTC] ops agent",
            393_086,
        ),
        (
            "v2026.5.7",
            "6c90e29a-",
            &["say hello to old openclaw", "please run TOOL now"],
            5,
            "Tool finished; the answer is 42.",
            299_606,
        ),
        ("v2026.5.7", "11111111-", &["second session"], 2, "Fake answer 25 to: second session", 320_998),
    ] {
        let found = details(list(&fixture(version)).of(id));
        assert_eq!(
            (&found.topics[..], found.message_count),
            (topics.iter().map(|t| t.to_string()).collect::<Vec<_>>().as_slice(), count)
        );
        let newest = found.last_message.unwrap();
        assert_eq!((newest.text.as_str(), newest.timestamp_ms), (last, Some(EPOCH + at)), "{id}");
        assert_eq!(newest.role, Role::Assistant);
    }
}

fn call(id: &str) -> Block {
    Block::ToolCall {
        id: id.to_owned(),
        name: "exec".to_owned(),
        arguments: json!({"command": "echo tool-says-hello"}),
    }
}

fn result(id: &str) -> Block {
    Block::ToolResult {
        id: id.to_owned(),
        name: Some("exec".to_owned()),
        is_error: Some(false),
        content: vec![text("tool-says-hello")],
    }
}

#[test]
fn messages_of_a_transcript_in_pages_of_every_size() {
    use Role::{Assistant, Tool, User};
    let expected = [
        message("9c740ebd", "603a6ae9", User, 282_314, text("say hello to old openclaw")),
        message("ab48d5d5", "9c740ebd", Assistant, 282_326, text("Fake answer 14 to: say hello to old openclaw ")),
        message("f1e73ed4", "ab48d5d5", User, 299_400, text("please run TOOL now")),
        message("e904cc6b", "f1e73ed4", Assistant, 299_412, call("call_fake23")),
        message("bd2d9a4b", "e904cc6b", Tool, 299_602, result("call_fake23")),
        message("5e69e584", "bd2d9a4b", Assistant, 299_606, text("Tool finished; the answer is 42. ")),
    ];
    let listing = list(&fixture("v2026.5.7"));
    for limit in 1..8 {
        assert_eq!(load(listing.of("6c90e29a-"), limit), expected, "{limit}");
    }
}

#[test]
fn messages_of_a_database_in_pages_of_every_size() {
    use Role::{Assistant, System, Tool, User};
    let reset = json!({"type": "reset", "id": "ab6c4f0c", "parentId": "43dcb450-5804-4404-b904-15d2bcc62814",
        "timestamp": "2026-11-30T08:46:35.265Z", "reason": "reset"});
    let side = [
        message(
            "940eb03b-09ed-4ae4-b035-0657b40ffbef",
            "6602c9a6-8bb1-45e2-9510-63f9096ee3f7",
            User,
            387_615,
            text("second session question"),
        ),
        message(
            "43dcb450-5804-4404-b904-15d2bcc62814",
            "940eb03b-09ed-4ae4-b035-0657b40ffbef",
            Assistant,
            387_944,
            text("Fake answer 34 to: [Mon 2026-11-30 08:46 UTC] second session "),
        ),
        message(
            "ab6c4f0c",
            "43dcb450-5804-4404-b904-15d2bcc62814",
            System,
            395_265,
            Block::Other { kind: "reset".to_owned(), raw: reset },
        ),
        message(
            "2772aef8-dc40-4c2d-a217-05ccc8c9223d",
            "6fc64f76-10c5-4475-98fe-d0d6d88d4f48",
            User,
            397_086,
            text("after reset"),
        ),
        message(
            "e58afd59-1535-4600-aa5c-a6719b84edb7",
            "2772aef8-dc40-4c2d-a217-05ccc8c9223d",
            Assistant,
            401_012,
            text("Fake answer 38 to: [Mon 2026-11-30 08:46 UTC] after reset "),
        ),
    ];
    let listing = list(&fixture("v2026.9.6"));
    let tool = load(listing.of(TOOL), 100);
    let roles: Vec<Role> = tool.iter().map(|message| message.role).collect();
    assert_eq!(roles, [User, Assistant, User, Assistant, Tool, Assistant, User, Assistant]);
    assert_eq!((&tool[3].content[0], &tool[4].content[0]), (&call("call_fake30"), &result("call_fake30")));
    for limit in 1..9 {
        assert_eq!(load(listing.of(SIDE), limit), side, "{limit}");
        assert_eq!(load(listing.of(TOOL), limit), tool, "{limit}");
    }
}

#[test]
#[cfg(unix)]
fn reading_touches_nothing() {
    for (version, count) in [("v2026.9.6", 3), ("v2026.5.7", 2)] {
        assert_eq!(testing::assert_untouched(&OpenClaw, &fixture(version)), count);
    }
}

#[test]
fn getting_back_in_opens_the_conversation_by_its_key() {
    let listing = list(&fixture("v2026.9.6"));
    let mut session = listing.of(SIDE).clone();
    let mut root = OpenClaw.named_root(Path::new("/data/openclaw/agents"));
    let resume = OpenClaw.resume(&root, &session).unwrap();
    assert_eq!(resume.argv, ["openclaw", "tui", "--session", "agent:main:side-task"]);
    assert_eq!(resume.cwd.as_deref(), Some("/proj/alpha"));
    assert_eq!(resume.env, Some(BTreeMap::from([("OPENCLAW_STATE_DIR".to_owned(), "/data/openclaw".to_owned())])));
    root.usual = true;
    assert_eq!(OpenClaw.resume(&root, &session).unwrap().env, None);
    for handle in [None, Some("--token"), Some("a\u{1b}")] {
        session.handle = handle.map(Box::from);
        assert!(OpenClaw.resume(&root, &session).is_none());
    }
}
