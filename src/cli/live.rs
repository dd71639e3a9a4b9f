//! Runtimes as a person names them, and what they answer in a person's words.

use super::named::{self, CANDIDATES, SHORTEST};
use super::output::{Failure, plain};
use super::{FAILED, NOT_FOUND, USAGE};
use crate::protocol::{
    AttachParams, DiscoverParams, Door, Empty, Entry, ListParams, Query, Reason, Receipt, RpcError, State,
};
use crate::service::Local;

/// The one runtime that is meant, by its id, its endpoint, its session's id, a beginning of these or a part of its
/// session's title; and its receipt, where that was enough to find it.
pub fn find(local: &Local, name: &str) -> Result<Receipt, Failure> {
    let mut receipts = local.wait(local.user().receipts(Empty {})).map_err(failure)?.receipts;
    let named = receipts.iter().any(|receipt| names(receipt).iter().any(|one| one == name));
    if !named && name.chars().count() < SHORTEST {
        return Err(Failure::new(USAGE, format!("`{}` is too short: give {SHORTEST} characters or more", plain(name))));
    }
    let is_meant =
        |receipt: &Receipt| names(receipt).iter().any(|one| if named { one == name } else { one.starts_with(name) });
    if receipts.iter().any(is_meant) {
        receipts.retain(is_meant);
    } else {
        let titled = titled(local, name)?;
        receipts.retain(|receipt| titled.iter().any(|entry| entry.endpoint.as_ref() == Some(&receipt.endpoint)));
    }
    only(local, name, receipts)
}

/// Of several for one conversation that newest that answers is meant, unless they share an id: then nobody knows.
fn only(local: &Local, name: &str, mut receipts: Vec<Receipt>) -> Result<Receipt, Failure> {
    let Some(newest) = receipts.first() else { return Err(nothing(local, name)) };
    if receipts.len() == 1 {
        return Ok(receipts.remove(0));
    }
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

/// The live entries whose title holds a text.
fn titled(local: &Local, text: &str) -> Result<Vec<Entry>, Failure> {
    let query = Query { text: Some(text.to_owned()), persisted: Some(false), ..Query::default() };
    Ok(local.list(ListParams { query: Some(query), cursor: None, limit: Some(i64::MAX) })?.entries)
}

fn ambiguous(name: &str, receipts: &[Receipt]) -> Failure {
    let mut message = format!("`{}` fits {} runtimes; name one by its endpoint:", plain(name), receipts.len());
    for receipt in receipts.iter().take(CANDIDATES) {
        let workspace = plain(&receipt.source.workspace);
        message.push_str(&format!("\n  {}  {}  {workspace}", receipt.endpoint, plain(&receipt.runtime_id)));
    }
    if receipts.len() > CANDIDATES {
        message.push_str(&format!("\n  and {} more", receipts.len() - CANDIDATES));
    }
    Failure::new(USAGE, message)
}

/// That a session is live already, and what can be done with it.
pub fn already(entry: &Entry) -> String {
    let id = plain(&entry.id);
    match &entry.runtime_id {
        Some(_) => format!("{id} is live already: `tackroom attach {id}` joins it"),
        None => format!("{id} is open already, in {}: {}", holders(entry), instead(entry)),
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
    if is_peer { format!("`tackroom message {id} TEXT` reaches it") } else { "go to where it runs".to_owned() }
}

/// That nothing is joined by this name, and what can be done instead.
fn nothing(local: &Local, name: &str) -> Failure {
    let looked = named::find(local, name).ok().filter(|entry| entry.state != State::Persisted);
    if let Some(entry) = looked {
        let (id, holders) = (plain(&entry.id), holders(&entry));
        let message =
            format!("{id} is open in {holders}, which is not a runtime that can be joined: {}", instead(&entry));
        return Failure::new(NOT_FOUND, message);
    }
    let name = plain(name);
    let query = Query { text: Some(name.clone()), ..Query::default() };
    let stored = local.list(ListParams { query: Some(query), cursor: None, limit: Some(0) });
    let message = match stored {
        Ok(found) if found.total > 0 => {
            format!("no runtime that can be joined runs `{name}`; `tackroom resume` goes back into a stored session")
        }
        _ => format!("there is no runtime `{name}`; `tackroom runtime receipts` shows those that there are"),
    };
    Failure::new(NOT_FOUND, message)
}

/// How to join a runtime that was found.
pub fn joining(receipt: &Receipt) -> AttachParams {
    AttachParams {
        endpoint: Some(receipt.endpoint.to_string()),
        source: Some(receipt.source.clone()),
        ..AttachParams::default()
    }
}

/// A refusal, with the exit code for it.
pub fn failure(error: RpcError) -> Failure {
    let code = match error.reason() {
        Reason::NotFound | Reason::NotLive => NOT_FOUND,
        Reason::InvalidParams | Reason::AmbiguousRuntime => USAGE,
        _ => FAILED,
    };
    Failure::new(code, refusal(&error, "--take takes control"))
}

/// A refusal in a person's words; `take` says how control is taken here.
pub fn refusal(error: &RpcError, take: &str) -> String {
    match error.reason() {
        Reason::ControllerRequired => match error.data()["holder"].as_str() {
            Some(holder) => format!("{} drives this runtime; {take}", plain(holder)),
            None => format!("somebody else drives this runtime; {take}"),
        },
        Reason::LeaseExpired => format!("your control of this runtime lapsed; {take}"),
        _ => plain(&error.to_string()),
    }
}
