//! The database. Its columns grew from version to version, so each is asked for only where it is.

use super::record::{Stored, milliseconds};
use crate::harness::database::{
    Columns, bounded, each_listed, has_row, integer, left_out, read_list, read_session, short, size, text as column,
};
use crate::harness::pages::Gathered;
use crate::harness::{Details, End, Page, PageRequest, ReadError, Reading, Session, Source, Wanted, messages, text};
use crate::limits;
use crate::protocol::{Message, Parent, Relation};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use serde_json::Value;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Every session that has a message, but those that the program made for itself.
pub(super) fn read(source: &Source) -> Result<Reading, ReadError> {
    let sessions = read_list(source, |connection| {
        let Some(query) = listing(connection)? else { return Ok(None) };
        let mut sessions = Vec::new();
        each_listed(connection, source, &query, |row| {
            let Some(mut session) = session(row, source) else { return Ok(()) };
            if session.title.is_none() {
                let first = Conversation::open(connection, &session.id)?.topics(1, limits::LINE_MAX)?;
                session.title = first.first().and_then(|prompt| text::title(prompt));
            }
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
    let columns = Columns::of(connection, "sessions")?;
    let messages = Columns::of(connection, "messages")?;
    let needed = ["id", "session_id", "role", "content_json", "created_timestamp"];
    if !columns.has("id") || !messages.has_all(&needed) {
        return Ok(None);
    }
    let wanted = [
        "name",
        "description",
        "working_dir",
        "model_config_json",
        "created_at",
        "archived_at",
        "session_type",
        "parent_session_id",
        "user_set_name",
    ];
    let wanted = wanted.map(|name| match name {
        "name" | "description" | "model_config_json" => bounded(columns.or_null(name), limits::HEAD_MAX),
        _ => short(columns.or_null(name)),
    });
    let (wanted, id, newest) = (wanted.join(", "), short("id"), i64::MAX);
    let visible = visible(&messages);
    Ok(Some(format!(
        "select {id}, {wanted},
           (select created_timestamp from messages
            where session_id = sessions.id and created_timestamp < {newest} and role in ('user', 'assistant') {visible}
            order by created_timestamp desc, id desc limit 1),
           exists (select 1 from messages
            where session_id = sessions.id and created_timestamp is not null
              and role in ('user', 'assistant') {visible})
         from sessions"
    )))
}

/// Leaves out what only the model sees: what stands for messages that were summed up.
fn visible(messages: &Columns) -> String {
    if !messages.has("metadata_json") {
        return String::new();
    }
    format!(
        "and case when octet_length(metadata_json) <= {} and json_valid(metadata_json)
           then json_extract(metadata_json, '$.userVisible') end is not 0",
        limits::HEAD_MAX
    )
}

fn session(row: &Row<'_>, source: &Source) -> Option<Session> {
    let mut session = Session::new(&column(row, 0)?, source);
    integer(row, 11).filter(|exists| *exists == 1)?;
    session.updated_at_ms = integer(row, 10).and_then(milliseconds).or(session.updated_at_ms);
    let is_chosen = integer(row, 9).is_some_and(|chosen| chosen != 0);
    let title = |at| column(row, at).and_then(|title| text::title(&title));
    let says_more = |title: &str| is_chosen || !is_placeholder(title);
    session.title = title(1).filter(|title| says_more(title)).or_else(|| title(2).filter(|title| says_more(title)));
    session.workspace = column(row, 3).and_then(|directory| text::workspace(&directory));
    session.model = column(row, 4).and_then(|config| model(&text::value(&config)?));
    session.created_at_ms = column(row, 5).and_then(|created| time(&created));
    session.archived = column(row, 6).is_some() || left_out(row, 6).is_some();
    let (kind, parent) = (column(row, 7), column(row, 8));
    if kind.as_deref() == Some("hidden") {
        return None;
    }
    if parent.is_some() || kind.as_deref() == Some("sub_agent") {
        session.parent = Some(Parent { session_id: parent.map(Cow::into_owned), relation: Relation::Subagent });
    }
    Some(session)
}

/// Whether it is what the program's parts call a session until a model has named it, or a person.
pub(super) fn is_placeholder(title: &str) -> bool {
    let title = title.to_ascii_lowercase();
    let numbered = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b' ');
    matches!(title.as_str(), "cli session" | "acp session" | "new chat" | "untitled")
        || title.strip_prefix("new session").is_some_and(numbered)
}

fn model(config: &Value) -> Option<Box<str>> {
    let name = config["model_name"].as_str().or_else(|| config["modelName"].as_str());
    name.filter(|name| !name.is_empty()).map(Box::from)
}

/// The database's own times are in UTC without saying so; those that the program wrote itself say it.
fn time(stored: &str) -> Option<i64> {
    text::time(stored).or_else(|| text::time(&format!("{stored}Z")))
}

/// What costs more to know.
pub(super) fn details(session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
    read_session(session, wanted.progress, |connection| {
        let conversation = Conversation::open(connection, &session.id)?;
        let mut details = Details::default();
        if wanted.topics {
            let topics = conversation.topics(limits::TOPICS, limits::LINE_MAX)?;
            details.topics = topics.iter().filter_map(|topic| text::excerpt(topic)).collect();
        }
        if wanted.last_message {
            conversation.each(NEWEST_FIRST, None, limits::ROWS_LOOKED_AT, limits::LINE_MAX, |stored, _| {
                details.last_message = stored.last_message();
                if details.last_message.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        }
        if wanted.message_count {
            conversation.each(OLDEST_FIRST, None, usize::MAX, limits::LINE_MAX, |stored, _| {
                details.message_count += u64::from(stored.is_genuine());
                ControlFlow::Continue(())
            })?;
        }
        Ok(details)
    })
}

/// The place behind all messages.
pub(super) fn end(session: &Session) -> Result<End, ReadError> {
    let end = read_session(session, None, |connection| {
        if !has_row(connection, "sessions", &session.id)? {
            return Ok(None);
        }
        let conversation = Conversation::open(connection, &session.id)?;
        let mut behind = cursor(&(None, 0));
        conversation.each(NEWEST_FIRST, None, 1, 0, |_, (time, number)| {
            // One whose time is no number is found by its own number alone, so the place behind it has no name.
            behind = cursor(&(time, if time.is_some() { number.saturating_add(1) } else { number }));
            ControlFlow::Break(())
        })?;
        let visible = visible(&conversation.columns);
        let query =
            format!("select count(*) from messages where session_id = ?1 and created_timestamp is not null {visible}");
        let count: i64 = connection.query_row(&query, [&session.id], |row| row.get(0))?;
        Ok(Some(End { cursor: behind, count: Some(count.unsigned_abs()) }))
    })?;
    end.ok_or(ReadError::Vanished)
}

/// One page of messages. Its place in the program's own order is the cursor: a message's time and number.
pub(super) fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let before = request.cursor.map(|cursor| place(cursor).ok_or(ReadError::Cursor)).transpose()?;
    if request.progress.is_cancelled() {
        return Err(ReadError::Cancelled);
    }
    read_session(session, Some(request.progress), |connection| {
        let conversation = Conversation::open(connection, &session.id)?;
        let (mut gathered, mut ended) = (Gathered::new(request), true);
        let mut oldest = before;
        let limit = request.limit.saturating_add(1);
        conversation.each(NEWEST_FIRST, before, limit, limits::LINE_MAX, |stored, place| {
            if gathered.is_full() {
                ended = false;
                return ControlFlow::Break(());
            }
            if gathered.count() < request.limit {
                oldest = Some(place);
            }
            let bytes = stored.bytes;
            gathered.push(stored.into_message(), bytes, place);
            ControlFlow::Continue(())
        })?;
        let mut page = gathered.into_page(ended, cursor);
        messages::name_results(&mut page.messages, &[]);
        messages::name_from_earlier(&mut page, || {
            let (mut earlier, mut bytes) = (Vec::new(), 0);
            conversation.each(NEWEST_FIRST, oldest, limits::CALLS_LOOKED_FOR, limits::LINE_MAX, |stored, _| {
                bytes += stored.bytes;
                earlier.push(stored.into_message());
                if bytes > limits::LOOK_BACK { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            Ok::<Vec<Message>, rusqlite::Error>(earlier)
        })?;
        Ok(page)
    })
}

/// A message's time and number. One whose time is no whole number is found by its number alone.
type Place = (Option<i64>, i64);

fn cursor((time, number): &Place) -> String {
    format!("{}:{number}", time.map(|time| time.to_string()).unwrap_or_default())
}

fn place(cursor: &str) -> Option<Place> {
    let (time, number) = cursor.split_once(':')?;
    let time = if time.is_empty() { None } else { Some(time.parse().ok()?) };
    Some((time, number.parse().ok()?))
}

const NEWEST_FIRST: &str = "created_timestamp desc, id desc";
const OLDEST_FIRST: &str = "created_timestamp, id";

/// The messages of one session that a person sees.
struct Conversation<'c> {
    connection: &'c Connection,
    session: &'c str,
    columns: Columns,
}

impl<'c> Conversation<'c> {
    fn open(connection: &'c Connection, session: &'c str) -> rusqlite::Result<Self> {
        Ok(Self { connection, session, columns: Columns::of(connection, "messages")? })
    }

    /// Visits messages, each with its place; of a longer one than there is room for, only the size is told. Which they
    /// are is found out first, without what they say: old versions have no index of this order, and to sort is to copy.
    fn each(
        &self,
        order: &str,
        before: Option<Place>,
        limit: usize,
        room: usize,
        mut visit: impl FnMut(Stored, Place) -> ControlFlow<()>,
    ) -> rusqlite::Result<()> {
        let visible = visible(&self.columns);
        // No value is above all that may stand where a time should, so without a bound there is no condition.
        let (condition, (time, number)) = match before {
            None => ("created_timestamp is not null and ?2 is null and ?3 = 0", (None, 0)),
            Some((Some(time), number)) => ("(created_timestamp, id) < (?2, ?3)", (Some(time), number)),
            Some((None, number)) => (
                "(created_timestamp, id) < (select created_timestamp, id from messages where id = ?3 and ?2 is null)",
                (None, number),
            ),
        };
        let query = format!(
            "select id from messages where session_id = ?1 and {condition} {visible} order by {order} limit ?4"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare(&query)?;
        let mut numbers = statement.query(params![self.session, time, number, limit])?;
        let query = format!(
            "select created_timestamp, {}, {}, {} from messages where id = ?",
            bounded(self.columns.or_null("message_id"), limits::HEAD_MAX),
            bounded("role", limits::HEAD_MAX),
            bounded("content_json", room)
        );
        let mut message = self.connection.prepare(&query)?;
        while let Some(row) = numbers.next()? {
            // Without a number a row has no place.
            let Some(number) = integer(row, 0) else { continue };
            let mut rows = message.query([number])?;
            let Some(row) = rows.next()? else { continue };
            let time = if let ValueRef::Integer(time) = row.get_ref(0)? { Some(time) } else { None };
            if visit(stored(row, number), (time, number)).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The opening prompts.
    fn topics(&self, max: usize, room: usize) -> rusqlite::Result<Vec<String>> {
        let mut topics = Vec::new();
        self.each(OLDEST_FIRST, None, limits::ROWS_LOOKED_AT, room, |stored, _| {
            topics.extend(stored.prompt());
            if topics.len() == max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(topics)
    }
}

fn stored(row: &Row<'_>, number: i64) -> Stored {
    let content = column(row, 3).unwrap_or_default();
    let bytes = content.len() as u64;
    let content = match left_out(row, 3) {
        Some(bytes) => size(bytes),
        None => text::value(&content).unwrap_or_else(|| Value::String(content.into_owned())),
    };
    Stored {
        number,
        time: integer(row, 0),
        id: column(row, 1).map(Cow::into_owned),
        role: column(row, 2).unwrap_or_default().into_owned(),
        content,
        bytes,
    }
}
