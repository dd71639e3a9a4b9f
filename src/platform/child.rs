//! Programs that we start and answer for: each in a session of its own, so that what it starts can be ended with it.
//!
//! It has no terminal, hears no key that is pressed there, and is no child of a shell's job. On Linux the system itself
//! ends the program if we are killed; elsewhere it only sees its input end. On Windows there are no groups: only the
//! program itself is ended.
//!
//! What this cannot do without another process that stands guard: if we are killed, only the program itself ends, and what
//! it started may live on; and what leaves the group, by a session or a group of its own (`setsid`, a daemon), is ended by
//! nothing here.

use crate::limits;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// How a program is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is asked to end, and may put something in order first.
    Terminate,
    /// At once.
    Kill,
}

/// A program and all that it started and left in its group. Killed when dropped.
pub struct Group {
    child: Child,
    /// The process that was started, which is also the group's number.
    pid: i32,
    /// What is waited for next: the program's end, and once it is reaped that of what it left. Kept, so that a waiting
    /// which is dropped goes on where it was.
    next: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    is_reaped: bool,
}

/// Starts it. `orphaned` is how the system ends it when we are gone without having done so, as when we are killed. Must
/// be called within a runtime.
pub fn start(mut command: Command, orphaned: Stop) -> io::Result<Group> {
    command.kill_on_drop(true);
    let child = system::spawn(command, orphaned)?;
    let pid = child.id().ok_or_else(|| io::Error::other("it ended at once"))?;
    let pid = i32::try_from(pid).map_err(io::Error::other)?;
    let end = super::process::exited(pid);
    Ok(Group { child, pid, next: Some(Box::pin(end)), is_reaped: false })
}

/// Lets both outputs of a command go into one pipe, so that what is written stays in order; the pipe's other end. Where
/// that is not possible each has its own.
pub fn join_outputs(command: &mut Command) -> io::Result<Option<ChildStdout>> {
    system::join_outputs(command)
}

