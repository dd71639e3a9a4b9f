//! `runtime/start`: a client has an agent started that the spawner named.

use super::{entry, join};
use crate::support::agent::{Setup, command};
use crate::support::host::{DEMO_AGENT, published, wait_gone};
use crate::support::{DEADLINE, DRIVER, Home, Server, Spawn, beside, uuid};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A server whose clients may start these agents, with more flags.
fn serve(home: Home, agents: &[&str], more: &[&str]) -> Server {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let environment = [("HOME".into(), home.path().into()), ("PATH".into(), path)];
    let spawn = Spawn::new(home).only_env(environment).args(["--allow".to_owned(), format!("start,{DRIVER}")]);
    spawn.args(agents.iter().flat_map(|agent| ["--start", agent])).args(more).open()
}

fn demo() -> String {
    format!("demo='{}' {}", DEMO_AGENT[0], DEMO_AGENT[1])
}

/// An agent that never answers, and says in a file who it is.
fn silent(mark: &Path) -> String {
    format!("silent=sh -c 'echo $$ > {0}.part; mv {0}.part {0}; exec sleep 600'", mark.display())
}

/// Waits until that file is there: the agent's process.
#[track_caller]
fn marked(mark: &Path) -> i32 {
    let began = Instant::now();
    loop {
        if let Ok(text) = fs::read_to_string(mark) {
            fs::remove_file(mark).unwrap();
            return text.trim().parse().unwrap();
        }
        assert!(began.elapsed() < DEADLINE, "the agent is not started");
        std::thread::yield_now();
    }
}

/// Kills the host of every runtime that is listed, at the end of the test.
struct HeadTail(Vec<i32>);

