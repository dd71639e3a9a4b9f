//! `tackroom host`: any agent of the Agent Client Protocol as a live runtime that many can join.

mod life;
mod tmux;
mod told;

use super::output::{self, Failure};
use super::{FAILED, LookArgs, USAGE, live, own_config};
use crate::host::agent;
use crate::host::start::{Ready, Starter, Starting};
use crate::limits;
use crate::platform::signals::Signals;
use crate::protocol::Harness;
use crate::service::Local;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args, Clone)]
#[command(after_help = AFTER_HELP)]
pub(super) struct HostArgs {
    /// Working directory of the agent
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// Continue this session of the agent, named by the agent's own id. Refused if the session is live
    #[arg(long, value_name = "SESSION")]
    load: Option<String>,
    /// Harness of the sessions [default: what the agent reports, else its program's name]
    #[arg(long)]
    harness: Option<Harness>,
    /// Do not read or write files for the agent
    #[arg(long)]
    no_files: bool,
    /// Do not run commands for the agent
    #[arg(long)]
    no_terminals: bool,
    /// What to do with the agent's requests while no client is attached
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = UnattendedArg::Deny)]
    unattended: UnattendedArg,
    /// How long a silent client keeps control. Observers are remembered for 120 s
    #[arg(long, value_name = "MILLISECONDS", default_value_t = LEASE_MS, value_parser = clap::value_parser!(u64).range(100..=86_400_000))]
    lease_ttl_ms: u64,
    /// Run in a new tmux session; return when the agent is ready
    #[arg(long, value_name = "NAME", value_parser = tmux::name, conflicts_with = "detach")]
    tmux: Option<String>,
    /// Run in the background; return when the agent is ready
    #[arg(long)]
    detach: bool,
    /// Print runtime id and endpoint as JSON
    #[arg(long)]
    json: bool,
    /// Where who started this is to be told
    #[arg(long, value_name = "SOCKET", hide = true)]
    report: Option<PathBuf>,
    /// The session of tmux that this runs in
    #[arg(long, value_name = "NAME", hide = true)]
    within_tmux: Option<String>,
    /// Agent to run: a program that speaks the Agent Client Protocol on stdin and stdout, and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const LEASE_MS: u64 = limits::HOST_LEASE.as_secs() * 1_000;

const AFTER_HELP: &str = "\
Examples:
  tackroom host -- opencode acp
  tackroom host --detach --workspace ~/src/roof -- gemini --acp
  tackroom attach ID       attach to it, here or in another terminal

When the host exits, so do the agent and the processes in its group. After SIGKILL only the agent
itself exits; its children may survive.

Exit codes:
  0    closed by a client; with --detach or --tmux: ready
  1    the agent could not be started, or exited unexpectedly
  2    usage error
  128+ ended by the signal of that number, together with the agent";

/// What to do with the agent's requests while no client is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UnattendedArg {
    /// Deny them immediately
    Deny,
    /// Keep them open until a client attaches
    Wait,
}

impl UnattendedArg {
    fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Wait => "wait",
        }
    }
}

