//! The conversations of a snapshot as one client may see them: what is stored, what lives and what runs, joined.

use super::Snapshot;
use super::item::Item;
use crate::authority::Grant;
use crate::harness::Live;
use crate::limits;
use crate::protocol::{ActivityStatus, Entry, Harness, Problem, Query, Reason, Receipt, Source};
use crate::runtime::Runtime;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

impl Snapshot {
    /// The entry of an id, if it is in scope: a runtime's own id, or that of a session, which leads to its runtime too.
    pub fn item(&self, id: &str, grant: &Grant) -> Option<Item<'_>> {
        self.item_for_query(id, &Query::default(), grant).or_else(|| {
            let (harness, session) = id.split_once(':')?;
            let harness: Harness = harness.parse().ok()?;
            let runs_it = |runtime: &&Runtime| self.runs_session(runtime, harness, session);
            Some(self.join_runtime(self.visible_runtimes(grant).into_iter().find(runs_it)?, grant))
        })
    }

    /// What a list that asks so has under this id, before its filters.
    pub fn item_for_query(&self, id: &str, query: &Query, grant: &Grant) -> Option<Item<'_>> {
        let (looks, twins) = (query.live != Some(false), query.twins == Some(true));
        let runtimes = if looks { self.visible_runtimes(grant) } else { Vec::new() };
        if let Some(runtime) = runtimes.iter().find(|runtime| runtime.receipt.runtime_id == id) {
            let mut item = self.join_runtime(runtime, grant);
            let [(harness, session), ..] = self.sessions_of(&runtime.receipt)[..] else { return Some(item) };
            let newest = runtimes.iter().find(|other| self.runs_session(other, harness, session));
            // Of several runtimes the newest one has what is known beside.
            let is_newest = newest.is_some_and(|newest| newest.receipt.endpoint == runtime.receipt.endpoint);
            item.live = item.live.filter(|_| !twins && is_newest);
            return Some(item);
        }
        let (harness, session) = id.split_once(':')?;
        let harness: Harness = harness.parse().ok()?;
        if !twins && runtimes.iter().any(|runtime| self.runs_session(runtime, harness, session)) {
            return None;
        }
        let row = self.visible_row(harness, session, grant);
        let live = looks.then(|| self.visible_live(grant).remove(&(harness, session))).flatten();
        let row = row.map(|row| (row, &*self.stored.rows[row]));
        (row.is_some() || live.is_some()).then_some(Item { row, live, runtime: None })
    }

    /// The entry as it goes out, without what `include` adds.
    pub fn entry(&self, item: &Item<'_>, grant: &Grant) -> Entry {
        let mut entry = item.to_entry(&self.stored, grant);
        if let Some((_, row)) = item.row.filter(|_| !self.observed.runtimes.is_empty()) {
            let of_session = |runtime: &&Runtime| self.runs_session(runtime, row.harness, row.id());
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
        if let (Some(activity), Some(live)) = (&mut entry.activity, item.live) {
            let of_session = self.live.iter().filter(|other| session_key(other) == session_key(live));
            let mut pids: Vec<i32> =
                of_session.filter(|other| Item::live(other).is_in_scope(grant)).map(|other| other.pid).collect();
            pids.sort_unstable();
            pids.dedup();
            activity.pids = (pids.len() > 1).then_some(pids);
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
            let mut item = self.join_runtime(runtime, grant);
            // Of several runtimes the newest one has what is known beside.
            if twins || item.live.is_some_and(|found| live.remove(&session_key(found)).is_none()) {
                item.live = None;
            }
            if !twins {
                let sessions = self.sessions_of(&runtime.receipt).into_iter();
                folded.extend(sessions.filter_map(|(harness, session)| self.visible_row(harness, session, grant)));
            }
            items.push(item);
        }
        let mut by_row: HashMap<usize, &Live> = HashMap::new();
        for ((harness, session), live) in live {
            match self.visible_row(harness, session, grant) {
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
    fn join_runtime<'a>(&'a self, runtime: &'a Runtime, grant: &Grant) -> Item<'a> {
        let sessions = self.sessions_of(&runtime.receipt);
        let row = sessions.iter().find_map(|(harness, session)| self.visible_row(*harness, session, grant));
        let mut live = self.visible_live(grant);
        Item {
            row: row.map(|row| (row, &*self.stored.rows[row])),
            live: sessions.iter().find_map(|session| live.remove(session)),
            runtime: Some(runtime),
        }
    }

    /// The sessions of a runtime: the one that it writes to, and the one that its receipt calls its source. They differ
    /// where a runtime resumed a session into a file of its own, which `persistenceLocation` then names: the source grows
    /// no more. Supercode 0.5.150 does so at `resume --serve`.
    pub fn sessions_of<'a>(&'a self, receipt: &'a Receipt) -> Vec<(Harness, &'a str)> {
        let source = (receipt.source.harness, &*receipt.source.session_id);
        let location = receipt.metadata.persistence_location.as_deref().map(Path::new);
        let written = location.and_then(|location| self.stored.find_by_file(location));
        let written = written.map(|row| (row.harness, row.id())).filter(|written| *written != source);
        written.into_iter().chain([source]).collect()
    }

    /// Whether a runtime runs this session.
    pub fn runs_session(&self, runtime: &Runtime, harness: Harness, session: &str) -> bool {
        self.sessions_of(&runtime.receipt).contains(&(harness, session))
    }

    fn visible_row(&self, harness: Harness, id: &str, grant: &Grant) -> Option<usize> {
        self.stored.find(harness, id).filter(|row| Item::stored(&self.stored, *row).is_in_scope(grant))
    }

    /// The live sessions in scope, one a session: of several processes that have one session the one of the greatest
    /// [`live_rank`].
    fn visible_live(&self, grant: &Grant) -> HashMap<(Harness, &str), &Live> {
        let mut by_session = HashMap::new();
        for live in self.live.iter().filter(|live| Item::live(live).is_in_scope(grant)) {
            let known = by_session.entry(session_key(live)).or_insert(live);
            if live_rank(live) > live_rank(known) {
                *known = live;
            }
        }
        by_session
    }

    /// The runtimes in scope whose ids are theirs alone, the newest first.
    fn visible_runtimes(&self, grant: &Grant) -> Vec<&Runtime> {
        let ambiguous = self.ambiguous_ids(grant);
        let in_scope = self.observed.runtimes.iter().filter(|runtime| grant.reaches_source(&runtime.receipt.source));
        in_scope.filter(|runtime| !ambiguous.contains(&*runtime.receipt.runtime_id)).collect()
    }

    /// The ids that do not tell one runtime: several claim them, whether they answer or not, or another conversation has
    /// them.
    fn ambiguous_ids(&self, grant: &Grant) -> BTreeSet<&str> {
        let answering = self.observed.runtimes.iter().map(|runtime| {
            let receipt = &runtime.receipt;
            (&receipt.source, &*receipt.runtime_id, receipt.endpoint.as_str())
        });
        let others = self.observed.troubles.iter().filter_map(|trouble| {
            let problem = &trouble.problem;
            Some((trouble.source.as_ref()?, problem.id.as_deref()?, problem.endpoint.as_deref()?))
        });
        let mut owners: HashMap<&str, &str> = HashMap::new();
        answering
            .chain(others)
            .filter(|(source, ..)| grant.reaches_source(source))
            .filter(|(source, id, endpoint)| {
                *owners.entry(id).or_insert(endpoint) != *endpoint || self.belongs_to_another(id, source, grant)
            })
            .map(|(_, id, _)| id)
            .collect()
    }

    /// Whether an id is that of another conversation than this one.
    fn belongs_to_another(&self, id: &str, source: &Source, grant: &Grant) -> bool {
        let Some((harness, session)) = id.split_once(':') else { return false };
        let Ok(harness) = harness.parse::<Harness>() else { return false };
        let row = self.visible_row(harness, session, grant);
        let named = row.map_or(session, |row| &self.stored.rows[row].session.id);
        let is_own = source.harness == harness && source.session_id == named;
        let is_live = || self.visible_live(grant).contains_key(&(harness, session));
        !is_own && (row.is_some() || is_live())
    }

    /// The problems that a client may see: one that cannot be placed is outside every scope.
    pub fn visible_problems(&self, grant: &Grant) -> Vec<Problem> {
        let scoped = grant.has_workspace_scope();
        let in_scope =
            |problem: &&Problem| !scoped && problem.harness.is_none_or(|harness| grant.reaches_harness(harness));
        let stored = self
            .stored
            .problems
            .iter()
            .chain(self.live_problems.iter())
            .chain(self.unwatched.iter())
            .filter(in_scope)
            .cloned();
        let of_runtimes = self.observed.troubles.iter().filter(|trouble| match &trouble.source {
            None => !grant.has_scope(),
            Some(source) => grant.reaches_source(source),
        });
        let doubles = self.ambiguous_ids(grant).into_iter().map(|id| Problem {
            harness: None,
            path: None,
            id: Some(id.to_owned()),
            endpoint: None,
            reason: Reason::AmbiguousRuntime.word().to_owned(),
            message: "another live runtime or session has this id, too; attach by endpoint and source".to_owned(),
        });
        let of_runtimes = of_runtimes.map(|trouble| trouble.problem.clone());
        of_runtimes.chain(doubles).chain(stored).take(limits::PROBLEMS_LISTED).collect()
    }
}

impl Snapshot {
    /// Whether the same ids do not tell one runtime in both.
    pub fn same_ambiguous_ids(&self, other: &Self) -> bool {
        let all = Grant::all();
        Arc::ptr_eq(&self.observed, &other.observed) || self.ambiguous_ids(&all) == other.ambiguous_ids(&all)
    }

    /// The same as if there were no runtimes.
    pub fn without_runtimes(&self) -> Self {
        Self { observed: Arc::default(), ..self.clone() }
    }
}

/// Which session lives.
fn session_key(live: &Live) -> (Harness, &str) {
    (live.harness, &live.session_id)
}

/// Orders the processes that have one session; the greatest stands for it: one that waits for a person, else a busy one, else
/// an idle one, and of equal ones the one whose record changed last.
fn live_rank(live: &Live) -> (u8, Option<i64>) {
    let rank = match live.status {
        Some(ActivityStatus::Waiting) => 3,
        Some(ActivityStatus::Busy) => 2,
        Some(ActivityStatus::Idle) => 1,
        None => 0,
    };
    (rank, live.updated_at_ms)
}
