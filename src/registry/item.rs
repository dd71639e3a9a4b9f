//! One conversation as a query sees it, and as it goes out.

use super::cursor::SortKey;
use super::stored::{Row, Stored};
use crate::authority::Grant;
use crate::harness::{self, Details, Live, Progress, Root, Session, Wanted};
use crate::limits;
use crate::platform::git;
use crate::protocol::{
    Activity, ActivitySource, ActivityStatus, Door, Entry, EntryParent, Harness, Include, Owner, Parent, Relation,
    Repository, Sort, State,
};
use crate::runtime::Runtime;
use std::cmp::Ordering;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A stored session, a live one, a runtime, or what of these is one conversation.
#[derive(Clone, Copy)]
pub struct Item<'a> {
    pub row: Option<(usize, &'a Row)>,
    pub live: Option<&'a Live>,
    pub runtime: Option<&'a Runtime>,
}

impl<'a> Item<'a> {
    /// A stored session, whatever lives.
    pub fn stored(stored: &'a Stored, row: usize) -> Self {
        Self { row: Some((row, &stored.rows[row])), live: None, runtime: None }
    }

    /// A live session that nobody has written to.
    pub fn live(live: &'a Live) -> Self {
        Self { row: None, live: Some(live), runtime: None }
    }

    /// A runtime whose session is not stored.
    pub fn runtime(runtime: &'a Runtime) -> Self {
        Self { row: None, live: None, runtime: Some(runtime) }
    }

    pub fn harness(&self) -> Harness {
        match (self.row, self.runtime, self.live) {
            (Some((_, row)), _, _) => row.harness,
            (None, Some(runtime), _) => runtime.receipt.source.harness,
            (None, None, live) => live.map_or(Harness::ClaudeCode, |live| live.harness),
        }
    }

