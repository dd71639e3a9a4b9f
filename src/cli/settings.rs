//! `tackroom settings`: what the user's own settings of Claude Code do with messages of other sessions.

use super::output::{self, Failure, note, plain};
use super::{LookArgs, NOT_FOUND, own_config, words};
use crate::protocol::{InboundPolicy, Reason, RpcError, Settings, SettingsReadParams, SettingsUpdateParams};
use crate::service::Local;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct SettingsArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// Home of Claude Code, if there are several
    #[arg(long, global = true, value_name = "PATH")]
    home: Option<PathBuf>,
    /// Print the result of `settings/read` or `settings/update` as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    look: LookArgs,
}

#[derive(Subcommand)]
enum Action {
    /// Show the policy (the default)
    Get,
    /// Change the policy
    Set {
        /// accept, hold or refuse
        policy: InboundPolicy,
        #[command(flatten)]
        guard: Guard,
    },
    /// Remove the setting, so that Claude Code's default applies
    Reset {
        #[command(flatten)]
        guard: Guard,
    },
}

#[derive(Args)]
struct Guard {
    /// Change the file only if it still has this revision, which --json tells
    #[arg(long, value_name = "REVISION")]
    expect: Option<String>,
}

pub(super) fn run(args: &SettingsArgs) -> Result<ExitCode, Failure> {
    let local = Local::new(own_config(&args.look))?;
    let home = match &args.home {
        Some(path) => Some(std::path::absolute(path)?.display().to_string()),
        None => None,
    };
    let change = |cross_session_inbound, guard: &Guard| {
        let expected_revision = guard.expect.clone();
        local.update_settings(SettingsUpdateParams { cross_session_inbound, expected_revision, home: home.clone() })
    };
    let told = match &args.action {
        None | Some(Action::Get) => local.settings(SettingsReadParams { home }),
        Some(Action::Set { policy, guard }) => change(Some(*policy), guard),
        Some(Action::Reset { guard }) => change(None, guard),
    };
    let settings = told.map_err(failure)?;
    if args.json {
        output::write_json(&settings)?;
        return Ok(ExitCode::SUCCESS);
    }
    output::write(&line(&settings))?;
    note("This is the user's own setting; managed, project and command-line settings can override it.");
    Ok(ExitCode::SUCCESS)
}

fn failure(error: RpcError) -> Failure {
    match error.reason() {
        Reason::NotFound => Failure::new(NOT_FOUND, plain(&error.to_string())),
        _ => Failure::new(super::FAILED, plain(&error.to_string())),
    }
}

fn line(settings: &Settings) -> String {
    let policy = settings.cross_session_inbound.map_or("not set", InboundPolicy::word);
    format!("{policy}  {}\n", plain(&words::path(&settings.path, words::home().as_deref())))
}
