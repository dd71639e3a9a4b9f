use super::{Authority, AuthorityRequest, Harness};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The protocol version of this server.
pub const PROTOCOL_VERSION: i64 = 1;

/// Params of `initialize`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// The protocol version of the client. The server answers 1 whatever the value; the client decides whether to
    /// continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<i64>,
    /// Information about the client.
    #[serde(deserialize_with = "super::object")]
    pub client_info: ClientInfo,
    /// The client's process id. The server exits when that process has exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2147483647))]
    pub process_id: Option<i64>,
    /// Narrows the maximum authority set on the command line.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub authority: Option<AuthorityRequest>,
    /// Additional store roots, by harness. Ignored unless the server was started with `--allow-homes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homes: Option<BTreeMap<Harness, Vec<String>>>,
    /// Reserved. The server ignores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<serde_json::Value>,
}

/// Information about the client.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientInfo {
    /// The client's short name.
    pub name: String,
    /// The client's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Result of `initialize`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// The protocol version of the server: 1.
    pub protocol_version: i64,
    /// Information about the server.
    pub server_info: ServerInfo,
    /// The server's capabilities beyond its methods.
    pub capabilities: ServerCapabilities,
    /// A random id of this server process. Revisions from one instance are not valid in another.
    pub instance_id: String,
    /// The granted authority.
    pub authority: Authority,
    /// Every request method of the server. The OpenRPC document lists the permissions that each requires.
    pub methods: Vec<String>,
    /// Every notification that the server can send.
    pub notifications: Vec<String>,
    /// The harnesses in scope and their store roots.
    pub harnesses: Vec<HarnessInfo>,
    /// The limits that a client can reach.
    pub limits: Limits,
}

/// Information about the server.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    /// `tackroom`.
    pub name: String,
    /// The server's version.
    pub version: String,
}

/// The server's capabilities beyond its methods.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerCapabilities {
    /// The names of the agents that `runtime/start` can start for this client. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<String>>,
}

/// A harness and the roots of its stores.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HarnessInfo {
    /// The harness.
    pub id: Harness,
    /// The display name.
    pub name: String,
    /// The directories that are searched for sessions, whether they exist or not.
    pub roots: Vec<String>,
}

/// The limits that a client can reach. `--limit NAME=VALUE` lowers each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Maximum size of a frame that the server reads, in bytes.
    pub frame_bytes: usize,
    /// Maximum `limit` of a page.
    pub page_max: usize,
    /// Maximum number of requests that are running or have unread responses; the next one fails with `busy`.
    pub requests_in_flight: usize,
    /// Maximum number of messages in a batch; a larger batch gets a single `limit` error.
    pub batch_max: usize,
    /// Maximum size of the text of `peer/message`, in bytes.
    pub message_bytes: usize,
    /// Maximum number of concurrent attachments to runtimes.
    pub attachments: usize,
    /// Maximum number of concurrent subscriptions of `registry/watch`.
    pub subscriptions: usize,
    /// Maximum number of directories watched at a time; changes in other directories are noticed later.
    pub watches: usize,
    /// Maximum duration of `peer/message`, in milliseconds.
    pub courier_ms: usize,
}

/// Params of `authority/narrow`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NarrowParams {
    /// The authority to keep.
    #[serde(deserialize_with = "super::object")]
    pub authority: AuthorityRequest,
}

/// Result of `authority/narrow`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NarrowResult {
    /// The remaining authority.
    pub authority: Authority,
}

/// Params of the notification `$/progress`, which reports on requests with `_meta.progressToken`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressParams {
    /// The token from the request.
    pub token: ProgressToken,
    /// The progress so far.
    pub value: ProgressValue,
}

/// A token, chosen by the client, that identifies the request in `$/progress`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ProgressToken {
    /// A number.
    Number(i64),
    /// A string.
    String(String),
}

/// The progress of a request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressValue {
    /// The current step, for people.
    pub message: String,
    /// The units completed so far.
    pub done: u64,
    /// The total number of units. Absent if unknown; it can change while the request runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// The field that all params share.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct WithMeta {
    /// See [`RequestMeta`].
    #[serde(default, rename = "_meta", deserialize_with = "super::optional_object")]
    pub meta: Option<RequestMeta>,
}

/// The `_meta` field, which every params object may have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestMeta {
    /// Narrows the authority for this request only.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub authority: Option<AuthorityRequest>,
    /// Requests `$/progress` notifications with this token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress_token: Option<ProgressToken>,
}

/// Params of `$/cancelRequest`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelParams {
    /// The id of the request to cancel.
    pub id: RequestId,
}

/// Params of `$/cancel_request`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelRequestParams {
    /// The id of the request to cancel.
    pub request_id: RequestId,
}

/// A JSON-RPC request id.
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
