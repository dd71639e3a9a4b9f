//! Sessions of Claude Code that come, grow, move and go.

use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Sessions at most.
const SESSIONS: usize = 300;
const PROJECTS: u64 = 12;

pub struct Sessions {
    projects: PathBuf,
    files: Vec<PathBuf>,
    made: u64,
    random: u64,
}

impl Sessions {
    pub fn new(home: &Path) -> Self {
        let projects = home.join(".claude/projects");
        let mut sessions = Self { projects, files: Vec::new(), made: 0, random: 0x9e37_79b9_7f4a_7c15 };
        (0..PROJECTS).for_each(|number| fs::create_dir_all(sessions.project(number)).expect("a directory"));
        (0..50).for_each(|_| sessions.add());
        sessions
    }

    /// The id of the entry of some session.
    pub fn any(&mut self) -> String {
        let at = self.below(self.files.len() as u64) as usize;
        format!("claude-code:{}", self.files[at].file_stem().and_then(|stem| stem.to_str()).expect("a name"))
    }

    /// Changes one session, whichever way.
    pub fn change(&mut self) {
        let at = self.below(self.files.len() as u64) as usize;
        match self.below(20) {
            0 if self.files.len() < SESSIONS => self.add(),
            1 if self.files.len() > 20 => fs::remove_file(self.files.swap_remove(at)).expect("a file"),
            2 => {
                let number = self.below(PROJECTS);
                let moved = self.project(number).join(self.files[at].file_name().expect("a name"));
                fs::rename(&self.files[at], &moved).expect("a file");
                self.files[at] = moved;
            }
            // What is written anew has another history.
            3 => self.write(at, true),
            _ => self.write(at, false),
        }
    }

    fn add(&mut self) {
        self.made += 1;
        let number = self.below(PROJECTS);
        self.files.push(self.project(number).join(format!("00000000-0000-4000-8000-{:012}.jsonl", self.made)));
        self.write(self.files.len() - 1, true);
    }

    fn write(&mut self, at: usize, anew: bool) {
        let file = &self.files[at];
        let id = file.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let text = format!("Prompt {}", self.random);
        let line = json!({
            "type": "user", "uuid": format!("{:032x}", self.random), "parentUuid": null, "sessionId": id,
            "cwd": format!("/w/{}", self.random % PROJECTS), "timestamp": "2026-11-30T08:59:00.000Z",
            "message": { "role": "user", "content": text },
        });
        let mut options = OpenOptions::new();
        let file = options.create(true).write(true).append(!anew).truncate(anew).open(file);
        file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())).expect("a file");
        self.below(1);
    }

    fn project(&self, number: u64) -> PathBuf {
        self.projects.join(format!("-w-{number}"))
    }

    /// Some number below this one: the same ones in each run.
    fn below(&mut self, max: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % max
    }
}
