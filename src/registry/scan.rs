//! One root: walked at each reading, its files read again only when their stamps moved.

use super::{Error, Progress};
use crate::harness::jsonl::HeadTail;
use crate::harness::{self, Activities, Finder, Name, ReadError, Reading, Remark, Root, Session, Source, Store};
use crate::limits;
use crate::platform::files::Stamp;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A root and what is known of its files.
pub struct RootScan {
    pub root: Root,
    store: Option<&'static dyn Store>,
    /// By path, as plain bytes: comparing paths by component would cost more than the rest of a walk.
    files: HashMap<OsString, ScannedFile>,
    generation: u32,
    pub finder: Finder,
    pub elapsed: Duration,
    /// What lives.
    pub live: Activities,
    /// A mark of the directories that were walked, and of the places that tell what lives.
    pub fingerprint: u64,
    /// Whether anything is not as it was when this was last put down. Kept here, as a reading may be cancelled before
    /// what it found out is used.
    pub changed: bool,
}

/// What is known of one file.
struct ScannedFile {
    stamp: Stamp,
    beside: Option<Stamp>,
    /// The reading that saw it last.
    generation: u32,
    /// Whether it changed so shortly before it was read that its times cannot show another change.
    racy: bool,
    /// Whether it was truncated a moment ago, and what is known is of before.
    truncated: bool,
    content: FileContent,
}

/// What a file said.
enum FileContent {
    Session(Arc<Session>),
    Several(Box<Several>),
    Skipped(ReadError),
}

/// What a file says that is more, or less, than one session.
struct Several {
    sessions: Box<[Arc<Session>]>,
    names: Box<[Name]>,
    workspaces: Box<[Box<str>]>,
    remarks: Box<[Remark]>,
    skipped: Vec<(PathBuf, ReadError)>,
}

impl Several {
    fn same(&self, other: &Self) -> bool {
        (&self.sessions, &self.names, &self.workspaces, &self.remarks)
            == (&other.sessions, &other.names, &other.workspaces, &other.remarks)
            && skip_reasons(&self.skipped) == skip_reasons(&other.skipped)
    }
}

/// Fewer files than this are not worth a second thread.
const FILES_PER_THREAD: usize = 16;

impl RootScan {
    pub fn new(root: Root) -> Self {
        let store = harness::store_of(root.harness);
        Self::with_store(root, store)
    }

    pub fn with_store(root: Root, store: Option<&'static dyn Store>) -> Self {
        Self {
            root,
            store,
            files: HashMap::new(),
            generation: 0,
            finder: Finder::default(),
            elapsed: Duration::ZERO,
            live: Activities::default(),
            fingerprint: 0,
            changed: true,
        }
    }

