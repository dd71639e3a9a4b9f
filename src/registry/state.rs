//! What the registry keeps between two readings, and how it is read anew: all of it, or what may have changed.

use super::hints::{Hints, Target};
use super::publisher::Publisher;
use super::roots::{self, RootSlot};
use super::scan::{Refreshed, RootScan};
use super::stored::Stored;
use super::{Error, Progress, RootReport};
use crate::harness::{Homes, Live, NoProgress, Root, Session};
use crate::protocol::{Harness, Problem, RootOrigin};
use crate::{limits, peer};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(super) struct ScanState {
    pub homes: Homes,
    pub slots: Vec<Arc<RootSlot>>,
    /// The roots that did not answer the last time.
    silent: Vec<PathBuf>,
    /// Where live sessions worked when the stored ones were joined.
    live_directories: Vec<String>,
    publisher: Arc<Mutex<Publisher>>,
    /// The newest whole reading of the files.
    pub last_scan: u64,
}

/// A session before and after it was read anew.
struct SessionUpdate {
    harness: Harness,
    before: Arc<Session>,
    now: Arc<Session>,
}

impl ScanState {
    pub(super) fn new(homes: Homes, publisher: Arc<Mutex<Publisher>>) -> Self {
        let slots = homes.roots().iter().cloned().map(|root| RootSlot::new(RootScan::new(root))).collect();
        Self { homes, slots, silent: Vec::new(), live_directories: Vec::new(), publisher, last_scan: 0 }
    }

    /// Adds roots that are not known yet.
    pub(super) fn add_roots(&mut self, add: impl FnOnce(&mut Homes)) {
        let known = self.homes.roots().len();
        add(&mut self.homes);
        let new: Vec<Root> = self.homes.roots()[known..].to_vec();
        self.slots.extend(new.into_iter().map(|root| RootSlot::new(RootScan::new(root))));
    }

    /// Reads whatever changed on disk.
    pub(super) fn scan_all(&mut self, progress: &dyn Progress) -> Result<(), Error> {
        roots::retry(&mut self.slots, limits::ROOT_AGAIN);
        roots::refresh_all(&self.slots, limits::ROOT_SILENCE, progress)?;
        self.publish(&[]);
        Ok(())
    }

    /// Reads what may have changed.
    pub(super) fn scan_hinted(&mut self, hints: &Hints) {
        let mut walk = hints.roots.clone();
        let mut updates = Vec::new();
        for (root, path) in &hints.files {
            if walk.contains(root) {
                continue;
            }
            match self.read_file(*root, path) {
                Some(update) => updates.extend(update),
                None => drop(walk.insert(*root)),
            }
        }
        let slots: Vec<Arc<RootSlot>> = walk.iter().filter_map(|root| self.slots.get(*root).cloned()).collect();
        if !slots.is_empty() {
            // Nobody cancels it.
            let _ = roots::refresh_all(&slots, limits::ROOT_SILENCE, &NoProgress);
        }
        // What was walked was asked for this, too.
        let updated: BTreeSet<usize> = hints.files.iter().map(|(root, _)| *root).collect();
        for (root, slot) in self.slots.iter().enumerate().filter(|(root, _)| !walk.contains(root)) {
            if (hints.live || updated.contains(&root))
                && let Some(mut scan) = slot.scan().filter(|scan| scan.may_have_live_sessions())
            {
                scan.refresh_live();
            }
        }
        self.publish(&updates);
    }

    /// Reads one file anew: the session that changed by it, if one did. `None` where its root must be walked to tell.
    fn read_file(&self, root: usize, path: &Path) -> Option<Option<SessionUpdate>> {
        let mut scan = self.slots.get(root)?.scan()?;
        let harness = scan.root.harness;
        match scan.refresh_file(path) {
            Refreshed::Same => Some(None),
            Refreshed::Session(before, now) => Some(Some(SessionUpdate { harness, before, now })),
            Refreshed::NeedsWalk => None,
        }
    }

    /// Takes note of what is not watched whole.
    pub(super) fn report_unwatched(&mut self, limited: &BTreeSet<Target>) {
        let problem = |target: &Target| {
            let root = match target {
                Target::Root(root) => self.homes.roots().get(*root),
                Target::Live | Target::Receipts => None,
            };
            let path = root.map(|root| &*root.path).or_else(|| match target {
                Target::Receipts => self.homes.receipts(),
                // What tells of processes lies in several places.
                Target::Live | Target::Root(_) => None,
            });
            Problem {
                harness: root.map(|root| root.harness),
                path: path.map(|path| path.display().to_string()),
                id: None,
                endpoint: None,
                reason: "watch_limit".to_owned(),
                message: "the system watches no more directories, so what changes there is seen later".to_owned(),
            }
        };
        let unwatched: Arc<Vec<Problem>> = Arc::new(limited.iter().map(problem).collect());
        self.publisher().update(|next| next.unwatched = unwatched);
    }

