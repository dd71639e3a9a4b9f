//! Who watches: what each may see and has asked for, and what each is still to be told.

use super::change_log::{Change, Id, Replayed, Subject};
use super::item::same_except_timestamps;
use super::query::Filter;
use super::{Error, Progress, Request, Snapshot};
use crate::authority::Grant;
use crate::harness::{NoProgress, Root};
use crate::limits;
use crate::protocol::{Problem, Query, RegistryEvent};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Those who watch.
#[derive(Default)]
pub(super) struct Subscriptions(HashMap<String, Arc<Subscription>>);

/// One who watches.
pub struct Subscription {
    /// Its name.
    pub id: String,
    /// Which entries are asked for.
    pub query: Query,
    state: Mutex<SubscriptionState>,
    wake: Notify,
    ended: CancellationToken,
}

/// What is still to be told.
struct SubscriptionState {
    grant: Grant,
    phase: Phase,
    /// The number of the last change that was looked at.
    last: u64,
    /// Set when what was made to be told is not to be told any more.
    void: CancellationToken,
    /// The entries that are to be told for the first time, and that they are.
    unsent: VecDeque<Id>,
    unsent_ids: HashSet<Id>,
    /// By revision; each subject stands once, at its latest.
    pending: BTreeSet<(u64, Subject)>,
    latest: HashMap<Subject, Pending>,
    /// The problems that were told.
    sent_problems: Vec<Problem>,
    /// The entries that the client has, where only reading their messages tells whether they are meant.
    client_entries: Option<HashSet<Id>>,
}

struct Pending {
    revision: u64,
    /// Whether the client has the entry.
    had: bool,
}

/// How far the first state is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was sent yet.
    Start,
    /// It is to be sent again from its beginning.
    Restart,
    /// It is under way.
    Initial,
    /// It is told but for what waits up to this revision.
    CatchUp { until: u64 },
    /// Only changes are told.
    Synced,
}

/// What is to be told next.
pub enum Next {
    /// Nothing, for now.
    Nothing,
    /// The inventory is newer than the one that this was asked of, or the view another one by now: ask again.
    Retry,
    /// These events; none of them once `void` is set.
    Events {
        /// Set when they are not to be told any more.
        void: CancellationToken,
        /// In their order.
        events: Vec<StampedEvent>,
    },
}

/// What is looked up next to be told. Files may have to be read for that, and then nobody is to wait for it.
struct Plan {
    grant: Grant,
    void: CancellationToken,
    as_of: Option<u64>,
    work: Work,
}

enum Work {
    /// Tell this.
    Send(Vec<StampedEvent>),
    /// Tell these entries for the first time.
    AddInitial(Vec<Id>),
    /// Tell what became of an entry.
    LookUp { revision: u64, id: Id, had: bool },
}

/// Something to be told, as of a revision.
pub struct StampedEvent {
    /// That of the change, or up to which nothing waits; absent: that of the inventory as it is.
    pub revision: Option<u64>,
    /// What happened.
    pub event: RegistryEvent,
}

impl Subscriptions {
    /// Adds one who watches.
    pub(super) fn add(&mut self, subscription: Arc<Subscription>) {
        self.0.insert(subscription.id.clone(), subscription);
    }

    /// Ends one, if it is there and the grant covers what it may see; whether it was ended.
    pub(super) fn remove(&mut self, id: &str, grant: &Grant) -> bool {
        let is_meant = self.0.get(id).is_some_and(|subscription| grant.covers(&subscription.state().grant));
        is_meant && self.0.remove(id).map(|subscription| subscription.ended.cancel()).is_some()
    }

