//! Sessions from public reports and of the real program. The expected values come from the raw records.

use super::load::{told, whole};
use super::*;
use crate::harness::{NoProgress, Team};
use crate::limits;
use crate::protocol::{Block, Message};
use serde_json::{Value, json};

fn case(name: &str) -> Listing {
    list(&fixture("cases").join(name).join("projects"))
}

/// What people and the model wrote, in one word each.
fn spoken(messages: &[Message]) -> Vec<String> {
    let spoken = messages.iter().filter(|message| matches!(message.role, Role::User | Role::Assistant));
    let text =
        |message: &Message| serde_json::to_value(message).unwrap()["content"][0]["text"].as_str().map(str::to_owned);
    spoken.filter_map(text).collect()
}

#[test]
fn moved_session_works_where_it_went() {
    let listing = case("relocated");
    for (id, workspace) in [
        ("1", "/proj/repo"),
        ("2", "/proj/other"),
        ("3", "/proj/other"),
        ("4", "/proj/repo/.claude/worktrees/v"),
        ("5", "/proj/repo"),
    ] {
        let session = listing.of(&format!("dddddddd-0000-4000-8000-00000000000{id}"));
        assert_eq!(session.workspace.as_deref(), Some(workspace), "{id}");
        let resume = ClaudeCode.resume(&listing.root, session).unwrap();
        assert_eq!(resume.cwd.as_deref(), Some(workspace), "{id}");
    }
    assert_eq!(case("worktree-removed").one().workspace.as_deref(), Some("/proj/repo"));
}

/// A transcript in the directory of a project.
fn project(directory: &str, lines: &[String]) -> (tempfile::TempDir, Listing) {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("projects").join(directory);
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join(format!("{ID}.jsonl")), lines.join("\n") + "\n").unwrap();
    let listing = list(&home.path().join("projects"));
    (home, listing)
}

fn bulk(bytes: usize) -> Vec<String> {
    let line = json!({"type": "api-request-blob", "data": "x".repeat(1_000)}).to_string();
    vec![line; bytes / 1_000]
}

const AT: &str = "2026-11-30T08:00:00Z";

/// A prompt, much, some records, much, an answer.
fn around(records: &[Value]) -> Vec<String> {
    let answer = json!({"type": "assistant", "cwd": "/p", "timestamp": AT, "uuid": "z", "parentUuid": "u",
        "message": {"id": "a", "content": "done"}});
    let mut lines = vec![user("asked", AT)];
    lines.extend(bulk(700_000));
    lines.extend(records.iter().map(Value::to_string));
    lines.extend(bulk(700_000));
    lines.push(answer.to_string());
    lines
}

#[test]
fn move_between_the_ends_is_found() {
    let records = [json!({"type": "relocated", "relocatedCwd": "/q/r"})];
    assert_eq!(project("-q-r", &around(&records)).1.one().workspace.as_deref(), Some("/q/r"));
    // Its file lies where it began.
    assert_eq!(project("-p", &around(&[])).1.one().workspace.as_deref(), Some("/p"));
    let worktree = |value: Value| json!({"type": "worktree-state", "worktreeSession": value});
    let entered = worktree(json!({"originalCwd": "/q/r", "worktreePath": "/p"}));
    assert_eq!(
        project("-q-r", &around(&[entered.clone(), worktree(Value::Null)])).1.one().workspace.as_deref(),
        Some("/q/r")
    );
    assert_eq!(project("-q-r", &around(&[entered])).1.one().workspace.as_deref(), Some("/p"));
}

/// What a session is called once all of it counts.
fn title(listing: &Listing) -> Option<String> {
    let session = listing.one();
    let late = session.late_title.then(|| ClaudeCode.late_title(session, &NoProgress)).flatten();
    late.or(session.title.clone()).map(String::from)
}

