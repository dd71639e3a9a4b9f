//! What happens to files.

use super::files::sessions;
use super::*;
use crate::harness::{
    claude_code::ClaudeCode, codex::Codex, gemini::Gemini, opencode::OpenCode, pi::Pi, supercode::Supercode,
};
use serde_json::json;
use std::time::SystemTime;

const ID: &str = "01a22b99-3342-79f2-9dc6-b256af1670c4";

/// A session of Supercode: lines without names or times, so that only their places tell them apart.
struct Lines {
    tree: Tree,
    path: PathBuf,
    client: Client,
}

fn line(text: &str) -> String {
    json!({"role": "user", "content": text}).to_string() + "\n"
}

impl Lines {
    fn of(texts: &[&str]) -> Self {
        let tree = Tree::new();
        let content: String = texts.iter().map(|text| line(text)).collect();
        let path = tree.write("sessions/0123456789abcdef-a-b.jsonl", content);
        tree.write("sessions/0123456789abcdef-a-b.meta.json", "{}");
        let listing = list(&Supercode, tree.path());
        let client = Client::begin(&Supercode, listing.root.clone(), listing.one().clone());
        assert_eq!(client.told.len(), texts.len());
        Self { tree, path, client }
    }

    fn append(&self, bytes: impl AsRef<[u8]>) {
        append(&self.path, bytes.as_ref());
    }

    #[track_caller]
    fn appended(&mut self, count: usize) {
        let followed = self.client.check();
        let Followed::Appended(messages) = followed else { panic!("{followed:?}") };
        assert_eq!(messages.len(), count);
    }

    #[track_caller]
    fn nothing(&mut self) {
        let followed = self.client.check();
        assert!(matches!(followed, Followed::Nothing), "{followed:?}");
    }

    #[track_caller]
    fn rewritten(&mut self) {
        let followed = self.client.check();
        assert!(matches!(followed, Followed::Rewritten(_)), "{followed:?}");
    }
}

#[test]
fn equal_messages_are_told_apart_by_where_they_lie() {
    let mut lines = Lines::of(&["ok"; 5]);
    lines.nothing();
    for count in 1..100 {
        lines.append(line("ok").repeat(count % 3 + 1));
        lines.appended(count % 3 + 1);
        lines.nothing();
    }
    assert_eq!(lines.client.rewritten, 0);
}

#[test]
fn a_torn_record_waits_for_its_end() {
    let mut lines = Lines::of(&["one"]);
    let two = line("two");
    for cut in 1..two.len() - 1 {
        lines.append(&two[..cut]);
        lines.nothing();
        lines.append(&two[cut..]);
        lines.appended(1);
    }
    // What is no record costs only itself.
    lines.append("{\"role\": torn\n\n\0\0\0\n[1]\n");
    lines.nothing();
    lines.append(line("three"));
    lines.appended(1);
    lines.client.finish();
}

#[test]
fn a_whole_record_without_a_line_end_is_told_once() {
    let mut lines = Lines::of(&["one"]);
    let two = line("two");
    for _ in 0..3 {
        lines.append(two.trim_end());
        lines.appended(1);
        lines.append("\n");
        lines.nothing();
        lines.append(two.trim_end());
        lines.appended(1);
        // Another program goes on without a line end before it.
        lines.append(&two);
        lines.appended(1);
    }
    assert_eq!(lines.client.rewritten, 0);
    lines.client.finish();
}

#[test]
fn a_transcript_that_is_rewritten_as_it_was_is_not_told_again() {
    let mut lines = Lines::of(&["one", "two", "three"]);
    lines.client.follower.settles = Duration::from_secs(3600);
    let before = fs::read(&lines.path).unwrap();
    for turn in 1..4 {
        // Supercode cuts the file, and writes all of it again.
        fs::write(&lines.path, "").unwrap();
        assert!(matches!(lines.client.read(), Followed::Nothing));
        fs::write(&lines.path, &before[..line("one").len()]).unwrap();
        assert!(matches!(lines.client.read(), Followed::Nothing));
        fs::write(&lines.path, [&before[..], line("four").repeat(turn).trim_end().as_bytes()].concat()).unwrap();
        lines.appended(1);
        lines.nothing();
    }
    assert_eq!(lines.client.rewritten, 0);
    // One that stays cut was rewritten.
    fs::write(&lines.path, line("one")).unwrap();
    assert!(matches!(lines.client.read(), Followed::Nothing));
    assert!(lines.client.follower.due().is_some());
    lines.client.follower.settles = Duration::ZERO;
    lines.rewritten();
    lines.client.finish();
}

