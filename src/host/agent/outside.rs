//! Whether an agent works outside of a turn. The protocol has no message for it, so it is derived from what the agent sends.

use super::Event;
use crate::limits;
use serde_json::Value;
use std::collections::HashSet;
use tokio::time::Instant;

/// The work of an agent outside of turns.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// The tool calls that began outside of a turn and are not completed.
    open: HashSet<String>,
    /// When the agent counts as idle unless it sends something; `None` while it does not work.
    until: Option<Instant>,
}

impl Outside {
    /// Takes note of an event. Returns whether it shows that work outside of a turn began.
    pub(super) fn note(&mut self, event: &Event, in_turn: bool, now: Instant) -> bool {
        let call = event.payload.get("id").and_then(Value::as_str);
        match event.kind {
            "tool_call_started" if !in_turn && self.open.len() < limits::AGENT_TOOLS => {
                self.open.extend(call.map(str::to_owned));
            }
            "tool_call_completed" => {
                let was_open = call.is_some_and(|call| self.open.remove(call));
                if in_turn && !was_open {
                    return false;
                }
            }
            "tool_call_updated" if call.is_some_and(|call| self.open.contains(call)) => {}
            "text_delta" | "reasoning" | "user_message" if !in_turn => {}
            _ => return false,
        }
        let silence = if self.open.is_empty() { limits::AGENT_QUIET } else { limits::AGENT_CALL_QUIET };
        self.until.replace(now + silence).is_none()
    }

    /// Takes note that a call will not run: nobody allowed it. An agent may report nothing more of it.
    pub(super) fn refuse(&mut self, call: &str, now: Instant) {
        if self.open.remove(call) && self.open.is_empty() {
            self.until = self.until.map(|_| now + limits::AGENT_QUIET);
        }
    }

    /// Whether the agent works outside of a turn.
    pub(super) fn is_working(&self) -> bool {
        self.until.is_some()
    }

    /// Whether a tool call began outside of a turn and is not completed.
    pub(super) fn is_open(&self, call: &str) -> bool {
        self.open.contains(call)
    }

    /// When the agent counts as idle unless it sends something.
    pub(super) fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Ends the work. Returns whether there was any.
    pub(super) fn end(&mut self) -> bool {
        self.open.clear();
        self.until.take().is_some()
    }
}

/// Whether an update ends a piece of work. claude-agent-acp 0.49 sends the cost with each result of its program and at no
/// other time, also for the answer to a background command that ended.
pub(super) fn is_result(update: &Value) -> bool {
    update.get("sessionUpdate").and_then(Value::as_str) == Some("usage_update")
        && update.get("cost").is_some_and(Value::is_object)
}

#[cfg(test)]
mod tests {
    use super::super::translate::event;
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    fn said() -> Event {
        event("text_delta", [("text", "a".into())], &json!({}))
    }

    fn call(kind: &'static str, id: &str) -> Event {
        event(kind, [("id", id.into())], &json!({}))
    }

    #[test]
    fn text_outside_a_turn_is_work_until_the_agent_is_quiet() {
        let (mut outside, now) = (Outside::default(), Instant::now());
        assert!(!outside.note(&said(), true, now) && !outside.is_working());
        assert!(outside.note(&said(), false, now) && outside.is_working());
        let later = now + Duration::from_secs(1);
        assert!(!outside.note(&said(), false, later), "it works already");
        assert_eq!(outside.until(), Some(later + limits::AGENT_QUIET));
        assert!(outside.end() && !outside.end());
    }

    #[test]
    fn an_open_call_keeps_it_working_until_it_is_completed() {
        let (mut outside, now) = (Outside::default(), Instant::now());
        assert!(outside.note(&call("tool_call_started", "a"), false, now));
        assert_eq!(outside.until(), Some(now + limits::AGENT_CALL_QUIET));
        assert!(!outside.note(&call("tool_call_completed", "other"), true, now));
        assert_eq!(outside.until(), Some(now + limits::AGENT_CALL_QUIET));
        outside.note(&call("tool_call_completed", "a"), true, now);
        assert_eq!(outside.until(), Some(now + limits::AGENT_QUIET));
    }

    #[test]
    fn refused_call_no_longer_keeps_it_working() {
        let (mut outside, now) = (Outside::default(), Instant::now());
        outside.note(&call("tool_call_started", "a"), false, now);
        outside.note(&call("tool_call_started", "b"), false, now);
        outside.refuse("a", now);
        assert_eq!(outside.until(), Some(now + limits::AGENT_CALL_QUIET), "the other call is still open");
        outside.refuse("b", now);
        assert_eq!(outside.until(), Some(now + limits::AGENT_QUIET));
    }

    #[test]
    fn only_usage_with_a_cost_is_a_result() {
        assert!(is_result(&json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.1}})));
        assert!(!is_result(&json!({"sessionUpdate": "usage_update", "used": 1, "size": 2})));
        assert!(!is_result(&json!({"sessionUpdate": "session_info_update", "cost": {"amount": 0.1}})));
    }
}
