//! The storage of old versions: a file a session, a message and a part of one, each named by its id, which grows with
//! time.

use super::database::is_placeholder;
use super::record::{Opened, Revert, Stored};
use crate::harness::walk::stem;
use crate::harness::{Details, End, Page, PageRequest, ReadError, Session, Source, Wanted, beginning, pages, text};
use crate::limits;
use crate::platform::directory::entries;
use crate::platform::files::read_small;
use crate::protocol::{Parent, Relation};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One session.
pub(super) fn read(source: &Source) -> Result<Session, ReadError> {
    let info = info(&source.path)?;
    let conversation = Conversation::open(&source.path, &info)?;
    let mut session = Session::new(stem(&source.path), source);
    for message in conversation.newest_first(limits::NEWEST_LOOKED_AT) {
        session.updated_at_ms = message.created_ms().or(session.updated_at_ms);
        session.model = message.model();
        session.workspace = message.workspace();
        if session.model.is_some() && session.workspace.is_some() {
            break;
        }
    }
    let title = info["title"].as_str();
    let prompt = || conversation.topics(1).first().and_then(|prompt| text::title(prompt));
    let own = title.filter(|title| !is_placeholder(title)).and_then(text::title);
    session.title = own.or_else(prompt);
    session.workspace = info["directory"].as_str().and_then(text::workspace).or(session.workspace);
    session.parent =
        info["parentID"].as_str().map(|id| Parent { session_id: Some(id.to_owned()), relation: Relation::Subagent });
    session.beginning = conversation.messages.first().map(beginning);
    session.created_at_ms = info["time"]["created"].as_i64();
    // A fork has messages that are older than itself.
    session.updated_at_ms = session.updated_at_ms.max(session.created_at_ms);
    session.archived = info["time"]["archived"].is_number();
    session.old_form = true;
    Ok(session)
}

/// What costs more to know.
pub(super) fn details(session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
    let conversation = Conversation::open(&session.location, &info(&session.location)?)?;
    let mut details = Details::default();
    if wanted.topics {
        details.topics = conversation.topics(limits::TOPICS).iter().filter_map(|topic| text::excerpt(topic)).collect();
    }
    if wanted.last_message {
        details.last_message =
            conversation.newest_first(limits::ROWS_LOOKED_AT).find_map(|message| message.last_message());
    }
    if wanted.message_count {
        details.message_count = conversation.oldest_first().filter(Opened::is_genuine).count() as u64;
    }
    Ok(details)
}

/// The place behind all messages.
pub(super) fn end(session: &Session) -> Result<End, ReadError> {
    let conversation = Conversation::open(&session.location, &info(&session.location)?)?;
    // No id follows on another one but with a letter more.
    let cursor = conversation.messages.last().map(|id| format!("{id} ")).unwrap_or_default();
    Ok(End { cursor, count: Some(conversation.messages.len() as u64) })
}

/// One page of messages. The cursor is the id of the oldest that is in it.
pub(super) fn load(session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let mut conversation = Conversation::open(&session.location, &info(&session.location)?)?;
    if let Some(cursor) = request.cursor {
        if !cursor.starts_with("msg_") {
            return Err(ReadError::Cursor);
        }
        conversation.messages.retain(|id| id.as_str() < cursor);
    }
    let mut stored = Vec::new();
    for id in conversation.messages.iter().rev() {
        if stored.len() > request.limit {
            break;
        }
        if request.progress.is_cancelled() {
            return Err(ReadError::Cancelled);
        }
        stored.extend(conversation.stored(id));
    }
    Ok(pages::page(stored, request, |stored| stored.id.clone(), |stored| stored.open().into_message()))
}

/// The session's own record.
fn info(path: &Path) -> Result<Value, ReadError> {
    let bytes = read_small(path, limits::SIDE_FILE)?;
    if bytes.is_empty() {
        return Err(ReadError::Empty);
    }
    let info = text::value(&String::from_utf8_lossy(&bytes)).filter(Value::is_object);
    info.ok_or(ReadError::NoRecords)
}

/// The messages of one session that still count.
struct Conversation {
    directory: PathBuf,
    parts: PathBuf,
    /// Their ids, the oldest first.
    messages: Vec<String>,
    revert: Option<Revert>,
}

impl Conversation {
    fn open(path: &Path, info: &Value) -> Result<Self, ReadError> {
        let (directory, parts) = places(path).ok_or(ReadError::Name)?;
        let revert = Revert::of(&info["revert"]);
        let mut messages = ids(&directory);
        messages.retain(|id| revert.as_ref().is_none_or(|revert| revert.keeps(id)));
        if messages.is_empty() {
            return Err(ReadError::NoMessages);
        }
        Ok(Self { directory, parts, messages, revert })
    }

    fn newest_first(&self, max: usize) -> impl Iterator<Item = Opened> {
        self.messages.iter().rev().take(max).filter_map(|id| Some(self.stored(id)?.open()))
    }

    fn oldest_first(&self) -> impl Iterator<Item = Opened> {
        self.messages.iter().filter_map(|id| Some(self.stored(id)?.open()))
    }

    /// The opening prompts.
    fn topics(&self, max: usize) -> Vec<String> {
        self.oldest_first().take(limits::ROWS_LOOKED_AT).filter_map(|message| message.prompt()).take(max).collect()
    }

    /// A message with its parts; `None` when it went.
    fn stored(&self, id: &str) -> Option<Stored> {
        let record = content(&self.directory, id)?;
        let directory = self.parts.join(id);
        let mut parts = ids(&directory);
        parts.retain(|part| self.revert.as_ref().is_none_or(|revert| revert.keeps_part(id, part)));
        let parts = parts.into_iter().filter_map(|part| Some((content(&directory, &part)?, part)));
        let parts = parts.map(|(record, id)| (id, record)).collect();
        Some(Stored { id: id.to_owned(), at: None, created_ms: None, record, left_out: None, parts, second: None })
    }
}

/// Where a session's messages are, and where the parts of each.
fn places(session: &Path) -> Option<(PathBuf, PathBuf)> {
    let (id, directory) = (stem(session), session.parent()?);
    let kept = directory.parent()?;
    if directory.ends_with("session/info") {
        return Some((kept.join("message").join(id), kept.join("part").join(id)));
    }
    let storage = kept.parent()?;
    Some((storage.join("message").join(id), storage.join("part")))
}

/// The ids of the records in a directory, in their order.
fn ids(directory: &Path) -> Vec<String> {
    let names = entries(directory).unwrap_or_default().into_iter().filter_map(|entry| entry.name.into_string().ok());
    let mut ids: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned())).collect();
    ids.sort_unstable();
    ids
}

fn content(directory: &Path, id: &str) -> Option<String> {
    let bytes = read_small(&directory.join(format!("{id}.json")), limits::LINE_MAX).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
