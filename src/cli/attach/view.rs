//! What a runtime tells, as lines for a person. Pure.

use super::asked::Asked;
use super::calls::Calls;
use crate::cli::clean::Cleaner;
use crate::cli::line::{CHARS, LINES_OF_TOOL, Line, call, cut, whole};
use crate::cli::output::Colour;
use serde_json::Value;

/// Lines of a message of the history.
const LINES_OF_HISTORY: usize = 12;
/// Bytes after which a line ends that does not end.
const LONGEST: usize = 16 << 10;

/// The events that are the conversation. All others may come in the middle of a sentence.
const CONVERSATION: [&str; 17] = [
    "user_message",
    "turn_started",
    "turn_completed",
    "turn_succeeded",
    "turn_interrupted",
    "turn_aborted",
    "turn_failed",
    "tool_call_started",
    "tool_call_updated",
    "tool_call_completed",
    "request",
    "request_resolved",
    "scheduled_prompt_started",
    "scheduled_prompt_deferred",
    "scheduled_prompt_completed",
    "scheduler_error",
    "runtime_disconnected",
];
/// Of the others those that are shown without `--verbose`.
const SHOWN_NOTES: [&str; 3] = ["model_changed", "cache_warning", "provider_retry"];

/// Turns events into lines.
#[derive(Default)]
pub(super) struct View {
    /// Whether what is not part of the conversation is shown, too.
    verbose: bool,
    open: Option<Open>,
    /// Notes that wait for the end of the text that is open.
    later: Vec<Line>,
    calls: Calls,
    /// Whether a turn has said nothing yet since it began before our eyes.
    silent: bool,
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
    /// A view that with `verbose` also shows what is not part of the conversation.
    pub(super) fn new(verbose: bool) -> Self {
        Self { verbose, ..Self::default() }
    }

    /// The line that may still change: the text that is being said, else the call that begins.
    pub(super) fn partial(&self) -> Option<Line> {
        let open = self.open.as_ref().filter(|open| !open.line.is_empty());
        open.map(|open| open.part.line(open.line.clone())).or_else(|| self.calls.held())
    }

    /// Ends what is open.
    pub(super) fn finish(&mut self) -> Vec<Line> {
        let mut lines = self.end_text();
        lines.extend(self.calls.release());
        lines
    }

    fn end_text(&mut self) -> Vec<Line> {
        let open = self.open.take().filter(|open| !open.line.is_empty());
        let said = open.map(|open| open.part.line(open.line));
        said.into_iter().chain(std::mem::take(&mut self.later)).collect()
    }

