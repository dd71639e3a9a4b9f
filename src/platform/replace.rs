//! Small files that other programs write, too: read as one version, and replaced by a whole other one, if nobody wrote
//! meanwhile.
//!
//! A lock keeps apart those who ask for it. Of those who do not, what they wrote is seen when it comes out: on Linux the
//! old file and the new one are exchanged in one step, and what came out is judged then, when no name leads to it any
//! more. Is it not what was read, or has somebody still open it for writing, it is put back.

use super::files::Stamp;
use super::private::Unfit;
use std::io;
use std::path::Path;

/// Why a file was not replaced. It is as it was, or as somebody else wrote it.
#[derive(Debug, thiserror::Error)]
pub enum Unreplaced {
    /// It is not what was read any more, or somebody is writing it.
    #[error("it changed meanwhile")]
    Changed,
    /// It or its directory does not allow it.
    #[error(transparent)]
    Unfit(#[from] Unfit),
}

/// A directory held open, in which a file is to be replaced. The lock on it ends with this value.
pub struct Place(system::Place);

/// A file as it was read.
pub struct Version {
    /// All its bytes.
    pub content: Vec<u8>,
    /// When it was written.
    pub stamp: Stamp,
    /// What tells it from other files.
    system: system::Witness,
}

impl Place {
    /// Opens a directory; `None` where there is none. A link is not followed.
    pub fn open(path: &Path) -> Result<Option<Self>, Unfit> {
        Ok(system::Place::open(path)?.map(Self))
    }

    /// Opens it, and makes it where there is none, closed to others, with all that leads to it.
    pub fn create(path: &Path) -> Result<Self, Unfit> {
        if let Some(place) = Self::open(path)? {
            return Ok(place);
        }
        system::make(path)?;
        Self::open(path)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound).into())
    }

    /// Takes the lock that all writers share who ask for it; `false` while another one has it.
    pub fn try_lock(&self) -> io::Result<bool> {
        self.0.try_lock()
    }

    /// Reads a regular file of at most `max` bytes; `None` where there is none. A link is not followed.
    pub fn read(&self, name: &str, max: usize) -> Result<Option<Version>, Unfit> {
        self.0.read(name, max)
    }

    /// Removes what one who was killed left behind, if anything is there.
    pub fn clear(&self, temporary: &str) {
        self.0.clear(temporary);
    }

    /// Puts `content` in the place of `old`: with its mode, owner and attributes, whole, also after a crash. Without `old` it
    /// makes a private file where none is. Meanwhile a file is called `temporary`, a name that only who has the lock uses.
    pub fn replace(
        &self,
        name: &str,
        temporary: &str,
        old: Option<&Version>,
        content: &[u8],
    ) -> Result<(), Unreplaced> {
        self.0.replace(name, temporary, old, content)
    }
}

