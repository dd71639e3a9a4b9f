//! The one log of changes: what differs between two states of the unfiltered inventory, each change with a number.

use super::Snapshot;
use super::item::same_except_timestamps;
use super::stored::Stored;
use crate::authority::Grant;
use crate::harness::Live;
use crate::limits;
use crate::protocol::{Harness, Query};
use crate::runtime::{Runtime, Trouble};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// The id of an entry.
pub(super) type Id = Arc<str>;

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// An entry came, went, or is not as it was.
    Entry(Id),
    /// Some problem came or went.
    Problems,
}

impl Subject {
    /// The entry's id.
    pub fn entry(&self) -> Option<&Id> {
        match self {
            Self::Entry(id) => Some(id),
            Self::Problems => None,
        }
    }
}

/// A change of the unfiltered inventory, in whatever view it shows.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// Its number.
    pub revision: u64,
    /// What changed.
    pub subject: Subject,
}

/// The latest changes, each entry with its last one only.
pub(super) struct ChangeLog {
    instance: String,
    last: u64,
    /// Changes up to this one are not known any more.
    floor: u64,
    /// Whether anything was numbered: nobody has seen what was before the first state.
    begun: bool,
    by_revision: BTreeMap<u64, Subject>,
    latest: HashMap<Subject, SubjectHistory>,
}

/// What is known of an entry's changes.
struct SubjectHistory {
    revision: u64,
    /// What stood behind its id up to a change, the oldest first.
    before: VecDeque<(u64, Visibility)>,
}

/// A change as it is told to who comes later.
pub struct Replayed {
    /// Its number.
    pub revision: u64,
    /// What changed.
    pub subject: Subject,
    /// Whether the entry was listed, as far as scope and view tell.
    pub was_listed: bool,
}

type Workspace = Option<Arc<str>>;

/// What stood behind an id, as far as it tells who could see it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Visibility {
    stored: Option<(Harness, Workspace)>,
    /// Live processes of that session.
    live: Vec<(Harness, Workspace)>,
    /// The runtimes that run it, and those whose own id this is.
    runtimes: Vec<(Harness, Workspace)>,
    own: Vec<(Harness, Workspace)>,
}

impl Visibility {
    fn of(snapshot: &Snapshot, id: &str) -> Self {
        let place = |runtime: &Runtime| {
            let source = &runtime.receipt.source;
            (source.harness, Some(source.workspace.as_str().into()))
        };
        let of_id = snapshot.observed.runtimes.iter().filter(|runtime| runtime.receipt.runtime_id == id);
        let mut visibility = Self { own: of_id.map(place).collect(), ..Self::default() };
        let Some((harness, session)) = session_of(id) else { return visibility };
        let row = snapshot.stored.find(harness, session).map(|row| &*snapshot.stored.rows[row]);
        visibility.stored = row.map(|row| (harness, row.workspace().map(Arc::from)));
        visibility.runtimes = snapshot.runtimes_of(harness, session).map(place).collect();
        let live = snapshot.live.iter().filter(|live| live.harness == harness && *live.session_id == *session);
        visibility.live = live.map(|live| (harness, live.workspace.as_deref().map(Arc::from))).collect();
        visibility
    }

    /// Whether there was an entry of this id.
    fn was_listed_for(&self, query: &Query, grant: &Grant) -> bool {
        let looks = query.live != Some(false);
        let reached = |(harness, workspace): &(Harness, Workspace)| {
            grant.reaches_harness(*harness) && grant.reaches_workspace(workspace.as_deref())
        };
        if looks && self.own.iter().filter(|place| reached(place)).count() == 1 {
            return true;
        }
        let lived = || self.live.iter().any(reached);
        let folded = looks && query.twins != Some(true) && self.runtimes.iter().any(reached);
        !folded && (self.stored.as_ref().is_some_and(reached) || looks && lived())
    }
}

impl ChangeLog {
    pub(super) fn new(instance: String) -> Self {
        let (by_revision, latest) = (BTreeMap::new(), HashMap::new());
        Self { instance, last: 0, floor: 0, begun: false, by_revision, latest }
    }

    /// The number of the last change.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// The revision that the inventory has now: that of the last change.
    pub(super) fn revision(&self) -> String {
        format!("{}.{}", self.instance, self.last)
    }

    /// Numbers what differs between two states that follow each other. What shows in lists that ask for nothing special
    /// comes last, so that their revision is mostly that of the last event.
    pub(super) fn record(&mut self, before: &Snapshot, now: &Snapshot) -> Vec<Change> {
        if !std::mem::replace(&mut self.begun, true) {
            (self.last, self.floor) = (1, 1);
            return Vec::new();
        }
        let twins = Query { twins: Some(true), ..Query::default() };
        let mut subjects = Vec::new();
        let mut plain = Vec::new();
        for (id, everywhere) in affected(before, now) {
            if differs(before, now, &id, &Query::default()) {
                plain.push(Subject::Entry(id));
            } else if everywhere || differs(before, now, &id, &twins) {
                subjects.push(Subject::Entry(id));
            }
        }
        subjects.extend(plain);
        if !before.same_problems(now) {
            subjects.push(Subject::Problems);
        }
        let number = |subject: Subject| {
            self.last += 1;
            self.store(subject.clone(), before);
            Change { revision: self.last, subject }
        };
        subjects.into_iter().map(number).collect()
    }

