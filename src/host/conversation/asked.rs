//! What a person is asked.

use super::super::Unattended;
use super::super::agent::{Approval, Elicitation, FormAnswer};
use super::super::approvals::{Approvals, Payload};
use super::super::fault::Fault;
use super::{Caller, Conversation, Locked};
use crate::protocol::Decision;
use crate::runtime::wire::Response;
use std::sync::{Arc, Weak};
use tokio::sync::oneshot;

impl Conversation {
    /// The agent asks for an approval.
    pub(super) fn asked(self: &Arc<Self>, approval: Approval) {
        let Approval { payload, decisions, of_turn, answer } = approval;
        self.request(answer, Decision::Deny, |asked, decide| asked.approve(payload, decisions, of_turn, decide));
    }

    /// The agent asks for a form to be filled in.
    pub(super) fn elicited(self: &Arc<Self>, elicitation: Elicitation) {
        let Elicitation { payload, form, of_turn, answer } = elicitation;
        self.request(answer, FormAnswer::Cancel, |asked, reply| asked.elicit(payload, form, of_turn, reply));
    }

    /// Where nobody can answer it is refused immediately, and nobody is asked.
    fn request<T: Send + 'static>(
        self: &Arc<Self>,
        answer: oneshot::Sender<T>,
        refusal: T,
        ask: impl FnOnce(&mut Approvals, oneshot::Sender<T>) -> (u64, Payload),
    ) {
        let mut state = self.lock();
        let may_wait = state.is_attended() || self.unattended == Unattended::Wait;
        if !may_wait || state.approvals.is_full() || state.end.is_some() {
            let _ = answer.send(refusal);
            return;
        }
        let (give, given) = oneshot::channel();
        let (id, request) = ask(&mut state.approvals, give);
        state.flush();
        state.publish("request", request);
        drop(tokio::spawn(carry(Arc::downgrade(self), id, given, answer)));
    }

    /// A client answers.
    pub(in super::super) fn respond(&self, caller: &Caller, response: &Response) -> Result<(), Fault> {
        let mut state = self.lock();
        state.leases.acquire(&caller.client_id, self.clock.now_ms())?;
        let resolved = state.approvals.answer(response)?;
        state.publish("request_resolved", resolved);
        Ok(())
    }
}

/// Brings the answer to the agent, or learns that the agent no longer wants one.
async fn carry<T>(
    conversation: Weak<Conversation>,
    id: u64,
    given: oneshot::Receiver<T>,
    mut answer: oneshot::Sender<T>,
) {
    tokio::select! {
        biased;
        given = given => {
            if let Ok(given) = given {
                let _ = answer.send(given);
            }
        }
        () = answer.closed() => {
            if let Some(conversation) = conversation.upgrade() {
                conversation.lock().withdraw(id, "withdrawn");
            }
        }
    }
}

impl Locked<'_> {
    /// Whether somebody listens who may approve.
    pub(super) fn is_attended(&self) -> bool {
        self.feed.listeners().any(|id| self.streams.get(&id).is_some_and(|stream| stream.approves))
    }

    /// Denies what is asked where nobody is left who could answer, unless it may wait.
    pub(super) fn attend(&mut self) {
        if self.unattended == Unattended::Wait || self.is_attended() {
            return;
        }
        for id in self.approvals.pending() {
            if let Some(resolved) = self.approvals.deny(id, "unattended") {
                self.publish("request_resolved", resolved);
            }
        }
    }

    /// What was asked in the turn that runs is over, and the agent knows it.
    pub(super) fn withdraw_turn(&mut self, reason: &str) {
        for id in self.approvals.pending_of_turn() {
            self.withdraw(id, reason);
        }
    }

    /// What is asked is over, and the agent knows it.
    pub(super) fn withdraw_all(&mut self, reason: &str) {
        for id in self.approvals.pending() {
            self.withdraw(id, reason);
        }
    }

    fn withdraw(&mut self, id: u64, reason: &str) {
        if let Some(resolved) = self.approvals.withdraw(id, reason) {
            self.publish("request_resolved", resolved);
        }
    }
}
