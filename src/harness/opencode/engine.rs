//! Messages of the second engine: a row of `session_message` holds a message whole, and `seq` orders them. Seen with
//! OpenCode 1.18.33, where one session can have messages of both engines.

use super::record::{Revert, Stored};
use crate::harness::database::{Columns, bounded, integer, left_out, short, text as column};
use crate::limits;
use rusqlite::{Connection, Rows, Statement, params};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Whether the database has such messages.
pub fn is_known(connection: &Connection) -> rusqlite::Result<bool> {
    let needed = ["id", "session_id", "type", "seq", "time_created", "data"];
    Ok(Columns::of(connection, "session_message")?.has_all(&needed))
}

/// Whether it has prompts that wait until the engine takes them in.
pub fn has_inputs(connection: &Connection) -> rusqlite::Result<bool> {
    let needed = ["session_id", "prompt", "admitted_seq", "promoted_seq"];
    Ok(Columns::of(connection, "session_input")?.has_all(&needed))
}

/// Prepares the messages of one session before a number, in the order of their numbers.
pub fn prepare<'c>(connection: &'c Connection, direction: &str, room: usize) -> rusqlite::Result<Statement<'c>> {
    connection.prepare(&format!(
        "select {}, {}, seq, time_created, {} from session_message where session_id = ?1 and seq < ?2 order by seq {direction}",
        short("id"),
        short("type"),
        bounded("data", room)
    ))
}

/// Begins to read them.
pub fn query<'s>(statement: &'s mut Statement<'_>, session: &str, before: Option<i64>) -> rusqlite::Result<Rows<'s>> {
    statement.query(params![session, before.unwrap_or(i64::MAX)])
}

/// The next message.
pub fn next(rows: &mut Rows<'_>) -> rusqlite::Result<Option<Stored>> {
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
pub fn extent(connection: &Connection, session: &str, before: Option<&str>) -> rusqlite::Result<(u64, Option<i64>)> {
    let query = format!(
        "select count(*) filter (where {}), max(seq) from session_message where session_id = ?1 and seq < ?3",
        Revert::CONDITION
    );
    connection.query_row(&query, params![session, before, i64::MAX], |row| {
        Ok((row.get::<_, i64>(0)?.unsigned_abs(), integer(row, 1)))
    })
}

/// A message's record and its parts, in the form of the first engine.
pub fn in_first_form(kind: &str, mut data: Value) -> (Value, Vec<Value>) {
    let mut record = json!({"role": kind, "time": data["time"].take()});
    let said = |text: &mut Value| text.is_string().then(|| json!({"type": "text", "text": text.take()}));
    let parts = match kind {
        "user" | "system" => said(&mut data["text"]).into_iter().chain(files(&mut data)).collect(),
        "compaction" => said(&mut data["summary"]).into_iter().collect(),
        "assistant" => {
            record["modelID"] = data["model"]["id"].take();
            if !data["error"].is_null() {
                record["error"] = data["error"].take();
            }
            let content = data["content"].as_array_mut().map(std::mem::take);
            content.unwrap_or_default().into_iter().map(part).collect()
        }
        _ => {
            data["type"] = kind.into();
            vec![data]
        }
    };
    (record, parts)
}

fn files(data: &mut Value) -> Vec<Value> {
    let files = data["files"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let file = |mut file: Value| json!({"type": "file", "mime": file["mime"].take(), "url": file["uri"].take(), "filename": file["name"].take()});
    files.into_iter().filter(Value::is_object).map(file).collect()
}

fn part(mut part: Value) -> Value {
    if part["type"] != "tool" {
        return part;
    }
    json!({"type": "tool", "callID": part["id"].take(), "tool": part["name"].take(), "state": part["state"].take()})
}

/// The prompt that waits, of one that is told as its row holds it.
pub fn waiting_prompt(input: &str) -> Option<String> {
    crate::harness::text::value(input)?["text"].as_str().map(str::to_owned)
}

/// The columns of a list: the newest message of the second engine, whether there is one, and the first prompt that waits.
pub fn listing(connection: &Connection) -> rusqlite::Result<String> {
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
