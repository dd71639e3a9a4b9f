//! What keeps the inventory true while somebody watches: file events, ends of processes and probes are hints that
//! something may have changed; what did is read anew and compared. A slow look at everything repairs what hints missed.

use super::hints::{Hints, Target};
use super::watch_set::{ArmOutcome, WatchSet};
use super::{Refresh, Registry, Runtimes};
use crate::harness::NoProgress;
use crate::limits;
use crate::platform::process;
use crate::platform::watch::{Waker, Watcher};
use crate::runtime::Observed;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// The engine, for as long as this is there.
pub(super) struct Engine {
    signals: Arc<Signals>,
    polling: AbortHandle,
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.polling.abort();
        self.signals.post(|inbox| inbox.stop = true);
    }
}

/// What others tell the engine's thread.
struct Signals {
    inbox: Mutex<Inbox>,
    waker: Waker,
    /// Rung when receipts may have come or gone.
    receipts: Notify,
}

#[derive(Default)]
struct Inbox {
    live: bool,
    observed: Option<Observed>,
    stop: bool,
}

impl Signals {
    fn post(&self, tell: impl FnOnce(&mut Inbox)) {
        tell(&mut self.inbox());
        self.waker.wake();
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Starts it; it watches at most so many directories. It ends with its registry at the latest.
    pub(super) fn start(registry: &Arc<Registry>, directories: usize, handle: &Handle) -> std::io::Result<Self> {
        let watcher = Watcher::new(directories)?;
        let signals = Arc::new(Signals { inbox: Mutex::default(), waker: watcher.waker(), receipts: Notify::new() });
        let thread = Thread {
            registry: Arc::downgrade(registry),
            signals: signals.clone(),
            handle: handle.clone(),
            watches: WatchSet::new(watcher),
            fingerprint: None,
            refresh: Refresh::No,
            processes: HashMap::new(),
            stopped: BTreeSet::new(),
            incomplete: false,
        };
        std::thread::Builder::new().name("watch".to_owned()).spawn(move || thread.run())?;
        let polling = handle.spawn(poll(registry.runtimes.clone(), signals.clone())).abort_handle();
        Ok(Self { signals, polling })
    }
}

/// Asks the runtimes what they do: immediately when a receipt may have come or gone, and repeatedly while there are any.
/// What one answers is published when it comes, so none delays another.
async fn poll(runtimes: Arc<Runtimes>, signals: Arc<Signals>) {
    loop {
        let mut round = runtimes.round().await;
        let begun = tokio::time::Instant::now();
        loop {
            let observed = round.observed();
            signals.post(|inbox| inbox.observed = Some(observed));
            let next = async {
                match runtimes.pace() {
                    Some(pace) => tokio::time::sleep_until(begun + pace).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = round.more() => {}
                () = signals.receipts.notified() => break,
                () = next => break,
            }
        }
    }
}

/// The engine's own thread.
struct Thread {
    registry: Weak<Registry>,
    signals: Arc<Signals>,
    handle: Handle,
    watches: WatchSet,
    /// The shape of the roots for which directories are watched; `None` where they must be scanned at again.
    fingerprint: Option<u64>,
    /// Whether paths may lead to other directories than those that are watched.
    refresh: Refresh,
    /// The processes whose end is waited for.
    processes: HashMap<i32, AbortHandle>,
    /// Those of them that are stopped. A signal that stops or continues a process leaves no other trace.
    stopped: BTreeSet<i32>,
    /// Whether some directory that matters is not watched.
    incomplete: bool,
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.processes.values().for_each(AbortHandle::abort);
    }
}

impl Thread {
    fn run(mut self) {
        let mut scanned = Instant::now();
        loop {
            let Some(registry) = self.registry.upgrade() else { return };
            self.arm(&registry);
            let processes = registry.processes();
            self.await_exits(&processes);
            let unsettled = registry.unsettled_roots();
            drop(registry);
            let pace = if self.incomplete { limits::RECONCILE_DEGRADED } else { limits::RECONCILE };
            let mut time = pace.saturating_sub(scanned.elapsed());
            if !unsettled.is_empty() {
                time = time.min(limits::LOOK_AGAIN);
            }
            if !processes.is_empty() {
                time = time.min(limits::STOPPED_LOOK);
            }
            let events = self.watches.watcher.wait(time);
            let signalled = std::mem::take(&mut *self.signals.inbox());
            let Some(registry) = self.registry.upgrade().filter(|_| !signalled.stop) else { return };
            let mut summary = self.watches.summarize(events.unwrap_or_default());
            if summary.rearm {
                self.fingerprint = None;
            }
            if summary.receipts {
                self.signals.receipts.notify_one();
            }
            let stopped = processes.into_iter().filter(|pid| process::is_stopped(*pid)).collect();
            summary.hints.live |= signalled.live | (self.stopped != stopped);
            self.stopped = stopped;
            summary.hints.roots.extend(unsettled);
            if let Some(observed) = signalled.observed {
                registry.publisher().observe(observed);
            }
            if summary.lost || scanned.elapsed() >= pace {
                scanned = Instant::now();
                (self.fingerprint, self.refresh) = (None, Refresh::Yes);
                self.signals.receipts.notify_one();
                // Nobody cancels it.
                let _ = registry.read(&NoProgress);
                registry.publisher().wakers.wake_all();
            } else if !summary.hints.is_empty() {
                registry.state().scan_hinted(&summary.hints);
                registry.publisher().wakers.wake_in(&summary.hints.directories());
            }
        }
    }

    /// Watches what is to be watched now. What may have changed in a directory before it was watched is read again.
    fn arm(&mut self, registry: &Arc<Registry>) {
        loop {
            let fingerprint = registry.watch_fingerprint();
            if self.fingerprint == Some(fingerprint) {
                return;
            }
            self.fingerprint = Some(fingerprint);
            let refresh = std::mem::take(&mut self.refresh);
            let ArmOutcome { unseen, limited, .. } = self.watches.arm(&registry.locations(), refresh);
            self.incomplete = !limited.is_empty();
            registry.state().report_unwatched(&limited);
            let mut hints = Hints::default();
            for target in unseen {
                match target {
                    Target::Root(root) => drop(hints.roots.insert(root)),
                    Target::Live => hints.live = true,
                    Target::Receipts => self.signals.receipts.notify_one(),
                }
            }
            if hints.is_empty() {
                return;
            }
            registry.state().scan_hinted(&hints);
            // A message may have come, too, without a trace in the inventory.
            registry.publisher().wakers.wake_all();
        }
    }

    /// Waits for the ends of these processes, and of no others.
    fn await_exits(&mut self, processes: &BTreeSet<i32>) {
        self.processes.retain(|pid, waiting| {
            let wanted = processes.contains(pid) && !waiting.is_finished();
            if !wanted {
                waiting.abort();
            }
            wanted
        });
        for pid in processes.iter().copied() {
            self.processes.entry(pid).or_insert_with(|| {
                let signals = self.signals.clone();
                let waiting = async move {
                    process::exited(pid).await;
                    signals.receipts.notify_one();
                    signals.post(|inbox| inbox.live = true);
                };
                self.handle.spawn(waiting).abort_handle()
            });
        }
    }
}
