//! What a typed line means. Pure.

use super::asked::Asked;
use crate::protocol::RuntimeResponse;

/// What is to be done.
#[derive(Debug)]
pub(super) enum Typed {
    Nothing,
    Say(String),
    Steer(String),
    Answer(RuntimeResponse),
    Take,
    Release,
    Quit,
    Help,
    /// A question waits, and this is no answer.
    Unanswered,
    /// A command that there is not.
    Unknown(String),
}

/// What `/help` says where a turn that runs can be steered, or cannot.
pub(super) fn help(steers: bool) -> Vec<&'static str> {
    let begin = if steers {
        "TEXT: start a turn, or steer the running one; //TEXT sends /TEXT"
    } else {
        "TEXT: start a turn; //TEXT sends /TEXT"
    };
    let steer = "/steer TEXT: add to the running turn, even while a request is open";
    let mut lines = vec![
        begin,
        "y, n, a, then Enter: allow once, deny, allow for this session (where offered)",
        "JSON or text, /decline, /cancel: answer the agent's question",
        "/take: take control; /release: release it and observe",
    ];
    lines.extend(steers.then_some(steer));
    lines.extend([
        "Ctrl-C: interrupt the running turn",
        "Ctrl-D, /quit: detach; the runtime keeps running",
        "/help: show this list",
    ]);
    lines
}

/// Reads a line, where the first of what is asked may be answered by it.
pub(super) fn read(line: &str, asked: Option<&Asked>) -> Typed {
    let text = line.trim();
    if let Some(response) = asked.and_then(|asked| asked.answer(text)) {
        return Typed::Answer(response);
    }
    let Some(command) = text.strip_prefix('/') else {
        return match text {
            "" => Typed::Nothing,
            _ if asked.is_some() => Typed::Unanswered,
            _ => Typed::Say(text.to_owned()),
        };
    };
    let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    match (word, rest.trim()) {
        ("take", "") => Typed::Take,
        ("release", "") => Typed::Release,
        ("quit", "") => Typed::Quit,
        ("help", "") => Typed::Help,
        ("steer", rest) if !rest.is_empty() => Typed::Steer(rest.to_owned()),
        _ if command.starts_with('/') && asked.is_none() => Typed::Say(command.to_owned()),
        _ => Typed::Unknown(word.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn help_is_of_what_can_be_done() {
        assert!(help(true).concat().contains("/steer") && help(true).concat().contains("or steer"));
        assert!(!help(false).concat().contains("steer"));
    }

    #[test]
    fn a_line_is_said_answered_or_obeyed() {
        let payload = json!({ "request": { "id": 1, "kind": "approval", "payload": { "tool": "bash" } } });
        let asked = Asked::of(&payload);
        let meant = |line: &str, asked: Option<&Asked>| format!("{:?}", read(line, asked));
        assert_eq!(meant("  mend it ", None), "Say(\"mend it\")");
        assert_eq!(meant("//deploy now", None), "Say(\"/deploy now\")");
        assert_eq!(meant("y", None), "Say(\"y\")");
        assert!(meant("y", asked.as_ref()).starts_with("Answer(Approval"));
        assert_eq!(meant("yes", asked.as_ref()), "Unanswered");
        assert_eq!(meant("/steer  faster now", asked.as_ref()), "Steer(\"faster now\")");
        for (line, expected) in
            [("/take", "Take"), ("/release", "Release"), ("/quit", "Quit"), ("/help", "Help"), (" ", "Nothing")]
        {
            assert_eq!(meant(line, asked.as_ref()), expected);
        }
        assert_eq!(meant("/steer", None), "Unknown(\"steer\")");
        assert_eq!(meant("/take it", None), "Unknown(\"take\")");
        assert_eq!(meant("/decline", None), "Unknown(\"decline\")");
    }
}
