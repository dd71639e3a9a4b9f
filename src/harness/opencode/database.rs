//! The database: a row a session, a message and a part of one.

use super::record::{Opened, Revert, Stored};
use crate::harness::database::{Columns, bounded, has_row, integer, left_out, size, text as column};
use crate::harness::pages::Gathered;
use crate::harness::{Details, End, Page, PageRequest, Reading, Session, Skip, Source, Wanted, messages, text};
use crate::limits;
use crate::platform::sqlite;
use crate::protocol::{Parent, Relation};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Every session that has a message.
pub fn read(source: &Source) -> Result<Reading, Skip> {
    let sessions = sqlite::read(&source.path, |connection| {
        let Some(query) = listing(connection)? else { return Ok(None) };
        let mut statement = connection.prepare(&query)?;
        let mut rows = statement.query([])?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(mut session) = session(row, source) else { continue };
            if session.model.is_none() || session.title.is_none() {
                complete(connection, &mut session)?;
            }
            // A title that the program has yet to make is better than none.
            session.title = session.title.or_else(|| column(row, 1).and_then(|title| text::title(&title)));
            sessions.push(session);
        }
        Ok(Some(sessions))
    })?;
    let sessions = sessions.ok_or_else(|| Skip::Malformed("no tables of sessions and messages in it".to_owned()))?;
    Ok(Reading { sessions, ..Reading::default() })
}

/// `None` where the tables are unknown ones.
fn listing(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let columns = Columns::of(connection, "session")?;
    let messages = Columns::of(connection, "message")?;
    if !columns.has("id") || !messages.has_all(&["session_id", "time_created", "data"]) {
        return Ok(None);
    }
    let texts = ["id", "title", "directory", "model", "parent_id"];
    let texts = texts.map(|name| bounded(columns.or_null(name), limits::HEAD_MAX)).join(", ");
    let [created, archived] = ["time_created", "time_archived"].map(|name| columns.or_null(name));
    // A value that is no time may be greater than every number, and would hide the newest of them.
    Ok(Some(format!(
        "select {texts}, {created}, {archived},
           (select max(time_created) from message where session_id = session.id and time_created < {}),
           exists (select 1 from message where session_id = session.id and time_created is not null)
         from session",
        i64::MAX
    )))
}

/// `None` for a row without an id, or without a message.
fn session(row: &Row<'_>, source: &Source) -> Option<Session> {
    let mut session = Session::new(&column(row, 0)?, source);
    integer(row, 8).filter(|exists| *exists == 1)?;
    session.updated_at_ms = integer(row, 7).or(session.updated_at_ms);
    session.title = column(row, 1).filter(|title| !is_placeholder(title)).and_then(|title| text::title(&title));
    session.workspace = column(row, 2).and_then(|directory| text::workspace(&directory));
    let model = column(row, 3).and_then(|model| text::value(&model));
    session.model = model.and_then(|model| model["id"].as_str().map(Box::from));
    session.parent =
        column(row, 4).map(|id| Parent { session_id: Some(id.into_owned()), relation: Relation::Subagent });
    session.created_at_ms = integer(row, 5);
    session.archived = integer(row, 6).is_some();
    Some(session)
}

/// What a session is called until a model has named it.
pub fn is_placeholder(title: &str) -> bool {
    let time = title.strip_prefix("New session - ").or_else(|| title.strip_prefix("Child session - "));
    time.is_some_and(|time| text::time(time).is_some())
}

