//! What may have changed, as file events and ends of processes suggest. Hints are checked by reading again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What an event is a hint of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Target {
    /// A root of a store, by its location.
    Root(usize),
    /// What tells which sessions live.
    Live,
    /// The receipts.
    Receipts,
}

/// What may have changed.
#[derive(Debug, Default)]
pub(super) struct Hints {
    /// Roots that must be walked.
    pub roots: BTreeSet<usize>,
    /// Files below roots.
    pub files: BTreeSet<(usize, PathBuf)>,
    /// Whether it must be looked at what lives.
    pub live: bool,
}

impl Hints {
    /// The directories of the files.
    pub(super) fn directories(&self) -> BTreeSet<&Path> {
        self.files.iter().filter_map(|(_, path)| path.parent()).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.files.is_empty() && !self.live
    }
}
