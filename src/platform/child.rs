//! Programs that we start and answer for: each in a process group of its own, which ends with us.
//!
//! On Linux the system itself kills the program if we are killed. Elsewhere it only sees its input end. On Windows there
//! are no groups: only the program itself is ended.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::process::ExitStatus;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// A program and all that it started and left in its group. Killed when dropped.
pub struct Group {
    child: Child,
    pid: u32,
    end: Pin<Box<dyn Future<Output = ()> + Send>>,
    is_reaped: bool,
}

/// Starts it. Must be called within a runtime.
pub fn start(mut command: Command) -> io::Result<Group> {
    command.kill_on_drop(true);
    let child = system::spawn(command)?;
    let pid = child.id().ok_or_else(|| io::Error::other("it ended at once"))?;
    let end = super::process::exited(i32::try_from(pid).map_err(io::Error::other)?);
    Ok(Group { child, pid, end: Box::pin(end), is_reaped: false })
}

/// Lets both outputs of a command go into one pipe, so that what is written stays in order; the pipe's other end. Where
/// that is not possible each has its own.
pub fn join_outputs(command: &mut Command) -> io::Result<Option<ChildStdout>> {
    system::join_outputs(command)
}

impl Group {
    /// The process that was started, which is also the group's number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Its pipes, as far as there are any and they were not taken before.
    pub fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take())
    }

    /// Waits until the program itself has ended, then ends what it left in its group. May be dropped and called again
    /// until it has answered.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        // Not by reaping: as long as it is a zombie, the group's number is nobody else's.
        self.end.as_mut().await;
        self.kill();
        let status = self.child.wait().await?;
        self.is_reaped = true;
        Ok(status)
    }

    /// Asks the group to end.
    pub fn terminate(&mut self) {
        if !self.is_reaped {
            system::terminate(self.pid, &mut self.child);
        }
    }

    /// Ends the group.
    pub fn kill(&mut self) {
        if !self.is_reaped {
            system::kill(self.pid, &mut self.child);
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
    use super::{Child, ChildStdout, Command, ExitStatus, io};
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    pub fn spawn(mut command: Command) -> io::Result<Child> {
        command.process_group(0);
        #[cfg(target_os = "linux")]
        return forker::spawn(command);
        #[cfg(not(target_os = "linux"))]
        command.spawn()
    }

    pub fn join_outputs(command: &mut Command) -> io::Result<Option<ChildStdout>> {
        let (output, end) = io::pipe()?;
        command.stdout(end.try_clone()?).stderr(end);
        let output = std::os::fd::OwnedFd::from(output);
        ChildStdout::from_std(output.into()).map(Some)
    }

    fn send(pid: u32, signal: Signal) {
        // An error means that nobody is left.
        let _ = i32::try_from(pid).map(|pid| killpg(Pid::from_raw(pid), signal));
    }

    pub fn terminate(pid: u32, _child: &mut Child) {
        send(pid, Signal::SIGTERM);
    }

    pub fn kill(pid: u32, _child: &mut Child) {
        send(pid, Signal::SIGKILL);
    }

    pub fn signal(status: ExitStatus) -> Option<String> {
        use std::os::unix::process::ExitStatusExt;
        let number = status.signal()?;
        Some(Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |signal| signal.as_str().to_owned()))
    }

    /// The system kills such a child when the *thread* that forked it ends. Threads of a runtime come and go, so one of
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

        pub fn spawn(mut command: Command) -> io::Result<Child> {
            let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
            let parent = nix::unistd::getpid();
            // SAFETY: between fork and exec only async-signal-safe system calls are made and nothing is allocated.
            unsafe {
                command.pre_exec(move || {
                    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
                    // We may have ended before it was asked for.
                    if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
                });
            }
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
    use super::{Child, ChildStdout, Command, ExitStatus, io};

    pub fn join_outputs(_command: &mut Command) -> io::Result<Option<ChildStdout>> {
        Ok(None)
    }

    pub fn spawn(mut command: Command) -> io::Result<Child> {
        command.spawn()
    }

    pub fn terminate(pid: u32, child: &mut Child) {
        kill(pid, child);
    }

    pub fn kill(_pid: u32, child: &mut Child) {
        // An error means that it has ended.
        let _ = child.start_kill();
    }

    pub fn signal(_status: ExitStatus) -> Option<String> {
        None
    }
}
