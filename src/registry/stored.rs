//! The join: what all files say, made one row a conversation, with names, parents and children.

use super::RootReport;
use super::scan::RootScan;
use crate::harness::{Live, Name, Part, Root, Session};
use crate::limits;
use crate::platform::files::resolve;
use crate::protocol::{ActivityStatus, Harness, Parent, Problem, Relation, Skipped, State};
use std::cmp::Reverse;
use std::collections::hash_map::Entry as MapEntry;
use std::collections::{BTreeSet, HashMap, HashSet};
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
        let session = Arc::ptr_eq(&self.session, &other.session) || self.session == other.session;
        let root = Arc::ptr_eq(&self.root, &other.root) || self.root == other.root;
        session
            && root
            && (&self.title, &self.parent, &self.found_workspace, &self.own_id)
                == (&other.title, &other.parent, &other.found_workspace, &other.own_id)
    }

    /// The directory that it works in.
    pub fn workspace(&self) -> Option<&str> {
        self.session.workspace.as_deref().or(self.found_workspace.as_deref())
    }
}

/// Orders the processes that have one session; the greatest stands for it: one that waits for a person, else a busy one, else
/// an idle one, and of equal ones the one whose record changed last.
pub fn live_rank(live: &Live) -> (u8, Option<i64>) {
    let rank = match live.status {
        Some(ActivityStatus::Waiting) => 3,
        Some(ActivityStatus::Busy) => 2,
        Some(ActivityStatus::Idle) => 1,
        None => 0,
    };
    (rank, live.updated_at_ms)
}

/// The state that a live session is in.
pub fn live_state(live: &Live) -> State {
    match live.status {
        Some(ActivityStatus::Busy) => State::Busy,
        Some(ActivityStatus::Idle) => State::Idle,
        Some(ActivityStatus::Waiting) => State::Waiting,
        None => State::Live,
    }
}

