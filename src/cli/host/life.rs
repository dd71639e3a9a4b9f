//! The life of one host: from the agent's start until it, or a client, or a signal ends it.

use super::HostArgs;
use crate::cli::output::Failure;
use crate::host::start::Starter;
use std::process::ExitCode;

pub async fn live(_args: &HostArgs, _starter: Option<Starter>) -> Result<ExitCode, Failure> {
    Err(Failure::new(1, "not yet"))
}
