//! The entries of a directory, without showing that they were read where that can be asked for.

use super::files::Stamp;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What an entry is, as far as its directory tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, to whatever.
    Link,
    /// A FIFO, a device, a socket.
    Other,
}

/// An entry of a directory.
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
    #[cfg(unix)]
    directory: Arc<std::os::fd::OwnedFd>,
    #[cfg(not(unix))]
    path: Arc<Path>,
}

#[cfg(unix)]
mod system {
    use super::{Arc, Entry, Kind, OsString, Path, Stamp, io};
    use nix::dir::{Dir, Type};
    use nix::errno::Errno;
    use nix::fcntl::{AtFlags, OFlag, open};
    use nix::sys::stat::{FileStat, Mode, SFlag, fstatat};
    use std::os::unix::ffi::OsStringExt;

    fn kind_of(status: &FileStat) -> Kind {
        match SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFREG => Kind::File,
            SFlag::S_IFDIR => Kind::Directory,
            SFlag::S_IFLNK => Kind::Link,
            _ => Kind::Other,
        }
    }

    pub(super) fn entries(path: &Path) -> io::Result<Vec<Entry>> {
        let plain = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
        #[cfg(target_os = "linux")]
        // Only the owner may ask for that.
        let descriptor = match open(path, plain | OFlag::O_NOATIME, Mode::empty()) {
            Err(Errno::EPERM) => open(path, plain, Mode::empty()),
            opened => opened,
        }?;
        #[cfg(not(target_os = "linux"))]
        let descriptor = open(path, plain, Mode::empty())?;
        let directory = Arc::new(descriptor.try_clone()?);
        let mut entries = Vec::new();
        for entry in Dir::from_fd(descriptor)?.iter() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                Some(Type::File) => Kind::File,
                Some(Type::Directory) => Kind::Directory,
                Some(Type::Symlink) => Kind::Link,
                Some(_) => Kind::Other,
                // Some file systems do not tell.
                None => match fstatat(&directory, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
                    Ok(status) => kind_of(&status),
                    Err(Errno::ENOENT) => continue,
                    Err(error) => return Err(error.into()),
                },
            };
            let name = OsString::from_vec(name.to_bytes().to_vec());
            entries.push(Entry { name, kind, directory: directory.clone() });
        }
        Ok(entries)
    }

    impl Entry {
        /// Its state, if it is a regular file itself.
        pub fn stamp(&self) -> io::Result<Option<Stamp>> {
            let status = fstatat(&self.directory, self.name.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW)?;
            Ok((kind_of(&status) == Kind::File).then(|| Stamp::of_status(&status)))
        }
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Arc, Entry, Kind, Path, Stamp, io};

    pub fn entries(path: &Path) -> io::Result<Vec<Entry>> {
        let directory: Arc<Path> = path.into();
        let entry = |entry: std::fs::DirEntry| {
            let kind = match entry.file_type()? {
                kind if kind.is_file() => Kind::File,
                kind if kind.is_dir() => Kind::Directory,
                kind if kind.is_symlink() => Kind::Link,
                _ => Kind::Other,
            };
            Ok(Entry { name: entry.file_name(), kind, path: directory.clone() })
        };
        std::fs::read_dir(path)?.map(|found| found.and_then(entry)).collect()
    }

    impl Entry {
        /// Its state, if it is a regular file itself.
        pub fn stamp(&self) -> io::Result<Option<Stamp>> {
            let metadata = std::fs::symlink_metadata(self.path.join(&self.name))?;
            Ok(metadata.is_file().then(|| Stamp::of(&metadata)))
        }
    }
}

/// The entries of a directory, in no order.
pub fn entries(path: &Path) -> io::Result<Vec<Entry>> {
    system::entries(path)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::platform::files::{open_regular, read_at};
    use std::fs::{self, File, FileTimes};
    use std::os::unix::fs::{MetadataExt, symlink};
    use std::time::UNIX_EPOCH;

    #[test]
    fn entries_are_told_apart_and_stamped_as_by_their_path() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("file"), "content").unwrap();
        fs::create_dir(home.path().join("directory")).unwrap();
        symlink("file", home.path().join("link")).unwrap();
        nix::unistd::mkfifo(&home.path().join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let mut found = entries(home.path()).unwrap();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        let kinds: Vec<_> = found.iter().map(|entry| (entry.name.to_str().unwrap(), entry.kind)).collect();
        let expected =
            [("directory", Kind::Directory), ("fifo", Kind::Other), ("file", Kind::File), ("link", Kind::Link)];
        assert_eq!(kinds, expected);
        let by_path = Stamp::of(&fs::metadata(home.path().join("file")).unwrap());
        let stamps: Vec<_> = found.iter().map(|entry| entry.stamp().unwrap()).collect();
        assert_eq!(stamps, [None, None, Some(by_path), None]);
        assert_eq!(entries(&home.path().join("gone")).err().unwrap().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn reading_does_not_show() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "content").unwrap();
        // An access that is older than the last change is what the system would renew.
        for path in [&file, &home.path().to_owned()] {
            File::open(path).unwrap().set_times(FileTimes::new().set_accessed(UNIX_EPOCH)).unwrap();
        }
        assert_eq!(entries(home.path()).unwrap().len(), 1);
        assert_eq!(read_at(&open_regular(&file).unwrap(), &mut [0; 7], 0).unwrap(), 7);
        let accessed = [&file, &home.path().to_owned()].map(|path| fs::metadata(path).unwrap().atime());
        assert_eq!(accessed, [0, 0]);
    }
}
