//! Where the stores are: the one place of the core that reads the environment.

use super::{Store, stores, supercode};
use crate::protocol::{Harness, RootOrigin};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// A directory below which a harness keeps sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Whose it is.
    pub harness: Harness,
    /// The directory that is walked.
    pub path: PathBuf,
    /// The harness's home that it belongs to: what its own variable would name.
    pub home: PathBuf,
    /// How it came to be looked into.
    pub origin: RootOrigin,
    /// Whether the harness's own program looks there without being told.
    pub usual: bool,
}

/// The variables that name the user's home, the second one on Windows alone.
const USER_HOME: [&str; 2] = ["HOME", "USERPROFILE"];

/// The directory of Supercode's home in which the live runtimes of every harness publish their receipts.
const RECEIPTS: &str = "live-runtimes";

/// The variables of the environment, as far as a store asks for them.
pub struct Environment<'a>(&'a dyn Fn(&str) -> Option<PathBuf>);

impl<'a> Environment<'a> {
    /// An environment that looks variables up.
    pub fn of(lookup: &'a dyn Fn(&str) -> Option<PathBuf>) -> Self {
        Self(lookup)
    }

    /// A variable as it is; a blank one is none.
    pub fn value(&self, name: &str) -> Option<PathBuf> {
        self.0(name).filter(|value| !value.as_os_str().is_empty())
    }

    /// A variable that names a place. A blank or relative value names none.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.0(name).filter(|path| path.is_absolute())
    }

    /// A variable that is a word. A blank one is none.
    pub fn word(&self, name: &str) -> Option<String> {
        let word = self.0(name)?.into_os_string().into_string().ok()?;
        Some(word.trim().to_owned()).filter(|word| !word.is_empty())
    }

    /// The user's home. Without a usable one there are no defaults.
    pub fn home(&self) -> Option<PathBuf> {
        let [home, windows_home] = USER_HOME;
        self.path(home).or_else(|| cfg!(windows).then(|| self.path(windows_home)).flatten())
    }

    /// A harness's home: what its variable names, else a default below the user's home.
    pub fn home_of(&self, variable: &str, default: &str) -> Option<Home> {
        let default = self.home().map(|home| home.join(default));
        match self.path(variable) {
            Some(path) => Some(Home { usual: default.as_ref() == Some(&path), path, origin: RootOrigin::Environment }),
            None => default.map(|path| Home { path, origin: RootOrigin::Default, usual: true }),
        }
    }
}

/// An environment that a test makes up.
#[cfg(test)]
pub(super) fn environment(lookup: &dyn Fn(&str) -> Option<PathBuf>) -> Environment<'_> {
    Environment(lookup)
}

/// A harness's home, and how it was found.
pub struct Home {
    /// The directory.
    pub path: PathBuf,
    /// How it came to be looked into.
    pub origin: RootOrigin,
    /// Whether the harness's own program looks there without being told.
    pub usual: bool,
}

impl Home {
    /// The root that is this home, or a directory below it.
    pub fn root(&self, harness: Harness, below: &str) -> Root {
        let path = if below.is_empty() { self.path.clone() } else { self.path.join(below) };
        Root { harness, path, home: self.path.clone(), origin: self.origin, usual: self.usual }
    }
}

/// The roots of every harness, and where live runtimes publish their receipts.
#[derive(Clone, Debug, Default)]
pub struct Homes {
    roots: Vec<Root>,
    receipts: Option<PathBuf>,
}

impl Homes {
    /// The roots that the environment names.
    pub fn from_environment() -> Self {
        Self::of_environment(&Environment::of(&|name| std::env::var_os(name).map(PathBuf::from)))
    }

    fn of_environment(environment: &Environment<'_>) -> Self {
        let receipts = supercode::home(environment).map(|home| home.path.join(RECEIPTS));
        let mut homes = Self { roots: Vec::new(), receipts };
        for root in stores().iter().flat_map(|store| store.roots(environment)) {
            homes.add(root);
        }
        homes
    }

    /// The variables, besides the user's home, that are set and that a harness's store asks for.
    pub fn variables(harness: Harness) -> Vec<String> {
        let set = RefCell::new(Vec::new());
        let look = |name: &str| {
            let value = std::env::var_os(name).map(PathBuf::from)?;
            if !USER_HOME.contains(&name) {
                set.borrow_mut().push(name.to_owned());
            }
            Some(value)
        };
        if let Some(store) = store_of(harness) {
            store.roots(&Environment(&look));
        }
        set.into_inner()
    }

