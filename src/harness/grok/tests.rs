//! The values of the fixture sessions were read off the raw records.

use super::*;
use crate::harness::Remark;
use crate::harness::testing::{self, Gone, Listing, Tree};
use crate::protocol::{Block, Message, Parent, Relation, Role};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn fixture() -> PathBuf {
    testing::fixture("grok/.grok")
}

fn list(home: &Path) -> Listing {
    testing::list(&Grok, home)
}

/// What was passed over, and why. A session is named by its directory.
fn skipped(listing: &Listing) -> Vec<(String, &'static str)> {
    let is_log = |path: &Path| LOGS.iter().any(|log| path.ends_with(log.name));
    let named = |path: &PathBuf| if is_log(path) { path.parent().unwrap().to_owned() } else { path.clone() };
    let name = |path: &PathBuf| named(path).file_name().unwrap().to_string_lossy().into_owned();
    let mut skipped: Vec<_> = listing.skipped.iter().map(|(path, skip)| (name(path), skip.reason())).collect();
    skipped.sort();
    skipped
}

fn details(session: &Session) -> Details {
    testing::details(&Grok, &[], session)
}

fn page(session: &Session, cursor: Option<&str>, limit: usize) -> Result<Page, ReadError> {
    testing::page(&Grok, &[], session, cursor, limit)
}

/// All messages, read in pages of a size.
fn load(session: &Session, limit: usize) -> Vec<Message> {
    testing::paged(&Grok, &[], session, limit)
}

/// All fixtures were written within minutes of this time.
const EPOCH: i64 = 1_796_027_000_000;
const MADE: &str = "Fake answer 19 to: <system-reminder>Generate a session title for the";

