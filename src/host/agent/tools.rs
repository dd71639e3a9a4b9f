//! The tool calls of a session. An agent reveals a call piece by piece; what its updates say is merged here, so that every
//! event has all that is known of the call.
//!
//! Output comes as content, as `rawOutput`, from a terminal of the host, or in pieces in `_meta`: `terminal_output_delta`
//! (Codex's adapter 2.6.0), `terminal_output` (Claude Code's adapter 0.49.0, the convention of Zed), `mcp_output_delta`.

use super::content;
use super::message::value;
use super::tail::Tail;
use super::terminal::Terminals;
use super::words::cut;
use crate::limits;
use agent_client_protocol_schema::v1::{ToolCallContent, ToolCallUpdateFields};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

/// One call.
#[derive(Debug)]
pub(super) struct Tool {
    id: String,
    /// What a person calls it, as it was said last.
    pub name: String,
    /// Its arguments as JSON text, as they were said last; `{}` where none were.
    pub arguments: String,
    /// Whether these are what the tool is given, and not only the places that it is about.
    is_input: bool,
    /// What its content says, and the terminals that it shows.
    content: Content,
    /// Its output as it was sent in pieces.
    streamed: Tail,
    /// What it says on its way, which its result replaces.
    progress: Tail,
    /// How its command ended, where that was not well.
    exit: Option<String>,
    is_done: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Content {
    text: String,
    terminals: Vec<String>,
    raw: String,
}

/// What an update changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// The call was not known before.
    pub is_new: bool,
    /// Its name or its arguments.
    pub call: bool,
    /// Its content, or its own output.
    pub content: bool,
    /// The piece of output that came.
    pub piece: Option<String>,
}

/// The newest ones.
#[derive(Debug, Default)]
pub(super) struct Tools(VecDeque<Tool>);

impl Tools {
    /// One that is known.
    pub(super) fn get(&self, id: &str) -> Option<&Tool> {
        self.0.iter().rev().find(|tool| tool.id == id)
    }

    /// Merges what is said of a call. `None` for an id that nobody makes in earnest, and which would be kept.
    pub(super) fn learn(
        &mut self,
        id: &str,
        fields: &ToolCallUpdateFields,
        meta: &Value,
    ) -> Option<(&mut Tool, Change)> {
        if id.len() > limits::AGENT_WORDS {
            return None;
        }
        let known = self.0.iter().rposition(|tool| tool.id == id);
        let mut change = Change { is_new: known.is_none(), ..Change::default() };
        let at = known.unwrap_or_else(|| {
            if self.0.len() == limits::AGENT_TOOLS {
                self.0.pop_front();
            }
            self.0.push_back(Tool::new(id));
            self.0.len() - 1
        });
        let tool = self.0.get_mut(at)?;
        change.call = tool.learn_call(fields);
        change.content = tool.learn_content(fields);
        change.piece = tool.learn_output(meta);
        Some((tool, change))
    }
}

impl Tool {
    fn new(id: &str) -> Self {
        let tail = || Tail::new(limits::AGENT_TOOL_BYTES);
        Self {
            id: id.to_owned(),
            name: String::new(),
            arguments: "{}".to_owned(),
            is_input: false,
            content: Content::default(),
            streamed: tail(),
            progress: tail(),
            exit: None,
            is_done: false,
        }
    }

    /// Whether it is known what the tool is given.
    pub(super) fn has_input(&self) -> bool {
        self.is_input
    }

    fn learn_call(&mut self, fields: &ToolCallUpdateFields) -> bool {
        let before = (self.name.clone(), self.arguments.clone());
        // A kind says less than the name that is known.
        let kind = || Some(value(&fields.kind?).as_str()?.to_owned());
        match title(fields) {
            Some(name) => self.name = name,
            None if self.name.is_empty() => self.name = kind().unwrap_or_else(|| "tool".to_owned()),
            None => {}
        }
        let text = |value: &Value| cut(value.to_string(), limits::AGENT_TOOL_BYTES);
        let input = fields.raw_input.as_ref().filter(|input| !input.is_null());
        let is_empty = |input: &&Value| input.as_object().is_some_and(Map::is_empty);
        if let Some(input) = input.filter(|input| !is_empty(input)) {
            (self.arguments, self.is_input) = (text(input), true);
        } else if let Some(places) = fields.locations.as_ref().filter(|places| !places.is_empty() && !self.is_input) {
            self.arguments = text(&json!({ "locations": places }));
        }
        before != (self.name.clone(), self.arguments.clone())
    }

