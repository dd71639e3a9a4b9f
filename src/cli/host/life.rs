//! The life of one host: from the agent's start until it, or a client, or a signal ends it.

use super::told::Told;
use super::{HostArgs, UnattendedArg};
use crate::cli::FAILED;
use crate::cli::clean::{clean, one_line};
use crate::cli::output::Failure;
use crate::harness::Homes;
use crate::host::start::{Ready, Starter};
use crate::host::{End, Host, Options, Unattended, agent};
use crate::platform::signals::Signals;
use crate::protocol::{EndpointCapability, Harness, RegisterParams, RuntimeMetadata, Source, Supervisor, Token};
use crate::runtime::Receipts;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Hosts until the end, and tells it to who is there. A starter that goes away before it said that the host may go on
/// ends it.
pub async fn live(args: &HostArgs, mut starter: Option<Starter>) -> Result<ExitCode, Failure> {
    let mut signals = Signals::new()?;
    let receipts = Receipts::new(Homes::from_environment().receipts().map(Path::to_owned));
    let made = tokio::select! {
        made = make(args, &receipts) => made,
        signal = signals.next() => return Ok(ExitCode::from(128 + signal)),
        () = gone(starter.as_mut()) => return Ok(ExitCode::from(FAILED)),
    };
    let (host, ready) = match (made, starter.take()) {
        (Ok((host, ready)), Some(starter)) => {
            if !starter.ready(ready.clone()).await? {
                return Ok(ExitCode::from(FAILED));
            }
            (host, ready)
        }
        (Err(why), Some(starter)) => {
            starter.failed(&why).await;
            return Err(Failure::new(FAILED, why));
        }
        (made, None) => made.map_err(|why| Failure::new(FAILED, why))?,
    };
    args.tell(&ready)?;
    let told = Told::new();
    let end = tokio::select! {
        end = host.ended() => Ok(end),
        signal = signals.next() => Err(signal),
    };
    // Nobody is sent to a door that closes.
    receipts.close();
    let code = match end {
        Ok(end) => ended(&told, &end),
        Err(signal) => {
            host.close();
            tokio::select! {
                _ = host.ended() => {}
                // Whoever is in a hurry does not wait for others to hear of it.
                _ = signals.next() => {}
            }
            128 + signal
        }
    };
    told.close();
    Ok(ExitCode::from(code))
}

/// Resolves when who started this is gone.
async fn gone(starter: Option<&mut Starter>) {
    match starter {
        Some(starter) => starter.gone().await,
        None => std::future::pending().await,
    }
}

/// Starts the agent, opens the door to it and publishes it. What was begun ends where this is dropped.
async fn make(args: &HostArgs, receipts: &Receipts) -> Result<(Host, Ready), String> {
    let mut agent = agent::start(&args.agent()).await.map_err(|error| clean(&error.to_string()))?;
    let harness = args.harness.or(agent.facts.harness).unwrap_or(Harness::Acp);
    agent.facts.harness = Some(harness);
    let (child, session_id) = (i32::try_from(agent.pid).ok(), agent.facts.session_id.clone());
    let (runtime_id, secret) = (random::<16>()?, random::<32>()?);
    let options = args.options(runtime_id.clone(), Token::new(secret));
    let token = options.token.clone();
    let host = Host::start(agent, options).await.map_err(|error| format!("no port can be had: {error}"))?;
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
    let endpoint = receipts.publish(&params, child).map_err(|error| error.to_string())?;
    Ok((host, Ready { runtime_id, endpoint, source, pid: std::process::id() }))
}

/// So many random bytes, as hexadecimal digits.
fn random<const BYTES: usize>() -> Result<String, String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gives no randomness: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Tells how it ended: the exit code.
fn ended(told: &Told, end: &End) -> u8 {
    match end {
        End::Closed => {
            told.say("-- closed");
            0
        }
        End::Gone(gone) => {
            told.say(&format!("-- the agent ended: {}", one_line(&gone.how)));
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
