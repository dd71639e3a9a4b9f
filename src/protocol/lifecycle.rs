use super::{Authority, AuthorityRequest, Harness};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The protocol version that this server speaks.
pub const PROTOCOL_VERSION: i64 = 1;

/// Params of `initialize`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// The version that the client speaks; any other than 1 is answered with 1, and the client decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<i64>,
    /// Who the client is.
    #[serde(deserialize_with = "super::object")]
    pub client_info: ClientInfo,
    /// The client's process; when it is gone the server ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2147483647))]
    pub process_id: Option<i64>,
    /// Ask for less than the spawner allowed.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub authority: Option<AuthorityRequest>,
    /// More store roots, by harness. Counted only when the server was started with `--allow-homes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homes: Option<BTreeMap<Harness, Vec<String>>>,
    /// Reserved: nothing is read from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<serde_json::Value>,
}

/// Who a client is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientInfo {
    /// The client's short name.
    pub name: String,
    /// The client's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The name that a person reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Result of `initialize`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// The version that the server speaks: 1.
    pub protocol_version: i64,
    /// Who the server is.
    pub server_info: ServerInfo,
    /// Nothing yet.
    pub capabilities: ServerCapabilities,
    /// Random, new for each server process: revisions of one instance mean nothing to another.
    pub instance_id: String,
    /// What was granted.
    pub authority: Authority,
    /// Every request that the server knows; the OpenRPC document says which permissions each needs.
    pub methods: Vec<String>,
    /// Every notification that the server may send.
    pub notifications: Vec<String>,
    /// The harnesses within scope, and where their sessions are looked for.
    pub harnesses: Vec<HarnessInfo>,
    /// The bounds that a client can run into.
    pub limits: Limits,
}

/// Who the server is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    /// `tackroom`.
    pub name: String,
    /// The server's version.
    pub version: String,
}

/// What the server can do beyond its methods: nothing yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerCapabilities {}

/// A harness and the roots of its stores.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HarnessInfo {
    /// The harness.
    pub id: Harness,
    /// The name that a person reads.
    pub name: String,
    /// The directories that are looked into, whether they exist or not.
    pub roots: Vec<String>,
}

/// The bounds that a client can run into; each can be lowered by `--limit NAME=VALUE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// The longest frame that is read, in bytes.
    pub frame_bytes: usize,
    /// The largest `limit` of a page.
    pub page_max: usize,
    /// Requests at work or unread at a time; one more is answered `busy`.
    pub requests_in_flight: usize,
    /// The largest batch; a larger one is answered with one `limit` error.
    pub batch_max: usize,
    /// The longest text of `peer/message`, in bytes.
    pub message_bytes: usize,
    /// Attachments to runtimes at one time.
    pub attachments: usize,
    /// Subscriptions of `registry/watch` at one time.
    pub subscriptions: usize,
    /// Directories that are watched at one time; what changes in others is seen later.
    pub watches: usize,
    /// How long `peer/message` may take, in milliseconds.
    pub courier_ms: usize,
}

/// Params of `authority/narrow`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NarrowParams {
    /// What to keep.
    #[serde(deserialize_with = "super::object")]
    pub authority: AuthorityRequest,
}

/// Result of `authority/narrow`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NarrowResult {
    /// What is left.
    pub authority: Authority,
}

/// Params of the notification `$/progress`, sent for requests that carried `_meta.progressToken`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressParams {
    /// The token as the request carried it.
    pub token: ProgressToken,
    /// How far the work is.
    pub value: ProgressValue,
}

/// What a client gave to tell the progress of its requests apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ProgressToken {
    /// A number.
    Number(i64),
    /// A string.
    String(String),
}

/// How far a request's work is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressValue {
    /// What is being done, for a person.
    pub message: String,
    /// Units done.
    pub done: u64,
    /// Units in all, as far as known now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// The one member that all params share.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct WithMeta {
    /// See [`RequestMeta`].
    #[serde(default, rename = "_meta", deserialize_with = "super::optional_object")]
    pub meta: Option<RequestMeta>,
}

/// The `_meta` member that every params object may carry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestMeta {
    /// Narrows the authority of this request alone.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub authority: Option<AuthorityRequest>,
    /// Asks for `$/progress` with this token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress_token: Option<ProgressToken>,
}

/// Params of `$/cancelRequest`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelParams {
    /// The request's id.
    pub id: RequestId,
}

/// Params of `$/cancel_request`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelRequestParams {
    /// The request's id.
    pub request_id: RequestId,
}

/// An id of a request, as JSON-RPC allows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RequestId {
    /// A number.
    Number(serde_json::Number),
    /// A string.
    String(String),
    /// `null`.
    Null,
}
