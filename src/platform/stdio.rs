//! The descriptors that a client speaks over, read and written without blocking where they can be: pipes and sockets.
//! Files and terminals go through a thread. The descriptors' flags are put back when they are dropped.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[cfg(unix)]
use std::os::fd::{AsFd, OwnedFd};

/// Where a client's bytes come from.
pub struct Input(Reader);

/// Where answers go.
pub struct Output(Writer);

enum Reader {
    #[cfg(unix)]
    Pipe(tokio::net::unix::pipe::Receiver, #[allow(dead_code, reason = "puts flags back when dropped")] Flags),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream, #[allow(dead_code, reason = "puts flags back when dropped")] Flags),
    Thread(tokio::io::Stdin),
}

enum Writer {
    #[cfg(unix)]
    Pipe(tokio::net::unix::pipe::Sender, #[allow(dead_code, reason = "puts flags back when dropped")] Flags),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream, #[allow(dead_code, reason = "puts flags back when dropped")] Flags),
    Thread(tokio::io::Stdout),
}

/// The flags of an open file description, which is shared with whoever passed it on: a shell's terminal left
/// non-blocking would break the shell.
#[cfg(unix)]
struct Flags(OwnedFd, nix::fcntl::OFlag);

#[cfg(unix)]
impl Flags {
    fn save(descriptor: &OwnedFd) -> io::Result<Self> {
        use nix::fcntl::{FcntlArg, OFlag, fcntl};
        let flags = OFlag::from_bits_retain(fcntl(descriptor, FcntlArg::F_GETFL)?);
        Ok(Self(descriptor.try_clone()?, flags))
    }
}

#[cfg(unix)]
impl Drop for Flags {
    fn drop(&mut self) {
        // Nothing is left to do where this fails: the descriptor is gone.
        let _ = nix::fcntl::fcntl(&self.0, nix::fcntl::FcntlArg::F_SETFL(self.1));
    }
}

#[cfg(unix)]
#[derive(PartialEq, Eq)]
enum Sort {
    Pipe,
    Socket,
    Other,
}

#[cfg(unix)]
fn sort(descriptor: &OwnedFd) -> io::Result<Sort> {
    use nix::sys::stat::{SFlag, fstat};
    let mode = SFlag::from_bits_truncate(fstat(descriptor)?.st_mode) & SFlag::S_IFMT;
    Ok(match mode {
        SFlag::S_IFIFO => Sort::Pipe,
        SFlag::S_IFSOCK => Sort::Socket,
        _ => Sort::Other,
    })
}

/// The process's own standard input and output. Must be called within a runtime.
pub fn open() -> io::Result<(Input, Output)> {
    #[cfg(unix)]
    {
        let (input, output) = (io::stdin().as_fd().try_clone_to_owned()?, io::stdout().as_fd().try_clone_to_owned()?);
        // Both are saved before either is changed: they may share one description.
        let (input_flags, output_flags) = (Flags::save(&input)?, Flags::save(&output)?);
        let reader = match sort(&input)? {
            Sort::Pipe => Reader::Pipe(tokio::net::unix::pipe::Receiver::from_owned_fd(input)?, input_flags),
            Sort::Socket => Reader::Socket(socket(input)?, input_flags),
            Sort::Other => Reader::Thread(tokio::io::stdin()),
        };
        let writer = match sort(&output)? {
            Sort::Pipe => Writer::Pipe(tokio::net::unix::pipe::Sender::from_owned_fd(output)?, output_flags),
            Sort::Socket => Writer::Socket(socket(output)?, output_flags),
            Sort::Other => Writer::Thread(tokio::io::stdout()),
        };
        Ok((Input(reader), Output(writer)))
    }
    #[cfg(not(unix))]
    Ok((Input(Reader::Thread(tokio::io::stdin())), Output(Writer::Thread(tokio::io::stdout()))))
}

#[cfg(unix)]
fn socket(descriptor: OwnedFd) -> io::Result<tokio::net::UnixStream> {
    let socket = std::os::unix::net::UnixStream::from(descriptor);
    socket.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(socket)
}

impl Output {
    /// Resolves when nobody can read the output any more, also while nothing is written. Never, where that cannot be
    /// seen.
    pub fn closed(&self) -> impl Future<Output = ()> + use<> {
        #[cfg(unix)]
        let descriptor = match &self.0 {
            Writer::Pipe(pipe, _) => pipe.as_fd().try_clone_to_owned().ok(),
            Writer::Socket(socket, _) => socket.as_fd().try_clone_to_owned().ok(),
            Writer::Thread(_) => None,
        };
        async move {
            #[cfg(unix)]
            if let Some(descriptor) = descriptor
                && hung_up(descriptor).await.is_ok()
            {
                return;
            }
            std::future::pending().await
        }
    }
}

/// Waits until the other end of a descriptor is gone. Where that is not told as a hang-up or an error (kqueue), for ever.
#[cfg(unix)]
async fn hung_up(descriptor: OwnedFd) -> io::Result<()> {
    use tokio::io::{Interest, unix::AsyncFd};
    // SAFETY: `descriptor` is owned, so it stays open and the same until `watched`, which owns it, is dropped.
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE)? };
    // Not registered for writing, it never shows as writable, only as closed for writing. Waiting for it to be readable
    // would not do: a client that has no more to say leaves a socket readable for ever, and may still read.
    watched.ready(Interest::WRITABLE).await.map(drop)
}

impl AsyncRead for Input {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let read = match &mut self.0 {
                #[cfg(unix)]
                Reader::Pipe(pipe, _) => Pin::new(pipe).poll_read(cx, buffer),
                #[cfg(unix)]
                Reader::Socket(socket, _) => Pin::new(socket).poll_read(cx, buffer),
                Reader::Thread(stdin) => Pin::new(stdin).poll_read(cx, buffer),
            };
            match read {
                // A codec takes every error for the end of the input.
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

impl Output {
    fn writer(&mut self) -> Pin<&mut (dyn AsyncWrite + Unpin)> {
        match &mut self.0 {
            #[cfg(unix)]
            Writer::Pipe(pipe, _) => Pin::new(pipe),
            #[cfg(unix)]
            Writer::Socket(socket, _) => Pin::new(socket),
            Writer::Thread(stdout) => Pin::new(stdout),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.writer().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.writer().poll_write_vectored(cx, slices)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_shutdown(cx)
    }
}
