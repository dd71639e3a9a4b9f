//! The command line: one file per subcommand. The only place that prints.

mod attach;
mod clean;
mod completions;
mod demo;
mod doctor;
mod follow;
mod go;
mod host;
mod keys;
mod line;
mod list;
mod live;
mod man;
mod message;
mod output;
mod peers;
mod reference;
mod resume;
mod runtime;
mod schema;
mod serve;
mod settings;
mod table;
mod terminal;
mod watch;
mod words;

use crate::authority::Grant;
use crate::harness::{Homes, store_of};
use crate::limits;
use crate::peer::courier::Program;
use crate::protocol::{Harness, Limits, RootOrigin};
use crate::service::Config;
use clap::{Args, Parser, Subcommand};
use output::{Failure, note};
use std::path::PathBuf;
use std::process::ExitCode;

/// Exit codes, besides 0 for success: the command could not do what it was told.
pub const FAILED: u8 = 1;
/// The words of the command line cannot be understood, or fit more than one thing.
pub const USAGE: u8 = 2;
/// What was named is not there.
pub const NOT_FOUND: u8 = 3;
/// A message is held by the session that it is for.
pub const HELD: u8 = 4;
/// A message was refused by the session that it is for.
pub const REFUSED: u8 = 5;

/// See every coding-agent session on this machine, and which one needs you.
#[derive(Parser)]
#[command(name = "tackroom", version, after_help = AFTER_HELP, max_term_width = 120)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  tackroom list --workspace .      list the sessions of this directory
  tackroom watch --live            watch the running sessions
  tackroom go                      go to the session that has waited for you longest
  tackroom resume 990cebda         resume a session by its short id
  tackroom attach 990cebda         attach to a running one
  tackroom host -- opencode acp    run an agent that others can attach to
  tackroom serve --allow observe   serve a client: JSON-RPC on stdin and stdout

Exit codes:
  0    success, also if the output was closed early
  1    failure; serve: `exit` without `shutdown`
  2    usage error, or an ambiguous argument
  3    not found
  4    message: held until a person allows it
  5    message: refused by the session
  128+ ended by the signal of that number (serve, host, attach, message, watch, follow, demo)
resume exits as the program that it runs.

Tackroom never writes to a session store.";

#[derive(Subcommand)]
enum Command {
    /// List sessions, those that need you first
    List(list::ListArgs),
    /// Watch sessions: a live table in a terminal, one line per change elsewhere
    Watch(watch::WatchArgs),
    /// Print the messages of a session as they are written
    Follow(follow::FollowArgs),
    /// List live Claude Code sessions and whether messages can reach them
    Peers(peers::PeersArgs),
    /// Send a message to a live Claude Code session
    Message(message::MessageArgs),
    /// Go to the terminal in which a session runs: its tmux pane or screen window
    Go(go::GoArgs),
    /// Resume a session in its own program
    Resume(resume::ResumeArgs),
    /// Attach to a running agent: read along, answer its requests, send prompts
    Attach(attach::AttachArgs),
    /// Run an ACP agent that several clients can attach to
    Host(host::HostArgs),
    /// Inspect and control live runtimes, one request at a time
    Runtime(runtime::RuntimeArgs),
    /// Show where sessions were looked for, found, and skipped
    Doctor(doctor::DoctorArgs),
    /// Show or change how Claude Code treats messages from other sessions
    Settings(settings::SettingsArgs),
    /// Run a tour on built-in sample data, without reading your sessions
    Demo(demo::DemoArgs),
    /// Run the JSON-RPC server on stdin and stdout, for editors and agents
    Serve(serve::ServeArgs),
    /// Write the protocol schema: schema.json, meta.json, openrpc.json
    Schema(schema::SchemaArgs),
    /// The agent that the demo hosts
    #[command(hide = true)]
    DemoAgent,
    /// Print shell completions
    Completions(completions::CompletionsArgs),
    /// Write the manual pages
    #[command(hide = true)]
    Man(man::ManArgs),
}

/// Where to look, for every subcommand that looks.
#[derive(Args, Clone, Debug, Default)]
pub struct LookArgs {
    /// Also read sessions below PATH: a harness's home, or its session directory. Repeatable
    #[arg(long = "root", global = true, value_name = "HARNESS=PATH", value_parser = parse_root)]
    roots: Vec<(Harness, PathBuf)>,
}

impl LookArgs {
    fn homes(&self) -> Homes {
        let mut homes = Homes::from_environment();
        for (harness, path) in &self.roots {
            homes.add_named(*harness, path, RootOrigin::Flag);
        }
        homes
    }
}

fn parse_root(text: &str) -> Result<(Harness, PathBuf), String> {
    let (harness, path) = text.split_once('=').ok_or("write it as HARNESS=PATH")?;
    let harness: Harness = harness.parse().map_err(|error| format!("{error}"))?;
    if store_of(harness).is_none() {
        return Err(format!("{} keeps no sessions that Tackroom can read", harness.name()));
    }
    let path = std::path::absolute(path).map_err(|error| format!("`{path}` is not a path: {error}"))?;
    Ok((harness, path))
}

/// What the command line's own user may do: everything that needs no more than this machine, and in one page.
fn own_config(look: &LookArgs) -> Config {
    let limits = Limits { page_max: usize::MAX, ..limits::DEFAULT };
    let courier = CourierArgs::default().program();
    Config { ceiling: Grant::all(), homes: look.homes(), allow_homes: false, limits, agents: Vec::new(), courier }
}

/// What delivers messages, for every subcommand that can.
#[derive(Args, Clone, Debug)]
pub struct CourierArgs {
    /// Claude Code program that delivers messages
    #[arg(long = "courier-program", value_name = "PROGRAM", default_value = COURIER_PROGRAM)]
    program: PathBuf,
    /// Model that it runs
    #[arg(long = "courier-model", value_name = "MODEL", default_value = COURIER_MODEL)]
    model: String,
}

const COURIER_PROGRAM: &str = "claude";
const COURIER_MODEL: &str = "haiku";

impl Default for CourierArgs {
    fn default() -> Self {
        Self { program: COURIER_PROGRAM.into(), model: COURIER_MODEL.to_owned() }
    }
}

impl CourierArgs {
    fn program(&self) -> Program {
        let is_path = self.program.components().count() > 1;
        // It is started in another directory than ours.
        let absolute = is_path.then(|| std::path::absolute(&self.program).ok()).flatten();
        let program = absolute.unwrap_or_else(|| self.program.clone());
        Program::new(program.into_os_string(), self.model.clone(), std::env::vars_os())
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::List(args) => list::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Follow(args) => follow::run(&args),
        Command::Peers(args) => peers::run(&args),
        Command::Message(args) => message::run(&args),
        Command::Go(args) => go::run(&args),
        Command::Resume(args) => resume::run(&args),
        Command::Attach(args) => attach::run(&args),
        Command::Host(args) => host::run(&args),
        Command::Runtime(args) => runtime::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Settings(args) => settings::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::DemoAgent => demo::agent(),
        Command::Serve(args) => serve::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    };
    match result {
        Ok(code) => code,
        Err(Failure::Unread) => ExitCode::SUCCESS,
        Err(Failure::Told { code, message }) => {
            note(&format!("tackroom: {message}"));
            ExitCode::from(code)
        }
    }
}
