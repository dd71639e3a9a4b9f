use super::*;
use crate::platform::testing::{as_nobody, make_endless};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A directory as it can be seen from outside: names, content, and the times of change.
fn seen(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, [i64; 4], u64)> {
    let look = |path: &Path| {
        let metadata = fs::metadata(path).unwrap();
        let content = if metadata.is_file() { fs::read(path).unwrap() } else { Vec::new() };
        let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
        (content, times, metadata.ino())
    };
    let mut all = BTreeMap::from([(directory.to_owned(), look(directory))]);
    all.extend(fs::read_dir(directory).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let seen = look(&path);
        (path, seen)
    }));
    all
}

/// Reads the one table that these tests write, and proves that nothing was touched.
fn names(path: &Path) -> Result<Vec<String>, Error> {
    let before = seen(path.parent().unwrap());
    let result = read(path, &Budget::of_list(), |connection| {
        connection.prepare("select name from t order by name")?.query_map([], |row| row.get(0))?.collect()
    });
    assert_eq!(seen(path.parent().unwrap()), before, "something was touched");
    result
}

fn create(path: &Path, journal: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", journal).unwrap();
    connection.execute_batch("create table t (name text); insert into t values ('main')").unwrap();
    connection
}

/// Another process that has a database open: with a row in its log, or within a transaction.
struct Owner(Child);

impl Owner {
    fn of(path: &Path) -> Self {
        Self::doing(path, "log")
    }

    fn doing(path: &Path, work: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "platform::sqlite::tests::owner", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        io::Write::write_all(child.stdin.as_mut().unwrap(), path.as_os_str().as_bytes()).unwrap();
        io::Write::write_all(child.stdin.as_mut().unwrap(), format!("\n{work}\n").as_bytes()).unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        output.lines().map(Result::unwrap).find(|line| line.ends_with("ready")).unwrap();
        Self(child)
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
#[ignore = "the other process of the tests here"]
fn owner() {
    let mut input = io::stdin().lock();
    let mut path = String::new();
    if input.read_line(&mut path).unwrap() == 0 {
        return;
    }
    let mut work = String::new();
    input.read_line(&mut work).unwrap();
    let path = Path::new(path.trim_end());
    let connection = create(path, if work == "log\n" { "wal" } else { "delete" });
    let filler = "create table big as
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 300) select zeroblob(2000) as b from n";
    let change = "begin immediate; update t set name = 'uncommitted'; update big set b = randomblob(2000)";
    match work.trim_end() {
        "log" => {
            connection.pragma_update(None, "wal_checkpoint", "truncate").unwrap();
            connection.execute_batch("pragma wal_autocheckpoint = 0; insert into t values ('log')").unwrap();
        }
        "unspilled" => connection.execute_batch(&format!("{filler}; {change}")).unwrap(),
        "spilled" => {
            connection.execute_batch(filler).unwrap();
            thread::sleep(std::time::Duration::from_millis(20));
            let before = fs::metadata(path).unwrap();
            connection.execute_batch(&format!("pragma cache_size = 5; {change}")).unwrap();
            // Opening the file to look at its content would end the locks that this process has on it.
            let after = fs::metadata(path).unwrap();
            assert_ne!((after.mtime(), after.mtime_nsec()), (before.mtime(), before.mtime_nsec()), "nothing spilled");
        }
        other => panic!("{other}"),
    }
    println!("ready");
    input.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn a_database_whose_owner_lives_is_read_with_its_log() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    let owner = Owner::of(&path);
    assert_eq!(names(&path).unwrap(), ["log", "main"]);
    assert!(directory.path().join("a.sqlite-shm").exists());
    owner.kill();
}

#[test]
fn what_a_killed_owner_left_is_read_with_its_log_with_and_without_the_index() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    Owner::of(&path).kill();
    assert_eq!(names(&path).unwrap(), ["log", "main"]);
    fs::remove_file(directory.path().join("a.sqlite-shm")).unwrap();
    assert_eq!(names(&path).unwrap(), ["log", "main"]);
}

#[test]
fn a_database_without_log_is_read_and_stays_alone() {
    let directory = TempDir::new().unwrap();
    for (name, journal) in [("wal.sqlite", "wal"), ("delete.sqlite", "delete")] {
        let path = directory.path().join(name);
        drop(create(&path, journal));
        assert_eq!(names(&path).unwrap(), ["main"]);
    }
    fs::write(directory.path().join("wal.sqlite-wal"), "").unwrap();
    assert_eq!(names(&directory.path().join("wal.sqlite")).unwrap(), ["main"]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3);
}

