//! The terminal that a person types in: taken key by key, and given back exactly as it was.

use std::io;

/// A terminal in raw mode: each key comes as it is pressed, nothing is echoed, no key sends a signal. It is put back
/// when this is dropped, also while a panic unwinds.
pub struct Raw {
    #[cfg(unix)]
    descriptor: std::os::fd::OwnedFd,
    #[cfg(unix)]
    saved: nix::sys::termios::Termios,
}

#[cfg(unix)]
impl Raw {
    /// Takes the terminal of standard input.
    ///
    /// # Errors
    /// Where standard input is no terminal.
    pub fn enter() -> io::Result<Self> {
        use std::os::fd::AsFd;
        let descriptor = io::stdin().as_fd().try_clone_to_owned()?;
        let saved = nix::sys::termios::tcgetattr(&descriptor)?;
        let raw = Self { descriptor, saved };
        raw.again()?;
        Ok(raw)
    }

    /// Takes it again after [`Raw::leave`], or after somebody else changed it.
    pub fn again(&self) -> io::Result<()> {
        let mut modes = self.saved.clone();
        nix::sys::termios::cfmakeraw(&mut modes);
        self.set(&modes)
    }

    /// Puts it back as it was, for a while.
    pub fn leave(&self) -> io::Result<()> {
        self.set(&self.saved)
    }

    /// Stops this process as Ctrl-Z does, with the terminal as it was; returns when it goes on.
    pub fn stop(&self) -> io::Result<()> {
        self.leave()?;
        nix::sys::signal::raise(nix::sys::signal::Signal::SIGTSTP)?;
        self.again()
    }

    fn set(&self, modes: &nix::sys::termios::Termios) -> io::Result<()> {
        // At once: what nobody reads must not keep a terminal raw.
        Ok(nix::sys::termios::tcsetattr(&self.descriptor, nix::sys::termios::SetArg::TCSANOW, modes)?)
    }
}

#[cfg(unix)]
impl Drop for Raw {
    fn drop(&mut self) {
        // Where this fails the terminal is gone.
        let _ = self.leave();
    }
}

#[cfg(not(unix))]
impl Raw {
    /// Taking a terminal is written for Unix only.
    pub fn enter() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// See [`Raw::enter`].
    pub fn again(&self) -> io::Result<()> {
        Ok(())
    }

    /// See [`Raw::enter`].
    pub fn leave(&self) -> io::Result<()> {
        Ok(())
    }

    /// See [`Raw::enter`].
    pub fn stop(&self) -> io::Result<()> {
        Ok(())
    }
}
