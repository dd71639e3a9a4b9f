//! What a list needs of the database. Its columns grew from version to version, so each is asked for only where it is.

use super::conversation::{Conversation, kept};
use super::origin::{self, Origin};
use super::record::{Content, milliseconds};
use crate::harness::database::{Columns, bounded, each_listed, integer, read_list, real, short, text as column};
use crate::harness::{ReadError, Reading, Run, Session, Source, text};
use crate::limits;
use rusqlite::{Connection, Row};
use std::collections::HashMap;

/// Every session that has a message, but those that only mirror another program's.
pub(super) fn read(source: &Source, profile: Option<&str>) -> Result<Reading, ReadError> {
    let sessions = read_list(source, |connection| {
        let Some(query) = listing(connection)? else { return Ok(None) };
        let mut known = HashMap::new();
        let mut sessions = Vec::new();
        each_listed(connection, source, &query, |row| {
            let Some((id, origin)) = column(row, 0).map(|id| (id.into_owned(), Origin::of(row))) else {
                return Ok(());
            };
            if let Some(mut session) = session(row, source).filter(|_| !origin.is_mirror()) {
                session.profile = session.profile.or_else(|| profile.map(Box::from));
                if session.title.is_none() {
                    let mut prompt = column(row, 14).and_then(|first| Content::of(first.into_owned()).spoken());
                    if prompt.is_none() {
                        prompt = Conversation::alone(connection, &id)?.topics(1, limits::LINE_MAX)?.pop();
                    }
                    session.title = prompt.and_then(|prompt| text::title(&prompt));
                }
                session.title = session.title.or_else(|| column(row, 12).and_then(|name| text::title(&name)));
                sessions.push(session);
            }
            known.insert(id, origin);
            Ok(())
        })?;
        for session in &mut sessions {
            session.parent = known.get(&*session.id).and_then(|origin| origin.parent(|id| known.get(id)));
            session.workspace = workspace(&known, &session.id);
        }
        let mut runs = runs(connection)?;
        for session in &mut sessions {
            session.runs = runs.remove(&*session.id).unwrap_or_default().into();
        }
        Ok(Some(sessions))
    })?;
    let sessions =
        sessions.ok_or_else(|| ReadError::Malformed("no tables of sessions and messages in it".to_owned()))?;
    Ok(Reading { sessions, ..Reading::default() })
}

/// `None` where the tables are unknown ones.
fn listing(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let columns = Columns::of(connection, "sessions")?;
    let messages = Columns::of(connection, "messages")?;
    let needed = ["id", "session_id", "role", "content", "timestamp"];
    if !columns.has("id") || !messages.has_all(&needed) {
        return Ok(None);
    }
    let origin = origin::columns(&columns);
    let wanted = ["model", "title", "profile_name", "archived", "display_name"];
    let wanted = wanted.map(|name| match name {
        "model" | "profile_name" => short(columns.or_null(name)),
        _ => bounded(columns.or_null(name), limits::HEAD_MAX),
    });
    let (title, wanted, kept) = (&wanted[1], wanted.join(", "), kept(&messages));
    let (id, content) = (short("id"), bounded("content", limits::LINE_COMMON));
    Ok(Some(format!(
        "select {id}, {origin}, {wanted},
           (select timestamp from messages
            where session_id = sessions.id {kept} and timestamp < 9e18 and role in ('user', 'assistant')
            order by timestamp desc limit 1),
           case when typeof({title}) is not 'text' or {title} = '' then
             (select {content} from messages where session_id = sessions.id {kept} and role = 'user'
              order by timestamp limit 1)
           end
         from sessions"
    )))
}

/// The processes of which it is said that they wait for a subagent, by the session that started it.
fn runs(connection: &Connection) -> rusqlite::Result<HashMap<String, Vec<Run>>> {
    let mut runs: HashMap<String, Vec<Run>> = HashMap::new();
    let wanted = ["parent_session_id", "state", "owner_pid", "owner_started_at"];
    if !Columns::of(connection, "async_delegations")?.has_all(&wanted) {
        return Ok(runs);
    }
    let id = short("parent_session_id");
    let mut statement = connection.prepare(&format!(
        "select {id}, owner_pid, owner_started_at from async_delegations where state = 'running' limit {}",
        limits::LIVE_RECORDS
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let owner = integer(row, 1).and_then(|pid| i32::try_from(pid).ok()).zip(integer(row, 2));
        if let Some((id, (pid, start))) = column(row, 0).zip(owner) {
            runs.entry(id.into_owned()).or_default().push(Run::By { pid, start_mark: start.to_string().into() });
        }
    }
    Ok(runs)
}

fn session(row: &Row<'_>, source: &Source) -> Option<Session> {
    let mut session = Session::new(&column(row, 0)?, source);
    session.updated_at_ms = Some(milliseconds(real(row, 13)?));
    session.created_at_ms = real(row, 4).map(milliseconds);
    session.model = column(row, 8).map(Box::from);
    session.title = column(row, 9).and_then(|title| text::title(&title));
    session.profile = column(row, 10).map(Box::from);
    session.archived = integer(row, 11).is_some_and(|archived| archived != 0);
    Some(session)
}

/// The directory of a session, or of the nearest one that it came from: branches and subagents name none.
fn workspace(known: &HashMap<String, Origin>, id: &str) -> Option<Box<str>> {
    let mut next = Some(id);
    for _ in 0..limits::ANCESTRY {
        let origin = known.get(next?)?;
        if let Some(own) = origin.cwd.as_deref().and_then(text::workspace) {
            return Some(own);
        }
        next = origin.session.as_deref();
    }
    None
}