    fn store(&mut self, subject: Subject, before: &Snapshot) {
        let known =
            self.latest.entry(subject.clone()).or_insert(SubjectHistory { revision: 0, before: VecDeque::new() });
        self.by_revision.remove(&known.revision);
        known.revision = self.last;
        let visibility = subject.entry().map(|id| Visibility::of(before, id)).unwrap_or_default();
        match known.before.back_mut() {
            Some((until, known)) if *known == visibility => *until = self.last,
            _ => known.before.push_back((self.last, visibility)),
        }
        if known.before.len() > limits::CHANGES_TRACED
            && let Some((until, _)) = known.before.pop_front()
        {
            self.floor = self.floor.max(until);
        }
        self.by_revision.insert(self.last, subject);
        while self.by_revision.len() > limits::CHANGES_KEPT {
            if let Some((revision, subject)) = self.by_revision.pop_first() {
                self.floor = self.floor.max(revision);
                self.latest.remove(&subject);
            }
        }
    }

    /// What came after a revision, for who asked so; `None` where that is not known, or it is none of ours.
    pub(super) fn since(&self, revision: &str, query: &Query, grant: &Grant) -> Option<Vec<Replayed>> {
        let since: u64 = revision.strip_prefix(&self.instance)?.strip_prefix('.')?.parse().ok()?;
        let is_ours = revision == format!("{}.{since}", self.instance);
        if !is_ours || since < self.floor || since > self.last {
            return None;
        }
        let changes = || self.by_revision.range(since + 1..);
        // Which problems there were is not kept.
        if changes().any(|(_, subject)| *subject == Subject::Problems) {
            return None;
        }
        let replayed = changes().map(|(revision, subject)| {
            let before =
                self.latest.get(subject).and_then(|known| known.before.iter().find(|(until, _)| *until > since));
            let was_listed = before.is_some_and(|(_, visibility)| visibility.was_listed_for(query, grant));
            Replayed { revision: *revision, subject: subject.clone(), was_listed }
        });
        Some(replayed.collect())
    }
}

/// Whether an entry is not as it was, for who may see all.
fn differs(before: &Snapshot, now: &Snapshot, id: &str, query: &Query) -> bool {
    let all = Grant::all();
    match (before.item_for_query(id, query, &all), now.item_for_query(id, query, &all)) {
        (None, None) => false,
        (Some(was), Some(is)) => {
            is.may_be_renamed_since(&was) || !same_except_timestamps(&before.entry(&was, &all), &now.entry(&is, &all))
        }
        _ => true,
    }
}

/// The entries that may not be as they were, and whether some view may show that although no whole one does.
fn affected(before: &Snapshot, now: &Snapshot) -> BTreeMap<Id, bool> {
    let mut sessions = AffectedSessions::default();
    let mut ids: BTreeMap<Id, bool> = BTreeMap::new();
    sessions.add_changed_rows(before, now);
    if !Arc::ptr_eq(&before.live, &now.live) {
        for (here, there) in [(before, now), (now, before)] {
            let gone = here.live.iter().filter(|live| !there.live.contains(live));
            for live in gone {
                // Of several processes of one session another one counts in each scope, and so does of several runtimes
                // the one whose entry shows the process.
                let same = |other: &&Live| (other.harness, &other.session_id) == (live.harness, &live.session_id);
                let several = [here, there].into_iter().any(|snapshot| {
                    snapshot.live.iter().filter(same).count() > 1
                        || snapshot.runtimes_of(live.harness, &live.session_id).count() > 1
                });
                sessions.add(live.harness, &live.session_id, several);
            }
        }
    }
    if !Arc::ptr_eq(&before.observed, &now.observed) {
        for (here, there) in [(before, now), (now, before)] {
            let there = &there.observed.runtimes;
            for runtime in here.observed.runtimes.iter().filter(|one| !there.iter().any(|other| one.is_as(other))) {
                // A scope may see one of two that claim an id.
                ids.insert(runtime.receipt.runtime_id.as_str().into(), true);
                let stays = there.iter().any(|other| other.receipt == runtime.receipt);
                sessions.add_runtime(here, runtime, !stays);
                // Another one that claims its id is listed no more, or again.
                let claims = |other: &&Runtime| !stays && other.receipt.runtime_id == runtime.receipt.runtime_id;
                here.observed.runtimes.iter().filter(claims).for_each(|other| sessions.add_runtime(here, other, true));
            }
        }
    }
    for (here, there) in [(before, now), (now, before)] {
        // One that claims an id and does not answer hides others of that id, each scope its own.
        let (troubles, others) = (&here.observed.troubles, &there.observed.troubles);
        let gone = troubles.iter().filter(|trouble| !others.contains(trouble));
        for id in gone.filter_map(|trouble| trouble.problem.id.as_deref()) {
            ids.insert(id.into(), true);
            for snapshot in [before, now] {
                let claims = snapshot.observed.runtimes.iter().filter(|runtime| runtime.receipt.runtime_id == id);
                claims.for_each(|runtime| sessions.add_runtime(snapshot, runtime, true));
            }
        }
    }
    for ((harness, session), everywhere) in sessions.0 {
        let session_entry_id: Id = format!("{harness}:{session}").into();
        let runtimes = [before, now].into_iter().flat_map(|snapshot| snapshot.runtimes_of(harness, &session));
        let runtimes = runtimes.map(|runtime| Id::from(&*runtime.receipt.runtime_id));
        for id in runtimes.chain([session_entry_id]) {
            *ids.entry(id).or_default() |= everywhere;
        }
    }
    ids
}

