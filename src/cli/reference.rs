//! Sessions as a person names them: `registry/resolve`, and what to do with its answers.

use super::output::{Failure, plain};
use super::{FAILED, NOT_FOUND, USAGE};
use crate::limits;
use crate::protocol::{Candidate, DescribeParams, Entry, Reason, ResolveParams, ResolvedBy, RpcError};
use crate::service::Local;
use std::io::{IsTerminal, Write};

/// Returns the one entry that a reference means, and what matched.
pub(super) fn find(local: &Local, reference: &str) -> Result<(Entry, ResolvedBy), Failure> {
    let params = ResolveParams { reference: reference.to_owned(), limit: None };
    let found = local.resolve(params).map_err(|error| failure(reference, &error))?;
    let described = local.wait(local.user().describe(DescribeParams { id: found.id, include: None }));
    Ok((described.map_err(|error| failure(reference, &error))?.entry, found.by))
}

/// The same for a command that acts on the session. A match by title alone is confirmed at the terminal, and refused
/// elsewhere: a title may be what a web page made of it.
pub(super) fn find_to_act(local: &Local, reference: &str) -> Result<Entry, Failure> {
    let (entry, by) = find(local, reference)?;
    if by == ResolvedBy::Title && !confirms(&entry)? {
        let (id, title) = (plain(&entry.id), plain(entry.title.as_deref().unwrap_or_default()));
        return Err(Failure::new(USAGE, format!("only a title matches: {title}; name the session by its id, {id}")));
    }
    Ok(entry)
}

fn confirms(entry: &Entry) -> Result<bool, Failure> {
    let (input, error) = (std::io::stdin(), std::io::stderr());
    if !input.is_terminal() || !error.is_terminal() {
        return Ok(false);
    }
    let (id, title) = (plain(&entry.id), plain(entry.title.as_deref().unwrap_or_default()));
    write!(error.lock(), "tackroom: {title}\n          {id}\nIs this the session that you mean? [y/N] ")?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
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
    let mut message = format!("`{reference}` matches {total} sessions; give more of one id:");
    for candidate in &candidates {
        let title = candidate.title.as_deref().unwrap_or("(no title)");
        message.push_str(&format!("\n  {}  {}", plain(&candidate.id), plain(title)));
    }
    let more = total.saturating_sub(candidates.len() as u64);
    if more > 0 {
        message.push_str(&format!("\n  and {more} more"));
    }
    message
}
