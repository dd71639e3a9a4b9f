//! Who holds locks on files of others, told without asking for a lock: nobody ever waits because of us.
//!
//! Linux is built and tested. Elsewhere the system does not list locks, and nobody is known to hold any.

use std::path::Path;

/// The locks that keep everybody else out, as the system lists them.
#[derive(Default)]
pub struct Locks(Vec<Lock>);

/// One of them.
#[derive(Debug, PartialEq, Eq)]
struct Lock {
    pid: i32,
    device: (u64, u64),
    inode: u64,
}

#[cfg(target_os = "linux")]
impl Locks {
    /// Those that are held now. A lock of another pid namespace is not among them.
    pub fn now() -> Self {
        use std::io::Read;
        let mut table = String::new();
        let bounded = std::fs::File::open("/proc/locks").map(|file| file.take(crate::limits::LOCK_TABLE));
        // What was read before an error is true.
        let _ = bounded.and_then(|mut file| file.read_to_string(&mut table));
        Self(table.lines().filter_map(Lock::parse).collect())
    }

    /// The live process that keeps a regular file locked.
    pub fn holder(&self, path: &Path) -> Option<i32> {
        use std::os::unix::fs::MetadataExt;
        if self.0.is_empty() {
            return None;
        }
        let file = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let of_file = self.0.iter().filter(|lock| lock.inode == file.ino());
        of_file.filter(|lock| super::process::alive(lock.pid) && lock.is_on(path, &file)).map(|lock| lock.pid).next()
    }
}

#[cfg(not(target_os = "linux"))]
impl Locks {
    /// Those that are held now: cannot be listed here.
    pub fn now() -> Self {
        Self::default()
    }

    /// The live process that keeps a regular file locked: cannot be known here.
    pub fn holder(&self, _path: &Path) -> Option<i32> {
        None
    }
}

#[cfg(target_os = "linux")]
impl Lock {
    /// Reads `1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF`. The lines of those who wait have an arrow in them.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace().skip(1);
        fields.next().filter(|kind| ["FLOCK", "POSIX"].contains(kind))?;
        fields.nth(1).filter(|mode| *mode == "WRITE")?;
        let pid = fields.next()?.parse().ok().filter(|pid| *pid > 0)?;
        let mut place = fields.next()?.split(':');
        let mut number = |radix| u64::from_str_radix(place.next()?, radix).ok();
        Some(Self { pid, device: (number(16)?, number(16)?), inode: number(10)? })
    }

    /// Whether it is on this very file. The process may have gone, left the lock to a child and its pid to a stranger,
    /// and some file systems tell the list another device than whoever asks for the file: so who has it open is looked
    /// at, where we may.
    fn is_on(&self, path: &Path, file: &std::fs::Metadata) -> bool {
        use std::os::unix::fs::MetadataExt;
        let Ok(open) = std::fs::read_dir(format!("/proc/{}/fd", self.pid)) else {
            let device = file.dev();
            return self.device == (nix::sys::stat::major(device), nix::sys::stat::minor(device));
        };
        open.take(crate::limits::DESCRIPTORS).flatten().any(|entry| {
            // Only one of the same name is looked at: what else is open may be on a mount that does not answer.
            let named = std::fs::read_link(entry.path()).is_ok_and(|target| target.file_name() == path.file_name());
            let opened = || std::fs::metadata(entry.path());
            named && opened().is_ok_and(|opened| (opened.dev(), opened.ino()) == (file.dev(), file.ino()))
        })
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::platform::testing::Holder;
    use std::fs;

    #[test]
    fn who_holds_a_lock_is_known_until_he_is_gone_and_whatever_the_kind() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a b.lock");
        fs::write(&path, "").unwrap();
        assert_eq!(Locks::now().holder(&path), None);
        for kind in ["flock", "fcntl"] {
            let mut holder = Holder::start(kind, &path);
            assert_eq!(Locks::now().holder(&path), Some(holder.pid()), "{kind}");
            // Killed and not waited for, it is a zombie that holds nothing.
            holder.kill();
            assert_eq!(Locks::now().holder(&path), None, "{kind}");
        }
    }

    #[test]
    fn a_lock_is_on_a_file_and_not_on_its_name() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.lock");
        fs::write(&path, "").unwrap();
        let _holder = Holder::start("flock", &path);
        fs::hard_link(&path, home.path().join("b.lock")).unwrap();
        std::os::unix::fs::symlink("a.lock", home.path().join("c.lock")).unwrap();
        fs::rename(&path, home.path().join("gone")).unwrap();
        fs::write(&path, "").unwrap();
        for name in ["a.lock", "c.lock", "none.lock"] {
            assert_eq!(Locks::now().holder(&home.path().join(name)), None, "{name}");
        }
    }

    #[test]
    fn a_lock_that_a_child_kept_is_not_its_parent_s_any_more() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.lock");
        fs::write(&path, "").unwrap();
        let _heir = Holder::start("inherited", &path);
        let locks = Locks::now();
        let inode = std::os::unix::fs::MetadataExt::ino(&fs::metadata(&path).unwrap());
        let kept: Vec<&Lock> = locks.0.iter().filter(|lock| lock.inode == inode).collect();
        assert!(kept.iter().all(|lock| !crate::platform::process::alive(lock.pid)), "{kept:?}");
        assert_eq!(locks.holder(&path), None);
        // If its pid went to a stranger, as it could: he has not the file open.
        let strange = Lock { pid: i32::try_from(std::process::id()).unwrap(), device: (0, 0), inode };
        assert_eq!(Locks(vec![strange]).holder(&path), None);
    }

    #[test]
    fn lines_that_tell_no_owner_are_passed_over() {
        let lock = |line| Lock::parse(line).map(|lock| (lock.pid, lock.device, lock.inode));
        assert_eq!(lock("9: FLOCK  ADVISORY  WRITE 3765 fe:0a:10044601 0 EOF"), Some((3765, (254, 10), 10_044_601)));
        assert_eq!(lock("1: POSIX  ADVISORY  WRITE 12 00:2f:7 128 128"), Some((12, (0, 47), 7)));
        for line in [
            "9: -> FLOCK  ADVISORY  WRITE 3765 fe:00:10044601 0 EOF",
            "9: FLOCK  ADVISORY  READ 3765 fe:00:10044601 0 EOF",
            "9: OFDLCK ADVISORY  WRITE -1 fe:00:10044601 0 EOF",
            "9: LEASE  ACTIVE    WRITE 3765 fe:00:10044601 0 EOF",
            "9: FLOCK  ADVISORY  WRITE 0 fe:00:10044601 0 EOF",
            "9: FLOCK  ADVISORY  WRITE 3765 fe:00 0 EOF",
            "9: FLOCK  ADVISORY  WRITE",
            "",
        ] {
            assert_eq!(lock(line), None, "{line}");
        }
    }
}