#[test]
fn a_directory_that_cannot_be_written_to_does_not_matter() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    Owner::of(&path).kill();
    let shm = directory.path().join("a.sqlite-shm");
    for entry in fs::read_dir(directory.path()).unwrap() {
        fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o444)).unwrap();
    }
    for with_index in [true, false] {
        if !with_index {
            fs::remove_file(&shm).unwrap();
        }
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let read = thread::scope(|scope| scope.spawn(|| as_nobody(|| names(&path).unwrap())).join().unwrap());
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(read, ["log", "main"]);
    }
}

#[test]
fn what_is_broken_empty_or_half_written_costs_only_itself() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("noise.sqlite"), "this is no database, and it is long enough to be looked at ".repeat(20)).unwrap();
    assert!(matches!(names(&path("noise.sqlite")), Err(Error::Sqlite(_))));

    Owner::of(&path("a.sqlite")).kill();
    fs::write(path("empty.sqlite"), "").unwrap();
    fs::copy(path("a.sqlite-wal"), path("empty.sqlite-wal")).unwrap();
    assert!(matches!(names(&path("empty.sqlite")), Err(Error::Empty)));

    drop(create(&path("journal.sqlite"), "delete"));
    fs::write(path("journal.sqlite-journal"), "no transaction").unwrap();
    assert_eq!(names(&path("journal.sqlite")).unwrap(), ["main"]);

    assert!(matches!(names(&path("missing.sqlite")), Err(Error::Io(_))));
    fs::create_dir(path("directory.sqlite")).unwrap();
    assert!(matches!(names(&path("directory.sqlite")), Err(Error::Io(_))));
}

#[test]
fn within_a_transaction_the_committed_state_is_read_whether_its_owner_lives_or_not() {
    let directory = TempDir::new().unwrap();
    for work in ["unspilled", "spilled"] {
        let path = directory.path().join(work);
        let owner = Owner::doing(&path, work);
        assert!(fs::metadata(beside(&path, "-journal")).unwrap().len() > 0);
        assert_eq!(is_committed(&path), work == "unspilled");
        assert_eq!(names(&path).unwrap(), ["main"], "{work}, alive");
        owner.kill();
        assert_eq!(is_committed(&path), work == "unspilled");
        assert_eq!(names(&path).unwrap(), ["main"], "{work}, killed");
    }
}

#[test]
fn a_journal_that_is_kept_says_nothing() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    let connection = create(&path, "persist");
    assert!(fs::metadata(beside(&path, "-journal")).unwrap().len() > 0);
    assert!(is_committed(&path));
    assert_eq!(names(&path).unwrap(), ["main"]);

    // Beside a database that keeps a log, which is not created for the reading.
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    drop(connection);
    fs::write(beside(&path, "-journal"), [0; 512]).unwrap();
    assert_eq!(names(&path).unwrap(), ["main"]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn what_is_half_done_and_too_large_to_copy_is_busy() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    Owner::doing(&path, "spilled").kill();
    fs::File::options().write(true).open(&path).unwrap().set_len(limits::DATABASE_COPY).unwrap();
    let error = read(&path, &Budget::of_list(), |_| Ok(())).unwrap_err();
    assert!(matches!(error, Error::Large) && error.is_busy());
    assert_eq!(crate::harness::ReadError::from(error).reason(), "busy");
}

#[test]
fn a_change_under_the_reading_is_read_again() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    drop(create(&path, "delete"));
    let runs = std::cell::Cell::new(0);
    let count = read(&path, &Budget::of_list(), |connection| {
        runs.set(runs.get() + 1);
        let count: i64 = connection.query_row("select count(*) from t", [], |row| row.get(0))?;
        if runs.get() == 1 {
            Connection::open(&path)?.execute_batch("insert into t values (zeroblob(10000))")?;
        }
        Ok(count)
    });
    assert_eq!((count.unwrap(), runs.get()), (2, 2));
}

