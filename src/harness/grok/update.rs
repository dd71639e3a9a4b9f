//! A line of the display's log: a session update of the Agent Client Protocol.

use super::message::{Part, blocks, other};
use crate::harness::text::{self, member};
use crate::protocol::{Block, Role};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    update: Update<'a>,
    #[serde(default, rename = "_meta")]
    meta: Value,
}

/// An update, as far as it matters here. What a tool answered may be large, so it stays raw until it is wanted.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Update<'a> {
    #[serde(rename = "sessionUpdate")]
    kind: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    #[serde(rename = "toolCallId")]
    call: Option<&'a RawValue>,
    title: Option<&'a RawValue>,
    status: Option<&'a RawValue>,
    #[serde(rename = "rawInput")]
    input: Option<&'a RawValue>,
    #[serde(rename = "rawOutput")]
    output: Option<&'a RawValue>,
    #[serde(default, rename = "_meta")]
    meta: Value,
}

/// What a line tells of a message, if anything.
pub(super) fn parse(line: &[u8]) -> Option<Part> {
    let Params { update, meta } = serde_json::from_str::<Line<'_>>(std::str::from_utf8(line).ok()?).ok()?.params;
    let part = |role, content| Part {
        role,
        timestamp_ms: meta.get("agentTimestampMs").and_then(Value::as_i64),
        model: None,
        mark: None,
        content,
    };
    // One answer of the model, whatever it is made of.
    let answer = |content| Part {
        mark: meta
            .get("streamStartMs")
            .map(|start| format!("{start} {}", meta.get("promptId").unwrap_or(&Value::Null))),
        ..part(Role::Assistant, content)
    };
    Some(match &*member(update.kind)? {
        "user_message_chunk" => {
            let content = blocks(update.content?);
            let role = if is_hidden(&update.meta, &content) { Role::System } else { Role::User };
            Part {
                model: update.meta.get("modelId").and_then(Value::as_str).map(str::to_owned),
                mark: update
                    .meta
                    .get("promptIndex")
                    .filter(|_| role == Role::User)
                    .map(|index| format!("prompt {index}")),
                ..part(role, content)
            }
        }
        "agent_message_chunk" => answer(blocks(update.content?)),
        "agent_thought_chunk" => answer(blocks(update.content?).into_iter().map(thinking).collect()),
        "tool_call" => answer(vec![update.call()?]),
        "tool_call_update" => part(Role::Tool, vec![update.result()?]),
        _ => return None,
    })
}

/// Whether the program put a prompt there itself and does not show it.
fn is_hidden(meta: &Value, content: &[Block]) -> bool {
    let wrapped = |block: &Block| matches!(block, Block::Text { text } if text.starts_with("<system-reminder>"));
    meta.get("hideFromScrollback").and_then(Value::as_bool).unwrap_or_else(|| content.iter().all(wrapped))
}

fn thinking(block: Block) -> Block {
    match block {
        Block::Text { text } => Block::Thinking { text },
        other => other,
    }
}

impl Update<'_> {
    fn call(&self) -> Option<Block> {
        let named = self.meta.pointer("/x.ai~1tool/name").and_then(Value::as_str).map(str::to_owned);
        Some(Block::ToolCall {
            id: member(self.call)?.into_owned(),
            name: named.or_else(|| member(self.title).map(|title| title.into_owned())).unwrap_or_default(),
            arguments: self.input.map(text::raw_value).unwrap_or_default(),
        })
    }

    /// What a tool answered; `None` while it is at work.
    fn result(&self) -> Option<Block> {
        let failed = match &*member(self.status)? {
            "completed" => false,
            "failed" => true,
            _ => return None,
        };
        let told = self.content.map(blocks).filter(|content| !content.is_empty());
        let content = told.or_else(|| self.output.map(answered)).unwrap_or_default();
        Some(Block::ToolResult { id: member(self.call)?.into_owned(), name: None, is_error: Some(failed), content })
    }
}

/// What a tool answered that shows nothing: the text that the model got.
fn answered(raw: &RawValue) -> Vec<Block> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Output<'a> {
        #[serde(rename = "type")]
        kind: Option<&'a RawValue>,
        output_for_prompt: Option<&'a RawValue>,
        text: Option<&'a RawValue>,
    }
    let output = serde_json::from_str::<Output<'_>>(raw.get()).ok();
    let texts = output.as_ref().and_then(|output| member(output.output_for_prompt).or_else(|| member(output.text)));
    match texts.or_else(|| text::string(raw)) {
        Some(text) => vec![Block::Text { text: text.into_owned() }],
        None => vec![other(&output.and_then(|output| member(output.kind)).unwrap_or_default(), raw)],
    }
}
