//! What happens to files: compressed, torn, grown, moved, wrong.

use super::super::files::SegmentName;
use super::*;
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

fn zst(text: &str) -> Vec<u8> {
    compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
}

/// Text that does not get much smaller.
fn noise(records: usize) -> Vec<Value> {
    let mut state = 1_u64;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:016x}", state.wrapping_mul(state >> 32 | 1))
    };
    (0..records).map(|_| json!({"type": "noise", "text": (0..400).map(|_| word()).collect::<String>()})).collect()
}

#[test]
fn a_compressed_session_is_read_like_a_plain_one() {
    let plain = fs::read_to_string(fixture("v0.171.0").join(FILE)).unwrap();
    let home = Home::new();
    home.write(&format!("{FILE}.zst"), zst(&plain));
    let packed = home.one();
    let plain = list(&fixture("v0.171.0"));
    let expected = Session { location: packed.location.clone(), ..plain.of(ID).clone() };
    assert_eq!(packed, expected);
    assert_eq!(home.list().details(ID), plain.details(ID));
}

#[test]
fn the_end_of_a_compressed_session_is_seen_over_its_frames_and_bounds() {
    let home = Home::new();
    let mut middle = noise(100);
    middle.insert(40, user(3, "a line across the end of the head"));
    let middle = lines(&middle);
    assert!(middle.len() > crate::limits::HEAD_MAX + crate::limits::TAIL_MAX);
    let mut file = zst(&lines(&[meta(ID), user(1, "first"), turn(1, "old")]));
    file.extend(zst(&middle));
    file.extend(zst(&lines(&[turn(5, "new"), agent(6, "last")])));
    home.write(&format!("{FILE}.zst"), &file);
    let session = home.one();
    assert_eq!((session.title.as_deref(), session.model.as_deref()), (Some("first"), Some("new")));
    assert_eq!(session.updated_at_ms, at_ms(6));
    let details = home.list().details(ID);
    assert_eq!((details.message_count, details.last_message.unwrap().text.as_str()), (3, "last"));
}

#[test]
fn of_a_compressed_session_that_is_too_long_or_cut_the_head_is_known_and_the_files_time() {
    let home = Home::new();
    let text =
        lines(&[meta(ID), turn(1, "model"), user(1, "first")]) + &lines(&noise(700)) + &lines(&[agent(6, "last")]);
    let packed = compress_to_vec(text.as_bytes(), CompressionLevel::Uncompressed);
    assert!(packed.len() as u64 > crate::limits::COMPRESSED_WHOLE);
    for file in [&packed[..], &packed[..packed.len() / 3]] {
        let path = home.write(&format!("{FILE}.zst"), file);
        let session = home.one();
        assert_eq!((session.title.as_deref(), session.model.as_deref()), (Some("first"), Some("model")));
        assert_eq!(session.updated_at_ms, crate::harness::walk::stamp(&path).map(|stamp| stamp.modified_ms()));
    }
    home.write(&format!("{FILE}.zst"), "no frame");
    assert_eq!(home.list().reasons(), ["io"]);
}

#[test]
fn a_plain_file_wins_over_its_compressed_twin() {
    let home = Home::new();
    home.write(FILE, lines(&[meta(ID), user(1, "plain")]));
    home.write(&format!("{FILE}.zst"), zst(&lines(&[meta(ID), user(1, "packed")])));
    assert_eq!(home.one().title.as_deref(), Some("plain"));
    assert_eq!(home.list().skipped(), [(format!("{}.zst", FILE.rsplit('/').next().unwrap()), "copy")]);
}

#[test]
fn layouts_may_be_shallower_and_other_files_are_passed_over() {
    let home = Home::new();
    let name = |id: &str| format!("rollout-2026-11-30T08-36-22-{id}.jsonl");
    home.write(&format!("sessions/{}", name(ID)), lines(&[meta(ID), user(1, "flat")]));
    home.write(&format!("archived_sessions/{}", name(OTHER)), lines(&[meta(OTHER), user(1, "archived")]));
    home.write("sessions/2026/notes.txt", "a note");
    home.write("sessions/1/2/3/4/rollout-deep.jsonl", "too deep");
    home.write("log/rollout-log.jsonl", "not looked at");
    home.write("history.jsonl", "not looked at");
    let listing = home.list();
    assert_eq!(listing.sessions.len(), 2);
    assert!(!listing.of(ID).archived && listing.of(OTHER).archived);
    assert_eq!(listing.reasons(), ["not_a_session"]);
}

#[test]
fn a_torn_last_line_is_no_record() {
    let home = Home::new();
    let torn = agent(9, "not written yet").to_string();
    home.write(FILE, lines(&[meta(ID), user(1, "first"), agent(2, "answer")]) + &torn[..torn.len() - 5]);
    assert_eq!(home.one().updated_at_ms, at_ms(2));
    assert_eq!(home.list().details(ID).message_count, 2);
}

