//! `tackroom peers`: the live Claude Code sessions as a table, and which of them a message can reach.

use super::output::{self, Failure, Screen, note, plain};
use super::table::{Cell, Column, Give, render};
use super::{LookArgs, list, own_config, words};
use crate::peer;
use crate::protocol::{ActivityStatus, Empty, InboundPolicy, Peer, Reason, SettingsReadParams, State};
use crate::service::Local;
use clap::Args;
use std::collections::BTreeSet;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct PeersArgs {
    /// Print the result of `peer/list` as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: LookArgs,
}

const COLUMNS: &[Column] = &[
    Column("STATUS", Give::Nothing),
    Column("PID", Give::Nothing),
    Column("AGE", Give::Nothing),
    Column("REACHABLE", Give::Nothing),
    Column("NAME", Give::End),
    Column("DIRECTORY", Give::Start),
];

pub(super) fn run(args: &PeersArgs) -> Result<ExitCode, Failure> {
    let local = Local::new(own_config(&args.look))?;
    let mut found = local.peers(Empty {})?;
    if args.json {
        output::write_json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.peers.is_empty() {
        note("No Claude Code session is running. `tackroom doctor` says where was looked.");
    } else {
        found.peers.sort_by_key(|peer| state(peer).rank());
        output::write(&table(&found.peers, words::now_ms(), words::home().as_deref(), &Screen::of_stdout()))?;
        tell_policies(&local, &found.peers);
    }
    if !found.problems.is_empty() {
        let records = words::count(found.problems.len(), "record");
        note(&format!("{records} could not be read; `tackroom doctor` shows which"));
    }
    Ok(ExitCode::SUCCESS)
}

fn table(peers: &[Peer], now_ms: i64, home: Option<&str>, screen: &Screen) -> String {
    let row = |peer: &Peer| {
        let directory = peer.cwd.as_deref().map_or_else(|| "-".to_owned(), |path| words::path(path, home));
        let name = match &peer.waiting_for {
            Some(what) => format!("{} [{what}]", peer.name),
            None => peer.name.clone(),
        };
        vec![
            Cell::new(state(peer).id()).in_colour(list::colour(state(peer))),
            Cell::new(&peer.pid.to_string()),
            Cell::new(&words::age(now_ms, peer.updated_at_ms)),
            Cell::new(reachable(peer)),
            Cell::new(&name),
            Cell::new(&directory),
        ]
    };
    render(COLUMNS, &peers.iter().map(row).collect::<Vec<_>>(), screen)
}

/// Whether a message can reach a session, and why not.
fn reachable(peer: &Peer) -> &'static str {
    match peer::unreachable(peer) {
        None => "yes",
        Some(peer::Unreachable::Stopped) => "stopped",
        Some(peer::Unreachable::NoSocket) => "no socket",
        Some(peer::Unreachable::Silent) => "socket is silent",
    }
}

/// What the user's own settings of each home do with messages that reach its sessions.
fn tell_policies(local: &Local, peers: &[Peer]) {
    let homes: BTreeSet<&str> = peers.iter().map(|peer| peer.home.as_str()).collect();
    for home in homes {
        let settings = match local.settings(SettingsReadParams { home: Some(home.to_owned()) }) {
            Ok(settings) => settings,
            Err(error) if error.reason() == Reason::InvalidSettings => {
                note(&format!(
                    "The user's own settings of these sessions cannot be read: {}",
                    plain(&error.to_string())
                ));
                continue;
            }
            // `tackroom settings` tells of it.
            Err(_) => continue,
        };
        let effect = match settings.cross_session_inbound {
            Some(InboundPolicy::Hold) => "hold messages back until a person lets them through",
            Some(InboundPolicy::Refuse) => "refuse messages",
            Some(InboundPolicy::Accept) | None => continue,
        };
        let file = plain(&words::path(&settings.path, words::home().as_deref()));
        note(&format!(
            "The user's own settings make these sessions {effect} ({file}); other settings can override them."
        ));
    }
}

fn state(peer: &Peer) -> State {
    match peer.status {
        Some(ActivityStatus::Waiting) => State::Waiting,
        Some(ActivityStatus::Busy) => State::Busy,
        Some(ActivityStatus::Idle) => State::Idle,
        None => State::Live,
    }
}
