//! How fast the server is, beside the floor measured in the same run.
//!
//!     cargo bench --bench speed                              10,000 sessions
//!     cargo bench --bench speed -- --sessions 100000 --median-kib 4
//!     cargo bench --bench speed -- --home DIR                a corpus that is there already
//!
//! The corpus is written once, by `benches/corpus.py` (Python 3), below `target/`. Every figure is a median; each of
//! ours is taken in turn with its floor, so that the machine's mood falls on both.
#![allow(unreachable_pub, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use support::{Args, Server, figure, header, median, read_ends, row, target, timed};

const ROUNDS: usize = 9;
const PINGS: usize = 5_000;
const PIPELINED: usize = 60_000;
const IN_FLIGHT: usize = 64;

fn main() {
    let args = Args::of_process();
    if args.has("--echo") {
        return echo();
    }
    let home = args.home();
    println!("corpus: {} ({} files)\n", home.display(), files(&home).len());
    header();
    lists(&home);
    startup(&home);
    round_trips(&home);
    transcript();
}

/// Every file below the roots, found with one `stat` each.
fn files(home: &Path) -> Vec<(PathBuf, u64)> {
    [".claude/projects", ".codex"].iter().flat_map(|root| support::files(&home.join(root))).collect()
}

fn lists(home: &Path) {
    let (mut first, mut later, mut walks, mut floors) = (vec![], vec![], vec![], vec![]);
    let mut memory = 0;
    for _ in 0..ROUNDS {
        let mut server = Server::start("HOME", home);
        first.push(timed(|| server.request("registry/list", json!({}))).0);
        floors.push(timed(|| read_ends(&files(home))).0);
        for _ in 0..3 {
            let (time, answer) = timed(|| server.request("registry/list", json!({})));
            assert_eq!(answer["result"]["entries"].as_array().map(Vec::len), Some(50));
            later.push(time);
            walks.push(timed(|| files(home)).0);
        }
        memory = memory.max(server.peak_kib());
    }
    row("first list of 50", median(first), median(floors), "<= 2");
    row("later list of 50", median(later), median(walks), "<= 1.3");
    figure("peak resident memory", format!("{memory} KiB"), "<= 40960 KiB on 10,000");
}

/// One page of a conversation that is too long to be read whole.
fn transcript() {
    const BYTES: usize = 400 << 20;
    let home = target("transcript");
    let file = home.join(format!(".claude/projects/-p/{TRANSCRIPT}.jsonl"));
    if fs::metadata(&file).is_ok_and(|metadata| metadata.len() < BYTES as u64) || !file.exists() {
        eprintln!("writing a transcript of {} MiB ...", BYTES >> 20);
        write_transcript(&file, BYTES);
    }
    let (mut newest, mut older, mut floors) = (vec![], vec![], vec![]);
    let mut memory = 0;
    let mut tail = vec![0; 1 << 20];
    for _ in 0..ROUNDS {
        let mut server = Server::start("HOME", &home);
        let mut page = |params: Value| {
            let (time, answer) = timed(|| server.request("session/load", params));
            assert_eq!(answer["result"]["messages"].as_array().map(Vec::len), Some(200));
            (time, answer["result"]["nextCursor"].clone())
        };
        let id = format!("claude-code:{TRANSCRIPT}");
        let (time, cursor) = page(json!({ "id": id }));
        newest.push(time);
        older.push(page(json!({ "id": id, "cursor": cursor })).0);
        let read = || File::open(&file).expect("it is there").read_at(&mut tail, (BYTES - (1 << 20)) as u64);
        floors.push(timed(read).0);
        memory = memory.max(server.peak_kib());
    }
    let floor = median(floors);
    row("newest 200 messages of 400 MiB", median(newest), floor, "<= 50 ms; floor: reading 1 MiB");
    row("the 200 before them", median(older), floor, "<= 50 ms");
    figure("peak resident memory", format!("{memory} KiB"), "<= 40960 KiB");
}

const TRANSCRIPT: &str = "11111111-2222-4333-8444-555555555555";

