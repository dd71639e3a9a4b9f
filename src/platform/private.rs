//! Directories and files that are ours alone. They are judged by their descriptors, since a name may mean another thing
//! by then; a file appears whole or not at all, and is removed only as what it was when it was read.
//!
//! Unix alone: elsewhere there is no such directory and, but for temporary ones, none can be made.

use super::files::Stamp;
use std::io;
use std::path::Path;

/// Why a directory or a file is not ours alone.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// The name is a symbolic link, to whatever.
    #[error("it is a symbolic link")]
    Link,
    /// A link leads to what is not there.
    #[error("its symbolic link leads to a file that does not exist")]
    Dangling,
    /// Links lead to each other.
    #[error("its symbolic links lead in a circle")]
    LinkLoop,
    /// Another user could change where a link leads.
    #[error("its symbolic link, or a directory that it leads through, belongs to another user")]
    ForeignLink,
    /// What should be a file is a directory, a FIFO, a device or a socket.
    #[error("it is not a regular file")]
    NotRegular,
    /// What should be a directory is something else.
    #[error("it is not a directory")]
    NotDirectory,
    /// It belongs to somebody else, be it root.
    #[error("it belongs to another user")]
    ForeignOwner,
    /// Its mode gives rights to group or others: any on a file, that of writing on a directory.
    #[error("its mode lets other users in; only its owner may have rights on it")]
    LooseMode,
    /// The file has a second name.
    #[error("it has a second hard link")]
    HardLink,
    /// The file is over the size that is read.
    #[error("it is larger than {0} bytes")]
    TooLarge(usize),
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Unfit {
    /// The stable word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Link | Self::Dangling | Self::LinkLoop | Self::ForeignLink => "symlink",
            Self::NotRegular => "not_regular",
            Self::NotDirectory => "not_a_directory",
            Self::ForeignOwner => "foreign_owner",
            Self::LooseMode => "loose_mode",
            Self::HardLink => "hard_link",
            Self::TooLarge(_) => "too_large",
            Self::Io(_) => "io",
        }
    }
}

/// A directory that belongs to us and in which nobody else can put anything, held open.
pub struct Directory(system::Held);

impl Directory {
    /// Opens it; `None` where there is none. It is neither changed nor, if it is a link, followed.
    pub fn open(path: &Path) -> Result<Option<Self>, Unfit> {
        Ok(system::open(path)?.map(Self))
    }

    /// Opens it, and makes it where there is none, with all that leads to it: closed to others from the beginning.
    pub fn create(path: &Path) -> Result<Self, Unfit> {
        if let Some(directory) = Self::open(path)? {
            return Ok(directory);
        }
        system::make(path)?;
        Self::open(path)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound).into())
    }

    /// Takes the directory's lock (`flock`), which is released when this value is dropped. Returns `false` while another
    /// open of the directory has it. Nothing is written.
    pub fn try_lock(&self) -> io::Result<bool> {
        self.0.try_lock()
    }

    /// The first `max` names that are wanted, in no order.
    pub fn names(&self, max: usize, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
        self.0.names(max, &wanted)
    }

    /// Reads a private file of at most `max` bytes, and says which one it was; `None` where there is none.
    pub fn read(&self, name: &str, max: usize) -> Result<Option<(Vec<u8>, Stamp)>, Unfit> {
        self.0.read(name, max)
    }

    /// Makes a private file that is there with all its content or not at all, also after a crash. `temporary` is what it
    /// is called before, where the system knows no file without a name.
    pub fn publish(&self, name: &str, temporary: &str, content: &[u8]) -> io::Result<Stamp> {
        self.0.publish(name, temporary, content)
    }

    /// Removes a regular file of ours if it is the one that is meant; answers whether it did.
    pub fn remove(&self, name: &str, is_meant: impl Fn(&Stamp) -> bool) -> io::Result<bool> {
        self.0.remove(name, &is_meant)
    }
}

/// Makes an empty directory that nobody else can look into, whose name begins so; gone when dropped.
pub fn temporary_directory(prefix: &str) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

