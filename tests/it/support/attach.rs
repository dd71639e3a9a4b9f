//! A server, and runtimes in its home.

use super::runtime::{Options, Runtime};
use super::{Home, Server, Spawn};
use serde_json::{Value, json};
use std::path::PathBuf;

pub const WORKSPACE: &str = "/home/dev/demo";

/// All that a client may do at a runtime.
pub const DRIVER: &str = "observe,interact,approve,terminate";

/// Where runtimes of this home publish themselves.
pub fn receipts(home: &Home) -> PathBuf {
    home.path().join(".config/supercode/live-runtimes")
}

/// The digits behind the kind of a handle.
pub const RANDOM_DIGITS: usize = 32;

/// A server that may do all at runtimes.
pub fn serve(home: Home) -> Server {
    Spawn::new(home).args(["--allow", DRIVER]).open()
}

/// A runtime, and a server that knows it and may do all.
pub fn with_runtime(options: Options) -> (Runtime, Server) {
    let server = serve(Home::new());
    (server.publish(options), server)
}

/// Another server that looks at the same home.
pub fn beside(server: &Server) -> Server {
    let environment = [("HOME".into(), server.home.path().into())];
    Spawn::empty().only_env(environment).args(["--allow", DRIVER]).open()
}

impl Server {
    /// Starts a runtime in its home.
    pub fn publish(&self, options: Options) -> Runtime {
        let runtime = Runtime::start(options);
        runtime.publish(&receipts(&self.home));
        runtime
    }

    /// Asks to attach to a runtime, with more params.
    #[track_caller]
    pub fn ask_attach(&mut self, runtime: &Runtime, more: Value) -> i64 {
        let mut params = json!({ "runtimeId": runtime.options().runtime_id });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ask("runtime/attach", params)
    }

    /// Attaches to a runtime, with more params: the whole answer.
    #[track_caller]
    pub fn attach(&mut self, runtime: &Runtime, more: Value) -> Value {
        let id = self.ask_attach(runtime, more);
        self.answer(id).result()
    }

    /// Calls a method of an attachment, with more params.
    #[track_caller]
    pub fn at(&mut self, attachment: &Value, method: &str, more: Value) -> super::Answer {
        let id = self.ask_at(attachment, method, more);
        self.answer(id)
    }

    /// Asks the same and does not wait.
    #[track_caller]
    pub fn ask_at(&mut self, attachment: &Value, method: &str, more: Value) -> i64 {
        let mut params = json!({ "attachment": attachment });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ask(&format!("runtime/{method}"), params)
    }

    /// The next event of an attachment; what else comes meanwhile is kept.
    #[track_caller]
    pub fn event(&mut self, attachment: &Value) -> Value {
        self.expect_params("runtime/event", |params| &params["attachment"] == attachment)["event"].take()
    }

    /// The next events of an attachment, up to one of this kind.
    #[track_caller]
    pub fn events_to(&mut self, attachment: &Value, kind: &str) -> Vec<Value> {
        let mut events = vec![];
        while events.last().is_none_or(|event: &Value| event["kind"] != kind) {
            events.push(self.event(attachment));
        }
        events
    }
}

/// What differs from run to run is made the same: times, endpoints, names that were minted.
pub fn plain(mut value: Value) -> Value {
    level(&mut value);
    value
}

fn level(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(level),
        Value::Object(members) => {
            for (name, member) in members {
                match name.as_str() {
                    "expiresAtMs" | "lastSeenMs" => *member = json!("[time]"),
                    _ => level(member),
                }
            }
        }
        Value::String(text) if text.starts_with("tackroom-") => *text = "[minted]".to_owned(),
        Value::String(text) => {
            const KIND: &str = "attachment-";
            if let Some(at) = text.find(KIND).map(|at| at + KIND.len()) {
                text.replace_range(at..at + RANDOM_DIGITS, "[random]");
            }
        }
        _ => {}
    }
}
