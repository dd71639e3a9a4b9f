//! What may happen to stores, live sessions and runtimes.

use super::world::{SESSIONS, World, restore, write_session};
use super::{append, message};
use crate::peer_list::Sleeper;
use crate::support::runtime::{Options, Runtime};
use crate::support::uuid;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rusqlite::Connection;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

impl World {
    /// Does something; what it was.
    pub fn edit(&mut self) -> String {
        match self.chance.below(16) {
            0..=3 => self.edit_session(),
            4..=5 => self.edit_file(),
            6 => self.edit_database(),
            7 => self.edit_directory(),
            8 => self.edit_subagent(),
            9..=11 => self.edit_peer(),
            _ => self.edit_runtime(),
        }
    }

    fn edit_session(&mut self) -> String {
        let (session, second) = (self.chance.below(SESSIONS), self.tick());
        let (project, workspace) = (self.project(self.chance.below(2)), self.workspace(self.chance.below(4)));
        let file = project.join(format!("{}.jsonl", uuid(session)));
        let what = self.chance.below(7);
        match what {
            0 => write_session(&project, session, &workspace, second),
            1 => drop(fs::remove_file(&file)),
            // A message that is older than others, and a line that is none.
            2 if file.exists() => append(&file, &message(&uuid(session), &workspace, &format!("old {second}"), 1)),
            3 if file.exists() => append(&file, &json!({ "type": "progress", "n": second })),
            // Written anew with the same size, beside and then into place.
            4 if file.exists() => {
                let text = fs::read_to_string(&file).unwrap().replace("prompt", "pRompt");
                let aside = file.with_extension("tmp");
                fs::write(&aside, text).unwrap();
                fs::rename(aside, &file).unwrap();
            }
            5 if file.exists() => {
                let to = self.project(self.chance.below(2)).join(file.file_name().unwrap());
                fs::rename(&file, to).unwrap();
            }
            _ if file.exists() => {
                append(&file, &message(&uuid(session), &workspace, &format!("more {second}"), second));
            }
            _ => {}
        }
        format!("session {session}: {what} in {}", file.display())
    }

    /// Something to any file of any store.
    fn edit_file(&mut self) -> String {
        let Some(file) = self.chance.pick(&self.files()) else { return "no file".to_owned() };
        let what = self.chance.below(5);
        let text = fs::read(&file).unwrap();
        match what {
            0 => fs::remove_file(&file).unwrap(),
            1 => fs::write(&file, &text[..text.len() / 2]).unwrap(),
            2 => {
                let last = text.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap();
                fs::write(&file, [&text[..], last, b"\n"].concat()).unwrap();
            }
            3 => fs::write(&file, b"").unwrap(),
            _ => restore(&self.path),
        }
        format!("file {what}: {}", file.display())
    }

    fn edit_database(&mut self) -> String {
        let second = self.tick();
        let changes = [
            (
                ".local/share/goose/sessions/sessions.db",
                format!(
                    "update sessions set description = 'd{second}', updated_at = '2027-01-01 00:00:{:02}' where id = (select min(id) from sessions)",
                    second % 60
                ),
            ),
            (
                ".local/share/goose/sessions/sessions.db",
                "delete from sessions where id = (select max(id) from sessions)".to_owned(),
            ),
            (
                ".hermes/state.db",
                format!("update sessions set title = 't{second}' where id = (select min(id) from sessions)"),
            ),
            (
                ".local/share/opencode/opencode.db",
                format!(
                    "update session set title = 't{second}', time_updated = time_updated + 1000 where id = (select min(id) from session)"
                ),
            ),
            (".local/share/opencode/opencode-log.db", "pragma wal_checkpoint(truncate)".to_owned()),
        ];
        let (file, change) = self.chance.pick(&changes).unwrap();
        let path = self.path.join(file);
        if path.exists() {
            let database = Connection::open(path).unwrap();
            database.execute_batch(&format!("pragma foreign_keys = off; {change}")).unwrap();
        }
        format!("{file}: {change}")
    }

