//! `registry/describe`: one entry, with what is costly to know.

use crate::registry_list::fixture_home;
use crate::support::{Home, Spawn, uuid};
use serde_json::json;
use std::fs;
use std::process::Command;

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