    /// Adds a root that the spawner or the client names: a harness's home, or the directory in it that holds sessions.
    /// One that is known already stays as it was.
    pub fn add_named(&mut self, harness: Harness, path: &Path, origin: RootOrigin) {
        if let Some(store) = store_of(harness) {
            let root = store.named_root(path);
            self.add(Root { origin, usual: false, ..root });
        }
    }

    fn add(&mut self, root: Root) {
        if !self.roots.iter().any(|known| known.harness == root.harness && known.path == root.path) {
            self.roots.push(root);
        }
    }

    /// Every root, harness by harness.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The directory of the receipts, where the environment names one.
    pub fn receipts(&self) -> Option<&Path> {
        self.receipts.as_deref()
    }

    /// The homes of one harness, the first one first.
    pub fn homes_of(&self, harness: Harness) -> Vec<PathBuf> {
        let mut homes: Vec<PathBuf> = Vec::new();
        for root in self.of(harness) {
            if !homes.contains(&root.home) {
                homes.push(root.home.clone());
            }
        }
        homes
    }

    /// The roots of one harness.
    pub fn of(&self, harness: Harness) -> impl Iterator<Item = &Root> {
        self.roots.iter().filter(move |root| root.harness == harness)
    }
}

/// The store of a harness.
pub fn store_of(harness: Harness) -> Option<&'static dyn Store> {
    stores().iter().copied().find(|store| store.harness() == harness)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn homes(variables: &[(&str, &str)]) -> Vec<(String, RootOrigin, bool)> {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        let homes = Homes::of_environment(&Environment::of(&lookup));
        let ours = [Harness::ClaudeCode, Harness::Codex];
        let roots = homes.roots().iter().filter(|root| ours.contains(&root.harness));
        roots.map(|root| (root.path.display().to_string(), root.origin, root.usual)).collect()
    }

    #[test]
    fn a_variable_replaces_the_default_and_without_home_there_is_none() {
        assert_eq!(
            homes(&[("HOME", "/home/dev"), ("CODEX_HOME", "/data/codex")]),
            [
                ("/home/dev/.claude/projects".to_owned(), RootOrigin::Default, true),
                ("/data/codex".to_owned(), RootOrigin::Environment, false),
            ]
        );
        assert_eq!(homes(&[]), []);
        assert_eq!(homes(&[("HOME", ""), ("CODEX_HOME", "relative")]), []);
    }

    #[test]
    fn the_receipts_are_below_the_first_home_that_is_set_and_never_below_the_current_directory() {
        let receipts = |variables: &[(&str, &str)]| {
            let lookup = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| PathBuf::from(v));
            let homes = Homes::of_environment(&Environment::of(&lookup));
            homes.receipts().map(|path| path.to_str().unwrap().to_owned())
        };
        let (user, config) = (("HOME", "/u"), ("XDG_CONFIG_HOME", "/x"));
        let own = |value| ("SUPERCODE_HOME", value);
        assert_eq!(receipts(&[user, config, own("/s")]).unwrap(), "/s/live-runtimes");
        assert_eq!(receipts(&[user, config, own("")]).unwrap(), "/x/supercode/live-runtimes");
        assert_eq!(receipts(&[user, config, own("s")]).unwrap(), "/x/supercode/live-runtimes");
        assert_eq!(receipts(&[user, ("XDG_CONFIG_HOME", "x")]).unwrap(), "/u/.config/supercode/live-runtimes");
        assert_eq!(receipts(&[config]).unwrap(), "/x/supercode/live-runtimes");
        assert_eq!(receipts(&[("HOME", "u"), own("s")]), None);
        assert_eq!(receipts(&[]), None);
    }

    #[test]
    fn a_named_root_may_be_the_home_or_its_projects() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("sessions")).unwrap();
        let mut homes = Homes::default();
        homes.add_named(Harness::ClaudeCode, home.path(), RootOrigin::Flag);
        homes.add_named(Harness::ClaudeCode, &home.path().join("projects"), RootOrigin::Flag);
        let roots: Vec<_> = homes.roots().iter().map(|root| (root.path.as_path(), root.home.as_path())).collect();
        assert_eq!(roots, [(home.path().join("projects").as_path(), home.path())]);
    }
}