/// Takes from the messages what the session's own row does not say.
fn complete(connection: &Connection, session: &mut Session) -> rusqlite::Result<()> {
    let conversation = Conversation::open(connection, &session.id, limits::LINE_COMMON)?;
    if session.model.is_none() {
        let mut looked = 0;
        conversation.newest_first(None, &mut |stored| {
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
pub fn details(session: &Session, wanted: Wanted) -> Result<Details, Skip> {
    Ok(sqlite::read(&session.location, |connection| {
        let conversation = Conversation::open(connection, &session.id, limits::LINE_MAX)?;
        let mut details = Details::default();
        if wanted.topics {
            let topics = conversation.topics(limits::TOPICS)?;
            details.topics = topics.iter().filter_map(|topic| text::excerpt(topic)).collect();
        }
        if wanted.last_message {
            let mut looked = 0;
            conversation.newest_first(None, &mut |stored| {
                looked += 1;
                details.last_message = conversation.whole(stored)?.last_message();
                Ok(stop_if(details.last_message.is_some() || looked == limits::ROWS_LOOKED_AT))
            })?;
        }
        if wanted.message_count {
            conversation.oldest_first(&mut |stored| {
                let message = conversation.with_prompt(stored)?;
                details.message_count += u64::from(message.is_genuine());
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(details)
    })?)
}

/// The place behind all messages.
pub fn end(session: &Session) -> Result<End, Skip> {
    let end = sqlite::read(&session.location, |connection| {
        if !has_row(connection, "session", &session.id)? {
            return Ok(None);
        }
        let mut cursor = ":".to_owned();
        Conversation::open(connection, &session.id, 0)?.newest_first(None, &mut |stored| {
            // No id follows on another one but with a letter more. One whose time is no number has no place behind it.
            cursor = stored.place() + if stored.at.is_some() { " " } else { "" };
            Ok(ControlFlow::Break(()))
        })?;
        let query = "select count(*) from message where session_id = ?1 and time_created is not null";
        let count: i64 = connection.query_row(query, [&session.id], |row| row.get(0))?;
        Ok(Some(End { cursor, count: Some(count.unsigned_abs()) }))
    })?;
    end.ok_or(Skip::Vanished)
}

/// One page of messages. Its place in the order is the cursor: a message's time and id.
pub fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, Skip> {
    let before = request.cursor.map(|cursor| place(cursor).ok_or(Skip::Cursor)).transpose()?;
    let mut page = sqlite::read(&session.location, |connection| {
        let conversation = Conversation::open(connection, &session.id, limits::LINE_MAX)?;
        let (mut gathered, mut ended, mut unfinished) = (Gathered::new(request), true, false);
        conversation.newest_first(before, &mut |mut stored| {
            if gathered.is_full() || request.attendant.cancelled() {
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
            gathered.push(opened.into_message(), bytes, place);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(Page { unfinished, ..gathered.into_page(ended, String::clone) })
    })?;
    if request.attendant.cancelled() {
        return Err(Skip::Cancelled);
    }
    messages::name_results(&mut page.messages, &[]);
    Ok(page)
}

/// A message's time and id. One whose time is no whole number is found by its id alone.
type Place<'p> = (Option<i64>, &'p str);

fn place(cursor: &str) -> Option<Place<'_>> {
    let (time, id) = cursor.split_once(':')?;
    let time = if time.is_empty() { None } else { Some(time.parse().ok()?) };
    Some((time, id))
}

fn stop_if(enough: bool) -> ControlFlow<()> {
    if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

type Visit<'v> = &'v mut dyn FnMut(Stored) -> rusqlite::Result<ControlFlow<()>>;

/// The messages of one session that still count.
struct Conversation<'c> {
    connection: &'c Connection,
    session: &'c str,
    revert: Option<Revert>,
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
        Ok(Self { connection, session, revert: revert.flatten(), room })
    }

    fn newest_first(&self, before: Option<Place<'_>>, visit: Visit<'_>) -> rusqlite::Result<()> {
        self.each("time_created desc, id desc", before, visit)
    }

    fn oldest_first(&self, visit: Visit<'_>) -> rusqlite::Result<()> {
        self.each("time_created, id", None, visit)
    }

    /// Visits messages without their parts. The index has this order, so no more rows are read than are visited.
    fn each(&self, order: &str, before: Option<Place<'_>>, visit: Visit<'_>) -> rusqlite::Result<()> {
        // No value is above all that may stand where a time should, so without a bound there is no condition.
        let (condition, (time, id)) = match before {
            None => ("and time_created is not null and ?2 is null and ?3 = ''", (None, "")),
            Some((Some(time), id)) => ("and (time_created, id) < (?2, ?3)", (Some(time), id)),
            Some((None, id)) => (
                "and (time_created, id) < (select time_created, id from message where id = ?3 and ?2 is null)",
                (None, id),
            ),
        };
        let query = format!(
            "select {}, time_created, {} from message where session_id = ?1 {condition} order by {order}",
            bounded("id", limits::HEAD_MAX),
            bounded("data", self.room)
        );
        let mut statement = self.connection.prepare(&query)?;
        let mut rows = statement.query(params![self.session, time, id])?;
        while let Some(row) = rows.next()? {
            // Without an id a row has no place.
            let Some(id) = column(row, 0).map(Cow::into_owned) else { continue };
            if self.revert.as_ref().is_some_and(|revert| !revert.keeps(&id)) {
                continue;
            }
            let at = if let ValueRef::Integer(at) = row.get_ref(1)? { Some(at) } else { None };
            let stored = Stored {
                id,
                at,
                created_ms: integer(row, 1),
                record: column(row, 2).unwrap_or_default().into_owned(),
                left_out: left_out(row, 2),
                parts: Vec::new(),
            };
            if visit(stored)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Adds the parts, so many as make up a message that can be told; of those after them only the size is.
    fn add_parts(&self, stored: &mut Stored) -> rusqlite::Result<()> {
        let query = format!(
            "select {}, octet_length(data), rowid from part where message_id = ? order by id",
            bounded("id", limits::HEAD_MAX)
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
        self.oldest_first(&mut |stored| {
            looked += 1;
            topics.extend(self.with_prompt(stored)?.prompt());
            Ok(stop_if(topics.len() == max || looked == limits::ROWS_LOOKED_AT))
        })?;
        Ok(topics)
    }
}
