//! Permissions and scope: what a client may do, and to which entries. Only ever narrowed.
//!
//! Resolving a directory reads the file system and can take as long as a dead mount takes to answer. [`Narrowing`] and
//! [`Subject`] do it once; comparing them touches no file.

use crate::limits;
use crate::platform::files::resolve;
use crate::protocol::{Authority, AuthorityRequest, Harness, Permission, Source};
use std::path::{Path, PathBuf};

/// What was granted. Made by the spawner, then only narrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    permissions: Vec<Permission>,
    workspaces: Option<Vec<Workspace>>,
    harnesses: Option<Vec<Harness>>,
}

/// A directory of a scope: as it was named, and as it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Workspace {
    named: PathBuf,
    resolved: PathBuf,
}

/// What a client asks to keep, with its directories resolved.
#[derive(Clone, Debug, Default)]
pub struct Narrowing {
    permissions: Option<Vec<Permission>>,
    workspaces: Option<Vec<Workspace>>,
    harnesses: Option<Vec<Harness>>,
}

/// What a scope is compared with: the harness and the resolved workspace of an entry, each where it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    harness: Option<Harness>,
    workspace: Option<PathBuf>,
}

/// An authority that cannot be granted as it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A scope is compared by absolute paths; a relative one would mean another location to each reader.
    #[error("workspace `{0}` is not an absolute path")]
    RelativeWorkspace(String),
    /// A workspace is longer than any path that a system takes.
    #[error("a workspace is at most {} bytes long", limits::PATH_BYTES)]
    LongWorkspace,
    /// A list has too many entries.
    #[error("`{0}` has at most {max} entries", max = limits::LIST_ENTRIES)]
    TooMany(&'static str),
}

impl Narrowing {
    /// Checks a request as far as that is possible without the file system.
    pub fn check(request: &AuthorityRequest) -> Result<(), Error> {
        let AuthorityRequest { permissions, workspaces, harnesses } = request;
        let counts = [
            ("permissions", permissions.as_ref().map_or(0, Vec::len)),
            ("workspaces", workspaces.as_ref().map_or(0, Vec::len)),
            ("harnesses", harnesses.as_ref().map_or(0, Vec::len)),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count > limits::LIST_ENTRIES) {
            return Err(Error::TooMany(name));
        }
        let workspaces = workspaces.as_deref().unwrap_or_default();
        if workspaces.iter().any(|workspace| workspace.len() > limits::PATH_BYTES) {
            return Err(Error::LongWorkspace);
        }
        match workspaces.iter().find(|workspace| !Path::new(workspace).is_absolute()) {
            Some(relative) => Err(Error::RelativeWorkspace(relative.chars().take(200).collect())),
            None => Ok(()),
        }
    }

    /// Checks a request and resolves its directories. Reads the file system where it names any.
    pub fn resolve(request: &AuthorityRequest) -> Result<Self, Error> {
        Self::check(request)?;
        let AuthorityRequest { permissions, workspaces, harnesses } = request;
        let workspace = |named: &String| {
            let named = PathBuf::from(named);
            Workspace { resolved: resolve(&named), named }
        };
        let workspaces = workspaces.as_ref().map(|list| list.iter().map(workspace).collect());
        Ok(Self { permissions: permissions.clone(), workspaces, harnesses: harnesses.clone() })
    }
}

impl Subject {
    /// What a scope is compared with of an entry. Reads the file system.
    pub fn resolve(harness: Harness, workspace: Option<&str>) -> Self {
        Self { harness: Some(harness), workspace: workspace.map(|workspace| resolve(Path::new(workspace))) }
    }

    /// The same of a conversation.
    pub fn of(source: &Source) -> Self {
        Self::resolve(source.harness, Some(&source.workspace))
    }
}

impl Grant {
    /// Everything, everywhere: what the command line of the user's own shell may do.
    pub fn all() -> Self {
        Self { permissions: Permission::ALL.to_vec(), workspaces: None, harnesses: None }
    }

    /// What is left of this grant when only `request` is kept. Reads the file system where that names directories.
    pub fn narrow(&self, request: &AuthorityRequest) -> Result<Self, Error> {
        Ok(self.keep(&Narrowing::resolve(request)?))
    }

