//! Unix sockets of others: whether somebody listens there. Nothing is ever written to one.

use std::path::Path;

/// The Unix sockets that listen, as the system told at one moment.
///
/// On Linux the kernel's own table answers, so that asking often wakes nobody and fills nobody's queue. What it does
/// not hold, because it listens in another network namespace or under another spelling, is tried by a connection that
/// is closed at once; on other systems that is the only way.
pub struct Listeners {
    /// Inode and path.
    sockets: Vec<(u64, Vec<u8>)>,
}

impl Listeners {
    /// Asks the system.
    pub fn now() -> Self {
        // Where there is no such file the table is empty and every socket is tried.
        Self { sockets: parse_table(&std::fs::read("/proc/net/unix").unwrap_or_default()) }
    }

    /// Whether `path` is a socket on which somebody listens.
    pub fn accept_at(&self, path: &Path) -> bool {
        is_socket(path)
            && (self.sockets.iter().any(|(_, known)| known == path.as_os_str().as_encoded_bytes()) || connects(path))
    }

    /// The paths of those sockets whose inodes are given.
    pub fn of_inodes<'a>(&'a self, inodes: &'a [u64]) -> impl Iterator<Item = std::path::PathBuf> + 'a {
        let sockets = self.sockets.iter().filter(|(inode, _)| inodes.contains(inode));
        sockets.filter_map(|(_, path)| Some(std::path::PathBuf::from(std::str::from_utf8(path).ok()?)))
    }
}

/// Returns inode and path of the listening stream sockets: `Num: RefCount Protocol Flags Type St Inode Path`.
fn parse_table(table: &[u8]) -> Vec<(u64, Vec<u8>)> {
    const ACCEPTS: &[u8] = b"00010000";
    const STREAM: &[u8] = b"0001";
    let listening = |line: &[u8]| {
        let mut fields = line.splitn(7, |byte| *byte == b' ').skip(3);
        if (fields.next()?, fields.next()?) != (ACCEPTS, STREAM) {
            return None;
        }
        // The inode is padded on its left.
        let inode_and_path = fields.nth(1)?.trim_ascii_start();
        let (inode, path) = inode_and_path.split_at(inode_and_path.iter().position(|byte| *byte == b' ')?);
        Some((std::str::from_utf8(inode).ok()?.parse().ok()?, path[1..].to_vec()))
    };
    table.split(|byte| *byte == b'\n').filter_map(listening).collect()
}

/// Whether this is a socket of our own user: in a directory that others may write to, another one may take its name.
#[cfg(unix)]
fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let is_own = |metadata: std::fs::Metadata| {
        metadata.file_type().is_socket() && metadata.uid() == nix::unistd::geteuid().as_raw()
    };
    path.is_absolute() && std::fs::metadata(path).is_ok_and(is_own)
}

#[cfg(not(unix))]
fn is_socket(_path: &Path) -> bool {
    false
}

/// Connects without waiting; the connection ends with this call. A full queue also means that somebody listens.
fn connects(path: &Path) -> bool {
    use socket2::{Domain, SockAddr, Socket, Type};
    let attempt = || {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        // Refuses by itself what is too long for the address.
        socket.connect(&SockAddr::unix(path)?)
    };
    match attempt() {
        Ok(()) => true,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_listener_is_known_without_a_connection() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a b:c.sock");
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        assert!(Listeners::now().accept_at(&path));
        assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "nobody was woken");
    }

    #[test]
    fn a_listener_under_another_spelling_is_found_by_a_silent_connection() {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("a.sock")).unwrap();
        let alias = directory.path().join("alias.sock");
        std::os::unix::fs::symlink("a.sock", &alias).unwrap();
        assert!(Listeners::now().accept_at(&alias));
        let (mut connection, _) = listener.accept().unwrap();
        assert_eq!(std::io::Read::read(&mut connection, &mut [0]).unwrap(), 0, "closed, and nothing written");
    }

    #[test]
    fn a_full_queue_is_a_listener_and_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.sock");
        let listener = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None).unwrap();
        listener.bind(&socket2::SockAddr::unix(&path).unwrap()).unwrap();
        listener.listen(0).unwrap();
        let nothing_known = Listeners { sockets: vec![] };
        assert!((0..4).all(|_| nothing_known.accept_at(&path)));
    }

    #[test]
    fn what_does_not_listen_is_no_listener() {
        let directory = tempfile::tempdir().unwrap();
        let stale = directory.path().join("stale.sock");
        drop(UnixListener::bind(&stale).unwrap());
        let file = directory.path().join("file.sock");
        std::fs::write(&file, "").unwrap();
        let removed = directory.path().join("removed.sock");
        let _listener = UnixListener::bind(&removed).unwrap();
        std::fs::remove_file(&removed).unwrap();
        let now = Listeners::now();
        assert!(!now.accept_at(&removed));
        assert!(!now.accept_at(&stale));
        assert!(!now.accept_at(&file));
        assert!(!now.accept_at(&directory.path().join("none.sock")));
        assert!(!now.accept_at(&directory.path().join("x".repeat(200))));
        assert!(!now.accept_at(Path::new("stale.sock")));
        assert!(!now.accept_at(Path::new("")));
    }

    #[test]
    fn socket_of_another_user_is_not_a_listener() {
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.sock");
        let _listener = UnixListener::bind(&path).unwrap();
        std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
        assert!(!Listeners::now().accept_at(&path));
    }

    #[test]
    fn the_table_is_read_by_its_columns() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path
000000007ab45b79: 00000003 00000000 00000000 0001 03   562
00000000743ad2ab: 00000003 00000000 00000000 0001 03 13004 /connected.sock
00000000c1575484: 00000002 00000000 00010000 0001 01   837 /tmp/a b.sock
00000000c1575485: 00000002 00000000 00010000 0005 01 11838 /packets.sock
00000000c1575486: 00000002 00000000 00010000 0001 01 11839
";
        assert_eq!(parse_table(table), [(837, b"/tmp/a b.sock".to_vec())]);
    }
}
