//! Being told that directories change: on Linux by inotify. Elsewhere nothing is told, and who asks must look himself.
//!
//! inotify is asked directly for exactly the events that matter here. Crates above it ask to be told of opened files,
//! too, and then each reading of ours would wake us.

use std::ffi::OsString;
use std::path::PathBuf;

/// Something happened in a watched directory. What it tells is a hint: it may be late, early, or for nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// An entry came, went, or changed.
    Entry(PathBuf, OsString),
    /// The directory itself went, and is not watched any more.
    Gone(PathBuf),
    /// There was more than could be told.
    Overflow,
}

/// Why a directory is not watched.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such directory.
    #[error("there is no such directory")]
    Missing,
    /// The system watches no more directories for this user.
    #[error("no more directories can be watched")]
    Limit,
    /// The system refused.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

#[cfg(target_os = "linux")]
pub use linux::{Waker, Watcher};

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Waker, Watcher};

#[cfg(target_os = "linux")]
mod linux {
    use super::{Error, Event};
    use nix::errno::Errno;
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use nix::sys::eventfd::{EfdFlags, EventFd};
    use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, InotifyEvent, WatchDescriptor};
    use std::collections::HashMap;
    use std::io;
    use std::os::fd::AsFd;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::time::Duration;

    /// Directories that are watched.
    pub struct Watcher {
        inotify: Inotify,
        waker: Waker,
        /// One directory may have been named in several ways.
        paths: HashMap<WatchDescriptor, Vec<PathBuf>>,
        watches: HashMap<PathBuf, WatchDescriptor>,
        max: usize,
    }

    /// Ends a wait from another thread.
    #[derive(Clone)]
    pub struct Waker(Arc<EventFd>);

    impl Waker {
        /// Ends the wait that is under way, or the next one.
        pub fn wake(&self) {
            // It fails only when it is rung more often than a number can count.
            let _ = self.0.write(1);
        }
    }

    impl Watcher {
        /// Watches nothing yet, and never more than `max` directories. Fails when the system has no descriptors left.
        pub fn new(max: usize) -> io::Result<Self> {
            let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?;
            let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
            let (paths, watches) = (HashMap::new(), HashMap::new());
            Ok(Self { inotify, waker: Waker(Arc::new(wake)), paths, watches, max })
        }

        /// What ends a wait.
        pub fn waker(&self) -> Waker {
            self.waker.clone()
        }

        /// Whether a directory is watched.
        pub fn watches(&self, directory: &Path) -> bool {
            self.watches.contains_key(directory)
        }

        /// Watches the directory that a path leads to now; what changed in it before is not told. Answers whether it is
        /// another one than was watched before.
        pub fn watch(&mut self, directory: &Path) -> Result<bool, Error> {
            let known = self.watches.get(directory).copied();
            if known.is_none() && self.watches.len() >= self.max {
                return Err(if directory.is_dir() { Error::Limit } else { Error::Missing });
            }
            use AddWatchFlags as Flags;
            let changes = Flags::IN_MODIFY | Flags::IN_ATTRIB | Flags::IN_CLOSE_WRITE;
            let names = Flags::IN_CREATE | Flags::IN_DELETE | Flags::IN_MOVE;
            let itself = Flags::IN_DELETE_SELF | Flags::IN_MOVE_SELF | Flags::IN_ONLYDIR;
            match self.inotify.add_watch(directory, changes | names | itself) {
                Ok(watch) if known == Some(watch) => Ok(false),
                Ok(watch) => {
                    self.forget(directory);
                    self.paths.entry(watch).or_default().push(directory.to_owned());
                    self.watches.insert(directory.to_owned(), watch);
                    Ok(true)
                }
                Err(Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP) => Err(Error::Missing),
                Err(Errno::ENOSPC | Errno::ENOMEM) => Err(Error::Limit),
                Err(error) => Err(Error::Io(error.into())),
            }
        }

        /// Watches a directory no more.
        pub fn forget(&mut self, directory: &Path) {
            let Some(watch) = self.watches.remove(directory) else { return };
            let Some(paths) = self.paths.get_mut(&watch) else { return };
            paths.retain(|path| path != directory);
            if paths.is_empty() {
                self.paths.remove(&watch);
                // It fails where the directory is gone, and the watch with it.
                let _ = self.inotify.rm_watch(watch);
            }
        }

        /// The directories that are watched.
        pub fn directories(&self) -> impl Iterator<Item = &Path> {
            self.watches.keys().map(PathBuf::as_path)
        }

        /// Waits until something happened, or it is woken, or so much time has passed; what happened.
        pub fn wait(&mut self, time: Duration) -> io::Result<Vec<Event>> {
            let timeout = PollTimeout::try_from(time.as_millis().min(1 << 30) as i32).unwrap_or(PollTimeout::MAX);
            let mut both = [
                PollFd::new(self.inotify.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.waker.0.as_fd(), PollFlags::POLLIN),
            ];
            match poll(&mut both, timeout) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            // Not rung is no failure.
            let _ = self.waker.0.read();
            let mut events = Vec::new();
            loop {
                match self.inotify.read_events() {
                    Ok(read) => read.into_iter().for_each(|event| self.take(event, &mut events)),
                    Err(Errno::EAGAIN) => return Ok(events),
                    Err(Errno::EINTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }

        fn take(&mut self, event: InotifyEvent, events: &mut Vec<Event>) {
            use AddWatchFlags as Flags;
            if event.mask.contains(Flags::IN_Q_OVERFLOW) {
                return events.push(Event::Overflow);
            }
            let Some(paths) = self.paths.get(&event.wd) else { return };
            match event.name {
                Some(name) => events.extend(paths.iter().map(|path| Event::Entry(path.clone(), name.clone()))),
                None if event.mask.intersects(Flags::IN_DELETE_SELF | Flags::IN_MOVE_SELF | Flags::IN_IGNORED) => {
                    // What moved away is not what the path names.
                    for path in paths.clone() {
                        self.forget(&path);
                        events.push(Event::Gone(path));
                    }
                }
                None => {}
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{Error, Event};
    use std::io;
    use std::path::Path;
    use std::sync::{Arc, Condvar, Mutex, PoisonError};
    use std::time::Duration;

    /// Directories that would be watched.
    pub struct Watcher(Waker);

    /// Ends a wait from another thread.
    #[derive(Clone)]
    pub struct Waker(Arc<(Mutex<bool>, Condvar)>);

    impl Waker {
        /// Ends the wait that is under way, or the next one.
        pub fn wake(&self) {
            *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.0.1.notify_one();
        }
    }

    impl Watcher {
        /// Watches nothing, ever.
        pub fn new(_max: usize) -> io::Result<Self> {
            Ok(Self(Waker(Arc::default())))
        }

        /// What ends a wait.
        pub fn waker(&self) -> Waker {
            self.0.clone()
        }

        /// Whether a directory is watched: never.
        pub fn watches(&self, _directory: &Path) -> bool {
            false
        }

        /// Watches nothing.
        pub fn watch(&mut self, directory: &Path) -> Result<bool, Error> {
            if directory.is_dir() { Err(Error::Limit) } else { Err(Error::Missing) }
        }

        /// Watches a directory no more.
        pub fn forget(&mut self, _directory: &Path) {}

        /// The directories that are watched: none.
        pub fn directories(&self) -> impl Iterator<Item = &Path> {
            std::iter::empty()
        }

        /// Waits until it is woken, or so much time has passed.
        pub fn wait(&mut self, time: Duration) -> io::Result<Vec<Event>> {
            let (woken, bell) = &*self.0.0;
            let guard = woken.lock().unwrap_or_else(PoisonError::into_inner);
            let (mut guard, _) =
                bell.wait_timeout_while(guard, time, |woken| !*woken).unwrap_or_else(PoisonError::into_inner);
            *guard = false;
            Ok(Vec::new())
        }
    }
}
