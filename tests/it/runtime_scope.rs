//! Runtimes out of scope are exactly as if they were not there.

use crate::support::inventory::{beside, files_in, hosting, list, receipts_in, source};
use crate::support::runtime::{Options, Runtime};
use crate::support::{Home, Server, uuid};
use serde_json::{Value, json};
use std::fs;

const ALLOW: &str = "observe,interact,register";

/// Three runtimes of ours. Theirs come and go.
struct Scene {
    home: Home,
    ours: Vec<Runtime>,
}

/// What is out of scope: runtimes that answer, refuse and double ids, and receipts that do not hold.
struct Theirs {
    runtimes: Vec<Runtime>,
    /// Endpoints and sources.
    named: Vec<(String, Value)>,
    bad: std::path::PathBuf,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        let place = |name: &str| {
            fs::create_dir(home.path().join(name)).unwrap();
            home.path().join(name).display().to_string()
        };
        let (ours, theirs) = (place("ours"), place("theirs"));
        home.project("-ours", &ours).session(&uuid(1), "ours", 10);
        home.project("-theirs", &theirs).session(&uuid(2), "theirs", 20);
        let options = [hosting(&uuid(1), "one", &ours), Options::hosted("claude-code", "two", &ours)];
        let ours: Vec<Runtime> = options.map(Runtime::start).into();
        ours.iter().for_each(|runtime| drop(runtime.publish(&receipts_in(home.path()))));
        Self { home, ours }
    }

    fn path(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    /// Publishes runtimes that this harness and this workspace put out of scope.
    fn theirs(&self, harness: &str, workspace: &str) -> Theirs {
        let receipts = receipts_in(self.home.path());
        let mut options: Vec<Options> =
            ["three", "one", "doubled", "doubled"].map(|id| Options::hosted(harness, id, workspace)).into();
        options[0].source.session_id = uuid(2);
        // A runtime of our session, where another one says so.
        options[1].source.session_id = uuid(1);
        let runtimes: Vec<Runtime> = options.into_iter().map(Runtime::start).collect();
        let endpoints: Vec<String> = runtimes.iter().map(|runtime| runtime.publish(&receipts)).collect();
        runtimes[0].set_busy(true);
        let refusing = Runtime::start(Options::hosted(harness, "refusing", workspace));
        let refused = refusing.publish(&receipts);
        refusing.refuse();
        let bad = refusing.receipt().with("/token", "");
        let sources = runtimes.iter().chain([&refusing]).map(|runtime| source(runtime.options()));
        let mut named: Vec<(String, Value)> = endpoints.into_iter().chain([refused]).zip(sources).collect();
        named.push((bad.endpoint(), source(refusing.options())));
        let bad = bad.write(&receipts);
        Theirs { runtimes: runtimes.into_iter().chain([refusing]).collect(), named, bad }
    }
}

/// Everything that a scoped client can learn, but for clocks and for what it says itself.
fn learned(server: &mut Server, named: &[(String, Value)]) -> Vec<Value> {
    let mut asked: Vec<(&str, Value)> = vec![
        ("registry/list", json!({})),
        ("registry/list", json!({ "query": { "twins": true } })),
        ("registry/list", json!({ "limit": 0 })),
        ("registry/list", json!({ "query": { "text": "o", "searchPreviews": true } })),
        ("registry/list", json!({ "query": { "rootId": "three" } })),
        ("registry/coverage", json!({})),
        ("runtime/receipts", json!({})),
    ];
    for id in ["one", "two", "three", "doubled", "refusing"] {
        asked.push(("registry/describe", json!({ "id": id })));
        asked.push(("session/load", json!({ "id": id })));
    }
    for id in ["three", "doubled", "refusing"] {
        asked.push(("runtime/attach", json!({ "id": id })));
        asked.push(("runtime/attach", json!({ "runtimeId": id })));
        asked.push(("runtime/describe", json!({ "runtimeId": id })));
    }
    asked.push(("runtime/attach", json!({ "id": format!("claude-code:{}", uuid(2)) })));
    let ours = server.request("runtime/receipts", json!({})).result()["receipts"][0]["source"].clone();
    for (endpoint, source) in named {
        asked.push(("runtime/attach", json!({ "endpoint": endpoint, "source": ours })));
        let of = json!({ "harness": source["harness"], "sessionId": source["sessionId"] });
        asked.push(("registry/states", json!({ "sources": [of] })));
        asked.push(("runtime/discover", json!({ "source": source })));
        asked.push(("runtime/attach", json!({ "endpoint": endpoint, "source": source })));
        asked.push(("runtime/forget", json!({ "endpoint": endpoint })));
        asked.push(("runtime/forget", json!({ "endpoint": endpoint, "force": true })));
        asked.push(("runtime/unregister", json!({ "endpoint": endpoint })));
    }
    let answers = asked.into_iter().map(|(method, params)| {
        let mut answer = server.request(method, params).whole();
        answer.as_object_mut().unwrap().remove("id");
        still(&mut answer);
        answer
    });
    answers.collect()
}

