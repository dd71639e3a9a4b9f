use super::{Entry, Problem, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Params of `session/load`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadParams {
    /// The entry's id.
    pub id: String,
    /// `nextCursor` of the page before: leads to older messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How many messages at most. Default 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<i64>,
}

/// Result of `session/load`: one page of a conversation, the newest first asked for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadResult {
    /// The session.
    pub session: Entry,
    /// The messages, in time order.
    pub messages: Vec<Message>,
    /// Leads to older messages; absent at the beginning. It does not shift when messages are appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Params of `session/follow`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FollowParams {
    /// The entry's id. That of a runtime follows its stored session.
    pub id: String,
}

/// Result of `session/follow`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FollowResult {
    /// Names what was opened, in `session/event` and `session/unfollow`.
    pub subscription: String,
    /// The session.
    pub session: Entry,
    /// A cursor of `session/load`: it leads to the messages that were there, and what comes after them is told.
    pub cursor: String,
}

/// Params of `session/unfollow`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnfollowParams {
    /// That of the result of `session/follow`.
    pub subscription: String,
}

/// Params of the notification `session/event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionEventParams {
    /// That of the result of `session/follow`.
    pub subscription: String,
    /// What happened.
    pub event: SessionEvent,
}

/// What happened to a session that is followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SessionEvent {
    /// Messages were written.
    Appended {
        /// They, in time order.
        messages: Vec<Message>,
    },
    /// What was loaded and told does not stand any more: load anew. Later messages follow as `appended`.
    Rewritten {
        /// A cursor of `session/load`: it leads to the messages that later ones follow on.
        cursor: String,
    },
    /// The session is gone. Should it come back, `rewritten` tells.
    Removed,
    /// It cannot be read. Told once; messages follow when it can be.
    Error {
        /// Why.
        problem: Problem,
    },
}

/// A message, in the one normal form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The store's own id of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who wrote it.
    pub role: Role,
    /// When it was written, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp_ms: Option<i64>,
    /// The model that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The message that it follows, where the store says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// What it says.
    pub content: Vec<Block>,
    /// The store's own record, where the normal form does not hold it all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// What a model thought.
    Thinking {
        /// The text; empty where the store keeps only a signature.
        text: String,
    },
    /// A model calls a tool.
    ToolCall {
        /// The call's id, by which its result is found.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments, as JSON where they are.
        arguments: Value,
    },
    /// What a tool answered.
    ToolResult {
        /// The call's id.
        id: String,
        /// The tool, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Whether the tool failed, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
        /// What it answered.
        content: Vec<Block>,
    },
    /// An image. Its bytes do not travel.
    Image {
        /// Its media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
        /// Its size in bytes, where the store holds it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
        /// Where it is, where the store only says that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
    },
    /// What is not understood, kept as it is.
    Other {
        /// The store's own word for it.
        kind: String,
        /// The store's own record.
        raw: Value,
    },
}
