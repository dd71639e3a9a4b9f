//! What stores share in making messages: images, and the names of what tools answered.

use super::{Page, text};
use crate::protocol::{Block, Message};
use serde_json::Value;
use std::collections::HashMap;

/// Gives each tool's answer the name that stands in its call, here or in earlier messages. Whether all have one.
pub(super) fn name_results(messages: &mut [Message], earlier: &[Message]) -> bool {
    let mut names: HashMap<String, String> = HashMap::new();
    for block in earlier.iter().chain(&*messages).flat_map(|message| &message.content) {
        if let Block::ToolCall { id, name, .. } = block {
            names.insert(id.clone(), name.clone());
        }
    }
    let mut all = true;
    for block in messages.iter_mut().flat_map(|message| &mut message.content) {
        if let Block::ToolResult { id, name: name @ None, .. } = block {
            *name = names.get(id).cloned();
            all &= name.is_some();
        }
    }
    all
}

/// Names the results of a page whose calls stand before it.
pub(super) fn name_from_earlier<E>(
    page: &mut Page,
    earlier: impl FnOnce() -> Result<Vec<Message>, E>,
) -> Result<(), E> {
    if page.next.is_some() && !name_results(&mut page.messages, &[]) {
        name_results(&mut page.messages, &earlier()?);
    }
    Ok(())
}

/// What is not understood, kept.
pub(super) fn other(kind: &str, raw: Value) -> Block {
    Block::Other { kind: kind.to_owned(), raw }
}

/// The same, under its own word for what it is.
pub(super) fn unknown(raw: Value) -> Block {
    Block::Other { kind: kind(&raw).to_owned(), raw }
}

/// A record's own word for what it is.
pub(super) fn kind(record: &Value) -> &str {
    record["type"].as_str().unwrap_or("unknown")
}

/// The arguments of a call: many stores keep their JSON as a string.
pub(super) fn arguments(stored: &Value) -> Value {
    let parsed = stored.as_str().and_then(text::value);
    parsed.unwrap_or_else(|| stored.clone())
}

/// The image that a URL names or holds.
pub(super) fn image(url: &str, media_type: Option<&str>) -> Block {
    let Some((head, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(',')) else {
        return Block::Image { media_type: media_type.map(str::to_owned), bytes: None, uri: Some(url.to_owned()) };
    };
    let own = head.split(';').next().filter(|own| !own.is_empty());
    let bytes = if head.ends_with(";base64") { text::base64_bytes(data) } else { data.len() as u64 };
    Block::Image { media_type: media_type.or(own).map(str::to_owned), bytes: Some(bytes), uri: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Role;
    use serde_json::json;

    fn message(content: Vec<Block>) -> Message {
        Message { id: None, role: Role::User, timestamp_ms: None, model: None, parent_id: None, content, raw: None }
    }

    fn call(id: &str) -> Block {
        Block::ToolCall { id: id.to_owned(), name: format!("tool of {id}"), arguments: Value::Null }
    }

    fn result(id: &str) -> Block {
        Block::ToolResult { id: id.to_owned(), name: None, is_error: None, content: Vec::new() }
    }

    #[test]
    fn a_result_has_the_name_of_its_call_wherever_that_is() {
        let mut messages = [message(vec![call("b")]), message(vec![result("a"), result("b"), result("c")])];
        assert!(!name_results(&mut messages, &[message(vec![call("a")])]));
        let names = messages[1].content.iter().map(|block| match block {
            Block::ToolResult { name, .. } => name.as_deref(),
            _ => None,
        });
        assert_eq!(names.collect::<Vec<_>>(), [Some("tool of a"), Some("tool of b"), None]);
        assert!(name_results(&mut messages, &[message(vec![call("c")])]));
    }

    #[test]
    fn the_bytes_of_an_image_are_counted_and_left() {
        let of = |url: &str| match image(url, None) {
            Block::Image { media_type, bytes, uri } => (media_type, bytes, uri),
            _ => unreachable!(),
        };
        assert_eq!(of("data:image/png;base64,iVBORw0K"), (Some("image/png".to_owned()), Some(6), None));
        assert_eq!(of("data:image/png;base64,iVBORw=="), (Some("image/png".to_owned()), Some(4), None));
        assert_eq!(of("file:///a.png"), (None, None, Some("file:///a.png".to_owned())));
    }

    #[test]
    fn arguments_are_json_where_they_are() {
        assert_eq!(arguments(&json!("{\"a\":1}")), json!({"a": 1}));
        assert_eq!(arguments(&json!("{torn")), json!("{torn"));
        assert_eq!(arguments(&json!({"a": 1})), json!({"a": 1}));
    }
}
