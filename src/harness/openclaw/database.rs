//! The database of an agent: conversations by their keys, sessions as windows of them, and the events of each session.

use super::agent_of;
use super::event::Event;
use crate::harness::database::{Columns, bounded, each_listed, integer, short, text as column};
use crate::harness::{Name, ReadError, Reading, Run, Session, Source, ids, text};
use crate::limits;
use crate::platform::sqlite::{self, Budget};
use crate::protocol::{Parent, Relation};
use rusqlite::{Connection, Row, Statement};
use ruzstd::decoding::StreamingDecoder;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;

/// How many events from the start are looked at for a prompt, and from the end for a message.
const EVENTS_LOOKED_AT: u32 = 256;
/// A name that the program itself keeps with the conversation, above those of an index that a migration left.
const KEPT: u8 = 2;

/// Reads the sessions of a database. Its tables and columns grow, and are renamed, from version to version.
pub(super) fn read(source: &Source) -> Result<Reading, ReadError> {
    let read = sqlite::read(&source.path, &Budget::of_list(), |connection| {
        if let Some(events) = Events::of(connection)? {
            return reading(connection, &events, source).map(Ok);
        }
        // Before conversations moved into it, a database of the same name held other things of the agent.
        let ours = !Columns::of(connection, "schema_meta")?.is_empty();
        Ok(Err(if ours {
            ReadError::NoMessages
        } else {
            ReadError::Malformed("no events of conversations in it".to_owned())
        }))
    });
    read?
}

/// How the events of a database are asked for.
pub(super) struct Events {
    /// The column of packed events, if there is one.
    packed: &'static str,
    identities: bool,
}

impl Events {
    /// `None` where the database has none.
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        let has = Columns::of(connection, "transcript_events")?;
        let known = has.has_all(&["session_id", "seq", "event_json"]);
        let packed = if has.has("event_zstd") { "e.event_zstd" } else { "null" };
        let identities = Columns::of(connection, "transcript_event_identities")?.has_all(&[
            "session_id",
            "seq",
            "event_id",
            "event_type",
            "parent_id",
        ]);
        Ok(known.then_some(Self { packed, identities }))
    }

    /// The three columns of `e` of which one holds the event, if it is not longer than so many bytes.
    pub(super) fn columns(&self, max: usize) -> String {
        format!("{}, {}, null", bounded("e.event_json", max), bounded(self.packed, max))
    }

    /// The same, with an event in the place of a longer one that has its place in the conversation, and tells its size.
    pub(super) fn columns_or_sizes(&self) -> String {
        let (max, packed) = (limits::LINE_MAX, self.packed);
        let size = format!("coalesce(octet_length(e.event_json), octet_length({packed}))");
        let event = |kind: &str, id: &str, parent: &str| {
            format!(
                "json_object('type', coalesce({kind}, 'message'), 'id', {id}, 'parentId', {parent},
                   'message', json_object('role', 'event', 'content', json_object('bytes', {size})))"
            )
        };
        let known = if self.identities {
            format!(
                "(select {} from transcript_event_identities i where i.session_id = e.session_id and i.seq = e.seq)",
                event("i.event_type", "i.event_id", "i.parent_id")
            )
        } else {
            "null".to_owned()
        };
        // What the program did not note must be looked for in the event itself.
        let member = |name: &str| format!("json_extract(e.event_json, '$.{name}')");
        let own = event(&member("type"), &member("id"), &member("parentId"));
        format!(
            "{}, {}, case when {size} > {max}
               then coalesce({known}, case when {size} <= {} and json_valid(e.event_json) then {own} end) end",
            bounded("e.event_json", max),
            bounded(packed, max),
            limits::DATABASE_VALUE
        )
    }
}

/// The text of an event, which large ones keep compressed; `None` if it cannot be told.
pub(super) fn event_text<'a>(row: &'a Row<'_>) -> Option<Cow<'a, [u8]>> {
    if let Ok(text) = row.get_ref(0).ok()?.as_bytes() {
        return Some(Cow::Borrowed(text));
    }
    if let Ok(text) = row.get_ref(2).ok()?.as_bytes() {
        return Some(Cow::Borrowed(text));
    }
    let mut text = Vec::new();
    let decoder = StreamingDecoder::new(row.get_ref(1).ok()?.as_blob().ok()?).ok()?;
    decoder.take(limits::LINE_MAX as u64).read_to_end(&mut text).ok()?;
    Some(Cow::Owned(text))
}

