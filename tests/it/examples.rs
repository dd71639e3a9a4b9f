//! One real exchange for each method and notification, as the documents show it. `UPDATE_EXAMPLES=1 cargo test --test
//! it examples` records them anew; `docs/tools/refresh` does that and all that follows from it.

use crate::peer_message::{self, World};
use crate::support::host::DEMO_AGENT;
use crate::support::multiplexer::{self, Tmux};
use crate::support::runtime::{Options, Runtime, Step};
use crate::support::stores::copy;
use crate::support::{DRIVER, Home, Server, Spawn, initialize_params, uuid};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tackroom::platform::process;

/// What stands for a time of this run: 2026-11-30, 9:00.
const THEN: i64 = 1_796_029_200_000;
const PID: i64 = 4711;
const INSTANCE: &str = "0123456789abcdef0123456789abcdef";
const RUNTIME: &str = "fedcba9876543210fedcba9876543210";
const ENDPOINT: &str = "supercode-live://0123456789abcdef0123456789abcdef";
const WAITING: &str = "6513270e-269e-4d37-b2a7-4de452e6b438";
const WORKSPACE: &str = "/home/demo/weather-station";

/// A server that is spoken to, and what of it is kept.
struct Recorder<'a> {
    server: Server,
    recorded: &'a mut Map<String, Value>,
    /// When the run began, in epoch milliseconds.
    began: i64,
    /// Texts of this run, and what stands for them.
    stand_ins: Vec<(String, String)>,
    /// How many handles there were of a kind.
    handles: HashMap<&'static str, usize>,
}

impl<'a> Recorder<'a> {
    fn new(home: Home, allow: &str, recorded: &'a mut Map<String, Value>) -> Self {
        Self::start(Spawn::new(home).args(["--allow", allow]), recorded)
    }

    fn start(spawn: Spawn, recorded: &'a mut Map<String, Value>) -> Self {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64;
        let server = spawn.start();
        let path = server.home.path().to_str().unwrap().to_owned();
        let mut recorder = Self { server, recorded, began: now, stand_ins: Vec::new(), handles: HashMap::new() };
        recorder.stand_in(&path, "/home/demo");
        recorder.stand_in(&format!("cc-peer:v1:{}:", std::process::id()), "cc-peer:v1:4711:");
        recorder
    }

    fn stand_in(&mut self, run: &str, stand_in: &str) {
        self.stand_ins.push((run.to_owned(), stand_in.to_owned()));
    }

    /// Opens the conversation.
    fn open(&mut self, params: Value) -> Value {
        let answer = self.ask("initialize", params);
        self.stand_in(answer["instanceId"].as_str().unwrap(), INSTANCE);
        answer
    }

    /// Asks. A handle in the answer, which is random, is shown as a number.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.server.request(method, params).result();
        for kind in ["attachment", "subscription"] {
            if let Some(handle) = answer[kind].as_str() {
                let count = self.handles.entry(kind).or_default();
                *count += 1;
                let stand_in = format!("{kind}-{count}");
                self.stand_in(handle, &stand_in);
            }
        }
        answer
    }

    /// Asks, and keeps the exchange as the method's example.
    fn record(&mut self, method: &str, params: Value) -> Value {
        let result = self.ask(method, params.clone());
        self.keep(method, params, Some(result.clone()));
        result
    }

    /// Keeps the next notification of this method that is such as its example.
    fn record_notice(&mut self, method: &str, such: impl Fn(&Value) -> bool) {
        let params = self.server.expect_params(method, such);
        self.keep(method, params, None);
    }

    fn keep(&mut self, method: &str, params: Value, result: Option<Value>) {
        let mut example = json!({ "params": params });
        example.as_object_mut().unwrap().extend(result.map(|result| ("result".to_owned(), result)));
        self.settle(&mut example);
        self.recorded.insert(method.to_owned(), example);
    }

    /// Puts the same into every run's place of what differs between them.
    fn settle(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.settle(item)),
            Value::Object(members) => members.iter_mut().for_each(|(name, member)| match (name.as_str(), &*member) {
                ("pid", Value::Number(_)) => *member = json!(PID),
                ("elapsedMs", Value::Number(_)) => *member = json!(2),
                (name, Value::Number(time)) if name.ends_with("Ms") && self.is_now(time.as_i64()) => {
                    *member = json!(THEN);
                }
                _ => self.settle(member),
            }),
            Value::String(text) => {
                for (run, stand_in) in &self.stand_ins {
                    *text = text.replace(run, stand_in);
                }
            }
            _ => {}
        }
    }

    fn is_now(&self, time: Option<i64>) -> bool {
        const MINUTE: i64 = 60_000;
        time.is_some_and(|time| (self.began - MINUTE..self.began + 60 * MINUTE).contains(&time))
    }
}

