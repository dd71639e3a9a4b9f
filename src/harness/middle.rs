//! The middle of a file of lines, between the two ends that a list reads: only lines that hold a certain text are looked
//! at, and of a file that grew since only what is new.

use super::jsonl::{end_of_line, lines_with, records_of};
use super::{Progress, ReadError};
use crate::limits;
use crate::platform::files::{FileId, read_at};
use memchr::memmem::Finder;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The part of a growing file that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    file: Option<FileId>,
    /// Its length in bytes.
    pub length: u64,
    /// Its last bytes: while they stand there, nothing before them was rewritten.
    last: Box<[u8]>,
}

impl Prefix {
    /// Describes the first `length` bytes of a file.
    pub(super) fn of(file: &File, length: u64) -> Result<Self, ReadError> {
        let id = FileId::of(&file.metadata()?);
        Ok(Self { file: Some(id), length, last: last_bytes(file, length)? })
    }

    /// Whether a file still begins with it.
    pub(super) fn is_of(&self, file: &File) -> Result<bool, ReadError> {
        let same = self.file == Some(FileId::of(&file.metadata()?));
        Ok(same && last_bytes(file, self.length)? == self.last)
    }
}

fn last_bytes(file: &File, length: u64) -> Result<Box<[u8]>, ReadError> {
    let mut bytes = vec![0; limits::PREFIX_KEPT.min(usize::try_from(length).unwrap_or(usize::MAX))];
    let from = length - bytes.len() as u64;
    let count = read_at(file, &mut bytes, from)?;
    bytes.truncate(count);
    Ok(bytes.into())
}

/// What the records of growing files say that hold certain texts, by path: of a file that was read before, only what was
/// appended is read.
pub(super) struct Remembered<T>(LazyLock<Mutex<ByFile<T>>>);

/// What was found in each file, and the beginning of the file that it was found in.
type ByFile<T> = HashMap<Box<Path>, (Prefix, T)>;

impl<T: Clone + Default> Remembered<T> {
    /// Remembers nothing yet.
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// Reads a whole file, but for what lies before its last [`limits::NAMES_SCANNED`] bytes: `each` takes in one record
    /// after another.
    ///
    /// # Errors
    /// If the file cannot be read, or the request was cancelled.
    pub(super) fn read(
        &self,
        file: &File,
        path: &Path,
        texts: &[&Finder<'_>],
        progress: &dyn Progress,
        mut each: impl FnMut(&mut T, &[u8]),
    ) -> Result<T, ReadError> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known().get(path).cloned();
        let (read, mut found) = match before {
            Some((read, found)) if read.is_of(file)? => (read, found),
            _ => Default::default(),
        };
        let from = read.length.max(file.metadata()?.len().saturating_sub(limits::NAMES_SCANNED));
        let end = scan(file, from, texts, progress, |record| each(&mut found, record))?;
        let read = Prefix::of(file, end)?;
        let mut known = known();
        if known.len() >= limits::NAMES_KEPT {
            known.clear();
        }
        known.insert(path.into(), (read, found.clone()));
        Ok(found)
    }
}

/// Hands over the records on lines that hold one of these texts, from a position on, in order; returns where the last
/// line ends that is complete. Lines over [`limits::LINE_COMMON`] are skipped.
fn scan(
    file: &File,
    from: u64,
    texts: &[&Finder<'_>],
    progress: &dyn Progress,
    mut each: impl FnMut(&[u8]),
) -> Result<u64, ReadError> {
    let mut buffer = Vec::with_capacity(limits::SCAN_BYTES);
    let (mut at, mut ended, mut is_cut) = (from, from, false);
    loop {
        if progress.is_cancelled() {
            return Err(ReadError::Cancelled);
        }
        let carried = buffer.len();
        buffer.resize(carried + limits::SCAN_BYTES, 0);
        let count = read_at(file, &mut buffer[carried..], at)?;
        buffer.truncate(carried + count);
        at += count as u64;
        let complete = match memchr::memrchr(b'\n', &buffer[carried..]) {
            Some(end) => carried + end + 1,
            // The last line needs no end.
            None if count == 0 => buffer.len(),
            None if buffer.len() > limits::LINE_COMMON => {
                buffer.clear();
                is_cut = true;
                continue;
            }
            None => continue,
        };
        let start = if std::mem::take(&mut is_cut) { end_of_line(&buffer, 0) } else { 0 };
        for line in lines_with(&buffer[start..complete], texts) {
            records_of(line).for_each(&mut each);
        }
        if count == 0 {
            return Ok(ended);
        }
        ended = at - (buffer.len() - complete) as u64;
        buffer.drain(..complete);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::NoProgress;
    use crate::harness::testing::Gone;
    use std::io::Write;

    fn found(file: &File, from: u64) -> (Vec<String>, u64) {
        let mut found = Vec::new();
        let (x, y) = (Finder::new("\"x\""), Finder::new("\"y\""));
        let end =
            scan(file, from, &[&x, &y], &NoProgress, |line| found.push(String::from_utf8_lossy(line).into_owned()));
        (found, end.unwrap())
    }

    #[test]
    fn lines_with_a_text_are_found_wherever_they_lie() {
        for filler in
            [0, 10, limits::SCAN_BYTES - 9, limits::SCAN_BYTES, 3 * limits::SCAN_BYTES, 2 * limits::LINE_COMMON]
        {
            let mut file = tempfile::tempfile().unwrap();
            let content = format!("{{\"x\":1}}\n{}\n{{\"y\":2}}\n{{\"z\":3}}\n{{\"x\":4}}", "f".repeat(filler));
            file.write_all(content.as_bytes()).unwrap();
            let complete = content.len() as u64 - 7;
            assert_eq!(found(&file, 0), (vec!["{\"x\":1}".into(), "{\"y\":2}".into(), "{\"x\":4}".into()], complete));
            assert_eq!(found(&file, complete), (vec!["{\"x\":4}".into()], complete), "{filler}");
        }
    }

    #[test]
    fn cancelled_scan_ends_and_is_not_remembered() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"{\"x\":1}\n").unwrap();
        let (known, text) = (Remembered::<usize>::new(), Finder::new("\"x\""));
        let count = |progress: &dyn Progress| {
            known.read(file.as_file(), file.path(), &[&text], progress, |count, _| *count += 1)
        };
        assert!(matches!(count(&Gone), Err(ReadError::Cancelled)));
        assert_eq!(count(&NoProgress).unwrap(), 1);
        assert_eq!(count(&NoProgress).unwrap(), 1);
    }

    #[test]
    fn a_prefix_stands_until_its_end_is_rewritten() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one\ntwo\n").unwrap();
        let prefix = Prefix::of(&file, 8).unwrap();
        file.write_all(b"three\n").unwrap();
        assert!(prefix.is_of(&file).unwrap());
        file.set_len(6).unwrap();
        assert!(!prefix.is_of(&file).unwrap());
        assert!(!prefix.is_of(&tempfile::tempfile().unwrap()).unwrap());
        assert!(!Prefix::default().is_of(&file).unwrap());
    }
}
