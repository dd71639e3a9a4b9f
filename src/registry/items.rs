//! The conversations of a snapshot as one client may see them: what is stored, what lives and what runs, joined.

use super::Snapshot;
use super::entry::Item;
use super::inventory::Live;
use crate::authority::Grant;
use crate::limits;
use crate::protocol::{Entry, Harness, Problem, Query, Reason};
use crate::runtime::Runtime;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

impl Snapshot {
    /// The entry of an id, if it is in scope: a runtime's own id, or that of a session, which leads to its runtime too.
    pub fn item(&self, id: &str, grant: &Grant) -> Option<Item<'_>> {
        let runtimes = self.visible_runtimes(grant);
        if let Some(runtime) = runtimes.iter().find(|runtime| runtime.receipt.runtime_id == id) {
            return Some(self.join(runtime, grant));
        }
        let (harness, session) = id.split_once(':')?;
        let harness: Harness = harness.parse().ok()?;
        if let Some(runtime) = runtimes.into_iter().find(|runtime| runs(runtime, harness, session)) {
            return Some(self.join(runtime, grant));
        }
        let row = self.visible_row(harness, session, grant);
        let live = self.visible_live(grant).remove(session).filter(|_| harness == Harness::ClaudeCode);
        let row = row.map(|row| (row, &*self.stored.rows[row]));
        (row.is_some() || live.is_some()).then_some(Item { row, live, runtime: None })
    }

    /// What a list that asks so has under this id, before its filters.
    pub fn item_in(&self, id: &str, query: &Query, grant: &Grant) -> Option<Item<'_>> {
        let (looks, twins) = (query.live != Some(false), query.twins == Some(true));
        let runtimes = if looks { self.visible_runtimes(grant) } else { Vec::new() };
        if let Some(runtime) = runtimes.iter().find(|runtime| runtime.receipt.runtime_id == id) {
            let mut item = self.join(runtime, grant);
            let source = &runtime.receipt.source;
            let newest = runtimes.iter().find(|other| runs(other, source.harness, &source.session_id));
            // Of several runtimes the newest one has what is known beside.
            let is_newest = newest.is_some_and(|newest| newest.receipt.endpoint == runtime.receipt.endpoint);
            item.live = item.live.filter(|_| !twins && is_newest);
            return Some(item);
        }
        let (harness, session) = id.split_once(':')?;
        let harness: Harness = harness.parse().ok()?;
        if !twins && runtimes.iter().any(|runtime| runs(runtime, harness, session)) {
            return None;
        }
        let row = self.visible_row(harness, session, grant);
        let live = looks.then(|| self.visible_live(grant).remove(session)).flatten();
        let live = live.filter(|_| harness == Harness::ClaudeCode);
        let row = row.map(|row| (row, &*self.stored.rows[row]));
        (row.is_some() || live.is_some()).then_some(Item { row, live, runtime: None })
    }

    /// The entry as it goes out, without what `include` adds.
    pub fn entry(&self, item: &Item<'_>, grant: &Grant) -> Entry {
        let mut entry = item.to_entry(&self.stored, grant);
        if let Some((_, row)) = item.row.filter(|_| !self.observed.runtimes.is_empty()) {
            let of_session = |runtime: &&Runtime| runs(runtime, row.harness, row.id());
            let ids: Vec<String> = self
                .visible_runtimes(grant)
                .into_iter()
                .filter(of_session)
                .map(|runtime| runtime.receipt.runtime_id.clone())
                .collect();
            // A row that is itself the only one has said so.
            let alone = usize::from(item.runtime.is_some());
            entry.runtime_ids = (ids.len() > alone).then_some(ids);
        }
        entry
    }

    /// Every stored session, and what lives and runs in scope, joined where both are in scope.
    pub fn items(&self, query: &Query, grant: &Grant) -> Vec<Item<'_>> {
        let looks = query.live != Some(false);
        let mut live = if looks { self.visible_live(grant) } else { HashMap::new() };
        let runtimes = if looks { self.visible_runtimes(grant) } else { Vec::new() };
        let twins = query.twins == Some(true);
        let mut folded: HashSet<usize> = HashSet::new();
        let mut items = Vec::new();
        for runtime in runtimes {
            let mut item = self.join(runtime, grant);
            // Of several runtimes the newest one has what is known beside.
            if twins || item.live.is_some_and(|found| live.remove(&*found.peer.session_id).is_none()) {
                item.live = None;
            }
            folded.extend(item.row.map(|(row, _)| row).filter(|_| !twins));
            items.push(item);
        }
        let mut by_row: HashMap<usize, &Live> = HashMap::new();
        for (session, live) in live {
            match self.visible_row(Harness::ClaudeCode, session, grant) {
                Some(row) => drop(by_row.insert(row, live)),
                None => items.push(Item::live(live)),
            }
        }
        let stored = self.stored.newest_first().filter(|(index, _)| !folded.contains(index));
        let mut all: Vec<Item<'_>> = stored
            .map(|(index, row)| Item { row: Some((index, row)), live: by_row.get(&index).copied(), runtime: None })
            .collect();
        all.extend(items);
        all
    }

    /// A runtime with its stored session and with what else tells that it lives.
    fn join<'a>(&'a self, runtime: &'a Runtime, grant: &Grant) -> Item<'a> {
        let source = &runtime.receipt.source;
        let row = self.visible_row(source.harness, &source.session_id, grant);
        let live = self.visible_live(grant).remove(&*source.session_id);
        Item {
            row: row.map(|row| (row, &*self.stored.rows[row])),
            live: live.filter(|_| source.harness == Harness::ClaudeCode),
            runtime: Some(runtime),
        }
    }

    fn visible_row(&self, harness: Harness, id: &str, grant: &Grant) -> Option<usize> {
        self.stored.find(harness, id).filter(|row| Item::stored(&self.stored, *row).in_scope(grant))
    }

    /// The live sessions in scope, one a session id: of several processes that run one session the one that waits for a
    /// person, else the one that spoke last.
    fn visible_live(&self, grant: &Grant) -> HashMap<&str, &Live> {
        let mut by_session: HashMap<&str, &Live> = HashMap::new();
        for live in self.live.iter().filter(|live| Item::live(live).in_scope(grant)) {
            let known = by_session.entry(&live.peer.session_id).or_insert(live);
            if live.weight() > known.weight() {
                *known = live;
            }
        }
        by_session
    }

    /// The runtimes in scope whose ids are theirs alone, the newest first.
    fn visible_runtimes(&self, grant: &Grant) -> Vec<&Runtime> {
        let mut found = self.runtimes_in_scope(grant);
        let ambiguous = ambiguous(&found);
        found.retain(|runtime| !ambiguous.contains(&*runtime.receipt.runtime_id));
        found
    }

    fn runtimes_in_scope(&self, grant: &Grant) -> Vec<&Runtime> {
        self.observed.runtimes.iter().filter(|runtime| Item::runtime(runtime).in_scope(grant)).collect()
    }

    /// The problems that a client may see: one that cannot be placed is outside every workspace scope.
    pub fn visible_problems(&self, grant: &Grant) -> Vec<Problem> {
        let scoped = grant.has_workspace_scope();
        let in_scope =
            |problem: &&Problem| !scoped && problem.harness.is_none_or(|harness| grant.reaches_harness(harness));
        let stored = self
            .stored
            .problems
            .iter()
            .chain(self.peer_problems.iter())
            .chain(self.unwatched.iter())
            .filter(in_scope)
            .cloned();
        let of_runtimes = self.observed.troubles.iter().filter(|trouble| match &trouble.source {
            None => !scoped,
            Some(source) => grant.reaches_source(source),
        });
        let seen = self.runtimes_in_scope(grant);
        let mut doubles: Vec<&str> = ambiguous(&seen).into_iter().collect();
        doubles.sort_unstable();
        let doubles = doubles.into_iter().map(|id| Problem {
            harness: None,
            path: None,
            id: Some(id.to_owned()),
            endpoint: None,
            reason: Reason::AmbiguousRuntime.word().to_owned(),
            message: "several live runtimes claim this id; attach to one by its endpoint and source".to_owned(),
        });
        let of_runtimes = of_runtimes.map(|trouble| trouble.problem.clone());
        of_runtimes.chain(doubles).chain(stored).take(limits::PROBLEMS_LISTED).collect()
    }
}

impl Snapshot {
    /// Whether the same ids are claimed by several runtimes in both.
    pub fn same_doubles(&self, other: &Self) -> bool {
        let ids = |snapshot: &Self| -> BTreeSet<String> {
            let all: Vec<&Runtime> = snapshot.observed.runtimes.iter().collect();
            ambiguous(&all).into_iter().map(str::to_owned).collect()
        };
        Arc::ptr_eq(&self.observed, &other.observed) || ids(self) == ids(other)
    }
}

/// Whether a runtime runs this session.
fn runs(runtime: &Runtime, harness: Harness, session_id: &str) -> bool {
    let source = &runtime.receipt.source;
    source.harness == harness && source.session_id == session_id
}

/// The ids that several runtimes claim.
fn ambiguous<'a>(runtimes: &[&'a Runtime]) -> HashSet<&'a str> {
    let mut seen = HashSet::new();
    let ids = runtimes.iter().map(|runtime| &*runtime.receipt.runtime_id);
    ids.filter(|id| !seen.insert(*id)).collect()
}
