//! The extended attributes of open files, access control lists among them, so that a file that takes another one's place
//! lets in nobody else.
//!
//! Linux is built and tested. Elsewhere they are not looked at, and no file has any.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::io;

/// The extended attributes of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes(BTreeMap<CString, Vec<u8>>);

impl Attributes {
    /// Reads those of a file.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let mut found = BTreeMap::new();
        for name in system::names(file)? {
            // One may be removed meanwhile.
            if let Some(value) = system::value(file, &name)? {
                found.insert(name, value);
            }
        }
        Ok(Self(found))
    }

    /// Gives a file these and no others. A label that a security module put on the file may stay.
    ///
    /// # Errors
    /// Where one cannot be set or removed; the message names it.
    pub(super) fn give_to(&self, file: &File) -> io::Result<()> {
        let unkept = |name: &CString, error: io::Error| {
            let message = format!("its extended attribute {} cannot be kept: {error}", name.to_string_lossy());
            io::Error::new(error.kind(), message)
        };
        let Self(now) = Self::of(file)?;
        for name in now.keys().filter(|name| !self.0.contains_key(*name)) {
            match system::remove(file, name) {
                Err(_) if name.as_bytes().starts_with(b"security.") => {}
                removed => removed.map_err(|error| unkept(name, error))?,
            }
        }
        for (name, value) in self.0.iter().filter(|(name, value)| now.get(*name) != Some(value)) {
            system::set(file, name, value).map_err(|error| unkept(name, error))?;
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::{CString, File, io};
    use nix::errno::Errno;
    use std::os::fd::AsRawFd;

    /// Calls until the buffer is as large as what there is. `call` takes a buffer and its size, and 0 asks for the size.
    fn whole(call: impl Fn(*mut libc::c_void, usize) -> isize) -> io::Result<Vec<u8>> {
        loop {
            let size = Errno::result(call(std::ptr::null_mut(), 0))?;
            let mut buffer = vec![0; size.unsigned_abs()];
            if buffer.is_empty() {
                return Ok(buffer);
            }
            match Errno::result(call(buffer.as_mut_ptr().cast(), buffer.len())) {
                Ok(read) => {
                    buffer.truncate(read.unsigned_abs());
                    return Ok(buffer);
                }
                // It grew meanwhile.
                Err(Errno::ERANGE) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn names(file: &File) -> io::Result<Vec<CString>> {
        // SAFETY: the descriptor is open, and the system writes at most `size` bytes to the buffer.
        let list = whole(|buffer, size| unsafe { libc::flistxattr(file.as_raw_fd(), buffer.cast(), size) });
        let list = match list {
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => return Ok(Vec::new()),
            list => list?,
        };
        let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.filter_map(|name| CString::new(name).ok()).collect())
    }

    pub(super) fn value(file: &File, name: &CString) -> io::Result<Option<Vec<u8>>> {
        // SAFETY: the descriptor is open, the name ends with NUL, and the system writes at most `size` bytes to the buffer.
        match whole(|buffer, size| unsafe { libc::fgetxattr(file.as_raw_fd(), name.as_ptr(), buffer, size) }) {
            Err(error) if error.raw_os_error() == Some(libc::ENODATA) => Ok(None),
            value => value.map(Some),
        }
    }

    pub(super) fn set(file: &File, name: &CString, value: &[u8]) -> io::Result<()> {
        // SAFETY: the descriptor is open, the name ends with NUL, and the value is as long as is said.
        let set = unsafe { libc::fsetxattr(file.as_raw_fd(), name.as_ptr(), value.as_ptr().cast(), value.len(), 0) };
        Ok(Errno::result(set).map(drop)?)
    }

    pub(super) fn remove(file: &File, name: &CString) -> io::Result<()> {
        // SAFETY: the descriptor is open and the name ends with NUL.
        Ok(Errno::result(unsafe { libc::fremovexattr(file.as_raw_fd(), name.as_ptr()) }).map(drop)?)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{CString, File, io};

    pub fn names(_file: &File) -> io::Result<Vec<CString>> {
        Ok(Vec::new())
    }

    pub fn value(_file: &File, _name: &CString) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    pub fn set(_file: &File, _name: &CString, _value: &[u8]) -> io::Result<()> {
        Ok(())
    }

    pub fn remove(_file: &File, _name: &CString) -> io::Result<()> {
        Ok(())
    }
}