impl Drop for HeadTail {
    fn drop(&mut self) {
        for pid in &self.0 {
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
    }
}

fn start(workspace: &Path) -> Value {
    json!({ "name": "demo", "workspace": workspace })
}

#[test]
fn what_is_started_is_listed_at_once_and_outlives_its_client_and_its_server() {
    let home = Home::new();
    let workspace = home.path().join("a place");
    fs::create_dir(&workspace).unwrap();
    let mut server = serve(home, &[&demo()], &[]);
    let started = server.request("runtime/start", start(&workspace)).result();
    let live = entry(&mut server);
    let pid = live["owner"]["pid"].as_i64().unwrap() as i32;
    let _ends = HeadTail(vec![pid]);
    assert_eq!((&live["runtimeId"], &live["endpoint"]), (&started["runtimeId"], &started["endpoint"]));
    assert_eq!((&live["workspace"], &live["harness"]), (&json!(workspace.canonicalize().unwrap()), &json!("acp")));
    let mut other = beside(&server);
    server.kill();
    assert_eq!(entry(&mut other)["endpoint"], started["endpoint"]);
    let at = join(&mut other, &started["runtimeId"], "ben");
    other.at(&at, "close", json!({})).result();
    wait_gone(pid);
    assert_eq!(published(&server.home), Vec::<String>::new());
}

#[test]
fn only_who_may_and_only_what_was_named() {
    let home = Home::new();
    let workspace = home.path().to_owned();
    let mut server = serve(home, &[&demo()], &[]);
    let again = json!({ "authority": { "permissions": ["observe", "interact"] } });
    let mut narrowed = start(&workspace);
    narrowed["_meta"] = again;
    let refused = server.request("runtime/start", narrowed).error();
    assert_eq!(refused.is(-32000, "unauthorized").data["permission"], "start");
    for name in ["", "other", "demo ", "sh", "../demo"] {
        let params = json!({ "name": name, "workspace": workspace });
        server.request("runtime/start", params).error().is(-32001, "not_found");
    }
    for load in ["".to_owned(), " ".to_owned(), "a\nb".to_owned(), "x".repeat(300)] {
        let mut params = start(&workspace);
        params["load"] = json!(load);
        server.request("runtime/start", params).error().is(-32602, "invalid_params");
    }
    assert_eq!(published(&server.home), Vec::<String>::new());
}

#[test]
fn names_are_told_to_who_may_start_them() {
    let may = |allow: &str, agents: &[&str]| {
        let flags = agents.iter().flat_map(|agent| ["--start".to_owned(), (*agent).to_owned()]);
        let mut server = Spawn::empty().args(["--allow", allow]).args(flags).start();
        server.initialize(json!({}))["capabilities"].take()
    };
    assert_eq!(may("observe,start", &["a=x", "b.c=y 'z z'"]), json!({ "start": ["a", "b.c"] }));
    assert_eq!(may("observe", &["a=x"]), json!({}));
    assert_eq!(may("start", &[]), json!({}));
}

#[test]
fn what_the_spawner_says_wrong_is_refused() {
    for flags in [
        ["--start", "demo"].as_slice(),
        &["--start", "=x"],
        &["--start", "a b=x"],
        &["--start", "a="],
        &["--start", "a='x"],
        &["--start", "a=x", "--start", "a=y"],
    ] {
        let run = std::process::Command::new(env!("CARGO_BIN_EXE_tackroom")).arg("serve").args(flags).output().unwrap();
        assert_eq!(run.status.code(), Some(2), "{flags:?}");
    }
}

#[test]
fn out_of_scope_is_as_if_it_were_not_there() {
    let home = Home::new();
    let [inside, outside] = ["inside", "outside"].map(|name| home.path().join(name));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
    fs::write(inside.join("file"), "").unwrap();
    home.project("-inside", inside.to_str().unwrap()).session(&uuid(1), "mine", 10);
    home.project("-outside", outside.to_str().unwrap()).session(&uuid(2), "theirs", 10);
    let agents = [demo(), silent(&outside.join("pid"))];
    let flags = ["--workspace", inside.to_str().unwrap()];
    let mut server = serve(home, &agents.each_ref().map(String::as_str), &flags);
    // One that is started would never be ready, and nobody would be answered.
    let refusal = |server: &mut Server, workspace: PathBuf| {
        let params = json!({ "name": "silent", "workspace": workspace });
        let failure = server.request("runtime/start", params).error();
        (failure.code, failure.message)
    };
    let nowhere = refusal(&mut server, inside.join("nowhere"));
    assert_eq!(nowhere.0, -32001);
    for workspace in
        [outside.clone(), inside.join("link"), inside.join("../outside"), inside.join("file"), "inside".into()]
    {
        assert_eq!(refusal(&mut server, workspace.clone()), nowhere, "{}", workspace.display());
    }
    // A session of elsewhere is repeated to nobody here, whatever directory it is loaded in.
    let load = |server: &mut Server, id: &str| {
        let mut params = start(&inside);
        params["load"] = json!(id);
        let failure = server.request("runtime/start", params).error();
        (failure.code, failure.message)
    };
    let unknown = load(&mut server, "no-such-session");
    assert_eq!(unknown.0, -32001);
    assert_eq!(load(&mut server, &uuid(2)), unknown);
    assert_eq!(published(&server.home), Vec::<String>::new());

    // Nor is an agent of another harness there.
    let home = Home::new();
    let workspace = home.path().to_owned();
    let mut server = serve(home, &[&demo()], &["--harness", "codex"]);
    server.request("runtime/start", start(&workspace)).error().is(-32001, "not_found");
    let mut all = beside(&server);
    assert_eq!(all.request("registry/list", json!({})).result()["total"], 0);
}

#[test]
fn what_is_cancelled_or_whose_server_is_gone_leaves_nothing() {
    let home = Home::new();
    let (mark, workspace) = (home.path().join("pid"), home.path().to_owned());
    let mut server = serve(home, &[&silent(&mark)], &[]);
    let params = json!({ "name": "silent", "workspace": workspace });
    let id = server.ask("runtime/start", params.clone());
    let agent = marked(&mark);
    server.notify("$/cancelRequest", json!({ "id": id }));
    server.answer(id).error().is(-32800, "cancelled");
    wait_gone(agent);

    server.ask("runtime/start", params.clone());
    let agent = marked(&mark);
    server.kill();
    wait_gone(agent);
    assert_eq!(published(&server.home), Vec::<String>::new());

    let mut server = serve(Home::new(), &[&silent(&mark)], &[]);
    server.ask("runtime/start", params);
    let agent = marked(&mark);
    server.signal(Signal::SIGTERM);
    wait_gone(agent);
}

#[test]
fn what_goes_wrong_is_told_in_the_agents_words() {
    let home = Home::new();
    let workspace = home.path().to_owned();
    let mut server = serve(home, &["demo=sh -c 'echo out of \"cheese\" >&2; exit 3'", "none=no-such-program"], &[]);
    let failure = server.request("runtime/start", start(&workspace)).error();
    assert!(failure.is(-32014, "execution").message.contains("out of cheese"));
    let params = json!({ "name": "none", "workspace": workspace });
    let failure = server.request("runtime/start", params).error();
    assert!(failure.message.contains("no-such-program cannot be started"), "{}", failure.message);
}

#[test]
fn only_so_many_are_started_at_a_time() {
    let home = Home::new();
    let (mark, workspace) = (home.path().join("pid"), home.path().to_owned());
    let mut server = serve(home, &[&silent(&mark)], &[]);
    let params = json!({ "name": "silent", "workspace": workspace });
    let ids: Vec<i64> = (0..4)
        .map(|_| {
            let id = server.ask("runtime/start", params.clone());
            marked(&mark);
            id
        })
        .collect();
    server.request("runtime/start", params).error().is(-32008, "busy");
    for id in ids {
        server.notify("$/cancelRequest", json!({ "id": id }));
        server.answer(id).error().is(-32800, "cancelled");
    }
}

#[test]
fn a_session_to_load_is_told_to_the_agent_and_is_no_word_of_a_command_line() {
    let home = Home::new();
    let workspace = home.path().to_owned();
    let words = command(&Setup { loads: true, ..Setup::default() }).into_iter().map(|word| word.into_string().unwrap());
    let loader = format!("loader={}", words.map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "));
    let mut server = serve(home, &[&demo(), &loader], &[]);
    let load = |name: &str, id: &str| json!({ "name": name, "workspace": workspace, "load": id });
    // One that cannot load says so, and nothing is taken for a flag.
    for id in ["--detach", "-x", "--"] {
        let failure = server.request("runtime/start", load("demo", id)).error();
        assert!(failure.is(-32014, "execution").message.contains("can neither load nor resume"), "{}", failure.message);
    }
    server.request("runtime/start", load("loader", "--old one")).result();
    let live = entry(&mut server);
    let _ends = HeadTail(vec![live["owner"]["pid"].as_i64().unwrap() as i32]);
    assert_eq!(live["sessionId"], "--old one");
    // Live already, it is not loaded again.
    let failure = server.request("runtime/start", load("loader", "--old one")).error();
    assert_eq!(failure.is(-32015, "invalid_argument").data["id"], live["id"]);
    assert!(failure.message.contains(live["runtimeId"].as_str().unwrap()), "{}", failure.message);
}
