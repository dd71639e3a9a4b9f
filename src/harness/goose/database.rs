//! The database. Its columns grew from version to version, so each is asked for only where it is.

use super::record::{Stored, milliseconds};
use crate::harness::database::{Columns, integer, text as column};
use crate::harness::{Details, Page, PageRequest, Reading, Session, Skip, Source, Wanted, messages, pages, text};
use crate::limits;
use crate::platform::sqlite;
use crate::protocol::{Message, Parent, Relation};
use rusqlite::{Connection, Row};
use serde_json::Value;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Every session that has a message, but those that the program made for itself.
pub fn read(source: &Source) -> Result<Reading, Skip> {
    let sessions = sqlite::read(&source.path, |connection| {
        let Some(query) = listing(connection)? else { return Ok(None) };
        let mut statement = connection.prepare(&query)?;
        let mut rows = statement.query([])?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(mut session) = session(row, source) else { continue };
            if session.title.is_none() {
                let first = Conversation::open(connection, &session.id)?.topics(1)?;
                session.title = first.first().and_then(|prompt| text::title(prompt));
            }
            sessions.push(session);
        }
        Ok(Some(sessions))
    })?;
    let sessions = sessions.ok_or_else(|| Skip::Malformed("no tables of sessions and messages in it".to_owned()))?;
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
    ];
    let wanted = wanted.map(|name| columns.or_null(name)).join(", ");
    let visible = visible(&messages);
    Ok(Some(format!(
        "select id, {wanted},
           (select created_timestamp from messages
            where session_id = sessions.id and created_timestamp < {} and role in ('user', 'assistant') {visible}
            order by created_timestamp desc, id desc limit 1)
         from sessions",
        END.0
    )))
}

/// Leaves out what only the model sees: what stands for messages that were summed up.
fn visible(messages: &Columns) -> &'static str {
    if !messages.has("metadata_json") {
        return "";
    }
    "and case when json_valid(metadata_json) then json_extract(metadata_json, '$.userVisible') end is not 0"
}

fn session(row: &Row<'_>, source: &Source) -> Option<Session> {
    let mut session = Session::new(&column(row, 0)?, source);
    session.updated_at_ms = Some(milliseconds(integer(row, 9)?));
    let title = |at| column(row, at).and_then(|title| text::title(&title));
    session.title = title(1).or_else(|| title(2));
    session.workspace = column(row, 3).and_then(|directory| text::workspace(&directory));
    session.model = column(row, 4).and_then(|config| model(&text::value(&config)?));
    session.created_at_ms = column(row, 5).and_then(|created| time(&created));
    session.archived = column(row, 6).is_some();
    let (kind, parent) = (column(row, 7), column(row, 8));
    if kind.as_deref() == Some("hidden") {
        return None;
    }
    if parent.is_some() || kind.as_deref() == Some("sub_agent") {
        session.parent = Some(Parent { session_id: parent.map(Cow::into_owned), relation: Relation::Subagent });
    }
    Some(session)
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
pub fn details(session: &Session, wanted: Wanted) -> Result<Details, Skip> {
    Ok(sqlite::read(&session.location, |connection| {
        let conversation = Conversation::open(connection, &session.id)?;
        let mut details = Details::default();
        if wanted.topics {
            let topics = conversation.topics(limits::TOPICS)?;
            details.topics = topics.iter().filter_map(|topic| text::excerpt(topic)).collect();
        }
        if wanted.last_message {
            conversation.each(NEWEST_FIRST, END, limits::ROWS_LOOKED_AT, |stored| {
                details.last_message = stored.last_message();
                if details.last_message.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        }
        if wanted.message_count {
            conversation.each(OLDEST_FIRST, END, usize::MAX, |stored| {
                details.message_count += u64::from(stored.is_genuine());
                ControlFlow::Continue(())
            })?;
        }
        Ok(details)
    })?)
}

/// One page of messages. Its place in the program's own order is the cursor: a message's time and number.
pub fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, Skip> {
    let before = request.cursor.map_or(Some(END), place).ok_or(Skip::Cursor)?;
    if request.attendant.cancelled() {
        return Err(Skip::Cancelled);
    }
    Ok(sqlite::read(&session.location, |connection| {
        let conversation = Conversation::open(connection, &session.id)?;
        let stored = conversation.newest(before, request.limit.saturating_add(1))?;
        let oldest = stored[..stored.len().min(request.limit)].last().map_or(END, |stored| stored.place);
        let place = |stored: &Stored| format!("{}:{}", stored.place.0, stored.place.1);
        let mut page = pages::page(stored, request, place, Stored::into_message);
        messages::name_from_earlier(&mut page, || {
            let earlier = conversation.newest(oldest, limits::CALLS_LOOKED_FOR)?;
            Ok::<Vec<Message>, rusqlite::Error>(earlier.into_iter().map(Stored::into_message).collect())
        })?;
        Ok(page)
    })?)
}

fn place(cursor: &str) -> Option<(i64, i64)> {
    let (time, number) = cursor.split_once(':')?;
    Some((time.parse().ok()?, number.parse().ok()?))
}

/// Behind every number, and before every text that stands where a number should.
const END: (i64, i64) = (i64::MAX, i64::MAX);
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

    /// Visits messages. The limit stands in the query because old versions have no index of this order.
    fn each(
        &self,
        order: &str,
        before: (i64, i64),
        limit: usize,
        mut visit: impl FnMut(Stored) -> ControlFlow<()>,
    ) -> rusqlite::Result<()> {
        let (message_id, visible) = (self.columns.or_null("message_id"), visible(&self.columns));
        let query = format!(
            "select created_timestamp, id, {message_id}, role, content_json from messages
             where session_id = ?1 and (created_timestamp, id) < (?2, ?3) {visible}
             order by {order} limit ?4"
        );
        let (time, number) = before;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare(&query)?;
        let mut rows = statement.query((self.session, time, number, limit))?;
        while let Some(row) = rows.next()? {
            let Some(stored) = stored(row) else { continue };
            if visit(stored).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn newest(&self, before: (i64, i64), limit: usize) -> rusqlite::Result<Vec<Stored>> {
        let mut newest = Vec::new();
        self.each(NEWEST_FIRST, before, limit, |stored| {
            newest.push(stored);
            ControlFlow::Continue(())
        })?;
        Ok(newest)
    }

    /// The opening prompts.
    fn topics(&self, max: usize) -> rusqlite::Result<Vec<String>> {
        let mut topics = Vec::new();
        self.each(OLDEST_FIRST, END, limits::ROWS_LOOKED_AT, |stored| {
            topics.extend(stored.prompt());
            if topics.len() == max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(topics)
    }
}

/// `None` for a row without a time, which has no place.
fn stored(row: &Row<'_>) -> Option<Stored> {
    let content = column(row, 4).unwrap_or_default();
    Some(Stored {
        place: (integer(row, 0)?, integer(row, 1)?),
        id: column(row, 2).map(Cow::into_owned),
        role: column(row, 3).unwrap_or_default().into_owned(),
        content: text::value(&content).unwrap_or_else(|| Value::String(content.into_owned())),
    })
}
