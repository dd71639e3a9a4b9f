//! The files of a home. A thread has one rollout, `rollout-<local time>-<thread id>`, and one more for each time that its
//! user went back to an earlier message: `rollout-<local time>-<thread id>_<segment id>`. Each such segment names the
//! part of an earlier one that it continues from, so the newest segment leads to the whole conversation.

use super::{ACTIVE, ARCHIVED, DEPTH};
use crate::harness::{Finder, Found, Part, ReadError, Root, Source, ids};
use crate::platform::files::Stamp;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The length of a UUID.
const UUID: usize = 36;

/// What the name of a rollout says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SegmentName<'a> {
    /// The thread that it belongs to.
    pub thread: &'a str,
    /// The segment: the thread's own id names its first file.
    pub segment: &'a str,
}

impl<'a> SegmentName<'a> {
    /// Parses the name of a rollout; `None` where it does not end with the id of a thread or of a segment.
    pub(super) fn of(path: &'a Path) -> Option<Self> {
        let stem = stem(path.file_name()?.to_str()?)?;
        let (before, segment) = split_uuid(stem)?;
        let first = Some(Self { thread: segment, segment });
        let Some(before) = before.strip_suffix('_') else { return first };
        split_uuid(before).map(|(_, thread)| Self { thread, segment }).or(first)
    }

    /// Whether it is the first file of its thread.
    pub(super) fn is_first(&self) -> bool {
        self.thread == self.segment
    }
}

/// Splits a name at the UUID with which it ends.
fn split_uuid(name: &str) -> Option<(&str, &str)> {
    let at = name.len().checked_sub(UUID)?;
    let (before, id) = (name.get(..at)?, name.get(at..)?);
    ids::is_uuid(id).then_some((before, id))
}

/// The name of a rollout without its endings; `None` for other names.
fn stem(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".zst").unwrap_or(name);
    name.strip_suffix(".jsonl").filter(|stem| stem.starts_with("rollout-"))
}

/// Whether a rollout is compressed.
pub(super) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// Whether a rollout is archived: archiving moves all segments of a thread.
pub(super) fn is_archived(path: &Path) -> bool {
    let mut names = path.ancestors().skip(1).filter_map(Path::file_name);
    names.find(|name| *name == ACTIVE || *name == ARCHIVED).is_some_and(|name| name == ARCHIVED)
}

/// Takes the rollouts of a directory and of those in it, level by level.
pub(super) fn walk_below(finder: &mut Finder, directory: PathBuf) {
    let mut level = vec![directory];
    for _ in 0..=DEPTH {
        finder.each(&level, |finder, directory| {
            for found in finder.entries(directory) {
                if found.is_dir() {
                    finder.deeper.push(found.path);
                } else if stem(&found.name).is_none() {
                    finder.skip(found, ReadError::Name);
                } else {
                    finder.source(found, None);
                }
            }
        });
        level = std::mem::take(&mut finder.deeper);
    }
}

/// Makes one source of all segments of a thread: its newest one, with the earlier ones as parts. Several files of a
/// thread that was never reverted stay sources of their own: they may be copies, or other conversations under its id.
pub(super) fn group(finder: &mut Finder) {
    let mut threads: HashMap<&str, usize> = HashMap::with_capacity(finder.sources.len());
    let mut is_divided = false;
    for name in finder.sources.iter().filter_map(|source| SegmentName::of(&source.path)) {
        let count = threads.entry(name.thread).or_default();
        *count += 1;
        is_divided |= *count > 1;
    }
    if !is_divided {
        return;
    }
    let divided: HashMap<String, usize> =
        threads.into_iter().filter(|(_, count)| *count > 1).map(|(thread, count)| (thread.to_owned(), count)).collect();
    let is_part = |source: &Source| SegmentName::of(&source.path).is_some_and(|name| divided.contains_key(name.thread));
    let (mut parts, whole): (Vec<Source>, Vec<Source>) =
        std::mem::take(&mut finder.sources).into_iter().partition(is_part);
    finder.sources = whole;
    parts.sort_by(|a, b| order(a).cmp(&order(b)));
    for thread in parts.chunk_by(|a, b| thread(a) == thread(b)) {
        let is_reverted =
            thread.iter().any(|source| SegmentName::of(&source.path).is_some_and(|name| !name.is_first()));
        let is_copy = |a: &Source, b: &Source| {
            if is_reverted { SegmentName::of(&a.path) == SegmentName::of(&b.path) } else { is_same_rollout(a, b) }
        };
        let mut segments: Vec<Source> = Vec::new();
        for segment in thread {
            match segments.iter().find(|known| is_copy(known, segment)) {
                Some(known) => finder.skipped.push((segment.path.clone(), ReadError::Copy(known.path.clone()))),
                None => segments.push(segment.clone()),
            }
        }
        if is_reverted {
            finder.sources.extend(join(segments));
        } else {
            finder.sources.extend(segments);
        }
    }
}

/// Whether two files are the plain and the compressed form of one rollout: Codex compresses it in its directory.
fn is_same_rollout(a: &Source, b: &Source) -> bool {
    let stem = |source: &Source| source.path.file_name().and_then(|name| stem(name.to_str()?)).map(str::to_owned);
    a.path.parent() == b.path.parent() && stem(a) == stem(b)
}

fn thread(source: &Source) -> Option<&str> {
    SegmentName::of(&source.path).map(|name| name.thread)
}

/// Orders the files of each thread from its first segment to its newest: the ids of segments grow with time. Of the
/// copies of one segment the first is read: Codex prefers a plain file to a compressed one, and a file only grows.
fn order(source: &Source) -> impl Ord + use<'_> {
    let name = SegmentName::of(&source.path);
    let segment = name.map(|name| (name.thread, !name.is_first(), name.segment));
    let size = std::cmp::Reverse(source.stamp.size);
    (segment, is_packed(&source.path), size, is_archived(&source.path), &source.path)
}

/// One source of all segments of a thread, the newest last.
fn join(segments: Vec<Source>) -> Option<Source> {
    let part = |segment: &Source| {
        let id = SegmentName::of(&segment.path)?.segment.into();
        Some(Part { id, path: segment.path.as_path().into() })
    };
    let parts: Box<[Part]> = segments.iter().filter_map(part).collect();
    let (newest, earlier) = segments.split_last()?;
    let beside = earlier.iter().map(|segment| segment.stamp).reduce(Stamp::and);
    Some(Source { beside, parts: if earlier.is_empty() { Box::default() } else { parts }, ..newest.clone() })
}

/// Where the segments of a home lie, by their ids.
pub(super) fn index(roots: &[Root]) -> HashMap<Box<str>, PathBuf> {
    let mut index: HashMap<Box<str>, PathBuf> = HashMap::new();
    for directory in roots.iter().flat_map(|root| [ACTIVE, ARCHIVED].map(|name| root.path.join(name))) {
        each_file(&mut Finder::default(), &directory, DEPTH, &mut |found| {
            let Some(name) = SegmentName::of(&found.path) else { return };
            let known = index.get(name.segment);
            if known.is_none_or(|known| is_packed(known) && !is_packed(&found.path)) {
                index.insert(name.segment.into(), found.path);
            }
        });
    }
    index
}

/// Goes through the files of a directory and of those in it, to a depth.
fn each_file(finder: &mut Finder, directory: &Path, depth: usize, each: &mut dyn FnMut(Found)) {
    for found in finder.entries(directory) {
        if !found.is_dir() {
            each(found);
        } else if depth > 0 {
            each_file(finder, &found.path, depth - 1, each);
        }
    }
}
