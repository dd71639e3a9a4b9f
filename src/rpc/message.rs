//! The envelope of JSON-RPC 2.0: what a frame holds, read without touching the params.

use crate::limits;
use crate::protocol::{Reason, RpcError, nested_deeper};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;

/// A request's id. Numbers keep their text, so that any legal one goes back as it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Id {
    /// `null`, also where the id of a bad message is unknown.
    Null,
    /// A number, as it was written.
    Number(Box<str>),
    /// A string.
    String(Box<str>),
}

impl Id {
    /// Reads an id; `None` if it is not a legal one or longer than [`limits::ID_BYTES`].
    pub(super) fn from_raw(raw: &RawValue) -> Option<Self> {
        if raw.get().len() > limits::ID_BYTES {
            return None;
        }
        match raw.get().as_bytes().first()? {
            b'n' => Some(Self::Null),
            b'"' => serde_json::from_str::<String>(raw.get()).ok().map(|text| Self::String(text.into())),
            b'-' | b'0'..=b'9' => Some(Self::Number(raw.get().into())),
            _ => None,
        }
    }
}

impl fmt::Display for Id {
    /// The id as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Number(text) => f.write_str(text),
            Self::String(text) => f.write_str(&serde_json::Value::from(&**text).to_string()),
        }
    }
}

/// What a frame holds.
#[derive(Debug)]
pub(super) enum Incoming {
    /// One message.
    Single(Message),
    /// A batch, not empty.
    Batch(Vec<Message>),
}

/// One message of a client.
#[derive(Debug)]
pub(super) enum Message {
    /// Wants an answer.
    Request {
        /// Goes back with the answer.
        id: Id,
        /// What to do.
        call: Call,
    },
    /// Wants none.
    Notification(Call),
    /// An answer to something that was never asked; ignored.
    Response,
    /// Neither; answered with this error.
    Invalid(Id, RpcError),
}

/// A method and its params.
#[derive(Debug)]
pub(super) struct Call {
    /// The method's name.
    pub method: String,
    /// A JSON object, or an array that is not empty, which no method takes; or nothing.
    pub params: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Envelope<'a> {
    #[serde(default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Tells `null` from absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads a frame. An error is one of the frame as a whole, answered with id null. Reading stops at the first message beyond
/// `batch_max`, so a huge batch costs neither time nor memory.
pub(super) fn parse(frame: &[u8], batch_max: usize) -> Result<Incoming, RpcError> {
    let bad = |why: String| RpcError::new(Reason::ParseError, why);
    let invalid = |error: serde_json::Error| bad(format!("the frame is not valid JSON: {error}"));
    let text = std::str::from_utf8(frame).map_err(|_| bad("the frame is not valid UTF-8".to_owned()))?;
    if nested_deeper(frame, limits::NESTING) {
        return Err(bad(format!("the frame is nested deeper than {} levels", limits::NESTING)));
    }
    if !text.trim_ascii_start().starts_with('[') {
        return Ok(Incoming::Single(parse_message(serde_json::from_str(text).map_err(invalid)?)));
    }
    let mut batch = Batch { items: Vec::new(), max: batch_max, is_over: false };
    let mut json = serde_json::Deserializer::from_str(text);
    let read = json.deserialize_seq(&mut batch).and_then(|()| json.end());
    if batch.is_over {
        return Err(RpcError::new(Reason::Limit, format!("a batch holds at most {batch_max} messages")));
    }
    read.map_err(invalid)?;
    if batch.items.is_empty() {
        return Err(RpcError::new(Reason::InvalidRequest, "a batch cannot be empty"));
    }
    Ok(Incoming::Batch(batch.items.into_iter().map(parse_message).collect()))
}

/// The messages of a batch as they are read.
struct Batch<'a> {
    items: Vec<&'a RawValue>,
    max: usize,
    is_over: bool,
}

impl<'de> Visitor<'de> for &mut Batch<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a batch")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            if self.items.len() == self.max {
                self.is_over = true;
                return Err(A::Error::custom("the batch is too large"));
            }
            self.items.push(item);
        }
        Ok(())
    }
}

