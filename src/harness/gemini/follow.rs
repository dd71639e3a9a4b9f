//! What a follower keeps of a chat: how far the log was done, so that only what is appended to it is read.

use super::chat::form;
use super::page::{self, Scan, Slot};
use super::scan::Form;
use crate::harness::{End, Page, PageRequest, Progress, ReadError, Root, Session, Tail};
use crate::platform::files::{FileId, open_regular};
use std::fs::File;
use std::path::PathBuf;

/// A chat that is followed. One in one record is read whole each time, as it is written.
#[derive(Default)]
pub(super) struct Log {
    known: Option<(PathBuf, FileId, Scan)>,
    /// The messages as they were found last.
    slots: Vec<Slot>,
}

impl Log {
    fn scan(&mut self, session: &Session, file: &File, progress: &dyn Progress) -> Result<(), ReadError> {
        let (form, metadata) = (form(&session.location), file.metadata()?);
        let id = FileId::of(&metadata);
        let same = |(path, known, scan): &(PathBuf, FileId, Scan)| {
            form == Form::Log && **path == *session.location && *known == id && scan.end() <= metadata.len()
        };
        let known = self.known.take().filter(same);
        let mut scan = known.map_or_else(|| Scan::new(form), |(_, _, scan)| scan);
        scan.go_on(file, Some(progress))?;
        if form == Form::Whole && (scan.is_torn() || scan.end() == 0) {
            return Err(ReadError::Busy("it is being rewritten".to_owned()));
        }
        self.slots = scan.slots();
        self.known = Some((session.location.to_path_buf(), id, scan));
        Ok(())
    }
}

impl Tail for Log {
    fn end(&mut self, session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
        self.scan(session, &open_regular(&session.location)?, progress)?;
        Ok(End { cursor: format!("{}.0", self.slots.len()), count: None })
    }

    fn page(&mut self, _: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        let page = page::page(open_regular(&session.location)?, self.slots.clone(), request);
        // What does not lie where it was found was written anew, and so is to be looked for.
        page.inspect_err(|_| self.known = None)
    }
}
