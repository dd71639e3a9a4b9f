//! The join: what all files say, made one row a conversation, with names, parents and children.

use super::RootReport;
use super::scan::RootScan;
use crate::harness::{Name, Root, Session};
use crate::protocol::{ActivityStatus, Harness, Parent, Peer, Problem, Relation, Skipped, State};
use crate::{limits, peer};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;

/// The stored sessions, newest first.
#[derive(Default)]
pub struct Stored {
    pub rows: Vec<Row>,
    pub problems: Vec<Problem>,
    pub reports: Vec<RootReport>,
    by_id: HashMap<(Harness, Box<str>), usize>,
    children: HashMap<usize, Vec<usize>>,
}

/// One stored session.
pub struct Row {
    pub harness: Harness,
    pub root: Arc<Root>,
    pub session: Arc<Session>,
    /// What it is called, after all that gives it a name.
    pub title: Option<Box<str>>,
    /// Where it came from, after all that tells.
    pub parent: Option<Parent>,
}

/// A live session.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    pub peer: Peer,
    pub started_at_ms: Option<i64>,
}

impl Live {
    pub fn state(&self) -> State {
        match self.peer.status {
            Some(ActivityStatus::Busy) => State::Busy,
            Some(ActivityStatus::Idle) => State::Idle,
            Some(ActivityStatus::Waiting) => State::Waiting,
            None => State::Live,
        }
    }
}

/// The live sessions, one a session id: of two processes that run one session the one that spoke last.
pub fn live(listing: &peer::Listing) -> Vec<Live> {
    let mut by_session: HashMap<&str, &peer::Found> = HashMap::new();
    for found in &listing.peers {
        match by_session.entry(&found.peer.session_id) {
            Slot::Vacant(slot) => drop(slot.insert(found)),
            Slot::Occupied(mut slot) if found.peer.updated_at_ms > slot.get().peer.updated_at_ms => {
                slot.insert(found);
            }
            Slot::Occupied(_) => {}
        }
    }
    let mut live: Vec<Live> = by_session
        .into_values()
        .map(|found| Live { peer: found.peer.clone(), started_at_ms: found.started_at_ms })
        .collect();
    live.sort_unstable_by(|a, b| a.peer.session_id.cmp(&b.peer.session_id));
    live
}

impl Stored {
    /// Joins what the files of all roots say.
    pub fn join(scans: &[RootScan]) -> Self {
        let mut rows = one_a_conversation(scans);
        name(&mut rows, scans);
        rows.sort_unstable_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        let by_id: HashMap<_, _> =
            rows.iter().enumerate().map(|(index, row)| ((row.harness, row.session.id.clone()), index)).collect();
        continuations(&mut rows, &by_id);
        copies(&mut rows);
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, row) in rows.iter().enumerate() {
            let parent = row.parent.as_ref().and_then(|parent| parent.session_id.as_deref());
            if let Some(parent) = parent.and_then(|id| by_id.get(&(row.harness, id.into()))) {
                children.entry(*parent).or_default().push(index);
            }
        }
        let (problems, reports) = (problems(scans), scans.iter().map(report).collect());
        Self { rows, problems, reports, by_id, children }
    }

    /// The row of a session.
    pub fn find(&self, harness: Harness, session_id: &str) -> Option<usize> {
        self.by_id.get(&(harness, session_id.into())).copied()
    }

    /// The sessions that came from a session.
    pub fn children(&self, row: usize) -> impl Iterator<Item = usize> {
        self.children.get(&row).into_iter().flatten().copied()
    }
}

fn sort_key(row: &Row) -> (Reverse<Option<i64>>, Harness, &str) {
    (Reverse(row.session.updated_at_ms), row.harness, &row.session.id)
}

/// The same session in two files (migrations, archives, copied homes) is one: the newest counts.
fn one_a_conversation(scans: &[RootScan]) -> Vec<Row> {
    let mut best: HashMap<(Harness, &str), (&Arc<Session>, usize)> = HashMap::new();
    let rank = |(session, scan): (&Arc<Session>, usize)| {
        let newest = (session.updated_at_ms, !session.archived);
        (!session.left_behind, newest, Reverse(scan), Reverse(session.location.to_path_buf()))
    };
    for (index, scan) in scans.iter().enumerate() {
        for session in scan.sessions() {
            match best.entry((scan.root.harness, &session.id)) {
                Slot::Vacant(slot) => drop(slot.insert((session, index))),
                Slot::Occupied(mut slot) => {
                    if rank((session, index)) > rank(*slot.get()) {
                        slot.insert((session, index));
                    }
                }
            }
        }
    }
    let roots: Vec<Arc<Root>> = scans.iter().map(|scan| Arc::new(scan.root.clone())).collect();
    best.into_iter()
        .map(|((harness, _), (session, scan))| Row {
            harness,
            root: roots[scan].clone(),
            session: session.clone(),
            title: session.title.clone(),
            parent: session.parent.clone(),
        })
        .collect()
}

