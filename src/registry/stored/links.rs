//! What rows take from other files and other rows: names, remarks, workspaces and parents.

use super::{Index, Row, related};
use crate::harness::Name;
use crate::protocol::{Harness, Parent, Relation};
use crate::registry::scan::RootScan;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

/// Looks for the directories of which stores keep only marks, among all that are known; whether there are such marks.
pub(super) fn find_workspaces(rows: &mut [Row], scans: &[&RootScan], directories: &[String]) -> bool {
    let marked = |row: &Row| row.session.workspace.is_none() && row.session.workspace_mark.is_some();
    let harnesses: BTreeSet<Harness> = rows.iter().filter(|row| marked(row)).map(|row| row.harness).collect();
    if harnesses.is_empty() {
        return false;
    }
    let mut known: BTreeSet<&str> = scans.iter().flat_map(|scan| scan.workspaces()).collect();
    known.extend(scans.iter().flat_map(|scan| scan.sessions()).filter_map(|session| session.workspace.as_deref()));
    known.extend(directories.iter().map(String::as_str));
    let mut found: HashMap<(Harness, String), &str> = HashMap::new();
    for harness in harnesses {
        let Some(scan) = scans.iter().find(|scan| scan.root.harness == harness) else { continue };
        for directory in &known {
            if let Some(mark) = scan.workspace_mark(directory) {
                found.entry((harness, mark)).or_insert(directory);
            }
        }
    }
    for row in rows.iter_mut().filter(|row| marked(row)) {
        let mark = row.session.workspace_mark.as_deref().unwrap_or_default();
        row.found_workspace = found.get(&(row.harness, mark.to_owned())).map(|directory| (*directory).into());
    }
    true
}

/// A session of which no directory is known works in that of the session of another harness that it stands for.
pub(super) fn inherit_workspaces(rows: &mut [Row], by_id: &Index) {
    let lacking = rows.iter().enumerate().filter(|(_, row)| row.workspace().is_none());
    let found: Vec<(usize, Box<str>)> = lacking
        .filter_map(|(index, row)| {
            let worker = &rows[related(by_id, row, row.parent.as_ref()?.session_id.as_deref()?)?];
            (worker.harness != row.harness).then_some((index, worker.workspace()?.into()))
        })
        .collect();
    for (row, workspace) in found {
        rows[row].found_workspace = Some(workspace);
    }
}

pub(super) fn apply_names(rows: &mut [Row], scans: &[&RootScan]) {
    // Where ids are not unique, a name is that of a session of its own root.
    let mut names: HashMap<(Harness, Option<&Path>, &str), &Name> = HashMap::new();
    for scan in scans {
        let place = (!scan.ids_are_unique()).then_some(scan.root.path.as_path());
        for name in scan.names() {
            let known = names.entry((scan.root.harness, place, &name.session)).or_insert(name);
            if name.rank >= known.rank {
                *known = name;
            }
        }
    }
    if names.is_empty() {
        return;
    }
    for row in rows {
        let of = |place| names.get(&(row.harness, place, &*row.session.id));
        if let Some(name) = of(None).or_else(|| of(Some(&row.root.path)))
            && (name.rank > 0 || row.title.is_none())
        {
            row.title = Some(name.title.clone());
        }
    }
}

/// What files say of sessions of others counts where those say nothing of the kind themselves.
pub(super) fn apply_remarks(rows: &mut [Row], by_id: &Index, scans: &[&RootScan]) {
    for (harness, remark) in scans.iter().flat_map(|scan| scan.remarks().map(|remark| (scan.root.harness, remark))) {
        let Some(row) = by_id.get(&(harness, remark.session.clone())).map(|index| &mut rows[*index]) else { continue };
        let unknown = row.parent.as_ref().is_none_or(|parent| parent.session_id.is_none());
        if unknown && remark.parent.is_some() {
            row.parent.clone_from(&remark.parent);
        }
        if row.session.handle.is_none() && remark.handle.is_some() {
            Arc::make_mut(&mut row.session).handle.clone_from(&remark.handle);
        }
        let part = row.session.parts.iter().find(|part| Some(&part.id) == remark.current.as_ref());
        if let Some(path) = part.map(|part| part.path.clone()).filter(|path| *path != row.session.location) {
            Arc::make_mut(&mut row.session).location = path;
        }
    }
}

/// A session that says where it goes on is the parent of that one.
pub(super) fn link_continuations(rows: &mut [Row], by_id: &Index) {
    let mut told: Vec<(usize, String)> = rows
        .iter()
        .filter_map(|row| {
            let next = row.session.continued_in.as_ref()?;
            Some((related(by_id, row, next)?, row.session.id.to_string()))
        })
        .collect();
    // Which of several counts must not change with the time of their newest messages.
    told.sort_unstable();
    for (row, session_id) in told {
        rows[row].parent.get_or_insert(Parent { session_id: Some(session_id), relation: Relation::Continuation });
    }
}

/// Sessions that begin with one and the same message are copies of one conversation. The oldest is the origin; of two
/// it is known that the younger was forked from it, of more only that they were forked.
pub(super) fn link_copies(rows: &mut [Row]) {
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

/// A member of a team is a child of the session that leads the team, where that is known.
pub(super) fn link_teams(rows: &mut [Row]) {
    let mut leads: HashMap<(Harness, Box<str>), Option<String>> = HashMap::new();
    for row in rows.iter() {
        if let Some(team) = row.session.team.as_ref().filter(|team| team.leads) {
            let lead = leads.entry((row.harness, team.name.clone()));
            // Which of several is meant cannot be known.
            lead.and_modify(|lead| *lead = None).or_insert(Some(row.id().to_owned()));
        }
    }
    for row in rows.iter_mut().filter(|row| row.session.team.as_ref().is_some_and(|team| !team.leads)) {
        let Some(team) = &row.session.team else { continue };
        let lead = leads.get(&(row.harness, team.name.clone())).cloned().flatten();
        if let Some(parent) = row.parent.as_mut().filter(|parent| parent.session_id.is_none()) {
            parent.session_id = lead;
        }
    }
}
