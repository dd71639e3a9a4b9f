//! The controlling terminal of a process, and the processes that display it.
//!
//! Linux is built and tested. Elsewhere no terminal can be determined.

/// A process that displays a terminal: the parent of a process at its root, such as a multiplexer's server, a terminal
/// emulator or `sshd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Display {
    /// The displaying process. It belongs to the current user.
    pub pid: i32,
    /// Its name, at most 15 bytes. The process chooses it, so it is only a hint.
    pub name: String,
    /// Its child in the terminal.
    pub child: i32,
}

#[cfg(target_os = "linux")]
mod system {
    use super::Display;
    use crate::limits;
    use crate::platform::process::parent_and_terminal;
    use nix::sys::stat::{major, minor};
    use std::fs::{self, File, Metadata};
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::path::{Path, PathBuf};

    /// The controlling terminal of a process. `None` if it has none, belongs to another user, or runs in another mount
    /// namespace, where the same device number is another terminal.
    pub fn of(pid: i32) -> Option<PathBuf> {
        let (_, device) = parent_and_terminal(pid)?;
        (device != 0 && is_own(pid) && shares_mounts(pid)).then(|| path(device)).flatten()
    }

    /// The processes that display the terminal of a process.
    pub fn displays(pid: i32) -> Vec<Display> {
        let Some((_, device)) = parent_and_terminal(pid).filter(|(_, device)| *device != 0) else { return Vec::new() };
        let mut displays = Vec::new();
        for child in processes() {
            let Some((parent, _)) = parent_and_terminal(child).filter(|(_, terminal)| *terminal == device) else {
                continue;
            };
            let is_root = parent_and_terminal(parent).is_some_and(|(_, terminal)| terminal != device);
            if is_root && is_own(child) && is_own(parent) && shares_mounts(child) {
                let name = fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
                displays.push(Display { pid: parent, name: name.trim_end().to_owned(), child });
            }
        }
        displays
    }

    /// The paths of the Unix sockets on which a process listens.
    pub fn sockets(pid: i32) -> Vec<PathBuf> {
        let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
        let inode = |link: PathBuf| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse::<u64>().ok();
        let links = descriptors.flatten().filter_map(|descriptor| fs::read_link(descriptor.path()).ok());
        let inodes: Vec<u64> = links.filter_map(inode).collect();
        let listening = crate::platform::socket::Listeners::now();
        listening
            .of_inodes(&inodes)
            .filter(|path| fs::metadata(path).is_ok_and(|metadata| is_own_socket(&metadata)))
            .collect()
    }

    /// One variable of the environment with which a process was started.
    pub fn variable(pid: i32, name: &str) -> Option<String> {
        let mut environment = Vec::new();
        let file = File::open(format!("/proc/{pid}/environ")).ok()?;
        file.take(limits::ENVIRONMENT).read_to_end(&mut environment).ok()?;
        let mut variables = environment.split(|byte| *byte == 0);
        let value = variables.find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
        String::from_utf8(value.to_vec()).ok()
    }

    /// Whether the owner of a file may execute it.
    pub fn is_executable(file: &Path) -> bool {
        fs::metadata(file).is_ok_and(|metadata| metadata.mode() & 0o100 != 0)
    }

    fn processes() -> impl Iterator<Item = i32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    fn is_own(pid: i32) -> bool {
        fs::metadata(format!("/proc/{pid}")).is_ok_and(|metadata| metadata.uid() == nix::unistd::geteuid().as_raw())
    }

    fn is_own_socket(metadata: &Metadata) -> bool {
        metadata.file_type().is_socket() && metadata.uid() == nix::unistd::geteuid().as_raw()
    }

    fn shares_mounts(pid: i32) -> bool {
        let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
        let own = namespace("self");
        own.is_some() && own == namespace(&pid.to_string())
    }

    /// The file of a terminal's device number, checked against the file itself.
    fn path(device: i32) -> Option<PathBuf> {
        // The kernel's encoding of field 7: the minor number in bits 31 to 20 and 7 to 0, the major one between.
        let bits = device.cast_unsigned();
        let (high, low) = (u64::from(bits >> 8 & 0xfff), u64::from(bits >> 12 & 0xf_ff00 | bits & 0xff));
        let candidates = [format!("/dev/pts/{}", low + 256 * high.saturating_sub(136)), format!("/dev/tty{low}")];
        let is_it = |path: &PathBuf| {
            let device = fs::metadata(path).ok().filter(|metadata| metadata.file_type().is_char_device());
            device.is_some_and(|metadata| (major(metadata.rdev()), minor(metadata.rdev())) == (high, low))
        };
        candidates.into_iter().map(PathBuf::from).find(is_it)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Display;
    use std::path::{Path, PathBuf};

    /// The controlling terminal of a process: cannot be determined here.
    pub fn of(_pid: i32) -> Option<PathBuf> {
        None
    }

    /// The processes that display the terminal of a process: cannot be determined here.
    pub fn displays(_pid: i32) -> Vec<Display> {
        Vec::new()
    }

    /// The paths of the Unix sockets on which a process listens: cannot be determined here.
    pub fn sockets(_pid: i32) -> Vec<PathBuf> {
        Vec::new()
    }

    /// One variable of the environment with which a process was started: cannot be determined here.
    pub fn variable(_pid: i32, _name: &str) -> Option<String> {
        None
    }

    /// Whether the owner of a file may execute it: cannot be determined here.
    pub fn is_executable(_file: &Path) -> bool {
        false
    }
}

pub use system::{displays, is_executable, of, sockets, variable};