#[test]
fn name_between_the_ends_is_the_title() {
    let ai = json!({"type": "ai-title", "aiTitle": "Name by the model"});
    let custom = |name: &str| json!({"type": "custom-title", "customTitle": name});
    for (records, expected) in [
        (vec![], "asked"),
        (vec![ai.clone()], "Name by the model"),
        (vec![custom("Name by the person"), ai.clone()], "Name by the person"),
        (vec![custom("first"), custom("second"), ai.clone()], "second"),
        (vec![custom("first"), custom(""), ai], "Name by the model"),
    ] {
        let (home, listing) = project("-p", &around(&records));
        assert_eq!(title(&listing).as_deref(), Some(expected));
        // More came since.
        let path = home.path().join(format!("projects/-p/{ID}.jsonl"));
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str(&format!("{}\n{}\n", custom("third"), bulk(600_000).join("\n")));
        fs::write(&path, text).unwrap();
        assert_eq!(title(&list(&home.path().join("projects"))).as_deref(), Some("third"));
    }
}

#[test]
fn name_right_behind_the_first_prompt_is_the_title() {
    let ai = json!({"type": "ai-title", "aiTitle": "Name by the model"}).to_string();
    for before in [0, 20_000] {
        let mut lines = vec![user("asked", AT)];
        lines.extend(bulk(before));
        lines.push(ai.clone());
        lines.extend(bulk(200_000));
        assert_eq!(project("-p", &lines).1.one().title.as_deref(), Some("Name by the model"));
    }
}

