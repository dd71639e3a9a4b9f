//! What the benches share.

#![allow(dead_code, reason = "several programs include it, and none uses all of it")]

use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The arguments of a bench, without the one that cargo adds.
pub struct Args(Vec<String>);

impl Args {
    pub fn of_process() -> Self {
        Self(std::env::args().skip(1).filter(|arg| arg != "--bench").collect())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|arg| arg == name)
    }

    /// What follows a flag.
    pub fn flag(&self, name: &str) -> Option<&str> {
        let at = self.0.iter().position(|arg| arg == name)?;
        self.0.get(at + 1).map(String::as_str)
    }

    pub fn number(&self, name: &str, default: usize) -> usize {
        self.flag(name).map_or(default, |number| number.parse().expect("a number"))
    }

    /// The home that `--home` names, or a corpus of `--sessions` with `--median-kib`.
    pub fn home(&self) -> PathBuf {
        let corpus = || corpus(self.number("--sessions", 10_000), self.number("--median-kib", 60));
        self.flag("--home").map_or_else(corpus, PathBuf::from)
    }
}

/// Writes the corpus, unless it is there.
fn corpus(sessions: usize, median_kib: usize) -> PathBuf {
    let home = target(&format!("corpus-{sessions}-{median_kib}"));
    if !home.exists() {
        eprintln!("writing {sessions} sessions below {} ...", home.display());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/corpus.py");
        let (count, kib) = ((sessions / 2).to_string(), median_kib.to_string());
        let status = Command::new("python3")
            .arg(script)
            .arg(&home)
            .args(["--sessions", &count, "--median-kib", &kib])
            .status()
            .expect("python3 is installed");
        assert!(status.success());
    }
    home
}

/// A place for what a bench keeps.
pub fn target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join(name)
}

pub fn header() {
    println!("{:<40} {:>12} {:>12} {:>8}  goal", "", "ours", "floor", "ratio");
}

pub fn row(name: &str, ours: Duration, floor: Duration, goal: &str) {
    let ratio = ours.as_secs_f64() / floor.as_secs_f64();
    println!("{name:<40} {:>12} {:>12} {ratio:>8.2}  {goal}", format!("{ours:.2?}"), format!("{floor:.2?}"));
}

/// A figure that has no floor.
pub fn figure(name: &str, ours: impl std::fmt::Display, goal: &str) {
    println!("{name:<40} {:>12} {:>12} {:>8}  {goal}", ours.to_string(), "", "");
}

/// The least, the median and the 99th percentile.
pub fn rows(name: &str, ours: Vec<Duration>, floor: Vec<Duration>, goals: [&str; 2]) {
    row(&format!("{name}, least"), percentile(&ours, 0), percentile(&floor, 0), "");
    row(&format!("{name}, median"), percentile(&ours, 50), percentile(&floor, 50), goals[0]);
    row(&format!("{name}, p99"), percentile(&ours, 99), percentile(&floor, 99), goals[1]);
}

pub fn median(times: Vec<Duration>) -> Duration {
    percentile(&times, 50)
}

pub fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begin = Instant::now();
    let result = work();
    (begin.elapsed(), result)
}

/// Every file below a directory, found with one `stat` each.
pub fn files(directory: &Path) -> Vec<(PathBuf, u64)> {
    fn walk(directory: &Path, found: &mut Vec<(PathBuf, u64)>) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                walk(&entry.path(), found);
            } else {
                found.push((entry.path(), metadata.len()));
            }
        }
    }
    let mut found = Vec::new();
    walk(directory, &mut found);
    found
}

/// Reads 32 KiB of each file's head and 16 KiB of its tail.
pub fn read_ends(files: &[(PathBuf, u64)]) -> u64 {
    let (mut head, mut tail) = (vec![0; 32 << 10], vec![0; 16 << 10]);
    let mut sum = 0;
    for (path, size) in files {
        let Ok(file) = File::open(path) else { continue };
        sum += file.read_at(&mut head, 0).unwrap_or(0) as u64;
        if *size > head.len() as u64 {
            let from = size.saturating_sub(tail.len() as u64);
            sum += file.read_at(&mut tail, from).unwrap_or(0) as u64;
        }
    }
    sum
}

/// A process that speaks one message a line.
pub struct Server {
    child: Child,
    pub input: ChildStdin,
    pub output: BufReader<ChildStdout>,
    id: u64,
    /// Notifications that came before an answer.
    kept: VecDeque<Value>,
}

impl Server {
    /// The server, told of one place alone.
    pub fn start(variable: &str, path: &Path) -> Self {
        Self::start_with(&[], variable, path)
    }

    pub fn start_with(args: &[&str], variable: &str, path: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tackroom"));
        let mut server = Self::spawn(command.arg("serve").args(args).env_clear().env(variable, path));
        server.request("initialize", json!({ "clientInfo": { "name": "bench" } }));
        server
    }

    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, input, output, id: 0, kept: VecDeque::new() }
    }

    pub fn line(&mut self, method: &str, params: Value) -> String {
        self.id += 1;
        json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params }).to_string() + "\n"
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let line = self.line(method, params);
        self.input.write_all(line.as_bytes()).expect("it reads");
        loop {
            let message = self.read();
            if message["id"] == self.id {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// The next notification.
    pub fn notification(&mut self) -> Value {
        self.kept.pop_front().unwrap_or_else(|| self.read())
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).expect("JSON")
    }

    /// The time that it has had on processors.
    pub fn cpu(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("a live process");
        let (_, fields) = stat.rsplit_once(')').expect("a name");
        let ticks = fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u32>().expect("a number"));
        let per_second = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten().expect("a clock");
        Duration::from_secs(1) * ticks.sum() / per_second as u32
    }

    /// How often each of its threads gave up a processor, and how often one was taken from it.
    pub fn switches(&self) -> HashMap<OsString, (u64, u64)> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("a live process");
        let counts = |task: fs::DirEntry| {
            let file = read(&task.path().join("status"));
            (
                task.file_name(),
                (member(&file, "voluntary_ctxt_switches:"), member(&file, "nonvoluntary_ctxt_switches:")),
            )
        };
        tasks.flatten().map(counts).collect()
    }

    pub fn peak_kib(&self) -> u64 {
        member(&read(Path::new(&format!("/proc/{}/status", self.child.id()))), "VmHWM:")
    }
}

/// A file of `/proc`; empty where the process is gone.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// A number in such a file.
fn member(file: &str, name: &str) -> u64 {
    let line = file.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
