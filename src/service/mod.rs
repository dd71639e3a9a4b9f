//! What a method does: one file per family, named as in `protocol`. Authorizes, then delegates to the rooms below.

mod document;
mod errors;
mod follow;
mod lifecycle;
mod local;
mod method;
mod notices;
mod peer;
mod receipts;
mod registry;
mod runtime;
mod session;
#[cfg(test)]
mod session_tests;
mod settings;
mod start;
mod table;
mod terminal;
mod watch;

pub use document::{meta, openrpc, schema};
pub use lifecycle::Phase;
pub use local::{Local, User};
pub use method::{Method, Scheduling};
pub use notices::{Direction, NOTIFICATIONS, Notice};
pub use table::{methods, module, scheduling};

use crate::authority::{self, Grant, Narrowing};
use crate::harness::Homes;
use crate::limits;
use crate::peer::courier::{self, Couriers};
use crate::platform::random;
use crate::protocol::{
    AuthorityRequest, Limits, Notification, ProgressParams, ProgressToken, ProgressValue, Reason, RpcError,
};
use crate::registry::Registry;
use crate::runtime::{Receipts, Runtimes};
use std::convert::Infallible;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::sync::watch::Receiver;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// The request that opens the connection, and that only an unopened one accepts.
pub const INITIALIZE: &str = "initialize";

/// What the spawner set.
#[derive(Clone, Debug)]
pub struct Config {
    /// The most that a client may do.
    pub ceiling: Grant,
    /// Where the stores are.
    pub homes: Homes,
    /// Whether a client may name more homes.
    pub allow_homes: bool,
    /// The bounds that a client can hit.
    pub limits: Limits,
    /// What delivers messages.
    pub courier: courier::Program,
    /// What clients may start.
    pub agents: Vec<Agent>,
}

/// An agent that `runtime/start` can start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// What clients call it.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
}

/// The server behind all methods: one per process.
pub struct Service {
    config: Config,
    registry: Arc<Registry>,
    runtimes: Arc<Runtimes>,
    couriers: Couriers,
    /// How many client ids were made.
    clients_named: AtomicU64,
    first_states: Semaphore,
    handle: Handle,
    attaching: Arc<Semaphore>,
    starting: Semaphore,
    resolving: Arc<Semaphore>,
    instance_id: String,
}

impl Service {
    /// A server as its spawner set it, which does on `handle` what needs connections. Fails when the system gives no
    /// randomness.
    pub fn new(config: Config, handle: Handle) -> std::io::Result<Self> {
        let instance_id = random::hex::<16>()?;
        let receipts = Receipts::new(config.homes.receipts().map(Path::to_owned));
        let runtimes = Arc::new(Runtimes::new(receipts, config.ceiling.clone(), handle.clone()));
        let registry = Arc::new(Registry::new(config.homes.clone(), instance_id.clone(), runtimes.clone()));
        let first_states = Semaphore::new(limits::FIRST_STATES);
        let attaching = Arc::new(Semaphore::new(config.limits.attachments));
        let couriers = Couriers::new(config.courier.clone());
        let starting = Semaphore::new(limits::HOSTS_STARTING);
        let resolving = Arc::new(Semaphore::new(limits::SCOPES_RESOLVING));
        let clients_named = 0.into();
        Ok(Self {
            config,
            registry,
            runtimes,
            couriers,
            clients_named,
            first_states,
            attaching,
            starting,
            resolving,
            handle,
            instance_id,
        })
    }

    /// Removes what servers that were killed left behind. Reads files.
    pub fn sweep(&self) {
        if let Err(error) = self.runtimes.receipts().sweep() {
            tracing::warn!(%error, "receipts could not be swept");
        }
        if let Err(error) = courier::sweep() {
            tracing::warn!(%error, "directories of couriers could not be swept");
        }
    }

    /// Ends what a client opened, and what it published: it has no more to say.
    pub fn end(&self, client: &Client) {
        client.ended.cancel();
        self.runtimes.close();
        self.registry.unwatch_all();
    }

    /// Ends the programs that were started for a client; back when they are gone.
    pub async fn end_couriers(&self) {
        self.couriers.end().await;
    }

    /// A new handle for something that a client opens, such as `attachment-` and 32 hexadecimal digits. Handles are
    /// random: a request that may see less than the client must not be able to name what others opened.
    fn new_handle(kind: &str) -> Result<String, RpcError> {
        let random = random::hex::<16>();
        let random = random.map_err(|error| RpcError::new(Reason::Unavailable, format!("no randomness: {error}")))?;
        Ok(format!("{kind}-{random}"))
    }

