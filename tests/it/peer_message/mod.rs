//! `peer/message`: a text into a live session, through a courier. The courier here is a shell script that notes how it was
//! started and prints what the real one would.

mod ends;
mod refusals;
mod texts;
mod unseen;
mod verdicts;

use crate::peer_list::{Sleeper, record};
use crate::support::{DEADLINE, Home, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use tackroom::platform::process;

/// What no answer and no log may tell.
pub const SECRET: &str = "sk-ant-sentinel-0123456789";

/// What a courier can do: `call`, `sent`, `unsent`, `notice`, `result`, and `stay` until its input ends.
const PREAMBLE: &str = r#"#!/bin/sh
printf '%s\n' "$@" >"$HOME/argv.$$"
env >"$HOME/env.$$"
{ pwd; stat -c %a .; ls -A .; } >"$HOME/cwd.$$"
IFS= read -r line
printf '%s\n' "$line" >"$HOME/stdin.$$"
mark=${line#*'`BEGIN '}; mark=${mark%%'`'*}
text=${line#*"\\nBEGIN $mark\\n"}; text=${text%%"\\nEND $mark"*}
to=${line#*'set to \"'}; to=${to%%'\"'*}
call() { printf '%s\n' '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"SendMessage","input":{"to":"'"${2-$to}"'","message":"'"${1-$text}"'","type":"message"}}]}}'; }
answer() { printf '%s\n' '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"'"${2-t}"'","is_error":'"${3-false}"',"content":"-"}]},"tool_use_result":'"$1"'}'; }
sent() { answer '{"success":true,"message":"sent","msg_id":"m-1"}'; }
unsent() { answer '{"success":false,"message":"No agent is reachable"}'; }
notice() { printf '%s\n' '{"type":"system","subtype":"informational","level":"warning","content":"Cross-session message '"$1"' (recipient: '"${2-$to}"'). So it is."'"${3:+,\"msg_id\":\"$3\"}"'}'; }
result() { printf '%s\n' '{"type":"result","subtype":"success","is_error":'"${2-false}"',"result":"'"$1"'"}'; }
ready() { echo $$ "$@" >"$HOME/ready"; }
stay() { cat >/dev/null; }
"#;

/// The real one's way: the message is in the inbox, and then nothing.
pub const ACCEPTS: &str = "call; sent; result SENT; stay";
/// One that never says anything.
pub const SILENT: &str = "ready; stay";

/// A home with a courier of its own, and a live session that can be reached.
pub struct World {
    pub home: Home,
    pub target: Target,
}

/// A live session at whose socket somebody listens.
pub struct Target {
    pub process: Sleeper,
    pub socket: PathBuf,
    _listener: UnixListener,
}

impl Target {
    pub fn start(home: &Home, change: Value) -> Self {
        let process = Sleeper::start();
        let socket = home.path().join(format!("cc-socks/{}.sock", process.pid()));
        fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        let target = Self { process, socket, _listener: listener };
        target.record(home, change);
        target
    }

    /// Writes its record anew.
    pub fn record(&self, home: &Home, change: Value) {
        let mut fields = json!({ "name": "reviewer", "messagingSocketPath": self.socket });
        fields.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        record(&home.claude(), self.process.pid(), fields);
    }
}

impl World {
    pub fn new(courier: &str) -> Self {
        let home = Home::new();
        let target = Target::start(&home, json!({}));
        write_courier(home.path(), courier);
        fs::create_dir(home.path().join("tmp")).unwrap();
        assert!(Command::new("mkfifo").arg(home.path().join("ready")).status().unwrap().success());
        Self { home, target }
    }

    /// A server that may send messages.
    pub fn open(self, args: &[&str]) -> (Server, Target) {
        (spawn(self.home, args).open(), self.target)
    }
}

/// Written by another process: no fork of another test can hold it open for writing, and it can be started at once.
pub fn write_courier(home: &Path, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", "cat >courier && chmod +x courier"]).current_dir(home).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{PREAMBLE}{script}\n").as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

pub fn spawn(home: Home, args: &[&str]) -> Spawn {
    let courier = home.path().join("courier").to_str().unwrap().to_owned();
    spawn_with(home, &courier, args)
}

fn spawn_with(home: Home, courier: &str, args: &[&str]) -> Spawn {
    let path = home.path().to_owned();
    let variables: [(&str, OsString); 7] = [
        ("HOME", path.clone().into()),
        ("PATH", std::env::var_os("PATH").unwrap()),
        ("TMPDIR", path.join("tmp").into()),
        ("ANTHROPIC_API_KEY", SECRET.into()),
        ("HTTPS_PROXY", "http://me:proxy-sentinel@127.0.0.1:9".into()),
        ("CLAUDECODE", "1".into()),
        ("CLAUDE_CODE_SESSION_ID", "of-the-spawner".into()),
    ];
    let server = Spawn::new(home).only_env(variables.map(|(name, value)| (name.into(), value)));
    let allow = ["--allow", "observe,message", "--courier-program", courier];
    server.args(allow).args(args.iter().copied())
}

/// Sends to the target by its name.
pub fn send(server: &mut Server, text: &str) -> crate::support::Answer {
    server.request("peer/message", json!({ "name": "reviewer", "text": text }))
}

/// What a courier wrote when it was ready: its pid, and what it added. Waits until one is.
pub fn ready(home: &Path) -> Vec<i32> {
    let (tell, told) = mpsc::channel();
    let fifo = home.join("ready");
    thread::spawn(move || tell.send(fs::read_to_string(fifo).unwrap()));
    let line = told.recv_timeout(DEADLINE).expect("a courier that is ready");
    line.split_ascii_whitespace().map(|word| word.parse().unwrap()).collect()
}

/// Waits until a process is gone.
pub fn gone(pid: i32) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(DEADLINE, process::exited(pid)).await }).expect("it should end");
}

/// The only note that couriers left under this name.
pub fn note(home: &Path, name: &str) -> String {
    let notes: Vec<PathBuf> = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut notes = notes.iter().filter(|path| path.file_stem().is_some_and(|stem| stem == name));
    let note = fs::read_to_string(notes.next().expect("a courier's note")).unwrap();
    assert_eq!(notes.next(), None, "more than one courier");
    note
}

/// No directory of a courier is left.
#[track_caller]
pub fn no_directory(home: &Path) {
    assert_eq!(fs::read_dir(home.join("tmp")).unwrap().count(), 0);
}

#[test]
fn a_message_is_delivered_by_a_courier_that_can_do_nothing_else() {
    let (mut server, target) = World::new(ACCEPTS).open(&[]);
    let told = send(&mut server, "Hello there").result();
    let peer = server.request("peer/resolve", json!({ "name": "reviewer" })).result()["peer"].clone();
    assert_eq!(told, json!({ "peer": peer, "outcome": "accepted", "messageId": "m-1" }));
    let home = server.home.path();
    let argv = note(home, "argv");
    let argv: Vec<&str> = argv.lines().collect();
    let (name, flags) = argv.split_last().unwrap();
    let wanted = "-p --model haiku --tools ListAgents,SendMessage --allowedTools ListAgents,SendMessage --safe-mode \
                  --no-session-persistence --input-format stream-json --output-format stream-json --verbose --name";
    assert_eq!(flags.join(" "), wanted);
    assert!(name.starts_with("tackroom-courier-"), "{name}");

    let cwd = note(home, "cwd");
    let [directory, mode, rest @ ..] = &cwd.lines().collect::<Vec<_>>()[..] else { panic!("{cwd}") };
    assert_eq!(
        (Path::new(directory), *mode, rest.len()),
        (&*home.join("tmp").join(name), "700", 0),
        "empty, and private"
    );
    no_directory(home);

    let env = note(home, "env");
    let has = |line: &str| env.lines().any(|known| known == line);
    assert!(!env.contains("CLAUDE_CONFIG_DIR"), "told of the usual home it would begin a second state file there");
    assert!(has(&format!("ANTHROPIC_API_KEY={SECRET}")) && has("HTTPS_PROXY=http://me:proxy-sentinel@127.0.0.1:9"));
    assert!(has(&format!("XDG_RUNTIME_DIR={}", home.display())), "where its socket is beside the session's");
    assert!(has("CLAUDE_CODE_DISABLE_ATTACHMENTS=1"), "or `@file` in a text reads a file");
    assert!(!env.contains("CLAUDECODE") && !env.contains("of-the-spawner"));

    let order: Value = serde_json::from_str(&note(home, "stdin")).unwrap();
    assert_eq!((&order["type"], &order["message"]["role"]), (&json!("user"), &json!("user")));
    let prompt = order["message"]["content"][0]["text"].as_str().unwrap();
    assert!(prompt.contains(&format!("`to` set to \"uds:{}\"", target.socket.display())), "{prompt}");
}

#[test]
fn the_spawner_chooses_the_program_and_its_model() {
    let (mut server, _target) = World::new(ACCEPTS).open(&["--courier-model", "other-model"]);
    send(&mut server, "Hello").result();
    assert!(note(server.home.path(), "argv").starts_with("-p\n--model\nother-model\n"));
    // A program that is not there.
    let World { home, target: _target } = World::new(ACCEPTS);
    let mut server = spawn_with(home, "no-such-program-at-all", &[]).open();
    let error = send(&mut server, "Hello").error();
    assert_eq!(error.is(-32032, "delivery_failed").data["cause"], "spawn");
    assert!(error.message.contains("`no-such-program-at-all` cannot be started"), "{}", error.message);
    no_directory(server.home.path());
    // Nor a place for its directory, which is no fault of the program's.
    fs::remove_dir(server.home.path().join("tmp")).unwrap();
    let error = send(&mut server, "Hello").error();
    assert_eq!(error.is(-32032, "delivery_failed").data["cause"], "spawn");
    assert!(error.message.contains("no directory can be made") && !error.message.contains("such-program"), "{error:?}");
}

#[test]
fn a_session_in_another_home_gets_a_courier_of_that_home() {
    let world = World::new(ACCEPTS);
    let other = Home::new();
    let there = Target::start(&other, json!({ "name": "elsewhere" }));
    let root = format!("claude-code={}", other.claude().join("projects").display());
    let (mut server, _target) = world.open(&["--root", &root]);
    let told = server.request("peer/message", json!({ "name": "ELSEWHERE", "text": "Hello" })).result();
    assert_eq!(told["peer"]["pid"], there.process.pid());
    let wanted = format!("CLAUDE_CONFIG_DIR={}\n", other.claude().display());
    assert!(note(server.home.path(), "env").contains(&wanted));
}

#[test]
fn each_way_to_name_a_session_reaches_it() {
    let (mut server, target) = World::new("call; sent; notice held; stay").open(&[]);
    let session = uuid(target.process.pid() as usize);
    let endpoint = format!("cc-peer:v1:{}:reviewer:{}", target.process.pid(), target.socket.display());
    for to in [
        json!({ "sessionId": session }),
        json!({ "id": format!("claude-code:{session}") }),
        json!({ "endpoint": endpoint }),
    ] {
        let mut params = to.clone();
        params["text"] = json!("Hello");
        assert_eq!(server.request("peer/message", params).result()["outcome"], "held", "{to}");
    }
}
