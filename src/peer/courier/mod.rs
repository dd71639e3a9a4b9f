//! The courier: a headless Claude Code that is told to deliver one text to one live session, and can do nothing else.
//!
//! Only the program itself can speak to a session's socket, so it is started for each message, in a directory of its
//! own, with the two tools that it needs, and it is gone before the message is answered.

mod program;
mod prompt;
mod redact;
#[cfg(test)]
mod tests;
mod verdict;

pub(super) use program::is_courier;
pub use program::{Program, sweep};

use crate::limits;
use crate::platform::child::{self, Group, Stop};
use crate::platform::lines::{Line, Lines};
use crate::protocol::{Outcome, Peer, Reason, RpcError};
use program::Directory;
use std::future::pending;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;
use verdict::{End, Report};

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// In the inbox, or what stands against it.
    pub outcome: Outcome,
    /// The message's id, where the program gave one.
    pub message_id: Option<String>,
    /// What the program said against it.
    pub detail: Option<String>,
}

/// Why a message was not delivered, as a program tells causes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// There is nothing to deliver.
    Empty,
    /// The program could not be started.
    Spawn,
    /// It failed.
    Exit,
    /// It did not do what it was told, or did not say so.
    Report,
    /// It took too long.
    Timeout,
}

impl Cause {
    /// `data.cause` on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Spawn => "spawn",
            Self::Exit => "exit",
            Self::Report => "report",
            Self::Timeout => "timeout",
        }
    }
}

/// Why a message did not go out, or not for certain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is blank.
    #[error("there is no text to deliver")]
    Empty,
    /// The text is longer than may be sent.
    #[error("the text has more than {0} bytes, the most that is sent; write it to a file and send its name")]
    TooLarge(usize),
    /// The courier failed.
    #[error("the courier did not deliver the message: {why}")]
    Failed {
        /// In which way.
        cause: Cause,
        /// What is known of it, as it may be shown.
        why: String,
    },
    /// Too many couriers were at work for too long.
    #[error(
        "{} messages are on their way, and none of them arrived in time to send this one; try again",
        limits::COURIERS
    )]
    Busy,
    /// The server ends.
    #[error("the server ends")]
    Ended,
}

impl From<Error> for RpcError {
    fn from(error: Error) -> Self {
        let failed = |cause: Cause| Self::new(Reason::DeliveryFailed, error.to_string()).with("cause", cause.word());
        match &error {
            Error::Empty => failed(Cause::Empty),
            Error::Failed { cause, .. } => failed(*cause),
            Error::TooLarge(..) => Self::new(Reason::TooLarge, error.to_string()),
            Error::Busy => Self::new(Reason::Busy, error.to_string()),
            Error::Ended => Self::new(Reason::Cancelled, error.to_string()),
        }
    }
}

/// Whether a text of at most `max` bytes can be sent at all.
pub fn check(text: &str, max: usize) -> Result<(), Error> {
    if text.trim().is_empty() {
        return Err(Error::Empty);
    }
    if text.len() > max { Err(Error::TooLarge(max)) } else { Ok(()) }
}

/// The couriers of one server.
pub struct Couriers {
    program: Arc<Program>,
    places: Arc<Semaphore>,
    ended: CancellationToken,
}

/// The right to have a courier at work, and until when it must be done.
pub struct Place {
    _permit: OwnedSemaphorePermit,
    until: Instant,
}

impl Couriers {
    /// Couriers that are started as this program.
    pub fn new(program: Program) -> Self {
        let places = Arc::new(Semaphore::new(limits::COURIERS));
        Self { program: Arc::new(program), places, ended: CancellationToken::new() }
    }

    /// Waits until a courier may be started, for no longer than the whole message may take.
    pub async fn place(&self, time: Duration) -> Result<Place, Error> {
        let until = Instant::now() + time;
        let permit = self.places.clone().acquire_owned();
        let permit = tokio::select! {
            biased;
            () = self.ended.cancelled() => return Err(Error::Ended),
            permit = timeout_at(until, permit) => permit.map_err(|_| Error::Busy)?,
        };
        Ok(Place { _permit: permit.map_err(|_| Error::Ended)?, until })
    }

    /// Delivers a text to a live session that can be addressed. A caller that goes away ends the courier; its place is
    /// free when it is gone.
    pub async fn deliver(&self, place: Place, peer: &Peer, text: String) -> Result<Delivery, Error> {
        let cancel = self.ended.child_token();
        let _guard = cancel.clone().drop_guard();
        let (program, peer) = (self.program.clone(), peer.clone());
        let work = tokio::spawn(async move { run(&program, &peer, &text, &place, &cancel).await });
        // Only a panic makes this an error.
        work.await.unwrap_or_else(|_| Err(failed(Cause::Spawn, "the server failed; please report this")))
    }

    /// Ends every courier and starts no other; back when all are gone.
    pub async fn end(&self) {
        self.ended.cancel();
        let all = u32::try_from(limits::COURIERS).unwrap_or(u32::MAX);
        // Every courier at work has one of the places until it is gone.
        let _ = self.places.acquire_many(all).await;
    }
}

