//! Why an agent cannot be hosted.

use std::io;
use std::time::Duration;

/// Why an agent did not come to be ready. Every message is for a person, and says what to do where something can be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no program to start.
    #[error("no command was given")]
    NoCommand,
    /// The program could not be started.
    #[error("{program} cannot be started: {source}")]
    Spawn {
        /// The program as it was named.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The workspace is no directory, or not absolute.
    #[error("the workspace {0} is not a directory with an absolute path")]
    Workspace(String),
    /// What it says is not the protocol, or not a version of it that is spoken here.
    #[error("the agent does not speak the Agent Client Protocol: {0}")]
    Protocol(String),
    /// It wants its user to log in first.
    #[error("the agent wants its user to log in first{}; {hint}", said(.methods))]
    AuthenticationNeeded {
        /// The names of the ways in which it can be done.
        methods: Vec<String>,
        /// What a person does.
        hint: String,
    },
    /// It did not answer in time.
    #[error("the agent did not answer {method} within {} s{}", .after.as_secs(), behind(.stderr))]
    Timeout {
        /// What it was asked.
        method: &'static str,
        /// How long it was waited for.
        after: Duration,
        /// The last that it wrote on its standard error, and on its output without it being a message.
        stderr: String,
    },
    /// It ended.
    #[error("the agent ended before it was ready ({how}){}", behind(.stderr))]
    Exited {
        /// Its exit code or signal.
        how: String,
        /// The last that it wrote on its standard error, and on its output without it being a message.
        stderr: String,
    },
    /// It refused.
    #[error("the agent refused {method}: {message}")]
    Refused {
        /// What it was asked.
        method: &'static str,
        /// Its words, shortened.
        message: String,
    },
    /// It cannot go on with a session.
    #[error("the agent can neither load nor resume a session; start it without one")]
    LoadUnsupported,
}

fn said(methods: &[String]) -> String {
    if methods.is_empty() { String::new() } else { format!(" ({})", methods.join(", ")) }
}

fn behind(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it last said: {stderr}") }
}
