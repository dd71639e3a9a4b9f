//! How soon a watching client hears of what happens, beside who hears of it first: a raw inotify reader, a parent.
//!
//!     cargo bench --bench watch                              10,000 sessions
//!     cargo bench --bench watch -- --storm-seconds 5         a shorter storm
//!     cargo bench --bench watch -- --sessions 100000 --median-kib 4
//!     cargo bench --bench watch -- --home DIR                a corpus that is there already
//!
//! The corpus is that of `speed`; what changes are sessions of its own in a home of its own, whose other files are hard
//! links to the corpus. Ours and the floor are taken in turn.
#![allow(unreachable_pub, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod support;

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};
use support::{Args, Server, figure, files, header, median, row, rows, timed};
use tackroom::platform::process;

const APPENDS: usize = 1_000;
const EXITS: usize = 50;
const ROUNDS: usize = 3;
/// Between two changes that are measured one by one, so that each meets a server at rest.
const PAUSE: Duration = Duration::from_millis(2);
const IDLE: Duration = Duration::from_secs(10);
/// After this long the threads that read the files have ended.
const SETTLED: Duration = Duration::from_secs(11);
/// Sessions that change in the storm, and how often one does.
const STORMY: usize = 100;
const STORM_INTERVAL: Duration = Duration::from_millis(1);
/// After this long what is waited for does not come.
const GUARD: Duration = Duration::from_secs(30);

fn main() {
    let args = Args::of_process();
    let home = Home::of(&args.home());
    println!("corpus: {} sessions\n", files(&home.0).len());
    header();
    startup(&home);
    let mut server = Server::start("HOME", &home.0);
    let mut folded = Folded::watch(&mut server);
    idle(&server);
    appends(&home, &mut server, &mut folded);
    exits(&home, &mut server, &mut folded);
    figure("peak resident memory", format!("{} KiB", server.peak_kib()), "<= 40960 KiB on 10,000");
    drop(server);
    storm(&home, Duration::from_secs(args.number("--storm-seconds", 30) as u64));
}

/// A home that may be changed, and goes with this.
struct Home(PathBuf);

impl Home {
    fn of(corpus: &Path) -> Self {
        let home = support::target("watched");
        let _ = fs::remove_dir_all(&home);
        for (path, _) in files(corpus) {
            let link = home.join(path.strip_prefix(corpus).expect("a file of the corpus"));
            fs::create_dir_all(link.parent().expect("a directory")).expect("it can be made");
            fs::hard_link(path, link).expect("a link");
        }
        fs::create_dir_all(home.join(".claude/sessions")).expect("it can be made");
        Self(home)
    }

