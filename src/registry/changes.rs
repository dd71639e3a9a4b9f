//! The one log of changes: what differs between two states of the unfiltered inventory, each change with a number.

use super::Snapshot;
use super::entry::{Item, same_but_clocks};
use super::inventory::Row;
use crate::authority::Grant;
use crate::harness::Live;
use crate::limits;
use crate::protocol::{Harness, Query};
use crate::runtime::{Runtime, Trouble};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The id of an entry.
pub type Id = Arc<str>;

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

/// A change of the unfiltered inventory.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its number.
    pub revision: u64,
    /// What changed.
    pub subject: Subject,
}

/// Where an entry was, as far as scopes ask.
type Place = (Harness, Option<Arc<str>>);

/// The latest changes, each entry with its last one only.
pub struct Log {
    instance: String,
    last: u64,
    /// Changes up to this one are not known any more.
    floor: u64,
    by_revision: BTreeMap<u64, Subject>,
    latest: HashMap<Subject, Known>,
}

/// What is known of an entry's changes.
struct Known {
    revision: u64,
    /// When it came, if the log saw that.
    born: Option<u64>,
    /// Where it was.
    places: Vec<Place>,
}

/// A change as it is told to who comes later.
pub struct Replayed {
    /// Its number.
    pub revision: u64,
    /// What changed.
    pub subject: Subject,
    /// Whether somebody who saw what he may see then may know the entry.
    pub was_seen: bool,
}

impl Log {
    pub fn new(instance: String) -> Self {
        Self { instance, last: 0, floor: 0, by_revision: BTreeMap::new(), latest: HashMap::new() }
    }

    /// The revision that the inventory has now: that of the last change.
    pub fn revision(&self) -> String {
        format!("{}.{}", self.instance, self.last)
    }

    /// Numbers what differs between two states that follow each other.
    pub fn note(&mut self, before: &Snapshot, now: &Snapshot) -> Vec<Change> {
        if self.last == 0 {
            // Nobody has seen anything of the state before the first one.
            (self.last, self.floor) = (1, 1);
            return Vec::new();
        }
        let affected = affected(before, now);
        let problems = (!before.same_problems(now)).then_some(Subject::Problems);
        let (query, all) = (Query::default(), Grant::all());
        let mut changes = Vec::new();
        for id in affected {
            let was = before.item_in(&id, &query, &all);
            let is = now.item_in(&id, &query, &all);
            let differs = match (&was, &is) {
                (None, None) => false,
                (Some(was), Some(is)) => !same_but_clocks(&before.entry(was, &all), &now.entry(is, &all)),
                _ => true,
            };
            if differs {
                self.last += 1;
                self.keep(Subject::Entry(id.clone()), was.as_ref(), is.is_some());
                changes.push(Change { revision: self.last, subject: Subject::Entry(id) });
            }
        }
        if let Some(subject) = problems {
            self.last += 1;
            self.keep(subject.clone(), None, true);
            changes.push(Change { revision: self.last, subject });
        }
        changes
    }

    fn keep(&mut self, subject: Subject, was: Option<&Item<'_>>, is: bool) {
        let born = (was.is_none() && is).then_some(self.last);
        let known = self.latest.entry(subject.clone()).or_insert(Known { revision: 0, born, places: Vec::new() });
        self.by_revision.remove(&known.revision);
        known.revision = self.last;
        if let Some(was) = was {
            let place = (was.harness(), was.workspace().map(Arc::from));
            if !known.places.contains(&place) {
                known.places.push(place);
            }
        }
        self.by_revision.insert(self.last, subject);
        while self.by_revision.len() > limits::CHANGES_KEPT {
            if let Some((revision, subject)) = self.by_revision.pop_first() {
                self.floor = revision;
                self.latest.remove(&subject);
            }
        }
    }

    /// What came after a revision; `None` where that is not known, or it is none of ours.
    pub fn since(&self, revision: &str, grant: &Grant) -> Option<Vec<Replayed>> {
        let since: u64 = revision.strip_prefix(&self.instance)?.strip_prefix('.')?.parse().ok()?;
        if since < self.floor || since > self.last {
            return None;
        }
        // Which problems there were is not kept.
        if self.by_revision.range(since + 1..).any(|(_, subject)| *subject == Subject::Problems) {
            return None;
        }
        let changes = self.by_revision.range(since + 1..).map(|(revision, subject)| {
            let known = self.latest.get(subject);
            let older = known.is_some_and(|known| known.born.is_none_or(|born| born <= since));
            let reached = |(harness, workspace): &Place| {
                grant.reaches_harness(*harness) && grant.reaches_workspace(workspace.as_deref())
            };
            let was_seen = older && known.is_some_and(|known| known.places.iter().any(reached));
            Replayed { revision: *revision, subject: subject.clone(), was_seen }
        });
        Some(changes.collect())
    }
}