/// Whether the program packed a session's events away, to where they are not read.
pub(super) fn is_packed_away(connection: &Connection, session: &str) -> rusqlite::Result<bool> {
    const TABLE: &str = "session_transcript_cold_archives";
    Ok(Columns::of(connection, TABLE)?.has("session_id")
        && connection.prepare(&format!("select 1 from {TABLE} where session_id = ?1"))?.exists([session])?)
}

/// A session, and the conversation that it is a window of.
struct Window {
    id: String,
    key: Option<String>,
    previous: Option<String>,
    reason: Option<String>,
    created_at_ms: Option<i64>,
    written_at_ms: Option<i64>,
    model: Option<String>,
    label: Option<Box<str>>,
    current: Option<String>,
    archived: bool,
    spawned_by: Option<String>,
    parent_key: Option<String>,
    created_via: Option<String>,
    fork_of: Option<String>,
    runs_since_ms: Option<i64>,
}

fn reading(connection: &Connection, events: &Events, source: &Source) -> rusqlite::Result<Reading> {
    let windows = windows(connection, source)?;
    let current: HashMap<&str, &str> =
        windows.iter().filter_map(|window| Some((window.key.as_deref()?, window.current.as_deref()?))).collect();
    let mut ends = Ends::of(connection, events)?;
    let mut reading = Reading::default();
    for window in &windows {
        let mut session = Session::new(&window.id, source);
        session.updated_at_ms = window.written_at_ms.or(session.updated_at_ms);
        let exists = ends.tell(&mut session)? || is_packed_away(connection, &window.id)?;
        if !exists || !ids::is_usable(&window.id) {
            continue;
        }
        let agent = window.key.as_deref().and_then(|key| key.strip_prefix("agent:")?.split(':').next());
        session.profile = agent.or_else(|| agent_of(&source.path)).map(Box::from);
        session.created_at_ms = window.created_at_ms.or(session.created_at_ms);
        session.model = session.model.or_else(|| window.model.as_deref().map(Box::from));
        session.archived = window.archived;
        session.parent = window.parent(&current);
        let is_current = window.current.as_deref() == Some(&*window.id);
        session.resumable = is_current || window.current.is_none();
        session.runs = window.runs_since_ms.filter(|_| is_current).map(Run::Since).into_iter().collect();
        session.handle = window.key.as_deref().filter(|_| is_current).map(Box::from);
        if let Some(title) = window.label.clone() {
            reading.names.push(Name { session: session.id.clone(), title: title.clone(), rank: KEPT });
            session.title = Some(title);
        }
        reading.sessions.push(session);
    }
    Ok(reading)
}

fn windows(connection: &Connection, source: &Source) -> rusqlite::Result<Vec<Window>> {
    let mut windows = Vec::new();
    each_listed(connection, source, &windows_query(connection)?, |row| {
        let owned = |at| column(row, at).map(Cow::into_owned);
        let entry: serde_json::Value =
            column(row, 14).and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        let kept = |name: &str| entry.get(name).and_then(|value| value.as_str()).map(str::to_owned);
        let Some(id) = owned(0) else { return Ok(()) };
        windows.push(Window {
            current: owned(7).or_else(|| kept("sessionId")),
            label: [owned(8), owned(9), owned(6), kept("label"), kept("displayName")]
                .into_iter()
                .flatten()
                .find_map(|label| text::given_title(&label)),
            archived: integer(row, 10).is_some(),
            spawned_by: owned(11).or_else(|| kept("spawnedBy")),
            parent_key: owned(12).or_else(|| kept("parentSessionKey")),
            created_via: owned(13),
            fork_of: owned(15),
            key: owned(1),
            previous: owned(2),
            reason: owned(3),
            created_at_ms: integer(row, 4),
            written_at_ms: integer(row, 16),
            runs_since_ms: integer(row, 17),
            model: owned(5).or_else(|| kept("model")),
            id,
        });
        Ok(())
    })?;
    Ok(windows)
}