/// Prompts and answers with a call and its result, and between them what the program keeps for itself.
fn write_transcript(file: &Path, bytes: usize) {
    fs::create_dir_all(file.parent().expect("a directory")).expect("it can be made");
    let mut out = std::io::BufWriter::new(File::create(file).expect("it can be written"));
    let (mut written, mut number) = (0, 0_u64);
    let mut parent = Value::Null;
    let own = json!({ "type": "api-request-shape", "data": "x".repeat(40 << 10) });
    while written < bytes {
        let text = "words of a sentence ".repeat(60);
        let tool = format!("toolu_{number}");
        let message = match number % 4 {
            0 => json!({ "role": "user", "content": text }),
            1 => json!({ "id": format!("msg_{number}"), "role": "assistant", "model": "m",
                "content": [{ "type": "tool_use", "id": tool, "name": "Read", "input": { "file_path": text } }] }),
            2 => json!({ "role": "user", "content": [{ "type": "tool_result", "content": text,
                "tool_use_id": format!("toolu_{}", number - 1) }] }),
            _ => json!({ "id": format!("msg_{number}"), "role": "assistant", "model": "m",
                "content": [{ "type": "text", "text": text }] }),
        };
        let uuid = format!("{number:036}");
        let kind = if number.is_multiple_of(2) { "user" } else { "assistant" };
        let row = json!({ "parentUuid": parent, "isSidechain": false, "type": kind, "message": message, "uuid": uuid,
            "timestamp": "2026-11-30T08:40:21.968Z", "cwd": "/p", "sessionId": TRANSCRIPT, "version": "2.1.332" });
        let mut line = format!("{row}\n");
        if number.is_multiple_of(16) {
            line += &format!("{own}\n");
        }
        out.write_all(line.as_bytes()).expect("it can be written");
        (written, number, parent) = (written + line.len(), number + 1, uuid.into());
    }
}

fn startup(home: &Path) {
    let (mut ours, mut floor) = (vec![], vec![]);
    for _ in 0..40 {
        ours.push(timed(|| Server::start("HOME", home)).0);
        let spawn = || Command::new("/bin/true").status().expect("/bin/true runs");
        floor.push(timed(spawn).0);
    }
    let (ours, floor) = (median(ours), median(floor));
    row("spawn to initialize answered", ours, floor, "<= floor + 5 ms");
}

fn round_trips(home: &Path) {
    let mut server = Server::start("HOME", home);
    let mut echo = Server::spawn(Command::new(std::env::current_exe().expect("own path")).arg("--echo"));
    let ping = |server: &mut Server| server.request("ping", json!({}));
    let (mut ours, mut floor) = (vec![], vec![]);
    for round in 0..PINGS + PINGS / 10 {
        let (a, b) = (timed(|| ping(&mut server)).0, timed(|| ping(&mut echo)).0);
        if round >= PINGS / 10 {
            ours.push(a);
            floor.push(b);
        }
    }
    row("ping round trip", median(ours), median(floor), "<= 1.5");
    let (ours, floor) = (pipeline(&mut server), pipeline(&mut echo));
    row(&format!("{PIPELINED} pings, {IN_FLIGHT} in flight"), ours, floor, "");
    figure("", format!("{:.0}/s", PIPELINED as f64 / ours.as_secs_f64()), "");
}

/// Sends many pings, never more than so many unanswered.
fn pipeline(server: &mut Server) -> Duration {
    let lines: Vec<String> = (0..PIPELINED).map(|_| server.line("ping", json!({}))).collect();
    let mut answer = String::new();
    timed(|| {
        let (mut sent, mut answered) = (0, 0);
        while answered < PIPELINED {
            let free = (IN_FLIGHT - (sent - answered)).min(PIPELINED - sent);
            server.input.write_all(lines[sent..sent + free].concat().as_bytes()).expect("it reads");
            sent += free;
            // All answers that are there are taken before more is sent.
            loop {
                answer.clear();
                server.output.read_line(&mut answer).expect("it answers");
                answered += 1;
                if server.output.buffer().is_empty() || answered == sent {
                    break;
                }
            }
        }
    })
    .0
}

/// The floor of a round trip: what comes goes back, over the same kind of descriptors as the server's.
fn echo() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let (mut input, mut output) = tackroom::platform::stdio::open().expect("pipes");
        let mut buffer = vec![0; 32 << 10];
        while let Ok(count @ 1..) = input.read(&mut buffer).await {
            output.write_all(&buffer[..count]).await.expect("it reads");
        }
    });
}
