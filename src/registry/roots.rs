//! All roots at once, each on a thread of its own: one that does not answer (a dead mount) is left behind after a while
//! and delays the others by nothing.

use super::scan::RootScan;
use super::{Error, Progress};
use crate::harness::{Root, Store};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A root whose reading may be left behind.
pub(super) struct RootSlot {
    root: Root,
    store: Option<&'static dyn Store>,
    /// How many slots of this root were given up before.
    retries: u32,
    scan: Mutex<RootScan>,
    active_scans: Mutex<ActiveScans>,
}

/// The readings of one root that are at work. Whether one was left behind is decided under one lock with their end, so
/// that none is taken for stuck that came back in the same moment.
#[derive(Default)]
struct ActiveScans {
    at_work: usize,
    /// Since when they are left behind.
    left_behind: Option<Instant>,
}

/// One reading at work, also where it panics.
struct ScanGuard<'a>(&'a RootSlot);

impl Drop for ScanGuard<'_> {
    fn drop(&mut self) {
        let mut active_scans = lock(&self.0.active_scans);
        active_scans.at_work -= 1;
        active_scans.left_behind = active_scans.left_behind.filter(|_| active_scans.at_work > 0);
    }
}

/// What stands between a reading that may be left behind and the request that it is for.
#[derive(Default)]
struct ScanMonitor {
    cancelled: AtomicBool,
    /// Moves as long as any root is read.
    activity: AtomicU64,
    last_progress: Mutex<Option<(String, u64, Option<u64>)>>,
}

impl Progress for ScanMonitor {
    fn is_cancelled(&self) -> bool {
        self.activity.fetch_add(1, Ordering::Relaxed);
        self.cancelled.load(Ordering::Relaxed)
    }

    fn report(&self, message: &str, done: u64, total: Option<u64>) {
        *lock(&self.last_progress) = Some((message.to_owned(), done, total));
    }
}

/// How often it is looked whether the request is still wanted. A reading that is done is noticed at once.
const CANCEL_CHECK: Duration = Duration::from_millis(20);

impl RootSlot {
    /// A root that nothing is known of yet.
    pub(super) fn new(scan: RootScan) -> Arc<Self> {
        Self::retry(scan, 0)
    }

    fn retry(scan: RootScan, retries: u32) -> Arc<Self> {
        let (root, store) = (scan.root.clone(), scan.store());
        Arc::new(Self { root, store, retries, scan: Mutex::new(scan), active_scans: Mutex::default() })
    }

    /// What is known of the root; `None` while a reading of it is left behind.
    pub(super) fn scan(&self) -> Option<MutexGuard<'_, RootScan>> {
        (!self.is_left_behind()).then(|| lock(&self.scan))
    }

    fn is_left_behind(&self) -> bool {
        lock(&self.active_scans).left_behind.is_some()
    }

    /// Whether it is left behind for so long that its root is worth another thread. The time doubles with each, since a
    /// thread that waits for a dead mount cannot be ended.
    fn is_given_up(&self, first: Duration) -> bool {
        let patience = first.saturating_mul(2_u32.saturating_pow(self.retries));
        lock(&self.active_scans).left_behind.is_some_and(|since| since.elapsed() >= patience)
    }

    fn leave_behind(&self) {
        let mut active_scans = lock(&self.active_scans);
        active_scans.left_behind = (active_scans.at_work > 0).then(Instant::now);
    }

    fn read(&self, progress: &dyn Progress) -> Result<(), Error> {
        let _at_work = ScanGuard(self);
        lock(&self.scan).refresh(progress)
    }
}

/// Replaces the slots that are left behind for at least so long, so that their roots are read again: what the old readings
/// wait for may be gone, and they would never notice.
pub(super) fn retry(slots: &mut [Arc<RootSlot>], first: Duration) {
    for slot in slots.iter_mut().filter(|slot| slot.is_given_up(first)) {
        *slot = RootSlot::retry(RootScan::with_store(slot.root.clone(), slot.store), slot.retries.saturating_add(1));
    }
}