#[test]
fn a_line_over_the_bounds_is_passed_over() {
    let mut lines = Lines::of(&["one"]);
    let long = line(&"x".repeat(limits::LINE_MAX));
    lines.append(&long[..1 << 20]);
    lines.nothing();
    lines.append(&long[1 << 20..]);
    lines.nothing();
    lines.append(line("two"));
    lines.appended(1);
    lines.client.finish();
}

#[test]
fn a_file_that_is_cut_or_written_anew_is_loaded_anew() {
    let mut lines = Lines::of(&["one", "two", "three"]);
    let content = fs::read(&lines.path).unwrap();
    let size = line("one").len() as u64;
    File::options().write(true).open(&lines.path).unwrap().set_len(size).unwrap();
    lines.rewritten();
    lines.append(line("another"));
    lines.appended(1);
    // Cut, and longer than before at the next look.
    fs::write(&lines.path, line("x").repeat(9)).unwrap();
    lines.rewritten();
    // In place, of the same length.
    fs::write(&lines.path, line("y").repeat(9)).unwrap();
    lines.rewritten();
    fs::write(&lines.path, "").unwrap();
    lines.rewritten();
    lines.append(&content);
    lines.appended(3);
    lines.client.finish();
}

#[test]
fn a_file_in_the_place_of_another_is_looked_at() {
    let mut lines = Lines::of(&["one", "two"]);
    let replace = |lines: &Lines, texts: &[&str]| {
        let new = lines.tree.write("new", texts.iter().map(|text| line(text)).collect::<String>());
        fs::rename(new, &lines.path).unwrap();
    };
    // As its own program saves it: all of it, and one message more.
    replace(&lines, &["one", "two", "three"]);
    lines.appended(1);
    // The first message was blacked out.
    replace(&lines, &["xxx", "two", "three", "four"]);
    lines.rewritten();
    replace(&lines, &["one"]);
    lines.rewritten();
    #[cfg(unix)]
    {
        // A link that leads elsewhere, then back.
        let other = lines.tree.write("other", line("other"));
        let one = lines.tree.write("one", line("one"));
        for (target, last) in [(&one, false), (&other, true), (&one, true)] {
            fs::remove_file(&lines.path).unwrap();
            std::os::unix::fs::symlink(target, &lines.path).unwrap();
            let followed = lines.client.check();
            assert_eq!(matches!(followed, Followed::Rewritten(_)), last, "{followed:?}");
        }
    }
    lines.client.finish();
}

#[test]
fn what_goes_is_told_once_and_is_loaded_anew_when_it_comes_back() {
    let mut lines = Lines::of(&["one", "two"]);
    let (root, away) = (lines.tree.path().join("sessions"), lines.tree.path().join("away"));
    for _ in 0..2 {
        fs::rename(&root, &away).unwrap();
        assert!(matches!(lines.client.read(), Followed::Removed));
        assert!(matches!(lines.client.read(), Followed::Nothing));
        fs::rename(&away, &root).unwrap();
        lines.rewritten();
        lines.append(line("more"));
        lines.appended(1);
    }
    lines.client.finish();
}

