//! The agent that is hosted: a child process that speaks the Agent Client Protocol over its pipes.

mod answer;
#[cfg(test)]
mod captures;
mod content;
mod elicitation;
mod error;
mod facts;
mod files;
mod history;
mod message;
mod outside;
mod parse;
mod permission;
mod process;
mod prompt;
mod requests;
mod session;
mod start;
mod tail;
mod terminal;
mod tools;
mod translate;
mod usage;
mod waits;
mod words;

pub use error::Error;
pub use usage::Usage;

use crate::protocol::{Decision, ElicitedAction, Harness};
use crate::runtime::form::Form;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::PathBuf;
use tokio::sync::{mpsc, oneshot};

/// Whether a line of an agent is read as a message, for tests and fuzzing.
#[doc(hidden)]
pub fn is_message(line: &[u8]) -> bool {
    parse::parse(line).is_some()
}

/// What is started, and how far it reaches.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The directory in which it works: absolute, by its own name.
    pub workspace: PathBuf,
    /// The agent's own id of a session to go on with; a new one otherwise.
    pub load: Option<String>,
    /// Whether its file requests are answered, within the workspace.
    pub files: bool,
    /// Whether its terminal requests are answered, within the workspace.
    pub terminals: bool,
}

/// What is known of an agent and its session. Told again, whole, when it changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The harness that it is, by what it says of itself or by its program's name.
    pub harness: Option<Harness>,
    /// What a person calls the agent: as it names itself, else its program.
    pub agent: String,
    /// The agent's version, where it says one.
    pub version: Option<String>,
    /// The agent's own id of the session.
    pub session_id: String,
    /// The session's title, where the agent says one.
    pub title: Option<String>,
    /// Whether a prompt may hold images.
    pub images: bool,
    /// The model's id, where the agent says it.
    pub model: Option<String>,
    /// The models that it can be switched to, ids with names; empty where it cannot be.
    pub models: Vec<Choice>,
    /// The mode's id, where the agent has modes.
    pub mode: Option<String>,
    /// The modes that it can be switched to.
    pub modes: Vec<Choice>,
    /// The commands that a prompt may begin with.
    pub commands: Vec<Command>,
    /// What the session has used, as far as the agent reports it.
    pub usage: Usage,
}

/// One of several things that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What the agent is told.
    pub id: String,
    /// What a person reads.
    pub name: String,
}

/// A command of the agent, without its slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What is typed after the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it.
    pub hint: Option<String>,
}

/// What somebody says to the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// Images: `data:image/...;base64,...` or an http(s) address.
    pub images: Vec<String>,
}

/// What the host asks of its agent.
#[derive(Debug)]
pub enum Ask {
    /// Begin a turn; none runs. Its end is told by [`Told::TurnEnded`].
    Prompt(Prompt),
    /// End the turn that runs.
    Cancel,
    /// Switch the mode.
    Mode(String, oneshot::Sender<Result<(), String>>),
    /// Switch the model.
    Model(String, oneshot::Sender<Result<(), String>>),
}

/// An event in the words of the runtime's API: its kind, and its members besides `type`. What the agent itself sent
/// stands in `raw`.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// `text_delta`, `reasoning`, `tool_call_started`, `tool_call_completed`, `user_message`, `native_event` ...
    pub kind: &'static str,
    /// Its members.
    pub payload: Map<String, Value>,
}

/// Something that the agent may not do before a person says so.
#[derive(Debug)]
pub struct Approval {
    /// `tool`, `subject`, `raw_args`, `decisions` and `raw`, as the runtime's API tells them.
    pub payload: Map<String, Value>,
    /// What can be decided: what the agent offered, and always to deny.
    pub decisions: Vec<Decision>,
    /// Whether it was asked in the turn that runs: the end of that turn is then the end of the question.
    pub of_turn: bool,
    /// Where the decision goes. Closed when the agent no longer wants to know; dropped, it means that the question was
    /// cancelled.
    pub answer: oneshot::Sender<Decision>,
}

/// A form that the agent asks a person to fill in.
#[derive(Debug)]
pub struct Elicitation {
    /// `message`, `requested_schema`, `field_order` and `raw`, as in the event `request`.
    pub payload: Map<String, Value>,
    /// What an answer is checked against.
    pub form: Form,
    /// The same as [`Approval::of_turn`].
    pub of_turn: bool,
    /// Where the answer goes. The same rules as for [`Approval::answer`].
    pub answer: oneshot::Sender<FormAnswer>,
}

/// A person's answer to a form.
#[derive(Clone, Debug, PartialEq)]
pub enum FormAnswer {
    /// The value of each field.
    Accept(Map<String, Value>),
    /// The person does not answer.
    Decline,
    /// Nobody decided.
    Cancel,
}

impl FormAnswer {
    /// The action and the content, as they are sent.
    pub fn parts(&self) -> (ElicitedAction, Option<&Map<String, Value>>) {
        match self {
            Self::Accept(content) => (ElicitedAction::Accept, Some(content)),
            Self::Decline => (ElicitedAction::Decline, None),
            Self::Cancel => (ElicitedAction::Cancel, None),
        }
    }
}

/// What the agent tells, in the order in which it happened.
#[derive(Debug)]
pub enum Told {
    /// Something happened in the conversation, in the turn that runs.
    Event(Event),
    /// Something happened outside of a turn. It is no part of any turn's reply.
    Outside(Event),
    /// Whether the agent works outside of a turn. Sent when that changes.
    Working(bool),
    /// A question for a person.
    Approval(Approval),
    /// A form for a person.
    Elicitation(Elicitation),
    /// What is known of it changed.
    Facts(Box<Facts>),
    /// The turn is over; nothing of it follows.
    TurnEnded(TurnEnd),
    /// The process is gone, and nothing follows.
    Gone(Gone),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// As it should. The agent's own word for why: `end_turn`, `max_tokens`, `refusal` ...
    Done(String),
    /// It was cancelled.
    Interrupted,
    /// The agent failed; its words, shortened.
    Failed(String),
}

/// How an agent's process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// For a person: its exit code or signal, or what it did that cannot be understood.
    pub how: String,
    /// The last that it wrote on its standard error, and on its output since its last message.
    pub stderr: String,
}

/// An agent that is ready: initialized, and in a session.
#[derive(Debug)]
pub struct Agent {
    /// Its process.
    pub pid: i32,
    /// What is known of it now.
    pub facts: Facts,
    /// What was said before, oldest first, where a session was loaded and the agent repeats it.
    pub history: Vec<Event>,
    /// Where to ask it something.
    pub asks: mpsc::Sender<Ask>,
    /// What it tells. Bounded: an agent whose host does not read waits.
    pub told: mpsc::Receiver<Told>,
}

/// Which harness an agent is, as far as its command line tells.
pub fn harness_of(command: &[OsString]) -> Option<Harness> {
    facts::harness(None, command)
}

/// Starts an agent and brings it into a session: initialized, logged in where that needs nobody, a session made or loaded.
/// Must be called within a runtime. The agent ends when `asks` or `told` is dropped: its input ends, it is asked to end, it
/// is killed; `told` then says that it is gone, if it is still there. It is killed at once when the runtime ends.
pub async fn start(options: &Options) -> Result<Agent, Error> {
    start::start(options).await
}
