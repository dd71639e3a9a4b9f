//! Files below a directory, and nothing outside of it, whatever links lead where and whoever changes them meanwhile: a
//! path is resolved first, and what it resolves to is then opened step by step, following no link.

use std::io;
use std::path::{Path, PathBuf};

/// The directory, which stays the one that it was when it was opened, whatever has its name afterwards.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    held: system::Pinned,
}

impl Root {
    /// Opens it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        Ok(Self { held: system::pin(&path)?, path })
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Why a file is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It is not below the directory, or a link leads out of it.
    #[error("it is outside of the workspace")]
    Outside,
    /// What has the directory's name is another one.
    #[error("the workspace was moved or replaced")]
    Moved,
    /// There is none.
    #[error("there is no such file")]
    Absent,
    /// It is a directory, a FIFO, a device or a socket.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is too large.
    #[error("it is larger than {0} bytes")]
    TooLarge(usize),
    /// The system refused.
    #[error("{0}")]
    Io(io::Error),
}

impl From<io::Error> for Unfit {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Absent,
            _ => Self::Io(error),
        }
    }
}

/// What a path below the root really is, relative to it. What does not exist yet may, if its directory does.
fn resolve(root: &Root, path: &Path) -> Result<PathBuf, Unfit> {
    if path.as_os_str().len() > crate::limits::PATH_BYTES {
        return Err(Unfit::Absent);
    }
    if !system::is_still(&root.held, &root.path) {
        return Err(Unfit::Moved);
    }
    let path = root.path.join(path);
    let real = match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link to nothing would lead to where nobody looked.
            if path.symlink_metadata().is_ok() {
                return Err(Unfit::Outside);
            }
            let name = path.file_name().ok_or(Unfit::Absent)?;
            path.parent().ok_or(Unfit::Absent)?.canonicalize()?.join(name)
        }
        real => real?,
    };
    real.strip_prefix(&root.path).map(Path::to_owned).map_err(|_| Unfit::Outside)
}

/// A directory below `root`, by its real name; `root` itself is one, too.
pub fn directory(root: &Root, path: &Path) -> Result<PathBuf, Unfit> {
    let directory = root.path.join(resolve(root, path)?);
    if directory.is_dir() { Ok(directory) } else { Err(Unfit::Absent) }
}

/// Reads a regular file of at most `max` bytes.
pub fn read(root: &Root, path: &Path, max: usize) -> Result<Vec<u8>, Unfit> {
    let content = system::read(&root.held, &resolve(root, path)?, max)?;
    if content.len() > max { Err(Unfit::TooLarge(max)) } else { Ok(content) }
}

/// Replaces a file by one with this content and the old one's mode, or makes one. Who reads meanwhile sees the old one
/// or the new one.
pub fn write(root: &Root, path: &Path, content: &[u8]) -> Result<(), Unfit> {
    system::write(&root.held, &resolve(root, path)?, content)
}

#[cfg(unix)]
mod system {
    use super::super::private::system::{Held, judge_kind};
    use super::super::random;
    use super::{Path, Unfit, io};
    use nix::errno::Errno;
    use nix::fcntl::{OFlag, open, openat, renameat};
    use nix::sys::stat::{FileStat, Mode, SFlag, fstat, lstat};
    use nix::unistd::{UnlinkatFlags, unlinkat};
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::{AsFd, OwnedFd};
    use std::path::Component;

    const QUIETLY: OFlag = OFlag::O_NOFOLLOW.union(OFlag::O_NONBLOCK).union(OFlag::O_NOCTTY).union(OFlag::O_CLOEXEC);

    impl From<Errno> for Unfit {
        fn from(error: Errno) -> Self {
            match error {
                // What was no link when it was resolved is one now.
                Errno::ELOOP => Self::Outside,
                // Nobody reads or writes at the other end of a FIFO.
                Errno::ENXIO | Errno::EISDIR => Self::NotRegular,
                _ => io::Error::from(error).into(),
            }
        }
    }

    const DIRECTORY: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(QUIETLY);

    pub(super) type Pinned = OwnedFd;

    pub(super) fn pin(path: &Path) -> io::Result<Pinned> {
        Ok(open(path, DIRECTORY, Mode::empty())?)
    }

    /// Whether this is still its name.
    pub(super) fn is_still(pinned: &Pinned, path: &Path) -> bool {
        let it = |status: FileStat| (status.st_dev, status.st_ino);
        fstat(pinned).is_ok_and(|pinned| lstat(path).is_ok_and(|named| it(named) == it(pinned)))
    }

