use super::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a live session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ActivityStatus {
    /// A turn runs.
    Busy,
    /// Nothing runs; a background shell counts as nothing.
    Idle,
    /// A person is waited for.
    Waiting,
}

/// How a Claude Code session runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PeerKind {
    /// In a terminal, an editor, or headless.
    Interactive,
    /// As a background job.
    Background,
}

/// A running Claude Code session, as its own process registry tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Peer {
    /// The process.
    pub pid: i32,
    /// The session that it runs now.
    pub session_id: String,
    /// The name by which other sessions address it.
    pub name: String,
    /// The Claude Code home whose registry holds it.
    pub home: String,
    /// Its working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What it is doing; absent when it does not say, or is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ActivityStatus>,
    /// True while its process is stopped (SIGSTOP, Ctrl-Z): it does nothing, and no message reaches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<bool>,
    /// What it waits for, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<String>,
    /// How it runs; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PeerKind>,
    /// What started it: `cli`, `sdk-cli`, `claude-vscode`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    /// When its record last changed, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at_ms: Option<i64>,
    /// Its program's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where it is in tmux: `<session>:@<window>.%<pane>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tmux: Option<String>,
    /// Its messaging socket, as the record names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket_path: Option<String>,
    /// Whether somebody listens at its socket. In a home that the client named it takes no messages from here all the
    /// same.
    pub addressable: bool,
    /// `cc-peer:v1:<pid>:<name>:<socket>`, a projection and never an authority. Absent without a socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

/// Result of `peer/list`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerListResult {
    /// Live sessions, by name and then pid.
    pub peers: Vec<Peer>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Params of `peer/resolve`: exactly one member.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerSelector {
    /// An entry id, `claude-code:<session id>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A session id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// A name, in any case.
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

/// Params of `peer/message`: who is meant, by exactly one member, and what is said.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageParams {
    /// The session.
    #[serde(flatten)]
    pub to: PeerSelector,
    /// The text, which arrives as it is.
    pub text: String,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It is in the session's inbox, and nothing was said against it within three seconds.
    Accepted,
    /// The session keeps it back until a person there lets it through; it may expire.
    Held,
    /// The session takes no messages: it was not delivered.
    Refused,
}

/// Result of `peer/message`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageResult {
    /// The session, read again right before the message went out.
    pub peer: Peer,
    /// What became of the message.
    pub outcome: Outcome,
    /// The message's id in the session's transcript, where Claude Code gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// What Claude Code said against it, or why an accepted message may be held or refused all the same: nobody could hear
    /// of it, or the courier ended too early to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}
