use super::{Harness, UnknownWord, parse_word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A permission that a client can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Permission {
    /// See sessions, runtimes and peers.
    Observe,
    /// Take control of runtimes and run turns in them.
    Interact,
    /// Answer approval requests of runtimes.
    Approve,
    /// End runtimes.
    Terminate,
    /// Send messages to live sessions.
    Message,
    /// Change settings.
    Configure,
    /// Publish and remove receipts.
    Register,
    /// Start the agents that the server's command line names.
    Start,
    /// Select the pane of a live session in its terminal multiplexer.
    Reveal,
}

impl Permission {
    /// Every permission, in listing order.
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

    /// The value of this permission on the wire.
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

/// The permissions of a client and the entries that they apply to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Authority {
    /// The permissions.
    pub permissions: Vec<Permission>,
    /// Directories in scope, each including all subdirectories. Absent: every workspace, and entries without a known
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspaces: Option<Vec<String>>,
    /// Harnesses in scope. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harnesses: Option<Vec<Harness>>,
}

/// A request to narrow a client's authority. An absent field leaves that part unchanged; no field can widen it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorityRequest {
    /// Keep only these permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub permissions: Option<Vec<Permission>>,
    /// Keep only these directories, each including all subdirectories. Absolute paths of at most 4096 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub workspaces: Option<Vec<String>>,
    /// Keep only these harnesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub harnesses: Option<Vec<Harness>>,
}
