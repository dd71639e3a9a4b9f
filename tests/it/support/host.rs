//! A hosted agent in a home of its own.

use super::{DEADLINE, Home, receipts};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;
use tackroom::platform::process;

/// The agent that the program has of its own: it says something, asks once, and says what was decided.
pub const DEMO_AGENT: [&str; 2] = [env!("CARGO_BIN_EXE_tackroom"), "demo-agent"];

/// A host in the foreground. It ends with the test.
pub struct Host {
    child: Child,
    home: PathBuf,
    /// What it printed when it was ready.
    pub ready: Value,
}

/// `tackroom host` with nothing in its environment but this home and where programs are.
pub fn host(home: &Path, flags: &[&str], agent: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tackroom"));
    command.env_clear().env("HOME", home).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.current_dir(home).stdin(Stdio::null()).arg("host").args(flags).arg("--").args(agent);
    command
}

impl Host {
    /// Starts one, and waits until it is ready.
    #[track_caller]
    pub fn start(home: &Home, flags: &[&str], agent: &[&str]) -> Self {
        let mut command = host(home.path(), &[&["--json"], flags].concat(), agent);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let mut host = Self { child, home: home.path().to_owned(), ready: Value::Null };
        if line.is_empty() {
            panic!("the host ended: {}", host.end().1);
        }
        host.ready = serde_json::from_str(&line).expect("JSON");
        host
    }

    /// One of the agent that the program has of its own.
    #[track_caller]
    pub fn demo(home: &Home) -> Self {
        Self::start(home, &[], &DEMO_AGENT)
    }

    pub fn id(&self) -> &Value {
        &self.ready["runtimeId"]
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Its receipt as it stands in its file.
    #[track_caller]
    pub fn receipt(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.receipt_file()).expect("a receipt")).expect("JSON")
    }

    pub fn receipt_file(&self) -> PathBuf {
        let endpoint = self.ready["endpoint"].as_str().expect("an endpoint");
        let id = endpoint.rsplit('/').next().expect("an id");
        self.home.join(format!(".config/supercode/live-runtimes/{id}.json"))
    }

    /// The agent's process.
    pub fn agent(&self) -> i32 {
        self.receipt()["metadata"]["child_pid"].as_i64().expect("a pid") as i32
    }

    /// The memory that it has now.
    pub fn memory_kib(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// The most that it ever had, in KiB.
    pub fn peak_kib(&self) -> u64 {
        self.status("VmHWM:")
    }

    fn status(&self, member: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("a running host");
        let line = status.lines().find_map(|line| line.strip_prefix(member)).expect("the member");
        line.split_ascii_whitespace().next().expect("a word").parse().expect("a number")
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).expect("a process not yet reaped");
    }

    /// Waits for its end, and answers what it said on its standard error.
    pub fn end(&mut self) -> (ExitStatus, String) {
        let mut said = String::new();
        self.child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        (self.child.wait().expect("a child"), said)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the end of a process that need not be a child.
#[track_caller]
pub fn wait_gone(pid: i32) {
    let began = Instant::now();
    while process::alive(pid) {
        assert!(began.elapsed() < DEADLINE, "process {pid} goes on");
        std::thread::yield_now();
    }
}

/// The names of all that is in a home's directory of receipts.
pub fn published(home: &Home) -> Vec<String> {
    let names = fs::read_dir(receipts(home)).into_iter().flatten();
    names.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect()
}
