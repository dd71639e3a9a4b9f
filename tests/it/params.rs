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
