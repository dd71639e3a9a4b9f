//! The database: a row a session, a message and a part of one.

use super::record::{Opened, Revert, Stored};
use crate::harness::database::{Columns, integer, text as column};
use crate::harness::{Details, Page, PageRequest, Reading, Session, Skip, Source, Wanted, pages, text};
use crate::limits;
use crate::platform::sqlite;
use crate::protocol::{Parent, Relation};
use rusqlite::{Connection, OptionalExtension, Row};
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
    let [title, directory, model, parent, created, archived] =
        ["title", "directory", "model", "parent_id", "time_created", "time_archived"].map(|name| columns.or_null(name));
    Ok(Some(format!(
        "select id, {title}, {directory}, {model}, {parent}, {created}, {archived},
           (select max(time_created) from message where session_id = session.id and time_created < {})
         from session",
        END.0
    )))
}

/// `None` for a row without an id, or without a message.
fn session(row: &Row<'_>, source: &Source) -> Option<Session> {
    let mut session = Session::new(&column(row, 0)?, source);
    session.updated_at_ms = Some(integer(row, 7)?);
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
    let conversation = Conversation::open(connection, &session.id)?;
    if session.model.is_none() {
        let mut looked = 0;
        conversation.newest_first(END, &mut |stored| {
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
        let conversation = Conversation::open(connection, &session.id)?;
        let mut details = Details::default();
        if wanted.topics {
            let topics = conversation.topics(limits::TOPICS)?;
            details.topics = topics.iter().filter_map(|topic| text::excerpt(topic)).collect();
        }
        if wanted.last_message {
            let mut looked = 0;
            conversation.newest_first(END, &mut |stored| {
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

/// One page of messages. Its place in the order is the cursor: a message's time and id.
pub fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, Skip> {
    let before = request.cursor.map_or(Some(END), place).ok_or(Skip::Cursor)?;
    let stored = sqlite::read(&session.location, |connection| {
        let conversation = Conversation::open(connection, &session.id)?;
        let mut page = Vec::new();
        conversation.newest_first(before, &mut |mut stored| {
            if page.len() < request.limit {
                conversation.add_parts(&mut stored)?;
            }
            page.push(stored);
            Ok(stop_if(page.len() > request.limit || request.attendant.cancelled()))
        })?;
        Ok(page)
    })?;
    if request.attendant.cancelled() {
        return Err(Skip::Cancelled);
    }
    let place = |stored: &Stored| format!("{}:{}", stored.created_ms.unwrap_or_default(), stored.id);
    Ok(pages::page(stored, request, place, |stored| stored.open().into_message()))
}

fn place(cursor: &str) -> Option<(i64, &str)> {
    let (time, id) = cursor.split_once(':')?;
    Some((time.parse().ok()?, id))
}

/// Behind every number, and before every text that stands where a number should.
const END: (i64, &str) = (i64::MAX, "");

fn stop_if(enough: bool) -> ControlFlow<()> {
    if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

type Visit<'v> = &'v mut dyn FnMut(Stored) -> rusqlite::Result<ControlFlow<()>>;

/// The messages of one session that still count.
struct Conversation<'c> {
    connection: &'c Connection,
    session: &'c str,
    revert: Option<Revert>,
}

impl<'c> Conversation<'c> {
    fn open(connection: &'c Connection, session: &'c str) -> rusqlite::Result<Self> {
        let revert = Columns::of(connection, "session")?.or_null("revert").to_owned();
        let revert = connection
            .query_row(&format!("select {revert} from session where id = ?"), [session], |row| {
                Ok(column(row, 0).and_then(|revert| Revert::of(&text::value(&revert)?)))
            })
            .optional()?;
        Ok(Self { connection, session, revert: revert.flatten() })
    }

    fn newest_first(&self, before: (i64, &str), visit: Visit<'_>) -> rusqlite::Result<()> {
        self.each("time_created desc, id desc", before, visit)
    }

    fn oldest_first(&self, visit: Visit<'_>) -> rusqlite::Result<()> {
        self.each("time_created, id", END, visit)
    }

    /// Visits messages without their parts. The index has this order, so no more rows are read than are visited.
    fn each(&self, order: &str, before: (i64, &str), visit: Visit<'_>) -> rusqlite::Result<()> {
        let query = format!(
            "select id, time_created, data from message
             where session_id = ? and (time_created, id) < (?, ?) order by {order}"
        );
        let mut statement = self.connection.prepare(&query)?;
        let mut rows = statement.query((self.session, before.0, before.1))?;
        while let Some(row) = rows.next()? {
            // Without both of them a row has no place.
            let (Some(id), Some(time)) = (column(row, 0).map(Cow::into_owned), integer(row, 1)) else { continue };
            if self.revert.as_ref().is_some_and(|revert| !revert.keeps(&id)) {
                continue;
            }
            let record = column(row, 2).unwrap_or_default().into_owned();
            if visit(Stored { id, created_ms: Some(time), record, parts: Vec::new() })?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn add_parts(&self, stored: &mut Stored) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare("select id, data from part where message_id = ? order by id")?;
        let mut rows = statement.query([&stored.id])?;
        while let Some(row) = rows.next()? {
            let id = column(row, 0).unwrap_or_default().into_owned();
            if self.revert.as_ref().is_none_or(|revert| revert.keeps_part(&stored.id, &id)) {
                stored.parts.push((id, column(row, 1).unwrap_or_default().into_owned()));
            }
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
