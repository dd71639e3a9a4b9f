//! Which files count.

use super::*;
use crate::limits;
use crate::platform::testing::as_nobody;
use nix::sys::stat::Mode;
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn receipts_are_listed_the_newest_first_then_by_runtime_id() {
    let place = Place::made();
    for (number, runtime_id, age) in [(1, "b", 0), (2, "a", 0), (3, "old", 5_000), (4, "b", 0)] {
        let mut receipt = receipt(number);
        receipt["runtime_session_id"] = json!(runtime_id);
        receipt["created_at_ms"] = json!(now_ms() / 100_000 * 100_000 + 1_000_000 - age);
        place.put(number, &receipt);
    }
    // Twice one runtime id: both are there, for others to call it ambiguous.
    assert_eq!(place.listed(), ["a", "b", "b", "old"]);
    assert_eq!(place.problems(), []);
}

#[test]
fn a_receipt_resolves_to_what_it_says_and_to_its_conversation_alone() {
    let place = Place::made();
    place.put(1, &receipt(1));
    let record = place.receipts.resolve(&endpoint(1)).unwrap();
    assert_eq!((record.runtime_id.as_str(), record.token.secret()), ("runtime-1", SECRET));
    assert!(place.receipts.resolve_source(&endpoint(1), &record.source, |_| true).is_ok());
    let error = place.receipts.resolve_source(&endpoint(1), &source(), |_| true).unwrap_err();
    assert_eq!(error.reason().word(), "identity_mismatch");
    let error = place.receipts.resolve(&endpoint(2)).unwrap_err();
    assert_eq!(error.reason().word(), "not_live");
}

#[test]
fn one_bad_file_costs_one_row() {
    let place = Place::made();
    place.put(1, &receipt(1));
    let directory = place.directory();
    let secret = receipt(1).to_string();
    write_private(&directory.join("x.json"), secret.as_bytes());
    write_private(&directory.join(".json"), secret.as_bytes());
    write_private(&directory.join(format!("{}.json", id(0xabc).to_uppercase())), secret.as_bytes());
    // A copy under a well-formed name is no second runtime.
    write_private(&place.path(2), secret.as_bytes());
    write_private(&place.path(3), b"{");
    let foreign_text = std::ffi::OsStr::from_bytes(b"\xff.json");
    write_private(&directory.join(foreign_text), secret.as_bytes());
    for passed_over in ["note.txt", "x.JSON", "x.json.bak", &format!(".{}.1.tmp", id(9))] {
        write_private(&directory.join(passed_over), secret.as_bytes());
    }
    assert_eq!(place.listed(), ["runtime-1"]);
    let row = |name: &str, word: &str| (name.to_owned(), word.to_owned());
    let named = |number: u64, word| row(&format!("{}.json", id(number)), word);
    let upper = format!("{}.json", id(0xabc).to_uppercase());
    let expected = [
        row(".json", "name"),
        named(2, "name"),
        named(3, "malformed"),
        row(&upper, "name"),
        row("x.json", "name"),
        row("\u{fffd}.json", "name"),
    ];
    assert_eq!(place.problems(), expected);
    let rows = place.receipts.list().problems;
    let endpoints: Vec<_> = rows.iter().filter_map(|row| row.endpoint.clone()).collect();
    assert_eq!(endpoints, [endpoint(2).to_string(), endpoint(3).to_string()]);
    assert_eq!(fs::read_dir(directory).unwrap().count(), 11, "nothing was removed");
}

#[test]
fn what_is_no_regular_file_is_neither_followed_nor_waited_for() {
    let secret = receipt(1).to_string();
    let refusal = |make: &dyn Fn(&Path, &Path)| {
        let place = Place::made();
        write_private(&place.home.path().join("elsewhere"), secret.as_bytes());
        make(&place.path(1), place.home.path());
        place.refusal(1)
    };
    assert_eq!(refusal(&|path, _| nix::unistd::mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR).unwrap()), "not_regular");
    assert_eq!(refusal(&|path, _| fs::create_dir(path).unwrap()), "not_regular");
    assert_eq!(refusal(&|path, _| drop(std::os::unix::net::UnixListener::bind(path).unwrap())), "not_regular");
    assert_eq!(refusal(&|path, _| symlink("/dev/zero", path).unwrap()), "symlink");
    assert_eq!(refusal(&|path, home| symlink(home.join("elsewhere"), path).unwrap()), "symlink");
    assert_eq!(refusal(&|path, _| symlink("nowhere", path).unwrap()), "symlink");
    assert_eq!(refusal(&|path, home| fs::hard_link(home.join("elsewhere"), path).unwrap()), "hard_link");
}

