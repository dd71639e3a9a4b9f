//! The user at the other end of a connection on this machine.
//!
//! Linux is built and tested. Elsewhere the owner of a TCP connection's other end cannot be determined, and a loopback
//! connection is taken to be this user's; Unix sockets report it everywhere.

use std::io;
use std::net::SocketAddr;

/// Fails unless the other end of a TCP connection on this machine belongs to this process's user. The kernel's own
/// table answers, so nothing is sent, and the answer is about this very connection.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`] where it belongs to another user, another kind where that cannot be determined.
#[cfg(target_os = "linux")]
pub fn require_own_tcp_peer(local: SocketAddr, remote: SocketAddr) -> io::Result<()> {
    let mut table = Table::default();
    // An IPv4 client of a socket that serves both protocols is in the table of IPv6.
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        match std::fs::File::open(path) {
            Ok(file) => table.read(io::BufReader::new(file), local, remote)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.ends_with('6') => {}
            Err(error) => return Err(io::Error::other(format!("the owner of the port is unknown: {path}: {error}"))),
        }
    }
    match table.owner() {
        Some(uid) if uid == nix::unistd::geteuid().as_raw() => Ok(()),
        Some(_) => Err(io::ErrorKind::PermissionDenied.into()),
        None => Err(io::Error::other("the owner of the port is unknown: the system does not list the connection")),
    }
}

/// Fails unless the other end of a TCP connection belongs to this process's user: cannot be determined here.
#[cfg(not(target_os = "linux"))]
pub fn require_own_tcp_peer(_local: SocketAddr, _remote: SocketAddr) -> io::Result<()> {
    Ok(())
}

