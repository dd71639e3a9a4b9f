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
}

/// Reads a line; `None` where it is no message. Batches are none: the protocol has no use for them.
pub(super) fn parse(line: &[u8]) -> Option<Message> {
    let Value::Object(mut message) = serde_json::from_slice(line).ok()? else { return None };
    let id = message.remove("id");
    if let Some(method) = message.remove("method") {
        let Value::String(method) = method else { return None };
        let params = message.remove("params").unwrap_or_default();
        return match id {
            Some(id @ (Value::String(_) | Value::Number(_))) => Some(Message::Request { id, method, params }),
            Some(Value::Null) | None => Some(Message::Notification { method, params }),
            Some(_) => None,
        };
    }
    let id = id?;
    if let Some(error) = message.remove("error").filter(|error| !error.is_null()) {
        let unclear = || v1::Error::internal_error().data(error.clone());
        let error = serde_json::from_value(error.clone()).unwrap_or_else(|_| unclear());
        return Some(Message::Answer { id, result: Err(error) });
    }
    // Some answer without a result where there is nothing to say.
    Some(Message::Answer { id, result: Ok(message.remove("result").unwrap_or_default()) })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let parsed = |line: &str| parse(line.as_bytes());
        let method = || "m".to_owned();
        let request = Message::Request { id: json!("a"), method: method(), params: json!({}) };
        assert_eq!(parsed(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{}}"#), Some(request));
        let notification = Message::Notification { method: method(), params: Value::Null };
        assert_eq!(parsed(r#"{"method":"m"}"#), Some(notification));
        assert_eq!(parsed(r#"{"id":1}"#), Some(Message::Answer { id: json!(1), result: Ok(Value::Null) }));
        let error = parsed(r#"{"id":1,"error":{"code":-32000,"message":"log in"}}"#);
        let Some(Message::Answer { result: Err(error), .. }) = error else { panic!("{error:?}") };
        assert_eq!((error.code, error.message.as_str()), (v1::ErrorCode::AuthRequired, "log in"));
        assert!(matches!(parsed(r#"{"id":1,"error":"bad"}"#), Some(Message::Answer { result: Err(_), .. })));
        for nonsense in ["", "hello", "[]", "1", r#"{"method":1}"#, r#"{"id":[],"method":"m"}"#, "{}", "\u{1}{}"] {
            assert_eq!(parsed(nonsense), None, "{nonsense}");
        }
    }
}
