//! A host from its start to its end, and the receipt that says that it is there.

use super::bad::scripted;
use super::{entry, join, until_asked};
use crate::support::agent::{Setup, command};
use crate::support::host::{DEMO_AGENT, Host, host, published, wait_gone};
use crate::support::{Home, beside, serve, uuid};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

#[test]
fn its_receipt_says_what_holds_and_nobody_else_reads_it() {
    let home = Home::new();
    let host = Host::start(&home, &["--harness", "gemini"], &DEMO_AGENT);
    let receipt = host.receipt();
    assert_eq!(receipt["schema"], "supercode.live-runtime.v1");
    assert_eq!(&receipt["runtime_session_id"], host.id());
    let workspace = home.path().canonicalize().unwrap();
    let source = json!({ "harness": "gemini", "session_id": "demo-session", "workspace": workspace });
    assert_eq!(receipt["source"], source);
    assert_eq!((&receipt["pid"], &host.ready["pid"]), (&json!(host.pid()), &json!(host.pid())));
    assert_ne!(host.agent(), host.pid());
    assert!(receipt["base_url"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    let token = receipt["token"].as_str().unwrap();
    assert!(token.len() == 64 && token.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    assert_eq!(receipt["metadata"]["endpoint_capabilities"], json!(["http"]));
    assert_eq!(receipt["metadata"]["supervisor"], Value::Null);
    assert_eq!(host.receipt_file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn every_signal_that_ends_it_takes_its_receipt_and_its_agent_along() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT] {
        let home = Home::new();
        let mut host = Host::demo(&home);
        let agent = host.agent();
        let mut server = serve(home);
        let at = join(&mut server, host.id(), "anna");
        host.signal(signal);
        let (status, said) = host.end();
        assert_eq!(status.code(), Some(128 + signal as i32), "{said}");
        assert_eq!(published(&server.home), Vec::<String>::new());
        wait_gone(agent);
        // Who is attached hears that it is over.
        server.events_to(&at, "disconnected");
    }
}

#[test]
fn a_killed_one_leaves_a_receipt_that_the_next_reader_removes_and_no_agent() {
    let home = Home::new();
    let mut host = Host::demo(&home);
    let agent = host.agent();
    host.signal(Signal::SIGKILL);
    host.end();
    wait_gone(agent);
    assert_eq!(published(&home).len(), 1);
    let mut server = serve(home);
    assert_eq!(server.request("registry/list", json!({})).result()["total"], 0);
    assert_eq!(published(&server.home), Vec::<String>::new());
}

#[test]
fn a_client_that_closes_it_ends_it_for_all() {
    let home = Home::new();
    let mut host = Host::demo(&home);
    let agent = host.agent();
    let mut anna = serve(home);
    let mut ben = beside(&anna);
    let (of_anna, of_ben) = (join(&mut anna, host.id(), "anna"), join(&mut ben, host.id(), "ben"));
    until_asked(&mut anna, &of_anna);
    assert_eq!(ben.at(&of_ben, "close", json!({})).result(), json!({ "closed": true }));
    anna.events_to(&of_anna, "disconnected");
    ben.events_to(&of_ben, "disconnected");
    let (status, said) = host.end();
    assert_eq!(status.code(), Some(0), "{said}");
    assert_eq!(published(&anna.home), Vec::<String>::new());
    wait_gone(agent);
}

#[test]
fn an_agent_that_is_killed_in_the_middle_of_a_turn_ends_it_and_everybody_is_told() {
    let home = Home::new();
    let mut host = Host::demo(&home);
    let mut anna = serve(home);
    let mut ben = beside(&anna);
    let (of_anna, of_ben) = (join(&mut anna, host.id(), "anna"), join(&mut ben, host.id(), "ben"));
    until_asked(&mut anna, &of_anna);
    kill(Pid::from_raw(host.agent()), Signal::SIGKILL).unwrap();
    for (server, at) in [(&mut anna, &of_anna), (&mut ben, &of_ben)] {
        let kinds: Vec<Value> =
            server.events_to(at, "disconnected").iter().map(|event| event["kind"].clone()).collect();
        assert!(kinds.contains(&json!("turn_failed")), "{kinds:?}");
    }
    let (status, said) = host.end();
    assert_eq!(status.code(), Some(1));
    assert!(said.contains("the agent exited"), "{said}");
    assert_eq!(published(&anna.home), Vec::<String>::new());
    assert_eq!(anna.request("registry/list", json!({})).result()["total"], 0);
}

#[test]
fn what_cannot_be_hosted_is_told_and_leaves_nothing() {
    let home = Home::new();
    let hello = format!("hello {}", "o".repeat(100_000));
    let cases: [(&[&str], &[&str], i32, &str); 6] = [
        (&[], &["no-such-agent"], 1, "no-such-agent cannot be started"),
        (&[], &["sh", "-c", "echo out of cheese >&2; exit 3"], 1, "out of cheese"),
        (&[], &["yes", &hello], 1, "lines in a row that are no messages, the last one: hello o"),
        (&["--workspace", "nowhere"], &DEMO_AGENT, 1, "nowhere is not a directory"),
        (&["--harness", "emacs"], &DEMO_AGENT, 2, "unknown harness"),
        (&[], &[], 2, "COMMAND"),
    ];
    for (flags, agent, code, why) in cases {
        let run = host(home.path(), flags, agent).output().unwrap();
        let said = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(code), "{said}");
        assert!(said.contains(why), "{said}");
        assert_eq!(published(&home), Vec::<String>::new());
    }
}

#[test]
fn mute_agent_is_reported_while_it_is_waited_for() {
    for flags in [&[][..], &["--detach"]] {
        let home = Home::new();
        let mut child = host(home.path(), flags, &["sleep", "600"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "-- waiting for the agent\n");
        kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn last_words_of_an_agent_that_dies_early_are_quoted_from_both_pipes() {
    for flags in [&[][..], &["--detach"]] {
        let home = Home::new();
        let script = r#"echo 'no key is set'; printf '{"level":"fatal"}\nset it'; echo 'see the log' >&2; exit 3"#;
        let output = host(home.path(), flags, &["sh", "-c", script]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1));
        for words in ["exit code 3", "no key is set", r#"{"level":"fatal"}"#, "set it", "see the log"] {
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}

#[test]
fn session_that_is_hosted_already_is_not_loaded_again() {
    let home = Home::new();
    let setup = Setup { loads: true, ..Setup::default() };
    let first = scripted(&home, &[], &setup);
    let words: Vec<String> = command(&setup).into_iter().map(|word| word.into_string().unwrap()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for flags in [&["--load", "test-session"][..], &["--load", "test-session", "--detach"]] {
        let output = host(home.path(), flags, &words).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("`tackroom attach {}`", first.id().as_str().unwrap())), "{said}");
    }
    assert_eq!(published(&home).len(), 1);
}

/// Both hosts find the session free, because no agent has answered yet. Then both agents load it at the same time.
#[test]
fn only_one_of_two_simultaneous_hosts_loads_a_session() {
    let home = Home::new();
    let setup = Setup { loads: true, ..Setup::default() };
    let agent: Vec<String> = command(&setup).into_iter().map(|word| word.into_string().unwrap()).collect();
    let start = |name: &str, flags: &[&str]| {
        let gate = home.path().join(name);
        nix::unistd::mkfifo(&gate, Mode::S_IRWXU).unwrap();
        let script = r#"read go < "$0"; exec "$@""#;
        let words = ["sh", "-c", script, gate.to_str().unwrap()].into_iter().chain(agent.iter().map(String::as_str));
        let flags = [&["--json", "--load", "test-session"], flags].concat();
        let mut command = host(home.path(), &flags, &words.collect::<Vec<_>>());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Opens once the agent reads it.
        (child, OpenOptions::new().write(true).open(gate).unwrap())
    };
    let (hosts, gates): (Vec<_>, Vec<_>) = [start("one", &[]), start("two", &["--detach"])].into_iter().unzip();
    gates.into_iter().for_each(|mut gate| writeln!(gate, "go").unwrap());
    let mut winners = Vec::new();
    let mut refused = Vec::new();
    for mut child in hosts {
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        match serde_json::from_str::<Value>(&line) {
            Ok(ready) => winners.push((child, ready)),
            Err(_) => refused.push(child.wait_with_output().unwrap()),
        }
    }
    let [(mut winner, ready)] = <[_; 1]>::try_from(winners).unwrap();
    let [refused] = <[_; 1]>::try_from(refused).unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("`tackroom attach {}`", ready["runtimeId"].as_str().unwrap())), "{said}");
    assert_eq!(published(&home).len(), 1);
    let owner = ready["pid"].as_i64().unwrap() as i32;
    kill(Pid::from_raw(owner), Signal::SIGTERM).unwrap();
    winner.wait().unwrap();
    wait_gone(owner);
}

#[test]
fn session_that_is_open_elsewhere_is_not_loaded() {
    let home = Home::new();
    home.peer("one", &uuid(5), "/proj");
    let output = host(home.path(), &["--load", &uuid(5)], &["claude-agent-acp"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("is open in process {}", std::process::id())), "{said}");
}

#[test]
fn it_tells_a_person_how_to_join_and_what_goes_on() {
    let home = Home::new();
    let mut child = host(home.path(), &[], &DEMO_AGENT).stdout(Stdio::piped()).spawn().unwrap();
    let mut server = serve(home);
    let live = loop {
        let listed = server.request("registry/list", json!({})).result();
        if let Some(entry) = listed["entries"].get(0) {
            break entry.clone();
        }
    };
    let id = live["runtimeId"].as_str().unwrap();
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let mut out = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut out).unwrap();
    let workspace = server.home.path().canonicalize().unwrap();
    let endpoint = live["endpoint"].as_str().unwrap();
    let expected = format!(
        "hosting ACP agent in {}\nruntime {id}\nendpoint {endpoint}\nattach with: tackroom attach {}\n",
        workspace.display(),
        &id[..8]
    );
    assert_eq!(out, expected);
}

#[test]
fn a_list_says_what_it_does() {
    let home = Home::new();
    let host = Host::demo(&home);
    let mut server = serve(home);
    let mut other = beside(&server);
    let idle = entry(&mut server);
    assert_eq!((&idle["state"], &idle["harness"], &idle["id"]), (&json!("idle"), &json!("acp"), host.id()));
    assert_eq!(idle["owner"]["pid"], host.pid());
    assert_eq!(idle["endpointCapabilities"], json!(["http"]));
    let subscription = other.request("registry/watch", json!({})).result()["subscription"].take();
    let at = join(&mut server, host.id(), "anna");
    let request = until_asked(&mut server, &at);
    let waiting = entry(&mut server);
    assert_eq!((&waiting["state"], &waiting["activity"]["status"]), (&json!("waiting"), &json!("waiting")));
    assert_eq!(waiting["activity"]["waitingFor"], "approval of Water the tomatoes");
    let question = json!({ "kind": "approval", "summary": "Water the tomatoes", "requestId": request });
    assert_eq!(waiting["activity"]["question"], question);
    let since = |entry: &Value| entry["activity"]["sinceMs"].as_i64().unwrap();
    assert!(since(&idle) >= idle["startedAtMs"].as_i64().unwrap() - 1_000, "{idle}");
    assert!(since(&waiting) >= since(&idle), "{waiting}");
    // It does not move while the state stays.
    assert_eq!(since(&entry(&mut server)), since(&waiting));
    other.expect_params("registry/event", |params| {
        params["subscription"] == subscription && params["event"]["entry"]["state"] == "waiting"
    });
    server.at(&at, "respond", super::allow(&request)).result();
    server.events_to(&at, "turn_succeeded");
    assert_eq!(entry(&mut server)["state"], "idle");
    other.expect_params("registry/event", |params| params["event"]["entry"]["state"] == "idle");
}

#[test]
fn who_runs_it_sees_what_goes_on_and_nothing_of_it_acts_on_the_terminal() {
    let home = Home::new();
    let mut host = Host::demo(&home);
    let mut server = serve(home);
    let at = join(&mut server, host.id(), "anna");
    server.at(&at, "sendInput", json!({ "prompt": "water\u{1b}[2J it\nnow" })).result();
    let request = server.events_to(&at, "request").pop().unwrap()["payload"]["request"]["id"].take();
    server.at(&at, "respond", super::allow(&request)).result();
    server.events_to(&at, "turn_succeeded");
    server.at(&at, "detach", json!({})).result();
    server.request("runtime/attach", json!({ "runtimeId": host.id(), "clientId": "ben" })).result();
    host.signal(Signal::SIGTERM);
    let (_, said) = host.end();
    let expected = "-- anna attached\n-- anna has control\n> water it now\n\
        ? approval requested: Water the tomatoes\n-- decided: allow\n-- turn finished\n\
        -- anna detached\n-- no client has control\n-- ben attached\n";
    // Who comes and goes is told beside what happens.
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&said), sorted(expected), "{said}");
}
