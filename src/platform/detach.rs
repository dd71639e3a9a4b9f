//! A program that outlives who starts it, and the socket between the two until it can stand alone.
//!
//! Unix alone: elsewhere nothing can be started so.

#[cfg(unix)]
use super::connection::require_own_unix_peer;
use std::io;
use std::path::Path;
use std::process::Command;

/// One end of that socket.
#[cfg(unix)]
pub type Socket = tokio::net::UnixStream;
/// Never made.
#[cfg(not(unix))]
pub type Socket = tokio::io::DuplexStream;

/// Starts a program in a session of its own, with nothing of ours open but the socket that is its standard input: its
/// other streams lead nowhere. Must be called within a runtime, which reaps it.
#[cfg(unix)]
pub fn spawn(command: &mut Command) -> io::Result<Socket> {
    use std::os::fd::OwnedFd;
    use std::os::unix::{net::UnixStream, process::CommandExt};
    use std::process::Stdio;
    let (ours, theirs) = UnixStream::pair()?;
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: both are system calls that may be made between fork and exec, and touch no memory.
    unsafe {
        command.pre_exec(|| {
            nix::unistd::setsid()?;
            close_on_exec();
            Ok(())
        });
    }
    let mut child = command.spawn()?;
    // Nothing of it stays here: the command holds the other end of the socket.
    command.stdin(Stdio::null());
    if let Ok(pid) = i32::try_from(child.id()) {
        let end = super::process::exited(pid);
        tokio::spawn(async move {
            end.await;
            let _ = child.wait();
        });
    }
    ours.set_nonblocking(true)?;
    Socket::from_std(ours)
}

/// Starts a program in a session of its own: cannot be done here.
#[cfg(not(unix))]
pub fn spawn(_: &mut Command) -> io::Result<Socket> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What who starts us had open is not handed on. An old kernel cannot, and hands on what was made to be.
#[cfg(target_os = "linux")]
fn close_on_exec() {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 1 << 2;
    // SAFETY: the call takes three integers and touches no memory.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
}

#[cfg(all(unix, not(target_os = "linux")))]
fn close_on_exec() {}

/// The end that stands for our standard input. Must be called within a runtime.
#[cfg(unix)]
pub fn inherited() -> io::Result<Socket> {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // What is no socket says so here.
    socket.local_addr()?;
    socket.set_nonblocking(true)?;
    Socket::from_std(socket)
}

/// The end that stands for our standard input: there is none.
#[cfg(not(unix))]
pub fn inherited() -> io::Result<Socket> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Standard input leads nowhere from now on.
#[cfg(unix)]
pub fn let_go_of_input() -> io::Result<()> {
    let nowhere = std::fs::File::open("/dev/null")?;
    nix::unistd::dup2_stdin(&nowhere)?;
    Ok(())
}

/// Standard input leads nowhere from now on: it does already.
#[cfg(not(unix))]
pub fn let_go_of_input() -> io::Result<()> {
    Ok(())
}

/// The end of a program that somebody else starts for us: it comes to `path`, which is made and must be free.
pub struct Rendezvous {
    #[cfg(unix)]
    listener: tokio::net::UnixListener,
}

impl Rendezvous {
    /// Waits at this path from now on. Must be called within a runtime.
    pub fn at(path: &Path) -> io::Result<Self> {
        #[cfg(unix)]
        return Ok(Self { listener: tokio::net::UnixListener::bind(path)? });
        #[cfg(not(unix))]
        {
            let _ = path;
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// The connection of the first who comes.
    ///
    /// # Errors
    /// Where the system fails, and where another user comes.
    pub async fn met(&self) -> io::Result<Socket> {
        #[cfg(unix)]
        {
            let (socket, _) = self.listener.accept().await?;
            require_own_unix_peer(&socket)?;
            Ok(socket)
        }
        #[cfg(not(unix))]
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Goes to who waits at this path.
///
/// # Errors
/// Where nobody waits there, or another user does.
pub async fn meet(path: &Path) -> io::Result<Socket> {
    #[cfg(unix)]
    {
        let socket = Socket::connect(path).await?;
        require_own_unix_peer(&socket)?;
        Ok(socket)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Err(io::ErrorKind::Unsupported.into())
    }
}