fn parse_message(raw: &RawValue) -> Message {
    let invalid = |id: Id, why: &str| Message::Invalid(id, RpcError::new(Reason::InvalidRequest, why));
    if !raw.get().starts_with('{') {
        return invalid(Id::Null, "a message is a JSON object");
    }
    let envelope = match serde_json::from_str::<Envelope<'_>>(raw.get()) {
        Ok(envelope) => envelope,
        Err(error) => return invalid(Id::Null, &format!("the message cannot be read: {error}")),
    };
    let id = match envelope.id.map(Id::from_raw) {
        None => None,
        Some(Some(id)) => Some(id),
        Some(None) => {
            let max = limits::ID_BYTES;
            return invalid(Id::Null, &format!("an id is a string, a number or null, of at most {max} bytes"));
        }
    };
    let known_id = || id.clone().unwrap_or(Id::Null);
    if envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some()) {
        return Message::Response;
    }
    // Decoded, since JSON has several spellings of one text.
    let text = |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    if text(envelope.jsonrpc).is_none_or(|version| version != "2.0") {
        return invalid(known_id(), "`jsonrpc` must be \"2.0\"");
    }
    let Some(method) = text(envelope.method) else {
        return invalid(known_id(), "`method` must be a string");
    };
    let params = match envelope.params.map(RawValue::get) {
        None | Some("null") => None,
        Some(text) if text.starts_with('[') && text[1..text.len() - 1].trim_ascii().is_empty() => None,
        Some(text) if text.starts_with(['{', '[']) => envelope.params.map(ToOwned::to_owned),
        Some(_) => return invalid(known_id(), "`params` must be an object"),
    };
    let call = Call { method, params };
    match id {
        Some(id) => Message::Request { id, call },
        None => Message::Notification(call),
    }
}

/// An answer that carries an error.
pub(super) fn error_answer(id: &Id, error: &RpcError) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{}}}", error.to_json()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(json: &str) -> Message {
        match parse(json.as_bytes(), 64).unwrap() {
            Incoming::Single(message) => message,
            Incoming::Batch(_) => panic!("not a batch"),
        }
    }

    #[test]
    fn every_legal_id_goes_back_as_it_came() {
        for id in [
            "0",
            "-5",
            "1.5",
            "1e3",
            "9007199254740993",
            "18446744073709551616",
            "\"\"",
            "\"1\"",
            "\"\\u00e9\\n\"",
            "null",
        ] {
            let Message::Request { id: parsed, .. } = one(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#))
            else {
                panic!("{id} is no request");
            };
            let back: serde_json::Value = serde_json::from_str(&parsed.to_string()).unwrap();
            assert_eq!(back, serde_json::from_str::<serde_json::Value>(id).unwrap(), "{id}");
        }
    }

    #[test]
    fn what_is_no_request_says_why() {
        for (json, id) in [
            ("1", "null"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "null"),
            (r#"{"jsonrpc":"2.0","id":7,"method":1,"params":"bar"}"#, "7"),
            (r#"{"id":7,"method":"m"}"#, "7"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"m","params":"bar"}"#, "7"),
            (r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"m"}"#, "null"),
        ] {
            let Message::Invalid(found, error) = one(json) else { panic!("{json} passed") };
            assert_eq!((found.to_string().as_str(), error.reason()), (id, Reason::InvalidRequest), "{json}");
        }
        assert!(matches!(one(r#"{"jsonrpc":"2.0","id":7,"result":null}"#), Message::Response));
    }

    #[test]
    fn escaped_spellings_of_the_envelope_mean_the_same() {
        let json = r#"{"\u006asonrpc":"2\u002e0","\u0069d":"\u0061","met\u0068od":"p\u0069ng","p\u0061rams":{"a":1}}"#;
        let Message::Request { id, call } = one(json) else { panic!("not a request") };
        assert_eq!((id, &*call.method), (Id::String("a".into()), "ping"));
        assert_eq!(call.params.unwrap().get(), r#"{"a":1}"#);
        let twice = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"\u0070arams":{}}"#;
        assert!(matches!(one(twice), Message::Invalid(Id::Null, _)));
    }

    #[test]
    fn nesting_is_bounded_and_brackets_in_strings_do_not_count() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let call = |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{params}}}}}"#);
        assert!(parse(call(&nested(126)).as_bytes(), 64).is_ok());
        assert_eq!(parse(call(&nested(127)).as_bytes(), 64).unwrap_err().reason(), Reason::ParseError);
        assert!(parse(call(&format!("\"{}\\\"{}\"", "[".repeat(200), "[".repeat(9))).as_bytes(), 64).is_ok());
        assert_eq!(parse(nested(100_000).as_bytes(), 64).unwrap_err().reason(), Reason::ParseError);
    }
}
