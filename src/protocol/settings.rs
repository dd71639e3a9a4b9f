use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

/// How a Claude Code session handles messages from other sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InboundPolicy {
    /// Messages are delivered.
    Accept,
    /// Messages are held until a person approves them.
    Hold,
    /// Messages are discarded.
    Refuse,
}

impl InboundPolicy {
    /// Every policy, the most permissive first.
    pub const ALL: [Self; 3] = [Self::Accept, Self::Hold, Self::Refuse];

    /// The value on the wire and in the file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Hold => "hold",
            Self::Refuse => "refuse",
        }
    }
}

impl std::str::FromStr for InboundPolicy {
    type Err = super::UnknownWord;

    fn from_str(word: &str) -> Result<Self, super::UnknownWord> {
        super::parse_word("policy", word, &Self::ALL, Self::word)
    }
}

/// The source of a setting, which determines how reliable it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SettingsEvidence {
    /// The user's settings file. Managed settings and the command line override it, and a project's settings can
    /// tighten it, so it does not prove how a session behaves.
    User,
}

/// Params of `settings/read`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsReadParams {
    /// One of the Claude Code homes that the server was started with. Absent: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
}

/// Params of `settings/update`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsUpdateParams {
    /// The new policy, or `null` to remove the setting. Required.
    #[serde(deserialize_with = "stated")]
    #[schemars(required, schema_with = "stated_schema")]
    pub cross_session_inbound: Option<InboundPolicy>,
    /// The revision that the file must have before the update. Absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<String>,
    /// One of the Claude Code homes that the server was started with. Absent: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
}

/// Deserializes a field that must be present, whether `null` or not.
fn stated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<InboundPolicy>, D::Error> {
    Option::deserialize(deserializer)
}

fn stated_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Option<InboundPolicy>>()
}

/// Result of `settings/read` and `settings/update`: the user's settings. Managed settings and the command line override
/// them, and a project's settings can tighten them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The path of the settings file, which may not exist.
    pub path: String,
    /// The BLAKE3 hash of the file's exact bytes, in hexadecimal. If there is no file: the hash of zero bytes.
    pub revision: String,
    /// The policy. Absent if none is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_session_inbound: Option<InboundPolicy>,
    /// Whether the user's settings deliver all messages without asking, that is, whether the policy is `accept`.
    pub user_allows_automatic_delivery: bool,
    /// The source of these values.
    pub evidence: SettingsEvidence,
}
