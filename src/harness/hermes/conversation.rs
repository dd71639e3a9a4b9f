//! The messages of a session, and of those that it goes on from: a long conversation is cut into several.

use super::origin::Origin;
use super::record::{SUMMARIES, Stored};
use crate::harness::database::{Columns, bounded, has_row, read_session};
use crate::harness::pages::Gathered;
use crate::harness::{Details, End, Page, PageRequest, ReadError, Session, Wanted, messages, text};
use crate::limits;
use crate::protocol::{Message, Relation};
use rusqlite::{Connection, params_from_iter};
use std::ops::ControlFlow;

/// What costs more to know.
pub(super) fn details(session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
    read_session(session, wanted.progress, |connection| {
        let conversation = Conversation::whole(connection, &session.id)?;
        let mut details = Details::default();
        if wanted.topics {
            let topics = conversation.topics(limits::TOPICS, limits::LINE_MAX)?;
            details.topics = topics.iter().filter_map(|topic| text::excerpt(topic)).collect();
        }
        if wanted.last_message {
            conversation.each("desc", i64::MAX, limits::ROWS_LOOKED_AT, limits::LINE_MAX, |stored| {
                details.last_message = stored.last_message();
                if details.last_message.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        }
        if wanted.message_count {
            details.message_count = conversation.count()?;
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
        let conversation = Conversation::whole(connection, &session.id)?;
        let query = format!("select coalesce(max(id), 0), count(*) from messages where {}", conversation.condition());
        connection.query_row(&query, params_from_iter(&conversation.sessions), |row| {
            let (newest, count): (i64, i64) = (row.get(0)?, row.get(1)?);
            Ok(Some(End { cursor: newest.saturating_add(1).to_string(), count: Some(count.unsigned_abs()) }))
        })
    })?;
    end.ok_or(ReadError::Vanished)
}

/// One page of messages. Their numbers grow in the order in which they were written; the oldest one's is the cursor.
pub(super) fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let before = request.cursor.map_or(Ok(i64::MAX), str::parse).map_err(|_| ReadError::Cursor)?;
    if request.progress.is_cancelled() {
        return Err(ReadError::Cancelled);
    }
    read_session(session, Some(request.progress), |connection| {
        let conversation = Conversation::whole(connection, &session.id)?;
        let (mut gathered, mut ended, mut oldest) = (Gathered::new(request), true, before);
        conversation.each("desc", before, request.limit.saturating_add(1), limits::LINE_MAX, |stored| {
            if gathered.is_full() {
                ended = false;
                return ControlFlow::Break(());
            }
            if gathered.count() < request.limit {
                oldest = stored.number;
            }
            let (number, bytes) = (stored.number, stored.bytes);
            gathered.push(stored.into_message(), bytes, number);
            ControlFlow::Continue(())
        })?;
        let mut page = gathered.into_page(ended, i64::to_string);
        messages::name_results(&mut page.messages, &[]);
        messages::name_from_earlier(&mut page, || {
            let (mut earlier, mut bytes) = (Vec::new(), 0);
            conversation.each("desc", oldest, limits::CALLS_LOOKED_FOR, limits::LINE_MAX, |stored| {
                bytes += stored.bytes;
                earlier.push(stored.into_message());
                if bytes > limits::LOOK_BACK { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            Ok::<Vec<Message>, rusqlite::Error>(earlier)
        })?;
        Ok(page)
    })
}

/// The condition that leaves out rows which a person took back. What was compacted in place is history: its rows are not
/// active, but marked as compacted.
pub(super) fn kept(messages: &Columns) -> &'static str {
    match (messages.has("active"), messages.has("compacted")) {
        (true, true) => "and (active = 1 or compacted = 1)",
        (true, false) => "and active = 1",
        (false, _) => "",
    }
}

/// The messages of sessions that are still part of the conversation.
pub(super) struct Conversation<'c> {
    connection: &'c Connection,
    sessions: Vec<String>,
    columns: Columns,
}

impl<'c> Conversation<'c> {
    /// Those of one session alone.
    pub(super) fn alone(connection: &'c Connection, session: &str) -> rusqlite::Result<Self> {
        Ok(Self { connection, sessions: vec![session.to_owned()], columns: Columns::of(connection, "messages")? })
    }

    /// Those of a session and of all that it goes on from.
    fn whole(connection: &'c Connection, session: &str) -> rusqlite::Result<Self> {
        let mut whole = Self::alone(connection, session)?;
        let mut origin = Origin::find(connection, session)?;
        while let Some(id) = origin.as_ref().and_then(|origin| origin.session.clone()) {
            let before = Origin::find(connection, &id)?;
            let parent = origin.and_then(|origin| origin.parent(|_| before.as_ref()));
            let goes_on = parent.is_some_and(|parent| parent.relation == Relation::Continuation);
            if !goes_on || whole.sessions.len() == limits::ANCESTRY {
                break;
            }
            whole.sessions.push(id);
            origin = before;
        }
        Ok(whole)
    }

    /// The condition that a message belongs here. Compaction in place copies the messages that it carries over behind its
    /// summary, with their times; the first one counts.
    fn condition(&self) -> String {
        let marks = vec!["?"; self.sessions.len()].join(", ");
        let copies = if self.columns.has_all(&["active", "compacted"]) {
            "and not exists (select 1 from messages first
               where first.session_id = messages.session_id and first.timestamp = messages.timestamp
                 and first.id < messages.id and first.compacted = 1 and first.role = messages.role
                 and first.content is messages.content and first.tool_call_id is messages.tool_call_id
                 and first.tool_calls is messages.tool_calls)"
        } else {
            ""
        };
        format!("session_id in ({marks}) {} {copies}", kept(&self.columns))
    }

    /// Visits messages in the order of their numbers. Which they are is found out first, in an index alone: the plus
    /// keeps SQLite from going through the messages of all sessions in this order. Of a text that is longer than there is
    /// room for, only the size is told.
    fn each(
        &self,
        direction: &str,
        before: i64,
        limit: usize,
        room: usize,
        mut visit: impl FnMut(Stored) -> ControlFlow<()>,
    ) -> rusqlite::Result<()> {
        let wanted = Stored::columns(&self.columns, room);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = format!(
            "select {wanted} from messages where id in
               (select id from messages where {} and +id < {before} order by +id {direction} limit {limit})
             order by id {direction}",
            self.condition()
        );
        let mut statement = self.connection.prepare(&query)?;
        let mut rows = statement.query(params_from_iter(&self.sessions))?;
        while let Some(row) = rows.next()? {
            if visit(Stored::of(row)).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The opening prompts.
    pub(super) fn topics(&self, max: usize, room: usize) -> rusqlite::Result<Vec<String>> {
        let mut topics = Vec::new();
        self.each("asc", i64::MAX, limits::ROWS_LOOKED_AT, room, |stored| {
            topics.extend(stored.prompt());
            if topics.len() == max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(topics)
    }

    /// How many messages people and models wrote.
    fn count(&self) -> rusqlite::Result<u64> {
        let content = bounded("content", limits::LINE_MAX);
        let genuine = SUMMARIES.map(|opening| format!("and coalesce({content}, '') not like '{opening}%'")).join(" ");
        let query = format!(
            "select count(*) from messages where {} and role in ('user', 'assistant') {genuine}",
            self.condition()
        );
        let count: i64 = self.connection.query_row(&query, params_from_iter(&self.sessions), |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }
}