impl Stored {
    /// Joins what the files of all roots say, but of those that are `silent`. `directories` are those that are known
    /// beyond them.
    pub fn join(scans: &[&RootScan], silent: &[Root], directories: &[String]) -> Self {
        let (mut rows, duplicates) = merge_copies(scans);
        apply_names(&mut rows, scans);
        let has_workspace_marks = find_workspaces(&mut rows, scans, directories);
        rows.sort_unstable_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        let by_id = rows.iter().enumerate().map(|(index, row)| ((row.harness, row.id().into()), index)).collect();
        apply_remarks(&mut rows, &by_id, scans);
        inherit_workspaces(&mut rows, &by_id);
        link_continuations(&mut rows, &by_id);
        link_copies(&mut rows);
        link_teams(&mut rows);
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
            .map(|(at, scan)| root_report(scan, duplicates.iter().filter(|file| file.scan == at)));
        let reports = reports.chain(silent.iter().map(silent_root_report)).collect();
        Self {
            order: (0..).take(rows.len()).collect(),
            problems: Arc::new(problems(scans, silent, &duplicates, missing_part_problems(&rows))),
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

/// What tells conversations apart: where ids are not unique in the world, their beginning, and the first message, where
/// that has an id.
type ConversationKey<'a> = (Harness, &'a str, Option<i64>, Option<&'a str>);

/// Of a conversation the copy that counts, and the roots of that and of the first.
struct BestCopy<'a> {
    session: &'a Arc<Session>,
    scan: usize,
    first: usize,
    is_only_copy: bool,
    /// Other files of the same root that hold parts of it.
    parts: Vec<&'a Arc<Session>>,
}

/// A file whose session's id another file has, too.
struct DuplicateFile {
    scan: usize,
    path: Box<Path>,
    /// Why it has no row of its own; `None` where it has.
    merged: Option<&'static str>,
}

/// The same session in two files (migrations, archives, copied homes) is one: the newest of the newest form counts. Files
/// with one id that begin differently are both listed.
fn merge_copies(scans: &[&RootScan]) -> (Vec<Row>, Vec<DuplicateFile>) {
    let mut best: HashMap<ConversationKey<'_>, BestCopy<'_>> = HashMap::new();
    let rank = |session: &Arc<Session>, scan: usize| {
        let place = (Reverse(scan), Reverse(session.location.to_path_buf()));
        (!session.old_form, session.updated_at_ms, !session.archived, session.workspace.is_some(), place)
    };
    let mut duplicates = Vec::new();
    for (scan, of) in scans.iter().enumerate() {
        let unique = of.ids_are_unique();
        for session in of.sessions() {
            let began = session.created_at_ms.filter(|_| !unique);
            match best.entry((of.root.harness, &session.id, began, session.first_message.as_deref())) {
                MapEntry::Vacant(slot) => {
                    slot.insert(BestCopy { session, scan, first: scan, is_only_copy: true, parts: Vec::new() });
                }
                MapEntry::Occupied(mut slot) => {
                    let known = slot.get_mut();
                    known.is_only_copy = false;
                    let is_part = known.scan == scan && of.is_part(known.session, session);
                    let (mut other, mut at) = (session, scan);
                    if rank(session, scan) > rank(known.session, known.scan) {
                        std::mem::swap(&mut other, &mut known.session);
                        std::mem::swap(&mut at, &mut known.scan);
                    }
                    // One database may hold several sessions.
                    if is_part {
                        known.parts.push(other);
                    } else if other.location != known.session.location {
                        duplicates.push(DuplicateFile { scan: at, path: other.location.clone(), merged: Some(MERGED) });
                    }
                }
            }
        }
    }
    let ids = disambiguated_ids(&mut best, scans);
    for best in ids.keys().filter_map(|key| best.get(key)).filter(|best| scans[best.scan].ids_are_unique()) {
        duplicates.push(DuplicateFile { scan: best.scan, path: best.session.location.clone(), merged: None });
    }
    let roots: Vec<Arc<Root>> = scans.iter().map(|scan| Arc::new(scan.root.clone())).collect();
    let mut rows = Vec::with_capacity(best.len());
    for (key, BestCopy { session, scan, is_only_copy, parts, .. }) in best {
        let mut parts = parts;
        parts.extend((!parts.is_empty()).then_some(session));
        let session = merged(session, &parts);
        let files = parts.iter().map(|part| &part.location).filter(|file| **file != session.location);
        duplicates.extend(files.map(|path| DuplicateFile { scan, path: path.clone(), merged: Some(PART) }));
        rows.push(Row {
            harness: key.0,
            root: roots[scan].clone(),
            title: session.title.clone(),
            parent: session.parent.clone(),
            session,
            found_workspace: None,
            own_id: ids.get(&key).cloned(),
            is_only_copy,
        });
    }
    (rows, duplicates)
}

/// A session of several files: it begins with the oldest and ends with the newest of them.
fn merged(newest: &Arc<Session>, parts: &[&Arc<Session>]) -> Arc<Session> {
    if parts.is_empty() {
        return newest.clone();
    }
    let mut session = Session::clone(newest);
    // Whether any of them changed shows in the stamps of two.
    session.content = session.content.map(|(stamp, _)| {
        let others = parts.iter().filter(|part| part.location != newest.location);
        let stamps = others.filter_map(|part| Some(part.content?.0));
        (stamp, stamps.max_by_key(|stamp| stamp.modified_ns))
    });
    // The file that stands for all of them must not change with the newest message.
    let mut files: Vec<&Path> = parts.iter().map(|part| &*part.location).collect();
    files.sort_unstable();
    session.location = files[0].into();
    session.parts = files[1..].iter().map(|file| Part { id: newest.id.clone(), path: (*file).into() }).collect();
    let mut parts = parts.to_vec();
    parts.sort_unstable_by_key(|part| (part.created_at_ms.is_none(), part.created_at_ms, part.updated_at_ms));
    session.created_at_ms = parts[0].created_at_ms;
    session.title = parts.iter().find_map(|part| part.title.clone());
    session.workspace = parts.iter().find_map(|part| part.workspace.clone());
    session.model = session.model.or_else(|| parts.iter().rev().find_map(|part| part.model.clone()));
    Arc::new(session)
}

/// Ids for the sessions whose own is that of another one: in an earlier root, or newer.
fn disambiguated_ids<'a>(
    best: &mut HashMap<ConversationKey<'a>, BestCopy<'a>>,
    scans: &[&RootScan],
) -> HashMap<ConversationKey<'a>, Box<str>> {
    let mut count: HashMap<(Harness, &str), usize> = HashMap::new();
    for (harness, id, ..) in best.keys() {
        *count.entry((*harness, id)).or_default() += 1;
    }
    let mut ambiguous: Vec<_> = best.iter_mut().filter(|(key, _)| count[&(key.0, key.1)] > 1).collect();
    ambiguous.sort_unstable_by_key(|(key, best)| {
        let newest = best.session.updated_at_ms.filter(|_| scans[best.scan].ids_are_unique());
        (best.first, Reverse(newest), **key)
    });
    let mut taken: HashSet<(Harness, String)> = HashSet::new();
    let mut ids = HashMap::new();
    for (key, best) in ambiguous {
        let (harness, id, ..) = *key;
        best.is_only_copy = false;
        if !taken.insert((harness, id.to_owned())) {
            let here = id_with_root(id, &scans[best.first].root);
            let there = || format!("{id}@{}", best.session.location.display());
            let own = if taken.contains(&(harness, here.clone())) { there() } else { here };
            taken.insert((harness, own.clone()));
            ids.insert(*key, own.into());
        }
    }
    ids
}

