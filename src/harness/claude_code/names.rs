//! What a list needs of a transcript and the two ends of it need not hold: the names that it was given, and its moves.

use super::ReadError;
use super::moved::Moves;
use super::record::Record;
use super::titles::Titles;
use crate::harness::middle::{Prefix, scan};
use crate::limits;
use memchr::memmem::Finder;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

/// What records anywhere in a transcript say; of each kind the last counts.
#[derive(Clone, Default)]
pub(super) struct Names {
    read: Prefix,
    pub titles: Titles,
    pub moves: Moves,
}

/// What was read of transcripts, by path.
static KNOWN: LazyLock<Mutex<HashMap<Box<Path>, Names>>> = LazyLock::new(Mutex::default);

/// Reads a whole transcript, but for what lies before its last [`limits::NAMES_SCANNED`] bytes; of one that was read before
/// only what came since.
pub(super) fn of(file: &File, path: &Path) -> Result<Names, ReadError> {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = known().get(path).cloned();
    let mut names = match before {
        Some(before) if before.read.is_of(file)? => before,
        _ => Names::default(),
    };
    let texts = ["-title\"", "\"relocated\"", "\"worktree-state\""].map(Finder::new);
    let from = names.read.length.max(file.metadata()?.len().saturating_sub(limits::NAMES_SCANNED));
    let end = scan(file, from, &[&texts[0], &texts[1], &texts[2]], |line| {
        if let Some(record) = Record::parse(line) {
            names.titles = Titles::of(&record).or(std::mem::take(&mut names.titles));
            names.moves = Moves::of(&record).or(std::mem::take(&mut names.moves));
        }
    })?;
    names.read = Prefix::of(file, end)?;
    let mut known = known();
    if known.len() >= limits::NAMES_KEPT {
        known.clear();
    }
    known.insert(path.into(), names.clone());
    Ok(names)
}
