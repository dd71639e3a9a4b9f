//! The agent's process and its pipes.

use super::message::Message;
use super::parse;
use super::tail::{Tail, keep};
use super::words::short;
use super::{Error, Gone};
use crate::enclosing::OF_A_SESSION;
use crate::limits;
use crate::platform::child::{self, Group, Stop};
use crate::platform::lines::{Line, Lines};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// A program with our environment, but for what says that it runs in an agent's session.
pub(super) fn command(program: &OsStr, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).stdout(Stdio::piped()).stderr(Stdio::piped());
    for variable in OF_A_SESSION {
        command.env_remove(variable);
    }
    command
}

/// Lines in a row that were no messages.
#[derive(Default)]
struct Nonsense {
    lines: u64,
    bytes: usize,
    first: String,
}

impl Nonsense {
    fn count(&mut self, line: &[u8]) {
        if self.lines == 0 {
            self.first = short(&String::from_utf8_lossy(line));
        }
        self.lines += 1;
        self.bytes += line.len();
    }

    /// What is told of it once it is over.
    fn told(&mut self) -> Option<Message> {
        let Self { lines: lines @ 1.., bytes, first } = std::mem::take(self) else { return None };
        Some(Message::Nonsense { lines, bytes, first })
    }
}

/// An agent's process. What it writes is read a message at a time, what it is to read is written as it reads it.
pub(super) struct Process {
    group: Group,
    input: Option<ChildStdin>,
    unread: VecDeque<u8>,
    lines: Lines<ChildStdout>,
    nonsense: Nonsense,
    /// The last lines of it, since the last message.
    said: Tail,
    /// The message behind them.
    held: Option<Message>,
    stderr: Arc<Mutex<Tail>>,
    stderr_read: Option<JoinHandle<()>>,
    /// How it ended, once it has.
    how: Option<String>,
    /// Whether there may be more of its output.
    is_open: bool,
    /// When nothing more is waited for: its output or its process ended, the other did not.
    until: Option<Instant>,
}

impl Process {
    pub(super) fn start(command_line: &[OsString], workspace: &Path) -> Result<Self, Error> {
        let (program, arguments) = command_line.split_first().ok_or(Error::NoCommand)?;
        let mut command = command(program, workspace);
        command.args(arguments).stdin(Stdio::piped());
        let failed = |source| Error::Spawn { program: program.to_string_lossy().into_owned(), source };
        let mut group = child::start(command, Stop::Kill).map_err(failed)?;
        let (input, output, error) = group.pipes();
        let output = output.ok_or_else(|| failed(std::io::ErrorKind::BrokenPipe.into()))?;
        let stderr = Arc::new(Mutex::new(Tail::new(limits::AGENT_STDERR)));
        let kept = stderr.clone();
        Ok(Self {
            group,
            input,
            unread: VecDeque::new(),
            lines: Lines::new(output, limits::AGENT_LINE),
            nonsense: Nonsense::default(),
            said: Tail::new(limits::AGENT_STDERR),
            held: None,
            stderr,
            stderr_read: Some(tokio::spawn(async move { keep(error, &kept).await })),
            how: None,
            is_open: true,
            until: None,
        })
    }

    pub(super) fn pid(&self) -> i32 {
        self.group.pid()
    }

    /// Puts a line behind those that it has not read.
    pub(super) fn send(&mut self, line: &[u8]) {
        if self.input.is_some() {
            self.unread.extend(line);
        }
    }

    /// Whether the agent has read most of what it was sent, so that it may be sent a file.
    pub(super) fn has_room(&self) -> bool {
        self.unread.len() < limits::AGENT_ROOM
    }

