//! What a runtime tells, as lines for a person. Pure.

use super::asked::Asked;
use super::clean::{Cleaner, clean, one_line};
use crate::cli::output::Colour;
use crate::cli::words;
use serde_json::Value;

/// A line, however long: what is put before it says what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What stands before it; before what of it does not fit on the first row stands as much room.
    pub lead: &'static str,
    /// Without control characters.
    pub text: String,
    /// The colour of it all.
    pub colour: Colour,
}

impl Line {
    fn new(lead: &'static str, colour: Colour, text: impl Into<String>) -> Self {
        Self { lead, text: text.into(), colour }
    }

    /// Something that is not said by the runtime's agent.
    pub fn note(text: &str) -> Self {
        Self::new("-- ", Colour::Dim, one_line(text))
    }

    /// Something that a person must see.
    pub fn alert(text: &str) -> Self {
        Self::new("! ", Colour::Alert, one_line(text))
    }
}

/// Lines of a message of the history, and of one that a tool said just now.
const LINES_OF_HISTORY: usize = 12;
const LINES_OF_TOOL: usize = 8;
/// Characters of such a line, and of a call's arguments.
const CHARS: usize = 400;
/// Characters after which a line ends that does not end.
const LONGEST: usize = 4_000;

/// Turns events into lines.
#[derive(Default)]
pub struct View {
    open: Option<Open>,
    /// Whether the running turn has said something.
    said: bool,
}

/// A text of which only the beginning has come.
struct Open {
    part: Part,
    cleaner: Cleaner,
    line: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Text,
    Thinking,
    Job,
}

impl Part {
    fn line(self, text: String) -> Line {
        match self {
            Self::Text => Line::new("", Colour::None, text),
            Self::Thinking => Line::new("~ ", Colour::Dim, text),
            Self::Job => Line::new("  & ", Colour::Dim, text),
        }
    }
}

impl View {
    /// The line that is being said.
    pub fn partial(&self) -> Option<Line> {
        let open = self.open.as_ref().filter(|open| !open.line.is_empty())?;
        Some(open.part.line(open.line.clone()))
    }

    /// Ends the line that is being said.
    pub fn finish(&mut self) -> Vec<Line> {
        let open = self.open.take().filter(|open| !open.line.is_empty());
        open.map(|open| open.part.line(open.line)).into_iter().collect()
    }

    /// The lines that an event adds.
    pub fn event(&mut self, kind: &str, payload: &Value) -> Vec<Line> {
        let text = |name: &str| payload[name].as_str().unwrap_or_default();
        match kind {
            "text_delta" => {
                self.said = true;
                return self.stream(Part::Text, text("text"));
            }
            "reasoning" => return self.stream(Part::Thinking, text("text")),
            "background_output" => return self.stream(Part::Job, text("chunk")),
            "turn_started" => self.said = false,
            _ => {}
        }
        let mut lines = self.finish();
        match kind {
            // Numbers that nobody follows, and what other events say better.
            "turn_started" | "turn_completed" | "usage" => {}
            "turn_succeeded" if self.said => {}
            "turn_succeeded" => lines.extend(whole("", Colour::None, text("reply"), usize::MAX)),
            "user_message" => lines.extend(whole("> ", Colour::Bold, text("text"), usize::MAX)),
            "tool_call_started" => lines.push(call(text("name"), text("arguments"))),
            "tool_call_completed" => {
                let failed = payload["is_error"] == true;
                let colour = if failed { Colour::Alert } else { Colour::Dim };
                lines.extend(whole("  | ", colour, text("output"), LINES_OF_TOOL));
            }
            "request" => lines.extend(Asked::of(payload).map_or_else(Vec::new, |asked| asked.lines())),
            "turn_failed" => lines.push(Line::alert(&format!("the turn failed: {}", text("message")))),
            _ => lines.push(Line::note(&remark(kind, payload))),
        }
        lines
    }

