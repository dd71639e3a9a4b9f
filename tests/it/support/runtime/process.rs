//! A runtime in a process of its own, which can be stopped and killed: the current program, started once more.

use super::{Options, Runtime};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The variable that tells a started process what to be.
const ASKED: &str = "TACKROOM_TEST_RUNTIME";

/// How a line of ours begins; the test harness writes lines, too.
const MARK: &str = "runtime: ";

#[derive(Serialize, Deserialize)]
struct Setup {
    options: Options,
    receipts: PathBuf,
}

#[derive(Serialize, Deserialize)]
enum Order {
    Emit(String, Value),
    Busy(bool),
    Prompt(String),
    Release(String),
}

pub struct Process {
    child: Child,
    answers: BufReader<ChildStdout>,
    pub endpoint: String,
    pub base_url: String,
}

impl Process {
    /// Starts it and waits until it listens and its receipt is published.
    pub fn start(options: Options, receipts: &Path) -> Self {
        let setup = Setup { options, receipts: receipts.to_owned() };
        let (_, test) = module_path!().split_once("::").expect("a module of a program");
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", &format!("{test}::serves"), "--ignored", "--nocapture"]);
        command.env(ASKED, serde_json::to_string(&setup).expect("options"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a runtime's process");
        let answers = BufReader::new(child.stdout.take().expect("its output"));
        let mut process = Self { child, answers, endpoint: String::new(), base_url: String::new() };
        let told = process.answer();
        let word = |member: &str| told[member].as_str().expect("a word").to_owned();
        (process.endpoint, process.base_url) = (word("endpoint"), word("base_url"));
        process
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn emit(&mut self, kind: &str, members: Value) {
        self.order(Order::Emit(kind.to_owned(), members));
    }

    pub fn set_busy(&mut self, is_busy: bool) {
        self.order(Order::Busy(is_busy));
    }

    /// Begins a turn, as its own user would.
    pub fn prompt(&mut self, prompt: &str) {
        self.order(Order::Prompt(prompt.to_owned()));
    }

    /// Lets a held turn go on.
    pub fn release(&mut self, name: &str) {
        self.order(Order::Release(name.to_owned()));
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("a process not yet reaped");
    }

    /// Kills it and leaves no zombie.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        self.child.wait().expect("a child");
    }

    /// Ends it with a signal and leaves a zombie, until it is killed or dropped.
    pub fn end_unreaped(&self, signal: Signal) {
        self.signal(signal);
        self.await_state(WaitPidFlag::WEXITED);
    }

    /// Stops it, and waits until it is stopped.
    pub fn stop(&self) {
        self.signal(Signal::SIGSTOP);
        self.await_state(WaitPidFlag::WSTOPPED);
    }

    pub fn cont(&self) {
        self.signal(Signal::SIGCONT);
    }

    /// Ends it as it would end itself: its receipt is removed.
    pub fn close(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().expect("a child");
    }

    fn await_state(&self, state: WaitPidFlag) {
        let id = Id::Pid(Pid::from_raw(self.child.id() as i32));
        waitid(id, state | WaitPidFlag::WNOWAIT).expect("a child");
    }

    fn order(&mut self, order: Order) {
        let line = serde_json::to_string(&order).expect("an order");
        writeln!(self.child.stdin.as_mut().expect("its input"), "{line}").expect("a process that reads");
        self.answer();
    }

    fn answer(&mut self) -> Value {
        loop {
            let mut line = String::new();
            let length = self.answers.read_line(&mut line).expect("its output");
            assert_ne!(length, 0, "the runtime's process has ended");
            if let Some((_, answer)) = line.split_once(MARK) {
                return serde_json::from_str(answer).expect("an answer");
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Is a runtime until its standard input ends, where this process was started to be one. A bench calls it first.
pub fn serve_if_asked() {
    let Ok(setup) = std::env::var(ASKED) else { return };
    let setup: Setup = serde_json::from_str(&setup).expect("a setup");
    let runtime = Runtime::start(setup.options);
    let endpoint = runtime.publish(&setup.receipts);
    println!("\n{MARK}{}", json!({ "endpoint": endpoint, "base_url": runtime.base_url() }));
    for line in std::io::stdin().lines() {
        match serde_json::from_str(&line.expect("a line")).expect("an order") {
            Order::Emit(kind, members) => runtime.emit(&kind, members),
            Order::Busy(is_busy) => runtime.set_busy(is_busy),
            Order::Prompt(prompt) => runtime.prompt(&prompt),
            Order::Release(name) => runtime.release(&name),
        }
        println!("\n{MARK}null");
    }
    drop(runtime);
    std::process::exit(0);
}

#[test]
#[ignore = "is the program of `Process`, and nothing without it"]
fn serves() {
    serve_if_asked();
}