#[test]
fn rename_beside_the_transcript_beats_older_names_in_it() {
    let custom = json!({"type": "custom-title", "customTitle": "old"}).to_string();
    let last = vec![user("last", AT)];
    let (home, _) = project("-p", &[vec![user("asked", AT), custom], bulk(100_000), last].concat());
    let companion = home.path().join("projects/-p").join(ID);
    fs::create_dir(&companion).unwrap();
    fs::write(companion.join(TITLE_FILE), r#"{"customTitle":"new"}"#).unwrap();
    assert_eq!(title(&list(&home.path().join("projects"))).as_deref(), Some("new"));
}

#[test]
fn workflow_subagents_are_children_of_their_session() {
    let listing = case("workflow-subagents");
    for agent in ["agent-a15b8a6000000001", "agent-a15b8a6000000002"] {
        let session = listing.of(agent);
        let parent = "ffffffff-0000-4000-8000-000000000001".to_owned();
        assert_eq!(session.parent, Some(Parent { session_id: Some(parent), relation: Relation::Subagent }));
        assert_eq!(whole(session).len(), 2, "{agent}");
        assert_eq!(details(session).message_count, 2);
    }
    assert_eq!(listing.skipped(), []);
    let title = |id: &str| listing.of(&format!("ffffffff-0000-4000-8000-00000000000{id}")).title.clone().unwrap();
    assert_eq!(&*title("4"), "Rewrite these docs as one plan");
    assert_eq!(&*title("5"), "Tell me the day");
}

#[test]
fn transcript_of_a_subagent_under_a_session_name_is_a_child() {
    let row = json!({"type": "user", "uuid": "a", "parentUuid": null, "isSidechain": true, "cwd": "/p", "timestamp": AT,
        "sessionId": "parent", "message": {"content": "look"}});
    let (_home, listing) = project("-p", &[row.to_string()]);
    let session = listing.one();
    assert_eq!(session.parent, Some(Parent { session_id: Some("parent".to_owned()), relation: Relation::Subagent }));
    assert!(!session.resumable);
    assert_eq!(told(&whole(session)), ["User a look"]);
}

#[test]
fn teammate_is_a_child_with_its_order_as_title() {
    let listing = case("teammates");
    for session in &listing.sessions {
        assert_eq!(session.title.as_deref(), Some("Sort the shelf"));
        assert_eq!(session.parent, Some(Parent { session_id: None, relation: Relation::Subagent }));
        assert_eq!(spoken(&whole(session)), ["Sorted."]);
    }
    assert_eq!(listing.of("0001").team, Some(Team { name: "barn".into(), leads: false }));
}

fn member(agent: Option<&str>, text: &str) -> String {
    let mut row = json!({"type": "user", "uuid": "a", "parentUuid": null, "cwd": "/p", "timestamp": AT, "teamName": "barn",
        "message": {"content": text}});
    row["agentName"] = agent.map_or(Value::Null, Value::from);
    row.to_string()
}

#[test]
fn lead_of_a_team_stays_and_is_the_parent_of_its_members() {
    let (_home, listing) = project("-p", &[member(None, "Tidy the barn")]);
    assert_eq!(listing.one().parent, None);
    assert_eq!(listing.one().team, Some(Team { name: "barn".into(), leads: true }));
    let (home, _) = project("-p", &[member(Some("sorter"), "Sort")]);
    fs::create_dir_all(home.path().join("teams/barn")).unwrap();
    fs::write(home.path().join("teams/barn/config.json"), r#"{"leadSessionId":"lead"}"#).unwrap();
    let parent = list(&home.path().join("projects")).one().parent.clone();
    assert_eq!(parent, Some(Parent { session_id: Some("lead".to_owned()), relation: Relation::Subagent }));
}

#[test]
fn second_compaction_loses_nothing_and_tells_nothing_twice() {
    let listing = case("second-compaction");
    let of = |id: u32| listing.of(&format!("bbbbbbbb-0000-4000-8000-00000000000{id}"));
    let garden = [
        "Plan the garden",
        "Garden planned.",
        "Plant roses",
        "Roses planted.",
        "Now tulips",
        "Tulips planted.",
        "Finally lilies",
        "Lilies planted.",
    ];
    assert_eq!(spoken(&whole(of(1))), garden);
    assert_eq!(details(of(1)).topics, ["Plan the garden", "Plant roses", "Now tulips", "Finally lilies"]);
    for (id, count) in [(1, 8), (2, 6), (3, 4), (4, 4), (5, 3), (6, 4), (7, 3), (8, 4)] {
        assert_eq!(details(of(id)).message_count, count, "{id}");
    }
    // What was taken back is no topic.
    assert_eq!(details(of(4)).topics, ["Cook soup", "Serve it"]);
}

#[test]
fn second_compaction_far_behind_the_first_loses_nothing() {
    let listing = case("second-compaction");
    let text = fs::read_to_string(&listing.of("0001").location).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (first, last) = lines.split_at(12);
    let filler = bulk(limits::REPEATS_SOUGHT as usize + 10_000);
    let (_home, listing) = project("-proj-alpha", &[first.to_vec(), filler, last.to_vec()].concat());
    assert_eq!(spoken(&whole(listing.one())).len(), 8);
    assert_eq!(details(listing.one()).message_count, 8);
}

#[test]
fn archive_holds_until_a_person_writes_again() {
    let listing = case("archived");
    let archived: Vec<bool> = listing.sessions.iter().map(|session| session.archived).collect();
    assert_eq!(archived, [true, false, false]);
    // Other rows of later do not count.
    let (home, _) = project(
        "-p",
        &[
            user("asked", "2026-11-30T08:00:00Z"),
            user("<task-notification>done</task-notification>", "2026-11-30T10:00:00Z"),
            json!({"type": "custom-title", "customTitle": "x"}).to_string(),
        ],
    );
    let companion = home.path().join("projects/-p").join(ID);
    fs::create_dir(&companion).unwrap();
    fs::write(companion.join(ARCHIVED_FILE), r#"{"archived":true,"at":"2026-11-30T09:00:00Z","by":"user"}"#).unwrap();
    assert!(list(&home.path().join("projects")).one().archived);
}

#[test]
fn branch_names_the_session_that_it_was_copied_from() {
    let row = json!({"type": "user", "uuid": "a", "parentUuid": null, "cwd": "/p", "timestamp": AT, "message": {"content": "x"},
        "forkedFrom": {"sessionId": "origin", "messageUuid": "a"}});
    let (_home, listing) = project("-p", &[row.to_string()]);
    let parent = Parent { session_id: Some("origin".to_owned()), relation: Relation::Fork };
    assert_eq!(listing.one().parent, Some(parent));
}

#[test]
fn prompt_that_the_program_marks_as_its_own_is_no_title() {
    for mark in
        [json!({"origin": {"kind": "task-notification"}}), json!({"turnOrigin": "schedule"}), json!({"isMeta": true})]
    {
        let mut row =
            json!({"type": "user", "uuid": "a", "cwd": "/p", "timestamp": AT, "message": {"content": "by a program"}});
        row.as_object_mut().unwrap().extend(mark.as_object().unwrap().clone());
        let (_home, listing) = project("-p", &[row.to_string(), user("by a person", AT)]);
        assert_eq!(listing.one().title.as_deref(), Some("by a person"), "{mark}");
    }
}

#[test]
fn first_prompt_behind_a_picture_of_three_megabytes_is_the_title() {
    let data = "A".repeat(3 << 20);
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let row = |uuid: &str, content: Value| {
        let message = json!({"role": "user", "content": content});
        json!({"type": "user", "uuid": uuid, "cwd": "/p", "timestamp": AT, "message": message}).to_string()
    };
    let text = json!({"type": "text", "text": "what is this"});
    let queued = json!({"type": "queue-operation", "operation": "enqueue", "content": [image]}).to_string();
    for lines in [
        vec![row("a", json!([image, text]))],
        vec![row("a", json!([image, text])), row("b", json!("later"))],
        vec![queued, row("a", json!([image, text])), row("b", json!("later"))],
        vec![row("a", json!([image])), row("b", json!("what is this"))],
    ] {
        let lines = [lines, bulk(600_000)].concat();
        let (_home, listing) = project("-p", &lines);
        assert_eq!(listing.one().title.as_deref(), Some("what is this"));
        assert_eq!(listing.one().workspace.as_deref(), Some("/p"));
        assert_eq!(details(listing.one()).topics[0], "what is this");
    }
}

/// All fixtures that hold whole conversations.
const FIXTURES: &[&str] = &[
    "projects",
    "projects-aititle",
    "hostile/projects",
    "cases/relocated/projects",
    "cases/worktree-removed/projects",
    "cases/second-compaction/projects",
    "cases/teammates/projects",
    "cases/archived/projects",
    "cases/spliced-lines/projects",
    "cases/workflow-subagents/projects",
];

#[test]
fn count_topics_and_conversation_agree_for_every_fixture() {
    for name in FIXTURES {
        for session in list(&fixture(name)).sessions {
            let messages = whole(&session);
            let found = details(&session);
            let of = |role: Role| messages.iter().filter(move |message| message.role == role);
            let count = of(Role::User).count() + of(Role::Assistant).count();
            assert_eq!(found.message_count, count as u64, "{name} {}", session.id);
            if messages.iter().any(is_too_long) {
                continue;
            }
            let opening: Vec<String> = of(Role::User).filter_map(typed).take(limits::TOPICS).collect();
            assert_eq!(found.topics, opening, "{name} {}", session.id);
        }
    }
}

/// Whether loading gives only the size of a message.
fn is_too_long(message: &Message) -> bool {
    matches!(&message.content[..], [Block::Other { raw, .. }] if raw.get("bytes").is_some())
}

/// What a person wrote in a message, but for commands.
fn typed(message: &Message) -> Option<String> {
    let content = serde_json::to_value(&message.content).unwrap();
    let texts: Vec<&str> = content.as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect();
    let written: Vec<&str> =
        texts.iter().map(|text| super::tags::written(text)).filter(|text| !text.is_empty()).collect();
    crate::harness::text::excerpt(&written.join("\n"))
}
