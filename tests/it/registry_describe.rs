//! `registry/describe`: one entry, with what is costly to know.

use crate::registry_list::fixture_home;
use crate::support::{DEADLINE, Home, MIB, Spawn, uuid};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::process::Command;
use std::time::Instant;

#[test]
fn an_entry_comes_with_all_that_can_be_known() {
    let mut server = Spawn::new(fixture_home()).open();
    let home = server.home.path().display().to_string();
    let params = json!({ "id": "claude-code:2a3d4df5-4c98-41af-a24e-354c7007747f" });
    let entry = server.request("registry/describe", params).result()["entry"].clone();
    insta::assert_snapshot!(serde_json::to_string_pretty(&entry).unwrap().replace(&home, "[home]"));
}

#[test]
fn the_repository_of_the_workspace_is_told_without_its_secrets() {
    let home = Home::new();
    let workspace = home.path().join("checkout/sub");
    fs::create_dir_all(&workspace).unwrap();
    let git = |args: &[&str]| {
        let root = home.path().join("checkout");
        let status = Command::new("git")
            .args(args)
            .current_dir(root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status();
        assert!(status.unwrap().success());
    };
    git(&["init", "-q", "-b", "trunk"]);
    git(&["remote", "add", "origin", "https://user:hunter2@example.org/team/thing.git"]);
    home.project("-c", workspace.to_str().unwrap()).session(&uuid(1), "x", 1);
    let root = home.path().join("checkout").canonicalize().unwrap();
    let mut server = Spawn::new(home).open();
    let params = json!({ "id": format!("claude-code:{}", uuid(1)) });
    let repository = server.request("registry/describe", params).result()["entry"]["repository"].clone();
    let expected = json!({ "root": root, "branch": "trunk", "origin": "https://example.org/team/thing.git" });
    assert_eq!(repository, expected);
}

#[test]
fn what_is_not_there_is_not_found() {
    let mut server = Spawn::empty().open();
    for id in ["", "claude-code", "claude-code:", "claude-code:nobody", "emacs:1", ":", "gemini:x"] {
        server.request("registry/describe", json!({ "id": id })).error().is(-32001, "not_found");
    }
    server.request_unchecked("registry/describe", json!({})).error().is(-32602, "invalid_params");
}

/// A session whose middle is a hole of this many bytes.
fn hollow(project: &crate::support::Project, id: &str, hole: u64) {
    let file = project.session(id, "before the hole", 10);
    let rows = fs::read(&file).unwrap();
    let mut file = fs::File::options().append(true).open(file).unwrap();
    file.set_len(rows.len() as u64 + hole).unwrap();
    file.write_all(b"\n").unwrap();
    file.write_all(&rows).unwrap();
}

#[test]
fn what_nobody_wants_any_more_is_not_read_on() {
    let home = Home::new();
    hollow(&home.project("-p", "/p"), &uuid(1), 64 << 30);
    let mut server = Spawn::new(home).open();
    let params = json!({ "id": format!("claude-code:{}", uuid(1)) });
    for _ in 0..30 {
        let id = server.ask("registry/describe", params.clone());
        server.notify("$/cancelRequest", json!({ "id": id }));
        server.answer(id).error().is(-32800, "cancelled");
    }
    // Each thread that went on would read for a minute.
    let begin = Instant::now();
    while server.threads() > 8 {
        assert!(begin.elapsed() < DEADLINE, "{} threads are at work", server.threads());
        std::thread::yield_now();
    }
}

#[test]
fn what_takes_long_tells_how_far_it_is() {
    let home = Home::new();
    hollow(&home.project("-p", "/p"), &uuid(1), 64 << 30);
    let mut server = Spawn::new(home).open();
    let params = json!({ "id": format!("claude-code:{}", uuid(1)), "_meta": { "progressToken": "far" } });
    let id = server.ask("registry/describe", params);
    let told = server.expect_frame();
    assert_eq!((&told["method"], &told["params"]["token"]), (&json!("$/progress"), &json!("far")));
    server.notify("$/cancelRequest", json!({ "id": id }));
    server.answer(id).error().is(-32800, "cancelled");
}

#[test]
fn many_that_read_long_lines_stay_within_bounds_together() {
    let home = Home::new();
    let project = home.project("-p", "/p");
    let line = format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "y".repeat(15 << 20));
    for number in 0..40 {
        let file = project.session(&uuid(number), "a long line behind", 10);
        let rows = fs::read(&file).unwrap();
        fs::write(&file, [&rows, line.as_bytes(), &rows].concat()).unwrap();
    }
    let mut server = Spawn::new(home).open();
    let ids: Vec<i64> = (0..40)
        .map(|number| server.ask("registry/describe", json!({ "id": format!("claude-code:{}", uuid(number)) })))
        .collect();
    for id in ids {
        assert_eq!(server.answer(id).result()["entry"]["messageCount"], 4);
    }
    assert!(server.peak_memory() < 150 * MIB, "{} KiB", server.peak_memory());
}
