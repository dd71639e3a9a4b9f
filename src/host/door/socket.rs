//! One connection's socket, and how long its client may still take for what it is about.

use super::super::conversation::Caller;
use crate::limits;
use serde_json::json;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What a connection is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Between two requests.
    Idle,
    /// A request's head has begun.
    Head,
    /// A request is being answered; that may take as long as a turn.
    Working,
    /// The answer is on its way.
    Answering,
}

/// A socket that several look at: HTTP, the stream of events over it, and who ends it.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    now: Mutex<(Phase, Instant)>,
    is_of_guest: AtomicBool,
    /// Cancelled when the connection must end.
    pub(super) stop: CancellationToken,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, stop: CancellationToken) -> Self {
        Self { stream, now: Mutex::new((Phase::Idle, Instant::now())), is_of_guest: AtomicBool::new(false), stop }
    }

    /// What the connection is about, and since when, or since when nothing came of it.
    pub(super) fn phase(&self) -> (Phase, Instant) {
        *self.now()
    }

    /// Whether nothing is being done for its client.
    pub(super) fn is_silent(&self) -> bool {
        matches!(self.phase().0, Phase::Idle | Phase::Head)
    }

    /// Something else begins.
    pub(super) fn enter(&self, phase: Phase) {
        *self.now() = (phase, Instant::now());
    }

    /// When its client will have taken too long.
    pub(super) fn deadline(&self) -> Instant {
        /// Far enough to mean never, near enough for a timer.
        const NEVER: Duration = Duration::from_secs(24 * 60 * 60);
        let (phase, since) = self.phase();
        since
            + match phase {
                Phase::Idle => limits::HOST_IDLE,
                Phase::Head => limits::HOST_HEAD,
                Phase::Answering => limits::HOST_ANSWER,
                Phase::Working => NEVER,
            }
    }

    /// Ready when the client said something, or that it says no more. It may be asked while nothing is read.
    pub(super) fn poll_heard(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut one = [0];
        self.stream.poll_peek(context, &mut ReadBuf::new(&mut one)).map(drop)
    }

    /// Whom it is at work for.
    pub(super) fn serves(&self, caller: &Caller) {
        self.is_of_guest.store(caller.is_minted, Relaxed);
    }

    /// Whether it was last at work for somebody whose credential the owner made.
    pub(super) fn is_of_guest(&self) -> bool {
        self.is_of_guest.load(Relaxed)
    }

    /// Tells a client whose request is not read why not, if it still reads.
    pub(super) fn say(&self, status: &str, error: &str) {
        let body = json!({ "error": error }).to_string();
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let _ = self.stream.try_write(answer.as_bytes());
    }

    /// Says that nothing follows, and reads for a while what the client had on its way: closed at once, the last answer
    /// might be lost with it.
    pub(super) async fn linger(&self) {
        if socket2::SockRef::from(&self.stream).shutdown(std::net::Shutdown::Write).is_err() {
            return;
        }
        let rest = async {
            let mut nothing = [0; 8 << 10];
            while self.stream.readable().await.is_ok() {
                match self.stream.try_read(&mut nothing) {
                    Ok(0) => return,
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(_) => return,
                }
            }
        };
        let _ = tokio::time::timeout(limits::HOST_LINGER, rest).await;
    }

    fn came(&self) {
        let mut now = self.now();
        if now.0 == Phase::Idle {
            *now = (Phase::Head, Instant::now());
        }
    }

    fn wants(&self) {
        let mut now = self.now();
        if now.0 == Phase::Answering {
            *now = (Phase::Idle, Instant::now());
        }
    }

    fn went(&self) {
        let mut now = self.now();
        if now.0 == Phase::Answering {
            now.1 = Instant::now();
        }
    }

    fn now(&self) -> MutexGuard<'_, (Phase, Instant)> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The side of a socket that HTTP is spoken over.
pub(super) struct Io(pub(super) Arc<Socket>);

impl AsyncRead for Io {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // Whoever reads has written its answer.
        self.0.wants();
        loop {
            ready!(self.0.stream.poll_read_ready(context))?;
            match self.0.stream.try_read(buffer.initialize_unfilled()) {
                Ok(bytes) => {
                    buffer.advance(bytes);
                    if bytes > 0 {
                        self.0.came();
                    }
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Io {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.stream.poll_write_ready(context))?;
            match self.0.stream.try_write_vectored(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => {
                    self.0.went();
                    return Poll::Ready(done);
                }
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // `linger` does, once nothing is left to say.
        Poll::Ready(Ok(()))
    }
}
