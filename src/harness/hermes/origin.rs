//! Where a session came from, as its row in the database says.

use crate::harness::database::{Columns, bounded, real, short, text as column};
use crate::harness::text;
use crate::limits;
use crate::protocol::{Parent, Relation};
use rusqlite::{Connection, OptionalExtension, Row};
use std::borrow::Cow;

/// A parent that was deleted.
const ORPHANED: &str = "__orphaned__";

/// The columns of an [`Origin`].
pub(super) fn columns(columns: &Columns) -> String {
    let names = ["parent_session_id", "source", "model_config", "started_at", "ended_at", "end_reason", "cwd"];
    let column = |name| match name {
        "model_config" => bounded(columns.or_null(name), limits::HEAD_MAX),
        _ => short(columns.or_null(name)),
    };
    names.map(column).join(", ")
}

/// What tells where a session came from.
pub(super) struct Origin {
    /// The session that it names as its parent, however it came from it.
    pub session: Option<String>,
    source: Option<String>,
    marks: Marks,
    started: f64,
    ended: f64,
    end_reason: Option<String>,
    pub cwd: Option<String>,
}

impl Origin {
    pub(super) fn of(row: &Row<'_>) -> Self {
        let member = |at| column(row, at).map(Cow::into_owned);
        Self {
            session: member(1),
            source: member(2),
            marks: member(3).map(|config| Marks::of(&config)).unwrap_or_default(),
            started: real(row, 4).unwrap_or_default(),
            ended: real(row, 5).unwrap_or(f64::INFINITY),
            end_reason: member(6),
            cwd: member(7),
        }
    }

    /// Looks one session up.
    pub(super) fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<Self>> {
        let columns = columns(&Columns::of(connection, "sessions")?);
        let query = format!("select 0, {columns} from sessions where id = ?");
        connection.query_row(&query, [id], |row| Ok(Self::of(row))).optional()
    }

    pub(super) fn is_mirror(&self) -> bool {
        self.marks.is_mirror
    }

    /// The session that it came from, and how. The program marks branches, subagents and resets; old ones it knows by how
    /// their parent ended, and takes what is left for subagents. A reset begins a conversation of its own.
    pub(super) fn parent<'o>(&self, find: impl Fn(&str) -> Option<&'o Self>) -> Option<Parent> {
        let own = self.session.as_deref();
        let (id, relation) = if let Some(delegated) = self.marks.delegated_from.as_deref() {
            (own.or(Some(delegated)), Relation::Subagent)
        } else if self.source.as_deref() == Some("subagent") {
            (own, Relation::Subagent)
        } else if let Some(branched) = self.marks.branched_from.as_deref() {
            (own.or(Some(branched)), Relation::Branch)
        } else if self.marks.is_reset {
            return None;
        } else {
            (own, self.relation(find(own?)?)?)
        };
        Some(Parent { session_id: id.filter(|id| *id != ORPHANED).map(str::to_owned), relation })
    }

    fn relation(&self, parent: &Self) -> Option<Relation> {
        match parent.end_reason.as_deref() {
            Some(reason) if reason.ends_with("reset") || reason == "new_session" => None,
            Some("branched") if self.started >= parent.ended => Some(Relation::Branch),
            Some("compression") if self.source.as_deref() != Some("tool") => Some(Relation::Continuation),
            _ => Some(Relation::Subagent),
        }
    }
}

/// What a session's configuration says of where it came from.
#[derive(Default)]
struct Marks {
    delegated_from: Option<String>,
    branched_from: Option<String>,
    is_reset: bool,
    is_mirror: bool,
}

impl Marks {
    fn of(config: &str) -> Self {
        let config = text::value(config).unwrap_or_default();
        let id = |name: &str| config[name].as_str().filter(|id| id.len() <= limits::DATABASE_NAME).map(str::to_owned);
        Self {
            delegated_from: id("_delegate_from"),
            branched_from: id("_branched_from"),
            is_reset: config["_reset_from"].is_string(),
            is_mirror: config.get("_supercode_mirror").is_some(),
        }
    }
}