/// AffectedSessions whose entries may not be as they were, and whether that counts also where no whole view shows it.
#[derive(Default)]
struct AffectedSessions(BTreeMap<(Harness, String), bool>);

impl AffectedSessions {
    fn add(&mut self, harness: Harness, id: &str, everywhere: bool) {
        *self.0.entry((harness, id.to_owned())).or_default() |= everywhere;
    }

    fn add_runtime(&mut self, snapshot: &Snapshot, runtime: &Runtime, appeared_or_vanished: bool) {
        for (harness, session) in snapshot.sessions_of(&runtime.receipt) {
            self.add(harness, session, appeared_or_vanished);
            // Who asked for what is below the runtime had it all.
            if appeared_or_vanished && let Some(row) = snapshot.stored.find(harness, session) {
                self.add_descendants(&snapshot.stored, row);
            }
        }
    }

    /// The sessions whose rows, or whose relatives' rows, may not be as they were.
    fn add_changed_rows(&mut self, before: &Snapshot, now: &Snapshot) {
        let (old, new) = (&before.stored, &now.stored);
        if Arc::ptr_eq(old, new) {
            return;
        }
        if old.has_same_positions(new) {
            for (was, is) in old.rows.iter().zip(&new.rows).filter(|(was, is)| !Arc::ptr_eq(was, is)) {
                self.add(is.harness, is.id(), was.session.content != is.session.content);
            }
            return;
        }
        for (here, there) in [(old, new), (new, old)] {
            for (place, row) in here.rows.iter().enumerate() {
                let other = there.find(row.harness, row.id()).map(|other| &*there.rows[other]);
                if other.is_some_and(|other| row.is_same_as(other)) {
                    continue;
                }
                self.add(
                    row.harness,
                    row.id(),
                    other.is_some_and(|other| row.session.content != other.session.content),
                );
                let moved = other.is_some_and(|other| row.workspace() != other.workspace());
                // A parent counts its children, those in scope.
                let parent = row.parent.as_ref().and_then(|parent| here.related(row, parent.session_id.as_deref()?));
                if let Some(parent) = parent.map(|parent| &here.rows[parent]) {
                    self.add(parent.harness, parent.id(), moved);
                }
                if moved || other.is_none_or(|other| row.parent != other.parent) {
                    self.add_descendants(here, place);
                }
            }
        }
    }

    /// All below a session: what is out of scope or not there leads nowhere, and is no parent that could be named.
    fn add_descendants(&mut self, stored: &Stored, row: usize) {
        let mut seen = HashSet::new();
        let mut open: Vec<usize> = vec![row];
        while let Some(row) = open.pop() {
            for child in stored.children(row).filter(|child| seen.insert(*child)) {
                self.add(stored.rows[child].harness, stored.rows[child].id(), true);
                open.push(child);
            }
        }
    }
}

/// The session that an entry's id names, where it has that form.
fn session_of(id: &str) -> Option<(Harness, &str)> {
    let (harness, session) = id.split_once(':')?;
    Some((harness.parse().ok()?, session))
}

impl Snapshot {
    /// The ids under which what stands behind an entry's id may be listed, in one view or another.
    pub fn related_ids(&self, id: &str) -> Vec<Id> {
        let runtimes = self.observed.runtimes.iter();
        let of_runtime = runtimes.filter(|runtime| runtime.receipt.runtime_id == id).flat_map(|runtime| {
            let sessions = self.sessions_of(&runtime.receipt).into_iter();
            sessions.map(|(harness, session)| format!("{harness}:{session}").into())
        });
        let of_session = session_of(id).into_iter().flat_map(|(harness, session)| self.runtimes_of(harness, session));
        of_runtime.chain(of_session.map(|runtime| Id::from(&*runtime.receipt.runtime_id))).collect()
    }

    fn runtimes_of<'a>(&'a self, harness: Harness, session: &'a str) -> impl Iterator<Item = &'a Runtime> {
        self.observed.runtimes.iter().filter(move |runtime| self.runs_session(runtime, harness, session))
    }

    fn same_problems(&self, other: &Self) -> bool {
        let same = |a: &[Trouble], b: &[Trouble]| a == b;
        (Arc::ptr_eq(&self.stored.problems, &other.stored.problems) || self.stored.problems == other.stored.problems)
            && self.live_problems == other.live_problems
            && self.unwatched == other.unwatched
            && same(&self.observed.troubles, &other.observed.troubles)
            && self.same_ambiguous_ids(other)
    }
}
