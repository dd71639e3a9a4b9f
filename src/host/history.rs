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
    /// More is known of a call. With it the output so far, where that is news.
    Known(Call, Option<Output>),
    /// The tool gave something, and with it all that is known of the call.
    Gave { id: String, name: Option<String>, output: String, call: Option<Call> },
    /// What the agent said is complete: what it says next is another message.
    Ended,
}

/// What a tool gave so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// All of it.
    Whole(String),
    /// The next piece.
    Piece(String),
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

impl Call {
    /// What it takes, at most, when it is told.
    fn bytes(&self) -> usize {
        let texts = [&self.id, &self.function.name, &self.function.arguments];
        FRAME + texts.into_iter().map(|text| written(text)).sum::<usize>()
    }
}

impl Step {
    /// What an event adds, if anything.
    pub(super) fn of(kind: &str, payload: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(match kind {
            "user_message" => Self::Said(text("text")?),
            "text_delta" => Self::Answered(text("text")?),
            "tool_call_started" => Self::Called(call(payload)?),
            "tool_call_updated" => {
                let whole = text("output").map(Output::Whole);
                Self::Known(call(payload)?, whole.or_else(|| text("output_delta").map(Output::Piece)))
            }
            "tool_call_completed" => {
                let call = call(payload).filter(|_| payload.contains_key("arguments"));
                Self::Gave { id: text("id")?, name: text("name"), output: text("output").unwrap_or_default(), call }
            }
            "turn_completed" | "turn_succeeded" | "turn_interrupted" | "turn_failed" => Self::Ended,
            _ => return None,
        })
    }
}

fn call(payload: &Map<String, Value>) -> Option<Call> {
    let text = |name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
    let function =
        Function { name: text("name").unwrap_or_default(), arguments: text("arguments").unwrap_or_default() };
    Some(Call { id: text("id")?, r#type: "function", function })
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
        self.bytes += call.bytes();
        match self.tool_calls.iter_mut().rev().find(|known| known.id == call.id) {
            Some(known) => self.bytes -= std::mem::replace(known, call).bytes(),
            None => self.tool_calls.push(call),
        }
    }

    fn has_call(&self, id: &str) -> bool {
        self.tool_calls.iter().rev().any(|call| call.id == id)
    }

    fn answers(&self, id: &str) -> bool {
        self.tool_call_id.as_deref() == Some(id)
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
                Some(message) if message.tool_calls.is_empty() => {
                    self.change(self.messages.len() - 1, |message| message.say(&text));
                }
                _ => self.push(Message::new("assistant").says(&text)),
            },
            Step::Called(call) => self.call(call),
            Step::Known(call, output) => {
                let (id, name) = (call.id.clone(), call.function.name.clone());
                self.know(call);
                match output {
                    Some(Output::Whole(output)) => self.gave(id, Some(name), |message| message.says(&output)),
                    Some(Output::Piece(piece)) => self.gave_more(id, name, &piece),
                    None => {}
                }
            }
            Step::Gave { id, name, output, call } => {
                if let Some(call) = call {
                    self.know(call);
                }
                let name = name.or_else(|| self.name_of(&id));
                self.gave(id, name, |message| message.says(&output));
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

    /// A call is known better. One that is not kept any more stays forgotten.
    fn know(&mut self, call: Call) {
        if let Some(at) = self.find(|message| message.has_call(&call.id)) {
            self.change(at, |message| message.call(call));
        }
    }

    /// A call is made.
    fn call(&mut self, call: Call) {
        if self.answer().is_none_or(|message| message.bytes > limits::HOST_MESSAGE_BYTES) {
            self.push(Message::new("assistant"));
        }
        self.change(self.messages.len() - 1, |message| message.call(call));
    }

    /// What a call gave, in place of what it had given.
    fn gave(&mut self, id: String, name: Option<String>, says: impl FnOnce(Message) -> Message) {
        let at = self.result_of(&id);
        let message = says(Message::new("tool")).gives(id, name);
        match at {
            Some(at) => self.change(at, |given| *given = message),
            None => self.push(message),
        }
    }

    fn gave_more(&mut self, id: String, name: String, piece: &str) {
        match self.result_of(&id) {
            Some(at) => self.change(at, |given| given.say(piece)),
            None => self.gave(id, Some(name), |message| message.says(piece)),
        }
    }

    /// Where what a call gave stands. It is looked for behind the call only.
    fn result_of(&self, id: &str) -> Option<usize> {
        let at = self.find(|message| message.answers(id) || message.has_call(id))?;
        self.messages.get(at).filter(|message| message.answers(id)).map(|_| at)
    }

    fn find(&self, is_it: impl Fn(&Message) -> bool) -> Option<usize> {
        self.messages.iter().rposition(is_it)
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

    fn change(&mut self, at: usize, change: impl FnOnce(&mut Message)) {
        if let Some(message) = self.messages.get_mut(at) {
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