    /// The store that reads it.
    pub fn store(&self) -> Option<&'static dyn Store> {
        self.store
    }

    /// Whether an id names one session only, in whatever root.
    pub fn ids_are_unique(&self) -> bool {
        self.store.is_none_or(|store| store.ids_are_unique())
    }

    /// See [`Store::is_part`].
    pub fn is_part(&self, a: &Session, b: &Session) -> bool {
        self.store.is_some_and(|store| store.is_part(a, b))
    }

    /// See [`Store::workspace_mark`].
    pub fn workspace_mark(&self, directory: &str) -> Option<String> {
        self.store?.workspace_mark(directory)
    }

    /// The sessions, in no order.
    pub fn sessions(&self) -> impl Iterator<Item = &Arc<Session>> {
        self.files.values().flat_map(|file| match &file.content {
            FileContent::Session(session) => std::slice::from_ref(session),
            FileContent::Several(several) => &several.sessions,
            FileContent::Skipped(_) => &[],
        })
    }

    /// The names that files give to sessions of others, file by file in the order of their paths.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        let mut naming: Vec<(&OsString, &[Name])> = self
            .files
            .iter()
            .filter_map(|(path, file)| match &file.content {
                FileContent::Several(several) => Some((path, &*several.names)),
                _ => None,
            })
            .collect();
        naming.sort_unstable_by_key(|(path, _)| *path);
        naming.into_iter().flat_map(|(_, names)| names)
    }

    /// What files say of sessions of others.
    pub fn remarks(&self) -> impl Iterator<Item = &Remark> {
        self.several().flat_map(|several| several.remarks.iter())
    }

    /// The directories that files speak of, beyond those that their sessions work in.
    pub fn workspaces(&self) -> impl Iterator<Item = &str> {
        self.several().flat_map(|several| several.workspaces.iter().map(AsRef::as_ref))
    }

    fn several(&self) -> impl Iterator<Item = &Several> {
        self.files.values().filter_map(|file| match &file.content {
            FileContent::Several(several) => Some(&**several),
            _ => None,
        })
    }

    /// Whether some file may say more than was read, and nothing will tell when.
    pub fn is_unsettled(&self) -> bool {
        // What was written to a database's log counts only once its writer has said so, of which nothing tells.
        let is_fresh = |log: Stamp| log.is_marked() && !log.is_older_than(limits::LOG_SETTLES);
        let unsettled = |file: &ScannedFile| {
            file.truncated
                || file.beside.is_some_and(is_fresh)
                || file.racy && matches!(file.content, FileContent::Skipped(_))
        };
        self.files.values().any(unsettled)
    }

    /// What was passed over, and why.
    pub fn skipped(&self) -> impl Iterator<Item = (&Path, &ReadError)> {
        let read = self.files.iter().filter_map(|(path, file)| match &file.content {
            FileContent::Skipped(skip) => Some((Path::new(path), skip)),
            _ => None,
        });
        let parts = self.several().flat_map(|several| &several.skipped);
        self.finder.skipped.iter().chain(parts).map(|(path, skip)| (path.as_path(), skip)).chain(read)
    }

    /// How several files could hold a session: those that only speak of sessions of others do not.
    pub fn file_count(&self) -> usize {
        let is_remark =
            |file: &&ScannedFile| matches!(&file.content, FileContent::Several(several) if several.sessions.is_empty());
        self.files.len() - self.files.values().filter(is_remark).count()
    }

    /// Walks, and reads what is new.
    pub fn refresh(&mut self, progress: &dyn Progress) -> Result<(), Error> {
        let Some(store) = self.store else { return Ok(()) };
        let begin = Instant::now();
        let mut finder = Finder::default();
        store.walk(&self.root, &mut finder);
        self.generation = self.generation.wrapping_add(1);
        let mut stale = Vec::new();
        let mut unchanged = 0;
        for source in std::mem::take(&mut finder.sources) {
            match self.files.get_mut(source.path.as_os_str()) {
                Some(file) if !file.racy && file.stamp == source.stamp && file.beside == source.beside => {
                    file.generation = self.generation;
                    unchanged += 1;
                }
                _ => stale.push(source),
            }
        }
        let readings = scan_all(store, &stale, progress)?;
        self.changed |=
            skip_reasons(&finder.skipped) != skip_reasons(&self.finder.skipped) || finder.exists != self.finder.exists;
        for (source, outcome) in stale.into_iter().zip(readings) {
            self.changed |= self.record(source, outcome);
        }
        // Mostly nothing went, and then there is no need to look at each. Without a descriptor nothing can be seen to go.
        let is_blind = finder.skipped.iter().any(|(_, skip)| matches!(skip, ReadError::Descriptors(_)));
        if self.files.len() != unchanged && !is_blind {
            let before = self.files.len();
            self.files.retain(|_, file| file.generation == self.generation);
            self.changed |= self.files.len() != before;
        }
        // What is missing above the root is no affair of the root.
        finder.awaiting.retain(|path| path.starts_with(&self.root.path));
        self.finder = finder;
        self.refresh_live();
        self.elapsed = begin.elapsed();
        Ok(())
    }

    /// Looks again at what lives.
    pub fn refresh_live(&mut self) {
        let Some(store) = self.store else { return };
        let live = store.live(&self.root, &mut self.sessions().map(|session| &**session));
        self.live = live;
        let places = self.finder.visited.iter().chain(&self.finder.awaiting).chain(&self.live.locations);
        self.fingerprint = places.map(|path| path_hash(path)).fold(0, u64::wrapping_add);
    }

    /// Whether something is known that may tell of what lives.
    pub fn may_have_live_sessions(&self) -> bool {
        !self.live.locations.is_empty() || !self.live.sessions.is_empty()
    }

    /// Reads one file anew that a walk has found before.
    pub fn refresh_file(&mut self, path: &Path) -> Refreshed {
        let Some(store) = self.store else { return Refreshed::Same };
        let Some(file) = self.files.get(path.as_os_str()) else { return Refreshed::NeedsWalk };
        // What stands beside it, or that it is gone, a walk finds out.
        let (None, FileContent::Session(before), Some(stamp)) = (file.beside, &file.content, harness::stamp(path))
        else {
            return Refreshed::NeedsWalk;
        };
        if !file.racy && file.stamp == stamp {
            return Refreshed::Same;
        }
        let before = before.clone();
        let source = Source { path: path.to_owned(), stamp, beside: None, parts: Box::default() };
        let outcome = read_one(store, &mut HeadTail::default(), &source);
        if matches!(outcome.result, Err(ReadError::Vanished)) {
            return Refreshed::NeedsWalk;
        }
        if !self.record(source, outcome) {
            return Refreshed::Same;
        }
        match self.files.get(path.as_os_str()).map(|file| &file.content) {
            Some(FileContent::Session(now)) => Refreshed::Session(before, now.clone()),
            _ => {
                // It is no walk that this needs, but a join.
                self.changed = true;
                Refreshed::Same
            }
        }
    }

    /// The directories that its files are in, and those that may get some.
    pub fn directories(&self) -> BTreeSet<PathBuf> {
        let parents = self.files.keys().filter_map(|path| Path::new(path).parent());
        let visited = self.finder.visited.iter().chain(&self.finder.awaiting).map(PathBuf::as_path);
        parents.chain(visited).chain([&*self.root.path]).map(Path::to_owned).collect()
    }

    /// Whether something is known of a file, which then stays and is read again.
    fn keep_known(&mut self, source: &Source) -> bool {
        let Some(file) = self.files.get_mut(source.path.as_os_str()) else { return false };
        (file.racy, file.generation) = (true, self.generation);
        true
    }

    /// Whether a file that held a session was truncated a moment ago: its program may be rewriting it, and what was known of
    /// it still counts.
    fn is_being_rewritten(&mut self, source: &Source, skip: &ReadError) -> bool {
        let is_cut = matches!(skip, ReadError::Empty | ReadError::NoMessages | ReadError::NoRecords);
        let Some(file) = self.files.get_mut(source.path.as_os_str()).filter(|_| is_cut) else { return false };
        let was_session = matches!(&file.content, FileContent::Session(_) | FileContent::Several(_));
        if !was_session || source.stamp.is_older_than(limits::REWRITE_SETTLES) {
            return false;
        }
        (file.truncated, file.racy, file.generation) = (true, true, self.generation);
        true
    }

    /// Keeps what was read of a file; whether it is not what was known.
    fn record(&mut self, source: Source, outcome: ReadOutcome) -> bool {
        let content = match outcome.result {
            // What vanished between walk and reading was not there.
            Err(ReadError::Vanished) => return false,
            // It says what it said until it can be read again.
            Err(ReadError::Descriptors(_)) if self.keep_known(&source) => return false,
            Err(skip) if self.is_being_rewritten(&source, &skip) => return false,
            Err(skip) => FileContent::Skipped(skip),
            Ok(Reading { mut sessions, names, workspaces, remarks, skipped })
                if sessions.len() == 1
                    && (names.is_empty() && workspaces.is_empty() && remarks.is_empty() && skipped.is_empty()) =>
            {
                let session = sessions.swap_remove(0);
                FileContent::Session(Arc::new(Session { content: Some((source.stamp, source.beside)), ..session }))
            }
            Ok(Reading { sessions, names, workspaces, remarks, skipped }) => FileContent::Several(Box::new(Several {
                sessions: sessions.into_iter().map(Arc::new).collect(),
                names: names.into(),
                workspaces: workspaces.into(),
                remarks: remarks.into(),
                skipped,
            })),
        };
        let changed = self.files.get(source.path.as_os_str()).is_none_or(|before| !before.content.same(&content));
        let (generation, racy) = (self.generation, outcome.racy);
        self.files.insert(
            source.path.into_os_string(),
            ScannedFile { stamp: source.stamp, beside: source.beside, generation, racy, truncated: false, content },
        );
        changed
    }
}

