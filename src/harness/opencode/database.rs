//! The database: a row a session, a message and a part of one; beside them the messages of the second engine.

use super::engine;
use super::record::{Opened, Revert, Stored};
use crate::harness::database::{
    Columns, bounded, each_listed, has_row, integer, left_out, read_list, read_session, short, size, text as column,
};
use crate::harness::pages::Gathered;
use crate::harness::{Details, End, Page, PageRequest, ReadError, Reading, Session, Source, Wanted, messages, text};
use crate::limits;
use crate::protocol::{Parent, Relation};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Every session that has a message.
pub(super) fn read(source: &Source) -> Result<Reading, ReadError> {
    let sessions = read_list(source, |connection| {
        let Some(query) = listing(connection)? else { return Ok(None) };
        let mut sessions = Vec::new();
        each_listed(connection, source, &query, |row| {
            let Some(mut session) = session(row, source) else { return Ok(()) };
            if session.model.is_none() || session.title.is_none() {
                complete(connection, &mut session)?;
            }
            let waiting = || column(row, 11).and_then(|input| engine::waiting_prompt(&input));
            session.title = session.title.or_else(|| waiting().and_then(|prompt| text::title(&prompt)));
            sessions.push(session);
            Ok(())
        })?;
        Ok(Some(sessions))
    })?;
    let sessions =
        sessions.ok_or_else(|| ReadError::Malformed("no tables of sessions and messages in it".to_owned()))?;
    Ok(Reading { sessions, ..Reading::default() })
}

/// `None` where the tables are unknown ones.
fn listing(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let columns = Columns::of(connection, "session")?;
    let messages = Columns::of(connection, "message")?;
    if !columns.has("id") || !messages.has_all(&["session_id", "time_created", "data"]) {
        return Ok(None);
    }
    let texts = ["id", "title", "directory", "model", "parent_id"].map(|name| match name {
        "title" => bounded(columns.or_null(name), limits::HEAD_MAX),
        _ => short(columns.or_null(name)),
    });
    let texts = texts.join(", ");
    let [created, archived] = ["time_created", "time_archived"].map(|name| columns.or_null(name));
    let second = engine::listing(connection)?;
    // A value that is no time may be greater than every number, and would hide the newest of them.
    Ok(Some(format!(
        "select {texts}, {created}, {archived},
           (select max(time_created) from message where session_id = session.id and time_created < {}),
           exists (select 1 from message where session_id = session.id and time_created is not null),
           {second}
         from session",
        i64::MAX
    )))
}

/// `None` for a row without an id, or without a message or a prompt.
fn session(row: &Row<'_>, source: &Source) -> Option<Session> {
    let mut session = Session::new(&column(row, 0)?, source);
    let has_message = [8, 10].into_iter().any(|at| integer(row, at) == Some(1));
    if !has_message && column(row, 11).is_none() && left_out(row, 11).is_none() {
        return None;
    }
    session.created_at_ms = integer(row, 5);
    // A fork has messages that are older than itself. The time of its row is not always moved.
    let newest = integer(row, 7).max(integer(row, 9));
    session.updated_at_ms = newest.max(session.created_at_ms).or(session.updated_at_ms);
    session.title = column(row, 1).filter(|title| !is_placeholder(title)).and_then(|title| text::title(&title));
    session.workspace = column(row, 2).and_then(|directory| text::workspace(&directory));
    let model = column(row, 3).and_then(|model| text::value(&model));
    session.model = model.and_then(|model| model["id"].as_str().map(Box::from));
    session.parent =
        column(row, 4).map(|id| Parent { session_id: Some(id.into_owned()), relation: Relation::Subagent });
    session.archived = integer(row, 6).is_some();
    Some(session)
}

/// What a session is called until a model has named it.
pub(super) fn is_placeholder(title: &str) -> bool {
    let time = title.strip_prefix("New session - ").or_else(|| title.strip_prefix("Child session - "));
    time.is_some_and(|time| text::time(time).is_some())
}

/// Takes from the messages what the session's own row does not say.
fn complete(connection: &Connection, session: &mut Session) -> rusqlite::Result<()> {
    let conversation = Conversation::open(connection, &session.id, limits::LINE_MAX)?;
    if session.model.is_none() {
        let mut looked = 0;
        conversation.newest_first(None, &mut |stored, _| {
            looked += 1;
            session.model = stored.open().model();
            Ok(stop_if(session.model.is_some() || looked == limits::NEWEST_LOOKED_AT))
        })?;
    }
    if session.title.is_none() {
        let first = conversation.topics(1)?;
        session.title = first.first().and_then(|prompt| text::title(prompt));
    }
    Ok(())
}

