//! Rows that stand in a transcript again. At a second compaction 2.1.237 to 2.1.260 appended rows from before once more
//! under their old names, and hung the boundary on them. Such a row is the one that stands there first: where it is
//! repeated it counts for nothing.

use super::ReadError;
use super::row::{Row, text_of};
use crate::harness::Progress;
use crate::harness::backward::Backward;
use crate::harness::middle::Prefix;
use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// Where each row of a transcript stands first.
#[derive(Clone, Default)]
pub(super) struct Firsts {
    read: Prefix,
    hasher: RandomState,
    first: HashMap<u64, u64>,
}

/// What was read last: a transcript is loaded page by page.
static LAST: Mutex<Option<Arc<Firsts>>> = Mutex::new(None);

impl Firsts {
    /// Reads what was not read yet of the first `length` bytes of a transcript.
    pub(super) fn read(file: &File, length: u64, progress: &dyn Progress) -> Result<Arc<Self>, ReadError> {
        let known = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut firsts = match known {
            Some(known) if known.read.is_of(file)? => known,
            _ => Arc::default(),
        };
        if firsts.read.length < length {
            Arc::make_mut(&mut firsts).extend(file, length, progress)?;
            *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(firsts.clone());
        }
        Ok(firsts)
    }

    fn extend(&mut self, file: &File, length: u64, progress: &dyn Progress) -> Result<(), ReadError> {
        let mut lines = Backward::new(file, length, progress);
        while let Some(line) = lines.previous()?
            && line.at >= self.read.length
        {
            let text = text_of(&line);
            let Some(id) = Row::read(file, &line, &text).and_then(|row| self.id(&row)) else { continue };
            let first = self.first.entry(id).or_insert(line.at);
            *first = line.at.min(*first);
        }
        self.read = Prefix::of(file, length)?;
        Ok(())
    }

    /// Whether the row at this position stands before it, too.
    pub(super) fn is_repeated(&self, row: &Row<'_>, at: u64) -> bool {
        self.id(row).and_then(|id| self.first.get(&id)).is_some_and(|first| *first < at)
    }

    /// Two rows are the same where their names and times are.
    fn id(&self, row: &Row<'_>) -> Option<u64> {
        Some(self.hasher.hash_one((row.uuid()?, row.timestamp())))
    }
}
