//! How runtimes are asked what they do, and what a bad one costs: one row of problems, and nothing of the others.

use crate::support::inventory::{hosting, ids, list, listed, problems, receipts_in};
use crate::support::runtime::{Bad, Flavour, Options, Process, Receipt, Route, Runtime, SENTINEL_TOKEN};
use crate::support::{DEADLINE, Home, Server, Spawn, uuid};
use nix::unistd::{Uid, geteuid, setfsuid};
use serde_json::{Value, json};
use std::io::Read;
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

const WORKSPACE: &str = "/home/dev/demo";

/// A good runtime and another one, both of stored sessions, and a server that has seen neither.
struct Scene {
    good: Runtime,
    other: Runtime,
    endpoint: String,
    server: Server,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        let project = home.project("-home-dev-demo", WORKSPACE);
        project.session(&uuid(1), "of the good one", 120);
        project.session(&uuid(2), "of the other one", 60);
        let receipts = receipts_in(home.path());
        let [good, other] =
            [(1, "good"), (2, "other")].map(|(session, id)| Runtime::start(hosting(&uuid(session), id, WORKSPACE)));
        good.publish(&receipts);
        let endpoint = other.publish(&receipts);
        Self { good, other, endpoint, server: Spawn::new(home).open() }
    }

    /// The other one is not listed as live, and one row of problems says why: its message.
    #[track_caller]
    fn costs_one_row(&mut self, reason: &str) -> String {
        let answer = list(&mut self.server, json!({}));
        assert_eq!(ids(&answer), ["good".to_owned(), format!("claude-code:{}", uuid(2))], "{reason}");
        assert_eq!(answer["entries"][1]["state"], "persisted");
        self.one_problem(&answer, reason)
    }

    /// The other one is listed as live, of which nothing more is known, and one row of problems says why: its message.
    #[track_caller]
    fn is_live_with_one_problem(&mut self, reason: &str) -> String {
        let answer = list(&mut self.server, json!({}));
        assert_eq!(ids(&answer), ["good", "other"], "{reason}");
        let entry = &answer["entries"][1];
        assert_eq!(
            (&entry["state"], &entry["persistedId"]),
            (&json!("live"), &json!(format!("claude-code:{}", uuid(2))))
        );
        assert_eq!((entry.get("observers"), entry["activity"].get("status")), (None, None));
        self.one_problem(&answer, reason)
    }

    #[track_caller]
    fn one_problem(&self, answer: &Value, reason: &str) -> String {
        let [mut problem] = <[Value; 1]>::try_from(problems(answer)).unwrap_or_else(|all| panic!("{all:?}"));
        let message = problem["message"].take().as_str().unwrap().to_owned();
        let expected = json!({
            "harness": "claude-code", "id": "other", "endpoint": self.endpoint, "reason": reason, "message": null,
        });
        assert_eq!(problem, expected, "{message}");
        assert!(!message.is_empty() && message.chars().count() <= 1_001, "{message}");
        assert!(!message.contains(char::is_control) && !message.contains(SENTINEL_TOKEN), "{message}");
        message
    }
}

#[test]
fn a_probe_only_looks_over_a_connection_that_is_kept() {
    let Scene { good, other, endpoint, mut server } = Scene::new();
    for _ in 0..3 {
        assert_eq!(listed(&mut server, json!({})), ["good", "other"]);
    }
    assert_eq!((good.connections(), other.connections()), (1, 1));
    let seen = other.seen();
    let asked: Vec<&str> = seen.iter().map(|seen| seen.rpc.as_deref().unwrap()).collect();
    assert_eq!(asked, ["describe", "lease"].repeat(3));
    let client = format!("registry-{}", endpoint.strip_prefix("supercode-live://").unwrap());
    for request in &seen {
        assert_eq!((request.line.as_str(), request.client.as_ref()), ("POST /rpc", Some(&client)));
        assert_eq!(request.permissions.as_deref(), Some("observe"));
    }
    assert_eq!((other.observers(), other.streams()), (Vec::<String>::new(), vec![]));
    // The other questions ask in the same way.
    server.request("registry/describe", json!({ "id": "other" })).result();
    server.request("session/load", json!({ "id": "other" })).result();
    let sources = json!({ "sources": [{ "harness": "claude-code", "sessionId": uuid(2) }] });
    server.request("registry/states", sources).result();
    assert!(other.seen().iter().all(|request| request.client.as_ref() == Some(&client)));
    assert_eq!((other.connections(), other.observers().len()), (1, 0));
}