/// Id, title, workspace, creation, newest message, count.
type Expected = (&'static str, &'static str, &'static str, i64, i64, u64);

const EXPECTED: &[Expected] = &[
    ("01a22b97-5e73-7d53-aeb8-8df6b15a2f58", "say hello to grok", "/proj/alpha", 670_139, 670_359, 2),
    ("01a22b97-ace6-7f61-ab22-adaccff21639", MADE, "/proj/alpha", 690_223, 691_189, 5),
    ("01a22b97-b2a7-7ce2-baea-9ede2461edba", MADE, "/proj/alpha", 691_691, 691_909, 7),
    ("01a22b97-b589-7f50-90c7-6a9c9f512928", "other folder question", "/proj/beta", 692_428, 692_631, 2),
    (
        "01a22b99-9115-7141-8978-729f41e08919",
        "Fake answer 68 to: <system-reminder>Generate a session title for the",
        "/proj/beta",
        814_177,
        863_524,
        5,
    ),
    ("01a22ba3-535d-7690-8703-ab51b9cc435a", "please SPAWN a helper", "/proj/alpha", 1_453_728, 1_453_821, 3),
    ("01a22ba3-53b7-7f61-b8a3-65cfb02e16e7", "demo", "/proj/alpha", 1_453_821, 1_453_865, 2),
];

const PARENT: &str = "01a22ba3-535d-7690-8703-ab51b9cc435a";
const CHILD: &str = "01a22ba3-53b7-7f61-b8a3-65cfb02e16e7";

#[test]
fn every_fixture_session_has_its_right_values() {
    let listing = list(&fixture());
    assert_eq!(listing.sessions.len(), EXPECTED.len());
    for (session, (id, title, workspace, created, updated, count)) in listing.sessions.iter().zip(EXPECTED) {
        let parent = match *id {
            "01a22b97-b2a7-7ce2-baea-9ede2461edba" => Some((Some(EXPECTED[1].0), Relation::Fork)),
            CHILD => Some((None, Relation::Subagent)),
            _ => None,
        };
        let expected = Session {
            id: (*id).into(),
            title: Some((*title).into()),
            workspace: Some((*workspace).into()),
            model: Some("fake-model".into()),
            created_at_ms: Some(EPOCH + created),
            updated_at_ms: Some(EPOCH + updated),
            parent: parent.map(|(id, relation)| Parent { session_id: id.map(String::from), relation }),
            workspace_mark: None,
            profile: None,
            late_title: false,
            team: None,
            archived: false,
            continued_in: None,
            first_message: None,
            beginning: session.beginning,
            resumable: true,
            old_form: false,
            parts: Box::default(),
            continues: None,
            handle: None,
            runs: Box::default(),
            content: None,
            location: session.location.clone(),
        };
        assert_eq!(*session, expected);
        assert_eq!(details(session).message_count, *count, "{id}");
    }
    let parent = Parent { session_id: Some(PARENT.to_owned()), relation: Relation::Subagent };
    assert_eq!(listing.remarks, [Remark { session: CHILD.into(), parent: Some(parent), ..Remark::default() }]);
    let history = ("prompt_history.jsonl".to_owned(), "not_a_session");
    assert_eq!(skipped(&listing), [history.clone(), history, ("session_search.sqlite".to_owned(), "not_a_session")]);
}

#[test]
fn topics_are_what_a_person_wrote_and_the_last_message_is_the_newest() {
    let listing = list(&fixture());
    let fork = details(listing.of("9ede2461edba"));
    assert_eq!(fork.topics, ["please run TOOL now", "a second question in the same session", "a forked question"]);
    let last = fork.last_message.unwrap();
    assert_eq!(last.text, "Fake answer 23 to: <user_query> a forked question </user_query>");
    assert_eq!((last.role, last.timestamp_ms), (Role::Assistant, Some(EPOCH + 691_909)));
    // Behind its last text stands the notice that its subagent is done.
    let parent = details(listing.of(PARENT));
    assert_eq!(parent.topics, ["please SPAWN a helper"]);
    assert_eq!(parent.last_message.unwrap().text, "Tool finished; the answer is 42.");
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn message(role: Role, at: i64, content: Block) -> Message {
    let model = (role == Role::Assistant).then(|| "fake-model".to_owned());
    let timestamp_ms = Some(EPOCH + at);
    Message { id: None, role, timestamp_ms, model, parent_id: None, content: vec![content], raw: None }
}

/// The session with a tool, as the display's log has it.
fn with_a_tool() -> Vec<Message> {
    let call = Block::ToolCall {
        id: "call_fake13".to_owned(),
        name: "run_terminal_command".to_owned(),
        arguments: json!({"command": "echo tool-says-hello", "description": "demo"}),
    };
    let result = Block::ToolResult {
        id: "call_fake13".to_owned(),
        name: Some("run_terminal_command".to_owned()),
        is_error: Some(false),
        content: vec![text("tool-says-hello\n")],
    };
    vec![
        message(Role::User, 690_340, text("please run TOOL now")),
        message(Role::Assistant, 690_445, call),
        message(Role::Tool, 690_467, result),
        message(Role::Assistant, 690_473, text("Tool finished; the answer is 42. ")),
        message(Role::User, 691_115, text("a second question in the same session")),
        message(Role::Assistant, 691_189, text("Fake answer 17 to: <user_query> a second question in the ")),
    ]
}

#[test]
fn messages_are_loaded_whole_and_the_same_in_pages_of_every_size() {
    let listing = list(&fixture());
    for limit in 1..9 {
        assert_eq!(load(listing.of("adaccff21639"), limit), with_a_tool(), "{limit}");
        let mut fork = with_a_tool();
        fork.push(message(Role::User, 691_784, text("a forked question")));
        let answer = "Fake answer 23 to: <user_query> a forked question </user_query> ";
        fork.push(message(Role::Assistant, 691_909, text(answer)));
        assert_eq!(load(listing.of("9ede2461edba"), limit), fork, "{limit}");
    }
    let parent = load(listing.of(PARENT), 100);
    let roles: Vec<Role> = parent.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant, Role::System]);
    assert_eq!(parent[4].timestamp_ms, Some(EPOCH + 1_453_894));
}

