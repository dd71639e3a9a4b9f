//! What the agent asks a person: approvals and forms, each asked once and answered once.

use super::agent::FormAnswer;
use super::fault::Fault;
use super::feed::{bounded, payload as event};
use crate::limits;
use crate::protocol::{Decision, ElicitedAction, Question, QuestionKind};
use crate::runtime::form::Form;
use crate::runtime::wire::{Answer, Response};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, VecDeque};
use tokio::sync::oneshot;

/// The payload of an event.
pub(super) type Payload = Map<String, Value>;

/// What is asked, and what was asked in this turn.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    last: u64,
    pending: BTreeMap<u64, Pending>,
    /// What was asked and answered, by number.
    transcript: VecDeque<(u64, Payload, Option<Payload>)>,
}

#[derive(Debug)]
struct Pending {
    /// The tool that is to be approved, or the message of the form.
    subject: String,
    /// Whether the end of the turn that runs is its end.
    of_turn: bool,
    wanted: Wanted,
}

/// The answer that a request takes, and where it goes.
#[derive(Debug)]
enum Wanted {
    Decision(Vec<Decision>, oneshot::Sender<Decision>),
    Form(Form, oneshot::Sender<FormAnswer>),
}

/// An answer that was given.
enum Given {
    Decision(Decision),
    Form(FormAnswer),
}

impl Approvals {
    /// Whether no more can be asked.
    pub(super) fn is_full(&self) -> bool {
        self.pending.len() >= limits::HOST_APPROVALS
    }

    /// Asks for an approval: the number, and the payload of the event that says so.
    pub(super) fn approve(
        &mut self,
        payload: Payload,
        decisions: Vec<Decision>,
        of_turn: bool,
        decide: oneshot::Sender<Decision>,
    ) -> (u64, Payload) {
        let tool = payload.get("tool").and_then(Value::as_str).unwrap_or("a tool");
        let subject = tool.to_owned();
        self.ask("approval", payload, Pending { subject, of_turn, wanted: Wanted::Decision(decisions, decide) })
    }

    /// Asks for a form to be filled in.
    pub(super) fn elicit(
        &mut self,
        payload: Payload,
        form: Form,
        of_turn: bool,
        reply: oneshot::Sender<FormAnswer>,
    ) -> (u64, Payload) {
        let message = payload.get("message").and_then(Value::as_str).unwrap_or_default();
        let subject = message.to_owned();
        self.ask("elicitation", payload, Pending { subject, of_turn, wanted: Wanted::Form(form, reply) })
    }

    fn ask(&mut self, kind: &str, payload: Payload, pending: Pending) -> (u64, Payload) {
        self.last += 1;
        let id = self.last;
        let payload = bounded(payload, limits::HOST_APPROVAL);
        let mut request = Map::new();
        request.insert("request".to_owned(), json!({ "id": id, "kind": kind, "payload": payload }));
        let request = event("request", request);
        self.pending.insert(id, pending);
        self.transcript.push_back((id, request.clone(), None));
        if self.transcript.len() > limits::HOST_APPROVALS {
            let resolved = self.transcript.iter().position(|(_, _, resolved)| resolved.is_some());
            self.transcript.remove(resolved.unwrap_or_default());
        }
        (id, request)
    }

    /// Takes a client's answer: the payload of the event that says so.
    ///
    /// # Errors
    /// Where it is not asked, or not in that way. It stays as it is then.
    pub(super) fn answer(&mut self, response: &Response) -> Result<Payload, Fault> {
        let (id, answered) = match response {
            Response::Approval { request_id, .. } => (*request_id, "Approval"),
            Response::Elicitation(answer) => (answer.request_id, "Elicitation"),
            Response::Other(answer) => (answer.request_id, "Other"),
        };
        let Some(pending) = self.pending.get(&id) else { return Err(Fault::not_pending(id)) };
        let refused = |why: String| Fault::no_answer(format!("invalid SDK response: request {id} {why}"));
        let given = match (&pending.wanted, response) {
            (Wanted::Decision(decisions, _), Response::Approval { decision, .. }) if decisions.contains(decision) => {
                Given::Decision(*decision)
            }
            (Wanted::Decision(decisions, _), Response::Approval { .. }) => {
                let known: Vec<_> = decisions.iter().map(|decision| decision.id()).collect();
                return Err(refused(format!("takes {}", known.join(", "))));
            }
            (Wanted::Form(form, _), Response::Elicitation(answer)) => {
                Given::Form(filled_in(form, answer).map_err(|why| refused(format!("does not take this: {why}")))?)
            }
            (wanted, _) => return Err(refused(format!("expects {}, got {answered}", wanted.name()))),
        };
        let resolved = self.resolved(id, &given, None);
        if let Some(pending) = self.pending.remove(&id) {
            pending.wanted.give(given);
        }
        Ok(resolved)
    }

