//! What a list needs of a chat.

use super::chat::{Chat, Header, Reader};
use super::{PROJECT_ROOT, ids};
use crate::harness::jsonl::HeadTail;
use crate::harness::{ReadError, Session, Source, beginning, text, walk};
use crate::limits;
use crate::protocol::{Parent, Relation};
use std::path::Path;

/// What one end of a chat tells.
struct Facts {
    header: Header,
    spoken: bool,
    prompt: Option<Box<str>>,
    beginning: Option<u64>,
    model: Option<Box<str>>,
    updated_at_ms: Option<i64>,
}

impl Facts {
    fn of(chat: Chat<'_>) -> Self {
        let first = chat.spoken().next();
        let (spoken, beginning) = (first.is_some(), first.map(|first| beginning((first.spoken(), first.time()))));
        let prompt = chat.prompts().find_map(|prompt| text::title(&prompt));
        Self {
            spoken,
            prompt,
            beginning,
            model: chat.model(),
            updated_at_ms: chat.updated_at_ms(),
            header: chat.header,
        }
    }
}

/// Reads a session from the two ends of its file.
pub(super) fn session(source: &Source, ends: &mut HeadTail) -> Result<Session, ReadError> {
    let mut reader = Reader::open(&source.path, ends)?;
    let head = loop {
        let head = Facts::of(reader.head());
        if (head.header.id.is_some() && head.prompt.is_some()) || !reader.grow_head()? {
            break head;
        }
    };
    let tail = loop {
        let tail = reader.tail().map(Facts::of);
        if tail.as_ref().is_none_or(|tail| tail.spoken) || !reader.grow_tail()? {
            break tail;
        }
    };
    let agent = agent_parent(&source.path);
    let header = head.header;
    let own = header.id.filter(|id| agent != Some(&**id));
    let named = || agent.map(|_| walk::stem(&source.path).into());
    let id = own.or_else(named).ok_or(ReadError::NoRecords)?;
    if !header.records || !ids::is_usable(&id) {
        return Err(ReadError::NoRecords);
    }
    if tail.is_none() && !head.spoken {
        return Err(ReadError::NoMessages);
    }
    let mut session = Session::new(&id, source);
    session.created_at_ms = header.created_at_ms;
    let (summary, model, updated) = match tail {
        Some(tail) => (tail.header.summary.or(header.summary), tail.model.or(head.model), tail.updated_at_ms),
        None => (header.summary, head.model, head.updated_at_ms.or(header.last_updated_ms)),
    };
    session.title = summary.or(head.prompt);
    session.beginning = head.beginning;
    session.model = model;
    session.updated_at_ms = updated.or(session.updated_at_ms);
    session.workspace = source.beside.and_then(|_| project_root(&source.path, ends));
    if session.workspace.is_none() {
        session.workspace_mark = header.project_hash;
    }
    if let Some(parent) = agent {
        session.parent = Some(Parent { session_id: Some(parent.to_owned()), relation: Relation::Subagent });
        session.resumable = false;
    }
    Ok(session)
}

/// The session that a subagent works for: its chat lies in a directory of that name among the chats.
fn agent_parent(path: &Path) -> Option<&str> {
    let above = path.parent()?;
    above.parent().filter(|chats| chats.ends_with(super::CHATS))?;
    above.file_name()?.to_str()
}

/// The directory that the project stands for in which a chat lies.
fn project_root(chat: &Path, ends: &mut HeadTail) -> Option<Box<str>> {
    let chats = chat.ancestors().find(|above| above.ends_with(super::CHATS))?;
    let written = ends.beside(&chats.parent()?.join(PROJECT_ROOT), limits::PATH_BYTES)?;
    text::workspace(std::str::from_utf8(written).ok()?.trim_end_matches(['\r', '\n']))
}
