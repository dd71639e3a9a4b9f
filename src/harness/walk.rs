//! Walking a root: names and stamps, nothing opened.

use super::{Skip, Source};
use crate::limits;
use crate::platform::files::Stamp;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer directories than this are not worth a second thread.
const DIRECTORIES_ALONE: usize = 8;

/// What a walk of one root found.
#[derive(Debug, Default)]
pub struct Finder {
    /// What can be read.
    pub sources: Vec<Source>,
    /// What was passed over, and why.
    pub skipped: Vec<(PathBuf, Skip)>,
    /// Whether the root is there.
    pub exists: bool,
    /// Whether the walk ended early because there was too much.
    pub truncated: bool,
    /// Directories that are still to be walked.
    pub deeper: Vec<PathBuf>,
}

/// A directory entry with a name that can be told.
pub struct Found {
    /// Its name.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    entry: DirEntry,
    kind: FileType,
}

impl Found {
    /// Whether it is a directory, also through a link.
    pub fn is_dir(&self) -> bool {
        self.kind.is_dir() || (self.kind.is_symlink() && self.path.is_dir())
    }
}

impl Finder {
    /// The entries of a directory. One that is missing has none; one that cannot be read is told once.
    pub fn entries(&mut self, directory: &Path) -> Vec<Found> {
        let listing = match fs::read_dir(directory) {
            Ok(listing) => listing,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Vec::new();
            }
            Err(error) => {
                self.exists = true;
                self.skipped.push((directory.to_owned(), Skip::Io(error)));
                return Vec::new();
            }
        };
        self.exists = true;
        let mut found = Vec::new();
        for entry in listing {
            match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
                Ok((kind, entry)) => match entry.file_name().into_string() {
                    Ok(name) => found.push(Found { name, path: entry.path(), entry, kind }),
                    Err(_) => self.skipped.push((entry.path(), Skip::NotUtf8)),
                },
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    self.skipped.push((directory.to_owned(), Skip::Io(error)));
                    break;
                }
            }
        }
        found
    }

    /// Walks directories, on several threads where that pays.
    pub fn each(&mut self, directories: &[PathBuf], walk: impl Fn(&mut Self, &Path) + Sync) {
        let next = AtomicUsize::new(0);
        let run = |finder: &mut Self| {
            while let Some(directory) = directories.get(next.fetch_add(1, Ordering::Relaxed)) {
                walk(finder, directory);
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let helpers = cores.min(limits::READERS).min(directories.len() / DIRECTORIES_ALONE + 1) - 1;
        std::thread::scope(|scope| {
            let helper = || {
                let mut finder = Self::default();
                run(&mut finder);
                finder
            };
            let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(helper)).collect();
            run(self);
            for helper in helpers {
                self.merge(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
        });
    }

    fn merge(&mut self, other: Self) {
        self.exists |= other.exists;
        self.truncated |= other.truncated || self.sources.len() + other.sources.len() > limits::FILES_PER_ROOT;
        self.sources.extend(other.sources);
        self.sources.truncate(limits::FILES_PER_ROOT);
        self.skipped.extend(other.skipped);
        self.deeper.extend(other.deeper);
    }

    /// Takes a directory entry as a source if it is a regular file, also through a link.
    pub fn source(&mut self, found: Found, beside: Option<Stamp>) {
        let metadata = if found.kind.is_symlink() { fs::metadata(&found.path) } else { found.entry.metadata() };
        match metadata {
            Ok(metadata) if metadata.is_file() => self.push(found.path, Stamp::of(&metadata), beside),
            Ok(_) => self.skip(found, Skip::NotRegular),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !found.kind.is_symlink() => {}
            Err(error) => self.skip(found, Skip::Io(error)),
        }
    }

    /// Takes a file of a known name as a source, if it is there.
    pub fn known(&mut self, path: PathBuf, beside: Option<Stamp>) {
        if let Some(stamp) = stamp(&path) {
            self.push(path, stamp, beside);
        }
    }

    /// Passes an entry over.
    pub fn skip(&mut self, found: Found, skip: Skip) {
        self.skipped.push((found.path, skip));
    }

    fn push(&mut self, path: PathBuf, stamp: Stamp, beside: Option<Stamp>) {
        if self.sources.len() < limits::FILES_PER_ROOT {
            self.sources.push(Source { path, stamp, beside });
        } else {
            self.truncated = true;
        }
    }
}

/// The stamp of a regular file, if it is there.
pub fn stamp(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| Stamp::of(&metadata))
}

/// A file name without its ending.
pub fn stem(path: &Path) -> &str {
    path.file_stem().and_then(OsStr::to_str).unwrap_or_default()
}
