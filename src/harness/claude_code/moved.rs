//! Where a session is now. It moves with `/cd`, into a worktree and out of it: then its program moves its file to the
//! directory of the new project and appends a `relocated` record (seen with 2.1.332). A tool's plain `cd` moves nothing.

use super::ReadError;
use super::record::Record;
use crate::harness::text::{self, member};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::Path;

/// The longest name of a project's directory that is the whole mark of its path.
const SLUG_WHOLE: usize = 200;

/// What records say of a session's moves.
#[derive(Clone, Default)]
pub(super) struct Moves {
    /// The directory that it was moved to.
    to: Option<Box<str>>,
    /// The worktree that it entered: where it was before, and the worktree's path.
    entered: Option<(Box<str>, Box<str>)>,
    /// Whether it left that worktree.
    left: Option<bool>,
}

impl Moves {
    /// Returns what one record says.
    pub(super) fn of(record: &Record<'_>) -> Self {
        if record.is("worktree-state") {
            let entered = record.worktree.and_then(Worktree::read);
            return Self { left: Some(entered.is_none()), entered, to: None };
        }
        let to = record.relocated_cwd.filter(|_| record.is("relocated"));
        Self { to: directory(to), ..Self::default() }
    }

    /// Adds what was said before: the last word of each kind counts.
    pub(super) fn or(self, earlier: Self) -> Self {
        Self { to: self.to.or(earlier.to), entered: self.entered.or(earlier.entered), left: self.left.or(earlier.left) }
    }

    /// Returns where a session is that began in `began`. Its file lies in the directory of the project that it is in: where
    /// that is another one and these records do not say which, those that were not read are, by `unread`.
    pub(super) fn workspace(
        self,
        began: Option<Box<str>>,
        path: &Path,
        unread: Option<impl FnOnce() -> Result<Self, ReadError>>,
    ) -> Result<Option<Box<str>>, ReadError> {
        if self.to.is_some() {
            return Ok(self.to);
        }
        let Some(began) = began else { return Ok(None) };
        let moves = match unread.filter(|_| !lies_in_project(path, &began)) {
            Some(read) => read()?,
            None => self,
        };
        if moves.to.is_some() {
            return Ok(moves.to);
        }
        let before = moves.entered.filter(|(_, worktree)| moves.left == Some(true) && began == *worktree);
        Ok(Some(before.map_or(began, |(before, _)| before)))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[serde(bound(deserialize = "'de: 'a"))]
struct Worktree<'a> {
    original_cwd: Option<&'a RawValue>,
    worktree_path: Option<&'a RawValue>,
}

impl Worktree<'_> {
    fn read(raw: &RawValue) -> Option<(Box<str>, Box<str>)> {
        let worktree: Worktree<'_> = serde_json::from_str(raw.get()).ok()?;
        directory(worktree.original_cwd).zip(directory(worktree.worktree_path))
    }
}

fn directory(raw: Option<&RawValue>) -> Option<Box<str>> {
    member(raw).and_then(|path| text::workspace(&path))
}

/// Whether a transcript lies in the directory of the project that a path is: what is no letter or digit is a hyphen in its
/// name, and a long name goes on with a hash.
fn lies_in_project(transcript: &Path, directory: &str) -> bool {
    let Some(name) = transcript.parent().and_then(Path::file_name).and_then(|name| name.to_str()) else { return true };
    let plain = |unit: u16| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from);
    let slug: String = directory.encode_utf16().map(plain).collect();
    if slug.len() <= SLUG_WHOLE { name == slug } else { name.starts_with(&slug[..SLUG_WHOLE]) }
}