/// What costs more to know.
pub(super) fn details(session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
    read_session(session, wanted.progress, |connection| {
        let conversation = Conversation::open(connection, &session.id, limits::LINE_MAX)?;
        let mut details = Details::default();
        if wanted.topics {
            let topics = conversation.topics(limits::TOPICS)?;
            details.topics = topics.iter().filter_map(|topic| text::excerpt(topic)).collect();
        }
        if wanted.last_message {
            let mut looked = 0;
            conversation.newest_first(None, &mut |stored, _| {
                looked += 1;
                details.last_message = conversation.whole(stored)?.last_message();
                Ok(stop_if(details.last_message.is_some() || looked == limits::ROWS_LOOKED_AT))
            })?;
        }
        if wanted.message_count {
            conversation.oldest_first(&mut |stored, _| {
                let message = conversation.with_prompt(stored)?;
                details.message_count += u64::from(message.is_genuine());
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(details)
    })
}

/// The place behind all messages.
pub(super) fn end(session: &Session) -> Result<End, ReadError> {
    let end = read_session(session, None, |connection| {
        if !has_row(connection, "session", &session.id)? {
            return Ok(None);
        }
        let conversation = Conversation::open(connection, &session.id, 0)?;
        let before = conversation.revert.as_ref().map(Revert::before);
        let query = format!(
            "select count(*) from message where session_id = ?1 and time_created is not null and {}",
            Revert::CONDITION
        );
        let first: i64 = connection.query_row(&query, params![session.id, before], |row| row.get(0))?;
        let (second, newest) = match conversation.second {
            true => engine::extent(connection, &session.id, before.as_deref())?,
            false => (0, None),
        };
        let mut position = Position { first: Some((None, String::new())), second: Some(0) };
        conversation.each_of_first("time_created desc, id desc", None, &mut |stored| {
            // No id follows on another one but with a letter more. One whose time is no number has no place behind it.
            let behind = if stored.at.is_some() { " " } else { "" };
            position.first = Some((stored.at, stored.id + behind));
            Ok(ControlFlow::Break(()))
        })?;
        position.second = Some(newest.map_or(0, |seq| seq.saturating_add(1)));
        Ok(Some(End { cursor: position.to_cursor(), count: Some(first.unsigned_abs() + second) }))
    })?;
    end.ok_or(ReadError::Vanished)
}

/// One page of messages. Its place in the order is the cursor: a message's time and id.
pub(super) fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let before = request.cursor.map(|cursor| Position::parse(cursor).ok_or(ReadError::Cursor)).transpose()?;
    let mut page = read_session(session, Some(request.progress), |connection| {
        let conversation = Conversation::open(connection, &session.id, limits::LINE_MAX)?;
        let (mut gathered, mut ended, mut unfinished) = (Gathered::new(request), true, false);
        conversation.newest_first(before.as_ref(), &mut |mut stored, older| {
            if gathered.is_full() || request.progress.is_cancelled() {
                ended = false;
                return Ok(ControlFlow::Break(()));
            }
            // The one message too many only shows that there is another page.
            if gathered.count() < request.limit {
                conversation.add_parts(&mut stored)?;
            }
            let (place, bytes) = (stored.place(), stored.bytes());
            let opened = stored.open();
            unfinished |= gathered.count() == 0 && opened.is_unfinished();
            gathered.push(opened.into_message(), bytes, (older, place));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(Page {
            unfinished,
            ..gathered.into_placed(ended, |(older, _)| older.to_cursor(), |(_, place)| place.clone())
        })
    })?;
    if request.progress.is_cancelled() {
        return Err(ReadError::Cancelled);
    }
    messages::name_results(&mut page.messages, &[]);
    Ok(page)
}

/// A message's time and id. One whose time is no whole number is found by its id alone.
type Place = (Option<i64>, String);

/// A place between the messages of a session: before a message of each engine. `None` is behind all of them.
#[derive(Clone, Default)]
struct Position {
    first: Option<Place>,
    second: Option<i64>,
}

impl Position {
    fn to_cursor(&self) -> String {
        let first = self.first.as_ref().map(|(time, id)| {
            let time = time.map(|time| time.to_string()).unwrap_or_default();
            format!("{time}:{id}")
        });
        let first = first.unwrap_or_else(|| ":".to_owned());
        match self.second {
            Some(seq) if seq > 0 => format!("{seq}/{first}"),
            _ => first,
        }
    }

    fn parse(cursor: &str) -> Option<Self> {
        let numbered = cursor.split_once('/').and_then(|(seq, first)| Some((seq.parse().ok()?, first)));
        let (second, first) = numbered.unwrap_or((0, cursor));
        let (time, id) = first.split_once(':')?;
        let time = if time.is_empty() { None } else { Some(time.parse().ok()?) };
        Some(Self { first: Some((time, id.to_owned())), second: Some(second) })
    }

    /// Before a message.
    fn pass(&mut self, stored: &Stored) {
        match stored.second {
            Some((seq, _)) => self.second = Some(seq),
            None => self.first = Some((stored.at, stored.id.clone())),
        }
    }

    /// The same, where the next message of each engine is known.
    fn settled(&self, first: Option<&Stored>, second: Option<&Stored>) -> Self {
        let behind = |stored: &Stored| (stored.at, stored.id.clone() + " ");
        let number = |stored: &Stored| stored.second.as_ref().map_or(0, |(seq, _)| seq.saturating_add(1));
        Self {
            first: self.first.clone().or_else(|| first.map(behind)),
            second: self.second.or_else(|| second.map(number)),
        }
    }
}

fn stop_if(enough: bool) -> ControlFlow<()> {
    if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Takes a message, and the place before it.
type Visit<'v> = &'v mut dyn FnMut(Stored, Position) -> rusqlite::Result<ControlFlow<()>>;

/// The messages of one session that still count.
struct Conversation<'c> {
    connection: &'c Connection,
    session: &'c str,
    revert: Option<Revert>,
    /// Whether there may be messages of the second engine.
    second: bool,
    /// Whether messages of the first engine have parts.
    parts: bool,
    /// Bytes of a message that are looked into.
    room: usize,
}

impl<'c> Conversation<'c> {
    fn open(connection: &'c Connection, session: &'c str, room: usize) -> rusqlite::Result<Self> {
        let revert = bounded(Columns::of(connection, "session")?.or_null("revert"), limits::HEAD_MAX);
        let revert = connection
            .query_row(&format!("select {revert} from session where id = ?"), [session], |row| {
                Ok(column(row, 0).and_then(|revert| Revert::of(&text::value(&revert)?)))
            })
            .optional()?;
        let parts = Columns::of(connection, "part")?.has_all(&["id", "message_id", "data"]);
        let second = engine::is_known(connection)?;
        Ok(Self { connection, session, revert: revert.flatten(), second, parts, room })
    }

    fn newest_first(&self, before: Option<&Position>, visit: Visit<'_>) -> rusqlite::Result<()> {
        self.each("desc", before, visit)
    }

    fn oldest_first(&self, visit: Visit<'_>) -> rusqlite::Result<()> {
        self.each("asc", None, visit)
    }

    /// Visits messages without their parts, those of both engines in the order of their times. The second engine's own
    /// order is that of its numbers.
    fn each(&self, direction: &str, before: Option<&Position>, visit: Visit<'_>) -> rusqlite::Result<()> {
        let mut position = before.cloned().unwrap_or_default();
        let mut statement = self.second.then(|| engine::prepare(self.connection, direction, self.room)).transpose()?;
        let mut rows = statement.as_mut().map(|all| engine::query(all, self.session, position.second)).transpose()?;
        let mut next = || -> rusqlite::Result<Option<Stored>> {
            while let Some(stored) = rows.as_mut().map_or(Ok(None), engine::next)? {
                if self.keeps(&stored.id) {
                    return Ok(Some(stored));
                }
            }
            Ok(None)
        };
        let mut second = next()?;
        let order = format!("time_created {direction}, id {direction}");
        let mut stopped = false;
        self.each_of_first(&order, before.and_then(|before| before.first.as_ref()), &mut |first| {
            while let Some(stored) = second.take_if(|second| (second.at >= first.at) == (direction == "desc")) {
                position.pass(&stored);
                second = next()?;
                if visit(stored, position.settled(Some(&first), second.as_ref()))?.is_break() {
                    stopped = true;
                    return Ok(ControlFlow::Break(()));
                }
            }
            position.pass(&first);
            let flow = visit(first, position.settled(None, second.as_ref()))?;
            stopped = flow.is_break();
            Ok(flow)
        })?;
        while !stopped && let Some(stored) = second {
            position.pass(&stored);
            second = next()?;
            stopped = visit(stored, position.settled(None, second.as_ref()))?.is_break();
        }
        Ok(())
    }

    fn keeps(&self, id: &str) -> bool {
        self.revert.as_ref().is_none_or(|revert| revert.keeps(id))
    }

    /// Visits the messages of the first engine. The index has this order, so no more rows are read than are visited.
    fn each_of_first(
        &self,
        order: &str,
        before: Option<&Place>,
        visit: &mut dyn FnMut(Stored) -> rusqlite::Result<ControlFlow<()>>,
    ) -> rusqlite::Result<()> {
        // No value is above all that may stand where a time should, so without a bound there is no condition.
        let (condition, (time, id)) = match before {
            None => ("and time_created is not null and ?2 is null and ?3 = ''", (None, "")),
            Some((Some(time), id)) => ("and (time_created, id) < (?2, ?3)", (Some(time), id.as_str())),
            Some((None, id)) => (
                "and (time_created, id) < (select time_created, id from message where id = ?3 and ?2 is null)",
                (None, id.as_str()),
            ),
        };
        let query = format!(
            "select {}, time_created, {} from message where session_id = ?1 {condition} order by {order}",
            short("id"),
            bounded("data", self.room)
        );
        let mut statement = self.connection.prepare(&query)?;
        let mut rows = statement.query(params![self.session, time, id])?;
        while let Some(row) = rows.next()? {
            // Without an id a row has no place.
            let Some(id) = column(row, 0).map(Cow::into_owned).filter(|id| self.keeps(id)) else { continue };
            let at = if let ValueRef::Integer(at) = row.get_ref(1)? { Some(at) } else { None };
            let stored = Stored {
                id,
                at,
                created_ms: integer(row, 1),
                record: column(row, 2).unwrap_or_default().into_owned(),
                left_out: left_out(row, 2),
                parts: Vec::new(),
                second: None,
            };
            if visit(stored)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Adds the parts, so many as make up a message that can be told; of those after them only the size is.
    fn add_parts(&self, stored: &mut Stored) -> rusqlite::Result<()> {
        if stored.second.is_some() || !self.parts {
            return Ok(());
        }
        let query = format!(
            "select {}, octet_length(data), rowid from part where message_id = ? order by id limit {}",
            short("id"),
            limits::MESSAGE_PARTS
        );
        let mut statement = self.connection.prepare(&query)?;
        let mut data = self.connection.prepare("select data from part where rowid = ?")?;
        let mut rows = statement.query([&stored.id])?;
        let mut room = self.room as u64;
        while let Some(row) = rows.next()? {
            let id = column(row, 0).unwrap_or_default().into_owned();
            if self.revert.as_ref().is_some_and(|revert| !revert.keeps_part(&stored.id, &id)) {
                continue;
            }
            let bytes = integer(row, 1).unwrap_or_default().unsigned_abs();
            let record = match room.checked_sub(bytes) {
                Some(left) => {
                    room = left;
                    let rowid: i64 = row.get(2)?;
                    data.query_row([rowid], |row| Ok(column(row, 0).unwrap_or_default().into_owned()))?
                }
                None => size(bytes).to_string(),
            };
            stored.parts.push((id, record));
        }
        Ok(())
    }

    fn whole(&self, mut stored: Stored) -> rusqlite::Result<Opened> {
        self.add_parts(&mut stored)?;
        Ok(stored.open())
    }

    /// Looks into a message, and into its parts only where they tell who wrote it.
    fn with_prompt(&self, mut stored: Stored) -> rusqlite::Result<Opened> {
        if !stored.record.contains("\"assistant\"") {
            self.add_parts(&mut stored)?;
        }
        Ok(stored.open())
    }

    /// The opening prompts.
    fn topics(&self, max: usize) -> rusqlite::Result<Vec<String>> {
        let (mut topics, mut looked) = (Vec::new(), 0);
        self.oldest_first(&mut |stored, _| {
            looked += 1;
            topics.extend(self.with_prompt(stored)?.prompt());
            Ok(stop_if(topics.len() == max || looked == limits::ROWS_LOOKED_AT))
        })?;
        Ok(topics)
    }
}