    fn learn_content(&mut self, fields: &ToolCallUpdateFields) -> bool {
        let before = self.content.clone();
        let new = &mut self.content;
        if let Some(content) = &fields.content {
            let is_terminal = |piece: &&ToolCallContent| matches!(piece, ToolCallContent::Terminal(_));
            let (terminals, others): (Vec<_>, Vec<_>) = content.iter().partition(is_terminal);
            new.text = content::output(others);
            new.terminals = terminals.into_iter().filter_map(terminal).take(limits::AGENT_TERMINALS).collect();
        }
        if let Some(raw) = fields.raw_output.as_ref().filter(|raw| !raw.is_null()) {
            let text = raw.as_str().map_or_else(|| raw.to_string(), str::to_owned);
            new.raw = cut(text, limits::AGENT_TEXT);
        }
        before != self.content
    }

    /// Keeps less of what it gave: there may be many that are on their way.
    pub(super) fn shrink(&mut self) {
        for text in [&mut self.content.text, &mut self.content.raw] {
            *text = cut(std::mem::take(text), limits::AGENT_TOOL_BYTES);
        }
    }

    fn learn_output(&mut self, meta: &Value) -> Option<String> {
        let piece = |name: &str| meta[name]["data"].as_str().filter(|piece| !piece.is_empty());
        let exit = &meta["terminal_exit"];
        if exit["exit_code"].as_i64().is_some_and(|code| code != 0) {
            self.exit = Some(format!("exit code {}", exit["exit_code"]));
        } else if let Some(signal) = exit["signal"].as_str() {
            self.exit = Some(format!("signal {}", cut(signal.to_owned(), limits::AGENT_WORDS)));
        }
        if let Some(piece) = piece("terminal_output_delta").or_else(|| piece("terminal_output")) {
            self.streamed.push(piece.as_bytes());
            return Some(cut(piece.to_owned(), limits::AGENT_TEXT));
        }
        let piece = piece("mcp_output_delta")?;
        self.progress.push(piece.as_bytes());
        Some(cut(piece.to_owned(), limits::AGENT_TEXT))
    }

    /// What it gave so far, in words.
    pub(super) fn output(&self, terminals: &Terminals) -> String {
        let streamed = self.streamed.text();
        let of_host =
            || self.content.terminals.iter().filter_map(|id| terminals.text(id)).collect::<Vec<_>>().join("\n");
        let terminal = if streamed.is_empty() { of_host() } else { streamed };
        let terminal = Some(terminal).filter(|terminal| !self.content.text.contains(terminal.trim()));
        let mut said: Vec<&str> =
            [Some(self.content.text.as_str()), terminal.as_deref()].into_iter().flatten().collect();
        said.retain(|said| !said.is_empty());
        let progress = self.progress.text();
        if said.is_empty() {
            said.push(if self.content.raw.is_empty() { &progress } else { &self.content.raw });
        }
        let mut text = said.join("\n");
        if let Some(exit) = &self.exit {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(exit);
        }
        cut(text, limits::AGENT_TEXT)
    }

    /// Ends it. False where it had ended before. What it gave is kept no longer.
    pub(super) fn end(&mut self) -> bool {
        self.content = Content::default();
        (self.streamed, self.progress) = (Tail::new(limits::AGENT_TOOL_BYTES), Tail::new(limits::AGENT_TOOL_BYTES));
        !std::mem::replace(&mut self.is_done, true)
    }
}

/// What a person calls a tool call: its title, else its name.
pub(super) fn title(fields: &ToolCallUpdateFields) -> Option<String> {
    let words = [&fields.title, &fields.name].into_iter().flatten();
    let title = words.into_iter().find(|word| !word.trim().is_empty())?;
    Some(cut(title.clone(), limits::AGENT_WORDS))
}

fn terminal(piece: &ToolCallContent) -> Option<String> {
    match piece {
        ToolCallContent::Terminal(terminal) if terminal.terminal_id.0.len() <= limits::AGENT_WORDS => {
            Some(terminal.terminal_id.0.to_string())
        }
        _ => None,
    }
}
