//! Runtimes in the inventory: their entries, what they are joined with, and how a query finds them.

use crate::support::inventory::{hosting, ids, list, listed, problems, receipts_in};
use crate::support::runtime::{Bad, Options, Route, Runtime};
use crate::support::{Home, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const WORKSPACE: &str = "/home/dev/demo";

/// A home with one stored session, the first, and an older one, the second.
fn stored() -> Home {
    let home = Home::new();
    let project = home.project("-home-dev-demo", WORKSPACE);
    project.session(&uuid(1), "Mend the roof", 120);
    project.session(&uuid(2), "Paint the door", 60);
    home
}

fn session_id(number: usize) -> String {
    format!("claude-code:{}", uuid(number))
}

/// A runtime with a receipt in a home.
fn run(home: &Home, options: Options) -> Runtime {
    let runtime = Runtime::start(options);
    runtime.publish(&receipts_in(home.path()));
    runtime
}

#[track_caller]
fn describe(server: &mut Server, id: &str) -> Value {
    server.request("registry/describe", json!({ "id": id })).result()["entry"].clone()
}

/// An entry whole, but for what differs from run to run; that is checked against the runtime.
fn masked(server: &Server, entry: &Value, runtime: &Runtime, endpoint: &str) -> String {
    let mut entry = entry.clone();
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64;
    let is_time = |value: &Value| (now - 600_000..=now + 600_000).contains(&value.as_i64().unwrap());
    assert_eq!(entry["endpoint"], endpoint);
    for pid in ["/owner/pid", "/activity/pid"] {
        let pid = entry.pointer_mut(pid).unwrap();
        assert_eq!(*pid, runtime.receipt().members()["pid"]);
        *pid = json!("[pid]");
    }
    let times = ["/startedAtMs", "/activity/observedAtMs", "/owner/controller/expiresAtMs", "/observers/0/lastSeenMs"];
    for time in times {
        if let Some(time) = entry.pointer_mut(time) {
            assert!(is_time(time), "{time}");
            *time = json!("[time]");
        }
    }
    entry["endpoint"] = json!("[endpoint]");
    serde_json::to_string_pretty(&entry).unwrap().replace(server.home.path().to_str().unwrap(), "[home]")
}

#[test]
fn a_runtime_with_an_agent_of_its_own_whole() {
    let home = Home::new();
    let runtime = Runtime::start(Options::main("main-1", WORKSPACE));
    let receipt = runtime
        .receipt()
        .with("/metadata/profile", "night")
        .with("/metadata/persistence_location", "/home/dev/kept.jsonl")
        .with("/metadata/supervisor", json!({ "kind": "tmux", "session_name": "demo" }));
    receipt.write(&receipts_in(home.path()));
    let mut server = Spawn::new(home).args(["--allow", "observe,interact"]).open();
    let attached = server.request("runtime/attach", json!({ "id": "main-1", "clientId": "anna" })).result();
    server.request("runtime/acquireControl", json!({ "attachment": attached["attachment"] })).result();
    let answer = list(&mut server, json!({}));
    assert_eq!((ids(&answer), problems(&answer)), (vec!["main-1".to_owned()], vec![]));
    insta::assert_snapshot!("main", masked(&server, &answer["entries"][0], &runtime, &receipt.endpoint()));
    // The descriptor's own word counts before the receipt's.
    let lie = Bad::lie("/result/emulation_profile", "day");
    runtime.misbehave(Route::Rpc("describe".into()), lie);
    assert_eq!(list(&mut server, json!({}))["entries"][0]["profile"], "day");
}

#[test]
fn a_hosted_runtime_with_its_stored_session_whole() {
    let home = stored();
    let runtime = Runtime::start(hosting(&uuid(1), "hosted-1", WORKSPACE));
    let endpoint = runtime.publish(&receipts_in(home.path()));
    let mut server = Spawn::new(home).open();
    let answer = list(&mut server, json!({}));
    assert_eq!((ids(&answer), &answer["total"]), (vec!["hosted-1".to_owned(), session_id(2)], &json!(2)));
    insta::assert_snapshot!("hosted", masked(&server, &answer["entries"][0], &runtime, &endpoint));
    // Without a stored session the harness's id is no model either.
    let other = run(&server.home, hosting(&uuid(9), "hosted-9", WORKSPACE));
    let entry = describe(&mut server, "hosted-9");
    assert_eq!((entry.get("model"), &entry["harness"]), (None, &json!("claude-code")));
    assert_eq!((entry.get("persistedId"), entry.get("title"), entry.get("resume")), (None, None, None));
    // A runtime need not state its harness, and may name a model.
    let lies = [("source_harness", Value::Null), ("model", json!("big-model"))];
    let lies = lies.map(|(member, value)| (format!("/result/{member}"), Some(value)));
    other.misbehave(Route::Rpc("describe".into()), Bad::Lie(lies.into()));
    assert_eq!(describe(&mut server, "hosted-9")["model"], "big-model");
}

#[test]
fn states_are_those_of_the_descriptor() {
    let home = stored();
    let runtime = run(&home, hosting(&uuid(1), "one", WORKSPACE));
    let mut server = Spawn::new(home).open();
    for (connection, turn, state, status) in [
        ("connected", "idle", "idle", Some("idle")),
        ("connected", "busy", "busy", Some("busy")),
        ("shutting_down", "busy", "shutting_down", None),
        ("connected", "dreaming", "live", None),
        ("half-closed", "idle", "idle", Some("idle")),
    ] {
        let lies = [("connection_state", connection), ("turn_state", turn)];
        let lies = lies.map(|(member, word)| (format!("/result/{member}"), Some(json!(word))));
        runtime.behave();
        runtime.misbehave(Route::Rpc("describe".into()), Bad::Lie(lies.into()));
        let entry = describe(&mut server, "one");
        assert_eq!((&entry["state"], entry["activity"]["status"].as_str()), (&json!(state), status));
        assert_eq!(entry["activity"]["source"], "runtime");
        assert_eq!(listed(&mut server, json!({ "states": [state] })), ["one"]);
        assert_eq!(listed(&mut server, json!({ "states": ["persisted"] })), [session_id(2)]);
    }
}

#[test]
fn twins_are_two_rows_that_name_each_other() {
    let home = stored();
    let _runtime = run(&home, hosting(&uuid(1), "one", WORKSPACE));
    let mut server = Spawn::new(home).open();
    let answer = list(&mut server, json!({ "twins": true }));
    assert_eq!(answer["total"], 3);
    let of = |id: &str| answer["entries"].as_array().unwrap().iter().find(|entry| entry["id"] == id).unwrap().clone();
    let (live, stored) = (of("one"), of(&session_id(1)));
    assert_eq!((&live["persistedId"], &live["state"]), (&json!(session_id(1)), &json!("idle")));
    assert_eq!((&stored["runtimeIds"], &stored["state"]), (&json!(["one"]), &json!("persisted")));
    for member in ["endpoint", "runtimeId", "owner", "doors", "activity", "actions", "persistedId"] {
        assert_eq!(stored.get(member), None, "{member}");
    }
    assert_eq!(of(&session_id(2)).get("runtimeIds"), None);
    // Either id means the one that is joined.
    assert_eq!(describe(&mut server, &session_id(1))["id"], "one");
}

#[test]
fn several_runtimes_of_one_session_are_rows_of_their_own_that_tell_of_each_other() {
    let home = stored();
    let older = run(&home, hosting(&uuid(1), "older", WORKSPACE));
    let newer = Runtime::start(hosting(&uuid(1), "newer", WORKSPACE));
    let created = older.receipt().members()["created_at_ms"].as_u64().unwrap() + 5_000;
    newer.receipt().with("/created_at_ms", created).write(&receipts_in(home.path()));
    let mut server = Spawn::new(home).open();
    let answer = list(&mut server, json!({}));
    assert_eq!((&answer["total"], problems(&answer)), (&json!(3), vec![]));
    for id in ["newer", "older"] {
        let entry = answer["entries"].as_array().unwrap().iter().find(|entry| entry["id"] == id).unwrap();
        assert_eq!((&entry["persistedId"], &entry["title"]), (&json!(session_id(1)), &json!("Mend the roof")));
        assert_eq!(entry["runtimeIds"], json!(["newer", "older"]));
    }
    // The newest one has what is known beside, however it is asked for.
    server.home.peer("writer", &uuid(1), WORKSPACE);
    for (id, name) in [("newer", json!("writer")), ("older", Value::Null)] {
        let answer = list(&mut server, json!({ "text": id }));
        assert_eq!((&answer["entries"][0]["peer"]["name"], answer["total"].as_u64()), (&name, Some(1)));
        assert_eq!(describe(&mut server, id)["peer"]["name"], name);
    }
    // The session's own id means the newest one that answers.
    assert_eq!(describe(&mut server, &session_id(1))["id"], "newer");
    newer.refuse();
    newer.cut();
    let entry = describe(&mut server, &session_id(1));
    assert_eq!((&entry["id"], entry.get("runtimeIds")), (&json!("older"), None));
}

#[test]
fn a_runtime_a_live_process_and_a_transcript_of_one_session_are_one_row() {
    let home = stored();
    home.peer("writer", &uuid(1), WORKSPACE);
    let _runtime = run(&home, hosting(&uuid(1), "one", WORKSPACE));
    let mut server = Spawn::new(home).open();
    let answer = list(&mut server, json!({}));
    assert_eq!((&answer["total"], ids(&answer)[0].as_str()), (&json!(2), "one"));
    let entry = &answer["entries"][0];
    assert_eq!((&entry["peer"]["name"], &entry["title"]), (&json!("writer"), &json!("Mend the roof")));
    assert_eq!((&entry["activity"]["source"], &entry["doors"]), (&json!("runtime"), &json!(["runtime"])));
    for id in ["one".to_owned(), session_id(1)] {
        let described = describe(&mut server, &id);
        assert_eq!((&described["id"], &described["peer"]), (&entry["id"], &entry["peer"]));
    }
    assert_eq!(listed(&mut server, json!({ "text": "WRITER" })), ["one"]);
    // Apart, the process stands with the transcript.
    let twins = list(&mut server, json!({ "twins": true }));
    let peers = twins["entries"].as_array().unwrap().iter().map(|entry| (&entry["id"], entry.get("peer").is_some()));
    let peers: Vec<_> = peers.collect();
    assert_eq!(twins["total"], 3);
    assert!(peers.contains(&(&json!("one"), false)) && peers.contains(&(&json!(session_id(1)), true)), "{peers:?}");
}

#[test]
fn either_id_describes_and_loads() {
    let home = stored();
    let _runtime = run(&home, hosting(&uuid(1), "one", WORKSPACE));
    let _unwritten = run(&home, hosting(&uuid(9), "nine", WORKSPACE));
    let mut server = Spawn::new(home).open();
    let load = |server: &mut Server, id: &str| server.request("session/load", json!({ "id": id })).result();
    let [by_runtime, by_session] = ["one", &session_id(1)].map(|id| load(&mut server, id));
    assert_eq!(by_runtime["messages"], by_session["messages"]);
    assert_eq!(by_runtime["messages"][0]["content"][0]["text"], "Mend the roof");
    let described = describe(&mut server, &session_id(1));
    for session in [&by_runtime["session"], &by_session["session"], &described] {
        assert_eq!((&session["id"], &session["persistedId"]), (&json!("one"), &json!(session_id(1))));
    }
    assert_eq!((&described["messageCount"], &described["topics"][0]), (&json!(2), &json!("Mend the roof")));
    // A cursor of the one leads on with the other.
    let first = server.request("session/load", json!({ "id": "one", "limit": 1 })).result();
    let params = json!({ "id": session_id(1), "limit": 1, "cursor": first["nextCursor"] });
    assert_eq!(server.request("session/load", params).result()["messages"][0], by_session["messages"][0]);
    // What nobody has written to has no messages.
    let nothing = load(&mut server, &format!("claude-code:{}", uuid(9)));
    assert_eq!((&nothing["session"]["id"], &nothing["messages"]), (&json!("nine"), &json!([])));
    for missing in ["on", "claude-code:one", "one:", "codex:one"] {
        server.request("registry/describe", json!({ "id": missing })).error().is(-32001, "not_found");
    }
}

#[test]
fn filters_mean_runtimes_as_they_mean_what_is_stored() {
    let home = stored();
    let real = home.path().join("place");
    fs::create_dir_all(real.join("sub")).unwrap();
    std::os::unix::fs::symlink(&real, home.path().join("link")).unwrap();
    let link = home.path().join("link").display().to_string();
    let _hosted = run(&home, hosting(&uuid(1), "one", WORKSPACE));
    let main = Runtime::start(Options::main("Main-2", real.join("sub").to_str().unwrap()));
    main.receipt().with("/metadata/profile", "night").write(&receipts_in(home.path()));
    let mut server = Spawn::new(home).open();
    let both = ["Main-2".to_owned(), "one".to_owned()];
    for (query, expected) in [
        (json!({ "persisted": false }), &both[..]),
        (json!({ "persisted": false, "harnesses": ["supercode"] }), &both[..1]),
        (json!({ "harnesses": ["claude-code"], "states": ["idle"] }), &both[1..]),
        (json!({ "states": ["busy", "waiting", "live"] }), &[]),
        (json!({ "workspace": WORKSPACE, "persisted": false }), &both[1..]),
        (json!({ "workspace": format!("{link}/sub/") }), &both[..1]),
        (json!({ "workspace": link }), &[]),
        (json!({ "workspace": link, "workspaceSubtree": true }), &both[..1]),
        (json!({ "workspaceFamily": format!("{link}/sub") }), &both[..1]),
        (json!({ "text": " mAIN-2 " }), &both[..1]),
        (json!({ "text": uuid(1) }), &both[1..]),
        (json!({ "text": session_id(1) }), &both[1..]),
        (json!({ "text": "one" }), &both[1..]),
        (json!({ "text": "roof" }), &both[1..]),
        (json!({ "text": "MEND", "searchPreviews": true }), &both[1..]),
        (json!({ "profile": "night" }), &both[..1]),
        (json!({ "profile": "day" }), &[]),
        (json!({ "rootId": "one" }), &both[1..]),
        (json!({ "rootId": session_id(1) }), &both[1..]),
        (json!({ "rootId": "Main-2" }), &both[..1]),
        (json!({ "rootId": "supercode:Main-2" }), &both[..1]),
        (json!({ "rootId": "nobody" }), &[]),
        (json!({ "archived": true }), &[]),
        (json!({ "archived": false, "persisted": false }), &both),
        // The one's conversation is of January; the other is known by its start alone.
        (json!({ "updatedAfterMs": 1_770_000_000_000_i64 }), &both[..1]),
        (json!({ "updatedBeforeMs": 1_770_000_000_000_i64, "persisted": false }), &both[1..]),
    ] {
        let answer = list(&mut server, query.clone());
        assert_eq!((ids(&answer).as_slice(), &answer["total"]), (expected, &json!(expected.len())), "{query}");
    }
    let included = list(&mut server, json!({ "text": "one", "include": ["topics", "messageCount", "lastMessage"] }));
    assert_eq!(included["entries"][0]["messageCount"], 2);
}

#[test]
fn who_asks_for_no_live_evidence_gets_none_and_no_runtime_is_asked() {
    let home = stored();
    let runtime = run(&home, hosting(&uuid(1), "one", WORKSPACE));
    let mut server = Spawn::new(home).open();
    let untouched = list(&mut server, json!({ "live": false }));
    assert_eq!(runtime.connections(), 0);
    list(&mut server, json!({}));
    runtime.misbehave(Route::Any, Bad::InvalidJson);
    list(&mut server, json!({}));
    let asked = runtime.seen().len();
    let again = list(&mut server, json!({ "live": false, "twins": true }));
    assert_eq!(runtime.seen().len(), asked);
    for answer in [untouched, again] {
        assert_eq!((ids(&answer), problems(&answer)), (vec![session_id(1), session_id(2)], vec![]));
        let entry = &answer["entries"][0];
        assert_eq!(entry["state"], "persisted");
        for member in ["runtimeId", "runtimeIds", "endpoint", "doors", "activity"] {
            assert_eq!(entry.get(member), None, "{member}");
        }
    }
    // Where a store was looked into is no question for runtimes either.
    server.request("registry/coverage", json!({})).result();
    assert_eq!(runtime.seen().len(), asked);
}

#[test]
fn pages_lead_through_runtimes_and_stored_sessions_in_one_order() {
    let home = stored();
    let project = home.project("-p", "/p");
    (3..9).for_each(|number| drop(project.session(&uuid(number), "more", number as u32)));
    let hosted = (1..7).step_by(2).map(|number| run(&home, hosting(&uuid(number), &format!("r-{number}"), WORKSPACE)));
    let hosted: Vec<Runtime> = hosted.collect();
    // Three began in one millisecond.
    let created = hosted[0].receipt().members()["created_at_ms"].clone();
    let alone: Vec<Runtime> = ["c", "a", "b"].map(|id| Runtime::start(Options::main(id, "/q"))).into();
    for runtime in &alone {
        runtime.receipt().with("/created_at_ms", created.clone()).write(&receipts_in(home.path()));
    }
    let mut server = Spawn::new(home).open();
    for twins in [false, true] {
        let query = json!({ "twins": twins });
        let whole = list(&mut server, query.clone());
        let whole = ids(&whole);
        assert_eq!((whole.len(), &whole[..3]), (if twins { 14 } else { 11 }, &["a", "b", "c"].map(str::to_owned)[..]));
        for limit in [1, 2, 3, 5] {
            let (mut seen, mut cursor) = (Vec::new(), Value::Null);
            loop {
                let page = json!({ "query": query, "limit": limit, "cursor": cursor });
                let page = server.request("registry/list", page).result();
                seen.extend(ids(&page));
                match page.get("nextCursor") {
                    Some(next) => cursor = next.clone(),
                    None => break,
                }
            }
            assert_eq!(seen, whole, "{limit}");
        }
    }
    // Folded rows stand where their conversation stood.
    let entries = list(&mut server, json!({}))["entries"].as_array().unwrap().clone();
    let time = |entry: &Value| entry["updatedAtMs"].as_i64().or(entry["startedAtMs"].as_i64());
    assert!(entries.is_sorted_by_key(|entry| std::cmp::Reverse(time(entry))));
}

#[test]
fn the_revision_moves_when_a_runtime_comes_acts_and_goes_and_not_with_clocks() {
    let home = stored();
    let mut server = Spawn::new(home).open();
    let mut revision = || list(&mut server, json!({ "limit": 0 }))["revision"].as_str().unwrap().to_owned();
    let none = revision();
    assert_eq!(revision(), none);
    let receipts = receipts_in(server.home.path());
    let mut revision = || list(&mut server, json!({}))["revision"].as_str().unwrap().to_owned();
    let runtime = Runtime::start(hosting(&uuid(1), "one", WORKSPACE));
    runtime.publish(&receipts);
    let came = revision();
    assert_ne!(came, none);
    runtime.advance(5_000);
    assert_eq!(revision(), came);
    runtime.set_busy(true);
    let busy = revision();
    assert_ne!(busy, came);
    runtime.retract();
    assert_ne!(revision(), busy);
}

#[test]
fn a_runtime_that_takes_the_id_of_another_conversation_does_not_hide_it() {
    let home = stored();
    let _taker = run(&home, hosting(&uuid(2), &session_id(1), WORKSPACE));
    let _own = run(&home, Options::main("own", WORKSPACE));
    let mut server = Spawn::new(home).open();
    let answer = list(&mut server, json!({}));
    assert_eq!(ids(&answer), ["own".to_owned(), session_id(1), session_id(2)]);
    let [problem] = <[Value; 1]>::try_from(problems(&answer)).unwrap();
    assert_eq!((&problem["reason"], &problem["id"]), (&json!("ambiguous_runtime"), &json!(session_id(1))));
    assert_eq!(describe(&mut server, &session_id(1))["title"], "Mend the roof");
    // Nobody who means the session attaches.
    server.request("runtime/attach", json!({ "id": session_id(1) })).error().is(-32003, "not_live");
    let joined = server.request("runtime/attach", json!({ "id": session_id(2) })).result();
    assert_eq!(joined["descriptor"]["session_id"], session_id(1));
}

#[test]
fn a_runtime_may_call_itself_as_its_own_session_or_as_one_that_is_not_there() {
    let home = stored();
    let _own = run(&home, hosting(&uuid(1), &session_id(1), WORKSPACE));
    let _odd = run(&home, Options::main("codex:nobody", WORKSPACE));
    let mut server = Spawn::new(home).open();
    let answer = list(&mut server, json!({}));
    let expected = ["codex:nobody".to_owned(), session_id(1), session_id(2)];
    assert_eq!((ids(&answer), problems(&answer)), (expected.clone().into(), vec![]));
    assert_eq!(answer["entries"][1]["runtimeId"], answer["entries"][1]["persistedId"]);
    for id in &expected[..2] {
        let joined = server.request("runtime/attach", json!({ "id": id })).result();
        assert_eq!(joined["descriptor"]["session_id"], *id);
    }
}

/// A runtime that resumed a session of Supercode into a file of its own, as `supercode resume ID --serve` (0.5.150) does.
struct Resumed {
    runtime: Runtime,
    server: Server,
    written: std::path::PathBuf,
}

const FROZEN: &str = "162cb503b728713e-gentle-eagle";
const GROWING: &str = "162cb503b728713e-merry-robin";

impl Resumed {
    fn new(is_written: bool) -> Self {
        let home = Home::new();
        let sessions = home.path().join(".config/supercode/sessions");
        fs::create_dir_all(&sessions).unwrap();
        let [frozen, written] = [FROZEN, GROWING].map(|id| sessions.join(format!("{id}.jsonl")));
        say(&frozen, "before");
        if is_written {
            say(&written, "after");
        }
        let mut options = Options::main(GROWING, WORKSPACE);
        options.source.session_id = FROZEN.to_owned();
        let runtime = Runtime::start(options);
        let receipt = runtime.receipt().with("/metadata/persistence_location", written.to_str().unwrap());
        receipt.write(&receipts_in(home.path()));
        let server = Spawn::new(home).args(["--allow", "observe,interact"]).open();
        Self { runtime, server, written }
    }
}

/// Writes a session of one prompt.
fn say(file: &Path, text: &str) {
    fs::write(file.with_extension("meta.json"), json!({ "title": text }).to_string()).unwrap();
    fs::write(file, format!("{}\n", json!({ "role": "user", "content": text }))).unwrap();
}

#[test]
fn resumed_runtime_is_one_row_of_the_file_that_grows() {
    let Resumed { runtime, mut server, written } = Resumed::new(true);
    let answer = list(&mut server, json!({}));
    assert_eq!(ids(&answer), [GROWING]);
    let entry = &answer["entries"][0];
    let grown = format!("supercode:{GROWING}");
    assert_eq!((&entry["sessionId"], &entry["persistedId"]), (&json!(GROWING), &json!(grown)));
    assert_eq!((&entry["location"], &entry["title"]), (&json!(written), &json!("after")));
    // Unmerged, all three are there.
    let unmerged = list(&mut server, json!({ "twins": true }));
    assert_eq!(unmerged["total"], 3);
    // Each id leads to it.
    for id in [GROWING.to_owned(), grown, format!("supercode:{FROZEN}")] {
        let described = server.request("registry/describe", json!({ "id": id })).result();
        assert_eq!(described["entry"]["id"], GROWING, "{id}");
        let loaded = server.request("session/load", json!({ "id": id })).result();
        assert_eq!(loaded["messages"][0]["content"][0]["text"], "after", "{id}");
        server.request("runtime/attach", json!({ "id": id })).result();
    }
    for session in [FROZEN, GROWING] {
        let source = json!({ "harness": "supercode", "sessionId": session });
        let states = server.request("registry/states", json!({ "sources": [source] })).result();
        assert_eq!(states["states"][0]["state"], "idle", "{session}");
        let source = json!({ "harness": "supercode", "sessionId": session, "workspace": WORKSPACE });
        let found = server.request("runtime/discover", json!({ "source": source })).result();
        assert_eq!(found["endpoint"], entry["endpoint"], "{session}");
    }
    drop(runtime);
}

#[test]
fn watch_moves_a_resumed_runtime_to_the_file_that_it_begins_to_write() {
    let Resumed { runtime, mut server, written } = Resumed::new(false);
    let frozen = list(&mut server, json!({}));
    assert_eq!((ids(&frozen), &frozen["entries"][0]["title"]), (vec![GROWING.to_owned()], &json!("before")));
    let watch = server.request("registry/watch", json!({})).result();
    let is_titled = |params: &Value, title: &str| {
        let entry = &params["event"]["entry"];
        params["subscription"] == watch["subscription"] && entry["id"] == GROWING && entry["title"] == title
    };
    server.expect_params("registry/event", |params| is_titled(params, "before"));
    say(&written, "after");
    server.expect_params("registry/event", |params| is_titled(params, "after"));
    drop(runtime);
}
