//! The published schema, held against every frame that crosses.

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// One validator for each thing that the schema describes, by its place in it.
static VALIDATORS: LazyLock<HashMap<String, Validator>> = LazyLock::new(|| {
    let schema = tackroom::service::schema();
    let mut parts = HashMap::from([("error".to_owned(), json!({ "$ref": "#/definitions/Error" }))]);
    for (kind, members) in [("methods", &["params", "result"][..]), ("notifications", &["params"])] {
        for (name, part) in schema[kind].as_object().expect("a map") {
            for member in members {
                parts.insert(format!("{kind} {name} {member}"), part[member].clone());
            }
        }
    }
    let compile = |part: Value| {
        let whole = json!({ "allOf": [part], "definitions": schema["definitions"] });
        jsonschema::options().with_draft(Draft::Draft7).build(&whole).expect("a valid schema")
    };
    parts.into_iter().map(|(place, part)| (place, compile(part))).collect()
});

/// How each method says that it can fail: `<method> <reason>`.
static FAILURES: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let document = tackroom::service::openrpc();
    let methods = document["methods"].as_array().expect("a list").iter();
    let told = methods.filter(|method| method.get("errors").is_some()).flat_map(|method| {
        let references = method["errors"].as_array().expect("a list").iter();
        let words = references.filter_map(|error| error["$ref"].as_str()?.rsplit('/').next());
        words.map(|word| format!("{} {word}", method["name"].as_str().expect("a name")))
    });
    told.collect()
});

/// Fails unless a method says that it can fail so.
#[track_caller]
fn check_failure(method: &str, error: &Value) {
    let reason = error["data"]["reason"].as_str().expect("a reason");
    let known = !tackroom::service::methods().iter().any(|known| known.name == method)
        || FAILURES.contains(&format!("{method} {reason}"));
    assert!(known, "src/service/errors.rs does not tell that {method} fails with {reason}: {error}");
}

/// Fails unless `value` fits what the schema says at `place`.
#[track_caller]
pub fn check(place: &str, value: &Value) {
    let validator = VALIDATORS.get(place).unwrap_or_else(|| panic!("the schema does not know {place}"));
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{place} does not fit the schema: {errors:#?}\n{value:#}");
}

/// Fails unless `message` is a message that the server may send; `method` is what it was asked, where that is known.
#[track_caller]
pub fn check_message(message: &Value, method: Option<&str>) {
    let object = message.as_object().unwrap_or_else(|| panic!("no object: {message}"));
    let mut members: Vec<&str> = object.keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    match members[..] {
        ["jsonrpc", "method", "params"] => {
            let name = message["method"].as_str().expect("a name");
            check(&format!("notifications {name} params"), &message["params"]);
        }
        ["id", "jsonrpc", "result"] => {
            if let Some(method) = method {
                check(&format!("methods {method} result"), &message["result"]);
            }
        }
        ["error", "id", "jsonrpc"] => {
            check("error", &message["error"]);
            if let Some(method) = method {
                check_failure(method, &message["error"]);
            }
        }
        _ => panic!("neither an answer nor a notification: {message}"),
    }
}
