//! What tests need of the operating system.

use std::ffi::CString;
use std::path::Path;

/// Runs something with the rights of a user who owns nothing. Only this thread has them: it must end with it.
#[cfg(target_os = "linux")]
pub fn as_nobody<T>(run: impl FnOnce() -> T) -> T {
    const KEEP: libc::c_long = -1;
    // SAFETY: the system call takes three numbers and changes the credentials of the calling thread alone.
    unsafe { libc::syscall(libc::SYS_setresuid, KEEP, 65_534 as libc::c_long, KEEP) };
    run()
}

/// Makes the rows of a table of a database endless, in a file of a few pages: each inner page leads many times to the one
/// page below it.
pub fn make_endless(path: &std::path::Path, table: &str) {
    const LEVELS: usize = 15;
    const PAGE: usize = 4_096;
    let find = "select rootpage from sqlite_schema where type = 'table' and name = ?1";
    let root = rusqlite::Connection::open(path).unwrap().query_row(find, [table], |row| row.get::<_, u32>(0)).unwrap()
        as usize;
    let mut file = std::fs::read(path).unwrap();
    assert_eq!(file[16..18], (PAGE as u16).to_be_bytes());
    let place = (root - 1) * PAGE..root * PAGE;
    let rows = file[place.clone()].to_vec();
    let first = file.len() / PAGE;
    for level in 0..LEVELS {
        let below = ((first + level + 1) as u32).to_be_bytes();
        let cells = 500_u16;
        let mut page = vec![0; PAGE];
        page[0] = 5;
        page[3..5].copy_from_slice(&cells.to_be_bytes());
        page[5..7].copy_from_slice(&(PAGE as u16 - 5 * cells).to_be_bytes());
        page[8..12].copy_from_slice(&below);
        for cell in 1..=usize::from(cells) {
            let at = PAGE - 5 * cell;
            page[10 + 2 * cell..12 + 2 * cell].copy_from_slice(&(at as u16).to_be_bytes());
            page[at..at + 4].copy_from_slice(&below);
            page[at + 4] = 1;
        }
        match level {
            0 => file[place.clone()].copy_from_slice(&page),
            _ => file.extend(page),
        }
    }
    file.extend(rows);
    let pages = (file.len() / PAGE) as u32;
    file[28..32].copy_from_slice(&pages.to_be_bytes());
    std::fs::write(path, file).unwrap();
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

    /// Ends it, and waits until it is a zombie.
    pub fn kill(&mut self) {
        make_zombie(&mut self.0);
    }
}

#[cfg(unix)]
impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Ends a process without asking for its end.
#[cfg(unix)]
fn make_zombie(child: &mut std::process::Child) {
    child.kill().unwrap();
    #[cfg(target_os = "linux")]
    {
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT).unwrap();
    }
}

/// A process that holds a file locked until it is dropped.
#[cfg(target_os = "linux")]
pub struct Holder {
    child: std::process::Child,
    /// Who holds it, where that is not the child itself.
    heir: Option<i32>,
}

#[cfg(target_os = "linux")]
impl Holder {
    /// Starts it with a lock of a kind: `flock`, `fcntl`, or `inherited`: an flock that is left by who took it.
    pub fn start(kind: &str, path: &std::path::Path) -> Self {
        use std::io::{BufRead, BufReader};
        use std::os::unix::process::CommandExt;
        let inherited = kind == "inherited";
        let mut command = std::process::Command::new(if inherited { "sh" } else { "sleep" });
        match inherited {
            true => command.args(["-c", "sleep 600 & echo $!"]).stdout(std::process::Stdio::piped()),
            false => command.arg("600"),
        };
        let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
        let posix = kind == "fcntl";
        let lock = move || {
            // SAFETY: system calls alone, on a descriptor that is opened here and a lock that is all zeroes but its type.
            let locked = unsafe {
                let descriptor = libc::open(name.as_ptr(), libc::O_RDWR);
                let mut range: libc::flock = std::mem::zeroed();
                range.l_type = libc::F_WRLCK as libc::c_short;
                match posix {
                    true => libc::fcntl(descriptor, libc::F_SETLK, &range),
                    false => libc::flock(descriptor, libc::LOCK_EX | libc::LOCK_NB),
                }
            };
            if locked == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        };
        // SAFETY: between fork and exec it makes system calls and allocates nothing.
        let mut child = unsafe { command.pre_exec(lock) }.spawn().unwrap();
        let heir = inherited.then(|| {
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            child.wait().unwrap();
            line.trim().parse().unwrap()
        });
        Self { child, heir }
    }

    /// The pid of who took the lock.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Ends it, and waits until it is a zombie.
    pub fn kill(&mut self) {
        make_zombie(&mut self.child);
    }
}

#[cfg(target_os = "linux")]
impl Drop for Holder {
    fn drop(&mut self) {
        use nix::sys::signal::{Signal, kill};
        if let Some(heir) = self.heir {
            kill(nix::unistd::Pid::from_raw(heir), Signal::SIGKILL).unwrap();
        }
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

fn name(path: &Path, attribute: &str) -> (CString, CString) {
    (CString::new(path.to_str().unwrap()).unwrap(), CString::new(attribute).unwrap())
}

/// Gives a file an extended attribute.
#[cfg(target_os = "linux")]
pub fn set_attribute(path: &Path, attribute: &str, value: &[u8]) {
    let (path, attribute) = name(path, attribute);
    // SAFETY: both names end with NUL, and the value is as long as is said.
    let set = unsafe { libc::setxattr(path.as_ptr(), attribute.as_ptr(), value.as_ptr().cast(), value.len(), 0) };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
}

/// An extended attribute of a file.
#[cfg(target_os = "linux")]
pub fn get_attribute(path: &Path, attribute: &str) -> Vec<u8> {
    let (path, attribute) = name(path, attribute);
    let mut value = vec![0; 1 << 16];
    // SAFETY: both names end with NUL, and the buffer is as large as is said.
    let size = unsafe { libc::getxattr(path.as_ptr(), attribute.as_ptr(), value.as_mut_ptr().cast(), value.len()) };
    value.truncate(usize::try_from(size).expect("the attribute"));
    value
}
