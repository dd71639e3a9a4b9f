//! What is reported of the roots: how many sessions each has, which files were skipped, and problems.

use super::Row;
use super::copies::DuplicateFile;
use crate::harness::Root;
use crate::limits;
use crate::protocol::{Harness, Problem, Skipped};
use crate::registry::RootReport;
use crate::registry::scan::RootScan;
use std::collections::HashSet;
use std::path::Path;

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

pub(super) fn problems(
    scans: &[&RootScan],
    silent: &[Root],
    duplicates: &[DuplicateFile],
    rows: &[Row],
) -> Vec<Problem> {
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
    problems.extend(missing_part_problems(rows));
    problems.sort_unstable_by(|a, b| (a.harness, &a.path).cmp(&(b.harness, &b.path)));
    problems.truncate(limits::PROBLEMS_LISTED);
    problems
}

fn silence_message() -> String {
    format!("it has not answered for {} seconds; its sessions are left out", limits::ROOT_SILENCE.as_secs())
}

/// What can be told of a root that does not answer.
pub(super) fn of_silent_root(root: &Root) -> RootReport {
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

pub(super) fn of_root<'a>(scan: &RootScan, duplicates: impl Iterator<Item = &'a DuplicateFile>) -> RootReport {
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