    /// Ends all.
    pub(super) fn clear(&mut self) {
        self.0.drain().for_each(|(_, subscription)| subscription.ended.cancel());
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Narrows what all may see; they begin anew.
    pub(super) fn narrow(&self, narrow: impl Fn(&Grant) -> Option<Grant>) {
        for subscription in self.0.values() {
            subscription.narrow(&narrow);
        }
    }

    /// Tells what differs between two states that follow each other.
    pub(super) fn notify(&self, before: &Snapshot, now: &Snapshot, changes: &[Change]) {
        self.0.values().for_each(|subscription| subscription.note_changes(before, now, changes));
    }
}

impl Subscription {
    /// One who begins with all that there is, or, where `replay` is known, with what came after what the client has.
    pub fn new(id: String, query: Query, grant: Grant, replay: Option<Replay>, now: &Snapshot) -> Self {
        // Only reading all messages would tell which entries a client has that searched them.
        let searches = searches_messages(&query);
        let replay = replay.map(|replay| if searches { Replay::Unknown } else { replay });
        let phase = match &replay {
            None => Phase::Start,
            Some(Replay::Unknown) => Phase::Restart,
            Some(Replay::Changes(changes)) => Phase::CatchUp { until: changes.last().map_or(0, |last| last.revision) },
        };
        // What came after what the client has is told with what it knows of problems.
        let sent_problems = now.visible_problems(&grant);
        let ended = CancellationToken::new();
        let mut state = SubscriptionState {
            grant,
            phase,
            last: now.number,
            void: ended.child_token(),
            unsent: VecDeque::new(),
            unsent_ids: HashSet::new(),
            pending: BTreeSet::new(),
            latest: HashMap::new(),
            sent_problems,
            client_entries: searches.then(HashSet::new),
        };
        if let Some(Replay::Changes(changes)) = replay {
            for change in changes {
                state.note(change.revision, change.subject, change.was_listed);
            }
        }
        Self { id, query, state: Mutex::new(state), wake: Notify::new(), ended }
    }

    /// Whether the first state is told.
    pub fn is_synced(&self) -> bool {
        self.state().phase == Phase::Synced
    }

    /// Resolves when there may be something to tell.
    pub async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Set when it is over.
    pub fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    /// Whether telling something needs files to be read.
    pub fn reads_files(&self) -> bool {
        self.query.include.as_ref().is_some_and(|include| !include.is_empty())
            || searches_messages(&self.query)
            || self.query.workspace_family.is_some()
    }

    /// Whether telling something reads the file system: messages, or where a workspace leads to.
    pub fn may_block(&self) -> bool {
        self.reads_files() || self.query.workspace.is_some() || self.state().grant.has_workspace_scope()
    }

