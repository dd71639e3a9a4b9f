//! What was said before, as an agent repeats it while it loads a session.

use super::Event;
use crate::limits;
use serde_json::Value;
use std::collections::VecDeque;

/// The newest of it. The pieces of one message are one event.
#[derive(Debug, Default)]
pub(super) struct History {
    events: VecDeque<Kept>,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    event: Event,
    message: Option<String>,
    size: usize,
}

impl History {
    pub(super) fn push(&mut self, event: Event) {
        let message = event.payload.get("raw").and_then(|raw| raw.get("messageId")).and_then(Value::as_str);
        let message = message.map(str::to_owned);
        let more = event.payload.get("text").and_then(Value::as_str).unwrap_or_default();
        if let Some(last) = self.events.back_mut()
            && matches!(event.kind, "text_delta" | "reasoning" | "user_message")
            && (last.event.kind, &last.message) == (event.kind, &message)
            && let Some(Value::String(text)) = last.event.payload.get_mut("text")
            && text.len() + more.len() <= limits::AGENT_TEXT
        {
            text.push_str(more);
            last.size += more.len();
            self.bytes += more.len();
            // What the agent sent stands for one piece only.
            last.event.payload.remove("raw");
        } else {
            let size = Value::Object(event.payload.clone()).to_string().len();
            self.bytes += size;
            self.events.push_back(Kept { event, message, size });
        }
        while self.events.len() > limits::AGENT_HISTORY || self.bytes > limits::AGENT_HISTORY_BYTES {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= oldest.size;
        }
    }

    /// All of it, oldest first.
    pub(super) fn events(self) -> Vec<Event> {
        self.events.into_iter().map(|kept| kept.event).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::agent::translate::event;
    use serde_json::json;

    fn said(kind: &'static str, text: &str, message: Option<&str>) -> Event {
        event(kind, [("text", text.into())], &json!({ "messageId": message }))
    }

    #[test]
    fn pieces_of_a_message_become_one() {
        let mut history = History::default();
        for (kind, text, message) in [
            ("user_message", "he", None),
            ("user_message", "llo", None),
            ("text_delta", "a", Some("1")),
            ("text_delta", "b", Some("1")),
            ("text_delta", "c", Some("1")),
            ("text_delta", "d", Some("2")),
        ] {
            history.push(said(kind, text, message));
        }
        let events = history.events();
        let texts: Vec<_> = events.iter().map(|event| event.payload["text"].as_str().unwrap()).collect();
        assert_eq!(texts, ["hello", "abc", "d"]);
        assert!(events[0].payload.get("raw").is_none() && events[2].payload.get("raw").is_some());
    }

    #[test]
    fn the_newest_are_kept() {
        let mut history = History::default();
        for n in 0..limits::AGENT_HISTORY + 5 {
            history.push(said("text_delta", &n.to_string(), Some(&n.to_string())));
        }
        let events = history.events();
        assert_eq!((events.len(), events[0].payload["text"].as_str()), (limits::AGENT_HISTORY, Some("5")));
        let mut history = History::default();
        let large = "x".repeat(limits::AGENT_TEXT);
        for _ in 0..40 {
            history.push(said("text_delta", &large, None));
        }
        assert!(history.bytes <= limits::AGENT_HISTORY_BYTES && history.events.len() > 8);
    }
}
