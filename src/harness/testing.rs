//! What the tests of every store share: what it says of a root, conversations in pages, and that nothing is touched.

use super::jsonl::HeadTail;
use super::{
    Activities, Details, Finder, Name, NoProgress, Page, PageRequest, Progress, ReadError, Remark, Root, Session,
    Store, Wanted,
};
use crate::limits;
use crate::protocol::Message;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Somebody who went away.
pub(crate) struct Gone;

impl Progress for Gone {
    fn is_cancelled(&self) -> bool {
        true
    }

    fn report(&self, _: &str, _: u64, _: Option<u64>) {}
}

/// What a store says of everything below a root.
pub(crate) struct Listing {
    store: &'static dyn Store,
    pub root: Root,
    pub sessions: Vec<Session>,
    pub names: Vec<Name>,
    pub remarks: Vec<Remark>,
    pub workspaces: Vec<Box<str>>,
    pub skipped: Vec<(PathBuf, ReadError)>,
}

/// Lists what is below a root that a person named. Sessions and remarks are in the order of
/// their ids.
pub(crate) fn list(store: &'static dyn Store, path: &Path) -> Listing {
    let root = store.named_root(path);
    let mut finder = Finder::default();
    store.walk(&root, &mut finder);
    finder.sources.sort_by(|a, b| a.path.cmp(&b.path));
    let mut listing = Listing {
        store,
        root,
        sessions: Vec::new(),
        names: Vec::new(),
        remarks: Vec::new(),
        workspaces: Vec::new(),
        skipped: finder.skipped,
    };
    let mut ends = HeadTail::default();
    for source in finder.sources {
        match store.read(&source, &mut ends) {
            Ok(reading) => {
                listing.sessions.extend(reading.sessions);
                listing.names.extend(reading.names);
                listing.remarks.extend(reading.remarks);
                listing.workspaces.extend(reading.workspaces);
                listing.skipped.extend(reading.skipped);
            }
            Err(skip) => listing.skipped.push((source.path, skip)),
        }
    }
    listing.sessions.sort_by(|a, b| a.id.cmp(&b.id));
    listing.remarks.sort_by(|a, b| a.session.cmp(&b.session));
    listing
}

impl Listing {
    /// The one session of an id, else the one whose id begins or ends like this.
    pub(crate) fn of(&self, id: &str) -> &Session {
        let exact = self.sessions.iter().any(|session| &*session.id == id);
        let is_meant = |session: &&Session| match exact {
            true => &*session.id == id,
            false => session.id.starts_with(id) || session.id.ends_with(id),
        };
        let mut found = self.sessions.iter().filter(is_meant);
        let session = found.next().unwrap_or_else(|| panic!("{id} is not listed"));
        assert!(found.next().is_none(), "{id} twice");
        session
    }

    /// The only session.
    pub(crate) fn one(&self) -> &Session {
        assert_eq!(self.sessions.len(), 1);
        &self.sessions[0]
    }

    pub(crate) fn ids(&self) -> Vec<&str> {
        self.sessions.iter().map(|session| &*session.id).collect()
    }

    /// The names of what was passed over, and why.
    pub(crate) fn skipped(&self) -> Vec<(String, &'static str)> {
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let mut skipped: Vec<_> = self.skipped.iter().map(|(path, skip)| (name(path), skip.reason())).collect();
        skipped.sort();
        skipped
    }

    /// Why something was passed over, in the order of names.
    pub(crate) fn reasons(&self) -> Vec<&'static str> {
        self.skipped().into_iter().map(|(_, reason)| reason).collect()
    }

    /// What lives, in the order of ids.
    pub(crate) fn live(&self) -> Activities {
        let mut live = self.store.live(&self.root, &mut self.sessions.iter());
        live.sessions.sort_by(|a, b| a.session_id.cmp(&b.session_id));
        live
    }

    pub(crate) fn details(&self, id: &str) -> Details {
        details(self.store, std::slice::from_ref(&self.root), self.of(id))
    }

    pub(crate) fn page(&self, id: &str, cursor: Option<&str>, limit: usize) -> Result<Page, ReadError> {
        page(self.store, std::slice::from_ref(&self.root), self.of(id), cursor, limit)
    }

    /// A whole conversation, in pages of a size.
    pub(crate) fn paged(&self, id: &str, limit: usize) -> Vec<Message> {
        paged(self.store, std::slice::from_ref(&self.root), self.of(id), limit)
    }

    /// A whole conversation, after pages of every size made up the same.
    pub(crate) fn load(&self, id: &str) -> Vec<Message> {
        whole(self.store, std::slice::from_ref(&self.root), self.of(id))
    }

    /// The same as JSON.
    pub(crate) fn loaded(&self, id: &str) -> serde_json::Value {
        serde_json::to_value(self.load(id)).unwrap()
    }

    /// Proves that pages of every size make up one and the same conversation.
    pub(crate) fn assert_pages_agree(&self, id: &str) {
        self.load(id);
    }
}

/// All that costs more to know of a session.
pub(crate) fn details(store: &dyn Store, roots: &[Root], session: &Session) -> Details {
    let all = Wanted { topics: true, last_message: true, message_count: true, ..Wanted::default() };
    store.details(roots, session, all).unwrap()
}