impl Group {
    /// The process that was started, which is also the group's number.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Its pipes, as far as there are any and they were not taken before.
    pub fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take())
    }

    /// Waits until the program itself has ended, kills what it left in its group, and sees that gone. May be dropped and
    /// called again.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        if !self.is_reaped {
            // Not by reaping: as long as it is a zombie, the group's number is nobody else's.
            self.wait_for_next().await;
            self.kill();
            self.child.wait().await?;
            self.is_reaped = true;
            self.next = Some(Box::pin(system::emptied(self.pid)));
        }
        self.wait_for_next().await;
        self.child.wait().await
    }

    async fn wait_for_next(&mut self) {
        if let Some(next) = &mut self.next {
            next.await;
            self.next = None;
        }
    }

    /// Asks the group to end.
    pub fn terminate(&mut self) {
        self.stop(Stop::Terminate);
    }

    /// Ends the group.
    pub fn kill(&mut self) {
        self.stop(Stop::Kill);
    }

    fn stop(&mut self, stop: Stop) {
        if !self.is_reaped {
            system::stop(self.pid, &mut self.child, stop);
        }
    }

    /// Asks the group to end, kills what is still there after `grace`, and waits until the program is gone.
    pub async fn end(mut self, grace: Duration) {
        self.terminate();
        if tokio::time::timeout(grace, self.ended()).await.is_err() {
            self.kill();
            // A process that is killed can only be kept by the system itself.
            let _ = tokio::time::timeout(limits::GROUP_GONE, self.ended()).await;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The name of the signal that ended a process; `None` where it ended by itself.
pub fn signal(status: ExitStatus) -> Option<String> {
    system::signal(status)
}

#[cfg(unix)]
mod system {
    use super::{Child, ChildStdout, Command, ExitStatus, Stop, io};
    use crate::limits;
    use crate::platform::process;
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    pub(super) fn spawn(mut command: Command, orphaned: Stop) -> io::Result<Child> {
        #[cfg(target_os = "linux")]
        let parent = nix::unistd::getpid();
        let begin = move || {
            nix::unistd::setsid()?;
            #[cfg(target_os = "linux")]
            {
                nix::sys::prctl::set_pdeathsig(signal_of(orphaned))?;
                // We may be gone already, and nobody would tell it.
                if nix::unistd::getppid() != parent {
                    return Err(io::ErrorKind::Interrupted.into());
                }
            }
            #[cfg(not(target_os = "linux"))]
            let _ = orphaned;
            Ok(())
        };
        // SAFETY: between fork and exec only async-signal-safe system calls are made and nothing is allocated.
        unsafe { command.pre_exec(begin) };
        #[cfg(target_os = "linux")]
        return forker::spawn(command);
        #[cfg(not(target_os = "linux"))]
        command.spawn()
    }

    fn signal_of(stop: Stop) -> Signal {
        match stop {
            Stop::Terminate => Signal::SIGTERM,
            Stop::Kill => Signal::SIGKILL,
        }
    }

    pub(super) fn join_outputs(command: &mut Command) -> io::Result<Option<ChildStdout>> {
        let (output, end) = io::pipe()?;
        command.stdout(end.try_clone()?).stderr(end);
        let output = std::os::fd::OwnedFd::from(output);
        ChildStdout::from_std(output.into()).map(Some)
    }

    pub(super) fn stop(group: i32, _child: &mut Child, stop: Stop) {
        // An error means that nobody is left.
        let _ = killpg(Pid::from_raw(group), signal_of(stop));
    }

    /// Waits until nobody is left in a group that was killed: the system takes a moment for that.
    pub(super) async fn emptied(group: i32) {
        let all_gone = async {
            while process::group_alive(group) {
                tokio::time::sleep(limits::GROUP_PAUSE).await;
            }
        };
        // Only the system itself can keep what was killed.
        let _ = tokio::time::timeout(limits::GROUP_GONE, all_gone).await;
    }

    pub(super) fn signal(status: ExitStatus) -> Option<String> {
        use std::os::unix::process::ExitStatusExt;
        let number = status.signal()?;
        Some(Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |signal| signal.as_str().to_owned()))
    }

    /// The system ends such a child when the *thread* that forked it ends. Threads of a runtime come and go, so one of
    /// our own does it, which stays for as long as we do.
    #[cfg(target_os = "linux")]
    mod forker {
        use super::{Child, Command, io};
        use std::sync::{LazyLock, mpsc};

        type Job = Box<dyn FnOnce() + Send>;

        static JOBS: LazyLock<mpsc::Sender<Job>> = LazyLock::new(|| {
            let (jobs, work) = mpsc::channel::<Job>();
            let thread = std::thread::Builder::new().name("forker".to_owned());
            // Where no thread can be had, its end of the channel is gone, and who sends hears of it.
            let _ = thread.spawn(move || work.into_iter().for_each(|job| job()));
            jobs
        });

        pub(super) fn spawn(mut command: Command) -> io::Result<Child> {
            let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
            let (answer, answered) = mpsc::channel();
            let job = move || {
                let _runtime = runtime.enter();
                // Who asked waits for it.
                let _ = answer.send(command.spawn());
            };
            JOBS.send(Box::new(job)).map_err(|_| io::Error::other("no thread to start it from"))?;
            answered.recv().map_err(|_| io::Error::other("the thread that starts it failed"))?
        }
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Child, ChildStdout, Command, ExitStatus, Stop, io};

    pub fn join_outputs(_command: &mut Command) -> io::Result<Option<ChildStdout>> {
        Ok(None)
    }

    pub fn spawn(mut command: Command, _orphaned: Stop) -> io::Result<Child> {
        command.spawn()
    }

    pub fn stop(_group: i32, child: &mut Child, _stop: Stop) {
        // An error means that it has ended.
        let _ = child.start_kill();
    }

    pub async fn emptied(_group: i32) {}

    pub fn signal(_status: ExitStatus) -> Option<String> {
        None
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
