//! The runtimes that this server knows: which are published, which of them answer, and who of ours joined which.

use super::api::Snapshot;
use super::attach::{Joined, Seat, Seats, join};
use super::attachment::Attachment;
use super::error::Error;
use super::http::Caller;
use super::merge::Merge;
use super::observed::{Observed, Trouble};
use super::probe::{Known, Outcome};
use super::pump::Pump;
use super::receipts::Receipts;
use crate::authority::{Grant, Subject};
use crate::limits;
use crate::protocol::{Endpoint, Lease, Notification, Permission, Problem, Source};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// The runtimes of this machine, as far as they are published to this user.
pub struct Runtimes {
    receipts: Receipts,
    /// What anybody here may see at most: what is beyond it is never asked, so that it delays nobody.
    ceiling: Grant,
    handle: Handle,
    known: Mutex<HashMap<Endpoint, Arc<Known>>>,
    attachments: Mutex<HashMap<String, Arc<Attachment>>>,
    seats: Seats,
    closed: CancellationToken,
    /// How many looks at all of them have begun.
    looks: AtomicU64,
}

/// What is published now.
#[derive(Default)]
pub struct Published {
    /// The newest first, then by id.
    pub known: Vec<Arc<Known>>,
    /// Files that are no receipts that count.
    pub problems: Vec<Problem>,
}

/// How a client wants to join.
pub struct Joining {
    /// The attachment's name.
    pub id: String,
    /// The client's name at the runtime, and what it may do there.
    pub caller: Caller,
    /// That nobody else of this server has the name there.
    pub seat: Seat,
    /// The runtime's conversation, to compare with a scope.
    pub subject: Subject,
    /// Messages of history at most.
    pub history: u32,
    /// Whether control is renewed while it is held.
    pub auto_renew: bool,
    /// Where events go.
    pub outgoing: mpsc::Sender<Notification>,
    /// True once the client knows the attachment; closed where it never will.
    pub known: watch::Receiver<bool>,
    /// Its place among all that a client may have.
    pub place: OwnedSemaphorePermit,
}

/// The inventory's look at all runtimes, on its way.
pub struct Look(Handle, JoinHandle<Observed>);

/// One time that all runtimes are asked, of which none waits for another.
pub struct Round {
    number: u64,
    known: Vec<Arc<Known>>,
    problems: Vec<Problem>,
    probes: JoinSet<()>,
}

impl Round {
    /// What is known by now. Nothing is said of a runtime that never answered and may yet.
    pub fn observed(&self) -> Observed {
        let mut observed = Observed::default();
        self.known.iter().filter_map(|known| known.last()).for_each(|outcome| observed.note(&outcome));
        observed.add(self.number, self.problems.clone());
        observed
    }

    /// Waits until more is known; never, where all have answered.
    pub async fn more(&mut self) {
        if self.probes.join_next().await.is_none() {
            return std::future::pending().await;
        }
        while self.probes.try_join_next().is_some() {}
    }
}

impl Observed {
    fn note(&mut self, outcome: &Outcome) {
        self.runtimes.extend(outcome.runtime.clone());
        self.troubles.extend(outcome.trouble.clone());
    }

    fn add(&mut self, number: u64, problems: Vec<Problem>) {
        self.number = number;
        self.troubles.extend(problems.into_iter().map(|problem| Trouble { problem, source: None }));
    }
}

impl Look {
    /// Waits for it. Must not be called on a thread that serves connections.
    pub fn finish(self) -> Observed {
        self.0.block_on(self.1).unwrap_or_default()
    }
}

impl Runtimes {
    /// The runtimes whose receipts are there. What needs connections runs on `handle`.
    pub fn new(receipts: Receipts, ceiling: Grant, handle: Handle) -> Self {
        let (known, attachments) = (Mutex::default(), Mutex::default());
        Self {
            receipts,
            ceiling,
            handle,
            known,
            attachments,
            seats: Seats::default(),
            closed: CancellationToken::new(),
            looks: 0.into(),
        }
    }