/// A home with one session, copied or written.
struct Home(Tree);

const ID: &str = "01a22b97-ace6-7f61-ab22-adaccff21639";

impl Home {
    fn new() -> Self {
        Self(Tree::new())
    }

    fn directory(&self) -> PathBuf {
        let directory = self.0.path().join("sessions/%2Fproj%2Falpha").join(ID);
        fs::create_dir_all(&directory).unwrap();
        directory
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        fs::write(self.directory().join(name), content).unwrap();
        self
    }

    fn copied(names: &[&str]) -> Self {
        let home = Self::new();
        let from = fixture().join("sessions/%2Fproj%2Falpha").join(ID);
        for name in names {
            home.write(name, fs::read(from.join(name)).unwrap());
        }
        home
    }

    fn list(&self) -> Listing {
        list(self.0.path())
    }

    fn one(&self) -> Session {
        self.list().one().clone()
    }
}

fn update(at: i64, body: Value, meta: Value) -> String {
    let mut meta = meta;
    meta["agentTimestampMs"] = at.into();
    let line = json!({"method": "session/update", "params": {"sessionId": ID, "update": body, "_meta": meta}});
    format!("{line}\n")
}

fn prompt(at: i64, index: u64, content: Value) -> String {
    let meta = json!({"modelId": "m", "promptIndex": index});
    update(at, json!({"sessionUpdate": "user_message_chunk", "content": content, "_meta": meta}), json!({}))
}

fn answer(at: i64, kind: &str, stream: u64, said: &str) -> String {
    let content = json!({"type": "text", "text": said});
    update(at, json!({"sessionUpdate": kind, "content": content}), json!({"streamStartMs": stream, "promptId": "p"}))
}

#[test]
fn without_the_displays_log_the_models_log_is_read() {
    let home = Home::copied(&["chat_history.jsonl", "summary.json"]);
    let session = home.one();
    assert_eq!((session.title.as_deref(), session.model.as_deref()), (Some(MADE), Some("fake-model")));
    // The summary knows when anything happened last.
    assert_eq!(session.updated_at_ms, Some(EPOCH + 691_268));
    let found = details(&session);
    assert_eq!(found.message_count, 5);
    assert_eq!(found.topics, ["please run TOOL now", "a second question in the same session"]);
    let mut expected = with_a_tool();
    for message in &mut expected {
        message.timestamp_ms = None;
    }
    let told = "exit: 0\ntool-says-hello\n";
    let Block::ToolResult { content, is_error, .. } = &mut expected[2].content[0] else { panic!() };
    (*content, *is_error) = (vec![text(told)], None);
    for limit in 1..11 {
        let messages = load(&session, limit);
        assert_eq!(messages[3..], expected[..], "{limit}");
        assert!(messages[..3].iter().all(|message| message.role == Role::System));
    }
}

