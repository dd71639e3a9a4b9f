//! What the agent may not do before a person says so: asked once, answered once.

use super::fault::Fault;
use super::feed::{bounded, payload as event};
use crate::limits;
use crate::protocol::Decision;
use crate::runtime::wire::Response;
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
    tool: String,
    decisions: Vec<Decision>,
    of_turn: bool,
    decide: oneshot::Sender<Decision>,
}

impl Approvals {
    /// Whether no more can be asked.
    pub(super) fn is_full(&self) -> bool {
        self.pending.len() >= limits::HOST_APPROVALS
    }

    /// Asks: the number, and the payload of the event that says so.
    pub(super) fn ask(
        &mut self,
        payload: Payload,
        decisions: Vec<Decision>,
        of_turn: bool,
        decide: oneshot::Sender<Decision>,
    ) -> (u64, Payload) {
        self.last += 1;
        let id = self.last;
        let payload = bounded(payload, limits::HOST_APPROVAL);
        let tool = payload.get("tool").and_then(Value::as_str).unwrap_or("a tool").to_owned();
        let mut request = Map::new();
        request.insert("request".to_owned(), json!({ "id": id, "kind": "approval", "payload": payload }));
        let request = event("request", request);
        self.pending.insert(id, Pending { tool, decisions, of_turn, decide });
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
        let Response::Approval { decision, .. } = response else {
            let message = format!("invalid SDK response: request {id} expects Approval, got {answered}");
            return Err(Fault::no_answer(message));
        };
        if !pending.decisions.contains(decision) {
            let known: Vec<_> = pending.decisions.iter().map(|decision| decision.id()).collect();
            let message = format!("invalid SDK response: request {id} takes {}", known.join(", "));
            return Err(Fault::no_answer(message));
        }
        if let Some(pending) = self.pending.remove(&id) {
            // Who asked may be gone in this very moment; the answer is given all the same.
            let _ = pending.decide.send(*decision);
        }
        Ok(self.resolved(id, *decision, None))
    }

    /// Denies what is asked, and says so. Nobody is told where the answer would have gone: the question is over.
    pub(super) fn withdraw(&mut self, id: u64, reason: &str) -> Option<Payload> {
        self.pending.remove(&id)?;
        Some(self.resolved(id, Decision::Deny, Some(reason)))
    }

    /// Denies what is asked, to who asked, and says so.
    pub(super) fn deny(&mut self, id: u64, reason: &str) -> Option<Payload> {
        let pending = self.pending.remove(&id)?;
        let _ = pending.decide.send(Decision::Deny);
        Some(self.resolved(id, Decision::Deny, Some(reason)))
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
        self.pending.values().next().map(|pending| format!("approval of {}", pending.tool))
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

    fn resolved(&mut self, id: u64, decision: Decision, reason: Option<&str>) -> Payload {
        let response = json!({ "kind": "approval", "request_id": id, "decision": decision });
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