#[test]
fn all_runtimes_are_asked_at_once() {
    let home = Home::new();
    let runtimes: Vec<Runtime> = (0..12)
        .map(|number| {
            let runtime = Runtime::start(Options::main(&format!("r-{number:02}"), WORKSPACE));
            runtime.misbehave(Route::Rpc("describe".into()), Bad::Held("all".into()));
            runtime.publish(&receipts_in(home.path()));
            runtime
        })
        .collect();
    let mut server = Spawn::new(home).open();
    // None is answered before all are asked: one after the other would never end well.
    let id = server.ask("registry/list", json!({}));
    runtimes.iter().for_each(|runtime| runtime.wait_held("all"));
    runtimes.iter().for_each(|runtime| runtime.release("all"));
    let answer = server.answer(id).result();
    assert_eq!((answer["total"].as_u64(), problems(&answer)), (Some(12), vec![]));
}

#[test]
fn a_bad_answer_costs_one_row_and_the_next_good_one_lists_it_again() {
    let mut scene = Scene::new();
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let target = format!("http://{}/rpc", elsewhere.local_addr().unwrap());
    let body = |text: &str| Bad::Body(text.as_bytes().to_vec());
    let mut cases = vec![
        ("identity_mismatch", Bad::lie("/result/session_id", "good")),
        ("identity_mismatch", Bad::lie("/result/source_harness", "codex")),
        ("identity_mismatch", Bad::lie("/result/source_harness", "no harness at all")),
        ("transport", Bad::lie("/result/session_id", 7)),
        ("transport", Bad::lie("/result/turn_state", json!(["idle"]))),
        ("transport", Bad::lie("/result/actions", "all")),
        ("transport", Bad::lie("/result", json!([]))),
        ("transport", Bad::lie("/result", Value::Null)),
        ("transport", Bad::lack("/result/session_id")),
        ("transport", Bad::lack("/result/connection_state")),
        ("transport", Bad::lack("/result")),
        ("transport", body("[]")),
        ("transport", body("")),
        ("transport", body("{\"id\":1}")),
        ("transport", body(&"[".repeat(100_000))),
        ("transport", Bad::InvalidJson),
        ("transport", Bad::InvalidUtf8),
        ("transport", Bad::Close),
        ("transport", Bad::HalfHead),
        ("transport", Bad::HalfBody),
        ("transport", Bad::EndlessHead),
        ("transport", Bad::Bytes(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec())),
        ("too_large", Bad::Oversize(1 << 40)),
        ("too_large", Bad::Oversize((1 << 20) + 1)),
    ];
    for flavour in [Flavour::Main, Flavour::Hosted] {
        cases.push(("unauthenticated", Bad::Status(401, flavour)));
        cases.push(("unauthorized", Bad::Status(403, flavour)));
    }
    for (status, reason) in [(400, "transport"), (404, "transport")] {
        cases.push((reason, Bad::Status(status, Flavour::Hosted)));
    }
    cases.extend([301, 302, 307, 308].map(|status| ("transport", Bad::Redirect(status, target.clone()))));
    let error = |code: i64, name: &str, message: &str| {
        Bad::Error(json!({ "code": code, "name": name, "operation": null, "message": message }))
    };
    // Who answers so is the runtime, whatever it refuses.
    let refusals = [
        ("busy", error(-32000, "busy", "later")),
        ("execution", error(1, "unheard of", &"\u{1b}[2J\u{7}long ".repeat(10_000))),
        ("execution", Bad::Status(500, Flavour::Hosted)),
    ];
    let refusals = refusals.map(|(reason, bad)| (reason, bad, true));
    let cases = cases.into_iter().map(|(reason, bad)| (reason, bad, false)).chain(refusals);
    for (reason, bad, is_live) in cases {
        let shown = format!("{bad:?}");
        scene.other.behave();
        scene.other.echo_token();
        scene.other.misbehave(Route::Rpc("describe".into()), bad);
        let message = if is_live { scene.is_live_with_one_problem(reason) } else { scene.costs_one_row(reason) };
        assert!(!message.is_empty(), "{}", shown.chars().take(200).collect::<String>());
        scene.other.behave();
        let answer = list(&mut scene.server, json!({}));
        assert_eq!((ids(&answer), problems(&answer)), (vec!["good".into(), "other".into()], vec![]), "{message}");
    }
    assert_eq!(elsewhere.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "a redirect was followed");
    assert!(!scene.server.log().contains(SENTINEL_TOKEN));
}

