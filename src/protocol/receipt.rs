use super::{Harness, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The opaque identifier of a receipt: `supercode-live://` and 32 lower-case hexadecimal digits. It contains no secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Endpoint(String);

/// A text that is not an endpoint.
#[derive(Debug, thiserror::Error)]
#[error("an endpoint is `supercode-live://` and 32 lower-case hexadecimal digits")]
pub struct MalformedEndpoint;

impl Endpoint {
    const SCHEME: &str = "supercode-live://";

    /// Returns the endpoint of a receipt, or `None` if `id` is not a receipt id.
    pub fn of_receipt(id: &str) -> Option<Self> {
        let is_id = id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_id.then(|| Self(format!("{}{id}", Self::SCHEME)))
    }

    /// Returns the id of the receipt: its file name without `.json`.
    pub fn receipt_id(&self) -> &str {
        &self.0[Self::SCHEME.len()..]
    }

    /// Returns the endpoint as sent on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for Endpoint {
    type Err = MalformedEndpoint;

    fn from_str(text: &str) -> Result<Self, MalformedEndpoint> {
        text.strip_prefix(Self::SCHEME).and_then(Self::of_receipt).ok_or(MalformedEndpoint)
    }
}

impl<'de> Deserialize<'de> for Endpoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A bearer token. It is never shown and never sent to a client.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Token(String);

impl Token {
    /// Wraps a token without validating it; the caller checks its format.
    pub fn new(token: String) -> Self {
        Self(token)
    }

    /// Returns the token itself, for the header that carries it and the file that stores it.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// A conversation that a runtime runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The harness that owns the session.
    pub harness: Harness,
    /// The session's id in its harness.
    pub session_id: String,
    /// The working directory, an absolute path.
    pub workspace: String,
}

/// A protocol of a runtime's endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EndpointCapability {
    /// The HTTP API that `runtime/attach` uses.
    Http,
    /// The Agent Client Protocol.
    Acp,
}

/// The program that a runtime runs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Supervisor {
    /// A named tmux session.
    Tmux {
        /// The name of the tmux session.
        session_name: String,
    },
}

/// Additional data of a receipt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeMetadata {
    /// The profile of the harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The path at which the conversation is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistence_location: Option<String>,
    /// The protocols of the endpoint. Absent in params: both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_capabilities: Option<Vec<EndpointCapability>>,
    /// The program that the runtime runs in.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub supervisor: Option<Supervisor>,
}

/// A published runtime, without its token. The runtime was not contacted for this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The receipt's identifier for `runtime/attach`, `runtime/forget` and `runtime/unregister`.
    pub endpoint: Endpoint,
    /// The runtime's id.
    pub runtime_id: String,
    /// The conversation that the runtime runs.
    pub source: Source,
    /// The id of the process that owns the runtime.
    pub pid: i32,
    /// When the runtime was published, in epoch milliseconds.
    pub created_at_ms: u64,
    /// Additional data.
    pub metadata: RuntimeMetadata,
    /// Whether the runtime answered when this server last contacted it. Absent if this server has not contacted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reachable: Option<bool>,
}

/// Result of `runtime/receipts`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptsResult {
    /// All valid receipts, newest first.
    pub receipts: Vec<Receipt>,
    /// The files that are not valid receipts, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Params of `runtime/discover`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscoverParams {
    /// The conversation.
    #[serde(deserialize_with = "super::object")]
    pub source: Source,
}

/// Result of `runtime/discover`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscoverResult {
    /// The newest runtime of the conversation that answers. Absent if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
}

/// Params of `runtime/register`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterParams {
    /// The runtime's id.
    pub runtime_id: String,
    /// The conversation that the runtime runs.
    #[serde(deserialize_with = "super::object")]
    pub source: Source,
    /// The URL at which the runtime listens: `http://127.0.0.1:PORT`.
    pub base_url: String,
    /// The bearer token that the runtime requires.
    pub token: Token,
    /// The id of the process that owns the runtime. Absent: this server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2147483647))]
    pub pid: Option<i64>,
    /// Additional data for the receipt.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub metadata: Option<RuntimeMetadata>,
}

/// Result of `runtime/register`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterResult {
    /// The endpoint of the new receipt. The receipt exists for as long as the client is connected.
    pub endpoint: Endpoint,
}

/// Params of `runtime/unregister`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnregisterParams {
    /// The endpoint of a receipt that this client registered.
    pub endpoint: String,
}

/// Params of `runtime/forget`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForgetParams {
    /// The endpoint of the receipt.
    pub endpoint: String,
    /// Remove the receipt even if its owner, which may be suspended, is running; otherwise the call fails with `busy`. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
}

/// Result of `runtime/forget`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForgetResult {
    /// Whether a receipt was removed. False if it did not exist.
    pub removed: bool,
}
