//! What was said, as messages: the fold of the events. It does not matter how many of them are folded at a time.

use crate::limits;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// What an event adds to the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Somebody said something.
    Said(String),
    /// The agent said more.
    Answered(String),
    /// The agent called a tool.
    Called(Call),
    /// The tool gave something.
    Gave { id: String, name: Option<String>, output: String },
    /// What the agent said is complete: what it says next is another message.
    Ended,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Call {
    id: String,
    r#type: &'static str,
    function: Function,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Function {
    name: String,
    arguments: String,
}

impl Step {
    /// What an event adds, if anything.
    pub(super) fn of(kind: &str, payload: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(match kind {
            "user_message" => Self::Said(text("text")?),
            "text_delta" => Self::Answered(text("text")?),
            "tool_call_started" => {
                let function = Function {
                    name: text("name").unwrap_or_default(),
                    arguments: text("arguments").unwrap_or_default(),
                };
                Self::Called(Call { id: text("id")?, r#type: "function", function })
            }
            "tool_call_completed" => {
                Self::Gave { id: text("id")?, name: text("name"), output: text("output").unwrap_or_default() }
            }
            "turn_completed" | "turn_succeeded" | "turn_interrupted" | "turn_failed" => Self::Ended,
            _ => return None,
        })
    }
}

/// A message, as the API tells it. What is empty is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Message {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// What it takes, at most, when it is told.
    #[serde(skip)]
    bytes: usize,
}

/// What a message takes besides its texts, and a call.
const FRAME: usize = 128;

impl Message {
    fn new(role: &'static str) -> Self {
        Self { role, bytes: FRAME, ..Self::default() }
    }

    fn says(mut self, text: &str) -> Self {
        self.say(text);
        self
    }

    fn say(&mut self, text: &str) {
        let content = self.content.get_or_insert_default();
        let before = content.len();
        append(content, text, limits::HOST_MESSAGE_BYTES);
        self.bytes += content.get(before..).map_or(0, written);
    }

    /// A call that is told again is the same one, known better.
    fn call(&mut self, call: Call) {
        self.bytes += FRAME
            + [&call.id, &call.function.name, &call.function.arguments]
                .into_iter()
                .map(|text| written(text))
                .sum::<usize>();
        match self.tool_calls.iter_mut().find(|known| known.id == call.id) {
            Some(known) => *known = call,
            None => self.tool_calls.push(call),
        }
    }

    fn gives(mut self, id: String, name: Option<String>) -> Self {
        self.bytes += written(&id) + name.as_deref().map_or(0, written);
        (self.tool_call_id, self.name) = (Some(id), name);
        self
    }
}

/// The newest messages.
#[derive(Debug, Default)]
pub(super) struct History {
    messages: VecDeque<Message>,
    bytes: usize,
    /// Whether the newest message is complete.
    is_complete: bool,
}

impl History {
    /// Adds what an event adds.
    pub(super) fn take(&mut self, step: Step) {
        match step {
            Step::Ended => self.is_complete = true,
            Step::Said(text) => self.push(Message::new("user").says(&text)),
            Step::Answered(text) => match self.answer() {
                Some(message) if message.tool_calls.is_empty() => self.change(|message| message.say(&text)),
                _ => self.push(Message::new("assistant").says(&text)),
            },
            Step::Called(call) => {
                if self.answer().is_none_or(|message| message.bytes > limits::HOST_MESSAGE_BYTES) {
                    self.push(Message::new("assistant"));
                }
                self.change(|message| message.call(call));
            }
            Step::Gave { id, name, output } => {
                let name = name.or_else(|| self.name_of(&id));
                self.push(Message::new("tool").says(&output).gives(id, name));
            }
        }
        while self.messages.len() > limits::HISTORY_MAX as usize || self.bytes > limits::HOST_HISTORY_BYTES {
            let gone = self.messages.pop_front();
            self.bytes -= gone.map_or(self.bytes, |gone| gone.bytes);
        }
    }

    /// The newest `limit` messages, oldest first.
    pub(super) fn newest(&self, limit: usize) -> impl Iterator<Item = &Message> {
        self.messages.iter().skip(self.messages.len().saturating_sub(limit))
    }

    /// What the agent answers at this moment.
    fn answer(&self) -> Option<&Message> {
        self.messages.back().filter(|message| message.role == "assistant" && !self.is_complete)
    }

    fn push(&mut self, message: Message) {
        self.bytes += message.bytes;
        self.is_complete = false;
        self.messages.push_back(message);
    }

    fn change(&mut self, change: impl FnOnce(&mut Message)) {
        if let Some(message) = self.messages.back_mut() {
            self.bytes -= message.bytes;
            change(message);
            self.bytes += message.bytes;
        }
    }

    fn name_of(&self, id: &str) -> Option<String> {
        let calls = self.messages.iter().rev().flat_map(|message| message.tool_calls.iter());
        calls.into_iter().find(|call| call.id == id).map(|call| call.function.name.clone())
    }
}

/// What a text takes as JSON, at most.
pub(super) fn written(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' => 2,
        0..=0x1f => 6,
        _ => 1,
    };
    text.bytes().map(escaped).sum()
}

/// Appends as much of a text as there is room for, never half a character. Says whether that was all.
pub(super) fn append(to: &mut String, text: &str, max: usize) -> bool {
    let room = max.saturating_sub(to.len());
    let fits = (0..=room.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    to.push_str(&text[..fits]);
    fits == text.len()
}
