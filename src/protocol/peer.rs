use super::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The activity of a live session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ActivityStatus {
    /// A turn is in progress.
    Busy,
    /// No turn is in progress. A background shell does not count.
    Idle,
    /// Waiting for a person.
    Waiting,
}

/// The kind of a Claude Code session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PeerKind {
    /// Runs in a terminal or an editor, or headless.
    Interactive,
    /// Runs as a background job.
    Background,
}

/// A running Claude Code session, as recorded in Claude Code's process registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Peer {
    /// The process id.
    pub pid: i32,
    /// The id of the session that the process runs now.
    pub session_id: String,
    /// The name by which other sessions address this one.
    pub name: String,
    /// The Claude Code home whose registry lists the session.
    pub home: String,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The session's activity. Absent if it is not reported or the process is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ActivityStatus>,
    /// True while the process is stopped (SIGSTOP, Ctrl-Z). A stopped session does nothing, and no message reaches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<bool>,
    /// What the session is waiting for, as it describes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<String>,
    /// The kind of session. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PeerKind>,
    /// How the session was started: `cli`, `sdk-cli`, `claude-vscode`, and others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    /// When the session's record last changed, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at_ms: Option<i64>,
    /// The version of Claude Code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The tmux pane: `<session>:@<window>.%<pane>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tmux: Option<String>,
    /// The path of the messaging socket, as recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket_path: Option<String>,
    /// Whether a process listens on the socket. `peer/message` does not reach sessions in a home that the client named,
    /// even if this is true.
    pub addressable: bool,
    /// `cc-peer:v1:<pid>:<name>:<socket>`, derived from the other fields; it proves nothing. Absent without a socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

/// Result of `peer/list`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerListResult {
    /// The live sessions, sorted by name, then by process id.
    pub peers: Vec<Peer>,
    /// The sources that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Params of `peer/resolve`: exactly one of the fields.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerSelector {
    /// An entry id, `claude-code:<session id>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A session id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// A name. Case is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A peer endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

/// Result of `peer/resolve`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerResult {
    /// The live session, read again for this call.
    pub peer: Peer,
}

/// Params of `peer/message`: the text, and exactly one field that selects the recipient.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageParams {
    /// The recipient.
    #[serde(flatten)]
    pub to: PeerSelector,
    /// The text. It is delivered unchanged.
    pub text: String,
}

/// The outcome of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// The message is in the session's inbox and was not rejected within three seconds.
    Accepted,
    /// The session holds the message until a person approves it there. It may expire.
    Held,
    /// The session refuses messages. The message was not delivered.
    Refused,
}

/// Result of `peer/message`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageResult {
    /// The session, read again immediately before delivery.
    pub peer: Peer,
    /// The outcome.
    pub outcome: Outcome,
    /// The message's id in the session's transcript. Absent if Claude Code reported none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Claude Code's reason for holding or refusing the message. For an accepted message: why a later rejection could
    /// not have been received, for example because the courier exited early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}
