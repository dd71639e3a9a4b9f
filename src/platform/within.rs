//! Files below a directory, and nothing outside of it, whatever links lead where and whoever changes them meanwhile: a
//! path is resolved first, and what it resolves to is then opened step by step, following no link.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It is not below the directory, or a link leads out of it.
    #[error("it is outside of the workspace")]
    Outside,
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

/// What a path below `root` really is, and relative to it. What does not exist yet may, if its directory does.
fn resolve(root: &Path, path: &Path) -> Result<(PathBuf, PathBuf), Unfit> {
    if path.as_os_str().len() > crate::limits::PATH_BYTES {
        return Err(Unfit::Absent);
    }
    let root = root.canonicalize()?;
    let path = root.join(path);
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
    let below = real.strip_prefix(&root).map_err(|_| Unfit::Outside)?.to_owned();
    Ok((root, below))
}

/// A directory below `root`, by its real name; `root` itself is one, too.
pub fn directory(root: &Path, path: &Path) -> Result<PathBuf, Unfit> {
    let (root, below) = resolve(root, path)?;
    let directory = root.join(below);
    if directory.is_dir() { Ok(directory) } else { Err(Unfit::Absent) }
}

/// Reads a regular file of at most `max` bytes.
pub fn read(root: &Path, path: &Path, max: usize) -> Result<Vec<u8>, Unfit> {
    let (root, below) = resolve(root, path)?;
    let content = system::read(&root, &below, max)?;
    if content.len() > max { Err(Unfit::TooLarge(max)) } else { Ok(content) }
}

/// Replaces a file by one with this content and the old one's mode, or makes one. Who reads meanwhile sees the old one
/// or the new one.
pub fn write(root: &Path, path: &Path, content: &[u8]) -> Result<(), Unfit> {
    let (root, below) = resolve(root, path)?;
    system::write(&root, &below, content)
}

#[cfg(unix)]
mod system {
    use super::super::private::system::{Held, judge_kind};
    use super::super::random;
    use super::{Path, Unfit, io};
    use nix::errno::Errno;
    use nix::fcntl::{OFlag, open, openat, renameat};
    use nix::sys::stat::{FileStat, Mode, SFlag, fstat};
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

    /// The directory of a resolved path, and its last name.
    fn parent<'a>(root: &Path, below: &'a Path) -> Result<(OwnedFd, &'a OsStr), Unfit> {
        let directory = OFlag::O_RDONLY | OFlag::O_DIRECTORY | QUIETLY;
        let mut held = open(root, directory, Mode::empty())?;
        let name = below.file_name().ok_or(Unfit::NotRegular)?;
        for component in below.parent().into_iter().flat_map(Path::components) {
            let Component::Normal(component) = component else { return Err(Unfit::Outside) };
            held = openat(&held, component, directory, Mode::empty())?;
        }
        Ok((held, name))
    }

    fn open_file(directory: impl AsFd, name: &OsStr, flags: OFlag) -> Result<(File, FileStat), Unfit> {
        let file = openat(directory, name, flags | QUIETLY, Mode::empty())?;
        let status = fstat(&file)?;
        judge_kind(&status, SFlag::S_IFREG, super::super::private::Unfit::NotRegular).map_err(|_| Unfit::NotRegular)?;
        Ok((File::from(file), status))
    }

    pub fn read(root: &Path, below: &Path, max: usize) -> Result<Vec<u8>, Unfit> {
        let (directory, name) = parent(root, below)?;
        let (file, _) = open_file(&directory, name, OFlag::O_RDONLY)?;
        let mut content = Vec::new();
        file.take(max as u64 + 1).read_to_end(&mut content)?;
        Ok(content)
    }

    pub fn write(root: &Path, below: &Path, content: &[u8]) -> Result<(), Unfit> {
        let (directory, name) = parent(root, below)?;
        // Opened only to see whether it may be written to: a new one in its place asks for no right on it.
        match open_file(&directory, name, OFlag::O_WRONLY) {
            Ok((_, status)) => replace(directory, name, content, &status),
            Err(Unfit::Absent) => create(directory, name, content),
            Err(error) => Err(error),
        }
    }

    fn replace(directory: OwnedFd, name: &OsStr, content: &[u8], like: &FileStat) -> Result<(), Unfit> {
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
    use super::{Path, Unfit};
    use std::io::Read;

    pub fn read(root: &Path, below: &Path, max: usize) -> Result<Vec<u8>, Unfit> {
        let file = super::super::files::open_regular(&root.join(below))?;
        let mut content = Vec::new();
        file.take(max as u64 + 1).read_to_end(&mut content)?;
        Ok(content)
    }

    pub fn write(root: &Path, below: &Path, content: &[u8]) -> Result<(), Unfit> {
        Ok(std::fs::write(root.join(below), content)?)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

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
        assert!(matches!(directory(&root, &root.join("up")), Err(Unfit::Outside)));
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
        assert!(system::read(&root, Path::new("sub/file"), 100).is_err());
        assert!(system::write(&root, Path::new("sub/file"), b"x").is_err());
        fs::remove_file(root.join("file")).unwrap();
        symlink(home.path().join("secret"), root.join("file")).unwrap();
        assert!(matches!(system::read(&root, Path::new("file"), 100), Err(Unfit::Outside)));
        assert!(matches!(system::write(&root, Path::new("file"), b"x"), Err(Unfit::Outside)));
        assert_eq!(fs::read(home.path().join("secret")).unwrap(), b"outside");
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
        assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
        assert_eq!(fs::read(root.join("sub/new")).unwrap(), b"new");
        assert!(matches!(write(&root, &root.join("none/new"), b"x"), Err(Unfit::Absent)));
    }
}