#[test]
fn what_cannot_be_read_is_told_once_and_nothing_is_lost() {
    let mut lines = Lines::of(&["one", "two"]);
    let away = lines.tree.path().join("away");
    fs::rename(&lines.path, &away).unwrap();
    fs::create_dir(&lines.path).unwrap();
    let followed = lines.client.read();
    assert!(matches!(followed, Followed::Removed | Followed::Trouble(_)), "{followed:?}");
    assert!(matches!(lines.client.read(), Followed::Nothing));
    fs::remove_dir(&lines.path).unwrap();
    append(&away, line("three").as_bytes());
    fs::rename(&away, &lines.path).unwrap();
    lines.client.check();
    assert_eq!(lines.client.told.len(), 3);
    lines.client.finish();
}

#[test]
fn a_flood_is_loaded_anew() {
    let mut lines = Lines::of(&["one", "two"]);
    let flood = line(&"x".repeat(100_000));
    lines.append(flood.repeat(20));
    lines.appended(20);
    lines.append(flood.repeat(1_000));
    let Followed::Rewritten(Some(cursor)) = lines.client.follower.read(&lines.client.roots, &NoProgress).unwrap()
    else {
        panic!("not loaded anew")
    };
    let request = PageRequest { cursor: Some(&cursor), limit: 1, own_only: false, progress: &NoProgress };
    let page = Supercode.load(&[], &lines.client.follower.session, &request).unwrap();
    assert_eq!(page.messages.len(), 1);
    let two = line("two").repeat(limits::FOLLOW_MESSAGES - 50);
    lines.append(&two);
    let Followed::Appended(messages) = lines.client.follower.read(&lines.client.roots, &NoProgress).unwrap() else {
        panic!("not appended")
    };
    assert_eq!(messages.len(), limits::FOLLOW_MESSAGES - 50);
}

#[test]
fn a_file_that_stands_still_is_not_opened() {
    let mut lines = Lines::of(&["one"]);
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let age = |path: &Path| File::options().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
    age(&lines.path);
    lines.nothing();
    let seen = lines.client.follower.seen.clone();
    assert!(seen.is_some());
    lines.nothing();
    assert_eq!(lines.client.follower.seen, seen);
    lines.append(line("two"));
    lines.appended(1);
}

/// Hears how many bytes are read on the way back.
#[derive(Default)]
struct Listener(std::sync::atomic::AtomicU64);

impl Progress for Listener {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn report(&self, _: &str, done: u64, _: Option<u64>) {
        self.0.fetch_max(done, std::sync::atomic::Ordering::SeqCst);
    }
}

#[test]
fn what_is_read_depends_on_what_came_and_not_on_what_was_there() {
    let lines = Lines::of(&["one"]);
    lines.append(line(&"x".repeat(1_000)).repeat(4_000));
    let Client { mut follower, roots, .. } = lines.client;
    follower.read(&roots, &NoProgress).unwrap();
    for _ in 0..3 {
        append(&lines.path, line("two").as_bytes());
        let listener = Listener::default();
        assert!(matches!(follower.read(&roots, &listener), Ok(Followed::Appended(_))));
        assert!(listener.0.into_inner() <= 3 * limits::PAGE_CHUNK_FIRST as u64);
    }
}

#[test]
fn who_left_hears_nothing_and_loses_nothing() {
    let mut lines = Lines::of(&["one"]);
    lines.append(line("two"));
    let gone = &crate::harness::testing::Gone;
    assert!(matches!(lines.client.follower.read(&lines.client.roots, gone), Err(ReadError::Cancelled)));
    lines.appended(1);
}

/// A follower of a transcript that begins with some rows.
fn claude(rows: &[serde_json::Value]) -> (Tree, PathBuf, Client) {
    let tree = Tree::new();
    let content: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let path = tree.write(&format!("projects/-p/{ID}.jsonl"), content);
    let listing = list(&ClaudeCode, tree.path());
    let client = Client::begin(&ClaudeCode, listing.root.clone(), listing.one().clone());
    (tree, path, client)
}

fn row(kind: &str, id: &str, parent: Option<&str>, message: serde_json::Value) -> serde_json::Value {
    json!({"type": kind, "uuid": id, "parentUuid": parent, "cwd": "/p", "message": message})
}