    /// A directory of the store, or the root itself, goes away, comes back, or is another one.
    fn edit_directory(&mut self) -> String {
        let root = self.path.join(".claude/projects");
        let pi = self.path.join(".pi/agent/sessions");
        let directories = [root.clone(), self.project(0), self.project(1), pi, self.path.join(".codex/sessions")];
        let directory = self.chance.pick(&directories).unwrap();
        let aside = PathBuf::from(format!("{}.aside", self.path.join(directory.file_name().unwrap()).display()));
        let what = self.chance.below(3);
        let is_link = fs::symlink_metadata(&directory).is_ok_and(|metadata| metadata.is_symlink());
        match (what, aside.exists(), directory.exists()) {
            // It goes.
            (0, false, true) if !is_link => fs::rename(&directory, &aside).unwrap(),
            // It is a link now.
            (1, false, true) if !is_link => {
                fs::rename(&directory, &aside).unwrap();
                symlink(&aside, &directory).unwrap();
            }
            // The link leads elsewhere: to nothing.
            (2, true, true) if is_link => {
                let link = directory.with_extension("link");
                symlink(self.path.join("w/c"), &link).unwrap();
                fs::rename(link, &directory).unwrap();
            }
            // It is back.
            (_, true, _) => {
                match is_link {
                    true => fs::remove_file(&directory).unwrap(),
                    false if directory.exists() => fs::remove_dir_all(&directory).unwrap(),
                    false => {}
                }
                if let Some(above) = directory.parent() {
                    fs::create_dir_all(above).unwrap();
                }
                fs::rename(&aside, &directory).unwrap();
            }
            _ => {}
        }
        format!("directory {what}: {}", directory.display())
    }

    fn edit_subagent(&mut self) -> String {
        let (session, second) = (self.chance.below(SESSIONS), self.tick());
        let project = self.project(self.chance.below(2));
        let directory = project.join(uuid(session)).join("subagents");
        let file = directory.join("agent-a1.jsonl");
        let workspace = self.workspace(self.chance.below(4));
        let mut line = message(&uuid(session), &workspace, &format!("child {second}"), second);
        line.as_object_mut()
            .unwrap()
            .extend([("isSidechain".to_owned(), json!(true)), ("agentId".to_owned(), json!("a1"))]);
        if file.exists() && self.chance.below(2) == 0 {
            fs::remove_dir_all(project.join(uuid(session))).unwrap();
        } else {
            fs::create_dir_all(&directory).unwrap();
            fs::write(&file, format!("{line}\n")).unwrap();
        }
        format!("subagent of {session} in {}", project.display())
    }

    fn edit_peer(&mut self) -> String {
        let session = uuid(self.chance.below(SESSIONS + 1));
        let workspace = self.workspace(self.chance.below(4));
        let known = self.peers.len();
        let what = self.chance.below(5);
        match what {
            0 | 1 if known < 4 => {
                let peer = Sleeper::start();
                self.record(peer.pid(), &session, &workspace, json!({}));
                self.peers.push(peer);
            }
            2 if known > 0 => {
                let status = self.chance.pick(&["idle", "busy", "waiting", "shell"]).unwrap();
                let pid = self.peers[self.chance.below(known)].pid();
                self.record(pid, &session, &workspace, json!({ "status": status, "updatedAt": self.tick() }));
            }
            3 if known > 0 => drop(self.peers.swap_remove(self.chance.below(known))),
            4 if known > 0 => {
                // Killed, and not waited for.
                let pid = self.peers[self.chance.below(known)].pid();
                kill(Pid::from_raw(pid as i32), Signal::SIGKILL).unwrap();
            }
            _ => {}
        }
        format!("peer {what} of {session}")
    }

    fn edit_runtime(&mut self) -> String {
        let known = self.runtimes.len();
        let what = self.chance.below(5);
        match what {
            0 | 1 if known < 4 => {
                // Of two with one id neither is listed; two may run one session.
                let id = self.chance.pick(&["run-1", "run-2", "run-3"]).unwrap();
                let mut options = Options::hosted("claude-code", id, &self.workspace(self.chance.below(4)));
                options.source.session_id = uuid(self.chance.below(SESSIONS + 1));
                let runtime = Runtime::start(options);
                runtime.publish(&self.receipts());
                self.runtimes.push(runtime);
            }
            2 | 3 if known > 0 => {
                let busy = self.chance.below(2) == 0;
                self.runtimes[self.chance.below(known)].set_busy(busy);
            }
            4 if known > 0 => drop(self.runtimes.swap_remove(self.chance.below(known))),
            _ => {}
        }
        format!("runtime {what}")
    }
}
