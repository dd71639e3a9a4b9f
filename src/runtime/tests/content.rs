//! What stands in a receipt.

use super::*;
use crate::protocol::{EndpointCapability, Supervisor};

fn read(receipt: &Value) -> Result<Record, Refusal> {
    Record::read(receipt.to_string().as_bytes(), &id(1))
}

/// Reads a receipt of which one member is another, or none.
fn with(pointer: &str, value: Value) -> Result<Record, Refusal> {
    let mut changed = receipt(1);
    *changed.pointer_mut(pointer).unwrap() = value;
    read(&changed)
}

#[test]
fn captured_receipts_are_read() {
    for (name, harness, pid, location) in [
        ("serve", Harness::Supercode, 27575, true),
        ("hosted", Harness::Grok, 3210, false),
        ("resume_serve", Harness::Supercode, 4218, true),
    ] {
        let captured = captured(name);
        let text = |member: &str| captured[member].as_str().unwrap();
        let record = Record::read(captured.to_string().as_bytes(), text("receipt_id")).unwrap();
        assert_eq!(record.endpoint.receipt_id(), text("receipt_id"));
        assert_eq!(record.runtime_id, text("runtime_session_id"));
        assert_eq!((record.source.harness, record.pid), (harness, pid));
        assert_eq!(record.source.workspace, "/home/dev/demo");
        assert_eq!(record.address.base_url(), text("base_url"));
        assert_eq!(record.token.secret(), SECRET);
        assert_eq!(Some(record.created_at_ms), captured["created_at_ms"].as_u64());
        assert_eq!(record.metadata.persistence_location.is_some(), location);
        let shown = format!("{record:?} {}", serde_json::to_string(&record.public(Some(true))).unwrap());
        assert!(!shown.contains(SECRET), "{shown}");
    }
}

#[test]
fn what_does_not_hold_is_refused_with_its_own_word() {
    for (pointer, value, word) in [
        ("/schema", json!("supercode.live-runtime.v2"), "schema"),
        ("/schema", json!(1), "malformed"),
        ("/receipt_id", json!(id(2)), "name"),
        ("/receipt_id", json!("../x"), "name"),
        ("/runtime_session_id", json!(" \t"), "id"),
        ("/runtime_session_id", json!("a\u{1b}[31m"), "id"),
        ("/runtime_session_id", json!(null), "malformed"),
        ("/source", json!(["supercode", "a", "/b"]), "malformed"),
        ("/source", json!(null), "malformed"),
        ("/source/session_id", json!(""), "id"),
        ("/source/harness", json!("cursor"), "harness_unsupported"),
        ("/source/harness", json!(""), "harness_unsupported"),
        ("/source/workspace", json!("demo"), "workspace"),
        ("/source/workspace", json!(""), "workspace"),
        ("/base_url", json!("http://localhost:80@evil/"), "address"),
        ("/base_url", json!("http://127.0.0.1:0"), "address"),
        ("/token", json!(""), "token"),
        ("/token", json!("a\r\nX: y"), "token"),
        ("/token", json!("a b"), "token"),
        ("/token", json!("a\u{7f}"), "token"),
        ("/token", json!("tök"), "token"),
        ("/token", json!(7), "malformed"),
        ("/pid", json!(0), "pid"),
        ("/pid", json!(-1), "pid"),
        ("/pid", json!(2_147_483_648_u64), "pid"),
        ("/pid", json!(4_294_967_295_u64), "pid"),
        ("/pid", json!(u64::MAX), "malformed"),
        ("/pid", json!(12.5), "malformed"),
        ("/pid", json!("12"), "malformed"),
        ("/created_at_ms", json!(1.5), "malformed"),
        ("/created_at_ms", json!("5"), "malformed"),
        ("/created_at_ms", json!(null), "malformed"),
    ] {
        let refusal = with(pointer, value.clone()).unwrap_err();
        assert_eq!(refusal.word(), word, "{pointer} {value}");
    }
    for member in ["schema", "receipt_id", "source", "base_url", "token", "pid", "created_at_ms"] {
        let mut without = receipt(1);
        without.as_object_mut().unwrap().remove(member);
        assert_eq!(read(&without).unwrap_err().word(), "malformed", "{member}");
    }
}