#[test]
fn a_name_that_is_none_is_left_out() {
    let mut scene = Scene::new();
    for odd in ["\u{1b}]0;title\u{7}", &"long".repeat(1_000)] {
        let lies = ["model", "emulation_profile"].map(|member| (format!("/result/{member}"), Some(json!(odd))));
        scene.other.behave();
        scene.other.misbehave(Route::Rpc("describe".into()), Bad::Lie(lies.into()));
        let answer = list(&mut scene.server, json!({}));
        let entry = &answer["entries"][1];
        assert_eq!(
            (&entry["id"], &entry["model"], entry.get("profile")),
            (&json!("other"), &json!("test-model"), None)
        );
    }
}

#[test]
fn one_that_fails_to_tell_its_leases_stands_without_them() {
    let mut scene = Scene::new();
    let lease = || Route::Rpc("lease".into());
    for (reason, bad) in [
        ("execution", Bad::Error(json!({ "code": -32002, "message": "no" }))),
        ("unauthorized", Bad::Status(403, Flavour::Main)),
        ("transport", Bad::Close),
        ("transport", Bad::lack("/result/observers")),
        ("too_large", Bad::Oversize(1 << 30)),
        ("timeout", Bad::Silent),
    ] {
        scene.other.behave();
        scene.other.misbehave(lease(), bad);
        let answer = list(&mut scene.server, json!({}));
        assert_eq!(ids(&answer), ["good", "other"], "{reason}");
        scene.one_problem(&answer, reason);
        let entry = &answer["entries"][1];
        assert_eq!((&entry["state"], entry.get("observers")), (&json!("idle"), None));
        assert_eq!(entry["owner"].get("controller"), None);
    }
    // It is heard again.
    scene.other.behave();
    let answer = list(&mut scene.server, json!({}));
    assert_eq!((&answer["entries"][1]["observers"], problems(&answer)), (&json!([]), vec![]));
}

#[test]
fn one_that_refuses_or_is_gone_costs_one_row_too() {
    let mut scene = Scene::new();
    scene.other.refuse();
    assert!(scene.costs_one_row("transport").contains("no connection"));
    scene.other.listen();
    assert_eq!(listed(&mut scene.server, json!({})), ["good", "other"]);
    // What lies idle is closed by the other end: that is no failure.
    scene.other.cut();
    let answer = list(&mut scene.server, json!({}));
    assert_eq!((ids(&answer), problems(&answer)), (vec!["good".into(), "other".into()], vec![]));
}

#[test]
fn port_of_another_user_receives_nothing() {
    if !geteuid().is_root() {
        return;
    }
    let home = Home::new();
    let (tell, port) = mpsc::channel();
    // The rights are those of this thread alone: the listener and what it accepts belong to another user.
    let foreign = thread::spawn(move || {
        setfsuid(Uid::from_raw(65_534));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        tell.send(listener.local_addr().unwrap().port()).unwrap();
        let mut read = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut read).unwrap();
        read
    });
    let url = format!("http://127.0.0.1:{}", port.recv().unwrap());
    let receipt = Receipt::new(&Options::main("one", WORKSPACE), &url);
    receipt.write(&receipts_in(home.path()));
    let mut server = Spawn::new(home).open();
    let answer = list(&mut server, json!({}));
    assert_eq!(ids(&answer), Vec::<String>::new());
    assert_eq!(problems(&answer)[0]["reason"], "identity_mismatch");
    assert_eq!(foreign.join().unwrap(), b"");
}

#[test]
fn escapes_in_an_answer_do_not_hide_the_token() {
    let mut scene = Scene::new();
    let escaped: String = SENTINEL_TOKEN.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let nested = escaped.replace('\\', "\\\\");
    let descriptor = json!({ "id": 1, "result": { "session_id": "other", "source_harness": "claude-code",
        "model": "ESCAPED", "emulation_profile": "NESTED", "turn_state": "idle", "connection_state": "connected",
        "x": { "NESTED": "ESCAPED" } } });
    let body = descriptor.to_string().replace("ESCAPED", &escaped).replace("NESTED", &nested);
    scene.other.misbehave(Route::Rpc("describe".into()), Bad::Body(body.into_bytes()));
    let answer = list(&mut scene.server, json!({}));
    assert_eq!(
        (&answer["entries"][1]["model"], &answer["entries"][1]["profile"]),
        (&json!("<token>"), &json!("<token>"))
    );
    let described = scene.server.request("runtime/describe", json!({ "runtimeId": "other" })).result();
    assert_eq!(described["descriptor"]["x"], json!({ "<token>": "<token>" }));
}

