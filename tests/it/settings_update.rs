//! `settings/update`: one key is changed, and nothing else.

use crate::settings_read::{revision, settings_of, with_settings};
use crate::support::{Home, Server, Spawn};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

/// A server that may change settings.
pub fn serve(home: Home) -> Server {
    Spawn::new(home).args(["--allow", "observe,configure"]).open()
}

fn set(server: &mut Server, policy: Value) -> Value {
    server.request("settings/update", json!({ "crossSessionInbound": policy })).result()
}

#[test]
fn each_policy_is_set_and_taken_out_again() {
    let before = "{\r\n\t\"z\": 1.10,\r\n\t\"nested\": {\"crossSessionInbound\": \"accept\"}\r\n}\r\n";
    let mut server = serve(with_settings(before));
    let path = settings_of(&server.home);
    for policy in ["accept", "hold", "refuse"] {
        let told = set(&mut server, json!(policy));
        let now = before.replace("}\r\n}", &format!("}},\r\n\t\"crossSessionInbound\": \"{policy}\"\r\n}}"));
        assert_eq!(fs::read_to_string(&path).unwrap(), now);
        let automatic = policy == "accept";
        let expected = json!({
            "path": path, "revision": revision(&now), "crossSessionInbound": policy,
            "userAllowsAutomaticDelivery": automatic, "evidence": "user",
        });
        assert_eq!(told, expected);
        assert_eq!(server.request("settings/read", json!({})).result(), told);
    }
    assert_eq!(set(&mut server, Value::Null)["revision"], json!(revision(before)));
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn the_policy_must_be_stated_and_known() {
    let mut server = serve(with_settings("{}"));
    for params in [
        json!({}),
        json!({ "crossSessionInbound": "ask" }),
        json!({ "crossSessionInbound": true }),
        json!({ "crossSessionInbound": "hold", "expectedRevision": 1 }),
    ] {
        server.request_unchecked("settings/update", params).error().is(-32602, "invalid_params");
    }
    assert_eq!(fs::read(settings_of(&server.home)).unwrap(), b"{}");
}

#[test]
fn a_new_file_is_private_and_resetting_makes_none() {
    let mut server = serve(Home::new());
    set(&mut server, Value::Null);
    let expected = json!({ "crossSessionInbound": "hold", "expectedRevision": revision("x") });
    server.request("settings/update", expected).error().is(-32030, "changed_during_write");
    assert!(!server.home.claude().exists());
    set(&mut server, json!("hold"));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().mode() & 0o7777;
    assert_eq!((mode(&server.home.claude()), mode(&settings_of(&server.home))), (0o700, 0o600));
    assert_eq!(fs::read_dir(server.home.claude()).unwrap().count(), 1);
}

#[test]
fn mode_and_owner_are_kept() {
    for mode in [0o644, 0o600, 0o660, 0o400] {
        let mut server = serve(with_settings("{}"));
        let path = settings_of(&server.home);
        chown(&path, Some(65_534), Some(65_534)).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        set(&mut server, json!("hold"));
        let now = fs::metadata(&path).unwrap();
        assert_eq!((now.mode() & 0o7777, now.uid(), now.gid()), (mode, 65_534, 65_534));
    }
}

#[test]
fn the_revision_guards_and_no_change_writes_nothing() {
    let content = r#"{"crossSessionInbound":"h\u006fld"}"#;
    let mut server = serve(with_settings(content));
    let path = settings_of(&server.home);
    let stamp = || fs::metadata(&path).map(|it| (it.ino(), it.mtime(), it.mtime_nsec(), it.ctime_nsec())).unwrap();
    let before = stamp();
    assert_eq!(set(&mut server, json!("hold"))["revision"], json!(revision(content)));
    let mut guarded = |policy: Value, revision: String| {
        server.request("settings/update", json!({ "crossSessionInbound": policy, "expectedRevision": revision }))
    };
    for policy in [json!("hold"), json!("accept"), Value::Null] {
        let failure = guarded(policy, revision("{}")).error();
        failure.is(-32030, "changed_during_write");
        let expected = json!({
            "reason": "changed_during_write", "expected": revision("{}"), "actual": revision(content),
        });
        assert_eq!(failure.data, expected);
    }
    assert_eq!(stamp(), before);
    let told = guarded(json!("accept"), revision(content)).result();
    assert_eq!(fs::read(&path).unwrap(), br#"{"crossSessionInbound":"accept"}"#);
    guarded(Value::Null, told["revision"].as_str().unwrap().to_owned()).result();
    assert_eq!(fs::read(&path).unwrap(), b"{}");
}

#[test]
fn an_invalid_value_may_be_replaced_and_all_duplicates_go() {
    for value in ["true", "null", "\"ask\"", "{\"a\":1}"] {
        let mut server = serve(with_settings(format!("{{\"crossSessionInbound\":{value}}}")));
        server.request("settings/read", json!({})).error().is(-32031, "invalid_settings");
        set(&mut server, json!("hold"));
        assert_eq!(fs::read(settings_of(&server.home)).unwrap(), br#"{"crossSessionInbound":"hold"}"#);
    }
    let mut server = serve(with_settings(r#"{"crossSessionInbound":1, "a":2, "crossSessionInbound":"hold"}"#));
    set(&mut server, Value::Null);
    assert_eq!(fs::read(settings_of(&server.home)).unwrap(), br#"{"a":2}"#);
}

#[test]
fn what_is_no_object_in_a_file_is_left_alone() {
    let mut server = serve(with_settings(""));
    let (path, target) = (settings_of(&server.home), server.home.path().join("target"));
    let mut refused = |policy: Value| {
        let params = json!({ "crossSessionInbound": policy });
        server.request("settings/update", params).error().is(-32031, "invalid_settings");
    };
    for content in ["[]", "null", " ", "{\"a\":1,}", "{// c\n}", "{\"a\":1", "\u{feff}", "{} {}"] {
        fs::write(&path, content).unwrap();
        refused(json!("hold"));
        refused(Value::Null);
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    fs::remove_file(&path).unwrap();
    for leads_to in [&target, &path] {
        symlink(leads_to, &path).unwrap();
        refused(json!("hold"));
        assert!(!target.exists());
        fs::remove_file(&path).unwrap();
    }
    fs::write(&path, "{}").unwrap();
    fs::hard_link(&path, &target).unwrap();
    refused(json!("hold"));
    fs::remove_file(&path).unwrap();
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused(json!("hold"));
    fs::remove_file(&path).unwrap();
    fs::remove_dir(path.parent().unwrap()).unwrap();
    symlink("elsewhere", path.parent().unwrap()).unwrap();
    refused(json!("hold"));
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}");
    assert!(!target.with_file_name("elsewhere").exists());
}

#[test]
fn what_links_lead_to_is_changed_and_the_links_stay() {
    let mut server = serve(Home::new());
    let (path, dotfiles) = (settings_of(&server.home), server.home.path().join("dotfiles"));
    let target = dotfiles.join("claude/settings.json");
    fs::create_dir(&dotfiles).unwrap();
    fs::rename(path.parent().unwrap(), dotfiles.join("claude")).unwrap();
    symlink("dotfiles/claude", path.parent().unwrap()).unwrap();
    set(&mut server, json!("hold"));
    let now = r#"{
  "crossSessionInbound": "hold"
}
"#;
    assert_eq!(fs::read_to_string(&target).unwrap(), now);

    let own = dotfiles.join("own.json");
    fs::rename(&target, &own).unwrap();
    fs::set_permissions(&own, Permissions::from_mode(0o640)).unwrap();
    symlink(&own, &target).unwrap();
    assert_eq!(set(&mut server, json!("accept"))["path"], json!(path));
    assert_eq!(fs::read_to_string(&own).unwrap(), now.replace("hold", "accept"));
    assert_eq!(fs::metadata(&own).unwrap().mode() & 0o7777, 0o640);
    assert_eq!(fs::read_link(&target).unwrap(), own);
    assert_eq!(fs::read_link(path.parent().unwrap()).unwrap().to_str(), Some("dotfiles/claude"));
    let names = |directory: &std::path::Path| fs::read_dir(directory).unwrap().count();
    assert_eq!((names(&dotfiles), names(&dotfiles.join("claude"))), (2, 1));
}

#[test]
fn links_into_the_directories_of_others_are_refused() {
    let mut server = serve(Home::new());
    let (path, theirs) = (settings_of(&server.home), server.home.path().join("theirs"));
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("settings.json"), "{}").unwrap();
    chown(&theirs, Some(65_534), None).unwrap();
    symlink(theirs.join("settings.json"), &path).unwrap();
    let failure = server.request("settings/update", json!({ "crossSessionInbound": "accept" })).error();
    assert!(failure.is(-32031, "invalid_settings").message.contains("belongs to another user"), "{}", failure.message);
    assert_eq!(fs::read(theirs.join("settings.json")).unwrap(), b"{}");
}

/// As `setfacl -m u:1234:rw` writes it.
const LIST: &[u8] = b"\x02\0\0\0\x01\0\x06\0\xff\xff\xff\xff\x02\0\x06\0\xd2\x04\0\0\x04\0\0\0\xff\xff\xff\xff\x10\0\x06\0\xff\xff\xff\xff\x20\0\0\0\xff\xff\xff\xff";

#[test]
fn access_control_list_is_kept() {
    let mut server = serve(with_settings("{}"));
    let path = settings_of(&server.home);
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let name = c"system.posix_acl_access";
    let at = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: both names end with NUL, and the list is as long as is said.
    let set_list = unsafe { libc::setxattr(at.as_ptr(), name.as_ptr(), LIST.as_ptr().cast(), LIST.len(), 0) };
    assert_eq!(set_list, 0, "{}", std::io::Error::last_os_error());
    set(&mut server, json!("accept"));
    let mut list = vec![0; 100];
    // SAFETY: both names end with NUL, and the buffer is as large as is said.
    let size = unsafe { libc::getxattr(at.as_ptr(), name.as_ptr(), list.as_mut_ptr().cast(), list.len()) };
    assert_eq!(&list[..size.unsigned_abs()], LIST);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o660);
}

#[test]
fn who_is_kept_to_some_workspaces_cannot_change_them() {
    let mut server = serve(with_settings("{}"));
    let mut with = |authority: Value| {
        let params = json!({ "crossSessionInbound": "hold", "_meta": { "authority": authority } });
        server.request("settings/update", params).error()
    };
    let failure = with(json!({ "workspaces": ["/"] }));
    assert_eq!(failure.is(-32000, "unauthorized").data["permission"], "configure");
    with(json!({ "permissions": ["observe"] })).is(-32000, "unauthorized");
    with(json!({ "harnesses": ["codex"] })).is(-32001, "not_found");
    with(json!({ "harnesses": ["codex"], "workspaces": ["/"] })).is(-32001, "not_found");
    assert_eq!(fs::read(settings_of(&server.home)).unwrap(), b"{}");
}

#[test]
fn only_the_homes_of_the_spawner_are_changed() {
    let (other, client) = (with_settings("{}"), with_settings("{}"));
    let root = format!("claude-code={}/projects", other.claude().display());
    let args = ["--allow", "configure", "--allow-homes", "--root", &root];
    let mut server = Spawn::new(Home::new()).args(args).start();
    server.initialize(json!({ "homes": { "claude-code": [client.claude()] } }));
    let mut of = |home: &Home| {
        server.request("settings/update", json!({ "crossSessionInbound": "hold", "home": home.claude() }))
    };
    of(&client).error().is(-32001, "not_found");
    of(&other).result();
    assert_eq!(fs::read(settings_of(&other)).unwrap(), br#"{"crossSessionInbound": "hold"}"#);
    assert_eq!(fs::read(settings_of(&client)).unwrap(), b"{}");
    assert!(!server.home.claude().exists());
}