    /// What is left of this grant when only `kept` is kept.
    pub fn keep(&self, kept: &Narrowing) -> Self {
        let permissions = match &kept.permissions {
            Some(kept) => self.permissions.iter().copied().filter(|p| kept.contains(p)).collect(),
            None => self.permissions.clone(),
        };
        let harnesses = match (&self.harnesses, &kept.harnesses) {
            (ours, None) => ours.clone(),
            (None, Some(kept)) => Some(in_order(&Harness::ALL, kept)),
            (Some(ours), Some(kept)) => Some(in_order(ours, kept)),
        };
        let workspaces = match (&self.workspaces, &kept.workspaces) {
            (ours, None) => ours.clone(),
            (None, Some(kept)) => Some(kept.clone()),
            (Some(ours), Some(kept)) => Some(intersect(ours, kept)),
        };
        Self { permissions, workspaces, harnesses }
    }

    /// What is left of this grant within another one.
    pub fn within(&self, other: &Self) -> Self {
        let Self { permissions, workspaces, harnesses } = other.clone();
        self.keep(&Narrowing { permissions: Some(permissions), workspaces, harnesses })
    }

    /// Whether a permission is granted.
    pub fn allows(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
    }

    /// Whether all that is in the scope of `other` is in this scope.
    pub fn covers(&self, other: &Self) -> bool {
        let harnesses = match (&self.harnesses, &other.harnesses) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(ours), Some(theirs)) => theirs.iter().all(|harness| ours.contains(harness)),
        };
        let workspaces = match (&self.workspaces, &other.workspaces) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(ours), Some(theirs)) => theirs.iter().all(|inner| holds(ours, &inner.resolved)),
        };
        harnesses && workspaces
    }

    /// Whether an entry is in scope.
    pub fn reaches(&self, subject: &Subject) -> bool {
        let workspace = match (&self.workspaces, &subject.workspace) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(scope), Some(workspace)) => holds(scope, workspace),
        };
        workspace && subject.harness.is_none_or(|harness| self.reaches_harness(harness))
    }

    /// Whether entries of a harness are in scope.
    pub fn reaches_harness(&self, harness: Harness) -> bool {
        self.harnesses.as_ref().is_none_or(|harnesses| harnesses.contains(&harness))
    }

    /// Whether a conversation is in scope. Reads the file system where there is a workspace scope.
    pub fn reaches_source(&self, source: &Source) -> bool {
        self.reaches_harness(source.harness) && self.reaches_workspace(Some(&source.workspace))
    }

    /// Whether there is a workspace scope: then what has no known workspace is outside it.
    pub fn has_workspace_scope(&self) -> bool {
        self.workspaces.is_some()
    }

    /// Whether anything is out of scope: then what cannot be placed is.
    pub fn has_scope(&self) -> bool {
        self.workspaces.is_some() || self.harnesses.is_some()
    }

    /// Whether a workspace is in scope. `None` stands for an unknown one. Reads the file system where there is a
    /// workspace scope.
    pub fn reaches_workspace(&self, workspace: Option<&str>) -> bool {
        match (&self.workspaces, workspace) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(scope), Some(workspace)) => holds(scope, &resolve(Path::new(workspace))),
        }
    }

    /// The grant as a client reads it.
    pub fn to_protocol(&self) -> Authority {
        let named = |list: &Vec<Workspace>| list.iter().map(|w| w.named.display().to_string()).collect();
        Authority {
            permissions: self.permissions.clone(),
            workspaces: self.workspaces.as_ref().map(named),
            harnesses: self.harnesses.clone(),
        }
    }
}

fn in_order(ours: &[Harness], kept: &[Harness]) -> Vec<Harness> {
    ours.iter().copied().filter(|harness| kept.contains(harness)).collect()
}

/// Whether a resolved path is below one of these directories, or one of them.
fn holds(scope: &[Workspace], path: &Path) -> bool {
    scope.iter().any(|workspace| path.starts_with(&workspace.resolved))
}

