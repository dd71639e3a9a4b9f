//! One conversation as a query sees it, and as it goes out.

use super::inventory::{Live, Row, Stored};
use crate::authority::Grant;
use crate::harness::{self, Details, Root, Session, Wanted};
use crate::limits;
use crate::platform::git;
use crate::protocol::{
    Activity, ActivitySource, Door, Entry, EntryPeer, Harness, Include, Parent, Relation, Repository, State,
};
use std::cmp::Reverse;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A stored session, a live one, or both.
#[derive(Clone, Copy)]
pub struct Item<'a> {
    pub row: Option<(usize, &'a Row)>,
    pub live: Option<&'a Live>,
}

impl<'a> Item<'a> {
    /// A stored session, whatever lives.
    pub fn stored(stored: &'a Stored, row: usize) -> Self {
        Self { row: Some((row, &stored.rows[row])), live: None }
    }

    pub fn harness(&self) -> Harness {
        self.row.map_or(Harness::ClaudeCode, |(_, row)| row.harness)
    }

    pub fn session_id(&self) -> &'a str {
        match (self.row, self.live) {
            (Some((_, row)), _) => &row.session.id,
            (None, Some(live)) => &live.peer.session_id,
            (None, None) => "",
        }
    }

    pub fn id(&self) -> String {
        format!("{}:{}", self.harness(), self.local_id())
    }

    /// What its id holds behind the harness.
    fn local_id(&self) -> &'a str {
        self.row.map_or_else(|| self.session_id(), |(_, row)| row.id())
    }

    /// What lists are sorted by: the newest first, then by id.
    pub fn order(&self) -> (Reverse<Option<i64>>, &'static str, &'a str) {
        (Reverse(self.time()), self.harness().id(), self.local_id())
    }

    pub fn session(&self) -> Option<&'a Session> {
        self.row.map(|(_, row)| &*row.session)
    }

    pub fn title(&self) -> Option<&'a str> {
        self.row.and_then(|(_, row)| row.title.as_deref())
    }

    pub fn workspace(&self) -> Option<&'a str> {
        let stored = self.row.and_then(|(_, row)| row.workspace());
        stored.or_else(|| self.live.and_then(|live| live.peer.cwd.as_deref()))
    }

    /// The time that it is sorted by.
    pub fn time(&self) -> Option<i64> {
        let updated = self.session().and_then(|session| session.updated_at_ms);
        updated.or_else(|| self.live.and_then(|live| live.started_at_ms))
    }

    pub fn state(&self) -> State {
        self.live.map_or(State::Persisted, Live::state)
    }

    pub fn parent(&self) -> Option<&'a Parent> {
        self.row.and_then(|(_, row)| row.parent.as_ref())
    }

    pub fn is_child(&self) -> bool {
        self.parent().is_some_and(|parent| parent.relation == Relation::Subagent)
    }

    pub fn in_scope(&self, grant: &Grant) -> bool {
        grant.reaches_harness(self.harness()) && grant.reaches_workspace(self.workspace())
    }

    /// What costs more to know. What cannot be read any more is left out.
    pub fn details(&self, stored: &Stored, grant: &Grant, roots: &[Root], wanted: Wanted<'_>) -> Option<Details> {
        let store = harness::store_of(self.harness())?;
        let wanted = Wanted { own_only: self.has_foreign_parent(stored, grant), ..wanted };
        store.details(roots, self.session()?, wanted).ok()
    }

    /// Whether a session that it was made from is out of scope: then what it has of that one is, too.
    pub fn has_foreign_parent(&self, stored: &Stored, grant: &Grant) -> bool {
        let mut next = self.row.map(|(_, row)| row).filter(|_| grant.has_workspace_scope());
        for _ in 0..limits::ANCESTRY {
            let Some(row) = next else { return false };
            let Some(parent) = row.parent.as_ref().filter(|parent| parent.relation != Relation::Subagent) else {
                return false;
            };
            let known = parent.session_id.as_deref().and_then(|id| stored.related(row, id));
            match known.map(|parent| Item::stored(stored, parent)) {
                Some(parent) if parent.in_scope(grant) => next = parent.row.map(|(_, row)| row),
                // One that is not known has no known workspace.
                _ => return true,
            }
        }
        true
    }

    /// The entry as it goes out, without what `include` adds.
    pub fn to_entry(self, stored: &Stored, grant: &Grant) -> Entry {
        let session = self.session();
        let live = self.live;
        let mut entry = Entry {
            id: self.id(),
            harness: self.harness(),
            session_id: self.session_id().to_owned(),
            state: self.state(),
            workspace: self.workspace().map(str::to_owned),
            title: self.title().map(str::to_owned),
            model: session.and_then(|session| session.model.as_deref()).map(str::to_owned),
            profile: session.and_then(|session| session.profile.as_deref()).map(str::to_owned),
            created_at_ms: session.and_then(|session| session.created_at_ms),
            started_at_ms: live.and_then(|live| live.started_at_ms),
            updated_at_ms: session.and_then(|session| session.updated_at_ms),
            message_count: None,
            location: session.and_then(|session| session.location.to_str()).map(str::to_owned),
            archived: session.filter(|session| session.archived).map(|_| true),
            parent: self.parent().cloned(),
            child_count: None,
            topics: None,
            last_message: None,
            excerpt: None,
            repository: None,
            runtime_id: None,
            persisted_id: None,
            runtime_ids: None,
            endpoint: None,
            endpoint_capabilities: None,
            owner: None,
            observers: None,
            actions: None,
            supervisor: None,
            activity: live.map(activity),
            peer: live.map(|live| EntryPeer { name: live.peer.name.clone(), endpoint: live.peer.endpoint.clone() }),
            doors: live.filter(|live| live.peer.addressable).map(|_| vec![Door::Peer]),
            resume: self.row.and_then(|(_, row)| resume(row)),
        };
        self.relate(&mut entry, stored, grant);
        entry
    }

    /// Parent and children, as far as they are in scope.
    fn relate(&self, entry: &mut Entry, stored: &Stored, grant: &Grant) {
        let item = |row: usize| Item::stored(stored, row);
        let Some((row, own)) = self.row else { return };
        if let Some(Parent { session_id: id @ Some(_), .. }) = &mut entry.parent {
            let row = id.as_deref().and_then(|id| stored.related(own, id));
            // One that is not known has no known workspace.
            let hidden = || row.map_or(grant.has_workspace_scope(), |row| !item(row).in_scope(grant));
            if hidden() {
                *id = None;
            }
        }
        let children =
            stored.children(row).map(item).filter(|child| child.is_child() && child.in_scope(grant)).count() as u64;
        entry.child_count = (children > 0).then_some(children);
    }
}

