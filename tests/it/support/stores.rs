//! Homes that hold the stores that the real programs wrote: each where its program keeps it without being told.

use super::Home;
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};

/// A fixture, and the place in a home where its program looks.
pub type Placed = (&'static str, &'static str);

pub const CLAUDE_CODE: &[Placed] = &[("claude-code/projects", ".claude/projects")];
/// The newest generation, with older ones beside.
pub const CODEX: &[Placed] = &[
    ("codex/v0.171.0", ".codex"),
    ("codex/v0.20.0/sessions", ".codex/sessions"),
    ("codex/v0.45.0/sessions", ".codex/sessions"),
];
/// Directories by their hashes, without anything that names them.
pub const OLD_GEMINI: &[Placed] = &[("gemini/v0.20.0", ".gemini")];
pub const GEMINI: &[Placed] = &[("gemini/v0.61.0", ".gemini"), ("gemini/v0.61.0-resume-next-minute", ".gemini")];
/// One database in its file, one that is all in its log, and the files of before.
pub const OPENCODE: &[Placed] = &[
    ("opencode/v1.18.33-checkpointed", ".local/share/opencode"),
    ("opencode/v1.18.33-wal-only/opencode.db", ".local/share/opencode/opencode-log.db"),
    ("opencode/v1.18.33-wal-only/opencode.db-wal", ".local/share/opencode/opencode-log.db-wal"),
    ("opencode/v1.0.185", ".local/share/opencode"),
];
pub const GOOSE: &[Placed] = &[
    ("goose/xdg-data/goose/sessions", ".local/share/goose/sessions"),
    ("goose/legacy-jsonl/goose/sessions", ".local/share/goose/sessions"),
];
pub const PI: &[Placed] = &[("pi/v1.6.0/sessions", ".pi/agent/sessions")];
pub const GROK: &[Placed] = &[("grok/.grok", ".grok")];
pub const OPENCLAW: &[Placed] =
    &[("openclaw/v2026.9.6/.openclaw", ".openclaw"), ("openclaw/v2026.5.7/.openclaw", ".openclaw")];
pub const HERMES: &[Placed] = &[("hermes/.hermes", ".hermes")];
pub const SUPERCODE: &[Placed] = &[("supercode/.config/supercode", ".config/supercode")];
pub const ORCHESTRATOR: &[Placed] = &[("orchestrator/.supercode/orchestrator", ".supercode/orchestrator")];

const EVERY: &[&[Placed]] =
    &[CLAUDE_CODE, CODEX, GEMINI, OLD_GEMINI, OPENCODE, GOOSE, PI, GROK, OPENCLAW, HERMES, SUPERCODE, ORCHESTRATOR];

impl Home {
    /// A home that holds these stores.
    pub fn with(stores: &[&[Placed]]) -> Self {
        let home = Self::new();
        for (fixture, place) in stores.iter().copied().flatten() {
            copy(&fixtures(fixture), &home.path().join(place));
        }
        home.settle_orchestrator();
        home
    }

    /// A home that holds a store of each of the eleven harnesses, in all generations.
    pub fn with_every_store() -> Self {
        Self::with(EVERY)
    }

    /// Its databases name the directory that they lie in.
    fn settle_orchestrator(&self) {
        let root = self.path().join(".supercode/orchestrator");
        for profile in [root.clone(), root.join("profiles/coder")].into_iter().filter(|profile| profile.exists()) {
            let scope = profile.join("sessions").canonicalize().unwrap();
            let database = Connection::open(profile.join("state.db")).unwrap();
            database.execute("update gateway_routing set scope = ?1", [scope.to_str().unwrap()]).unwrap();
        }
    }
}

/// Where a fixture is.
pub fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Copies a file, or a directory into one that may be there.
pub fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}
