//! The messages of an entry, page by page.

use super::{CursorError, Error, Snapshot};
use crate::authority::Grant;
use crate::harness::{self, Page, PageRequest, ReadError, Root, Session};
use crate::protocol::{Entry, Harness, LoadResult, Problem};

impl Snapshot {
    /// One page of an entry's messages; `None` where there is no such entry in scope, or not any more. What cannot be
    /// read is told as a problem.
    pub fn load(
        &self,
        id: &str,
        grant: &Grant,
        roots: &[Root],
        request: &PageRequest<'_>,
    ) -> Result<Option<LoadResult>, Error> {
        let Some(item) = self.item(id, grant) else { return Ok(None) };
        let prefix = cursor_prefix(&item.session_entry_id());
        let cursor = match request.cursor {
            None => None,
            Some(cursor) => Some(cursor.strip_prefix(&prefix).ok_or(CursorError::Malformed)?),
        };
        let own_only = item.has_ancestor_out_of_scope(&self.stored, grant);
        let request = PageRequest { cursor, own_only, ..*request };
        let session = item.session().filter(|_| cursor != Some(BEGINNING));
        let (page, problem) = match session.map(|session| read(item.harness(), roots, session, &request)) {
            // A live session that nobody has written to has no file yet.
            None | Some(Err(ReadError::Empty | ReadError::NoMessages)) => (Page::default(), None),
            Some(Ok(page)) => (page, None),
            Some(Err(ReadError::Cancelled)) => return Err(Error::Cancelled),
            Some(Err(ReadError::Cursor)) => return Err(CursorError::Malformed.into()),
            Some(Err(ReadError::Vanished)) => return Ok(None),
            Some(Err(skip)) => (Page::default(), Some(skip)),
        };
        let session = self.entry(&item, grant);
        let problems = problem.iter().map(|skip| load_problem(&session, skip));
        Ok(Some(LoadResult {
            messages: page.messages,
            next_cursor: page.next.map(|next| prefix + &next),
            problems: problems.collect(),
            session,
        }))
    }
}

impl Snapshot {
    /// Why an entry may be missing although it exists: its file could not be read, or no file descriptor was left to look
    /// for it.
    pub fn read_problem(&self, id: &str, grant: &Grant) -> Option<&Problem> {
        let (harness, session_id) = id.split_once(':')?;
        let harness: Harness = harness.parse().ok()?;
        // Where a problem lies in no known workspace, it is outside of every scope.
        let is_cause = |problem: &&Problem| {
            let names = |path: &String| !session_id.is_empty() && path.contains(session_id);
            problem.harness == Some(harness)
                && (problem.reason == harness::DESCRIPTORS || problem.path.as_ref().is_some_and(names))
        };
        let in_scope = grant.reaches_harness(harness) && !grant.has_workspace_scope();
        self.stored.problems.iter().find(is_cause).filter(|_| in_scope)
    }
}

/// Why the messages of an entry cannot be read.
pub(super) fn load_problem(session: &Entry, skip: &ReadError) -> Problem {
    Problem {
        harness: Some(session.harness),
        path: session.location.clone(),
        id: Some(session.id.clone()),
        endpoint: None,
        reason: skip.reason().to_owned(),
        message: skip.to_string(),
    }
}

/// The cursor of a session, made of that of its store; `None` for the place before its first message.
pub(super) fn session_cursor(id: &str, of_store: Option<&str>) -> String {
    cursor_prefix(id) + of_store.unwrap_or(BEGINNING)
}

fn read(harness: Harness, roots: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let store = harness::store_of(harness).ok_or(ReadError::Vanished)?;
    store.load(roots, session, request)
}

/// The place before the first message of any session, also of one that is in no store yet.
const BEGINNING: &str = "beginning";

/// What a cursor begins with, so that that of another session is refused.
fn cursor_prefix(id: &str) -> String {
    format!("{}.", &blake3::hash(id.as_bytes()).to_hex()[..16])
}
