//! The conversation: each request as it is sent, each answer as it came, and what is to be seen in them.

use super::sample::OTHER_WORKSPACE;
use super::{shown, tackroom};
use crate::cli::FAILED;
use crate::cli::output::{self, Colour, Failure, Screen};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Longer lines are hard to read, however wide the screen is.
const MAX_COLUMNS: usize = 120;

/// Speaks with a server that sees the sample home, and shows what is said.
pub(super) fn talk(home: &Path, screen: &Screen) -> Result<(), Failure> {
    let mut talk = Talk::open(home, screen, "", "observe")?;
    talk.tell("The client connects. The server was started with `--allow observe`, so it grants that permission.")?;
    talk.ask(
        "initialize",
        json!({"protocolVersion": 1, "clientInfo": {"name": "demo"}, "processId": std::process::id()}),
    )?;
    talk.notify("initialized")?;

    talk.tell("Which sessions need a person? Each entry contains the command that resumes it.")?;
    let waiting = talk.ask("registry/list", json!({"query": {"states": ["waiting"]}}))?;
    let id = &waiting["result"]["entries"][0]["id"];

    talk.tell("A search with one entry per page, including the last message. The cursor gets the next page.")?;
    let search = json!({"query": {"text": "shopping", "include": ["lastMessage"]}, "limit": 1});
    talk.ask("registry/list", search)?;

    talk.tell("The live Claude Code sessions from their own process registry. This one is the demo itself.")?;
    talk.ask("peer/list", json!({}))?;

    talk.tell("The client permanently restricts itself to one workspace.")?;
    talk.ask("authority/narrow", json!({"authority": {"workspaces": [OTHER_WORKSPACE]}}))?;
    talk.tell("The waiting session is outside that workspace, so this client can no longer see or count it.")?;
    talk.ask("registry/describe", json!({"id": id}))?;
    talk.ask("registry/list", json!({"limit": 0}))?;

    talk.tell("Goodbye.")?;
    talk.ask("shutdown", json!({}))?;
    talk.notify("exit")?;
    talk.close()
}

/// A client with a server of its own.
pub(super) struct Talk<'a> {
    screen: &'a Screen,
    /// What stands before what is said, where there are several.
    pub name: &'a str,
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl<'a> Talk<'a> {
    pub(super) fn open(home: &Path, screen: &'a Screen, name: &'a str, allow: &str) -> Result<Self, Failure> {
        let mut command = tackroom(home)?;
        command.args(["serve", "--allow", allow]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn()?;
        let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
            return Err(Failure::new(FAILED, "the server's pipes are missing"));
        };
        Ok(Self { screen, name, server, input, output: BufReader::new(output), last_id: 0 })
    }

    pub(super) fn tell(&self, sentence: &str) -> Result<(), Failure> {
        output::write(&format!("\n{}\n", self.screen.paint(sentence, Colour::Bold)))
    }

    /// Sends a request and answers the answer.
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        self.request(method, params)?;
        let answer = self.next()?;
        self.heard(&answer)?;
        Ok(answer)
    }

    /// Sends a request; its answer is heard among what comes.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Result<(), Failure> {
        self.last_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}))
    }

    /// The next message.
    pub(super) fn next(&mut self) -> Result<Value, Failure> {
        let mut line = String::new();
        if self.output.read_line(&mut line).map_err(gone)? == 0 {
            return Err(gone("it closed its output"));
        }
        Ok(serde_json::from_str(&line)?)
    }

    /// Shows what came.
    pub(super) fn heard(&self, message: &Value) -> Result<(), Failure> {
        let room = self.screen.width.unwrap_or(MAX_COLUMNS).min(MAX_COLUMNS);
        let arrow = self.screen.paint(&format!("{}<--", self.name), Colour::Calm);
        output::write(&format!("{arrow} {}\n", shown::json(message, room)))
    }

    pub(super) fn notify(&mut self, method: &str) -> Result<(), Failure> {
        self.send(&json!({"jsonrpc": "2.0", "method": method}))
    }

    fn send(&mut self, message: &Value) -> Result<(), Failure> {
        let arrow = self.screen.paint(&format!("{}-->", self.name), Colour::Work);
        output::write(&format!("{arrow} {message}\n"))?;
        self.input.write_all(format!("{message}\n").as_bytes()).map_err(gone)
    }

    /// Waits for the server's end.
    pub(super) fn close(&mut self) -> Result<(), Failure> {
        let status = self.server.wait()?;
        match status.success() {
            true => output::write(&format!("The server exited: {status}.\n")),
            false => Err(gone(status)),
        }
    }
}

impl Drop for Talk<'_> {
    fn drop(&mut self) {
        // Where the conversation broke off the server must not outlive it; where it has ended this does nothing.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

pub(super) fn gone(why: impl std::fmt::Display) -> Failure {
    Failure::new(FAILED, format!("the server exited during the demo ({why}); please report this"))
}