fn activity(live: &Live) -> Activity {
    Activity {
        status: live.peer.status,
        waiting_for: live.peer.waiting_for.clone(),
        source: ActivitySource::ClaudeRegistry,
        pid: Some(live.peer.pid),
        observed_at_ms: SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_millis() as i64),
    }
}

fn resume(row: &Row) -> Option<crate::protocol::Resume> {
    let store = harness::store_of(row.harness)?;
    // What a store keeps only a mark of was found elsewhere, and is as good.
    let found = row.found_workspace.clone().map(|found| Session { workspace: Some(found), ..(*row.session).clone() });
    let session = found.as_ref().unwrap_or(&row.session);
    session.resumable.then(|| store.resume(&row.root, session)).flatten()
}

/// Which details the wanted members need.
pub fn wanted(include: &[Include]) -> Wanted<'static> {
    Wanted {
        topics: include.contains(&Include::Topics),
        last_message: include.contains(&Include::LastMessage),
        message_count: include.contains(&Include::MessageCount),
        ..Wanted::default()
    }
}

/// Adds what costs more.
pub fn add_details(entry: &mut Entry, details: Details, wanted: Wanted<'_>) {
    if wanted.topics {
        entry.topics = Some(details.topics);
    }
    if wanted.last_message {
        entry.last_message = details.last_message;
    }
    if wanted.message_count {
        entry.message_count = Some(details.message_count);
    }
}

/// The repository that a workspace belongs to.
pub fn repository(workspace: &str) -> Option<Repository> {
    let checkout = git::checkout(Path::new(workspace))?;
    Some(Repository { root: checkout.root.to_str()?.to_owned(), branch: checkout.branch, origin: checkout.origin })
}
