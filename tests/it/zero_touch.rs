//! Looking at everything leaves everything as it was: bytes, modes, owners, times, what is in each directory.

use crate::activity::{enliven, live};
use crate::support::{Home, Server, Spawn};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What can be seen of a file or a directory from outside. When it was last read is no part of it: that is the
/// reader's own trace.
#[derive(Debug, PartialEq)]
struct Seen {
    content: Vec<u8>,
    inode: u64,
    links: u64,
    mode: u32,
    owner: (u32, u32),
    modified: (i64, i64),
    changed: (i64, i64),
}

/// All that is below a directory, and it itself.
fn seen(path: &Path) -> BTreeMap<PathBuf, Seen> {
    let metadata = fs::symlink_metadata(path).unwrap();
    let here = Seen {
        content: if metadata.is_file() { fs::read(path).unwrap() } else { Vec::new() },
        inode: metadata.ino(),
        links: metadata.nlink(),
        mode: metadata.mode(),
        owner: (metadata.uid(), metadata.gid()),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    };
    let mut all = BTreeMap::from([(path.to_owned(), here)]);
    if metadata.is_dir() {
        all.extend(fs::read_dir(path).unwrap().flat_map(|entry| seen(&entry.unwrap().path())));
    }
    all
}

#[track_caller]
fn assert_same(before: &BTreeMap<PathBuf, Seen>, after: &BTreeMap<PathBuf, Seen>) {
    let apart: Vec<_> = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.contains_key(*path) != after.contains_key(*path))
        .collect();
    assert!(apart.is_empty(), "something came or went: {apart:#?}");
    let touched: Vec<_> = before.iter().filter(|(path, seen)| after[*path] != **seen).map(|(path, _)| path).collect();
    assert!(touched.is_empty(), "{touched:#?}");
}

/// Asks for everything that reads a store; the answers to compare.
fn look_at_everything(server: &mut Server) -> Vec<Value> {
    let include = ["topics", "lastMessage", "messageCount", "repository"];
    let query = json!({ "includeChildren": true, "include": include, "text": "a", "searchPreviews": true });
    let searched = server.request("registry/list", json!({ "query": query, "limit": 1000 })).result();
    let query = json!({ "includeChildren": true, "include": include });
    let listed = server.request("registry/list", json!({ "query": query, "limit": 1000 })).result();
    assert_eq!(listed.get("problems"), None);
    let mut answers = vec![searched["entries"].clone(), listed["entries"].clone()];
    for entry in listed["entries"].as_array().unwrap() {
        let id = &entry["id"];
        answers.push(server.request("registry/describe", json!({ "id": id })).result());
        let newest = server.request("session/load", json!({ "id": id, "limit": 2 })).result();
        assert_eq!(newest.get("problems"), None, "{id}");
        if let Some(cursor) = newest.get("nextCursor") {
            answers.push(server.request("session/load", json!({ "id": id, "limit": 1000, "cursor": cursor })).result());
        }
        answers.push(newest);
    }
    server.request("registry/coverage", json!({})).result();
    answers
}

/// Gives everything below a directory these permissions; a directory can be entered by whoever can read it.
fn set_modes(directory: &Path, mode: u32) {
    for path in seen(directory).into_keys() {
        let enter = if path.is_dir() { (mode & 0o444) >> 2 } else { 0 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode | enter)).unwrap();
    }
}

#[test]
fn whoever_looks_leaves_no_trace_in_any_store() {
    let home = Home::with_every_store();
    let place = home.path().to_owned();
    let before = seen(&place);
    assert!(before.len() > 200, "{}", before.len());
    let mut server = Spawn::new(home).open();
    let all = look_at_everything(&mut server);
    assert!(all.len() > 200, "{}", all.len());
    assert_same(&before, &seen(&place));
    server.close_input();
    server.expect_end(0);
    assert_same(&before, &seen(&place));
}

#[test]
fn whoever_looks_at_what_lives_leaves_no_trace_either() {
    let home = Home::with_every_store();
    let place = home.path().to_owned();
    let processes = enliven(&place);
    let before = seen(&place);
    let mut server = Spawn::new(home).open();
    let told = live(&mut server);
    assert_eq!(told.as_object().unwrap().len(), 4, "{told}");
    look_at_everything(&mut server);
    assert_eq!(live(&mut server), told);
    assert_same(&before, &seen(&place));
    if nix::unistd::geteuid().is_root() {
        // A user who may not look into these processes.
        set_modes(&place, 0o444);
        let before = seen(&place);
        let home = std::mem::replace(&mut server.home, Home::new());
        let mut nobody = Spawn::new(home).user(65_534).open();
        assert_eq!(live(&mut nobody), told);
        assert_same(&before, &seen(&place));
        set_modes(&place, 0o644);
    }
    drop(processes);
}

#[test]
fn who_may_only_read_sees_the_same_and_leaves_no_trace() {
    if !nix::unistd::geteuid().is_root() {
        // Only root can start a server of another user.
        return;
    }
    let home = Home::with_every_store();
    let place = home.path().to_owned();
    set_modes(&place, 0o444);
    let before = seen(&place);
    let mut server = Spawn::new(home).user(65_534).open();
    assert!(fs::metadata(&place).unwrap().uid() != 65_534);
    let of_nobody = look_at_everything(&mut server);
    assert_same(&before, &seen(&place));
    server.close_input();
    server.expect_end(0);
    assert_same(&before, &seen(&place));
    let mut owner = Spawn::new(std::mem::replace(&mut server.home, Home::new())).open();
    assert_eq!(look_at_everything(&mut owner), of_nobody);
    assert_same(&before, &seen(&place));
    set_modes(&place, 0o644);
}
