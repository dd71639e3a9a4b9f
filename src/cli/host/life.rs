//! The life of one host: from the agent's start until it, or a client, or a signal ends it.

use super::told::Told;
use super::{HostArgs, UnattendedArg};
use crate::cli::FAILED;
use crate::cli::clean::{clean, one_line};
use crate::cli::output::{Failure, note};
use crate::harness::Homes;
use crate::host::start::{Ready, Starter};
use crate::host::{End, Host, Options, Unattended, agent};
use crate::limits;
use crate::platform::{process, random, signals::Signals};
use crate::protocol::{EndpointCapability, Harness, RegisterParams, RuntimeMetadata, Source, Supervisor, Token};
use crate::runtime::Receipts;
use std::convert::Infallible;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Hosts until the end, and tells it to who is there. A starter that goes away before it said that the host may go on
/// ends it.
pub(super) async fn live(args: &HostArgs, mut starter: Option<Starter>) -> Result<ExitCode, Failure> {
    let mut signals = Signals::new()?;
    let receipts = Receipts::new(Homes::from_environment().receipts().map(Path::to_owned));
    let made = tokio::select! {
        made = make(args, &receipts) => made,
        signal = signals.next() => return Ok(ExitCode::from(128 + signal)),
        () = gone(starter.as_mut()) => return Ok(ExitCode::from(FAILED)),
        never = patience() => match never {},
    };
    let Made { host, ready, agent_gone } = match made {
        Ok(made) => made,
        Err(why) => {
            if let Some(starter) = starter {
                starter.failed(&why).await;
            }
            return Err(Failure::new(FAILED, why));
        }
    };
    args.tell(&ready)?;
    let told = Told::new();
    let end = tokio::select! {
        end = host.ended() => Cause::Ended(end),
        signal = signals.next() => Cause::Signal(signal),
        () = unwanted(starter, ready) => Cause::Unwanted,
        never = told.listen(&host), if !args.is_alone() => match never {},
    };
    // Nobody is sent to a door that closes.
    receipts.close();
    let code = match end {
        Cause::Ended(end) => ended(&told, &end),
        Cause::Unwanted => FAILED,
        Cause::Signal(signal) => 128 + signal,
    };
    host.close();
    let farewell = async {
        host.ended().await;
        agent_gone.await;
    };
    // Others hear of it, and the agent may have something to put away. Who does not wait for it kills it.
    tokio::select! {
        _ = tokio::time::timeout(limits::HOST_END, farewell) => {}
        _ = signals.next() => {}
    }
    told.close();
    Ok(ExitCode::from(code))
}

/// Why a host ends.
enum Cause {
    /// It was closed, or its agent is gone.
    Ended(End),
    /// A signal came.
    Signal(u8),
    /// Who started it does not want it.
    Unwanted,
}

/// A host that is ready.
struct Made<F> {
    host: Host,
    ready: Ready,
    /// Resolves when the agent's process is gone.
    agent_gone: F,
}

/// Resolves when who started this, and hears that it is ready, goes away before it said that it may go on.
async fn unwanted(starter: Option<Starter>, ready: Ready) {
    if let Some(starter) = starter
        && !starter.ready(ready).await.unwrap_or(false)
    {
        return;
    }
    std::future::pending().await
}

/// Resolves when who started this is gone.
async fn gone(starter: Option<&mut Starter>) {
    match starter {
        Some(starter) => starter.gone().await,
        None => std::future::pending().await,
    }
}

/// Tells whoever looks that the agent takes its time.
pub(super) async fn patience() -> Infallible {
    tokio::time::sleep(limits::HOST_PATIENCE).await;
    note("-- waiting for the agent");
    std::future::pending().await
}

/// Starts the agent, opens the door to it and publishes it. What was begun ends where this is dropped.
async fn make(args: &HostArgs, receipts: &Receipts) -> Result<Made<impl Future<Output = ()> + use<>>, String> {
    let mut agent = agent::start(&args.agent()).await.map_err(|error| clean(&error.to_string()))?;
    let harness = args.harness.or(agent.facts.harness).unwrap_or(Harness::Acp);
    agent.facts.harness = Some(harness);
    let child = agent.pid;
    let (agent_gone, session_id) = (process::exited(child), agent.facts.session_id.clone());
    let unlucky = |error| format!("the system provides no random numbers: {error}");
    let runtime_id = random::hex::<16>().map_err(unlucky)?;
    let token = Token::new(random::hex::<32>().map_err(unlucky)?);
    let options = args.options(runtime_id.clone(), token.clone());
    let host = Host::start(agent, options).await.map_err(|error| format!("cannot listen on a port: {error}"))?;
    let source = Source { harness, session_id, workspace: args.workspace.display().to_string() };
    let supervisor = args.within_tmux.clone().map(|session_name| Supervisor::Tmux { session_name });
    let params = RegisterParams {
        runtime_id: runtime_id.clone(),
        source: source.clone(),
        base_url: host.base_url().to_owned(),
        token,
        // The owner is this process: when it dies the door is closed, whatever becomes of the agent.
        pid: None,
        metadata: Some(RuntimeMetadata {
            endpoint_capabilities: Some(vec![EndpointCapability::Http]),
            supervisor,
            ..RuntimeMetadata::default()
        }),
    };
    let published = match args.load {
        Some(_) => receipts.publish_loaded(&params, child),
        None => receipts.publish(&params, Some(child)),
    };
    let endpoint = published.map_err(|error| error.to_string())?;
    let ready = Ready { runtime_id, endpoint, source, pid: std::process::id() };
    Ok(Made { host, ready, agent_gone })
}

/// Tells how it ended: the exit code.
fn ended(told: &Told, end: &End) -> u8 {
    match end {
        End::Closed => {
            told.say("-- closed");
            0
        }
        End::Gone(gone) => {
            told.say(&format!("-- the agent exited: {}", one_line(&gone.how)));
            for line in clean(&gone.stderr).lines() {
                told.say(&format!("  | {line}"));
            }
            FAILED
        }
    }
}

impl HostArgs {
    fn agent(&self) -> agent::Options {
        agent::Options {
            command: self.command.clone(),
            workspace: self.workspace.clone(),
            load: self.load.clone(),
            files: !self.no_files,
            terminals: !self.no_terminals,
        }
    }

    fn options(&self, runtime_id: String, token: Token) -> Options {
        Options {
            runtime_id,
            token,
            lease_ttl: Duration::from_millis(self.lease_ttl_ms),
            unattended: match self.unattended {
                UnattendedArg::Deny => Unattended::Deny,
                UnattendedArg::Wait => Unattended::Wait,
            },
            profile: None,
            port: 0,
        }
    }
}