/// The entries that may not be as they were.
fn affected(before: &Snapshot, now: &Snapshot) -> BTreeSet<Id> {
    let mut sessions: BTreeSet<(Harness, String)> = BTreeSet::new();
    let mut ids: BTreeSet<Id> = BTreeSet::new();
    rows(before, now, &mut sessions);
    if !Arc::ptr_eq(&before.live, &now.live) {
        let only = |a: &[Live], b: &[Live]| -> Vec<(Harness, String)> {
            let gone = a.iter().filter(|live| !b.contains(live));
            gone.map(|live| (live.harness, live.session_id.to_string())).collect()
        };
        sessions.extend(only(&before.live, &now.live));
        sessions.extend(only(&now.live, &before.live));
    }
    if !Arc::ptr_eq(&before.observed, &now.observed) {
        let only = |a: &[Runtime], b: &[Runtime]| -> Vec<Runtime> {
            a.iter().filter(|one| !b.iter().any(|other| one.is_as(other))).cloned().collect()
        };
        let (old, new) = (&before.observed.runtimes, &now.observed.runtimes);
        for runtime in only(old, new).into_iter().chain(only(new, old)) {
            let source = runtime.receipt.source;
            sessions.insert((source.harness, source.session_id));
            ids.insert(runtime.receipt.runtime_id.into());
        }
    }
    for (harness, session) in sessions {
        for snapshot in [before, now] {
            ids.extend(snapshot.runtimes_of(harness, &session).map(|runtime| Id::from(&*runtime.receipt.runtime_id)));
        }
        ids.insert(format!("{harness}:{session}").into());
    }
    ids
}

/// The sessions whose rows, or whose relatives' rows, may not be as they were.
fn rows(before: &Snapshot, now: &Snapshot, sessions: &mut BTreeSet<(Harness, String)>) {
    let (old, new) = (&before.stored, &now.stored);
    if Arc::ptr_eq(old, new) {
        return;
    }
    let mut add = |row: &Row| {
        sessions.insert((row.harness, row.id().to_owned()));
    };
    if old.has_places_of(new) {
        let changed = old.rows.iter().zip(&new.rows).filter(|(old, new)| !Arc::ptr_eq(old, new));
        return changed.for_each(|(_, row)| add(row));
    }
    for (here, there) in [(old, new), (new, old)] {
        for (place, row) in here.rows.iter().enumerate() {
            let other = there.find(row.harness, row.id()).map(|other| &*there.rows[other]);
            if other.is_some_and(|other| row.is_as(other)) {
                continue;
            }
            add(row);
            // A parent counts its children, and what it is called by depends on whether it is in scope.
            let parent = row.parent.as_ref().and_then(|parent| here.related(row, parent.session_id.as_deref()?));
            parent.into_iter().chain(here.children(place)).for_each(|relative| add(&here.rows[relative]));
        }
    }
}

impl Snapshot {
    /// The ids under which what stands behind an entry's id may be listed, in one view or another.
    pub fn kin(&self, id: &str) -> Vec<Id> {
        let runtimes = self.observed.runtimes.iter();
        let of_runtime = runtimes.filter(|runtime| runtime.receipt.runtime_id == id).map(|runtime| {
            let source = &runtime.receipt.source;
            format!("{}:{}", source.harness, source.session_id).into()
        });
        let session = id.split_once(':').and_then(|(harness, session)| Some((harness.parse().ok()?, session)));
        let of_session = session.into_iter().flat_map(|(harness, session)| self.runtimes_of(harness, session));
        of_runtime.chain(of_session.map(|runtime| Id::from(&*runtime.receipt.runtime_id))).collect()
    }

    fn runtimes_of(&self, harness: Harness, session: &str) -> impl Iterator<Item = &Runtime> {
        let source = move |runtime: &&Runtime| {
            let source = &runtime.receipt.source;
            source.harness == harness && source.session_id == session
        };
        self.observed.runtimes.iter().filter(source)
    }

    fn same_problems(&self, other: &Self) -> bool {
        let same = |a: &[Trouble], b: &[Trouble]| a == b;
        (Arc::ptr_eq(&self.stored.problems, &other.stored.problems) || self.stored.problems == other.stored.problems)
            && self.live_problems == other.live_problems
            && self.unwatched == other.unwatched
            && same(&self.observed.troubles, &other.observed.troubles)
            && self.same_doubles(other)
    }
}
