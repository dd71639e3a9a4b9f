//! The requests at work: which ids are taken, what cancels them, which batch waits for them.

use super::message::Id;
use std::collections::HashMap;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Where an answer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Out, on its own.
    Alone,
    /// Into a batch.
    Batch(u64),
}

/// The requests at work. "At work" ends when the answer is made; until it is written it counts for admission only.
#[derive(Debug, Default)]
pub(super) struct Inflight {
    /// Requests by id; a notification that is at work has none.
    requests: HashMap<Id, Request>,
    notifications: usize,
    batches: HashMap<u64, Batch>,
    next_batch: u64,
}

#[derive(Debug)]
struct Request {
    cancel: CancellationToken,
    outlasts_input: bool,
}

#[derive(Debug, Default)]
struct Batch {
    open: usize,
    answers: Vec<Vec<u8>>,
    /// One for each answer of an admitted request that waits here for the rest of the batch.
    replied: Vec<watch::Sender<bool>>,
}

/// The answer to a batch.
#[derive(Debug)]
pub(super) struct WholeBatch {
    /// As it goes out.
    pub answer: Vec<u8>,
    /// What is told that it went out: one for each request that was admitted.
    pub replied: Vec<watch::Sender<bool>>,
}

impl Inflight {
    /// How many requests and notifications are at work.
    pub(super) fn len(&self) -> usize {
        let waiting: usize = self.batches.values().map(|batch| batch.replied.len()).sum();
        self.requests.len() + self.notifications + waiting
    }

    /// Whether nothing is at work.
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.notifications == 0
    }

    /// Whether a request with this id is at work.
    pub(super) fn contains(&self, id: &Id) -> bool {
        self.requests.contains_key(id)
    }

    /// Notes that a call is at work; what it answers with `id`, and whether it has its own time after the end of input.
    pub(super) fn begin(&mut self, id: Option<&Id>, place: Place, outlasts_input: bool) -> CancellationToken {
        let token = CancellationToken::new();
        match id {
            Some(id) => {
                self.requests.insert(id.clone(), Request { cancel: token.clone(), outlasts_input });
            }
            None => self.notifications += 1,
        }
        if let (Some(_), Place::Batch(batch)) = (id, place)
            && let Some(batch) = self.batches.get_mut(&batch)
        {
            batch.open += 1;
        }
        token
    }

    /// Notes that a call is done.
    pub(super) fn end(&mut self, id: Option<&Id>) {
        match id {
            Some(id) => drop(self.requests.remove(id)),
            None => self.notifications -= 1,
        }
    }

    /// Cancels a request, if it is at work.
    pub(super) fn cancel(&self, id: &Id) {
        if let Some(request) = self.requests.get(id) {
            request.cancel.cancel();
        }
    }

    /// Cancels everything.
    pub(super) fn cancel_all(&self) {
        self.requests.values().for_each(|request| request.cancel.cancel());
    }

    /// Cancels what has no time of its own after the end of input.
    pub(super) fn cancel_late(&self) {
        self.requests.values().filter(|request| !request.outlasts_input).for_each(|request| request.cancel.cancel());
    }

    /// Opens a batch. It stays open until [`Self::close_batch`].
    pub(super) fn open_batch(&mut self) -> u64 {
        self.next_batch += 1;
        self.batches.insert(self.next_batch, Batch { open: 1, ..Batch::default() });
        self.next_batch
    }

    /// Puts an answer into a batch; that of a call at work comes with what is told once it went out.
    pub(super) fn answer(
        &mut self,
        batch: u64,
        answer: Vec<u8>,
        replied: Option<watch::Sender<bool>>,
    ) -> Option<WholeBatch> {
        let open = self.batches.get_mut(&batch)?;
        open.answers.push(answer);
        open.replied.push(replied?);
        self.close_batch(batch)
    }

    /// Notes that one thing less is awaited; the whole answer when it was the last.
    pub(super) fn close_batch(&mut self, batch: u64) -> Option<WholeBatch> {
        let open = self.batches.get_mut(&batch)?;
        open.open -= 1;
        if open.open > 0 {
            return None;
        }
        let done = self.batches.remove(&batch)?;
        if done.answers.is_empty() {
            return None;
        }
        let mut whole = vec![b'['];
        whole.extend(done.answers.join(&b','));
        whole.push(b']');
        Some(WholeBatch { answer: whole, replied: done.replied })
    }
}
