//! A host in a session of tmux, where a person can see it.

use super::HostArgs;
use crate::cli::output::Failure;
use crate::cli::{FAILED, USAGE};
use crate::host::start::{REPORT, Starting};
use crate::limits;
use crate::platform::detach::Rendezvous;
use std::ffi::OsString;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// What tells a host where its receipt belongs and where programs are. Nothing of these is a secret: the system shows a
/// program's arguments to everybody.
const HANDED_ON: [&str; 4] = ["HOME", "PATH", "SUPERCODE_HOME", "XDG_CONFIG_HOME"];
/// How often is looked whether the session is still there.
const LOOK: Duration = Duration::from_millis(250);

/// A name that means one session of tmux and nothing else.
pub(super) fn name(text: &str) -> Result<String, String> {
    let fits = (1..=limits::START_NAME).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    fits.then(|| text.to_owned()).ok_or_else(|| format!("1 to {} of A-Z a-z 0-9 _ -", limits::START_NAME))
}

/// Starts a host in a new session of this name. What was begun ends where the answer is not used.
pub(super) async fn start(args: &HostArgs, name: &str) -> Result<Starting, Failure> {
    if tmux(&["has-session".into(), "-t".into(), exactly(name)])?.status.success() {
        return Err(Failure::new(USAGE, format!("tmux has a session `{name}` already; choose another name")));
    }
    // A place that nobody else can come to; both are gone when this is over.
    let place = tempfile::Builder::new().prefix("tackroom-").tempdir()?;
    let meeting = place.path().join("s");
    let rendezvous = Rendezvous::at(&meeting)?;
    let said = tmux(&new_session(args, name, meeting.as_os_str())?)?;
    if !said.status.success() {
        let why = String::from_utf8_lossy(&said.stderr);
        return Err(Failure::new(FAILED, format!("tmux refused: {}", crate::cli::clean::one_line(&why))));
    }
    let met = tokio::select! {
        met = rendezvous.met() => Ok(met),
        // One that came, said why it ends and ended is still to be heard.
        () = gone(name) => tokio::time::timeout(LOOK, rendezvous.met()).await,
    };
    let met = met.map_err(|_| Failure::new(FAILED, "the host exited in tmux without a message"))?;
    Ok(Starting::over(met?))
}

fn new_session(args: &HostArgs, name: &str, meeting: &std::ffi::OsStr) -> Result<Vec<OsString>, Failure> {
    let mut words: Vec<OsString> = ["new-session", "-d", "-s", name, "-c"].map(OsString::from).into();
    words.push(args.workspace.clone().into());
    for variable in HANDED_ON {
        if let Some(value) = std::env::var_os(variable) {
            let mut set = OsString::from(format!("{variable}="));
            set.push(value);
            words.extend(["-e".into(), set]);
        }
    }
    words.extend([std::env::current_exe()?.into(), "host".into(), REPORT.into(), meeting.to_owned()]);
    words.extend(args.arguments());
    Ok(words)
}

/// Resolves when there is no such session.
async fn gone(name: &str) {
    let asked = ["has-session".into(), "-t".into(), exactly(name)];
    while tmux(&asked).is_ok_and(|said| said.status.success()) {
        tokio::time::sleep(LOOK).await;
    }
}

/// Without the sign tmux takes a beginning of a name, too.
fn exactly(name: &str) -> OsString {
    format!("={name}").into()
}

fn tmux(words: &[OsString]) -> Result<Output, Failure> {
    Command::new("tmux").args(words).stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::new(FAILED, "tmux is not installed; --detach works without it"),
        _ => Failure::new(FAILED, format!("tmux cannot be run: {error}")),
    })
}