#[test]
fn pieces_of_one_answer_are_one_message() {
    let home = Home::new();
    let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
    let tool = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "rawInput": {"a": 1}});
    home.write(
        "updates.jsonl",
        [
            prompt(1, 0, json!({"type": "text", "text": "look"})),
            prompt(2, 0, image),
            answer(3, "agent_thought_chunk", 3, "hm"),
            answer(4, "agent_thought_chunk", 3, "m"),
            answer(5, "agent_message_chunk", 3, "I "),
            update(6, json!({"sessionUpdate": "background_tasks"}), json!({})),
            answer(7, "agent_message_chunk", 3, "see"),
            update(8, tool, json!({"streamStartMs": 3, "promptId": "p"})),
            update(
                9,
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress"}),
                json!({}),
            ),
            update(
                10,
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed",
                    "content": [{"type": "diff", "path": "/a"}]}),
                json!({}),
            ),
            answer(11, "agent_message_chunk", 11, "no"),
        ]
        .concat(),
    );
    let session = home.one();
    let message = |role, at, content: Vec<Block>| {
        let model = (role == Role::Assistant).then(|| "m".to_owned());
        Message { id: None, role, timestamp_ms: Some(at), model, parent_id: None, content, raw: None }
    };
    let failed = Block::ToolResult {
        id: "c".to_owned(),
        name: Some("t".to_owned()),
        is_error: Some(true),
        content: vec![Block::Other { kind: "diff".to_owned(), raw: json!({"type": "diff", "path": "/a"}) }],
    };
    let expected = [
        message(
            Role::User,
            2,
            vec![text("look"), Block::Image { media_type: Some("image/png".to_owned()), bytes: Some(3), uri: None }],
        ),
        message(
            Role::Assistant,
            8,
            vec![
                Block::Thinking { text: "hmm".to_owned() },
                text("I see"),
                Block::ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments: json!({"a": 1}) },
            ],
        ),
        message(Role::Tool, 10, vec![failed]),
        message(Role::Assistant, 11, vec![text("no")]),
    ];
    for limit in 1..6 {
        assert_eq!(load(&session, limit), expected, "{limit}");
    }
    assert_eq!(details(&session).message_count, 3);
}

#[test]
fn a_cursor_does_not_shift_when_messages_are_appended_and_none_of_this_log_is_refused() {
    let home = Home::copied(&["updates.jsonl"]);
    let session = home.one();
    let first = page(&session, None, 2).unwrap();
    let log = home.directory().join("updates.jsonl");
    let more = fs::read_to_string(&log).unwrap() + &prompt(EPOCH, 2, json!({"type": "text", "text": "more"}));
    fs::write(&log, more).unwrap();
    let second = page(&session, first.next.as_deref(), 10).unwrap();
    assert_eq!([second.messages, first.messages].concat(), with_a_tool());
    // Rewinding truncates the log.
    fs::write(&log, prompt(EPOCH, 0, json!({"type": "text", "text": "anew"}))).unwrap();
    for cursor in [first.next.as_deref().unwrap(), "0:1", "0", "7:0", "x:y", "-1:0", ""] {
        assert!(matches!(page(&session, Some(cursor), 1), Err(ReadError::Cursor)), "{cursor}");
    }
    let cancelled = PageRequest { cursor: None, limit: 1, progress: &Gone, own_only: false };
    assert!(matches!(Grok.load(&[], &session, &cancelled), Err(ReadError::Cancelled)));
}

#[test]
fn a_session_without_a_summary_is_told_by_its_log_and_its_place() {
    let home = Home::copied(&["updates.jsonl", "chat_history.jsonl"]);
    for summary in [None, Some("{\"info\":{\"id\""), Some("[]"), Some("{\"info\":7,\"generated_title\":[]}")] {
        if let Some(summary) = summary {
            home.write("summary.json", summary);
        }
        let session = home.one();
        assert_eq!(session.title.as_deref(), Some("please run TOOL now"));
        assert_eq!(session.workspace.as_deref(), Some("/proj/alpha"));
        assert_eq!(session.created_at_ms, Some(EPOCH + 690_340));
        assert_eq!(session.model.as_deref(), Some("fake-model"));
    }
}

#[test]
fn a_directory_whose_name_would_be_too_long_is_named_by_a_file() {
    let home = Home::copied(&["updates.jsonl"]);
    let place = home.0.path().join("sessions/very-long-0123456789abcdef");
    fs::rename(home.0.path().join("sessions/%2Fproj%2Falpha"), &place).unwrap();
    assert_eq!(home.one().workspace, None);
    let long = format!("/proj/{}", "long/".repeat(60));
    fs::write(place.join(".cwd"), &long).unwrap();
    assert_eq!(home.one().workspace.as_deref(), Some(long.as_str()));
    assert_eq!(skipped(&home.list()), []);
}