    /// The directory of a resolved path, and its last name.
    fn parent<'a>(root: &Pinned, below: &'a Path) -> Result<(OwnedFd, &'a OsStr), Unfit> {
        let mut held = root.try_clone()?;
        let name = below.file_name().ok_or(Unfit::NotRegular)?;
        for component in below.parent().into_iter().flat_map(Path::components) {
            let Component::Normal(component) = component else { return Err(Unfit::Outside) };
            held = openat(&held, component, DIRECTORY, Mode::empty())?;
        }
        Ok((held, name))
    }

    fn open_file(directory: impl AsFd, name: &OsStr, flags: OFlag) -> Result<(File, FileStat), Unfit> {
        let file = openat(directory, name, flags | QUIETLY, Mode::empty())?;
        let status = fstat(&file)?;
        judge_kind(&status, SFlag::S_IFREG, super::super::private::Unfit::NotRegular).map_err(|_| Unfit::NotRegular)?;
        Ok((File::from(file), status))
    }

    pub(super) fn read(root: &Pinned, below: &Path, max: usize) -> Result<Vec<u8>, Unfit> {
        let (directory, name) = parent(root, below)?;
        let (file, _) = open_file(&directory, name, OFlag::O_RDONLY)?;
        let mut content = Vec::new();
        file.take(max as u64 + 1).read_to_end(&mut content)?;
        Ok(content)
    }

    pub(super) fn write(root: &Pinned, below: &Path, content: &[u8]) -> Result<(), Unfit> {
        let (directory, name) = parent(root, below)?;
        // Opened only to see whether it may be written to: a new one in its place asks for no right on it.
        match open_file(&directory, name, OFlag::O_WRONLY) {
            Ok((file, _)) => replace(directory, name, content, &file),
            Err(Unfit::Absent) => create(directory, name, content),
            Err(error) => Err(error),
        }
    }

    fn replace(directory: OwnedFd, name: &OsStr, content: &[u8], like: &File) -> Result<(), Unfit> {
        let directory = Held(directory);
        let temporary = format!(".tackroom-{}", random::hex::<8>()?);
        directory.write_named(&temporary, content, Some(like))?;
        if let Err(error) = renameat(&directory.0, temporary.as_str(), &directory.0, name) {
            unlinkat(&directory.0, temporary.as_str(), UnlinkatFlags::NoRemoveDir)?;
            return Err(error.into());
        }
        Ok(())
    }

    fn create(directory: OwnedFd, name: &OsStr, content: &[u8]) -> Result<(), Unfit> {
        let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY | QUIETLY;
        let usual = Mode::from_bits_truncate(0o666);
        let mut file = File::from(openat(&directory, name, flags, usual)?);
        file.write_all(content)?;
        Ok(())
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Path, PathBuf, Unfit, io};
    use std::io::Read;

    pub type Pinned = PathBuf;

    pub fn pin(path: &Path) -> io::Result<Pinned> {
        Ok(path.to_owned())
    }

    /// Nothing tells.
    pub fn is_still(_pinned: &Pinned, _path: &Path) -> bool {
        true
    }

    pub fn read(root: &Pinned, below: &Path, max: usize) -> Result<Vec<u8>, Unfit> {
        let file = super::super::files::open_regular(&root.join(below))?;
        let mut content = Vec::new();
        file.take(max as u64 + 1).read_to_end(&mut content)?;
        Ok(content)
    }

    pub fn write(root: &Pinned, below: &Path, content: &[u8]) -> Result<(), Unfit> {
        Ok(std::fs::write(root.join(below), content)?)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn read(root: &Path, path: &Path, max: usize) -> Result<Vec<u8>, Unfit> {
        super::read(&Root::open(root).unwrap(), path, max)
    }

    fn write(root: &Path, path: &Path, content: &[u8]) -> Result<(), Unfit> {
        super::write(&Root::open(root).unwrap(), path, content)
    }

    fn workspace() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("workspace");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join("file"), "inside").unwrap();
        fs::write(home.path().join("secret"), "outside").unwrap();
        (home, root)
    }

    #[test]
    fn what_lies_within_is_read_by_any_of_its_names() {
        let (_home, root) = workspace();
        symlink("file", root.join("link")).unwrap();
        symlink(&root, root.join("sub/around")).unwrap();
        for name in ["file", "link", "sub/../file", "sub/around/link"] {
            assert_eq!(read(&root, &root.join(name), 100).unwrap(), b"inside", "{name}");
        }
        assert!(matches!(read(&root, &root.join("file"), 5), Err(Unfit::TooLarge(5))));
        assert!(matches!(read(&root, &root.join("none"), 5), Err(Unfit::Absent)));
    }

    #[test]
    fn what_lies_outside_is_neither_read_nor_written() {
        let (home, root) = workspace();
        let secret = home.path().join("secret");
        symlink(&secret, root.join("link")).unwrap();
        symlink(home.path(), root.join("up")).unwrap();
        symlink(home.path().join("new"), root.join("dangling")).unwrap();
        for path in [secret.clone(), root.join("../secret"), root.join("link"), root.join("up/secret")] {
            assert!(matches!(read(&root, &path, 100), Err(Unfit::Outside)), "{path:?}");
            assert!(matches!(write(&root, &path, b"x"), Err(Unfit::Outside)), "{path:?}");
        }
        for path in [root.join("up/new"), root.join("dangling"), home.path().join("new")] {
            assert!(matches!(write(&root, &path, b"x"), Err(Unfit::Outside)), "{path:?}");
        }
        assert!(matches!(directory(&Root::open(&root).unwrap(), &root.join("up")), Err(Unfit::Outside)));
        assert_eq!(fs::read(&secret).unwrap(), b"outside");
        assert!(!home.path().join("new").exists());
    }

    #[test]
    fn a_link_that_comes_after_the_look_is_not_followed() {
        let (home, root) = workspace();
        fs::create_dir(home.path().join("sub")).unwrap();
        fs::write(home.path().join("sub/file"), "outside").unwrap();
        fs::remove_dir(root.join("sub")).unwrap();
        symlink(home.path().join("sub"), root.join("sub")).unwrap();
        let pinned = system::pin(&root).unwrap();
        assert!(system::read(&pinned, Path::new("sub/file"), 100).is_err());
        assert!(system::write(&pinned, Path::new("sub/file"), b"x").is_err());
        fs::remove_file(root.join("file")).unwrap();
        symlink(home.path().join("secret"), root.join("file")).unwrap();
        assert!(matches!(system::read(&pinned, Path::new("file"), 100), Err(Unfit::Outside)));
        assert!(matches!(system::write(&pinned, Path::new("file"), b"x"), Err(Unfit::Outside)));
        assert_eq!(fs::read(home.path().join("secret")).unwrap(), b"outside");
    }

    #[test]
    fn what_takes_the_place_of_the_directory_is_not_it() {
        let (home, path) = workspace();
        let root = Root::open(&path).unwrap();
        fs::rename(&path, home.path().join("before")).unwrap();
        for replace in [|at: &Path| symlink(at.parent().unwrap(), at), |at: &Path| fs::create_dir(at)] {
            replace(&path).unwrap();
            for name in ["secret", "file", "new"] {
                assert!(matches!(super::read(&root, &path.join(name), 100), Err(Unfit::Moved)), "{name}");
                assert!(matches!(super::write(&root, &path.join(name), b"x"), Err(Unfit::Moved)), "{name}");
            }
            assert!(matches!(directory(&root, &path), Err(Unfit::Moved)));
            let _ = fs::remove_file(&path);
        }
        // Also where it changes after the look.
        assert_eq!(system::read(&root.held, Path::new("file"), 100).unwrap(), b"inside");
        assert!(matches!(system::read(&root.held, Path::new("secret"), 100), Err(Unfit::Absent)));
    }

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting() {
        let (_home, root) = workspace();
        nix::unistd::mkfifo(&root.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        for name in ["fifo", "sub", ""] {
            assert!(matches!(read(&root, &root.join(name), 100), Err(Unfit::NotRegular)), "{name}");
            assert!(matches!(write(&root, &root.join(name), b"x"), Err(Unfit::NotRegular)), "{name}");
        }
    }

    #[test]
    fn a_file_is_replaced_with_its_mode_and_nothing_is_left_beside_it() {
        let (_home, root) = workspace();
        let file = root.join("file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o751)).unwrap();
        let before = fs::metadata(&file).unwrap().ino();
        write(&root, &file, b"changed").unwrap();
        write(&root, &root.join("sub/new"), b"new").unwrap();
        let metadata = fs::metadata(&file).unwrap();
        assert_eq!((metadata.mode() & 0o777, fs::read(&file).unwrap()), (0o751, b"changed".to_vec()));
        assert_ne!(metadata.ino(), before);
        let note = "user.note";
        crate::platform::testing::set_attribute(&file, note, b"mine");
        write(&root, &file, b"again").unwrap();
        assert_eq!(crate::platform::testing::get_attribute(&file, note), b"mine");
        assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
        assert_eq!(fs::read(root.join("sub/new")).unwrap(), b"new");
        assert!(matches!(write(&root, &root.join("none/new"), b"x"), Err(Unfit::Absent)));
    }
}
