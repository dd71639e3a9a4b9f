//! Programs that are ours for a while: each in a session of its own, so that what it starts can be ended with it.
//!
//! It has no terminal, hears no key that is pressed there, and is no child of a shell's job. On Linux it is told to end
//! (SIGTERM) when the thread that started it is gone without having ended it, as when we are killed: so start it from a
//! thread that lives as long as it is wanted.

use super::process;
use crate::limits;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::process::{Child, Command};

/// A running program and all that it started. Dropped, all of it is killed.
pub struct Group {
    child: Child,
    /// Its process, whose number is the group's, until it is reaped.
    leader: Option<i32>,
}

impl Group {
    /// Starts the program. Must be called within a runtime.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        apart(command);
        let child = command.kill_on_drop(true).spawn()?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok());
        Ok(Self { child, leader })
    }

    /// The program itself, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits until the program has ended, kills what it left behind, and sees it gone. May be dropped and called again.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(leader) = self.leader {
            // It stays a zombie until it is waited for, so that the group's number is nobody else's here.
            process::exited(leader).await;
            self.kill();
        }
        let status = self.child.wait().await?;
        if let Some(leader) = self.leader.take() {
            emptied(leader).await;
        }
        Ok(status)
    }

    /// Asks all of it to end, kills what is still there after `grace`, and waits until the program is gone.
    pub async fn end(mut self, grace: Duration) {
        if self.leader.is_none() {
            return;
        }
        self.signal(Ask::End);
        if tokio::time::timeout(grace, self.wait()).await.is_err() {
            self.kill();
            // A process that is killed can only be kept by the system itself.
            let _ = tokio::time::timeout(limits::GROUP_GONE, self.wait()).await;
        }
    }

    fn kill(&mut self) {
        self.signal(Ask::Die);
    }

    #[cfg(unix)]
    fn signal(&mut self, ask: Ask) {
        use nix::sys::signal::{Signal, killpg};
        let signal = match ask {
            Ask::End => Signal::SIGTERM,
            Ask::Die => Signal::SIGKILL,
        };
        if let Some(leader) = self.leader {
            // There may be nobody left to hear it.
            let _ = killpg(nix::unistd::Pid::from_raw(leader), signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&mut self, _: Ask) {
        let _ = self.child.start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

#[derive(Clone, Copy)]
enum Ask {
    End,
    Die,
}

/// Waits until nobody is left in a group that was killed: the system takes a moment for that.
#[cfg(unix)]
async fn emptied(group: i32) {
    use nix::sys::signal::killpg;
    let is_there = || killpg(nix::unistd::Pid::from_raw(group), None).is_ok();
    let all_gone = async {
        while is_there() {
            tokio::time::sleep(limits::GROUP_PAUSE).await;
        }
    };
    // What nobody reaps stays, and does nothing any more.
    let _ = tokio::time::timeout(limits::GROUP_GONE, all_gone).await;
}

#[cfg(not(unix))]
async fn emptied(_group: i32) {}

/// Makes what is started a session of its own that does not outlive us.
#[cfg(unix)]
fn apart(command: &mut Command) {
    #[cfg(target_os = "linux")]
    let parent = nix::unistd::getpid();
    let begin = move || {
        nix::unistd::setsid()?;
        #[cfg(target_os = "linux")]
        {
            nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGTERM)?;
            // We may be gone already, and nobody would tell it.
            if nix::unistd::getppid() != parent {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made, and nothing is allocated.
    unsafe { command.pre_exec(begin) };
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Stdio;
    use tokio::io::{AsyncBufReadExt, BufReader};

    const DEADLINE: Duration = Duration::from_secs(30);

    /// A shell that says its own pid and that of a process which it started.
    async fn start(script: &str) -> (Group, [i32; 2]) {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{script} sleep 600 & echo $$; echo $!; wait; wait")]).stdout(Stdio::piped());
        let mut group = Group::spawn(&mut command).unwrap();
        let mut lines = BufReader::new(group.child().stdout.take().unwrap()).lines();
        let mut pids = [0; 2];
        for pid in &mut pids {
            *pid = lines.next_line().await.unwrap().unwrap().parse().unwrap();
        }
        (group, pids)
    }

    async fn all_gone(pids: [i32; 2]) {
        for pid in pids {
            tokio::time::timeout(DEADLINE, process::exited(pid)).await.expect("it should end");
        }
    }

    #[tokio::test]
    async fn what_it_started_ends_with_it() {
        let (group, pids) = start("").await;
        group.end(DEADLINE).await;
        all_gone(pids).await;
        // Who does not listen is killed.
        let (group, pids) = start("trap '' TERM;").await;
        group.end(Duration::from_millis(50)).await;
        all_gone(pids).await;
        let (group, pids) = start("").await;
        drop(group);
        all_gone(pids).await;
    }

    #[tokio::test]
    async fn what_it_leaves_behind_is_killed_when_it_ends() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo $!; exit 7"]).stdout(Stdio::piped());
        let mut group = Group::spawn(&mut command).unwrap();
        let mut lines = BufReader::new(group.child().stdout.take().unwrap()).lines();
        let left: i32 = lines.next_line().await.unwrap().unwrap().parse().unwrap();
        assert_eq!(group.wait().await.unwrap().code(), Some(7));
        all_gone([left, left]).await;
    }

    #[tokio::test]
    async fn it_is_a_session_of_its_own() {
        let (group, [pid, _]) = start("").await;
        let session = nix::unistd::getsid(Some(nix::unistd::Pid::from_raw(pid))).unwrap();
        assert_eq!(session.as_raw(), pid);
        group.end(DEADLINE).await;
    }
}
