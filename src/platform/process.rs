//! Processes of others: whether one lives, whether it is still the same one, when it ends.
//!
//! Linux is built and tested. The macOS code is untested. Elsewhere a process cannot be judged: none is called alive,
//! and none is ever told to have ended.

use crate::limits;
use std::future::Future;

/// What the system tells of a process that has not been reaped.
#[cfg(unix)]
struct Seen {
    zombie: bool,
    stopped: bool,
    #[cfg(target_os = "linux")]
    parent: i32,
    #[cfg(target_os = "linux")]
    group: i32,
    /// The device number of the controlling terminal, 0 without one.
    #[cfg(target_os = "linux")]
    terminal: i32,
    start: String,
}

/// Whether the process is there and running. One of another user counts, a zombie does not.
#[cfg(unix)]
pub fn alive(pid: i32) -> bool {
    use nix::{errno::Errno, sys::signal::kill, unistd::Pid};
    // Zero and below would ask about process groups.
    pid > 0
        && matches!(kill(Pid::from_raw(pid), None), Ok(()) | Err(Errno::EPERM))
        && !look(pid).is_some_and(|seen| seen.zombie)
        && !is_thread(pid)
}

/// Whether the process is stopped, by SIGSTOP or from its terminal: it does nothing until it is continued.
#[cfg(unix)]
pub fn is_stopped(pid: i32) -> bool {
    look(pid).is_some_and(|seen| seen.stopped)
}

/// Whether the process is stopped: cannot be told here.
#[cfg(not(unix))]
pub fn is_stopped(_pid: i32) -> bool {
    false
}

/// Whether any process of a group is there and running. Zombies do not count: who should reap them may take its time.
#[cfg(unix)]
pub fn group_alive(group: i32) -> bool {
    nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), None).is_ok() && has_running_member(group)
}

#[cfg(target_os = "linux")]
fn has_running_member(group: i32) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(look).any(|seen| seen.group == group && !seen.zombie)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn has_running_member(_group: i32) -> bool {
    true
}

/// Whether the number is that of a thread and of no process: on Linux both can be asked for the same way.
#[cfg(unix)]
fn is_thread(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let group = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
    group.is_some_and(|group: i32| group != pid)
}

/// Whether the process is there and running: cannot be judged here.
#[cfg(not(unix))]
pub fn alive(_pid: i32) -> bool {
    false
}

/// The mark that tells a process from an earlier one of the same pid, in Claude Code's spelling: on Linux the start
/// time in clock ticks, on macOS what `ps -o lstart=` prints in UTC. None where it cannot be read.
#[cfg(unix)]
pub fn start_mark(pid: i32) -> Option<String> {
    look(pid).map(|seen| seen.start)
}

/// The mark that tells a process from an earlier one of the same pid: cannot be read here.
#[cfg(not(unix))]
pub fn start_mark(_pid: i32) -> Option<String> {
    None
}

/// When the process began, in epoch milliseconds by the clock as it stands now; None where that cannot be read.
#[cfg(target_os = "linux")]
pub fn started_at_ms(pid: i32) -> Option<u64> {
    use nix::time::{ClockId, clock_gettime};
    let ms = |clock| {
        let now = clock_gettime(clock).ok()?;
        u64::try_from(now.tv_sec()).ok()?.checked_mul(1000)?.checked_add(u64::try_from(now.tv_nsec()).ok()? / 1_000_000)
    };
    let ticks: u64 = start_mark(pid)?.parse().ok()?;
    let per_second = u64::try_from(nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok()??).ok()?;
    // From the clocks themselves: the time of boot that /proc/stat tells is rounded to seconds.
    let booted_at = ms(ClockId::CLOCK_REALTIME)?.checked_sub(ms(ClockId::CLOCK_BOOTTIME)?)?;
    booted_at.checked_add(ticks.checked_mul(1000)?.checked_div(per_second)?)
}

