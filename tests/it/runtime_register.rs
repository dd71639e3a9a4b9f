//! `runtime/register` and `runtime/unregister`: a client publishes its own runtimes, for as long as it is there.

use crate::peer_list::Sleeper;
use crate::support::inventory::{beside, files_in, list, listed, problems, receipts_in, source};
use crate::support::runtime::{Options, Receipt, Runtime, SENTINEL_TOKEN};
use crate::support::{DEADLINE, Home, Server, Spawn};
use nix::sys::signal::Signal;
use serde_json::{Map, Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};
use tackroom::platform::process;

const WORKSPACE: &str = "/home/dev/demo";

fn open(home: Home) -> Server {
    Spawn::new(home).args(["--allow", "observe,interact,register"]).open()
}

/// What publishes a runtime.
fn params(runtime: &Runtime) -> Value {
    json!({
        "runtimeId": runtime.options().runtime_id, "source": source(runtime.options()),
        "baseUrl": runtime.base_url(), "token": SENTINEL_TOKEN,
    })
}

/// Params for a runtime that is nowhere, with other members.
fn with(more: Value) -> Value {
    let mut params = json!({
        "runtimeId": "one", "source": { "harness": "codex", "sessionId": "s", "workspace": WORKSPACE },
        "baseUrl": "http://127.0.0.1:9", "token": SENTINEL_TOKEN,
    });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

#[track_caller]
fn register(server: &mut Server, params: Value) -> String {
    server.request("runtime/register", params).result()["endpoint"].as_str().unwrap().to_owned()
}

/// The file of an endpoint.
fn file(server: &Server, endpoint: &str) -> std::path::PathBuf {
    receipts_in(server.home.path()).join(format!("{}.json", endpoint.strip_prefix("supercode-live://").unwrap()))
}

#[test]
fn what_is_written_is_what_the_existing_readers_know_and_ours_alone() {
    let mut server = Spawn::empty().args(["--allow", "register"]).open();
    let metadata = json!({
        "profile": "night", "persistenceLocation": "/kept", "endpointCapabilities": ["http"],
        "supervisor": { "kind": "tmux", "sessionName": "demo" },
    });
    let before = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
    let endpoint = register(&mut server, with(json!({ "baseUrl": "http://localhost:9/", "metadata": metadata })));
    let file = file(&server, &endpoint);
    let content = fs::read_to_string(&file).unwrap();
    let receipt: Map<String, Value> = serde_json::from_str(&content).unwrap();
    let pid = receipt["pid"].as_i64().unwrap() as i32;
    let created = receipt["created_at_ms"].as_u64().unwrap();
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
    assert!((before..=now).contains(&created));
    assert_eq!(pid, server.pid(), "absent: the server's own");
    let mark = process::start_mark(pid).unwrap();
    let expected = json!({
        "schema": "supercode.live-runtime.v1",
        "receipt_id": endpoint.strip_prefix("supercode-live://").unwrap(),
        "runtime_session_id": "one",
        "source": { "harness": "codex", "session_id": "s", "workspace": WORKSPACE },
        "base_url": "http://localhost:9",
        "token": SENTINEL_TOKEN,
        "pid": pid,
        "created_at_ms": created,
        "metadata": {
            "child_pid": null,
            "profile": "night",
            "persistence_location": "/kept",
            "endpoint_capabilities": ["http"],
            "supervisor": { "kind": "tmux", "session_name": "demo" },
            "tackroom": {
                "pid_domain": process::own_pid_domain(), "start_mark": mark,
                "server_pid": pid, "server_start_mark": mark,
            },
        },
    });
    // One compact object, in the order of the existing writer, and nothing behind it.
    assert_eq!(content, expected.to_string());
    let file = fs::metadata(file).unwrap();
    assert_eq!((file.mode() & 0o7777, file.nlink()), (0o600, 1));
    assert!(!server.log().contains(SENTINEL_TOKEN));

    // Without metadata: everything that an endpoint may speak.
    let bare = register(&mut server, with(json!({})));
    let bare: Value = serde_json::from_slice(&fs::read(self::file(&server, &bare)).unwrap()).unwrap();
    assert_eq!(
        (&bare["metadata"]["endpoint_capabilities"], &bare["metadata"]["supervisor"]),
        (&json!(["http", "acp"]), &Value::Null)
    );
}

#[test]
fn modes_do_not_depend_on_the_umask() {
    for umask in ["000", "077", "022"] {
        let home = Home::new();
        let program = env!("CARGO_BIN_EXE_tackroom");
        let mut child = Command::new("sh")
            .args(["-c", &format!("umask {umask}; exec '{program}' serve --allow register")])
            .env_clear()
            .env("HOME", home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let initialize =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": crate::support::initialize_params() });
        let register = json!({ "jsonrpc": "2.0", "id": 2, "method": "runtime/register", "params": with(json!({})) });
        let mut input = child.stdin.take().unwrap();
        input.write_all(format!("{initialize}\n{register}\n").as_bytes()).unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        for _ in 0..2 {
            output.read_line(&mut line).unwrap();
        }
        assert!(line.contains("supercode-live://"), "{line}");
        let place = receipts_in(home.path());
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(&place), 0o700, "{umask}");
        let above = place.parent().unwrap();
        assert_eq!((mode(above) & 0o022, mode(above.parent().unwrap()) & 0o022), (0, 0), "{umask}");
        let names = files_in(home.path());
        assert_eq!((names.len(), mode(&place.join(&names[0]))), (1, 0o600), "{umask}");
        drop(input);
        child.wait().unwrap();
        assert_eq!(files_in(home.path()), Vec::<String>::new());
    }
}

#[test]
fn what_is_registered_is_listed_and_joined_where_it_really_answers() {
    let runtime = Runtime::start(Options::hosted("codex", "one", WORKSPACE));
    let mut server = open(Home::new());
    let mut other = beside(&server.home, &[]);
    let endpoint = register(&mut server, params(&runtime));
    for server in [&mut server, &mut other] {
        let answer = list(server, json!({}));
        assert_eq!((&answer["entries"][0]["endpoint"], problems(&answer)), (&json!(endpoint), vec![]));
    }
    let joined = server.request("runtime/attach", json!({ "id": "one" })).result();
    assert_eq!(joined["descriptor"]["session_id"], "one");
    let found = other.request("runtime/discover", json!({ "source": source(runtime.options()) })).result();
    assert_eq!(found, json!({ "endpoint": endpoint }));

    // It is another server's: nobody else takes it back.
    let foreign = beside(&server.home, &["--allow", "register"])
        .request("runtime/unregister", json!({ "endpoint": endpoint }))
        .error();
    foreign.is(-32001, "not_found");
    assert_eq!(server.request("runtime/unregister", json!({ "endpoint": endpoint })).result(), json!({}));
    assert_eq!(files_in(server.home.path()), Vec::<String>::new());
    assert_eq!(listed(&mut other, json!({})), Vec::<String>::new());
    let again = server.request("runtime/unregister", json!({ "endpoint": endpoint })).error();
    assert_eq!(
        (again.code, again.message.replace(&endpoint, "")),
        (foreign.code, foreign.message.replace(&endpoint, ""))
    );
    for text in ["", "supercode-live://../x", &endpoint.to_uppercase()] {
        server.request("runtime/unregister", json!({ "endpoint": text })).error().is(-32018, "invalid_endpoint");
    }
}

#[test]
fn receipts_out_of_scope_cannot_be_unregistered() {
    let mut server = open(Home::new());
    let endpoint = register(&mut server, with(json!({})));
    let unknown = format!("supercode-live://{}", "0".repeat(32));
    let scopes = [json!({ "workspaces": ["/elsewhere"] }), json!({ "harnesses": ["gemini"] })];
    for authority in scopes {
        let meta = json!({ "authority": authority });
        let mut ask = |endpoint: &str| {
            server.request("runtime/unregister", json!({ "endpoint": endpoint, "_meta": meta })).error()
        };
        let (hidden, absent) = (ask(&endpoint), ask(&unknown));
        hidden.is(-32001, "not_found");
        assert_eq!(hidden.message.replace(&endpoint, ""), absent.message.replace(&unknown, ""));
        assert_eq!(files_in(server.home.path()).len(), 1);
    }
    server.request("runtime/unregister", json!({ "endpoint": endpoint })).result();
    assert_eq!(files_in(server.home.path()), Vec::<String>::new());
}

#[test]
fn handles_cannot_be_guessed() {
    let mut server = open(Home::new());
    let runtime = server.publish(Options::main("one", WORKSPACE));
    let mut handles = vec![];
    for _ in 0..2 {
        let attached = server.request("runtime/attach", json!({ "runtimeId": "one" })).result();
        handles.push(attached["attachment"].as_str().unwrap().to_owned());
        let watched = server.request("registry/watch", json!({})).result();
        handles.push(watched["subscription"].as_str().unwrap().to_owned());
    }
    for handle in &handles {
        let (_, random) = handle.split_once('-').unwrap();
        assert!(random.len() == 32 && random.bytes().all(|byte| byte.is_ascii_hexdigit()), "{handle}");
    }
    handles.sort_unstable();
    handles.dedup();
    assert_eq!(handles.len(), 4);
    drop(runtime);
}

#[test]
fn it_may_be_that_of_another_process_and_is_gone_with_that() {
    let mut server = open(Home::new());
    let mut owner = Sleeper::start();
    let runtime = Runtime::start(Options::main("one", WORKSPACE));
    let mut given = params(&runtime);
    given["pid"] = json!(owner.pid());
    let endpoint = register(&mut server, given.clone());
    let content: Value = serde_json::from_slice(&fs::read(file(&server, &endpoint)).unwrap()).unwrap();
    assert_eq!(content["pid"], owner.pid());
    assert_eq!(listed(&mut server, json!({})), ["one"]);
    owner.0.kill().unwrap();
    owner.0.wait().unwrap();
    assert_eq!(listed(&mut server, json!({})), Vec::<String>::new());
    assert_eq!(files_in(server.home.path()), Vec::<String>::new());
    // What is not running owns nothing, and neither does what waits to be reaped.
    server.request("runtime/register", given).error().is(-32019, "invalid_receipt");
    // Taking back what others took already is no error.
    server.request("runtime/unregister", json!({ "endpoint": endpoint })).result();
}

#[test]
fn what_does_not_hold_is_refused_and_nothing_is_written() {
    let home = Home::new();
    let workspace = home.path().display().to_string();
    let mut server = Spawn::new(home).args(["--allow", "register", "--workspace", &workspace]).open();
    let source = |session: &str, place: &str| json!({ "harness": "codex", "sessionId": session, "workspace": place });
    let good = || {
        let mut params = with(json!({}));
        params["source"] = source("s", &workspace);
        params
    };
    let urls = [
        "",
        "http://127.0.0.1",
        "https://127.0.0.1:1",
        "http://example.org:80",
        "http://127.0.0.1:80@example.org/",
        "http://user@127.0.0.1:1",
        "http://127.0.0.1:0",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:1/path",
        "http://127.0.0.1:1?q",
        "HTTP://127.0.0.1:1",
        "http://0.0.0.0:1",
        "http://[::1",
        "127.0.0.1:1",
    ];
    let receipts = urls
        .map(|url| json!({ "baseUrl": url }))
        .into_iter()
        .chain(["", " ", "\t", "a\nb"].map(|id| json!({ "runtimeId": id })))
        .chain(["", "  ", "a\u{7}"].map(|id| json!({ "source": source(id, &workspace) })))
        .chain(["", " ", "two words", "caf\u{e9}", "a\r\nX: y"].map(|token| json!({ "token": token })))
        .chain([0_i64, -1, 2_147_483_648, 4_294_967_295, 2_147_483_647].map(|pid| json!({ "pid": pid })));
    for change in receipts {
        let mut params = good();
        params.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let failure = server.request_unchecked("runtime/register", params).error();
        failure.is(-32019, "invalid_receipt");
        assert!(!failure.message.contains(SENTINEL_TOKEN));
    }
    for change in [
        json!({ "metadata": { "endpointCapabilities": ["http", "telepathy"] } }),
        json!({ "metadata": { "endpointCapabilities": "http" } }),
        json!({ "metadata": { "supervisor": { "kind": "screen", "sessionName": "x" } } }),
        json!({ "metadata": { "supervisor": { "kind": "tmux" } } }),
        json!({ "metadata": [] }),
        json!({ "source": { "harness": "emacs", "sessionId": "s", "workspace": workspace } }),
        json!({ "source": ["codex", "s", workspace] }),
        json!({ "source": null }),
        json!({ "runtimeId": 7 }),
        json!({ "runtimeId": null }),
        json!({ "baseUrl": null }),
        json!({ "token": [SENTINEL_TOKEN] }),
        json!({ "token": null }),
        json!({ "pid": "1" }),
        json!({ "pid": 1.5 }),
    ] {
        let mut params = good();
        params.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let failure = server.request_unchecked("runtime/register", params).error();
        failure.is(-32602, "invalid_params");
        assert!(!failure.message.contains(SENTINEL_TOKEN), "{}", failure.message);
    }
    let large = json!({ "profile": "x".repeat(64 << 10) });
    let mut params = good();
    params["metadata"] = large;
    server.request("runtime/register", params).error().is(-32019, "invalid_receipt");
    for place in ["/", "/elsewhere", "relative", ""] {
        let mut params = good();
        params["source"] = source("s", place);
        server.request("runtime/register", params).error().is(-32001, "not_found");
    }
    assert_eq!(files_in(server.home.path()), Vec::<String>::new());
    register(&mut server, good());
    assert!(!server.log().contains(SENTINEL_TOKEN));
}

#[test]
fn a_client_has_only_so_many() {
    let mut server = open(Home::new());
    let endpoints: Vec<String> = (0..256).map(|_| register(&mut server, with(json!({})))).collect();
    server.request("runtime/register", with(json!({}))).error().is(-32034, "limit");
    assert_eq!(files_in(server.home.path()).len(), 256);
    server.request("runtime/unregister", json!({ "endpoint": endpoints[7] })).result();
    register(&mut server, with(json!({})));
    server.close_input();
    server.expect_end(0);
    assert_eq!(files_in(server.home.path()), Vec::<String>::new());
}

/// A server that has published one runtime, which a foreign receipt stands beside.
fn published() -> (Server, String) {
    let home = Home::new();
    let foreign =
        Receipt::new(&Options::main("foreign", WORKSPACE), "http://127.0.0.1:9").write(&receipts_in(home.path()));
    let mut server = open(home);
    register(&mut server, with(json!({})));
    assert_eq!(files_in(server.home.path()).len(), 2);
    (server, foreign.file_name().unwrap().to_str().unwrap().to_owned())
}

#[test]
fn it_is_gone_when_the_client_is_however_it_goes() {
    type End = (&'static str, fn(&mut Server));
    let ends: [End; 6] = [
        ("end of input", |server| server.close_input()),
        ("exit", |server| {
            server.request("shutdown", json!({})).result();
            server.notify("exit", json!({}));
        }),
        ("a closed output", |server| {
            server.close_output();
            let _ = server.try_raw("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        }),
        ("SIGTERM", |server| server.signal(Signal::SIGTERM)),
        ("SIGINT", |server| server.signal(Signal::SIGINT)),
        ("SIGHUP", |server| server.signal(Signal::SIGHUP)),
    ];
    for (what, end) in ends {
        let (mut server, foreign) = published();
        end(&mut server);
        server.exit_code();
        assert_eq!(files_in(server.home.path()), [foreign], "{what}");
    }
}

#[test]
fn what_a_killed_server_left_is_not_shown_and_the_next_server_sweeps_it() {
    for lists in [true, false] {
        let (mut server, foreign) = published();
        // A reader that was there before.
        let mut reader = beside(&server.home, &[]);
        let count = |reader: &mut Server| {
            let receipts = reader.request("runtime/receipts", json!({})).result();
            assert_eq!(receipts.get("problems"), None);
            receipts["receipts"].as_array().unwrap().len()
        };
        assert_eq!(count(&mut reader), 2);
        server.kill();
        if lists {
            assert_eq!(count(&mut reader), 1);
        } else {
            // Nobody asks: its start alone does it.
            let _next = beside(&server.home, &[]);
            let begin = Instant::now();
            while files_in(server.home.path()).len() > 1 {
                assert!(begin.elapsed() < DEADLINE);
                std::thread::yield_now();
            }
        }
        assert_eq!(files_in(server.home.path()), [foreign]);
    }
}

#[test]
fn the_end_of_input_while_registers_are_on_their_way_leaves_nothing() {
    for count in [1, 5, 40] {
        let mut server = open(Home::new());
        let requests = (0..count).map(
            |id| json!({ "jsonrpc": "2.0", "id": 1_000 + id, "method": "runtime/register", "params": with(json!({})) }),
        );
        let frames: Vec<u8> = requests.flat_map(|request| server.encode(&request)).collect();
        server.raw(frames);
        server.close_input();
        for id in 0..count {
            let answer = server.answer(1_000 + id).whole();
            let reason = &answer["error"]["data"]["reason"];
            assert!(answer.get("result").is_some() || reason == "unavailable", "{answer}");
        }
        server.expect_end(0);
        assert_eq!(files_in(server.home.path()), Vec::<String>::new(), "{count}");
    }
}

#[test]
fn a_place_that_others_reach_takes_no_receipt() {
    let home = Home::new();
    let place = receipts_in(home.path());
    fs::create_dir_all(&place).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).unwrap();
    let mut server = open(home);
    server.request("runtime/register", with(json!({}))).error().is(-32011, "unavailable");
    assert_eq!(fs::metadata(&place).unwrap().mode() & 0o777, 0o777, "it is not ours to mend");
    let told = server.request("runtime/receipts", json!({})).result();
    assert_eq!(told["problems"][0]["path"], json!(place));
    let mut homeless = Spawn::empty().only_env([]).args(["--allow", "register"]).open();
    homeless.request("runtime/register", with(json!({}))).error().is(-32011, "unavailable");
}
