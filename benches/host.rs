//! What a hosted agent's words cost on their way to who is attached, beside the same words read off a bare pipe in the
//! same run.
//!
//!     cargo bench --bench host
//!     cargo bench --bench host -- --events 20000
//!
//! The agent is this program itself: it says the time, as fast as it can or one word after the other.
#![allow(unreachable_pub, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use support::{Args, figure, header, percentile, row};
use tempfile::TempDir;

/// Words that are said one after the other, and how far apart.
const SINGLE: usize = 2_000;
const PAUSE: Duration = Duration::from_micros(500);
/// Words that are said at once where they come as fast as they are taken, and how far apart: an observer that falls
/// behind by more than a thousand is let go, by other runtimes as by this.
const BLOCK: usize = 200;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("agent") => agent(),
        Some("pipe") => pipe(),
        _ => bench(),
    }
}

fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_nanos() as u64
}

/// How many words are said, how many at once, and how far apart.
#[derive(Clone, Copy)]
struct Script {
    words: usize,
    block: usize,
    pause: Duration,
}

impl Script {
    fn text(self) -> String {
        format!("{} {} {}", self.words, self.block, self.pause.as_micros())
    }

    fn of(text: &str) -> Self {
        let mut numbers = text.split(' ').map(|number| number.parse::<usize>().expect("a number"));
        let mut next = || numbers.next().expect("three numbers");
        Self { words: next(), block: next(), pause: Duration::from_micros(next() as u64) }
    }

    /// Says the time as often as it is to be said.
    fn say(self, mut word: impl FnMut(u64)) {
        for number in 0..self.words {
            if number % self.block == 0 && !self.pause.is_zero() {
                std::thread::sleep(self.pause);
            }
            word(now_ns());
        }
    }
}

fn update(time: u64) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":\
         {{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"<{time}>\"}}}}}}}}\n"
    )
}

fn agent() {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lines() {
        let message: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let result = match message["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1 }),
            Some("session/new") => json!({ "sessionId": "s" }),
            Some("session/prompt") => {
                let script = message["params"]["prompt"][0]["text"].as_str().expect("a text");
                Script::of(script).say(|time| out.write_all(update(time).as_bytes()).expect("a reader"));
                json!({ "stopReason": "end_turn" })
            }
            _ => continue,
        };
        writeln!(out, "{}", json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).expect("a reader");
        out.flush().expect("a reader");
    }
}

fn pipe() {
    let mut out = std::io::stdout().lock();
    let script = std::env::args().nth(2).expect("a script");
    Script::of(&script).say(|time| out.write_all(update(time).as_bytes()).expect("a reader"));
}

/// The time that stands in a line, if one does.
fn time_in(line: &str) -> Option<u64> {
    // What the agent sent stands in the event a second time.
    let (_, rest) = line.split_once("\"text\":\"<")?;
    rest.split_once('>')?.0.parse().ok()
}

/// What came, and how long it took.
struct Heard {
    delays: Vec<Duration>,
    took: Duration,
}

/// Reads lines until one holds `end`, or to the end.
fn hear(mut from: impl BufRead, end: &str) -> Heard {
    let (mut delays, mut line, began) = (vec![], String::new(), Instant::now());
    while from.read_line(&mut line).expect("a line") > 0 {
        if let Some(time) = time_in(&line) {
            delays.push(Duration::from_nanos(now_ns().saturating_sub(time)));
        }
        if line.contains(end) {
            break;
        }
        line.clear();
    }
    Heard { delays, took: began.elapsed() }
}

fn own_program() -> String {
    std::env::current_exe().expect("a program").into_os_string().into_string().expect("UTF-8")
}

/// The floor: the same words off a pipe.
fn floor(script: Script) -> Heard {
    let mut command = Command::new(own_program());
    let mut child = command.args(["pipe", &script.text()]).stdout(Stdio::piped()).spawn().expect("it starts");
    let heard = hear(BufReader::new(child.stdout.take().expect("a pipe")), "nothing");
    child.wait().expect("a child");
    heard
}

