//! What crosses the wire: one file per method family, and the errors.
//!
//! Plain data, no I/O. These types are the domain's own: the rooms below produce them, `rpc` writes them, and
//! `schema/` is generated from them. On input `null` is taken as absent and unknown members are ignored; on output a
//! member without a value is left out.

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

/// A coding-agent program whose sessions Tackroom knows.
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
    /// An agent that is none of these and speaks the Agent Client Protocol. It is known only while `tackroom host` runs
    /// it: it has no store. Receipts of other programs do not know this word.
    Acp,
}

impl Harness {
    /// Every harness, in the order in which they are listed.
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

    /// The word that stands for this harness on the wire.
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

    /// The name that a person reads.
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

/// A word outside a closed list.
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

/// Finds `word` in a closed list.
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

/// Reads a member that is an object. What is derived would take an array for one, member by member.
pub(crate) fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    if !raw.get().starts_with('{') {
        return Err(D::Error::custom("must be an object"));
    }
    serde_json::from_str(raw.get()).map_err(D::Error::custom)
}

/// The same of a member that may be absent or `null`.
fn optional_object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    if raw.get() == "null" { Ok(None) } else { object(&*raw).map(Some).map_err(D::Error::custom) }
}

/// The same of each element of a list.
fn objects<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let raw = Vec::<Box<RawValue>>::deserialize(deserializer)?;
    raw.iter().map(|raw| object(&**raw).map_err(D::Error::custom)).collect()
}

/// Params or a result with nothing in it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}

/// A notification on its way to the client.
#[derive(Debug)]
pub struct Notification {
    /// Its method.
    pub method: &'static str,
    /// Its params.
    pub params: Box<RawValue>,
    void: Option<CancellationToken>,
}

impl Notification {
    /// A notification with these params. Fails only where they cannot be written as JSON.
    pub fn new(method: &'static str, params: &impl Serialize) -> serde_json::Result<Self> {
        Ok(Self { method, params: serde_json::value::to_raw_value(params)?, void: None })
    }

    /// The same, which is not to be sent any more once this is cancelled.
    pub fn unless(self, void: &CancellationToken) -> Self {
        Self { void: Some(void.clone()), ..self }
    }

    /// Whether it is still to be sent.
    pub fn holds(&self) -> bool {
        self.void.as_ref().is_none_or(|void| !void.is_cancelled())
    }
}
