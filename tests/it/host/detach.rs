//! `tackroom host --detach`.

use super::{entry, join};
use crate::support::host::{DEMO_AGENT, host, published, wait_gone};
use crate::support::{DEADLINE, Home, serve};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Instant;

/// Ends a detached host with the test.
struct HeadTail(i32);

impl Drop for HeadTail {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.0), Signal::SIGKILL);
    }
}

#[test]
fn it_returns_when_it_is_ready_and_the_host_stands_alone() {
    let home = Home::new();
    // Something that the caller has open, and hands on without a thought.
    let (left, handed_on) = std::io::pipe().unwrap();
    let mut command = host(home.path(), &["--detach", "--json"], &DEMO_AGENT);
    let number = handed_on.as_raw_fd();
    // SAFETY: the call may be made between fork and exec. In this process the flag stays: others fork, too.
    unsafe {
        command.pre_exec(move || match libc::fcntl(number, libc::F_SETFD, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let run = command.stdout(Stdio::piped()).output().unwrap();
    drop(handed_on);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let ready: Value = serde_json::from_slice(&run.stdout).unwrap();
    let pid = ready["pid"].as_i64().unwrap() as i32;
    let ends = HeadTail(pid);
    // Nothing of it is left in the host.
    let mut closed = [PollFd::new(left.as_fd(), PollFlags::POLLIN)];
    poll(&mut closed, PollTimeout::try_from(DEADLINE).unwrap()).unwrap();
    assert_eq!(closed[0].revents(), Some(PollFlags::POLLHUP), "the host has it open");
    let input = fs::read_link(format!("/proc/{pid}/fd/0")).unwrap();
    let outputs = [1, 2].map(|number| fs::read_link(format!("/proc/{pid}/fd/{number}")).unwrap());
    assert_eq!(
        [input, outputs[0].clone(), outputs[1].clone()].map(|path| path.display().to_string()),
        ["/dev/null"; 3]
    );
    assert_eq!(nix::unistd::getsid(Some(Pid::from_raw(pid))).unwrap(), Pid::from_raw(pid));
    let mut server = serve(home);
    assert_eq!(
        (&entry(&mut server)["endpoint"], &entry(&mut server)["owner"]["pid"]),
        (&ready["endpoint"], &json!(pid))
    );
    let at = join(&mut server, &ready["runtimeId"], "anna");
    server.at(&at, "close", json!({})).result();
    wait_gone(pid);
    assert_eq!(published(&server.home), Vec::<String>::new());
    drop(ends);
}

#[test]
fn it_says_the_same_to_a_person() {
    let home = Home::new();
    let run = host(home.path(), &["--detach"], &DEMO_AGENT).output().unwrap();
    let said = String::from_utf8(run.stdout).unwrap();
    let mut server = serve(home);
    let live = entry(&mut server);
    let _ends = HeadTail(live["owner"]["pid"].as_i64().unwrap() as i32);
    let id = live["runtimeId"].as_str().unwrap();
    assert!(said.starts_with("hosting ACP agent in /"), "{said}");
    assert!(said.contains(&format!("\nruntime {id}\n")), "{said}");
    assert!(said.ends_with(&format!("attach with: tackroom attach {}\n", &id[..8])), "{said}");
}

#[test]
fn what_fails_before_it_is_ready_is_told() {
    let home = Home::new();
    for (agent, why) in
        [(["no-such-agent"].as_slice(), "cannot be started"), (&["sh", "-c", "echo oh >&2; exit 3"], "oh")]
    {
        let run = host(home.path(), &["--detach"], agent).output().unwrap();
        let said = String::from_utf8(run.stderr).unwrap();
        assert_eq!((run.status.code(), run.stdout.len()), (Some(1), 0), "{said}");
        assert!(said.contains(why), "{said}");
        assert_eq!(published(&home), Vec::<String>::new());
    }
}

#[test]
fn who_does_not_want_it_any_more_before_it_is_ready_leaves_nothing() {
    let home = Home::new();
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        // An agent that never answers, and says who it is.
        let mark = home.path().join("pid");
        let script = format!("echo $$ > {0}.part; mv {0}.part {0}; exec sleep 600", mark.display());
        let mut child = host(home.path(), &["--detach"], &["sh", "-c", &script]).spawn().unwrap();
        let began = Instant::now();
        let agent: i32 = loop {
            assert!(began.elapsed() < DEADLINE, "the agent is not started");
            if let Ok(text) = fs::read_to_string(&mark) {
                break text.trim().parse().unwrap();
            }
            std::thread::yield_now();
        };
        fs::remove_file(&mark).unwrap();
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        child.wait().unwrap();
        wait_gone(agent);
        assert_eq!(published(&home), Vec::<String>::new());
    }
}
