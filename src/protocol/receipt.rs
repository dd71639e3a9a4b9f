use super::{Harness, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The opaque name of a receipt, `supercode-live://` and 32 lower-case hexadecimal digits. It holds no secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Endpoint(String);

/// A text that is no endpoint.
#[derive(Debug, thiserror::Error)]
#[error("an endpoint is `supercode-live://` and 32 lower-case hexadecimal digits")]
pub struct MalformedEndpoint;

impl Endpoint {
    const SCHEME: &str = "supercode-live://";

    /// The endpoint of a receipt; `None` where this is no id of one.
    pub fn of_receipt(id: &str) -> Option<Self> {
        let is_id = id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_id.then(|| Self(format!("{}{id}", Self::SCHEME)))
    }

    /// The id of its receipt: what its file is called, without `.json`.
    pub fn receipt_id(&self) -> &str {
        &self.0[Self::SCHEME.len()..]
    }

    /// The endpoint as it crosses the wire.
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

/// A bearer token: never shown, never sent to a client.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Token(String);

impl Token {
    /// A token. What it may look like is for its user to check.
    pub fn new(token: String) -> Self {
        Self(token)
    }

    /// The token itself, for the one header that carries it and the one file that keeps it.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// The conversation that a runtime runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The program that owns the session.
    pub harness: Harness,
    /// The harness's own id of the session.
    pub session_id: String,
    /// The directory that it works in: an absolute path.
    pub workspace: String,
}

/// What a runtime's endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EndpointCapability {
    /// The HTTP API that `runtime/attach` uses.
    Http,
    /// The Agent Client Protocol.
    Acp,
}

/// What a runtime runs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Supervisor {
    /// A named session of tmux.
    Tmux {
        /// Its name.
        session_name: String,
    },
}

/// What a receipt says besides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeMetadata {
    /// The profile of its program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Where the conversation is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistence_location: Option<String>,
    /// What the endpoint speaks. Absent on input: both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_capabilities: Option<Vec<EndpointCapability>>,
    /// What the runtime runs in.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub supervisor: Option<Supervisor>,
}

/// A published runtime, without its secret and without having been asked whether it answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// Its name for `runtime/attach`, `runtime/forget` and `runtime/unregister`.
    pub endpoint: Endpoint,
    /// The runtime's own id.
    pub runtime_id: String,
    /// The conversation that it runs.
    pub source: Source,
    /// The process that owns it.
    pub pid: i32,
    /// When it was published, in epoch milliseconds.
    pub created_at_ms: u64,
    /// What it says besides.
    pub metadata: RuntimeMetadata,
    /// Whether it answered when it was last asked; absent where this server has not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reachable: Option<bool>,
}

/// Result of `runtime/receipts`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptsResult {
    /// Every receipt that counts, the newest first.
    pub receipts: Vec<Receipt>,
    /// Files that are no receipts that count, and why.
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
    /// The newest runtime of the conversation that answers; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
}

/// Params of `runtime/register`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterParams {
    /// The runtime's own id.
    pub runtime_id: String,
    /// The conversation that it runs.
    #[serde(deserialize_with = "super::object")]
    pub source: Source,
    /// `http://127.0.0.1:PORT`: where it listens.
    pub base_url: String,
    /// What it wants to be shown.
    pub token: Token,
    /// The process that owns it; absent: this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2147483647))]
    pub pid: Option<i64>,
    /// What the receipt says besides.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub metadata: Option<RuntimeMetadata>,
}

/// Result of `runtime/register`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterResult {
    /// The receipt's name. The receipt is there for as long as the client is.
    pub endpoint: Endpoint,
}

/// Params of `runtime/unregister`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnregisterParams {
    /// A receipt that this client registered.
    pub endpoint: String,
}

/// Params of `runtime/forget`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForgetParams {
    /// The receipt.
    pub endpoint: String,
    /// Remove it even if its owner lives and answers. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
}

/// Result of `runtime/forget`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForgetResult {
    /// Whether there was such a receipt.
    pub removed: bool,
}
