//! What tests need of the operating system.

/// Runs something with the rights of a user who owns nothing. Only this thread has them: it must end with it.
#[cfg(target_os = "linux")]
pub fn as_nobody<T>(run: impl FnOnce() -> T) -> T {
    const KEEP: libc::c_long = -1;
    // SAFETY: the system call takes three numbers and changes the credentials of the calling thread alone.
    unsafe { libc::syscall(libc::SYS_setresuid, KEEP, 65_534 as libc::c_long, KEEP) };
    run()
}
