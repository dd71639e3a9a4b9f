//! Which directories are watched, and what an event in one is a hint of.

use super::state::Hints;
use crate::platform::watch::{Error, Event, Watcher};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What an event is a hint of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A root of a store, by its place.
    Root(usize),
    /// What tells which sessions live.
    Live,
    /// The receipts.
    Receipts,
}

/// A place whose changes matter: where it is, and the directories there.
pub struct Place {
    pub target: Target,
    pub path: PathBuf,
    pub directories: Vec<PathBuf>,
}

/// What came of arming.
#[derive(Default)]
pub struct Armed {
    /// What is watched only now: what changed there before was not told.
    pub unseen: BTreeSet<Target>,
    /// What is not watched whole.
    pub limited: BTreeSet<Target>,
    /// Directories that are watched only now.
    fresh: BTreeSet<PathBuf>,
    anew: bool,
}

/// What the events of a while are hints of.
#[derive(Default)]
pub struct Told {
    pub hints: Hints,
    /// Whether receipts may have come or gone.
    pub receipts: bool,
    /// Whether events were lost.
    pub lost: bool,
    /// Whether something that was watched is not any more.
    pub rearm: bool,
}

/// The watched directories.
pub struct Watches {
    pub watcher: Watcher,
    wanted: HashMap<PathBuf, BTreeSet<Target>>,
    /// Directories that are watched for one entry: the way to a place that is not there, or may be exchanged.
    ways: HashMap<PathBuf, Vec<(OsString, Target)>>,
}

impl Watches {
    pub fn new(watcher: Watcher) -> Self {
        Self { watcher, wanted: HashMap::new(), ways: HashMap::new() }
    }

    /// Watches these places, and nothing else. `anew` looks, too, whether what is watched is still what its path leads to.
    pub fn arm(&mut self, places: &[Place], anew: bool) -> Armed {
        let mut armed = Armed { anew, ..Armed::default() };
        self.wanted.clear();
        self.ways.clear();
        for place in places {
            for directory in &place.directories {
                self.wanted.entry(directory.clone()).or_default().insert(place.target);
            }
        }
        // What is not wanted any more makes room for what is.
        let above: BTreeSet<&Path> = places.iter().flat_map(|place| place.path.ancestors().skip(1)).collect();
        self.keep(|watches, path| watches.wanted.contains_key(path) || above.contains(path));
        for place in places {
            self.arm_way(place, &mut armed);
            for directory in &place.directories {
                self.watch(directory, place, &mut armed);
            }
        }
        self.keep(|watches, path| watches.wanted.contains_key(path) || watches.ways.contains_key(path));
        armed
    }

    /// Watches no others any more.
    fn keep(&mut self, keep: impl Fn(&Self, &Path) -> bool) {
        let unwanted: Vec<PathBuf> =
            self.watcher.directories().filter(|path| !keep(self, path)).map(Path::to_owned).collect();
        unwanted.iter().for_each(|path| self.watcher.forget(path));
    }

    /// Watches the directory above a place, else the nearest one above it that is there.
    fn arm_way(&mut self, place: &Place, armed: &mut Armed) {
        let mut below = place.path.as_path();
        while let (Some(above), Some(name)) = (below.parent(), below.file_name()) {
            if self.watch(above, place, armed) {
                self.ways.entry(above.to_owned()).or_default().push((name.to_owned(), place.target));
                return;
            }
            below = above;
        }
    }

    /// Watches a directory for a place; whether it is there.
    fn watch(&mut self, directory: &Path, place: &Place, armed: &mut Armed) -> bool {
        let is_watched = !armed.anew && self.watcher.watches(directory);
        match if is_watched { Ok(false) } else { self.watcher.watch(directory) } {
            Ok(new) => {
                if new {
                    armed.fresh.insert(directory.to_owned());
                }
                // Others may have come to watch it first, just now.
                if armed.fresh.contains(directory) {
                    armed.unseen.insert(place.target);
                }
                true
            }
            Err(Error::Missing) => {
                self.watcher.forget(directory);
                false
            }
            Err(Error::Limit | Error::Io(_)) => {
                armed.limited.insert(place.target);
                // It is there, and no nearer way is to be found above it.
                true
            }
        }
    }

    /// What events are hints of.
    pub fn read(&mut self, events: Vec<Event>) -> Told {
        let mut told = Told::default();
        for event in events {
            match event {
                Event::Overflow => told.lost = true,
                Event::Gone(directory) => {
                    told.rearm = true;
                    let targets = self.wanted.get(&directory).into_iter().flatten();
                    let ways = self.ways.get(&directory).into_iter().flatten().map(|(_, target)| target);
                    targets.chain(ways).for_each(|target| told.hint(*target, None));
                }
                Event::Entry(directory, name) => {
                    let path = directory.join(&name);
                    // The path may lead to another directory now.
                    if self.watcher.watches(&path) {
                        self.watcher.forget(&path);
                        told.rearm = true;
                    }
                    let targets = self.wanted.get(&directory).into_iter().flatten();
                    targets.for_each(|target| told.hint(*target, Some(&path)));
                    let ways = self.ways.get(&directory).into_iter().flatten();
                    for target in ways.filter(|(entry, _)| *entry == name).map(|(_, target)| *target) {
                        // The path may lead to another directory now, and what is watched be the old one.
                        let old = self.wanted.iter().filter(|(_, targets)| targets.contains(&target));
                        old.for_each(|(directory, _)| self.watcher.forget(directory));
                        told.rearm = true;
                        told.hint(target, None);
                    }
                }
            }
        }
        told
    }
}

impl Told {
    fn hint(&mut self, target: Target, path: Option<&Path>) {
        match (target, path) {
            (Target::Live, _) => self.hints.live = true,
            (Target::Receipts, _) => self.receipts = true,
            (Target::Root(root), Some(path)) => drop(self.hints.files.insert((root, path.to_owned()))),
            (Target::Root(root), None) => drop(self.hints.roots.insert(root)),
        }
    }
}