/// One page for somebody who waits for it.
pub(crate) fn page(
    store: &dyn Store,
    roots: &[Root],
    session: &Session,
    cursor: Option<&str>,
    limit: usize,
) -> Result<Page, ReadError> {
    store.load(roots, session, &PageRequest { cursor, limit, progress: &NoProgress, own_only: false })
}

/// A whole conversation, in pages of a size: all but the oldest are full of messages or of bytes, and only one of
/// nothing is empty.
pub(crate) fn paged(store: &dyn Store, roots: &[Root], session: &Session, limit: usize) -> Vec<Message> {
    let mut pages = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = page(store, roots, session, cursor.as_deref(), limit).unwrap();
        let count = page.messages.len();
        assert!(count <= limit, "{count} messages in a page of {limit}");
        assert!(count == limit || page.next.is_none() || is_large(&page.messages), "{count} messages for {limit}");
        assert!(count > 0 || pages.is_empty(), "a page leads to nothing");
        pages.push(page.messages);
        cursor = page.next;
        if cursor.is_none() {
            return pages.into_iter().rev().flatten().collect();
        }
    }
}

/// Whether messages are so large that a page of them may end early. Records say more than messages tell of them.
fn is_large(messages: &[Message]) -> bool {
    serde_json::to_string(messages).unwrap().len() as u64 > limits::PAGE_BYTES / 2
}

/// A whole conversation, after pages of every size made up the same.
pub(crate) fn whole(store: &dyn Store, roots: &[Root], session: &Session) -> Vec<Message> {
    let whole = page(store, roots, session, None, 1_000).unwrap();
    assert_eq!(whole.next, None, "{}", session.id);
    for limit in 1..=whole.messages.len() + 1 {
        assert_eq!(paged(store, roots, session, limit), whole.messages, "{} in pages of {limit}", session.id);
    }
    whole.messages
}

/// A fixture of a harness.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A directory that a test writes.
pub(crate) struct Tree(TempDir);

impl Tree {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// A copy of a directory.
    pub(crate) fn copy_of(from: &Path) -> Self {
        let tree = Self::new();
        copy(from, tree.path());
        tree
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }
}

/// Copies a directory and all below it, so that the copy can be written to.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::write(to, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

#[cfg(unix)]
pub(crate) use untouched::{assert_untouched, seen};

#[cfg(unix)]
mod untouched {
    use super::*;
    use std::collections::BTreeMap;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// What can be seen of a file or a directory from outside.
    #[derive(Debug, PartialEq)]
    pub(crate) struct Seen {
        content: Vec<u8>,
        mode: u32,
        owner: (u32, u32),
        times: [i64; 4],
        inode: u64,
    }

    /// A directory and all below it as it can be seen from outside.
    pub(crate) fn seen(path: &Path) -> BTreeMap<PathBuf, Seen> {
        let metadata = fs::symlink_metadata(path).unwrap();
        let seen = Seen {
            content: if metadata.is_file() { fs::read(path).unwrap() } else { Vec::new() },
            mode: metadata.mode(),
            owner: (metadata.uid(), metadata.gid()),
            times: [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()],
            inode: metadata.ino(),
        };
        let mut all = BTreeMap::from([(path.to_owned(), seen)]);
        if metadata.is_dir() {
            all.extend(fs::read_dir(path).unwrap().flat_map(|entry| self::seen(&entry.unwrap().path())));
        }
        all
    }

    fn set_writable(path: &Path, writable: bool) {
        let executable = if path.is_dir() { 0o111 } else { 0 };
        let mode = executable | if writable { 0o644 } else { 0o444 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Reads everything that a copy of a store tells: one that can be written to, and one that cannot, as its owner and
    /// as somebody who may only look. Proves that all is told each time and nothing is touched; answers how many
    /// sessions were told.
    pub(crate) fn assert_untouched(store: &'static dyn Store, path: &Path) -> usize {
        let tree = Tree::copy_of(path);
        let paths: Vec<PathBuf> = seen(tree.path()).into_keys().collect();
        let told = || {
            let listing = list(store, tree.path());
            let told = |session: &Session| {
                let messages = listing.load(&session.id);
                assert!(!messages.is_empty(), "{}", session.id);
                (listing.details(&session.id), messages)
            };
            let told: Vec<_> = listing.sessions.iter().map(told).collect();
            (listing.sessions, told)
        };
        let looked = || {
            let before = seen(tree.path());
            let told = told();
            assert_eq!(seen(tree.path()), before);
            told
        };
        let expected = looked();
        assert!(!expected.0.is_empty());
        paths.iter().for_each(|path| set_writable(path, false));
        assert_eq!(looked(), expected);
        #[cfg(target_os = "linux")]
        {
            let before = seen(tree.path());
            let as_nobody = || crate::platform::testing::as_nobody(told);
            let looked = std::thread::scope(|scope| scope.spawn(as_nobody).join().unwrap());
            assert_eq!(looked, expected);
            assert_eq!(seen(tree.path()), before);
        }
        paths.iter().for_each(|path| set_writable(path, true));
        expected.0.len()
    }
}
