//! Following entries: cursors, what moves, what is out of scope.

use super::*;
use crate::harness::testing::{copy, fixture};
use crate::platform::process;
use crate::protocol::{AuthorityRequest, Message, SessionEvent};
use crate::registry::{FollowOutcome, FollowedSession};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

const CODEX: &str = "codex:01a22b99-3342-79f2-9dc6-b256af1670c4";
const CLAUDE: &str = "claude-code:990cebda-6561-469d-88b4-03a913c4535d";

struct Machine {
    home: TempDir,
    registry: Registry,
    grant: Grant,
}

impl Machine {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        copy(&fixture("claude-code/projects"), &home.path().join("claude/projects"));
        copy(&fixture("codex/v0.171.0"), &home.path().join("codex"));
        let mut homes = Homes::default();
        homes.add_named(Harness::ClaudeCode, &home.path().join("claude"), RootOrigin::Flag);
        homes.add_named(Harness::Codex, &home.path().join("codex"), RootOrigin::Flag);
        Self {
            home,
            registry: Registry::new(homes, "test".to_owned(), crate::runtime::testing::none()),
            grant: Grant::all(),
        }
    }

    fn load(&self, id: &str, cursor: Option<&str>) -> Vec<Message> {
        let request = PageRequest { cursor, limit: 1_000, progress: &NoProgress, own_only: false };
        let snapshot = self.registry.snapshot(&NoProgress).unwrap();
        let loaded = snapshot.load(id, &self.grant, &self.registry.roots(), &request).unwrap().unwrap();
        assert_eq!(loaded.next_cursor, None);
        loaded.messages
    }

    fn try_follow(&self, id: &str) -> Option<Client<'_>> {
        let snapshot = self.registry.snapshot(&NoProgress).unwrap();
        let followed = snapshot.follow(id, &self.grant, &self.registry.roots(), &NoProgress).unwrap();
        let (following, entry, cursor) = followed?;
        assert_eq!(entry.id, id);
        let told = self.load(id, Some(&cursor));
        Some(Client { machine: self, id: id.to_owned(), following, told })
    }

    fn follow(&self, id: &str) -> Client<'_> {
        self.try_follow(id).unwrap()
    }
}

struct Client<'m> {
    machine: &'m Machine,
    id: String,
    following: FollowedSession,
    told: Vec<Message>,
}

impl Client<'_> {
    /// Reads, and where the session was lost looks it up, as a service does.
    fn read(&mut self) -> Option<&'static str> {
        let (machine, roots) = (self.machine, self.machine.registry.roots());
        let mut outcome = self.following.read(&roots, &NoProgress).unwrap();
        if let FollowOutcome::Lost = outcome {
            let snapshot = machine.registry.snapshot(&NoProgress).unwrap();
            outcome = self.following.review(&snapshot, &machine.grant, &roots, &NoProgress).unwrap();
        }
        self.take(outcome)
    }

    fn review(&mut self, grant: &Grant) -> Option<&'static str> {
        let snapshot = self.machine.registry.snapshot(&NoProgress).unwrap();
        let outcome = self.following.review(&snapshot, grant, &self.machine.registry.roots(), &NoProgress).unwrap();
        self.take(outcome)
    }

    fn take(&mut self, outcome: FollowOutcome) -> Option<&'static str> {
        let event = match outcome {
            FollowOutcome::Nothing => return None,
            FollowOutcome::Lost => panic!("lost for good"),
            FollowOutcome::Event(event) => event,
        };
        Some(match event {
            SessionEvent::Appended { messages } => {
                self.told.extend(messages);
                "appended"
            }
            SessionEvent::Rewritten { cursor } => {
                self.told = self.machine.load(&self.id, Some(&cursor));
                "rewritten"
            }
            SessionEvent::Removed => "removed",
            SessionEvent::Error { .. } => "error",
        })
    }

    #[track_caller]
    fn has_all(&self) {
        assert_eq!(self.told, self.machine.load(&self.id, None));
    }

    fn path(&self) -> PathBuf {
        self.following.location().unwrap().to_owned()
    }
}

