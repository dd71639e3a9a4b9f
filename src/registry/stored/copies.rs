//! Which files hold one conversation: copies, of which one counts, and parts, which count together.

use super::{Row, id_with_root};
use crate::harness::{Part, Root, Session};
use crate::protocol::Harness;
use crate::registry::scan::RootScan;
use std::cmp::Reverse;
use std::collections::hash_map::Entry as MapEntry;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Why a file is skipped whose session another file holds, too.
const PART: &str = "it holds a part of a session that is listed with another file, and is read with it";
const MERGED: &str = "another file holds the same session and is listed instead";

/// Sessions with the same id, and the same start time where ids are not unique.
type IdKey<'a> = (Harness, &'a str, Option<i64>);

/// Identifies a conversation: sessions with the same id, and the hash of the first message.
type ConversationKey<'a> = (Harness, &'a str, Option<i64>, Option<u64>);

/// The sessions under each id, with the indexes of their scans.
struct SameId<'a>(HashMap<IdKey<'a>, Vec<(usize, &'a Session)>>);

impl<'a> SameId<'a> {
    fn of(scans: &[&'a RootScan]) -> Self {
        let mut same: HashMap<IdKey<'a>, Vec<_>> = HashMap::new();
        for (scan, of) in scans.iter().enumerate() {
            for session in of.sessions() {
                same.entry(id_key(of, session)).or_default().push((scan, &**session));
            }
        }
        same.retain(|_, sessions| sessions.len() > 1);
        Self(same)
    }

    /// Returns the key of a session's conversation. Parts share the beginning of the first part. A session whose first
    /// message was not read counts as a copy of the first session with its id.
    fn conversation(&self, scan: usize, of: &RootScan, session: &'a Session) -> ConversationKey<'a> {
        let key = id_key(of, session);
        let same = self.0.get(&key).map(Vec::as_slice).unwrap_or_default();
        let first_part = same.iter().find(|(at, other)| *at == scan && of.is_part(other, session));
        let own = first_part.map_or(session, |(_, first)| first).beginning;
        let beginning = own.or_else(|| same.iter().find_map(|(_, other)| other.beginning));
        (key.0, key.1, key.2, beginning)
    }
}

fn id_key<'a>(scan: &RootScan, session: &'a Session) -> IdKey<'a> {
    (scan.root.harness, &session.id, session.created_at_ms.filter(|_| !scan.ids_are_unique()))
}

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
pub(super) struct DuplicateFile {
    pub scan: usize,
    pub path: Box<Path>,
    /// Why it has no row of its own; `None` where it has.
    pub merged: Option<&'static str>,
}

/// The same session in two files (migrations, archives, copied homes) is one: the newest of the newest form counts. Files
/// with one id that begin differently are both listed.
pub(super) fn merge(scans: &[&RootScan]) -> (Vec<Row>, Vec<DuplicateFile>) {
    let mut best: HashMap<ConversationKey<'_>, BestCopy<'_>> = HashMap::new();
    let rank = |session: &Arc<Session>, scan: usize| {
        let place = (Reverse(scan), Reverse(session.location.to_path_buf()));
        (!session.old_form, session.updated_at_ms, !session.archived, session.workspace.is_some(), place)
    };
    let mut duplicates = Vec::new();
    let same_id = SameId::of(scans);
    for (scan, of) in scans.iter().enumerate() {
        for session in of.sessions() {
            match best.entry(same_id.conversation(scan, of, session)) {
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
    for (key, (_, holder)) in &ids {
        let Some(best) = best.get(key) else { continue };
        // Counters as ids repeat in every root, but not in one.
        if scans[best.scan].ids_are_unique() || best.scan == *holder {
            duplicates.push(DuplicateFile { scan: best.scan, path: best.session.location.clone(), merged: None });
        }
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
            own_id: ids.get(&key).map(|(id, _)| id.clone()),
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

/// Ids for the sessions whose own is that of another one: in an earlier root, or newer. With each the scan of the session
/// that keeps the plain id.
fn disambiguated_ids<'a>(
    best: &mut HashMap<ConversationKey<'a>, BestCopy<'a>>,
    scans: &[&RootScan],
) -> HashMap<ConversationKey<'a>, (Box<str>, usize)> {
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
    let mut holders: HashMap<(Harness, &str), usize> = HashMap::new();
    let mut ids = HashMap::new();
    for (key, best) in ambiguous {
        let (harness, id, ..) = *key;
        best.is_only_copy = false;
        let holder = *holders.entry((harness, id)).or_insert(best.scan);
        if !taken.insert((harness, id.to_owned())) {
            let here = id_with_root(id, &scans[best.first].root);
            let there = || format!("{id}@{}", best.session.location.display());
            let own = if taken.contains(&(harness, here.clone())) { there() } else { here };
            taken.insert((harness, own.clone()));
            ids.insert(*key, (own.into(), holder));
        }
    }
    ids
}
