//! A server, and a client that folds what a watch tells it.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// After this long what is waited for does not come.
const DEADLINE: Duration = Duration::from_secs(60);

pub struct Client {
    child: Child,
    input: ChildStdin,
    frames: Receiver<Value>,
    last_id: u64,
    subscription: Value,
    followed: Value,
    entries: BTreeMap<String, Value>,
    synced: bool,
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    pub fn start(home: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tackroom"));
        command.args(["serve", "--allow", "observe"]).env_clear().env("HOME", home);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let (send, frames) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let frame = serde_json::from_str(&line).expect("JSON");
                if send.send(frame).is_err() {
                    return;
                }
            }
        });
        let (subscription, followed, entries) = (Value::Null, Value::Null, BTreeMap::new());
        let mut client = Self { child, input, frames, last_id: 0, subscription, followed, entries, synced: false };
        client.call("initialize", json!({ "clientInfo": { "name": "soak" } }));
        client
    }

    pub fn watch(&mut self) {
        self.entries.clear();
        self.synced = false;
        self.subscription = self.call("registry/watch", json!({}))["subscription"].take();
    }

    pub fn unwatch(&mut self) {
        let subscription = self.subscription.take();
        self.call("registry/unwatch", json!({ "subscription": subscription }));
    }

    /// Follows a session, and no other one.
    pub fn follow(&mut self, id: String) {
        self.unfollow();
        self.followed = self.call("session/follow", json!({ "id": id }))["subscription"].take();
    }

    pub fn unfollow(&mut self) {
        let subscription = self.followed.take();
        if !subscription.is_null() {
            self.call("session/unfollow", json!({ "subscription": subscription }));
        }
    }

    pub fn list_and_cancel(&mut self) {
        let id = self.ask("registry/list", json!({ "query": { "include": ["messageCount"] } }));
        self.send(&json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": id } }));
        self.answer(id);
    }

    /// Waits until what was folded is what a list says.
    pub fn settle(&mut self) {
        let until = Instant::now() + DEADLINE;
        let listed: BTreeMap<String, Value> = loop {
            let list = self.call("registry/list", json!({ "limit": 1_000 }));
            let entries = list["entries"].as_array().cloned().unwrap_or_default();
            let listed = entries.into_iter().map(|entry| (id(&entry), entry)).collect();
            while let Ok(frame) = self.frames.recv_timeout(Duration::from_millis(100)) {
                self.take(&frame);
            }
            if self.synced && listed == self.entries || Instant::now() > until {
                break listed;
            }
        };
        for (id, entry) in &listed {
            assert_eq!(self.entries.get(id), Some(entry), "{id} is listed so");
        }
        assert_eq!(self.entries.len(), listed.len(), "nothing else is in the view");
        assert!(self.synced);
    }

    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Open descriptors, and memory in KiB.
    pub fn usage(&self) -> (usize, u64) {
        let process = format!("/proc/{}", self.child.id());
        let descriptors = fs::read_dir(format!("{process}/fd")).expect("a process").count();
        let status = fs::read_to_string(format!("{process}/status")).expect("a process");
        let memory =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().split(' ').next()?.parse().ok());
        (descriptors, memory.expect("a number"))
    }

    /// Asks, and takes what comes before the answer. An error is an empty answer: sessions go at any time.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }));
        self.last_id
    }

    fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).expect("the server reads");
    }

    fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut frame = self.frames.recv_timeout(DEADLINE).expect("the server answers");
            if frame["id"] == id {
                let reason = frame["error"]["data"]["reason"].as_str();
                assert!(matches!(reason, None | Some("not_found" | "cancelled")), "{frame}");
                return frame["result"].take();
            }
            self.take(&frame);
        }
    }

    fn take(&mut self, frame: &Value) {
        let params = &frame["params"];
        // Events of a subscription that just began come before its name is known only if the server errs.
        if frame["method"] != "registry/event" || params["subscription"] != self.subscription {
            return;
        }
        let event = &params["event"];
        match event["kind"].as_str() {
            Some("added" | "updated") => drop(self.entries.insert(id(&event["entry"]), event["entry"].clone())),
            Some("removed") => drop(self.entries.remove(event["id"].as_str().expect("an id"))),
            Some("resync") => self.entries.clear(),
            Some("synced") => self.synced = true,
            _ => {}
        }
    }
}

fn id(entry: &Value) -> String {
    entry["id"].as_str().expect("an id").to_owned()
}