/// The same for a Unix socket.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`] where it belongs to another user.
#[cfg(unix)]
pub fn require_own_unix_peer(socket: &tokio::net::UnixStream) -> io::Result<()> {
    let is_own = socket.peer_cred()?.uid() == nix::unistd::geteuid().as_raw();
    if is_own { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// What the kernel's tables say of one connection's other end.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Table {
    /// The user and the inode of the socket at the other end.
    peer: Option<(u32, u64)>,
    /// The users that listen at the remote address, by how closely their sockets are bound to it.
    listeners: [Vec<u32>; 3],
}

#[cfg(target_os = "linux")]
impl Table {
    fn read(&mut self, lines: impl io::BufRead, local: SocketAddr, remote: SocketAddr) -> io::Result<()> {
        const LISTEN: &str = "0A";
        for line in lines.lines() {
            let line = line?;
            let fields: Vec<&str> = line.split_ascii_whitespace().take(10).collect();
            let [_, at, to, state, _, _, _, uid, _, inode] = fields[..] else { continue };
            let (Some(at), Some(to), Ok(uid), Ok(inode)) = (address(at), address(to), uid.parse(), inode.parse())
            else {
                continue;
            };
            if (at, to) == (remote, local) {
                self.peer = Some((uid, inode));
            } else if state == LISTEN && at.port() == remote.port() {
                let rank = match at.ip() {
                    ip if ip == remote.ip() => 0,
                    ip if ip.is_unspecified() && ip.is_ipv4() == remote.is_ipv4() => 1,
                    ip if ip.is_unspecified() && ip.is_ipv6() => 2,
                    _ => continue,
                };
                self.listeners[rank].push(uid);
            }
        }
        Ok(())
    }

    /// The user at the other end. A connection that was not accepted yet has no inode and no user of its own: it belongs
    /// to the most closely bound listener. Where several users could accept it, nobody is certain.
    fn owner(&self) -> Option<u32> {
        let (uid, inode) = self.peer?;
        if inode != 0 {
            return Some(uid);
        }
        let closest = self.listeners.iter().find(|users| !users.is_empty())?;
        closest.iter().all(|user| *user == closest[0]).then_some(closest[0])
    }
}

/// Reads `0100007F:702C`: the address as words in the machine's byte order, the port as a number.
#[cfg(target_os = "linux")]
fn address(text: &str) -> Option<SocketAddr> {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(ip.get(at * 8..(at + 1) * 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip: IpAddr = match ip.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let bytes: Vec<u8> = (0..4).map(word).collect::<Option<Vec<_>>>()?.concat();
            Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::platform::testing::as_nobody;
    use std::net::{TcpListener, TcpStream};

    fn addresses(stream: &TcpStream) -> (SocketAddr, SocketAddr) {
        (stream.local_addr().unwrap(), stream.peer_addr().unwrap())
    }

    #[test]
    fn own_listener_is_accepted_before_and_after_it_accepts() {
        for bound in ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"] {
            // Not every machine has IPv6.
            let Ok(listener) = TcpListener::bind(bound) else { continue };
            let port = listener.local_addr().unwrap().port();
            let host = if bound == "[::1]:0" { "[::1]" } else { "127.0.0.1" };
            let stream = TcpStream::connect(format!("{host}:{port}")).unwrap();
            let (local, remote) = addresses(&stream);
            require_own_tcp_peer(local, remote).unwrap();
            let _accepted = listener.accept().unwrap();
            require_own_tcp_peer(local, remote).unwrap();
        }
    }

    #[test]
    fn foreign_listener_is_refused_before_and_after_it_accepts() {
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        // The rights of another user end with the thread that has them.
        let foreign = std::thread::spawn(|| as_nobody(|| TcpListener::bind("127.0.0.1:0").unwrap()));
        let listener = foreign.join().unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (local, remote) = addresses(&stream);
        assert_eq!(require_own_tcp_peer(local, remote).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        let _accepted = std::thread::spawn(move || as_nobody(|| listener.accept().unwrap())).join().unwrap();
        assert_eq!(require_own_tcp_peer(local, remote).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn connection_that_is_not_listed_is_refused() {
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert!(require_own_tcp_peer(address(1), address(2)).is_err());
    }

    #[test]
    fn the_closest_listener_owns_what_nobody_accepted_yet() {
        const HEAD: &str =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
        let (local, remote): (SocketAddr, SocketAddr) =
            ("127.0.0.1:40000".parse().unwrap(), "127.0.0.1:28716".parse().unwrap());
        // As Linux 6.18 prints them.
        let row = |at: &str, to: &str, state: &str, uid: u32, inode: u64| {
            let padding = "00000000:00000000 00:00000000 00000000";
            format!("   0: {at} {to} {state} {padding} {uid:5}        0 {inode} 1 0000000039d31005 100 0 0 10 0\n")
        };
        let listens = |at: &str, uid: u32| row(&format!("{at}:702C"), "00000000:0000", "0A", uid, 49814);
        let peer = |uid: u32, inode: u64| row("0100007F:702C", "0100007F:9C40", "01", uid, inode);
        let mapped = row("0000000000000000FFFF00000100007F:702C", "0000000000000000FFFF00000100007F:9C40", "01", 7, 9);
        let any6 = listens(&"0".repeat(32), 3);
        for (rows, owner) in [
            (vec![peer(1000, 5), listens("0100007F", 1)], Some(1000)),
            (vec![listens("0100007F", 1), peer(0, 0)], Some(1)),
            (vec![listens("00000000", 2), listens("0100007F", 1), any6.clone(), peer(0, 0)], Some(1)),
            (vec![listens("00000000", 2), any6.clone(), peer(0, 0)], Some(2)),
            (vec![any6, peer(0, 0)], Some(3)),
            (vec![listens("0100007F", 1), listens("0100007F", 2), peer(0, 0)], None),
            (vec![listens("0200007F", 1), peer(0, 0)], None),
            (vec![listens("0100007F", 1)], None),
            (vec![mapped], Some(7)),
            (vec!["x\n".to_owned(), "0: 1:2 3:4 01 a b c d e f\n".to_owned()], None),
        ] {
            let mut table = Table::default();
            table.read((HEAD.to_owned() + &rows.concat()).as_bytes(), local, remote).unwrap();
            assert_eq!(table.owner(), owner, "{rows:?}");
        }
    }
}
