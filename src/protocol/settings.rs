use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

/// What a Claude Code session does with a message of another session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InboundPolicy {
    /// It is delivered.
    Accept,
    /// It waits for a person.
    Hold,
    /// It is thrown away.
    Refuse,
}

impl InboundPolicy {
    /// Every policy, the most open one first.
    pub const ALL: [Self; 3] = [Self::Accept, Self::Hold, Self::Refuse];

    /// The word that stands for it, on the wire and in the file.
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

/// How far a setting can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SettingsEvidence {
    /// It is what the user's own file says. Managed settings and the command line override it, a project's settings can
    /// tighten it: it does not prove what a session does.
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
    /// The policy from now on; `null` takes the setting out. Required.
    #[serde(deserialize_with = "stated")]
    #[schemars(required, schema_with = "stated_schema")]
    pub cross_session_inbound: Option<InboundPolicy>,
    /// The revision that the file must have. Absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<String>,
    /// One of the Claude Code homes that the server was started with. Absent: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
}

/// Reads a member that must be there, `null` or not.
fn stated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<InboundPolicy>, D::Error> {
    Option::deserialize(deserializer)
}

fn stated_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Option<InboundPolicy>>()
}

/// Result of `settings/read` and `settings/update`: what the user's own settings say. Managed settings and the command
/// line override it, a project's settings can tighten it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The file, which need not be there.
    pub path: String,
    /// The BLAKE3 of its exact bytes, in hex; of none where there is no file.
    pub revision: String,
    /// The policy; absent where none is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_session_inbound: Option<InboundPolicy>,
    /// Whether the user's own settings let every message in without asking: the policy is `accept`.
    pub user_allows_automatic_delivery: bool,
    /// How far this can be relied on.
    pub evidence: SettingsEvidence,
}