#[cfg(unix)]
mod system {
    use super::super::private::system::{Held, judge_kind, open_judged};
    use super::{Path, Stamp, Unfit, Unreplaced, Version, io};
    use crate::limits;
    use crate::platform::attributes::Attributes;
    use nix::errno::Errno;
    use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, renameat};
    use nix::sys::stat::{FileStat, SFlag, fstat, fstatat};
    use nix::unistd::{UnlinkatFlags, geteuid, linkat, unlinkat};
    use std::fs::File;
    use std::io::{Read, Seek};

    pub(super) use super::super::private::system::make;

    pub(super) struct Place(Held);

    pub(super) struct Witness {
        file: File,
        status: FileStat,
    }

    impl Drop for Witness {
        fn drop(&mut self) {
            // A program that is being started may hold a copy of the descriptor, so closing ours may not end the lease.
            release(&self.file);
        }
    }

    fn judge_directory(status: &FileStat) -> Result<(), Unfit> {
        judge_kind(status, SFlag::S_IFDIR, Unfit::NotDirectory)
    }

    fn judge_file(status: &FileStat) -> Result<(), Unfit> {
        judge_kind(status, SFlag::S_IFREG, Unfit::NotRegular)
    }

    fn content_of(mut file: &File, max: usize) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        file.rewind()?;
        file.take(max as u64 + 1).read_to_end(&mut content)?;
        Ok(content)
    }

    impl Place {
        pub(super) fn open(path: &Path) -> Result<Option<Self>, Unfit> {
            let opened = open_judged(AT_FDCWD, path, OFlag::O_RDONLY | OFlag::O_DIRECTORY, judge_directory)?;
            Ok(opened.map(|(descriptor, _)| Self(Held(descriptor))))
        }

        pub(super) fn try_lock(&self) -> io::Result<bool> {
            self.0.try_lock()
        }

        pub(super) fn read(&self, name: &str, max: usize) -> Result<Option<Version>, Unfit> {
            let Some((descriptor, status)) = open_judged(&self.0.0, Path::new(name), OFlag::O_RDONLY, judge_file)?
            else {
                return Ok(None);
            };
            let file = File::from(descriptor);
            let content = content_of(&file, max)?;
            if content.len() > max {
                return Err(Unfit::TooLarge(max));
            }
            Ok(Some(Version { content, stamp: Stamp::of_status(&status), system: Witness { file, status } }))
        }

        pub(super) fn clear(&self, temporary: &str) {
            // Where it cannot be removed nothing new can be made either, and that is told.
            let _ = unlinkat(&self.0.0, temporary, UnlinkatFlags::NoRemoveDir);
        }

        pub(super) fn replace(
            &self,
            name: &str,
            temporary: &str,
            old: Option<&Version>,
            content: &[u8],
        ) -> Result<(), Unreplaced> {
            let staged = self.stage(temporary, old, content);
            let replaced = staged.and_then(|ours| match old {
                Some(old) => self.take_place(name, temporary, old, ours),
                None => self.appear(name, temporary),
            });
            self.clear(temporary);
            if let Some(old) = old {
                release(&old.system.file);
            }
            replaced?;
            Ok(self.0.sync().map_err(Unfit::from)?)
        }

        fn stage(&self, temporary: &str, old: Option<&Version>, content: &[u8]) -> Result<Version, Unreplaced> {
            let us = geteuid().as_raw();
            let owner = match old {
                Some(old) => old.system.status.st_uid,
                // Who the directory belongs to could not read a private file of ours.
                None => fstat(&self.0.0).map_err(Unfit::from)?.st_uid,
            };
            if owner != us && (old.is_none() || us != 0) {
                return Err(Unfit::ForeignOwner.into());
            }
            // Its other name would keep the old content.
            if old.is_some_and(|old| old.system.status.st_nlink > 1) {
                return Err(Unfit::HardLink.into());
            }
            let like = old.map(|old| &old.system.file);
            self.0.write_named(temporary, content, like).map_err(Unfit::from)?;
            self.read(temporary, content.len())?.ok_or(Unreplaced::Changed)
        }

        /// Gives a name to what had none. Whoever was faster keeps it.
        fn appear(&self, name: &str, temporary: &str) -> Result<(), Unreplaced> {
            let directory = &self.0.0;
            match linkat(directory, temporary, directory, name, AtFlags::empty()) {
                Ok(()) => Ok(()),
                Err(Errno::EEXIST) => Err(Unreplaced::Changed),
                Err(error) => Err(Unfit::from(error).into()),
            }
        }

        /// From the first check until the end, other programs that open either file for writing wait in `open`: so none writes
        /// to a file that is about to lose its name.
        fn take_place(&self, name: &str, temporary: &str, old: &Version, ours: Version) -> Result<(), Unreplaced> {
            let is_free = !is_being_written(&old.system.file) && !is_being_written(&ours.system.file);
            let is_fit = is_free && self.is_still(name, old) && has_attributes_of(&ours, old);
            // A writer that came since then waits for the old file: it gets it, and nothing was exchanged.
            if !is_fit || has_writer(&old.system.file) {
                return Err(Unreplaced::Changed);
            }
            match self.exchange(name, temporary) {
                Ok(()) => {
                    let judged = self.judge(temporary, old, &ours);
                    if judged.is_err() {
                        self.put_back(name, temporary, ours);
                    }
                    judged
                }
                Err(Errno::ENOENT) => Err(Unreplaced::Changed),
                // Not every file system can do that. What is written between that look and this step is lost.
                Err(Errno::EINVAL | Errno::ENOSYS | Errno::EOPNOTSUPP) => {
                    Ok(renameat(&self.0.0, temporary, &self.0.0, name).map_err(Unfit::from)?)
                }
                Err(error) => Err(Unfit::from(error).into()),
            }
        }

        /// Whether what came out is what was read, and nobody can write it any more.
        fn judge(&self, temporary: &str, old: &Version, ours: &Version) -> Result<(), Unreplaced> {
            let is_old = || !has_writer(&old.system.file) && self.is_still(temporary, old);
            if !is_old() {
                return Err(Unreplaced::Changed);
            }
            self.0.sync().map_err(Unfit::from)?;
            // Who had found the old file by its name, but not opened it yet, has by now, or waits for it.
            match is_old() && has_attributes_of(ours, old) {
                true => Ok(()),
                false => Err(Unreplaced::Changed),
            }
        }

        /// Puts back what came out for ours, or what came out for that: the last that somebody else wrote stays.
        fn put_back(&self, name: &str, temporary: &str, ours: Version) {
            let mut put = ours;
            for _ in 0..limits::PUT_BACK {
                let out = self.read(temporary, limits::SETTINGS_BYTES).ok().flatten();
                let is_back = self.exchange(name, temporary).is_ok();
                if !is_back || (!has_writer(&put.system.file) && self.is_still(temporary, &put)) {
                    return;
                }
                match out {
                    Some(out) => put = out,
                    None => return,
                }
                std::thread::sleep(limits::PUT_BACK_PAUSE);
            }
        }

        /// Whether what has this name is what was read.
        fn is_still(&self, name: &str, version: &Version) -> bool {
            let Witness { file, status: then } = &version.system;
            let told = |it: &FileStat| (it.st_dev, it.st_ino, it.st_mode, it.st_uid, it.st_gid, it.st_nlink);
            fstatat(&self.0.0, name, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok_and(|now| told(&now) == told(then))
                && content_of(file, version.content.len()).is_ok_and(|now| now == version.content)
        }

        #[cfg(target_os = "linux")]
        fn exchange(&self, one: &str, other: &str) -> Result<(), Errno> {
            use std::os::fd::AsRawFd;
            let name = |name: &str| std::ffi::CString::new(name).map_err(|_| Errno::EINVAL);
            let (one, other) = (name(one)?, name(other)?);
            let at = self.0.0.as_raw_fd();
            // SAFETY: the descriptor is open and the names end with NUL; the system call changes no memory of ours.
            let result = unsafe {
                libc::syscall(libc::SYS_renameat2, at, one.as_ptr(), at, other.as_ptr(), libc::RENAME_EXCHANGE)
            };
            Errno::result(result).map(drop)
        }

        #[cfg(not(target_os = "linux"))]
        fn exchange(&self, _one: &str, _other: &str) -> Result<(), Errno> {
            Err(Errno::ENOSYS)
        }
    }

    /// Whether one file lets in whom the other one does, as far as extended attributes tell.
    pub(super) fn has_attributes_of(ours: &Version, old: &Version) -> bool {
        let of = |version: &Version| Attributes::of(&version.system.file).ok();
        of(ours).is_some_and(|ours| of(old) == Some(ours))
    }

    /// Whether somebody has it open for writing, and keeps it open for a while. A program that this process starts in another
    /// thread holds copies of all our descriptors from its fork until it runs, also of that by which this file was written: it
    /// is waited for.
    fn is_being_written(file: &File) -> bool {
        for _ in 0..limits::WRITER_LOOKS {
            if !has_writer(file) {
                return false;
            }
            std::thread::sleep(limits::WRITER_PAUSE);
        }
        has_writer(file)
    }

    /// Whether somebody has it open for writing, or waits to open it: then no lease is given. Where nobody can tell, nobody
    /// has. Otherwise others that open it for writing wait until the lease is [released](release); the kernel gives them the
    /// file after `/proc/sys/fs/lease-break-time`, 45 seconds, in any case.
    #[cfg(target_os = "linux")]
    fn has_writer(file: &File) -> bool {
        lease(file, libc::F_RDLCK) == Err(Errno::EAGAIN)
    }

    /// Lets in those who wait to open the file for writing.
    #[cfg(target_os = "linux")]
    fn release(file: &File) {
        // It fails where no lease was taken.
        let _ = lease(file, libc::F_UNLCK);
    }

    #[cfg(target_os = "linux")]
    fn lease(file: &File, kind: libc::c_int) -> Result<(), Errno> {
        use std::os::fd::AsRawFd;
        const F_SETSIG: libc::c_int = 10;
        // SAFETY: each takes an open descriptor and a number. Who breaks the lease sends a signal that is ignored.
        let result = unsafe {
            libc::fcntl(file.as_raw_fd(), F_SETSIG, libc::SIGURG);
            libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind)
        };
        Errno::result(result).map(drop)
    }

    #[cfg(not(target_os = "linux"))]
    fn has_writer(_file: &File) -> bool {
        false
    }

    #[cfg(not(target_os = "linux"))]
    fn release(_file: &File) {}
}

