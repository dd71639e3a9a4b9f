use super::{Harness, UnknownWord, parse_word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that a client may be allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Permission {
    /// See sessions, runtimes and peers.
    Observe,
    /// Drive turns of a runtime.
    Interact,
    /// Answer approvals of a runtime.
    Approve,
    /// End runtimes.
    Terminate,
    /// Send a text into a live session.
    Message,
    /// Change settings.
    Configure,
    /// Publish or forget receipts.
    Register,
    /// Start what the spawner named.
    Start,
    /// Select the pane of a live session in its terminal multiplexer.
    Reveal,
}

impl Permission {
    /// Every permission, in the order in which a set of them is listed.
    pub const ALL: [Self; 9] = [
        Self::Observe,
        Self::Interact,
        Self::Approve,
        Self::Terminate,
        Self::Message,
        Self::Configure,
        Self::Register,
        Self::Start,
        Self::Reveal,
    ];

    /// The word that stands for this permission on the wire.
    pub fn id(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Interact => "interact",
            Self::Approve => "approve",
            Self::Terminate => "terminate",
            Self::Message => "message",
            Self::Configure => "configure",
            Self::Register => "register",
            Self::Start => "start",
            Self::Reveal => "reveal",
        }
    }
}

impl std::str::FromStr for Permission {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        parse_word("permission", word, &Self::ALL, Self::id)
    }
}

/// What a client may do, and to which entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Authority {
    /// What the client may do.
    pub permissions: Vec<Permission>,
    /// Directories, each with all below it. Absent: every workspace, and entries without a known one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspaces: Option<Vec<String>>,
    /// Harnesses. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harnesses: Option<Vec<Harness>>,
}

/// An authority that a client asks for. An absent member means "leave as it is"; nothing here can widen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorityRequest {
    /// Keep only these permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub permissions: Option<Vec<Permission>>,
    /// Keep only these directories, each with all below it. Absolute paths of at most 4096 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub workspaces: Option<Vec<String>>,
    /// Keep only these harnesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub harnesses: Option<Vec<Harness>>,
}
