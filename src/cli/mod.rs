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

/// See every coding-agent session on this machine.
#[derive(Parser)]
#[command(name = "tackroom", version, after_help = AFTER_HELP, max_term_width = 120)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  tackroom list --workspace .      the sessions of this directory
  tackroom watch --live            what runs now, as it changes
  tackroom resume 990cebda         back into one of them
  tackroom attach 990cebda         join one that runs
  tackroom host -- opencode acp    run an agent that others can join
  tackroom serve --allow observe   for a program: JSON-RPC on stdin and stdout

Exit codes:
  0    success; also where nobody reads the output any more
  1    failed; of serve also: `exit` came without `shutdown`
  2    the words of the command line cannot be understood, or fit several things
  3    what was named is not there
  4    of message: the session holds it back until a person lets it through
  5    of message: the session refuses messages
  128+ a signal's number: it ended serve, host, attach, message, watch, follow or demo
resume ends as the program does that it runs.

Nothing is ever written to a store: sessions are not renamed, edited or deleted.";

#[derive(Subcommand)]
enum Command {
    /// Show the sessions of this machine, what waits for a person first
    List(list::ListArgs),
    /// Show the sessions as they change: a table that keeps itself true, or a line for each change
    Watch(watch::WatchArgs),
    /// Show the messages of a session as they are written
    Follow(follow::FollowArgs),
    /// Show the live Claude Code sessions, and which of them a message can reach
    Peers(peers::PeersArgs),
    /// Deliver a message into a live Claude Code session
    Message(message::MessageArgs),
    /// Go to the terminal in which a session runs: its tmux pane or screen window
    Go(go::GoArgs),
    /// Go back into a session with its own program
    Resume(resume::ResumeArgs),
    /// Join a running agent: see what it does, answer what it asks, and drive it
    Attach(attach::AttachArgs),
    /// Run an agent so that many can join it
    Host(host::HostArgs),
    /// Show and drive live runtimes, one step at a time
    Runtime(runtime::RuntimeArgs),
    /// Tell where sessions were looked for, what was found and what was passed over
    Doctor(doctor::DoctorArgs),
    /// Show or change what Claude Code does with messages of other sessions
    Settings(settings::SettingsArgs),
    /// Show the server at work on a built-in sample, without looking at your sessions
    Demo(demo::DemoArgs),
    /// Speak JSON-RPC over stdin and stdout: what an editor or agent host spawns
    Serve(serve::ServeArgs),
    /// Write the protocol's schema: schema.json, meta.json, openrpc.json
    Schema(schema::SchemaArgs),
    /// The agent that the demo hosts
    #[command(hide = true)]
    DemoAgent,
    /// Print the completions for a shell
    Completions(completions::CompletionsArgs),
    /// Write the manual pages
    #[command(hide = true)]
    Man(man::ManArgs),
}

/// Where to look, for every subcommand that looks.
#[derive(Args, Clone, Debug, Default)]
pub struct LookArgs {
    /// Look below PATH too: a harness's home, or the directory in it that holds sessions. May be repeated
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
        return Err(format!("{} keeps no sessions that are known here", harness.name()));
    }
    let path = std::path::absolute(path).map_err(|error| format!("`{path}` is no path: {error}"))?;
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
    /// The Claude Code that delivers messages
    #[arg(long = "courier-program", value_name = "PROGRAM", default_value = COURIER_PROGRAM)]
    program: PathBuf,
    /// The model that it runs
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
