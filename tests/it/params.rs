//! Params of every method: objects by name, and errors that name what does not fit.

use crate::support::{Spawn, initialize_params};
use serde_json::{Value, json};

#[test]
fn an_array_is_no_object_wherever_it_stands() {
    let mut server = Spawn::empty().start();
    for client in [json!(["x"]), json!([])] {
        let mut params = initialize_params();
        params["clientInfo"] = client;
        server.request_unchecked("initialize", params).error().is(-32602, "invalid_params");
    }
    let mut params = initialize_params();
    params["authority"] = json!([]);
    server.request_unchecked("initialize", params).error().is(-32602, "invalid_params");
    server.initialize(json!({}));
    for (method, params) in [
        ("registry/list", json!({ "query": [null] })),
        ("registry/list", json!({ "query": [] })),
        ("authority/narrow", json!({ "authority": [["observe"]] })),
        ("ping", json!({ "_meta": [] })),
        ("registry/list", json!({ "_meta": [[["observe"], ["/nowhere"]]] })),
        ("registry/list", json!({ "_meta": { "authority": [] } })),
    ] {
        server.request_unchecked(method, params).error().is(-32602, "invalid_params");
    }
    assert_eq!(server.request("registry/list", json!({ "limit": 0 })).result()["total"], 0);
}

#[test]
fn an_error_names_the_member_and_stays_short() {
    let mut server = Spawn::empty().open();
    let mut message = |method: &str, params: Value| server.request_unchecked(method, params).error().message;
    for (method, params, place) in [
        ("registry/list", json!({ "limit": "many" }), "`limit`"),
        ("registry/list", json!({ "query": { "harnesses": ["emacs"] } }), "`query`"),
        ("ping", json!({ "_meta": { "progressToken": [1] } }), "`_meta`"),
        ("authority/narrow", json!({ "authority": { "permissions": ["everything"] } }), "`authority`"),
    ] {
        let said = message(method, params);
        assert!(said.starts_with(place), "{said}");
        assert!(!said.contains(" at line "), "{said}");
    }
    let long = message("registry/list", json!({ "query": { "harnesses": ["x\u{1b}[31m".repeat(100_000)] } }));
    assert!(long.len() < 2_000 && !long.contains(char::is_control), "{} bytes", long.len());
    let unknown = message(&"y".repeat(100_000), json!({}));
    assert!(unknown.len() < 500, "{} bytes", unknown.len());
}

#[test]
fn lists_and_texts_are_bounded() {
    let mut server = Spawn::empty().open();
    let paths = |count: usize| (0..count).map(|number| format!("/w/{number}")).collect::<Vec<_>>();
    let query = |name: &str, value: Value| json!({ "query": { name: value } });
    let text = |bytes: usize| json!("/".repeat(bytes));
    let meta = |authority: Value| json!({ "_meta": { "authority": authority } });
    for (method, fits, exceeds) in [
        ("ping", meta(json!({ "workspaces": paths(100) })), meta(json!({ "workspaces": paths(101) }))),
        ("ping", meta(json!({ "workspaces": [text(4096)] })), meta(json!({ "workspaces": [text(4097)] }))),
        ("ping", meta(json!({ "harnesses": ["codex"] })), meta(json!({ "harnesses": vec!["codex"; 101] }))),
        (
            "authority/narrow",
            json!({ "authority": {} }),
            json!({ "authority": { "permissions": vec!["observe"; 101] } }),
        ),
        ("registry/list", query("text", text(4096)), query("text", text(4097))),
        ("registry/list", query("workspace", text(4096)), query("workspace", text(4097))),
        ("registry/watch", query("text", text(4096)), query("text", text(4097))),
        ("registry/watch", query("rootId", text(4096)), query("rootId", text(4097))),
        ("registry/watch", query("profile", text(4096)), query("profile", text(4097))),
        (
            "registry/watch",
            query("harnesses", json!(vec!["codex"; 100])),
            query("harnesses", json!(vec!["codex"; 101])),
        ),
        ("registry/watch", query("states", json!(["idle"])), query("states", json!(vec!["idle"; 101]))),
        ("registry/watch", query("include", json!(["topics"])), query("include", json!(vec!["topics"; 101]))),
        ("registry/coverage", json!({}), json!({ "harnesses": vec!["codex"; 101] })),
        ("runtime/attach", Value::Null, json!({ "runtimeId": "x", "permissions": vec!["observe"; 101] })),
    ] {
        if !fits.is_null() {
            server.request(method, fits).result();
        }
        server.request_unchecked(method, exceeds).error().is(-32602, "invalid_params");
    }
    let mut server = Spawn::empty().start();
    for homes in [json!({ "codex": paths(101) }), json!({ "codex": [text(4097)] })] {
        let mut params = initialize_params();
        params["homes"] = homes;
        server.request_unchecked("initialize", params).error().is(-32602, "invalid_params");
    }
    server.initialize(json!({}));
}