#[test]
fn a_link_leads_to_the_log_too() {
    let directory = TempDir::new().unwrap();
    let elsewhere = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    Owner::of(&path).kill();
    let link = elsewhere.path().join("link.sqlite");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(names(&link).unwrap(), ["log", "main"]);
    assert!(log_stamp(&link).is_some_and(|stamp| stamp.size > 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_file_name_can_be_read(name in "[^/\0]{1,20}") {
        prop_assume!(name != "." && name != "..");
        let directory = TempDir::new().unwrap();
        drop(create(&directory.path().join("a"), "delete"));
        let path = directory.path().join(format!("b{name}"));
        fs::rename(directory.path().join("a"), &path).unwrap();
        prop_assert_eq!(names(&path).unwrap(), ["main"]);
    }
}

/// The names in a database that was made to harm, of a reader that works for a tenth of a second at most.
fn names_within_budget(path: &Path) -> Result<Vec<String>, Error> {
    let budget = Budget::new(Duration::from_millis(100), &|| false);
    read(path, &budget, |connection| {
        connection.prepare("select name from t where name > 'y'")?.query_map([], |row| row.get(0))?.collect()
    })
}

#[test]
fn endless_rows_of_a_few_pages_exceed_the_budget() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    drop(create(&path, "delete"));
    make_endless(&path, "t");
    assert!(fs::metadata(&path).unwrap().len() < 128 << 10);
    let error = names_within_budget(&path).unwrap_err();
    assert!(matches!(error, Error::Endless(_)) && !error.is_busy(), "{error}");
    // In each of the other ways to read it, too.
    fs::write(beside(&path, "-journal"), [0; 512]).unwrap();
    assert!(matches!(names_within_budget(&path), Err(Error::Endless(_))));
}

#[test]
fn cancelled_query_ends() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    drop(create(&path, "delete"));
    make_endless(&path, "t");
    let looks = std::cell::Cell::new(0);
    let is_cancelled = || looks.replace(looks.get() + 1) == 3;
    let result = read(&path, &Budget::of_session(&is_cancelled), |connection| {
        connection.query_row("select count(*) from t where name > 'y'", [], |row| row.get::<_, i64>(0))
    });
    assert!(matches!(result, Err(Error::Cancelled)));
    assert_eq!(looks.get(), 4);
}

#[test]
fn views_huge_values_and_huge_schemas_are_refused() {
    let directory = TempDir::new().unwrap();
    let endless = "with recursive n(name) as (select 'z' union all select name from n) select name from n";
    for (name, statements) in [
        ("view", format!("create view t as {endless}")),
        (
            "computed",
            "create table s (i); insert into s values (1);
             create table t (i, name text as (printf('%.*c', 100000000, 'z'))); insert into t (i) select i from s"
                .to_owned(),
        ),
        ("many", (0..5_000).map(|at| format!("create table u{at} (a);")).collect()),
    ] {
        let path = directory.path().join(name);
        Connection::open(&path).unwrap().execute_batch(&format!("begin; {statements}; commit")).unwrap();
        assert!(matches!(names_within_budget(&path), Err(Error::Sqlite(_))), "{name}");
    }
}

#[test]
fn other_kinds_of_files_beside_it_are_refused_until_they_are_gone() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    Owner::of(&path).kill();
    fs::remove_file(beside(&path, "-shm")).unwrap();
    for ending in ["-shm", "-journal"] {
        let odd = beside(&path, ending);
        nix::unistd::mkfifo(&odd, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let stamp = log_stamp(&path);
        assert!(matches!(names(&path), Err(Error::Beside(refused)) if refused == ending));
        fs::remove_file(&odd).unwrap();
        assert_ne!(log_stamp(&path), stamp, "its end must show");
        assert_eq!(names(&path).unwrap(), ["log", "main"]);
    }
}

/// Adds the name of a super-journal, as SQLite writes it.
fn name_super_journal(journal: &Path, name: &Path) {
    let name = name.as_os_str().as_bytes();
    let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
    let mut content = fs::read(journal).unwrap();
    content.extend((1_u32 << 30).div_euclid(4_096).wrapping_add(1).to_be_bytes());
    content.extend(name);
    content.extend((name.len() as u32).to_be_bytes());
    content.extend(sum.to_be_bytes());
    content.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    fs::write(journal, content).unwrap();
}

#[test]
fn super_journal_is_neither_opened_nor_deleted_and_without_it_the_transaction_is_committed() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    Owner::doing(&path, "spilled").kill();
    let other = TempDir::new().unwrap();
    let (fifo, precious) = (other.path().join("fifo"), other.path().join("precious"));
    let journal = fs::read(beside(&path, "-journal")).unwrap();
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    fs::write(&precious, "words of a person").unwrap();
    for name in [&fifo, &precious] {
        fs::write(beside(&path, "-journal"), &journal).unwrap();
        name_super_journal(&beside(&path, "-journal"), name);
        assert_eq!(names(&path).unwrap(), ["main"]);
    }
    assert_eq!(fs::read(&precious).unwrap(), b"words of a person");
    // The transaction of several databases was committed when its super-journal was deleted.
    fs::write(beside(&path, "-journal"), &journal).unwrap();
    name_super_journal(&beside(&path, "-journal"), &other.path().join("gone"));
    assert_eq!(names(&path).unwrap(), ["uncommitted"]);
}

#[test]
fn half_done_transaction_is_undone_in_memory() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.sqlite");
    Owner::doing(&path, "spilled").kill();
    let rows = read(&path, &Budget::of_list(), |connection| {
        connection.query_row("select count(*) from big where b = zeroblob(2000)", [], |row| row.get::<_, i64>(0))
    });
    assert_eq!(rows.unwrap(), 300);
}
