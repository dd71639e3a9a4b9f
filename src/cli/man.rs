//! `tackroom man`: the manual pages, for those who package it.

use super::output::{Failure, note};
use super::{Cli, FAILED};
use clap::{Args, CommandFactory};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct ManArgs {
    /// The directory to write the pages into: one for the program, one for each subcommand
    #[arg(long, value_name = "DIR", default_value = "man")]
    out: PathBuf,
}

pub(super) fn run(args: &ManArgs) -> Result<ExitCode, Failure> {
    let written = std::fs::create_dir_all(&args.out).and_then(|()| clap_mangen::generate_to(Cli::command(), &args.out));
    written.map_err(|error| Failure::new(FAILED, format!("cannot write into {}: {error}", args.out.display())))?;
    note(&format!("wrote {}", args.out.display()));
    Ok(ExitCode::SUCCESS)
}
