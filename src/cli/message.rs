//! `tackroom message`: a text into a live Claude Code session, through a courier.

use super::output::{self, Failure, plain};
use super::{CourierArgs, FAILED, HELD, LookArgs, NOT_FOUND, REFUSED, USAGE, own_config, reference};
use crate::limits;
use crate::peer::courier;
use crate::platform::signals::Signals;
use crate::protocol::{
    MessageParams, MessageResult, Outcome, PeerSelector, Reason, ResolveParams, ResolvedBy, RpcError,
};
use crate::service::{Config, Local};
use clap::Args;
use std::io::Read;
use std::process::ExitCode;

#[derive(Args)]
pub(super) struct MessageArgs {
    /// Session: a name, an id, its first 4 or more characters, or an endpoint
    #[arg(value_name = "NAME|ID")]
    to: String,
    /// Text of the message. Read from stdin if absent or `-`
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

pub(super) fn run(args: &MessageArgs) -> Result<ExitCode, Failure> {
    let local = Local::new(Config { courier: args.courier.program(), ..own_config(&args.look) })?;
    // What earlier calls left that were killed; whatever cannot be removed waits for the next one.
    let _ = courier::sweep();
    let to = selector(&local, &args.to)?;
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
            format!("accepted  {name}  in its inbox\n")
        }
        (Outcome::Accepted, detail) => format!("accepted  {name}  in its inbox; {detail}\n"),
        (Outcome::Held, detail) => format!("held  {name}  {detail}\n"),
        (Outcome::Refused, detail) => format!("refused  {name}  {detail}\n"),
    }
}

/// Returns how `peer/message` names the session that a person means. A title is never enough to send a message to.
fn selector(local: &Local, to: &str) -> Result<PeerSelector, Failure> {
    let empty = PeerSelector::default();
    if to.starts_with("cc-peer:") {
        return Ok(PeerSelector { endpoint: Some(to.to_owned()), ..empty });
    }
    let params = ResolveParams { reference: to.to_owned(), limit: None };
    match local.resolve(params) {
        Ok(found) if found.by == ResolvedBy::Title => {
            let message =
                format!("`{}` matches only a title; name the session by its id, {}", plain(to), plain(&found.id));
            Err(Failure::new(USAGE, message))
        }
        // Several processes may have one id; their names differ.
        Ok(found) if found.by != ResolvedBy::Name => Ok(PeerSelector { id: Some(found.id), ..empty }),
        Err(error) if error.reason() == Reason::Ambiguous => Err(reference::failure(to, &error)),
        // Why no live session has this name is for the method to say.
        _ => Ok(PeerSelector { name: Some(to.to_owned()), ..empty }),
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
