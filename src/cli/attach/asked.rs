//! What a runtime asks a person, and what a person answers. Pure.

use crate::cli::clean::{clean, one_line};
use crate::cli::line::{CHARS, Line, cut};
use crate::cli::output::Colour;
use crate::protocol::{Decision, Elicited, ElicitedAction, RuntimeResponse};
use crate::runtime::form::Form;
use serde::Deserialize;
use serde_json::Value;

/// A request that is not settled.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    /// The request's own number.
    pub id: u64,
    kind: Kind,
    /// The tool that wants to run, or the question.
    what: String,
    /// All that is known of it: who approves must see what.
    details: String,
    /// What is to be filled in.
    form: Form,
    /// How an approval may be decided.
    decisions: Vec<Decision>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Approval,
    Elicitation,
    Other,
}

/// What is typed for a decision, and what it does.
const DECIDED_BY: [(&str, Decision, &str); 3] = [
    ("y", Decision::Allow, "y allows it"),
    ("n", Decision::Deny, "n denies it"),
    ("a", Decision::AllowForSession, "a allows it for this session"),
];
/// Characters of the details; who approves is told where there are more.
const DETAILS: usize = 4_000;
/// Lines of a form.
const LINES_OF_FORM: usize = 60;
/// Characters of what is asked, in one line.
const WHAT: usize = 200;

impl Asked {
    /// The request of an event; `None` where it has no number to answer to.
    pub(super) fn of(payload: &Value) -> Option<Self> {
        let request = &payload["request"];
        let id = request["id"].as_u64()?;
        let asked = &request["payload"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (kind, what, details) = match request["kind"].as_str().unwrap_or_default() {
            "approval" => {
                let told = ["raw_args", "arguments", "subject"].map(|member| &asked[member]);
                let details = told.into_iter().find(|details| !details.is_null()).unwrap_or(&Value::Null);
                let who = asked["child_agent_id"].as_str().map_or_else(String::new, |id| format!(" of subagent {id}"));
                (
                    Kind::Approval,
                    format!("{}{who}", text(&asked["tool"]).unwrap_or_else(|| "a tool".to_owned())),
                    details,
                )
            }
            kind => {
                let is_form = kind == "elicitation";
                let what = text(&asked["message"]).unwrap_or_else(|| kind.to_owned());
                (
                    if is_form { Kind::Elicitation } else { Kind::Other },
                    what,
                    if is_form { &Value::Null } else { asked },
                )
            }
        };
        let details = if details.is_null() { String::new() } else { details.to_string() };
        let offered =
            |offered: &Vec<Value>| offered.iter().filter_map(|word| Decision::deserialize(word).ok()).collect();
        let decisions = asked["decisions"].as_array().map(offered);
        let decisions = decisions.unwrap_or_else(|| DECIDED_BY.map(|(_, decision, _)| decision).to_vec());
        let schema = asked.get("requested_schema").or_else(|| asked.get("requestedSchema"));
        let form = schema.map(Form::of).unwrap_or_default();
        Some(Self { id, kind, what, details, form, decisions })
    }

    /// The request for a person.
    pub(super) fn lines(&self) -> Vec<Line> {
        let line = |lead, text: String| Line::new(lead, Colour::Alert, text);
        let what = match self.kind {
            Kind::Approval => format!("request {}: allow {}?", self.id, self.what),
            Kind::Elicitation | Kind::Other => format!("request {}: {}", self.id, self.what),
        };
        let mut lines = vec![line("? ", one_line(&what))];
        if !self.details.is_empty() {
            let details = cut(&self.details, DETAILS);
            lines.extend(clean(&details).lines().map(|text| line("  ", text.to_owned())));
        }
        let fields = self.form.questions().flat_map(|field| field.lines());
        lines.extend(fields.take(LINES_OF_FORM).map(|text| line("  ", cut(&clean(&text).replace('\n', " "), CHARS))));
        lines
    }

    /// What can be typed now, in one line.
    pub(super) fn choices(&self) -> String {
        let what = cut(&one_line(&self.what), WHAT);
        match self.kind {
            Kind::Approval => {
                let offered = DECIDED_BY.iter().filter(|(_, decision, _)| self.decisions.contains(decision));
                let does: Vec<_> = offered.map(|(.., does)| *does).collect();
                format!("{what}: {}", does.join(", "))
            }
            Kind::Elicitation | Kind::Other => format!("{what}: type {}, /decline or /cancel", self.hint()),
        }
    }

    /// What is typed as an answer.
    fn hint(&self) -> &'static str {
        let mut questions = self.form.questions();
        match (questions.next(), questions.next()) {
            (Some(question), None) => question.hint(),
            (Some(_), Some(_)) => "the answers separated by ;",
            (None, _) => "an answer",
        }
    }

    /// What somebody who is not there to be asked answers: as the runtime itself does while nobody watches.
    pub(super) fn refusal(&self) -> RuntimeResponse {
        match self.kind {
            Kind::Approval => RuntimeResponse::Approval { request_id: self.id, decision: Decision::Deny },
            Kind::Elicitation | Kind::Other => self.elicited(ElicitedAction::Cancel, None),
        }
    }

