//! Files of others: judged before they are opened, opened so that nothing can hang or be changed, read by bounds.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Two changes within this time may leave one and the same file time.
const RACE: Duration = Duration::from_millis(20);

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of content, in epoch nanoseconds.
    pub modified_ns: i64,
    changed_ns: i64,
    inode: u64,
    /// A mark of what else changes with it.
    mark: u64,
}

impl Stamp {
    /// The stamp of a file whose metadata was read.
    pub fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let ns = |seconds: i64, ns: i64| seconds.saturating_mul(1_000_000_000).saturating_add(ns);
            Self {
                size: metadata.size(),
                modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
                changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
                inode: metadata.ino() ^ metadata.dev().rotate_left(32),
                mark: 0,
            }
        }
        #[cfg(not(unix))]
        {
            let modified_ns = metadata
                .modified()
                .ok()
                .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
                .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
            Self { size: metadata.len(), modified_ns, changed_ns: 0, inode: 0, mark: 0 }
        }
    }

    /// The stamp of a file whose status was asked for by its directory.
    #[cfg(unix)]
    #[allow(clippy::unnecessary_cast, reason = "device numbers have another width elsewhere")]
    pub(super) fn of_status(status: &nix::sys::stat::FileStat) -> Self {
        let ns = |seconds: i64, ns: i64| seconds.saturating_mul(1_000_000_000).saturating_add(ns);
        Self {
            size: u64::try_from(status.st_size).unwrap_or_default(),
            modified_ns: ns(status.st_mtime, status.st_mtime_nsec),
            changed_ns: ns(status.st_ctime, status.st_ctime_nsec),
            inode: status.st_ino ^ (status.st_dev as u64).rotate_left(32),
            mark: 0,
        }
    }

    /// The same, with a mark of what else changes with it.
    pub fn marked(self, mark: u64) -> Self {
        Self { mark, ..self }
    }

    /// One stamp for two files that are read together.
    pub fn and(self, other: Self) -> Self {
        Self {
            size: self.size.wrapping_add(other.size.rotate_left(32)),
            modified_ns: self.modified_ns.max(other.modified_ns),
            changed_ns: self.changed_ns.max(other.changed_ns),
            inode: self.inode.rotate_left(1) ^ other.inode,
            mark: self.mark ^ other.mark,
        }
    }

    /// Whether it has such a mark.
    pub fn is_marked(&self) -> bool {
        self.mark != 0
    }

    /// Whether the last change is longer ago than this.
    pub fn is_older_than(&self, age: Duration) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
        u128::from(now.abs_diff(self.modified_ns)) >= age.as_nanos()
    }

    /// Whether both are of one file, whatever happened to it between them.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.inode == other.inode
    }

    /// Whether the last change is so long ago that another one would show: two within a short time may leave one and the
    /// same file time.
    pub fn is_settled(&self) -> bool {
        self.is_older_than(RACE)
    }

    /// Time of the last change of content, in epoch milliseconds.
    pub fn modified_ms(&self) -> i64 {
        self.modified_ns.div_euclid(1_000_000)
    }
}

/// What tells one file from another, whatever it is called and holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId(u64);

impl FileId {
    /// That of a file whose metadata was read. Where the system tells none all files are one.
    pub fn of(metadata: &Metadata) -> Self {
        Self(Stamp::of(metadata).inode)
    }
}

/// Whether the system had no descriptor left to open a file with: nothing is wrong with the file.
pub fn is_out_of_descriptors(error: &io::Error) -> bool {
    #[cfg(unix)]
    return matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE));
    #[cfg(not(unix))]
    return error.raw_os_error() == Some(4); // ERROR_TOO_MANY_OPEN_FILES
}

/// Opens a regular file for reading. A FIFO, a device or a directory is refused without waiting for it. Where the system
/// allows it, the file does not even show that it was read.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_sized(path).map(|(file, _)| file)
}

/// The same, with the size that the file has now.
pub fn open_sized(path: &Path) -> io::Result<(File, u64)> {
    #[cfg(target_os = "linux")]
    // Only the owner may ask for that.
    let file = match open_quietly(path, libc::O_NOATIME) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => open_quietly(path, 0),
        opened => opened,
    }?;
    #[cfg(all(unix, not(target_os = "linux")))]
    let file = open_quietly(path, 0)?;
    #[cfg(not(unix))]
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata.len())) } else { Err(io::Error::other("not a regular file")) }
}

#[cfg(unix)]
fn open_quietly(path: &Path, more: libc::c_int) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | more).open(path)
}

/// Reads at `offset` into `buffer` until it is full or the file ends; answers how much came.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        let at = offset + filled as u64;
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(file, &mut buffer[filled..], at);
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(file, &mut buffer[filled..], at);
        match read {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Reads a small regular file whole; one over `max` bytes is refused.
pub fn read_small(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    let (file, size) = open_sized(path)?;
    let mut buffer = vec![0; usize::try_from(size).unwrap_or(max).min(max) + 1];
    let length = read_at(&file, &mut buffer, 0)?;
    if length > max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {max} bytes")));
    }
    buffer.truncate(length);
    Ok(buffer)
}

/// A path with its links resolved as far as it exists, and the rest appended: comparable by component. One longer than
/// any system takes stays as it is.
pub fn resolve(path: &Path) -> std::path::PathBuf {
    use std::path::{Component, PathBuf};
    if path.as_os_str().len() > crate::limits::PATH_BYTES {
        return path.to_owned();
    }
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                // Through a link `..` is not the lexical parent, so what stands must be resolved first.
                plain = std::fs::canonicalize(&plain).unwrap_or(plain);
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    let mut missing = Vec::new();
    let mut existing = plain.as_path();
    loop {
        if let Ok(mut resolved) = std::fs::canonicalize(existing) {
            resolved.extend(missing.iter().rev());
            return resolved;
        }
        match (existing.parent(), existing.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name);
                existing = parent;
            }
            _ => return plain,
        }
    }
}