/// Reads every root that answers. One of which nothing is read for as long as `silence` is left behind, which
/// [`RootSlot::scan`] tells.
pub(super) fn refresh_all(slots: &[Arc<RootSlot>], silence: Duration, progress: &dyn Progress) -> Result<(), Error> {
    let monitor = Arc::new(ScanMonitor::default());
    let (send, results) = mpsc::channel();
    let mut waiting: Vec<&Arc<RootSlot>> = Vec::new();
    for slot in slots.iter().filter(|slot| !slot.is_left_behind()) {
        let (reader, monitor, send) = (slot.clone(), monitor.clone(), send.clone());
        lock(&slot.active_scans).at_work += 1;
        std::thread::spawn(move || {
            let result = reader.read(&*monitor);
            // Nobody listens any more where this one was left behind.
            let _ = send.send((reader, result));
        });
        waiting.push(slot);
    }
    drop(send);
    let (mut activity, mut moved) = (0, Instant::now());
    while !waiting.is_empty() {
        match results.recv_timeout(CANCEL_CHECK) {
            Ok((reader, result)) => {
                result?;
                waiting.retain(|slot| !Arc::ptr_eq(slot, &reader));
                moved = Instant::now();
                continue;
            }
            // A reading that panicked tells nothing, and its root is as it was.
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if progress.is_cancelled() {
            monitor.cancelled.store(true, Ordering::Relaxed);
            return Err(Error::Cancelled);
        }
        if let Some((message, done, total)) = lock(&monitor.last_progress).take() {
            progress.report(&message, done, total);
        }
        let now = monitor.activity.load(Ordering::Relaxed);
        if now != activity {
            (activity, moved) = (now, Instant::now());
        } else if moved.elapsed() >= silence {
            waiting.iter().for_each(|slot| slot.leave_behind());
            break;
        }
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{
        Details, Environment, Finder, NoProgress, Page, PageRequest, ReadError, Reading, Session, Source, Wanted,
        jsonl::HeadTail,
    };
    use crate::protocol::{Harness, Resume, RootOrigin};
    use std::path::Path;

    /// A store whose files can only be reached while this can be locked.
    struct Mount(Mutex<()>);

    static MOUNT: Mount = Mount(Mutex::new(()));
    /// Which test has the mount.
    static TURN: Mutex<()> = Mutex::new(());

    impl Store for Mount {
        fn harness(&self) -> Harness {
            Harness::Pi
        }
        fn roots(&self, _: &Environment<'_>) -> Vec<Root> {
            Vec::new()
        }
        fn named_root(&self, path: &Path) -> Root {
            let (path, home) = (path.to_owned(), path.to_owned());
            Root { harness: Harness::Pi, path, home, origin: RootOrigin::Flag, usual: false }
        }
        fn walk(&self, _: &Root, finder: &mut Finder) {
            drop(lock(&self.0));
            finder.exists = true;
        }
        fn read(&self, _: &Source, _: &mut HeadTail) -> Result<Reading, ReadError> {
            Err(ReadError::Vanished)
        }
        fn details(&self, _: &[Root], _: &Session, _: Wanted<'_>) -> Result<Details, ReadError> {
            Err(ReadError::Vanished)
        }
        fn load(&self, _: &[Root], _: &Session, _: &PageRequest<'_>) -> Result<Page, ReadError> {
            Err(ReadError::Vanished)
        }
        fn resume(&self, _: &Root, _: &Session) -> Option<Resume> {
            None
        }
    }

    #[test]
    fn a_root_that_does_not_answer_is_left_behind_until_it_does() {
        let _turn = lock(&TURN);
        let here = tempfile::tempdir().unwrap();
        let root = |name: &str| MOUNT.named_root(&here.path().join(name));
        let slots = [
            RootSlot::new(RootScan::with_store(root("dead"), Some(&MOUNT))),
            RootSlot::new(RootScan::with_store(root("x"), None)),
        ];
        let read = || refresh_all(&slots, Duration::from_millis(50), &NoProgress).unwrap();
        let dead = lock(&MOUNT.0);
        for _ in 0..3 {
            read();
            assert!(slots[0].scan().is_none() && slots[1].scan().is_some());
        }
        drop(dead);
        // The reading that was left behind comes back on its own.
        while slots[0].scan().is_none() {
            std::thread::yield_now();
        }
        read();
        assert!(slots[0].scan().is_some_and(|scan| scan.finder.exists));
    }
    #[test]
    fn root_left_behind_is_read_again_by_a_new_slot() {
        let _turn = lock(&TURN);
        let here = tempfile::tempdir().unwrap();
        let root = MOUNT.named_root(&here.path().join("dead"));
        let mut slots = [RootSlot::new(RootScan::with_store(root, Some(&MOUNT)))];
        let stuck = slots[0].clone();
        let dead = lock(&MOUNT.0);
        refresh_all(&slots, Duration::from_millis(50), &NoProgress).unwrap();
        retry(&mut slots, Duration::from_secs(600));
        assert!(Arc::ptr_eq(&slots[0], &stuck), "too early");
        retry(&mut slots, Duration::ZERO);
        assert!(!Arc::ptr_eq(&slots[0], &stuck) && slots[0].scan().is_some());
        assert_eq!(slots[0].retries, 1);
        drop(dead);
        refresh_all(&slots, Duration::from_secs(60), &NoProgress).unwrap();
        assert!(slots[0].scan().is_some_and(|scan| scan.finder.exists));
    }
}
