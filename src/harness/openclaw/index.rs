//! The index of an agent's transcripts: what conversations are called, and which sessions they are now.

use crate::harness::{Name, ReadError, Reading, Remark, text};
use crate::limits;
use crate::platform::files::open_regular;
use crate::protocol::{Parent, Relation};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::path::Path;

/// A name that someone gave a conversation, or the program made for it.
const GIVEN: u8 = 1;

/// A conversation. Most of what is kept of it, which may be large, says nothing here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    session_id: Value,
    #[serde(default)]
    label: Value,
    #[serde(default)]
    display_name: Value,
    #[serde(default)]
    spawned_by: Value,
}

/// Either a conversation or something else, which says nothing.
#[derive(Deserialize)]
#[serde(untagged)]
enum Known {
    Entry(Box<Entry>),
    Other(serde::de::IgnoredAny),
}

pub(super) fn read(path: &Path) -> Result<Reading, ReadError> {
    let file = open_regular(path)?;
    if file.metadata()?.len() == 0 {
        return Err(ReadError::Empty);
    }
    let bounded = BufReader::new(file).take(limits::UNPACKED_MAX);
    let known: BTreeMap<String, Known> = serde_json::from_reader(bounded)
        .map_err(|error| ReadError::Malformed(format!("not an index of sessions: {error}")))?;
    let entries: BTreeMap<&str, &Entry> = known
        .iter()
        .filter_map(|(key, known)| match known {
            Known::Entry(entry) => Some((key.as_str(), &**entry)),
            Known::Other(_) => None,
        })
        .collect();
    let mut reading = Reading::default();
    for (key, entry) in &entries {
        let Some(session) = entry.session_id.as_str() else { continue };
        let names = [&entry.label, &entry.display_name];
        let name = names.into_iter().filter_map(|name| name.as_str()).find_map(text::given_title);
        let named = name.map(|title| Name { session: session.into(), title, rank: GIVEN });
        reading.names.extend(named);
        let parent = entry.spawned_by.as_str().map(|key| Parent {
            session_id: entries.get(key).and_then(|entry| entry.session_id.as_str()).map(str::to_owned),
            relation: Relation::Subagent,
        });
        let handle = Some((*key).into());
        reading.remarks.push(Remark { session: session.into(), parent, handle, ..Remark::default() });
    }
    Ok(reading)
}
