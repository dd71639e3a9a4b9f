//! A home of its own for each server: never the developer's.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A user's home, empty at first, that everybody can read, also a server of another user.
pub struct Home(TempDir);

/// A directory of Claude Code's store, and the workspace that its sessions work in.
pub struct Project {
    directory: PathBuf,
    workspace: String,
}

impl Home {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("tackroom-test-").tempdir().expect("a temporary directory");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(dir.path(), open).expect("its mode");
        Self(dir)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Claude Code's home in it.
    pub fn claude(&self) -> PathBuf {
        self.path().join(".claude")
    }

    /// Makes a directory of Claude Code's store for sessions in `workspace`.
    pub fn project(&self, name: &str, workspace: &str) -> Project {
        let directory = self.claude().join("projects").join(name);
        fs::create_dir_all(&directory).expect("a directory");
        Project { directory, workspace: workspace.to_owned() }
    }

    /// Makes this very process a live Claude Code session.
    pub fn peer(&self, name: &str, session: &str, workspace: &str) -> PathBuf {
        use tackroom::platform::process;
        let pid = std::process::id();
        let record = json!({
            "pid": pid, "sessionId": session, "cwd": workspace, "name": name, "status": "idle",
            "procStart": process::start_mark(pid as i32), "pidDomain": process::own_pid_domain(),
        });
        let directory = self.claude().join("sessions");
        fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join(format!("{pid}.json"));
        fs::write(&path, record.to_string()).expect("a record");
        path
    }
}

impl Project {
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Where a session's file is.
    pub fn file(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.jsonl"))
    }

    /// Writes a session of one prompt and one answer; the `second` orders it among others.
    pub fn session(&self, id: &str, prompt: &str, second: u32) -> PathBuf {
        let time = |seconds: u32| {
            format!("2026-01-02T{:02}:{:02}:{:02}.000Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
        };
        let row = |kind: &str, seconds, message: Value| {
            json!({ "type": kind, "uuid": format!("{id}-{kind}"), "sessionId": id, "cwd": self.workspace,
                "timestamp": time(seconds), "message": message })
        };
        let user = row("user", second, json!({ "role": "user", "content": prompt }));
        let answer = json!({ "id": "m", "role": "assistant", "model": "test-model", "content": [{ "type": "text", "text": "Done." }] });
        let file = self.file(id);
        fs::write(&file, format!("{user}\n{}\n", row("assistant", second + 1, answer))).expect("a session");
        file
    }

    /// Writes `count` sessions; their titles make each entry of a list long.
    pub fn many(&self, count: usize) {
        for number in 0..count {
            self.session(&uuid(number), &format!("{number} {}", "long title ".repeat(20)), number as u32 % 80_000);
        }
    }
}

/// A session id that has a number in it.
pub fn uuid(number: usize) -> String {
    format!("00000000-0000-4000-9000-{number:012}")
}