fn part(id: &str, parent: &str, stop: &str, block: serde_json::Value) -> serde_json::Value {
    row(
        "assistant",
        id,
        Some(parent),
        json!({"id": "msg", "role": "assistant", "stop_reason": stop, "content": [block]}),
    )
}

#[test]
fn an_answer_in_parts_is_told_once_it_is_whole() {
    let (_tree, path, mut client) = claude(&[row("user", "u", None, json!({"role": "user", "content": "hello"}))]);
    let thought = part("a", "u", "tool_use", json!({"type": "thinking", "thinking": "hm"}));
    let text = part("b", "a", "tool_use", json!({"type": "text", "text": "I look"}));
    let call = part("c", "b", "tool_use", json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}}));
    for (part, whole) in [(thought, false), (text, false), (call, true)] {
        append(&path, format!("{part}\n").as_bytes());
        let followed = client.check();
        assert_eq!(matches!(followed, Followed::Appended(_)), whole, "{followed:?}");
        assert_eq!(client.follower.due().is_some(), !whole);
    }
    assert_eq!((client.told.len(), client.told[1].content.len(), client.rewritten), (2, 3, 0));
    client.finish();
}

#[test]
fn an_answer_that_never_goes_on_is_told_after_a_while() {
    let (_tree, path, mut client) = claude(&[row("user", "u", None, json!({"role": "user", "content": "hello"}))]);
    append(
        &path,
        format!("{}\n", part("a", "u", "end_turn", json!({"type": "thinking", "thinking": "hm"}))).as_bytes(),
    );
    assert!(matches!(client.check(), Followed::Nothing));
    assert!(client.follower.due().is_some());
    client.follower.hold = Duration::ZERO;
    assert!(matches!(client.check(), Followed::Appended(_)));
    assert_eq!(client.follower.due(), None);
    // It went on all the same.
    append(&path, format!("{}\n", part("b", "a", "end_turn", json!({"type": "text", "text": "yes"}))).as_bytes());
    assert!(matches!(client.check(), Followed::Rewritten(_)));
    client.finish();
}

#[test]
fn going_back_to_an_earlier_prompt_is_loaded_anew() {
    let said = |text: &str| json!({"role": "user", "content": text});
    let (_tree, path, mut client) =
        claude(&[row("user", "u", None, said("one")), row("user", "v", Some("u"), said("two"))]);
    append(&path, format!("{}\n", row("user", "w", Some("u"), said("instead"))).as_bytes());
    assert!(matches!(client.check(), Followed::Rewritten(_)));
    assert_eq!(client.told.len(), 2);
    append(&path, format!("{}\n", row("user", "x", Some("w"), said("more"))).as_bytes());
    assert!(matches!(client.check(), Followed::Appended(_)));
    client.finish();

    let (_tree, root, all) = sessions(&Pi, "pi/v1.6.0/sessions");
    let session = all[0].clone();
    let mut client = Client::begin(&Pi, root, session.clone());
    let entry = |id: &str, parent: Option<&str>| json!({"type": "message", "id": id, "parentId": parent, "message": {"role": "user", "content": "x"}});
    append(&session.location, format!("{}\n", entry("new", None)).as_bytes());
    assert!(matches!(client.check(), Followed::Rewritten(_)));
    append(&session.location, format!("{}\n", entry("next", Some("new"))).as_bytes());
    assert!(matches!(client.check(), Followed::Appended(_)));
    client.finish();
}