    /// The answer that a line gives; `None` where it gives none.
    pub(super) fn answer(&self, line: &str) -> Option<RuntimeResponse> {
        let line = line.trim();
        match (self.kind, line) {
            (Kind::Approval, line) => {
                let (_, decision, _) = DECIDED_BY.iter().find(|(letter, ..)| *letter == line)?;
                let decided = RuntimeResponse::Approval { request_id: self.id, decision: *decision };
                self.decisions.contains(decision).then_some(decided)
            }
            (_, "/decline") => Some(self.elicited(ElicitedAction::Decline, None)),
            (_, "/cancel") => Some(self.elicited(ElicitedAction::Cancel, None)),
            (_, line) if line.is_empty() || line.starts_with('/') => None,
            (_, line) => {
                let content = serde_json::from_str(line).unwrap_or_else(|_| Value::from(line));
                Some(self.elicited(ElicitedAction::Accept, Some(content)))
            }
        }
    }

    fn elicited(&self, action: ElicitedAction, content: Option<Value>) -> RuntimeResponse {
        let elicited = Elicited { request_id: self.id, action, content };
        match self.kind {
            Kind::Elicitation => RuntimeResponse::Elicitation(elicited),
            Kind::Approval | Kind::Other => RuntimeResponse::Other(elicited),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(kind: &str, payload: Value) -> Asked {
        Asked::of(&json!({ "request": { "id": 7, "kind": kind, "payload": payload } })).unwrap()
    }

    fn shown(asked: &Asked) -> Vec<String> {
        asked.lines().into_iter().map(|line| format!("{}{}", line.lead, line.text)).collect()
    }

    #[test]
    fn who_approves_sees_all_of_what_would_run() {
        let main =
            asked("approval", json!({ "tool": "bash", "subject": "ls", "raw_args": { "command": "ls\n\u{202e}x" } }));
        assert_eq!(shown(&main), ["? request 7: allow bash?", "  {\"command\":\"ls\\n\u{fffd}x\"}"]);
        let hosted = asked("approval", json!({ "tool": "Bash", "arguments": { "command": "x".repeat(5_000) } }));
        assert!(shown(&hosted)[1].ends_with("more characters"), "{:?}", shown(&hosted));
        let child = asked("approval", json!({ "tool": "bash", "child_agent_id": "c1", "raw_args": null }));
        assert_eq!(shown(&child), ["? request 7: allow bash of subagent c1?"]);
    }

    #[test]
    fn only_the_letters_alone_decide() {
        let approval = asked("approval", json!({ "tool": "bash" }));
        let decided = |line: &str| match approval.answer(line) {
            Some(RuntimeResponse::Approval { request_id: 7, decision }) => Some(decision),
            None => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(decided(" y "), Some(Decision::Allow));
        assert_eq!(decided("n"), Some(Decision::Deny));
        assert_eq!(decided("a"), Some(Decision::AllowForSession));
        for line in ["", "yes", "Y", "and then", "/decline"] {
            assert_eq!(decided(line), None, "{line}");
        }
    }

    #[test]
    fn form_is_shown_with_its_choices() {
        let colour = json!({ "type": "string", "title": "Colour", "oneOf": [
            { "const": "Red", "title": "Red — warm" }, { "const": "Blue", "title": "Blue — cold" }] });
        let schema = json!({ "properties": { "q": colour, "q_custom": { "type": "string", "title": "Other" } } });
        let question = asked("elicitation", json!({ "message": "Which colour?", "requested_schema": schema }));
        let expected = ["? request 7: Which colour?", "  Colour (optional)", "    1. Red — warm", "    2. Blue — cold"];
        assert_eq!(shown(&question), expected);
        assert_eq!(question.choices(), "Which colour?: type a number or a name, /decline or /cancel");
    }

    #[test]
    fn only_what_is_offered_can_be_chosen() {
        let approval = asked("approval", json!({ "tool": "bash", "decisions": ["deny", "allow", "of the future"] }));
        assert_eq!(approval.choices(), "bash: y allows it, n denies it");
        assert!(approval.answer("a").is_none());
        assert!(approval.answer("y").is_some() && approval.answer("n").is_some());
        let any = asked("approval", json!({ "tool": "bash" }));
        assert_eq!(any.choices(), "bash: y allows it, n denies it, a allows it for this session");
    }

    #[test]
    fn a_question_takes_json_or_text() {
        let question =
            asked("elicitation", json!({ "message": "Which\nport?", "requested_schema": { "type": "object" } }));
        assert_eq!(shown(&question), ["? request 7: Which port?"]);
        let content = |line: &str| match question.answer(line) {
            Some(RuntimeResponse::Elicitation(elicited)) => Some((elicited.action, elicited.content)),
            None => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(content("{\"port\": 1}"), Some((ElicitedAction::Accept, Some(json!({ "port": 1 })))));
        assert_eq!(content("the first"), Some((ElicitedAction::Accept, Some(json!("the first")))));
        assert_eq!(content("/decline"), Some((ElicitedAction::Decline, None)));
        assert_eq!(content("/cancel"), Some((ElicitedAction::Cancel, None)));
        assert_eq!((content(""), content("/take")), (None, None));
        let other = asked("picture", json!({ "x": 1 }));
        assert!(matches!(other.answer("1"), Some(RuntimeResponse::Other(_))));
        assert!(matches!(other.refusal(), RuntimeResponse::Other(Elicited { action: ElicitedAction::Cancel, .. })));
    }
}
