//! Panes of tmux.

use super::{Selected, command};
use crate::platform::tty::{Display, sockets};
use crate::protocol::{Multiplexer, MultiplexerKind};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

// Spaces separate the fields: tmux replaces control characters in what it prints. Only the last field may contain spaces.
const PANES: &str = "#{pane_tty} #{pane_id} #{session_id} #{window_index} #{session_attached} \
    #{session_name}:#{window_index}.#{pane_index}";
const CLIENTS: &str = "#{client_tty} #{client_pid} #{client_activity} #{session_id} #{pane_id} #{client_flags}";

/// A pane, as one session of a tmux server shows it.
pub(super) struct Pane {
    socket: PathBuf,
    /// `%5`: unique in the server.
    id: String,
    /// `$2`: the session, since a window may be linked into several.
    session: String,
    /// The window's index in that session.
    window: String,
    /// `main:2.1`.
    target: String,
    clients: Vec<Client>,
    /// The terminal and the session of every pane of the server.
    panes: Vec<(PathBuf, String)>,
}

struct Client {
    tty: PathBuf,
    pid: i32,
    activity: i64,
    session: String,
    /// The pane that it shows as its active one.
    pane: String,
    focused: bool,
}

impl Pane {
    /// The pane of a tmux server that has this terminal. Of several sessions that show it, one with a client is chosen.
    pub(super) async fn find(display: &Display, tty: &Path) -> Option<Self> {
        // "tmux: server" on Linux. The name only saves asking every terminal emulator.
        if !display.name.starts_with("tmux") {
            return None;
        }
        for socket in sockets(display.pid) {
            let Ok(panes) = tmux(&socket, &["list-panes", "-a", "-F", PANES]).await else { continue };
            let rows: Vec<[&str; 6]> = panes.lines().filter_map(split).collect();
            let own = rows.iter().filter(|[of, ..]| Path::new(of) == tty);
            // False sorts first: a session that a client is attached to.
            let Some([_, id, session, window, _, target]) = own.min_by_key(|[.., attached, _]| *attached == "0") else {
                continue;
            };
            let [id, session, window, target] = [id, session, window, target].map(|field| (*field).to_owned());
            let panes = rows.iter().map(|[of, _, session, ..]| (PathBuf::from(of), (*session).to_owned())).collect();
            let clients = clients(&socket).await.unwrap_or_default();
            return Some(Self { socket, id, session, window, target, clients, panes });
        }
        None
    }

    /// Whether a client shows the session of the pane.
    pub(super) fn is_attached(&self) -> bool {
        self.clients.iter().any(|client| client.session == self.session)
    }

    /// The pane as the protocol describes it.
    pub(super) fn to_protocol(&self) -> Multiplexer {
        let socket = self.socket.to_string_lossy();
        let argv = ["tmux", "-S", &socket, "attach-session", "-t", &self.target].map(str::to_owned).to_vec();
        let focused = self.clients.iter().any(|client| client.focused && client.pane == self.id);
        let reports_focus = self.clients.iter().any(|client| client.focused);
        Multiplexer {
            kind: MultiplexerKind::Tmux,
            target: self.target.clone(),
            argv,
            focused: reports_focus.then_some(focused),
        }
    }

    /// Makes the pane the active one of its session, and switches the client at `client_tty` to it.
    pub(super) async fn select(&self, client_tty: Option<&Path>) -> io::Result<Selected> {
        let client = client_tty.and_then(|tty| self.client_at(tty));
        // A window may be linked into several sessions; the one that was found is the one to change.
        let session = format!("{}:", self.session);
        let window = format!("{session}{}", self.window);
        let mut words = vec!["select-pane", "-t", &self.id, ";", "select-window", "-t", &window];
        if let Some(tty) = client.and_then(|client| client.tty.to_str()) {
            words.extend([";", "switch-client", "-c", tty, "-t", &session]);
        }
        tmux(&self.socket, &words).await?;
        let shown = clients(&self.socket).await?.into_iter().filter(|client| client.pane == self.id);
        let clients: Vec<i32> = shown.map(|client| client.pid).collect();
        Ok(Selected { is_shown: !clients.is_empty(), clients })
    }

    /// The client whose terminal this is, or the one last used of those that show the pane whose terminal this is.
    fn client_at(&self, tty: &Path) -> Option<&Client> {
        let shows = |client: &&Client| self.panes.iter().any(|(of, session)| of == tty && *session == client.session);
        let own = self.clients.iter().find(|client| client.tty == tty);
        own.or_else(|| self.clients.iter().filter(shows).max_by_key(|client| client.activity))
    }
}

async fn clients(socket: &Path) -> io::Result<Vec<Client>> {
    let lines = tmux(socket, &["list-clients", "-F", CLIENTS]).await?;
    let client = |line: &str| {
        let [tty, pid, activity, session, pane, flags] = split(line)?;
        Some(Client {
            tty: tty.into(),
            pid: pid.parse().ok()?,
            activity: activity.parse().unwrap_or_default(),
            session: session.to_owned(),
            pane: pane.to_owned(),
            focused: flags.split(',').any(|flag| flag == "focused"),
        })
    };
    Ok(lines.lines().filter_map(client).collect())
}

async fn tmux(socket: &Path, words: &[&str]) -> io::Result<String> {
    // Without `-u` and a UTF-8 locale, tmux replaces the letters of other alphabets, too.
    let mut arguments: Vec<&OsStr> = vec!["-u".as_ref(), "-S".as_ref(), socket.as_ref()];
    arguments.extend(words.iter().map(AsRef::<OsStr>::as_ref));
    command::run("tmux", &arguments, &[]).await
}

/// The fields of a line; what the last one contains stays in it.
fn split<const FIELDS: usize>(line: &str) -> Option<[&str; FIELDS]> {
    let fields: Vec<&str> = line.splitn(FIELDS, ' ').collect();
    fields.try_into().ok()
}
