//! What became of a message, read off what its courier prints: one JSON object a line.
//!
//! The courier's model is not believed. What counts is what its tool was asked, letter by letter, what the tool
//! answered, and what the program says against it afterwards. Its word counts only where the tool answered in plain words,
//! as in older versions.

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

/// What is told of an accepted message when the courier was gone before anybody could have said anything against it.
const UNHEARD: &str = "the courier ended before it could be heard whether the session holds or refuses the message";

/// What is told when nothing but its word says that the message was sent.
const UNSURE: &str = "it said that the message was sent, and its tool did not; it may have arrived";

/// What a courier has said so far.
pub(super) struct Report<'a> {
    /// The text that it was given.
    text: &'a str,
    /// Where it was to be sent.
    to: &'a str,
    /// The calls that asked for just that.
    calls: HashSet<String>,
    /// It would hear nothing that is said against the message.
    deaf: bool,
    /// It stayed for as long as something may be said against the message.
    heard_out: bool,
    /// What the tool answered to one of these calls.
    answer: Option<Answer>,
    /// What was said against the message.
    notice: Option<(Outcome, String)>,
    /// It sent something else, or elsewhere.
    strayed: bool,
    /// The end of its first turn.
    turn: Option<Turn>,
}

/// What a tool says of a call.
enum Answer {
    /// It took the message; with the id that it gave.
    Sent(Option<String>),
    /// It did not, and said why.
    Unsent(String),
    /// Something, and not that it failed.
    Plain,
}

/// What stood at the end of a turn.
struct Turn {
    failed: bool,
    said: String,
}

