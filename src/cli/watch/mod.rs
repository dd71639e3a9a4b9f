//! `tackroom watch`: the sessions of this machine as they change, as a table that keeps itself true or line by line.

mod board;
mod plain;
mod screen;

use super::list::FilterArgs;
use super::output::{Failure, until_left};
use super::{LookArgs, USAGE, own_config, terminal};
use crate::protocol::{Query, WatchParams};
use crate::service::Local;
use clap::Args;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Only running sessions
    #[arg(long)]
    live: bool,
    /// With line output: print only changes after this revision, or start over if the server no longer has it
    #[arg(long, value_name = "REVISION")]
    since: Option<String>,
    /// Print each `registry/event` and its revision as one line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: LookArgs,
}

pub(super) fn run(args: &WatchArgs) -> Result<ExitCode, Failure> {
    let query = Query { persisted: args.live.then_some(false), ..args.filter.query()? };
    let mut params = WatchParams { query: Some(query), since: args.since.clone() };
    let mut local = Local::new(own_config(&args.look))?;
    let told = local.notifications().ok_or_else(|| Failure::new(USAGE, "watched already"))?;
    let user = local.user();
    if terminal::can_be_drawn_on() && !args.json {
        // A table needs all that there is.
        params.since = None;
        return local.wait(screen::run(&user, params, told));
    }
    local.wait(until_left(async |output| plain::run(&user, params, told, args.json, output).await))
}
