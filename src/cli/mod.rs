//! The command line: one file per subcommand. The only place that prints.

mod schema;
mod serve;

use crate::authority::Grant;
use crate::harness::Homes;
use crate::limits;
use crate::protocol::{Harness, RootOrigin};
use crate::service::Config;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Exit codes, besides 0 for success: the command could not do what it was told.
pub const FAILED: u8 = 1;
/// The words of the command line cannot be understood.
pub const USAGE: u8 = 2;
/// What was named is not there.
pub const NOT_FOUND: u8 = 3;

/// See every coding-agent session on this machine.
#[derive(Parser)]
#[command(name = "tackroom", version, about, after_help = EXIT_CODES, max_term_width = 120)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 success; 1 failed; 2 the words of the command line cannot be understood; 3 what was named is not there.
`serve` also ends with 1 after `exit` without `shutdown`, and with 128 plus the signal's number after a signal.
`resume` ends as the program does that it runs.";

#[derive(Subcommand)]
enum Command {
    /// Speak JSON-RPC over stdin and stdout: what an editor or agent host spawns
    Serve(serve::ServeArgs),
    /// Write the protocol's schema: schema.json, meta.json, openrpc.json
    Schema(schema::SchemaArgs),
}

/// Where to look, for every subcommand that looks.
#[derive(Args, Clone, Debug, Default)]
pub struct LookArgs {
    /// Look below PATH too: a harness's home, or the directory in it that holds sessions. May be repeated
    #[arg(long = "root", value_name = "HARNESS=PATH", value_parser = parse_root)]
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
    let path = std::path::absolute(path).map_err(|error| format!("`{path}` is no path: {error}"))?;
    Ok((harness, path))
}

/// What the command line's own user may do: everything that needs no more than this machine.
fn own_config(look: &LookArgs) -> Config {
    Config { ceiling: Grant::all(), homes: look.homes(), allow_homes: false, limits: limits::DEFAULT }
}

/// Runs the program.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Serve(args) => return serve::run(&args),
        Command::Schema(args) => schema::run(&args),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("tackroom: {error}");
            ExitCode::from(FAILED)
        }
    }
}
