//! What the tests of several stores share.

use super::jsonl::Ends;
use super::{Attendant, Details, Finder, Page, PageRequest, Root, Session, Skip, Store, Wanted};
use crate::protocol::{Message, RootOrigin};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Somebody who waits for the whole answer.
pub struct Patient;

impl Attendant for Patient {
    fn cancelled(&self) -> bool {
        false
    }
    fn progress(&self, _: &str, _: u64, _: Option<u64>) {}
}

/// Somebody who went away.
pub struct Gone;

impl Attendant for Gone {
    fn cancelled(&self) -> bool {
        true
    }
    fn progress(&self, _: &str, _: u64, _: Option<u64>) {}
}

/// What a store says of everything below a root.
pub struct Listing {
    store: &'static dyn Store,
    pub root: Root,
    pub sessions: Vec<Session>,
    pub skipped: Vec<(PathBuf, Skip)>,
}

/// Lists what is below a root that a person named.
pub fn list(store: &'static dyn Store, path: &Path) -> Listing {
    let root = Root { origin: RootOrigin::Default, usual: true, ..store.named_root(path) };
    let mut finder = Finder::default();
    store.walk(&root, &mut finder);
    let mut listing = Listing { store, root, sessions: Vec::new(), skipped: finder.skipped };
    for source in finder.sources {
        match store.read(&source, &mut Ends::default()) {
            Ok(reading) => listing.sessions.extend(reading.sessions),
            Err(skip) => listing.skipped.push((source.path, skip)),
        }
    }
    listing.sessions.sort_by(|a, b| a.id.cmp(&b.id));
    listing
}

impl Listing {
    pub fn of(&self, id: &str) -> &Session {
        self.sessions.iter().find(|session| &*session.id == id).unwrap_or_else(|| panic!("{id} is not listed"))
    }

    pub fn ids(&self) -> Vec<&str> {
        self.sessions.iter().map(|session| &*session.id).collect()
    }

    /// The names of what was passed over, and why.
    pub fn skipped(&self) -> Vec<(String, &'static str)> {
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let mut skipped: Vec<_> = self.skipped.iter().map(|(path, skip)| (name(path), skip.reason())).collect();
        skipped.sort();
        skipped
    }

    pub fn details(&self, id: &str) -> Details {
        let all = Wanted { topics: true, last_message: true, message_count: true, ..Wanted::default() };
        self.store.details(std::slice::from_ref(&self.root), self.of(id), all).unwrap()
    }

    pub fn page(&self, id: &str, cursor: Option<&str>, limit: usize) -> Result<Page, Skip> {
        let request = PageRequest { cursor, limit, attendant: &Patient, own_only: false };
        self.store.load(std::slice::from_ref(&self.root), self.of(id), &request)
    }

    /// A whole conversation, in pages of a size.
    pub fn load(&self, id: &str, limit: usize) -> Vec<Message> {
        let mut pages = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = self.page(id, cursor.as_deref(), limit).unwrap();
            assert!(page.messages.len() <= limit && (page.messages.len() == limit || page.next.is_none()));
            pages.push(page.messages);
            match page.next {
                Some(next) => cursor = Some(next),
                None => return pages.into_iter().rev().flatten().collect(),
            }
        }
    }

    /// The same as JSON.
    pub fn loaded(&self, id: &str) -> serde_json::Value {
        serde_json::to_value(self.load(id, 200)).unwrap()
    }

    /// Proves that pages of every size make up one and the same conversation.
    pub fn assert_pages_agree(&self, id: &str) {
        let whole = self.load(id, 1_000);
        for limit in 1..=whole.len() + 1 {
            assert_eq!(self.load(id, limit), whole, "{id} in pages of {limit}");
        }
    }
}

/// A fixture's directory.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Copies a directory.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A directory as it can be seen from outside: names, content, mode, times of change.
#[cfg(target_os = "linux")]
pub fn seen(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u32, [i64; 4])> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(directory).unwrap();
    let content = if metadata.is_file() { fs::read(directory).unwrap() } else { Vec::new() };
    let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    let mut all = BTreeMap::from([(directory.to_owned(), (content, metadata.mode(), times))]);
    if metadata.is_dir() {
        all.extend(fs::read_dir(directory).unwrap().flat_map(|entry| seen(&entry.unwrap().path())));
    }
    all
}

/// Reads everything that a copy of a fixture tells, as its owner and as somebody who may only look, and proves that
/// nothing was touched.
#[cfg(target_os = "linux")]
pub fn assert_untouched(store: &'static dyn Store, fixture: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let copied = tempfile::tempdir().unwrap();
    copy(fixture, copied.path());
    let read_all = || {
        let listing = list(store, copied.path());
        for session in &listing.sessions {
            listing.details(&session.id);
            listing.load(&session.id, 2);
        }
        listing.sessions
    };
    let before = seen(copied.path());
    let sessions = read_all();
    assert!(!sessions.is_empty());
    assert!(seen(copied.path()) == before, "something was touched");

    let close = |mode: u32| {
        for path in before.keys() {
            let mode = if path.is_dir() { mode | 0o111 } else { mode };
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    close(0o444);
    let before_looking = seen(copied.path());
    let looked =
        std::thread::scope(|scope| scope.spawn(|| crate::platform::testing::as_nobody(read_all)).join().unwrap());
    assert_eq!(looked, sessions);
    assert!(seen(copied.path()) == before_looking, "something was touched");
    close(0o644);
}
