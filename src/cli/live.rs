//! Runtimes as a person names them, and what they answer in a person's words.

use super::output::{Failure, plain};
use super::{FAILED, NOT_FOUND, USAGE, reference};
use crate::limits;
use crate::protocol::{AttachParams, DiscoverParams, Door, Empty, Entry, Reason, Receipt, RpcError, State};
use crate::service::Local;

/// Returns the receipt of the one runtime that a reference means. A session that several runtimes have means the newest
/// that answers.
pub(super) fn find(local: &Local, name: &str) -> Result<Receipt, Failure> {
    let mut receipts = local.wait(local.user().receipts(Empty {})).map_err(failure)?.receipts;
    let is_exact = |receipt: &Receipt| receipt.runtime_id == name || receipt.endpoint.as_str() == name;
    if receipts.iter().any(is_exact) {
        receipts.retain(is_exact);
        return only(local, name, receipts);
    }
    let entry = match reference::find_to_act(local, name) {
        Ok(entry) => entry,
        // A runtime without an entry, such as one whose id another one claims, is still reached by a short id.
        Err(failure) => {
            let is_short = name.chars().count() < limits::SHORT_ID;
            receipts.retain(|receipt| !is_short && names(receipt).iter().any(|one| one.starts_with(name)));
            return if receipts.is_empty() { Err(failure) } else { only(local, name, receipts) };
        }
    };
    let Some(own) = receipts.iter().find(|receipt| Some(&receipt.endpoint) == entry.endpoint.as_ref()) else {
        return Err(not_a_runtime(&entry));
    };
    let source = own.source.clone();
    receipts.retain(|receipt| receipt.source == source);
    only(local, name, receipts)
}

/// Of several for one conversation that newest that answers is meant, unless they share an id: then nobody knows.
fn only(local: &Local, name: &str, mut receipts: Vec<Receipt>) -> Result<Receipt, Failure> {
    if receipts.len() == 1 {
        return Ok(receipts.remove(0));
    }
    let Some(newest) = receipts.first() else {
        return Err(Failure::new(NOT_FOUND, format!("there is no runtime `{}`", plain(name))));
    };
    let of_one = receipts.iter().all(|other| other.source == newest.source);
    if !of_one || receipts.iter().skip(1).any(|other| other.runtime_id == newest.runtime_id) {
        return Err(ambiguous(name, &receipts));
    }
    let source = newest.source.clone();
    let answers = local.wait(local.user().discover(DiscoverParams { source })).map_err(failure)?.endpoint;
    let place = receipts.iter().position(|receipt| Some(&receipt.endpoint) == answers.as_ref()).unwrap_or(0);
    Ok(receipts.swap_remove(place))
}

/// All by which a runtime can be named.
fn names(receipt: &Receipt) -> [String; 4] {
    let session = &receipt.source.session_id;
    let stored = format!("{}:{session}", receipt.source.harness.id());
    [receipt.runtime_id.clone(), receipt.endpoint.to_string(), session.clone(), stored]
}

fn ambiguous(name: &str, receipts: &[Receipt]) -> Failure {
    let message = format!("`{}` matches {} runtimes; name one by its endpoint:", plain(name), receipts.len());
    let lines = receipts.iter().map(|receipt| {
        let workspace = plain(&receipt.source.workspace);
        format!("{}  {}  {workspace}", receipt.endpoint, plain(&receipt.runtime_id))
    });
    Failure::new(USAGE, reference::with_candidates(message, lines, receipts.len()))
}

/// That a session is live already, and what can be done with it.
pub(super) fn already(entry: &Entry) -> String {
    let id = plain(&entry.id);
    match &entry.runtime_id {
        Some(_) => format!("{id} is live: attach with `tackroom attach {id}`"),
        None => format!("{id} is open in {}: {}", holders(entry), instead(entry)),
    }
}

/// The processes that have a live session.
fn holders(entry: &Entry) -> String {
    let activity = entry.activity.as_ref();
    let pids = activity.and_then(|activity| activity.pids.clone().or_else(|| Some(vec![activity.pid?])));
    let pids = pids.unwrap_or_default().iter().map(i32::to_string).collect::<Vec<_>>();
    match pids.as_slice() {
        [] => "another process".to_owned(),
        [pid] => format!("process {pid}"),
        pids => format!("processes {}", pids.join(", ")),
    }
}

/// What can be done with a live session that is not a runtime.
fn instead(entry: &Entry) -> String {
    let is_peer = entry.doors.iter().flatten().any(|door| *door == Door::Peer);
    let id = plain(&entry.id);
    let go = format!("`tackroom go {id}` shows its terminal");
    if is_peer { format!("`tackroom message {id} TEXT` reaches it, {go}") } else { go }
}

/// That a session is not a runtime, and what can be done instead.
fn not_a_runtime(entry: &Entry) -> Failure {
    if entry.state == State::Persisted {
        return not_running(entry);
    }
    let (id, holders) = (plain(&entry.id), holders(entry));
    let message = format!("{id} is open in {holders}, which clients cannot attach to: {}", instead(entry));
    Failure::new(NOT_FOUND, message)
}

/// That a session is not running, and how it is resumed.
pub(super) fn not_running(entry: &Entry) -> Failure {
    let id = plain(&entry.id);
    Failure::new(NOT_FOUND, format!("{id} is not running; `tackroom resume {id}` resumes it"))
}

/// How to join a runtime that was found.
pub(super) fn joining(receipt: &Receipt) -> AttachParams {
    AttachParams {
        endpoint: Some(receipt.endpoint.to_string()),
        source: Some(receipt.source.clone()),
        ..AttachParams::default()
    }
}

/// A refusal, with the exit code for it.
pub(super) fn failure(error: RpcError) -> Failure {
    let code = match error.reason() {
        Reason::NotFound | Reason::NotLive => NOT_FOUND,
        Reason::InvalidParams | Reason::AmbiguousRuntime => USAGE,
        _ => FAILED,
    };
    Failure::new(code, refusal(&error, "use --take to take control"))
}

/// A refusal in a person's words; `take` says how control is taken here.
pub(super) fn refusal(error: &RpcError, take: &str) -> String {
    match error.reason() {
        Reason::ControllerRequired => match error.data()["holder"].as_str() {
            Some(holder) => format!("{} has control of this runtime; {take}", plain(holder)),
            None => format!("another client has control of this runtime; {take}"),
        },
        Reason::LeaseExpired => format!("your control of this runtime expired; {take}"),
        _ => plain(&error.to_string()),
    }
}
