//! The files that an agent reads and writes through its host: those of its workspace.

use super::message::value;
use crate::limits;
use crate::platform::within::{self, Unfit};
use agent_client_protocol_schema::v1::{
    Error, ErrorCode, ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use serde_json::Value;
use std::path::Path;

/// Answers `fs/read_text_file`.
pub(super) fn read(workspace: &Path, request: &ReadTextFileRequest) -> Result<Value, Error> {
    let refused = |unfit| refused(&request.path, &unfit);
    let content = within::read(workspace, &request.path, limits::AGENT_FILE).map_err(refused)?;
    let not_text = |_| invalid(format!("{}: it is not UTF-8 text", request.path.display()));
    let text = String::from_utf8(content).map_err(not_text)?;
    Ok(value(&ReadTextFileResponse::new(lines(text, request.line, request.limit))))
}

/// Answers `fs/write_text_file`.
pub(super) fn write(workspace: &Path, request: &WriteTextFileRequest) -> Result<Value, Error> {
    let refused = |unfit| refused(&request.path, &unfit);
    if request.content.len() > limits::AGENT_FILE {
        return Err(refused(Unfit::TooLarge(limits::AGENT_FILE)));
    }
    within::write(workspace, &request.path, request.content.as_bytes()).map_err(refused)?;
    Ok(value(&WriteTextFileResponse::new()))
}

/// From a line, counted from 1, so many lines with their ends.
fn lines(text: String, from: Option<u32>, limit: Option<u32>) -> String {
    if from.is_none() && limit.is_none() {
        return text;
    }
    let skipped = from.unwrap_or(1).saturating_sub(1) as usize;
    let limit = limit.map_or(usize::MAX, |limit| limit as usize);
    text.split_inclusive('\n').skip(skipped).take(limit).collect()
}

/// An answer that says what was wrong with what was asked.
pub(super) fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidParams.into(), message)
}

/// An answer that says why a path is not used.
pub(super) fn refused(path: &Path, unfit: &Unfit) -> Error {
    match unfit {
        // Agents look for this very answer to tell a new file from an error.
        Unfit::Absent => Error::resource_not_found(Some(path.display().to_string())),
        _ => invalid(format!("{}: {unfit}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let some = |from, limit| lines("a\nb\nc".to_owned(), from, limit);
        assert_eq!(some(None, None), "a\nb\nc");
        assert_eq!(
            (some(Some(2), None), some(Some(2), Some(1)), some(None, Some(2))),
            ("b\nc".into(), "b\n".into(), "a\nb\n".into())
        );
        assert_eq!(
            (some(Some(0), Some(1)), some(Some(9), None), some(Some(1), Some(0))),
            ("a\n".into(), String::new(), String::new())
        );
    }
}