fn failed(cause: Cause, why: impl Into<String>) -> Error {
    Error::Failed { cause, why: why.into() }
}

/// The life of one courier.
async fn run(
    program: &Program,
    peer: &Peer,
    text: &str,
    place: &Place,
    cancel: &CancellationToken,
) -> Result<Delivery, Error> {
    let spawn = |error: std::io::Error| failed(Cause::Spawn, program.why_not_started(&error));
    let to = prompt::address(peer);
    let prompt = prompt::line(&to, text).map_err(spawn)?;
    let directory = Directory::new().map_err(|error| failed(Cause::Spawn, program.why_no_directory(&error)))?;
    // Asked to, it takes its record away as it ends.
    let mut group = child::start(program.command(&directory, peer), Stop::Terminate).map_err(spawn)?;
    let (mut report, mut printed) = (Report::new(text, &to), Printed::default());
    let end = tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        end = talk(&mut group, &prompt, &mut report, &mut printed) => Some(end),
        () = sleep_until(place.until) => Some(End::TimedOut),
    };
    // Who strays is not let finish, even if that leaves its record behind.
    group.end(if report.strayed() { Duration::ZERO } else { limits::COURIER_GRACE }).await;
    let end = end.ok_or(Error::Ended)?;
    program.presentable(report.conclude(end, &printed.text()))
}

/// Talks with a courier until all is known, and until it has left or stayed for too long.
async fn talk(group: &mut Group, prompt: &str, report: &mut Report<'_>, printed: &mut Printed) -> End {
    let (stdin, stdout, stderr) = group.pipes();
    let enough = CancellationToken::new();
    let Printed { beside, complaints } = printed;
    let told = async {
        tell(stdin, prompt, &enough).await;
        Ok(())
    };
    let complained = async {
        complaints.keep(stderr).await;
        Ok(())
    };
    let left = async { Ok(group.ended().await.ok().as_ref().and_then(ExitStatus::code)) };
    let said = async { tokio::try_join!(told, listen(stdout, report, beside, &enough), complained, left) };
    let stays = async {
        enough.cancelled().await;
        sleep(limits::COURIER_LEAVES).await;
    };
    tokio::select! {
        said = said => match said {
            Ok((.., exit)) => End::Exited(exit),
            Err(end) => end,
        },
        () = stays => End::Dismissed,
    }
}

/// Gives the courier its order. While its input is open it stays, and hears what is said against the message.
async fn tell(stdin: Option<ChildStdin>, prompt: &str, enough: &CancellationToken) {
    let Some(mut stdin) = stdin else { return };
    tokio::select! {
        () = enough.cancelled() => {}
        () = async {
            // Who does not read says why, or ends.
            let _ = stdin.write_all(prompt.as_bytes()).await;
            enough.cancelled().await;
        } => {}
    }
}

/// Reads what the courier says until it says no more. What is to end it at once is an error.
async fn listen(
    stdout: Option<ChildStdout>,
    report: &mut Report<'_>,
    beside: &mut Head,
    enough: &CancellationToken,
) -> Result<(), End> {
    let _no_more = enough.clone().drop_guard();
    let Some(stdout) = stdout else { return Ok(()) };
    let mut lines = Lines::new(stdout.take(limits::COURIER_OUTPUT as u64), limits::COURIER_LINE);
    let mut until = None;
    loop {
        let patience = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => pending().await,
            }
        };
        let line = tokio::select! {
            line = lines.next() => match line {
                Ok(Some(Line::Whole(line))) => line,
                Ok(Some(Line::TooLong(_))) => return Err(End::Flooded),
                Ok(None) | Err(_) if lines.source().limit() == 0 => return Err(End::Flooded),
                Ok(None) | Err(_) => return Ok(()),
            },
            () = patience, if !enough.is_cancelled() => {
                report.hear_out();
                enough.cancel();
                continue;
            }
        };
        if !report.read(&line) {
            beside.add(&line);
            beside.add(b"\n");
        }
        if report.strayed() {
            return Err(End::Dismissed);
        }
        if report.is_decided() {
            enough.cancel();
        } else if report.is_sent() && until.is_none() {
            until = Some(Instant::now() + limits::COURIER_NOTICE);
        }
    }
}

/// What a courier printed that was no report.
#[derive(Default)]
struct Printed {
    beside: Head,
    complaints: Head,
}

impl Printed {
    fn text(&self) -> String {
        let complaints = self.complaints.text();
        if complaints.trim().is_empty() { self.beside.text() } else { complaints }
    }
}

/// The beginning of a text.
#[derive(Default)]
struct Head(Vec<u8>);

impl Head {
    fn add(&mut self, bytes: &[u8]) {
        let room = limits::COURIER_PRINTED.saturating_sub(self.0.len());
        self.0.extend(&bytes[..bytes.len().min(room)]);
    }

    /// Reads to the end, and keeps the beginning.
    async fn keep(&mut self, from: Option<impl AsyncRead + Unpin>) {
        let Some(mut from) = from else { return };
        let mut buffer = vec![0; limits::COURIER_PRINTED];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            self.add(&buffer[..count]);
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).trim().to_owned()
    }
}
