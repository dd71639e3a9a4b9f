//! Records held against real processes.

mod fixtures;

use super::registry::list_at;
use super::*;
use crate::limits;
use crate::platform::process;
use crate::platform::testing::Sleeper;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Later than every time in the fixtures.
const NOW_MS: i64 = 1_796_040_000_000;

/// A Claude Code home of its own, with a directory for sockets.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(home.0.path().join("sessions")).unwrap();
        home
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    fn text(&self) -> String {
        self.0.path().to_str().unwrap().to_owned()
    }

    fn record_path(&self, pid: i32) -> PathBuf {
        self.0.path().join(format!("sessions/{pid}.json"))
    }

    fn put(&self, pid: i32, record: impl AsRef<[u8]>) {
        fs::write(self.record_path(pid), record).unwrap();
    }

    fn list(&self) -> Listing {
        list_at(NOW_MS, &[self.path()])
    }

    /// The reason why the one record gives no session.
    fn hidden(&self) -> String {
        let listing = self.list();
        assert_eq!((listing.peers.len(), listing.problems.len()), (0, 0), "{listing:?}");
        assert_eq!(listing.registries[0].hidden.len(), 1, "{listing:?}");
        listing.registries[0].hidden[0].reason.clone()
    }

    fn names(&self) -> Vec<String> {
        self.list().peers.into_iter().map(|found| found.peer.name).collect()
    }
}

/// The shortest record of a live session.
fn record(pid: i32, name: &str) -> String {
    let start = process::start_mark(pid).unwrap();
    format!(r#"{{"pid":{pid},"sessionId":"session-{pid}","procStart":"{start}","name":"{name}"}}"#)
}

#[test]
fn what_cannot_be_read_is_a_problem_and_never_waited_for() {
    type Make = fn(&Path);
    let odd: [(Make, &str); 6] = [
        (|path| fs::create_dir(path).unwrap(), "io"),
        (|path| std::os::unix::fs::symlink(path, path).unwrap(), "io"),
        (|path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(), "io"),
        (|path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()), "io"),
        (|path| fs::write(path, vec![0; (1 << 20) + 1]).unwrap(), "too_large"),
        (|path| fs::write(path, format!("{{\"a\":{}", "[".repeat(60_000))).unwrap(), "invalid_record"),
    ];
    let live = Sleeper::start();
    for (make, reason) in odd {
        let home = Home::new();
        make(&home.record_path(live.pid()));
        let listing = home.list();
        assert!(listing.peers.is_empty());
        assert_eq!(listing.problems.len(), 1, "{listing:?}");
        assert_eq!(listing.problems[0].reason, reason, "{listing:?}");
    }
    // A file that was made and not written yet is no record that went wrong.
    let home = Home::new();
    home.put(live.pid(), "");
    assert_eq!(home.hidden(), "nothing stands in it yet");
    // Who is not there cannot be told more of, however its record looks.
    let home = Home::new();
    home.put(dead_pid(), "{");
    assert_eq!(home.hidden(), "no running process has its pid");
}

#[test]
fn a_record_that_vanishes_while_it_is_read_is_nothing() {
    let live = Sleeper::start();
    let home = Home::new();
    std::os::unix::fs::symlink("nowhere", home.record_path(live.pid())).unwrap();
    let listing = home.list();
    assert!(listing.peers.is_empty() && listing.problems.is_empty() && listing.registries[0].hidden.is_empty());
}

#[test]
fn more_records_than_are_read_are_told() {
    let home = Home::new();
    let sessions = home.0.path().join("sessions");
    fs::write(sessions.join("x0.json"), "").unwrap();
    for number in 1..=limits::PEER_RECORDS {
        fs::hard_link(sessions.join("x0.json"), sessions.join(format!("x{number}.json"))).unwrap();
    }
    let listing = home.list();
    let registry = &listing.registries[0];
    assert_eq!((registry.files, registry.hidden.len()), (limits::PEER_RECORDS, limits::PEER_RECORDS));
    assert!(registry.truncated);
    assert_eq!(listing.problems[0].reason, "limit");
}

