//! What the index and the database say of threads: the user's names, the titles that the program made, which segment is
//! the current one, and what a side chat is attached to.

use super::files::SegmentName;
use crate::harness::database::{Columns, each_listed, read_list, short, text as column};
use crate::harness::{Name, ReadError, Reading, Remark, Source, ids, jsonl, text};
use crate::limits;
use crate::platform::files::open_regular;
use crate::protocol::{Parent, Relation};
use rusqlite::{Connection, Row};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{BufReader, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

/// A prompt that stands in where the session has none of its own.
const PREVIEW: u8 = 0;
/// A title that the program made, which says more than the first prompt.
const MADE: u8 = 1;
/// A name that the user gave, as the index has it.
const GIVEN_IN_INDEX: u8 = 2;
/// The same in the database, which the program asks first: old versions wrote only the index.
const GIVEN: u8 = 3;

/// The names of the index, to which each renaming adds a line.
pub(super) fn index(path: &Path) -> Result<Vec<Name>, ReadError> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Line<'a> {
        #[serde(default)]
        id: Option<&'a RawValue>,
        #[serde(default)]
        thread_name: Option<&'a RawValue>,
    }
    let mut file = open_regular(path)?;
    let from = file.metadata()?.len().saturating_sub(limits::INDEX_FILE as u64);
    file.seek(SeekFrom::Start(from))?;
    let mut newest = BTreeMap::new();
    jsonl::stream(BufReader::new(file), |line| {
        let line = serde_json::from_slice(line).ok();
        if let Some(id) = line.as_ref().and_then(|line: &Line<'_>| text::member(line.id)) {
            newest.insert(id.into_owned(), line.and_then(|line| text::title(&text::member(line.thread_name)?)));
        }
        ControlFlow::Continue(())
    })?;
    let named = newest.into_iter().filter_map(|(id, title)| Some((id, title?)));
    Ok(named.map(|(id, title)| Name { session: id.into(), title, rank: GIVEN_IN_INDEX }).collect())
}

/// What the database says of threads. Its columns grow from version to version.
pub(super) fn database(source: &Source) -> Result<Reading, ReadError> {
    let reading = read_list(source, |connection| {
        let Some(query) = query(connection)? else { return Ok(None) };
        let mut reading = Reading::default();
        each_listed(connection, source, &query, |row| {
            reading.names.extend(name(row));
            reading.remarks.extend(remark(row));
            Ok(())
        })?;
        Ok(Some(reading))
    })?;
    reading.ok_or_else(|| ReadError::Malformed("no table of threads with names in it".to_owned()))
}

/// `None` where nothing in the database is known.
fn query(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let columns = Columns::of(connection, "threads")?;
    if !columns.has("id") || !["name", "title", "preview"].into_iter().any(|name| columns.has(name)) {
        return Ok(None);
    }
    // A title is cut much shorter, but white space is folded first. To cut a text is to load it.
    let start = |name: &str| {
        let column = columns.or_null(name);
        format!("case when octet_length({column}) <= {} then substr({column}, 1, 2000) end", limits::LINE_MAX)
    };
    let [name, title, prompt, preview] = ["name", "title", "first_user_message", "preview"].map(start);
    let [attached, path] = ["attached_thread_parent_id", "rollout_path"].map(start);
    let id = short("id");
    Ok(Some(format!("select {id}, {name}, {title}, {prompt}, {preview}, {attached}, {path} from threads")))
}

/// The best that a row has to say beyond what the session's own file says; mostly nothing.
fn name(row: &Row<'_>) -> Option<Name> {
    let line = |at| column(row, at).and_then(|name| text::title(&name));
    let (title, rank) = match (line(1), line(2), line(3)) {
        (Some(given), _, _) => (given, GIVEN),
        (None, Some(title), Some(prompt)) if !repeats(&title, &prompt) => (title, MADE),
        (None, title, None) => (title.or_else(|| line(4))?, PREVIEW),
        _ => return None,
    };
    Some(Name { session: column(row, 0)?.as_ref().into(), title, rank })
}

/// Which segment is the current one, and the thread that a side chat is attached to.
fn remark(row: &Row<'_>) -> Option<Remark> {
    let attached = column(row, 5).filter(|id| ids::is_part_of_name(id)).map(|id| id.into_owned());
    let path = column(row, 6);
    let current = path.as_deref().and_then(|path| SegmentName::of(Path::new(path)));
    if attached.is_none() && current.is_none() {
        return None;
    }
    Some(Remark {
        session: column(row, 0)?.as_ref().into(),
        parent: attached.map(|id| Parent { session_id: Some(id), relation: Relation::Subagent }),
        current: current.map(|name| name.segment.into()),
        ..Remark::default()
    })
}

/// Whether a title is but the prompt, perhaps cut.
fn repeats(title: &str, prompt: &str) -> bool {
    let cut = title.strip_suffix('…').or_else(|| title.strip_suffix("..."));
    title == prompt || cut.is_some_and(|start| prompt.starts_with(start.trim_end()))
}
