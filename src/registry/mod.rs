//! The inventory: what the stores hold and what lives, joined, queried, paged. Validated against the file system at
//! each call, so it is never stale and needs no watcher.

mod change_log;
mod cursor;
mod engine;
mod follow_wakers;
mod followed_session;
mod hints;
mod item;
mod load;
mod publisher;
mod query;
mod resolve;
mod roots;
mod scan;
mod state;
mod stored;
mod subscribe;
mod subscription;
#[cfg(test)]
mod tests;
mod visible;
mod watch_set;

pub use crate::harness::Progress;
pub use cursor::CursorError;
pub use follow_wakers::{ClientView, FollowWaker};
pub use followed_session::{FollowOutcome, FollowedSession};
pub use query::Request;
pub use resolve::Resolution;
pub use subscribe::{EventBatch, WatchRequest};
pub use subscription::Subscription;

use crate::harness::{Homes, Live, Root};
use crate::limits;
use crate::protocol::{Harness, Problem, RootOrigin, Skipped};
use crate::runtime::{Observed, Runtimes};
use engine::Engine;
use publisher::Publisher;
use state::ScanState;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stored::Stored;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody wants it any more.
    #[error("the request was cancelled")]
    Cancelled,
    /// The cursor does not fit.
    #[error(transparent)]
    Cursor(#[from] CursorError),
}

/// The inventory of this machine.
pub struct Registry {
    /// Locked while files are read.
    state: Mutex<ScanState>,
    publisher: Arc<Mutex<Publisher>>,
    /// How many readings have scans_started, to let a call share one that began after it came.
    scans_started: AtomicU64,
    runtimes: Arc<Runtimes>,
    /// Runs while somebody watches.
    engine: Mutex<Option<Engine>>,
}

/// The inventory as it was at one time.
#[derive(Clone, Default)]
pub struct Snapshot {
    stored: Arc<Stored>,
    live: Arc<Vec<Live>>,
    live_problems: Arc<Vec<Problem>>,
    registries: Arc<Vec<RootReport>>,
    observed: Arc<Observed>,
    /// Where changes are seen late, while somebody watches.
    unwatched: Arc<Vec<Problem>>,
    elapsed: BTreeMap<Harness, Duration>,
    revision: String,
    /// That of the last change.
    number: u64,
}

/// Whether the files are read again first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refresh {
    /// They are read again.
    Yes,
    /// What was read last is good enough.
    #[default]
    No,
}

/// What was found below one root.
#[derive(Clone, Debug)]
pub struct RootReport {
    /// Whose root it is.
    pub harness: Harness,
    /// The directory.
    pub path: PathBuf,
    /// How it came to be looked into.
    pub origin: RootOrigin,
    /// Whether it is there.
    pub exists: bool,
    /// Files that could hold a session.
    pub files: usize,
    /// Sessions that were read from them.
    pub sessions: usize,
    /// What was passed over, and why.
    pub skipped: Vec<Skipped>,
    /// Whether something was left out for being too much.
    pub truncated: bool,
}

impl Registry {
    /// An inventory of these homes; nothing is read yet.
    pub fn new(homes: Homes, instance: String, runtimes: Arc<Runtimes>) -> Self {
        let publisher = Arc::new(Mutex::new(Publisher::new(instance)));
        let state = Mutex::new(ScanState::new(homes, publisher.clone()));
        Self { state, publisher, scans_started: 0.into(), runtimes, engine: Mutex::default() }
    }

    /// Adds roots that a client named.
    pub fn add_client_homes(&self, homes: &BTreeMap<Harness, Vec<String>>) {
        self.state().add_roots(|known| {
            for (harness, path) in
                homes.iter().flat_map(|(harness, paths)| paths.iter().map(move |path| (harness, path)))
            {
                known.add_named(*harness, Path::new(path), RootOrigin::Client);
            }
        });
    }

    /// The roots of every harness, as paths that can be shown.
    pub fn roots_by_harness(&self) -> Vec<(Harness, Vec<String>)> {
        let state = self.state();
        let shown = |root: &Root| root.path.display().to_string();
        Harness::ALL.into_iter().map(|harness| (harness, state.homes.of(harness).map(shown).collect())).collect()
    }

    /// The home directories of a harness.
    pub fn homes_of(&self, harness: Harness) -> Vec<PathBuf> {
        self.state().homes.homes_of(harness)
    }

    /// Every root, for the details of a session.
    pub fn roots(&self) -> Vec<Root> {
        self.state().homes.roots().to_vec()
    }

    /// Reads what changed, and answers the inventory as it is now.
    pub fn snapshot(&self, progress: &dyn Progress) -> Result<Arc<Snapshot>, Error> {
        self.snapshot_within(limits::PROBE_LIST, progress)
    }

    /// The same, where each runtime is waited for no longer than this.
    pub fn snapshot_within(&self, patience: Duration, progress: &dyn Progress) -> Result<Arc<Snapshot>, Error> {
        // They are asked while the files are read.
        let look = self.runtimes.look(patience);
        self.read(progress)?;
        let observed = look.finish();
        let mut publisher = self.publisher();
        publisher.observe(observed);
        Ok(publisher.current.clone())
    }

    /// The same as if there were no runtimes: none is asked, and none is waited for.
    pub fn snapshot_of_files(&self, progress: &dyn Progress) -> Result<Arc<Snapshot>, Error> {
        self.read(progress)?;
        Ok(Arc::new(self.publisher().current.without_runtimes()))
    }

    /// Reads whatever changed on disk.
    fn read(&self, progress: &dyn Progress) -> Result<(), Error> {
        let came = self.scans_started.load(Ordering::SeqCst);
        let mut state = self.state();
        // A reading that began after this call came tells as much as one of its own.
        if state.last_scan > came {
            return Ok(());
        }
        let number = self.scans_started.fetch_add(1, Ordering::SeqCst) + 1;
        state.scan_all(progress)?;
        state.last_scan = number;
        Ok(())
    }

    fn publisher(&self) -> MutexGuard<'_, Publisher> {
        self.publisher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, ScanState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Snapshot {
    /// Every place that was looked into.
    pub fn reports(&self) -> impl Iterator<Item = &RootReport> {
        self.stored.reports.iter().chain(self.registries.iter())
    }

    /// How long looking for the sessions of a harness took.
    pub fn elapsed(&self, harness: Harness) -> Duration {
        self.elapsed.get(&harness).copied().unwrap_or_default()
    }
}
