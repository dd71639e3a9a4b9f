//! What became of a message, read off what its courier prints: one JSON object a line.
//!
//! The courier's model is not believed. What counts is what its tool was asked, letter by letter, what the tool
//! answered, and what the program says against it afterwards.

use super::prompt::SENT;
use super::{Cause, Delivery, Error};
use crate::protocol::Outcome;
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

/// How a notice about a message of another session begins.
const NOTICE: &str = "Cross-session message";

/// What is told of an accepted message when nobody could have said anything against it.
const DEAF: &str = "the courier's socket is in another place than the session's, so it would not hear of it if the message \
                    was held or refused";

/// What a courier has said so far.
pub struct Report<'a> {
    /// The text that it was given.
    text: &'a str,
    /// Where it was to be sent.
    to: &'a str,
    /// What the session there is called.
    name: &'a str,
    /// The calls that asked for just that.
    calls: HashSet<String>,
    /// It would hear nothing that is said against the message.
    deaf: bool,
    /// Whether it spoke at all: a program that tells of turns tells of calls.
    spoke: bool,
    /// The tool took the message; with the id that it gave.
    sent: Option<Option<String>>,
    /// The tool did not, and said why.
    unsent: Option<String>,
    /// What was said against the message.
    notice: Option<(Outcome, String)>,
    /// It sent something else, or elsewhere.
    strayed: bool,
    /// The end of its first turn.
    turn: Option<Turn>,
}

/// What stood at the end of a turn.
struct Turn {
    failed: bool,
    said: String,
}

/// How a courier ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code; `None` where a signal ended it.
    Exited(Option<i32>),
    /// It had said enough, and did not leave.
    Dismissed,
    /// Its time was over.
    TimedOut,
    /// It said more than is read.
    Flooded,
}

impl<'a> Report<'a> {
    /// Of a courier that was given this text for this address, where a session of this name is.
    pub fn new(text: &'a str, to: &'a str, name: &'a str) -> Self {
        let calls = HashSet::new();
        let (deaf, spoke, strayed) = (false, false, false);
        Self { text, to, name, calls, deaf, spoke, sent: None, unsent: None, notice: None, strayed, turn: None }
    }

    /// Reads a line; whether it was one of the program's.
    pub fn read(&mut self, line: &[u8]) -> bool {
        let Ok(line @ Value::Object(_)) = serde_json::from_slice::<Value>(line) else { return false };
        match line["type"].as_str() {
            Some("assistant") => self.spoken(&line["message"]["content"]),
            Some("user") => self.answered(&line),
            Some("system") if line["subtype"] == "informational" => self.noticed(&line["content"]),
            Some("system") if line["subtype"] == "init" => self.opened(&line["messaging_socket_path"]),
            Some("result") if self.turn.is_none() => {
                let said = line["result"].as_str().unwrap_or_default().trim().to_owned();
                self.turn = Some(Turn { failed: line["is_error"] != Value::Bool(false), said });
            }
            _ => {}
        }
        true
    }

    /// Whether nothing that may still come changes what became of the message.
    pub fn is_decided(&self) -> bool {
        self.strayed || self.notice.is_some() || (self.turn.is_some() && !self.is_sent())
    }

    /// Whether it is to be stopped at once.
    pub fn strayed(&self) -> bool {
        self.strayed
    }

    /// Whether the message is in the inbox, as far as is known.
    pub fn is_sent(&self) -> bool {
        self.sent.is_some() || self.said_so()
    }

    /// What became of the message. `printed` is what the courier said besides.
    pub fn conclude(self, end: End, printed: &str) -> Result<Delivery, Error> {
        let failed = |cause, why: String| Err(Error::Failed { cause, why });
        if self.strayed {
            let why = "it sent something else than the text, or elsewhere; it was stopped, but that may have arrived";
            return failed(Cause::Report, why.to_owned());
        }
        let message_id = self.sent.clone().flatten();
        if let Some((outcome, detail)) = self.notice {
            return Ok(Delivery { outcome, message_id, detail: Some(detail) });
        }
        let detail = self.deaf.then(|| DEAF.to_owned());
        let accepted = Ok(Delivery { outcome: Outcome::Accepted, message_id, detail });
        if self.sent.is_some() {
            // It is in the inbox, whatever became of the courier since.
            return accepted;
        }
        let said = match &self.turn {
            Some(turn) if printed.is_empty() => turn.said.as_str(),
            _ => printed,
        };
        let told = |what: &str| if said.is_empty() { what.to_owned() } else { format!("{what}: {said}") };
        match (end, &self.turn, self.unsent.as_deref()) {
            // It was only not heard out.
            (End::Dismissed | End::TimedOut | End::Flooded, ..) if self.said_so() => accepted,
            (End::TimedOut, ..) => failed(Cause::Timeout, told("it was not done in time")),
            (End::Flooded, ..) => failed(Cause::Report, "it said more than is read".to_owned()),
            (_, _, Some(unsent)) => failed(Cause::Report, format!("the message could not be sent: {unsent}")),
            (End::Exited(Some(code)), ..) if code != 0 => failed(Cause::Exit, told(&format!("it ended with {code}"))),
            (End::Exited(None), ..) => failed(Cause::Exit, told("a signal ended it")),
            _ if self.said_so() => accepted,
            (_, Some(turn), _) if turn.failed => failed(Cause::Report, told("it failed")),
            (_, Some(_), _) => failed(Cause::Report, told("it did not say that the message was sent")),
            (_, None, _) => failed(Cause::Report, told("it ended without a word")),
        }
    }