/// How a courier ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
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
    /// Of a courier that was given this text for this address.
    pub(super) fn new(text: &'a str, to: &'a str) -> Self {
        let calls = HashSet::new();
        let (deaf, heard_out, strayed) = (false, false, false);
        Self { text, to, calls, deaf, heard_out, answer: None, notice: None, strayed, turn: None }
    }

    /// Reads a line; whether it was one of the program's.
    pub(super) fn read(&mut self, line: &[u8]) -> bool {
        let Ok(line @ Value::Object(_)) = serde_json::from_slice::<Value>(line) else { return false };
        match line["type"].as_str() {
            Some("assistant") => self.spoken(&line["message"]["content"]),
            Some("user") => self.answered(&line),
            Some("system") if line["subtype"] == "informational" => self.noticed(&line),
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
    pub(super) fn is_decided(&self) -> bool {
        self.strayed || self.notice.is_some() || (self.turn.is_some() && !self.is_sent())
    }

    /// Whether it is to be stopped at once.
    pub(super) fn strayed(&self) -> bool {
        self.strayed
    }

    /// Whether the message is in the inbox, as far as is known.
    pub(super) fn is_sent(&self) -> bool {
        matches!(self.answer, Some(Answer::Sent(_))) || self.said_so()
    }

    /// Notes that it was waited for as long as something may be said against the message.
    pub(super) fn hear_out(&mut self) {
        self.heard_out = true;
    }

    /// What became of the message. `printed` is what the courier said besides.
    pub(super) fn conclude(self, end: End, printed: &str) -> Result<Delivery, Error> {
        let failed = |cause, why: String| Err(Error::Failed { cause, why });
        if self.strayed {
            let why = "it sent something else than the text, or elsewhere; it was stopped, but that may have arrived";
            return failed(Cause::Report, why.to_owned());
        }
        let message_id = match &self.answer {
            Some(Answer::Sent(id)) => id.clone(),
            _ => None,
        };
        if let Some((outcome, detail)) = self.notice {
            return Ok(Delivery { outcome, message_id, detail: Some(detail) });
        }
        let doubt = if self.deaf { Some(DEAF) } else { Some(UNHEARD).filter(|_| !self.heard_out) };
        let accepted = || Ok(Delivery { outcome: Outcome::Accepted, message_id, detail: doubt.map(str::to_owned) });
        let unsent = match &self.answer {
            // It is in the inbox, whatever became of the courier since.
            Some(Answer::Sent(_)) => return accepted(),
            Some(Answer::Unsent(why)) => Some(why),
            Some(Answer::Plain) | None => None,
        };
        let said = match &self.turn {
            Some(turn) if printed.is_empty() => turn.said.as_str(),
            _ => printed,
        };
        let told = |what: &str| if said.is_empty() { what.to_owned() } else { format!("{what}: {said}") };
        match (end, &self.turn, unsent) {
            // It was only not heard out.
            (End::Dismissed | End::TimedOut | End::Flooded, ..) if self.said_so() => accepted(),
            (End::TimedOut, ..) => failed(Cause::Timeout, told("it was not done in time")),
            (End::Flooded, ..) => failed(Cause::Report, "it said more than is read".to_owned()),
            (_, _, Some(unsent)) => failed(Cause::Report, format!("the message could not be sent: {unsent}")),
            (End::Exited(Some(code)), ..) if code != 0 => failed(Cause::Exit, told(&format!("it ended with {code}"))),
            (End::Exited(None), ..) => failed(Cause::Exit, told("a signal ended it")),
            _ if self.said_so() => accepted(),
            (_, Some(turn), _) if turn.failed => failed(Cause::Report, told("it failed")),
            (_, Some(turn), _) if turn.said == SENT => failed(Cause::Report, UNSURE.to_owned()),
            (_, Some(_), _) => failed(Cause::Report, told("it did not say that the message was sent")),
            (_, None, _) => failed(Cause::Report, told("it ended without a word")),
        }
    }

    /// Whether its word says so, where its tool did not say that clearly.
    fn said_so(&self) -> bool {
        let word = self.turn.as_ref().is_some_and(|turn| !turn.failed && turn.said == SENT);
        word && matches!(self.answer, Some(Answer::Plain)) && !self.strayed
    }

    /// A session speaks only to sockets that are beside its own.
    fn opened(&mut self, socket: &Value) {
        let ours = socket.as_str().and_then(|socket| Path::new(socket).parent());
        let theirs = self.to.strip_prefix("uds:").and_then(|socket| Path::new(socket).parent());
        self.deaf = ours.zip(theirs).is_some_and(|(ours, theirs)| ours != theirs);
    }

    fn spoken(&mut self, content: &Value) {
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
        // What took the message has taken it, whatever is called after that.
        if matches!(self.answer, Some(Answer::Sent(_))) {
            return;
        }
        let text = text_of(&block["content"]).unwrap_or_default();
        let told = Some(line["tool_use_result"].clone()).filter(Value::is_object);
        let told = told.or_else(|| serde_json::from_str(text).ok().filter(Value::is_object));
        let failed = block["is_error"] == Value::Bool(true) || text.starts_with("Error");
        self.answer = match told {
            _ if failed => Some(Answer::Unsent(text.to_owned())),
            None => Some(Answer::Plain),
            Some(told) => match told["success"].as_bool() {
                Some(true) => Some(Answer::Sent(told["msg_id"].as_str().map(str::to_owned))),
                Some(false) => {
                    Some(Answer::Unsent(told["message"].as_str().unwrap_or("it did not say why").to_owned()))
                }
                None => None,
            },
        };
    }

    /// The courier sends one message, so what is said against one is said against that, however it names the session.
    fn noticed(&mut self, line: &Value) {
        let Some(notice) = line["content"].as_str().filter(|notice| notice.starts_with(NOTICE)) else { return };
        let of_another = match (&self.answer, line["msg_id"].as_str()) {
            (Some(Answer::Sent(Some(ours))), Some(id)) => id != ours,
            _ => false,
        };
        // Before anything was sent it is about something else.
        if self.calls.is_empty() || of_another {
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
}

fn blocks(content: &Value) -> impl Iterator<Item = &Value> {
    content.as_array().into_iter().flatten()
}

/// The text of a tool's answer, which is a string or blocks.
fn text_of(content: &Value) -> Option<&str> {
    content.as_str().or_else(|| blocks(content).find_map(|block| block["text"].as_str()))
}