/// The directories that are below one of each list: of two where one holds the other, the inner one.
fn intersect(ours: &[Workspace], kept: &[Workspace]) -> Vec<Workspace> {
    let mut inner: Vec<&Workspace> = kept.iter().filter(|workspace| holds(ours, &workspace.resolved)).collect();
    let mut both = Vec::new();
    for workspace in ours {
        // The same directory is told as the client named it last.
        let is_kept = |kept: &Workspace| kept.resolved == workspace.resolved;
        if holds(kept, &workspace.resolved) && !kept.iter().any(is_kept) {
            both.push(workspace.clone());
        }
        // In the order of what holds them.
        let (here, rest) = inner.into_iter().partition(|inner| inner.resolved.starts_with(&workspace.resolved));
        inner = rest;
        both.extend(Vec::<&Workspace>::into_iter(here).cloned());
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(permissions: Option<Vec<Permission>>, workspaces: Option<Vec<&str>>) -> AuthorityRequest {
        let workspaces = workspaces.map(|list| list.into_iter().map(str::to_owned).collect());
        AuthorityRequest { permissions, workspaces, harnesses: None }
    }

    #[test]
    fn an_absent_member_leaves_as_it_is_and_an_empty_list_leaves_nothing() {
        let grant = Grant::all();
        assert_eq!(grant.narrow(&AuthorityRequest::default()).unwrap(), grant);
        let none = grant.narrow(&request(Some(vec![]), Some(vec![]))).unwrap();
        assert!(!none.allows(Permission::Observe));
        assert!(!none.reaches_workspace(Some("/")));
    }

    #[test]
    fn workspaces_are_compared_by_component_with_links_resolved() {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, home.path().join("link")).unwrap();
        let scope = home.path().join("link").display().to_string();
        let grant = Grant::all().narrow(&request(None, Some(vec![&scope]))).unwrap();
        assert!(grant.reaches_workspace(Some(&real.join("gone/deep").display().to_string())));
        assert!(grant.reaches_workspace(Some(&format!("{scope}/./x"))));
        assert!(!grant.reaches_workspace(Some(&format!("{scope}-2"))));
        assert!(!grant.reaches_workspace(Some(&format!("{scope}/../other"))));
        assert!(!grant.reaches_workspace(None));
    }

    #[test]
    fn lists_that_share_nothing_leave_nothing_and_the_inner_one_of_two_stays() {
        let grant = Grant::all().narrow(&request(None, Some(vec!["/a/b", "/c"]))).unwrap();
        let inner = grant.narrow(&request(None, Some(vec!["/a", "/c/d"]))).unwrap();
        assert_eq!(inner.to_protocol().workspaces.unwrap(), ["/a/b", "/c/d"]);
        let nothing = grant.narrow(&request(None, Some(vec!["/elsewhere"]))).unwrap();
        assert_eq!(nothing.to_protocol().workspaces.unwrap(), Vec::<String>::new());
        assert!(grant.narrow(&request(None, Some(vec!["relative"]))).is_err());
    }

    #[test]
    fn lists_and_paths_are_bounded() {
        let many = vec!["/w"; limits::LIST_ENTRIES];
        assert!(Narrowing::check(&request(None, Some(many.clone()))).is_ok());
        let more = [many, vec!["/w"]].concat();
        assert!(matches!(Narrowing::check(&request(None, Some(more))), Err(Error::TooMany("workspaces"))));
        let permissions = vec![Permission::Observe; limits::LIST_ENTRIES + 1];
        assert!(matches!(Narrowing::check(&request(Some(permissions), None)), Err(Error::TooMany("permissions"))));
        let long = format!("/{}", "x".repeat(limits::PATH_BYTES));
        assert!(matches!(Narrowing::check(&request(None, Some(vec![&long]))), Err(Error::LongWorkspace)));
    }

    #[test]
    fn a_grant_covers_what_is_narrower_and_reaches_what_is_inside() {
        let all = Grant::all();
        let outer = all.narrow(&request(None, Some(vec!["/a", "/b"]))).unwrap();
        let inner = outer.narrow(&request(Some(vec![]), Some(vec!["/a/x"]))).unwrap();
        assert!(all.covers(&outer) && outer.covers(&inner) && inner.covers(&inner));
        assert!(!outer.covers(&all) && !inner.covers(&outer));
        let harness = AuthorityRequest { harnesses: Some(vec![Harness::Codex]), ..Default::default() };
        let codex = outer.narrow(&harness).unwrap();
        assert!(outer.covers(&codex) && !codex.covers(&outer));
        let subject = Subject::resolve(Harness::Goose, Some("/a/y"));
        assert!(outer.reaches(&subject) && !inner.reaches(&subject) && !codex.reaches(&subject));
        assert!(!outer.reaches(&Subject::resolve(Harness::Goose, None)));
    }

    proptest! {
        #[test]
        fn narrowing_never_widens(
            first in prop::collection::vec("(/[ab]){1,3}", 0..3), second in prop::collection::vec("(/[ab]){1,3}", 0..3),
            probe in "(/[ab]){1,4}"
        ) {
            let first = AuthorityRequest { workspaces: Some(first), ..Default::default() };
            let second = AuthorityRequest { workspaces: Some(second), ..Default::default() };
            let outer = Grant::all().narrow(&first).unwrap();
            let alone = Grant::all().narrow(&second).unwrap();
            let both = outer.narrow(&second).unwrap();
            prop_assert!(outer.covers(&both) && alone.covers(&both));
            prop_assert_eq!(
                both.reaches_workspace(Some(&probe)),
                outer.reaches_workspace(Some(&probe)) && alone.reaches_workspace(Some(&probe))
            );
        }
    }
}