    /// What of the inventory is looked at.
    fn relevant<'a>(&self, snapshot: &'a Snapshot) -> Cow<'a, Snapshot> {
        match self.query.live {
            Some(false) => Cow::Owned(snapshot.without_runtimes()),
            _ => Cow::Borrowed(snapshot),
        }
    }

    /// Narrows what it may see; it begins anew, or ends where nothing is left.
    pub fn narrow(&self, narrow: impl Fn(&Grant) -> Option<Grant>) {
        let mut state = self.state();
        match narrow(&state.grant) {
            Some(grant) if grant == state.grant => {}
            Some(grant) => {
                state.grant = grant;
                self.restart(&mut state);
            }
            None => self.ended.cancel(),
        }
        self.wake.notify_one();
    }

    fn note_changes(&self, before: &Snapshot, now: &Snapshot, changes: &[Change]) {
        let mut state = self.state();
        state.last = now.number;
        if matches!(state.phase, Phase::Start | Phase::Restart) {
            return;
        }
        let grant = state.grant.clone();
        let (before, now) = (&*self.relevant(before), &*self.relevant(now));
        let mut old = Filter::new(&self.query, before, &grant);
        let mut new = Filter::new(&self.query, now, &grant);
        for change in changes {
            let Subject::Entry(id) = &change.subject else {
                state.note(change.revision, Subject::Problems, true);
                continue;
            };
            if state.unsent_ids.contains(id) {
                continue;
            }
            let was = before.item_for_query(id, &self.query, &grant).filter(|item| old.admits(item, &NoProgress));
            let is = now.item_for_query(id, &self.query, &grant).filter(|item| new.admits(item, &NoProgress));
            let same = match (&was, &is) {
                (None, None) => true,
                (Some(was), Some(is)) => {
                    same_except_timestamps(&before.entry(was, &grant), &now.entry(is, &grant))
                        && !is.may_be_renamed_since(was)
                        && (was.session() == is.session() || !self.reads_files())
                }
                _ => false,
            };
            let had = state.client_entries.as_ref().map_or(was.is_some(), |entries| entries.contains(id));
            // What is told later is what is true then, so what has come back needs to be looked at again, too.
            if !same || state.latest.contains_key(&change.subject) {
                state.note(change.revision, change.subject.clone(), had);
            }
        }
        if state.pending.len() > limits::CHANGES_PENDING {
            self.restart(&mut state);
        }
        self.wake.notify_one();
    }

    /// What is to be told next, as things are now: at most `count` events of a state that is told for the first time,
    /// or one change. Nobody waits for it while files are read.
    pub fn next(&self, now: &Snapshot, roots: &[Root], count: usize, progress: &dyn Progress) -> Result<Next, Error> {
        let now = &*self.relevant(now);
        let mut state = self.state();
        if state.last > now.number {
            return Ok(Next::Retry);
        }
        let Some(Plan { grant, void, as_of, work }) = self.plan(&mut state, now, count) else {
            return Ok(Next::Nothing);
        };
        drop(state);
        let request = Request { query: &self.query, cursor: None, limit: usize::MAX, grant: &grant, roots };
        let mut filter = Filter::new(&self.query, now, &grant);
        let mut entry = |id: &Id| now.entry_for_query(id, &mut filter, &request, progress);
        let (events, looked_up) = match work {
            Work::Send(events) => (events, Vec::new()),
            Work::AddInitial(ids) => {
                let (mut events, mut looked_up) = (Vec::new(), Vec::new());
                for id in ids {
                    let entry = entry(&id)?;
                    looked_up.push((id, entry.is_some()));
                    events.extend(entry.map(|entry| stamped(as_of, RegistryEvent::Added { entry: Box::new(entry) })));
                }
                (events, looked_up)
            }
            Work::LookUp { revision, id, had } => {
                let entry = entry(&id)?;
                let looked_up = vec![(id.clone(), entry.is_some())];
                let event = match (had, entry) {
                    (true, Some(entry)) => Some(RegistryEvent::Updated { entry: Box::new(entry) }),
                    (false, Some(entry)) => Some(RegistryEvent::Added { entry: Box::new(entry) }),
                    (true, None) => Some(RegistryEvent::Removed { id: id.to_string() }),
                    (false, None) => None,
                };
                (event.into_iter().map(|event| stamped(Some(revision), event)).collect(), looked_up)
            }
        };
        let mut state = self.state();
        if void.is_cancelled() {
            return Ok(Next::Retry);
        }
        looked_up.into_iter().for_each(|(id, has)| state.note_sent(id, has));
        Ok(if events.is_empty() { Next::Retry } else { Next::Events { void, events } })
    }

    fn plan(&self, state: &mut SubscriptionState, now: &Snapshot, count: usize) -> Option<Plan> {
        let begin = match state.phase {
            phase @ (Phase::Start | Phase::Restart) => {
                self.start(state, now);
                phase == Phase::Restart
            }
            _ => false,
        };
        let as_of = state.as_of();
        let work =
            if begin { Work::Send(vec![stamped(as_of, RegistryEvent::Resync {})]) } else { state.work(now, count)? };
        Some(Plan { grant: state.grant.clone(), void: state.void.clone(), as_of, work })
    }

    /// Begins to tell all that there is.
    fn start(&self, state: &mut SubscriptionState, now: &Snapshot) {
        let ids: VecDeque<Id> = now.candidates(&self.query, &state.grant).into();
        state.phase = Phase::Initial;
        state.unsent_ids = ids.iter().cloned().collect();
        state.unsent = ids;
        state.pending.clear();
        state.latest.clear();
        state.sent_problems.clear();
        state.client_entries.iter_mut().for_each(HashSet::clear);
        // They come before the entries are said to be all.
        state.note(0, Subject::Problems, true);
    }

    /// Forgets what was to be told: all is told anew.
    fn restart(&self, state: &mut SubscriptionState) {
        std::mem::replace(&mut state.void, self.ended.child_token()).cancel();
        // Where nothing was told yet there is nothing to be told anew.
        if state.phase != Phase::Start {
            state.phase = Phase::Restart;
        }
        state.unsent.clear();
        state.unsent_ids.clear();
        state.pending.clear();
        state.latest.clear();
    }

    fn state(&self) -> MutexGuard<'_, SubscriptionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client has missed.
