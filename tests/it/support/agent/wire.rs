//! The pipes of the test agent, which its threads share.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, mpsc};

/// What is shared.
#[derive(Clone, Default)]
pub struct Wire(Arc<Shared>);

#[derive(Default)]
struct Shared {
    asked: Mutex<HashMap<u64, mpsc::Sender<Value>>>,
    is_cancelled: Mutex<bool>,
    cancelled: Condvar,
}

impl Wire {
    fn send(&self, message: Value) {
        self.line(message.to_string().as_bytes());
    }

    /// Writes any line.
    pub fn line(&self, line: &[u8]) {
        let mut out = std::io::stdout().lock();
        // Who reads no more has gone.
        let _ = out.write_all(line).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
    }

    pub fn nonsense(&self, lines: usize) {
        for n in 0..lines {
            self.line(format!("[info] line {n} of a log").as_bytes());
        }
    }

    pub fn answer(&self, id: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub fn fail(&self, id: &Value, code: i32, message: &str) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub fn update(&self, update: Value) {
        self.notify("session/update", json!({ "sessionId": "test-session", "update": update }));
    }

    pub fn say(&self, text: &str) {
        self.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }));
    }

    /// Asks the host; where the answer comes, and the request's id.
    pub fn ask(&self, method: &str, mut params: Value) -> (u64, mpsc::Receiver<Value>) {
        if params["sessionId"].is_null() {
            params["sessionId"] = "test-session".into();
        }
        let (tell, told) = mpsc::channel();
        let mut asked = self.0.asked.lock().expect("a lock");
        let id = 1_000 + asked.len() as u64;
        asked.insert(id, tell);
        drop(asked);
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        (id, told)
    }

    /// Asks the host and waits: the result, or what the error says.
    pub fn call(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).1.recv().expect("an answer");
        answer.get("result").unwrap_or(&answer["error"]).clone()
    }

    /// Writes a line whose answer has the id 0 or none, and waits for that.
    pub fn call_by(&self, line: &[u8]) -> Value {
        let (tell, told) = mpsc::channel();
        self.0.asked.lock().expect("a lock").insert(0, tell);
        self.line(line);
        told.recv().expect("an answer")
    }

    pub fn answered(&self, answer: Value) {
        let asked = self.0.asked.lock().expect("a lock");
        let id = answer["id"].as_u64().unwrap_or_default();
        let _ = asked[&id].send(answer);
    }

    pub fn begin(&self) {
        *self.0.is_cancelled.lock().expect("a lock") = false;
    }

    pub fn cancel(&self) {
        *self.0.is_cancelled.lock().expect("a lock") = true;
        self.0.cancelled.notify_all();
    }

    /// Waits until the turn is cancelled.
    pub fn await_cancel(&self) {
        let is_cancelled = self.0.is_cancelled.lock().expect("a lock");
        drop(self.0.cancelled.wait_while(is_cancelled, |is_cancelled| !*is_cancelled).expect("a lock"));
    }
}
