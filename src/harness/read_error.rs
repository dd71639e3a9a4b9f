//! Why a source cannot be read.

use crate::platform::files::is_out_of_descriptors;
use crate::platform::sqlite;
use crate::protocol::{Harness, Problem};
use std::io;
use std::path::{Path, PathBuf};

/// The reason of [`ReadError::Descriptors`].
pub const DESCRIPTORS: &str = "descriptors";

/// Why a source gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It went between two system calls, which is normal.
    #[error("it vanished while it was read")]
    Vanished,
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// It has records, but nobody has written a message.
    #[error("no message in it yet")]
    NoMessages,
    /// Another copy of the same session is read.
    #[error("another copy of this session is listed: {}", .0.display())]
    Copy(PathBuf),
    /// Its name is no session's.
    #[error("not the name of a session file")]
    Name,
    /// Its name cannot be told in JSON.
    #[error("its name is not valid UTF-8")]
    NotUtf8,
    /// A FIFO, a device, a directory, a link to nothing.
    #[error("not a regular file")]
    NotRegular,
    /// Nothing within the bounds of reading is a record.
    #[error("no readable record at its start or end")]
    NoRecords,
    /// A side file that speaks of sessions but holds none.
    #[error("{0}")]
    Malformed(String),
    /// Its program is at work on it; later it can be read.
    #[error("{0}")]
    Busy(String),
    /// The cursor names no place in this session.
    #[error("the cursor is none of this session's; begin again without one")]
    Cursor,
    /// Nobody wants the answer any more.
    #[error("the request was cancelled")]
    Cancelled,
    /// Too many files are open, here or in the whole system.
    #[error("no file descriptor is left to read it with: {0}")]
    Descriptors(io::Error),
    /// The operating system refused.
    #[error("cannot be read: {0}")]
    Io(io::Error),
}

impl ReadError {
    /// The stable word for the reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Vanished => "vanished",
            Self::Empty => "empty",
            Self::NoMessages => "no_messages",
            Self::Copy(_) => "copy",
            Self::Name => "not_a_session",
            Self::NotUtf8 => "not_utf8",
            Self::NotRegular => "not_regular",
            Self::NoRecords => "unreadable",
            Self::Malformed(_) => "malformed",
            Self::Busy(_) => "busy",
            Self::Cursor => "cursor",
            Self::Cancelled => "cancelled",
            Self::Descriptors(_) => DESCRIPTORS,
            Self::Io(_) => "io",
        }
    }

    /// The problem that a list reports for a file that cannot be read.
    pub fn problem(&self, harness: Harness, path: &Path) -> Problem {
        Problem {
            harness: Some(harness),
            path: Some(path.display().to_string()),
            id: None,
            endpoint: None,
            reason: self.reason().to_owned(),
            message: self.to_string(),
        }
    }

    /// Whether something is lost by it, so that a list must tell.
    pub fn is_problem(&self) -> bool {
        matches!(self, Self::NoRecords | Self::Malformed(_) | Self::Busy(_) | Self::Descriptors(_) | Self::Io(_))
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Vanished,
            _ if is_out_of_descriptors(&error) => Self::Descriptors(error),
            _ => Self::Io(error),
        }
    }
}

impl From<sqlite::Error> for ReadError {
    fn from(error: sqlite::Error) -> Self {
        match error {
            sqlite::Error::Io(error) => error.into(),
            sqlite::Error::Empty => Self::Empty,
            sqlite::Error::Cancelled => Self::Cancelled,
            error if error.is_busy() => Self::Busy(error.to_string()),
            error => Self::Malformed(error.to_string()),
        }
    }
}
