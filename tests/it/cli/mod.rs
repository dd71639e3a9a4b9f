//! The command line, run as a person runs it: the built program in a home of its own.

mod attach;
mod demo;
mod doctor;
mod follow;
mod go;
mod list;
mod message;
mod misc;
mod peers;
mod resume;
mod runtime;
mod settings;
mod terminal;
mod watch;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};
use tackroom::platform::process;
use tempfile::TempDir;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A home directory that is gone at the end of the test.
struct Home(TempDir);

/// What a run of the program said, with the home's path as `$HOME`.
#[derive(Debug, PartialEq)]
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A home with the store that the real program wrote.
    fn with_fixture() -> Self {
        let home = Self::new();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code/projects");
        copy(&fixture, &home.path().join(".claude/projects"));
        home
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn put(&self, place: &str, text: &str) -> PathBuf {
        let path = self.path().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Whole or not there, for who watches.
        let part = self.path().join("part");
        fs::write(&part, text).unwrap();
        fs::rename(part, &path).unwrap();
        path
    }

    /// A session of Claude Code with one prompt, written some time ago in a directory of this home that is there.
    fn session(&self, id: &str, directory: &str, title: &str, ago_ms: i64) -> PathBuf {
        let cwd = self.path().join(directory);
        fs::create_dir_all(&cwd).unwrap();
        let row = json!({
            "parentUuid": null, "isSidechain": false, "type": "user", "message": {"role": "user", "content": title},
            "uuid": format!("uuid-of-{id}"), "timestamp": time(now_ms() - ago_ms), "cwd": cwd, "sessionId": id,
        });
        self.put(&format!(".claude/projects/{}/{id}.jsonl", directory.replace('/', "-")), &format!("{row}\n"))
    }

    /// A record of the process registry for a process that runs until the answer is dropped.
    fn live(&self, session: &str, status: Value) -> Sleeper {
        let child = Sleeper(Command::new("sleep").arg("600").spawn().unwrap());
        let mut record = json!({
            "pid": child.pid(), "sessionId": session, "cwd": self.path().join("proj"), "name": "reviewer",
            "procStart": process::start_mark(child.pid()), "pidDomain": process::own_pid_domain(),
            "kind": "interactive", "updatedAt": now_ms() - 5 * MINUTE,
        });
        record.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
        self.put(&format!(".claude/sessions/{}.json", child.pid()), &record.to_string());
        child
    }

    /// The program with nothing in its environment but this home.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tackroom"));
        command.env_clear().env("HOME", self.path()).current_dir(self.path()).args(words);
        command
    }

    fn run(&self, words: &[&str]) -> Run {
        self.told(self.command(words).output().unwrap())
    }

    fn told(&self, output: Output) -> Run {
        let text = |bytes| String::from_utf8(bytes).unwrap().replace(self.path().to_str().unwrap(), "$HOME");
        Run { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// A process that ends with the test.
struct Sleeper(Child);

impl Sleeper {
    fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A program that is read line by line; its input is open.
struct Reading {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Reading {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Self { output: BufReader::new(child.stdout.take().unwrap()), child }
    }

    #[track_caller]
    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the program has ended");
        line.truncate(line.trim_end_matches('\n').len());
        line
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    /// Ends its input and waits for the end.
    fn end(mut self, home: &Home) -> Run {
        drop(self.child.stdin.take());
        self.rest(home)
    }

    fn rest(mut self, home: &Home) -> Run {
        let input = self.child.stdin.take();
        let mut out = Vec::new();
        self.output.read_to_end(&mut out).unwrap();
        let output = self.child.wait_with_output().unwrap();
        drop(input);
        home.told(Output { stdout: out, ..output })
    }

    /// Reads no more, and waits for the end.
    fn close(self, home: &Home) -> Run {
        let Self { child, output } = self;
        drop(output);
        home.told(child.wait_with_output().unwrap())
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

fn time(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).unwrap().to_string()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

const WAITER: &str = "11111111-aaaa-4000-8000-000000000001";
const NEWEST: &str = "22222222-aaaa-4000-8000-000000000002";
const OLDER: &str = "22222222-bbbb-4000-8000-000000000003";

/// Three sessions, of which the one that is silent for the longest time waits for a person.
fn three() -> (Home, Sleeper) {
    let home = Home::new();
    home.session(WAITER, "proj", "Move the database", 5 * DAY + HOUR);
    home.session(NEWEST, "other/deep", "東京の天気を取得する", 30 * MINUTE + MINUTE / 2);
    home.session(OLDER, "proj", "Turn \u{202e}around", 2 * HOUR + HOUR / 2);
    let live = home.live(WAITER, json!({"status": "waiting", "waitingFor": "permission prompt"}));
    (home, live)
}