#[test]
fn a_silent_or_a_slow_one_is_waited_for_once() {
    for bad in [Bad::Silent, Bad::Slow] {
        let mut scene = Scene::new();
        scene.other.let_through(20);
        scene.other.misbehave(Route::Any, bad);
        scene.is_live_with_one_problem("timeout");
        // Were each list to wait for the end of a probe of its own, there would be a probe for each.
        const LISTS: usize = 30;
        let probes = scene.other.seen_rpc("describe").len();
        for _ in 0..LISTS {
            scene.is_live_with_one_problem("timeout");
        }
        let probes = scene.other.seen_rpc("describe").len() - probes;
        assert!(probes < LISTS, "{probes} probes for {LISTS} lists");
    }
}

#[test]
fn list_that_gave_up_on_a_runtime_spares_the_next_one_the_wait() {
    let begin = Instant::now();
    loop {
        let mut scene = Scene::new();
        scene.other.misbehave(Route::Rpc("describe".into()), Bad::Silent);
        (0..3).for_each(|_| drop(scene.is_live_with_one_problem("timeout")));
        // The later lists rely on the probe of the first one, which has not ended; on a busy machine it may have.
        if scene.other.seen_rpc("describe").len() == 1 {
            return;
        }
        assert!(begin.elapsed() < DEADLINE, "each list asks it and waits");
    }
}

#[test]
fn a_list_is_answered_while_a_silent_one_is_still_being_asked() {
    let mut scene = Scene::new();
    scene.other.misbehave_times(Route::Rpc("describe".into()), 1, Bad::Silent);
    scene.is_live_with_one_problem("timeout");
    // The answer is made and held: this probe is open until the test lets it go, or until its own end.
    let begin = Instant::now();
    loop {
        scene.other.behave();
        scene.other.misbehave(Route::Rpc("describe".into()), Bad::Held("late".into()));
        // No list waits for the silent probe, and once that has ended the next one asks again.
        let asked = scene.other.seen_rpc("describe").len();
        while scene.other.seen_rpc("describe").len() == asked {
            scene.is_live_with_one_problem("timeout");
        }
        scene.other.wait_held("late");
        scene.other.release("late");
        scene.other.behave();
        // What comes late is not lost: the runtime is known to answer again.
        if listed(&mut scene.server, json!({})) == ["good", "other"] {
            break;
        }
        assert!(begin.elapsed() < DEADLINE);
    }
}

#[test]
fn a_stopped_process_is_live_with_a_problem_until_it_continues() {
    let home = Home::new();
    home.project("-home-dev-demo", WORKSPACE).session(&uuid(1), "stopped", 60);
    let runtime = Process::start(hosting(&uuid(1), "one", WORKSPACE), &receipts_in(home.path()));
    let mut server = Spawn::new(home).open();
    assert_eq!(listed(&mut server, json!({})), ["one"]);
    runtime.stop();
    for _ in 0..3 {
        let answer = list(&mut server, json!({}));
        assert_eq!((ids(&answer), &answer["entries"][0]["state"]), (vec!["one".to_owned()], &json!("live")));
        assert_eq!(problems(&answer)[0]["reason"], "timeout");
        let receipts = server.request("runtime/receipts", json!({})).result();
        assert_eq!(receipts["receipts"][0]["reachable"], false);
    }
    runtime.cont();
    let begin = Instant::now();
    while list(&mut server, json!({}))["entries"][0]["state"] != "idle" {
        assert!(begin.elapsed() < DEADLINE);
    }
}

#[test]
fn watch_does_not_wait_for_a_silent_runtime() {
    let home = Home::new();
    let receipts = receipts_in(home.path());
    let [silent, good] = ["silent", "good"].map(|id| Runtime::start(Options::main(id, WORKSPACE)));
    silent.publish(&receipts);
    // This answer is held until the test ends, so whatever waited for it would wait for its deadline.
    silent.misbehave(Route::Rpc("describe".into()), Bad::Silent);
    let mut server = Spawn::new(home).open();
    let watch = server.request("registry/watch", json!({})).result();
    let expect = |server: &mut Server, id: &str, state: &str| {
        server.expect_params("registry/event", |params| {
            let entry = &params["event"]["entry"];
            params["subscription"] == watch["subscription"] && entry["id"] == id && entry["state"] == state
        });
    };
    expect(&mut server, "silent", "live");
    good.publish(&receipts);
    expect(&mut server, "good", "idle");
    silent.behave();
    expect(&mut server, "silent", "idle");
}
