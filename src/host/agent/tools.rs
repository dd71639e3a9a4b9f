//! The tool calls of a session, so that what ends one can say which it was.

use crate::limits;
use std::collections::VecDeque;

#[derive(Debug, Default)]
struct Tool {
    id: String,
    name: Option<String>,
    /// The arguments, as JSON text, and whether they are those that were told when it began.
    arguments: Option<String>,
    is_told: bool,
    /// What it said last.
    output: Option<String>,
    is_done: bool,
}

/// What is told of a tool call that is done.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Done {
    /// What it is called.
    pub name: Option<String>,
    /// Its arguments, where they are others than were told.
    pub arguments: Option<String>,
    /// What it said before.
    pub output: Option<String>,
}

/// The newest ones.
#[derive(Debug, Default)]
pub(super) struct Tools(VecDeque<Tool>);

impl Tools {
    fn find(&mut self, id: &str) -> Option<&mut Tool> {
        self.0.iter_mut().rev().find(|tool| tool.id == id)
    }

    /// Whether it was told that this one began.
    pub fn is_known(&self, id: &str) -> bool {
        self.0.iter().rev().any(|tool| tool.id == id && tool.name.is_some())
    }

    /// What one is called.
    pub fn name(&mut self, id: &str) -> Option<String> {
        self.find(id)?.name.clone()
    }

    /// What is newly known of one.
    pub fn learn(&mut self, id: &str, name: Option<String>, arguments: Option<String>, output: Option<String>) {
        // Nobody makes such ids in earnest, and they would be kept.
        if id.len() > limits::AGENT_WORDS {
            return;
        }
        if self.find(id).is_none() {
            if self.0.len() == limits::AGENT_TOOLS {
                self.0.pop_front();
            }
            self.0.push_back(Tool { id: id.to_owned(), ..Tool::default() });
        }
        let Some(tool) = self.find(id) else { return };
        // As it was first told: some agents change the title with every step.
        if tool.name.is_none() {
            tool.name = name;
        }
        if output.is_some() {
            tool.output = output;
        }
        if arguments.is_some() && arguments != tool.arguments {
            (tool.arguments, tool.is_told) = (arguments, false);
        }
    }

    /// The name and the arguments of one whose beginning is told now.
    pub fn started(&mut self, id: &str) -> (Option<String>, String) {
        let Some(tool) = self.find(id) else { return (None, String::new()) };
        tool.is_told = true;
        (tool.name.clone(), tool.arguments.clone().unwrap_or_else(|| "{}".to_owned()))
    }

    /// What is told of one that is done; `None` where it was done before.
    pub fn done(&mut self, id: &str) -> Option<Done> {
        let tool = self.find(id)?;
        if std::mem::replace(&mut tool.is_done, true) {
            return None;
        }
        let arguments = tool.arguments.take().filter(|_| !tool.is_told);
        Some(Done { name: tool.name.clone(), arguments, output: tool.output.take() })
    }
}
