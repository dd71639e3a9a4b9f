//! A line of the model's log, which has no times.

use super::message::{Part, blocks, other};
use crate::harness::text::{self, member};
use crate::protocol::{Block, Role};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Record<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    prompt_index: Option<&'a RawValue>,
    synthetic_reason: Option<&'a RawValue>,
    tool_calls: Option<&'a RawValue>,
    tool_call_id: Option<&'a RawValue>,
    model_id: Option<&'a RawValue>,
    text: Option<&'a RawValue>,
    summary: Option<&'a RawValue>,
}

/// What a line tells of a message, if anything.
pub(super) fn parse(line: &[u8]) -> Option<Part> {
    let raw: &RawValue = serde_json::from_str(std::str::from_utf8(line).ok()?).ok()?;
    let record: Record<'_> = serde_json::from_str(raw.get()).ok()?;
    let kind = member(record.kind)?;
    let content = || record.content.map(blocks).unwrap_or_default();
    let (role, content) = match &*kind {
        "system" => (Role::System, content()),
        "user" if record.is_prompt() => (Role::User, content().into_iter().map(unwrapped).collect()),
        "user" => (Role::System, content()),
        "assistant" => (Role::Assistant, content().into_iter().chain(record.calls()).collect()),
        "tool_result" => (Role::Tool, vec![record.result(content())?]),
        "reasoning" => (Role::Assistant, vec![record.thinking().unwrap_or_else(|| other(&kind, raw))]),
        _ => (Role::System, vec![other(&kind, raw)]),
    };
    Some(Part { role, timestamp_ms: None, model: member(record.model_id).map(String::from), mark: None, content })
}

impl Record<'_> {
    /// Whether a person wrote it: what the program put there has a reason, or no place among the prompts.
    fn is_prompt(&self) -> bool {
        self.prompt_index.is_some() && self.synthetic_reason.is_none()
    }

    fn calls(&self) -> Vec<Block> {
        #[derive(Deserialize)]
        #[serde(bound(deserialize = "'de: 'a"))]
        struct Call<'a> {
            id: Option<&'a RawValue>,
            name: Option<&'a RawValue>,
            arguments: Option<&'a RawValue>,
        }
        let Some(list) = self.tool_calls else { return Vec::new() };
        let calls: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
        calls
            .into_iter()
            .map(|raw| {
                let call = serde_json::from_str::<Call<'_>>(raw.get()).ok();
                let named = call.as_ref().and_then(|call| Some((member(call.id)?, member(call.name)?)));
                let Some((id, name)) = named else { return other("tool_call", raw) };
                let arguments = call.as_ref().and_then(|call| call.arguments).map(arguments).unwrap_or_default();
                Block::ToolCall { id: id.into_owned(), name: name.into_owned(), arguments }
            })
            .collect()
    }

    fn result(&self, content: Vec<Block>) -> Option<Block> {
        let id = member(self.tool_call_id)?.into_owned();
        Some(Block::ToolResult { id, name: None, is_error: None, content })
    }

    fn thinking(&self) -> Option<Block> {
        let text = [self.content, self.text, self.summary].into_iter().find_map(member)?;
        Some(Block::Thinking { text: text.into_owned() })
    }
}

/// Arguments are JSON within a string.
fn arguments(raw: &RawValue) -> Value {
    member(Some(raw)).and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_else(|| text::raw_value(raw))
}

/// Takes the mark off that the program puts around a prompt.
fn unwrapped(block: Block) -> Block {
    let Block::Text { text } = block else { return block };
    let inner = text.trim().strip_prefix("<user_query>").and_then(|text| text.strip_suffix("</user_query>"));
    match inner {
        Some(inner) => Block::Text { text: inner.trim_matches('\n').to_owned() },
        None => Block::Text { text },
    }
}