#[cfg(unix)]
pub(super) mod system {
    use super::{Path, Stamp, Unfit, io};
    use crate::platform::attributes::Attributes;
    use nix::dir::Dir;
    use nix::errno::Errno;
    use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat, renameat};
    use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstat, fstatat};
    use nix::unistd::{Gid, Uid, UnlinkatFlags, fchown, fsync, geteuid, unlinkat};
    use std::fs::{DirBuilder, File, TryLockError};
    use std::io::{Read, Write};
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::DirBuilderExt;

    const ONLY_OURS: Mode = Mode::S_IRUSR.union(Mode::S_IWUSR);

    impl From<Errno> for Unfit {
        fn from(error: Errno) -> Self {
            Self::Io(error.into())
        }
    }

    pub(crate) struct Held(pub OwnedFd);

    fn kind_of(status: &FileStat) -> SFlag {
        SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT
    }

    /// Only what something is, whoever may do what with it.
    pub(crate) fn judge_kind(status: &FileStat, kind: SFlag, other: Unfit) -> Result<(), Unfit> {
        match kind_of(status) {
            seen if seen == kind => Ok(()),
            SFlag::S_IFLNK => Err(Unfit::Link),
            _ => Err(other),
        }
    }

    fn judge(status: &FileStat, kind: SFlag, other: Unfit, rights_of_others: Mode) -> Result<(), Unfit> {
        judge_kind(status, kind, other)?;
        if status.st_uid != geteuid().as_raw() {
            return Err(Unfit::ForeignOwner);
        }
        let loose = Mode::from_bits_truncate(status.st_mode).intersects(rights_of_others);
        if loose { Err(Unfit::LooseMode) } else { Ok(()) }
    }

    fn judge_directory(status: &FileStat) -> Result<(), Unfit> {
        judge(status, SFlag::S_IFDIR, Unfit::NotDirectory, Mode::S_IWGRP | Mode::S_IWOTH)
    }

    fn judge_file(status: &FileStat) -> Result<(), Unfit> {
        judge(status, SFlag::S_IFREG, Unfit::NotRegular, Mode::S_IRWXG | Mode::S_IRWXO)?;
        if status.st_nlink == 1 { Ok(()) } else { Err(Unfit::HardLink) }
    }

    /// Opens what is judged to be fit: before, since opening alone can wake a device, and again afterwards, since the
    /// name may mean another by then.
    pub(crate) fn open_judged(
        at: impl AsFd,
        path: &Path,
        flags: OFlag,
        judge: fn(&FileStat) -> Result<(), Unfit>,
    ) -> Result<Option<(OwnedFd, FileStat)>, Unfit> {
        match fstatat(&at, path, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Err(Errno::ENOENT) => return Ok(None),
            seen => judge(&seen?)?,
        }
        let quietly = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let descriptor = match openat(&at, path, flags | quietly, Mode::empty()) {
            Err(Errno::ENOENT) => return Ok(None),
            opened => opened?,
        };
        let status = fstat(&descriptor)?;
        judge(&status)?;
        Ok(Some((descriptor, status)))
    }

    pub(crate) fn open(path: &Path) -> Result<Option<Held>, Unfit> {
        let opened = open_judged(AT_FDCWD, path, OFlag::O_RDONLY | OFlag::O_DIRECTORY, judge_directory)?;
        Ok(opened.map(|(descriptor, _)| Held(descriptor)))
    }

    /// Gives an empty file of ours the owner, the mode and the extended attributes of another one. Only a group that has no
    /// other rights than everybody may be left out, since not every owner may give a file to each group that it was in.
    fn take_after(file: &File, other: &File) -> io::Result<()> {
        let (ours, like) = (fstat(file)?, fstat(other)?);
        let by_group = (like.st_mode >> 3) & 0o7 != like.st_mode & 0o7;
        if (ours.st_uid, ours.st_gid) != (like.st_uid, like.st_gid) {
            match fchown(file, Some(Uid::from_raw(like.st_uid)), Some(Gid::from_raw(like.st_gid))) {
                Err(Errno::EPERM) if ours.st_uid == like.st_uid && !by_group => {}
                changed => changed?,
            }
        }
        fchmod(file, Mode::from_bits_truncate(like.st_mode))?;
        // Last: an access control list and the mode change each other.
        Attributes::of(other)?.give_to(file)
    }

    pub(crate) fn make(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    impl Held {
        pub(crate) fn try_lock(&self) -> io::Result<bool> {
            // The lock belongs to the open directory, whichever of its descriptors took it.
            match File::from(self.0.try_clone()?).try_lock() {
                Ok(()) => Ok(true),
                Err(TryLockError::WouldBlock) => Ok(false),
                Err(TryLockError::Error(error)) => Err(error),
            }
        }

        pub(crate) fn names(&self, max: usize, wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<String>> {
            let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
            let mut names = Vec::new();
            for entry in Dir::openat(&self.0, ".", flags, Mode::empty())?.iter() {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy();
                if wanted(&name) {
                    names.push(name.into_owned());
                }
                if names.len() == max {
                    break;
                }
            }
            Ok(names)
        }

        pub(crate) fn read(&self, name: &str, max: usize) -> Result<Option<(Vec<u8>, Stamp)>, Unfit> {
            let opened = open_judged(&self.0, Path::new(name), OFlag::O_RDONLY, judge_file)?;
            let Some((descriptor, status)) = opened else {
                return Ok(None);
            };
            let mut content = Vec::new();
            File::from(descriptor).take(max as u64 + 1).read_to_end(&mut content)?;
            if content.len() > max { Err(Unfit::TooLarge(max)) } else { Ok(Some((content, Stamp::of_status(&status)))) }
        }

        pub(crate) fn publish(&self, name: &str, temporary: &str, content: &[u8]) -> io::Result<Stamp> {
            let file = match self.publish_unnamed(name, content) {
                Ok(file) => file,
                Err(_) => self.publish_renamed(name, temporary, content)?,
            };
            let stamp = Stamp::of_status(&fstat(&file)?);
            if let Err(error) = self.sync() {
                self.remove(name, &|now| now.is_same_file(&stamp))?;
                return Err(error);
            }
            Ok(stamp)
        }

        /// Brings to the disk which names there are.
        pub(crate) fn sync(&self) -> io::Result<()> {
            match fsync(&self.0) {
                // Not every file system can do that.
                Ok(()) | Err(Errno::EINVAL) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }

        #[cfg(target_os = "linux")]
        fn publish_unnamed(&self, name: &str, content: &[u8]) -> io::Result<File> {
            use std::os::fd::AsRawFd;
            let file = self.write_unnamed(content)?;
            let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
            nix::unistd::linkat(AT_FDCWD, unnamed.as_str(), &self.0, name, AtFlags::AT_SYMLINK_FOLLOW)?;
            Ok(file)
        }

        /// Nothing is left of it if we end before it has a name.
        #[cfg(target_os = "linux")]
        pub(super) fn write_unnamed(&self, content: &[u8]) -> io::Result<File> {
            let flags = OFlag::O_TMPFILE | OFlag::O_WRONLY | OFlag::O_CLOEXEC;
            let mut file = File::from(openat(&self.0, ".", flags, ONLY_OURS)?);
            file.write_all(content)?;
            file.sync_all()?;
            Ok(file)
        }

        #[cfg(not(target_os = "linux"))]
        fn publish_unnamed(&self, _name: &str, _content: &[u8]) -> io::Result<File> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) fn publish_renamed(&self, name: &str, temporary: &str, content: &[u8]) -> io::Result<File> {
            let file = self.write_named(temporary, content, None)?;
            match renameat(&self.0, temporary, &self.0, name) {
                Ok(()) => Ok(file),
                Err(error) => {
                    unlinkat(&self.0, temporary, UnlinkatFlags::NoRemoveDir)?;
                    Err(error.into())
                }
            }
        }

        /// Writes a file that must not be there yet: a private one, or one with the owner, the mode and the extended
        /// attributes of another.
        pub(crate) fn write_named(&self, temporary: &str, content: &[u8], like: Option<&File>) -> io::Result<File> {
            let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_WRONLY | OFlag::O_CLOEXEC;
            let mut file = File::from(openat(&self.0, temporary, flags, ONLY_OURS)?);
            let prepared = like.map_or(Ok(()), |like| take_after(&file, like));
            if let Err(error) = prepared.and_then(|()| file.write_all(content)).and_then(|()| file.sync_all()) {
                unlinkat(&self.0, temporary, UnlinkatFlags::NoRemoveDir)?;
                return Err(error);
            }
            Ok(file)
        }

        pub(crate) fn remove(&self, name: &str, is_meant: &dyn Fn(&Stamp) -> bool) -> io::Result<bool> {
            let status = match fstatat(&self.0, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
                Err(Errno::ENOENT) => return Ok(false),
                seen => seen?,
            };
            let is_ours = kind_of(&status) == SFlag::S_IFREG && status.st_uid == geteuid().as_raw();
            if !is_ours || !is_meant(&Stamp::of_status(&status)) {
                return Ok(false);
            }
            match unlinkat(&self.0, name, UnlinkatFlags::NoRemoveDir) {
                Err(Errno::ENOENT) => Ok(false),
                removed => Ok(removed.map(|()| true)?),
            }
        }
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Path, Stamp, Unfit, io};
    use std::convert::Infallible;

    pub struct Held(Infallible);

    pub fn open(_path: &Path) -> Result<Option<Held>, Unfit> {
        Ok(None)
    }

    pub fn make(_path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    impl Held {
        pub fn try_lock(&self) -> io::Result<bool> {
            match self.0 {}
        }

        pub fn names(&self, _max: usize, _wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<String>> {
            match self.0 {}
        }

        pub fn read(&self, _name: &str, _max: usize) -> Result<Option<(Vec<u8>, Stamp)>, Unfit> {
            match self.0 {}
        }

        pub fn publish(&self, _name: &str, _temporary: &str, _content: &[u8]) -> io::Result<Stamp> {
            match self.0 {}
        }

        pub fn remove(&self, _name: &str, _is_meant: &dyn Fn(&Stamp) -> bool) -> io::Result<bool> {
            match self.0 {}
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "private_tests.rs"]
mod tests;
