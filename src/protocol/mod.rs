//! The wire types, one file per method family, and the errors.
//!
//! Plain data, no I/O. These types are also the domain types: the lower modules produce them, `rpc` serializes them,
//! and `schema/` is generated from them. On input, `null` means absent and unknown fields are ignored. On output, a
//! field without a value is omitted.

mod authority;
mod entry;
pub mod error;
mod lifecycle;
mod nesting;
mod peer;
mod receipt;
mod registry;
mod runtime;
mod session;
mod settings;
mod terminal;
mod watch;

pub use authority::{Authority, AuthorityRequest, Permission};
pub use entry::*;
pub use error::{Reason, RpcError, presentable};
pub use lifecycle::*;
pub use nesting::nested_deeper;
pub use peer::*;
pub use receipt::*;
pub use registry::*;
pub use runtime::*;
pub use session::*;
pub use settings::*;
pub use terminal::*;
pub use watch::*;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

/// A harness: a coding-agent program, such as Claude Code, whose sessions Tackroom can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Harness {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex CLI.
    Codex,
    /// Google's Gemini CLI.
    Gemini,
    /// OpenCode.
    #[serde(rename = "opencode")]
    OpenCode,
    /// Block's Goose.
    Goose,
    /// The pi coding agent.
    Pi,
    /// xAI's Grok CLI.
    Grok,
    /// OpenClaw.
    #[serde(rename = "openclaw")]
    OpenClaw,
    /// Hermes.
    Hermes,
    /// Supercode.
    Supercode,
    /// The Supercode orchestrator.
    Orchestrator,
    /// Any other agent that speaks the Agent Client Protocol. It has no store, so its sessions are known only while
    /// `tackroom host` runs it. Receipts written by other programs do not use this value.
    Acp,
}

impl Harness {
    /// Every harness, in listing order.
    pub const ALL: [Self; 12] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::OpenCode,
        Self::Goose,
        Self::Pi,
        Self::Grok,
        Self::OpenClaw,
        Self::Hermes,
        Self::Supercode,
        Self::Orchestrator,
        Self::Acp,
    ];

    /// The value of this harness on the wire.
    pub fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Goose => "goose",
            Self::Pi => "pi",
            Self::Grok => "grok",
            Self::OpenClaw => "openclaw",
            Self::Hermes => "hermes",
            Self::Supercode => "supercode",
            Self::Orchestrator => "orchestrator",
            Self::Acp => "acp",
        }
    }

    /// The display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::OpenCode => "OpenCode",
            Self::Goose => "Goose",
            Self::Pi => "pi",
            Self::Grok => "Grok",
            Self::OpenClaw => "OpenClaw",
            Self::Hermes => "Hermes",
            Self::Supercode => "Supercode",
            Self::Orchestrator => "Supercode orchestrator",
            Self::Acp => "ACP agent",
        }
    }
}

impl std::fmt::Display for Harness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

/// A value that is not one of an enum's.
#[derive(Debug, thiserror::Error)]
#[error("unknown {kind} `{word}`; known: {known}")]
pub struct UnknownWord {
    kind: &'static str,
    word: String,
    known: String,
}

impl std::str::FromStr for Harness {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        parse_word("harness", word, &Self::ALL, Self::id)
    }
}

/// Finds the item of `all` whose id is `value`.
fn parse_word<T: Copy>(
    kind: &'static str,
    word: &str,
    all: &[T],
    id: impl Fn(T) -> &'static str,
) -> Result<T, UnknownWord> {
    all.iter().copied().find(|known| id(*known) == word).ok_or_else(|| UnknownWord {
        kind,
        word: word.chars().take(64).collect(),
        known: all.iter().map(|known| id(*known)).collect::<Vec<_>>().join(", "),
    })
}

/// Deserializes a field that must be an object. A derived `Deserialize` would also accept an array, field by field.
pub(crate) fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    if !raw.get().starts_with('{') {
        return Err(D::Error::custom("must be an object"));
    }
    serde_json::from_str(raw.get()).map_err(D::Error::custom)
}

/// Deserializes an object that may be absent or `null`.
fn optional_object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    if raw.get() == "null" { Ok(None) } else { object(&*raw).map(Some).map_err(D::Error::custom) }
}

/// Deserializes a list of objects.
fn objects<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let raw = Vec::<Box<RawValue>>::deserialize(deserializer)?;
    raw.iter().map(|raw| object(&**raw).map_err(D::Error::custom)).collect()
}

/// An object without fields.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}

/// A notification to send to the client.
#[derive(Debug)]
pub struct Notification {
    /// The method.
    pub method: &'static str,
    /// The params.
    pub params: Box<RawValue>,
    void: Option<CancellationToken>,
}

impl Notification {
    /// Returns a notification with these params. Fails only if they cannot be serialized as JSON.
    pub fn new(method: &'static str, params: &impl Serialize) -> serde_json::Result<Self> {
        Ok(Self { method, params: serde_json::value::to_raw_value(params)?, void: None })
    }

    /// Drops the notification if `void` is cancelled before it is sent.
    pub fn unless(self, void: &CancellationToken) -> Self {
        Self { void: Some(void.clone()), ..self }
    }

    /// Whether the notification is still to be sent.
    pub fn holds(&self) -> bool {
        self.void.as_ref().is_none_or(|void| !void.is_cancelled())
    }
}