/// The sample of `demo/`, with a live session that waits for a person.
fn sample() -> (Home, UnixListener) {
    let home = Home::new();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
    copy(&sample.join("claude"), &home.claude());
    let socket = home.path().join("rain-gauge.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let pid = std::process::id();
    let record = json!({
        "pid": pid, "sessionId": WAITING, "cwd": WORKSPACE, "name": "rain-gauge", "status": "waiting",
        "waitingFor": "permission prompt", "kind": "interactive", "entrypoint": "cli", "version": "2.1.332",
        "procStart": process::start_mark(pid as i32), "pidDomain": process::own_pid_domain(),
        "startedAt": THEN - 1_260_000, "updatedAt": THEN - 70_000, "messagingSocketPath": socket,
    });
    fs::create_dir_all(home.claude().join("sessions")).unwrap();
    fs::write(home.claude().join(format!("sessions/{pid}.json")), record.to_string()).unwrap();
    (home, listener)
}

fn inventory(recorded: &mut Map<String, Value>) {
    let (home, _listener) = sample();
    let claude = home.claude();
    let mut recorder = Recorder::new(home, "observe", recorded);
    let hello = json!({
        "protocolVersion": 1, "clientInfo": { "name": "my-editor", "version": "1.0" },
        "authority": { "harnesses": ["claude-code", "codex"] },
    });
    let answer = recorder.open(hello.clone());
    recorder.keep("initialize", hello, Some(answer));
    let id = format!("claude-code:{WAITING}");
    let query = json!({ "states": ["waiting"] });
    recorder.record("ping", json!({}));
    recorder.record("registry/list", json!({ "query": query, "limit": 10 }));
    recorder.record("registry/describe", json!({ "id": id }));
    recorder.record("registry/resolve", json!({ "ref": "rain-gauge" }));
    recorder.record("registry/coverage", json!({ "harnesses": ["claude-code"] }));
    recorder.record("session/load", json!({ "id": id, "limit": 3 }));

    let watch = recorder.record("registry/watch", json!({ "query": query }));
    recorder.record_notice("registry/event", |params| params["event"]["kind"] == "added");
    recorder.record("registry/unwatch", json!({ "subscription": watch["subscription"] }));

    let followed = "153e7c2a-26a2-40bd-bb12-87fff52ddf5d";
    let follow = recorder.record("session/follow", json!({ "id": format!("claude-code:{followed}") }));
    let file = claude.join(format!("projects/-home-demo-recipe-box/{followed}.jsonl"));
    write(file, followed, "And from 4 to 10?");
    recorder.record_notice("session/event", |params| params["event"]["kind"] == "appended");
    recorder.record("session/unfollow", json!({ "subscription": follow["subscription"] }));

    recorder.record("peer/list", json!({}));
    recorder.record("peer/resolve", json!({ "name": "rain-gauge" }));
    recorder.record("authority/narrow", json!({ "authority": { "workspaces": [WORKSPACE] } }));

    // The document itself holds the examples, so of it only the beginning is one.
    let document = recorder.ask("rpc.discover", json!({}));
    let beginning = json!({ "openrpc": document["openrpc"], "info": document["info"], "methods": [] });
    recorder.keep("rpc.discover", json!({}), Some(beginning));
    recorder.record("shutdown", json!({}));
}

/// Says something more in a session of Claude Code.
fn write(file: PathBuf, session: &str, text: &str) {
    let line = json!({ "type": "user", "uuid": "6f0d5c0e-0000-4000-9000-000000000001", "sessionId": session,
        "cwd": "/home/demo/recipe-box", "timestamp": "2026-11-30T08:59:00.000Z",
        "message": { "role": "user", "content": text } });
    OpenOptions::new().append(true).open(file).unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn agent() -> Options {
    let approval = Step::Approval { tool: "bash".into(), arguments: json!({ "command": "rm wind.old" }) };
    let mut options = Options::main("wind-log", WORKSPACE);
    options.history = vec![
        json!({ "role": "user", "content": "Read the wind log" }),
        json!({ "role": "assistant", "content": "It has 1,440 lines, one a minute." }),
    ];
    options
        .on("Why", [Step::Text("The parser takes a comment for a header.".into())])
        .on("Mend", [Step::Hold("mending".into())])
        .on("Tidy", [approval, Step::Text("Done.".into())])
}

fn runtimes(recorded: &mut Map<String, Value>) {
    let home = Home::new();
    let runtime = Runtime::start(agent());
    let endpoint = runtime.publish(&home.path().join(".config/supercode/live-runtimes"));
    let mut recorder = Recorder::new(home, &format!("{DRIVER},register"), recorded);
    recorder.open(initialize_params());
    recorder.stand_in(&endpoint, ENDPOINT);
    let source = json!({ "harness": "supercode", "sessionId": "wind-log", "workspace": WORKSPACE });
    recorder.record("runtime/receipts", json!({}));
    recorder.record("runtime/discover", json!({ "source": source }));
    let sources = json!([{ "harness": "supercode", "sessionId": "wind-log" }]);
    recorder.record("registry/states", json!({ "sources": sources }));
    recorder.record("runtime/describe", json!({ "runtimeId": "wind-log" }));
    attachment(&mut recorder, &runtime);

    let own = json!({
        "runtimeId": "my-agent", "source": { "harness": "codex", "sessionId": "my-session", "workspace": WORKSPACE },
        "baseUrl": "http://127.0.0.1:50123", "token": "what-a-client-of-my-agent-must-show",
    });
    let registered = recorder.ask("runtime/register", own.clone());
    recorder.stand_in(registered["endpoint"].as_str().unwrap(), ENDPOINT);
    recorder.keep("runtime/register", own, Some(registered.clone()));
    recorder.record("runtime/unregister", json!({ "endpoint": registered["endpoint"] }));
    let stale = recorder.server.publish(Options::main("stale", WORKSPACE));
    stale.refuse();
    let endpoint = recorder.ask("runtime/receipts", json!({}))["receipts"][0]["endpoint"].take();
    recorder.stand_in(endpoint.as_str().unwrap(), ENDPOINT);
    recorder.record("runtime/forget", json!({ "endpoint": endpoint }));
}

fn attachment(recorder: &mut Recorder, runtime: &Runtime) {
    let attach = json!({ "runtimeId": "wind-log", "clientId": "my-editor" });
    let at = recorder.record("runtime/attach", attach.clone())["attachment"].take();
    let only = json!({ "attachment": at });
    let with = |name: &str, value: Value| json!({ "attachment": at, name: value });
    for method in ["acquireControl", "heartbeat", "lease", "takeControl"] {
        recorder.record(&format!("runtime/{method}"), only.clone());
    }
    recorder.record("runtime/submit", with("prompt", json!("Why does the wind log skip every tenth line?")));
    recorder.record_notice("runtime/event", |params| params["event"]["kind"] == "text_delta");
    recorder.record("runtime/sendInput", with("prompt", json!("Mend it")));
    runtime.wait_held("mending");
    recorder.record("runtime/steer", with("prompt", json!("Keep the comments")));
    recorder.record("runtime/interrupt", only.clone());
    runtime.wait_turns(2);
    recorder.ask("runtime/sendInput", with("prompt", json!("Tidy up")));
    let request = runtime.wait_request();
    let response = json!({ "kind": "approval", "requestId": request, "decision": "allow" });
    recorder.record("runtime/respond", with("response", response));
    runtime.wait_turns(3);
    let operation = json!({ "kind": "context", "operation_id": "context:usage" });
    recorder.record("runtime/invoke", with("operation", operation));
    recorder.record("runtime/detach", only.clone());
    let again = recorder.ask("runtime/attach", attach)["attachment"].take();
    recorder.record("runtime/close", json!({ "attachment": again }));
}

fn settings(recorded: &mut Map<String, Value>) {
    let home = Home::new();
    fs::create_dir_all(home.claude()).unwrap();
    fs::write(home.claude().join("settings.json"), "{\n  \"theme\": \"dark\"\n}\n").unwrap();
    let mut recorder = Recorder::new(home, "observe,configure", recorded);
    recorder.open(initialize_params());
    let read = recorder.record("settings/read", json!({}));
    let update = json!({ "crossSessionInbound": "hold", "expectedRevision": read["revision"] });
    recorder.record("settings/update", update);
}

fn terminal(recorded: &mut Map<String, Value>) {
    let home = Home::new();
    let path = home.path().to_owned();
    let Some(tmux) = Tmux::new(&home, "tmux.sock") else {
        // The recorded one stays where there is no tmux.
        let name = "terminal/reveal";
        recorded.extend(recorded_examples().remove(name).map(|example| (name.to_owned(), example)));
        return;
    };
    let (command, file) = multiplexer::shell(&home, "agent");
    tmux.run(&["new-session", "-d", "-s", "main", &command]);
    let pid = multiplexer::live(&home, "rain-gauge", WAITING, &file);
    let tty = tmux.run(&["display-message", "-p", "-t", "main", "#{pane_tty}"]);
    let mut recorder = Recorder::new(home, "observe,reveal", recorded);
    recorder.open(initialize_params());
    recorder.stand_in(&path.join("tmux.sock").display().to_string(), "/tmp/tmux-1000/default");
    recorder.stand_in(&tty, "/dev/pts/3");
    recorder.stand_in(&pid.to_string(), "4711");
    recorder.record("terminal/reveal", json!({ "id": format!("claude-code:{WAITING}") }));
}

fn message(recorded: &mut Map<String, Value>) {
    let World { home, target } = World::new(peer_message::ACCEPTS);
    let mut recorder = Recorder::start(peer_message::spawn(home, &[]), recorded);
    recorder.open(initialize_params());
    let pid = target.process.pid();
    recorder.stand_in(&uuid(pid as usize), "00000000-0000-4000-9000-000000004711");
    recorder.stand_in(&pid.to_string(), "4711");
    recorder
        .record("peer/message", json!({ "name": "reviewer", "text": "The wind log is mended; please look again." }));
}

fn start(recorded: &mut Map<String, Value>) {
    let home = Home::new();
    let workspace = home.path().join("wind-log");
    fs::create_dir(&workspace).unwrap();
    let environment = [("HOME".into(), home.path().into())];
    let agent = format!("code='{}' {}", DEMO_AGENT[0], DEMO_AGENT[1]);
    let flags = ["--allow", "observe,terminate,start", "--start", &agent];
    let mut recorder = Recorder::start(Spawn::new(home).only_env(environment).args(flags), recorded);
    recorder.open(initialize_params());
    let params = json!({ "name": "code", "workspace": workspace });
    let started = recorder.ask("runtime/start", params.clone());
    let at = recorder.ask("runtime/attach", json!({ "runtimeId": started["runtimeId"] }))["attachment"].take();
    recorder.ask("runtime/close", json!({ "attachment": at }));
    for (member, stand_in) in [("runtimeId", RUNTIME), ("endpoint", ENDPOINT)] {
        recorder.stand_in(started[member].as_str().unwrap(), stand_in);
    }
    recorder.keep("runtime/start", params, Some(started));
}

fn examples_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/service/examples.json")
}

fn recorded_examples() -> Map<String, Value> {
    serde_json::from_str(&fs::read_to_string(examples_file()).unwrap()).unwrap()
}

#[test]
fn what_is_recorded_is_what_the_server_says_and_every_method_has_an_example() {
    let mut said = Map::new();
    settings(&mut said);
    message(&mut said);
    terminal(&mut said);
    start(&mut said);
    runtimes(&mut said);
    inventory(&mut said);
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        said.sort_keys();
        fs::write(examples_file(), serde_json::to_string_pretty(&said).unwrap() + "\n").unwrap();
    }
    let recorded = recorded_examples();
    let how = "`docs/tools/refresh` records the examples anew";
    for (name, example) in &said {
        assert_eq!(recorded.get(name), Some(example), "the example of {name} is stale; {how}");
    }
    for name in recorded.keys() {
        assert!(said.contains_key(name), "nothing records the example of {name}; {how}");
    }
    for method in tackroom::service::methods() {
        assert!(said.contains_key(method.name), "{} has no example; tests/it/examples.rs", method.name);
    }
}