    /// A session that is not of the corpus.
    fn session(&self, number: usize) -> Transcript {
        let id = format!("00000000-0000-4000-9000-{number:012}");
        let directory = self.0.join(".claude/projects/-proj-watched");
        fs::create_dir_all(&directory).expect("it can be made");
        let transcript = Transcript { file: directory.join(format!("{id}.jsonl")), id };
        transcript.append(0);
        transcript
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Transcript {
    file: PathBuf,
    id: String,
}

impl Transcript {
    /// Says something at a time, as its program does: the file is opened for each line.
    fn append(&self, at_ms: u64) {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.file).expect("it can be written");
        file.write_all(self.line(at_ms).as_bytes()).expect("it can be written");
    }

    fn line(&self, at_ms: u64) -> String {
        let (seconds, ms) = (at_ms / 1000, at_ms % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let time = format!("2026-11-30T{hour:02}:{minute:02}:{second:02}.{ms:03}Z");
        let content = format!("What was said at {at_ms}.");
        let message = json!({ "role": "user", "content": content });
        let row = json!({ "type": "user", "uuid": format!("{}-{at_ms}", self.id), "sessionId": self.id,
            "cwd": "/proj/watched", "timestamp": time, "message": message });
        format!("{row}\n")
    }

    fn entry(&self) -> String {
        format!("claude-code:{}", self.id)
    }
}

/// What a client makes of what it is told.
struct Folded {
    entries: BTreeMap<String, Value>,
    revision: Value,
}

impl Folded {
    /// Begins to watch, and takes the first state.
    fn watch(server: &mut Server) -> Self {
        let answer = server.request("registry/watch", json!({}));
        let mut folded = Self { entries: BTreeMap::new(), revision: answer["result"]["revision"].clone() };
        while folded.next(server).0 != "synced" {}
        folded
    }

    /// Takes the next event: its kind and the id of its entry.
    fn next(&mut self, server: &mut Server) -> (String, String) {
        self.take(server.notification())
    }

    fn take(&mut self, mut message: Value) -> (String, String) {
        let mut params = message["params"].take();
        self.revision = params["revision"].take();
        let mut event = params["event"].take();
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let kind = word(&event["kind"]);
        let entry = event["entry"].take();
        let id = word(if entry.is_null() { &event["id"] } else { &entry["id"] });
        match kind.as_str() {
            "added" | "updated" => drop(self.entries.insert(id.clone(), entry)),
            "removed" => drop(self.entries.remove(&id)),
            "resync" => self.entries.clear(),
            _ => {}
        }
        (kind, id)
    }

    /// Takes events until an entry is as it should be.
    fn until(&mut self, server: &mut Server, id: &str, is: impl Fn(Option<&Value>) -> bool) {
        while !is(self.entries.get(id)) {
            self.next(server);
        }
    }
}

/// A time of a message, as an entry has it.
fn epoch_ms(at_ms: u64) -> u64 {
    1_795_996_800_000 + at_ms
}

fn startup(home: &Home) {
    let (mut watches, mut pages) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        let mut server = Server::start("HOME", &home.0);
        watches.push(timed(|| Folded::watch(&mut server)).0);
        let mut server = Server::start("HOME", &home.0);
        pages.push(timed(|| server.request("registry/list", json!({}))).0);
    }
    // Each page walks the roots, so once is enough.
    let mut server = Server::start("HOME", &home.0);
    let all = timed(|| list(&mut server)).0;
    let watch = median(watches);
    row("watch until synced (floor: a first list)", watch, median(pages), "");
    row("the same (floor: all pages of a list)", watch, all, "");
}

/// All pages, and their revision.
fn list(server: &mut Server) -> (BTreeMap<String, Value>, Value) {
    let mut entries = BTreeMap::new();
    let mut cursor = Value::Null;
    loop {
        let mut answer = server.request("registry/list", json!({ "limit": 1_000, "cursor": cursor }));
        let mut result = answer["result"].take();
        for entry in result["entries"].as_array_mut().expect("entries").drain(..) {
            entries.insert(entry["id"].as_str().expect("an id").to_owned(), entry);
        }
        cursor = result["nextCursor"].take();
        if cursor.is_null() {
            return (entries, result["revision"].take());
        }
    }
}

fn idle(server: &Server) {
    thread::sleep(SETTLED);
    let (cpu, switches) = (server.cpu(), server.switches());
    thread::sleep(IDLE);
    figure("CPU, watching for 10 s", format!("{:.0?}", server.cpu() - cpu), "none but the reconcile");
    // Of a thread that ended meanwhile nothing is known.
    let now = server.switches();
    let since = now.iter().map(|(thread, now)| (now, switches.get(thread).copied().unwrap_or_default()));
    let (voluntary, taken) =
        since.fold((0, 0), |sum, (now, before)| (sum.0 + now.0 - before.0, sum.1 + now.1 - before.1));
    figure("context switches meanwhile", format!("{voluntary} + {taken}"), "none; voluntary + involuntary");
}

fn appends(home: &Home, server: &mut Server, folded: &mut Folded) {
    let transcript = home.session(0);
    let id = transcript.entry();
    let aside = tempfile::tempdir().expect("a directory");
    let beside = Transcript { file: aside.path().join("beside.jsonl"), id: transcript.id.clone() };
    let heard = inotify(aside.path());
    folded.until(server, &id, |entry| entry.is_some());
    let (mut ours, mut floor) = (vec![], vec![]);
    for number in 1..=APPENDS as u64 {
        thread::sleep(PAUSE);
        let append = || {
            transcript.append(number);
            folded.until(server, &id, |entry| entry.is_some_and(|entry| entry["updatedAtMs"] == epoch_ms(number)));
        };
        ours.push(timed(append).0);
        thread::sleep(PAUSE);
        while heard.try_recv().is_ok() {}
        let begin = Instant::now();
        beside.append(number);
        floor.push(heard.recv().expect("an event") - begin);
    }
    rows("append until the event", ours, floor, ["<= 2 ms; floor: inotify", "<= 10 ms"]);
}

/// When a raw reader heard of something in a directory.
fn inotify(directory: &Path) -> Receiver<Instant> {
    let inotify = Inotify::init(InitFlags::IN_CLOEXEC).expect("inotify");
    let changes = AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_CREATE | AddWatchFlags::IN_DELETE_SELF;
    inotify.add_watch(directory, changes).expect("a watch");
    let (tell, heard) = mpsc::channel();
    thread::spawn(move || while inotify.read_events().is_ok() && tell.send(Instant::now()).is_ok() {});
    heard
}

fn exits(home: &Home, server: &mut Server, folded: &mut Folded) {
    let (mut ours, mut floor) = (vec![], vec![]);
    for number in 0..EXITS {
        let mut child = sleeper();
        let (session, record) = peer(home, &child, number);
        let id = format!("claude-code:{session}");
        folded.until(server, &id, |entry| entry.is_some());
        thread::sleep(PAUSE);
        let kill = || {
            child.kill().expect("a child");
            folded.until(server, &id, |entry| entry.is_none());
        };
        ours.push(timed(kill).0);
        child.wait().expect("a child");
        fs::remove_file(record).expect("a record");
        let mut child = sleeper();
        thread::sleep(PAUSE);
        let begin = Instant::now();
        child.kill().expect("a child");
        child.wait().expect("a child");
        floor.push(begin.elapsed());
    }
    rows("kill -9 until the event", ours, floor, ["<= 2 ms; floor: waitpid", "<= 10 ms"]);
}

fn sleeper() -> Child {
    Command::new("sleep").arg("600").spawn().expect("sleep runs")
}

/// Makes a process a live session without a transcript: its id, and the record.
fn peer(home: &Home, child: &Child, number: usize) -> (String, PathBuf) {
    let (pid, session) = (child.id(), format!("00000000-0000-4000-a000-{number:012}"));
    let mark = process::start_mark(pid as i32);
    let record = json!({ "pid": pid, "sessionId": session, "name": format!("peer-{number}"), "status": "busy",
        "cwd": "/proj/watched", "procStart": mark, "pidDomain": process::own_pid_domain() });
    let path = home.0.join(format!(".claude/sessions/{pid}.json"));
    fs::write(&path, record.to_string()).expect("a record");
    (session, path)
}

/// Many changes for a while: what they cost, and whether the client knows the last state.
fn storm(home: &Home, time: Duration) {
    let transcripts: Vec<Transcript> = (1..=STORMY).map(|number| home.session(number)).collect();
    let mut open: Vec<File> =
        transcripts.iter().map(|one| File::options().append(true).open(&one.file).expect("it is there")).collect();
    let mut server = Server::start("HOME", &home.0);
    let mut folded = Folded::watch(&mut server);
    let (cpu, begin) = (server.cpu(), Instant::now());
    let last_line = server.line("ping", json!({}));
    let (input, output) = (&mut server.input, &mut server.output);
    let (mut events, mut written) = (0, 0);
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut count = 0;
            while begin.elapsed() < time {
                let which = count as usize % STORMY;
                count += 1;
                open[which].write_all(transcripts[which].line(count).as_bytes()).expect("it can be written");
                thread::sleep((STORM_INTERVAL * count as u32).saturating_sub(begin.elapsed()));
            }
            input.write_all(last_line.as_bytes()).expect("it reads");
            count
        });
        let mut line = String::new();
        loop {
            line.clear();
            output.read_line(&mut line).expect("it answers");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"].is_u64() {
                break;
            }
            folded.take(message);
            events += 1;
        }
        written = writing.join().expect("a writer");
    });
    let elapsed = begin.elapsed();
    let share = 100.0 * (server.cpu() - cpu).as_secs_f64() / elapsed.as_secs_f64();
    let (listed, revision) = list(&mut server);
    let begin = Instant::now();
    while folded.revision != revision && begin.elapsed() < GUARD {
        folded.next(&mut server);
    }
    figure("changes written a second", format!("{:.0}", written as f64 / elapsed.as_secs_f64()), "");
    figure("events told a second", format!("{:.0}", f64::from(events) / elapsed.as_secs_f64()), "");
    figure("CPU of one core meanwhile", format!("{share:.1} %"), "");
    figure("peak resident memory", format!("{} KiB", server.peak_kib()), "<= 40960 KiB on 10,000");
    figure("what was told is what is listed", folded.entries == listed, "true");
}
