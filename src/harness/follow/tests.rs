//! What is told of a session that grows, against what is loaded of it.

mod faults;
mod files;
mod rows;
mod spliced;

use super::*;
use crate::harness::NoProgress;
use crate::harness::testing::{Tree, copy, fixture, list};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Somebody who follows a session and keeps what was told.
struct Client {
    follower: Follower,
    roots: Vec<Root>,
    told: Vec<Message>,
    /// How often the session had to be loaded anew.
    rewritten: usize,
    appended: usize,
}

impl Client {
    fn begin(store: &'static dyn Store, root: Root, session: Session) -> Self {
        let roots = vec![root];
        let (mut follower, cursor) = Follower::begin(store, &roots, session, false, &NoProgress).unwrap();
        follower.settles = Duration::ZERO;
        let mut client = Self { follower, roots, told: Vec::new(), rewritten: 0, appended: 0 };
        client.told = client.load(cursor);
        client
    }

    /// All that a cursor leads to.
    fn load(&self, mut cursor: Option<String>) -> Vec<Message> {
        let mut pages = Vec::new();
        while let Some(from) = cursor {
            let from = Some(&*from).filter(|from| !from.is_empty());
            let request = PageRequest { cursor: from, limit: 50, own_only: false, progress: &NoProgress };
            let page = self.follower.store.load(&self.roots, &self.follower.session, &request).unwrap();
            assert_eq!(page.messages.len(), page.places.len());
            pages.push(page.messages);
            cursor = page.next;
        }
        pages.into_iter().rev().flatten().collect()
    }

    fn read(&mut self) -> Followed {
        let followed = self.follower.read(&self.roots, &NoProgress).unwrap();
        match &followed {
            Followed::Appended(messages) => {
                assert!(!messages.is_empty());
                self.appended += 1;
                self.told.extend(messages.iter().cloned());
            }
            Followed::Rewritten(cursor) => {
                self.rewritten += 1;
                self.told = self.load(cursor.clone());
            }
            _ => {}
        }
        followed
    }

    /// All messages, as far as they are whole.
    fn loaded(&self) -> Vec<Message> {
        match self
            .follower
            .store
            .tail()
            .unwrap_or_else(|| Box::new(Plain(self.follower.store)))
            .end(&self.follower.session, &NoProgress)
        {
            Ok(end) => self.load(Some(end.cursor)),
            Err(ReadError::Empty | ReadError::NoMessages) => Vec::new(),
            Err(skip) => panic!("{skip}"),
        }
    }

    /// Reads, and proves that what was told is what is there, but for a message that is held back.
    #[track_caller]
    fn check(&mut self) -> Followed {
        let followed = self.read();
        let mut loaded = self.loaded();
        if self.follower.held.is_some() {
            loaded.pop();
        }
        assert_same(&self.told, &loaded);
        followed
    }

    /// The same when all was written: nothing is held back for good.
    #[track_caller]
    fn finish(&mut self) {
        self.follower.hold = Duration::ZERO;
        self.check();
        self.check();
        assert!(self.follower.held.is_none());
        if !self.told.is_empty() {
            // An empty cursor stands for none.
            assert_same(&self.told, &self.load(Some(String::new())));
        }
        assert!(matches!(self.read(), Followed::Nothing));
    }
}

#[track_caller]
fn assert_same(told: &[Message], loaded: &[Message]) {
    let first = told.iter().zip(loaded).position(|(told, loaded)| told != loaded);
    let at = first.unwrap_or(told.len().min(loaded.len()));
    assert_eq!((told.len(), told.get(at)), (loaded.len(), loaded.get(at)), "from message {at} on");
}

fn append(path: &Path, bytes: &[u8]) {
    File::options().append(true).open(path).unwrap().write_all(bytes).unwrap();
}