    /// Denies what is asked, and says so. Nobody is told where the answer would have gone: the question is over.
    pub(super) fn withdraw(&mut self, id: u64, reason: &str) -> Option<Payload> {
        let refusal = self.pending.remove(&id)?.wanted.refusal();
        Some(self.resolved(id, &refusal, Some(reason)))
    }

    /// Denies what is asked, to who asked, and says so.
    pub(super) fn deny(&mut self, id: u64, reason: &str) -> Option<Payload> {
        let pending = self.pending.remove(&id)?;
        let refusal = pending.wanted.refusal();
        let resolved = self.resolved(id, &refusal, Some(reason));
        pending.wanted.give(refusal);
        Some(resolved)
    }

    /// What is asked now.
    pub(super) fn pending(&self) -> Vec<u64> {
        self.pending.keys().copied().collect()
    }

    /// What is asked now and was asked in the turn that runs.
    pub(super) fn pending_of_turn(&self) -> Vec<u64> {
        self.pending.iter().filter(|(_, pending)| pending.of_turn).map(|(id, _)| *id).collect()
    }

    /// The event that says that it is asked, if it still is.
    pub(super) fn request(&self, id: u64) -> Option<Payload> {
        self.pending.get(&id)?;
        self.transcript.iter().find(|(asked, _, _)| *asked == id).map(|(_, request, _)| request.clone())
    }

    /// For what a person is waited, in words, if anything.
    pub(super) fn waiting_for(&self) -> Option<String> {
        let pending = self.pending.values().next()?;
        Some(match pending.wanted {
            Wanted::Decision(..) => format!("approval of {}", pending.subject),
            Wanted::Form(..) => format!("answer to: {}", pending.subject),
        })
    }

    /// The oldest open request, in one line.
    pub(super) fn question(&self) -> Option<Question> {
        let (id, pending) = self.pending.first_key_value()?;
        let kind = match pending.wanted {
            Wanted::Decision(..) => QuestionKind::Approval,
            Wanted::Form(..) => QuestionKind::Input,
        };
        let clean = pending.subject.chars().map(|c| if c.is_control() { ' ' } else { c });
        let summary = clean.take(limits::QUESTION_CHARS).collect();
        Some(Question { kind, summary, request_id: Some(*id) })
    }

    /// What was asked and how it was answered, as events. It is forgotten with that.
    pub(super) fn take_answered(&mut self) -> Vec<(&'static str, Payload)> {
        let mut events = Vec::new();
        for (_, request, resolved) in &self.transcript {
            if let Some(resolved) = resolved {
                events.extend([("request", request.clone()), ("request_resolved", resolved.clone())]);
            }
        }
        self.transcript.retain(|(_, _, resolved)| resolved.is_none());
        events
    }

    /// The events that say what is asked now.
    pub(super) fn requests(&self) -> Vec<Payload> {
        self.pending.keys().filter_map(|id| self.request(*id)).collect()
    }

    fn resolved(&mut self, id: u64, given: &Given, reason: Option<&str>) -> Payload {
        let response = match given {
            Given::Decision(decision) => json!({ "kind": "approval", "request_id": id, "decision": decision }),
            Given::Form(answer) => {
                let (action, content) = answer.parts();
                json!({ "kind": "elicitation", "request_id": id, "action": action, "content": content })
            }
        };
        let mut members = Map::new();
        members.insert("request_id".to_owned(), id.into());
        members.insert("response".to_owned(), response);
        members.extend(reason.map(|reason| ("reason".to_owned(), reason.into())));
        let payload = event("request_resolved", members);
        if let Some((_, _, resolved)) = self.transcript.iter_mut().find(|(asked, _, _)| *asked == id) {
            *resolved = Some(payload.clone());
        }
        payload
    }
}

impl Wanted {
    fn name(&self) -> &'static str {
        match self {
            Self::Decision(..) => "Approval",
            Self::Form(..) => "Elicitation",
        }
    }

    /// The answer while nobody gives one.
    fn refusal(&self) -> Given {
        match self {
            Self::Decision(..) => Given::Decision(Decision::Deny),
            Self::Form(..) => Given::Form(FormAnswer::Cancel),
        }
    }

    /// The agent may be gone in this very moment; the answer is given all the same.
    fn give(self, given: Given) {
        match (self, given) {
            (Self::Decision(_, decide), Given::Decision(decision)) => drop(decide.send(decision)),
            (Self::Form(_, reply), Given::Form(answer)) => drop(reply.send(answer)),
            (Self::Decision(..), Given::Form(_)) | (Self::Form(..), Given::Decision(_)) => {}
        }
    }
}

/// The answer to a form, checked.
fn filled_in(form: &Form, answer: &Answer) -> Result<FormAnswer, String> {
    Ok(match answer.action {
        ElicitedAction::Accept => FormAnswer::Accept(form.complete(answer.content.as_ref())?),
        ElicitedAction::Decline => FormAnswer::Decline,
        ElicitedAction::Cancel => FormAnswer::Cancel,
    })
}