    /// The receipts themselves.
    pub fn receipts(&self) -> &Receipts {
        &self.receipts
    }

    /// What is published now, without asking any runtime. Reads files.
    pub fn published(&self) -> Published {
        let listing = self.receipts.list();
        let mut published = Published { known: Vec::new(), problems: listing.problems };
        let mut known = lock(&self.known);
        for record in listing.records.into_iter().filter(|record| self.ceiling.reaches_source(&record.source)) {
            let same = known.get(&record.endpoint).filter(|one| one.record.is_same_file(&record)).cloned();
            match same.map_or_else(|| Known::new(record).map(Arc::new), Ok) {
                Ok(one) => published.known.push(one),
                Err(problem) => published.problems.push(*problem),
            }
        }
        *known = published.known.iter().map(|one| (one.record.endpoint.clone(), one.clone())).collect();
        published
    }

    /// The runtime of an endpoint that must run a conversation. Reads a file.
    ///
    /// # Errors
    /// Where there is no such receipt that counts, or none within `reach`, or it is that of another conversation.
    pub fn resolve(&self, endpoint: &Endpoint, source: &Source) -> Result<Arc<Known>, super::receipts::Error> {
        let record = self.receipts.resolve_source(endpoint, source)?;
        let known = self.published().known.into_iter().find(|known| known.record.is_same_file(&record));
        known.ok_or_else(|| super::receipts::Error::NotLive(endpoint.clone()))
    }

    /// Begins to ask all runtimes what they do, and waits so long for each.
    pub fn look(self: &Arc<Self>, patience: Duration) -> Look {
        let runtimes = self.clone();
        let observe = async move {
            let Round { number, known, problems, .. } = runtimes.begin().await;
            let mut observed = runtimes.ask(known, patience).await;
            observed.add(number, problems);
            observed
        };
        Look(self.handle.clone(), self.handle.spawn(observe))
    }

    /// Asks some runtimes what they do, all at once; answers in their order. It waits `patience` for them, and less where
    /// others have answered: how long those took tells what to expect. One that has failed for too long is forgotten.
    pub async fn ask(self: &Arc<Self>, known: Vec<Arc<Known>>, patience: Duration) -> Observed {
        let begun = Instant::now();
        let mut until = begun + patience;
        let mut probes = JoinSet::new();
        for (place, known) in known.iter().cloned().enumerate() {
            probes.spawn(async move { (place, known.probe().await) });
        }
        let mut outcomes: Vec<Option<Outcome>> = vec![None; known.len()];
        while let Ok(Some(done)) = timeout_at(until, probes.join_next()).await {
            let Ok((place, outcome)) = done else { continue };
            if outcome.runtime.as_ref().is_some_and(|runtime| runtime.receipt.reachable == Some(true)) {
                until = begun + patience.min(limits::PROBE_OTHERS.max(begun.elapsed() * limits::PROBE_SLOWER));
            }
            outcomes[place] = Some(outcome);
        }
        // A watch hears later of those that are only slow.
        let is_silent = patience > limits::PROBE_WATCH;
        let mut observed = Observed::default();
        for (known, outcome) in known.into_iter().zip(outcomes) {
            let outcome = outcome.unwrap_or_else(|| known.overdue(is_silent));
            observed.note(&outcome);
            if outcome.forget {
                self.forget(&known).await;
            }
        }
        observed
    }

    async fn begin(self: &Arc<Self>) -> Round {
        let number = self.looks.fetch_add(1, Ordering::Relaxed) + 1;
        let runtimes = self.clone();
        let published = tokio::task::spawn_blocking(move || runtimes.published()).await.unwrap_or_default();
        Round { number, known: published.known, problems: published.problems, probes: JoinSet::new() }
    }

    /// Begins to ask all runtimes what they do, each at its own pace.
    pub async fn round(self: &Arc<Self>) -> Round {
        let mut round = self.begin().await;
        for known in round.known.clone() {
            let runtimes = self.clone();
            round.probes.spawn(async move {
                let outcome = known.probe_to_its_end().await;
                if outcome.is_some_and(|outcome| outcome.forget) {
                    runtimes.forget(&known).await;
                }
            });
        }
        round
    }