pub enum Replay {
    /// These changes.
    Changes(Vec<Replayed>),
    /// That is not known any more.
    Unknown,
}

/// Whether only reading messages tells which entries are meant.
fn searches_messages(query: &Query) -> bool {
    query.search_previews == Some(true) && query.text.as_ref().is_some_and(|text| !text.trim().is_empty())
}

fn stamped(revision: Option<u64>, event: RegistryEvent) -> StampedEvent {
    StampedEvent { revision, event }
}

impl SubscriptionState {
    /// Notes that something changed; `had` is whether the client had the entry before that.
    fn note(&mut self, revision: u64, subject: Subject, had: bool) {
        let known = self.latest.entry(subject.clone()).or_insert(Pending { revision, had });
        self.pending.remove(&(known.revision, subject.clone()));
        known.revision = revision;
        self.pending.insert((revision, subject));
    }

    /// The revision up to which nothing waits, if something waits.
    fn as_of(&self) -> Option<u64> {
        self.pending.iter().find(|(revision, _)| *revision > 0).map(|(revision, _)| revision - 1)
    }

    /// What is to be done next.
    fn work(&mut self, now: &Snapshot, count: usize) -> Option<Work> {
        if self.phase == Phase::Initial {
            let ids: Vec<Id> = self.unsent.drain(..count.min(self.unsent.len())).collect();
            ids.iter().for_each(|id| _ = self.unsent_ids.remove(id));
            if !ids.is_empty() {
                return Some(Work::AddInitial(ids));
            }
            self.phase = Phase::CatchUp { until: 0 };
        }
        loop {
            let next = self.pending.first().map(|(revision, _)| *revision);
            if let Phase::CatchUp { until } = self.phase
                && next.is_none_or(|next| next > until)
            {
                self.phase = Phase::Synced;
                // What still waits is told after this, and asked for by who goes on from here.
                return Some(Work::Send(vec![stamped(self.as_of(), RegistryEvent::Synced {})]));
            }
            let (revision, subject) = self.pending.pop_first()?;
            let had = self.latest.remove(&subject).is_some_and(|pending| pending.had);
            if let Subject::Entry(id) = subject {
                return Some(Work::LookUp { revision, id, had });
            }
            let revision = Some(revision).filter(|revision| *revision > 0).or(self.as_of());
            let events = self.problems(now);
            if !events.is_empty() {
                return Some(Work::Send(events.into_iter().map(|event| stamped(revision, event)).collect()));
            }
        }
    }

    /// Takes note of whether the client has an entry once it is told what was looked up, also for a change of it that
    /// came meanwhile.
    fn note_sent(&mut self, id: Id, has: bool) {
        if let Some(pending) = self.latest.get_mut(&Subject::Entry(id.clone())) {
            pending.had = has;
        }
        if let Some(known) = &mut self.client_entries {
            if has {
                known.insert(id);
            } else {
                known.remove(&id);
            }
        }
    }

    /// The problems that came and went since they were told.
    fn problems(&mut self, now: &Snapshot) -> Vec<RegistryEvent> {
        let problems = now.visible_problems(&self.grant);
        let before = std::mem::replace(&mut self.sent_problems, problems.clone());
        let gone = before.iter().filter(|problem| !problems.contains(problem)).cloned();
        let new = problems.iter().filter(|problem| !before.contains(problem)).cloned();
        let gone = gone.map(|problem| RegistryEvent::Recovered { problem });
        gone.chain(new.map(|problem| RegistryEvent::Error { problem })).collect()
    }
}
