//! The published documents: as the types say, valid by their own standards, and true of the running server.

use crate::support::Spawn;
use jsonschema::{Draft, Retrieve, Uri};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

fn published(name: &str) -> Value {
    serde_json::from_str(&text(&format!("schema/{name}"))).unwrap()
}

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_files_are_what_the_types_generate() {
    use tackroom::service::{meta, openrpc, schema};
    for (name, generated) in [("schema.json", schema()), ("meta.json", meta()), ("openrpc.json", openrpc())] {
        let generated = serde_json::to_string_pretty(&generated).unwrap() + "\n";
        assert!(text(&format!("schema/{name}")) == generated, "schema/{name} is stale: run `cargo run -- schema`");
    }
}

#[test]
fn the_command_prints_and_writes_them() {
    let directory = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tackroom"))
            .arg("schema")
            .args(args)
            .env_clear()
            .current_dir(directory.path())
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    for (which, name) in [("schema", "schema.json"), ("meta", "meta.json"), ("openrpc", "openrpc.json")] {
        assert_eq!(run(&["--print", which]), text(&format!("schema/{name}")));
    }
    run(&["--out", "new/dir"]);
    assert_eq!(fs::read_to_string(directory.path().join("new/dir/meta.json")).unwrap(), text("schema/meta.json"));
}

#[test]
fn the_server_answers_the_published_document() {
    let mut server = Spawn::empty().open();
    assert_eq!(server.request("rpc.discover", json!({})).result(), published("openrpc.json"));
}

/// The meta-schema refers to a copy of draft 7's own, of which it uses the whole, and what a reference looks like.
struct Draft7Copy;

impl Retrieve for Draft7Copy {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let reference = json!({ "type": "string", "format": "uri-reference" });
        Ok(json!({
            "allOf": [{ "$ref": "http://json-schema.org/draft-07/schema#" }],
            "definitions": { "JSONSchemaObject": { "properties": { "$ref": reference } } },
        }))
    }
}

/// The OpenRPC specification's own schema of such documents (Apache-2.0, see the licence beside it).
#[test]
fn openrpc_passes_its_meta_schema() {
    let meta: Value = serde_json::from_str(&text("tests/fixtures/openrpc-meta-schema.json")).unwrap();
    let validator = jsonschema::options().with_draft(Draft::Draft7).with_retriever(Draft7Copy).build(&meta).unwrap();
    let document = published("openrpc.json");
    let errors: Vec<String> =
        validator.iter_errors(&document).map(|error| format!("{}: {error:.300}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    // It can fail.
    for broken in [
        json!({ "openrpc": "1.3.2", "info": { "title": "x", "version": "1" } }),
        json!({ "openrpc": "1.3.2", "info": { "title": "x", "version": "1" }, "methods": [{ "name": "x", "params": [{ "name": "y" }] }] }),
        json!({ "openrpc": "1.3.2", "info": { "title": "x", "version": "1" }, "methods": [], "components": { "schemas": { "x": { "type": 5 } } } }),
    ] {
        assert!(!validator.is_valid(&broken), "{broken}");
    }
}

#[test]
fn the_documents_name_the_same_methods_as_the_server() {
    let answer = Spawn::empty().start().initialize(json!({}));
    let names = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let keys = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let (schema, meta, openrpc) = (published("schema.json"), published("meta.json"), published("openrpc.json"));
    assert_eq!(keys(&meta["methods"]), names(&answer["methods"]));
    assert_eq!(keys(&schema["methods"]), names(&answer["methods"]));
    assert_eq!(names(&meta["serverNotifications"]), names(&answer["notifications"]));
    let mut all = names(&meta["clientNotifications"]);
    all.extend(names(&meta["serverNotifications"]));
    all.sort();
    let mut notices = keys(&schema["notifications"]);
    notices.sort();
    assert_eq!(notices, all);

    let mut of_openrpc = Vec::new();
    for method in openrpc["methods"].as_array().unwrap() {
        let name = method["name"].as_str().unwrap().to_owned();
        assert!(method["summary"].as_str().is_some_and(|summary| summary.ends_with('.')), "{name} has no summary");
        if method.get("x-notification").is_none() {
            assert_eq!(method["x-permissions"], meta["methods"][&name]["permissions"], "{name}");
            of_openrpc.push(name);
        } else {
            assert!(method.get("result").is_none(), "{name} has a result");
        }
    }
    assert_eq!(of_openrpc, names(&answer["methods"]));
}

#[test]
fn references_lead_somewhere_and_nothing_is_left_over() {
    for name in ["schema.json", "openrpc.json"] {
        let document = published(name);
        let mut references = HashSet::new();
        collect_references(&document, &mut references);
        assert!(references.len() > 10, "{name}");
        for reference in &references {
            let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{name}: {reference} leads outside"));
            assert!(document.pointer(pointer).is_some(), "{name}: {reference} leads nowhere");
        }
    }
}

fn collect_references(value: &Value, into: &mut HashSet<String>) {
    match value {
        Value::Object(members) => {
            into.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| collect_references(member, into));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, into)),
        _ => {}
    }
}

#[test]
fn params_are_listed_required_ones_first_and_described() {
    for method in published("openrpc.json")["methods"].as_array().unwrap() {
        let params = method["params"].as_array().unwrap();
        let required: Vec<bool> = params.iter().map(|param| param["required"].as_bool().unwrap()).collect();
        assert!(required.is_sorted_by(|a, b| a >= b), "{}", method["name"]);
        for param in params {
            assert!(param.get("schema").is_some() && param.get("description").is_some(), "{param}");
        }
        assert_eq!(method["paramStructure"], "by-name");
    }
}

#[test]
fn errors_are_told_once_each_with_their_meaning() {
    let (meta, openrpc) = (published("meta.json"), published("openrpc.json"));
    let errors = meta["errors"].as_array().unwrap();
    let unique = |member: &str| errors.iter().map(|error| error[member].to_string()).collect::<HashSet<_>>().len();
    assert_eq!((unique("code"), unique("reason")), (errors.len(), errors.len()));
    for error in errors {
        let reason = error["reason"].as_str().unwrap();
        assert!(error["meaning"].as_str().is_some_and(|meaning| meaning.ends_with('.')), "{reason}");
        let told = &openrpc["components"]["errors"][reason];
        assert_eq!((&told["code"], &told["message"]), (&error["code"], &error["meaning"]));
    }
}
