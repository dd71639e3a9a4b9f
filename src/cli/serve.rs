//! `tackroom serve`: what an editor or agent host spawns.

use super::output::Failure;
use super::{CourierArgs, FAILED, LookArgs, USAGE};
use crate::authority::Grant;
use crate::limits;
use crate::platform::{memory, signals::Signals, stdio};
use crate::protocol::{AuthorityRequest, Harness, Limits, Permission};
use crate::rpc::{self, End, Framing};
use crate::service::{Agent, Config, Service};
use clap::{Args, ValueEnum};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    /// Maximum permissions of clients
    #[arg(long, value_name = "PERMISSIONS", value_delimiter = ',', default_value = "observe")]
    allow: Vec<Permission>,
    /// Serve only sessions in this directory and below. Repeatable
    #[arg(long = "workspace", value_name = "DIR")]
    workspaces: Vec<PathBuf>,
    /// Serve only sessions of these harnesses
    #[arg(long = "harness", value_name = "HARNESSES", value_delimiter = ',')]
    harnesses: Vec<Harness>,
    #[command(flatten)]
    look: LookArgs,
    #[command(flatten)]
    courier: CourierArgs,
    /// Let clients name further homes in `initialize`
    #[arg(long)]
    allow_homes: bool,
    /// Let clients with the permission `start` start this agent. Repeatable
    #[arg(long = "start", value_name = "NAME=COMMAND", value_parser = parse_agent)]
    agents: Vec<Agent>,
    /// Framing of messages
    #[arg(long, value_enum, default_value_t = FramingArg::Auto)]
    framing: FramingArg,
    /// Lower a limit that `initialize` reports, such as frameBytes=1048576. Repeatable
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    limits: Vec<String>,
    /// Log level on stderr
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: tracing::Level,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FramingArg {
    /// Decide by the first byte
    Auto,
    /// One message per line, as in ACP and MCP
    Lines,
    /// Content-Length headers, as in LSP
    Headers,
}

pub(super) fn run(args: &ServeArgs) -> Result<ExitCode, Failure> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_max_level(args.log).init();
    let config = config(args).map_err(|error| Failure::new(USAGE, error))?;
    Ok(serve(config, args.framing)?)
}

fn config(args: &ServeArgs) -> Result<Config, String> {
    let workspaces: Result<Vec<String>, String> = args
        .workspaces
        .iter()
        .map(|path| {
            let absolute = std::path::absolute(path).map_err(|error| format!("--workspace: {error}"))?;
            absolute.into_os_string().into_string().map_err(|path| format!("--workspace {path:?} is not UTF-8"))
        })
        .collect();
    let some = |list: Vec<String>| (!list.is_empty()).then_some(list);
    let request = AuthorityRequest {
        permissions: Some(args.allow.clone()),
        workspaces: some(workspaces?),
        harnesses: (!args.harnesses.is_empty()).then(|| args.harnesses.clone()),
    };
    let ceiling = Grant::all().narrow(&request).map_err(|error| error.to_string())?;
    let limits = lower(&args.limits)?;
    let mut names = HashSet::new();
    if let Some(twice) = args.agents.iter().find(|agent| !names.insert(&agent.name)) {
        return Err(format!("--start {}: the name is used twice", twice.name));
    }
    let (agents, courier) = (args.agents.clone(), args.courier.program());
    Ok(Config { ceiling, homes: args.look.homes(), allow_homes: args.allow_homes, limits, agents, courier })
}

/// Takes a command apart as a shell does, without one: quotes and backslashes count, and nothing is put in.
fn parse_agent(text: &str) -> Result<Agent, String> {
    let (name, command) = text.split_once('=').ok_or("write it as NAME=COMMAND")?;
    let is_name = (1..=limits::START_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if !is_name {
        return Err(format!("a name is 1 to {} of A-Z a-z 0-9 . _ -", limits::START_NAME));
    }
    let mut command =
        shell_words::split(command).map_err(|error| format!("the command has an unclosed quote: {error}"))?;
    let program = command.first_mut().filter(|program| !program.is_empty()).ok_or("there is no command")?;
    // The agent works in another directory.
    if program.contains('/') {
        let absolute = std::path::absolute(&*program).map_err(|error| error.to_string())?;
        *program = absolute.into_os_string().into_string().map_err(|_| "the program's path is not UTF-8")?;
    }
    Ok(Agent { name: name.to_owned(), command })
}

/// Returns the limits, with those lowered that `--limit` names.
fn lower(flags: &[String]) -> Result<Limits, String> {
    let by_name = serde_json::to_value(limits::DEFAULT).and_then(serde_json::from_value);
    let mut limits: BTreeMap<String, usize> = by_name.map_err(|error| error.to_string())?;
    for flag in flags {
        let (name, value) = flag.split_once('=').ok_or_else(|| format!("--limit {flag}: write it as NAME=VALUE"))?;
        let limit = limits.get_mut(name);
        let limit = limit.ok_or_else(|| format!("--limit {name}: unknown limit; `initialize` lists them"))?;
        match value.parse() {
            Ok(value) if (1..=*limit).contains(&value) => *limit = value,
            _ => return Err(format!("--limit {name}: from 1 to {limit}, not `{value}`")),
        }
    }
    serde_json::to_value(limits).and_then(serde_json::from_value).map_err(|error| error.to_string())
}

fn serve(config: Config, framing: FramingArg) -> std::io::Result<ExitCode> {
    memory::give_back_large_buffers();
    let framing = match framing {
        FramingArg::Auto => None,
        FramingArg::Lines => Some(Framing::Lines),
        FramingArg::Headers => Some(Framing::Headers),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (end, signal) = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let service = Arc::new(Service::new(config, tokio::runtime::Handle::current())?);
        let swept = service.clone();
        tokio::task::spawn_blocking(move || swept.sweep());
        let (input, output) = stdio::open()?;
        let mut signal = None;
        let end = rpc::serve(service, framing, input, output, async { signal = Some(signals.next().await) }).await?;
        std::io::Result::Ok((end, signal))
    })?;
    // A thread that waits for a file or for a terminal cannot be cancelled; it must not keep the process.
    runtime.shutdown_timeout(Duration::ZERO);
    Ok(match (end, signal) {
        (End::ExitWithoutShutdown, _) => ExitCode::from(FAILED),
        (End::Stopped, Some(signal)) => ExitCode::from(128 + signal),
        _ => ExitCode::SUCCESS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reported_limit_can_be_lowered() {
        let reported = serde_json::to_value(limits::DEFAULT).unwrap();
        for name in reported.as_object().unwrap().keys() {
            let lowered = serde_json::to_value(lower(&[format!("{name}=1")]).unwrap()).unwrap();
            assert_eq!(lowered[name], 1, "{name}");
        }
        assert!(lower(&["noSuchLimit=1".to_owned()]).is_err());
    }
}