    /// The lines of a message of the history, shortened.
    pub fn message(message: &Value) -> Vec<Line> {
        let content = match &message["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
            _ => String::new(),
        };
        let mut lines = match message["role"].as_str().unwrap_or_default() {
            "user" => whole("> ", Colour::Bold, &content, LINES_OF_HISTORY),
            "tool" => whole("  | ", Colour::Dim, &content, LINES_OF_TOOL / 2),
            "system" => whole("-- ", Colour::Dim, &content, 2),
            _ => whole("", Colour::None, &content, LINES_OF_HISTORY),
        };
        for made in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &made["function"];
            let text = |name: &str| function[name].as_str().unwrap_or_default();
            lines.push(call(text("name"), text("arguments")));
        }
        lines
    }

    fn stream(&mut self, part: Part, piece: &str) -> Vec<Line> {
        let mut lines = if self.open.as_ref().is_some_and(|open| open.part == part) { vec![] } else { self.finish() };
        let open = self.open.get_or_insert_with(|| Open { part, cleaner: Cleaner::default(), line: String::new() });
        for c in open.cleaner.clean(piece).chars() {
            if c != '\n' {
                open.line.push(c);
            }
            if c == '\n' || open.line.len() >= LONGEST {
                lines.push(part.line(std::mem::take(&mut open.line)));
            }
        }
        lines
    }
}

/// A part of a message that has several.
fn part(part: &Value) -> String {
    match part["text"].as_str() {
        Some(text) => text.to_owned(),
        None if part["type"] == "image_url" => "[image]".to_owned(),
        None => format!("[{}]", part["type"].as_str().unwrap_or("something")),
    }
}

fn call(name: &str, arguments: &str) -> Line {
    Line::new("* ", Colour::Calm, cut(&format!("{} {}", one_line(name), one_line(arguments)), CHARS))
}

/// The lines of a text; of one that has more lines than may be shown, how many more.
fn whole(lead: &'static str, colour: Colour, text: &str, at_most: usize) -> Vec<Line> {
    let text = clean(text);
    let mut rest = text.trim_end_matches('\n').lines();
    let longest = if at_most == usize::MAX { usize::MAX } else { CHARS };
    let mut lines: Vec<Line> = Vec::new();
    for line in rest.by_ref().take(at_most) {
        let lead = if lines.is_empty() || lead != "> " { lead } else { "  " };
        lines.push(Line::new(lead, colour, cut(line, longest)));
    }
    let more = rest.count();
    if more > 0 {
        lines.push(Line::new("  ", Colour::Dim, format!("… {}", words::count(more, "more line"))));
    }
    lines
}

pub(super) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}… {} more characters", &text[..end], text[end..].chars().count()),
        None => text.to_owned(),
    }
}

/// What happened beside what is said and done, in a few words.
fn remark(kind: &str, payload: &Value) -> String {
    let word = |name: &str| match &payload[name] {
        Value::String(text) => cut(text, CHARS),
        Value::Null => "?".to_owned(),
        other => cut(&other.to_string(), CHARS),
    };
    match kind {
        "turn_interrupted" => "the turn was interrupted".to_owned(),
        "turn_aborted" => format!("the turn was aborted by {}", word("source")),
        "cache_warning" => word("message"),
        "model_changed" => format!("the model changed from {} to {}: {}", word("from"), word("to"), word("reason")),
        "provider_retry" => {
            format!(
                "the model is asked again in {} ms (attempt {}): {}",
                word("delay_ms"),
                word("attempt"),
                word("reason")
            )
        }
        "request_resolved" => format!("request {}: {}", word("request_id"), answered(&payload["response"])),
        "native_event" => format!("the agent says {}", word("kind")),
        "runtime_disconnected" => format!("the agent is gone: {}", word("message")),
        _ => {
            let said = ["message", "text", "reason", "prompt"].iter().find_map(|name| payload[*name].as_str());
            let kind = kind.replace('_', " ");
            said.map_or_else(|| kind.clone(), |said| format!("{kind}: {}", cut(said, CHARS)))
        }
    }
}

fn answered(response: &Value) -> &'static str {
    let word = response["decision"].as_str().or(response["action"].as_str());
    match word {
        Some("allow") => "allowed",
        Some("allow_for_session") => "allowed for this session",
        Some("deny") => "denied",
        Some("accept") => "answered",
        Some("decline") => "declined",
        Some("cancel") => "dropped",
        _ => "settled",
    }
}
