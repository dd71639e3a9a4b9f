//! Servers of terminal multiplexers for one test each, with a live Claude Code session in a pane.

use super::{DEADLINE, Home, Pty};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Instant;
use tackroom::platform::process;

/// A tmux server. It exits with the test.
pub struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// A server with this socket in a home. `None` if tmux is not installed.
    pub fn new(home: &Home, socket: &str) -> Option<Self> {
        let missing = Command::new("tmux").arg("-V").output().is_err();
        if missing {
            eprintln!("tmux is not installed, so panes are not tested");
            return None;
        }
        Some(Self { socket: home.path().join(socket) })
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").arg("-f").arg("/dev/null").arg("-S").arg(&self.socket).args(words);
        command
    }

    /// What the server answers to a command that must succeed.
    #[track_caller]
    pub fn run(&self, words: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(words).output().unwrap();
        assert!(status.success(), "{words:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap().trim_end().to_owned()
    }

    /// Attaches a client in a terminal of its own, and waits until the server knows it.
    pub fn attach(&self, session: &str) -> (Pty, String) {
        let known = self.run(&["list-clients", "-F", "#{client_tty}"]);
        let pty = Pty::start(self.command(&["attach-session", "-t", session]), 24, 80);
        let tty = wait_for("a client", || {
            let now = self.run(&["list-clients", "-F", "#{client_tty}"]);
            now.lines().find(|tty| !known.lines().any(|other| other == *tty)).map(str::to_owned)
        });
        (pty, tty)
    }

    /// The pane that a client shows.
    pub fn shown_by(&self, tty: &str) -> String {
        let clients = self.run(&["list-clients", "-F", "#{client_tty} #{session_name}:#{window_index}.#{pane_index}"]);
        let shown = clients.lines().find_map(|line| line.strip_prefix(tty)).unwrap_or_default();
        shown.trim().to_owned()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).output();
    }
}

/// The command of a shell that starts a process in its terminal, and the file that it writes the pid to.
pub fn shell(home: &Home, name: &str) -> (String, PathBuf) {
    let file = home.path().join(format!("{name}.pid"));
    let command = format!("sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait", file.display());
    (command, file)
}

/// Makes the process of [`shell`] a live Claude Code session of this name. Returns its pid.
pub fn live(home: &Home, name: &str, session: &str, file: &std::path::Path) -> i32 {
    let pid: i32 = wait_for("a pid", || fs::read_to_string(file).ok()?.trim().parse().ok());
    let record = json!({
        "pid": pid, "sessionId": session, "cwd": "/p", "name": name, "status": "waiting",
        "procStart": process::start_mark(pid), "pidDomain": process::own_pid_domain(),
    });
    let directory = home.claude().join("sessions");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(format!("{pid}.json")), record.to_string()).unwrap();
    pid
}

/// Asks until there is an answer.
#[track_caller]
pub fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begin.elapsed() < DEADLINE, "{what} did not come");
        std::thread::yield_now();
    }
}