#[test]
fn broken_logs_cost_only_themselves() {
    let whole = fs::read_to_string(fixture().join("sessions/%2Fproj%2Falpha").join(ID).join("updates.jsonl")).unwrap();
    let torn = format!("\0\0\0\0\n{{\"half\":\n{whole}{}", &prompt(1, 9, json!("x"))[..40]);
    let home = Home::new();
    let session = home.write("updates.jsonl", torn).one();
    assert_eq!(load(&session, 4), with_a_tool());
    assert_eq!(details(&session).message_count, 5);

    for (content, reason) in
        [("", "empty"), ("\0\0\0", "unreadable"), ("not json\n", "unreadable"), ("{}\n", "no_messages")]
    {
        let home = Home::new();
        home.write("updates.jsonl", content).write("summary.json", "{}");
        assert_eq!(skipped(&home.list()), [(ID.to_owned(), reason)], "{content:?}");
        // A broken log does not hide the other one.
        let history = fixture().join("sessions/%2Fproj%2Falpha").join(ID).join("chat_history.jsonl");
        home.write("chat_history.jsonl", fs::read(history).unwrap());
        assert_eq!(load(&home.one(), 3).len(), 9, "{content:?}");
        assert_eq!(details(&home.one()).message_count, 5);
    }
    let home = Home::new();
    fs::create_dir(home.directory().join("updates.jsonl")).unwrap();
    assert_eq!(skipped(&home.list()), [(ID.to_owned(), "not_a_session")]);
}

#[test]
fn what_cannot_be_told_to_a_program_is_no_session() {
    for name in ["--help", "a\u{1b}b"] {
        let home = Home::copied(&["updates.jsonl"]);
        fs::rename(home.directory(), home.directory().with_file_name(name)).unwrap();
        assert_eq!(skipped(&home.list()), [(name.to_owned(), "not_a_session")]);
    }
}

#[test]
fn a_long_session_is_read_by_its_end() {
    let home = Home::new();
    let mut log = prompt(1, 0, json!({"type": "text", "text": "begin"}));
    for at in 0..2_000 {
        log += &answer(at, "agent_message_chunk", at as u64, &"x".repeat(1_000));
    }
    home.write("updates.jsonl", &log);
    let session = home.one();
    assert_eq!((session.title.as_deref(), session.updated_at_ms), (Some("begin"), Some(1_999)));
    let all = load(&session, 300);
    assert_eq!(all.len(), 2_001);
    assert!(all[1..].iter().all(|message| message.model.as_deref() == Some("m")));
    assert_eq!(details(&session).message_count, 2_001);
}

#[test]
fn getting_back_in_names_the_home_only_where_it_is_unusual() {
    let session = Home::copied(&["updates.jsonl", "summary.json"]).one();
    let mut root = Grok.named_root(Path::new("/data/grok"));
    let resume = Grok.resume(&root, &session).unwrap();
    assert_eq!(resume.argv, ["grok", "--resume", ID]);
    assert_eq!(resume.cwd.as_deref(), Some("/proj/alpha"));
    assert_eq!(resume.env, Some(BTreeMap::from([("GROK_HOME".to_owned(), "/data/grok".to_owned())])));
    root.usual = true;
    assert_eq!(Grok.resume(&root, &session).unwrap().env, None);
}

#[test]
#[cfg(unix)]
fn reading_touches_nothing() {
    assert_eq!(testing::assert_untouched(&Grok, &fixture()), EXPECTED.len());
}

#[test]
fn a_named_root_is_the_home_or_its_sessions() {
    for path in ["/data/grok", "/data/grok/sessions"] {
        let root = Grok.named_root(Path::new(path));
        assert_eq!(
            (root.home.as_path(), root.path.as_path()),
            (Path::new("/data/grok"), Path::new("/data/grok/sessions"))
        );
    }
}