/// The pid of a process that was just ended and waited for.
fn dead_pid() -> i32 {
    let sleeper = Sleeper::start();
    sleeper.pid()
}

#[test]
fn a_record_lives_as_long_as_its_process() {
    let mut live = Sleeper::start();
    let home = Home::new();
    home.put(live.pid(), record(live.pid(), "a"));
    assert_eq!(home.names(), ["a"]);
    live.kill();
    let ended = process::exited(live.pid());
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(ended);
    // A zombie now, since nobody has waited for it.
    assert_eq!(home.hidden(), "no running process has its pid");
    drop(live);
    assert_eq!(home.hidden(), "no running process has its pid");
}

#[test]
fn a_pid_that_went_to_another_process_hides_its_record() {
    let (earlier, live) = (Sleeper::start(), Sleeper::start());
    let home = Home::new();
    let of_earlier = record(live.pid(), "a").replace(
        &format!("\"procStart\":\"{}\"", process::start_mark(live.pid()).unwrap()),
        &format!("\"procStart\":\"{}0\"", process::start_mark(earlier.pid()).unwrap()),
    );
    home.put(live.pid(), of_earlier);
    assert_eq!(home.hidden(), "its process is gone, and another has its pid");
    // Older versions write no start time: what cannot be compared contradicts nothing.
    home.put(live.pid(), format!(r#"{{"sessionId":"s","name":"a","procStart":null,"pid":{}}}"#, live.pid()));
    assert_eq!(home.names(), ["a"]);
}

#[test]
fn a_record_of_another_pid_namespace_or_machine_is_not_judged_here() {
    let live = Sleeper::start();
    let home = Home::new();
    let own = process::own_pid_domain().unwrap();
    let with = |domain: &str| record(live.pid(), "a").replacen('{', &format!(r#"{{"pidDomain":"{domain}","#), 1);
    home.put(live.pid(), with(&own));
    assert_eq!(home.names(), ["a"]);
    for other in [own.replace("pid:[", "pid:[1"), own.replace("linux:", "linux:f"), "linux".to_owned(), String::new()] {
        home.put(live.pid(), with(&other));
        assert_eq!(home.hidden(), "its process is in another pid namespace", "{other}");
    }
}

#[test]
fn only_canonical_pids_name_records_and_keys_are_never_looked_at() {
    let live = Sleeper::start();
    let home = Home::new();
    let sessions = home.0.path().join("sessions");
    let text = record(live.pid(), "a");
    let odd = [
        format!("0{}", live.pid()),
        "1".to_owned(),
        "0".to_owned(),
        "-5".to_owned(),
        "99999999999999999999".to_owned(),
    ];
    for name in odd.iter().map(String::as_str).chain(["+7", "x", "", "7 "]) {
        fs::write(sessions.join(format!("{name}.json")), &text).unwrap();
    }
    fs::write(sessions.join(format!("{}.0123.key", live.pid())), &text).unwrap();
    fs::write(sessions.join(format!("{}.json.tmp", live.pid())), &text).unwrap();
    let listing = home.list();
    assert!(listing.peers.is_empty() && listing.problems.is_empty(), "{listing:?}");
    let registry = &listing.registries[0];
    assert_eq!((registry.files, registry.hidden.len()), (9, 9), "{registry:?}");
    assert!(registry.hidden.iter().all(|skipped| skipped.reason == "its name is no pid"), "{registry:?}");
}

#[test]
fn homes_are_told_apart_and_none_is_read_twice() {
    let (one, two) = (Sleeper::start(), Sleeper::start());
    let (first, second) = (Home::new(), Home::new());
    first.put(one.pid(), record(one.pid(), "b"));
    second.put(two.pid(), record(two.pid(), "A"));
    second.put(dead_pid(), "");
    let alias = first.0.path().join("alias");
    std::os::unix::fs::symlink(second.0.path(), &alias).unwrap();
    let nowhere = first.0.path().join("nowhere");
    let homes = [first.path(), second.path(), alias, nowhere.clone()];
    let listing = list(&homes);
    let rows: Vec<_> = listing.peers.iter().map(|found| (found.peer.name.as_str(), found.peer.home.clone())).collect();
    assert_eq!(rows, [("A", second.text()), ("b", first.text())]);
    let seen: Vec<_> = listing.registries.iter().map(|r| (r.exists, r.files, r.sessions, r.hidden.len())).collect();
    assert_eq!(seen, [(true, 1, 1, 0), (true, 2, 1, 1), (false, 0, 0, 0)]);
    assert_eq!(listing.registries[2].path, nowhere.join("sessions"));
}

#[test]
fn a_registry_that_is_no_directory_is_a_problem() {
    let home = Home::new();
    fs::remove_dir(home.0.path().join("sessions")).unwrap();
    fs::write(home.0.path().join("sessions"), "").unwrap();
    let listing = home.list();
    assert_eq!(listing.problems.len(), 1);
    assert!(listing.registries[0].exists);
}

#[test]
fn what_people_read_is_cleaned_and_what_programs_use_is_exact_or_absent() {
    let live = Sleeper::start();
    let home = Home::new();
    let with = |members: &str| record(live.pid(), "a").replacen('}', &format!(",{members}}}"), 1);
    let odd = [
        r#""name":" \u2067 two\nlines \u0085""#,
        r#""status":"waiting""#,
        r#""waitingFor":"\u001b[2Jinput\u2028needed\u202e""#,
        r#""tmux":"\u0007""#,
    ];
    home.put(live.pid(), with(&odd.join(",")));
    let peer = home.list().peers.remove(0).peer;
    assert_eq!(
        (peer.name.as_str(), peer.waiting_for.as_deref(), peer.tmux),
        ("two lines", Some("[2Jinput needed"), None)
    );
    home.put(live.pid(), with(r#""status":"idle","waitingFor":"stale""#));
    assert_eq!(home.list().peers[0].peer.waiting_for, None);
    home.put(live.pid(), with(r#""name":"\u202e\n\t""#));
    assert_eq!(home.hidden(), "it has no name");
    home.put(live.pid(), with(r#""sessionId":"a\u0000b""#));
    assert_eq!(home.hidden(), "it has no session id");
    home.put(live.pid(), with(r#""parkedJobId":"3f1bcd9e""#));
    assert!(home.hidden().contains("parked"));
    home.put(live.pid(), with(r#""spare":true"#));
    assert!(home.hidden().contains("ahead of its use"));
    home.put(live.pid(), with(r#""spare":false,"parkedJobId":null"#));
    assert_eq!(home.names(), ["a"]);
    for pid in ["true", "[7]", r#""x""#, "-7", "1.5"] {
        home.put(live.pid(), with(&format!(r#""pid":{pid}"#)));
        assert_eq!(home.hidden(), "it names another pid than its file does", "{pid}");
    }
}

#[test]
fn resolving_reads_the_registry_again_and_sees_only_what_may_be_seen() {
    let (one, two) = (Sleeper::start(), Sleeper::start());
    let home = Home::new();
    home.put(one.pid(), record(one.pid(), "Twin"));
    home.put(two.pid(), record(two.pid(), "twin"));
    let by_name = |name: &str| PeerSelector { name: Some(name.to_owned()), ..PeerSelector::default() };
    let homes = [home.path()];
    assert!(matches!(resolve(&homes, &by_name("TWIN"), |_| true), Err(Error::Ambiguous { count: 2, .. })));
    let seen = resolve(&homes, &by_name("TWIN"), |peer| peer.pid == two.pid()).unwrap();
    assert_eq!(seen.pid, two.pid());
    assert_eq!(resolve(&homes, &by_name("twin"), |_| false), Err(Error::NotLive("name")));
    home.put(two.pid(), record(two.pid(), "renamed"));
    assert_eq!(resolve(&homes, &by_name("twin"), |_| true).unwrap().pid, one.pid());
    assert_eq!(resolve(&homes, &by_name("Renamed"), |_| true).unwrap().pid, two.pid());
    drop(one);
    assert_eq!(resolve(&homes, &by_name("twin"), |_| true), Err(Error::NotLive("name")));
}