pub(super) fn run(args: &HostArgs) -> Result<ExitCode, Failure> {
    let args = args.settled()?;
    if args.report.is_none() {
        args.refuse_live()?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let end = runtime.block_on(async {
        match (&args.report, &args.tmux) {
            (Some(report), _) => report_to(&args, report).await,
            (None, Some(name)) => started(&args, tmux::start(&args, name)).await,
            (None, None) if args.detach => {
                started(&args, async { Ok(Starting::detached(&args.arguments(), &args.workspace)?) }).await
            }
            (None, None) => life::live(&args, None).await,
        }
    });
    // A thread that waits for a file or for a terminal cannot be cancelled; it must not keep the process.
    runtime.shutdown_timeout(Duration::ZERO);
    end
}

/// A host of somebody who is told whether it came to be.
async fn report_to(args: &HostArgs, report: &Path) -> Result<ExitCode, Failure> {
    life::live(args, Some(Starter::named(report).await?)).await
}

/// Waits for a host that is being started elsewhere, and tells how to join it.
async fn started(
    args: &HostArgs,
    starting: impl Future<Output = Result<Starting, Failure>>,
) -> Result<ExitCode, Failure> {
    let mut signals = Signals::new()?;
    let ready = async {
        let mut starting = starting.await?;
        let ready = starting.ready().await?;
        starting.go_on().await?;
        starting.left().await;
        Ok::<_, Failure>(ready)
    };
    let ready = tokio::select! {
        ready = ready => ready?,
        // What was begun ends with this.
        signal = signals.next() => return Ok(ExitCode::from(128 + signal)),
        never = life::patience() => match never {},
    };
    args.tell(&ready)?;
    Ok(ExitCode::SUCCESS)
}

impl HostArgs {
    /// The same in words that mean the same everywhere.
    fn settled(&self) -> Result<Self, Failure> {
        let named = output::plain(&self.workspace.display().to_string());
        let workspace = self.workspace.canonicalize().ok().filter(|path| path.is_dir());
        let workspace = workspace.ok_or_else(|| Failure::new(FAILED, format!("{named} is not a directory")))?;
        if workspace.to_str().is_none() {
            return Err(Failure::new(FAILED, format!("{named}: the path is not UTF-8")));
        }
        let mut args = Self { workspace, ..self.clone() };
        let program = args.command.first_mut().filter(|program| !program.is_empty());
        let program = program.ok_or_else(|| Failure::new(USAGE, "give the agent's program after `--`"))?;
        // The agent works in another directory.
        if Path::new(program).components().count() > 1 {
            *program = std::path::absolute(&*program)?.into_os_string();
        }
        Ok(args)
    }

    /// Refuses a session that is live already: two agents would write to it.
    fn refuse_live(&self) -> Result<(), Failure> {
        let Some(load) = &self.load else { return Ok(()) };
        let local = Local::new(own_config(&LookArgs::default()))?;
        match local.live_session(self.harness.or(agent::harness_of(&self.command)), load)? {
            Some(entry) => Err(Failure::new(FAILED, live::already(&entry))),
            None => Ok(()),
        }
    }

    /// Whether nobody sees what this says.
    fn is_alone(&self) -> bool {
        self.report.is_some() && self.within_tmux.is_none()
    }

    /// The arguments by which another process hosts the same.
    fn arguments(&self) -> Vec<OsString> {
        let joined = |flag: &str, value: &dyn AsRef<std::ffi::OsStr>| {
            let mut argument = OsString::from(flag);
            argument.push("=");
            argument.push(value.as_ref());
            argument
        };
        // A new flag does not compile until it is passed on, or is named here as one that concerns this process only.
        let Self {
            workspace,
            load,
            harness,
            no_files,
            no_terminals,
            unattended,
            lease_ttl_ms,
            tmux,
            command,
            detach: _,
            json: _,
            report: _,
            within_tmux: _,
        } = self;
        let mut arguments = vec![
            joined("--workspace", workspace),
            joined("--unattended", &unattended.word()),
            joined("--lease-ttl-ms", &lease_ttl_ms.to_string()),
        ];
        arguments.extend(load.as_ref().map(|load| joined("--load", load)));
        arguments.extend(harness.map(|harness| joined("--harness", &harness.id())));
        arguments.extend(no_files.then(|| "--no-files".into()));
        arguments.extend(no_terminals.then(|| "--no-terminals".into()));
        arguments.extend(tmux.as_ref().map(|name| joined("--within-tmux", name)));
        arguments.push("--".into());
        arguments.extend(command.iter().cloned());
        arguments
    }

    /// Says how the runtime is joined.
    fn tell(&self, ready: &Ready) -> Result<(), Failure> {
        if self.json {
            return output::write(&output::json_line(ready)?);
        }
        let Ready { runtime_id, endpoint, source, .. } = ready;
        let mut text = format!(
            "hosting {} in {}\nruntime {runtime_id}\nendpoint {endpoint}\nattach with: tackroom attach {}\n",
            source.harness.name(),
            output::plain(&source.workspace),
            runtime_id.get(..SHORT).unwrap_or(runtime_id),
        );
        if let Some(name) = &self.tmux {
            text.push_str(&format!("watch it with: tmux attach -t {name}\n"));
        }
        output::write(&text)
    }
}

/// As much of an id as tells it from others.
const SHORT: usize = 8;
