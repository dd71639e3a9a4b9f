//! What an agent may not do before a person says so.

use super::Approval;
use super::answer::Answer;
use super::content::output;
use super::message::value;
use super::tools::{Tool, title};
use super::words::{cut, raw};
use crate::limits;
use crate::protocol::Decision;
use agent_client_protocol_schema::v1::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A question that waits for its answer.
pub(super) struct Question {
    options: Vec<PermissionOption>,
    answer: oneshot::Receiver<Decision>,
}

/// A call that began outside of a turn and waits for a decision.
pub(super) struct Undecided {
    /// The call's id.
    pub(super) call: String,
    options: Vec<PermissionOption>,
}

impl Undecided {
    pub(super) fn new(request: &RequestPermissionRequest) -> Self {
        Self { call: request.tool_call.tool_call_id.0.to_string(), options: request.options.clone() }
    }

    /// Whether this answer lets the call run.
    pub(super) fn is_allowed_by(&self, answer: &Answer) -> bool {
        let chosen = answer.as_ref().ok().and_then(|answer| answer["outcome"]["optionId"].as_str());
        let option = self.options.iter().find(|option| Some(option.option_id.0.as_ref()) == chosen);
        option.is_some_and(|option| {
            matches!(option.kind, PermissionOptionKind::AllowOnce | PermissionOptionKind::AllowAlways)
        })
    }
}

/// The option that stands for a decision. Never one that the agent did not offer.
fn option(options: &[PermissionOption], decision: Decision) -> Option<&PermissionOptionId> {
    let kind = match decision {
        Decision::Deny => PermissionOptionKind::RejectOnce,
        Decision::Allow => PermissionOptionKind::AllowOnce,
        Decision::AllowForSession => PermissionOptionKind::AllowAlways,
    };
    options.iter().find(|option| option.kind == kind).map(|option| &option.option_id)
}

/// What was sent, without the options of which nothing is known.
pub(super) fn known(sent: &Value) -> Value {
    let mut known = sent.clone();
    if let Some(Value::Array(options)) = known.get_mut("options") {
        options.retain(|option| PermissionOption::deserialize(option).is_ok());
    }
    known
}

/// The question as a person is asked it. `known` is what was said of the call before.
pub(super) fn ask(
    request: RequestPermissionRequest,
    known: Option<&Tool>,
    of_turn: bool,
    sent: &Value,
) -> (Approval, Question) {
    let mut decisions = vec![Decision::Deny];
    let offered = [Decision::Allow, Decision::AllowForSession];
    decisions.extend(offered.into_iter().filter(|decision| option(&request.options, *decision).is_some()));
    let fields = &request.tool_call.fields;
    let subject =
        fields.locations.iter().flatten().next().map(|at| cut(at.path.display().to_string(), limits::AGENT_WORDS));
    // Who must decide sees what is to happen: the arguments, else what the agent shows of it, such as a change as a diff.
    let shown = || Some(output(fields.content.as_deref()?)).filter(|shown| !shown.is_empty()).map(Value::from);
    let told = || serde_json::from_str(&known.filter(|tool| tool.has_input())?.arguments).ok();
    let arguments =
        fields.raw_input.as_ref().filter(|input| !input.is_null()).and_then(raw).or_else(shown).or_else(told);
    let name = title(fields).or_else(|| known.map(|tool| tool.name.clone()));
    let mut payload = Map::new();
    payload.insert("tool".to_owned(), name.unwrap_or_else(|| "a tool".to_owned()).into());
    payload.insert("subject".to_owned(), json!(subject));
    payload.insert("raw_args".to_owned(), json!(arguments));
    payload.insert("decisions".to_owned(), json!(decisions));
    payload.extend(raw(sent).map(|raw| ("raw".to_owned(), raw)));
    let (answer, answered) = oneshot::channel();
    (Approval { payload, decisions, of_turn, answer }, Question { options: request.options, answer: answered })
}

impl Question {
    /// Waits for the decision; what the agent is told. Nobody there who decides, or a turn that is cancelled, cancels it.
    pub(super) async fn answered(self, cancelled: CancellationToken) -> Value {
        let decided = tokio::select! {
            biased;
            () = cancelled.cancelled() => None,
            decision = self.answer => decision.ok(),
        };
        let chosen = decided.and_then(|decision| option(&self.options, decision));
        value(&RequestPermissionResponse::new(match chosen {
            Some(id) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id.clone())),
            None => RequestPermissionOutcome::Cancelled,
        }))
    }
}

/// The answer to a question that nobody was asked.
pub(super) fn cancelled() -> Value {
    value(&RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled))
}
