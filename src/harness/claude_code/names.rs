//! What a list needs of a transcript and the two ends of it need not hold: the names that it was given, and its moves.

use super::ReadError;
use super::moved::Moves;
use super::record::Record;
use super::titles::Titles;
use crate::harness::Progress;
use crate::harness::middle::Remembered;
use memchr::memmem::Finder;
use std::fs::File;
use std::path::Path;

/// What records anywhere in a transcript say; of each kind the last counts.
#[derive(Clone, Default)]
pub(super) struct Names {
    pub titles: Titles,
    pub moves: Moves,
}

static KNOWN: Remembered<Names> = Remembered::new();

/// Reads the names and moves of a whole transcript.
pub(super) fn of(file: &File, path: &Path, progress: &dyn Progress) -> Result<Names, ReadError> {
    let texts = ["-title\"", "\"relocated\"", "\"worktree-state\""].map(Finder::new);
    KNOWN.read(file, path, &[&texts[0], &texts[1], &texts[2]], progress, |names, line| {
        if let Some(record) = Record::parse(line) {
            names.titles = Titles::of(&record).or(std::mem::take(&mut names.titles));
            names.moves = Moves::of(&record).or(std::mem::take(&mut names.moves));
        }
    })
}
