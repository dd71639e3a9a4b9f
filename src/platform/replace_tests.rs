use super::*;
use crate::platform::attributes::Attributes;
use crate::platform::testing::{as_nobody, get_attribute, set_attribute};
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::PathBuf;

const TEMPORARY: &str = ".file.tmp";

/// A directory with a file in it, which was read.
struct Scene {
    home: tempfile::TempDir,
    place: Place,
    old: Version,
}

impl Scene {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("file"), "old").unwrap();
        let place = Place::open(home.path()).unwrap().unwrap();
        let old = place.read("file", 9).unwrap().unwrap();
        Self { home, place, old }
    }

    fn path(&self) -> PathBuf {
        self.home.path().join("file")
    }

    fn replace(&self) -> Result<(), Unreplaced> {
        self.place.replace("file", TEMPORARY, Some(&self.old), b"ours")
    }

    /// Ours must not have taken the place of what somebody else made of the file, and must have left nothing.
    #[track_caller]
    fn is_refused(&self) {
        let names = || {
            let entries = fs::read_dir(self.home.path()).unwrap().map(|entry| entry.unwrap().file_name());
            entries.collect::<std::collections::BTreeSet<_>>()
        };
        let before = (names(), fs::symlink_metadata(self.path()).map(|it| (it.ino(), it.mode())).ok());
        assert!(matches!(self.replace(), Err(Unreplaced::Changed)));
        let after = (names(), fs::symlink_metadata(self.path()).map(|it| (it.ino(), it.mode())).ok());
        assert_eq!(before, after);
    }
}

/// Whether this process runs nothing but this test; one that does not has another one do so. A program that another test
/// starts has our descriptors until it runs, and is taken for one who writes.
fn alone(test: &str) -> bool {
    const ALONE: &str = "TACKROOM_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = std::process::Command::new("/proc/self/exe");
    let run = command.args(["--exact", &format!("platform::replace::tests::{test}")]).env(ALONE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
    false
}

#[test]
fn a_file_is_replaced_whole_with_its_mode_and_owner() {
    for mode in [0o644, 0o600, 0o444, 0o640] {
        let scene = Scene::new();
        fs::set_permissions(scene.path(), Permissions::from_mode(mode)).unwrap();
        chown(scene.path(), Some(65_534), Some(65_533)).unwrap();
        let scene = Scene { old: scene.place.read("file", 9).unwrap().unwrap(), ..scene };
        scene.replace().unwrap();
        let now = fs::metadata(scene.path()).unwrap();
        assert_eq!((now.mode() & 0o7777, now.uid(), now.gid()), (mode, 65_534, 65_533));
        assert_eq!(fs::read(scene.path()).unwrap(), b"ours");
        assert_eq!(fs::read_dir(scene.home.path()).unwrap().count(), 1);
    }
}

/// Lets the user 1234 write a file that its owner alone could read.
fn let_in(path: &std::path::Path) {
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, rights, id) in
        [(1u16, 6u16, u32::MAX), (2, 6, 1_234), (4, 0, u32::MAX), (0x10, 6, u32::MAX), (0x20, 0, u32::MAX)]
    {
        list.extend([tag.to_le_bytes(), rights.to_le_bytes()].concat());
        list.extend(id.to_le_bytes());
    }
    set_attribute(path, "system.posix_acl_access", &list);
}

#[test]
fn access_control_list_and_other_attributes_are_kept() {
    let scene = Scene::new();
    let_in(&scene.path());
    set_attribute(&scene.path(), "user.note", b"mine");
    let attributes = || Attributes::of(&File::open(scene.path()).unwrap()).unwrap();
    let (before, mode) = (attributes(), fs::metadata(scene.path()).unwrap().mode());
    let old = scene.place.read("file", 9).unwrap().unwrap();
    scene.place.replace("file", TEMPORARY, Some(&old), b"ours").unwrap();
    assert_eq!(attributes(), before);
    assert_eq!((fs::read(scene.path()).unwrap(), fs::metadata(scene.path()).unwrap().mode()), (b"ours".to_vec(), mode));
}

#[test]
fn default_list_of_the_directory_lets_nobody_in() {
    let scene = Scene::new();
    let_in(&scene.path());
    let list = get_attribute(&scene.path(), "system.posix_acl_access");
    let scene = Scene::new();
    set_attribute(scene.home.path(), "system.posix_acl_default", &list);
    scene.replace().unwrap();
    assert_eq!(Attributes::of(&File::open(scene.path()).unwrap()).unwrap(), Attributes::default());
}

#[test]
fn attributes_that_change_meanwhile_are_not_lost() {
    if !alone("attributes_that_change_meanwhile_are_not_lost") {
        return;
    }
    let scene = Scene::new();
    let ours = {
        fs::write(scene.home.path().join(TEMPORARY), "ours").unwrap();
        scene.place.read(TEMPORARY, 9).unwrap().unwrap()
    };
    set_attribute(&scene.path(), "user.note", b"new");
    assert!(!system::has_attributes_of(&ours, &scene.old));
}

#[test]
fn hard_linked_file_is_refused() {
    let scene = Scene::new();
    fs::hard_link(scene.path(), scene.home.path().join("second")).unwrap();
    let old = scene.place.read("file", 9).unwrap().unwrap();
    let refused = scene.place.replace("file", TEMPORARY, Some(&old), b"ours");
    assert!(matches!(refused, Err(Unreplaced::Unfit(Unfit::HardLink))), "{refused:?}");
    assert_eq!(fs::read(scene.path()).unwrap(), b"old");
    assert_eq!(fs::read_dir(scene.home.path()).unwrap().count(), 2);
}

