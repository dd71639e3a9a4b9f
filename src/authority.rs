//! Permissions and scope: what a client may do, and to which entries. Only ever narrowed.

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

/// An authority that cannot be granted as it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A scope is compared by absolute paths; a relative one would mean another place to each reader.
    #[error("workspace `{0}` is not an absolute path")]
    RelativeWorkspace(String),
}

impl Grant {
    /// Everything, everywhere: what the command line of the user's own shell may do.
    pub fn all() -> Self {
        Self { permissions: Permission::ALL.to_vec(), workspaces: None, harnesses: None }
    }

    /// What is left of this grant when only `request` is kept.
    pub fn narrow(&self, request: &AuthorityRequest) -> Result<Self, Error> {
        let permissions = match &request.permissions {
            Some(kept) => self.permissions.iter().copied().filter(|p| kept.contains(p)).collect(),
            None => self.permissions.clone(),
        };
        let harnesses = match (&self.harnesses, &request.harnesses) {
            (ours, None) => ours.clone(),
            (None, Some(kept)) => Some(in_order(&Harness::ALL, kept)),
            (Some(ours), Some(kept)) => Some(in_order(ours, kept)),
        };
        let workspaces = match (&self.workspaces, &request.workspaces) {
            (ours, None) => ours.clone(),
            (None, Some(kept)) => Some(workspaces(kept)?),
            (Some(ours), Some(kept)) => Some(intersect(ours, &workspaces(kept)?)),
        };
        Ok(Self { permissions, workspaces, harnesses })
    }

    /// What is left of this grant within another one.
    pub fn within(&self, other: &Self) -> Self {
        let Authority { permissions, workspaces, harnesses } = other.to_protocol();
        let request = AuthorityRequest { permissions: Some(permissions), workspaces, harnesses };
        // Only a relative workspace is refused, and a grant has none.
        self.narrow(&request).unwrap_or_else(|_| Self { permissions: Vec::new(), ..self.clone() })
    }

    /// Whether a permission is granted.
    pub fn allows(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
    }

    /// Whether entries of a harness are in scope.
    pub fn reaches_harness(&self, harness: Harness) -> bool {
        self.harnesses.as_ref().is_none_or(|harnesses| harnesses.contains(&harness))
    }

    /// Whether a conversation is in scope.
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

    /// Whether a workspace is in scope. `None` stands for an unknown one.
    pub fn reaches_workspace(&self, workspace: Option<&str>) -> bool {
        match (&self.workspaces, workspace) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(scope), Some(workspace)) => {
                let workspace = resolve(Path::new(workspace));
                scope.iter().any(|known| workspace.starts_with(&known.resolved))
            }
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

fn workspaces(named: &[String]) -> Result<Vec<Workspace>, Error> {
    named
        .iter()
        .map(|named| match Path::new(named) {
            path if path.is_absolute() => Ok(Workspace { named: path.to_owned(), resolved: resolve(path) }),
            _ => Err(Error::RelativeWorkspace(named.clone())),
        })
        .collect()
}

/// The directories that are below one of each list: of two where one holds the other, the inner one.
fn intersect(ours: &[Workspace], kept: &[Workspace]) -> Vec<Workspace> {
    let mut both: Vec<Workspace> = Vec::new();
    for a in ours {
        for b in kept {
            let inner = if b.resolved.starts_with(&a.resolved) {
                b
            } else if a.resolved.starts_with(&b.resolved) {
                a
            } else {
                continue;
            };
            if !both.contains(inner) {
                both.push(inner.clone());
            }
        }
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
            prop_assert_eq!(
                both.reaches_workspace(Some(&probe)),
                outer.reaches_workspace(Some(&probe)) && alone.reaches_workspace(Some(&probe))
            );
        }
    }
}
