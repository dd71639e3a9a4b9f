//! Running a terminal multiplexer's own program.

use crate::limits;
use std::ffi::OsStr;
use std::io;
use std::process::Stdio;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Runs a program and returns what it printed, within limits on time and size. The program is killed if the caller drops
/// the future.
///
/// # Errors
/// If the program cannot be run, is too slow, or fails; then the error is its last line.
pub(super) async fn run(program: &str, arguments: &[&OsStr], variables: &[(&str, &OsStr)]) -> io::Result<String> {
    let mut command = Command::new(program);
    // `TMUX` and `STY` would make the program act on the terminal that Tackroom itself runs in.
    command.args(arguments).envs(variables.iter().copied()).env_remove("TMUX").env_remove("STY");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let work = async {
        let (output, error) = tokio::try_join!(read(stdout), read(stderr))?;
        let status = child.wait().await?;
        if status.success() { Ok(output) } else { Err(failure(&output, &error)) }
    };
    tokio::time::timeout(limits::MULTIPLEXER_TIME, work).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn read(from: Option<impl tokio::io::AsyncRead + Unpin>) -> io::Result<String> {
    let mut text = Vec::new();
    if let Some(from) = from {
        from.take(limits::MULTIPLEXER_OUTPUT).read_to_end(&mut text).await?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn failure(output: &str, error: &str) -> io::Error {
    let line = error.lines().chain(output.lines()).rfind(|line| !line.trim().is_empty());
    io::Error::other(line.unwrap_or("it failed without a message").to_owned())
}