#[test]
fn descriptor_that_is_soon_closed_is_no_writer() {
    let scene = Scene::new();
    let copy = File::options().write(true).open(scene.path()).unwrap();
    std::thread::scope(|threads| {
        // As a program does that was forked and is about to run.
        threads.spawn(|| {
            let _copy = copy;
            while !scene.home.path().join(TEMPORARY).exists() {
                std::thread::yield_now();
            }
        });
        scene.replace().unwrap();
    });
    assert_eq!(fs::read(scene.path()).unwrap(), b"ours");
}

#[test]
fn what_others_put_in_its_place_stays() {
    if !alone("what_others_put_in_its_place_stays") {
        return;
    }
    let scene = Scene::new();
    fs::write(scene.home.path().join("theirs"), "old").unwrap();
    fs::rename(scene.home.path().join("theirs"), scene.path()).unwrap();
    scene.is_refused();

    let scene = Scene::new();
    fs::remove_file(scene.path()).unwrap();
    scene.is_refused();
    symlink("elsewhere", scene.path()).unwrap();
    scene.is_refused();
    fs::remove_file(scene.path()).unwrap();
    fs::create_dir(scene.path()).unwrap();
    scene.is_refused();
}

#[test]
fn what_others_wrote_into_it_stays() {
    if !alone("what_others_wrote_into_it_stays") {
        return;
    }
    let scene = Scene::new();
    let modified = fs::metadata(scene.path()).unwrap().modified().unwrap();
    fs::write(scene.path(), "new").unwrap();
    // Neither the size nor the time shows it.
    File::options().write(true).open(scene.path()).unwrap().set_modified(modified).unwrap();
    scene.is_refused();
    assert_eq!(fs::read(scene.path()).unwrap(), b"new");

    let scene = Scene::new();
    fs::set_permissions(scene.path(), Permissions::from_mode(0o640)).unwrap();
    scene.is_refused();
}

#[test]
fn what_others_are_about_to_write_into_it_is_not_lost() {
    if !alone("what_others_are_about_to_write_into_it_is_not_lost") {
        return;
    }
    let scene = Scene::new();
    let mut theirs = File::options().write(true).open(scene.path()).unwrap();
    scene.is_refused();
    theirs.write_all(b"theirs").unwrap();
    assert_eq!(fs::read(scene.path()).unwrap(), b"theirs");
    drop(theirs);
    let scene = Scene { old: scene.place.read("file", 9).unwrap().unwrap(), ..scene };
    scene.replace().unwrap();
    // Who only reads keeps what it has and hinders nobody.
    let reader = File::open(scene.path()).unwrap();
    let scene = Scene { old: scene.place.read("file", 9).unwrap().unwrap(), ..scene };
    scene.replace().unwrap();
    drop(reader);
}

#[test]
fn a_new_file_is_private_and_takes_no_other_ones_place() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a/b");
    let place = Place::create(&path).unwrap();
    place.replace("file", TEMPORARY, None, b"first").unwrap();
    for (path, mode) in [(home.path().join("a"), 0o700), (path.clone(), 0o700), (path.join("file"), 0o600)] {
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o7777, mode);
    }
    assert!(matches!(place.replace("file", TEMPORARY, None, b"second"), Err(Unreplaced::Changed)));
    assert_eq!(fs::read(path.join("file")).unwrap(), b"first");
    assert_eq!(fs::read_dir(path).unwrap().count(), 1);
}

#[test]
fn an_owner_that_cannot_be_kept_is_not_changed() {
    let scene = Scene::new();
    fs::set_permissions(scene.home.path(), Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(scene.path(), Permissions::from_mode(0o644)).unwrap();
    std::thread::scope(|threads| {
        let replaced =
            threads.spawn(|| as_nobody(|| (scene.replace(), scene.place.replace("new", TEMPORARY, None, b""))));
        for replaced in <[_; 2]>::from(replaced.join().unwrap()) {
            assert!(matches!(replaced, Err(Unreplaced::Unfit(Unfit::ForeignOwner))), "{replaced:?}");
        }
    });
    assert_eq!(fs::read(scene.path()).unwrap(), b"old");
    assert_eq!(fs::read_dir(scene.home.path()).unwrap().count(), 1);
}

#[test]
fn nothing_but_files_and_directories_is_opened() {
    let scene = Scene::new();
    let put = |name: &str| scene.home.path().join(name);
    symlink("file", put("link")).unwrap();
    nix::unistd::mkfifo(&put("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(scene.place.read("link", 9), Err(Unfit::Link)));
    assert!(matches!(scene.place.read("fifo", 9), Err(Unfit::NotRegular)));
    assert!(matches!(scene.place.read("file", 2), Err(Unfit::TooLarge(2))));
    assert!(scene.place.read("gone", 9).unwrap().is_none());
    symlink(scene.home.path(), put("linked")).unwrap();
    assert!(matches!(Place::create(&put("linked")), Err(Unfit::Link)));
    assert!(matches!(Place::create(&put("file")), Err(Unfit::NotDirectory)));
    assert!(Place::open(&put("gone")).unwrap().is_none());
}

#[test]
fn one_lock_at_a_time() {
    let scene = Scene::new();
    let other = Place::open(scene.home.path()).unwrap().unwrap();
    assert!(scene.place.try_lock().unwrap());
    assert!(!other.try_lock().unwrap());
    drop(scene.place);
    assert!(other.try_lock().unwrap());
}
