//! How a courier is started, and how it is told from other sessions.

use super::{Delivery, Error, redact};
use crate::enclosing::OF_A_SESSION;
use crate::limits;
use crate::platform::private;
use crate::protocol::Peer;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::DirEntry;
use std::io;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::process::Command;

/// How the names of couriers begin, and those of their directories: until a courier has taken its name, Claude Code
/// calls it by its directory's.
const MARK: &str = "tackroom-courier-";
/// What Claude Code notes of a session that a program has started.
const HEADLESS: &str = "sdk-cli";
/// The only tools that a courier has.
const TOOLS: &str = "ListAgents,SendMessage";
/// The directory of Claude Code's sockets below the one that is told by `XDG_RUNTIME_DIR`.
const SOCKETS: &str = "cc-socks";

/// Variables that a courier is not told besides those of any session: of a terminal that is not its own, and what would
/// have it read no customization, open no socket, or look for its session in another place than it is.
const NOT_FOR_COURIERS: [&str; 4] = ["TMUX", "TMUX_PANE", "CLAUDE_CODE_SIMPLE", "CLAUDE_CONFIG_DIR"];
/// What variables of a session have in their names that begin with `CLAUDE_CODE_`, also of versions that are still to
/// come. What a user sets for the program to reach its API (`CLAUDE_CODE_OAUTH_TOKEN`, `CLAUDE_CODE_USE_BEDROCK`, ...)
/// has none of it; what else may be lost with it means nothing to a courier.
const OF_A_SESSION_PARTS: [&str; 9] =
    ["SESSION", "CHILD", "PARENT", "ENTRYPOINT", "EXECPATH", "MESSAGING", "SSE_PORT", "TMUX", "AGENT"];
/// Variables whose values are no secrets, and stand in what every program says.
const PUBLIC: [&str; 10] =
    ["HOME", "PATH", "PWD", "OLDPWD", "SHELL", "TMPDIR", "USER", "LOGNAME", "TERM", "CLAUDE_CONFIG_DIR"];

/// Whether a session of this name, directory and origin is a courier, of this server or another.
pub(crate) fn is_courier(name: Option<&str>, cwd: Option<&str>, entrypoint: Option<&str>) -> bool {
    let directory = cwd.and_then(|cwd| Path::new(cwd).file_name()).and_then(OsStr::to_str);
    entrypoint == Some(HEADLESS) && [name, directory].into_iter().flatten().any(|name| name.starts_with(MARK))
}

/// What is started as a courier.
#[derive(Clone)]
pub struct Program {
    program: OsString,
    model: String,
    environment: Vec<(OsString, OsString)>,
    /// What is taken out of all that it says.
    secrets: Vec<String>,
}

impl fmt::Debug for Program {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment holds secrets.
        to.debug_struct("Program").field("program", &self.program).field("model", &self.model).finish_non_exhaustive()
    }
}

impl Program {
    /// A program, which may be looked up in the `PATH` of `environment`, its model, and the environment that is passed
    /// on: all but what belongs to a session.
    pub fn new(program: OsString, model: String, environment: impl Iterator<Item = (OsString, OsString)>) -> Self {
        let environment: Vec<_> = environment.filter(|(name, _)| !is_kept_back(name)).collect();
        let secret = environment.iter().filter(|(name, _)| !PUBLIC.iter().any(|public| name == public));
        let secrets = redact::secrets_of(secret.filter_map(|(_, value)| value.to_str()));
        Self { program, model, environment, secrets }
    }

    pub(super) fn command(&self, directory: &Directory, peer: &Peer) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["-p", "--model", &self.model, "--tools", TOOLS, "--allowedTools", TOOLS, "--safe-mode"])
            .args(["--no-session-persistence", "--input-format", "stream-json", "--output-format", "stream-json"])
            .args(["--verbose", "--name", directory.name()])
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            // Else a text that has `@/some/file` in it makes the program read that file.
            .env("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1")
            .current_dir(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if !self.finds(&peer.home) {
            command.env("CLAUDE_CONFIG_DIR", &peer.home);
        }
        // A session says only to sockets beside its own that it holds or refuses a message.
        if let Some(runtime) = peer.socket_path.as_deref().and_then(runtime_directory) {
            command.env("XDG_RUNTIME_DIR", runtime);
        }
        command
    }

    /// Whether the program looks there without being told. Told all the same, it would begin a second `.claude.json`,
    /// inside that directory.
    fn finds(&self, home: &str) -> bool {
        let user = self.environment.iter().find(|(name, _)| name == "HOME").map(|(_, value)| Path::new(value));
        user.is_some_and(|user| user.join(".claude") == Path::new(home))
    }

    /// What a person is told of a program that could not be started.
    pub(super) fn why_not_started(&self, error: &io::Error) -> String {
        let program = Path::new(&self.program).display();
        self.clean(&format!("`{program}` cannot be started: {error}; `--courier-program` names another program"))
    }

    /// What a person is told of a courier for which no directory could be made.
    pub(super) fn why_no_directory(&self, error: &io::Error) -> String {
        self.clean(&format!("no directory can be made for it: {error}"))
    }

    /// A verdict as it may be told: what the program said is bounded, one line, and without secrets.
    pub(super) fn presentable(&self, verdict: Result<Delivery, Error>) -> Result<Delivery, Error> {
        match verdict {
            Ok(Delivery { outcome, message_id, detail }) => Ok(Delivery {
                outcome,
                message_id: message_id.filter(|id| is_id(id) && self.clean(id) == *id),
                detail: detail.map(|detail| self.clean(&detail)),
            }),
            Err(Error::Failed { cause, why }) => Err(Error::Failed { cause, why: self.clean(&why) }),
            Err(error) => Err(error),
        }
    }

    fn clean(&self, said: &str) -> String {
        redact::one_line(&redact::without(said, &self.secrets))
    }
}

/// Whether a text can be a message's id.
fn is_id(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    (1..=limits::COURIER_ID).contains(&id.len()) && id.bytes().all(fits)
}

/// The directory that a program must be told to open its socket beside this one.
fn runtime_directory(socket: &str) -> Option<&Path> {
    Path::new(socket).parent().filter(|directory| directory.ends_with(SOCKETS))?.parent()
}

fn is_kept_back(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    OF_A_SESSION.contains(&&*name)
        || NOT_FOR_COURIERS.contains(&&*name)
        || name.starts_with("CLAUDE_PLUGIN_")
        // A repository that somebody works in.
        || name.starts_with("GIT_")
        || name
            .strip_prefix("CLAUDE_CODE_")
            .is_some_and(|rest| OF_A_SESSION_PARTS.iter().any(|part| rest.contains(part)))
}

/// The empty directory in which a courier is started, so that it finds nobody's project. Gone when dropped.
pub(super) struct Directory(TempDir);

impl Directory {
    pub(super) fn new() -> io::Result<Self> {
        private::temporary_directory(MARK).map(Self)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Its name, which is the courier's, too.
    fn name(&self) -> &str {
        self.0.path().file_name().and_then(OsStr::to_str).unwrap_or(MARK)
    }
}

/// Removes the directories that servers left which were killed: empty ones, and old.
pub fn sweep() -> io::Result<()> {
    let is_old = |entry: &DirEntry| {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > limits::COURIER_DIRECTORY_AGE))
    };
    for entry in std::fs::read_dir(std::env::temp_dir())?.flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(MARK)) && is_old(&entry) {
            // What is no directory, or not empty, stays.
            let _ = std::fs::remove_dir(entry.path());
        }
    }
    Ok(())
}
