//! `settings/read`: what the user's own settings say.

use crate::support::{Home, Spawn};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// Where a home keeps its settings. Its directory is there.
pub fn settings_of(home: &Home) -> PathBuf {
    fs::create_dir_all(home.claude()).unwrap();
    home.claude().join("settings.json")
}

/// A home with these settings.
pub fn with_settings(content: impl AsRef<[u8]>) -> Home {
    let home = Home::new();
    fs::write(settings_of(&home), content).unwrap();
    home
}

pub fn revision(content: impl AsRef<[u8]>) -> String {
    blake3::hash(content.as_ref()).to_hex().to_string()
}

#[test]
fn the_policy_is_told_with_its_file_and_revision() {
    for (content, policy, automatic) in [
        (r#"{"crossSessionInbound":"accept"}"#, json!("accept"), true),
        (r#"{"crossSessionInbound":"hold"}"#, json!("hold"), false),
        ("\u{feff}{\r\n\"cross\\u0053essionInbound\" : \"ref\\u0075se\"}", json!("refuse"), false),
        (r#"{"crossSessionInbound":"refuse","crossSessionInbound":"accept"}"#, json!("accept"), true),
        (r#"{"env":{"crossSessionInbound":"accept"}}"#, Value::Null, false),
        ("{}", Value::Null, false),
        ("", Value::Null, false),
    ] {
        let mut server = Spawn::new(with_settings(content)).open();
        let told = server.request("settings/read", json!({})).result();
        let mut expected = json!({
            "path": settings_of(&server.home), "revision": revision(content), "evidence": "user",
            "userAllowsAutomaticDelivery": automatic,
        });
        if !policy.is_null() {
            expected["crossSessionInbound"] = policy;
        }
        assert_eq!(told, expected, "{content:?}");
    }
}

#[test]
fn without_a_file_or_a_home_on_disk_nothing_is_set() {
    let mut server = Spawn::empty().open();
    for _ in 0..2 {
        let told = server.request("settings/read", json!({})).result();
        assert_eq!((&told["revision"], told.get("crossSessionInbound")), (&json!(revision("")), None));
        assert_eq!(told["path"], json!(server.home.claude().join("settings.json")));
        assert!(!server.home.claude().exists());
        fs::create_dir(server.home.claude()).unwrap();
        server.request("settings/read", json!({})).result();
        fs::remove_dir(server.home.claude()).unwrap();
    }
}

#[test]
fn what_cannot_be_understood_says_so() {
    let mut server = Spawn::new(with_settings("")).open();
    let path = settings_of(&server.home);
    for content in ["[]", " \n", "{\"a\":1,}", "// c\n{}", "{\"crossSessionInbound\":", "\u{feff}"].into_iter().chain([
        "true",
        "null",
        "1",
        "\"ask\"",
        "\"Accept\"",
        "\"accept \"",
        "[\"accept\"]",
    ]) {
        let content = if content.len() > 2 && content.starts_with(['t', 'n', '"']) {
            format!("{{\"crossSessionInbound\":{content}}}")
        } else {
            content.to_owned()
        };
        fs::write(&path, &content).unwrap();
        let failure = server.request("settings/read", json!({})).error();
        failure.is(-32031, "invalid_settings");
        assert!(failure.message.contains(path.to_str().unwrap()), "{}", failure.message);
    }
    fs::write(&path, vec![b' '; (4 << 20) + 1]).unwrap();
    server.request("settings/read", json!({})).error().is(-32033, "too_large");
}

#[test]
fn what_is_no_file_is_left_alone() {
    let mut server = Spawn::new(Home::new()).open();
    let (path, target) = (settings_of(&server.home), server.home.path().join("target"));
    let mut refused = || {
        server.request("settings/read", json!({})).error().is(-32031, "invalid_settings");
    };
    for leads_to in [target.as_path(), path.as_path(), path.parent().unwrap()] {
        symlink(leads_to, &path).unwrap();
        refused();
        fs::remove_file(&path).unwrap();
    }
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused();
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused();
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path.parent().unwrap(), "").unwrap();
    refused();
}

#[test]
fn settings_are_read_through_links_as_claude_code_reads_them() {
    let mut server = Spawn::new(Home::new()).open();
    let (path, dotfiles) = (settings_of(&server.home), server.home.path().join("dotfiles"));
    fs::create_dir(&dotfiles).unwrap();
    let content = r#"{"crossSessionInbound":"hold"}"#;
    fs::write(dotfiles.join("claude.json"), content).unwrap();
    symlink("../dotfiles/claude.json", &path).unwrap();
    let mut told = || server.request("settings/read", json!({})).result();
    let expected = json!({ "path": path, "revision": revision(content), "crossSessionInbound": "hold",
        "userAllowsAutomaticDelivery": false, "evidence": "user" });
    assert_eq!(told(), expected);
    fs::rename(path.parent().unwrap(), dotfiles.join("claude")).unwrap();
    symlink("dotfiles/claude", path.parent().unwrap()).unwrap();
    fs::remove_file(&path).unwrap();
    symlink(dotfiles.join("claude.json"), &path).unwrap();
    assert_eq!(told(), expected);
}

#[test]
fn only_the_homes_of_the_spawner_have_settings() {
    let (other, client) = (with_settings(r#"{"crossSessionInbound":"hold"}"#), with_settings("{}"));
    fs::create_dir(other.claude().join("projects")).unwrap();
    let root = format!("claude-code={}", other.claude().display());
    let mut server = Spawn::new(with_settings("{}")).args(["--root", &root, "--allow-homes"]).start();
    server.initialize(json!({ "homes": { "claude-code": [client.claude()] } }));
    let mut of = |home: Value| server.request("settings/read", json!({ "home": home }));
    assert_eq!(of(json!(other.claude())).result()["crossSessionInbound"], "hold");
    let slash = format!("{}/./", other.claude().display());
    assert_eq!(of(json!(slash)).result()["path"], json!(other.claude().join("settings.json")));
    assert!(of(Value::Null).result().get("crossSessionInbound").is_none());
    let unknown = [client.claude(), other.claude().join("projects"), other.path().into(), "/".into(), ".claude".into()];
    for home in unknown.map(|home| json!(home)).into_iter().chain([json!("")]) {
        of(home).error().is(-32001, "not_found");
    }
    Spawn::empty().only_env([]).open().request("settings/read", json!({})).error().is(-32001, "not_found");
}

#[test]
fn a_scope_of_workspaces_does_not_hide_them_and_one_of_harnesses_does() {
    let mut server = Spawn::new(with_settings("{}")).open();
    let narrowed = |authority: Value| json!({ "_meta": { "authority": authority } });
    server.request("settings/read", narrowed(json!({ "workspaces": ["/nowhere"] }))).result();
    server.request("settings/read", narrowed(json!({ "harnesses": ["claude-code"] }))).result();
    let hidden = server.request("settings/read", narrowed(json!({ "harnesses": ["codex"] }))).error();
    hidden.is(-32001, "not_found");
    server.request("settings/read", narrowed(json!({ "permissions": [] }))).error().is(-32000, "unauthorized");
}

#[test]
fn reading_leaves_no_trace() {
    let content = r#"{"crossSessionInbound":"hold"}"#;
    let mut server = Spawn::new(with_settings(content)).open();
    let path = settings_of(&server.home);
    let stamps =
        || [path.as_path(), path.parent().unwrap()].map(|path| fs::metadata(path).unwrap().modified().unwrap());
    let before = stamps();
    server.request("settings/read", json!({})).result();
    assert_eq!((stamps(), fs::read(&path).unwrap()), (before, content.as_bytes().to_vec()));
}