#[test]
fn texts_that_are_no_receipt_are_malformed_and_do_not_tell_the_token() {
    let whole = receipt(1).to_string();
    let half = &whole[..whole.len() / 2];
    let twice = whole.replacen("\"token\":", "\"token\":\"other\",\"token\":", 1);
    let array = format!("[{whole}]");
    let as_number = whole.replacen("\"pid\":", "\"pid\":\"", 1).replacen(",\"created", SECRET, 1);
    let deep = "[".repeat(100_000);
    for text in ["", " ", "null", "{}", half, &twice, &array, &as_number, &deep, "\u{feff}{}"] {
        let refusal = Record::read(text.as_bytes(), &id(1)).unwrap_err();
        assert_eq!(refusal.word(), "malformed", "{text:.80}");
        assert!(!format!("{refusal} {refusal:?}").contains(SECRET), "{refusal}");
    }
    assert_eq!(Record::read(b"{\"schema\":\"\xff\"}", &id(1)).unwrap_err().word(), "malformed");
    for id in ["", "x", "../../x", &id(0xabc).to_uppercase(), &id(1)[1..]] {
        assert_eq!(Record::read(whole.as_bytes(), id).unwrap_err().word(), "name", "{id}");
    }
}

#[test]
fn any_integer_is_a_time() {
    let time = |text: &str| {
        let receipt = receipt(1);
        let text = receipt.to_string().replace(&receipt["created_at_ms"].to_string(), text);
        Record::read(text.as_bytes(), &id(1)).map(|record| record.created_at_ms).ok()
    };
    assert_eq!(time("0"), Some(0));
    assert_eq!(time("18446744073709551615"), Some(9_007_199_254_740_991));
    assert_eq!(time("340282366920938463463374607431768211455"), Some(9_007_199_254_740_991));
    assert_eq!(time(&"9".repeat(1000)), Some(9_007_199_254_740_991));
    assert_eq!(time("-5"), Some(0));
    assert_eq!(["1e3", "1.0", "true", "-", "01"].map(time), [None; 5]);
}

#[test]
fn of_metadata_what_is_not_understood_is_left_out() {
    let both = Some(vec![EndpointCapability::Http, EndpointCapability::Acp]);
    let metadata = |value: Value| with("/metadata", value).unwrap().metadata;
    for nothing in [json!(null), json!({}), json!([1]), json!("text"), json!({"endpoint_capabilities": null})] {
        assert_eq!(metadata(nothing).endpoint_capabilities, both);
    }
    let known = metadata(json!({
        "child_pid": "x", "profile": 7, "persistence_location": "/a", "new": {"deep": []},
        "endpoint_capabilities": ["grpc", "acp", 7], "supervisor": {"kind": "tmux", "session_name": "main", "new": 1},
        "tackroom": {"pid_domain": 7},
    }));
    assert_eq!((known.profile, known.persistence_location.as_deref()), (None, Some("/a")));
    assert_eq!(known.endpoint_capabilities, Some(vec![EndpointCapability::Acp]));
    assert_eq!(known.supervisor, Some(Supervisor::Tmux { session_name: "main".to_owned() }));
    for other in [json!({"kind": "screen", "session_name": "x"}), json!({"kind": "tmux"}), json!("tmux")] {
        assert_eq!(metadata(json!({ "supervisor": other })).supervisor, None);
    }
    let mut more = receipt(1);
    more["new"] = json!({"token": 7});
    more.as_object_mut().unwrap().remove("metadata");
    assert_eq!(read(&more).unwrap().metadata.endpoint_capabilities, both);
}

#[test]
fn a_conversation_is_the_same_where_its_workspace_leads_to_the_same_place() {
    let home = tempfile::tempdir().unwrap();
    let place = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(place("real")).unwrap();
    std::os::unix::fs::symlink(place("real"), place("link")).unwrap();
    let runs = |ours: &str, asked: &str| {
        let record = with("/source", json!({"harness": "codex", "session_id": "s", "workspace": ours})).unwrap();
        record.runs(&Source { harness: Harness::Codex, session_id: "s".to_owned(), workspace: asked.to_owned() })
    };
    assert!(runs(&place("real"), &place("link")));
    assert!(runs(&place("link/gone"), &place("real/../real/gone/")));
    assert!(!runs(&place("real"), &place("other")));
    let here = std::env::current_dir().unwrap();
    assert!(!runs(here.to_str().unwrap(), "."), "a relative path is no place");
    let record = with("/source", json!({"harness": "codex", "session_id": "s", "workspace": "/w"})).unwrap();
    let source = Source { harness: Harness::Codex, session_id: "s".to_owned(), workspace: "/w".to_owned() };
    assert!(record.runs(&source));
    assert!(!record.runs(&Source { harness: Harness::Grok, ..source.clone() }));
    assert!(!record.runs(&Source { session_id: "S".to_owned(), ..source }));
}
