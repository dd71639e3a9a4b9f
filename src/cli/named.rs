//! Sessions as a person names them.

use super::output::{Failure, plain};
use super::{FAILED, NOT_FOUND, USAGE};
use crate::harness::DESCRIPTORS;
use crate::protocol::{DescribeParams, Entry, ListParams, Problem, Query};
use crate::service::Local;

/// A shorter beginning says too little.
pub const SHORTEST: usize = 4;
/// Of more candidates nobody chooses one.
pub const CANDIDATES: usize = 10;

/// The one entry that is meant, children included.
pub fn find(local: &Local, id: &str) -> Result<Entry, Failure> {
    let mut candidates = matching(local, id, false)?.0;
    if candidates.is_empty() {
        // A session that a runtime resumed into another file is listed only as that runtime.
        let (sources, problems) = matching(local, id, true)?;
        // One that cannot be read may be the one that is meant.
        let is_cause = |problem: &&Problem| {
            problem.reason == DESCRIPTORS || problem.path.as_ref().is_some_and(|path| path.contains(id))
        };
        if let Some(problem) = problems.iter().find(is_cause).filter(|_| sources.is_empty()) {
            let path = plain(problem.path.as_deref().unwrap_or_default());
            return Err(Failure::new(FAILED, format!("`{}` cannot be found: {path}: {}", plain(id), problem.message)));
        }
        for source in sources {
            let described = local.wait(local.user().describe(DescribeParams { id: source.id, include: None }))?;
            candidates.push(described.entry);
        }
        candidates.dedup_by(|a, b| a.id == b.id);
    }
    if candidates.len() > 1 {
        return Err(ambiguous(id, &candidates));
    }
    candidates.pop().ok_or_else(|| {
        let message = format!("there is no session `{}`; `tackroom list` shows those that there are", plain(id));
        Failure::new(NOT_FOUND, message)
    })
}

/// The entries that are named so, else those with a name that begins so.
fn matching(local: &Local, id: &str, unmerged: bool) -> Result<(Vec<Entry>, Vec<Problem>), Failure> {
    let query =
        Query { text: Some(id.to_owned()), include_children: Some(true), twins: Some(unmerged), ..Query::default() };
    let listed = local.list(ListParams { query: Some(query), cursor: None, limit: Some(i64::MAX) })?;
    let (mut found, problems) = (listed.entries, listed.problems);
    let is_named = |entry: &Entry| names(entry).any(|name| name == id);
    let begins = |entry: &Entry| names(entry).any(|name| name.starts_with(id));
    let named = found.iter().any(is_named);
    if !named && id.chars().count() < SHORTEST {
        return Err(Failure::new(USAGE, format!("`{}` is too short: give {SHORTEST} characters or more", plain(id))));
    }
    found.retain(|entry| if named { is_named(entry) } else { begins(entry) });
    Ok((found, problems))
}

/// All by which an entry can be named.
fn names(entry: &Entry) -> impl Iterator<Item = &str> {
    [Some(&entry.id), Some(&entry.session_id), entry.persisted_id.as_ref()].into_iter().flatten().map(String::as_str)
}

fn ambiguous(id: &str, candidates: &[Entry]) -> Failure {
    let mut message = format!("`{}` begins {} ids; give more of one:", plain(id), candidates.len());
    for entry in candidates.iter().take(CANDIDATES) {
        let title = entry.title.as_deref().unwrap_or("(no title)");
        message.push_str(&format!("\n  {}  {}", plain(&entry.id), plain(title)));
    }
    if candidates.len() > CANDIDATES {
        message.push_str(&format!("\n  and {} more", candidates.len() - CANDIDATES));
    }
    Failure::new(USAGE, message)
}
