//! Where a page ends between the events of a session.

use super::chain::Chain;
use std::fmt;

/// A position in one transcript, and what is looked for before it.
pub(super) type FilePosition = (u64, Chain);

/// A position between two events.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Position {
    /// Before an event of the database's list of the current branch: its position, and its number.
    Listed(i64, i64),
    /// Behind an event of that list.
    Behind(i64, i64),
    /// Before an event of the database by its number, and what is looked for there.
    Row(i64, Chain),
    /// Before a line of a transcript, and what is looked for there.
    Line(u64, Chain),
    /// Before a line of one of several transcripts, and where older events are in each.
    Part { part: usize, at: u64, rest: Vec<FilePosition> },
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(position, seq) => write!(f, "listed {position} {seq}"),
            Self::Behind(position, seq) => write!(f, "behind {position} {seq}"),
            Self::Row(seq, chain) => write!(f, "row {seq} {}", chain.to_cursor()),
            Self::Line(at, chain) => write!(f, "line {at} {}", chain.to_cursor()),
            Self::Part { rest, .. } => {
                let rest: Vec<_> = rest.iter().map(|(at, chain)| (at, chain.to_cursor())).collect();
                write!(f, "parts {} {}", rest.len(), serde_json::json!(rest))
            }
        }
    }
}

impl Position {
    /// The name of the event's own position, however it was found.
    pub(super) fn own(&self) -> String {
        match self {
            Self::Listed(_, at) | Self::Behind(_, at) | Self::Row(at, _) => at.to_string(),
            Self::Line(at, _) => at.to_string(),
            Self::Part { part, at, .. } => format!("{part}.{at}"),
        }
    }

    /// Reads a cursor.
    pub(super) fn parse(cursor: &str) -> Option<Self> {
        let mut parts = cursor.splitn(3, ' ');
        let (kind, number, rest) = (parts.next()?, parts.next()?, parts.next()?);
        Some(match kind {
            "listed" => Self::Listed(number.parse().ok()?, rest.parse().ok()?),
            "behind" => Self::Behind(number.parse().ok()?, rest.parse().ok()?),
            "row" => Self::Row(number.parse().ok()?, Chain::from_cursor(rest)?),
            "line" => Self::Line(number.parse().ok()?, Chain::from_cursor(rest)?),
            "parts" => {
                let rest: Vec<(u64, String)> = serde_json::from_str(rest).ok()?;
                let rest = rest.into_iter().map(|(at, chain)| Some((at, Chain::from_cursor(&chain)?)));
                Self::Part { part: 0, at: 0, rest: rest.collect::<Option<_>>()? }
            }
            _ => return None,
        })
    }
}
