use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;

/// Set for the process that is to be killed: where it writes.
const VICTIM: &str = "TACKROOM_TEST_VICTIM";

fn private() -> (tempfile::TempDir, Directory) {
    let home = tempfile::tempdir().unwrap();
    let directory = Directory::create(&home.path().join("private")).unwrap();
    (home, directory)
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(path).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Runs one test of this file again in a process of its own, which `sh` prepares; answers what ended it.
fn ended_in(test: &str, prepare: &str, path: &Path) -> std::process::ExitStatus {
    let test = format!("platform::private::tests::{test}");
    let exe = std::env::current_exe().unwrap();
    let script = format!("{prepare}; exec \"$0\" --exact {test}");
    let run = Command::new("sh").args(["-c", &script]).arg(exe).env(VICTIM, path).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(said.contains("running 1 test") && !said.contains("FAILED"), "{said}");
    run.status
}

fn victim() -> Option<Directory> {
    let path = std::env::var_os(VICTIM).map(PathBuf::from)?;
    Some(Directory::open(&path).unwrap().unwrap())
}

fn die() {
    nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL).unwrap();
}

#[test]
fn a_file_that_is_killed_before_it_has_its_name_leaves_nothing() {
    if let Some(directory) = victim() {
        let _file = directory.0.write_unnamed(b"secret").unwrap();
        die();
    }
    let (home, _directory) = private();
    let path = home.path().join("private");
    let ended = ended_in("a_file_that_is_killed_before_it_has_its_name_leaves_nothing", ":", &path);
    assert_eq!(ended.signal(), Some(libc::SIGKILL));
    assert_eq!(names(&path), [""; 0]);
}

#[test]
fn without_unnamed_files_one_that_is_killed_leaves_its_temporary_name_alone() {
    if let Some(directory) = victim() {
        let _file = directory.0.write_named(".file.tmp", b"secret", None).unwrap();
        die();
    }
    let (home, _directory) = private();
    let path = home.path().join("private");
    let test = "without_unnamed_files_one_that_is_killed_leaves_its_temporary_name_alone";
    assert_eq!(ended_in(test, ":", &path).signal(), Some(libc::SIGKILL));
    assert_eq!(names(&path), [".file.tmp"]);
    assert_eq!(fs::metadata(path.join(".file.tmp")).unwrap().permissions().mode() & 0o7777, 0o600);
}

#[test]
fn a_process_that_is_killed_in_the_middle_of_writing_leaves_no_file() {
    if let Some(directory) = victim() {
        // The system ends who writes more than it may.
        directory.publish("file", ".file.tmp", &[0; 1 << 16]).unwrap();
    }
    let (home, _directory) = private();
    let path = home.path().join("private");
    let test = "a_process_that_is_killed_in_the_middle_of_writing_leaves_no_file";
    let ended = ended_in(test, "ulimit -c 0; ulimit -f 1", &path);
    assert_eq!((ended.signal(), names(&path)), (Some(libc::SIGXFSZ), vec![]));
}

#[test]
fn a_writing_that_fails_leaves_no_file() {
    if let Some(directory) = victim() {
        let error = directory.publish("file", ".file.tmp", &[0; 1 << 16]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        return;
    }
    let (home, _directory) = private();
    let path = home.path().join("private");
    let ended = ended_in("a_writing_that_fails_leaves_no_file", "trap '' XFSZ; ulimit -f 1", &path);
    assert_eq!((ended.success(), names(&path)), (true, vec![]));
}

#[test]
fn both_ways_of_publishing_make_the_same_file_and_leave_nothing_else() {
    let (home, directory) = private();
    directory.publish("unnamed", ".unnamed.tmp", b"content").unwrap();
    directory.0.publish_renamed("renamed", ".renamed.tmp", b"content").unwrap();
    let path = home.path().join("private");
    assert_eq!(names(&path), ["renamed", "unnamed"]);
    for name in names(&path) {
        assert_eq!(directory.read(&name, 7).unwrap().unwrap().0, b"content");
        assert_eq!(fs::metadata(path.join(name)).unwrap().permissions().mode() & 0o7777, 0o600);
    }
}

#[test]
fn a_publishing_that_fails_leaves_no_temporary_file() {
    let (home, directory) = private();
    let path = home.path().join("private");
    fs::create_dir(path.join("taken")).unwrap();
    directory.publish("taken", ".taken.tmp", b"secret").unwrap_err();
    assert_eq!(names(&path), ["taken"]);
    // What stands under the temporary name is not ours to write into.
    std::os::unix::fs::symlink(home.path().join("elsewhere"), path.join(".link.tmp")).unwrap();
    directory.0.publish_renamed("link", ".link.tmp", b"secret").unwrap_err();
    assert_eq!(names(home.path()), ["private"]);
}

#[test]
fn directories_are_closed_from_their_creation_whatever_the_umask() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a/b/c");
    Directory::create(&path).unwrap();
    for made in ["a", "a/b", "a/b/c"] {
        let mode = fs::metadata(home.path().join(made)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700, "{made}");
    }
    Directory::create(&path).unwrap().publish("file", ".file.tmp", b"secret").unwrap();
    assert_eq!(fs::metadata(path.join("file")).unwrap().permissions().mode() & 0o7777, 0o600);
    // A umask is the whole process's.
    if std::env::var_os(VICTIM).is_none() {
        let test = "directories_are_closed_from_their_creation_whatever_the_umask";
        assert!(ended_in(test, "umask 000", home.path()).success());
        assert!(ended_in(test, "umask 077", home.path()).success());
    }
}

#[test]
fn an_unfit_directory_is_neither_made_fit_nor_used() {
    let home = tempfile::tempdir().unwrap();
    let loose = home.path().join("loose");
    fs::create_dir(&loose).unwrap();
    for mode in [0o720, 0o702, 0o777, 0o1777] {
        fs::set_permissions(&loose, fs::Permissions::from_mode(mode)).unwrap();
        assert!(matches!(Directory::create(&loose), Err(Unfit::LooseMode)), "{mode:o}");
        assert_eq!(fs::metadata(&loose).unwrap().permissions().mode() & 0o7777, mode);
    }
    fs::set_permissions(&loose, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(Directory::open(&loose).unwrap().is_some(), "names are no secrets");
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&loose, &link).unwrap();
    assert!(matches!(Directory::create(&link), Err(Unfit::Link)));
    let dangling = home.path().join("dangling");
    std::os::unix::fs::symlink(home.path().join("target"), &dangling).unwrap();
    assert!(matches!(Directory::create(&dangling), Err(Unfit::Link)));
    assert!(!home.path().join("target").exists());
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(Directory::create(&file), Err(Unfit::NotDirectory)));
}

#[test]
fn only_the_file_that_is_meant_is_removed() {
    let (home, directory) = private();
    let path = home.path().join("private/file");
    let stamp = directory.publish("file", ".file.tmp", b"first").unwrap();
    assert_eq!(directory.read("file", 9).unwrap().unwrap().1, stamp);
    fs::write(home.path().join("other"), "other").unwrap();
    fs::rename(home.path().join("other"), &path).unwrap();
    assert!(!directory.remove("file", |now| now.is_same_file(&stamp)).unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"other");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(!directory.remove("file", |_| true).unwrap());
    assert!(!directory.remove("gone", |_| true).unwrap());
    assert!(path.is_dir());
}
