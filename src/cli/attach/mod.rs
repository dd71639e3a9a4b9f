//! `tackroom attach`: a running agent in this terminal, or its events for a program.

mod asked;
mod calls;
mod canvas;
mod editor;
mod plain;
mod session;
mod terminal;
mod typed;
mod view;

use super::clean::one_line;
use super::line::Line;
use super::output::Failure;
use super::{LookArgs, USAGE, live, own_config};
use crate::limits;
use crate::platform::signals::Signals;
use crate::platform::terminal::Raw;
use crate::protocol::{AttachParams, AttachResult, Permission, RuntimeEvent, RuntimeResponse};
use crate::service::Local;
use clap::Args;
use serde_json::Value;
use session::Session;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::process::ExitCode;
use view::View;

#[derive(Args)]
pub(super) struct AttachArgs {
    /// Runtime: its id, its session's id, the first 4 or more characters of one, an endpoint, or words of the title
    id: String,
    /// Observe only: send nothing to the agent
    #[arg(long)]
    observe: bool,
    /// Your client name: characters A-Z a-z 0-9 . _ -
    #[arg(long, value_name = "NAME")]
    client_id: Option<String>,
    /// Maximum number of history messages
    #[arg(long, value_name = "N", default_value_t = limits::HISTORY_DEFAULT)]
    history: u32,
    /// Print the result of `runtime/attach` and then each event as one line of JSON
    #[arg(long)]
    json: bool,
    /// Also show protocol messages, usage, and changes of commands and modes
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    look: LookArgs,
}

/// Said where a person attaches to a runtime that denies approvals while nobody is attached.
const ATTACHED: &str = "approvals now come to you; with no client attached they are denied";
/// The same where a person cannot answer.
const OBSERVED: &str = "approvals now go to the controller; with no client attached they are denied";

pub(super) fn run(args: &AttachArgs) -> Result<ExitCode, Failure> {
    let mut local = Local::new(own_config(&args.look))?;
    let told = local.notifications().ok_or_else(|| Failure::new(USAGE, "attached already"))?;
    let params = AttachParams {
        client_id: args.client_id.clone(),
        history_limit: Some(args.history.into()),
        permissions: args.observe.then(|| vec![Permission::Observe]),
        ..live::joining(&live::find(&local, &args.id)?)
    };
    let user = local.user();
    local.wait(async {
        let mut signals = Signals::new()?;
        let (mut session, joined) = tokio::select! {
            joined = Session::join(user, told, params) => joined.map_err(live::failure)?,
            signal = signals.next() => return Ok(ExitCode::from(128 + signal)),
        };
        let end = talk(args, &mut session, &joined, &mut signals).await;
        // Whoever is in a hurry, or gone, does not wait for a runtime that does not answer.
        tokio::select! {
            () = session.leave() => {}
            _ = signals.next() => {}
        }
        end
    })
}

async fn talk(
    args: &AttachArgs,
    session: &mut Session,
    joined: &AttachResult,
    signals: &mut Signals,
) -> Result<ExitCode, Failure> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    match (is_terminal && !args.json).then(Raw::enter) {
        Some(Ok(raw)) => terminal::run(args, raw, session, joined, signals).await,
        _ => plain::run(args, session, joined, signals).await,
    }
}

/// What somebody who cannot be asked answers to a request.
pub(super) fn refusal(event: &RuntimeEvent) -> Option<RuntimeResponse> {
    Some(asked::Asked::of(&session::payload(event))?.refusal())
}

/// What happened since the history ends. What was asked and answered is told again after it, and would look as if it was
/// asked now.
fn replayed(replay: &[RuntimeEvent]) -> impl Iterator<Item = (&str, Value)> {
    let events: Vec<_> = replay.iter().map(|event| (event.kind.as_str(), session::payload(event))).collect();
    let resolved = events.iter().filter(|(kind, _)| *kind == "request_resolved");
    let answered: BTreeSet<u64> = resolved.filter_map(|(_, payload)| payload["request_id"].as_u64()).collect();
    let is_over = move |kind: &str, payload: &Value| {
        let id = if kind == "request" { &payload["request"]["id"] } else { &payload["request_id"] };
        matches!(kind, "request" | "request_resolved") && id.as_u64().is_some_and(|id| answered.contains(&id))
    };
    events.into_iter().filter(move |(kind, payload)| !is_over(kind, payload))
}

/// The lines of what there was before, and whose it is.
fn opening(args: &AttachArgs, session: &Session, joined: &AttachResult, view: &mut View) -> Vec<Line> {
    let mut lines: Vec<Line> = joined
        .history
        .iter()
        .filter_map(|message| serde_json::from_str::<Value>(message.get()).ok())
        .flat_map(|message| View::message(&message))
        .collect();
    lines.extend(replayed(&joined.replay).flat_map(|(kind, payload)| view.event(kind, &payload)));
    let about = &session.about;
    let known = one_line(&about.words().join(", "));
    let known = if known.is_empty() { String::new() } else { format!(" ({known})") };
    let role = if args.observe { "observing" } else { "attached to" };
    lines.push(Line::note(&format!("{role} {}{known} as {}", args.id, session.client_id)));
    if !session.about.waits() {
        lines.push(Line::note(if args.observe { OBSERVED } else { ATTACHED }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_answered_is_not_asked_again() {
        let asked = |id: u64| json!({ "kind": "request", "sequence": id, "payload": { "request": { "id": id } } });
        let answered = json!({ "kind": "request_resolved", "sequence": 3, "payload": { "request_id": 1 } });
        let done = json!({ "kind": "turn_started", "sequence": 4, "payload": {} });
        let replay: Vec<RuntimeEvent> =
            [asked(1), asked(2), answered, done].map(|event| serde_json::from_value(event).unwrap()).into();
        let told: Vec<_> = replayed(&replay).map(|(kind, payload)| (kind.to_owned(), payload)).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!((&told[0].1["request"]["id"], told[1].0.as_str()), (&json!(2), "turn_started"));
    }
}