/// Asks for windows and their conversations, whatever these tables are called and have.
fn windows_query(connection: &Connection) -> rusqlite::Result<String> {
    let sessions = table(connection, ["session_windows", "sessions"], "session_id")?;
    let (from, has) = sessions.unwrap_or(("(select distinct session_id from transcript_events)", Columns::default()));
    let nodes = table(connection, ["session_nodes", "session_entries"], "session_key")?;
    let nodes = nodes.filter(|_| has.has("session_key"));
    let (joined, node_has) = nodes.unwrap_or(("(select null as session_key)", Columns::default()));
    let window = |name: &str| if has.has(name) { format!("w.{name}") } else { "null".to_owned() };
    let node = |name: &str| if node_has.has(name) { format!("n.{name}") } else { "null".to_owned() };
    let current =
        if node_has.has("current_session_id") { "n.current_session_id".to_owned() } else { node("session_id") };
    // What has no column of its own stands in the entry.
    let entry = if node_has.has("label") { "null".to_owned() } else { node("entry_json") };
    let selected = [
        "w.session_id".to_owned(),
        window("session_key"),
        window("previous_session_id"),
        window("reason"),
        window("created_at"),
        window("model"),
        window("display_name"),
        current,
        node("label"),
        node("display_name"),
        node("archived_at"),
        node("spawned_by"),
        node("parent_session_key"),
        node("created_via"),
        entry.clone(),
        node("fork_source_session_id"),
        window("transcript_updated_at"),
        format!("case when {} = 'running' then {} end", node("status"), node("updated_at")),
    ];
    let key = window("session_key");
    let names = [6, 8, 9].map(|at| (at, bounded(&selected[at], limits::HEAD_MAX)));
    let mut selected = selected.map(|column| short(&column));
    for (at, bounded) in names.into_iter().chain([(14, bounded(&entry, limits::LINE_COMMON))]) {
        selected[at] = bounded;
    }
    let selected = selected.join(", ");
    Ok(format!("select {selected} from {from} w left join {joined} n on n.session_key = {key}"))
}

/// Whichever of two tables there is, with the column that it is known by.
fn table(
    connection: &Connection,
    names: [&'static str; 2],
    column: &str,
) -> rusqlite::Result<Option<(&'static str, Columns)>> {
    for name in names {
        let columns = Columns::of(connection, name)?;
        if columns.has(column) {
            return Ok(Some((name, columns)));
        }
    }
    Ok(None)
}

impl Window {
    /// Where it came from: the window before it, else where its conversation came from.
    fn parent(&self, current: &HashMap<&str, &str>) -> Option<Parent> {
        let parent = |session_id: Option<&str>, relation| {
            Some(Parent { session_id: session_id.filter(|id| **id != *self.id).map(str::to_owned), relation })
        };
        if let Some(previous) = &self.previous {
            return parent(
                Some(previous),
                match self.reason.as_deref() {
                    Some("fork") => Relation::Fork,
                    Some("rewind") => Relation::Branch,
                    _ => Relation::Continuation,
                },
            );
        }
        if let Some(fork_of) = &self.fork_of {
            return parent(Some(fork_of), Relation::Fork);
        }
        let session_of = |key: &str| current.get(key).copied();
        if let Some(key) = &self.spawned_by {
            return parent(session_of(key), Relation::Subagent);
        }
        let key = self.parent_key.as_ref()?;
        let spawned = self.created_via.as_deref() == Some("spawn");
        parent(session_of(key), if spawned { Relation::Subagent } else { Relation::Branch })
    }
}

/// The events of any session from its ends on, so far as they are looked at.
struct Ends<'a> {
    first: Statement<'a>,
    last: Statement<'a>,
}

impl<'a> Ends<'a> {
    fn of(connection: &'a Connection, events: &Events) -> rusqlite::Result<Self> {
        let ordered = |order: &str| {
            let columns = events.columns(limits::LINE_COMMON);
            connection.prepare(&format!(
                "select {columns} from transcript_events e where session_id = ?1 order by seq {order} limit {EVENTS_LOOKED_AT}"
            ))
        };
        Ok(Self { first: ordered("asc")?, last: ordered("desc")? })
    }

    /// Learns what a session's events tell; false where it has none.
    fn tell(&mut self, session: &mut Session) -> rusqlite::Result<bool> {
        let any = each(&mut self.first, &session.id.clone(), |event| {
            if event.is("session") {
                session.workspace = event.workspace();
                session.created_at_ms = event.time();
            }
            session.title = event.prompt().and_then(|prompt| text::title(&prompt));
            session.title.is_some()
        })?;
        let mut newest = None;
        each(&mut self.last, &session.id.clone(), |event| {
            let Some(spoken) = event.spoken() else { return false };
            newest = newest.or(spoken.timestamp_ms);
            session.model = spoken.model.map(|model| Box::from(&*model));
            session.model.is_some()
        })?;
        session.updated_at_ms = newest.or(session.updated_at_ms);
        Ok(any)
    }
}

/// Goes through events until one is enough; whether there was any.
fn each(
    statement: &mut Statement<'_>,
    session: &str,
    mut enough: impl FnMut(&Event<'_>) -> bool,
) -> rusqlite::Result<bool> {
    let mut rows = statement.query([session])?;
    let mut any = false;
    while let Some(row) = rows.next()? {
        any = true;
        if event_text(row).as_deref().and_then(Event::parse).is_some_and(|event| enough(&event)) {
            break;
        }
    }
    Ok(any)
}
