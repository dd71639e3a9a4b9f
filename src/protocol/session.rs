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
    /// `nextCursor` of the previous page, to continue with older messages. Absent: the newest page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Maximum number of messages. Default 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<i64>,
}

/// Result of `session/load`: one page of a conversation. The first page has the newest messages.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadResult {
    /// The session.
    pub session: Entry,
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// The cursor of the page with older messages. Absent at the beginning of the conversation. Appended messages do
    /// not shift it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The sources that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Params of `session/follow`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FollowParams {
    /// The entry's id. For a runtime's id, its stored session is followed.
    pub id: String,
}

/// Result of `session/follow`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FollowResult {
    /// The id of the subscription, for `session/event` and `session/unfollow`.
    pub subscription: String,
    /// The session.
    pub session: Entry,
    /// A cursor for `session/load`: it returns the existing messages. Later messages are sent as `session/event`.
    pub cursor: String,
}

/// Params of `session/unfollow`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnfollowParams {
    /// The subscription's id, from the result of `session/follow`.
    pub subscription: String,
}

/// Params of the notification `session/event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionEventParams {
    /// The subscription's id, from the result of `session/follow`.
    pub subscription: String,
    /// The change.
    pub event: SessionEvent,
}

/// A change of a followed session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SessionEvent {
    /// Messages were appended.
    Appended {
        /// The new messages, oldest first.
        messages: Vec<Message>,
    },
    /// The messages loaded and sent so far are no longer valid: load the session again. Later messages follow as
    /// `appended`.
    Rewritten {
        /// A cursor for `session/load`: it returns the current messages, which later `appended` events continue.
        cursor: String,
    },
    /// The session was removed. If it reappears, `rewritten` is sent.
    Removed,
    /// The session cannot be read. Sent once; messages follow when it can be read again.
    Error {
        /// The problem.
        problem: Problem,
    },
}

/// A message of a session, in the format common to all harnesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The message's id in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The author's role.
    pub role: Role,
    /// When the message was written, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp_ms: Option<i64>,
    /// The model that wrote the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The id of the message that this one follows, if the store records it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// The content.
    pub content: Vec<Block>,
    /// The store's own record, if the common format does not represent all of it.
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
    /// Reasoning of a model.
    Thinking {
        /// The text. Empty if the store contains only a signature.
        text: String,
    },
    /// A tool call by a model.
    ToolCall {
        /// The id of the call, which its result repeats.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments: as JSON if they are valid JSON, otherwise a string.
        arguments: Value,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The name of the tool, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Whether the tool failed, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
        /// The content of the result.
        content: Vec<Block>,
    },
    /// An image, without its bytes.
    Image {
        /// The media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
        /// The size in bytes, if the store contains the image.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
        /// The location of the image, if the store contains only a reference.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
    },
    /// Content that Tackroom does not recognize, unchanged.
    Other {
        /// The kind of content, as the store names it.
        kind: String,
        /// The store's own record.
        raw: Value,
    },
}
