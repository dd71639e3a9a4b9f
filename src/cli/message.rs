//! `tackroom message`: a text into a live Claude Code session, through a courier.

use super::named::SHORTEST;
use super::output::{self, Failure, plain};
use super::{CourierArgs, FAILED, HELD, LookArgs, NOT_FOUND, REFUSED, USAGE, own_config};
use crate::limits;
use crate::peer::courier;
use crate::platform::signals::Signals;
use crate::protocol::{Empty, MessageParams, MessageResult, Outcome, Peer, PeerSelector, Reason, RpcError};
use crate::service::{Config, Local};
use clap::Args;
use std::io::Read;
use std::process::ExitCode;

#[derive(Args)]
pub struct MessageArgs {
    /// The session: its name, its id or the beginning of one, or an endpoint
    #[arg(value_name = "NAME|ID")]
    to: String,
    /// What is said; without it, or where it is `-`, standard input
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
    /// Print the result of `peer/message` as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    courier: CourierArgs,
    #[command(flatten)]
    look: LookArgs,
}

pub fn run(args: &MessageArgs) -> Result<ExitCode, Failure> {
    let local = Local::new(Config { courier: args.courier.program(), ..own_config(&args.look) })?;
    // What earlier calls left that were killed; whatever cannot be removed waits for the next one.
    let _ = courier::sweep();
    let to = selector(&args.to, &local.peers(Empty {})?.peers)?;
    let text = match args.text.as_deref() {
        None | Some("-") => read_text()?,
        Some(text) => text.to_owned(),
    };
    let user = local.user();
    let delivery = user.message(MessageParams { to, text });
    let end = local.wait(async {
        let mut signals = Signals::new()?;
        let delivery = tokio::select! {
            biased;
            signal = signals.next() => Err(signal),
            delivery = delivery => Ok(delivery),
        };
        // However we leave, what was started is gone before us.
        user.end_couriers().await;
        std::io::Result::Ok(delivery)
    })?;
    match end {
        Err(signal) => Ok(ExitCode::from(128 + signal)),
        Ok(delivery) => tell(args, &delivery.map_err(|error| failure(&error))?),
    }
}

/// Where nobody reads what became of the message, the exit code says it all the same.
fn tell(args: &MessageArgs, result: &MessageResult) -> Result<ExitCode, Failure> {
    let told = if args.json { output::write_json(result) } else { output::write(&line(result)) };
    if let Err(failure @ Failure::Told { .. }) = told {
        return Err(failure);
    }
    Ok(match result.outcome {
        Outcome::Accepted => ExitCode::SUCCESS,
        Outcome::Held => ExitCode::from(HELD),
        Outcome::Refused => ExitCode::from(REFUSED),
    })
}

fn line(result: &MessageResult) -> String {
    let name = plain(&result.peer.name);
    match (result.outcome, result.detail.as_deref().map(plain).unwrap_or_default()) {
        (Outcome::Accepted, detail) if detail.is_empty() => {
            format!("accepted  {name}  in its inbox, and nothing said against it\n")
        }
        (Outcome::Accepted, detail) => format!("accepted  {name}  in its inbox; {detail}\n"),
        (Outcome::Held, detail) => format!("held  {name}  {detail}\n"),
        (Outcome::Refused, detail) => format!("refused  {name}  {detail}\n"),
    }
}

/// How the session is named that a person means.
fn selector(to: &str, peers: &[Peer]) -> Result<PeerSelector, Failure> {
    let empty = PeerSelector::default();
    if to.starts_with("cc-peer:") {
        return Ok(PeerSelector { endpoint: Some(to.to_owned()), ..empty });
    }
    if to.starts_with("claude-code:") {
        return Ok(PeerSelector { id: Some(to.to_owned()), ..empty });
    }
    let name = PeerSelector { name: Some(to.to_owned()), ..empty.clone() };
    if to.chars().count() < SHORTEST || peers.iter().any(|peer| peer.name.to_lowercase() == to.to_lowercase()) {
        return Ok(name);
    }
    let mut ids: Vec<&str> =
        peers.iter().map(|peer| peer.session_id.as_str()).filter(|id| id.starts_with(to)).collect();
    ids.dedup();
    match *ids {
        [] => Ok(name),
        [id] => Ok(PeerSelector { session_id: Some(id.to_owned()), ..empty }),
        _ => Err(Failure::new(USAGE, format!("`{}` begins {} ids; give more of one", plain(to), ids.len()))),
    }
}

/// The whole input, without the end of its last line: that is the shell's and not the text's.
fn read_text() -> Result<String, Failure> {
    let mut text = Vec::new();
    // One more than may be sent, and a line's end.
    std::io::stdin().take(limits::DEFAULT.message_bytes as u64 + 3).read_to_end(&mut text)?;
    let mut text = String::from_utf8(text).map_err(|_| Failure::new(USAGE, "standard input is not UTF-8"))?;
    if text.ends_with('\n') {
        text.pop();
        text.truncate(text.trim_end_matches('\r').len());
    }
    Ok(text)
}

fn failure(error: &RpcError) -> Failure {
    let code = match error.reason() {
        Reason::NotLive => NOT_FOUND,
        Reason::InvalidEndpoint | Reason::IdentityMismatch => USAGE,
        _ => FAILED,
    };
    Failure::new(code, plain(&error.to_string()).replace("`peer/list`", "`tackroom peers`"))
}
