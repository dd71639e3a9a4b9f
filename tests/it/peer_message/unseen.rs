//! A courier is a session of Claude Code, too, and none that anybody wants to see.

use super::{World, ready, send};
use crate::peer_list::{Sleeper, record};
use crate::support::Server;
use serde_json::{Value, json};
use std::fs;

/// Writes the record that the real program would, under the name that it was given or, at first, its directory's.
fn register(server: &Server, pid: i32, change: Value) {
    let mut fields = json!({ "name": "tackroom-courier-0123abcd-f0", "entrypoint": "sdk-cli", "cwd": "/p" });
    fields.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    record(&server.home.claude(), pid as u32, fields);
}

#[test]
fn a_courier_at_work_is_in_no_list_no_watch_and_no_count() {
    let (mut server, _target) = World::new("ready; stay").open(&[]);
    server.request("registry/watch", json!({})).result();
    server.expect_params("registry/event", |params| params["event"]["kind"] == "synced");
    server.forget_notifications();
    let coverage = |server: &mut Server| {
        server.request("registry/coverage", json!({ "harnesses": ["claude-code"] })).result()["harnesses"][0]["roots"]
            .clone()
    };
    // What is there, and how often it changed.
    let list = |server: &mut Server| {
        let list = server.request("registry/list", json!({})).result();
        (list["total"].clone(), list["revision"].clone())
    };
    let before = (list(&mut server), coverage(&mut server));
    let id = server.ask("peer/message", json!({ "name": "reviewer", "text": "Hello" }));
    let [pid] = ready(server.home.path())[..] else { panic!("one pid") };
    register(&server, pid, json!({}));
    let peers = server.request("peer/list", json!({})).result();
    assert_eq!(peers["peers"].as_array().unwrap().len(), 1, "{peers}");
    assert_eq!(peers.get("problems"), None);
    assert_eq!(list(&mut server), before.0);
    assert_eq!(coverage(&mut server), before.1);
    // However it is called: its directory tells.
    register(&server, pid, json!({ "name": "some title", "cwd": "/tmp/tackroom-courier-0123ab" }));
    assert_eq!(server.request("peer/list", json!({})).result(), peers);
    assert_eq!((list(&mut server), coverage(&mut server)), before);
    register(&server, pid, json!({}));
    let name = json!({ "name": "tackroom-courier-0123abcd-f0" });
    server.request("peer/resolve", name.clone()).error().is(-32003, "not_live");
    // It is never a target itself.
    let mut params = name;
    params["text"] = json!("Hello");
    server.request("peer/message", params).error().is(-32003, "not_live");
    // The same process without the marks is a session like others, and the first of which the watch tells.
    register(&server, pid, json!({ "entrypoint": "cli" }));
    let event = server.expect_notification("registry/event");
    assert_eq!((&event["event"]["kind"], &event["event"]["entry"]["activity"]["pid"]), (&json!("added"), &json!(pid)));
    server.notify("$/cancelRequest", json!({ "id": id }));
    server.answer(id).error().is(-32800, "cancelled");
}

#[test]
fn the_record_that_a_courier_left_is_in_no_count() {
    let (mut server, _target) = World::new("exit 1").open(&[]);
    let coverage =
        |server: &mut Server| server.request("registry/coverage", json!({})).result()["harnesses"][0]["roots"].clone();
    let before = coverage(&mut server);
    let mut dead = Sleeper::start();
    dead.zombie();
    register(&server, dead.pid() as i32, json!({}));
    assert_eq!(coverage(&mut server), before);
    // Nor when another process has its pid.
    let other = Sleeper::start();
    register(&server, other.pid() as i32, json!({ "procStart": "1" }));
    assert_eq!(coverage(&mut server), before);
    register(&server, dead.pid() as i32, json!({ "entrypoint": "cli" }));
    assert_ne!(coverage(&mut server), before);
}

#[test]
fn couriers_that_killed_servers_left_are_swept_with_time() {
    let World { home, target } = World::new("call; sent; notice held; stay");
    let old = home.path().join("tmp/tackroom-courier-old");
    let kept =
        ["tackroom-courier-new", "tackroom-courier-full", "other"].map(|name| home.path().join("tmp").join(name));
    for directory in kept.iter().chain([&old]) {
        fs::create_dir(directory).unwrap();
    }
    fs::write(kept[1].join("file"), "").unwrap();
    for directory in [&old, &kept[1], &kept[2]] {
        let two_hours_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7_200);
        fs::File::open(directory).unwrap().set_modified(two_hours_ago).unwrap();
    }
    let (mut server, _target) = World { home, target }.open(&[]);
    let begin = std::time::Instant::now();
    while old.exists() {
        assert!(begin.elapsed() < crate::support::DEADLINE, "it is left");
        std::thread::yield_now();
    }
    send(&mut server, "Hello").result();
    assert!(kept.iter().all(|directory| directory.exists()));
}
