//! Starting a host that outlives who starts it. Until it is ready the two share a socket: the host tells over it that it
//! is ready, or why it never will be, and goes on alone once it is told to. Where the socket closes before, whoever
//! started it is gone or wants it no more, and the host ends as if it had never been.

use crate::limits;
use crate::platform::detach::{self, Socket};
use crate::protocol::{Endpoint, Source};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

/// The flag of `tackroom host` that says where who started it is to be told, and its value for standard input.
pub const REPORT: &str = "--report";
/// See [`REPORT`].
pub const REPORT_TO_INPUT: &str = "-";

/// A host that is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// The runtime's id.
    pub runtime_id: String,
    /// Its receipt.
    pub endpoint: Endpoint,
    /// The conversation that it runs.
    pub source: Source,
    /// The host's process.
    pub pid: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Report {
    Ready(Ready),
    Failed(String),
}

/// Said to the host: go on alone.
const GO_ON: u8 = b'\n';

/// Why no host came to be.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It says so itself.
    #[error("{0}")]
    Failed(String),
    /// It ended, and said nothing.
    #[error("the host ended before it was ready, and did not say why")]
    Silent,
    /// It takes too long.
    #[error("the agent is not ready after {} s", limits::HOST_START.as_secs())]
    Timeout,
    /// The system refused.
    #[error("the host cannot be started: {0}")]
    Io(#[from] io::Error),
}

/// A host that is being started. Where this is dropped before it goes on alone, it ends, also after it was ready.
pub struct Starting {
    host: BufReader<Socket>,
}

impl Starting {
    /// Starts this very program as a host with these arguments, in a session of its own and with nothing of ours open.
    /// Must be called within a runtime.
    pub fn detached(arguments: &[OsString], workspace: &Path) -> Result<Self, Error> {
        let mut program = Command::new(std::env::current_exe()?);
        program.current_dir(workspace);
        Self::of(program, arguments)
    }

    /// The same, in another environment.
    pub fn of(mut program: Command, arguments: &[OsString]) -> Result<Self, Error> {
        program.args(["host", REPORT, REPORT_TO_INPUT]).args(arguments);
        Ok(Self::over(detach::spawn(&mut program)?))
    }

    /// A host that was started in another way, and came.
    pub fn over(socket: Socket) -> Self {
        Self { host: BufReader::new(socket) }
    }

    /// Waits until it is ready.
    pub async fn ready(&mut self) -> Result<Ready, Error> {
        let mut line = Vec::new();
        let mut host = (&mut self.host).take(limits::HOST_REPORT as u64);
        let read = host.read_until(b'\n', &mut line);
        tokio::time::timeout(limits::HOST_START, read).await.map_err(|_| Error::Timeout)??;
        match serde_json::from_slice(&line) {
            Ok(Report::Ready(ready)) => Ok(ready),
            Ok(Report::Failed(why)) => Err(Error::Failed(why)),
            Err(_) => Err(Error::Silent),
        }
    }

    /// Lets it go on alone.
    pub async fn go_on(&mut self) -> Result<(), Error> {
        self.host.get_mut().write_all(&[GO_ON]).await.map_err(|_| Error::Silent)
    }

    /// Waits until one that goes on alone has nothing of ours open any more.
    pub async fn left(mut self) {
        // It says nothing more. One that is slow was told to go on all the same.
        let _ = tokio::time::timeout(limits::HOST_LETS_GO, self.host.read_u8()).await;
    }
}

/// Who started this host, as long as that is to be told.
pub struct Starter {
    socket: Socket,
}

impl Starter {
    /// The one that [`REPORT`] names. Must be called within a runtime.
    pub async fn named(report: &Path) -> io::Result<Self> {
        let by_input = report == Path::new(REPORT_TO_INPUT);
        let socket = if by_input { detach::inherited()? } else { detach::meet(report).await? };
        Ok(Self { socket })
    }

    /// Waits until it is gone.
    pub async fn gone(&mut self) {
        // It says nothing before it was told something.
        let _ = self.socket.read_u8().await;
    }

    /// Tells that the host is ready. Answers whether it is to go on alone.
    pub async fn ready(mut self, ready: Ready) -> io::Result<bool> {
        self.tell(&Report::Ready(ready)).await?;
        let goes_on = self.socket.read_u8().await.is_ok_and(|said| said == GO_ON);
        detach::let_go_of_input()?;
        Ok(goes_on)
    }

    /// Tells why there will be no host.
    pub async fn failed(mut self, why: &str) {
        // Who is gone need not be told.
        let _ = self.tell(&Report::Failed(why.to_owned())).await;
    }

    async fn tell(&mut self, report: &Report) -> io::Result<()> {
        let line = serde_json::to_string(report)? + "\n";
        self.socket.write_all(line.as_bytes()).await
    }
}
