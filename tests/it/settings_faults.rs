//! Settings while others write them, and when the writer is ended, has no room or no right.

use crate::settings_read::{settings_of, with_settings};
use crate::settings_update::serve;
use crate::support::{DEADLINE, Home, Spawn};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// `tackroom settings` in a process of its own.
fn command(home: &Home, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tackroom"));
    command.env_clear().env("HOME", home.path()).arg("settings").args(words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn succeeds(home: &Home, words: &[&str]) {
    let output = command(home, words).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn names(directory: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into()).collect()
}

fn only_settings() -> BTreeSet<PathBuf> {
    BTreeSet::from(["settings.json".into()])
}

/// A file that is too long to be written in one step.
fn padded() -> String {
    format!("{{\"pad\": \"{}\"}}", "x".repeat(100_000))
}

#[test]
fn of_twenty_writers_at_once_each_gets_its_turn() {
    let mut home = with_settings(padded());
    let writers: Vec<Child> = (0..20)
        .map(|number| command(&home, &["set", ["accept", "hold", "refuse"][number % 3]]).spawn().unwrap())
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    succeeds(&home, &["reset"]);
    assert_eq!(fs::read_to_string(settings_of(&home)).unwrap(), padded());
    assert_eq!(names(&home.claude()), only_settings());

    // From nothing: all of them may make the file.
    home = Home::new();
    let writers: Vec<Child> = (0..20).map(|_| command(&home, &["set", "hold"]).spawn().unwrap()).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(names(&home.claude()), only_settings());
}

#[test]
fn of_twenty_writers_with_one_revision_one_wins() {
    let home = with_settings("{}");
    let revision = crate::settings_read::revision("{}");
    let writers: Vec<Child> = (0..20)
        .map(|number| {
            let words = ["set", ["accept", "hold", "refuse"][number % 3], "--expect", &revision];
            command(&home, &words).spawn().unwrap()
        })
        .collect();
    let won = writers.into_iter().map(|mut writer| writer.wait().unwrap().success());
    assert_eq!(won.filter(|won| *won).count(), 1);
}

#[test]
fn twenty_requests_of_one_client_do_not_get_into_each_others_way() {
    let mut server = serve(with_settings(padded()));
    let ids: Vec<i64> = (0..20)
        .map(|number| {
            let policy = ["accept", "hold", "refuse"][number % 3];
            server.ask("settings/update", json!({ "crossSessionInbound": policy }))
        })
        .collect();
    for id in ids {
        server.answer(id).result();
    }
    server.request("settings/update", json!({ "crossSessionInbound": null })).result();
    assert_eq!(fs::read_to_string(settings_of(&server.home)).unwrap(), padded());
}

/// What was written last must be there, if not at once: what took its place for a moment is put back.
#[track_caller]
fn stands(path: &Path, number: u32) {
    let until = Instant::now() + DEADLINE;
    let seen = || serde_json::from_slice::<Value>(&fs::read(path).unwrap()).map(|seen| seen["n"].clone());
    while !seen().is_ok_and(|seen| seen == number) {
        assert!(Instant::now() < until, "the {number}th that was written is lost: {:?}", seen());
    }
}

/// Someone who asks for no lock writes the file over and over, and what it wrote is never lost;
/// whoever looks sees a whole file. `write` writes it, `whole` says whether every look sees one.
fn against_a_rogue(write: fn(&Path, &str), whole: bool) {
    const WRITES: u32 = 400;
    let content = |number: u32| format!("{{\"n\": {number}, \"pad\": \"{}\"}}", "x".repeat(number as usize % 5_000));
    let mut server = serve(with_settings(content(0)));
    let path = settings_of(&server.home);
    let mut changed = 0;
    for round in 0..5 {
        let over = AtomicBool::new(false);
        thread::scope(|threads| {
            let rogue = threads.spawn(|| {
                for number in (1..=WRITES).map(|number| round * WRITES + number) {
                    write(&path, &content(number));
                    stands(&path, number);
                }
            });
            threads.spawn(|| {
                while whole && !over.load(Ordering::SeqCst) {
                    let seen = fs::read_to_string(&path).unwrap();
                    assert!(serde_json::from_str::<Value>(&seen).is_ok(), "a torn file: {seen:.100}");
                }
            });
            let mut policies = ["accept", "hold", "refuse"].into_iter().cycle();
            while !rogue.is_finished() {
                let params = json!({ "crossSessionInbound": policies.next() });
                let answer = server.request("settings/update", params).whole();
                if answer.get("error").is_some() {
                    let reason = answer["error"]["data"]["reason"].as_str().unwrap();
                    assert!(["changed_during_write", "invalid_settings"].contains(&reason), "{answer}");
                    changed += 1;
                }
            }
            over.store(true, Ordering::SeqCst);
        });
        stands(&path, (round + 1) * WRITES);
    }
    assert!(changed > 0, "they never met");
    server.request("settings/update", json!({ "crossSessionInbound": null })).result();
    assert_eq!(fs::read_to_string(&path).unwrap(), content(5 * WRITES));
    assert_eq!(names(path.parent().unwrap()), only_settings());
}

#[test]
fn what_is_renamed_into_its_place_is_not_lost() {
    let write = |path: &Path, content: &str| {
        fs::write(path.with_extension("theirs"), content).unwrap();
        fs::rename(path.with_extension("theirs"), path).unwrap();
    };
    against_a_rogue(write, true);
}

#[test]
fn what_is_written_into_it_is_not_lost() {
    against_a_rogue(|path, content| fs::write(path, content).unwrap(), false);
}

/// An editor that reads and writes through one descriptor, within microseconds, and never waits for what it wrote to come back.
#[cfg(target_os = "linux")]
#[test]
fn edits_in_place_survive_refused_updates() {
    use std::os::unix::fs::FileExt;
    const EDITS: u32 = 1_500;
    let content = |number: u32| format!("{{\"n\": {number:9}}}").into_bytes();
    let mut server = serve(with_settings(String::from_utf8(content(0)).unwrap()));
    let path = settings_of(&server.home);
    let edit = |number: u32| {
        let file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let mut found = vec![0; 200];
        let length = file.read_at(&mut found, 0).unwrap();
        let found: Value = serde_json::from_slice(&found[..length]).unwrap();
        assert_eq!(found["n"], number - 1, "an edit is lost");
        let mut edited = found;
        edited["n"] = number.into();
        file.write_at(format!("{edited:<length$}", edited = edited.to_string()).as_bytes(), 0).unwrap();
        // No pace is special: what is lost depends on how the edits and the updates fall together.
        thread::sleep(Duration::from_micros(250 * u64::from(number % 7)));
    };
    let refused = thread::scope(|threads| {
        let editor = threads.spawn(|| (1..=EDITS).for_each(edit));
        let mut refused = 0;
        for policy in ["accept", "hold"].into_iter().cycle() {
            if editor.is_finished() {
                break;
            }
            let answer = server.request("settings/update", json!({ "crossSessionInbound": policy })).whole();
            refused += u32::from(answer["error"]["data"]["reason"] == "changed_during_write");
        }
        editor.join().unwrap();
        refused
    });
    assert!(refused > 0, "they never met");
    let last: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(last["n"], EDITS);
}

/// What a victim may leave: the old file or the new one, and a temporary file that the next one takes away.
#[track_caller]
fn is_old_or_new(home: &Home, old: &str, new: &str) {
    let now = fs::read_to_string(settings_of(home)).unwrap();
    assert!(now == old || now == new, "neither the old nor the new file: {now:.200}");
    let left: Vec<_> = names(&home.claude()).into_iter().filter(|name| *name != *"settings.json").collect();
    assert!(left.len() <= 1, "{left:?}");
    succeeds(home, &["set", "refuse"]);
    succeeds(home, &["reset"]);
    assert_eq!(names(&home.claude()), only_settings());
    assert_eq!(fs::read_to_string(settings_of(home)).unwrap(), padded());
}

/// Runs a command up to its `stops`th stop at a system call, then kills it; `None` at the end without.
#[cfg(target_os = "linux")]
fn killed_at(mut command: Command, stops: u64) -> Option<u64> {
    // SAFETY: two numbers; nothing else is asked for.
    let ask = || match unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    };
    // SAFETY: only a system call is made between fork and exec.
    unsafe { command.pre_exec(ask) };
    #[allow(clippy::zombie_processes, reason = "it is waited for by its pid")]
    let pid = command.spawn().unwrap().id() as libc::pid_t;
    for stop in 0.. {
        let mut status = 0;
        // SAFETY: the child is ours and traced by this thread.
        assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
        if libc::WIFEXITED(status) {
            return Some(stop);
        }
        if stop == stops {
            // SAFETY: as above.
            unsafe {
                libc::kill(pid, libc::SIGKILL);
                libc::waitpid(pid, &mut status, 0);
            }
            return None;
        }
        let signal = libc::WSTOPSIG(status);
        let passed = if [libc::SIGTRAP, libc::SIGSTOP].contains(&signal) { 0 } else { signal };
        // SAFETY: as above.
        assert_ne!(unsafe { libc::ptrace(libc::PTRACE_SYSCALL, pid, 0, libc::c_long::from(passed)) }, -1);
    }
    unreachable!()
}

#[test]
fn who_is_killed_at_any_step_leaves_the_old_file_or_the_new_one() {
    /// More than the steps from the lock to the end.
    const LAST: u64 = 160;
    let (old, new) = (padded(), padded().replace("\"}", "\", \"crossSessionInbound\": \"hold\"}"));
    let home = with_settings(&old);
    let all = killed_at(command(&home, &["set", "hold"]), u64::MAX).unwrap();
    assert_eq!(fs::read_to_string(settings_of(&home)).unwrap(), new);
    succeeds(&home, &["reset"]);
    let (mut olds, mut news) = (0, 0);
    for stop in all.saturating_sub(LAST)..all {
        killed_at(command(&home, &["set", "hold"]), stop);
        match fs::read_to_string(settings_of(&home)).unwrap() == old {
            true => olds += 1,
            false => news += 1,
        }
        is_old_or_new(&home, &old, &new);
    }
    assert!(olds > 10 && news > 10, "{olds} {news}: not every step was met");
}

#[test]
fn a_limit_on_the_size_of_files_leaves_the_old_file() {
    let home = with_settings(padded());
    for (prepare, signal) in [("ulimit -f 1", Some(libc::SIGXFSZ)), ("trap '' XFSZ; ulimit -f 1", None)] {
        let mut shell = Command::new("sh");
        shell.args([
            "-c",
            &format!("ulimit -c 0; {prepare}; exec \"$0\" settings set hold"),
            env!("CARGO_BIN_EXE_tackroom"),
        ]);
        let ended = shell.env_clear().env("HOME", home.path()).stderr(Stdio::null()).status().unwrap();
        assert_eq!((ended.signal(), ended.success()), (signal, false));
        is_old_or_new(&home, &padded(), &padded());
    }
}

#[test]
fn without_the_right_to_write_nothing_is_changed() {
    let home = with_settings("{}");
    let path = settings_of(&home);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let user = Spawn::new(home).args(["--allow", "observe,configure"]).user(65_534);
    let mut server = user.open();
    let mut set = |policy: Value| server.request("settings/update", json!({ "crossSessionInbound": policy }));
    set(json!("hold")).error().is(-32017, "io");
    // What changes nothing needs no right.
    set(Value::Null).result();
    // The file of another user, in a directory of ours: its owner could not be kept.
    chown(path.parent().unwrap(), Some(65_534), Some(65_534)).unwrap();
    set(json!("hold")).error().is(-32017, "io");
    assert_eq!(names(path.parent().unwrap()), only_settings());
    assert_eq!(fs::read(&path).unwrap(), b"{}");
    // A directory that may be read alone.
    chown(&path, Some(65_534), Some(65_534)).unwrap();
    fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o555)).unwrap();
    set(json!("hold")).error().is(-32017, "io");
    assert_eq!(fs::read(&path).unwrap(), b"{}");
    fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
    // A group that could not be kept has rights of its own.
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    set(json!("hold")).error().is(-32017, "io");
    assert_eq!(names(path.parent().unwrap()), only_settings());
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    set(json!("hold")).result();
    // A file that may not be read.
    fs::set_permissions(&path, Permissions::from_mode(0o200)).unwrap();
    set(json!("accept")).error().is(-32017, "io");
}

#[test]
fn a_lock_that_is_held_is_waited_for_and_a_cancelled_wait_writes_nothing() {
    let mut server = serve(with_settings("{}"));
    let path = settings_of(&server.home);
    let directory = fs::File::open(path.parent().unwrap()).unwrap();
    directory.lock().unwrap();
    let id = server.ask("settings/update", json!({ "crossSessionInbound": "hold" }));
    server.notify("$/cancelRequest", json!({ "id": id }));
    server.answer(id).error().is(-32800, "cancelled");
    let id = server.ask("settings/update", json!({ "crossSessionInbound": "accept" }));
    // Reading waits for nobody.
    server.request("settings/read", json!({})).result();
    assert_eq!(fs::read(&path).unwrap(), b"{}");
    directory.unlock().unwrap();
    server.answer(id).result();
    assert_eq!(fs::read(&path).unwrap(), br#"{"crossSessionInbound": "accept"}"#);
    assert_eq!(names(path.parent().unwrap()), only_settings());
}