    /// The client id under which a runtime knows a client that names none.
    fn new_client_id(&self) -> String {
        format!("tackroom-{}-{}", self.instance_id, self.clients_named.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Resolves what a client asks to keep, off the connection's thread. A dead mount is given up after a while; its
    /// thread stays until the mount answers.
    async fn resolve_scope(&self, request: AuthorityRequest) -> Result<Narrowing, RpcError> {
        let invalid = |error: authority::Error| RpcError::new(Reason::InvalidParams, error.to_string());
        Narrowing::check(&request).map_err(invalid)?;
        let work = async {
            // It is never closed.
            let permit = self.resolving.clone().acquire_owned().await.ok();
            blocking(move || {
                let _permit = permit;
                Narrowing::resolve(&request)
            })
            .await
        };
        let resolved = tokio::time::timeout(limits::SCOPE_SILENCE, work).await.map_err(|_| {
            let why = "a workspace of the scope does not answer; its file system may be gone";
            RpcError::new(Reason::InvalidParams, why)
        })?;
        resolved?.map_err(invalid)
    }

    /// The bounds that a client can hit.
    pub fn limits(&self) -> &Limits {
        &self.config.limits
    }
}

/// A client's side of the connection.
pub struct Client {
    state: Mutex<State>,
    outgoing: mpsc::Sender<Notification>,
    ended: CancellationToken,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    grant: Grant,
    process_id: Option<i32>,
}

impl Client {
    /// A client that has not last anything yet.
    pub fn new(service: &Service, outgoing: mpsc::Sender<Notification>) -> Self {
        let state = State { phase: Phase::New, grant: service.config.ceiling.clone(), process_id: None };
        Self { state: Mutex::new(state), outgoing, ended: CancellationToken::new() }
    }

    /// Set once the client has no more to say.
    pub fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    /// Where notifications that must not be lost are sent; the sender waits while the client does not read.
    pub fn outgoing(&self) -> mpsc::Sender<Notification> {
        self.outgoing.clone()
    }

    /// How far the conversation is.
    pub fn phase(&self) -> Phase {
        self.state().phase
    }

    /// What the client may do now.
    pub fn grant(&self) -> Grant {
        self.state().grant.clone()
    }

    /// The process whose end ends the server.
    pub fn process_id(&self) -> Option<i32> {
        self.state().process_id
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request at work.
#[derive(Clone)]
pub struct Context {
    /// Who asks.
    pub client: Arc<Client>,
    /// What may be done for this request: the client's grant, or less.
    pub grant: Grant,
    /// Set when the client does not want the answer any more.
    pub cancel: CancellationToken,
    /// True once the answer is on its way: what the request opened may be told of from then on. Closed where there will
    /// be no answer.
    pub replied: Receiver<bool>,
    progress: Option<Arc<ProgressState>>,
}

/// What a request reports of its progress.
struct ProgressState {
    token: ProgressToken,
    last: Mutex<LastReport>,
    /// Set once the request is done: then nothing more is reported.
    over: CancellationToken,
}

struct LastReport {
    at: Instant,
    value: ProgressValue,
}

impl Context {
    /// A request of a client, with all that the client may do.
    pub fn new(client: Arc<Client>, cancel: CancellationToken, replied: Receiver<bool>) -> Self {
        Self { grant: client.grant(), client, cancel, replied, progress: None }
    }

    /// From now on progress is reported with this token.
    fn report_to(&mut self, token: ProgressToken, method: &str) {
        let value = ProgressValue { message: format!("{method} is still running"), done: 0, total: None };
        let last = Mutex::new(LastReport { at: Instant::now(), value });
        self.progress = Some(Arc::new(ProgressState { token, last, over: CancellationToken::new() }));
    }

    /// Reports how far the work is, if the client asked for that, and not too often.
    pub fn progress(&self, message: &str, done: u64, total: Option<u64>) {
        let Some(progress) = &self.progress else { return };
        let mut last = progress.last();
        last.value = ProgressValue { message: message.to_owned(), done, total };
        if last.at.elapsed() >= limits::PROGRESS_INTERVAL {
            self.report(progress, &mut last);
        }
    }

    /// Does the work. While it reports nothing, what it reported last is sent again now and then.
    async fn with_progress<T>(&self, work: impl Future<Output = T>) -> T {
        let Some(progress) = &self.progress else { return work.await };
        let done = tokio::select! {
            done = work => done,
            never = self.repeat_progress(progress) => match never {},
        };
        progress.over.cancel();
        done
    }

    async fn repeat_progress(&self, progress: &ProgressState) -> Infallible {
        loop {
            let silence = progress.last().at.elapsed();
            match limits::PROGRESS_SILENCE.checked_sub(silence).filter(|left| !left.is_zero()) {
                Some(left) => tokio::time::sleep(left).await,
                None => self.report(progress, &mut progress.last()),
            }
        }
    }

    fn report(&self, progress: &ProgressState, last: &mut LastReport) {
        last.at = Instant::now();
        let params = ProgressParams { token: progress.token.clone(), value: last.value.clone() };
        if let Ok(notification) = Notification::new("$/progress", &params) {
            // A client that does not read misses progress and nothing else.
            let _ = self.client.outgoing.try_send(notification.unless(&progress.over));
        }
    }

    /// An error if the client does not want the answer any more.
    pub fn check(&self) -> Result<(), RpcError> {
        if self.cancel.is_cancelled() {
            return Err(RpcError::new(Reason::Cancelled, "the request was cancelled"));
        }
        Ok(())
    }
}

impl ProgressState {
    fn last(&self) -> MutexGuard<'_, LastReport> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does on another thread what reads files.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, RpcError> {
    // Only a panic makes this an error.
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "a method failed");
        RpcError::new(Reason::Internal, "the server failed; please report this")
    })
}