    /// The lines that an event adds.
    pub(super) fn event(&mut self, kind: &str, payload: &Value) -> Vec<Line> {
        let text = |name: &str| payload[name].as_str().unwrap_or_default();
        match kind {
            "text_delta" => {
                self.silent = false;
                return self.stream(Part::Text, text("text"));
            }
            "reasoning" => return self.stream(Part::Thinking, text("text")),
            "background_output" => return self.stream(Part::Job, text("chunk")),
            "turn_started" => self.silent = true,
            _ => {}
        }
        if !CONVERSATION.contains(&kind) {
            return self.note(kind, payload);
        }
        let mut lines = self.end_text();
        if let "tool_call_started" | "tool_call_updated" | "tool_call_completed" = kind {
            lines.extend(self.calls.take(kind, payload));
        } else {
            // Before a question, and where a turn ends, it is seen what was called.
            lines.extend(self.calls.release());
        }
        match kind {
            "turn_started" | "turn_completed" | "tool_call_started" | "tool_call_updated" => {}
            "turn_succeeded" if !std::mem::take(&mut self.silent) => {}
            "turn_succeeded" => lines.extend(whole("", Colour::None, text("reply"), usize::MAX)),
            "user_message" => lines.extend(whole("> ", Colour::Bold, text("text"), usize::MAX)),
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

    /// Something beside the conversation. It never interrupts a text.
    fn note(&mut self, kind: &str, payload: &Value) -> Vec<Line> {
        if !self.verbose && !SHOWN_NOTES.contains(&kind) && !is_native_request(kind, payload) {
            return Vec::new();
        }
        let line = Line::note(&remark(kind, payload));
        if self.open.is_none() {
            return vec![line];
        }
        self.later.push(line);
        Vec::new()
    }

    /// The lines of a message of the history, shortened.
    pub(super) fn message(message: &Value) -> Vec<Line> {
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
        let mut lines = if self.open.as_ref().is_some_and(|open| open.part == part) { vec![] } else { self.end_text() };
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

/// Whether an agent that Supercode hosts asks for permission: that is published as a native event, and only the owner of
/// the runtime can answer it.
fn is_native_request(kind: &str, payload: &Value) -> bool {
    kind == "native_event" && payload["kind"] == "session/request_permission"
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
            format!("retrying the model in {} ms (attempt {}): {}", word("delay_ms"), word("attempt"), word("reason"))
        }
        "request_resolved" => format!("request {}: {}", word("request_id"), answered(&payload["response"])),
        "native_event" if is_native_request(kind, payload) => {
            let title = payload["raw"]["params"]["toolCall"]["title"].as_str();
            format!(
                "the agent requests permission, which only its owner can grant: {}",
                cut(title.unwrap_or("?"), CHARS)
            )
        }
        "native_event" => format!("agent event {}", word("kind")),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(lines: impl IntoIterator<Item = Line>) -> Vec<String> {
        lines.into_iter().map(|line| format!("{}{}", line.lead, line.text)).collect()
    }

    /// What a captured stream looks like.
    fn captured(name: &str) -> Vec<String> {
        let path = format!("{}/tests/fixtures/runtime/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let mut view = View::default();
        let mut lines = Vec::new();
        for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
            let event: Value = serde_json::from_str(data).unwrap();
            lines.extend(view.event(event["kind"].as_str().unwrap(), &event["payload"]));
        }
        lines.extend(view.finish());
        shown(lines)
    }

    #[test]
    fn a_captured_stream_of_a_runtime_with_an_agent_of_its_own() {
        let expected = [
            "> TOOL echo approved",
            "* bash {\"command\": \"echo approved\"}",
            "? request 1: allow bash?",
            "  {\"command\":\"echo approved\"}",
            "-- request 1: allowed",
            "  | exit code: 0",
            "  | approved",
            "tool said: exit code: 0",
            "approved",
        ];
        assert_eq!(captured("sse_approval.txt"), expected);
        let lines = captured("sse_frontend_events.txt");
        assert_eq!(lines[..2], ["> hello world", "echo: hello world"]);
        assert_eq!(lines[3], "-- the turn was interrupted");
        assert!(lines[5].starts_with("! the turn failed: provider returned status 400"), "{}", lines[5]);
    }

    #[test]
    fn a_captured_stream_of_a_hosted_harness() {
        let asks = "-- the agent requests permission, which only its owner can grant: do it";
        let expected = ["> hello TOOL", "part0 part1 ", "* do it {\"command\":\"x\"}", asks, "  | done"];
        assert_eq!(captured("sse_hosted.txt"), expected);
    }

    #[test]
    fn every_other_kind_is_told_and_what_is_not_known_is_named() {
        let cases = [
            ("turn_succeeded", json!({ "reply": "not said here" }), ""),
            ("turn_aborted", json!({ "source": "user" }), "-- the turn was aborted by user"),
            ("cache_warning", json!({ "message": "a\nmiss" }), "-- a miss"),
            ("model_changed", json!({ "from": "a", "to": "b", "reason": "c" }), "-- the model changed from a to b: c"),
            (
                "provider_retry",
                json!({ "attempt": 2, "delay_ms": 500, "reason": "429" }),
                "-- retrying the model in 500 ms (attempt 2): 429",
            ),
            ("background_output", json!({ "job_id": "j", "chunk": "out\n", "truncated": false }), "  & out"),
            ("scheduled_prompt_started", json!({ "prompt": "nightly" }), "-- scheduled prompt started: nightly"),
            ("scheduled_prompt_deferred", json!({}), "-- scheduled prompt deferred"),
            ("scheduled_prompt_completed", json!({}), "-- scheduled prompt completed"),
            ("scheduler_error", json!({ "message": "no" }), "-- scheduler error: no"),
            ("runtime_disconnected", json!({ "message": "gone" }), "-- the agent is gone: gone"),
            ("reasoning", json!({ "text": "hm\n" }), "~ hm"),
            (
                "request_resolved",
                json!({ "request_id": 3, "response": { "action": "decline" } }),
                "-- request 3: declined",
            ),
            ("tool_call_completed", json!({ "output": "bad", "is_error": true }), "  | bad"),
            ("usage", json!({}), ""),
            ("turn_completed", json!({}), ""),
            ("brand_new\u{1b}[2J", json!(7), ""),
            ("native_event", json!({ "kind": "usage_update" }), ""),
            (
                "native_event",
                json!({ "kind": "session/request_permission", "raw": { "params": { "toolCall": { "title": "do it" } } } }),
                "-- the agent requests permission, which only its owner can grant: do it",
            ),
            ("operations_changed", json!({}), ""),
            ("mode_changed", json!({ "from": "a", "to": "b" }), ""),
        ];
        for (kind, payload, expected) in cases {
            assert_eq!(shown(View::default().event(kind, &payload)).join("\n"), expected, "{kind}");
        }
        let verbose = |kind: &str, payload: Value| shown(View::new(true).event(kind, &payload));
        assert_eq!(verbose("brand_new\u{1b}[2J", json!(7)), ["-- brand new"]);
        assert_eq!(verbose("native_event", json!({ "kind": "usage_update" })), ["-- agent event usage_update"]);
        let mut view = View::default();
        view.event("turn_started", &json!({}));
        assert_eq!(shown(view.event("turn_succeeded", &json!({ "reply": "said\nat once" }))), ["said", "at once"]);
    }

    #[test]
    fn what_is_said_is_whole_however_it_comes() {
        let mut view = View::default();
        assert_eq!(shown(view.event("text_delta", &json!({ "text": "a\u{1b}" }))), [""; 0]);
        assert_eq!(shown(view.partial()), ["a"]);
        assert_eq!(shown(view.event("text_delta", &json!({ "text": "[31mb\r" }))), [""; 0]);
        assert_eq!(shown(view.event("text_delta", &json!({ "text": "\nc" }))), ["ab"]);
        assert_eq!(shown(view.event("turn_completed", &json!({}))), ["c"]);
        assert_eq!(shown(view.partial()), [""; 0]);
    }

    #[test]
    fn notes_never_interrupt_a_text() {
        let changed = json!({ "from": "a", "to": "b", "reason": "c" });
        for (verbose, native) in [(false, vec![]), (true, vec!["-- agent event usage_update"])] {
            let mut view = View::new(verbose);
            let mut lines = view.event("text_delta", &json!({ "text": "one " }));
            lines.extend(view.event("native_event", &json!({ "kind": "usage_update" })));
            lines.extend(view.event("model_changed", &changed));
            lines.extend(view.event("text_delta", &json!({ "text": "sentence" })));
            lines.extend(view.event("turn_succeeded", &json!({})));
            let expected = [vec!["one sentence"], native, vec!["-- the model changed from a to b: c"]].concat();
            assert_eq!(shown(lines), expected);
        }
    }

    #[test]
    fn a_history_is_compact() {
        let message = |value: Value| shown(View::message(&value));
        let long: String = (0..20).map(|number| format!("{number}\n")).collect();
        let user = message(json!({ "role": "user", "content": long }));
        assert_eq!((user.len(), user[0].as_str(), user[1].as_str()), (13, "> 0", "  1"));
        assert_eq!(user[12], "  … 8 more lines");
        assert_eq!(message(json!({ "role": "tool", "content": long })).len(), 5);
        let parts = json!([{ "type": "text", "text": "see" }, { "type": "image_url" }, { "type": "sound" }]);
        assert_eq!(message(json!({ "role": "assistant", "content": parts })), ["see", "[image]", "[sound]"]);
        let call = json!({ "id": "1", "function": { "name": "bash", "arguments": "{\n}" } });
        assert_eq!(message(json!({ "role": "assistant", "tool_calls": [call] })), ["* bash { }"]);
        assert_eq!(message(json!({ "role": "system", "content": "x".repeat(500) }))[0].chars().count(), 403 + 21);
    }
}
