//! Walking a root: names and stamps, nothing opened.

use super::{ReadError, Source};
use crate::limits;
use crate::platform::directory::{self, Entry, Kind};
use crate::platform::files::Stamp;
use std::ffi::OsStr;
use std::fs;
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
    pub skipped: Vec<(PathBuf, ReadError)>,
    /// Whether the root is there.
    pub exists: bool,
    /// Whether the walk ended early because there was too much.
    pub truncated: bool,
    /// Directories that are still to be walked.
    pub deeper: Vec<PathBuf>,
    /// Directories that were walked.
    pub visited: Vec<PathBuf>,
    /// Directories in which something was looked for that is not there yet.
    pub awaiting: Vec<PathBuf>,
}

/// A directory entry with a name that can be told.
pub struct Found {
    /// Its name.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    entry: Entry,
}

impl Found {
    /// Whether it is a directory, also through a link.
    pub fn is_dir(&self) -> bool {
        match self.entry.kind {
            Kind::Directory => true,
            Kind::Link => self.path.is_dir(),
            Kind::File | Kind::Other => false,
        }
    }
}

impl Finder {
    /// The entries of a directory. One that is missing has none; one that cannot be read is told once.
    pub fn entries(&mut self, directory: &Path) -> Vec<Found> {
        let listing = match directory::entries(directory) {
            Ok(listing) => listing,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                self.await_below(directory);
                return Vec::new();
            }
            Err(error) => {
                self.exists = true;
                self.skipped.push((directory.to_owned(), error.into()));
                return Vec::new();
            }
        };
        self.exists = true;
        self.visited.push(directory.to_owned());
        let mut found = Vec::new();
        for entry in listing {
            let path = directory.join(&entry.name);
            match entry.name.to_str() {
                Some(name) => found.push(Found { name: name.to_owned(), path, entry }),
                None => self.skipped.push((path, ReadError::NotUtf8)),
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
        let Self { sources, skipped, exists, truncated, deeper, visited, awaiting } = other;
        self.exists |= exists;
        self.truncated |= truncated || self.sources.len() + sources.len() > limits::FILES_PER_ROOT;
        self.sources.extend(sources);
        self.sources.truncate(limits::FILES_PER_ROOT);
        self.skipped.extend(skipped);
        self.deeper.extend(deeper);
        self.visited.extend(visited);
        self.awaiting.extend(awaiting);
    }

    /// Takes a directory entry as a source if it is a regular file, also through a link.
    pub fn source(&mut self, found: Found, beside: Option<Stamp>) {
        let is_link = found.entry.kind == Kind::Link;
        let stamp = if is_link { followed(&found.path) } else { found.entry.stamp() };
        match stamp {
            Ok(Some(stamp)) => self.push(found.path, stamp, beside),
            Ok(None) => self.skip(found, ReadError::NotRegular),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link => {}
            // The link is there; what it points to is not.
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.skip(found, ReadError::Io(error)),
            Err(error) => self.skip(found, error.into()),
        }
    }

    /// Takes a file of a known name as a source, if it is there.
    pub fn known(&mut self, path: PathBuf, beside: Option<Stamp>) {
        match stamp(&path) {
            Some(stamp) => self.push(path, stamp, beside),
            None => self.await_below(&path),
        }
    }

    /// What is missing is awaited in the nearest directory above it that is there.
    fn await_below(&mut self, missing: &Path) {
        self.awaiting.extend(missing.ancestors().skip(1).find(|above| above.is_dir()).map(Path::to_owned));
    }

    /// Passes an entry over.
    pub fn skip(&mut self, found: Found, skip: ReadError) {
        self.skipped.push((found.path, skip));
    }

    fn push(&mut self, path: PathBuf, stamp: Stamp, beside: Option<Stamp>) {
        if self.sources.len() < limits::FILES_PER_ROOT {
            self.sources.push(Source { path, stamp, beside, parts: Box::default() });
        } else {
            self.truncated = true;
        }
    }
}

/// The stamp of a regular file, if it is there.
pub fn stamp(path: &Path) -> Option<Stamp> {
    followed(path).ok().flatten()
}

fn followed(path: &Path) -> io::Result<Option<Stamp>> {
    let metadata = fs::metadata(path)?;
    Ok(metadata.is_file().then(|| Stamp::of(&metadata)))
}

/// A file name without its ending.
pub(super) fn stem(path: &Path) -> &str {
    path.file_stem().and_then(OsStr::to_str).unwrap_or_default()
}
