//! Messages of the second engine: a row of `session_message` holds a message whole, and `seq` orders them. Seen with
//! OpenCode 1.18.33, where one session can have messages of both engines.

use super::record::{Revert, Stored};
use crate::harness::database::{Columns, bounded, integer, left_out, short, text as column};
use crate::limits;
use rusqlite::{Connection, Rows, Statement, params};
use std::borrow::Cow;

/// Whether the database has such messages.
pub(super) fn is_known(connection: &Connection) -> rusqlite::Result<bool> {
    let needed = ["id", "session_id", "type", "seq", "time_created", "data"];
    Ok(Columns::of(connection, "session_message")?.has_all(&needed))
}

/// Whether it has prompts that wait until the engine takes them in.
pub(super) fn has_inputs(connection: &Connection) -> rusqlite::Result<bool> {
    let needed = ["session_id", "prompt", "admitted_seq", "promoted_seq"];
    Ok(Columns::of(connection, "session_input")?.has_all(&needed))
}

/// Prepares the messages of one session before a number, in the order of their numbers.
pub(super) fn prepare<'c>(connection: &'c Connection, direction: &str, room: usize) -> rusqlite::Result<Statement<'c>> {
    connection.prepare(&format!(
        "select {}, {}, seq, time_created, {} from session_message where session_id = ?1 and seq < ?2 order by seq {direction}",
        short("id"),
        short("type"),
        bounded("data", room)
    ))
}

/// Begins to read them.
pub(super) fn query<'s>(
    statement: &'s mut Statement<'_>,
    session: &str,
    before: Option<i64>,
) -> rusqlite::Result<Rows<'s>> {
    statement.query(params![session, before.unwrap_or(i64::MAX)])
}

/// The next message.
pub(super) fn next(rows: &mut Rows<'_>) -> rusqlite::Result<Option<Stored>> {
    while let Some(row) = rows.next()? {
        let (Some(id), Some(seq)) = (column(row, 0).map(Cow::into_owned), integer(row, 2)) else { continue };
        return Ok(Some(Stored {
            id,
            at: integer(row, 3),
            created_ms: integer(row, 3),
            record: column(row, 4).unwrap_or_default().into_owned(),
            left_out: left_out(row, 4),
            parts: Vec::new(),
            second: Some((seq, column(row, 1).unwrap_or_default().into_owned())),
        }));
    }
    Ok(None)
}

/// How many messages of a session count, and the greatest number of all.
pub(super) fn extent(
    connection: &Connection,
    session: &str,
    before: Option<&str>,
) -> rusqlite::Result<(u64, Option<i64>)> {
    let query = format!(
        "select count(*) filter (where {}), max(seq) from session_message where session_id = ?1 and seq < ?3",
        Revert::CONDITION
    );
    connection.query_row(&query, params![session, before, i64::MAX], |row| {
        Ok((row.get::<_, i64>(0)?.unsigned_abs(), integer(row, 1)))
    })
}

/// The prompt that waits, of one that is told as its row holds it.
pub(super) fn waiting_prompt(input: &str) -> Option<String> {
    crate::harness::text::value(input)?["text"].as_str().map(str::to_owned)
}

/// The columns of a list: the newest message of the second engine, whether there is one, and the first prompt that waits.
pub(super) fn listing(connection: &Connection) -> rusqlite::Result<String> {
    let messages = if is_known(connection)? {
        "(select time_created from session_message
          where session_id = session.id and type in ('user', 'assistant') and time_created < 9e18
          order by time_created desc limit 1),
         exists (select 1 from session_message where session_id = session.id and seq is not null)"
    } else {
        "null, 0"
    };
    let input = if has_inputs(connection)? {
        let prompt = bounded("prompt", limits::LINE_MAX);
        format!(
            "(select {prompt} from session_input
              where session_id = session.id and promoted_seq is null order by admitted_seq limit 1)"
        )
    } else {
        "null".to_owned()
    };
    Ok(format!("{messages}, {input}"))
}
