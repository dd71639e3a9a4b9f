//! The requests of an agent that wait, each among its own kind.

use super::answer::{Answer, busy};
use crate::limits;
use agent_client_protocol_schema::v1;
use serde_json::Value;
use std::collections::HashMap;
use tokio::task::{AbortHandle, Id, JoinSet};

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A person.
    Question,
    /// The end of a command.
    Exit,
}

/// The requests that wait.
#[derive(Default)]
pub(super) struct Waits {
    tasks: JoinSet<Answer>,
    of: HashMap<Id, (Value, Kind, AbortHandle)>,
}

impl Waits {
    /// Whether one more may wait.
    pub(super) fn room(&self, kind: Kind) -> Result<(), v1::Error> {
        let (max, name) = match kind {
            Kind::Question => (limits::AGENT_QUESTIONS, "for a person"),
            Kind::Exit => (limits::AGENT_WAITS, "for the end of a command"),
        };
        let waiting = self.of.values().filter(|(_, other, _)| *other == kind).count();
        if waiting < max { Ok(()) } else { Err(busy(name)) }
    }

    pub(super) fn push(&mut self, id: Value, kind: Kind, answer: impl Future<Output = Answer> + Send + 'static) {
        let task = self.tasks.spawn(answer);
        self.of.insert(task.id(), (id, kind, task));
    }

    /// The next answer; `None` where nothing waits. May be dropped and called again.
    pub(super) async fn done(&mut self) -> Option<(Value, Answer)> {
        let (task, answer) = match self.tasks.join_next_with_id().await? {
            Ok(done) => done,
            Err(error) if error.is_cancelled() => (error.id(), Err(v1::Error::request_cancelled())),
            Err(error) => (error.id(), Err(v1::Error::internal_error())),
        };
        self.of.remove(&task).map(|(id, ..)| (id, answer))
    }

    pub(super) fn take_back(&mut self, id: &Value) {
        if let Some((.., task)) = self.of.values().find(|(waiting, ..)| waiting == id) {
            task.abort();
        }
    }
}