struct Host {
    child: Child,
    address: String,
    token: String,
    _home: TempDir,
}

impl Host {
    fn start() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let mut command = Command::new(env!("CARGO_BIN_EXE_tackroom"));
        command.args(["host", "--json", "--", &own_program(), "agent"]);
        command
            .env_clear()
            .env("HOME", home.path())
            .current_dir(home.path())
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let ready: Value = serde_json::from_str(&line).expect("it is ready");
        let id = ready["endpoint"].as_str().expect("an endpoint").rsplit('/').next().expect("an id").to_owned();
        let receipt = home.path().join(format!(".config/supercode/live-runtimes/{id}.json"));
        let receipt: Value = serde_json::from_slice(&std::fs::read(receipt).expect("a receipt")).expect("JSON");
        let text = |name: &str| receipt[name].as_str().expect("a text").to_owned();
        let address = text("base_url").trim_start_matches("http://").to_owned();
        Self { child, address, token: text("token"), _home: home }
    }

    fn send(&self, line: &str, client: &str, body: &str) -> BufReader<TcpStream> {
        let mut socket = TcpStream::connect(&self.address).expect("it listens");
        let Self { address, token, .. } = self;
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nX-Supercode-Client-Id: {client}\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        socket.write_all(request.as_bytes()).expect("it reads");
        BufReader::new(socket)
    }

    /// Has the agent say words to so many: what each heard.
    fn tell(&self, script: Script, observers: usize) -> Vec<Heard> {
        let ready = Arc::new(Barrier::new(observers + 1));
        let listen = |number: usize| {
            let mut stream = self.send("GET /frontend/events", &format!("observer-{number}"), "");
            let ready = ready.clone();
            std::thread::spawn(move || {
                let mut line = String::new();
                while line != "\r\n" {
                    line.clear();
                    assert!(stream.read_line(&mut line).expect("a head") > 0, "no stream");
                }
                ready.wait();
                hear(stream, "turn_succeeded")
            })
        };
        let threads: Vec<_> = (0..observers).map(listen).collect();
        ready.wait();
        let prompt = json!({ "id": 1, "method": "frontend.v2.send_input", "params": { "prompt": script.text() } });
        let mut answer = String::new();
        let mut answered = self.send("POST /rpc", "driver", &prompt.to_string());
        std::io::Read::read_to_string(&mut answered, &mut answer).expect("an answer");
        assert!(answer.contains("\"accepted\":true"), "{answer}");
        threads.into_iter().map(|thread| thread.join().expect("an observer")).collect()
    }

    fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
        line.split_ascii_whitespace().next().expect("a number").parse().expect("a number")
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bench() {
    let args = Args::of_process();
    header();
    let host = Host::start();
    figure("memory of an idle host", format!("{:.1} MiB", host.memory_kib() as f64 / 1024.0), "<= 15 MiB");
    let single = Script { words: SINGLE, block: 1, pause: PAUSE };
    let (bare, ours) = (floor(single).delays, host.tell(single, 1).remove(0).delays);
    assert_eq!((bare.len(), ours.len()), (SINGLE, SINGLE));
    row("a word, median", percentile(&ours, 50), percentile(&bare, 50), "");
    row("a word, 99 of 100", percentile(&ours, 99), percentile(&bare, 99), "");
    let words = args.number("--events", 20_000);
    let many = Script { words, block: BLOCK, pause: Duration::from_micros(1) };
    let bare = floor(many).took;
    for observers in [1, 10, 100] {
        let heard = host.tell(many, observers);
        let all = heard.iter().filter(|heard| heard.delays.len() == words).count();
        let took = heard.iter().map(|heard| heard.took).max().expect("somebody");
        row(&format!("{words} words to {observers} ({all} kept up)"), took, bare, "");
        let each = (words * all) as f64 / took.as_secs_f64();
        figure("  events a second, all together", format!("{each:.0}"), "");
    }
    figure("memory of the host after that", format!("{:.1} MiB", host.memory_kib() as f64 / 1024.0), "");
}
