//! What a runtime is to be.

use super::Step;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The token of every runtime of the tests, so that whatever comes out anywhere can be searched for it.
pub const SENTINEL_TOKEN: &str = "5e475e475e475e475e475e475e475e475e475e475e475e475e475e475e475e47";

/// Which of the two listeners it is; they differ in bodies, statuses, what they can do, and history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flavour {
    /// A runtime with an agent loop of its own.
    Main,
    /// A foreign harness, hosted.
    Hosted,
}

/// The conversation that it runs, as its receipt says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Source {
    pub harness: String,
    pub session_id: String,
    pub workspace: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Options {
    pub flavour: Flavour,
    pub runtime_id: String,
    pub source: Source,
    pub model: String,
    /// What the descriptor says; a main runtime that was not resumed says null.
    pub source_harness: Option<String>,
    pub lease_ttl_ms: u64,
    /// Time stands still but for [`super::Runtime::advance`].
    pub manual_clock: bool,
    /// How many events the replay ring holds.
    pub ring_size: usize,
    pub token: String,
    /// The owner that its receipt names; this process where absent.
    pub pid: Option<u32>,
    /// Listens on `[::1]`.
    pub ipv6: bool,
    /// Time between two comments of a stream.
    pub keep_alive_ms: u64,
    /// What was said before it started.
    pub history: Vec<Value>,
    /// What a prompt does, by how it begins; the first that fits counts.
    pub scripts: Vec<(String, Vec<Step>)>,
}

impl Options {
    /// A runtime with an agent loop of its own.
    pub fn main(runtime_id: &str, workspace: &str) -> Self {
        let source = Source {
            harness: "supercode".to_owned(),
            session_id: runtime_id.to_owned(),
            workspace: workspace.to_owned(),
        };
        Self {
            flavour: Flavour::Main,
            runtime_id: runtime_id.to_owned(),
            source,
            model: "fake-model".to_owned(),
            source_harness: None,
            lease_ttl_ms: 30_000,
            manual_clock: false,
            ring_size: 4096,
            token: SENTINEL_TOKEN.to_owned(),
            pid: None,
            ipv6: false,
            keep_alive_ms: 15_000,
            history: vec![json!({ "role": "system", "content": "You are an agent of the tests." })],
            scripts: vec![],
        }
    }

    /// A foreign harness, hosted.
    pub fn hosted(harness: &str, runtime_id: &str, workspace: &str) -> Self {
        let mut options = Self::main(runtime_id, workspace);
        options.flavour = Flavour::Hosted;
        options.source.harness = harness.to_owned();
        options.model = harness.to_owned();
        options.source_harness = Some(harness.to_owned());
        options.history = vec![];
        options
    }

    /// Adds a script for prompts that begin so.
    pub fn on(mut self, prompt: &str, steps: impl IntoIterator<Item = Step>) -> Self {
        self.scripts.push((prompt.to_owned(), steps.into_iter().collect()));
        self
    }
}
