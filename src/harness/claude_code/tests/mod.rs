//! The values of the fixture sessions were read off the raw records.

mod cases;
mod load;
mod tree;

use super::*;
use crate::harness::testing::{self, Listing};
use crate::protocol::{Parent, Relation, Role};
use std::fs;
use std::path::PathBuf;

fn fixture(name: &str) -> PathBuf {
    testing::fixture("claude-code").join(name)
}

fn list(path: &Path) -> Listing {
    testing::list(&ClaudeCode, path)
}

fn details(session: &Session) -> Details {
    testing::details(&ClaudeCode, &[], session)
}

/// Id, title or how it begins, workspace, creation, newest message, count.
type Expected = (&'static str, &'static str, &'static str, i64, i64, u64);

const EXPECTED: &[Expected] = &[
    ("016a644c-", "what is in this picture @@[{\"text\":\"A small gradient.\"}]@@", "/proj/proj", 165_806, 166_293, 2),
    ("2579430d-", "sub-agents", "/proj/proj", 204_753, 214_946, 10),
    ("2a3d4df5-", "plain question @@[{\"text\":\"plain answer\"}]@@", "/proj/proj", 184_270, 184_724, 6),
    ("5ea77ff7-", "plain question @@[{\"text\":\"plain answer\"}]@@", "/proj/proj", 18_355, 190_737, 6),
    ("990cebda-", "use tools @@[{\"thinking\":\"let me think\",", "/proj/proj", 21_968, 41_825, 13),
    ("a12645b5-", "hang please @@[{\"hang\":true}]@@", "/proj/proj", 79_018, 194_905, 7),
    ("a5e753c3-", "fresh after clear @@[{\"text\":\"new session id\"}]@@", "/proj/proj", 45_688, 48_238, 3),
    ("ab24f0c3-", "agents-demo", "/proj/proj", 57_942, 66_507, 6),
    ("aa9ed7a3-", "in a subdirectory @@[{\"tool\":\"Bash\",", "/proj/proj/sub", 170_115, 172_925, 3),
    ("agent-a188fbe4b63daf46d", "first look", "/proj/proj", 205_215, 206_939, 2),
    ("agent-afb59148d322b6730", "second look", "/proj/proj", 205_539, 206_443, 2),
    ("agent-af3c0ecc70091ba7f", "bg look", "/proj/proj", 65_390, 65_698, 2),
];

/// All fixtures were written within minutes of this time.
const EPOCH: i64 = 1_796_028_000_000;

#[test]
fn every_fixture_session_has_its_right_values() {
    let listing = list(&fixture("projects"));
    assert_eq!(listing.sessions.len(), EXPECTED.len());
    for (id, title, workspace, created, updated, count) in EXPECTED {
        let session = listing.of(id);
        assert!(session.title.as_deref().unwrap().starts_with(title), "{id}: {:?}", session.title);
        assert_eq!(session.workspace.as_deref(), Some(*workspace), "{id}");
        assert_eq!(session.model.as_deref(), Some("claude-opus-5-5"), "{id}");
        assert_eq!(session.created_at_ms, Some(EPOCH + created), "{id}");
        assert_eq!(session.updated_at_ms, Some(EPOCH + updated), "{id}");
        assert_eq!(details(session).message_count, *count, "{id}");
        assert!(session.location.to_str().unwrap().ends_with(&format!("{}.jsonl", session.id)));
    }
    assert_eq!(listing.skipped(), []);
}

#[test]
fn subagents_name_the_session_that_they_work_for() {
    let listing = list(&fixture("projects"));
    for (agent, session) in [
        ("agent-a188fbe4b63daf46d", "2579430d-912a-4c1b-88b8-b560066b5af7"),
        ("agent-afb59148d322b6730", "2579430d-912a-4c1b-88b8-b560066b5af7"),
        ("agent-af3c0ecc70091ba7f", "ab24f0c3-6990-4357-a817-d9f01cc2ac32"),
    ] {
        let parent = Parent { session_id: Some(session.to_owned()), relation: Relation::Subagent };
        assert_eq!(listing.of(agent).parent, Some(parent));
        assert!(!listing.of(agent).resumable);
    }
}

#[test]
fn a_generated_title_counts_where_nobody_gave_one() {
    let listing = list(&fixture("projects-aititle"));
    assert_eq!(listing.of("f76c7204-").title.as_deref(), Some("Demo title for this session"));
}

#[test]
fn topics_are_what_a_person_wrote_and_the_last_message_is_the_newest() {
    let listing = list(&fixture("projects"));
    let found = details(listing.of("990cebda-"));
    let openings: Vec<&str> = found.topics.iter().map(|topic| topic.split(' ').next().unwrap()).collect();
    assert_eq!(openings, ["use", "fail", "after"]);
    let last = found.last_message.unwrap();
    assert_eq!((last.role, last.text.as_str()), (Role::Assistant, "still here"));
    assert_eq!(last.timestamp_ms, Some(EPOCH + 41_825));
}

#[test]
fn hostile_transcripts_cost_only_themselves() {
    let listing = list(&fixture("hostile/projects"));
    // Each of these holds one prompt and one answer somewhere between what is broken.
    for id in [1, 2, 3, 4, 5, 8, 9, 10, 12, 13, 14, 15, 16, 17, 19] {
        let session = listing.of(&format!("00000000-0000-4000-8000-{id:012}"));
        assert!(session.title.is_some(), "{id}");
        assert_eq!(session.model.as_deref(), Some("claude-opus-5-5"), "{id}");
    }
    let of = |id: u32| listing.of(&format!("00000000-0000-4000-8000-{id:012}"));
    assert_eq!(of(9).workspace, None);
    assert_eq!(of(17).title.as_deref(), Some("Old style title"));
    assert!(of(18).title.as_deref().unwrap().ends_with(" only half"));
    assert!(of(13).title.as_deref().unwrap().chars().all(|c| !c.is_control()));
    assert_eq!(
        listing.skipped(),
        [
            ("00000000-0000-4000-8000-000000000006.jsonl".to_owned(), "empty"),
            ("00000000-0000-4000-8000-000000000007.jsonl".to_owned(), "unreadable"),
            ("00000000-0000-4000-8000-000000000011.jsonl".to_owned(), "no_messages"),
            ("dir-named-like-session.jsonl".to_owned(), "not_a_session"),
        ]
    );
}

/// A transcript of these lines, in a project of its own.
fn written(lines: &[String]) -> (tempfile::TempDir, Listing) {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("projects/-p");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join(format!("{ID}.jsonl")), lines.join("\n")).unwrap();
    let listing = list(&home.path().join("projects"));
    (home, listing)
}

