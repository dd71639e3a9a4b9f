//! Who watches: what each may see and has asked for, and what each is still to be told.

use super::changes::{Change, Id, Replayed, Subject};
use super::entry::same_but_clocks;
use super::query::Filter;
use super::{Attendant, Error, Request, Snapshot};
use crate::authority::Grant;
use crate::harness::Root;
use crate::limits;
use crate::protocol::{Problem, Query, RegistryEvent};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Those who watch.
#[derive(Default)]
pub struct Subscriptions(HashMap<String, Arc<Subscription>>);

/// One who watches.
pub struct Subscription {
    /// Its name.
    pub id: String,
    /// Which entries are asked for.
    pub query: Query,
    view: Mutex<View>,
    wake: Notify,
    ended: CancellationToken,
}

/// What is still to be told.
struct View {
    grant: Grant,
    phase: Phase,
    /// The entries that are to be told for the first time, and that they are.
    unsent: VecDeque<Id>,
    unsent_ids: HashSet<Id>,
    /// By revision; each subject stands once, at its latest.
    pending: BTreeSet<(u64, Subject)>,
    latest: HashMap<Subject, Pending>,
    /// The problems that were told.
    told: Vec<Problem>,
    /// The entries that the client has, where only reading their messages tells whether they are meant.
    has: Option<HashSet<Id>>,
}

struct Pending {
    revision: u64,
    /// Whether the client has the entry.
    had: bool,
}

/// How far the first state is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It is to be begun: anew where something was told already.
    Begin { anew: bool },
    /// It is under way.
    Telling,
    /// It is told but for what waits up to this revision.
    Told { until: u64 },
    /// Only changes are told.
    Synced,
}

/// Something to be told, as of a revision.
pub struct Told {
    /// That of the change, or up to which nothing waits; absent: that of the inventory as it is.
    pub revision: Option<u64>,
    /// What happened.
    pub event: RegistryEvent,
}

impl Subscriptions {
    /// Adds one who watches.
    pub fn add(&mut self, subscription: Arc<Subscription>) {
        self.0.insert(subscription.id.clone(), subscription);
    }

    /// Ends one; whether there was such a one.
    pub fn remove(&mut self, id: &str) -> bool {
        self.0.remove(id).map(|subscription| subscription.ended.cancel()).is_some()
    }

    /// Ends all.
    pub fn clear(&mut self) {
        self.0.drain().for_each(|(_, subscription)| subscription.ended.cancel());
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Narrows what all may see; they begin anew.
    pub fn narrow(&self, narrow: impl Fn(&Grant) -> Option<Grant>) {
        for subscription in self.0.values() {
            subscription.narrow(&narrow);
        }
    }

    /// Tells what differs between two states that follow each other.
    pub fn tell(&self, before: &Snapshot, now: &Snapshot, changes: &[Change]) {
        self.0.values().for_each(|subscription| subscription.take(before, now, changes));
    }
}

impl Subscription {
    /// One who begins with all that there is, or, where `replay` is known, with what came after what the client has.
    pub fn new(id: String, query: Query, grant: Grant, replay: Option<Replay>, now: &Snapshot) -> Self {
        let phase = match &replay {
            None => Phase::Begin { anew: false },
            Some(Replay::Unknown) => Phase::Begin { anew: true },
            Some(Replay::Changes(changes)) => Phase::Told { until: changes.last().map_or(0, |last| last.revision) },
        };
        // What came after what the client has is told with what it knows of problems.
        let told = now.visible_problems(&grant);
        let mut view = View {
            grant,
            phase,
            unsent: VecDeque::new(),
            unsent_ids: HashSet::new(),
            pending: BTreeSet::new(),
            latest: HashMap::new(),
            told,
            has: searches(&query).then(HashSet::new),
        };
        if let Some(Replay::Changes(changes)) = replay {
            for change in changes {
                view.note(change.revision, change.subject, change.was_seen);
            }
        }
        Self { id, query, view: Mutex::new(view), wake: Notify::new(), ended: CancellationToken::new() }
    }

