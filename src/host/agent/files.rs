//! The files that an agent reads and writes through its host: those of its workspace, one after the other, as it asks.

use super::answer::{Answer, busy, invalid, refused};
use super::message::value;
use crate::limits;
use crate::platform::within::{self, Root, Unfit};
use agent_client_protocol_schema::v1::{
    Error, ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// What is asked of a file.
pub(super) enum Job {
    Read(ReadTextFileRequest),
    Write(WriteTextFileRequest),
}

impl Job {
    /// What `fs/read_text_file` and `fs/write_text_file` ask.
    pub(super) fn of(method: &str, params: &Value) -> Result<Self, Error> {
        let unclear = |error: serde_json::Error| invalid(error.to_string());
        if method == "fs/read_text_file" {
            let mut request = ReadTextFileRequest::deserialize(params).map_err(unclear)?;
            request.meta = None;
            return Ok(Self::Read(request));
        }
        let mut request = WriteTextFileRequest::deserialize(params).map_err(unclear)?;
        request.meta = None;
        if request.content.len() > limits::AGENT_FILE {
            return Err(refused(&request.path, &Unfit::TooLarge(limits::AGENT_FILE)));
        }
        Ok(Self::Write(request))
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Read(request) => request.path.as_os_str().len(),
            Self::Write(request) => request.path.as_os_str().len() + request.content.len(),
        }
    }

    fn done(&self, root: &Root) -> Answer {
        match self {
            Self::Read(request) => read(root, request),
            Self::Write(request) => write(root, request),
        }
    }
}

/// What was asked and is not done yet, oldest first: who writes a file twice, or writes it and reads it, need not wait in
/// between.
pub(super) struct Queue {
    root: Arc<Root>,
    waiting: VecDeque<(Value, Job)>,
    bytes: usize,
    /// What is done now. It is done to its end.
    now: Option<(Value, JoinHandle<Answer>)>,
}

impl Queue {
    pub(super) fn new(root: Arc<Root>) -> Self {
        Self { root, waiting: VecDeque::new(), bytes: 0, now: None }
    }

    /// Puts one behind the others.
    pub(super) fn push(&mut self, id: &Value, job: Job) -> Result<(), Error> {
        if self.waiting.len() >= limits::AGENT_FILES || self.bytes + job.bytes() > limits::AGENT_FILES_BYTES {
            return Err(busy("for files"));
        }
        self.bytes += job.bytes();
        self.waiting.push_back((id.clone(), job));
        Ok(())
    }

    /// Forgets one that was not begun. Whether there was such a one.
    pub(super) fn take_back(&mut self, id: &Value) -> bool {
        let Some(at) = self.waiting.iter().position(|(waiting, _)| waiting == id) else { return false };
        self.bytes -= self.waiting.remove(at).map_or(0, |(_, job)| job.bytes());
        true
    }

    /// Whether one could begin.
    pub(super) fn waits(&self) -> bool {
        self.now.is_none() && !self.waiting.is_empty()
    }

    /// Begins the next one.
    pub(super) fn begin(&mut self) {
        let Some((id, job)) = self.waiting.pop_front() else { return };
        self.bytes -= job.bytes();
        let root = Arc::clone(&self.root);
        self.now = Some((id, tokio::task::spawn_blocking(move || job.done(&root))));
    }

    /// The answer to the one that is done now; never where none is. May be dropped and called again.
    pub(super) async fn done(&mut self) -> (Value, Answer) {
        let Some((_, now)) = &mut self.now else { return std::future::pending().await };
        let answer = now.await.unwrap_or_else(|_| Err(Error::internal_error()));
        (self.now.take().map(|(id, _)| id).unwrap_or_default(), answer)
    }
}

fn read(root: &Root, request: &ReadTextFileRequest) -> Answer {
    let refused = |unfit| refused(&request.path, &unfit);
    let content = within::read(root, &request.path, limits::AGENT_FILE).map_err(refused)?;
    let not_text = |_| invalid(format!("{}: it is not UTF-8 text", request.path.display()));
    let text = String::from_utf8(content).map_err(not_text)?;
    Ok(value(&ReadTextFileResponse::new(lines(text, request.line, request.limit))))
}

fn write(root: &Root, request: &WriteTextFileRequest) -> Answer {
    let refused = |unfit| refused(&request.path, &unfit);
    within::write(root, &request.path, request.content.as_bytes()).map_err(refused)?;
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