/// When the process began, in epoch milliseconds; None where that cannot be read.
#[cfg(target_os = "macos")]
pub fn started_at_ms(pid: i32) -> Option<u64> {
    let info = information(pid)?;
    info.pbi_start_tvsec.checked_mul(1000)?.checked_add(info.pbi_start_tvusec / 1000)
}

/// When the process began: cannot be read here.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn started_at_ms(_pid: i32) -> Option<u64> {
    None
}

/// Whether the process is running, and the one of this start mark.
pub fn is_still(pid: i32, mark: &str) -> bool {
    alive(pid) && start_mark(pid).as_deref() == Some(mark)
}

/// Whether the process is running, and was at a time in epoch milliseconds: a later one of the same pid was not.
pub fn ran_at(pid: i32, time_ms: i64) -> bool {
    let slack = i64::try_from(limits::CLOCK_SLACK.as_millis()).unwrap_or(i64::MAX);
    let latest = u64::try_from(time_ms.saturating_add(slack)).unwrap_or_default();
    alive(pid) && started_at_ms(pid).is_some_and(|started| started <= latest)
}

/// Whether the process has the rights of a file's owner, as who wrote it has; also where that cannot be told.
#[cfg(target_os = "linux")]
pub fn is_of_owner(pid: i32, file: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    // The last one is that with which files are made.
    let user = users.and_then(|users| users.split_ascii_whitespace().last()?.parse::<u32>().ok());
    let owner = std::fs::metadata(file).ok().map(|metadata| metadata.uid());
    user.zip(owner).is_none_or(|(user, owner)| user == owner)
}

/// Whether the process has the rights of a file's owner: cannot be told here.
#[cfg(not(target_os = "linux"))]
pub fn is_of_owner(_pid: i32, _file: &std::path::Path) -> bool {
    true
}

/// The space in which our pids mean something, in Claude Code's spelling; a pid of another one says nothing here.
pub fn own_pid_domain() -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        let machine = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
        let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Some(format!("linux:{}:{}", machine.trim(), namespace.display()))
    }
    #[cfg(target_os = "macos")]
    return Some("linux".to_owned());
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    return None;
}

/// The parent of a process and the device number of its controlling terminal, 0 without one.
#[cfg(target_os = "linux")]
pub(super) fn parent_and_terminal(pid: i32) -> Option<(i32, i32)> {
    look(pid).map(|seen| (seen.parent, seen.terminal))
}

#[cfg(target_os = "linux")]
fn look(pid: i32) -> Option<Seen> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&stat))
}

/// Reads the state (field 3), the parent (4), the group (5), the controlling terminal (7) and the start time (22). The second
/// field is the program's name in parentheses and may itself contain spaces and parentheses, so counting starts behind
/// the last one.
#[cfg(target_os = "linux")]
fn parse_stat(stat: &str) -> Option<Seen> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut fields = behind_name.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let terminal = fields.nth(1)?.parse().ok()?;
    let (zombie, stopped) = (matches!(state, "Z" | "X" | "x"), state == "T");
    Some(Seen { zombie, stopped, parent, group, terminal, start: fields.nth(14)?.to_owned() })
}

#[cfg(target_os = "macos")]
fn look(pid: i32) -> Option<Seen> {
    let info = information(pid)?;
    let start = jiff::Timestamp::from_second(i64::try_from(info.pbi_start_tvsec).ok()?).ok()?;
    let start = start.strftime("%a %b %e %H:%M:%S %Y").to_string();
    Some(Seen { zombie: info.pbi_status == libc::SZOMB, stopped: info.pbi_status == libc::SSTOP, start })
}

#[cfg(target_os = "macos")]
fn information(pid: i32) -> Option<libc::proc_bsdinfo> {
    let size = std::mem::size_of::<libc::proc_bsdinfo>() as libc::c_int;
    let mut info = std::mem::MaybeUninit::<libc::proc_bsdinfo>::uninit();
    // SAFETY: the kernel writes at most `size` bytes, and `info` has as many.
    let written = unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, info.as_mut_ptr().cast(), size) };
    if written != size {
        return None;
    }
    // SAFETY: all of it was written, and every bit pattern is a value of this struct of integers.
    Some(unsafe { info.assume_init() })
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
fn look(_pid: i32) -> Option<Seen> {
    None
}

