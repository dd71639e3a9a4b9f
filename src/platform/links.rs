//! Following symbolic links that a user made on purpose, as managers of dotfiles do, and none that others could bend.
//!
//! Unix alone: elsewhere a link is not followed, and refused where it is opened.

use super::private::Unfit;
use std::path::{Path, PathBuf};

/// The path that a path leads to, with no link at its end or in what a link there leads to. What does not exist is
/// returned as it is.
///
/// # Errors
/// Where a link leads nowhere or in a circle, or where somebody but this user and root could change where it leads: a link,
/// a directory that holds one, or the directory at the end belongs to somebody else.
pub fn follow(path: &Path) -> Result<PathBuf, Unfit> {
    system::follow(path)
}

#[cfg(unix)]
mod system {
    use super::{Path, PathBuf, Unfit};
    use crate::limits;
    use nix::unistd::geteuid;
    use std::collections::VecDeque;
    use std::ffi::OsString;
    use std::fs::{Metadata, read_link, symlink_metadata};
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Component;

    pub(super) fn follow(path: &Path) -> Result<PathBuf, Unfit> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return Ok(path.to_owned()) };
        let mut at = match directory.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path.to_owned()),
            found => found?,
        };
        let mut rest = VecDeque::from([name.to_owned()]);
        let mut links = 0;
        while let Some(name) = rest.pop_front() {
            if name == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&name);
            let metadata = match symlink_metadata(&next) {
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    return if links == 0 { Ok(next) } else { Err(Unfit::Dangling) };
                }
                seen => seen?,
            };
            if !metadata.is_symlink() {
                at = next;
                continue;
            }
            links += 1;
            if links > limits::LINKS {
                return Err(Unfit::LinkLoop);
            }
            judge(&metadata)?;
            judge(&symlink_metadata(&at)?)?;
            let target = read_link(&next)?;
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            names(&target).into_iter().rev().for_each(|name| rest.push_front(name));
        }
        if links > 0 {
            judge(&symlink_metadata(at.parent().unwrap_or(&at))?)?;
        }
        Ok(at)
    }

    fn names(target: &Path) -> Vec<OsString> {
        let name = |component: Component<'_>| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        };
        target.components().filter_map(name).collect()
    }

    /// Whoever owns a link or a directory decides where it leads.
    fn judge(metadata: &Metadata) -> Result<(), Unfit> {
        let is_trusted = [0, geteuid().as_raw()].contains(&metadata.uid());
        if is_trusted { Ok(()) } else { Err(Unfit::ForeignLink) }
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Path, PathBuf, Unfit};

    pub fn follow(path: &Path) -> Result<PathBuf, Unfit> {
        Ok(path.to_owned())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{chown, lchown, symlink};

    struct Scene(tempfile::TempDir);

    impl Scene {
        fn new() -> Self {
            let scene = Self(tempfile::tempdir().unwrap());
            fs::create_dir(scene.path("dotfiles")).unwrap();
            fs::write(scene.path("dotfiles/file"), "").unwrap();
            scene
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        fn link(&self, name: &str, target: &str) -> PathBuf {
            symlink(target, self.path(name)).unwrap();
            self.path(name)
        }
    }

    #[test]
    fn links_are_followed_to_what_they_lead_to() {
        let scene = Scene::new();
        let file = scene.path("dotfiles/file");
        assert_eq!(follow(&file).unwrap(), file);
        assert_eq!(follow(&scene.link("relative", "./dotfiles/../dotfiles/file")).unwrap(), file);
        assert_eq!(follow(&scene.link("absolute", file.to_str().unwrap())).unwrap(), file);
        scene.link("directory", "dotfiles");
        assert_eq!(follow(&scene.link("chain", "directory/file")).unwrap(), file);
        assert_eq!(follow(&scene.link("of-a-link", "chain")).unwrap(), file);
        assert_eq!(follow(&scene.path("directory/file")).unwrap(), file, "what leads to it is not judged");
        for missing in ["none", "none/at/all"] {
            assert_eq!(follow(&scene.path(missing)).unwrap(), scene.path(missing));
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_refused() {
        let scene = Scene::new();
        assert!(matches!(follow(&scene.link("dangling", "none")), Err(Unfit::Dangling)));
        assert!(matches!(follow(&scene.link("deep", "dotfiles/none/at/all")), Err(Unfit::Dangling)));
        scene.link("one", "other");
        assert!(matches!(follow(&scene.link("other", "one")), Err(Unfit::LinkLoop)));
    }

    #[test]
    fn links_that_another_user_can_bend_are_refused() {
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let foreign = |path: &Path| lchown(path, Some(65_534), None).unwrap();
        let scene = Scene::new();
        let link = scene.link("link", "dotfiles/file");
        foreign(&link);
        assert!(matches!(follow(&link), Err(Unfit::ForeignLink)), "the link");
        let scene = Scene::new();
        let link = scene.link("link", "dotfiles/file");
        chown(scene.path("dotfiles"), Some(65_534), None).unwrap();
        assert!(matches!(follow(&link), Err(Unfit::ForeignLink)), "the directory at the end");
        let scene = Scene::new();
        fs::create_dir(scene.path("theirs")).unwrap();
        scene.link("theirs/hop", "../dotfiles/file");
        foreign(&scene.path("theirs"));
        assert!(matches!(follow(&scene.link("link", "theirs/hop")), Err(Unfit::ForeignLink)), "a directory on the way");
    }
}