    pub fn session_id(&self) -> &'a str {
        match (self.row, self.live, self.runtime) {
            (Some((_, row)), _, _) => &row.session.id,
            (None, _, Some(runtime)) => &runtime.receipt.source.session_id,
            (None, Some(live), None) => &live.session_id,
            (None, None, None) => "",
        }
    }

    pub fn id(&self) -> String {
        self.id_parts().concat()
    }

    /// Its id as a session: what it has without its runtime.
    pub fn session_entry_id(&self) -> String {
        self.session_parts().concat()
    }

    fn id_parts(&self) -> [&'a str; 3] {
        match self.runtime {
            Some(runtime) => [&runtime.receipt.runtime_id, "", ""],
            None => self.session_parts(),
        }
    }

    fn session_parts(&self) -> [&'a str; 3] {
        [self.harness().id(), ":", self.row.map_or_else(|| self.session_id(), |(_, row)| row.id())]
    }

    /// Compares two entries by their keys, then by their ids.
    pub fn compare(&self, other: &Self, sort: Sort) -> Ordering {
        let bytes = |item: &Self| item.id_parts().map(str::bytes).into_iter().flatten();
        self.sort_key(sort).cmp(&other.sort_key(sort)).then_with(|| bytes(self).cmp(bytes(other)))
    }

    /// What a list sorts the entry by.
    pub fn sort_key(&self, sort: Sort) -> SortKey {
        match (sort, self.state()) {
            (Sort::Recent, _) => SortKey::newest_first(0, self.time()),
            (Sort::Attention, state @ State::Waiting) => {
                SortKey::oldest_first(state.rank(), self.since().or_else(|| self.time()))
            }
            (Sort::Attention, state) => SortKey::newest_first(state.rank(), self.time()),
        }
    }

    /// When its state began, where its harness records it.
    fn since(&self) -> Option<i64> {
        match self.busier_live() {
            Some(live) => live.since_ms,
            None => self.runtime.map_or(self.live.and_then(|live| live.since_ms), |runtime| runtime.since_ms),
        }
    }

    pub fn session(&self) -> Option<&'a Session> {
        self.row.map(|(_, row)| &*row.session)
    }

    pub fn title(&self) -> Option<&'a str> {
        let runtime = || self.runtime.and_then(|runtime| runtime.title.as_deref());
        self.row.and_then(|(_, row)| row.title.as_deref()).or_else(runtime)
    }

    /// What it is called after all that its file says, where the part that was read for a list may not tell.
    pub fn late_title(&self, progress: &dyn Progress) -> Option<String> {
        let (_, row) = self.row.filter(|(_, row)| row.session.late_title)?;
        harness::store_of(row.harness)?.late_title(&row.session, progress).map(String::from)
    }

    /// Whether records that were not read for a list may have given it another title since.
    pub fn may_be_renamed_since(&self, was: &Self) -> bool {
        let (Some(was), Some(is)) = (was.session(), self.session()) else { return false };
        is.late_title && was.content != is.content
    }

    pub fn workspace(&self) -> Option<&'a str> {
        let stored = self.row.and_then(|(_, row)| row.workspace());
        let runtime = || self.runtime.map(|runtime| &*runtime.receipt.source.workspace);
        stored.or_else(runtime).or_else(|| self.live.and_then(|live| live.workspace.as_deref()))
    }

    /// The time that it is sorted by.
    pub fn time(&self) -> Option<i64> {
        let updated = self.session().and_then(|session| session.updated_at_ms);
        updated.or_else(|| self.started())
    }

    /// When its live process began.
    fn started(&self) -> Option<i64> {
        let published = self.runtime.and_then(|runtime| i64::try_from(runtime.receipt.created_at_ms).ok());
        published.or_else(|| self.live.and_then(|live| live.started_at_ms))
    }

    /// Whether something tells that it lives.
    pub fn is_live(&self) -> bool {
        self.live.is_some() || self.runtime.is_some()
    }

    pub fn state(&self) -> State {
        let live = || self.live.map_or(State::Persisted, live_state);
        self.runtime.filter(|_| self.busier_live().is_none()).map_or_else(live, |runtime| runtime.state)
    }

    /// What tells of the session beside its runtime, where that says that it is doing more: an agent that works outside of a
    /// turn may say so only in the records of its own program.
    fn busier_live(&self) -> Option<&'a Live> {
        let live = self.live?;
        match (self.runtime?.state, live_state(live)) {
            (State::Live | State::Idle, State::Busy | State::Waiting) | (State::Busy, State::Waiting) => Some(live),
            _ => None,
        }
    }

    pub fn profile(&self) -> Option<&'a str> {
        let runtime = self.runtime.and_then(|runtime| runtime.profile.as_deref());
        runtime.or_else(|| self.session().and_then(|session| session.profile.as_deref()))
    }

    /// A runtime of a foreign program names no model but its harness.
    fn model(&self) -> Option<&'a str> {
        let runtime = self.runtime.and_then(|runtime| runtime.model.as_deref());
        let runtime = runtime.filter(|model| *model != self.harness().id());
        runtime.or_else(|| self.session().and_then(|session| session.model.as_deref()))
    }

    pub fn parent(&self) -> Option<&'a Parent> {
        self.row.and_then(|(_, row)| row.parent.as_ref())
    }

    pub fn is_child(&self) -> bool {
        self.parent().is_some_and(|parent| parent.relation == Relation::Subagent)
    }

    pub fn is_in_scope(&self, grant: &Grant) -> bool {
        grant.reaches_harness(self.harness()) && grant.reaches_workspace(self.workspace())
    }

    /// What costs more to know. What cannot be read any more is left out.
    pub fn details(&self, stored: &Stored, grant: &Grant, roots: &[Root], wanted: Wanted<'_>) -> Option<Details> {
        let store = harness::store_of(self.harness())?;
        let wanted = Wanted { own_only: self.has_ancestor_out_of_scope(stored, grant), ..wanted };
        store.details(roots, self.session()?, wanted).ok()
    }

    /// Whether a session that it was made from is out of scope: then what it has of that one is, too. A subagent and a
    /// side chat may have inherited turns like any fork.
    pub fn has_ancestor_out_of_scope(&self, stored: &Stored, grant: &Grant) -> bool {
        let mut next = self.row.map(|(_, row)| row).filter(|_| grant.has_workspace_scope());
        for _ in 0..limits::ANCESTRY {
            let Some(row) = next else { return false };
            let Some(parent) = row.parent.as_ref() else { return row.session.continues.is_some() };
            let known = parent.session_id.as_deref().and_then(|id| stored.related(row, id));
            match known.map(|parent| Item::stored(stored, parent)) {
                Some(parent) if parent.is_in_scope(grant) => next = parent.row.map(|(_, row)| row),
                // One that is not known has no known workspace.
                _ => return true,
            }
        }
        true
    }

    /// The entry as it goes out, without what `include` adds.
    pub fn to_entry(self, stored: &Stored, grant: &Grant) -> Entry {
        let session = self.session();
        let (live, runtime) = (self.live, self.runtime);
        let kept_at = || runtime.and_then(|runtime| runtime.receipt.metadata.persistence_location.clone());
        let mut entry = Entry {
            id: self.id(),
            harness: self.harness(),
            session_id: self.session_id().to_owned(),
            state: self.state(),
            workspace: self.workspace().map(str::to_owned),
            title: self.title().map(str::to_owned),
            agent: runtime.and_then(|runtime| runtime.agent.clone()),
            model: self.model().map(str::to_owned),
            profile: self.profile().map(str::to_owned),
            created_at_ms: session.and_then(|session| session.created_at_ms),
            started_at_ms: self.started(),
            updated_at_ms: session.and_then(|session| session.updated_at_ms),
            message_count: None,
            location: session.and_then(|session| session.location.to_str()).map(str::to_owned).or_else(kept_at),
            archived: session.filter(|session| session.archived).map(|_| true),
            parent: self.parent().cloned().map(EntryParent::from),
            child_count: None,
            topics: None,
            last_message: None,
            excerpt: None,
            repository: None,
            runtime_id: runtime.map(|runtime| runtime.receipt.runtime_id.clone()),
            persisted_id: runtime.and(self.row).map(|_| self.session_entry_id()),
            runtime_ids: None,
            endpoint: runtime.map(|runtime| runtime.receipt.endpoint.clone()),
            endpoint_capabilities: runtime.and_then(|runtime| runtime.receipt.metadata.endpoint_capabilities.clone()),
            owner: runtime.map(owner),
            observers: runtime.and_then(|runtime| runtime.lease.as_ref()).map(|lease| lease.observers.clone()),
            actions: runtime.map(|runtime| runtime.actions),
            supervisor: runtime.and_then(|runtime| runtime.receipt.metadata.supervisor.clone()),
            activity: match self.busier_live() {
                Some(live) => Some(activity(live)),
                None => runtime.map(activity_of_runtime).or_else(|| live.map(activity)),
            },
            peer: live.and_then(|live| live.peer.clone()),
            doors: self.doors(),
            terminal: None,
            resume: self.row.and_then(|(_, row)| resume(row)),
        };
        self.add_relations(&mut entry, stored, grant);
        entry
    }

    fn doors(&self) -> Option<Vec<Door>> {
        let runtime = self.runtime.map(|_| Door::Runtime);
        let peer = self.live.filter(|live| live.has_door).map(|_| Door::Peer);
        let doors: Vec<Door> = runtime.into_iter().chain(peer).collect();
        (!doors.is_empty()).then_some(doors)
    }

    /// Parent and children, as far as they are in scope.
    fn add_relations(&self, entry: &mut Entry, stored: &Stored, grant: &Grant) {
        let item = |row: usize| Item::stored(stored, row);
        let Some((row, own)) = self.row else { return };
        if let Some(EntryParent { id, session_id: session_id @ Some(_), .. }) = &mut entry.parent {
            let parent = session_id.as_deref().and_then(|id| stored.related(own, id)).map(item);
            match parent {
                Some(parent) if parent.is_in_scope(grant) => *id = Some(parent.session_entry_id()),
                None if !grant.has_workspace_scope() => {}
                // One that is not known has no known workspace.
                _ => *session_id = None,
            }
        }
        let children =
            stored.children(row).map(item).filter(|child| child.is_child() && child.is_in_scope(grant)).count() as u64;
        entry.child_count = (children > 0).then_some(children);
    }
}