/// Takes out what moves by itself.
fn still(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for moving in ["observedAtMs", "elapsedMs", "revision"] {
                members.remove(moving);
            }
            members.values_mut().for_each(still);
        }
        Value::Array(elements) => elements.iter_mut().for_each(still),
        _ => {}
    }
}

fn compare(scene: &Scene, theirs: Theirs, scope: &[&str]) {
    let args = [&["--allow", ALLOW], scope].concat();
    let published = files_in(scene.home.path());
    let with = learned(&mut beside(&scene.home, &args), &theirs.named);
    assert_eq!(files_in(scene.home.path()), published, "something of theirs was removed");
    for runtime in &theirs.runtimes {
        assert!(runtime.observers().is_empty());
    }
    let named = theirs.named.clone();
    fs::remove_file(&theirs.bad).unwrap();
    drop(theirs);
    let without = learned(&mut beside(&scene.home, &args), &named);
    for (with, without) in with.iter().zip(&without) {
        assert_eq!(with, without);
    }
    let entries = with[0]["result"]["entries"].as_array().unwrap();
    let told: Vec<&str> = entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert_eq!((told, with[0]["result"].get("problems")), (vec!["two", "one"], None));
    assert_eq!(scene.ours.len(), 2);
}

#[test]
fn another_workspace() {
    let scene = Scene::new();
    let ours = scene.path("ours");
    for theirs in ["theirs", "ours-2", "."] {
        compare(&scene, scene.theirs("claude-code", &scene.path(theirs)), &["--workspace", &ours]);
    }
}

#[test]
fn another_harness() {
    let scene = Scene::new();
    let ours = scene.path("ours");
    fs::remove_dir_all(scene.home.claude().join("projects/-theirs")).unwrap();
    compare(&scene, scene.theirs("codex", &ours), &["--harness", "claude-code"]);
    compare(&scene, scene.theirs("codex", &ours), &["--harness", "claude-code,gemini", "--workspace", &ours]);
}

#[test]
fn without_a_scope_all_of_them_are_there() {
    let scene = Scene::new();
    let theirs = scene.theirs("codex", &scene.path("theirs"));
    let mut server = beside(&scene.home, &["--allow", ALLOW]);
    let answer = list(&mut server, json!({}));
    let mut reasons: Vec<&str> =
        answer["problems"].as_array().unwrap().iter().map(|problem| problem["reason"].as_str().unwrap()).collect();
    reasons.sort_unstable();
    // Both `one` and `doubled` are claimed twice.
    assert_eq!(reasons, ["ambiguous_runtime", "ambiguous_runtime", "token", "transport"]);
    assert_eq!(server.request("runtime/receipts", json!({})).result()["receipts"].as_array().unwrap().len(), 7);
    // A request that gives the scope up sees what is ours alone.
    let ours = json!({ "authority": { "workspaces": [scene.path("ours")] } });
    let narrowed = server.request("registry/list", json!({ "_meta": ours })).result();
    assert_eq!((&narrowed["total"], narrowed.get("problems")), (&json!(2), None));
    server.request("authority/narrow", ours).result();
    let forgotten = json!({ "endpoint": theirs.named[0].0, "force": true });
    assert_eq!(server.request("runtime/forget", forgotten).result(), json!({ "removed": false }));
}

#[test]
fn a_runtime_in_scope_whose_session_is_not_and_the_other_way_round() {
    let scene = Scene::new();
    let (ours, theirs) = (scene.path("ours"), scene.path("theirs"));
    let receipts = receipts_in(scene.home.path());
    let strayed = Runtime::start(hosting(&uuid(2), "strayed", &ours));
    strayed.publish(&receipts);
    let hidden = Runtime::start(hosting(&uuid(1), "hidden", &theirs));
    hidden.publish(&receipts);
    let mut server = beside(&scene.home, &["--workspace", &ours]);
    let answer = list(&mut server, json!({}));
    assert_eq!(answer["total"], 3);
    let entry = |id: &str| answer["entries"].as_array().unwrap().iter().find(|entry| entry["id"] == id).unwrap();
    for member in ["persistedId", "title", "updatedAtMs", "resume"] {
        assert_eq!(entry("strayed").get(member), None, "{member}");
    }
    assert_eq!(entry("one")["runtimeIds"], Value::Null);
    let loaded = server.request("session/load", json!({ "id": "strayed" })).result();
    assert_eq!(loaded["messages"], json!([]));
}