#[test]
fn a_file_that_lets_others_in_or_is_too_large_does_not_count() {
    let place = Place::made();
    let path = place.put(1, &receipt(1));
    for mode in [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o666] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        assert_eq!(place.refusal(1), "loose_mode", "{mode:o}");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
    assert_eq!(place.listed(), ["runtime-1"]);
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let mut content = receipt(1).to_string();
    content.push_str(&" ".repeat(limits::RECEIPT_BYTES - content.len()));
    write_private(&path, content.as_bytes());
    assert_eq!(place.listed(), ["runtime-1"]);
    content.push(' ');
    write_private(&path, content.as_bytes());
    assert_eq!(place.refusal(1), "too_large");
    let sparse = fs::File::options().write(true).open(&path).unwrap();
    sparse.set_len(1 << 40).unwrap();
    assert_eq!(place.refusal(1), "too_large");
}

#[test]
fn a_directory_that_is_not_ours_alone_counts_for_nothing() {
    let place = Place::made();
    let path = place.put(1, &receipt(1));
    let row = |word: &str| [("live-runtimes".to_owned(), word.to_owned())];
    for mode in [0o770, 0o707, 0o777, 0o1777] {
        fs::set_permissions(place.directory(), Permissions::from_mode(mode)).unwrap();
        assert_eq!((place.listed(), place.problems()), (vec![], row("loose_mode").to_vec()), "{mode:o}");
        let error = place.receipts.resolve(&endpoint(1)).unwrap_err();
        assert_eq!(error.reason().word(), "unavailable");
    }
    fs::set_permissions(place.directory(), Permissions::from_mode(0o700)).unwrap();
    let moved = place.home.path().join("moved");
    fs::rename(place.directory(), &moved).unwrap();
    symlink(&moved, place.directory()).unwrap();
    assert_eq!(place.problems(), row("symlink"));
    fs::remove_file(place.directory()).unwrap();
    assert_eq!((place.listed(), place.problems()), (vec![], vec![]), "a missing directory is no problem");
    fs::write(place.directory(), "").unwrap();
    assert_eq!(place.problems(), row("not_a_directory"));
    assert!(!path.exists());
    let homeless = Receipts::new(None);
    assert!(homeless.list().records.is_empty() && homeless.list().problems.is_empty());
    assert_eq!(homeless.resolve(&endpoint(1)).unwrap_err().reason().word(), "not_live");
}

/// Tells what somebody else sees. Rights are a thread's, so it is asked on one of its own.
fn seen_by_nobody<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(|| as_nobody(run)).join().unwrap())
}

#[test]
fn what_belongs_to_another_user_does_not_count_even_if_that_is_root() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let place = Place::made();
    let path = place.put(1, &receipt(1));
    let nobody = Some(nix::unistd::Uid::from_raw(65_534));
    let open = Permissions::from_mode(0o755);
    fs::set_permissions(place.home.path(), open.clone()).unwrap();
    fs::set_permissions(place.home.path().join("home"), open.clone()).unwrap();
    fs::set_permissions(place.directory(), open).unwrap();
    let row = |name: &str| vec![(name.to_owned(), "foreign_owner".to_owned())];
    // Root's directory, seen by another user.
    assert_eq!(seen_by_nobody(|| (place.listed(), place.problems())), (vec![], row("live-runtimes")));
    // Root's file in that user's own directory.
    nix::unistd::chown(&place.directory(), nobody, None).unwrap();
    let name = format!("{}.json", id(1));
    assert_eq!(seen_by_nobody(|| (place.listed(), place.problems())), (vec![], row(&name)));
    // All of it that user's.
    nix::unistd::chown(&path, nobody, None).unwrap();
    assert_eq!(seen_by_nobody(|| (place.listed(), place.problems())), (vec!["runtime-1".to_owned()], vec![]));
    // That user's directory, seen by root; then root's directory with that user's file.
    assert_eq!(place.problems(), row("live-runtimes"));
    nix::unistd::chown(&place.directory(), Some(nix::unistd::Uid::from_raw(0)), None).unwrap();
    assert_eq!((place.listed(), place.problems()), (vec![], row(&name)));
}

#[test]
fn an_unreadable_directory_is_told() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let place = Place::made();
    nix::unistd::chown(&place.directory(), Some(nix::unistd::Uid::from_raw(65_534)), None).unwrap();
    fs::set_permissions(place.directory(), Permissions::from_mode(0o100)).unwrap();
    fs::set_permissions(place.home.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(place.home.path().join("home"), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(seen_by_nobody(|| place.problems()), [("live-runtimes".to_owned(), "io".to_owned())]);
}

#[test]
fn only_so_many_files_are_looked_at() {
    let place = Place::made();
    for number in 0..limits::RECEIPTS as u64 {
        write_private(&place.path(number), b"");
    }
    assert_eq!(place.problems().len(), limits::RECEIPTS);
    write_private(&place.path(limits::RECEIPTS as u64), b"");
    let problems = place.problems();
    assert_eq!(problems.len(), limits::RECEIPTS + 1);
    assert_eq!(problems[0], ("live-runtimes".to_owned(), "limit".to_owned()));
}
