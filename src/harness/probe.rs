//! What the tests of several stores ask of a store.

use super::{Attendant, Details, Finder, Page, PageRequest, Root, Session, Skip, Store, Wanted, jsonl};
use crate::protocol::Message;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What a store says of everything below a root.
pub struct Listing {
    pub store: &'static dyn Store,
    pub root: Root,
    pub sessions: Vec<Session>,
    pub workspaces: Vec<Box<str>>,
    /// File names, and why each was passed over.
    pub skipped: Vec<(String, &'static str)>,
}

/// Lists what lies below a root that a person names.
pub fn list(store: &'static dyn Store, path: &Path) -> Listing {
    let root = store.named_root(path);
    let mut finder = Finder::default();
    store.walk(&root, &mut finder);
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut skipped: Vec<_> = finder.skipped.iter().map(|(path, skip)| (name(path), skip.reason())).collect();
    let (mut sessions, mut workspaces) = (Vec::new(), Vec::new());
    let mut ends = jsonl::Ends::default();
    finder.sources.sort_by(|a, b| a.path.cmp(&b.path));
    for source in finder.sources {
        match store.read(&source, &mut ends) {
            Ok(reading) => {
                sessions.extend(reading.sessions);
                workspaces.extend(reading.workspaces);
            }
            Err(skip) => skipped.push((name(&source.path), skip.reason())),
        }
    }
    skipped.sort();
    Listing { store, root, sessions, workspaces, skipped }
}

impl Listing {
    /// The one session whose id begins like this.
    pub fn of(&self, id: &str) -> &Session {
        let mut found = self.sessions.iter().filter(|session| session.id.starts_with(id));
        let session = found.next().unwrap();
        assert!(found.next().is_none(), "{id} twice");
        session
    }

    pub fn details(&self, id: &str) -> Details {
        let all = Wanted { topics: true, last_message: true, message_count: true, ..Wanted::default() };
        self.store.details(std::slice::from_ref(&self.root), self.of(id), all).unwrap()
    }

    pub fn page(&self, session: &Session, cursor: Option<&str>, limit: usize) -> Result<Page, Skip> {
        let request = PageRequest { cursor, limit, attendant: &Patient, own_only: false };
        self.store.load(std::slice::from_ref(&self.root), session, &request)
    }

    /// All messages of a session, after pages of every size gave the same.
    pub fn load(&self, id: &str) -> Vec<Message> {
        let session = self.of(id);
        let whole = self.page(session, None, 1_000).unwrap();
        assert_eq!(whole.next, None, "{id}");
        for limit in 1..=whole.messages.len() + 1 {
            let (mut messages, mut cursor) = (Vec::new(), None);
            loop {
                let page = self.page(session, cursor.as_deref(), limit).unwrap();
                assert!(
                    page.messages.is_empty() == whole.messages.is_empty() && page.messages.len() <= limit,
                    "{id} by {limit}"
                );
                messages.splice(0..0, page.messages);
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(messages, whole.messages, "{id} by {limit}");
        }
        whole.messages
    }
}

/// Wants every answer.
pub struct Patient;

impl Attendant for Patient {
    fn cancelled(&self) -> bool {
        false
    }

    fn progress(&self, _: &str, _: u64, _: Option<u64>) {}
}

/// Wants no answer any more.
pub struct Gone;

impl Attendant for Gone {
    fn cancelled(&self) -> bool {
        true
    }

    fn progress(&self, _: &str, _: u64, _: Option<u64>) {}
}

/// A fixture of a harness.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A directory that a test writes.
pub struct Tree(TempDir);

impl Tree {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// A copy of a directory.
    pub fn copy_of(from: &Path) -> Self {
        let tree = Self::new();
        copy(from, tree.path());
        tree
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to)
        } else {
            _ = fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Proves that nothing below a root is as much as touched by all that a store can be asked, whether it could be or not.
#[cfg(unix)]
pub fn assert_untouched(store: &'static dyn Store, path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    for mode in [None, Some(0o555)] {
        let tree = Tree::copy_of(path);
        let set =
            |mode| each(tree.path(), &mut |path| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap());
        mode.into_iter().for_each(set);
        let before = snapshot(tree.path());
        let listing = list(store, tree.path());
        assert!(!listing.sessions.is_empty());
        for session in &listing.sessions {
            listing.details(&session.id);
            listing.load(&session.id);
        }
        assert_eq!(snapshot(tree.path()), before);
        set(0o755);
    }
}

#[cfg(unix)]
fn each(path: &Path, visit: &mut dyn FnMut(&Path)) {
    if path.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| each(entry, visit));
    }
    visit(path);
}

/// Every path with its mode, its owner, its times, and what it holds.
#[cfg(unix)]
pub fn snapshot(path: &Path) -> Vec<(PathBuf, [i64; 7], Vec<u8>)> {
    use std::os::unix::fs::MetadataExt;
    let mut all = Vec::new();
    each(path, &mut |path| {
        let metadata = fs::symlink_metadata(path).unwrap();
        let (mode, owner) = (metadata.mode().into(), metadata.uid().into());
        let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
        let state = [mode, owner, times[0], times[1], times[2], times[3], metadata.size() as i64];
        all.push((path.to_owned(), state, if path.is_file() { fs::read(path).unwrap() } else { Vec::new() }));
    });
    all
}
