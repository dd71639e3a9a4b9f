//! Where the stores are: the one table of the core that reads the environment.

use crate::protocol::{Harness, RootOrigin};
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

/// How one harness finds its home.
struct Place {
    harness: Harness,
    /// The variable that replaces the default.
    variable: &'static str,
    /// The default, below the user's home.
    default: &'static str,
    /// Where below the home the walked root is; empty for the home itself.
    below: &'static str,
    /// Other directories by which a home is told from a root.
    beside: &'static [&'static str],
}

const PLACES: &[Place] = &[
    Place {
        harness: Harness::ClaudeCode,
        variable: "CLAUDE_CONFIG_DIR",
        default: ".claude",
        below: "projects",
        beside: &["sessions"],
    },
    Place { harness: Harness::Codex, variable: "CODEX_HOME", default: ".codex", below: "", beside: &[] },
];

/// The roots of every harness.
#[derive(Clone, Debug, Default)]
pub struct Homes {
    roots: Vec<Root>,
}

impl Homes {
    /// The roots that the environment names: each harness's own variable, else its default below `HOME`. Without a
    /// usable `HOME` there are no defaults.
    pub fn from_environment() -> Self {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Self::from_variables(&variable)
    }

    fn from_variables(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Self {
        let user = variable("HOME").or_else(|| cfg!(windows).then(|| variable("USERPROFILE")).flatten());
        let mut homes = Self::default();
        for place in PLACES {
            let default = user.as_ref().map(|user| user.join(place.default));
            let (home, origin) = match variable(place.variable) {
                Some(home) => (Some(home), RootOrigin::Environment),
                None => (default.clone(), RootOrigin::Default),
            };
            if let Some(home) = home {
                let usual = default.as_ref() == Some(&home);
                let path = if place.below.is_empty() { home.clone() } else { home.join(place.below) };
                homes.add(Root { harness: place.harness, path, home, origin, usual });
            }
        }
        homes
    }

    /// The environment variable that names a harness's home.
    pub fn variable(harness: Harness) -> Option<&'static str> {
        PLACES.iter().find(|place| place.harness == harness).map(|place| place.variable)
    }

    /// Adds a root that the spawner or the client names: a harness's home, or the directory in it that holds sessions.
    /// One that is known already stays as it was.
    pub fn add_named(&mut self, harness: Harness, path: &Path, origin: RootOrigin) {
        let Some(place) = PLACES.iter().find(|place| place.harness == harness) else { return };
        let is_home = || place.beside.iter().chain([&place.below]).any(|name| path.join(name).is_dir());
        let (path, home) = if place.below.is_empty() {
            (path.to_owned(), path.to_owned())
        } else if path.file_name().is_some_and(|name| name == place.below) {
            (path.to_owned(), path.parent().unwrap_or(path).to_owned())
        } else if is_home() {
            (path.join(place.below), path.to_owned())
        } else {
            (path.to_owned(), path.to_owned())
        };
        self.add(Root { harness, path, home, origin, usual: false });
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

    /// The roots of one harness.
    pub fn of(&self, harness: Harness) -> impl Iterator<Item = &Root> {
        self.roots.iter().filter(move |root| root.harness == harness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn homes(variables: &[(&str, &str)]) -> Vec<(String, RootOrigin, bool)> {
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        let homes = Homes::from_variables(&lookup);
        homes.roots().iter().map(|root| (root.path.display().to_string(), root.origin, root.usual)).collect()
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
