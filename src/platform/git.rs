//! Git repositories, read from their files: git is never started, and nothing in a repository can hang or be changed.
//!
//! Only what the repository itself holds is read: `include`s, `url.*.insteadOf` and the user's own configuration are
//! not followed, for they name files and places beyond it.

mod config;
mod origin;

use self::origin::Place;
use super::files::{read_small, resolve};
use crate::limits;
use std::path::{Path, PathBuf};

/// A working copy, or a bare repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Its top directory, links resolved.
    pub root: PathBuf,
    /// The branch that is checked out; none where HEAD is detached.
    pub branch: Option<String>,
    /// The URL of the remote `origin`, without credentials.
    pub origin: Option<String>,
}

/// The checkout that a path lies in, whether or not the path itself is still there.
pub fn checkout(path: &Path) -> Option<Checkout> {
    let (root, git) = locate(&comparable(path)?)?;
    let branch = branch(&git.own);
    Some(Checkout { root, branch, origin: origin_of(&git.common) })
}

/// All that belongs together with one path, found once so that it can be compared often.
#[derive(Clone, Debug)]
pub struct Family {
    /// None where the path cannot be one: then nothing is of this family.
    directory: Option<PathBuf>,
    keys: Vec<Key>,
}

/// What the members of a family have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    /// Where history is kept: the main checkout's `.git`, or a bare repository.
    History(PathBuf),
    /// Where it was cloned from, beyond this machine.
    Remote(String),
}

impl Family {
    /// The family of a path: its repository, those that this is a submodule of, and what each was cloned from.
    ///
    /// A superproject does not take on what its submodules were cloned from: a library would else make one family of
    /// all that use it.
    pub fn of(path: &Path) -> Self {
        let directory = comparable(path);
        let mut keys = Vec::new();
        let mut next = directory.as_deref().and_then(locate).map(|(_, git)| git.common);
        for _ in 0..limits::GIT_HOPS {
            let Some(common) = next else { break };
            next = superproject(&common);
            add_with_origins(&mut keys, common);
        }
        Self { directory, keys }
    }

    /// Whether the path of `other` belongs to this family.
    ///
    /// Between repositories it is the same either way. The family of a path in no repository is that directory and all
    /// below it, repositories too, whereas such a directory is no part of the families of those.
    pub fn shares(&self, other: &Self) -> bool {
        match (&self.directory, &other.directory) {
            (Some(top), Some(other)) if self.keys.is_empty() => other.starts_with(top),
            _ => self.keys.iter().any(|key| other.keys.contains(key)),
        }
    }
}

/// The path as it can be compared. None where it cannot be one: relative, it would mean another place to each reader.
fn comparable(path: &Path) -> Option<PathBuf> {
    (path.is_absolute() && path.as_os_str().len() <= limits::PATH_BYTES).then(|| resolve(path))
}

/// The directories of a repository, links resolved.
struct GitDir {
    /// The checkout's own: its HEAD.
    own: PathBuf,
    /// What all checkouts share: history and configuration.
    common: PathBuf,
}

impl GitDir {
    /// The same test as git's own, so that a stray `.git` or `HEAD` is passed over.
    fn open(dir: &Path) -> Option<Self> {
        if !dir.join("HEAD").is_file() {
            return None;
        }
        let own = dir.canonicalize().ok()?;
        let common = match pointer(&own.join("commondir"), b"") {
            Some(common) => own.join(common).canonicalize().ok()?,
            None => own.clone(),
        };
        (common.join("objects").is_dir() && common.join("refs").is_dir()).then_some(Self { own, common })
    }

    /// The repository whose top directory this is. A `.git` file leads one step, as in git: never to another such file.
    fn at(dir: &Path) -> Option<Self> {
        let dot_git = dir.join(".git");
        Self::open(&dot_git)
            .or_else(|| Self::open(&dir.join(pointer(&dot_git, b"gitdir: ")?)))
            .or_else(|| Self::open(dir))
    }
}

/// The nearest checkout upwards of a resolved path. A `.git` that leads nowhere does not end the search: what is left
/// of a broken submodule still belongs to its superproject.
fn locate(path: &Path) -> Option<(PathBuf, GitDir)> {
    let (dir, git) = path.ancestors().find_map(|dir| Some((dir, GitDir::at(dir)?)))?;
    Some((work_tree(dir).to_owned(), git))
}

/// The directory that a repository is for: a `.git` keeps the history of what is around it.
fn work_tree(dir: &Path) -> &Path {
    match dir.parent() {
        Some(parent) if dir.file_name().is_some_and(|name| name == ".git") => parent,
        _ => dir,
    }
}

/// The path in a file that holds nothing else after a prefix.
fn pointer(file: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let bytes = read_small(file, limits::GIT_POINTER).ok()?;
    let mut target = bytes.strip_prefix(prefix)?;
    while let [rest @ .., b'\n' | b'\r'] = target {
        target = rest;
    }
    if target.is_empty() { None } else { path_of(target) }
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The branch that HEAD names.
fn branch(git_dir: &Path) -> Option<String> {
    let head = read_small(&git_dir.join("HEAD"), limits::GIT_POINTER).ok()?;
    let name = std::str::from_utf8(&head).ok()?.strip_prefix("ref:")?.trim().strip_prefix("refs/heads/")?;
    // Where branches are kept in a reftable, HEAD holds a name that no branch can have.
    let valid = !name.is_empty() && name != ".invalid" && !name.contains(char::is_control);
    valid.then(|| name.to_owned())
}

/// The URL of the remote `origin`, without credentials.
fn origin_of(common: &Path) -> Option<String> {
    let config = read_small(&common.join("config"), limits::SIDE_FILE).ok()?;
    config::value(&config, "remote.origin.url").map(|url| origin::without_credentials(&url))
}

/// Adds a repository, and what it was cloned from, as far as that is on this machine and then one step beyond.
fn add_with_origins(keys: &mut Vec<Key>, mut common: PathBuf) {
    for _ in 0..limits::GIT_HOPS {
        let origin = origin_of(&common).map(|url| origin::place(&url));
        // Git takes a relative origin from where it runs; from the main checkout it is the same for all its worktrees.
        let base = work_tree(&common).to_owned();
        keys.push(Key::History(common));
        common = match origin {
            Some(Place::Local(path)) => match local_history(&base.join(path)) {
                Some(history) => history,
                None => return,
            },
            Some(Place::Remote(key)) => return keys.push(Key::Remote(key)),
            None => return,
        };
    }
}

/// Where the history of a local origin is. One that is gone still tells its clones from others.
fn local_history(path: &Path) -> Option<PathBuf> {
    let path = comparable(path)?;
    let mut with_suffix = path.clone().into_os_string();
    with_suffix.push(".git");
    let found = GitDir::at(&path).or_else(|| GitDir::at(Path::new(&with_suffix)));
    Some(found.map_or(path, |git| git.common))
}

/// The repository that another is a submodule of, by where git keeps that one: `modules/<name>` of the superproject's,
/// or of one of its worktrees'.
fn superproject(common: &Path) -> Option<PathBuf> {
    let modules = common.ancestors().skip(1).filter(|dir| dir.file_name().is_some_and(|name| name == "modules"));
    modules.filter_map(Path::parent).find_map(GitDir::open).map(|git| git.common)
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