    /// Whether the first state is told.
    pub fn is_synced(&self) -> bool {
        self.view().phase == Phase::Synced
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
    pub fn reads(&self) -> bool {
        self.query.include.as_ref().is_some_and(|include| !include.is_empty())
            || searches(&self.query)
            || self.query.workspace_family.is_some()
    }

    /// What of the inventory is looked at.
    fn seen<'a>(&self, snapshot: &'a Snapshot) -> Cow<'a, Snapshot> {
        match self.query.live {
            Some(false) => Cow::Owned(snapshot.of_files()),
            _ => Cow::Borrowed(snapshot),
        }
    }

    fn narrow(&self, narrow: impl Fn(&Grant) -> Option<Grant>) {
        let mut view = self.view();
        match narrow(&view.grant) {
            Some(grant) if grant == view.grant => {}
            Some(grant) => {
                view.grant = grant;
                view.begin_anew();
            }
            None => self.ended.cancel(),
        }
        self.wake.notify_one();
    }

    fn take(&self, before: &Snapshot, now: &Snapshot, changes: &[Change]) {
        let mut view = self.view();
        if matches!(view.phase, Phase::Begin { .. }) {
            return;
        }
        let grant = view.grant.clone();
        let (before, now) = (&*self.seen(before), &*self.seen(now));
        let mut old = Filter::new(&self.query, before, &grant);
        let mut new = Filter::new(&self.query, now, &grant);
        let changed: HashSet<&Id> = changes.iter().filter_map(|change| change.subject.entry()).collect();
        for change in changes {
            let Subject::Entry(id) = &change.subject else {
                view.note(change.revision, Subject::Problems, true);
                continue;
            };
            let mut ids = vec![id.clone()];
            // In a view of its own another id may stand for the same; one that changed itself is looked at for that.
            ids.extend(before.kin(id).into_iter().chain(now.kin(id)).filter(|kin| !changed.contains(kin)));
            for id in ids {
                if view.unsent_ids.contains(&id) {
                    continue;
                }
                let was = before.item_in(&id, &self.query, &grant).filter(|item| old.admits(item));
                let is = now.item_in(&id, &self.query, &grant).filter(|item| new.admits(item));
                let same = match (&was, &is) {
                    (None, None) => true,
                    (Some(was), Some(is)) => {
                        let same_file = was.session().map(std::ptr::from_ref) == is.session().map(std::ptr::from_ref);
                        let base = same_but_clocks(&before.entry(was, &grant), &now.entry(is, &grant));
                        base && (same_file || !self.reads())
                    }
                    _ => false,
                };
                let had = view.has.as_ref().map_or(was.is_some(), |has| has.contains(&id));
                // What is told later is what is true then, so what has come back needs to be looked at again, too.
                if !same || view.latest.contains_key(&Subject::Entry(id.clone())) {
                    view.note(change.revision, Subject::Entry(id), had);
                }
            }
        }
        if view.pending.len() > limits::CHANGES_PENDING {
            view.begin_anew();
        }
        self.wake.notify_one();
    }

