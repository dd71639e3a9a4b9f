//! What the benches share.

use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
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
}

impl Server {
    /// The server, told of one place alone.
    pub fn start(variable: &str, path: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tackroom"));
        let mut server = Self::spawn(command.arg("serve").env_clear().env(variable, path));
        server.request("initialize", json!({ "clientInfo": { "name": "bench" } }));
        server
    }

    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, input, output, id: 0 }
    }

    pub fn line(&mut self, method: &str, params: Value) -> String {
        self.id += 1;
        json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params }).to_string() + "\n"
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let line = self.line(method, params);
        self.input.write_all(line.as_bytes()).expect("it reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("it answers");
        serde_json::from_str(&answer).expect("JSON")
    }

    pub fn peak_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
