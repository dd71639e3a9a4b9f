//! Calls of tools, as lines. An agent may reveal what it calls only after the call began: a call whose arguments are not known
//! is held, and shown when they come, when it is complete, or before something else is said of it. Pure.

use crate::cli::line::{Line, call};
use serde_json::Value;

/// The calls that are not complete.
#[derive(Default)]
pub(super) struct Calls(Vec<Call>);

struct Call {
    id: String,
    line: Line,
    is_shown: bool,
}

impl Calls {
    /// The newest call that is not shown yet.
    pub(super) fn held(&self) -> Option<Line> {
        self.0.iter().rev().find(|call| !call.is_shown).map(|call| call.line.clone())
    }

    /// Shows the calls that are held.
    pub(super) fn release(&mut self) -> Vec<Line> {
        let held = self.0.iter_mut().filter(|call| !call.is_shown);
        let show = |call: &mut Call| {
            call.is_shown = true;
            call.line.clone()
        };
        held.map(show).collect()
    }

    /// Takes in that a call begins, is known better, or is complete. A call that turns out to be another is shown again.
    pub(super) fn take(&mut self, kind: &str, payload: &Value) -> Option<Line> {
        let text = |name: &str| payload[name].as_str().unwrap_or_default();
        let (id, is_begin, is_end) = (text("id"), kind == "tool_call_started", kind == "tool_call_completed");
        let before = self.0.iter().position(|call| call.id == id).map(|at| self.0.remove(at));
        let has_arguments = !matches!(text("arguments"), "" | "null");
        // The end of a call need not repeat what it was.
        let line = if !text("name").is_empty() && (has_arguments || is_begin) {
            call(text("name"), text("arguments"))
        } else {
            before.as_ref()?.line.clone()
        };
        let is_shown = before.as_ref().is_some_and(|call| call.is_shown);
        let is_running = text("status") == "in_progress";
        let holds = match kind {
            "tool_call_started" => text("status") == "pending",
            "tool_call_updated" => matches!(text("arguments"), "" | "{}" | "null") && !is_running,
            _ => false,
        };
        let is_news = !holds && !before.is_some_and(|call| call.is_shown && call.line == line);
        if !is_end {
            self.0.push(Call { id: id.to_owned(), line: line.clone(), is_shown: is_shown || is_news });
        }
        is_news.then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(events: &[(&str, Value)]) -> Vec<String> {
        let mut calls = Calls::default();
        events.iter().filter_map(|(kind, payload)| calls.take(kind, payload)).map(|line| line.text).collect()
    }

    fn event(kind: &'static str, name: &str, arguments: &str, status: Option<&str>) -> (&'static str, Value) {
        (kind, json!({ "id": "1", "name": name, "arguments": arguments, "status": status }))
    }

    #[test]
    fn call_is_shown_once_with_what_is_called() {
        let command = r#"{"command":"ls"}"#;
        let begin = |arguments: &str| event("tool_call_started", "Terminal", arguments, Some("pending"));
        let update = event("tool_call_updated", "ls", command, None);
        let end = event("tool_call_completed", "ls", command, None);
        let expected = [format!("ls {command}")];
        assert_eq!(shown(&[begin("{}"), update.clone(), update.clone(), end.clone()]), expected);
        assert_eq!(shown(&[begin(r#"{"cwd":"/w"}"#), update, end.clone()]), expected);
        assert_eq!(shown(&[begin("{}"), end]), expected);
        let title = event("tool_call_updated", "Run ls", "{}", None);
        let done = event("tool_call_completed", "Run ls", "{}", None);
        assert_eq!(shown(&[begin("{}"), title, done]), ["Run ls {}"]);
    }

    #[test]
    fn call_that_runs_is_shown_at_once() {
        let command = r#"{"command":"ls"}"#;
        assert_eq!(shown(&[event("tool_call_started", "bash", command, None)]), [format!("bash {command}")]);
        assert_eq!(shown(&[event("tool_call_started", "bash", "{}", Some("in_progress"))]), ["bash {}"]);
    }

    #[test]
    fn end_without_arguments_is_of_the_call_that_began() {
        let begin = event("tool_call_started", "bash", r#"{"command":"ls"}"#, None);
        let end = ("tool_call_completed", json!({ "id": "1", "name": null, "arguments": "null" }));
        assert_eq!(shown(&[begin, end.clone()]), [r#"bash {"command":"ls"}"#]);
        assert_eq!(shown(&[end]), [""; 0]);
    }

    #[test]
    fn held_call_is_partial_until_it_is_released() {
        let mut calls = Calls::default();
        let (kind, payload) = event("tool_call_started", "Terminal", "{}", Some("pending"));
        assert_eq!(calls.take(kind, &payload), None);
        assert_eq!(calls.held().map(|line| line.text).as_deref(), Some("Terminal {}"));
        assert_eq!(calls.release().len(), 1);
        assert_eq!((calls.held(), calls.release().len()), (None, 0));
    }
}