    /// Whether its word says so, where the tool's own answer was not told.
    fn said_so(&self) -> bool {
        let could_be = !self.calls.is_empty() || !self.spoke;
        let word = self.turn.as_ref().is_some_and(|turn| !turn.failed && turn.said == SENT);
        word && could_be && self.unsent.is_none() && !self.strayed
    }

    /// A session speaks only to sockets that are beside its own.
    fn opened(&mut self, socket: &Value) {
        let ours = socket.as_str().and_then(|socket| Path::new(socket).parent());
        let theirs = self.to.strip_prefix("uds:").and_then(|socket| Path::new(socket).parent());
        self.deaf = ours.zip(theirs).is_some_and(|(ours, theirs)| ours != theirs);
    }

    fn spoken(&mut self, content: &Value) {
        self.spoke = true;
        for call in blocks(content).filter(|block| block["type"] == "tool_use" && block["name"] == "SendMessage") {
            let input = &call["input"];
            if input["message"] == self.text && input["to"] == self.to {
                self.calls.extend(call["id"].as_str().map(str::to_owned));
            } else {
                self.strayed = true;
            }
        }
    }

    fn answered(&mut self, line: &Value) {
        let content = &line["message"]["content"];
        let of_call = |block: &&Value| block["tool_use_id"].as_str().is_some_and(|id| self.calls.contains(id));
        let Some(block) = blocks(content).find(of_call) else { return };
        let told = Some(line["tool_use_result"].clone()).filter(Value::is_object);
        let Some(told) = told.or_else(|| serde_json::from_str(text_of(&block["content"])?).ok()) else { return };
        match told["success"].as_bool() {
            Some(true) => {
                self.sent.get_or_insert_with(|| told["msg_id"].as_str().map(str::to_owned));
            }
            Some(false) => self.unsent = Some(told["message"].as_str().unwrap_or("it did not say why").to_owned()),
            None => {}
        }
        if self.sent.is_some() {
            self.unsent = None;
        }
    }

    fn noticed(&mut self, content: &Value) {
        let Some(notice) = content.as_str().filter(|notice| notice.starts_with(NOTICE)) else { return };
        let too_early = self.calls.is_empty() && !self.is_sent();
        if too_early || !self.is_about_ours(notice) {
            return;
        }
        let said = notice[NOTICE.len()..].trim_start_matches('s').trim_start();
        let outcome = match said.split(|c: char| !c.is_alphabetic()).next() {
            Some("held") => Outcome::Held,
            Some("refused" | "denied" | "expired") => Outcome::Refused,
            // It was let through after all.
            _ => return,
        };
        self.notice = Some((outcome, notice.to_owned()));
    }

    /// Whether a notice names our recipient, by address or name. A message's id does not stand in it.
    fn is_about_ours(&self, notice: &str) -> bool {
        let Some((_, rest)) = notice.split_once("recipient") else { return true };
        let Some((_, rest)) = rest.split_once(": ") else { return true };
        let named = rest.split_once(')').map_or(rest, |(named, _)| named);
        let ours = |named: &str| named == self.to || named.strip_prefix('@') == Some(self.name);
        ours(named.trim()) || named.split([',', ';']).any(|named| ours(named.trim()))
    }
}

fn blocks(content: &Value) -> impl Iterator<Item = &Value> {
    content.as_array().into_iter().flatten()
}

/// The text of a tool's answer, which is a string or blocks.
fn text_of(content: &Value) -> Option<&str> {
    content.as_str().or_else(|| blocks(content).find_map(|block| block["text"].as_str()))
}