fn name(rows: &mut [Row], scans: &[RootScan]) {
    let mut names: HashMap<(Harness, &str), &Name> = HashMap::new();
    for scan in scans {
        for name in scan.names() {
            let known = names.entry((scan.root.harness, &name.session)).or_insert(name);
            if name.rank >= known.rank {
                *known = name;
            }
        }
    }
    if names.is_empty() {
        return;
    }
    for row in rows {
        if let Some(name) = names.get(&(row.harness, &*row.session.id))
            && (name.rank > 0 || row.title.is_none())
        {
            row.title = Some(name.title.clone());
        }
    }
}

/// A session that says where it goes on is the parent of that one.
fn continuations(rows: &mut [Row], by_id: &HashMap<(Harness, Box<str>), usize>) {
    let told: Vec<(usize, String)> = rows
        .iter()
        .filter_map(|row| {
            let next = row.session.continued_in.as_ref()?;
            Some((*by_id.get(&(row.harness, next.clone()))?, row.session.id.to_string()))
        })
        .collect();
    for (row, session_id) in told {
        rows[row].parent.get_or_insert(Parent { session_id: Some(session_id), relation: Relation::Continuation });
    }
}

/// Sessions that begin with one and the same message are copies of one conversation. The oldest is the origin; of two
/// it is known that the younger was forked from it, of more only that they were forked.
fn copies(rows: &mut [Row]) {
    let mut groups: HashMap<(Harness, &str), Vec<usize>> = HashMap::new();
    for (index, row) in rows.iter().enumerate() {
        if let Some(first) = &row.session.first_message {
            groups.entry((row.harness, first)).or_default().push(index);
        }
    }
    let mut forks = Vec::new();
    for mut group in groups.into_values().filter(|group| group.len() > 1) {
        group.sort_by_key(|index| rows[*index].session.created_at_ms);
        let (origin, others) = (group[0], &group[1..]);
        for other in others {
            let younger = rows[*other].session.created_at_ms > rows[origin].session.created_at_ms;
            if younger && rows[*other].parent.is_none() {
                let session_id = (others.len() == 1).then(|| rows[origin].session.id.to_string());
                forks.push((*other, Parent { session_id, relation: Relation::Fork }));
            }
        }
    }
    for (row, parent) in forks {
        rows[row].parent = Some(parent);
    }
}

fn problems(scans: &[RootScan]) -> Vec<Problem> {
    let mut problems: Vec<Problem> = scans
        .iter()
        .flat_map(|scan| {
            let lost = scan.skipped().filter(|(_, skip)| skip.is_problem());
            lost.map(|(path, skip)| Problem {
                harness: Some(scan.root.harness),
                path: Some(path.display().to_string()),
                id: None,
                endpoint: None,
                reason: skip.reason().to_owned(),
                message: skip.to_string(),
            })
        })
        .collect();
    problems.sort_unstable_by(|a, b| (a.harness, &a.path).cmp(&(b.harness, &b.path)));
    problems.truncate(limits::PROBLEMS_LISTED);
    problems
}

fn report(scan: &RootScan) -> RootReport {
    let mut skipped: Vec<Skipped> = scan
        .skipped()
        .map(|(path, skip)| Skipped { path: path.display().to_string(), reason: skip.to_string() })
        .collect();
    skipped.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let truncated = scan.finder.truncated || skipped.len() > limits::SKIPPED_LISTED;
    skipped.truncate(limits::SKIPPED_LISTED);
    RootReport {
        harness: scan.root.harness,
        path: scan.root.path.clone(),
        origin: scan.root.origin,
        exists: scan.finder.exists,
        files: scan.file_count(),
        sessions: scan.sessions().count(),
        skipped,
        truncated,
    }
}
