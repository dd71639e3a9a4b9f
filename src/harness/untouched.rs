//! For tests: a copy of a store, and the proof that reading left every byte, mode, time and listing as it was.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What can be seen of a file or a directory from outside.
#[derive(Debug, PartialEq)]
struct Seen {
    content: Vec<u8>,
    mode: u32,
    owner: (u32, u32),
    times: [i64; 4],
    inode: u64,
}

/// Copies a store, and proves that `read` leaves the copy as it was: one that can be written to, and one that cannot.
pub fn prove(store: &Path, read: impl Fn(&Path)) {
    for writable in [true, false] {
        let copy = TempDir::new().unwrap();
        let to = copy.path().join("copy");
        self::copy(store, &to);
        each(&to, &mut |path| set_writable(path, writable));
        let before = seen(&to);
        read(&to);
        assert_eq!(seen(&to), before, "writable: {writable}");
        each(&to, &mut |path| set_writable(path, true));
    }
}

/// Copies a directory and all below it, so that the copy can be written to.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::write(target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

fn set_writable(path: &Path, writable: bool) {
    let executable = if path.is_dir() { 0o111 } else { 0 };
    let mode = executable | if writable { 0o644 } else { 0o444 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn each(path: &Path, act: &mut dyn FnMut(&Path)) {
    act(path);
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            each(&entry.unwrap().path(), act);
        }
    }
}

fn seen(directory: &Path) -> BTreeMap<PathBuf, Seen> {
    let mut all = BTreeMap::new();
    each(directory, &mut |path| {
        let metadata = fs::metadata(path).unwrap();
        let seen = Seen {
            content: if metadata.is_file() { fs::read(path).unwrap() } else { Vec::new() },
            mode: metadata.mode(),
            owner: (metadata.uid(), metadata.gid()),
            times: [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()],
            inode: metadata.ino(),
        };
        all.insert(path.to_owned(), seen);
    });
    all
}