#[cfg(not(unix))]
mod system {
    use super::super::files::read_small;
    use super::{Path, Stamp, Unfit, Unreplaced, Version, io};
    use std::fs::{Metadata, symlink_metadata};
    use std::path::PathBuf;

    pub struct Place(PathBuf);

    pub struct Witness;

    pub fn make(_path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn metadata(path: &Path) -> Result<Option<Metadata>, Unfit> {
        match symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Ok(metadata) if metadata.is_symlink() => Err(Unfit::Link),
            metadata => Ok(Some(metadata?)),
        }
    }

    impl Place {
        pub fn open(path: &Path) -> Result<Option<Self>, Unfit> {
            match metadata(path)? {
                None => Ok(None),
                Some(metadata) if metadata.is_dir() => Ok(Some(Self(path.to_owned()))),
                Some(_) => Err(Unfit::NotDirectory),
            }
        }

        pub fn try_lock(&self) -> io::Result<bool> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub fn read(&self, name: &str, max: usize) -> Result<Option<Version>, Unfit> {
            let path = self.0.join(name);
            let Some(metadata) = metadata(&path)? else { return Ok(None) };
            if !metadata.is_file() {
                return Err(Unfit::NotRegular);
            }
            if metadata.len() > max as u64 {
                return Err(Unfit::TooLarge(max));
            }
            Ok(Some(Version { content: read_small(&path, max)?, stamp: Stamp::of(&metadata), system: Witness }))
        }

        pub fn clear(&self, _temporary: &str) {}

        pub fn replace(&self, _: &str, _: &str, _: Option<&Version>, _: &[u8]) -> Result<(), Unreplaced> {
            Err(Unfit::from(io::Error::from(io::ErrorKind::Unsupported)).into())
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "replace_tests.rs"]
mod tests;