/// Looks for the directories of which stores keep only marks, among all that are known; whether there are such marks.
fn find_workspaces(rows: &mut [Row], scans: &[&RootScan], directories: &[String]) -> bool {
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
fn inherit_workspaces(rows: &mut [Row], by_id: &Index) {
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

fn apply_names(rows: &mut [Row], scans: &[&RootScan]) {
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
fn apply_remarks(rows: &mut [Row], by_id: &Index, scans: &[&RootScan]) {
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
fn link_continuations(rows: &mut [Row], by_id: &Index) {
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
fn link_copies(rows: &mut [Row]) {
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
fn link_teams(rows: &mut [Row]) {
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

/// Problems of sessions that continue from a part of another one that is not there.
fn missing_part_problems(rows: &[Row]) -> Vec<Problem> {
    let continuing: Vec<(&Row, &str)> =
        rows.iter().filter_map(|row| Some((row, row.session.continues.as_deref()?))).collect();
    if continuing.is_empty() {
        return Vec::new();
    }
    let mut known: HashSet<(Harness, &str)> = HashSet::new();
    for row in rows {
        let whole = row.session.parts.is_empty().then_some(&*row.session.id);
        let parts = row.session.parts.iter().map(|part| &*part.id).chain(whole);
        known.extend(parts.map(|part| (row.harness, part)));
    }
    let missing = continuing.into_iter().filter(|(row, part)| !known.contains(&(row.harness, *part)));
    let problem = |(row, part): (&Row, &str)| Problem {
        harness: Some(row.harness),
        path: row.session.location.to_str().map(str::to_owned),
        id: Some(format!("{}:{}", row.harness.id(), row.id())),
        endpoint: None,
        reason: "missing_part".to_owned(),
        message: format!("it continues from `{part}`, which is not there; the messages before it are missing"),
    };
    missing.map(problem).collect()
}

fn problems(scans: &[&RootScan], silent: &[Root], duplicates: &[DuplicateFile], missing: Vec<Problem>) -> Vec<Problem> {
    let mut problems: Vec<Problem> = scans
        .iter()
        .flat_map(|scan| {
            let lost = scan.skipped().filter(|(_, skip)| skip.is_problem());
            lost.map(|(path, skip)| skip.problem(scan.root.harness, path))
        })
        .collect();
    problems.extend(silent.iter().map(|root| Problem {
        harness: Some(root.harness),
        path: Some(root.path.display().to_string()),
        id: None,
        endpoint: None,
        reason: "timeout".to_owned(),
        message: silence_message(),
    }));
    problems.extend(duplicates.iter().filter(|file| file.merged.is_none()).map(|file| Problem {
        harness: Some(scans[file.scan].root.harness),
        path: Some(file.path.display().to_string()),
        id: None,
        endpoint: None,
        reason: "duplicate_id".to_owned(),
        message: "another file has another conversation under the same id; both are listed".to_owned(),
    }));
    problems.extend(missing);
    problems.sort_unstable_by(|a, b| (a.harness, &a.path).cmp(&(b.harness, &b.path)));
    problems.truncate(limits::PROBLEMS_LISTED);
    problems
}

/// Why a file is skipped whose session another file holds, too.
const PART: &str = "it holds a part of a session that is listed with another file, and is read with it";
const MERGED: &str = "another file holds the same session and is listed instead";

fn silence_message() -> String {
    format!("it has not answered for {} seconds; its sessions are left out", limits::ROOT_SILENCE.as_secs())
}

/// What can be told of a root that does not answer.
fn silent_root_report(root: &Root) -> RootReport {
    let skipped = Skipped { path: root.path.display().to_string(), reason: silence_message() };
    RootReport {
        harness: root.harness,
        path: root.path.clone(),
        origin: root.origin,
        exists: true,
        files: 0,
        sessions: 0,
        skipped: vec![skipped],
        truncated: false,
    }
}

fn root_report<'a>(scan: &RootScan, duplicates: impl Iterator<Item = &'a DuplicateFile>) -> RootReport {
    let row = |path: &Path, reason: String| Skipped { path: path.display().to_string(), reason };
    let merged: Vec<Skipped> = duplicates.filter_map(|file| Some(row(&file.path, file.merged?.to_owned()))).collect();
    let sessions = scan.sessions().count().saturating_sub(merged.len());
    let mut skipped: Vec<Skipped> = scan.skipped().map(|(path, skip)| row(path, skip.to_string())).collect();
    skipped.extend(merged);
    skipped.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let truncated = scan.finder.truncated || skipped.len() > limits::SKIPPED_LISTED;
    skipped.truncate(limits::SKIPPED_LISTED);
    RootReport {
        harness: scan.root.harness,
        path: scan.root.path.clone(),
        origin: scan.root.origin,
        exists: scan.finder.exists,
        files: scan.file_count(),
        sessions,
        skipped,
        truncated,
    }
}