const ID: &str = "11111111-2222-4333-8444-555555555555";

fn user(text: &str, at: &str) -> String {
    format!(
        r#"{{"type":"user","cwd":"/p","timestamp":"{at}","uuid":"u","message":{{"role":"user","content":{text:?}}}}}"#
    )
}

#[test]
fn what_the_program_put_there_is_no_title() {
    let at = "2026-11-30T08:00:00Z";
    for injected in [
        "<command-name>/clear</command-name>",
        "<local-command-stdout>x</local-command-stdout>",
        "<task-notification>x",
        "<system-reminder>x",
        "[Request interrupted by user]",
        "Caveat: The messages below were generated by the user while running local commands. x",
    ] {
        let (_home, listing) = written(&[user(injected, at), user("really asked", at)]);
        assert_eq!(listing.of(ID).title.as_deref(), Some("really asked"), "{injected}");
    }
    let command =
        "<command-message>review</command-message><command-name>/review</command-name><command-args>7</command-args>";
    let (_home, listing) = written(&[user(command, at)]);
    assert_eq!(listing.of(ID).title.as_deref(), Some("/review 7"));
}

#[test]
fn the_newest_of_the_last_rows_counts_even_out_of_order() {
    let (_home, listing) = written(&[
        user("a", "2026-11-30T08:00:00Z"),
        user("b", "2026-11-30T09:00:00Z"),
        user("c", "2026-11-30T08:30:00Z"),
    ]);
    let session = listing.of(ID);
    assert_eq!(session.updated_at_ms, crate::harness::text::time("2026-11-30T09:00:00Z"));
    assert_eq!(session.created_at_ms, crate::harness::text::time("2026-11-30T08:00:00Z"));
}

