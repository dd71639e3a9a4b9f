//! The inventory: what the stores hold and what lives, joined, queried, paged. Validated against the file system at
//! each call, so it is never stale and needs no watcher.

mod entry;
mod inventory;
mod items;
mod load;
mod page;
mod query;
mod roots;
mod scan;
#[cfg(test)]
mod tests;

pub use crate::harness::Attendant;
pub use page::CursorError;
pub use query::Request;

use crate::harness::{Homes, Root};
use crate::protocol::{Harness, Problem, RootOrigin, Skipped};
use crate::runtime::{Observed, Runtimes};
use crate::{harness, limits, peer};
use inventory::{Live, Stored};
use roots::Slot;
use scan::RootScan;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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
    state: Mutex<State>,
    /// How many readings have begun, to let a call share one that began after it came.
    begun: std::sync::atomic::AtomicU64,
    instance: String,
    runtimes: Arc<Runtimes>,
}

struct State {
    homes: Homes,
    slots: Vec<Arc<Slot>>,
    /// The roots that did not answer the last time.
    silent: Vec<PathBuf>,
    stored: Arc<Stored>,
    live: Arc<Vec<Live>>,
    observed: Arc<Observed>,
    /// Where live sessions worked when the stored ones were joined.
    directories: Vec<String>,
    revision: u64,
    /// The newest reading, which one it was, and whether runtimes were asked for it.
    last: Option<(u64, bool, Arc<Snapshot>)>,
}