#[test]
fn only_the_first_account_that_a_session_gives_of_itself_is_its_identity() {
    let home = Home::new();
    let mut first = meta(ID);
    first["payload"]["session_id"] = OTHER.into();
    let mut second = meta(OTHER);
    second["payload"]["instructions"] = "about a message".into();
    home.write(FILE, lines(&[first, second, user(1, "first")]));
    assert_eq!(&*home.one().id, ID);

    home.write(FILE, lines(&[meta(OTHER), user(1, "first")]));
    assert_eq!(&*home.one().id, OTHER, "not the file's name");

    home.write(FILE, lines(&[turn(1, "model"), user(1, "first")]));
    let session = home.one();
    assert_eq!((&*session.id, session.workspace.as_deref()), (ID, Some("/proj/turn")), "else the file's name tells");

    let mut nowhere = meta(ID);
    nowhere["payload"]["cwd"] = Value::Null;
    home.write(FILE, lines(&[nowhere, turn(1, "model"), user(1, "first")]));
    assert_eq!(home.one().workspace.as_deref(), Some("/proj/turn"));

    home.write(FILE, lines(&[meta("--config=x"), user(1, "first")]));
    assert_eq!(&*home.one().id, ID, "an id is never an option of a command");
}

#[test]
fn the_first_prompt_may_come_late_and_the_last_message_long_before_the_end() {
    let home = Home::new();
    let injected = response(1, "user", &["<environment_context>\n  <cwd>/proj/demo</cwd>\n</environment_context>"]);
    let mut records = vec![meta(ID), injected];
    records.extend((0..40).map(|_| filler(5_000)));
    records.extend([user(2, "late"), turn(2, "model"), agent(3, "answer")]);
    records.extend((0..40).map(|_| filler(5_000)));
    home.write(FILE, lines(&records));
    let session = home.one();
    assert_eq!((session.title.as_deref(), session.model.as_deref()), (Some("late"), Some("model")));
    assert_eq!(session.updated_at_ms, at_ms(3));
}

#[test]
fn a_first_line_may_be_longer_than_the_first_reading() {
    let home = Home::new();
    let mut first = meta(ID);
    first["payload"]["base_instructions"] = json!({"text": "x".repeat(100_000)});
    home.write(FILE, lines(&[first, user(1, "first")]));
    assert_eq!(home.one().title.as_deref(), Some("first"));
}

#[test]
fn without_a_message_within_the_bounds_the_newest_record_tells_the_time() {
    let home = Home::new();
    let mut records = vec![meta(ID), user(2, "first")];
    records.extend((0..100).map(|_| filler(6_000)));
    records.push(json!({"timestamp": at(9), "type": "event_msg", "payload": {"type": "token_count"}}));
    home.write(FILE, lines(&records));
    assert_eq!(home.one().updated_at_ms, at_ms(9));
}

#[test]
fn what_the_harness_writes_in_a_persons_name_is_neither_title_nor_message() {
    let home = Home::new();
    let mut told = response(1, "user", &["told by its kind"]);
    told["payload"]["internal_chat_message_metadata_passthrough"] = json!({"content_item_kinds": ["environments.new"]});
    let mut genuine = response(4, "user", &["<skill> is a tag that I wonder about"]);
    genuine["payload"]["internal_chat_message_metadata_passthrough"] = json!({"content_item_kinds": ["user.text"]});
    let injected = [
        "<environment_context>",
        "# AGENTS.md instructions for /proj",
        "<user_instructions>",
        "<skills_instructions>",
        "<permissions instructions>",
        "\n<turn_aborted>",
        "<subagent_notification>",
    ];
    let mut records = vec![meta(ID), told, response(1, "developer", &["You are"])];
    records.extend(injected.map(|text| response(1, "user", &[text])));
    records.push(user(1, "<user_instructions>"));
    home.write(FILE, lines(&records));
    assert_eq!(home.list().reasons(), ["no_messages"]);
    records.extend([response(3, "assistant", &["<turn_aborted> by a model"]), genuine]);
    records.push(response(7, "user", &["<turn_aborted>"]));
    home.write(FILE, lines(&records));
    let session = home.one();
    assert_eq!(session.title.as_deref(), Some("<skill> is a tag that I wonder about"));
    assert_eq!(session.updated_at_ms, at_ms(4));
    assert_eq!(home.list().details(ID).message_count, 2);
}

#[test]
fn titles_leave_out_what_editors_and_images_put_around_a_prompt() {
    let home = Home::new();
    let framed = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix the socket\n";
    home.write(FILE, lines(&[meta(ID), user(1, framed)]));
    assert_eq!(home.one().title.as_deref(), Some("fix the socket"));

    let mut image = response(1, "user", &["<image name=[Image #1]>", "</image>", "what is this"]);
    let content = image["payload"]["content"].as_array_mut().unwrap();
    content.insert(1, json!({"type": "input_image", "image_url": "data:"}));
    home.write(FILE, lines(&[meta(ID), image]));
    assert_eq!(home.one().title.as_deref(), Some("what is this"));
}

