//! The terminal in which a process runs: finding it in a terminal multiplexer, and bringing it into view.
//!
//! A terminal is found by the process's controlling tty, never by its variables, which a process may have inherited from
//! somewhere else. Only multiplexers of the same user are asked, through their own programs, without a shell.

mod command;
mod screen;
mod tmux;

use crate::limits;
use crate::platform::process;
use crate::platform::tty::{self, Display};
use crate::protocol::{Multiplexer, Terminal};
use std::path::{Path, PathBuf};

/// Why a terminal cannot be brought into view.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process has exited, or another one has its pid.
    #[error("the process has exited")]
    NotLive,
    /// No terminal displays the process, or none that Tackroom can select.
    #[error("{0}")]
    NoTerminal(String),
}

/// A process whose terminal is meant, recognised even if its pid is reused.
#[derive(Clone, Debug)]
pub struct Target {
    /// The process.
    pub pid: i32,
    start: Option<String>,
}

impl Target {
    /// The process that has this pid now.
    pub fn now(pid: i32) -> Self {
        Self { pid, start: process::start_mark(pid) }
    }

    fn is_live(&self) -> bool {
        self.start.as_deref().is_some_and(|start| process::is_still(self.pid, start))
    }
}

/// What selecting a pane led to.
struct Selected {
    /// Whether an attached client displays it now.
    is_shown: bool,
    /// The pids of those clients, where the multiplexer reports them.
    clients: Vec<i32>,
}

/// A pane or window of a multiplexer that displays a terminal.
enum Pane {
    Tmux(tmux::Pane),
    Screen(screen::Window),
}

impl Pane {
    async fn find(displays: &[Display], tty: &Path) -> Option<Self> {
        for display in displays {
            if let Some(pane) = tmux::Pane::find(display, tty).await {
                return Some(Self::Tmux(pane));
            }
            if let Some(window) = screen::Window::find(display).await {
                return Some(Self::Screen(window));
            }
        }
        None
    }

    fn to_protocol(&self) -> (Multiplexer, bool) {
        match self {
            Self::Tmux(pane) => (pane.to_protocol(), pane.is_attached()),
            Self::Screen(window) => (window.to_protocol(), window.attached),
        }
    }
}

/// Returns the terminal of a process.
pub async fn find(pid: i32) -> Terminal {
    locate(pid).await.0
}

async fn locate(pid: i32) -> (Terminal, Option<Pane>) {
    let (tty, displays) = displays(pid).await;
    let pane = match &tty {
        Some(tty) => Pane::find(&displays, tty).await,
        None => None,
    };
    let (multiplexer, attached) = pane.as_ref().map(Pane::to_protocol).unzip();
    let tty = tty.map(|tty| tty.to_string_lossy().into_owned());
    (Terminal { pid, tty, multiplexer, attached: attached.unwrap_or_default() }, pane)
}

/// The controlling terminal of a process and the processes that display it. Reads `/proc` on another thread.
async fn displays(pid: i32) -> (Option<PathBuf>, Vec<Display>) {
    let look = move || match tty::of(pid) {
        Some(path) => (Some(path), tty::displays(pid)),
        None => (None, Vec::new()),
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// Selects the pane of a live process in its multiplexer, and in those around it. Returns the terminal, and whether an
/// attached client displays it now. The client at `client_tty` is switched to it; the views of other clients change only
/// by what they are attached to.
///
/// # Errors
/// [`Error::NotLive`] if the process exits meanwhile, [`Error::NoTerminal`] if nothing can be selected.
pub async fn reveal(target: &Target, client_tty: Option<&Path>) -> Result<(Terminal, bool), Error> {
    let (terminal, pane) = locate(target.pid).await;
    let Some(mut pane) = pane else { return Err(unreachable(target, &terminal)) };
    // A pid or a tty may have been reused since: both are compared immediately before anything is selected.
    let tty = terminal.tty.clone().map(PathBuf::from);
    if !target.is_live() || tty::of(target.pid) != tty {
        return Err(Error::NotLive);
    }
    let mut is_shown = false;
    for depth in 0..limits::NESTED_TERMINALS {
        let selected = select(&pane, client_tty).await?;
        // With a client in a detached multiplexer, nothing shows it.
        is_shown = selected.is_shown && (depth == 0 || is_shown);
        // A client of this multiplexer may itself run in a pane of another one.
        let Some(outer) = outer_pane(&selected.clients).await else { break };
        pane = outer;
    }
    Ok((terminal, is_shown))
}

async fn select(pane: &Pane, client_tty: Option<&Path>) -> Result<Selected, Error> {
    let selected = match pane {
        Pane::Tmux(pane) => pane.select(client_tty).await,
        Pane::Screen(window) => window.select().await,
    };
    selected.map_err(|error| Error::NoTerminal(format!("the terminal multiplexer refused: {error}")))
}

async fn outer_pane(clients: &[i32]) -> Option<Pane> {
    for client in clients {
        if let (_, Some(pane)) = locate(*client).await {
            return Some(pane);
        }
    }
    None
}

fn unreachable(target: &Target, terminal: &Terminal) -> Error {
    if !target.is_live() {
        return Error::NotLive;
    }
    Error::NoTerminal(match &terminal.tty {
        Some(tty) => format!("process {} runs in {tty}, which no tmux or screen of this user displays", target.pid),
        None => format!("process {} has no terminal", target.pid),
    })
}
