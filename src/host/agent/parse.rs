//! What an agent writes, read a line at a time. A line that holds a message is taken as far as it can be: bytes that are no
//! UTF-8 and halves of surrogate pairs, as programs write them that cut a stream within a character, are replaced; what
//! cannot be taken at all is answered where it may want an answer.

use super::message::Message;
use crate::limits;
use agent_client_protocol_schema::v1;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;

/// Reads a line; `None` where it is no message.
pub(super) fn parse(line: &[u8]) -> Option<Message> {
    let line = String::from_utf8_lossy(line);
    let read = read(&line).or_else(|error| match mended(&line) {
        Some(mended) => self::read(&mended),
        None => Err(error),
    });
    read.unwrap_or_else(|error| unfit(&line, &error.to_string()))
}

/// What is done about a line that is over the bound, of which this is the beginning.
pub(super) fn too_long(beginning: &[u8]) -> Message {
    let why = format!("a line over {} bytes", limits::AGENT_LINE);
    match unfit(&String::from_utf8_lossy(beginning), &why) {
        Some(message @ Message::Answer { .. }) => message,
        Some(Message::Unfit { id, error, .. }) => Message::Unfit { id, error, what: why },
        // Its id may stand in what is gone.
        Some(_) => Message::Unfit { id: Value::Null, error: v1::Error::parse_error().data(why.clone()), what: why },
        // Whatever it was is lost, and somebody should know.
        None => Message::Notification { method: why, params: Value::Null },
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Envelope<'a> {
    #[serde(default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

/// A member that is there, also where it is null.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

fn read(line: &str) -> serde_json::Result<Option<Message>> {
    let line = line.trim_ascii();
    if let Some(items) = line.strip_prefix('[') {
        let is_batch = items.trim_ascii_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok();
        return Ok(is_batch.then(batch));
    }
    if !line.starts_with('{') {
        return Ok(None);
    }
    let envelope: Envelope = serde_json::from_str(line)?;
    let id = envelope.id.map(value).transpose()?;
    let Some(method) = envelope.method else { return answer(id, &envelope) };
    let Ok(method) = serde_json::from_str::<String>(method.get()) else { return Ok(None) };
    let params = envelope.params.map(value).transpose()?.unwrap_or_default();
    Ok(Some(match id {
        Some(id @ (Value::String(_) | Value::Number(_))) => Message::Request { id, method, params },
        Some(Value::Null) if wants_answer(&method) => Message::Request { id: Value::Null, method, params },
        Some(Value::Null) | None => Message::Notification { method, params },
        Some(_) => {
            let error = v1::Error::invalid_request().data("an id is a string or a number");
            Message::Unfit { id: Value::Null, error, what: format!("{method} with an id that is none") }
        }
    }))
}

/// Some agents say an id of null where they mean none, and some that want an answer.
fn wants_answer(method: &str) -> bool {
    method == "session/request_permission" || method.starts_with("fs/") || method.starts_with("terminal/")
}

fn answer(id: Option<Value>, envelope: &Envelope) -> serde_json::Result<Option<Message>> {
    let Some(id) = id else { return Ok(None) };
    if let Some(error) = envelope.error {
        let error = value(error)?;
        let unclear = || v1::Error::internal_error().data(error.clone());
        let error = v1::Error::deserialize(&error).unwrap_or_else(|_| unclear());
        return Ok(Some(Message::Answer { id, result: Err(error) }));
    }
    // Some answer without a result where there is nothing to say.
    let result = envelope.result.map(value).transpose()?.unwrap_or_default();
    Ok(Some(Message::Answer { id, result: Ok(result) }))
}

fn batch() -> Message {
    let error = v1::Error::invalid_request().data("the protocol has no batches");
    Message::Unfit { id: Value::Null, error, what: "a batch of messages".to_owned() }
}

/// What is done about a line that cannot be read to its end; `None` where it is no message.
fn unfit(line: &str, why: &str) -> Option<Message> {
    let mut head = Head::default();
    // It fails; what came before is read.
    let _ = serde_json::Deserializer::from_str(line).deserialize_map(&mut head);
    let error = v1::Error::parse_error().data(why);
    let id = head.id.filter(|id| id.is_string() || id.is_number());
    match (id, head.method) {
        (Some(id), None) if head.is_answer => Some(Message::Answer { id, result: Err(error) }),
        (Some(id), method) => {
            let what = format!("{}: {why}", method.unwrap_or_else(|| "a request".to_owned()));
            Some(Message::Unfit { id, error, what })
        }
        (None, Some(method)) => Some(Message::Notification { method: format!("{method}: {why}"), params: Value::Null }),
        (None, None) => None,
    }
}

/// What can be known of a message whose end cannot be read.
#[derive(Default)]
struct Head {
    id: Option<Value>,
    method: Option<String>,
    is_answer: bool,
}

impl<'de> Visitor<'de> for &mut Head {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "id" => self.id = Some(members.next_value()?),
                "method" => self.method = Some(members.next_value()?),
                name => {
                    self.is_answer |= matches!(name, "result" | "error");
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

fn value(text: &RawValue) -> serde_json::Result<Value> {
    let mut left = limits::AGENT_VALUES;
    Parts(&mut left).deserialize(&mut serde_json::Deserializer::from_str(text.get()))
}

/// A value of so many parts at most: what is over that is passed over, since each costs far more than its text.
struct Parts<'a>(&'a mut usize);

impl Parts<'_> {
    /// Whether one more may be built.
    fn take(&mut self) -> bool {
        let left = self.0.checked_sub(1);
        *self.0 = left.unwrap_or_default();
        left.is_some()
    }
}

impl<'de> DeserializeSeed<'de> for Parts<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Parts<'_> {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Value, E> {
        Ok(is.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while self.take() {
            match from.next_element_seed(Parts(self.0))? {
                Some(item) => items.push(item),
                None => return Ok(items.into()),
            }
        }
        while from.next_element::<IgnoredAny>()?.is_some() {}
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut from: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while self.take() {
            match from.next_key::<String>()? {
                Some(name) => drop(members.insert(name, from.next_value_seed(Parts(self.0))?)),
                None => return Ok(members.into()),
            }
        }
        while from.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(members.into())
    }
}

/// The line with U+FFFD for each half of a surrogate pair that is escaped without the other; `None` where there is none.
fn mended(line: &str) -> Option<String> {
    let mut mended = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = line.get(at..).and_then(|rest| memchr::memchr(b'\\', rest.as_bytes())) {
        let escape = at + found;
        at = match (unit(line, escape), unit(line, escape + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => escape + 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.push_str(line.get(from..escape)?);
                mended.push_str("\\ufffd");
                from = escape + 6;
                from
            }
            // Another backslash is what this one escapes; a character of more bytes is no escape at all.
            _ => (escape + 2..).find(|&at| line.is_char_boundary(at.min(line.len())))?,
        };
    }
    (from > 0).then(|| mended + line.get(from..).unwrap_or_default())
}

/// The unit of UTF-16 that is escaped at this place.
fn unit(line: &str, at: usize) -> Option<u16> {
    u16::from_str_radix(line.get(at..)?.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(line: &str) -> Option<Message> {
        parse(line.as_bytes())
    }

    fn unfit_of(line: &str) -> (Value, i32) {
        match parsed(line) {
            Some(Message::Unfit { id, error, .. }) => (id, error.code.into()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_are_told_apart() {
        let method = || "m".to_owned();
        let request =
            Message::Request { id: json!("a"), method: method(), params: json!({"a": [1, -1, 1.5, null, true]}) };
        assert_eq!(
            parsed(r#" {"jsonrpc":"2.0","id":"a","method":"m","params":{"a":[1,-1,1.5,null,true]}}"#),
            Some(request)
        );
        let notification = || Some(Message::Notification { method: method(), params: Value::Null });
        assert_eq!(
            (parsed(r#"{"method":"m"}"#), parsed(r#"{"id":null,"method":"m"}"#)),
            (notification(), notification())
        );
        assert_eq!(parsed(r#"{"id":1}"#), Some(Message::Answer { id: json!(1), result: Ok(Value::Null) }));
        let error = parsed(r#"{"id":1,"error":{"code":-32000,"message":"log in"}}"#);
        let Some(Message::Answer { result: Err(error), .. }) = error else { panic!("{error:?}") };
        assert_eq!((error.code, error.message.as_str()), (v1::ErrorCode::AuthRequired, "log in"));
        assert!(matches!(parsed(r#"{"id":1,"error":"bad"}"#), Some(Message::Answer { result: Err(_), .. })));
        for nonsense in ["", "hello", "[]", "[info] {}", "1", r#"{"method":1}"#, "{}", "\u{1}{}", r#"{"a":"\ud83d"}"#] {
            assert_eq!(parsed(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_question_without_an_id_is_a_question() {
        let asked = parsed(r#"{"id":null,"method":"session/request_permission","params":{}}"#);
        assert!(matches!(asked, Some(Message::Request { id: Value::Null, .. })), "{asked:?}");
    }

    #[test]
    fn half_a_character_costs_no_more_than_itself() {
        let text = |line: &[u8]| match parse(line) {
            Some(Message::Notification { params: Value::String(text), .. }) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(text(br#"{"method":"m","params":"a\ud83d"}"#), "a\u{fffd}");
        assert_eq!(
            text(br#"{"method":"m","params":"\\ud83d \ud83d\ude00 \uD83D\ud83d\ude00 \ude00"}"#),
            "\\ud83d 😀 \u{fffd}😀 \u{fffd}"
        );
        assert_eq!(text(b"{\"method\":\"m\",\"params\":\"a\xf0\x9f\"}"), "a\u{fffd}");
    }

    #[test]
    fn what_cannot_be_taken_is_answered() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert_eq!(unfit_of(&format!(r#"{{"id":7,"method":"m","params":{deep}}}"#)), (json!(7), -32700));
        assert_eq!(unfit_of(r#"{"id":7,"method":"m","params":{"a":"#), (json!(7), -32700));
        assert_eq!(unfit_of(r#"[{"id":1,"method":"m"}]"#), (Value::Null, -32600));
        assert_eq!(unfit_of(r#"{"id":[],"method":"m"}"#), (Value::Null, -32600));
        let answer = parsed(&format!(r#"{{"id":7,"result":{deep}}}"#));
        assert!(matches!(answer, Some(Message::Answer { result: Err(_), .. })), "{answer:?}");
        let told = parsed(&format!(r#"{{"method":"m","params":{deep}}}"#));
        assert!(matches!(told, Some(Message::Notification { params: Value::Null, .. })), "{told:?}");
    }

    #[test]
    fn what_is_too_long_is_answered_as_far_as_it_is_known() {
        let id = |line: &str| match too_long(line.as_bytes()) {
            Message::Unfit { id, .. } => Some(id),
            Message::Answer { id, result: Err(_) } => Some(json!(["answer", id])),
            _ => None,
        };
        assert_eq!(id(r#"{"id":7,"method":"m","params":"#), Some(json!(7)));
        assert_eq!(id(r#"{"method":"m","params":"x"#), Some(Value::Null));
        assert_eq!(id(r#"{"id":7,"result":{"#), Some(json!(["answer", 7])));
        assert_eq!(id("xxx"), None);
    }

    #[test]
    fn a_value_of_too_many_parts_is_built_as_far_as_the_bound() {
        let many =
            format!(r#"{{"id":1,"result":{{"a":1,"b":[{}0],"c":2}}}}"#, "{\"x\":1},".repeat(limits::AGENT_VALUES));
        let Some(Message::Answer { result: Ok(result), .. }) = parsed(&many) else { panic!("no answer") };
        assert_eq!(result["a"], 1);
        assert!(result["b"].as_array().unwrap().len() <= limits::AGENT_VALUES / 2);
        // So nobody takes it for all of it.
        assert_eq!(super::super::words::raw(&result), None);
    }
}