#[test]
fn a_directory_that_is_named_late_is_found() {
    let bulk = format!(r#"{{"type":"api-request-blob","data":"{}"}}"#, "x".repeat(110 << 10));
    let (_home, listing) = written(&[bulk, user("late", "2026-11-30T08:00:00Z")]);
    assert_eq!(listing.of(ID).workspace.as_deref(), Some("/p"));
    assert_eq!(listing.of(ID).title.as_deref(), Some("late"));
}

#[test]
fn a_rename_beside_the_session_counts_where_the_transcript_has_none() {
    let (home, _) = written(&[user("asked", "2026-11-30T08:00:00Z")]);
    let companion = home.path().join("projects/-p").join(ID);
    fs::create_dir(&companion).unwrap();
    fs::write(companion.join(TITLE_FILE), r#"{"customTitle":"chosen","by":"user","at":1}"#).unwrap();
    assert_eq!(list(&home.path().join("projects")).of(ID).title.as_deref(), Some("chosen"));
}

#[test]
fn a_session_says_where_it_goes_on() {
    let next = r#"{"type":"continued-in","continuedInSessionId":"next"}"#.to_owned();
    let (_home, listing) = written(&[user("a", "2026-11-30T08:00:00Z"), next]);
    assert_eq!(listing.of(ID).continued_in.as_deref(), Some("next"));
}

#[test]
fn getting_back_in_names_the_home_only_where_it_is_unusual() {
    let listing = list(&fixture("projects"));
    let session = listing.of("aa9ed7a3-");
    let mut root = Root { usual: true, ..listing.root.clone() };
    let resume = ClaudeCode.resume(&root, session).unwrap();
    assert_eq!(resume.argv, ["claude", "--resume", "aa9ed7a3-c203-4a72-a531-4a3945daf9b2"]);
    assert_eq!((resume.cwd.as_deref(), resume.env), (Some("/proj/proj/sub"), None));
    root.usual = false;
    let home = fixture("").to_str().unwrap().trim_end_matches('/').to_owned();
    let env = BTreeMap::from([("CLAUDE_CONFIG_DIR".to_owned(), home)]);
    assert_eq!(ClaudeCode.resume(&root, session).unwrap().env, Some(env));
}

#[test]
fn a_first_message_with_a_large_image_still_tells_what_it_is() {
    let image = "A".repeat(600 << 10);
    let row = format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"text","text":"what is this"}},{{"type":"image","source":{{"data":"{image}"}}}}]}},"uuid":"u","timestamp":"2026-11-30T08:00:00Z","cwd":"/p"}}"#
    );
    let answer = r#"{"type":"assistant","cwd":"/p","timestamp":"2026-11-30T08:00:05Z","message":{"id":"a","role":"assistant","model":"m","content":[{"type":"text","text":"a picture"}]}}"#;
    for (lines, updated) in
        [(vec![row.clone()], "2026-11-30T08:00:00Z"), (vec![row, answer.to_owned()], "2026-11-30T08:00:05Z")]
    {
        let (_home, listing) = written(&lines);
        let session = listing.of(ID);
        assert_eq!(session.title.as_deref(), Some("what is this"));
        assert_eq!(session.workspace.as_deref(), Some("/p"));
        assert_eq!(session.updated_at_ms, crate::harness::text::time(updated));
    }
}

#[test]
fn whole_records_on_damaged_lines_count() {
    let listing = list(&fixture("spliced"));
    for (end, title, texts) in [
        ("01", "Build the shed", &["Build the shed", "Shed built.", "Now paint it", "Painted."][..]),
        ("02", "Repair the roof", &["Repair the roof", "Roof repaired."]),
        ("03", "Mend the fence", &["Mend the fence", "Fence mended.", "Did it stop?", "Yes, it goes on here."]),
        ("04", "Door of the shed", &["Paint the door", "Door painted."]),
        ("05", "Clean the gutter", &["Clean the gutter", "Gutter cleaned.", "And the pipe?", "Pipe cleaned."]),
        ("07", "Trim the hedge", &["Trim the hedge", "Hedge trimmed."]),
    ] {
        let id = format!("aaaaaaaa-0000-4000-8000-0000000000{end}");
        assert_eq!(listing.of(&id).title.as_deref(), Some(title), "{id}");
        let text = |message: crate::protocol::Message| match &message.content[..] {
            [crate::protocol::Block::Text { text }] => text.clone(),
            other => panic!("{other:?}"),
        };
        let loaded: Vec<String> = listing.load(&id).into_iter().map(text).collect();
        assert_eq!(loaded, texts, "{id}");
        assert_eq!(details(listing.of(&id)).message_count, texts.len() as u64, "{id}");
    }
}
