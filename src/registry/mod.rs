//! The inventory: what the stores hold and what lives, joined, queried, paged. Validated against the file system at
//! each call, so it is never stale and needs no watcher.

mod changes;
mod engine;
mod entry;
mod follow;
mod followers;
mod inventory;
mod items;
mod load;
mod page;
mod published;
mod query;
mod roots;
mod scan;
mod state;
mod subscription;
#[cfg(test)]
mod tests;
mod watch;
mod watches;

pub use crate::harness::Progress;
pub use follow::{Following, Outcome};
pub use followers::{Pulse, Seen};
pub use page::CursorError;
pub use query::Request;
pub use subscription::Subscription;
pub use watch::{Ready, Watching};

use crate::harness::{Homes, Live, Root};
use crate::limits;
use crate::protocol::{Harness, Problem, RootOrigin, Skipped};
use crate::runtime::{Observed, Runtimes};
use engine::Engine;
use inventory::Stored;
use published::Published;
use state::State;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
    state: Mutex<State>,
    published: Arc<Mutex<Published>>,
    /// How many readings have begun, to let a call share one that began after it came.
    begun: AtomicU64,
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
        let published = Arc::new(Mutex::new(Published::new(instance)));
        let state = Mutex::new(State::new(homes, published.clone()));
        Self { state, published, begun: 0.into(), runtimes, engine: Mutex::default() }
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

    /// The homes of Claude Code, whose process registries tell what lives.
    pub fn claude_homes(&self) -> Vec<PathBuf> {
        self.state().homes.homes_of(Harness::ClaudeCode)
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
        let mut published = self.published();
        published.observe(observed);
        Ok(published.current.clone())
    }

    /// The same as if there were no runtimes: none is asked, and none is waited for.
    pub fn snapshot_of_files(&self, progress: &dyn Progress) -> Result<Arc<Snapshot>, Error> {
        self.read(progress)?;
        Ok(Arc::new(self.published().current.of_files()))
    }

    /// Reads whatever changed on disk.
    fn read(&self, progress: &dyn Progress) -> Result<(), Error> {
        let came = self.begun.load(Ordering::SeqCst);
        let mut state = self.state();
        // A reading that began after this call came tells as much as one of its own.
        if state.last_reading > came {
            return Ok(());
        }
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        state.read_all(progress)?;
        state.last_reading = number;
        Ok(())
    }

    fn published(&self) -> MutexGuard<'_, Published> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
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