/// The inventory as it was at one time.
pub struct Snapshot {
    stored: Arc<Stored>,
    live: Arc<Vec<Live>>,
    observed: Arc<Observed>,
    problems: Vec<Problem>,
    registries: Vec<RootReport>,
    elapsed: BTreeMap<Harness, Duration>,
    revision: String,
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
        let slots = homes.roots().iter().cloned().map(|root| Slot::new(RootScan::new(root))).collect();
        let state = State {
            homes,
            slots,
            silent: Vec::new(),
            stored: Arc::default(),
            live: Arc::default(),
            observed: Arc::default(),
            directories: Vec::new(),
            revision: 0,
            last: None,
        };
        Self { state: Mutex::new(state), begun: 0.into(), instance, runtimes }
    }

    /// Adds roots that a client named.
    pub fn add_client_homes(&self, homes: &BTreeMap<Harness, Vec<String>>) {
        let mut state = self.state();
        let known = state.homes.roots().len();
        for (harness, paths) in homes {
            for path in paths {
                state.homes.add_named(*harness, Path::new(path), RootOrigin::Client);
            }
        }
        let new: Vec<Root> = state.homes.roots()[known..].to_vec();
        state.slots.extend(new.into_iter().map(|root| Slot::new(RootScan::new(root))));
    }

    /// The roots of every harness that has a store, as paths that can be shown.
    pub fn roots_by_harness(&self) -> Vec<(Harness, Vec<String>)> {
        let state = self.state();
        let shown = |root: &Root| root.path.display().to_string();
        harness::stores()
            .iter()
            .map(|store| (store.harness(), state.homes.of(store.harness()).map(shown).collect()))
            .collect()
    }

    /// The homes of Claude Code, whose process registries tell what lives.
    pub fn claude_homes(&self) -> Vec<PathBuf> {
        claude_homes(&self.state().homes)
    }

    /// Every root, for the details of a session.
    pub fn roots(&self) -> Vec<Root> {
        self.state().homes.roots().to_vec()
    }

    /// Reads what changed, and answers the inventory as it is now.
    pub fn snapshot(&self, attendant: &dyn Attendant) -> Result<Arc<Snapshot>, Error> {
        self.take(true, attendant)
    }

    /// The same as if there were no runtimes: none is asked, and none is waited for.
    pub fn snapshot_of_files(&self, attendant: &dyn Attendant) -> Result<Arc<Snapshot>, Error> {
        self.take(false, attendant)
    }

    fn take(&self, asks: bool, attendant: &dyn Attendant) -> Result<Arc<Snapshot>, Error> {
        use std::sync::atomic::Ordering;
        let came = self.begun.load(Ordering::SeqCst);
        let mut state = self.state();
        // A reading that began after this call came tells as much as one of its own.
        if let Some((number, asked, last)) = &state.last
            && *number > came
            && *asked == asks
        {
            return Ok(last.clone());
        }
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let runtimes = asks.then_some(&self.runtimes);
        let snapshot = Arc::new(state.read(&self.instance, runtimes, attendant)?);
        state.last = Some((number, asks, snapshot.clone()));
        Ok(snapshot)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn read(
        &mut self,
        instance: &str,
        runtimes: Option<&Arc<Runtimes>>,
        attendant: &dyn Attendant,
    ) -> Result<Snapshot, Error> {
        // They are asked while the files are read.
        let look = runtimes.map(Runtimes::look);
        roots::refresh_all(&self.slots, limits::ROOT_SILENCE, attendant)?;
        let begin = Instant::now();
        let listing = peer::list(&claude_homes(&self.homes));
        let mut elapsed = BTreeMap::from([(Harness::ClaudeCode, begin.elapsed())]);
        let directories: BTreeSet<&String> = listing.peers.iter().filter_map(|found| found.peer.cwd.as_ref()).collect();
        let directories: Vec<String> = directories.into_iter().cloned().collect();
        let known = !self.stored.has_marks || self.directories == directories;
        let mut scans: Vec<_> = self.slots.iter().filter_map(|slot| slot.scan()).collect();
        let answered = |root: &&Root| scans.iter().any(|scan| scan.root == **root);
        let silent: Vec<Root> = self.homes.roots().iter().filter(|root| !answered(root)).cloned().collect();
        let silent_paths: Vec<PathBuf> = silent.iter().map(|root| root.path.clone()).collect();
        if scans.iter().any(|scan| scan.changed) || !known || silent_paths != self.silent {
            scans.iter_mut().for_each(|scan| scan.changed = false);
            let scans: Vec<&RootScan> = scans.iter().map(|scan| &**scan).collect();
            self.stored = Arc::new(Stored::join(&scans, &silent, &directories));
            (self.directories, self.silent) = (directories, silent_paths);
            self.revision += 1;
        }
        for scan in &scans {
            *elapsed.entry(scan.root.harness).or_default() += scan.elapsed;
        }
        drop(scans);
        let live = inventory::live(&listing);
        if *self.live != live {
            self.revision += 1;
        }
        self.live = Arc::new(live);
        let observed = look.map(|look| Arc::new(look.finish()));
        if let Some(observed) = &observed {
            self.revision += u64::from(!same(&self.observed, observed));
            self.observed = observed.clone();
        }
        let mut problems = self.stored.problems.clone();
        problems.extend(listing.problems.iter().cloned());
        problems.truncate(limits::PROBLEMS_LISTED);
        Ok(Snapshot {
            stored: self.stored.clone(),
            live: self.live.clone(),
            observed: observed.unwrap_or_default(),
            problems,
            registries: listing.registries.iter().map(|registry| self.registry_report(registry)).collect(),
            elapsed,
            revision: format!("{instance}.{}", self.revision),
        })
    }

    /// A process registry is a place where sessions were looked for, too.
    fn registry_report(&self, registry: &peer::Registry) -> RootReport {
        let of_registry = |root: &&Root| registry.path.parent() == Some(&root.home);
        let root = self.homes.of(Harness::ClaudeCode).find(of_registry);
        RootReport {
            harness: Harness::ClaudeCode,
            path: registry.path.clone(),
            origin: root.map_or(RootOrigin::Default, |root| root.origin),
            exists: registry.exists,
            files: registry.files,
            sessions: registry.sessions,
            skipped: registry.hidden.iter().take(limits::SKIPPED_LISTED).cloned().collect(),
            truncated: registry.truncated || registry.hidden.len() > limits::SKIPPED_LISTED,
        }
    }
}

impl Snapshot {
    /// Every place that was looked into.
    pub fn reports(&self) -> impl Iterator<Item = &RootReport> {
        self.stored.reports.iter().chain(&self.registries)
    }

    /// How long looking for the sessions of a harness took.
    pub fn elapsed(&self, harness: Harness) -> Duration {
        self.elapsed.get(&harness).copied().unwrap_or_default()
    }
}

/// Whether nothing but clocks tells two looks at the runtimes apart.
fn same(a: &Observed, b: &Observed) -> bool {
    a.runtimes.len() == b.runtimes.len() && a.runtimes.iter().zip(&b.runtimes).all(|(a, b)| a.is_as(b))
}

fn claude_homes(homes: &Homes) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for root in homes.of(Harness::ClaudeCode) {
        if !paths.contains(&root.home) {
            paths.push(root.home.clone());
        }
    }
    paths
}
