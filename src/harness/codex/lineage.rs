//! The rollouts that make up a conversation. A segment holds only its own turns and names the beginning of the earlier
//! segment that comes before them: one of the same thread after a revert, one of another thread in a fork.

use super::files::{self, SegmentName};
use super::record::Base;
use super::rollout::Rollout;
use crate::harness::{Part, ReadError, Root, Session};
use crate::limits;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The segments before a session's current one, the nearest first. One that cannot be read is given as its [`Base`], and
/// ends them.
pub(super) struct Lineage<'a> {
    roots: &'a [Root],
    session: &'a Session,
    own_only: bool,
    seen: HashSet<Box<str>>,
    base: Option<Base>,
    /// Where the segments of the roots lie, once one of them is needed that is not the session's own.
    index: Option<HashMap<Box<str>, PathBuf>>,
}

impl<'a> Lineage<'a> {
    /// The current segment of a session, and those before it. `own_only` leaves out those of other threads.
    pub(super) fn of(roots: &'a [Root], session: &'a Session, own_only: bool) -> Result<(Rollout, Self), ReadError> {
        let current = Rollout::open(&session.location)?;
        let base = current.base()?;
        let seen = SegmentName::of(&session.location).map_or(&*session.id, |name| name.segment);
        Ok((current, Self { roots, session, own_only, seen: HashSet::from([seen.into()]), base, index: None }))
    }

    /// Where a segment lies.
    fn locate(&mut self, segment: &str) -> Option<PathBuf> {
        if let Some(own) = part(&self.session.parts, segment) {
            return Some(own.to_owned());
        }
        let index = self.index.get_or_insert_with(|| files::index(self.roots));
        index.get(segment).cloned()
    }

    /// Whether a segment is one of the session's own thread.
    fn is_own(&self, segment: &str) -> bool {
        part(&self.session.parts, segment).is_some()
    }
}

impl Iterator for Lineage<'_> {
    type Item = Result<Rollout, Base>;

    fn next(&mut self) -> Option<Self::Item> {
        let base = self.base.take()?;
        if self.own_only && !self.is_own(&base.segment) {
            return None;
        }
        if self.seen.len() >= limits::SEGMENTS || !self.seen.insert(base.segment.clone()) {
            return Some(Err(base));
        }
        let opened = self.locate(&base.segment).map(|path| Rollout::open_base(&path, &base));
        let Some(Ok(segment)) = opened else { return Some(Err(base)) };
        self.base = segment.base().ok().flatten();
        Some(Ok(segment))
    }
}

/// The path of a part.
pub(super) fn part<'a>(parts: &'a [Part], id: &str) -> Option<&'a Path> {
    parts.iter().find(|part| *part.id == *id).map(|part| &*part.path)
}