#[test]
fn a_session_counts_once_a_turn_began() {
    let home = Home::new();
    home.write(FILE, lines(&[meta(ID)]));
    assert_eq!(home.list().reasons(), ["no_messages"]);
    home.write(FILE, lines(&[meta(ID), json!({"type": "event_msg", "payload": {"type": "task_started"}})]));
    assert_eq!(home.one().title, None);
    home.write(FILE, "not json\n");
    assert_eq!(home.list().reasons(), ["unreadable"]);
    home.write(FILE, "");
    assert_eq!(home.list().reasons(), ["empty"]);
}

#[test]
fn parents_are_told_in_several_ways() {
    let told = |payload: Value| {
        let home = Home::new();
        let mut first = meta(ID);
        first["payload"].as_object_mut().unwrap().extend(payload.as_object().unwrap().clone());
        home.write(FILE, lines(&[first, user(1, "first")]));
        home.one().parent.map(|parent| (parent.session_id, parent.relation))
    };
    let other = || Some(OTHER.to_owned());
    let spawn = json!({"subagent": {"thread_spawn": {"parent_thread_id": OTHER, "depth": 1}}});
    assert_eq!(told(json!({"source": "cli"})), None);
    assert_eq!(told(json!({"forked_from_id": OTHER})), Some((other(), Relation::Fork)));
    assert_eq!(told(json!({"parent_thread_id": OTHER})), Some((other(), Relation::Subagent)));
    assert_eq!(told(json!({"source": spawn})), Some((other(), Relation::Subagent)));
    assert_eq!(told(json!({"source": spawn, "forked_from_id": ID})), Some((other(), Relation::Subagent)));
    assert_eq!(told(json!({"thread_source": "subagent"})), Some((None, Relation::Subagent)));
    assert_eq!(told(json!({"source": {"subagent": "review"}})), Some((None, Relation::Subagent)));
}

#[test]
fn the_way_back_names_a_home_that_the_program_would_not_find() {
    let home = Home::new();
    home.write(FILE, lines(&[meta(ID), user(1, "first")]));
    let listing = home.list();
    let resume = |usual| Codex.resume(&Root { usual, ..listing.root.clone() }, listing.of(ID)).unwrap();
    assert_eq!(resume(true).argv, ["codex", "resume", ID]);
    assert_eq!((resume(true).cwd.as_deref(), resume(true).env), (Some("/proj/demo"), None));
    assert_eq!(resume(false).env.unwrap()["CODEX_HOME"], home.0.path().to_str().unwrap());
}

#[test]
fn names_tell_thread_and_segment() {
    let of =
        |name: &str| SegmentName::of(Path::new(name)).map(|name| (name.thread.to_owned(), name.segment.to_owned()));
    let pair = |thread: &str, segment: &str| Some((thread.to_owned(), segment.to_owned()));
    assert_eq!(of(&format!("rollout-2026-11-30T08-36-22-{ID}.jsonl")), pair(ID, ID));
    assert_eq!(of(&format!("rollout-2026-11-30T08-36-22-{ID}_{OTHER}.jsonl")), pair(ID, OTHER));
    assert_eq!(of(&format!("rollout-2026-11-30T08-36-22-{ID}_{OTHER}.jsonl.zst")), pair(ID, OTHER));
    assert_eq!(of(&format!("rollout-x_{OTHER}.jsonl")), pair(OTHER, OTHER));
    for other in [format!("rollout-{ID} (copy).jsonl"), format!("{ID}.jsonl"), format!("rollout-{ID}.json")] {
        assert_eq!(of(&other), None, "{other}");
    }
}

proptest! {
    #[test]
    fn no_name_breaks_the_parser(name in "\\PC{0,90}") {
        SegmentName::of(Path::new(&format!("rollout-{name}.jsonl")));
    }

    #[test]
    fn no_damage_to_a_file_is_worse_than_its_loss(at in 0_usize..35_000, noise in prop::collection::vec(any::<u8>(), 0..40)) {
        let mut content = fs::read(fixture("v0.171.0").join(FILE)).unwrap();
        let end = (at + noise.len()).min(content.len());
        content.splice(at..end, noise);
        let home = Home::new();
        home.write(FILE, content);
        let listing = home.list();
        prop_assert_eq!(listing.sessions.len() + listing.skipped.len(), 1);
        prop_assert!(listing.sessions.iter().all(|session| &*session.id == ID || is_other_id(&session.id)));
    }
}

/// Damage may hit the id itself.
fn is_other_id(id: &str) -> bool {
    id.len() <= 128 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}
