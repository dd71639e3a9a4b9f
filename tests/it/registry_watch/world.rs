//! A home with a store of each harness, live sessions and runtimes, in which things happen at random.

use crate::peer_list::Sleeper;
use crate::support::runtime::Runtime;
use crate::support::{Home, Project, stores, uuid};
use serde_json::{Value, json};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use tackroom::platform::process;

/// Numbers that look like chance, the same for the same seed.
pub struct Chance(Cell<u64>);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(Cell::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1))
    }

    pub fn below(&self, bound: usize) -> usize {
        let mut number = self.0.get();
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        self.0.set(number);
        (number >> 11) as usize % bound
    }

    pub fn pick<T: Clone>(&self, of: &[T]) -> Option<T> {
        (!of.is_empty()).then(|| of[self.below(of.len())].clone())
    }
}

/// What is in a home beside files.
pub struct World {
    pub path: PathBuf,
    pub chance: Chance,
    pub peers: Vec<Sleeper>,
    pub runtimes: Vec<Runtime>,
    clock: Cell<u32>,
}

/// Sessions of Claude Code that edits are about.
pub const SESSIONS: usize = 6;

impl World {
    /// A home where every store holds something, and its world.
    pub fn new(seed: u64) -> (Home, Self) {
        let home = Home::with_every_store();
        let path = home.path().to_owned();
        for workspace in ["a/sub", "b", "c"] {
            fs::create_dir_all(path.join("w").join(workspace)).unwrap();
        }
        let world = Self { path, chance: Chance::new(seed), peers: vec![], runtimes: vec![], clock: Cell::new(0) };
        for session in 0..SESSIONS {
            let (project, workspace) = (world.project(session % 2), world.workspace(session % 3));
            write_session(&project, session, &workspace, 60 * session as u32);
        }
        (home, world)
    }

    pub fn workspace(&self, number: usize) -> String {
        self.path.join("w").join(["a", "a/sub", "b", "c"][number % 4]).display().to_string()
    }

    /// A directory of Claude Code's store.
    pub fn project(&self, number: usize) -> PathBuf {
        self.path.join(".claude/projects").join(["-w-a", "-w-b"][number % 2])
    }

    pub fn receipts(&self) -> PathBuf {
        self.path.join(".config/supercode/live-runtimes")
    }

    /// A second that was not used before.
    pub fn tick(&self) -> u32 {
        self.clock.set(self.clock.get() + 1);
        1_000 + self.clock.get()
    }

    /// Every file of a store but those of databases.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let places =
            [".claude/projects", ".codex", ".gemini", ".pi", ".grok", ".openclaw", ".config/supercode/sessions"];
        places.iter().for_each(|place| collect(&self.path.join(place), &mut files));
        files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl" || ending == "json"));
        // Grok writes its two logs together; only one of them is looked at for changes.
        files.retain(|file| !file.ends_with("updates.jsonl"));
        files.sort();
        files
    }

    /// Makes a process a live session of Claude Code.
    pub fn record(&self, pid: u32, session: &str, workspace: &str, more: Value) {
        let mut record = json!({
            "pid": pid, "sessionId": session, "cwd": workspace, "name": format!("peer-{pid}"), "status": "idle",
            "startedAt": 1_796_000_000_000_i64, "procStart": process::start_mark(pid as i32),
            "pidDomain": process::own_pid_domain(), "kind": "interactive",
        });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let directory = self.path.join(".claude/sessions");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("{pid}.json")), record.to_string()).unwrap();
    }
}

/// Writes a session of one message anew.
pub fn write_session(project: &Path, session: usize, workspace: &str, second: u32) {
    fs::create_dir_all(project).unwrap();
    let first = super::message(&uuid(session), workspace, &format!("prompt {session}"), second);
    fs::write(project.join(format!("{}.jsonl", uuid(session))), format!("{first}\n")).unwrap();
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => collect(&entry.path(), files),
            false => files.push(entry.path()),
        }
    }
}

/// Puts back what was cut and removed of the stores that programs wrote.
pub fn restore(home: &Path) {
    for (fixture, place) in [stores::CODEX, stores::PI, stores::GEMINI].iter().copied().flatten() {
        stores::copy(&stores::fixtures(fixture), &home.join(place));
    }
}

/// A directory of the store, for tests that need no world.
pub fn demo(home: &Home) -> Project {
    home.project("-home-dev-demo", "/home/dev/demo")
}
