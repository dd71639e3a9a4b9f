//! Which directories are watched, and what an event in one is a hint of.

use super::Refresh;
use super::hints::{Hints, Target};
use crate::platform::watch::{Error, Event, Watcher};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A location whose changes matter: where it is, and the directories there.
pub(super) struct WatchedLocation {
    pub target: Target,
    pub path: PathBuf,
    pub directories: Vec<PathBuf>,
}

/// What came of arming.
#[derive(Default)]
pub(super) struct ArmOutcome {
    /// What is watched only now: what changed there before was not reported.
    pub unseen: BTreeSet<Target>,
    /// What is not watched whole.
    pub limited: BTreeSet<Target>,
    /// Directories that are watched only now.
    fresh: BTreeSet<PathBuf>,
    refresh: bool,
}

/// What the events of a while are hints of.
#[derive(Default)]
pub(super) struct EventSummary {
    pub hints: Hints,
    /// Whether receipts may have come or gone.
    pub receipts: bool,
    /// Whether events were lost.
    pub lost: bool,
    /// Whether something that was watched is not any more.
    pub rearm: bool,
}

/// The watched directories.
pub(super) struct WatchSet {
    pub watcher: Watcher,
    wanted: HashMap<PathBuf, BTreeSet<Target>>,
    /// Directories that are watched for one entry: the way to a location that is not there, or may be exchanged.
    parents: HashMap<PathBuf, Vec<(OsString, Target)>>,
}

impl WatchSet {
    pub(super) fn new(watcher: Watcher) -> Self {
        Self { watcher, wanted: HashMap::new(), parents: HashMap::new() }
    }

    /// Watches these locations, and nothing else. `Refresh::Yes` also checks whether what is watched is still what its path leads to.
    pub(super) fn arm(&mut self, locations: &[WatchedLocation], refresh: Refresh) -> ArmOutcome {
        let mut armed = ArmOutcome { refresh: refresh == Refresh::Yes, ..ArmOutcome::default() };
        self.wanted.clear();
        self.parents.clear();
        for location in locations {
            for directory in &location.directories {
                self.wanted.entry(directory.clone()).or_default().insert(location.target);
            }
        }
        // What is not wanted any more makes room for what is.
        let above: BTreeSet<&Path> = locations.iter().flat_map(|location| location.path.ancestors().skip(1)).collect();
        self.retain(|watches, path| watches.wanted.contains_key(path) || above.contains(path));
        for location in locations {
            self.watch_parent(location, &mut armed);
            for directory in &location.directories {
                self.watch(directory, location, &mut armed);
            }
        }
        self.retain(|watches, path| watches.wanted.contains_key(path) || watches.parents.contains_key(path));
        armed
    }

    /// Watches no others any more.
    fn retain(&mut self, keep: impl Fn(&Self, &Path) -> bool) {
        let unwanted: Vec<PathBuf> =
            self.watcher.directories().filter(|path| !keep(self, path)).map(Path::to_owned).collect();
        unwanted.iter().for_each(|path| self.watcher.forget(path));
    }

    /// Watches the directory above a location, else the nearest one above it that is there.
    fn watch_parent(&mut self, location: &WatchedLocation, armed: &mut ArmOutcome) {
        let mut below = location.path.as_path();
        while let (Some(above), Some(name)) = (below.parent(), below.file_name()) {
            if self.watch(above, location, armed) {
                self.parents.entry(above.to_owned()).or_default().push((name.to_owned(), location.target));
                return;
            }
            below = above;
        }
    }

    /// Watches a directory for a location; whether it is there.
    fn watch(&mut self, directory: &Path, location: &WatchedLocation, armed: &mut ArmOutcome) -> bool {
        let is_watched = !armed.refresh && self.watcher.watches(directory);
        match if is_watched { Ok(false) } else { self.watcher.watch(directory) } {
            Ok(new) => {
                if new {
                    armed.fresh.insert(directory.to_owned());
                }
                // Others may have come to watch it first, just now.
                if armed.fresh.contains(directory) {
                    armed.unseen.insert(location.target);
                }
                true
            }
            Err(Error::Missing) => {
                self.watcher.forget(directory);
                false
            }
            Err(Error::Limit | Error::Io(_)) => {
                armed.limited.insert(location.target);
                // It is there, and no nearer way is to be found above it.
                true
            }
        }
    }

    /// What events are hints of.
    pub(super) fn summarize(&mut self, events: Vec<Event>) -> EventSummary {
        let mut summary = EventSummary::default();
        for event in events {
            match event {
                Event::Overflow => summary.lost = true,
                Event::Gone(directory) => {
                    summary.rearm = true;
                    let targets = self.wanted.get(&directory).into_iter().flatten();
                    let parents = self.parents.get(&directory).into_iter().flatten().map(|(_, target)| target);
                    targets.chain(parents).for_each(|target| summary.hint(*target, None));
                }
                Event::Entry(directory, name) => {
                    let path = directory.join(&name);
                    // The path may lead to another directory now.
                    if self.watcher.watches(&path) {
                        self.watcher.forget(&path);
                        summary.rearm = true;
                    }
                    let targets = self.wanted.get(&directory).into_iter().flatten();
                    targets.for_each(|target| summary.hint(*target, Some(&path)));
                    let parents = self.parents.get(&directory).into_iter().flatten();
                    for target in parents.filter(|(entry, _)| *entry == name).map(|(_, target)| *target) {
                        // The path may lead to another directory now, and what is watched be the old one.
                        let old = self.wanted.iter().filter(|(_, targets)| targets.contains(&target));
                        old.for_each(|(directory, _)| self.watcher.forget(directory));
                        summary.rearm = true;
                        summary.hint(target, None);
                    }
                }
            }
        }
        summary
    }
}

impl EventSummary {
    fn hint(&mut self, target: Target, path: Option<&Path>) {
        match (target, path) {
            (Target::Live, _) => self.hints.live = true,
            (Target::Receipts, _) => self.receipts = true,
            (Target::Root(root), Some(path)) => drop(self.hints.files.insert((root, path.to_owned()))),
            (Target::Root(root), None) => drop(self.hints.roots.insert(root)),
        }
    }
}
