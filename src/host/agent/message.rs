//! JSON-RPC as an agent speaks it: one message a line.

use agent_client_protocol_schema::v1;
use serde::Serialize;
use serde_json::{Value, json};

/// What a line is.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// It wants an answer.
    Request { id: Value, method: String, params: Value },
    /// It wants none.
    Notification { method: String, params: Value },
    /// It is the answer to a request of ours.
    Answer { id: Value, result: Result<Value, v1::Error> },
    /// It cannot be taken, and gets this answer; what it was, for a person.
    Unfit { id: Value, error: v1::Error, what: String },
    /// It was none, but so many lines in a row, as when some library of the agent logs to the wrong place.
    Nonsense { lines: u64, bytes: usize, first: String },
}

/// A request, as a line.
pub(super) fn request(id: u64, method: &str, params: &impl Serialize) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": value(params) }))
}

/// A notification, as a line.
pub(super) fn notification(method: &str, params: &impl Serialize) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": value(params) }))
}

/// An answer, as a line.
pub(super) fn answer(id: &Value, result: Result<Value, v1::Error>) -> Vec<u8> {
    match result {
        Ok(result) => line(&json!({ "jsonrpc": "2.0", "id": id, "result": result })),
        Err(error) => line(&json!({ "jsonrpc": "2.0", "id": id, "error": value(&error) })),
    }
}

/// A value of the protocol's types as JSON. They are plain data, so it cannot fail but for a path that is no UTF-8.
pub(super) fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}
