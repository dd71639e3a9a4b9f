//! The messages of a session, from the newest to the first of the current branch.

use super::chain::Chain;
use super::database::{Events, event_text, is_packed_away};
use super::event::Event;
use super::is_transcript;
use super::parts;
use super::position::Position;
use crate::harness::backward::{Backward, end_of_lines};
use crate::harness::database::{Columns, read_session};
use crate::harness::pages::Gathered;
use crate::harness::{End, Page, PageRequest, Progress, ReadError, Session};
use crate::platform::files::open_regular;
use rusqlite::{Connection, OptionalExtension, params};
use std::ops::ControlFlow;

/// The place behind all events.
pub(super) fn end(session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
    let at = |position: Position| End { cursor: position.to_string(), count: None };
    if !session.parts.is_empty() {
        return Ok(at(Position::Part { part: 0, at: 0, rest: parts::ends(session, progress)? }));
    }
    if is_transcript(&session.location) {
        return Ok(at(Position::Line(end_of_lines(&open_regular(&session.location)?, progress)?, Chain::Leaf)));
    }
    let end = read_session(session, None, |connection| {
        if Events::of(connection)?.is_none() {
            return Ok(None);
        }
        let newest = "select seq from transcript_events where session_id = ?1 order by seq desc limit 1";
        let seq: Option<i64> = connection.query_row(newest, [&session.id], |row| row.get(0)).optional()?;
        let Some(seq) = seq else {
            let packed = is_packed_away(connection, &session.id)?;
            return Ok(packed.then_some(Position::Row(0, Chain::Leaf)));
        };
        let listed = match self::newest(connection, &session.id)? {
            Position::Listed(..) => last_listed(connection, &session.id)?,
            _ => None,
        };
        let row = Position::Row(seq.saturating_add(1), Chain::Leaf);
        Ok(Some(listed.map_or(row, |(position, seq)| Position::Behind(position, seq))))
    })?;
    end.map(at).ok_or(ReadError::Vanished)
}

