//! `tackroom go`: to the terminal in which a session runs.

use super::output::{Failure, note, plain, write};
use super::{FAILED, LookArgs, NOT_FOUND, live, own_config, reference};
use crate::platform::{exec, tty};
use crate::protocol::{Entry, ListParams, Multiplexer, Query, Reason, RevealParams, Sort, State, Terminal};
use crate::service::Local;
use clap::Args;
use std::io::IsTerminal;
use std::process::{Command, ExitCode};

#[derive(Args)]
pub(super) struct GoArgs {
    /// Session: an id, its first 4 or more characters, a name, or words of its title [default: the session that has waited
    /// for you longest]
    #[arg(value_name = "REF")]
    reference: Option<String>,
    /// Print where the session runs instead of going there
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    look: LookArgs,
}

pub(super) fn run(args: &GoArgs) -> Result<ExitCode, Failure> {
    let local = Local::new(own_config(&args.look))?;
    let entry = match &args.reference {
        Some(reference) => reference::find(&local, reference)?.0,
        None => longest_wait(&local)?,
    };
    if args.print {
        write(&(location(&local, &entry)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let client_tty = tty::of(own_pid()).and_then(|tty| tty.into_os_string().into_string().ok());
    let params = RevealParams { id: entry.id.clone(), client_tty };
    match local.wait(local.user().reveal(params)) {
        Ok(found) if found.revealed => {
            note(&format!("{} is shown in {}", plain(&entry.id), shown_in(&found.terminal)));
            Ok(ExitCode::SUCCESS)
        }
        Ok(found) => attach(&local, &entry, found.terminal.multiplexer.as_ref()),
        Err(error) if error.reason() == Reason::NoTerminal => {
            let place = location(&local, &entry)?;
            Err(Failure::new(FAILED, format!("{}; it runs here:\n{place}", plain(&error.to_string()))))
        }
        Err(error) if error.reason() == Reason::NotLive => Err(live::not_running(&entry)),
        Err(error) => Err(Failure::new(FAILED, plain(&error.to_string()))),
    }
}

/// The session that has waited for a person longest.
fn longest_wait(local: &Local) -> Result<Entry, Failure> {
    let query = Query { sort: Some(Sort::Attention), states: Some(vec![State::Waiting]), ..Query::default() };
    let page = local.list(ListParams { query: Some(query), cursor: None, limit: Some(1) })?;
    let none =
        || Failure::new(NOT_FOUND, "no session waits for you; `tackroom list` shows the sessions of this machine");
    page.entries.into_iter().next().ok_or_else(none)
}

/// Shows a multiplexer that has no client yet in this terminal. In a multiplexer of its own this terminal would nest the
/// other one, so there the command is printed.
fn attach(local: &Local, entry: &Entry, multiplexer: Option<&Multiplexer>) -> Result<ExitCode, Failure> {
    let Some(Multiplexer { argv, target, .. }) = multiplexer else {
        return Err(Failure::new(FAILED, format!("nothing shows {}", plain(&entry.id))));
    };
    let [program, arguments @ ..] = argv.as_slice() else { return Ok(ExitCode::SUCCESS) };
    let here = local.wait(crate::terminal::find(own_pid()));
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() || here.multiplexer.is_some() {
        let command = plain(&argv.join(" "));
        return Err(Failure::new(FAILED, format!("no terminal shows {}; run: {command}", plain(target))));
    }
    let mut command = Command::new(program);
    command.args(arguments);
    exec::become_program(&mut command)
        .map_err(|error| Failure::new(FAILED, format!("`{}` cannot be run: {error}", plain(program))))
}

/// Where a session runs: process, terminal and directory.
fn location(local: &Local, entry: &Entry) -> Result<String, Failure> {
    let terminal = local.wait(local.user().terminal(entry)).ok_or_else(|| live::not_running(entry))?;
    let mut lines = vec![format!("process    {}", terminal.pid)];
    lines.push(format!("terminal   {}", terminal.tty.as_deref().map_or("none".to_owned(), plain)));
    if let Some(Multiplexer { target, argv, .. }) = &terminal.multiplexer {
        lines.push(format!("pane       {}", plain(target)));
        lines.push(format!("attach     {}", plain(&argv.join(" "))));
    }
    lines.extend(entry.workspace.as_deref().map(|directory| format!("directory  {}", plain(directory))));
    Ok(lines.join("\n"))
}

fn shown_in(terminal: &Terminal) -> String {
    let target = terminal.multiplexer.as_ref().map(|multiplexer| plain(&multiplexer.target));
    target.or_else(|| terminal.tty.as_deref().map(plain)).unwrap_or_default()
}

fn own_pid() -> i32 {
    i32::try_from(std::process::id()).unwrap_or_default()
}