    /// What is to be told next, as things are now: at most `count` events of a state that is told for the first time,
    /// or one change.
    pub fn next(
        &self,
        now: &Snapshot,
        roots: &[Root],
        count: usize,
        attendant: &dyn Attendant,
    ) -> Result<Vec<Told>, Error> {
        let now = &*self.seen(now);
        let mut view = self.view();
        if let Phase::Begin { anew } = view.phase {
            view.phase = Phase::Telling;
            self.begin(&mut view, now, roots, attendant)?;
            if anew {
                return Ok(vec![told(view.as_of(), RegistryEvent::Resync {})]);
            }
        }
        let grant = view.grant.clone();
        let request = Request { query: &self.query, cursor: None, limit: usize::MAX, grant: &grant, roots };
        let mut filter = Filter::new(&self.query, now, &grant);
        let mut events = Vec::new();
        while view.phase == Phase::Telling && events.len() < count {
            let Some(id) = view.unsent.pop_front() else {
                view.phase = Phase::Told { until: 0 };
                break;
            };
            view.unsent_ids.remove(&id);
            if let Some(entry) = now.listed(&id, &mut filter, &request, attendant)? {
                view.has.iter_mut().for_each(|has| has.extend([id.clone()]));
                events.push(told(view.as_of(), RegistryEvent::Added { entry: Box::new(entry) }));
            }
        }
        while events.is_empty() && view.phase != Phase::Telling {
            let next = view.pending.first().map(|(revision, _)| *revision);
            if let Phase::Told { until } = view.phase
                && next.is_none_or(|next| next > until)
            {
                view.phase = Phase::Synced;
                // What still waits is told after this, and asked for by who goes on from here.
                events.push(told(view.as_of(), RegistryEvent::Synced {}));
                break;
            }
            let Some((revision, subject)) = view.pending.pop_first() else { break };
            let Some(pending) = view.latest.remove(&subject) else { continue };
            match subject {
                Subject::Problems => {
                    let revision = Some(revision).filter(|revision| *revision > 0).or(view.as_of());
                    events.extend(view.problems(now).into_iter().map(|event| told(revision, event)));
                }
                Subject::Entry(id) => {
                    let entry = now.listed(&id, &mut filter, &request, attendant)?;
                    if let Some(has) = &mut view.has {
                        if entry.is_some() {
                            has.insert(id.clone())
                        } else {
                            has.remove(&id)
                        };
                    }
                    let event = match (pending.had, entry) {
                        (true, Some(entry)) => RegistryEvent::Updated { entry: Box::new(entry) },
                        (false, Some(entry)) => RegistryEvent::Added { entry: Box::new(entry) },
                        (true, None) => RegistryEvent::Removed { id: id.to_string() },
                        (false, None) => continue,
                    };
                    events.push(told(Some(revision), event));
                }
            }
        }
        Ok(events)
    }

    /// Begins to tell all that there is.
    fn begin(&self, view: &mut View, now: &Snapshot, roots: &[Root], attendant: &dyn Attendant) -> Result<(), Error> {
        let request = Request { query: &self.query, cursor: None, limit: usize::MAX, grant: &view.grant, roots };
        let ids: VecDeque<Id> = now.ids(&request, attendant)?.into();
        view.unsent_ids = ids.iter().cloned().collect();
        view.unsent = ids;
        view.pending.clear();
        view.latest.clear();
        view.told.clear();
        view.has.iter_mut().for_each(HashSet::clear);
        // They come before the entries are said to be all.
        view.note(0, Subject::Problems, true);
        Ok(())
    }

    fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
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
fn searches(query: &Query) -> bool {
    query.search_previews == Some(true) && query.text.as_ref().is_some_and(|text| !text.trim().is_empty())
}

fn told(revision: Option<u64>, event: RegistryEvent) -> Told {
    Told { revision, event }
}

impl View {
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

    fn begin_anew(&mut self) {
        self.phase = Phase::Begin { anew: true };
        self.unsent.clear();
        self.unsent_ids.clear();
        self.pending.clear();
        self.latest.clear();
    }

    /// The problems that came and went since they were told.
    fn problems(&mut self, now: &Snapshot) -> Vec<RegistryEvent> {
        let problems = now.visible_problems(&self.grant);
        let before = std::mem::replace(&mut self.told, problems.clone());
        let gone = before.iter().filter(|problem| !problems.contains(problem)).cloned();
        let new = problems.iter().filter(|problem| !before.contains(problem)).cloned();
        let gone = gone.map(|problem| RegistryEvent::Recovered { problem });
        gone.chain(new.map(|problem| RegistryEvent::Error { problem })).collect()
    }
}