    /// How soon they should be asked again by who watches; `None` where there are none.
    pub fn pace(&self) -> Option<Duration> {
        let known = lock(&self.known);
        let undecided = known.values().any(|known| known.undecided());
        (!known.is_empty()).then_some(if undecided { limits::POLL_UNDECIDED } else { limits::POLL })
    }

    async fn forget(self: &Arc<Self>, known: &Arc<Known>) {
        let (runtimes, known) = (self.clone(), known.clone());
        // One that cannot be removed is found unreachable again.
        let _ = tokio::task::spawn_blocking(move || runtimes.receipts.forget(&known.record)).await;
    }

    /// Takes a client's name at a runtime, if nobody else of this server has it there.
    pub async fn seat(&self, known: &Known, client_id: &str) -> Option<Seat> {
        self.seats.take(&known.record.endpoint, client_id).await
    }

    /// Joins a runtime: it answers as to one who has always been there, and its events follow.
    ///
    /// # Errors
    /// Where the runtime does not take the client, or is not the one that its receipt names.
    pub async fn attach(
        self: &Arc<Self>,
        known: &Known,
        joining: Joining,
    ) -> Result<(Arc<Attachment>, Snapshot, Lease), Error> {
        let Joining { id, caller, seat, subject, history, auto_renew, outgoing, known: answered, place } = joining;
        let joined = join(&known.record, &known.client, &caller, history, seat).await?;
        let Joined { stream, mut snapshot, lease, calls, seat } = joined;
        known.contact();
        let mut merge = Merge::after(snapshot.history_cursor);
        snapshot.replay.retain(|event| event.sequence.is_some_and(|sequence| merge.admits(sequence)));
        let about = (known.record.endpoint.clone(), subject);
        let means = (known.client.clone(), calls);
        let attachment = Arc::new(Attachment::new(id, caller, about, means, auto_renew, self.closed.child_token()));
        attachment.note(&lease);
        lock(&self.attachments).insert(attachment.id.clone(), attachment.clone());
        let pump = Pump { attachment: attachment.clone(), merge, outgoing, known: answered };
        let runtimes = self.clone();
        tokio::spawn(async move {
            let attachment = pump.attachment.clone();
            pump.run(stream, seat).await;
            lock(&runtimes.attachments).remove(&attachment.id);
            drop(place);
            attachment.gone();
        });
        Ok((attachment, snapshot, lease))
    }

    /// An attachment that is not over.
    pub fn attachment(&self, id: &str) -> Option<Arc<Attachment>> {
        lock(&self.attachments).get(id).filter(|attachment| attachment.is_there()).cloned()
    }

    /// Notes that a client closes a runtime, for the others that are attached to it; `None`: it did not come to that.
    pub fn closing(&self, attachment: &Attachment, client_id: Option<&str>) {
        let attachments = lock(&self.attachments);
        let others = attachments.values().filter(|other| other.endpoint == attachment.endpoint);
        others.filter(|other| other.id != attachment.id).for_each(|other| other.note_closing(client_id));
    }

    /// Ends the attachments that are out of scope now, and takes from the others what is not permitted any more.
    pub fn narrow(&self, grant: &Grant) {
        for attachment in lock(&self.attachments).values() {
            attachment.narrow(|permission| grant.allows(permission));
            if !grant.reaches(&attachment.subject) || !attachment.allows(Permission::Observe) {
                attachment.dismiss();
            }
        }
    }

    /// Ends all attachments and removes all receipts of this server.
    pub fn close(&self) {
        self.closed.cancel();
        self.receipts.close();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use std::sync::LazyLock;
    use tokio::runtime::{Builder, Runtime};

    /// Where tests without connections of their own have them served.
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

    pub(crate) fn handle() -> Handle {
        RUNTIME.handle().clone()
    }

    /// No runtimes at all.
    pub(crate) fn none() -> Arc<Runtimes> {
        Arc::new(Runtimes::new(Receipts::new(None), Grant::all(), handle()))
    }
}
