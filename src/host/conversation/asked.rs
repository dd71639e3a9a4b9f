//! What a person is asked.

use super::super::Unattended;
use super::super::agent::Approval;
use super::super::fault::Fault;
use super::{Caller, Conversation, Locked};
use crate::protocol::Decision;
use crate::runtime::wire::Response;
use std::sync::{Arc, Weak};
use tokio::sync::oneshot;

impl Conversation {
    /// The agent asks. Where nobody can answer it is denied at once, and nobody is asked.
    pub(super) fn asked(self: &Arc<Self>, approval: Approval) {
        let Approval { payload, decisions, of_turn, answer } = approval;
        let mut state = self.lock();
        let may_wait = state.is_attended() || self.unattended == Unattended::Wait;
        if !may_wait || state.approvals.is_full() || state.end.is_some() {
            let _ = answer.send(Decision::Deny);
            return;
        }
        let (decide, decided) = oneshot::channel();
        let (id, request) = state.approvals.ask(payload, decisions, of_turn, decide);
        state.publish("request", request);
        drop(tokio::spawn(carry(Arc::downgrade(self), id, decided, answer)));
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

/// Brings the decision to who asked, or learns that nobody wants it any more.
async fn carry(
    conversation: Weak<Conversation>,
    id: u64,
    decided: oneshot::Receiver<Decision>,
    mut answer: oneshot::Sender<Decision>,
) {
    tokio::select! {
        biased;
        decision = decided => {
            if let Ok(decision) = decision {
                let _ = answer.send(decision);
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