/// The state that a live session is in.
fn live_state(live: &Live) -> State {
    match live.status {
        Some(ActivityStatus::Busy) => State::Busy,
        Some(ActivityStatus::Idle) => State::Idle,
        Some(ActivityStatus::Waiting) => State::Waiting,
        None => State::Live,
    }
}

fn owner(runtime: &Runtime) -> Owner {
    let controller = runtime.lease.as_ref().and_then(|lease| lease.controller.clone());
    Owner { pid: runtime.receipt.pid, controller }
}

fn activity_of_runtime(runtime: &Runtime) -> Activity {
    let status = match runtime.state {
        State::Busy => Some(ActivityStatus::Busy),
        State::Idle => Some(ActivityStatus::Idle),
        State::Waiting => Some(ActivityStatus::Waiting),
        State::Live | State::ShuttingDown | State::Persisted => None,
    };
    let pid = Some(runtime.receipt.pid);
    let waiting_for = runtime.waiting_for.clone();
    Activity {
        status,
        waiting_for,
        since_ms: runtime.since_ms,
        question: runtime.question.clone(),
        source: ActivitySource::Runtime,
        pid,
        pids: None,
        stopped: None,
        observed_at_ms: now_ms(),
    }
}

fn activity(live: &Live) -> Activity {
    Activity {
        status: live.status,
        waiting_for: live.waiting_for.clone(),
        since_ms: live.since_ms,
        question: None,
        source: live.source,
        pid: Some(live.pid),
        pids: None,
        stopped: live.stopped.then_some(true),
        observed_at_ms: now_ms(),
    }
}

