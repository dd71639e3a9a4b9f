//! One server process and the client's ends of its descriptors. Every frame is held against the schema.

use super::runtime::SENTINEL_TOKEN;
use super::schema::{check, check_message};
use super::spawn::{Input, bytes_in};
use super::{Answer, DEADLINE, Failure, Framing, Home};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Tells when a child has ended, and leaves it to be reaped, so that its id stays its own.
fn watch(pid: u32) -> Receiver<()> {
    let (tell, ended) = mpsc::channel();
    thread::spawn(move || {
        let _ = waitid(Id::Pid(Pid::from_raw(pid as i32)), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
        let _ = tell.send(());
    });
    ended
}

/// Reads the server's output on a thread, until it ends or `stop` is closed.
struct Reader {
    frames: Receiver<Vec<u8>>,
    stop: Option<io::PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

/// Ends like the stream when the client has no more interest.
struct Stoppable(File, io::PipeReader);

impl Read for Stoppable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut both = [PollFd::new(self.1.as_fd(), PollFlags::POLLIN), PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        poll(&mut both, PollTimeout::NONE)?;
        if both[0].any() == Some(true) { Ok(0) } else { self.0.read(buffer) }
    }
}

/// The server, as its client has it.
pub struct Server {
    pub home: Home,
    child: Child,
    ended: Receiver<()>,
    input: Option<Input>,
    unread: Option<OwnedFd>,
    reader: Option<Reader>,
    stderr: File,
    pub kept: Option<[OwnedFd; 2]>,
    pub framing: Framing,
    /// The method of each request by its id, to know which schema its answer must fit.
    asked: HashMap<String, String>,
    /// What came before it was waited for.
    stash: VecDeque<Value>,
    last_id: i64,
}

pub fn initialize_params() -> Value {
    json!({ "protocolVersion": 1, "clientInfo": { "name": "test", "version": "1" } })
}

impl Server {
    pub fn new(home: Home, child: Child, input: Input, output: OwnedFd, stderr: File, framing: Framing) -> Self {
        let ended = watch(child.id());
        let (input, unread) = (Some(input), Some(output));
        let (asked, stash) = (HashMap::new(), VecDeque::new());
        Self { home, child, ended, input, unread, reader: None, stderr, kept: None, framing, asked, stash, last_id: 0 }
    }

    /// Opens the conversation, with more params.
    #[track_caller]
    pub fn initialize(&mut self, more: Value) -> Value {
        let mut params = initialize_params();
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.request("initialize", params).result()
    }

    /// Asks with params that fit the schema, and waits for the answer.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Answer {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Asks with params that need not fit the schema, and waits for the answer.
    #[track_caller]
    pub fn request_unchecked(&mut self, method: &str, params: Value) -> Answer {
        let id = self.ask_unchecked(method, params);
        self.answer(id)
    }

    /// Asks with params that fit the schema.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        check(&format!("methods {method} params"), &params);
        self.ask_unchecked(method, params)
    }

    pub fn ask_unchecked(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }));
        self.last_id
    }

    #[track_caller]
    pub fn notify(&mut self, method: &str, params: Value) {
        check(&format!("notifications {method} params"), &params);
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a message or a batch as it is.
    pub fn send(&mut self, message: &Value) {
        let frame = self.encode(message);
        self.raw(&frame);
    }

    /// The frame of a message or a batch, whose answers will be recognized.
    pub fn encode(&mut self, message: &Value) -> Vec<u8> {
        let single = std::slice::from_ref(message);
        for one in message.as_array().map_or(single, Vec::as_slice) {
            if let (Some(id), Some(method)) = (one.get("id"), one["method"].as_str()) {
                self.asked.insert(id.to_string(), method.to_owned());
            }
        }
        self.framing.encode(message.to_string())
    }

    /// Sends bytes as one frame.
    pub fn frame(&mut self, message: impl AsRef<[u8]>) {
        let frame = self.framing.encode(message);
        self.raw(&frame);
    }

    /// Sends bytes as they are.
    #[track_caller]
    pub fn raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_raw(bytes).expect("the server reads");
    }

    pub fn try_raw(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.input.as_mut().expect("an open input").end().write_all(bytes.as_ref())
    }

    /// From now on nothing that is sent waits for the server.
    pub fn set_nonblocking(&mut self) {
        let descriptor = self.input.as_ref().expect("an open input").as_fd();
        fcntl(descriptor, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).expect("an open descriptor");
    }

    /// Sends what the server takes now of these bytes; `None` if it takes none.
    pub fn send_some(&mut self, bytes: &[u8]) -> Option<usize> {
        match self.input.as_mut().expect("an open input").end().write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            sent => Some(sent.expect("the server reads")),
        }
    }

    /// Sends bytes one by one, each after the server has taken the one before.
    pub fn raw_byte_by_byte(&mut self, bytes: impl AsRef<[u8]>) {
        for byte in bytes.as_ref() {
            self.raw([*byte]);
            while self.untaken() > 0 {
                thread::yield_now();
            }
        }
    }

    /// Bytes that were sent and that the server has not read.
    pub fn untaken(&self) -> usize {
        self.input.as_ref().expect("an open input").untaken()
    }

    /// Bytes that the server wrote and the client has not read, where it does not read yet.
    pub fn unread_bytes(&self) -> usize {
        bytes_in(self.unread.as_ref().expect("an unread output").as_fd(), libc::FIONREAD)
    }

    /// The client has no more to say.
    pub fn close_input(&mut self) {
        if let Some(input) = self.input.take() {
            input.close();
        }
    }

    /// The client begins to read.
    pub fn read(&mut self) {
        let output = self.unread.take().expect("an unread output");
        let (tell, frames) = mpsc::channel();
        let (stopped, stop) = io::pipe().expect("a pipe");
        let framing = self.framing;
        let thread = thread::spawn(move || {
            let mut from = BufReader::new(Stoppable(File::from(output), stopped));
            while let Some(frame) = framing.decode(&mut from) {
                if tell.send(frame).is_err() {
                    return;
                }
            }
        });
        self.reader = Some(Reader { frames, stop: Some(stop), thread: Some(thread) });
    }

    /// A client that does not read yet reads this far, and no further: the answer to a request.
    #[track_caller]
    pub fn read_to(&mut self, id: i64) -> Value {
        let output = self.unread.as_ref().and_then(|output| output.try_clone().ok()).expect("an unread output");
        // What is buffered would be lost.
        let mut from = BufReader::with_capacity(1, File::from(output));
        loop {
            let bytes = self.framing.decode(&mut from).expect("an answer");
            let frame = self.check(&bytes);
            if frame["id"] == id {
                return frame["result"].clone();
            }
            self.stash.push_back(frame);
        }
    }

    /// The client will never read any more.
    pub fn close_output(&mut self) {
        self.unread = None;
        if let Some(mut reader) = self.reader.take() {
            reader.stop = None;
            reader.thread.take().map(JoinHandle::join);
        }
    }

    /// The bytes of the next frame, or `None` at the end of the output.
    #[track_caller]
    pub fn next_bytes(&mut self) -> Option<Vec<u8>> {
        match self.reader.as_ref().expect("a client that reads").frames.recv_timeout(DEADLINE) {
            Ok(bytes) => {
                assert_secret("a frame", &bytes);
                Some(bytes)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing came within {DEADLINE:?}; log: {}", self.log()),
        }
    }

    /// The next frame in the order of arrival, or `None` at the end of the output.
    #[track_caller]
    pub fn next_frame(&mut self) -> Option<Value> {
        match self.stash.pop_front() {
            Some(stashed) => Some(stashed),
            None => self.arrive(),
        }
    }

    #[track_caller]
    fn arrive(&mut self) -> Option<Value> {
        let bytes = self.next_bytes()?;
        Some(self.check(&bytes))
    }

    #[track_caller]
    fn check(&mut self, bytes: &[u8]) -> Value {
        let frame: Value = serde_json::from_slice(bytes).expect("a frame of JSON");
        let single = std::slice::from_ref(&frame);
        assert_ne!(frame, json!([]), "an empty batch");
        for message in frame.as_array().map_or(single, Vec::as_slice) {
            let method = message.get("id").and_then(|id| self.asked.remove(&id.to_string()));
            check_message(message, method.as_deref());
        }
        frame
    }

    /// The next frame, which must be there.
    #[track_caller]
    pub fn expect_frame(&mut self) -> Value {
        self.next_frame().unwrap_or_else(|| panic!("the output has ended; log: {}", self.log()))
    }

    /// The answer to a request; what else comes meanwhile is kept.
    #[track_caller]
    pub fn answer(&mut self, id: impl Into<Value>) -> Answer {
        let id = id.into();
        let is_it = |frame: &Value| frame.get("method").is_none() && frame.get("id") == Some(&id);
        if let Some(at) = self.stash.iter().position(is_it) {
            return Answer::of(self.stash.remove(at).expect("it is there"));
        }
        loop {
            let Some(frame) = self.arrive() else {
                panic!("the output has ended before the answer to {id}; log: {}", self.log());
            };
            if is_it(&frame) {
                return Answer::of(frame);
            }
            self.stash.push_back(frame);
        }
    }

    /// The params of the next notification of this method; what else comes meanwhile is kept.
    #[track_caller]
    pub fn expect_notification(&mut self, method: &str) -> Value {
        self.expect_params(method, |_| true)
    }

    /// The params of the next notification of this method that are such; what else comes meanwhile is kept.
    #[track_caller]
    pub fn expect_params(&mut self, method: &str, such: impl Fn(&Value) -> bool) -> Value {
        let is_it = |frame: &Value| frame["method"] == method && such(&frame["params"]);
        if let Some(at) = self.stash.iter().position(&is_it) {
            return self.stash.remove(at).expect("it is there")["params"].take();
        }
        loop {
            let Some(mut frame) = self.arrive() else {
                panic!("the output has ended before a `{method}`; log: {}", self.log());
            };
            if is_it(&frame) {
                return frame["params"].take();
            }
            self.stash.push_back(frame);
        }
    }

    /// Whatever was told so far is of no interest.
    pub fn forget_notifications(&mut self) {
        self.stash.retain(|frame| frame.get("method").is_none());
    }

    /// The params of the next notification of this method, if one comes within so long; what else comes meanwhile is kept.
    pub fn notification_within(&mut self, method: &str, time: Duration) -> Option<Value> {
        let is_it = |frame: &Value| frame["method"] == method;
        if let Some(at) = self.stash.iter().position(is_it) {
            return Some(self.stash.remove(at).expect("it is there")["params"].take());
        }
        let until = Instant::now() + time;
        loop {
            let reader = self.reader.as_ref().expect("a client that reads");
            let bytes = reader.frames.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            let mut frame = self.check(&bytes);
            if is_it(&frame) {
                return Some(frame["params"].take());
            }
            self.stash.push_back(frame);
        }
    }

    /// The next frame must be an error with id null.
    #[track_caller]
    pub fn expect_refusal(&mut self) -> Failure {
        let frame = self.expect_frame();
        assert_eq!(frame.get("id"), Some(&Value::Null), "{frame}");
        Answer::of(frame).error()
    }

    /// A ping, whose answer must be the next frame: nothing else was on its way, and the connection lives.
    #[track_caller]
    pub fn pong(&mut self) {
        let id = self.ask("ping", json!({}));
        assert_eq!(self.expect_frame(), json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Kills it, and leaves no zombie.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child");
        self.child.wait().expect("a child");
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("a running server");
    }

    /// How many threads it has now.
    pub fn threads(&self) -> u64 {
        self.proc("status", "Threads:").parse().expect("a number")
    }

    /// The most memory that the server has had, in KiB.
    pub fn peak_memory(&self) -> u64 {
        self.proc("status", "VmHWM:").parse().expect("a number")
    }

    /// Whether the server sleeps.
    pub fn sleeps(&self) -> bool {
        self.proc("status", "State:") == "S"
    }

    fn proc(&self, file: &str, member: &str) -> String {
        let text = std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).expect("a running server");
        let line = text.lines().find_map(|line| line.strip_prefix(member)).expect("the member");
        line.split_ascii_whitespace().next().expect("a word").to_owned()
    }

    /// Waits for the server's end: its exit code.
    #[track_caller]
    pub fn exit_code(&mut self) -> i32 {
        if self.ended.recv_timeout(DEADLINE).is_err() {
            panic!("the server goes on; log: {}", self.log());
        }
        let status = self.child.wait().expect("a child");
        status.code().unwrap_or_else(|| panic!("killed by signal {:?}; log: {}", status.signal(), self.log()))
    }

    /// All that is left of the output must have been read, and the server must end with this code.
    #[track_caller]
    pub fn expect_end(&mut self, code: i32) {
        assert_eq!(self.next_frame(), None);
        assert_eq!(self.exit_code(), code, "log: {}", self.log());
    }

    /// What the server wrote to its standard error.
    pub fn log(&self) -> String {
        let mut log = String::new();
        let mut file = &self.stderr;
        file.rewind().and_then(|()| file.read_to_string(&mut log)).expect("a readable log");
        log
    }
}

/// No runtime's token may come out anywhere.
#[track_caller]
fn assert_secret(what: &str, bytes: &[u8]) {
    let found = memchr::memmem::find(bytes, SENTINEL_TOKEN.as_bytes());
    assert!(found.is_none(), "a runtime's token is in {what}: {}", String::from_utf8_lossy(bytes));
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let log = self.log();
        if thread::panicking() {
            return;
        }
        assert!(!log.contains("panicked"), "the server panicked: {log}");
        assert_secret("the log", log.as_bytes());
        // Its output ends once the ends that the test kept are closed, too.
        self.kept = None;
        if self.unread.is_some() {
            self.read();
        }
        for frame in self.reader.iter().flat_map(|reader| &reader.frames) {
            assert_secret("a frame that no test looked at", &frame);
        }
    }
}