/// Resolves when the process has ended; at once when there is none. Which process is meant is settled by the call, not
/// by the first poll: who then finds it to be the right one cannot end up waiting for its successor.
#[cfg(target_os = "linux")]
pub fn exited(pid: i32) -> impl Future<Output = ()> + Send + 'static {
    use tokio::io::{Interest, unix::AsyncFd};
    let opened = pidfd(pid);
    async move {
        // SAFETY: an `OwnedFd` is open, and the same one, for as long as it lives.
        let watch = |pidfd| unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) };
        match opened.and_then(|pidfd| Ok(watch(pidfd)?)) {
            Ok(pidfd) => drop(pidfd.readable().await),
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            // No pidfd to be had: an old kernel, a sandbox, no descriptors left.
            Err(_) => poll_until_gone(pid).await,
        }
    }
}

/// Resolves when the process has ended; at once when there is none.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn exited(pid: i32) -> impl Future<Output = ()> + Send + 'static {
    poll_until_gone(pid)
}

/// Never resolves, since the end of a process cannot be seen here.
#[cfg(not(unix))]
pub fn exited(_pid: i32) -> impl Future<Output = ()> + Send + 'static {
    std::future::pending()
}

#[cfg(unix)]
async fn poll_until_gone(pid: i32) {
    while alive(pid) {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
}

#[cfg(target_os = "linux")]
fn pidfd(pid: i32) -> std::io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::{FromRawFd, OwnedFd};
    // SAFETY: the call takes two integers and touches no memory of ours.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    match i32::try_from(descriptor) {
        // SAFETY: the descriptor was just opened for us, close-on-exec, and nobody else holds it.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::process::{Child, Command};
    use std::time::Duration;

    fn sleeper() -> Child {
        Command::new("sleep").arg("600").spawn().unwrap()
    }

    fn pid_of(child: &Child) -> i32 {
        i32::try_from(child.id()).unwrap()
    }

    fn block_on(future: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { tokio::time::timeout(Duration::from_secs(30), future).await }).expect("it should end");
    }

    #[test]
    fn a_process_is_alive_until_it_ends_and_no_longer_while_it_is_a_zombie() {
        let mut child = sleeper();
        let pid = pid_of(&child);
        assert!(alive(pid));
        let end = exited(pid);
        child.kill().unwrap();
        // Ended, and not yet waited for.
        block_on(end);
        assert!(start_mark(pid).is_some(), "the zombie is still in the table");
        assert!(!alive(pid));
        child.wait().unwrap();
        assert!(!alive(pid));
        assert_eq!(start_mark(pid), None);
        block_on(exited(pid));
    }

    #[test]
    fn a_process_began_between_the_moments_before_and_after_it_was_started() {
        let now_ms = || u64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
        let before = now_ms();
        let mut child = sleeper();
        let after = now_ms();
        let started = started_at_ms(pid_of(&child)).unwrap();
        // The system counts in ticks of 10 ms, and the clocks are read one after the other.
        assert!((before - 50..=after + 50).contains(&started), "{before} {started} {after}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(started_at_ms(pid_of(&child)), None);
    }

    #[test]
    fn a_later_process_of_a_pid_is_told_from_an_earlier_one() {
        let mut child = sleeper();
        let pid = pid_of(&child);
        let (mark, began) = (start_mark(pid).unwrap(), i64::try_from(started_at_ms(pid).unwrap()).unwrap());
        assert!(is_still(pid, &mark) && !is_still(pid, "1"));
        assert!(ran_at(pid, began) && ran_at(pid, i64::MAX) && !ran_at(pid, began - 5_000) && !ran_at(pid, i64::MIN));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_still(pid, &mark) && !ran_at(pid, i64::MAX));
    }

    #[test]
    fn a_process_of_another_user_did_not_write_a_file() {
        use std::os::unix::process::CommandExt;
        let own = tempfile::NamedTempFile::new().unwrap();
        let mut child = sleeper();
        assert!(is_of_owner(pid_of(&child), own.path()));
        child.kill().unwrap();
        child.wait().unwrap();
        if nix::unistd::geteuid().is_root() {
            let mut child = Command::new("sleep").arg("600").uid(65_534).spawn().unwrap();
            let is_of_owner = is_of_owner(pid_of(&child), own.path());
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!is_of_owner);
        }
    }

    #[test]
    fn the_end_is_not_told_before_it_comes() {
        let mut child = sleeper();
        let pid = pid_of(&child);
        block_on(async {
            let mut end = Box::pin(exited(pid));
            tokio::select! {
                biased;
                () = &mut end => panic!("it still runs"),
                () = tokio::task::yield_now() => {}
            }
            child.kill().unwrap();
            end.await;
        });
        child.wait().unwrap();
    }

    #[test]
    fn without_a_pidfd_the_end_is_told_too() {
        let mut child = sleeper();
        let pid = pid_of(&child);
        child.kill().unwrap();
        child.wait().unwrap();
        block_on(poll_until_gone(pid));
    }

    #[test]
    fn stopped_process_is_alive_and_stopped_until_it_is_continued() {
        use nix::sys::signal::{Signal, kill};
        use nix::sys::wait::{WaitPidFlag, waitpid};
        use nix::unistd::Pid;
        let mut child = sleeper();
        let pid = Pid::from_raw(pid_of(&child));
        assert!(!is_stopped(pid.as_raw()));
        for (signal, flag, expected) in
            [(Signal::SIGSTOP, WaitPidFlag::WUNTRACED, true), (Signal::SIGCONT, WaitPidFlag::WCONTINUED, false)]
        {
            kill(pid, signal).unwrap();
            waitpid(pid, Some(flag)).unwrap();
            assert_eq!((is_stopped(pid.as_raw()), alive(pid.as_raw())), (expected, true));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_stopped(pid.as_raw()));
    }

    #[test]
    fn process_groups_are_no_processes() {
        assert!(!alive(0));
        assert!(!alive(-1));
        assert!(!alive(i32::MIN));
    }

    #[test]
    fn a_process_of_another_user_is_alive() {
        use std::os::unix::process::CommandExt;
        assert!(alive(1));
        // Root may signal everybody, so as root the same is asked again as nobody.
        if nix::unistd::geteuid().is_root() {
            let test = "platform::process::tests::a_process_of_another_user_is_alive";
            let run = Command::new("/proc/self/exe").args(["--exact", test]).uid(65534).gid(65534).output().unwrap();
            let said = String::from_utf8_lossy(&run.stdout);
            assert!(run.status.success() && said.contains("1 passed"), "{said}");
        }
    }

    #[test]
    fn the_stat_line_is_read_behind_a_name_that_imitates_it() {
        let line = "42 (a) Z 1 (b) S) S 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 68675 99 1";
        let seen = parse_stat(line).unwrap();
        assert!(!seen.zombie);
        assert_eq!(seen.start, "68675");
        assert!(parse_stat("42 (sleep) Z 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 5 9").unwrap().zombie);
        assert!(parse_stat("42 (sleep) S 7 42").is_none());
        assert!(parse_stat("").is_none());
    }

    #[test]
    fn the_pid_domain_is_the_machine_and_the_pid_namespace() {
        let domain = own_pid_domain().unwrap();
        let (machine, namespace) = domain.strip_prefix("linux:").unwrap().split_once(':').unwrap();
        assert!(machine.is_empty() || machine.len() == 32, "{domain}");
        assert!(namespace.starts_with("pid:[") && namespace.ends_with(']'), "{domain}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_is_no_process() {
        let (tell, told) = std::sync::mpsc::channel();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let number = std::fs::read_link("/proc/thread-self").unwrap();
            tell.send(number.file_name().unwrap().to_str().unwrap().parse::<i32>().unwrap()).unwrap();
            let _ = stopped.recv();
        });
        assert!(!alive(told.recv().unwrap()));
        drop(stop);
        thread.join().unwrap();
    }
}
