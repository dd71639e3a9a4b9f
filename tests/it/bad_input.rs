//! Stores as they really are on disks: torn, odd, hostile. Each such thing costs a row or nothing, never an answer.

use crate::support::{Home, MIB, Server, Spawn, uuid};
use nix::sys::stat::Mode;
use nix::unistd::{geteuid, mkfifo};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code").join(name)
}

/// Copies a directory and all below it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::write(&target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

/// A session id of what [`make_unstorable`] makes.
fn odd(number: u8) -> String {
    format!("00000000-0000-4000-8000-0000000000{number:02x}")
}

/// What no repository can hold: large files, links that lead nowhere or to devices, pipes, what may not be read.
fn make_unstorable(home: &Home) {
    let (projects, sessions) = (home.claude().join("projects"), home.claude().join("sessions"));
    let project = home.project("-odd", "/odd");
    fs::create_dir_all(&sessions).unwrap();
    let line =
        |text: &str| format!(r#"{{"type":"user","cwd":"/odd","message":{{"role":"user","content":"{text}"}}}}"#) + "\n";
    fs::write(project.file(&odd(0xa0)), line(&"x".repeat(50 << 20))).unwrap();
    File::create(project.file(&odd(0xa1))).unwrap().set_len(8 << 30).unwrap();
    let mut short = BufWriter::new(File::create(project.file(&odd(0xa2))).unwrap());
    for number in 0..1_000_000 {
        writeln!(short, r#"{{"type":"progress","i":{number}}}"#).unwrap();
    }
    short.flush().unwrap();
    symlink("/dev/zero", project.file(&odd(0xa3))).unwrap();
    symlink("/etc/passwd", project.file(&odd(0xa4))).unwrap();
    mkfifo(&project.file(&odd(0xa5)), Mode::S_IRWXU).unwrap();
    symlink("nothing-here", project.file(&odd(0xa6))).unwrap();
    let secret = project.session(&odd(0xa7), "not for you", 1);
    fs::set_permissions(secret, Permissions::from_mode(0o000)).unwrap();
    fs::write(project.file(&odd(0xa8)), vec![0; 100_000]).unwrap();
    symlink("loop-b", projects.join("loop-a")).unwrap();
    symlink("loop-a", projects.join("loop-b")).unwrap();
    symlink("..", project.path().join("up")).unwrap();
    symlink(&projects, projects.join("self")).unwrap();
    let closed = projects.join("no-read");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(closed, Permissions::from_mode(0o000)).unwrap();

    symlink("1.json", sessions.join("2.json")).unwrap();
    symlink("2.json", sessions.join("1.json")).unwrap();
    fs::create_dir(sessions.join("3.json")).unwrap();
    mkfifo(&sessions.join("4.json"), Mode::S_IRWXU).unwrap();
    symlink("/dev/zero", sessions.join("5.json")).unwrap();
    fs::write(sessions.join("6.json"), "{}").unwrap();
    fs::set_permissions(sessions.join("6.json"), Permissions::from_mode(0o000)).unwrap();
    fs::write(sessions.join("7.json"), vec![0; (1 << 20) + 1]).unwrap();
}

/// A server to which modes mean something: root may read everything.
fn common_user(spawn: Spawn) -> Spawn {
    if geteuid().is_root() { spawn.user(65_534) } else { spawn }
}

/// The ids and titles of all that is listed, with everything that can be asked for.
fn listed(server: &mut Server) -> Vec<(String, Value)> {
    let include = json!(["topics", "lastMessage", "messageCount", "repository"]);
    let query = json!({ "includeChildren": true, "include": include });
    let list = server.request("registry/list", json!({ "query": query, "limit": 1_000 })).result();
    let entries = list["entries"].as_array().unwrap();
    assert_eq!(list["total"], entries.len());
    let mut listed: Vec<_> =
        entries.iter().map(|entry| (entry["sessionId"].as_str().unwrap().to_owned(), entry["title"].clone())).collect();
    listed.sort_by(|a, b| a.0.cmp(&b.0));
    listed
}

/// Asks for all that there is, in each way.
fn ask_everything(server: &mut Server) {
    for (id, _) in listed(server) {
        server.request("registry/describe", json!({ "id": format!("claude-code:{id}") })).result();
    }
    server.request("registry/list", json!({ "query": { "text": "a", "searchPreviews": true } })).result();
    server.request("registry/coverage", json!({})).result();
    server.request("peer/list", json!({})).result();
    server.pong();
}

/// What was passed over, and why, and what is told as a problem; paths from the home on.
fn passed_over(server: &mut Server) -> Value {
    let home = server.home.claude().display().to_string() + "/";
    let short = |row: &Value| row["path"].as_str().unwrap().replace(&home, "");
    let coverage = server.request("registry/coverage", json!({})).result();
    let roots = coverage["harnesses"][0]["roots"].as_array().unwrap();
    let skipped: serde_json::Map<String, Value> = roots
        .iter()
        .flat_map(|root| root["skipped"].as_array().unwrap())
        .map(|row| (short(row), row["reason"].clone()))
        .collect();
    let list = server.request("registry/list", json!({ "limit": 0 })).result();
    let problems: Vec<Value> = list["problems"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| json!([short(row), row["reason"], row["message"]]))
        .collect();
    json!({ "skipped": skipped, "problems": problems })
}

#[test]
fn torn_and_odd_transcripts() {
    let home = Home::new();
    copy(&fixture("hostile/projects"), &home.claude().join("projects"));
    home.project("-good", "/good").session(&uuid(1), "a good one", 1);
    let mut server = Spawn::new(home).open();
    let listed: serde_json::Map<String, Value> = listed(&mut server).into_iter().collect();
    assert_eq!(listed[&uuid(1)], "a good one");
    let odd = passed_over(&mut server);
    insta::assert_json_snapshot!(json!({ "listed": listed, "passed over": odd }));
    ask_everything(&mut server);
    assert!(server.peak_memory() < 80 * MIB, "{} KiB", server.peak_memory());
}

#[test]
fn what_no_repository_can_hold() {
    let home = Home::new();
    make_unstorable(&home);
    home.project("-good", "/good").session(&uuid(1), "a good one", 1);
    home.peer("good", &uuid(1), "/good");
    let mut server = common_user(Spawn::new(home)).open();
    let listed: serde_json::Map<String, Value> = listed(&mut server).into_iter().collect();
    assert_eq!(listed[&uuid(1)], "a good one");
    let odd = passed_over(&mut server);
    insta::assert_json_snapshot!(json!({ "listed": listed, "passed over": odd }));
    let peers = server.request("peer/list", json!({})).result();
    assert_eq!(peers["peers"].as_array().unwrap().len(), 1);
    ask_everything(&mut server);
    assert!(server.peak_memory() < 80 * MIB, "{} KiB", server.peak_memory());
    let closed = server.home.claude().join("projects/no-read");
    fs::set_permissions(closed, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_store_that_may_not_be_entered_is_told() {
    let home = Home::new();
    home.project("-good", "/good").session(&uuid(1), "a good one", 1);
    let claude = home.claude();
    fs::set_permissions(&claude, Permissions::from_mode(0o000)).unwrap();
    let mut server = common_user(Spawn::new(home)).open();
    assert_eq!(listed(&mut server), []);
    let odd = passed_over(&mut server);
    assert!(odd["skipped"].to_string().contains("Permission denied"), "{odd}");
    ask_everything(&mut server);
    // It is there as soon as it may be read.
    fs::set_permissions(&claude, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(listed(&mut server).len(), 1);
}

#[test]
fn names_that_are_no_utf8() {
    let bad = |text: &[u8]| OsStr::from_bytes(text).to_owned();
    let home = Home::new();
    let project = home.project("-good", "/good");
    project.session(&uuid(1), "a good one", 1);
    fs::copy(project.file(&uuid(1)), project.path().join(bad(b"\xff\xfe.jsonl"))).unwrap();
    let directory = home.claude().join("projects").join(bad(b"-\xc3\x28"));
    fs::create_dir(&directory).unwrap();
    fs::copy(project.file(&uuid(1)), directory.join(format!("{}.jsonl", uuid(2)))).unwrap();
    fs::create_dir_all(home.claude().join("sessions")).unwrap();
    fs::write(home.claude().join("sessions").join(bad(b"\xff.json")), "{}").unwrap();
    let mut server = Spawn::new(home).open();
    assert_eq!(listed(&mut server), [(uuid(1), json!("a good one"))]);
    let skipped = passed_over(&mut server)["skipped"].to_string();
    assert_eq!(skipped.matches("not valid UTF-8").count(), 2, "{skipped}");
    ask_everything(&mut server);
}

#[test]
fn a_home_whose_own_name_is_no_utf8() {
    let home = Home::new();
    let odd = home.path().join(OsStr::from_bytes(b"home-\xff"));
    fs::create_dir_all(odd.join(".claude/projects/-w")).unwrap();
    let project = home.project("-good", "/good");
    let file = project.session(&uuid(1), "a good one", 1);
    fs::copy(file, odd.join(".claude/projects/-w").join(format!("{}.jsonl", uuid(1)))).unwrap();
    let mut server = Spawn::new(home).only_env([("HOME".into(), odd.into())]).open();
    assert_eq!(listed(&mut server), [(uuid(1), json!("a good one"))]);
    ask_everything(&mut server);
}

#[test]
fn homes_that_are_none() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let home = |value: &OsStr| vec![(OsString::from("HOME"), value.to_owned())];
    let environments = [
        vec![],
        home(OsStr::new("")),
        home(OsStr::new("relative/home")),
        home(OsStr::new("/no/such/home")),
        home(file.path().as_os_str()),
        home(OsStr::new("/dev/null")),
        vec![("CLAUDE_CONFIG_DIR".into(), "/no/such/home".into())],
        vec![("CLAUDE_CONFIG_DIR".into(), "".into())],
    ];
    for environment in environments {
        // A relative home must not be looked for in the working directory, where there is one.
        let around = Home::new();
        let relative = around.path().join("relative/home/.claude/projects/-w");
        fs::create_dir_all(&relative).unwrap();
        let session = around.project("-w", "/w").session(&uuid(1), "by mistake", 1);
        fs::copy(session, relative.join(format!("{}.jsonl", uuid(1)))).unwrap();
        let mut server = Spawn::new(around).only_env(environment.clone()).open();
        assert_eq!(listed(&mut server), [], "{environment:?}");
        ask_everything(&mut server);
    }
}

#[test]
fn records_of_live_sessions_that_are_odd() {
    use tackroom::platform::process;
    let pid = std::process::id() as i32;
    let replace = |bytes: Vec<u8>| {
        // Bytes, as some records are no text. The process that they name becomes this one, or all would be hidden.
        let words = [
            ("15295", pid.to_string()),
            ("68675", process::start_mark(pid).unwrap()),
            ("linux:0123456789abcdef0123456789abcdef:pid:[4026531836]", process::own_pid_domain().unwrap()),
        ];
        words.iter().fold(bytes, |bytes, (from, to)| replace_bytes(&bytes, from.as_bytes(), to.as_bytes()))
    };
    let home = Home::new();
    home.peer("good", &uuid(1), "/good");
    let mut args = Vec::new();
    for record in fs::read_dir(fixture("hostile/sessions")).unwrap() {
        let record = record.unwrap();
        let other = home.path().join("others").join(record.file_name());
        fs::create_dir_all(other.join("sessions")).unwrap();
        fs::create_dir_all(other.join("projects")).unwrap();
        fs::write(other.join(format!("sessions/{pid}.json")), replace(fs::read(record.path()).unwrap())).unwrap();
        args.extend(["--root".to_owned(), format!("claude-code={}", other.display())]);
    }
    assert!(args.len() > 40, "the fixtures are there");
    let mut server = Spawn::new(home).args(args).open();
    let peers = server.request("peer/list", json!({})).result();
    let home = server.home.path().display().to_string();
    let mut shown: Vec<String> = Vec::new();
    for peer in peers["peers"].as_array().unwrap() {
        for text in ["name", "cwd", "sessionId", "waitingFor", "version"] {
            let odd = peer[text].as_str().is_some_and(|text| text.chars().any(char::is_control) || text.is_empty());
            assert!(!odd, "{text} of {peer}");
        }
        shown.push(peer["home"].as_str().unwrap().replace(&home, ""));
    }
    shown.sort();
    insta::assert_json_snapshot!(shown);
    ask_everything(&mut server);
}

fn replace_bytes(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(from.len()).position(|part| part == from) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}