fn last_listed(connection: &Connection, session: &str) -> rusqlite::Result<Option<(i64, i64)>> {
    let query = "select active_position, event_seq from session_transcript_active_events where session_id = ?1 \
                 order by active_position desc limit 1";
    connection.query_row(query, [session], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Reads one page.
pub(super) fn page(session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let from = request.cursor.map(|cursor| Position::parse(cursor).ok_or(ReadError::Cursor)).transpose()?;
    let begin = || (Gathered::new(request), true);
    let take = |(gathered, ended): &mut (Gathered<Position>, bool), event: &Event<'_>, position: Position| {
        let Some(message) = event.message() else { return ControlFlow::Continue(()) };
        // Only a message that has no room any more shows that there is another page.
        if gathered.is_full() {
            *ended = false;
            return ControlFlow::Break(());
        }
        gathered.push(message, event.bytes(), position);
        if gathered.count() > request.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (gathered, ended) = backwards(session, from, request.progress, begin, take)?;
    Ok(gathered.into_placed(ended, Position::to_string, Position::own))
}

/// Goes through the events of the current branch, from the newest or from a place on. What is taken is begun anew where
/// the database changed meanwhile.
pub(super) fn backwards<T>(
    session: &Session,
    from: Option<Position>,
    progress: &dyn Progress,
    begin: impl Fn() -> T,
    take: impl Fn(&mut T, &Event<'_>, Position) -> ControlFlow<()>,
) -> Result<T, ReadError> {
    if !session.parts.is_empty() {
        let from = match from {
            None => None,
            Some(Position::Part { rest, .. }) => Some(rest),
            Some(_) => return Err(ReadError::Cursor),
        };
        return parts::backwards(session, from, progress, begin(), take);
    }
    if is_transcript(&session.location) {
        return lines(session, from, progress, begin, take);
    }
    read_session(session, Some(progress), |connection| {
        let way = match &from {
            None => Some(newest(connection, &session.id)?),
            Some(Position::Listed(position, seq)) => {
                let listed = is_listed(connection, &session.id, *position, *seq)?;
                listed.then_some(Position::Listed(*position, *seq))
            }
            Some(Position::Behind(position, seq)) => {
                let listed = is_listed(connection, &session.id, *position, *seq)?;
                listed.then_some(Position::Listed(position.saturating_add(1), *seq))
            }
            Some(Position::Row(seq, chain)) => Some(Position::Row(*seq, chain.clone())),
            Some(Position::Line(..) | Position::Part { .. }) => None,
        };
        let Some(way) = way else { return Ok(Err(ReadError::Cursor)) };
        rows(connection, &session.id, way, progress, &begin, &take)
    })?
}

fn lines<T>(
    session: &Session,
    from: Option<Position>,
    progress: &dyn Progress,
    begin: impl Fn() -> T,
    take: impl Fn(&mut T, &Event<'_>, Position) -> ControlFlow<()>,
) -> Result<T, ReadError> {
    let (place, mut chain) = match from {
        None => (None, Chain::Leaf),
        Some(Position::Line(at, chain)) => (Some(at), chain),
        Some(_) => return Err(ReadError::Cursor),
    };
    let file = open_regular(&session.location)?;
    let mut lines = Backward::of(&file, place, progress)?;
    let mut taken = begin();
    while chain != Chain::Complete
        && let Some((at, line)) = lines.record()?
    {
        let Some(event) = Event::parse(line) else { continue };
        if chain.take(&event) && take(&mut taken, &event, Position::Line(at, chain.clone())).is_break() {
            break;
        }
    }
    Ok(taken)
}

fn rows<T>(
    connection: &Connection,
    session: &str,
    from: Position,
    progress: &dyn Progress,
    begin: impl Fn() -> T,
    take: impl Fn(&mut T, &Event<'_>, Position) -> ControlFlow<()>,
) -> rusqlite::Result<Result<T, ReadError>> {
    let Some(events) = Events::of(connection)? else {
        return Ok(Err(ReadError::Malformed("no events of conversations in it".to_owned())));
    };
    if is_packed_away(connection, session)? {
        return Ok(Err(ReadError::Malformed("its messages were packed away, to where they are not read".to_owned())));
    }
    let columns = events.columns_or_sizes();
    let (query, before, mut chain) = match from {
        Position::Listed(position, _) => (
            format!(
                "select {columns}, event_seq, active_position from session_transcript_active_events a \
                 join transcript_events e on e.session_id = a.session_id and e.seq = a.event_seq \
                 where a.session_id = ?1 and active_position < ?2 order by active_position desc"
            ),
            position,
            None,
        ),
        Position::Row(seq, chain) => (
            format!(
                "select {columns}, seq from transcript_events e where session_id = ?1 and seq < ?2 order by seq desc"
            ),
            seq,
            Some(chain),
        ),
        Position::Line(..) | Position::Part { .. } | Position::Behind(..) => return Ok(Err(ReadError::Cursor)),
    };
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query(params![session, before])?;
    let mut taken = begin();
    while chain != Some(Chain::Complete)
        && let Some(row) = rows.next()?
    {
        if progress.is_cancelled() {
            return Ok(Err(ReadError::Cancelled));
        }
        let seq: i64 = row.get(3)?;
        let text = event_text(row);
        let Some(event) = text.as_deref().and_then(Event::parse) else { continue };
        let place = match &mut chain {
            None => Position::Listed(row.get(4)?, seq),
            Some(chain) => {
                if !chain.take(&event) {
                    continue;
                }
                Position::Row(seq, chain.clone())
            }
        };
        if take(&mut taken, &event, place).is_break() {
            break;
        }
    }
    Ok(Ok(taken))
}

/// Where the newest event is found: in the list of the current branch if that is up to date, else among all events.
fn newest(connection: &Connection, session: &str) -> rusqlite::Result<Position> {
    let state = Columns::of(connection, "session_transcript_index_state")?;
    let list = Columns::of(connection, "session_transcript_active_events")?;
    let known = state.has_all(&["session_id", "indexed_seq", "needs_rebuild"])
        && list.has_all(&["session_id", "active_position", "event_seq"]);
    let current = known
        && connection
            .prepare(
                "select needs_rebuild = 0 and indexed_seq = (select max(seq) from transcript_events where session_id = ?1) \
                 from session_transcript_index_state where session_id = ?1",
            )?
            .query_row([session], |row| row.get::<_, Option<bool>>(0))
            .optional()?
            == Some(Some(true));
    Ok(if current { Position::Listed(i64::MAX, i64::MAX) } else { Position::Row(i64::MAX, Chain::Leaf) })
}

fn is_listed(connection: &Connection, session: &str, position: i64, seq: i64) -> rusqlite::Result<bool> {
    let list = Columns::of(connection, "session_transcript_active_events")?;
    Ok(!list.is_empty()
        && connection
            .prepare("select 1 from session_transcript_active_events where session_id = ?1 and active_position = ?2 and event_seq = ?3")?
            .exists(params![session, position, seq])?)
}