/// What reading one file anew came to.
pub enum Refreshed {
    /// Nothing that shows has changed, or what did is found by a join.
    Same,
    /// A session, before and now.
    Session(Arc<Session>, Arc<Session>),
    /// Only a walk can tell.
    NeedsWalk,
}

impl FileContent {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Session(a), Self::Session(b)) => a == b,
            (Self::Several(a), Self::Several(b)) => a.same(b),
            (Self::Skipped(a), Self::Skipped(b)) => a.reason() == b.reason(),
            _ => false,
        }
    }
}

/// The walk may be in any order, so the marks are added up.
fn path_hash(directory: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    directory.as_os_str().hash(&mut hasher);
    hasher.finish()
}

/// What of the passed-over files shows in an answer.
fn skip_reasons(skipped: &[(PathBuf, ReadError)]) -> Vec<(&Path, &'static str)> {
    let mut reasons: Vec<_> = skipped.iter().map(|(path, skip)| (path.as_path(), skip.reason())).collect();
    reasons.sort_unstable();
    reasons
}

/// What reading a file gave.
struct ReadOutcome {
    result: Result<Reading, ReadError>,
    racy: bool,
}

fn scan_all(store: &dyn Store, sources: &[Source], progress: &dyn Progress) -> Result<Vec<ReadOutcome>, Error> {
    parallel(sources, "reading sessions", progress, |ends, source| read_one(store, ends, source))
}

fn read_one(store: &dyn Store, ends: &mut HeadTail, source: &Source) -> ReadOutcome {
    let settled = source.stamp.is_settled() && source.beside.is_none_or(|stamp| stamp.is_settled());
    let result = store.read(source, ends);
    let racy = !settled || matches!(result, Err(ReadError::Busy(_)));
    ReadOutcome { result, racy }
}

/// Does `work` for each item, on as several threads as pay. Fails only when nobody wants the results any more.
pub(super) fn parallel<T: Sync, R: Send>(
    items: &[T],
    message: &str,
    progress: &dyn Progress,
    work: impl Fn(&mut HeadTail, &T) -> R + Sync,
) -> Result<Vec<R>, Error> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut ends = HeadTail::default();
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            if progress.is_cancelled() {
                return done;
            }
            if index.is_multiple_of(FILES_PER_THREAD) {
                progress.report(message, index as u64, Some(items.len() as u64));
            }
            done.push((index, work(&mut ends, item)));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(limits::READERS).min(items.len() / FILES_PER_THREAD + 1);
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut done = run();
        for other in others {
            match other.join() {
                Ok(part) => done.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    if done.len() < items.len() {
        return Err(Error::Cancelled);
    }
    done.sort_unstable_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
