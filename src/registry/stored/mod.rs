//! The stored sessions: what all files say, joined into one row for each conversation, with names, parents and children.

mod copies;
mod links;
mod report;

use super::RootReport;
use super::scan::RootScan;
use crate::harness::{Root, Session};
use crate::platform::files::resolve;
use crate::protocol::{Harness, Parent, Problem};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The stored sessions. A row keeps its place for as long as nothing but its own content changes.
#[derive(Clone, Default)]
pub struct Stored {
    pub rows: Vec<Arc<Row>>,
    pub problems: Arc<Vec<Problem>>,
    pub reports: Arc<Vec<RootReport>>,
    /// Whether a directory that comes to be known may be that of a session.
    pub has_workspace_marks: bool,
    /// The places of the rows, newest first.
    order: Vec<u32>,
    by_id: Arc<Index>,
    children: Arc<HashMap<usize, Vec<usize>>>,
}

type Index = HashMap<(Harness, Box<str>), usize>;

/// One stored session.
#[derive(Clone)]
pub struct Row {
    pub harness: Harness,
    pub root: Arc<Root>,
    pub session: Arc<Session>,
    /// What it is called, after all that gives it a name.
    pub title: Option<Box<str>>,
    /// Where it came from, after all that tells.
    pub parent: Option<Parent>,
    /// The directory that its mark stands for, where its store keeps only that.
    pub found_workspace: Option<Box<str>>,
    /// Its id, where its own is that of another session in an earlier root.
    own_id: Option<Box<str>>,
    /// Whether it is the only copy.
    is_only_copy: bool,
}

impl Row {
    /// What its entry's id holds behind the harness.
    pub fn id(&self) -> &str {
        self.own_id.as_deref().unwrap_or(&self.session.id)
    }

    /// Whether nothing tells the two apart.
    pub fn is_same_as(&self, other: &Self) -> bool {
        // Whether other copies exist is in no entry.
        let Self { harness, root, session, title, parent, found_workspace, own_id, is_only_copy: _ } = self;
        (*harness, root, session) == (other.harness, &other.root, &other.session)
            && (title, parent, found_workspace, own_id)
                == (&other.title, &other.parent, &other.found_workspace, &other.own_id)
    }

    /// The directory that it works in.
    pub fn workspace(&self) -> Option<&str> {
        self.session.workspace.as_deref().or(self.found_workspace.as_deref())
    }
}

impl Stored {
    /// Joins what the files of all roots say, but of those that are `silent`. `directories` are those that are known
    /// beyond them.
    pub fn join(scans: &[&RootScan], silent: &[Root], directories: &[String]) -> Self {
        let (mut rows, duplicates) = copies::merge(scans);
        links::apply_names(&mut rows, scans);
        let has_workspace_marks = links::find_workspaces(&mut rows, scans, directories);
        rows.sort_unstable_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        let by_id = rows.iter().enumerate().map(|(index, row)| ((row.harness, row.id().into()), index)).collect();
        links::apply_remarks(&mut rows, &by_id, scans);
        links::inherit_workspaces(&mut rows, &by_id);
        links::link_continuations(&mut rows, &by_id);
        links::link_copies(&mut rows);
        links::link_teams(&mut rows);
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, row) in rows.iter().enumerate() {
            let parent = row.parent.as_ref().and_then(|parent| parent.session_id.as_deref());
            if let Some(parent) = parent.and_then(|id| related(&by_id, row, id)) {
                children.entry(parent).or_default().push(index);
            }
        }
        let reports = scans
            .iter()
            .enumerate()
            .map(|(at, scan)| report::of_root(scan, duplicates.iter().filter(|file| file.scan == at)));
        let reports = reports.chain(silent.iter().map(report::of_silent_root)).collect();
        Self {
            order: (0..).take(rows.len()).collect(),
            problems: Arc::new(report::problems(scans, silent, &duplicates, &rows)),
            rows: rows.into_iter().map(Arc::new).collect(),
            reports: Arc::new(reports),
            has_workspace_marks,
            by_id: Arc::new(by_id),
            children: Arc::new(children),
        }
    }

    /// The rows with their places, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.order.iter().map(|place| (*place as usize, &*self.rows[*place as usize]))
    }

    /// The same with a session as it is now; `None` where more than that session's own row may change by it.
    pub fn with_update(&self, before: &Session, now: &Arc<Session>, harness: Harness) -> Option<Self> {
        let place = self.find(harness, &before.id)?;
        let row = &self.rows[place];
        if !row.is_only_copy
            || row.own_id.is_some()
            || *row.session.location != *before.location
            || !is_row_local(before, now)
        {
            return None;
        }
        let mut session = now.clone();
        if row.session.handle != session.handle {
            Arc::make_mut(&mut session).handle.clone_from(&row.session.handle);
        }
        let touched = Row { session, ..(**row).clone() };
        let mut all = self.clone();
        let at = all.position(place);
        all.order.remove(at);
        all.rows[place] = Arc::new(touched);
        all.order.insert(all.position(place), place as u32);
        Some(all)
    }

    /// Whether the rows of both stand at the same places.
    pub fn has_same_positions(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.by_id, &other.by_id)
    }

    /// Where in the order a row stands, or would.
    fn position(&self, place: usize) -> usize {
        let key = sort_key(&self.rows[place]);
        self.order.partition_point(|other| sort_key(&self.rows[*other as usize]) < key)
    }

    /// The row of an entry.
    pub fn find(&self, harness: Harness, id: &str) -> Option<usize> {
        self.by_id.get(&(harness, id.into())).copied()
    }

    /// The session in a file that is named after it, whichever harness it is of.
    pub fn find_by_file(&self, file: &Path) -> Option<&Row> {
        let id = file.file_stem()?.to_str()?;
        let mut rows = Harness::ALL.into_iter().filter_map(|harness| Some(&*self.rows[self.find(harness, id)?]));
        let is_there = |row: &&Row| *row.session.location == *file || resolve(&row.session.location) == resolve(file);
        rows.find(is_there)
    }

    /// The row of the session that a session means by an id.
    pub fn related(&self, row: &Row, session_id: &str) -> Option<usize> {
        related(&self.by_id, row, session_id)
    }

    /// The sessions that came from a session.
    pub fn children(&self, row: usize) -> impl Iterator<Item = usize> {
        self.children.get(&row).into_iter().flatten().copied()
    }
}

/// Whether two states of a session differ in nothing that another row depends on, nor on what others call it.
fn is_row_local(before: &Session, now: &Session) -> bool {
    let Session { model, profile, updated_at_ms, resumable, content, .. } = before.clone();
    Session { model, profile, updated_at_ms, resumable, content, ..now.clone() } == *before
}

fn sort_key(row: &Row) -> (Reverse<Option<i64>>, &str, &str) {
    (Reverse(row.session.updated_at_ms), row.harness.id(), row.id())
}

/// Where ids are not unique, a session means one of its own root first. One of another harness is meant by the whole id
/// of its entry.
fn related(by_id: &Index, row: &Row, session_id: &str) -> Option<usize> {
    if let Some((harness, id)) = session_id.split_once(':')
        && let Some(found) = harness.parse().ok().and_then(|harness: Harness| by_id.get(&(harness, id.into())))
    {
        return Some(*found);
    }
    let near = by_id.get(&(row.harness, id_with_root(session_id, &row.root).into()));
    near.or_else(|| by_id.get(&(row.harness, session_id.into()))).copied()
}

/// The id of a session whose own is taken by another one in an earlier root.
fn id_with_root(session_id: &str, root: &Root) -> String {
    format!("{session_id}@{}", root.path.display())
}