    /// The next message, while what waits for the agent is written; how it ended when nothing more comes. `None`: there is
    /// room again. Nothing is read while it may not be, or while the agent does not read. May be dropped at any time and
    /// called again.
    pub(super) async fn next(&mut self, may_read: bool) -> Result<Option<Message>, Gone> {
        if let Some(held) = self.held.take() {
            return Ok(Some(held));
        }
        loop {
            if !self.is_open
                && let Some(how) = &self.how
            {
                if let Some(told) = self.nonsense.told() {
                    return Ok(Some(told));
                }
                let how = how.clone();
                return Err(self.gone(how).await);
            }
            let may_read = may_read && self.is_open && self.unread.len() < limits::AGENT_UNREAD;
            if self.is_open && !may_read {
                self.wait_on();
            }
            let given_up = self.until.unwrap_or_else(Instant::now);
            tokio::select! {
                line = self.lines.next(), if may_read => match line {
                    Ok(Some(line)) => {
                        self.wait_on();
                        if let Some(message) = self.message(line) {
                            return Ok(Some(message));
                        }
                    }
                    Ok(None) | Err(_) => {
                        self.is_open = false;
                        self.until = Some(Instant::now() + limits::AGENT_END);
                    }
                },
                written = write(&mut self.input, self.unread.as_slices().0), if !self.unread.is_empty() => {
                    let had_room = self.has_room();
                    self.written(written);
                    if !had_room && self.has_room() {
                        return Ok(None);
                    }
                }
                status = self.group.ended(), if self.how.is_none() => {
                    self.how = Some(match status {
                        Ok(status) => how(status),
                        Err(error) => error.to_string(),
                    });
                    self.until = Some(Instant::now() + limits::AGENT_LAST_WORDS);
                }
                () = sleep_until(given_up), if self.until.is_some() && (may_read || !self.is_open) => {
                    (self.is_open, self.until) = (false, None);
                    self.how.get_or_insert_with(|| "it closed its output".to_owned());
                    self.group.kill();
                }
                else => std::future::pending().await,
            }
        }
    }

    /// It is silence that is waited for: what it wrote before it ended is all read, however slowly.
    fn wait_on(&mut self) {
        if self.until.is_some() {
            self.until = Some(Instant::now() + limits::AGENT_LAST_WORDS);
        }
    }

    /// What a line says; `None` where that is nothing, or nothing yet.
    fn message(&mut self, line: Line) -> Option<Message> {
        let (message, line) = match line {
            Line::TooLong(beginning) => (Some(parse::too_long(&beginning)), beginning),
            Line::Whole(line) if line.trim_ascii().is_empty() => return None,
            Line::Whole(line) => (parse::parse(&line), line),
        };
        if let Some(message) = message {
            self.said = Tail::new(limits::AGENT_STDERR);
            let Some(told) = self.nonsense.told() else { return Some(message) };
            self.held = Some(message);
            return Some(told);
        }
        tracing::debug!("an agent wrote a line that is no message");
        self.nonsense.count(&line);
        self.said.push(&line);
        self.said.push(b"\n");
        if self.nonsense.bytes >= limits::AGENT_NONSENSE {
            let (lines, last) = (self.nonsense.lines, short(&String::from_utf8_lossy(&line)));
            let how = format!("it wrote {lines} lines in a row that are no messages, the last one: {last}");
            (self.how, self.is_open) = (Some(how), false);
            self.group.kill();
        }
        None
    }

    fn written(&mut self, written: std::io::Result<usize>) {
        match written {
            Ok(length @ 1..) => {
                drop(self.unread.drain(..length.min(self.unread.len())));
                if self.unread.is_empty() {
                    self.unread = VecDeque::new();
                }
            }
            // It reads no more. Its end is told when it comes.
            _ => {
                self.input = None;
                self.unread = VecDeque::new();
            }
        }
    }

    async fn gone(&mut self, how: String) -> Gone {
        if let Some(mut read) = self.stderr_read.take() {
            // A process that it left may hold it open.
            let _ = tokio::time::timeout(limits::AGENT_LAST_WORDS, &mut read).await;
            read.abort();
        }
        Gone { how, stderr: self.last_words() }
    }

    /// The last that it wrote for a person: on its standard error, and on its output since its last message.
    pub(super) fn last_words(&self) -> String {
        let on_error = self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clean();
        let words = [on_error, self.said.clean()];
        words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Ends it: by the end of its input, else by asking it, else at once.
    pub(super) async fn close(&mut self) -> Gone {
        self.input = None;
        self.unread = VecDeque::new();
        if let Some(gone) = self.ended_within(limits::AGENT_END).await {
            return gone;
        }
        self.group.terminate();
        if let Some(gone) = self.ended_within(limits::AGENT_END).await {
            return gone;
        }
        self.group.kill();
        loop {
            if let Err(gone) = self.next(true).await {
                return gone;
            }
        }
    }

    async fn ended_within(&mut self, time: Duration) -> Option<Gone> {
        let ended = async {
            loop {
                if let Err(gone) = self.next(true).await {
                    return gone;
                }
            }
        };
        tokio::time::timeout(time, ended).await.ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(read) = &self.stderr_read {
            read.abort();
        }
    }
}

async fn write(input: &mut Option<ChildStdin>, bytes: &[u8]) -> std::io::Result<usize> {
    match input {
        Some(input) => input.write(bytes).await,
        None => Err(std::io::ErrorKind::BrokenPipe.into()),
    }
}

fn how(status: std::process::ExitStatus) -> String {
    match (status.code(), child::signal(status)) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => signal,
        (None, None) => status.to_string(),
    }
}
