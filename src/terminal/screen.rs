//! Windows of GNU screen.

use super::{Selected, command};
use crate::platform::tty::{Display, is_executable, sockets, variable};
use crate::protocol::{Multiplexer, MultiplexerKind};
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

/// A window of a screen session.
pub(super) struct Window {
    /// The session's socket: its directory is `SCREENDIR`, its name the session's.
    socket: PathBuf,
    session: String,
    number: u32,
    /// Whether a terminal shows the session.
    pub attached: bool,
}

impl Window {
    /// The window whose first process is `display.child`. Screen has no command that names the terminal of a window; it
    /// starts each with the variable `WINDOW`, so only that of its own child counts.
    pub(super) async fn find(display: &Display) -> Option<Self> {
        // "screen" from 4.9 on, "SCREEN" before.
        if !display.name.eq_ignore_ascii_case("screen") {
            return None;
        }
        let number = variable(display.child, "WINDOW")?.parse().ok()?;
        let socket = sockets(display.pid).into_iter().find(|socket| {
            let name = socket.file_name().and_then(OsStr::to_str);
            name.and_then(|name| name.split_once('.')).is_some_and(|(pid, _)| pid == display.pid.to_string())
        })?;
        let session = socket.file_name()?.to_str()?.to_owned();
        // Screen sets the owner's execute bit of the socket while a terminal is attached.
        let attached = is_executable(&socket);
        Some(Self { socket, session, number, attached })
    }

    /// The window as the protocol describes it.
    pub(super) fn to_protocol(&self) -> Multiplexer {
        let number = self.number.to_string();
        let argv = ["screen", "-x", &self.session, "-p", &number].map(str::to_owned).to_vec();
        let target = format!("{}:{number}", self.session);
        Multiplexer { kind: MultiplexerKind::Screen, target, argv, focused: None }
    }

    /// Selects the window in the session. Screen does not report which clients show it.
    pub(super) async fn select(&self) -> io::Result<Selected> {
        let number = self.number.to_string();
        let words = ["-S", &self.session, "-X", "select", &number].map(AsRef::<OsStr>::as_ref);
        let directory = self.socket.parent().map(AsRef::<OsStr>::as_ref).unwrap_or_default();
        command::run("screen", &words, &[("SCREENDIR", directory)]).await?;
        Ok(Selected { is_shown: self.attached, clients: Vec::new() })
    }
}