    /// Puts together what was read.
    fn publish(&mut self, updates: &[SessionUpdate]) {
        let now = self.publisher().current.clone();
        let mut scans: Vec<_> = self.slots.iter().filter_map(|slot| slot.scan()).collect();
        let live = live_sessions(&scans);
        let live_problems: Vec<Problem> = scans.iter().flat_map(|scan| scan.live.problems.iter().cloned()).collect();
        let registries = registry_reports(&scans);
        let directories: BTreeSet<&str> = live.iter().filter_map(|live| live.workspace.as_deref()).collect();
        let directories: Vec<String> = directories.into_iter().map(str::to_owned).collect();
        let known = !now.stored.has_workspace_marks || self.live_directories == directories;
        let answered = |root: &&Root| scans.iter().any(|scan| scan.root == **root);
        let silent: Vec<Root> = self.homes.roots().iter().filter(|root| !answered(root)).cloned().collect();
        let silent_paths: Vec<PathBuf> = silent.iter().map(|root| root.path.clone()).collect();
        let updated = match known && silent_paths == self.silent && !scans.iter().any(|scan| scan.changed) {
            true => apply_updates(&now.stored, updates),
            false => None,
        };
        let stored = updated.unwrap_or_else(|| {
            scans.iter_mut().for_each(|scan| scan.changed = false);
            let scans: Vec<&RootScan> = scans.iter().map(|scan| &**scan).collect();
            Arc::new(Stored::join(&scans, &silent, &directories))
        });
        let mut elapsed: BTreeMap<Harness, Duration> = BTreeMap::new();
        for scan in &scans {
            *elapsed.entry(scan.root.harness).or_default() += scan.elapsed;
        }
        drop(scans);
        (self.live_directories, self.silent) = (directories, silent_paths);
        self.publisher().update(|next| {
            (next.stored, next.elapsed) = (stored, elapsed);
            next.registries = Arc::new(registries);
            // What did not change stays the same, as much of what follows then needs no look.
            if *next.live != live {
                next.live = Arc::new(live);
            }
            if *next.live_problems != live_problems {
                next.live_problems = Arc::new(live_problems);
            }
        });
    }

    fn publisher(&self) -> MutexGuard<'_, Publisher> {
        self.publisher.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The live sessions of all harnesses in a stable order, each with its door where a message can be sent to its id: to an id
/// that only one process has, in a home that the client did not name.
fn live_sessions(scans: &[MutexGuard<'_, RootScan>]) -> Vec<Live> {
    let is_served = |scan: &RootScan| scan.root.origin != RootOrigin::Client;
    let mut holders: HashMap<(Harness, &str), BTreeSet<i32>> = HashMap::new();
    for live in scans.iter().filter(|scan| is_served(scan)).flat_map(|scan| &scan.live.sessions) {
        holders.entry((live.harness, &live.session_id)).or_default().insert(live.pid);
    }
    let mut all = Vec::new();
    for scan in scans {
        all.extend(scan.live.sessions.iter().map(|live| {
            let is_only = holders.get(&(live.harness, &*live.session_id)).is_some_and(|pids| pids.len() == 1);
            let has_door = live.has_door && is_served(scan) && is_only;
            Live { has_door, ..live.clone() }.unless_stopped()
        }));
    }
    all.sort_by(|a, b| (a.harness, &a.session_id, a.pid).cmp(&(b.harness, &b.session_id, b.pid)));
    all.dedup_by(|b, a| (a.harness, &a.session_id, a.pid) == (b.harness, &b.session_id, b.pid));
    all
}

/// A process registry is a location where sessions were looked for, too.
fn registry_reports(scans: &[MutexGuard<'_, RootScan>]) -> Vec<RootReport> {
    let report = |root: &Root, registry: &peer::Registry| RootReport {
        harness: root.harness,
        path: registry.path.clone(),
        origin: root.origin,
        exists: registry.exists,
        files: registry.files,
        sessions: registry.sessions,
        skipped: registry.hidden.iter().take(limits::SKIPPED_LISTED).cloned().collect(),
        truncated: registry.truncated || registry.hidden.len() > limits::SKIPPED_LISTED,
    };
    let of =
        |scan: &RootScan| scan.live.registries.iter().map(|registry| report(&scan.root, registry)).collect::<Vec<_>>();
    let mut known = HashSet::new();
    scans.iter().flat_map(|scan| of(scan)).filter(|report| known.insert(report.path.clone())).collect()
}

/// The stored sessions with some of them as they are now; `None` where all must be joined anew.
fn apply_updates(stored: &Arc<Stored>, updates: &[SessionUpdate]) -> Option<Arc<Stored>> {
    let mut updated = stored.clone();
    for update in updates {
        updated = Arc::new(updated.with_update(&update.before, &update.now, update.harness)?);
    }
    Some(updated)
}
