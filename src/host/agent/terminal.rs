//! The terminals of an agent: commands that its host runs for it in the workspace, each with what it started in a process
//! group that ends with the terminal, the agent and the host. What leaves the group, by a session of its own, lives on; so may
//! what it started where the host is killed (see [`crate::platform::child`]).

use super::answer::{invalid, refused};
use super::message::value;
use super::process;
use super::tail::{Tail, keep};
use super::words::cut;
use crate::limits;
use crate::platform::child::{self, Group, Stop};
use crate::platform::within::{self, Root};
use agent_client_protocol_schema::v1::{
    CreateTerminalRequest, CreateTerminalResponse, Error, TerminalExitStatus, TerminalId, TerminalOutputResponse,
    WaitForTerminalExitResponse,
};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::process::ChildStdout;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A command that runs or ran.
struct Terminal {
    output: Arc<Mutex<Tail>>,
    status: watch::Receiver<Option<TerminalExitStatus>>,
    /// Ends it, also when dropped.
    end: DropGuard,
}

impl Terminal {
    fn text(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

/// Those that the agent has not released.
pub(super) struct Terminals {
    workspace: Arc<Root>,
    open: HashMap<String, Terminal>,
    count: u64,
    /// What the newest of those wrote that were released: a tool call may still show them.
    released: VecDeque<(String, String)>,
}

impl Terminals {
    pub(super) fn new(workspace: Arc<Root>) -> Self {
        Self { workspace, open: HashMap::new(), count: 0, released: VecDeque::new() }
    }

    /// Answers `terminal/create`.
    pub(super) fn create(&mut self, request: &CreateTerminalRequest) -> Result<Value, Error> {
        if self.open.len() >= limits::AGENT_TERMINALS {
            return Err(invalid(format!("{} terminals are open; release one first", limits::AGENT_TERMINALS)));
        }
        if let Some(odd) = request.env.iter().find(|variable| variable.name.is_empty() || variable.name.contains('=')) {
            return Err(invalid(format!("{:?} is no name of a variable", odd.name)));
        }
        let cwd = request.cwd.as_deref().unwrap_or_else(|| self.workspace.path());
        let cwd = within::directory(&self.workspace, cwd).map_err(|unfit| refused(cwd, &unfit))?;
        let (mut group, joined) =
            start(request, &cwd).map_err(|error| invalid(format!("{}: {error}", request.command)))?;
        let (_, stdout, stderr) = group.pipes();
        let wanted = request.output_byte_limit.and_then(|limit| usize::try_from(limit).ok());
        let max = wanted.unwrap_or(limits::AGENT_TERMINAL_OUTPUT).min(limits::AGENT_TERMINAL_OUTPUT);
        let output = Arc::new(Mutex::new(Tail::new(max)));
        let (told, status) = watch::channel(None);
        let end = CancellationToken::new();
        let kept = output.clone();
        let written = async move { tokio::join!(keep(joined.or(stdout), &kept), keep(stderr, &kept)) };
        tokio::spawn(run(group, written, end.clone(), told));
        self.count += 1;
        let id = format!("terminal-{}", self.count);
        self.open.insert(id.clone(), Terminal { output, status, end: end.drop_guard() });
        Ok(value(&CreateTerminalResponse::new(TerminalId::new(id))))
    }

    fn find(&self, id: &TerminalId) -> Result<&Terminal, Error> {
        self.open.get(id.0.as_ref()).ok_or_else(|| Error::resource_not_found(Some(id.0.to_string())))
    }

    /// Answers `terminal/output`.
    pub(super) fn output(&self, id: &TerminalId) -> Result<Value, Error> {
        let terminal = self.find(id)?;
        let status = terminal.status.borrow().clone();
        let output = terminal.output.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(value(&TerminalOutputResponse::new(output.text(), output.is_cut()).exit_status(status)))
    }

    /// Answers `terminal/wait_for_exit` when the command has ended.
    pub(super) fn exit(
        &self,
        id: &TerminalId,
    ) -> Result<impl Future<Output = Result<Value, Error>> + Send + use<>, Error> {
        let mut status = self.find(id)?.status.clone();
        Ok(async move {
            let ended = status.wait_for(Option::is_some).await.map_err(Error::into_internal_error)?;
            Ok(value(&WaitForTerminalExitResponse::new(ended.clone().unwrap_or_default())))
        })
    }

    /// Answers `terminal/kill`: the command ends, what it wrote stays.
    pub(super) fn kill(&mut self, id: &TerminalId) -> Result<Value, Error> {
        self.find(id)?;
        if let Some(terminal) = self.open.get_mut(id.0.as_ref()) {
            let end = CancellationToken::new().drop_guard();
            drop(std::mem::replace(&mut terminal.end, end));
        }
        Ok(json!({}))
    }

    /// Answers `terminal/release`.
    pub(super) fn release(&mut self, id: &TerminalId) -> Result<Value, Error> {
        let text = self.find(id)?.text();
        self.open.remove(id.0.as_ref());
        if self.released.len() == limits::AGENT_TERMINALS {
            self.released.pop_front();
        }
        self.released.push_back((id.0.to_string(), cut(text, limits::AGENT_TOOL_BYTES)));
        Ok(json!({}))
    }

    /// What a terminal wrote.
    pub(super) fn text(&self, id: &str) -> Option<String> {
        let released = || self.released.iter().find(|(known, _)| known == id).map(|(_, text)| text.clone());
        self.open.get(id).map(Terminal::text).or_else(released)
    }
}

/// Starts a command. Some agents give a line for the shell instead of a program and its arguments.
fn start(request: &CreateTerminalRequest, cwd: &Path) -> io::Result<(Group, Option<ChildStdout>)> {
    let start = |program: &str, args: &[&str]| -> io::Result<_> {
        let mut command = process::command(program.as_ref(), cwd);
        command.args(args).envs(request.env.iter().map(|variable| (&variable.name, &variable.value)));
        command.stdin(Stdio::null());
        let joined = child::join_outputs(&mut command)?;
        Ok((child::start(command, Stop::Kill)?, joined))
    };
    let args: Vec<_> = request.args.iter().map(String::as_str).collect();
    match start(&request.command, &args) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && args.is_empty() && request.command.contains(' ') => {
            start("sh", &["-c", &request.command])
        }
        started => started,
    }
}

/// Keeps what a command writes until it and its output have ended.
async fn run(
    mut group: Group,
    written: impl Future<Output = ((), ())>,
    end: CancellationToken,
    told: watch::Sender<Option<TerminalExitStatus>>,
) {
    tokio::pin!(written);
    let mut is_written = false;
    let status = loop {
        tokio::select! {
            status = group.ended() => break status,
            _ = &mut written, if !is_written => is_written = true,
            () = end.cancelled() => {
                group.kill();
                break group.ended().await;
            }
        }
    };
    if !is_written {
        // What left the group may hold the output open.
        let _ = tokio::time::timeout(limits::AGENT_LAST_WORDS, written).await;
    }
    let mut exit = TerminalExitStatus::new();
    if let Ok(status) = status {
        exit = exit.exit_code(status.code().and_then(|code| u32::try_from(code).ok())).signal(child::signal(status));
    }
    told.send_replace(Some(exit));
}