#[test]
fn turns_that_are_taken_back_are_loaded_anew() {
    let (_tree, root, all) = sessions(&Codex, "codex/v0.171.0");
    let session = all.iter().find(|session| &*session.id == ID).unwrap().clone();
    let mut client = Client::begin(&Codex, root, session.clone());
    let back = json!({"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}});
    append(&session.location, format!("{back}\n").as_bytes());
    assert!(matches!(client.check(), Followed::Rewritten(_)));
    client.finish();
}

#[test]
fn a_chat_in_one_record_is_told_message_by_message() {
    let tree = Tree::new();
    let message = |index: usize| json!({"id": index.to_string(), "type": "user", "content": format!("text {index}")});
    let chat = |messages: &[serde_json::Value]| {
        let chat = json!({"sessionId": ID, "projectHash": "x", "startTime": "2026-11-30T08:40:25.758Z",
            "lastUpdated": "2026-11-30T08:40:25.758Z", "messages": messages});
        serde_json::to_string_pretty(&chat).unwrap()
    };
    let mut messages: Vec<_> = (0..30).map(message).collect();
    let path = tree.write("tmp/demo/chats/session-2026-11-30T08-40-01a22b99.json", chat(&messages));
    let listing = list(&Gemini, tree.path());
    let mut client = Client::begin(&Gemini, listing.root.clone(), listing.one().clone());
    assert_eq!(client.told.len(), 30);
    for index in 30..33 {
        messages.push(message(index));
        let whole = chat(&messages);
        // While it is being written there is nothing to see.
        for cut in [0, 10, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert!(matches!(client.read(), Followed::Nothing), "{cut}");
            assert!(client.follower.due().is_some());
        }
        fs::write(&path, whole).unwrap();
        assert!(matches!(client.check(), Followed::Appended(_)));
    }
    messages[0] = message(99);
    fs::write(&path, chat(&messages)).unwrap();
    assert!(matches!(client.check(), Followed::Rewritten(_)));
    client.finish();
}

#[test]
fn of_a_log_only_what_was_appended_is_read() {
    let (_tree, root, all) = sessions(&Gemini, "gemini/v0.61.0");
    let session = all[0].clone();
    let mut client = Client::begin(&Gemini, root, session.clone());
    let message = |id: &str| json!({"id": id, "type": "user", "content": id, "timestamp": "2026-11-30T08:40:26.619Z"});
    for index in 0..3 {
        append(&session.location, format!("{}\n", message(&format!("new {index}"))).as_bytes());
        assert!(matches!(client.check(), Followed::Appended(_)));
    }
    // A message long ago is written down anew, then all after another are dropped.
    let first = client.told.iter().find_map(|message| message.id.clone()).unwrap();
    append(&session.location, format!("{}\n", message(&first)).as_bytes());
    assert!(matches!(client.check(), Followed::Rewritten(_)));
    append(&session.location, format!("{}\n", json!({"$rewindTo": "new 1"})).as_bytes());
    assert!(matches!(client.check(), Followed::Rewritten(_)));
    // Another log in its place, as long as the one of before and longer.
    let content = fs::read_to_string(&session.location).unwrap().replace("new 0", "old 0");
    fs::write(&session.location, content + &format!("{}\n", message("last"))).unwrap();
    assert!(matches!(client.check(), Followed::Rewritten(_)));
    client.finish();
}

#[test]
fn a_conversation_in_files_of_their_own_is_told_file_by_file() {
    let tree = Tree::new();
    copy(&fixture("opencode/v1.0.185"), tree.path());
    let listing = list(&OpenCode, tree.path());
    for session in &listing.sessions {
        let messages = tree.path().join("storage/message").join(&*session.id);
        let mut files: Vec<PathBuf> = fs::read_dir(&messages).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let last = files.pop().unwrap();
        let content = fs::read(&last).unwrap();
        fs::remove_file(&last).unwrap();
        let mut client = Client::begin(&OpenCode, listing.root.clone(), session.clone());
        assert!(matches!(client.check(), Followed::Nothing));
        fs::write(&last, &content).unwrap();
        assert!(matches!(client.check(), Followed::Appended(_)));
        // A part is written anew in its place.
        let part = tree.path().join("storage/part").join(last.file_stem().unwrap()).join("prt_new.json");
        for text in ["one", "two"] {
            fs::create_dir_all(part.parent().unwrap()).unwrap();
            fs::write(&part, json!({"id": "prt_new", "type": "text", "text": text}).to_string()).unwrap();
            assert!(matches!(client.check(), Followed::Rewritten(_)));
        }
        client.finish();
    }
}
