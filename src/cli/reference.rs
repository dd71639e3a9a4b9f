//! Sessions as a person names them: `registry/resolve`, and what to do with its answers.

use super::output::{Failure, confirms, plain};
use super::{FAILED, NOT_FOUND, USAGE};
use crate::limits;
use crate::protocol::{Candidate, Entry, Reason, ResolveParams, ResolvedBy, RpcError};
use crate::service::Local;

/// Returns the one entry that a reference means, and what matched.
pub(super) fn find(local: &Local, reference: &str) -> Result<(Entry, ResolvedBy), Failure> {
    let params = ResolveParams { reference: reference.to_owned(), limit: None };
    local.find(params).map_err(|error| failure(reference, &error))
}

/// The same for a command that acts on the session. A match by title alone is confirmed at the terminal, and refused
/// elsewhere: a title may be what a web page made of it.
pub(super) fn find_to_act(local: &Local, reference: &str) -> Result<Entry, Failure> {
    let (entry, by) = find(local, reference)?;
    let (id, title) = (plain(&entry.id), plain(entry.title.as_deref().unwrap_or_default()));
    let question = || format!("{title}\n          {id}\nIs this the session that you mean?");
    if by == ResolvedBy::Title && !confirms(&question())? {
        return Err(Failure::new(USAGE, format!("only a title matches: {title}; name the session by its id, {id}")));
    }
    Ok(entry)
}

/// A refusal of `registry/resolve`, with the exit code for it.
pub(super) fn failure(reference: &str, error: &RpcError) -> Failure {
    let reference = plain(reference);
    match error.reason() {
        Reason::Ambiguous => Failure::new(USAGE, ambiguous(&reference, error)),
        Reason::NotFound if reference.chars().count() < limits::SHORT_ID => {
            let message = format!("`{reference}` is too short: give {} characters or more", limits::SHORT_ID);
            Failure::new(USAGE, message)
        }
        Reason::NotFound => {
            let message =
                format!("there is no session `{reference}`; `tackroom list` shows the sessions of this machine");
            Failure::new(NOT_FOUND, message)
        }
        _ => Failure::new(FAILED, plain(&error.to_string())),
    }
}

fn ambiguous(reference: &str, error: &RpcError) -> String {
    let data = error.data();
    let candidates: Vec<Candidate> = serde_json::from_value(data["candidates"].clone()).unwrap_or_default();
    let total = data["total"].as_u64().unwrap_or_default();
    let lines = candidates.iter().map(|candidate| {
        let title = candidate.title.as_deref().unwrap_or("(no title)");
        format!("{}  {}", plain(&candidate.id), plain(title))
    });
    let total = usize::try_from(total).unwrap_or(usize::MAX);
    with_candidates(format!("`{reference}` matches {total} sessions; give more of one id:"), lines, total)
}

/// A message with a line for each of the first candidates, and how many more there are.
pub(super) fn with_candidates(mut message: String, candidates: impl Iterator<Item = String>, total: usize) -> String {
    let mut listed = 0;
    for candidate in candidates.take(limits::CANDIDATES[0]) {
        message.push_str(&format!("\n  {candidate}"));
        listed += 1;
    }
    if total > listed {
        message.push_str(&format!("\n  and {} more", total - listed));
    }
    message
}
