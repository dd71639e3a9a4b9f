//! The rows of one profile's database.

use super::{DEFAULT_PROFILE, PROFILES};
use crate::harness::database::{Columns, read_list};
use crate::harness::text::{self, member};
use crate::harness::{ReadError, Session, Source, ids};
use crate::limits;
use crate::platform::files::resolve;
use crate::protocol::{Harness, Parent, Relation};
use rusqlite::{Connection, params};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::Path;

/// A row, as the orchestrator's forerunner has it too; what is the orchestrator's own lies under `metadata`. Every
/// member may be of any kind.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Entry<'a> {
    display_name: Option<&'a RawValue>,
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    supercode: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Slot<'a> {
    slot: Option<&'a RawValue>,
    binding: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Binding<'a> {
    worker: Option<&'a RawValue>,
    started_at: Option<&'a RawValue>,
    last_activity_at: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Worker<'a> {
    harness: Option<&'a RawValue>,
    session_id: Option<&'a RawValue>,
}

/// The bindings of a database.
pub(super) fn read(source: &Source) -> Result<Vec<Session>, ReadError> {
    let home = source.path.parent().unwrap_or(&source.path);
    let scope = resolve(&home.join("sessions"));
    let scope = scope.to_str().ok_or(ReadError::NotUtf8)?;
    let profile = profile(home);
    let rows = read_list(source, |connection| {
        let known = Columns::of(connection, "gateway_routing")?.has_all(&["scope", "session_key", "entry_json"]);
        if !known {
            return Ok(None);
        }
        rows(connection, scope, |key, entry| session(source, profile, key, entry)).map(Some)
    })?;
    let rows = rows.ok_or_else(|| ReadError::Malformed("no table of bindings in it".to_owned()))?;
    match rows {
        Rows::Own(sessions) => Ok(sessions),
        Rows::OfAnother(scope) => {
            Err(ReadError::Malformed(format!("its rows are of a home at {scope}: it was copied or moved")))
        }
    }
}

enum Rows {
    /// What they were made into.
    Own(Vec<Session>),
    /// None of this home's, but of one at another place.
    OfAnother(String),
}

fn rows(
    connection: &Connection,
    scope: &str,
    session: impl Fn(&str, &str) -> Option<Session>,
) -> rusqlite::Result<Rows> {
    let mut statement = connection.prepare(
        "select session_key, entry_json from gateway_routing where scope = ?1 order by session_key limit ?2",
    )?;
    let mut found = statement.query(params![scope, limits::FILES_PER_ROOT as i64])?;
    let (mut any, mut sessions) = (false, Vec::new());
    while let Some(row) = found.next()? {
        // What is no text costs only itself.
        if let (Ok(key), Ok(entry)) = (row.get_ref(0)?.as_str(), row.get_ref(1)?.as_str()) {
            any = true;
            sessions.extend(session(key, entry));
        }
    }
    if !any {
        let mut other = connection.prepare("select scope from gateway_routing where scope <> ?1 limit 1")?;
        if let Some(row) = other.query([scope])?.next()? {
            return Ok(Rows::OfAnother(row.get(0)?));
        }
    }
    Ok(Rows::Own(sessions))
}

/// The profile that a directory is.
fn profile(home: &Path) -> &str {
    let named = home.parent().filter(|above| above.ends_with(PROFILES)).and_then(|_| home.file_name()?.to_str());
    named.unwrap_or(DEFAULT_PROFILE)
}

/// The binding that a row is; `None` where it is another program's.
fn session(source: &Source, profile: &str, key: &str, entry: &str) -> Option<Session> {
    fn inner<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
        serde_json::from_str(raw?.get()).ok()
    }
    let entry: Entry<'_> = serde_json::from_str(entry).ok()?;
    let slot: Slot<'_> = inner(inner::<Metadata<'_>>(entry.metadata)?.supercode)?;
    let binding: Binding<'_> = inner(slot.binding)?;
    // A worker may be bound before it has a session, so only a profile's keys tell one binding from another.
    let id = format!("{profile}/{key}");
    if !ids::is_usable(&id) {
        return None;
    }
    let name = |raw| member(raw).and_then(|name| text::title(&name));
    let time = |raw| member(raw).and_then(|time| text::time(&time));
    let mut session = Session::new(&id, source);
    session.title = name(entry.display_name).or_else(|| name(slot.slot));
    session.profile = Some(profile.into());
    session.created_at_ms = time(binding.started_at);
    session.updated_at_ms = time(binding.last_activity_at).or(session.created_at_ms).or(session.updated_at_ms);
    session.parent = inner(binding.worker).and_then(|worker| link(&worker));
    session.resumable = false;
    Some(session)
}

/// The worker's session. It is another harness's, so the whole of its entry's id names it.
fn link(worker: &Worker<'_>) -> Option<Parent> {
    let harness: Harness = member(worker.harness)?.parse().ok()?;
    let session = member(worker.session_id).filter(|id| ids::is_usable(id))?;
    Some(Parent { session_id: Some(format!("{harness}:{session}")), relation: Relation::Continuation })
}
