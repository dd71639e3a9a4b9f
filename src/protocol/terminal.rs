use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The terminal in which a live session runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Terminal {
    /// The process id.
    pub pid: i32,
    /// The device of its controlling terminal. Absent if it has none, or none that can be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tty: Option<String>,
    /// The terminal multiplexer that displays it. Absent if Tackroom recognises none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiplexer: Option<Multiplexer>,
    /// Whether the multiplexer has a client attached to that session. False without a multiplexer.
    pub attached: bool,
}

/// A position in a terminal multiplexer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Multiplexer {
    /// The program.
    pub kind: MultiplexerKind,
    /// The pane or window, in the program's own notation: `main:2.1` in tmux, `4211.main:2` in GNU screen.
    pub target: String,
    /// The command that shows it in another terminal: program and arguments.
    pub argv: Vec<String>,
    /// Whether it is the active pane of a client whose terminal has the keyboard focus. Absent where the multiplexer
    /// does not report that; tmux reports it with its option `focus-events`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focused: Option<bool>,
}

/// A terminal multiplexer that Tackroom can control. Others (Zellij, WezTerm, kitty) are not recognised yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MultiplexerKind {
    /// tmux.
    Tmux,
    /// GNU screen.
    Screen,
}

/// Params of `terminal/reveal`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevealParams {
    /// The id of a live entry.
    pub id: String,
    /// The device of the user's terminal. If it is a client's terminal in the same multiplexer, or a pane in it, that
    /// client is switched to the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_tty: Option<String>,
}

/// Result of `terminal/reveal`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevealResult {
    /// Whether a terminal displays the session now. False if the pane was selected but no client is attached to the
    /// multiplexer: run the command in `terminal.multiplexer.argv`.
    pub revealed: bool,
    /// The terminal.
    pub terminal: Terminal,
}
