//! What tests need of the operating system.

/// Runs something with the rights of a user who owns nothing. Only this thread has them: it must end with it.
#[cfg(target_os = "linux")]
pub fn as_nobody<T>(run: impl FnOnce() -> T) -> T {
    const KEEP: libc::c_long = -1;
    // SAFETY: the system call takes three numbers and changes the credentials of the calling thread alone.
    unsafe { libc::syscall(libc::SYS_setresuid, KEEP, 65_534 as libc::c_long, KEEP) };
    run()
}

/// A process that lives until it is dropped.
#[cfg(unix)]
pub struct Sleeper(std::process::Child);

#[cfg(unix)]
impl Sleeper {
    /// Starts it.
    pub fn start() -> Self {
        Self(std::process::Command::new("sleep").arg("600").spawn().unwrap())
    }

    /// Its pid.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap()
    }

    /// Ends it without asking for its end: a zombie stays.
    pub fn kill(&mut self) {
        self.0.kill().unwrap();
    }
}

#[cfg(unix)]
impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}