fn append(path: &Path, text: &str) {
    fs::File::options().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn prompt(text: &str) -> String {
    let payload = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    json!({"timestamp": "2026-11-30T08:50:00.000Z", "type": "response_item", "payload": payload}).to_string() + "\n"
}

#[test]
fn what_the_cursor_leads_to_and_what_is_told_is_everything_once() {
    let machine = Machine::new();
    let snapshot = machine.registry.snapshot(&NoProgress).unwrap();
    let (mut following, _, cursor) =
        snapshot.follow(CODEX, &machine.grant, &machine.registry.roots(), &NoProgress).unwrap().unwrap();
    let path = following.location().unwrap().to_owned();
    let before = machine.load(CODEX, None);
    // What comes between following and loading is told, and not loaded with the cursor.
    append(&path, &prompt("more"));
    assert_eq!(machine.load(CODEX, Some(&cursor)), before);
    let outcome = following.read(&machine.registry.roots(), &NoProgress).unwrap();
    let FollowOutcome::Event(SessionEvent::Appended { messages }) = outcome else { panic!("{outcome:?}") };
    assert_eq!([before, messages].concat(), machine.load(CODEX, None));
}

#[test]
fn a_session_that_moves_is_found_again() {
    let machine = Machine::new();
    let mut client = machine.follow(CODEX);
    let path = client.path();
    append(&path, &prompt("more"));
    assert_eq!(client.read(), Some("appended"));
    // Its program compresses it, then goes on with it.
    let packed = path.with_extension("jsonl.zst");
    fs::write(&packed, compress_to_vec(&fs::read(&path).unwrap()[..], CompressionLevel::Fastest)).unwrap();
    let content = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(client.read(), Some("rewritten"));
    assert_eq!(client.path(), packed);
    client.has_all();
    assert_eq!(client.read(), None);
    fs::write(&path, content).unwrap();
    fs::remove_file(&packed).unwrap();
    append(&path, &prompt("again"));
    assert_eq!(client.read(), Some("rewritten"));
    client.has_all();
    // It is archived.
    let archived = machine.home.path().join("codex/archived_sessions");
    fs::create_dir_all(&archived).unwrap();
    fs::rename(&path, archived.join(path.file_name().unwrap())).unwrap();
    assert_eq!(client.read(), Some("rewritten"));
    client.has_all();
    append(&client.path(), &prompt("last"));
    assert_eq!(client.read(), Some("appended"));
    client.has_all();
    // It goes on in a copy, though the one of before is still there.
    fs::copy(client.path(), &path).unwrap();
    append(&path, &prompt("in the copy"));
    assert_eq!(client.read(), None);
    assert_eq!(client.review(&machine.grant), Some("rewritten"));
    assert_eq!(client.path(), path);
    client.has_all();
}

#[test]
fn a_root_that_goes_takes_its_sessions_and_brings_them_back() {
    let machine = Machine::new();
    let mut client = machine.follow(CODEX);
    let (root, away) = (machine.home.path().join("codex"), machine.home.path().join("away"));
    for _ in 0..2 {
        fs::rename(&root, &away).unwrap();
        assert_eq!((client.read(), client.read()), (Some("removed"), None));
        fs::rename(&away, &root).unwrap();
        assert_eq!((client.read(), client.read()), (Some("rewritten"), None));
        client.has_all();
        append(&client.path(), &prompt("more"));
        assert_eq!(client.read(), Some("appended"));
        client.has_all();
    }
}

#[test]
fn what_is_out_of_scope_is_not_followed() {
    let mut machine = Machine::new();
    let narrowed = |request: AuthorityRequest| Grant::all().narrow(&request).unwrap();
    let elsewhere =
        narrowed(AuthorityRequest { workspaces: Some(vec!["/proj/proj/sub".to_owned()]), ..Default::default() });
    let mut client = machine.follow(CLAUDE);
    assert_eq!((client.review(&elsewhere), client.review(&elsewhere)), (Some("removed"), None));
    drop(client);
    machine.grant = elsewhere;
    assert!(machine.try_follow(CLAUDE).is_none());
    assert!(machine.try_follow("claude-code:none").is_none());
    assert!(machine.try_follow("claude-code:aa9ed7a3-c203-4a72-a531-4a3945daf9b2").is_some());
}

#[test]
fn a_live_session_is_followed_from_before_its_first_message() {
    let machine = Machine::new();
    let pid = i32::try_from(std::process::id()).unwrap();
    let id = "11111111-2222-4333-8444-555555555555";
    let record = json!({"pid": pid, "sessionId": id, "cwd": "/proj/live", "name": "live",
        "procStart": process::start_mark(pid).unwrap().to_string(), "kind": "interactive", "entrypoint": "cli"});
    let home = machine.home.path().join("claude");
    fs::create_dir(home.join("sessions")).unwrap();
    fs::write(home.join(format!("sessions/{pid}.json")), record.to_string()).unwrap();
    let mut client = machine.follow(&format!("claude-code:{id}"));
    assert_eq!((client.told.len(), client.read()), (0, None));
    let row = json!({"type": "user", "uuid": "u", "parentUuid": null, "cwd": "/proj/live",
        "message": {"role": "user", "content": "hello"}});
    fs::create_dir(home.join("projects/-proj-live")).unwrap();
    let path = home.join(format!("projects/-proj-live/{id}.jsonl"));
    fs::write(&path, format!("{row}\n")).unwrap();
    assert_eq!(client.read(), Some("rewritten"));
    client.has_all();
    let row = json!({"type": "user", "uuid": "v", "parentUuid": "u", "cwd": "/proj/live",
        "message": {"role": "user", "content": "more"}});
    append(&path, &format!("{row}\n"));
    assert_eq!(client.read(), Some("appended"));
    client.has_all();
    assert_eq!(client.told.len(), 2);
    // Its file goes, but not the process.
    fs::remove_file(&path).unwrap();
    assert_eq!((client.read(), client.read()), (Some("removed"), None));
}

#[test]
fn events_have_their_form() {
    let json = |event: SessionEvent| serde_json::to_value(event).unwrap();
    assert_eq!(json(SessionEvent::Removed), json!({"kind": "removed"}));
    assert_eq!(json(SessionEvent::Appended { messages: Vec::new() }), json!({"kind": "appended", "messages": []}));
    assert_eq!(json(SessionEvent::Rewritten { cursor: "c".to_owned() }), json!({"kind": "rewritten", "cursor": "c"}));
}