fn now_ms() -> Option<i64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_millis() as i64)
}

fn resume(row: &Row) -> Option<crate::protocol::Resume> {
    let store = harness::store_of(row.harness)?;
    // What a store keeps only a mark of was found elsewhere, and is as good.
    let found = row.found_workspace.clone().map(|found| Session { workspace: Some(found), ..(*row.session).clone() });
    let session = found.as_ref().unwrap_or(&row.session);
    session.resumable.then(|| store.resume(&row.root, session)).flatten()
}

/// Whether two states of an entry differ in nothing but clocks.
pub(super) fn same_except_timestamps(a: &Entry, b: &Entry) -> bool {
    let still = |entry: &Entry| {
        let mut entry = entry.clone();
        entry.observers.iter_mut().flatten().for_each(|observer| observer.last_seen_ms = 0);
        if let Some(controller) = entry.owner.as_mut().and_then(|owner| owner.controller.as_mut()) {
            controller.expires_at_ms = 0;
        }
        if let Some(activity) = &mut entry.activity {
            activity.observed_at_ms = None;
        }
        entry
    };
    still(a) == still(b)
}

/// Which details the wanted members need.
pub(super) fn wanted(include: &[Include]) -> Wanted<'static> {
    Wanted {
        topics: include.contains(&Include::Topics),
        last_message: include.contains(&Include::LastMessage),
        message_count: include.contains(&Include::MessageCount),
        ..Wanted::default()
    }
}

/// Adds what costs more.
pub(super) fn add_details(entry: &mut Entry, details: Details, wanted: Wanted<'_>) {
    let Details { topics, last_message, message_count } = details;
    if wanted.topics {
        entry.topics = Some(topics);
    }
    if wanted.last_message {
        entry.last_message = last_message;
    }
    if wanted.message_count {
        entry.message_count = Some(message_count);
    }
}

/// The repository that a workspace belongs to.
pub(super) fn repository(workspace: &str) -> Option<Repository> {
    let checkout = git::checkout(Path::new(workspace))?;
    Some(Repository { root: checkout.root.to_str()?.to_owned(), branch: checkout.branch, origin: checkout.origin })
}
